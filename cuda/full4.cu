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

/**
 * Keep every block's smallest key. What is not admissible has GPUME_INADMISSIBLE in its
 * order, right by its dx and down by its dy.
 * @tparam INNER  the picture's left and right edge are out of reach
 * @param across  by column, in blocks: GPUME_INADMISSIBLE outside the picture
 */
template<int INNER>
static __device__ __forceinline__ void
gpume_take_best(GpumeU32 *best, const GpumeU32 (*sum)[GPUME_NB_DX][GPUME_NB_DY], GpumeU32 order,
          const GpumeU32 *right, const GpumeU32 *down, const GpumeU32 *across)
{
    GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY; j++)
        GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++) {
            const GpumeU32 key = order + right[k] + down[j];

            GPUME_UNROLL for (int c = 0; c < GPUME_ACROSS; c++)
                best[c] = gpume_umin(best[c], (sum[c][k][j] << 16) +
                                              (INNER ? key : key | across[c + k]));
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
 * A warp searches a row of GPUME_ACROSS blocks, a lane GPUME_NB_DX x GPUME_NB_DY candidates at a time:
 * their displacements are 4 from each other across, so that they share words. The
 * window lies in shared memory four times, shifted by a byte each, as in full.cu.
 */
static __device__ __forceinline__ void
gpume_search_row(const GpumeCudaArgs &a, GpumeU32 *shared, int x0, int y0, int whole)
{
    const GpumeParams &p = a.params;
    const GpumeCudaPlane ref = gpume_field(a, blockIdx.z).plane;
    const int range  = p.range;
    const int side   = 2 * range + 1;
    const int copy   = a.full.copy_words;
    const int pitch  = 4 * copy;
    const int row    = threadIdx.x / 32;        // of blocks
    const int lane   = threadIdx.x & 31;
    const int min_dy = gpume_min_displacement(range, y0 + GPUME_DOWN * GPUME_SIDE - GPUME_SIDE);
    const int max_dy = gpume_max_displacement(range, p.height, y0 + GPUME_SIDE);
    /* the window begins at a word */
    const int left    = -((range + 3) & ~3);
    const int columns = ((range - left) / 4 + GPUME_NB_DX) / GPUME_NB_DX;   // of GPUME_NB_DX words
    /* each of the four copies has the columns before the last, only the first copies may have that one, too */
    const int in_last = gpume_min(4, range - left - 4 * GPUME_NB_DX * (columns - 1) + 1);
    const int in_run  = 4 * (columns - 1) + in_last;
    const GpumeU32 reciprocal = GPUME_RECIPROCAL_LARGE(in_run);
    const int y_row   = y0 + row * GPUME_SIDE;
    /* what is admissible for the row's blocks */
    const int top     = gpume_min_displacement(range, y_row);
    const int bottom  = gpume_max_displacement(range, p.height, y_row + GPUME_SIDE);
    const int inner_x = x0 - range >= 0 && x0 + GPUME_ACROSS * GPUME_SIDE + range <= p.width;
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

    for (int cy = min_dy; cy <= max_dy; cy += a.full.runs * GPUME_NB_DY) {
        const int runs = gpume_min(a.full.runs, (max_dy - cy) / GPUME_NB_DY + 1);

        __syncthreads();
        gpume_load_window(a, ref, shared, pitch, x0 + left, y0 + cy,
                          (columns + 1) * 4, runs * GPUME_NB_DY + GPUME_DOWN * GPUME_SIDE - 1);
        __syncthreads();
        if (row >= whole)
            continue;

        for (int i = lane; i < in_run * runs; i += 32) {
            const int run   = GPUME_DIVIDE_LARGE(i, reciprocal);
            const int place = i - run * in_run;
            const int shift = place & 3;
            const int word  = place / 4 * GPUME_NB_DX;
            const int dx    = left + 4 * word + shift;
            const int dy    = cy + run * GPUME_NB_DY;
            const GpumeU32 *win = shared + (run * GPUME_NB_DY + row * GPUME_SIDE) * pitch +
                                  shift * copy + word;
            GpumeU32 sum[GPUME_ACROSS][GPUME_NB_DX][GPUME_NB_DY];

            gpume_add_up(sum, cur, win, pitch);

            /* from the window's left, so that it is never negative */
            const GpumeU32 order = (dy + range) * side + dx - left;
            GpumeU32 down[GPUME_NB_DY], right[GPUME_NB_DX], across[GPUME_ACROSS + GPUME_NB_DX - 1];

            GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY; j++)
                down[j] = (unsigned)(dy + j - top) <= (unsigned)(bottom - top) ?
                          j * side : GPUME_INADMISSIBLE;
            GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
                right[k] = (unsigned)(dx + 4 * k + range) <= (unsigned)(2 * range) ?
                           4 * k : GPUME_INADMISSIBLE;
            GPUME_UNROLL for (int k = 0; k < GPUME_ACROSS + GPUME_NB_DX - 1; k++) {
                const int x = x0 + dx + 4 * k;

                across[k] = x >= 0 && x + GPUME_SIDE <= p.width ? 0 : GPUME_INADMISSIBLE;
            }

            if (inner_x)
                gpume_take_best<1>(best, sum, order, right, down, across);
            else
                gpume_take_best<0>(best, sum, order, right, down, across);
        }
    }

    GPUME_UNROLL for (int c = 0; c < GPUME_ACROSS; c++)
        best[c] = gpume_least<1, 32>(best[c]);
    if (row < whole && lane < GPUME_ACROSS)
        gpume_store_best(a, best, gpume_zero_cost(a, ref, x0 + GPUME_SIDE * lane, y_row), x0, y_row, left);
}

/**
 * Blocks of 4x4 bytes, range up to GPUME_CUDA_FULL_MAX_RANGE. A block of threads has
 * GPUME_ACROSS x GPUME_DOWN of them.
 *
 * grid:   tiles side by side, on top of each other, fields
 * block:  32 * GPUME_DOWN
 * shared: runs * GPUME_NB_DY + GPUME_SIDE * GPUME_DOWN - 1 rows of 4 * copy_words words,
 *         or what gpume_search_any() needs
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
