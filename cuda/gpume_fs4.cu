/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

/**
 * @file
 * Full search of 4x4 blocks of bytes. So small a block has few samples and many
 * candidates: what counts is how few words are loaded, and how few windows.
 */

#include "libavfilter/gpume/cuda/gpume_fs.cuh"

#define SIDE     4
#define ACROSS   GPUME_CUDA_FS4_ACROSS
#define NB_DX    GPUME_CUDA_FS4_DX
#define NB_DY    GPUME_CUDA_FS4_DY
/** Added to the order of a candidate that is not admissible. */
#define INADMISSIBLE 0xf0000000u

/**
 * Keep every block's smallest key. What is not admissible has INADMISSIBLE in its
 * order, right by its dx and down by its dy.
 * @tparam INNER  the picture's left and right edge are out of reach
 * @param across  by column, in blocks: INADMISSIBLE outside the picture
 */
template<int INNER>
static __device__ __forceinline__ void
take_best(GpumeU32 *best, const GpumeU32 (*sum)[NB_DX][NB_DY], GpumeU32 order,
          const GpumeU32 *right, const GpumeU32 *down, const GpumeU32 *across)
{
#pragma unroll
    for (int j = 0; j < NB_DY; j++)
#pragma unroll
        for (int k = 0; k < NB_DX; k++) {
            /* twice INADMISSIBLE is still worse than any cost, which has 12 bits */
            const GpumeU32 key = order + right[k] + down[j];

#pragma unroll
            for (int c = 0; c < ACROSS; c++)
                best[c] = gpume_umin(best[c], (sum[c][k][j] << 16) +
                                              (INNER ? key : key | across[c + k]));
        }
}

/**
 * A warp searches a row of ACROSS blocks, a lane NB_DX x NB_DY candidates at a time:
 * their displacements are 4 from each other across, so that they share words. The
 * window lies in shared memory four times, shifted by a byte each, see search_tile().
 */
static __device__ __forceinline__ void
search_row(const GpumeCudaArgs &a, GpumeU32 *shared, int x0, int y0, int whole)
{
    const GpumeParams &p = a.params;
    const GpumeCudaPlane ref = blockIdx.z ? a.ref[1] : a.ref[0];
    const int range  = p.range;
    const int side   = 2 * range + 1;
    const int copy   = a.copy_words;
    const int pitch  = 4 * copy;
    const int row    = threadIdx.x / 32;        // of blocks
    const int lane   = threadIdx.x & 31;
    const int min_dy = -gpume_min(range, y0 + GPUME_CUDA_FS4_DOWN * SIDE - SIDE);
    const int max_dy =  gpume_min(range, p.height - y0 - SIDE);
    /* the window begins at a word */
    const int left    = -((range + 3) & ~3);
    const int columns = ((range - left) / 4 + NB_DX) / NB_DX;   // of NB_DX words
    const GpumeU32 reciprocal = GPUME_RECIPROCAL_LARGE(columns);
    const int y_row   = y0 + row * SIDE;
    /* what is admissible for the row's blocks */
    const int top     = -gpume_min(range, y_row);
    const int bottom  =  gpume_min(range, p.height - y_row - SIDE);
    const int inner_x = x0 - range >= 0 && x0 + ACROSS * SIDE + range <= p.width;
    const int aligned = !((a.cur.data | a.cur.linesize) & 3);
    GpumeU32 *zero    = shared + a.shared_words + row * ACROSS;
    GpumeU32 cur[SIDE][ACROSS];
    GpumeU32 best[ACROSS];

#pragma unroll
    for (int y = 0; y < SIDE; y++) {
        const GpumeU8 *line = (const GpumeU8 *)a.cur.data + (y_row + y) * a.cur.linesize;

#pragma unroll
        for (int c = 0; c < ACROSS; c++)
            cur[y][c] = row >= whole ? 0 :
                        aligned ? *(const GpumeU32 *)(line + x0 + SIDE * c) :
                                  gpume_load_edge<GpumeU8>(line, x0 + SIDE * c, p.width);
    }
#pragma unroll
    for (int c = 0; c < ACROSS; c++)
        best[c] = ~0u;

    for (int cy = min_dy; cy <= max_dy; cy += a.groups * NB_DY) {
        const int groups = gpume_min(a.groups, (max_dy - cy) / NB_DY + 1);

        __syncthreads();
        load_window(a, ref, shared, pitch, x0 + left, y0 + cy,
                    (columns + 1) * 4, groups * NB_DY + GPUME_CUDA_FS4_DOWN * SIDE - 1);
        __syncthreads();
        if (row >= whole)
            continue;

        for (int i = lane; i < 4 * columns * groups; i += 32) {
            const int line  = GPUME_DIVIDE_LARGE(i, reciprocal);    // of a copy
            const int group = line / 4;
            const int shift = line & 3;
            const int word  = (i - line * columns) * NB_DX;
            const int dx    = left + 4 * word + shift;
            const int dy    = cy + group * NB_DY;
            const GpumeU32 *win = shared + (group * NB_DY + row * SIDE) * pitch +
                                  shift * copy + word;
            GpumeU32 sum[ACROSS][NB_DX][NB_DY];

#pragma unroll
            for (int c = 0; c < ACROSS; c++)
#pragma unroll
                for (int k = 0; k < NB_DX; k++)
#pragma unroll
                    for (int j = 0; j < NB_DY; j++)
                        sum[c][k][j] = 0;
#pragma unroll
            for (int r = 0; r < SIDE + NB_DY - 1; r++) {
                GpumeU32 w[8];

                gpume_load4(w,     win + r * pitch);
                gpume_load4(w + 4, win + r * pitch + 4);

#pragma unroll
                for (int j = 0; j < NB_DY; j++)
#pragma unroll
                    for (int c = 0; c < ACROSS; c++)
#pragma unroll
                        for (int k = 0; k < NB_DX; k++)
                            if (r - j >= 0 && r - j < SIDE)
                                sum[c][k][j] = gpume_sad4(cur[r - j < 0 || r - j >= SIDE ? 0 : r - j][c],
                                                          w[c + k], sum[c][k][j]);
            }

            if (!shift && dx <= 0 && dx + 4 * NB_DX > 0 && dy <= 0 && dy + NB_DY > 0) {
#pragma unroll
                for (int k = 0; k < NB_DX; k++)
#pragma unroll
                    for (int j = 0; j < NB_DY; j++)
                        if (dx + 4 * k == 0 && dy + j == 0)
#pragma unroll
                            for (int c = 0; c < ACROSS; c++)
                                zero[c] = sum[c][k][j];
            }

            /* from the window's left, so that it is never negative */
            const GpumeU32 order = (dy + range) * side + dx - left;
            GpumeU32 down[NB_DY], right[NB_DX], across[ACROSS + NB_DX - 1];

#pragma unroll
            for (int j = 0; j < NB_DY; j++)
                down[j] = (unsigned)(dy + j - top) <= (unsigned)(bottom - top) ?
                          j * side : INADMISSIBLE;
#pragma unroll
            for (int k = 0; k < NB_DX; k++)
                right[k] = (unsigned)(dx + 4 * k + range) <= (unsigned)(2 * range) ?
                           4 * k : INADMISSIBLE;
#pragma unroll
            for (int k = 0; k < ACROSS + NB_DX - 1; k++) {
                const int x = x0 + dx + 4 * k;

                across[k] = x >= 0 && x + SIDE <= p.width ? 0 : INADMISSIBLE;
            }

            if (inner_x)
                take_best<1>(best, sum, order, right, down, across);
            else
                take_best<0>(best, sum, order, right, down, across);
        }
    }

#pragma unroll
    for (int c = 0; c < ACROSS; c++)
        for (int l = 16; l; l >>= 1)
            best[c] = gpume_umin(best[c], __shfl_xor_sync(~0u, best[c], l));
    /* the costs of the zero vector are there */
    __syncwarp();
    if (row >= whole || lane >= ACROSS)
        return;

    const GpumeDeviceBlock b = gpume_block(&p, x0 / SIDE + lane, y_row / SIDE);
    const GpumeU32 zero_cost = zero[lane];
    int order;
    GpumeU32 key = best[0];

#pragma unroll
    for (int c = 1; c < ACROSS; c++)
        key = lane == c ? best[c] : key;
    order = (int)(key & 0xffff) + left + range;
    /* the zero vector comes before those of equal cost */
    if (zero_cost <= key >> 16)
        gpume_store(&a, &b, blockIdx.z, 0, 0, zero_cost);
    else
        gpume_store(&a, &b, blockIdx.z, order % side - range, order / side - range, key >> 16);
}

/**
 * Blocks of 4x4 bytes, range up to GPUME_CUDA_FS_FAST_RANGE. A block of threads has
 * ACROSS x GPUME_CUDA_FS4_DOWN of them.
 *
 * grid:   tiles side by side, on top of each other, directions
 * block:  32 * GPUME_CUDA_FS4_DOWN
 * shared: groups * NB_DY + SIDE * GPUME_CUDA_FS4_DOWN - 1 rows of 4 * copy_words words,
 *         or what search_any() needs: that is shared_words; then a word for each block
 */
extern "C" __global__ void __launch_bounds__(32 * GPUME_CUDA_FS4_DOWN, 2)
gpume_fs4_8(const GpumeCudaArgs args)
{
    GPUME_SHARED(GpumeU32, shared);

    const int bx = blockIdx.x * ACROSS;
    const int by = blockIdx.y * GPUME_CUDA_FS4_DOWN;
    /* rows of whole blocks */
    const int whole = (bx + ACROSS) * SIDE > args.params.width ? 0 :
                      gpume_min(GPUME_CUDA_FS4_DOWN, args.params.height / SIDE - by);

    if (whole > 0)
        search_row(args, shared, bx * SIDE, by * SIDE, whole);
    /* the right and the bottom edge cut blocks and tiles */
    for (int y = by + whole; y < by + GPUME_CUDA_FS4_DOWN && y < args.params.bh; y++)
        for (int x = bx; x < bx + ACROSS && x < args.params.bw; x++)
            search_any<GpumeU8>(args, shared, x, y, blockIdx.z);
}
