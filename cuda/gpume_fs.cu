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
 * Full search.
 */

#include "libavfilter/gpume/cuda/gpume_device.h"

#define ROWS GPUME_CUDA_FS_TILE_ROWS
#define COLS GPUME_CUDA_FS_TILE_COLS

/**
 * A rows x words piece of a plane into shared memory, samples right-justified;
 * what lies outside the first columns x lines samples is 0.
 * @param p   the piece's first sample, inside the picture
 * @param end end of the picture's row in which p lies
 */
template<typename Sample>
static __device__ __forceinline__ void
load_piece(GpumeU32 *dst, int pitch, int rows, int words,
           const GpumeU8 *p, const GpumeU8 *end, long long linesize,
           int columns, int lines, int shift)
{
    for (int i = threadIdx.x; i < rows * words; i += blockDim.x) {
        const int y = i / words;
        const int x = i - y * words;
        GpumeU32 word = 0;

        if (y < lines)
            word = gpume_load<Sample>(p + y * linesize + 4 * x,
                                      columns - x * GpumeSample<Sample>::per_word,
                                      end + y * linesize);
        dst[y * pitch + x] = GpumeSample<Sample>::right_justify(word, shift);
    }
}

/**
 * A block of threads searches a block of the picture. It goes over the candidates
 * in tiles of tiles_x * COLS by tiles_y * ROWS; a thread has COLS x ROWS of them,
 * whose sums stay in its registers while strips of the block, and the window of
 * the reference that they meet, pass through shared memory.
 *
 * grid:   bw, bh, directions
 * block:  tiles_x * tiles_y threads, rounded up to warps, at most GPUME_CUDA_FS_THREADS
 * shared: GPUME_CUDA_FS_STRIP rows of block / per_word words, then
 *         tiles_y * ROWS + GPUME_CUDA_FS_STRIP rows of window_pitch words;
 *         at least a key for each warp
 */
template<typename Sample>
static __device__ __forceinline__ void search(const GpumeCudaArgs &a)
{
    GPUME_SHARED(GpumeU32, shared);

    const int per_word  = GpumeSample<Sample>::per_word;
    const int bytes     = GpumeSample<Sample>::bytes;
    const int tile_words = COLS / per_word;     // from a thread's columns to the next one's
    const GpumeDeviceBlock b = gpume_block(&a.params, blockIdx.x, blockIdx.y);
    const int words     = (b.w + per_word - 1) / per_word;
    const int cur_pitch = a.params.block / per_word;
    GpumeU32 *cur       = shared;
    GpumeU32 *window    = shared + GPUME_CUDA_FS_STRIP * cur_pitch;
    const int tile_x    = threadIdx.x % a.tiles_x;
    const int tile_y    = threadIdx.x / a.tiles_x;
    const GpumeCudaPlane ref = blockIdx.z ? a.ref[1] : a.ref[0];
    const int side      = 2 * a.params.range + 1;
    GpumeU64 best       = ~0ull;

    for (int cy = b.min_dy; cy <= b.max_dy; cy += a.tiles_y * ROWS)
        for (int cx = b.min_dx; cx <= b.max_dx; cx += a.tiles_x * COLS) {
            GpumeU32 sum[ROWS][COLS];

#pragma unroll
            for (int j = 0; j < ROWS; j++)
#pragma unroll
                for (int k = 0; k < COLS; k++)
                    sum[j][k] = 0;

            for (int strip = 0; strip < b.h; strip += GPUME_CUDA_FS_STRIP) {
                const int rows  = gpume_min(GPUME_CUDA_FS_STRIP, b.h - strip);
                const int cur_y = b.y0 + strip;
                const int win_y = cur_y + cy;
                const int win_x = b.x0 + cx;
                const GpumeU8 *cur_row = (const GpumeU8 *)a.cur.data + cur_y * a.cur.linesize;
                const GpumeU8 *win_row = (const GpumeU8 *)ref.data   + win_y * ref.linesize;

                __syncthreads();
                load_piece<Sample>(cur, cur_pitch, rows, words,
                                   cur_row + b.x0 * bytes,
                                   cur_row + a.params.width * bytes, a.cur.linesize,
                                   b.w, rows, a.params.shift);
                load_piece<Sample>(window, a.window_pitch, a.tiles_y * ROWS + rows - 1,
                                   a.tiles_x * tile_words + words,
                                   win_row + win_x * bytes,
                                   win_row + a.params.width * bytes, ref.linesize,
                                   a.params.width - win_x, a.params.height - win_y,
                                   a.params.shift);
                __syncthreads();

                if (tile_y >= a.tiles_y)
                    continue;
                for (int r = 0; r < ROWS + rows - 1; r++) {
                    const GpumeU32 *win = window + (tile_y * ROWS + r) * a.window_pitch +
                                          tile_x * tile_words;

                    for (int c = 0; c < words; c++) {
                        const GpumeU32 mask = gpume_mask<Sample>(b.w - c * per_word);
                        GpumeU32 w[COLS];

#pragma unroll
                        for (int k = 0; k < COLS; k++)
                            w[k] = gpume_funnel(win[c + k / per_word],
                                                win[c + k / per_word + 1],
                                                k % per_word * 8 * bytes) & mask;
#pragma unroll
                        for (int j = 0; j < ROWS; j++) {
                            const int y = r - j;

                            if (y < 0 || y >= rows)
                                continue;
                            const GpumeU32 v = cur[y * cur_pitch + c];
#pragma unroll
                            for (int k = 0; k < COLS; k++)
                                sum[j][k] = GpumeSample<Sample>::sad(v, w[k], sum[j][k]);
                        }
                    }
                }
            }

            if (tile_y >= a.tiles_y)
                continue;
#pragma unroll
            for (int j = 0; j < ROWS; j++)
#pragma unroll
                for (int k = 0; k < COLS; k++) {
                    const int dx = cx + tile_x * COLS + k;
                    const int dy = cy + tile_y * ROWS + j;

                    // the zero vector, then raster order
                    const GpumeU32 order = !dx && !dy ? 0 :
                        1 + (dy + a.params.range) * side + dx + a.params.range;
                    const GpumeU64 key = gpume_key(sum[j][k], order);

                    if (dx <= b.max_dx && dy <= b.max_dy && key < best)
                        best = key;
                }
        }

    // every lane's smallest key, then every warp's
    GpumeU64 *keys = (GpumeU64 *)shared;

    for (int lane = 16; lane; lane >>= 1)
        best = gpume_min_key(~0u, best, lane);
    __syncthreads();
    if (!(threadIdx.x & 31))
        keys[threadIdx.x >> 5] = best;
    __syncthreads();
    if (threadIdx.x)
        return;
    for (int i = 1; i < blockDim.x >> 5; i++)
        if (keys[i] < best)
            best = keys[i];

    const int order = (int)(GpumeU32)best;

    gpume_store(&a, &b, blockIdx.z,
                order ? (order - 1) % side - a.params.range : 0,
                order ? (order - 1) / side - a.params.range : 0,
                (GpumeU32)(best >> 32));
}

extern "C" {

__global__ void __launch_bounds__(GPUME_CUDA_FS_THREADS)
gpume_fs_8(const GpumeCudaArgs args)
{
    search<GpumeU8>(args);
}

__global__ void __launch_bounds__(GPUME_CUDA_FS_THREADS)
gpume_fs_16(const GpumeCudaArgs args)
{
    search<GpumeU16>(args);
}

}
