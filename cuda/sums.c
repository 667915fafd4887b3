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

/* The kernel that searches squares of such blocks and larger ones. NULL: there is none, or sums are quicker. */
static const GpumeCudaModule *find_squares(const GpumeCuda *cuda, const GpumeParams *p)
{
    /* of 8x8 bytes in larger ranges (measured) */
    return p->block == 8 && p->depth == 8 && p->range > 24 ? NULL :
           ff_gpume_cuda_find_module(cuda, p, GPUME_CUDA_squares, p->block, 0);
}

int ff_gpume_cuda_sums_from(const GpumeCuda *cuda, const GpumeParams *p)
{
    const int nb_sizes = ff_gpume_nb_sizes(p);
    const int largest  = p->block << (nb_sizes - 1);

    if (gpume_kind(p->algo) != GPUME_KIND_FULL || p->cost != GPUME_COST_SAD ||
        p->range > GPUME_CUDA_FULL_MAX_RANGE || p->always_sea || largest > GPUME_CUDA_JOIN_SIDE)
        return nb_sizes;
    if (nb_sizes > 1 && find_squares(cuda, p))
        return 0;
    if (p->depth > 8)
        return nb_sizes;
    /* up to 16 samples a size has kernels of its own */
    return p->block >= 2 * GPUME_CUDA_SUMS_TILE || nb_sizes > 1 ? 0 : nb_sizes;
}

static av_cold int load(GpumeCudaSums *s, GpumeCudaLaunch *l, int family, int side, int variant)
{
    return ff_gpume_cuda_load(s->cuda, l,
                              &ff_gpume_cuda_find_module(s->cuda, &s->args.search.params, family, side, variant)->code);
}

/* The threads that join a square, so that the fewest wait for others: a row of costs has so many words of two. */
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

/* Allocates what is kept of a strip, rows of tiles having so many bytes of costs. */
static av_cold int alloc_sums(GpumeCudaSums *s, size_t row)
{
    const int fits = s->args.search.params.small_strips ? 1 : MAX_KEPT / row;
    int ret;

    s->row   = row;
    s->strip = FFMAX(fits / GPUME_CUDA_JOIN_TILES, 1) * GPUME_CUDA_JOIN_TILES;
    s->strip = FFMIN(s->strip, FFALIGN(s->nb_rows, GPUME_CUDA_JOIN_TILES));
    ret = ff_gpume_cuda_alloc(s->cuda, &s->sums, GPUME_CUDA_DEVICE, s->strip * row, "costs");
    s->args.sums = s->sums.data;
    s->new_sums  = 1;
    return ret;
}

/* Shapes and loads the kernel that joins what is kept. */
static av_cold int init_join(GpumeCudaSums *s, int family, int shared)
{
    s->join.grid[0] = gpume_blocks(s->args.search.params.width, GPUME_CUDA_JOIN_SIDE);
    s->join.threads = join_threads(s->args.search.params.range, s->args.pitch / GPUME_CUDA_SUMS_TOGETHER);
    s->join.shared  = shared;
    return load(s, &s->join, family, 0, 0);
}

/* Of tiles. */
static av_cold int init_sums(GpumeCudaSums *s)
{
    GpumeCudaSumsArgs *a = &s->args;
    const int range = a->search.params.range;
    int ret;

    a->pitch  = FFALIGN(2 * range + 1, GPUME_CUDA_SUMS_TOGETHER);
    a->across = FFALIGN(a->across, GPUME_CUDA_JOIN_TILES);
    ret = alloc_sums(s, (size_t)a->across * (2 * range + 1) * a->pitch * sizeof(uint16_t));
    return ret < 0 ? ret : init_join(s, GPUME_CUDA_join, 4 * GPUME_CUDA_JOIN_SHARED);
}

/* Of squares of tiles. */
static av_cold int init_squares(GpumeCudaSums *s, int largest)
{
    GpumeCudaSumsArgs *a = &s->args;
    GpumeParams *p = &a->search.params;
    const int tiles = GPUME_CUDA_SQUARES_SIDE / GPUME_CUDA_SUMS_TILE;
    int ret;

    s->down = tiles;
    a->pitch = ff_gpume_cuda_shape_squares(&a->search, &s->tiles);
    ret = ff_gpume_cuda_load(s->cuda, &s->tiles, &s->squares->code);
    if (ret < 0 || largest < GPUME_CUDA_SQUARES_SIDE)
        return ret;
    a->across = gpume_blocks(p->width, GPUME_CUDA_SQUARES_SIDE);
    ret = alloc_sums(s, (size_t)a->across * (2 * p->range + 1) * a->pitch * sizeof(uint32_t) / tiles);
    return ret < 0 || largest < GPUME_CUDA_JOIN_SIDE ? ret :
           init_join(s, GPUME_CUDA_joinsquares, GPUME_CUDA_JOIN_THREADS / 32 * sizeof(uint64_t));
}

av_cold int ff_gpume_cuda_sums_init(GpumeCudaSums *s, const GpumeCuda *cuda, const GpumeParams *params, int largest)
{
    GpumeCudaSumsArgs *a = &s->args;
    GpumeParams *p = &a->search.params;
    int ret;

    s->cuda  = cuda;
    s->first = av_log2(params->block) - 2;
    *p           = *params;
    p->block     = FFMIN(p->block, GPUME_CUDA_SUMS_TILE);
    p->bw        = gpume_blocks(p->width,  p->block);
    p->bh        = gpume_blocks(p->height, p->block);
    p->big_endian = 0;
    a->search.nb_fields = 1;
    a->across  = gpume_blocks(p->width,  GPUME_CUDA_SUMS_TILE);
    s->nb_rows = gpume_blocks(p->height, GPUME_CUDA_SUMS_TILE);
    s->strip   = s->nb_rows;
    s->down    = 1;
    s->squares = largest > params->block ? find_squares(cuda, p) : NULL;

    if (s->squares)
        return init_squares(s, largest);
    ret = load(s, &s->tiles, GPUME_CUDA_sums, p->block,
               ff_gpume_cuda_shape_tiles(&a->search, &s->tiles, cuda->multiprocessor_shared, GPUME_CUDA_TILES_SUMS, 0));
    return ret < 0 || largest < 2 * GPUME_CUDA_SUMS_TILE ? ret : init_sums(s);
}

/* Tiles that the last squares lack cost nothing; a strip before had others there. */
static CUresult clear_missing(const GpumeCudaSums *s, int first_row, CUstream stream)
{
    const int nb = s->nb_rows - first_row;

    if (s->squares || !s->join.function || !first_row || nb >= s->strip || nb % GPUME_CUDA_JOIN_TILES == 0)
        return CUDA_SUCCESS;
    return s->cuda->cu->cuMemsetD8Async(s->sums.data + nb * s->row, 0,
                                        (FFALIGN(nb, GPUME_CUDA_JOIN_TILES) - nb) * s->row, stream);
}

CUresult ff_gpume_cuda_sums_launch(GpumeCudaSums *s, const GpumeCudaPlane *cur, const GpumeCudaPlane *ref,
                                   int reference, const GpumeCudaSumsSize *to, CUstream stream)
{
    GpumeCudaSumsArgs *a = &s->args;
    GpumeCudaSumsSize sizes[GPUME_CUDA_NB_SUMMED] = { 0 };
    const int smallest = av_log2(a->search.params.block) - 2;
    CUresult err = CUDA_SUCCESS;

    if (s->new_sums)
        err = s->cuda->cu->cuMemsetD8Async(s->sums.data, 0, s->sums.size, stream);
    s->new_sums = 0;

    for (int i = s->first; i < GPUME_CUDA_NB_SUMMED; i++)
        sizes[i] = to[i - s->first];
    a->search.cur       = *cur;
    a->search.mvs       = sizes[smallest].mvs;
    a->search.vectors   = sizes[smallest].vectors;
    a->search.costs     = sizes[smallest].costs;
    a->search.fields[0] = (GpumeCudaField) {
        .plane = *ref, .reference = reference, .source = a->search.params.distance[reference],
    };
    a->eights = sizes[1];
    memcpy(a->sizes, sizes + 2, sizeof(a->sizes));
    for (int row = 0; row < s->nb_rows && err == CUDA_SUCCESS; row += s->strip) {
        const int nb = FFMIN(s->strip, s->nb_rows - row);

        a->first_row     = row;
        s->tiles.grid[1] = gpume_blocks(nb, s->down);
        s->join.grid[1]  = gpume_blocks(nb, GPUME_CUDA_JOIN_TILES);
        err = clear_missing(s, row, stream);
        if (err == CUDA_SUCCESS)
            err = ff_gpume_cuda_launch(s->cuda, &s->tiles, 1, a, stream);
        if (s->join.function && err == CUDA_SUCCESS)
            err = ff_gpume_cuda_launch(s->cuda, &s->join, 1, a, stream);
    }
    return err;
}

av_cold void ff_gpume_cuda_sums_uninit(GpumeCudaSums *s)
{
    ff_gpume_cuda_unload(s->cuda, &s->tiles);
    ff_gpume_cuda_unload(s->cuda, &s->join);
    ff_gpume_cuda_free(&s->sums);
}
