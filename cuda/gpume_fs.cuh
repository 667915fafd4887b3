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
 * Full search: what its kernels have in common.
 */

#ifndef AVFILTER_GPUME_CUDA_GPUME_FS_CUH
#define AVFILTER_GPUME_CUDA_GPUME_FS_CUH

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

/** A piece of the picture: its first sample, and the direction in which it is searched. */
typedef struct FsPlace {
    int x, y, z;
} FsPlace;

/**
 * Where a block of threads searches: at one place of its own, or, after elimination, at
 * every grid's of those that are left.
 */
struct FsPlaces {
    const GpumeCudaArgs &a;
    const int width, height;    ///< of the piece at a place
    int at, end;

    __device__ __forceinline__ FsPlaces(const GpumeCudaArgs &args, int w, int h)
        : a(args), width(w), height(h)
    {
        at  = blockIdx.x;
        end = at + 1;
        if (a.only_left) {
            GpumeCudaLeft *left = (GpumeCudaLeft *)a.left;

            end = left->nb[a.turn] * (GPUME_CUDA_SEA_SQUARE / width) *
                  (GPUME_CUDA_SEA_SQUARE / height);
            /* for the next search */
            if (!blockIdx.x && !threadIdx.x)
                left->nb[a.turn ^ 1] = 0;
        }
    }

    /** The next place; returns 0 if there is none. */
    __device__ __forceinline__ int next(FsPlace *place)
    {
        if (at >= end)
            return 0;
        if (a.only_left) {
            const int across = GPUME_CUDA_SEA_SQUARE / width;
            const int pieces = GPUME_CUDA_SEA_SQUARE / height * across;
            const GpumeU32 square = ((GpumeCudaLeft *)a.left)->squares[at / pieces];

            place->x = (int)(square & 4095) * GPUME_CUDA_SEA_SQUARE +
                       at % pieces % across * width;
            place->y = (int)(square >> 12 & 4095) * GPUME_CUDA_SEA_SQUARE +
                       at % pieces / across * height;
            place->z = square >> 24;
        } else {
            place->x = blockIdx.x * width;
            place->y = blockIdx.y * height;
            place->z = blockIdx.z;
        }
        at += a.grid;
        return 1;
    }
};

/**
 * All threads search one block of the picture, of any size. They go over the
 * candidates in tiles of tiles.x * COLS by tiles.y * ROWS; a thread has COLS x ROWS
 * of them, whose sums stay in its registers while strips of the block, and the
 * window of the reference that they meet, pass through shared memory.
 */
template<typename Sample>
static __device__ __forceinline__ void
search_any(const GpumeCudaArgs &a, GpumeU32 *shared, int bx, int by, int z)
{
    const GpumeCudaTiles tiles = a.tiles;
    const int per_word  = GpumeSample<Sample>::per_word;
    const int bytes     = GpumeSample<Sample>::bytes;
    const int tile_words = COLS / per_word;     // from a thread's columns to the next one's
    const GpumeDeviceBlock b = gpume_block(&a.params, bx, by);
    const int words     = (b.w + per_word - 1) / per_word;
    const int cur_pitch = a.params.block / per_word;
    GpumeU32 *cur       = shared;
    GpumeU32 *window    = shared + GPUME_CUDA_FS_STRIP * cur_pitch;
    const int tile_x    = threadIdx.x % tiles.x;
    const int tile_y    = threadIdx.x / tiles.x;
    const GpumeCudaPlane ref = z ? a.ref[1] : a.ref[0];
    const int side      = 2 * a.params.range + 1;
    GpumeU64 best       = ~0ull;

    for (int cy = b.min_dy; cy <= b.max_dy; cy += tiles.y * ROWS)
        for (int cx = b.min_dx; cx <= b.max_dx; cx += tiles.x * COLS) {
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
                load_piece<Sample>(window, tiles.pitch, tiles.y * ROWS + rows - 1,
                                   tiles.x * tile_words + words,
                                   win_row + win_x * bytes,
                                   win_row + a.params.width * bytes, ref.linesize,
                                   a.params.width - win_x, a.params.height - win_y,
                                   a.params.shift);
                __syncthreads();

                if (tile_y >= tiles.y)
                    continue;
                for (int r = 0; r < ROWS + rows - 1; r++) {
                    const GpumeU32 *win = window + (tile_y * ROWS + r) * tiles.pitch +
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

            if (tile_y >= tiles.y)
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

    gpume_store(&a, &b, z,
                order ? (order - 1) % side - a.params.range : 0,
                order ? (order - 1) / side - a.params.range : 0,
                (GpumeU32)(best >> 32));
}

/** A word of a window shifted by some samples to the left, hi being the word after it. */
static __device__ __forceinline__ GpumeU32 shifted(GpumeU32 lo, GpumeU32 hi, int samples)
{
    return samples ? gpume_funnel(lo, hi, 8 * samples) : lo;
}

/** A row of the reference, or the one next to it where it has none. */
static __device__ __forceinline__ const GpumeU8 *
window_row(const GpumeParams &p, const GpumeCudaPlane &ref, int y)
{
    return (const GpumeU8 *)ref.data + ref.linesize * gpume_max(0, gpume_min(y, p.height - 1));
}

/**
 * The window of the reference from (left, top) on into shared memory, four times: the
 * first copy as it is, the others shifted by one, two and three bytes. What lies
 * outside the picture is of no admissible candidate, hence may be anything.
 * @param row_words  up to 256; copies have room for a multiple of four
 */
static __device__ __forceinline__ void
load_window(const GpumeCudaArgs &a, const GpumeCudaPlane &ref, GpumeU32 *window,
            int pitch, int left, int top, int row_words, int rows)
{
    const GpumeParams &p = a.params;
    const int whole = gpume_whole_words(ref, p);
    const int quads = !((ref.data | ref.linesize | p.width | left) & 15);
    const int units = quads ? (row_words + 3) / 4 : row_words;
    const GpumeU32 reciprocal = GPUME_RECIPROCAL(units);
    const int nb    = rows * units;
    const int fill  = 3;    // units of a thread at a time

    if (quads) {
        for (int i = threadIdx.x; i < nb; i += fill * blockDim.x) {
            int4 lo[fill];
            GpumeU32 hi[fill];
            int at[fill];

            /* together: they take their time */
#pragma unroll
            for (int j = 0; j < fill; j++) {
                /* the last one again where there are no more */
                const int k = gpume_min(i + j * blockDim.x, nb - 1);
                const int y = GPUME_DIVIDE(k, reciprocal);
                const int x = 4 * (k - y * units);
                const int column = left + 4 * x;
                const GpumeU8 *row = window_row(p, ref, top + y);

                at[j] = y * pitch + x;
                GPUME_LOAD_GLOBAL(lo[j], int4, row + gpume_max(0, gpume_min(column, p.width - 16)));
                hi[j] = gpume_load_any<GpumeU8>(1, row, column + 16, p.width);
            }
#pragma unroll
            for (int j = 0; j < fill; j++) {
                if (j && i + j * blockDim.x >= nb)
                    break;
#pragma unroll
                for (int copy = 0; copy < 4; copy++) {
                    int4 v;

                    v.x = shifted(lo[j].x, lo[j].y, copy);
                    v.y = shifted(lo[j].y, lo[j].z, copy);
                    v.z = shifted(lo[j].z, lo[j].w, copy);
                    v.w = shifted(lo[j].w, hi[j],   copy);
                    *(int4 *)(window + at[j] + copy * a.copy_words) = v;
                }
            }
        }
        return;
    }
    for (int i = threadIdx.x; i < nb; i += 4 * blockDim.x) {
        GpumeU32 lo[4], hi[4];
        int at[4];

#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int k = gpume_min(i + j * blockDim.x, nb - 1);
            const int y = GPUME_DIVIDE(k, reciprocal);
            const int x = k - y * units;
            const GpumeU8 *row = window_row(p, ref, top + y);

            at[j] = y * pitch + x;
            /* one branch for both */
            if (whole) {
                lo[j] = gpume_load_any<GpumeU8>(1, row, left + 4 * x,     p.width);
                hi[j] = gpume_load_any<GpumeU8>(1, row, left + 4 * x + 4, p.width);
            } else {
                lo[j] = gpume_load_any<GpumeU8>(0, row, left + 4 * x,     p.width);
                hi[j] = gpume_load_any<GpumeU8>(0, row, left + 4 * x + 4, p.width);
            }
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (j && i + j * blockDim.x >= nb)
                break;
#pragma unroll
            for (int copy = 0; copy < 4; copy++)
                window[at[j] + copy * a.copy_words] = shifted(lo[j], hi[j], copy);
        }
    }
}

/** NB words, a multiple of four of them, of shared memory; whole: they begin at 16 bytes. */
template<int NB>
static __device__ __forceinline__ void load_words(GpumeU32 *words, const GpumeU32 *p, int whole)
{
#pragma unroll
    for (int i = 0; i < NB; i += 4) {
        if (whole) {
            const int4 v = *(const int4 *)(p + i);

            words[i]     = v.x;
            words[i + 1] = v.y;
            words[i + 2] = v.z;
            words[i + 3] = v.w;
        } else {
#pragma unroll
            for (int j = 0; j < 4; j++)
                words[i + j] = p[i + j];
        }
    }
}

/**
 * All threads search a tile of the picture, TILE_WIDTH samples wide, which holds
 * blocks of SIDE x HEIGHT bytes side by side. A thread has one horizontal and NB_ROWS
 * consecutive vertical displacements, whose sums, like the tile, stay in its
 * registers; the window lies in shared memory four times, shifted by a byte each,
 * so that every candidate's words can be read as they are.
 */
template<int SIDE, int HEIGHT, int NB_ROWS>
static __device__ __forceinline__ void search_tile(const GpumeCudaArgs &a,
                                                   GpumeU32 *shared, int x0, int y0, int z)
{
    const int words   = GPUME_CUDA_FS_TILE_WIDTH / 4;
    const int blocks  = GPUME_CUDA_FS_TILE_WIDTH / SIDE;
    const GpumeParams &p = a.params;
    const GpumeCudaPlane ref = z ? a.ref[1] : a.ref[0];
    const int range   = p.range;
    const int side    = 2 * range + 1;
    const int copy    = a.copy_words;               // words from copy to copy
    const int pitch   = GPUME_CUDA_FS_PITCH(copy);  // words from row to row
    /* what is admissible for any of the blocks */
    const int min_dy  = -gpume_min(range, y0);
    const int max_dy  =  gpume_min(range, p.height - y0 - HEIGHT);
    const int min_dx  = -gpume_min(range, x0 + GPUME_CUDA_FS_TILE_WIDTH - SIDE);
    const int max_dx  =  gpume_min(range, p.width - x0 - SIDE);
    /* the window begins at a word */
    const int left    = (x0 + min_dx) & ~3;
    const int across  = x0 + max_dx - left + 1;     // columns of candidates,
    const int columns = across / 4;                 // four to a word,
    const int single  = across & 3;                 // and those after these
    const GpumeU32 reciprocal = GPUME_RECIPROCAL_LARGE(gpume_max(1, columns));
    const int inner   = x0 - range >= 0 &&
                        x0 + GPUME_CUDA_FS_TILE_WIDTH + range <= p.width;
    GpumeU32 *zero    = shared + a.shared_words;    // costs of the zero vector
    GpumeU32 *tile    = zero + blocks;
    GpumeU32 cur[HEIGHT][words];
    GpumeU32 best[blocks];

    for (int i = threadIdx.x; i < HEIGHT * words; i += blockDim.x) {
        const GpumeU8 *row = (const GpumeU8 *)a.cur.data +
                             (y0 + i / words) * a.cur.linesize;

        tile[i] = gpume_load<GpumeU8>(row + x0 + 4 * (i % words), 4, row + p.width);
    }
#pragma unroll
    for (int i = 0; i < blocks; i++)
        best[i] = ~0u;

    for (int cy = min_dy; cy <= max_dy; cy += a.groups * NB_ROWS) {
        const int groups = gpume_min(a.groups, (max_dy - cy) / NB_ROWS + 1);

        __syncthreads();
        load_window(a, ref, shared, pitch, left, y0 + cy, (across + 3) / 4 + words - 1,
                    groups * NB_ROWS + HEIGHT - 1);
        __syncthreads();
        /* again for every piece of the window: it takes many registers to be filled */
#pragma unroll
        for (int y = 0; y < HEIGHT; y++)
#pragma unroll
            for (int c = 0; c < words; c++)
                cur[y][c] = tile[y * words + c];

        for (int i = threadIdx.x; i < 4 * columns * groups; i += blockDim.x) {
            const int line  = GPUME_DIVIDE_LARGE(i, reciprocal);    // of a copy
            const int group = line / 4;
            const int shift = line & 3;
            const int word  = i - line * columns;
            const int dx    = left + 4 * word + shift - x0;
            const int dy    = cy + group * NB_ROWS;
            const GpumeU32 *win = shared + group * NB_ROWS * pitch + shift * copy + word;
            GpumeU32 sum[blocks][NB_ROWS];

#pragma unroll
            for (int k = 0; k < blocks; k++)
#pragma unroll
                for (int j = 0; j < NB_ROWS; j++)
                    sum[k][j] = 0;
#pragma unroll
            for (int r = 0; r < HEIGHT + NB_ROWS - 1; r++) {
                GpumeU32 w[words];

#pragma unroll
                for (int c = 0; c < words; c++)
                    w[c] = win[r * pitch + c];
#pragma unroll
                for (int j = 0; j < NB_ROWS; j++)
#pragma unroll
                    for (int c = 0; c < words; c++)
                        if (r - j >= 0 && r - j < HEIGHT)
                            sum[4 * c / SIDE][j] = gpume_sad4(cur[r - j < 0 || r - j >= HEIGHT ? 0 : r - j][c],
                                                              w[c], sum[4 * c / SIDE][j]);
            }

            if (!dx && dy <= 0 && dy + NB_ROWS > 0) {
#pragma unroll
                for (int k = 0; k < blocks; k++)
#pragma unroll
                    for (int j = 0; j < NB_ROWS; j++)
                        if (dy + j == 0)
                            zero[k] = sum[k][j];
            }

            GpumeU32 order = (dy + range) * side + dx + range;

            /* columns are there by whole words */
            if (dx < -range || dx > range)
                continue;
            if (inner && dy + NB_ROWS - 1 <= max_dy) {
#pragma unroll
                for (int j = 0; j < NB_ROWS; j++) {
#pragma unroll
                    for (int k = 0; k < blocks; k++)
                        best[k] = gpume_umin(best[k], (sum[k][j] << 16) + order);
                    order += side;
                }
            } else {
#pragma unroll
                for (int j = 0; j < NB_ROWS; j++) {
#pragma unroll
                    for (int k = 0; k < blocks; k++) {
                        const int x = x0 + k * SIDE;

                        if (dy + j <= max_dy && x + dx >= 0 && x + dx + SIDE <= p.width)
                            best[k] = gpume_umin(best[k], (sum[k][j] << 16) + order);
                    }
                    order += side;
                }
            }
        }

        /*
         * Columns that make no word of four are few: a candidate a thread, not
         * NB_ROWS, as most threads would wait for those.
         */
        const int rows = gpume_min(groups * NB_ROWS, max_dy - cy + 1);

        for (int i = threadIdx.x; i < single * rows; i += blockDim.x) {
            const int shift = i / rows;
            const int row   = i - shift * rows;
            const int dx    = left + 4 * columns + shift - x0;
            const int dy    = cy + row;
            const GpumeU32 order = (dy + range) * side + dx + range;
            const GpumeU32 *win  = shared + row * pitch + shift * copy + columns;
            GpumeU32 sum[blocks];

#pragma unroll
            for (int k = 0; k < blocks; k++)
                sum[k] = 0;
#pragma unroll
            for (int r = 0; r < HEIGHT; r++) {
                GpumeU32 w[words];

                load_words<words>(w, win + r * pitch, !(columns & 3));
#pragma unroll
                for (int c = 0; c < words; c++)
                    sum[4 * c / SIDE] = gpume_sad4(cur[r][c], w[c], sum[4 * c / SIDE]);
            }
            if (dx < -range || dx > range)
                continue;
#pragma unroll
            for (int k = 0; k < blocks; k++) {
                const int x = x0 + k * SIDE;

                if (!dx && !dy)
                    zero[k] = sum[k];
                if (x + dx >= 0 && x + dx + SIDE <= p.width)
                    best[k] = gpume_umin(best[k], (sum[k] << 16) + order);
            }
        }
    }

    // every lane's smallest key, then every warp's
#pragma unroll
    for (int k = 0; k < blocks; k++)
        for (int lane = 16; lane; lane >>= 1)
            best[k] = gpume_umin(best[k], __shfl_xor_sync(~0u, best[k], lane));
    __syncthreads();
    if (!(threadIdx.x & 31)) {
#pragma unroll
        for (int k = 0; k < blocks; k++)
            shared[(threadIdx.x >> 5) * blocks + k] = best[k];
    }
    __syncthreads();
    if (threadIdx.x >= blocks)
        return;

    const GpumeDeviceBlock b = gpume_block(&p, x0 / SIDE + threadIdx.x, y0 / SIDE);
    const GpumeU32 zero_cost = zero[threadIdx.x];
    GpumeU32 key = shared[threadIdx.x];

    for (int i = 1; i < blockDim.x >> 5; i++)
        key = gpume_umin(key, shared[i * blocks + threadIdx.x]);
    /* the zero vector comes before those of equal cost */
    if (zero_cost <= key >> 16)
        gpume_store(&a, &b, z, 0, 0, zero_cost);
    else
        gpume_store(&a, &b, z, (int)(key & 0xffff) % side - range,
                    (int)(key & 0xffff) / side - range, key >> 16);
}

/**
 * Blocks of 8 or 16 bytes, range up to GPUME_CUDA_FS_FAST_RANGE. A block of
 * threads has a tile of GPUME_CUDA_FS_TILE_WIDTH x SIDE samples.
 *
 * grid:   tiles side by side, bh, directions; or any number
 * block:  whole warps
 * shared: groups * NB_ROWS + SIDE - 1 rows of GPUME_CUDA_FS_PITCH() words, or what
 *         search_any() needs, or threads / 32 keys for each block of the tile,
 *         whichever is most: that is shared_words; then a word for each block
 *         of the tile, and the tile
 */
template<int SIDE, int NB_ROWS>
static __device__ __forceinline__ void search_fast(const GpumeCudaArgs &a)
{
    GPUME_SHARED(GpumeU32, shared);

    FsPlaces places(a, GPUME_CUDA_FS_TILE_WIDTH, SIDE);
    FsPlace at;

    while (places.next(&at)) {
        const int x0 = at.x, y0 = at.y;

        const int whole = x0 + GPUME_CUDA_FS_TILE_WIDTH <= a.params.width;
        const int h     = a.params.height - y0;

        if (whole && h >= SIDE) {
            search_tile<SIDE, SIDE, NB_ROWS>(a, shared, x0, y0, at.z);
        } else if (whole && h == SIDE / 2) {
            /* as in 1080 lines */
            search_tile<SIDE, SIDE / 2, NB_ROWS>(a, shared, x0, y0, at.z);
        } else if (h > 0) {
            /* the right and the bottom edge cut blocks and tiles */
            for (int x = x0; x < x0 + GPUME_CUDA_FS_TILE_WIDTH && x < a.params.width; x += SIDE)
                search_any<GpumeU8>(a, shared, x / SIDE, y0 / SIDE, at.z);
        }
    }
}

/**
 * Blocks of any size and depth.
 *
 * grid:   bw, bh, directions; or any number
 * block:  tiles.x * tiles.y threads, rounded up to warps, at most GPUME_CUDA_FS_THREADS
 * shared: GPUME_CUDA_FS_STRIP rows of block / per_word words, then
 *         tiles.y * ROWS + GPUME_CUDA_FS_STRIP rows of tiles.pitch words;
 *         at least a key for each warp
 */
template<typename Sample>
static __device__ __forceinline__ void search(const GpumeCudaArgs &a)
{
    GPUME_SHARED(GpumeU32, shared);

    FsPlaces places(a, a.params.block, a.params.block);
    FsPlace at;

    while (places.next(&at))
        if (at.x < a.params.width && at.y < a.params.height)
            search_any<Sample>(a, shared, at.x / a.params.block, at.y / a.params.block, at.z);
}

/**
 * The kernel of a block's side and a thread's vertical displacements. A module each:
 * the driver compiles all of a module, which takes its time.
 */
#define GPUME_FS_KERNEL(side, rows)                                                     \
extern "C" __global__ void __launch_bounds__(GPUME_CUDA_FS_FAST_THREADS, 2)             \
gpume_fs##side##_8_##rows(const GpumeCudaArgs args)                                     \
{                                                                                       \
    search_fast<side, rows>(args);                                                      \
}

#undef ROWS
#undef COLS

#endif /* AVFILTER_GPUME_CUDA_GPUME_FS_CUH */
