/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Searches block by block: loads, shapes and launches the kernels of search stages.
 */

#include <assert.h>

#include "libavutil/attributes.h"
#include "libavutil/avassert.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/log.h"

#include "libavfilter/gpume/core/geometry.h"
#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/cuda/search.h"

/* The count of searches wraps, and must still distinguish ages and epochs. */
static_assert(GPUME_CUDA_NB_EPOCHS % GPUME_NB_AGES == 0, "epochs and ages");

/** Thread blocks that search the remaining blocks. */
#define REMAINING_GRID 4096

/* Has a warp for each block or for several blocks, and several warps for a large block. */
static const GpumeCudaModule *shape_pattern(const GpumeCuda *cuda, GpumeCudaArgs *a, GpumeCudaLaunch *l, int remaining)
{
    const GpumeParams *p = &a->params;
    const int side = gpume_cuda_side(p);

    l->threads = 32 * GPUME_CUDA_PATTERN_WARPS;
    if (side) {
        l->grid[0] = gpume_blocks(p->width,  GPUME_CUDA_PATTERN_WARPS * GPUME_CUDA_PATTERN_TILE_WIDTH);
        l->grid[1] = gpume_blocks(p->height, GPUME_CUDA_PATTERN_TILE_HEIGHT(side));
        l->shared  = 4 * GPUME_CUDA_PATTERN_WARPS *
                     GPUME_CUDA_PATTERN_WINDOW_WORDS(side, p->depth > 8 ? 2 : 1);
    } else {
        const int warps = p->block >= 64 ? GPUME_CUDA_PATTERN_TEAM : p->block >= 32 ? GPUME_CUDA_PATTERN_TEAM / 2 : 1;

        l->threads = 32 * warps;
        l->grid[0] = p->bw;
        l->grid[1] = p->bh;
        l->shared  = 4 * warps * GPUME_CUDA_PATTERN_TEAM_WORDS;
    }
    return ff_gpume_cuda_find_module(cuda, p, GPUME_CUDA_pattern, side, 0);
}

/* Has a thread block for each row. */
static const GpumeCudaModule *
shape_wavefront(const GpumeCuda *cuda, GpumeCudaArgs *a, GpumeCudaLaunch *l, int remaining)
{
    const GpumeParams *p = &a->params;
    const int bytes = p->depth > 8 ? 2 : 1;
    const int lines = FFMIN(2 * p->range + p->block, p->height);
    int words, side = gpume_cuda_side(p);

    l->threads = 32 * GPUME_CUDA_WAVEFRONT_WARPS(p->algo);
    l->grid[0] = p->bh;
    l->grid[1] = 1;

    a->wavefront.ring_columns = FFMIN(GPUME_CUDA_WAVEFRONT_COLUMNS(side, bytes, p->range),
                                      GPUME_CUDA_WAVEFRONT_PICTURE_COLUMNS(side, bytes, p->bw));
    /* odd number of columns: rows that are read together begin in different banks */
    a->wavefront.ring_pitch   = 4 * ((a->wavefront.ring_columns +
                                      GPUME_CUDA_WAVEFRONT_REPEATED(side, bytes)) | 1);
    words = GPUME_CUDA_WAVEFRONT_WINDOW + lines * a->wavefront.ring_pitch;
    if (!side || lines > GPUME_CUDA_WAVEFRONT_LOADS * l->threads || 4 * words > GPUME_CUDA_MAX_SHARED ||
        !ff_gpume_cuda_find_module(cuda, p, GPUME_CUDA_wavefront, side, p->algo)) {
        side  = 0;
        words = GPUME_CUDA_WAVEFRONT_WINDOW;
    }
    l->shared = 4 * words;
    return ff_gpume_cuda_find_module(cuda, p, GPUME_CUDA_wavefront, side, p->algo);
}

static GpumeCudaShape *const shapes[GPUME_NB_SEARCH_STAGES] = {
    [GPUME_STAGE_SEA]       = ff_gpume_cuda_shape_sea,
    [GPUME_STAGE_FULL]      = ff_gpume_cuda_shape_full,
    [GPUME_STAGE_PATTERN]   = shape_pattern,
    [GPUME_STAGE_WAVEFRONT] = shape_wavefront,
};

/* Returns the bytes of a GpumeCudaRemaining for every square of a picture. */
static size_t remaining_size(const GpumeParams *p)
{
    return sizeof(GpumeCudaRemaining) + sizeof(unsigned) * p->nb_distances *
           (size_t)gpume_blocks(p->width,  GPUME_CUDA_SEA_SQUARE) *
           gpume_blocks(p->height, GPUME_CUDA_SEA_SQUARE);
}

/* Returns the bytes that predictive searches keep: vectors, followed by the ticket. */
static size_t history_size(const GpumeParams *p)
{
    return ((size_t)p->nb_distances * GPUME_NB_AGES * p->bw * p->bh + 1) * sizeof(unsigned);
}

/*
 * Initializes the history without vectors or, where vectors of the previous search are read, shares
 * that of another kernel.
 */
static av_cold int init_history(GpumeCudaKernel *kernel, GpumeCudaKernel *before)
{
    const GpumeCuda *cuda = kernel->cuda;
    const GpumeParams *p  = &kernel->args.params;
    const int has_memory  = gpume_has_memory(p->algo);
    GpumeCudaHistory *h   = kernel->history = has_memory && before ? before->history : &kernel->own;
    int ret = 0;

    if (h == &kernel->own)
        ret = ff_gpume_cuda_alloc(cuda, &h->vectors, GPUME_CUDA_DEVICE | GPUME_CUDA_ZEROED, history_size(p),
                                  "the vectors of searches");
    kernel->args.wavefront.ticket = h->vectors.data + h->vectors.size - sizeof(unsigned);
    if (ret < 0 || h != &kernel->own || !has_memory)
        return ret;
    h->gate.grid[0] = h->gate.grid[1] = h->gate.threads = 1;
    return ff_gpume_cuda_load(cuda, &h->gate, &ff_gpume_cuda_find_module(cuda, p, GPUME_CUDA_gate, 0, 0)->code);
}

av_cold int ff_gpume_cuda_kernel_init(GpumeCudaKernel *kernel, const GpumeCuda *cuda,
                                      const GpumeParams *params, const GpumePlan *plan, GpumeCudaKernel *before)
{
    int nb_stages = 0, ret;

    kernel->cuda        = cuda;
    kernel->args.params = *params;

    while (nb_stages < plan->nb_stages && plan->stages[nb_stages] < GPUME_NB_SEARCH_STAGES)
        nb_stages++;
    for (int i = 0; i < nb_stages; i++) {
        GpumeCudaLaunch *l = &kernel->launches[kernel->nb_launches];
        const GpumeCudaModule *module = shapes[plan->stages[i]](cuda, &kernel->args, l, kernel->nb_launches > 0);

        if (!module && i + 1 < nb_stages)
            continue;
        if (!module) {
            av_log(cuda->log_ctx, cuda->log_level, "The CUDA backend does not support this search with this "
                   "cost; use backend=cpu.\n");
            return AVERROR(ENOSYS);
        }
        av_assert0(l->shared <= GPUME_CUDA_MAX_SHARED);
        if (kernel->nb_launches++) {
            l->grid[0] = REMAINING_GRID;
            l->grid[1] = 1;
        }
        ret = ff_gpume_cuda_load(cuda, l, &module->code);
        if (ret < 0)
            return ret;
    }
    if (kernel->nb_launches > 1) {
        ret = ff_gpume_cuda_alloc(cuda, &kernel->work, GPUME_CUDA_DEVICE | GPUME_CUDA_ZEROED, remaining_size(params),
                                  "a list of blocks");
        if (ret < 0)
            return ret;
        kernel->args.remaining = kernel->work.data;
    }
    return ff_gpume_plan_has(plan, GPUME_STAGE_WAVEFRONT) ? init_history(kernel, before) : 0;
}

/* Sets the memory that a predictive search reads and writes, and makes it wait for the previous search. */
static CUresult begin_history(GpumeCudaKernel *kernel, CUstream stream)
{
    GpumeCudaArgs *a = &kernel->args;
    const GpumeCudaHistory *h = kernel->history;
    const size_t size = (size_t)a->params.bw * a->params.bh * sizeof(unsigned);

    for (int i = 0; i < a->nb_fields; i++) {
        GpumeCudaField *f = &a->fields[i];

        f->last_epoch = h->epochs[f->reference];
        f->epoch      = f->last_epoch % GPUME_CUDA_NB_EPOCHS + 1;
        for (int age = 0; age < GPUME_NB_AGES; age++)
            f->vectors[age] = h->vectors.data + size * (f->reference * GPUME_NB_AGES +
                              (f->epoch - 1 + GPUME_NB_AGES - age) % GPUME_NB_AGES);
    }
    a->wavefront.first_ticket = h->nb_tickets;
    return h->gate.function && h->stream && h->stream != stream ?
           ff_gpume_cuda_launch(kernel->cuda, &h->gate, 1, a, stream) : CUDA_SUCCESS;
}

/* Records a search after its launch; no search may wait for one that was not launched. */
static void end_history(GpumeCudaHistory *h, const GpumeCudaArgs *a, CUstream stream)
{
    for (int i = 0; i < a->nb_fields; i++)
        h->epochs[a->fields[i].reference] = a->fields[i].epoch;
    h->nb_tickets += a->nb_fields * a->params.bh;
    h->stream      = stream;
}

CUresult ff_gpume_cuda_kernel_launch(GpumeCudaKernel *kernel, int nb_fields, CUstream stream)
{
    GpumeCudaArgs *a = &kernel->args;
    CUresult err = CUDA_SUCCESS;

    a->nb_fields = nb_fields;
    for (int i = 0; i < nb_fields; i++)
        a->fields[i].source = a->params.distance[a->fields[i].reference];
    if (kernel->history)
        err = begin_history(kernel, stream);
    for (int i = 0; i < kernel->nb_launches; i++) {
        GpumeCudaLaunch l = kernel->launches[i];
        const int nb_rows = l.grid[1], strip = kernel->strip ? kernel->strip : nb_rows;

        a->full.only_remaining = i > 0;
        a->full.grid           = l.grid[0];
        for (int row = 0; row < nb_rows && err == CUDA_SUCCESS; row += strip) {
            a->tree.first_row = row;
            l.grid[1]         = FFMIN(strip, nb_rows - row);
            err = ff_gpume_cuda_launch(kernel->cuda, &l, i > 0 ? 1 : nb_fields, a, stream);
        }
    }
    if (kernel->history && err == CUDA_SUCCESS)
        end_history(kernel->history, a, stream);
    a->parity ^= 1;
    return err;
}

av_cold void ff_gpume_cuda_kernel_uninit(GpumeCudaKernel *kernel)
{
    for (int i = 0; i < kernel->nb_launches; i++)
        ff_gpume_cuda_unload(kernel->cuda, &kernel->launches[i]);
    kernel->nb_launches = 0;
    ff_gpume_cuda_unload(kernel->cuda, &kernel->own.gate);
    ff_gpume_cuda_free(&kernel->work);
    ff_gpume_cuda_free(&kernel->own.vectors);
}
