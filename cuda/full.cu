/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of any size and depth and, where there is a variant, of 8x8 and
 * 16x16 bytes. The variant is how many displacements on top of each other a thread has.
 */

#include "libavfilter/gpume/cuda/full.cuh"

/** A tile of the picture: its first sample, and the field that it is searched for. */
typedef struct GpumePlace {
    int x, y, z;
} GpumePlace;

/**
 * Where a block of threads searches: at one place of its own, or, behind successive
 * elimination, at every grid's of those that remain.
 */
struct GpumePlaces {
    const GpumeCudaArgs &a;
    const int width, height;    ///< of the tile at a place
    int at, end;

    __device__ __forceinline__ GpumePlaces(const GpumeCudaArgs &args, int w, int h)
        : a(args), width(w), height(h)
    {
        at  = blockIdx.x;
        end = at + 1;
        if (a.full.only_remaining) {
            GpumeCudaRemaining *remaining = (GpumeCudaRemaining *)a.remaining;

            end = remaining->nb[a.parity] * (GPUME_CUDA_SEA_SQUARE / width) *
                  (GPUME_CUDA_SEA_SQUARE / height);
            /* for the next search */
            if (!blockIdx.x && !threadIdx.x)
                remaining->nb[a.parity ^ 1] = 0;
        }
    }

    /** The next place; returns 0 if there is none. */
    __device__ __forceinline__ int next(GpumePlace *place)
    {
        if (at >= end)
            return 0;
        if (a.full.only_remaining) {
            const int across = GPUME_CUDA_SEA_SQUARE / width;
            const int tiles  = GPUME_CUDA_SEA_SQUARE / height * across;
            const GpumeU32 square = ((GpumeCudaRemaining *)a.remaining)->squares[at / tiles];

            place->x = GPUME_CUDA_SQUARE_X(square) * GPUME_CUDA_SEA_SQUARE +
                       at % tiles % across * width;
            place->y = GPUME_CUDA_SQUARE_Y(square) * GPUME_CUDA_SEA_SQUARE +
                       at % tiles / across * height;
            place->z = GPUME_CUDA_SQUARE_Z(square);
        } else {
            place->x = blockIdx.x * width;
            place->y = blockIdx.y * height;
            place->z = blockIdx.z;
        }
        at += a.full.grid;
        return 1;
    }
};

/** NB words, a multiple of four of them, of shared memory; whole: they begin at 16 bytes. */
template<int NB>
static __device__ __forceinline__ void
gpume_load_words(GpumeU32 *words, const GpumeU32 *p, int whole)
{
    GPUME_UNROLL for (int i = 0; i < NB; i += 4) {
        if (whole) {
            const int4 v = *(const int4 *)(p + i);

            words[i]     = v.x;
            words[i + 1] = v.y;
            words[i + 2] = v.z;
            words[i + 3] = v.w;
        } else {
            GPUME_UNROLL for (int j = 0; j < 4; j++)
                words[i + j] = p[i + j];
        }
    }
}

/**
 * All threads search a tile of the picture, FULL_TILE_WIDTH samples wide, which holds
 * blocks of SIDE x HEIGHT bytes side by side. A thread has one horizontal and NB_ROWS
 * consecutive vertical displacements, whose sums, like the tile, stay in its
 * registers; the window lies in shared memory four times, shifted by a byte each,
 * so that every candidate's words can be read as they are.
 */
template<int SIDE, int HEIGHT, int NB_ROWS>
static __device__ __forceinline__ void
gpume_search_tile(const GpumeCudaArgs &a, GpumeU32 *shared, int x0, int y0, int z)
{
    const int words   = GPUME_CUDA_FULL_TILE_WIDTH / 4;
    const int blocks  = GPUME_CUDA_FULL_TILE_WIDTH / SIDE;
    const GpumeParams &p = a.params;
    const GpumeCudaPlane ref = gpume_field(a, z).plane;
    const int range   = p.range;
    const int side    = 2 * range + 1;
    const int copy    = a.full.copy_words;               // words from copy to copy
    const int pitch   = GPUME_CUDA_FULL_PITCH(copy);  // words from row to row
    /* what is admissible for any of the blocks */
    const int min_dy  = gpume_min_displacement(range, y0);
    const int max_dy  = gpume_max_displacement(range, p.height, y0 + HEIGHT);
    const int min_dx  = gpume_min_displacement(range, x0 + GPUME_CUDA_FULL_TILE_WIDTH - SIDE);
    const int max_dx  = gpume_max_displacement(range, p.width, x0 + SIDE);
    /* the window begins at a word */
    const int left    = (x0 + min_dx) & ~3;
    const int across  = x0 + max_dx - left + 1;     // columns of candidates,
    const int columns = across / 4;                 // four to a word,
    const int single  = across & 3;                 // and those after these
    const GpumeU32 reciprocal = GPUME_RECIPROCAL_LARGE(gpume_max(1, columns));
    const int inner   = x0 - range >= 0 &&
                        x0 + GPUME_CUDA_FULL_TILE_WIDTH + range <= p.width;
    GpumeU32 *zero    = shared + a.full.shared_words;    // costs of the zero vector
    GpumeU32 *tile    = zero + blocks;
    GpumeU32 cur[HEIGHT][words];
    GpumeU32 best[blocks];

    for (int i = threadIdx.x; i < HEIGHT * words; i += blockDim.x) {
        const GpumeU8 *row = (const GpumeU8 *)a.cur.data +
                             (y0 + i / words) * a.cur.linesize;

        tile[i] = gpume_load<GpumeU8>(row + x0 + 4 * (i % words), 4, row + p.width);
    }
    GPUME_UNROLL for (int i = 0; i < blocks; i++)
        best[i] = ~0u;

    for (int cy = min_dy; cy <= max_dy; cy += a.full.runs * NB_ROWS) {
        const int runs = gpume_min(a.full.runs, (max_dy - cy) / NB_ROWS + 1);

        __syncthreads();
        gpume_load_window(a, ref, shared, pitch, left, y0 + cy, (across + 3) / 4 + words - 1,
                          runs * NB_ROWS + HEIGHT - 1);
        __syncthreads();
        /* again for every piece of the window: it takes many registers to be filled */
        GPUME_UNROLL for (int y = 0; y < HEIGHT; y++)
            GPUME_UNROLL for (int c = 0; c < words; c++)
                cur[y][c] = tile[y * words + c];

        for (int i = threadIdx.x; i < 4 * columns * runs; i += blockDim.x) {
            const int line  = GPUME_DIVIDE_LARGE(i, reciprocal);    // of a copy
            const int run   = line / 4;
            const int shift = line & 3;
            const int word  = i - line * columns;
            const int dx    = left + 4 * word + shift - x0;
            const int dy    = cy + run * NB_ROWS;
            const GpumeU32 *win = shared + run * NB_ROWS * pitch + shift * copy + word;
            GpumeU32 sum[blocks][NB_ROWS];

            GPUME_UNROLL for (int k = 0; k < blocks; k++)
                GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++)
                    sum[k][j] = 0;
            GPUME_UNROLL for (int r = 0; r < HEIGHT + NB_ROWS - 1; r++) {
                GpumeU32 w[words];

                GPUME_UNROLL for (int c = 0; c < words; c++)
                    w[c] = win[r * pitch + c];
                GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++)
                    GPUME_UNROLL for (int c = 0; c < words; c++)
                        if (r - j >= 0 && r - j < HEIGHT)
                            sum[4 * c / SIDE][j] = gpume_sad4(cur[r - j < 0 || r - j >= HEIGHT ? 0 : r - j][c],
                                                              w[c], sum[4 * c / SIDE][j]);
            }

            if (!dx && dy <= 0 && dy + NB_ROWS > 0) {
                GPUME_UNROLL for (int k = 0; k < blocks; k++)
                    GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++)
                        if (dy + j == 0)
                            zero[k] = sum[k][j];
            }

            GpumeU32 order = (dy + range) * side + dx + range;

            /* columns are there by whole words */
            if (dx < -range || dx > range)
                continue;
            if (inner && dy + NB_ROWS - 1 <= max_dy) {
                GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++) {
                    GPUME_UNROLL for (int k = 0; k < blocks; k++)
                        best[k] = gpume_umin(best[k], (sum[k][j] << 16) + order);
                    order += side;
                }
            } else {
                GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++) {
                    GPUME_UNROLL for (int k = 0; k < blocks; k++) {
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
        const int rows = gpume_min(runs * NB_ROWS, max_dy - cy + 1);

        for (int i = threadIdx.x; i < single * rows; i += blockDim.x) {
            const int shift = i / rows;
            const int row   = i - shift * rows;
            const int dx    = left + 4 * columns + shift - x0;
            const int dy    = cy + row;
            const GpumeU32 order = (dy + range) * side + dx + range;
            const GpumeU32 *win  = shared + row * pitch + shift * copy + columns;
            GpumeU32 sum[blocks];

            GPUME_UNROLL for (int k = 0; k < blocks; k++)
                sum[k] = 0;
            GPUME_UNROLL for (int r = 0; r < HEIGHT; r++) {
                GpumeU32 w[words];

                gpume_load_words<words>(w, win + r * pitch, !(columns & 3));
                GPUME_UNROLL for (int c = 0; c < words; c++)
                    sum[4 * c / SIDE] = gpume_sad4(cur[r][c], w[c], sum[4 * c / SIDE]);
            }
            if (dx < -range || dx > range)
                continue;
            GPUME_UNROLL for (int k = 0; k < blocks; k++) {
                const int x = x0 + k * SIDE;

                if (!dx && !dy)
                    zero[k] = sum[k];
                if (x + dx >= 0 && x + dx + SIDE <= p.width)
                    best[k] = gpume_umin(best[k], (sum[k] << 16) + order);
            }
        }
    }

    // every lane's smallest key, then every warp's
    GPUME_UNROLL for (int k = 0; k < blocks; k++)
        best[k] = gpume_least<1, 32>(best[k]);
    __syncthreads();
    if (!(threadIdx.x & 31)) {
        GPUME_UNROLL for (int k = 0; k < blocks; k++)
            shared[(threadIdx.x >> 5) * blocks + k] = best[k];
    }
    __syncthreads();
    if (threadIdx.x >= blocks)
        return;

    const int bx = x0 / SIDE + threadIdx.x, by = y0 / SIDE;
    const GpumeBox b = gpume_box(&p, SIDE, bx, by);
    const GpumeU32 zero_cost = zero[threadIdx.x];
    GpumeU32 key = shared[threadIdx.x];

    for (int i = 1; i < blockDim.x >> 5; i++)
        key = gpume_umin(key, shared[i * blocks + threadIdx.x]);
    /* the zero vector comes before those of equal cost */
    if (zero_cost <= key >> 16)
        gpume_store(a, b, z, bx, by, 0, 0, zero_cost);
    else
        gpume_store(a, b, z, bx, by, (int)(key & 0xffff) % side - range,
                    (int)(key & 0xffff) / side - range, key >> 16);
}

/**
 * Blocks of 8 or 16 bytes, range up to GPUME_CUDA_FULL_MAX_RANGE. A block of
 * threads has a tile of GPUME_CUDA_FULL_TILE_WIDTH x SIDE samples.
 *
 * grid:   tiles side by side, bh, fields; or any number
 * block:  whole warps
 * shared: runs * NB_ROWS + SIDE - 1 rows of GPUME_CUDA_FULL_PITCH() words, or what
 *         gpume_search_any() needs, or threads / 32 keys for each block of the tile,
 *         whichever is most: that is shared_words; then a word for each block
 *         of the tile, and the tile
 */
template<class Cost, int SIDE, int NB_ROWS>
struct GpumeFullSearch {
    static __device__ __forceinline__ void search(const GpumeCudaArgs &a)
    {
        GPUME_SHARED(GpumeU32, shared);

        GpumePlaces places(a, GPUME_CUDA_FULL_TILE_WIDTH, SIDE);
        GpumePlace at;

        while (places.next(&at)) {
            const int x0 = at.x, y0 = at.y;
            const int whole = x0 + GPUME_CUDA_FULL_TILE_WIDTH <= a.params.width;
            const int h     = a.params.height - y0;

            if (whole && h >= SIDE) {
                gpume_search_tile<SIDE, SIDE, NB_ROWS>(a, shared, x0, y0, at.z);
            } else if (whole && h == SIDE / 2) {
                /* as in 1080 lines */
                gpume_search_tile<SIDE, SIDE / 2, NB_ROWS>(a, shared, x0, y0, at.z);
            } else if (h > 0) {
                /* the right and the bottom edge cut blocks and tiles */
                for (int x = x0; x < x0 + GPUME_CUDA_FULL_TILE_WIDTH && x < a.params.width; x += SIDE)
                    gpume_search_any<Cost>(a, shared, x / SIDE, y0 / SIDE, at.z);
            }
        }
    }
};

/**
 * Blocks of any size and depth.
 *
 * grid:   bw, bh, fields; or any number
 * block:  across * down threads, rounded up to warps, at most GPUME_CUDA_FULL_THREADS
 * shared: GPUME_CUDA_FULL_STRIP rows of block / per_word words, then
 *         down * GPUME_CUDA_FULL_DY + GPUME_CUDA_FULL_STRIP rows of pitch words;
 *         at least a key for each warp
 */
template<class Cost>
struct GpumeFullSearch<Cost, 0, 0> {
    static __device__ __forceinline__ void search(const GpumeCudaArgs &a)
    {
        GPUME_SHARED(GpumeU32, shared);

        GpumePlaces places(a, a.params.block, a.params.block);
        GpumePlace at;

        while (places.next(&at))
            if (at.x < a.params.width && at.y < a.params.height)
                gpume_search_any<Cost>(a, shared, at.x / a.params.block, at.y / a.params.block, at.z);
    }
};

GPUME_KERNEL(GPUME_CUDA_FULL_THREADS, 2)
{
    GpumeFullSearch<GpumeModuleCost, GPUME_CUDA_SIDE, GPUME_CUDA_VARIANT>::search(args);
}
