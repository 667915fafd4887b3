/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <limits.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/macros.h"

#include "libavfilter/gpume/core/geometry.h"
#include "libavfilter/gpume/core/tree.h"
#include "libavfilter/gpume/cuda/launch.h"
#include "libavfilter/gpume/cuda/sums.h"

/** Bytes of costs that are kept at a time; but at least those of GPUME_CUDA_JOIN_TILES rows of tiles. */
#define MAX_KEPT (128 << 20)

/* The kernel that searches squares of such blocks and larger ones. NULL: there is none. */
static const GpumeCudaModule *find_squares(const GpumeCuda *cuda, const GpumeParams *p)
{
    return ff_gpume_cuda_find_module(cuda, p, GPUME_CUDA_squares, FFMIN(p->block, 8), 0);
}

int ff_gpume_cuda_sums_from(const GpumeCuda *cuda, const GpumeParams *p)
{
    const int nb_sizes = ff_gpume_nb_sizes(p);
    const int largest  = p->block << (nb_sizes - 1);

    /* up to 16 samples a size has kernels of its own */
    return gpume_kind(p->algo) != GPUME_KIND_FULL || p->cost != GPUME_COST_SAD ||
           p->range > GPUME_CUDA_FULL_MAX_RANGE || p->always_sea || largest > GPUME_CUDA_JOIN_SIDE ||
           (nb_sizes == 1 && p->block <= GPUME_CUDA_SUMS_TILE) || !find_squares(cuda, p) ? nb_sizes : 0;
}

/* The threads that join a square, so that the fewest wait for others: a row of costs has so many words of four. */
static av_cold int join_threads(int range, int words)
{
    int best = 0, least = INT_MAX;

    for (int threads = GPUME_CUDA_JOIN_THREADS; threads >= GPUME_CUDA_JOIN_THREADS / 2; threads -= 32) {
        const int rounds = gpume_blocks(2 * range + 1, threads / words);

        if (rounds * threads < least) {
            least = rounds * threads;
            best  = threads;
        }
    }
    return best;
}

/* Allocates what is kept of a strip: its costs. */
static av_cold int alloc_sums(GpumeCudaSums *s)
{
    GpumeCudaSumsArgs *a  = &s->args;
    const GpumeParams *p  = &a->search.params;
    const int tiles       = GPUME_CUDA_SQUARES_SIDE / GPUME_CUDA_SUMS_TILE;
    const size_t row      = (size_t)a->across * (2 * p->range + 1) * a->pitch * sizeof(uint32_t) / tiles;
    const int fits        = p->small_strips ? 1 : MAX_KEPT / row;
    int ret;

    s->strip = FFMAX(fits / GPUME_CUDA_JOIN_TILES, 1) * GPUME_CUDA_JOIN_TILES;
    s->strip = FFMIN(s->strip, FFALIGN(s->nb_rows, GPUME_CUDA_JOIN_TILES));
    ret = ff_gpume_cuda_alloc(s->cuda, &s->sums, GPUME_CUDA_DEVICE, s->strip * row, "costs");
    a->sums     = s->sums.data;
    s->new_sums = 1;
    return ret;
}

av_cold int ff_gpume_cuda_sums_init(GpumeCudaSums *s, const GpumeCuda *cuda, const GpumeParams *params, int largest)
{
    GpumeCudaSumsArgs *a = &s->args;
    GpumeParams *p = &a->search.params;
    int ret;

    s->cuda  = cuda;
    s->first = av_log2(params->block) - 2;
    *p           = *params;
    p->block     = FFMIN(p->block, 8);
    p->bw        = gpume_blocks(p->width,  p->block);
    p->bh        = gpume_blocks(p->height, p->block);
    p->big_endian = 0;
    a->search.nb_fields = 1;
    a->across  = gpume_blocks(p->width,  GPUME_CUDA_SQUARES_SIDE);
    s->nb_rows = gpume_blocks(p->height, GPUME_CUDA_SUMS_TILE);
    s->strip   = s->nb_rows;

    a->pitch = ff_gpume_cuda_shape_squares(&a->search, &s->squares);
    ret = ff_gpume_cuda_load(cuda, &s->squares, &find_squares(cuda, p)->code);
    if (ret < 0 || largest < GPUME_CUDA_SQUARES_SIDE)
        return ret;
    ret = alloc_sums(s);
    if (ret < 0 || largest < GPUME_CUDA_JOIN_SIDE)
        return ret;
    s->join.grid[0] = gpume_blocks(p->width, GPUME_CUDA_JOIN_SIDE);
    s->join.threads = join_threads(p->range, a->pitch / GPUME_CUDA_SUMS_TOGETHER);
    s->join.shared  = GPUME_CUDA_JOIN_THREADS / 32 * sizeof(uint64_t);
    return ff_gpume_cuda_load(cuda, &s->join,
                              &ff_gpume_cuda_find_module(cuda, p, GPUME_CUDA_joinsquares, 0, 0)->code);
}

CUresult ff_gpume_cuda_sums_launch(GpumeCudaSums *s, const GpumeCudaPlane *cur, const GpumeCudaPlane *ref,
                                   int reference, const GpumeCudaSumsSize *to, CUstream stream)
{
    GpumeCudaSumsArgs *a = &s->args;
    CUresult err = CUDA_SUCCESS;

    if (s->new_sums)
        err = s->cuda->cu->cuMemsetD8Async(s->sums.data, 0, s->sums.size, stream);
    s->new_sums = 0;

    for (int i = s->first; i < GPUME_CUDA_NB_SUMMED; i++)
        a->sizes[i] = to[i - s->first];
    a->search.cur       = *cur;
    a->search.fields[0] = (GpumeCudaField) {
        .plane = *ref, .reference = reference, .source = a->search.params.distance[reference],
    };
    for (int row = 0; row < s->nb_rows && err == CUDA_SUCCESS; row += s->strip) {
        const int nb = FFMIN(s->strip, s->nb_rows - row);

        a->first_row     = row;
        s->squares.grid[1] = gpume_blocks(nb, GPUME_CUDA_SQUARES_SIDE / GPUME_CUDA_SUMS_TILE);
        s->join.grid[1]    = gpume_blocks(nb, GPUME_CUDA_JOIN_TILES);
        err = ff_gpume_cuda_launch(s->cuda, &s->squares, 1, a, stream);
        if (s->join.function && err == CUDA_SUCCESS)
            err = ff_gpume_cuda_launch(s->cuda, &s->join, 1, a, stream);
    }
    return err;
}

av_cold void ff_gpume_cuda_sums_uninit(GpumeCudaSums *s)
{
    ff_gpume_cuda_unload(s->cuda, &s->squares);
    ff_gpume_cuda_unload(s->cuda, &s->join);
    ff_gpume_cuda_free(&s->sums);
}
