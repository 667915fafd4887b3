/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>
#include <limits.h>
#include <stddef.h>

#include "libavutil/attributes.h"
#include "libavutil/avassert.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/log.h"

#include "libavfilter/gpume/core/geometry.h"
#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/cuda/launch.h"
#include "libavfilter/gpume/cuda/sums_args.h"

/* A count of searches wraps: it has to tell ages and epochs all the same. */
static_assert(GPUME_CUDA_NB_EPOCHS % GPUME_NB_AGES == 0, "epochs and ages");

/** Every GPU gives a block of threads as much shared memory, bytes. */
#define MAX_SHARED (48 << 10)

static_assert(MAX_SHARED / 16 < 4096, "GPUME_DIVIDE() takes the units of a window");

/** And bytes that the system takes of a multiprocessor's for each of them. */
#define RESERVED_SHARED 1024

/** Blocks of threads that search what remains. */
#define REMAINING_GRID 4096

/* Blocks of any size, with a number of threads; returns the words of shared memory. */
static int shape_any(GpumeCudaArgs *a, int max_threads)
{
    const GpumeParams *p = &a->params;
    const int per_word   = p->depth > 8 ? 2 : 4;
    const int cur_words  = p->block / per_word;
    /* candidates side by side and on top of each other, at most */
    const int nx = FFMIN(2 * p->range, p->width  - FFMIN(p->width,  p->block)) + 1;
    const int ny = FFMIN(2 * p->range, p->height - FFMIN(p->height, p->block)) + 1;
    const int rows = FFMIN(p->block, GPUME_CUDA_FULL_STRIP);
    int across, down, pitch;

    across = FFMIN((nx + GPUME_CUDA_FULL_DX - 1) / GPUME_CUDA_FULL_DX, 64);
    down   = FFMIN((ny + GPUME_CUDA_FULL_DY - 1) / GPUME_CUDA_FULL_DY, max_threads / across);
    /* odd: rows that are read together begin in different banks */
    pitch  = (across * GPUME_CUDA_FULL_DX / per_word + cur_words) | 1;
    /* a narrow and high picture has many on top of each other */
    down   = FFMIN(down, ((MAX_SHARED / 4 - GPUME_CUDA_FULL_STRIP * cur_words) / pitch - rows) /
                         GPUME_CUDA_FULL_DY);
    a->full.across = across;
    a->full.down   = down;
    a->full.pitch  = pitch;
    return GPUME_CUDA_FULL_STRIP * cur_words + (down * GPUME_CUDA_FULL_DY + rows) * pitch;
}

static int round_up(int n, int multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

/* The rounds that a warp's lanes make of so many runs of that many places. */
static int lane_rounds(int runs, int in_run)
{
    return (runs * in_run + 31) / 32;
}

/*
 * As many runs of the window of blocks of so many samples at a time as fit beside fixed words, and leave the fewest
 * lanes idle. Returns the words of all of it.
 */
static int shape_runs(GpumeCudaArgs *a, int copies, int width, int height, int fixed)
{
    const GpumeParams *p = &a->params;
    const int in_run = GPUME_CUDA_RUNS_PLACES(p->range, copies);
    const int runs   = (2 * p->range + GPUME_CUDA_RUNS_DY) / GPUME_CUDA_RUNS_DY;
    const int banks  = 64 / copies;
    int least = INT_MAX;

    fixed += GPUME_CUDA_RUNS_DX * in_run;
    a->full.copy_words = GPUME_CUDA_RUNS_DX * GPUME_CUDA_RUNS_COLUMNS(p->range, copies) + width / copies;
    /* what eight lanes read at a time, four words each of some columns of each copy, lies in different banks */
    while (a->full.copy_words % banks != banks / 2)
        a->full.copy_words += 4;
    for (int nb = 1; nb <= runs; nb++) {
        const int its    = (nb * GPUME_CUDA_RUNS_DY + height - 1) * GPUME_CUDA_RUNS_PITCH(a->full.copy_words, copies);
        /* to load a piece of the window takes about a quarter of a round */
        const int rounds = runs / nb * lane_rounds(nb, in_run) + lane_rounds(runs % nb, in_run);
        const int cost   = 4 * rounds + gpume_blocks(runs, nb);

        if (4 * (its + fixed) > MAX_SHARED || cost >= least)
            continue;
        least        = cost;
        a->full.runs = nb;
        a->full.shared_words = its;
    }
    return a->full.shared_words + fixed;
}

/* Blocks of 4x4 bytes. */
static void shape_full4(GpumeCudaArgs *a, GpumeCudaLaunch *l)
{
    const GpumeParams *p = &a->params;
    const int width  = GPUME_CUDA_FULL4_ACROSS * p->block;
    const int height = GPUME_CUDA_FULL4_DOWN   * p->block;
    const int words  = shape_runs(a, GPUME_CUDA_FULL4_COPIES, width, height, 0);

    l->threads = 32 * GPUME_CUDA_FULL4_DOWN;
    l->grid[0] = gpume_blocks(p->width,  width);
    l->grid[1] = gpume_blocks(p->height, height);
    l->shared  = 4 * FFMAX(words, shape_any(a, l->threads));
}

/* Squares of blocks of several sizes. */
int ff_gpume_cuda_shape_squares(GpumeCudaArgs *a, GpumeCudaLaunch *l)
{
    const int side   = GPUME_CUDA_SQUARES_SIDE;
    const int copies = a->params.depth > 8 ? 2 : 4;

    l->threads = GPUME_CUDA_SQUARES_THREADS;
    l->grid[0] = gpume_blocks(a->params.width,  side);
    l->grid[1] = gpume_blocks(a->params.height, side);
    l->shared  = 4 * shape_runs(a, copies, side, side, side * side / copies + GPUME_CUDA_SQUARES_SHOWN(copies));
    return GPUME_CUDA_RUNS_DX * GPUME_CUDA_RUNS_PLACES(a->params.range, copies);
}

/* The time that a row of blocks takes, in instructions, roughly: as shape_full10() chooses a shape. */
static int time_full10(const GpumeParams *p, int rows, int warps, int split, int runs)
{
    const int all_runs = (2 * p->range + rows) / rows;
    /* seven instructions for eight samples, and what it takes to compare keys */
    const int unit   = GPUME_CUDA_FULL10_DX * rows * (16 * p->block * 7 / 8 + 5 * 16 / p->block);
    /* a pair of them, or the zero vector */
    const int single = unit / (GPUME_CUDA_FULL10_DX * rows) * 2 + 50;
    const int lines  = warps / split * p->block;
    int time = 0;

    for (int first = 0; first < all_runs; first += runs) {
        const int nb    = FFMIN(runs, all_runs - first);
        const int units = 2 * GPUME_CUDA_FULL10_COLUMNS(p->range) * nb;
        const int alone = GPUME_CUDA_FULL10_SINGLE(p->range) ? (nb * rows + 1) / 2 : 0;

        time += (units + 32 * split - 1) / (32 * split) * unit + (alone + 32 * split) / (32 * split) * single;
        /* to load the window, and to wait for it */
        time += 500 + (nb * rows + lines) * GPUME_CUDA_FULL10_WORDS(p->range) / 4 * 50 / (32 * warps);
    }
    return time * split;
}

/* Blocks of up to 16x16 samples of 9 or 10 bits, every candidate. */
static void shape_full10(GpumeCudaArgs *a, GpumeCudaLaunch *l, int rows)
{
    const GpumeParams *p = &a->params;
    const int warps    = GPUME_CUDA_FULL10_WARPS;
    const int all_runs = (2 * p->range + rows) / rows;
    int height, words, tile, least = INT_MAX;

    a->full.copy_words = GPUME_CUDA_FULL10_WORDS(p->range);
    /* four columns of each copy, which eight lanes read at a time, lie in different banks */
    while (a->full.copy_words % 32 != 16)
        a->full.copy_words += 4;
    for (int split = 1; split <= warps; split *= 2)
        for (int runs = 1; runs <= all_runs; runs++) {
            const int lines = warps / split * p->block;
            const int time  = time_full10(p, rows, warps, split, runs);

            if (time < least && 4 * ((runs * rows + lines - 1) * GPUME_CUDA_FULL10_PITCH(a->full.copy_words) +
                                     lines * GPUME_CUDA_FULL_TILE_WIDTH / 2) <= MAX_SHARED) {
                least = time;
                a->full.split = split;
                a->full.runs  = runs;
            }
        }
    height = warps / a->full.split * p->block;
    tile   = height * GPUME_CUDA_FULL_TILE_WIDTH / 2;
    words  = (a->full.runs * rows + height - 1) * GPUME_CUDA_FULL10_PITCH(a->full.copy_words);

    l->threads = 32 * warps;
    l->grid[0] = gpume_blocks(p->width,  GPUME_CUDA_FULL_TILE_WIDTH);
    l->grid[1] = gpume_blocks(p->height, height);
    /* blocks at the edges are searched by the same threads */
    words      = FFALIGN(FFMAX(words, shape_any(a, l->threads)), 4);
    a->full.shared_words = words;
    l->shared  = 4 * (words + tile);
}

/*
 * As much of the window as fits, in pieces of equal size, for threads of that many
 * rows and tiles of that height, beside fixed words. Returns the pieces.
 */
static int shape_pieces(GpumeCudaArgs *a, int ny, int rows, int height, int fixed, int *words)
{
    const int runs = (ny + rows - 1) / rows;
    int pieces = 0;

    do {
        pieces++;
        a->full.runs = (runs + pieces - 1) / pieces;
        *words       = (a->full.runs * rows + height - 1) * GPUME_CUDA_FULL_PITCH(a->full.copy_words);
    } while (4 * (*words + fixed) > MAX_SHARED);
    return pieces;
}

/*
 * Tiles of blocks of 8 or 16 bytes, or of up to 16 samples of more than 8 bits.
 * Returns the rows of displacements that a thread has: the kernel's variant.
 */
static int shape_tiles(GpumeCudaArgs *a, GpumeCudaLaunch *l, int multiprocessor_shared, int remaining)
{
    static const int variants[] = { 13, 11, 9 };
    const GpumeParams *p = &a->params;
    const int deep        = p->depth > 8;
    const int nb_variants = FF_ARRAY_ELEMS(variants) - deep;
    /* each row of blocks of a deep tile has warps of its own */
    const int parts       = deep ? GPUME_CUDA_DEEP_PARTS(p->block) : 1;
    const int height      = parts * p->block;
    const int blocks      = GPUME_CUDA_FULL_TILE_WIDTH / p->block;
    const int fixed       = deep ? GPUME_CUDA_DEEP_FIXED(p->block, GPUME_CUDA_FULL_THREADS) :
                                   blocks + height * GPUME_CUDA_FULL_TILE_WIDTH / 4;
    const int ny = FFMIN(2 * p->range, p->height - FFMIN(p->height, p->block)) + 1;
    /* words at which candidates begin; the first may lie up to 3 samples early */
    const int columns = (2 * p->range + 3) / 4 + 1;
    int best = 0, least = INT_MAX, words;

    a->full.copy_words = FFALIGN(columns + GPUME_CUDA_FULL_TILE_WIDTH / 4 - 1, 4);
    /* a block that remains is to end soon: few rounds; else the fewest rows in all */
    l->threads = remaining || p->block == 4 || (deep && p->block == 8) ? 128 : 64;
    for (int i = 0; i < nb_variants; i++) {
        const int rows   = variants[i];
        const int pieces = shape_pieces(a, ny, rows, height, fixed, &words);
        const int units  = a->full.runs * (2 * p->range + 1) / 4 * 4;
        const int share  = (int)l->threads / parts;
        const int rounds = (units + share - 1) / share;
        const int cost   = remaining ? pieces * rounds * rows : round_up(ny, rows);

        if (cost < least) {
            least = cost;
            best  = rows;
        }
    }
    shape_pieces(a, ny, best, height, fixed, &words);

    /* the fewest that fill a multiprocessor, as they wait for each other */
    while (!remaining && l->threads < GPUME_CUDA_FULL_THREADS &&
           multiprocessor_shared / (4 * (words + fixed) + RESERVED_SHARED) * l->threads <
           2 * GPUME_CUDA_FULL_THREADS)
        l->threads *= 2;
    l->grid[0] = gpume_blocks(p->width, GPUME_CUDA_FULL_TILE_WIDTH);
    l->grid[1] = gpume_blocks(p->height, height);
    /* keys of two words, of each warp */
    words      = FFMAX(words, (int)l->threads / 32 * blocks * 2);
    /* blocks at the edges are searched by the same threads */
    words      = FFALIGN(FFMAX(words, shape_any(a, l->threads)), 4);
    a->full.shared_words = words;
    l->shared  = 4 * (words + fixed);
    return best;
}

/* Every candidate is evaluated. */
static const GpumeCudaModule *shape_full(GpumeCudaKernel *k, GpumeCudaLaunch *l)
{
    GpumeCudaArgs *a = &k->args;
    const GpumeParams *p = &a->params;
    const int tiles  = p->cost == GPUME_COST_SAD && p->block <= 16 && p->range <= GPUME_CUDA_FULL_MAX_RANGE;

    /*
     * Of many candidates of 8x8 samples few are left by bounds, and of blocks that remain, for which a cost is known
     * (measured).
     */
    if (tiles && p->depth > 8 && p->depth <= 10 && !k->nb_launches &&
        (p->exhaustive || p->block != 8 || p->range < 28)) {
        const int rows = p->block == 8 ? 2 : 3;
        const GpumeCudaModule *halves = ff_gpume_cuda_find_module(k->cuda, p, GPUME_CUDA_full10, p->block, rows);

        if (halves) {
            shape_full10(a, l, rows);
            return halves;
        }
    }
    if (tiles && (p->depth <= 8 || !p->exhaustive)) {
        const int deep = p->depth > 8;

        if (deep || p->block > 4)
            return ff_gpume_cuda_find_module(k->cuda, p, deep ? GPUME_CUDA_deep : GPUME_CUDA_full, p->block,
                                             shape_tiles(a, l, k->cuda->multiprocessor_shared, k->nb_launches > 0));
        shape_full4(a, l);
        return ff_gpume_cuda_find_module(k->cuda, p, GPUME_CUDA_full4, 4, 0);
    }
    l->grid[0] = p->bw;
    l->grid[1] = p->bh;
    if (p->cost != GPUME_COST_SAD) {
        l->threads = GPUME_CUDA_FULL_THREADS;
        l->shared  = l->threads / 32 * sizeof(uint64_t);
        return ff_gpume_cuda_find_module(k->cuda, p, GPUME_CUDA_full, 0, 0);
    }
    l->shared  = 4 * shape_any(a, GPUME_CUDA_FULL_THREADS);
    l->threads = FFALIGN(a->full.across * a->full.down, 32);
    return ff_gpume_cuda_find_module(k->cuda, p, GPUME_CUDA_full, 0, 0);
}

/* Successive elimination. NULL where there is no such kernel, or nothing to gain. */
static const GpumeCudaModule *shape_sea(GpumeCudaKernel *k, GpumeCudaLaunch *l)
{
    GpumeCudaArgs *a = &k->args;
    const GpumeParams *p = &a->params;
    const int bytes  = p->depth > 8 ? 2 : 1;
    const int square = GPUME_CUDA_SEA_SQUARE / p->block;
    const int side   = 2 * p->range + 1;
    /* displacements begin at a word of bytes */
    const int span   = FFALIGN(p->range, 4) + p->range + 1;
    int least = INT_MAX;

    if (p->block != 8 && p->block != 16)
        return NULL;

    l->threads = GPUME_CUDA_SEA_THREADS;
    l->grid[0] = gpume_blocks(p->width,  GPUME_CUDA_SEA_TILE_WIDTH);
    l->grid[1] = gpume_blocks(p->height, GPUME_CUDA_SEA_TILE_HEIGHT);
    /*
     * Few candidates, or few blocks of threads that take long one by one, are quicker to evaluate, or to
     * bound by their bytes.
     */
    if (bytes == 2 && !p->always_sea && p->range <= GPUME_CUDA_FULL_MAX_RANGE && (p->block == 8 || p->range < 24))
        return NULL;
    if (bytes == 1 && !p->always_sea &&
        (p->range < (p->block == 8 ? 48 : 24) ||
         l->grid[0] * l->grid[1] < (p->block == 8 ? 768 : 256)))
        return NULL;

    /* the chunks that have the fewest sums in all */
    for (int nx = 1; nx <= span / 16 + 1; nx++)
        for (int ny = 1; ny <= span / 4 + 1; ny++) {
            const int width  = FFALIGN((span + nx - 1) / nx, 16);
            const int height = FFALIGN((span + ny - 1) / ny, 4);
            const int words  = GPUME_CUDA_SEA_SHARED(width, height, bytes);

            if (4 * words > MAX_SHARED || nx * ny * words >= least ||
                (width + GPUME_CUDA_SEA_TILE_WIDTH) / 4 > GPUME_CUDA_SEA_THREADS)
                continue;
            least               = nx * ny * words;
            a->sea.chunk_width  = width;
            a->sea.chunk_height = height;
            l->shared           = 4 * words;
        }
    if (least < INT_MAX) {
        /* up to the last piece of the tile, at the chunk's last displacement */
        const int columns  = (FFMIN(a->sea.chunk_width, span) + GPUME_CUDA_SEA_TILE_WIDTH - 1) / 4;
        const int rows     = a->sea.chunk_height + GPUME_CUDA_SEA_TILE_HEIGHT - 4;
        const int segments = GPUME_CUDA_SEA_THREADS / columns;

        a->sea.columns    = columns;
        a->sea.reciprocal = GPUME_RECIPROCAL(columns);
        a->sea.rows       = FFALIGN((rows + segments - 1) / segments, 4);
    }
    /* more of them take longer than all candidates in the kernel that is made for it */
    a->sea.max_evaluated = (64 + side * side / 64) * square * square / (bytes == 1 ? 2 : 1);
    return ff_gpume_cuda_find_module(k->cuda, p, GPUME_CUDA_sea, p->block, 0);
}

/* A warp for each block, or for several; warps for a large one. */
static const GpumeCudaModule *shape_pattern(GpumeCudaKernel *k, GpumeCudaLaunch *l)
{
    const GpumeParams *p = &k->args.params;
    const int side = gpume_cuda_side(p);
    const GpumeCudaModule *own = ff_gpume_cuda_find_module(k->cuda, p, GPUME_CUDA_pattern, side, p->algo);

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
    return own ? own : ff_gpume_cuda_find_module(k->cuda, p, GPUME_CUDA_pattern, side, GPUME_CUDA_ANY);
}

/* A block of threads for each row. */
static const GpumeCudaModule *shape_wavefront(GpumeCudaKernel *k, GpumeCudaLaunch *l)
{
    GpumeCudaArgs *a = &k->args;
    const GpumeParams *p = &a->params;
    const int bytes = p->depth > 8 ? 2 : 1;
    const int lines = FFMIN(2 * p->range + p->block, p->height);
    int words, side = gpume_cuda_side(p);

    l->threads = 32 * GPUME_CUDA_WAVEFRONT_WARPS(p->algo);
    l->grid[0] = p->bh;
    l->grid[1] = 1;

    a->wavefront.ring_columns = FFMIN(GPUME_CUDA_WAVEFRONT_COLUMNS(side, bytes, p->range),
                                      GPUME_CUDA_WAVEFRONT_PICTURE_COLUMNS(side, bytes, p->bw));
    /* odd in columns: rows that are read together begin in different banks */
    a->wavefront.ring_pitch   = 4 * ((a->wavefront.ring_columns +
                                      GPUME_CUDA_WAVEFRONT_REPEATED(side, bytes)) | 1);
    words = GPUME_CUDA_WAVEFRONT_WINDOW + lines * a->wavefront.ring_pitch;
    if (!side || lines > GPUME_CUDA_WAVEFRONT_LOADS * l->threads || 4 * words > MAX_SHARED) {
        side  = 0;
        words = GPUME_CUDA_WAVEFRONT_WINDOW;
    }
    l->shared = 4 * words;
    return ff_gpume_cuda_find_module(k->cuda, p, GPUME_CUDA_wavefront, side, p->algo);
}

/**
 * How a kernel is chosen and shaped: fill its part of k's args and l's shape, return
 * the module; or NULL for none, and the next stage does it all.
 */
typedef const GpumeCudaModule *Shape(GpumeCudaKernel *k, GpumeCudaLaunch *l);

static Shape *const shapes[GPUME_NB_SEARCH_STAGES] = {
    [GPUME_STAGE_SEA]       = shape_sea,
    [GPUME_STAGE_FULL]      = shape_full,
    [GPUME_STAGE_PATTERN]   = shape_pattern,
    [GPUME_STAGE_WAVEFRONT] = shape_wavefront,
};

/* Bytes of a GpumeCudaRemaining for every square of a picture. */
static size_t remaining_size(const GpumeParams *p)
{
    return sizeof(GpumeCudaRemaining) + sizeof(unsigned) * p->nb_distances *
           (size_t)gpume_blocks(p->width,  GPUME_CUDA_SEA_SQUARE) *
           gpume_blocks(p->height, GPUME_CUDA_SEA_SQUARE);
}

/* Bytes of what predictive searches keep: vectors, and behind them the ticket. */
static size_t history_size(const GpumeParams *p)
{
    return ((size_t)p->nb_distances * GPUME_NB_AGES * p->bw * p->bh + 1) * sizeof(unsigned);
}

/* What a predictive search reads and writes. */
static void begin_field(const GpumeParams *p, const GpumeCudaHistory *h, GpumeCudaField *field)
{
    const size_t size  = (size_t)p->bw * p->bh * sizeof(unsigned);
    const unsigned old = h->epochs[field->reference];

    field->last_epoch = old;
    field->epoch      = old % GPUME_CUDA_NB_EPOCHS + 1;
    for (int age = 0; age < GPUME_NB_AGES; age++)
        field->vectors[age] = h->vectors.data + size * (field->reference * GPUME_NB_AGES +
            ((field->epoch - 1) % GPUME_NB_AGES + GPUME_NB_AGES - age) % GPUME_NB_AGES);
}

static av_cold int new_history(GpumeCudaHistory *h, const GpumeCuda *cuda, const GpumeParams *p)
{
    CudaFunctions *cu = cuda->cu;
    int ret = ff_gpume_cuda_alloc(cuda, &h->vectors, GPUME_CUDA_DEVICE, history_size(p), "the vectors of searches");

    if (ret < 0)
        return ret;
    /* before a search begins, on whatever stream */
    ret = ff_gpume_cuda_check(cuda, cu->cuMemsetD8Async(h->vectors.data, 0, h->vectors.size, NULL),
                              "clear the vectors of searches");
    if (ret >= 0)
        ret = ff_gpume_cuda_check(cuda, cu->cuStreamSynchronize(NULL), "clear the vectors of searches");
    if (ret < 0 || !gpume_has_memory(p->algo))
        return ret;
    h->gate.grid[0] = h->gate.grid[1] = h->gate.threads = 1;
    return ff_gpume_cuda_load(cuda, &h->gate, &ff_gpume_cuda_find_module(cuda, p, GPUME_CUDA_gate, 0, 0)->code);
}

/* Begin with no vectors, or where vectors of the search before are read go on from another kernel's. */
static av_cold int init_history(GpumeCudaKernel *kernel, GpumeCudaKernel *before)
{
    const GpumeParams *p = &kernel->args.params;
    int ret = 0;

    if (gpume_has_memory(p->algo) && before) {
        kernel->history = before->history;
    } else {
        kernel->history = &kernel->own;
        ret = new_history(&kernel->own, kernel->cuda, p);
    }
    kernel->args.wavefront.ticket = kernel->history->vectors.data + kernel->history->vectors.size - sizeof(unsigned);
    return ret;
}

av_cold int ff_gpume_cuda_kernel_init(GpumeCudaKernel *kernel, const GpumeCuda *cuda,
                                      const GpumeParams *params, const GpumePlan *plan, GpumeCudaKernel *before)
{
    int nb_stages = 0, ret;

    kernel->cuda                   = cuda;
    kernel->args.params            = *params;
    kernel->args.params.big_endian = 0;

    while (nb_stages < plan->nb_stages && plan->stages[nb_stages] < GPUME_NB_SEARCH_STAGES)
        nb_stages++;
    for (int i = 0; i < nb_stages; i++) {
        GpumeCudaLaunch *l = &kernel->launches[kernel->nb_launches];
        const GpumeCudaModule *module = shapes[plan->stages[i]](kernel, l);

        if (!module && i + 1 < nb_stages)
            continue;
        if (!module) {
            av_log(cuda->log_ctx, cuda->log_level, "The CUDA backend does not support this search with this "
                   "cost; use backend=cpu.\n");
            return AVERROR(ENOSYS);
        }
        av_assert0(l->shared <= MAX_SHARED);
        if (kernel->nb_launches++) {
            l->grid[0] = REMAINING_GRID;
            l->grid[1] = 1;
        }
        ret = ff_gpume_cuda_load(cuda, l, &module->code);
        if (ret < 0)
            return ret;
    }
    if (kernel->nb_launches > 1) {
        ret = ff_gpume_cuda_alloc(cuda, &kernel->remaining, GPUME_CUDA_DEVICE,
                                  remaining_size(params), "a list of blocks");
        if (ret < 0)
            return ret;
        kernel->args.remaining = kernel->remaining.data;
        kernel->new_remaining  = 1;
    }
    return ff_gpume_plan_has(plan, GPUME_STAGE_WAVEFRONT) ? init_history(kernel, before) : 0;
}

/* Before a predictive search is launched. */
static CUresult begin_history(GpumeCudaKernel *kernel, CUstream stream)
{
    GpumeCudaArgs *a = &kernel->args;
    const GpumeCudaHistory *h = kernel->history;

    for (int i = 0; i < a->nb_fields; i++)
        begin_field(&a->params, h, &a->fields[i]);
    a->wavefront.first_ticket = h->nb_tickets;
    return h->gate.function && h->stream && h->stream != stream ?
           ff_gpume_cuda_launch(kernel->cuda, &h->gate, 1, a, stream) : CUDA_SUCCESS;
}

/* Once it is: what never was would be waited for. */
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
    CudaFunctions *cu = kernel->cuda->cu;
    CUresult err = CUDA_SUCCESS;

    if (kernel->new_remaining) {
        err = cu->cuMemsetD8Async(a->remaining + offsetof(GpumeCudaRemaining, nb), 0,
                                  sizeof(((GpumeCudaRemaining *)0)->nb), stream);
        kernel->new_remaining = 0;
    }
    a->nb_fields = nb_fields;
    for (int i = 0; i < nb_fields; i++)
        a->fields[i].source = a->params.distance[a->fields[i].reference];
    if (kernel->history && err == CUDA_SUCCESS)
        err = begin_history(kernel, stream);
    for (int i = 0; i < kernel->nb_launches && err == CUDA_SUCCESS; i++) {
        const GpumeCudaLaunch *l = &kernel->launches[i];

        a->full.only_remaining = i > 0;
        a->full.grid           = l->grid[0];
        err = ff_gpume_cuda_launch(kernel->cuda, l, i > 0 ? 1 : nb_fields, a, stream);
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
    ff_gpume_cuda_free(&kernel->remaining);
    ff_gpume_cuda_free(&kernel->own.vectors);
}
