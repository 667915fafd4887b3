/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of any size and depth and, where there is a variant, of 8x8 and
 * 16x16 bytes. The variant is how many displacements on top of each other a thread has.
 */

#include "libavfilter/gpume/cuda/evaluators.cuh"
#include "libavfilter/gpume/cuda/full.cuh"

static_assert(GPUME_CUDA_COST == GPUME_COST_SAD || !GPUME_CUDA_SIDE, "of others keys of 16 bits do not do");

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
 * A tile of the picture, FULL_TILE_WIDTH samples wide, which holds blocks of SIDE x HEIGHT
 * bytes side by side and is searched by all threads. A thread has one horizontal and
 * NB_ROWS consecutive vertical displacements, whose sums, like the tile, stay in its
 * registers; the window lies in shared memory four times, shifted by a byte each,
 * so that every candidate's words can be read as they are.
 */
template<int SIDE, int HEIGHT, int NB_ROWS>
struct GpumeTile {
    static const int WORDS  = GPUME_CUDA_FULL_TILE_WIDTH / 4;
    static const int BLOCKS = GPUME_CUDA_FULL_TILE_WIDTH / SIDE;

    const GpumeCudaArgs &a;
    const GpumeParams &p;
    GpumeU32 *const shared;
    GpumeU32 *zero;             ///< costs of the zero vector
    GpumeU32 *tile;
    int x0, y0, z;
    int range, side;
    int copy, pitch;            ///< words from copy to copy, and from row to row
    int left;                   ///< displacement at which the window begins: at a word
    int across, columns, single;    ///< columns of candidates, four to a word, and those after these
    int max_dy;
    int inner;                  ///< the picture's left and right edge are out of reach
    GpumeU32 cur[HEIGHT][WORDS];
    GpumeU32 best[BLOCKS];

    __device__ __forceinline__ GpumeTile(const GpumeCudaArgs &args, GpumeU32 *words, const GpumePlace &at)
        : a(args), p(args.params), shared(words), x0(at.x), y0(at.y), z(at.z)
    {
        zero  = shared + a.full.shared_words;
        tile  = zero + BLOCKS;
        range = p.range;
        side  = 2 * range + 1;
        copy  = a.full.copy_words;
        pitch = GPUME_CUDA_FULL_PITCH(copy);
        inner = x0 - range >= 0 && x0 + GPUME_CUDA_FULL_TILE_WIDTH + range <= p.width;
        for (int i = threadIdx.x; i < HEIGHT * WORDS; i += blockDim.x) {
            const GpumeU8 *row = (const GpumeU8 *)a.cur.data + (y0 + i / WORDS) * a.cur.linesize;

            tile[i] = gpume_load<GpumeU8>(row + x0 + 4 * (i % WORDS), 4, row + p.width);
        }
        GPUME_UNROLL for (int i = 0; i < BLOCKS; i++)
            best[i] = ~0u;
    }

    /** Whether the block at x may be displaced by dx. */
    __device__ __forceinline__ int inside(int block, int dx) const
    {
        const int x = x0 + block * SIDE;

        return x + dx >= 0 && x + dx + SIDE <= p.width;
    }

    /** Take NB_ROWS candidates, from displacement (dx, dy) on down. */
    __device__ __forceinline__ void take(const GpumeU32 (&sum)[BLOCKS][NB_ROWS], int dx, int dy)
    {
        GpumeU32 order = (dy + range) * side + dx + range;

        if (!dx && dy <= 0 && dy + NB_ROWS > 0) {
            GPUME_UNROLL for (int k = 0; k < BLOCKS; k++) {
                GpumeU32 cost = 0;

                GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++)
                    cost = gpume_select(dy + j == 0, sum[k][j], cost);
                zero[k] = cost;
            }
        }
        /* columns are there by whole words */
        if (dx < -range || dx > range)
            return;
        if (inner && dy + NB_ROWS - 1 <= max_dy) {
            GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++) {
                GPUME_UNROLL for (int k = 0; k < BLOCKS; k++)
                    best[k] = gpume_umin(best[k], (sum[k][j] << 16) + order);
                order += side;
            }
        } else {
            GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++) {
                GPUME_UNROLL for (int k = 0; k < BLOCKS; k++)
                    if (dy + j <= max_dy && inside(k, dx))
                        best[k] = gpume_umin(best[k], (sum[k][j] << 16) + order);
                order += side;
            }
        }
    }

    /** Try the candidates of so many runs from displacement cy on, but for the single columns. */
    __device__ __forceinline__ void try_runs(int cy, int runs, GpumeU32 reciprocal)
    {
        for (int i = threadIdx.x; i < 4 * columns * runs; i += blockDim.x) {
            const int line  = GPUME_DIVIDE_LARGE(i, reciprocal);    // of a copy
            const int run   = line / 4;
            const int shift = line & 3;
            const int word  = i - line * columns;
            const GpumeU32 *win = shared + run * NB_ROWS * pitch + shift * copy + word;
            GpumeU32 sum[BLOCKS][NB_ROWS];

            GPUME_UNROLL for (int k = 0; k < BLOCKS; k++)
                GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++)
                    sum[k][j] = 0;
            GPUME_UNROLL for (int r = 0; r < HEIGHT + NB_ROWS - 1; r++) {
                GpumeU32 w[WORDS];

                GPUME_UNROLL for (int c = 0; c < WORDS; c++)
                    w[c] = win[r * pitch + c];
                GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++)
                    GPUME_UNROLL for (int c = 0; c < WORDS; c++)
                        if (r - j >= 0 && r - j < HEIGHT)
                            sum[4 * c / SIDE][j] = gpume_sad4(cur[r - j < 0 || r - j >= HEIGHT ? 0 : r - j][c],
                                                              w[c], sum[4 * c / SIDE][j]);
            }
            take(sum, left + 4 * word + shift - x0, cy + run * NB_ROWS);
        }
    }

    /**
     * Try those in columns that make no word of four, of so many rows. They are few: a candidate
     * a thread, not NB_ROWS, as most threads would wait for those.
     */
    __device__ __forceinline__ void try_single(int cy, int rows)
    {
        for (int i = threadIdx.x; i < single * rows; i += blockDim.x) {
            const int shift = i / rows;
            const int row   = i - shift * rows;
            const int dx    = left + 4 * columns + shift - x0;
            const int dy    = cy + row;
            const GpumeU32 order = (dy + range) * side + dx + range;
            const GpumeU32 *win  = shared + row * pitch + shift * copy + columns;
            GpumeU32 sum[BLOCKS];

            GPUME_UNROLL for (int k = 0; k < BLOCKS; k++)
                sum[k] = 0;
            GPUME_UNROLL for (int r = 0; r < HEIGHT; r++) {
                GpumeU32 w[WORDS];

                gpume_load_words<WORDS>(w, win + r * pitch, !(columns & 3));
                GPUME_UNROLL for (int c = 0; c < WORDS; c++)
                    sum[4 * c / SIDE] = gpume_sad4(cur[r][c], w[c], sum[4 * c / SIDE]);
            }
            if (dx < -range || dx > range)
                continue;
            GPUME_UNROLL for (int k = 0; k < BLOCKS; k++) {
                if (!dx && !dy)
                    zero[k] = sum[k];
                if (inside(k, dx))
                    best[k] = gpume_umin(best[k], (sum[k] << 16) + order);
            }
        }
    }

    /** Every lane's smallest key, then every warp's; and what they say. */
    __device__ __forceinline__ void store()
    {
        GPUME_UNROLL for (int k = 0; k < BLOCKS; k++)
            best[k] = gpume_least<1, 32>(best[k]);
        __syncthreads();
        if (!(threadIdx.x & 31)) {
            GPUME_UNROLL for (int k = 0; k < BLOCKS; k++)
                shared[(threadIdx.x >> 5) * BLOCKS + k] = best[k];
        }
        __syncthreads();
        if (threadIdx.x >= BLOCKS)
            return;

        const int bx = x0 / SIDE + threadIdx.x, by = y0 / SIDE;
        const GpumeBox b = gpume_box(&p, SIDE, bx, by);
        const GpumeU32 zero_cost = zero[threadIdx.x];
        GpumeU32 key = shared[threadIdx.x];

        for (int i = 1; i < blockDim.x >> 5; i++)
            key = gpume_umin(key, shared[i * BLOCKS + threadIdx.x]);
        /* the zero vector comes before those of equal cost */
        if (zero_cost <= key >> 16)
            gpume_store(a, b, z, bx, by, 0, 0, zero_cost);
        else
            gpume_store(a, b, z, bx, by, (int)(key & 0xffff) % side - range,
                        (int)(key & 0xffff) / side - range, key >> 16);
    }

    __device__ __forceinline__ void search()
    {
        const GpumeCudaPlane ref = gpume_field(a, z).plane;
        /* what is admissible for any of the blocks */
        const int min_dy = gpume_min_displacement(range, y0);
        const int min_dx = gpume_min_displacement(range, x0 + GPUME_CUDA_FULL_TILE_WIDTH - SIDE);
        const int max_dx = gpume_max_displacement(range, p.width, x0 + SIDE);

        max_dy  = gpume_max_displacement(range, p.height, y0 + HEIGHT);
        left    = (x0 + min_dx) & ~3;
        across  = x0 + max_dx - left + 1;
        columns = across / 4;
        single  = across & 3;

        const GpumeU32 reciprocal = GPUME_RECIPROCAL_LARGE(gpume_max(1, columns));

        for (int cy = min_dy; cy <= max_dy; cy += a.full.runs * NB_ROWS) {
            const int runs = gpume_min(a.full.runs, (max_dy - cy) / NB_ROWS + 1);

            __syncthreads();
            gpume_load_window(a, ref, shared, pitch, left, y0 + cy, (across + 3) / 4 + WORDS - 1,
                              runs * NB_ROWS + HEIGHT - 1);
            __syncthreads();
            /* again for every piece of the window: it takes many registers to be filled */
            GPUME_UNROLL for (int y = 0; y < HEIGHT; y++)
                GPUME_UNROLL for (int c = 0; c < WORDS; c++)
                    cur[y][c] = tile[y * WORDS + c];
            try_runs(cy, runs, reciprocal);
            try_single(cy, gpume_min(runs * NB_ROWS, max_dy - cy + 1));
        }
        store();
    }
};

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
                GpumeTile<SIDE, SIDE, NB_ROWS>(a, shared, at).search();
            } else if (whole && h == SIDE / 2) {
                /* as in 1080 lines */
                GpumeTile<SIDE, SIDE / 2, NB_ROWS>(a, shared, at).search();
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

/**
 * Blocks of any size, of a cost for which lanes share a candidate.
 *
 * grid:   bw, bh, fields
 * block:  GPUME_CUDA_FULL_THREADS
 * shared: a key for each warp
 */
template<typename Sample>
struct GpumeFullSearch<GpumeSatd<Sample>, 0, 0> {
    static __device__ __forceinline__ void search(const GpumeCudaArgs &a)
    {
        typedef GpumePlaneEvaluator<GpumeSatd<Sample>, GpumeSatd<Sample>::LANES, GpumeU64> Evaluator;
        const int lanes = Evaluator::LANES;
        const GpumeCudaPlane ref = gpume_field(a, blockIdx.z).plane;
        const GpumeBox b = gpume_box(&a.params, a.params.block, blockIdx.x, blockIdx.y);
        const Evaluator e(a, ref, gpume_group(a.params, a.params.block, lanes, blockIdx.x, blockIdx.y));
        const int nx = b.max_dx - b.min_dx + 1, nb = nx * (b.max_dy - b.min_dy + 1);
        GpumeU64 best = ~0ull;

        GPUME_SHARED(GpumeU32, shared);

        GPUME_NO_UNROLL for (int first = threadIdx.x / 32 * (32 / lanes); first < nb; first += blockDim.x / lanes) {
            /* the last one again where there are no more */
            const int k  = gpume_min(first + threadIdx.x % 32 / lanes, nb - 1);
            const int dx = b.min_dx + k % nx, dy = b.min_dy + k / nx;
            const GpumeU64 key = gpume_key(Evaluator::sum_of_parts(e.share(b.x0 + dx, b.y0 + dy)),
                                           gpume_order(a.params.range, dx, dy));

            best = key < best ? key : best;
        }
        gpume_store_least(a, shared, b, { (int)blockIdx.x, (int)blockIdx.y, (int)blockIdx.z }, best);
    }
};

GPUME_KERNEL(GPUME_CUDA_FULL_THREADS, 2)
{
    GpumeFullSearch<GpumeModuleCost, GPUME_CUDA_SIDE, GPUME_CUDA_VARIANT>::search(args);
}
