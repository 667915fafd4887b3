/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
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

/* Shapes the search of blocks of any size and depth. */
static const GpumeCudaModule *shape_all(const GpumeCuda *cuda, GpumeCudaArgs *a, GpumeCudaLaunch *l)
{
    const GpumeParams *p = &a->params;

    set_grid(p, l, p->block, p->block);
    l->threads = GPUME_CUDA_FULL_THREADS;
    l->shared  = l->threads / 32 * sizeof(uint64_t);
    return ff_gpume_cuda_find_module(cuda, p, GPUME_CUDA_any, 0, 0);
}

const GpumeCudaModule *ff_gpume_cuda_shape_full(const GpumeCuda *cuda, GpumeCudaArgs *a, GpumeCudaLaunch *l,
                                                int remaining)
{
    const GpumeParams *p = &a->params;
    const int can_scan   = p->range <= GPUME_CUDA_FULL_MAX_RANGE && p->block <= 16 && p->cost == GPUME_COST_SAD;
    const GpumeCudaModule *module = can_scan ? shape_scan(cuda, a, l, remaining) : NULL;

    return module ? module : shape_all(cuda, a, l);
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

/* Returns the kernel that scans squares of these blocks and of larger ones; NULL: there is none. */
static const GpumeCudaModule *find_squares(const GpumeCuda *cuda, const GpumeParams *p)
{
    return ff_gpume_cuda_find_module(cuda, p, GPUME_CUDA_scan, FFMIN(p->block, 8), GPUME_CUDA_SCAN_SQUARE);
}

int ff_gpume_cuda_scan_fits(const GpumeCuda *cuda, const GpumeParams *p)
{
    const int nb_sizes = ff_gpume_nb_sizes(p);

    /* up to 16 samples, each size has its own kernels */
    return gpume_kind(p->algo) == GPUME_KIND_FULL && p->cost == GPUME_COST_SAD &&
           p->range <= GPUME_CUDA_FULL_MAX_RANGE && !p->always_sea &&
           p->block << (nb_sizes - 1) <= GPUME_CUDA_MERGE_SQUARE &&
           (nb_sizes > 1 || p->block > 16) && find_squares(cuda, p);
}

/* Allocates the costs that are kept for a strip. */
static av_cold int alloc_sums(GpumeCudaScan *s)
{
    GpumeCudaTreeSearch *t = &s->args.tree;
    const GpumeParams *p   = &s->args.params;
    const int together = GPUME_CUDA_MERGE_SQUARE / GPUME_CUDA_SCAN_SQUARE;
    const size_t row   = (size_t)t->across * (2 * p->range + 1) * t->pitch * sizeof(uint32_t);
    const int nb_merged = gpume_blocks(p->width,  GPUME_CUDA_MERGE_SQUARE) *
                          gpume_blocks(p->height, GPUME_CUDA_MERGE_SQUARE);
    const int fits     = p->small_strips ? 1 : MAX_KEPT / row;
    int ret;

    s->strip = FFMAX(fits / together, 1) * together;
    s->strip = FFMIN(s->strip, FFALIGN(s->nb_rows, together));
    ret = ff_gpume_cuda_alloc(s->cuda, &s->sums, GPUME_CUDA_DEVICE, s->strip * row + nb_merged * sizeof(uint32_t),
                              "costs");
    t->sums     = s->sums.data;
    t->counts   = s->sums.data + s->strip * row;
    s->new_sums = 1;
    return ret;
}

av_cold int ff_gpume_cuda_scan_init(GpumeCudaScan *s, const GpumeCuda *cuda, const GpumeParams *params, int largest)
{
    const GpumeCudaModule *squares = find_squares(cuda, params);
    GpumeCudaTreeSearch *t = &s->args.tree;
    GpumeParams *p = &s->args.params;
    int ret;

    s->cuda  = cuda;
    s->first = GPUME_CUDA_SIZE(params->block);
    *p            = *params;
    p->block      = FFMIN(p->block, 8);
    p->big_endian = 0;
    s->args.nb_fields = 1;
    t->across  = gpume_blocks(p->width,  GPUME_CUDA_SCAN_SQUARE);
    s->nb_rows = gpume_blocks(p->height, GPUME_CUDA_SCAN_SQUARE);
    s->strip   = s->nb_rows;

    shape_area(&s->args, &s->squares, copies_of(squares), 2, 2, 1, GPUME_CUDA_SCAN_SQUARE);
    t->pitch = GPUME_CUDA_SCAN_DX * GPUME_CUDA_SCAN_PLACES(p->range, copies_of(squares));
    ret = ff_gpume_cuda_load(cuda, &s->squares, &squares->code);
    return ret >= 0 && largest >= GPUME_CUDA_MERGE_SQUARE ? alloc_sums(s) : ret;
}

CUresult ff_gpume_cuda_scan_launch(GpumeCudaScan *s, const GpumeCudaPlane *cur, const GpumeCudaPlane *ref,
                                   int reference, const GpumeCudaStored *to, CUstream stream)
{
    GpumeCudaArgs *a = &s->args;
    CUresult err = CUDA_SUCCESS;

    if (s->new_sums)
        err = s->cuda->cu->cuMemsetD8Async(s->sums.data, 0, s->sums.size, stream);
    s->new_sums = 0;

    for (int i = s->first; i < GPUME_CUDA_NB_SIZES; i++)
        a->tree.sizes[i] = to[i - s->first];
    a->cur       = *cur;
    a->fields[0] = (GpumeCudaField) {
        .plane = *ref, .reference = reference, .source = a->params.distance[reference],
    };
    a->full.grid = s->squares.grid[0];
    for (int row = 0; row < s->nb_rows && err == CUDA_SUCCESS; row += s->strip) {
        const int nb = FFMIN(s->strip, s->nb_rows - row);

        a->tree.first_row  = row;
        s->squares.grid[1] = nb;
        err = ff_gpume_cuda_launch(s->cuda, &s->squares, 1, a, stream);
    }
    return err;
}

av_cold void ff_gpume_cuda_scan_uninit(GpumeCudaScan *s)
{
    ff_gpume_cuda_unload(s->cuda, &s->squares);
    ff_gpume_cuda_free(&s->sums);
}
