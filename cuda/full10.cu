/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of 4x4, 8x8 and 16x16 samples of 9 and 10 bits, of which every candidate is evaluated.
 */

#include "libavfilter/gpume/cuda/full10.cuh"

#define SIDE GPUME_CUDA_SIDE
#define GPUME_NB_DX GPUME_CUDA_FULL10_DX
#define GPUME_NB_DY GPUME_CUDA_VARIANT
static_assert(GPUME_CUDA_COST == GPUME_COST_SAD && GPUME_CUDA_DEPTH == 10, "its sums are made for that");

/** In the order of a candidate that is not admissible: above any cost << 16, which has 64 * 1023 at most. */
#define GPUME_INADMISSIBLE 0xffff0000u

/** A block's cost, of 16 bits, and the order of its candidate; of 16x16 samples one of 18 bits. */
template<int> struct GpumeRowKey { typedef GpumeU32 Key; };
template<> struct GpumeRowKey<16> { typedef GpumeU64 Key; };

/**
 * A row of blocks, FULL_TILE_WIDTH samples wide, which is searched by a warp or by several. A lane has GPUME_NB_DX x
 * GPUME_NB_DY candidates at a time: their displacements are a word from each other across.
 */
struct GpumeRow : GpumeHalfRow<SIDE> {
    typedef GpumeRowKey<SIDE>::Key Key;

    const GpumeCudaArgs &a;
    const GpumeParams &p;
    const GpumeU32 *window;
    int x0, y0;
    int range, side;
    int left;                   ///< displacement at which the window begins
    int columns;                ///< of 2 * GPUME_NB_DX displacements
    int top, bottom;            ///< what is admissible
    int inner;                  ///< the picture's left and right edge are out of reach
    Key best[BLOCKS];

    /** @param x, y its first sample; height: 0 if there is none */
    __device__ __forceinline__
    GpumeRow(const GpumeCudaArgs &args, const GpumeU32 *of_window, const GpumeU32 *of_tile, int x, int y, int height)
        : GpumeHalfRow<SIDE>(args, of_tile), a(args), p(args.params), window(of_window), x0(x), y0(y)
    {
        range   = p.range;
        side    = 2 * range + 1;
        left    = GPUME_CUDA_FULL10_LEFT(range);
        columns = GPUME_CUDA_FULL10_COLUMNS(range);
        top     = gpume_min_displacement(range, y0);
        bottom  = gpume_max_displacement(range, p.height, y0 + height);
        inner   = x0 - range >= 0 && x0 + GPUME_CUDA_FULL_TILE_WIDTH + range <= p.width;
        GPUME_UNROLL for (int k = 0; k < BLOCKS; k++)
            best[k] = ~(Key)0;
    }

    /** The costs of candidates whose words of the window begin at win: of a block of 16x16 samples the costs. */
    template<int HEIGHT, int NB_DX, int NB_DY>
    __device__ __forceinline__ void evaluate(GpumeU32 (&sum)[BLOCKS][NB_DX][NB_DY], const GpumeU32 *win)
    {
        if (PIECES == 1) {
            add_up<HEIGHT>(sum, win);
            return;
        }
        GPUME_UNROLL for (int k = 0; k < NB_DX; k++)
            GPUME_UNROLL for (int j = 0; j < NB_DY; j++)
                sum[0][k][j] = 0;
        /* what is in a cache of instructions is fetched faster than twice as much */
        GPUME_NO_UNROLL for (int i = 0; i < PIECES; i++) {
            GpumeU32 its[BLOCKS][NB_DX][NB_DY];

            load_piece<HEIGHT>(i);
            add_up<HEIGHT>(its, win + i * WORDS);
            GPUME_UNROLL for (int k = 0; k < NB_DX; k++)
                GPUME_UNROLL for (int j = 0; j < NB_DY; j++)
                    sum[0][k][j] += (its[0][k][j] & 0xffff) + (its[0][k][j] >> 16);
        }
    }

    /** A key from what evaluate() makes of a candidate, and from its order. */
    static __device__ __forceinline__ void take_key(GpumeU32 *best, GpumeU32 sum, GpumeU32 order)
    {
        *best = gpume_umin(*best, (((sum << 16) + sum) & 0xffff0000) | order);
    }

    static __device__ __forceinline__ void take_key(GpumeU64 *best, GpumeU32 sum, GpumeU32 order)
    {
        const GpumeU64 key = gpume_key(sum | (order & 0xffff0000), order);

        *best = key < *best ? key : *best;
    }

    /**
     * Keep every block's smallest key: of candidates from (dx, dy) on. What is not admissible has
     * GPUME_INADMISSIBLE in its order.
     * @tparam EDGES what may be out of reach across: 0: nothing, 1: the range, 2: the picture, too
     * @param zero   the zero vector is among them, to be there before those of equal cost
     */
    template<int EDGES, int NB_DX, int NB_DY>
    __device__ __forceinline__ void
    take_best(const GpumeU32 (&sum)[BLOCKS][NB_DX][NB_DY], int dx, int dy, int zero)
    {
        const GpumeU32 first = 1 + (dy + range) * side + dx + range;
        GpumeU32 across[BLOCKS][NB_DX];

        GPUME_UNROLL for (int c = 0; c < BLOCKS && EDGES; c++)
            GPUME_UNROLL for (int k = 0; k < NB_DX; k++) {
                const int its = dx + 2 * k;
                /* one condition: the compiler makes branches of several */
                const int out = (its + range) | (range - its) |
                                (EDGES < 2 ? 0 : (x0 + c * SIDE + its) | (p.width - SIDE - x0 - c * SIDE - its));

                across[c][k] = out < 0 ? GPUME_INADMISSIBLE : 0;
            }
        GPUME_UNROLL for (int j = 0; j < NB_DY; j++) {
            const GpumeU32 order = (unsigned)(dy + j - top) > (unsigned)(bottom - top) ? GPUME_INADMISSIBLE :
                                   zero && dy + j == 0 ? 0 : first + j * side;

            GPUME_UNROLL for (int k = 0; k < NB_DX; k++)
                GPUME_UNROLL for (int c = 0; c < BLOCKS; c++)
                    take_key(&best[c], sum[c][k][j], !EDGES ? order + 2 * k : (order + 2 * k) | across[c][k]);
        }
    }

    template<int NB_DX, int NB_DY>
    __device__ __forceinline__ void take(const GpumeU32 (&sum)[BLOCKS][NB_DX][NB_DY], int dx, int dy, int zero)
    {
        /* each by all lanes: they would wait for each other; other ranges fill their columns */
        if (!inner)
            take_best<2>(sum, dx, dy, zero);
        else if (NB_DX > 1 && range % GPUME_NB_DX)
            take_best<1>(sum, dx, dy, zero);
        else
            take_best<0>(sum, dx, dy, zero);
    }

    /**
     * Try the candidates of so many runs from displacement cy on; lane of so many lanes.
     */
    template<int HEIGHT>
    __device__ __forceinline__ void try_runs(int cy, int runs, int lane, int lanes)
    {
        const int in_run = 2 * columns;     // of both copies
        const GpumeU32 reciprocal = GPUME_RECIPROCAL_LARGE(gpume_max(1, in_run));
        const int rows   = runs * GPUME_NB_DY;
        /* two at a time of the single column, and the zero vector again */
        const int pairs  = GPUME_CUDA_FULL10_SINGLE(range) ? (rows + 1) / 2 : 0;
        const int nb     = pairs + (cy <= 0 && cy + rows > 0);

        if (PIECES == 1)
            load_piece<HEIGHT>(0);
        for (int i = lane; i < in_run * runs; i += lanes) {
            const int run    = GPUME_DIVIDE_LARGE(i, reciprocal);
            const int place  = i - run * in_run;
            const int shift  = place & 1;
            const int column = place / 2;
            GpumeU32 sum[BLOCKS][GPUME_NB_DX][GPUME_NB_DY];

            evaluate<HEIGHT>(sum, window + run * GPUME_NB_DY * pitch + shift * a.full.copy_words +
                                  column * GPUME_NB_DX);
            take(sum, left + 2 * GPUME_NB_DX * column + shift, cy + run * GPUME_NB_DY, 0);
        }
        for (int i = lane; i < nb; i += lanes) {
            const int zero = i == pairs;
            /* the last two again where there is one more */
            const int row  = gpume_min(zero ? -cy : 2 * i, rows - 2);
            const int word = zero ? -left / 2 : columns * GPUME_NB_DX;
            GpumeU32 sum[BLOCKS][1][2];

            evaluate<HEIGHT>(sum, window + row * pitch + word);
            take(sum, zero ? 0 : range, cy + row, zero);
        }
    }

    /** The candidate of a key. */
    static __device__ __forceinline__ GpumeU32 cost_of(GpumeU32 key) { return key >> 16; }
    static __device__ __forceinline__ GpumeU32 cost_of(GpumeU64 key) { return (GpumeU32)(key >> 32); }
    static __device__ __forceinline__ int order_of(GpumeU32 key) { return (int)(key & 0xffff); }
    static __device__ __forceinline__ int order_of(GpumeU64 key) { return (int)(GpumeU32)key; }
};

/** Load a tile's samples, two a word. */
static __device__ __forceinline__ void
gpume_load_tile(const GpumeCudaArgs &a, GpumeU32 *tile, int x0, int y0, int rows)
{
    const int words = GPUME_CUDA_FULL_TILE_WIDTH / 2;

    for (int i = threadIdx.x; i < rows * words; i += blockDim.x) {
        const GpumeU8 *row = (const GpumeU8 *)a.cur.data + (y0 + i / words) * a.cur.linesize;
        const int x = x0 + 2 * (i % words);

        tile[i] = GpumeSample<GpumeU10>::right_justify(gpume_load<GpumeU10>(row + 2 * x, 2, row + 2 * a.params.width),
                                                       a.params.shift);
    }
}

/** The results of so many rows of blocks: from the smallest keys of every lane, and of every warp of split. */
static __device__ __forceinline__ void
gpume_store_rows(const GpumeCudaArgs &a, GpumeU32 *shared, GpumeRow::Key (&best)[GpumeRow::BLOCKS], int x0, int y0,
                 int rows, int split)
{
    const int blocks = GpumeRow::BLOCKS;
    GpumeRow::Key *keys = (GpumeRow::Key *)shared;

    GPUME_UNROLL for (int k = 0; k < blocks; k++)
        best[k] = gpume_least<1, 32>(best[k]);
    __syncthreads();
    if (!(threadIdx.x & 31)) {
        GPUME_UNROLL for (int k = 0; k < blocks; k++)
            keys[(threadIdx.x >> 5) * blocks + k] = best[k];
    }
    __syncthreads();
    if (threadIdx.x >= rows * blocks)
        return;

    const int row = threadIdx.x / blocks, k = threadIdx.x % blocks;
    const int bx = x0 / SIDE + k, by = y0 / SIDE + row;
    GpumeRow::Key key = keys[row * split * blocks + k];

    for (int i = 1; i < split; i++) {
        const GpumeRow::Key its = keys[(row * split + i) * blocks + k];

        key = its < key ? its : key;
    }

    const GpumeVector v = gpume_vector_of_order(a.params.range, GpumeRow::order_of(key));

    gpume_store(a, gpume_box(&a.params, SIDE, bx, by), blockIdx.z, bx, by, v.dx, v.dy, GpumeRow::cost_of(key));
}

/** All threads search so many rows of blocks, the last of which may have half as many lines. */
static __device__ __forceinline__ void
gpume_search_rows(const GpumeCudaArgs &a, GpumeU32 *shared, int x0, int y0, int rows)
{
    const GpumeParams &p = a.params;
    const GpumeCudaPlane ref = gpume_field(a, blockIdx.z).plane;
    GpumeU32 *tile   = shared + a.full.shared_words;
    const int split  = a.full.split;            // warps with a row of blocks
    const int row    = threadIdx.x / 32 / split;
    const int lane   = threadIdx.x - row * split * 32;
    const int lines  = gpume_min(p.height - y0, rows * SIDE);
    const int height = row < rows ? gpume_min(lines - row * SIDE, SIDE) : 0;
    const int min_dy = gpume_min_displacement(p.range, y0 + (rows - 1) * SIDE);
    const int max_dy = gpume_max_displacement(p.range, p.height, y0 + gpume_min(lines, SIDE));
    GpumeRow its(a, shared + row * SIDE * GPUME_CUDA_FULL10_PITCH(a.full.copy_words),
                 tile + row * SIDE * GPUME_CUDA_FULL_TILE_WIDTH / 2, x0, y0 + row * SIDE, height);

    gpume_load_tile(a, tile, x0, y0, lines);
    for (int cy = min_dy; cy <= max_dy; cy += a.full.runs * GPUME_NB_DY) {
        const int runs = gpume_min(a.full.runs, (max_dy - cy) / GPUME_NB_DY + 1);

        __syncthreads();
        gpume_load_window<GpumeU10>(a, ref, shared, its.pitch, x0 + its.left, y0 + cy,
                                    GPUME_CUDA_FULL10_WORDS(p.range), runs * GPUME_NB_DY + lines - 1);
        __syncthreads();
        if (height == SIDE)
            its.try_runs<SIDE>(cy, runs, lane, 32 * split);
        else if (SIDE > 4 && height)
            its.try_runs<SIDE / 2>(cy, runs, lane, 32 * split);
    }
    gpume_store_rows(a, shared, its.best, x0, y0, rows, split);
}

/**
 * Range up to GPUME_CUDA_FULL_MAX_RANGE. A block of threads has rows of blocks, FULL_TILE_WIDTH samples wide, each of
 * which has split warps.
 *
 * grid:   tiles side by side, on top of each other, fields
 * block:  whole warps, a multiple of split, at most GPUME_CUDA_FULL_THREADS
 * shared: runs * GPUME_NB_DY + lines of a tile - 1 rows of GPUME_CUDA_FULL10_PITCH() words, or what
 *         gpume_search_any() needs, whichever is more: that is shared_words; then the tile
 */
GPUME_KERNEL(GPUME_CUDA_FULL_THREADS, 2)
{
    GPUME_SHARED(GpumeU32, shared);

    const GpumeCudaArgs &a = args;
    const int down  = blockDim.x / 32 / a.full.split;
    const int x0    = blockIdx.x * GPUME_CUDA_FULL_TILE_WIDTH, by = blockIdx.y * down, y0 = by * SIDE;
    const int lines = gpume_min(a.params.height - y0, down * SIDE);
    /* as in 1080 lines */
    const int half  = SIDE > 4 && lines % SIDE == SIDE / 2;
    const int rows  = x0 + GPUME_CUDA_FULL_TILE_WIDTH > a.params.width ? 0 : lines / SIDE + half;

    if (rows > 0)
        gpume_search_rows(a, shared, x0, y0, rows);
    /* the right and the bottom edge cut blocks and tiles */
    for (int y = by + rows; y < by + down && y < a.params.bh; y++)
        for (int x = x0 / SIDE; x < (x0 + GPUME_CUDA_FULL_TILE_WIDTH) / SIDE && x < a.params.bw; x++)
            gpume_search_any<GpumeModuleCost>(a, shared, x, y, blockIdx.z);
}
