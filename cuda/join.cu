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
#define RESULTS GPUME_CUDA_JOIN_RESULTS

/** Take a candidate: the costs of all blocks. */
static __device__ __forceinline__ void
gpume_join_take(GpumeU64 (&best)[RESULTS], const GpumeBox (&box)[RESULTS], const GpumeU32 (&cost)[RESULTS],
                int range, int dx, int dy)
{
    const GpumeU32 order = gpume_order(range, dx, dy);

    GPUME_UNROLL for (int k = 0; k < RESULTS; k++) {
        const GpumeU64 key = gpume_key(cost[k], order);

        if (gpume_admissible(&box[k], dx, dy) && key < best[k])
            best[k] = key;
    }
}

/** A square of the strip: four blocks, and itself. */
struct GpumeJoined {
    const GpumeCudaSumsArgs &s;
    const GpumeParams &p;
    const int bx, by;
    GpumeBox box[RESULTS];
    GpumeU64 best[RESULTS];
    const GpumeU32 *tile[TILES * TILES];    ///< two costs a word; NULL: there is no such tile

    __device__ __forceinline__ GpumeJoined(const GpumeCudaSumsArgs &args)
        : s(args), p(args.search.params), bx(blockIdx.x), by(args.first_row / TILES + blockIdx.y)
    {
        GPUME_UNROLL for (int k = 0; k < RESULTS; k++) {
            box[k]  = k < 4 ? gpume_box(&p, GPUME_CUDA_JOIN_SIDE / 2, 2 * bx + (k & 1), 2 * by + (k >> 1)) :
                              gpume_box(&p, GPUME_CUDA_JOIN_SIDE, bx, by);
            best[k] = ~0ull;
        }
        GPUME_UNROLL for (int i = 0; i < TILES * TILES; i++) {
            const int column = bx * TILES + i % TILES, row = by * TILES + i / TILES;

            tile[i] = column < s.across && row < s.first_row + s.nb_rows ?
                      (const GpumeU32 *)gpume_sums_of(s, column, row) : (const GpumeU32 *)0;
        }
    }

    /** Take the two candidates of a word of each tile, displacement (dx, dy) and that four to its right. */
    __device__ __forceinline__ void take(int word, int dx, int dy)
    {
        GpumeU32 lo[RESULTS], hi[RESULTS], v[TILES * TILES];

        GPUME_UNROLL for (int i = 0; i < TILES * TILES; i++) {
            v[i] = 0;
            if (tile[i])
                v[i] = tile[i][word];
        }
        GPUME_UNROLL for (int k = 0; k < RESULTS; k++)
            lo[k] = hi[k] = 0;
        GPUME_UNROLL for (int i = 0; i < TILES * TILES; i++) {
            const int k = i / TILES / 2 * 2 + i % TILES / 2;

            lo[k] += v[i] & 0xffff;
            hi[k] += v[i] >> 16;
        }
        GPUME_UNROLL for (int k = 0; k < RESULTS - 1; k++) {
            lo[RESULTS - 1] += lo[k];
            hi[RESULTS - 1] += hi[k];
        }
        gpume_join_take(best, box, lo, p.range, dx,     dy);
        gpume_join_take(best, box, hi, p.range, dx + 4, dy);
    }
};

/**
 * grid:   squares of GPUME_CUDA_JOIN_SIDE in a row, rows of them in a strip
 * block:  GPUME_CUDA_JOIN_THREADS
 * shared: GPUME_CUDA_JOIN_SHARED words
 */
GPUME_KERNEL_OF(GpumeCudaSumsArgs, GPUME_CUDA_JOIN_THREADS)
{
    GPUME_SHARED(GpumeU32, shared);
    GpumeJoined joined(args);
    const int range = args.search.params.range;
    const int pairs = args.words / 2, line = 4 * pairs;     // words of every fourth dx, and of a dy
    const GpumeU32 of_line = GPUME_RECIPROCAL_LARGE(line), of_pairs = GPUME_RECIPROCAL_LARGE(pairs);

    for (int i = threadIdx.x; i < gpume_nb_sums(args) / 2; i += GPUME_CUDA_JOIN_THREADS) {
        const int row = GPUME_DIVIDE_LARGE(i, of_line), rest = i - row * line;
        const int shift = GPUME_DIVIDE_LARGE(rest, of_pairs);

        joined.take(i, 8 * (rest - shift * pairs) + shift - args.lead, row - range);
    }

    const GpumeU64 key  = gpume_least_of_all<RESULTS>(shared, joined.best);
    const GpumeVector v = gpume_vector_of_order(range, (int)(GpumeU32)key);

    GPUME_UNROLL for (int k = 0; k < RESULTS; k++) {
        const int size = k < 4 ? 1 : 2;
        const GpumeBox &b = joined.box[k];

        if (threadIdx.x == k && b.w > 0 && b.h > 0 && args.sizes[size].costs)
            gpume_store_size(args, size, b, v.dx, v.dy, (GpumeU32)(key >> 32));
    }
}
