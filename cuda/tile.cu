/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of 16x16 bytes that evaluates every candidate. A thread has candidates in one column, with few
 * idle lanes: 1.23 to 1.31 times as fast as a scan.
 */

#include "libavfilter/gpume/cuda/any.cuh"

#define SIDE    GPUME_CUDA_SIDE
#define NB_ROWS GPUME_CUDA_BOUNDED_ROWS

/**
 * Adds up the differences of blocks of SIDE bytes side by side and NB_ROWS displacements of them on top of each other.
 * @param win the window's words of the first row at the first displacement; pitch: from row to row
 */
template<int BLOCKS, int HEIGHT, int WORDS>
static __device__ __forceinline__ void
gpume_add_differences(GpumeU32 (&sum)[BLOCKS][NB_ROWS], const GpumeU32 (&cur)[HEIGHT][WORDS], const GpumeU32 *win,
                      int pitch)
{
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
}

/** Loads NB words, a multiple of four, of shared memory. @param whole nonzero: they begin at 16 bytes */
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
 * A tile of the picture, FULL_TILE_WIDTH samples wide and HEIGHT high, which holds blocks of
 * SIDE bytes, the last of which may be lower, and is searched by all threads. A thread has one
 * horizontal and NB_ROWS consecutive vertical displacements, whose sums, like a row of blocks
 * of the tile, stay in its registers; the window lies in shared memory four times, shifted
 * by a byte each, so that every candidate's words can be read as they are.
 */
template<int HEIGHT>
struct GpumeTile {
    static const int WORDS  = GPUME_CUDA_TILE_WIDTH / 4;
    static const int BLOCKS = GPUME_CUDA_TILE_WIDTH / SIDE;    ///< side by side

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

    __device__ __forceinline__
    GpumeTile(const GpumeCudaArgs &args, GpumeU32 *words, const GpumePlace &at)
        : a(args), p(args.params), shared(words), x0(at.x), y0(at.y), z(at.z)
    {
        zero  = shared + a.full.shared_words;
        tile  = zero + BLOCKS;
        range = p.range;
        side  = 2 * range + 1;
        copy  = a.full.copy_words;
        pitch = GPUME_CUDA_BOUNDED_PITCH(copy);
        inner = x0 - range >= 0 && x0 + GPUME_CUDA_TILE_WIDTH + range <= p.width;
        for (int i = threadIdx.x; i < HEIGHT * WORDS; i += blockDim.x) {
            const GpumeU8 *row = (const GpumeU8 *)a.cur.data + (y0 + i / WORDS) * a.cur.linesize;

            tile[i] = gpume_load<GpumeU8>(row + x0 + 4 * (i % WORDS), 4, row + p.width);
        }
        GPUME_UNROLL for (int i = 0; i < BLOCKS; i++)
            best[i] = ~0u;
    }

    /** Returns whether a block may be displaced by dx. */
    __device__ __forceinline__ int inside(int block, int dx) const
    {
        const int x = x0 + block * SIDE;

        return x + dx >= 0 && x + dx + SIDE <= p.width;
    }

    /** Returns, of sums from displacement dy on down, that of displacement 0, which is among them. */
    static __device__ __forceinline__ GpumeU32 of_row_zero(const GpumeU32 (&sum)[NB_ROWS], int dy)
    {
        GpumeU32 found = 0;

        GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++)
            found = gpume_select(dy + j == 0, sum[j], found);
        return found;
    }

    /** Takes NB_ROWS candidates of the blocks, from displacement (dx, dy) on down. */
    __device__ __forceinline__ void take(const GpumeU32 (&sum)[BLOCKS][NB_ROWS], int dx, int dy)
    {
        GpumeU32 order = (dy + range) * side + dx + range;

        if (!dx && dy <= 0 && dy + NB_ROWS > 0) {
            GPUME_UNROLL for (int k = 0; k < BLOCKS; k++)
                zero[k] = of_row_zero(sum[k], dy);
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

    /** Loads the blocks. */
    __device__ __forceinline__ void load()
    {
        GPUME_UNROLL for (int y = 0; y < HEIGHT; y++)
            GPUME_UNROLL for (int c = 0; c < WORDS; c++)
                cur[y][c] = tile[y * WORDS + c];
    }

    /** Tries the candidates of so many runs from displacement cy on, but for the single columns. */
    __device__ __forceinline__ void try_runs(int cy, int runs, GpumeU32 reciprocal)
    {
        for (int i = threadIdx.x; i < 4 * columns * runs; i += blockDim.x) {
            const int line  = GPUME_DIVIDE_LARGE(i, reciprocal);    // of a copy
            const int run   = line / 4;
            const int shift = line & 3;
            const int word  = i - line * columns;
            const int dx    = left + 4 * word + shift - x0, dy = cy + run * NB_ROWS;
            const GpumeU32 *win = shared + run * NB_ROWS * pitch + shift * copy + word;
            GpumeU32 sum[BLOCKS][NB_ROWS];

            GPUME_UNROLL for (int k = 0; k < BLOCKS; k++)
                GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++)
                    sum[k][j] = 0;
            gpume_add_differences(sum, cur, win, pitch);
            take(sum, dx, dy);
        }
    }

    /**
     * Tries candidates in columns that make no word of four, of so many rows. They are few: a thread has one at a
     * time, not NB_ROWS, because most threads would wait.
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

    /** Stores the results: the least of all lanes' keys, then of all warps'. */
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
        int dx = 0, dy = 0;

        for (int i = 1; i < blockDim.x >> 5; i++)
            key = gpume_umin(key, shared[i * BLOCKS + threadIdx.x]);
        /* the zero vector comes before those of equal cost */
        if (zero_cost <= key >> 16) {
            key = zero_cost << 16;
        } else {
            dx = (int)(key & 0xffff) % side - range;
            dy = (int)(key & 0xffff) / side - range;
        }
        gpume_store(a, b, z, bx, by, dx, dy, key >> 16);
    }

    __device__ __forceinline__ void search()
    {
        const GpumeCudaPlane ref = gpume_field(a, z).plane;
        /* what is admissible for any of the blocks */
        const int min_dy = gpume_min_displacement(range, y0);
        const int min_dx = gpume_min_displacement(range, x0 + GPUME_CUDA_TILE_WIDTH - SIDE);
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
            gpume_load_window<GpumeU8>(p, ref, { shared, copy, pitch, left, y0 + cy, (across + 3) / 4 + WORDS - 1,
                                                 runs * NB_ROWS + HEIGHT - 1 });
            __syncthreads();
            /* again for every piece of the window: it takes many registers to be filled */
            load();
            try_runs(cy, runs, reciprocal);
            try_single(cy, gpume_min(runs * NB_ROWS, max_dy - cy + 1));
        }
        store();
    }
};

/**
 * Range up to GPUME_CUDA_FULL_MAX_RANGE. A thread block has a tile of GPUME_CUDA_TILE_WIDTH x SIDE samples.
 *
 * grid:   tiles side by side, bh, fields; or any number
 * block:  whole warps
 * shared: runs * NB_ROWS + SIDE - 1 rows of GPUME_CUDA_BOUNDED_PITCH() words, or what gpume_search_any() needs,
 *         whichever is more: that is shared_words; then a word for each block of the tile, and the tile
 */
GPUME_KERNEL(GPUME_CUDA_FULL_THREADS, 2)
{
    GPUME_SHARED(GpumeU32, shared);

    GpumePlaces places(args, GPUME_CUDA_TILE_WIDTH, SIDE);
    GpumePlace at;

    while (places.next(&at)) {
        const int whole = at.x + GPUME_CUDA_TILE_WIDTH <= args.params.width;
        const int h     = args.params.height - at.y;

        if (whole && h >= SIDE) {
            GpumeTile<SIDE>(args, shared, at).search();
        } else if (whole && h == SIDE / 2) {
            /* as in 1080 lines */
            GpumeTile<SIDE / 2>(args, shared, at).search();
        } else if (h > 0) {
            /* the right and the bottom edge cut blocks and tiles */
            for (int x = at.x; x < at.x + GPUME_CUDA_TILE_WIDTH && x < args.params.width; x += SIDE)
                gpume_search_any<GpumeModuleCost>(args, shared, x / SIDE, at.y / SIDE, at.z);
        }
    }
}
