/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of 32 and 64 bytes, whose costs are sums of those of tiles; see sums.cu.
 */

#include "libavfilter/gpume/cuda/sums.cuh"

#define TILES   GPUME_CUDA_JOIN_TILES
#define HALF    (GPUME_CUDA_JOIN_TILES / 2)
#define RESULTS GPUME_CUDA_JOIN_RESULTS
#define TOGETHER GPUME_CUDA_SUMS_TOGETHER

static_assert(TOGETHER == 4, "a lane loads two words of two costs");

/** More than the cost of a block of half the side; four of it and a cost take 24 bits. */
#define INADMISSIBLE (1u << 20)

/**
 * Some columns of displacements of a square of the strip: of four blocks, and itself. A lane takes them from the top
 * down. Those of a row are told apart by codes of 8 bits, 0 being the zero vector.
 */
struct GpumeJoined {
    const GpumeCudaSumsArgs &s;
    const GpumeParams &p;
    const int bx, by;
    GpumeU32 code[TOGETHER];            ///< of each column
    GpumeU32 penalty[2][TOGETHER];      ///< and what makes it worse for blocks at the left, at the right
    int zero;                           ///< which of them has the zero vector; or none
    int from[RESULTS - 2];              ///< rows that are admissible: of blocks at the top, at the bottom, of all
    GpumeU32 span[RESULTS - 2];
    GpumeU32 best[RESULTS];             ///< cost << 8 | code
    int best_dy[RESULTS];

    __device__ __forceinline__ GpumeJoined(const GpumeCudaSumsArgs &args, int column)
        : s(args), p(args.search.params), bx(blockIdx.x), by(args.first_row / TILES + blockIdx.y)
    {
        const int range = p.range;
        const GpumeBox boxes[] = { box(0), box(3), box(4) };

        zero = -1;
        GPUME_UNROLL for (int j = 0; j < TOGETHER; j++) {
            const int d = gpume_column_at(range, column + j), dx = d - range;

            code[j] = d + 1;
            if (!dx)
                zero = j;
            GPUME_UNROLL for (int k = 0; k < 2; k++)
                penalty[k][j] = d > 2 * range || (boxes[k].w > 0 && (dx < boxes[k].min_dx || dx > boxes[k].max_dx)) ?
                                INADMISSIBLE : 0;
        }
        GPUME_UNROLL for (int k = 0; k < RESULTS - 2; k++) {
            from[k] = boxes[k].min_dy;
            span[k] = boxes[k].max_dy - boxes[k].min_dy;
        }
        GPUME_UNROLL for (int k = 0; k < RESULTS; k++) {
            best[k]    = ~0u;
            best_dy[k] = 0;
        }
    }

    __device__ __forceinline__ GpumeBox box(int k) const
    {
        return k < 4 ? gpume_box(&p, GPUME_CUDA_JOIN_SIDE / 2, 2 * bx + (k & 1), 2 * by + (k >> 1)) :
                       gpume_box(&p, GPUME_CUDA_JOIN_SIDE, bx, by);
    }

    /** Take the best of a row of candidates of block k. */
    __device__ __forceinline__ void take_block(int k, const GpumeU32 (&cost)[TOGETHER], int dy)
    {
        const int rows = k < 4 ? k >> 1 : 2;
        GpumeU32 key   = ~0u;

        GPUME_UNROLL for (int j = 0; j < TOGETHER; j++) {
            const GpumeU32 its = !dy && zero == j ? 0 : code[j];

            key = gpume_umin(key, (cost[j] << 8) + its);
        }
        /* of equal costs the one above is the best, but for the zero vector */
        if ((GpumeU32)(dy - from[rows]) <= span[rows] && key <= (best[k] & ~255u)) {
            best[k]    = key;
            best_dy[k] = dy;
        }
    }

    /**
     * Take a row of candidates.
     * @param at where those of the square's first tile are; tile, row: from tile to tile, bytes
     */
    __device__ __forceinline__ void take(const GpumeU8 *at, GpumeU32 tile, GpumeU32 row, int dy)
    {
        GpumeU32 whole[TOGETHER] = { 0 };

        GPUME_UNROLL for (int k = 0; k < 4; k++) {
            const GpumeU8 *tiles = at + (k & 1) * HALF * tile + (GpumeU64)((k >> 1) * HALF) * row;
            GpumeU32 cost[TOGETHER], sum[TOGETHER / 2];

            GPUME_UNROLL for (int j = 0; j < TOGETHER; j++)
                cost[j] = penalty[k & 1][j];
            sum[0] = cost[0];
            sum[1] = cost[2];
            GPUME_UNROLL for (int i = 0; i < HALF * HALF; i++) {
                int2 v;

                gpume_load_global(&v, tiles + (i / HALF) * row + i % HALF * tile);
                sum[0]  += v.x;
                cost[1] += (GpumeU32)v.x >> 16;
                sum[1]  += v.y;
                cost[3] += (GpumeU32)v.y >> 16;
            }
            /* what is left are the lower halves: their sums take less than a word, whatever was lost above */
            cost[0] = sum[0] - (cost[1] << 16);
            cost[2] = sum[1] - (cost[3] << 16);
            GPUME_UNROLL for (int j = 0; j < TOGETHER; j++)
                whole[j] += cost[j];
            take_block(k, cost, dy);
        }
        take_block(4, whole, dy);
    }

    /** The best candidate of block k as a key. */
    __device__ __forceinline__ GpumeU64 key(int k) const
    {
        const int d = (int)(best[k] & 255) - 1;

        return best[k] == ~0u ? ~0ull :
               gpume_key(best[k] >> 8, d < 0 ? 0 : gpume_order(p.range, d - p.range, best_dy[k]));
    }
};

/**
 * grid:   squares of GPUME_CUDA_JOIN_SIDE in a row, rows of them in a strip
 * block:  whole warps, at least as many threads as a row of costs has words of two
 * shared: GPUME_CUDA_JOIN_SHARED words
 */
GPUME_KERNEL_OF(GpumeCudaSumsArgs, GPUME_CUDA_JOIN_THREADS, GPUME_CUDA_JOIN_BLOCKS)
{
    GPUME_SHARED(GpumeU32, shared);
    const int range   = args.search.params.range;
    const int across  = args.pitch / TOGETHER, down = (int)blockDim.x / across;
    const int line    = threadIdx.x / across, column = (threadIdx.x - line * across) * TOGETHER;
    const GpumeU32 tile = 2 * gpume_nb_sums(args), row = tile * args.across, step = 2 * args.pitch;
    GpumeJoined joined(args, column);
    GpumeU64 keys[RESULTS];

    if (line < down) {
        const GpumeU8 *at = (const GpumeU8 *)args.sums + (GpumeU64)(blockIdx.y * TILES) * row +
                            blockIdx.x * TILES * tile + line * step + 2 * column;

        GPUME_NO_UNROLL for (int y = line; y <= 2 * range; y += down, at += down * step)
            joined.take(at, tile, row, y - range);
    }
    GPUME_UNROLL for (int k = 0; k < RESULTS; k++)
        keys[k] = joined.key(k);

    const GpumeU64 key  = gpume_least_of_all<RESULTS>(shared, keys);
    const GpumeVector v = gpume_vector_of_order(range, (int)(GpumeU32)key);

    if (threadIdx.x < RESULTS) {
        const int k = threadIdx.x, size = k < 4 ? 1 : 2;
        const GpumeBox b = joined.box(k);

        if (b.w > 0 && b.h > 0 && (size == 1 ? args.sizes[1].costs : args.sizes[2].costs)) {
            if (size == 1)
                gpume_store_size(args, 1, b, v.dx, v.dy, (GpumeU32)(key >> 32));
            else
                gpume_store_size(args, 2, b, v.dx, v.dy, (GpumeU32)(key >> 32));
        }
    }
}
