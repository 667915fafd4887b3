/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search: chooses and shapes its kernels, also the scan that searches several block sizes at
 * once, because the cost of a large block is the sum of the costs of its parts.
 */

#include <assert.h>
#include <limits.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/macros.h"

#include "libavfilter/gpume/core/geometry.h"
#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/core/tree.h"
#include "libavfilter/gpume/cuda/search.h"

static_assert(GPUME_CUDA_MAX_SHARED / 16 < 4096, "GPUME_DIVIDE() takes the units of a window");

/** Bytes of a multiprocessor's shared memory that the system takes for each thread block. */
#define RESERVED_SHARED 1024

/** Thread blocks of a scan that a large device runs at once; a picture is searched in waves of this size. */
#define WAVE 600

/** Maximum bytes of costs that are kept at a time, but at least a row of the largest blocks. */
#define MAX_KEPT (128 << 20)

/* Sets a grid of thread blocks, each with width x height samples. */
static void set_grid(const GpumeParams *p, GpumeCudaLaunch *l, int width, int height)
{
    l->grid[0] = gpume_blocks(p->width,  width);
    l->grid[1] = gpume_blocks(p->height, height);
}

/*
 * Sets how many runs of a scan's window are loaded at a time: as many as fit beside the fixed words
 * and leave the fewest lanes idle. Returns the time of an area, in halves of the time of a warp's
 * candidates.
 */
static int shape_runs(GpumeCudaArgs *a, int copies, int height, int fixed, int split)
{
    const GpumeParams *p = &a->params;
    const int in_run = GPUME_CUDA_SCAN_PLACES(p->range, copies);
    const int runs   = (2 * p->range + GPUME_CUDA_SCAN_DY) / GPUME_CUDA_SCAN_DY;
    const int lanes  = 32 * split;
    int least = INT_MAX;

    for (int nb = 1; nb <= runs; nb++) {
        const int rows   = nb * GPUME_CUDA_SCAN_DY + height - 1;
        const int words  = rows * GPUME_CUDA_SCAN_PITCH(a->full.copy_words, copies);
        const int rounds = runs / nb * gpume_blocks(nb * in_run, lanes) + gpume_blocks(runs % nb * in_run, lanes);
        /* loading a part of the window takes about one and a half rounds */
        const int time   = 2 * rounds + 3 * gpume_blocks(runs, nb);

        if (4 * (words + fixed) > GPUME_CUDA_MAX_SHARED || time >= least)
            continue;
        least                = time;
        a->full.runs         = nb;
        a->full.shared_words = words;
    }
    return least;
}

/* Returns the copies of the window that a kernel has: samples in its words. */
static int copies_of(const GpumeCudaModule *module)
{
    return module->depth == 8 ? 4 : module->depth == 10 ? 2 : 1;
}

/* Shapes an area of a scan: across x down tiles; split warps share each tile. */
static int shape_area(GpumeCudaArgs *a, GpumeCudaLaunch *l, int copies, int across, int down, int split, int largest)
{
    const GpumeParams *p = &a->params;
    const int banks  = 64 / copies;
    const int width  = across * GPUME_CUDA_TILE_WIDTH, height = down * GPUME_CUDA_SCAN_TILE_HEIGHT(largest);
    const int tile   = GPUME_CUDA_TILE_WIDTH * GPUME_CUDA_SCAN_TILE_HEIGHT(largest) / copies;
    const int fixed  = GPUME_CUDA_SCAN_WARPS * tile + GPUME_CUDA_SCAN_DX * GPUME_CUDA_SCAN_PLACES(p->range, copies) +
                       (largest == GPUME_CUDA_SCAN_SQUARE ? GPUME_CUDA_SCAN_EXCHANGED(copies) : 0);
    int time;

    a->full.copy_words = GPUME_CUDA_SCAN_DX * GPUME_CUDA_SCAN_COLUMNS(p->range, copies) + width / copies;
    /* eight lanes read four words each, of some columns of each copy, and their words must be in different banks */
    while (copies > 1 && a->full.copy_words % banks != banks / 2)
        a->full.copy_words += 4;
    time = shape_runs(a, copies, height, fixed, split);
    a->full.across = across;
    a->full.down   = down;
    a->full.split  = split;
    l->threads = GPUME_CUDA_SCAN_THREADS;
    l->shared  = 4 * (a->full.shared_words + fixed);
    set_grid(p, l, width, height);
    return time;
}

/* Shapes the search of every candidate, for blocks of up to 16 samples. */
static const GpumeCudaModule *shape_scan(const GpumeCuda *cuda, GpumeCudaArgs *a, GpumeCudaLaunch *l, int remaining)
{
    /* tiles of an area, by log2 of the warps that share a tile */
    static const struct { int across, down; } areas[] = { { 2, 2 }, { 2, 1 }, { 1, 1 } };
    const GpumeParams *p = &a->params;
    const GpumeCudaModule *module = ff_gpume_cuda_find_module(cuda, p, GPUME_CUDA_scan, p->block, p->block);
    const int copies = copies_of(module);
    /* a remaining square must be searched with short latency */
    int best = p->block > 8 ? 2 : 1, across = 1;
    int64_t least = INT64_MAX;

    for (int i = 0; i < FF_ARRAY_ELEMS(areas) && !remaining; i++) {
        const int64_t time = shape_area(a, l, copies, areas[i].across, areas[i].down, 1 << i, p->block);
        const int64_t all  = time * gpume_blocks(l->grid[0] * l->grid[1] * p->nb_distances, WAVE);

        if (all < least) {
            least  = all;
            best   = i;
            across = areas[i].across;
        }
    }
    shape_area(a, l, copies, across, (GPUME_CUDA_SCAN_WARPS >> best) / across, 1 << best, p->block);
    return module;
}

const GpumeCudaModule *ff_gpume_cuda_shape_full(const GpumeCuda *cuda, GpumeCudaArgs *a, GpumeCudaLaunch *l,
                                                int remaining)
{
    const GpumeParams *p = &a->params;

    if (p->range <= GPUME_CUDA_FULL_MAX_RANGE && p->block <= 16 && p->cost == GPUME_COST_SAD)
        return shape_scan(cuda, a, l, remaining);
    set_grid(p, l, p->block, p->block);
    l->threads = GPUME_CUDA_FULL_THREADS;
    l->shared  = l->threads / 32 * sizeof(uint64_t);
    return ff_gpume_cuda_find_module(cuda, p, GPUME_CUDA_any, 0, 0);
}

/* Sets the chunks with the fewest sums in total, if any chunks fit into shared memory. */
static void shape_chunks(GpumeCudaArgs *a, GpumeCudaLaunch *l, int bytes)
{
    /* displacements begin at a word of bytes */
    const int span = FFALIGN(a->params.range, 4) + a->params.range + 1;
    int least = INT_MAX;

    for (int nx = 1; nx <= span / 16 + 1; nx++)
        for (int ny = 1; ny <= span / 4 + 1; ny++) {
            const int width  = FFALIGN((span + nx - 1) / nx, 16);
            const int height = FFALIGN((span + ny - 1) / ny, 4);
            const int words  = GPUME_CUDA_SEA_SHARED(width, height, bytes);

            if (4 * words > GPUME_CUDA_MAX_SHARED || nx * ny * words >= least ||
                (width + GPUME_CUDA_SEA_TILE_WIDTH) / 4 > GPUME_CUDA_SEA_THREADS)
                continue;
            least               = nx * ny * words;
            a->sea.chunk_width  = width;
            a->sea.chunk_height = height;
            l->shared           = 4 * words;
        }
    if (least < INT_MAX) {
        /* up to the last word of the tile, at the last displacement of the chunk */
        const int columns  = (FFMIN(a->sea.chunk_width, span) + GPUME_CUDA_SEA_TILE_WIDTH - 1) / 4;
        const int rows     = a->sea.chunk_height + GPUME_CUDA_SEA_TILE_HEIGHT - 4;
        const int segments = GPUME_CUDA_SEA_THREADS / columns;

        a->sea.columns    = columns;
        a->sea.reciprocal = GPUME_RECIPROCAL(columns);
        a->sea.rows       = FFALIGN((rows + segments - 1) / segments, 4);
    }
}

const GpumeCudaModule *ff_gpume_cuda_shape_sea(const GpumeCuda *cuda, GpumeCudaArgs *a, GpumeCudaLaunch *l,
                                               int remaining)
{
    const GpumeParams *p = &a->params;
    const int bytes  = p->depth > 8 ? 2 : 1;
    const int square = GPUME_CUDA_SEA_SQUARE / p->block;
    const int side   = 2 * p->range + 1;
    const int least_range = p->block == 16 || p->depth > 10 ? 24 : bytes == 2 ? 40 : 48;

    if (p->block != 16 && p->block != 8)
        return NULL;
    l->threads = GPUME_CUDA_SEA_THREADS;
    set_grid(p, l, GPUME_CUDA_SEA_TILE_WIDTH, GPUME_CUDA_SEA_TILE_HEIGHT);
    /*
     * With few candidates, or with few but long-running thread blocks, evaluating all candidates is
     * faster. Measured at 1080p on an H200, elimination takes 1/2.0 of the time of the scan at +-32
     * and 1/3.6 at +-64 with 16x16 samples of 8 bits, 1/2.0 and 1/3.5 with 10 bits, 1/2.8 and 1/4.8
     * with 12 bits; with 8x8 samples, at +-64, 1/1.25, 1/1.4 and 1/2.1.
     */
    if (!p->always_sea &&
        (p->range < least_range || bytes == 1 && l->grid[0] * l->grid[1] < (p->block == 8 ? 768 : 256)))
        return NULL;

    shape_chunks(a, l, bytes);
    /* evaluating more candidates takes longer than the full search kernel */
    a->sea.max_evaluated = (64 + side * side / 64) * square * square / (bytes == 1 ? 2 : 1);
    return ff_gpume_cuda_find_module(cuda, p, GPUME_CUDA_eliminate, p->block, 0);
}

/* Allocates the costs that a scan keeps for a strip. */
static av_cold int alloc_sums(GpumeCudaKernel *kernel)
{
    GpumeCudaTreeSearch *t = &kernel->args.tree;
    const GpumeParams *p   = &kernel->args.params;
    const int together = GPUME_CUDA_MERGE_SQUARE / GPUME_CUDA_SCAN_SQUARE;
    const size_t row   = (size_t)t->across * (2 * p->range + 1) * t->pitch * sizeof(uint32_t);
    const int nb_merged = gpume_blocks(p->width,  GPUME_CUDA_MERGE_SQUARE) *
                          gpume_blocks(p->height, GPUME_CUDA_MERGE_SQUARE);
    const int fits     = p->small_strips ? 1 : MAX_KEPT / row;
    int ret;

    kernel->strip = FFMAX(fits / together, 1) * together;
    kernel->strip = FFMIN(kernel->strip, FFALIGN(kernel->launches[0].grid[1], together));
    ret = ff_gpume_cuda_alloc(kernel->cuda, &kernel->work, GPUME_CUDA_DEVICE | GPUME_CUDA_ZEROED,
                              kernel->strip * row + nb_merged * sizeof(uint32_t), "costs");
    t->sums   = kernel->work.data;
    t->counts = kernel->work.data + kernel->strip * row;
    return ret;
}

av_cold int ff_gpume_cuda_scan_init(GpumeCudaKernel *kernel, const GpumeCuda *cuda, const GpumeParams *params)
{
    const int largest = params->block << (ff_gpume_nb_sizes(params) - 1);
    const GpumeCudaModule *module = ff_gpume_cuda_find_module(cuda, params, GPUME_CUDA_scan, FFMIN(params->block, 8),
                                                              GPUME_CUDA_SCAN_SQUARE);
    GpumeCudaLaunch *l = &kernel->launches[0];
    GpumeCudaArgs *a   = &kernel->args;
    int ret;

    /* up to 16 samples, each size has its own kernels */
    if (gpume_kind(params->algo) != GPUME_KIND_FULL || params->cost != GPUME_COST_SAD ||
        params->range > GPUME_CUDA_FULL_MAX_RANGE || params->always_sea ||
        largest > GPUME_CUDA_MERGE_SQUARE || (largest == params->block && largest <= 16) || !module)
        return 0;
    kernel->cuda        = cuda;
    kernel->nb_launches = 1;
    a->params           = *params;
    a->params.block     = FFMIN(params->block, 8);
    shape_area(a, l, copies_of(module), 2, 2, 1, GPUME_CUDA_SCAN_SQUARE);
    a->tree.across = l->grid[0];
    a->tree.pitch  = GPUME_CUDA_SCAN_DX * GPUME_CUDA_SCAN_PLACES(params->range, copies_of(module));
    ret = ff_gpume_cuda_load(cuda, l, &module->code);
    if (ret >= 0 && largest == GPUME_CUDA_MERGE_SQUARE)
        ret = alloc_sums(kernel);
    return ret < 0 ? ret : 1;
}
