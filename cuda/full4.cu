/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of 4x4 blocks of bytes. So small a block has few samples and many
 * candidates: what counts is how few words are loaded, and how few windows.
 */

#include "libavfilter/gpume/cuda/full4.cuh"

/** The cost of the zero vector of the block at (x, y), which is whole. */
static __device__ __forceinline__ GpumeU32
gpume_zero_cost(const GpumeCudaArgs &a, const GpumeCudaPlane &ref, int x, int y)
{
    const int aligned = !((a.cur.data | a.cur.linesize | ref.data | ref.linesize) & 3);
    GpumeU32 cost = 0;

    GPUME_UNROLL for (int i = 0; i < GPUME_SIDE; i++) {
        const GpumeU8 *cur = (const GpumeU8 *)a.cur.data + (y + i) * a.cur.linesize;
        const GpumeU8 *row = (const GpumeU8 *)ref.data   + (y + i) * ref.linesize;

        cost = aligned ? gpume_sad4(*(const GpumeU32 *)(cur + x), *(const GpumeU32 *)(row + x), cost) :
                         gpume_sad4(gpume_load_edge<GpumeU8>(cur, x, a.params.width),
                                    gpume_load_edge<GpumeU8>(row, x, a.params.width), cost);
    }
    return cost;
}

/** Try the candidates of so many runs from displacement cy on. @param x0, y0 the row's. @param words the window's */
template<int INNER>
static __device__ __forceinline__ void
gpume_try_runs(const GpumeParams &p, GpumeFours &cur, GpumeU32 *best, const GpumeRunsOf4 &r, const GpumeU32 *words,
               int x0, int y0, int cy, int runs)
{
    GPUME_NO_UNROLL for (int i = threadIdx.x & 31; i < r.in_run * runs; i += 32) {
        const int run   = GPUME_DIVIDE_HIGH(i, r.reciprocal);
        const int place = i - run * r.in_run;
        const int dy    = cy + run * GPUME_NB_DY;
        GpumeU32 sum[GPUME_ACROSS][GPUME_NB_DX][GPUME_NB_DY], key[GPUME_NB_DX][GPUME_NB_DY];
        GpumeU32 across[GPUME_ACROSS + GPUME_NB_DX - 1], down[GPUME_NB_DY];
        const GpumeU32 *win = r.get(key, words, place, run, dy);

        GPUME_UNROLL for (int k = 0; k < GPUME_ACROSS + GPUME_NB_DX - 1 && !INNER; k++)
            across[k] = gpume_outside<GPUME_INADMISSIBLE>(x0 + r.dx(place) + 4 * k, GPUME_SIDE, p.width);
        GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY && !INNER; j++)
            down[j] = gpume_outside<GPUME_INADMISSIBLE>(y0 + dy + j, GPUME_SIDE, p.height);
        gpume_add_up(sum, cur, win, r.pitch);
        gpume_take_best<INNER, GpumeKeysOf4, 1>(best, sum, key, across, down);
    }
}

/** The result of the lane's block of a row that begins at (x0, y0), from the blocks' smallest keys. */
static __device__ __forceinline__ void
gpume_store_best(const GpumeCudaArgs &a, const GpumeU32 (&best)[GPUME_ACROSS], GpumeU32 zero_cost,
                 int x0, int y0, int left)
{
    const int lane = threadIdx.x & 31, range = a.params.range, side = 2 * range + 1;
    const int bx = x0 / GPUME_SIDE + lane, by = y0 / GPUME_SIDE;
    const GpumeBox b = gpume_box(&a.params, GPUME_SIDE, bx, by);
    int order;
    GpumeU32 key = best[0];

    GPUME_UNROLL for (int c = 1; c < GPUME_ACROSS; c++)
        key = lane == c ? best[c] : key;
    order = (int)(key & 0xffff) + left + range;
    /* the zero vector comes before those of equal cost */
    if (zero_cost <= key >> 16)
        gpume_store(a, b, blockIdx.z, bx, by, 0, 0, zero_cost);
    else
        gpume_store(a, b, blockIdx.z, bx, by, order % side - range, order / side - range, key >> 16);
}

/**
 * A warp searches a row of GPUME_ACROSS blocks. The
 * window lies in shared memory four times, shifted by a byte each, as in full.cu.
 */
static __device__ __forceinline__ void
gpume_search_row(const GpumeCudaArgs &a, GpumeU32 *shared, int x0, int y0, int whole)
{
    const GpumeParams &p = a.params;
    const GpumeCudaPlane ref = gpume_field(a, blockIdx.z).plane;
    const int range  = p.range;
    const int row    = threadIdx.x / 32;        // of blocks
    const int lane   = threadIdx.x & 31;
    const int min_dy = gpume_min_displacement(range, y0 + GPUME_DOWN * GPUME_SIDE - GPUME_SIDE);
    const int max_dy = gpume_max_displacement(range, p.height, y0 + GPUME_SIDE);
    const GpumeRunsOf4 r(a, shared + a.full.shared_words);
    const int y_row  = y0 + row * GPUME_SIDE;
    const int inner  = x0 >= range && x0 + GPUME_ACROSS * GPUME_SIDE + range <= p.width &&
                       y_row >= range && y_row + GPUME_SIDE + range <= p.height;
    const int aligned = !((a.cur.data | a.cur.linesize) & 3);
    GpumeFours cur;
    GpumeU32 best[GPUME_ACROSS];

    GPUME_UNROLL for (int y = 0; y < GPUME_SIDE; y++) {
        const GpumeU8 *line = (const GpumeU8 *)a.cur.data + (y_row + y) * a.cur.linesize;

        GPUME_UNROLL for (int c = 0; c < GPUME_ACROSS; c++)
            cur.row[y][c] = row >= whole ? 0 :
                        aligned ? *(const GpumeU32 *)(line + x0 + GPUME_SIDE * c) :
                                  gpume_load_edge<GpumeU8>(line, x0 + GPUME_SIDE * c, p.width);
    }
    GPUME_UNROLL for (int c = 0; c < GPUME_ACROSS; c++)
        best[c] = ~0u;

    r.make();
    for (int cy = min_dy; cy <= max_dy; cy += a.full.runs * GPUME_NB_DY) {
        const int runs = gpume_min(a.full.runs, (max_dy - cy) / GPUME_NB_DY + 1);

        __syncthreads();
        gpume_load_window<GpumeU8>(a, ref, shared, r.pitch, x0 + r.left, y0 + cy,
                          (r.columns + 1) * 4, runs * GPUME_NB_DY + GPUME_DOWN * GPUME_SIDE - 1);
        __syncthreads();
        if (row >= whole)
            continue;

        const GpumeU32 *words = shared + row * GPUME_SIDE * r.pitch;

        if (inner)
            gpume_try_runs<1>(p, cur, best, r, words, x0, y_row, cy, runs);
        else
            gpume_try_runs<0>(p, cur, best, r, words, x0, y_row, cy, runs);
    }

    GPUME_UNROLL for (int c = 0; c < GPUME_ACROSS; c++)
        best[c] = gpume_least<1, 32>(best[c]);
    if (row < whole && lane < GPUME_ACROSS)
        gpume_store_best(a, best, gpume_zero_cost(a, ref, x0 + GPUME_SIDE * lane, y_row), x0, y_row, r.left);
}

/**
 * Blocks of 4x4 bytes, range up to GPUME_CUDA_FULL_MAX_RANGE. A block of threads has
 * GPUME_ACROSS x GPUME_DOWN of them.
 *
 * grid:   tiles side by side, on top of each other, fields
 * block:  32 * GPUME_DOWN
 * shared: runs * GPUME_NB_DY + GPUME_SIDE * GPUME_DOWN - 1 rows of 4 * copy_words words, that is shared_words, and a
 *         GpumeRuns' table; or what gpume_search_any() needs
 */
GPUME_KERNEL(32 * GPUME_DOWN, 3)
{
    GPUME_SHARED(GpumeU32, shared);

    const int bx = blockIdx.x * GPUME_ACROSS;
    const int by = blockIdx.y * GPUME_DOWN;
    /* rows of whole blocks */
    const int whole = (bx + GPUME_ACROSS) * GPUME_SIDE > args.params.width ? 0 :
                      gpume_min(GPUME_DOWN, args.params.height / GPUME_SIDE - by);

    if (whole > 0)
        gpume_search_row(args, shared, bx * GPUME_SIDE, by * GPUME_SIDE, whole);
    /* the right and the bottom edge cut blocks and tiles */
    for (int y = by + whole; y < by + GPUME_DOWN && y < args.params.bh; y++)
        for (int x = bx; x < bx + GPUME_ACROSS && x < args.params.bw; x++)
            gpume_search_any<GpumeModuleCost>(args, shared, x, y, blockIdx.z);
}
