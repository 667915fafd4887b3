/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds the least sum of paths for each sample of both views. A thread block has a row, a warp one
 * sample after the other, and a lane WORDS words of four disparities, 32 words apart.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

#define WORDS (GPUME_CUDA_VARIANT & ~MVSTEREO_CUDA_AMPERE)
#define NONE  (~0u)
#define THREADS (WORDS == 1 ? MVSTEREO_CUDA_WINNER_THREADS : MVSTEREO_CUDA_THREADS)
/** A key combines a sum and its disparity: sum << 16 | disparity. */
#define SUM_OF(key)       ((key) >> 16)
#define DISPARITY_OF(key) ((int)((key) & 0xffff))
/** Distance of consecutive samples of a warp: the number of warps in a thread block, a multiple of 4. */
#define STEP  (THREADS / 32)

/** Returns the position of a sample's key. Lanes access every fourth sample, so these are adjacent. */
static __device__ __forceinline__ int place_of(int i, int quarter)
{
    return (i & 3) * quarter + (i >> 2);
}

/** Returns the sum of a disparity; any lane may have it. */
static __device__ __forceinline__ GpumeU32 sum_of(const GpumeU32 sums[WORDS][2], int k)
{
    GpumeU32 mine = 0;

    GPUME_UNROLL for (int j = 0; j < WORDS; j++)
        mine = k >> 7 == j ? gpume_select(k & 1, sums[j][1], sums[j][0]) : mine;
    return __shfl_sync(GPUME_WHOLE_WARP, k & 2 ? mine >> 16 : mine & 0xffff, k >> 2 & 31);
}

/**
 * Returns what was found for a sample.
 * @param keys keys of this lane
 */
static __device__ __forceinline__ MvstereoFound choose(const MvstereoCudaArgs &args, const GpumeU32 sums[WORDS][2],
                                                       const GpumeU32 keys[WORDS][4], GpumeU32 best_key, int lane)
{
    const int best   = DISPARITY_OF(best_key);
    const int before = (int)sum_of(sums, gpume_max(best - 1, 0));
    const int after  = (int)sum_of(sums, gpume_min(best + 1, args.range - 1));
    GpumeU32 second  = NONE;

    GPUME_UNROLL for (int j = 0; j < WORDS; j++)
        GPUME_UNROLL for (int i = 0; i < 4; i++)
            if ((GpumeU32)((32 * j + lane) * 4 + i - best + 1) > 2)
                second = gpume_umin(second, keys[j][i]);
    return MvstereoFound { best_key, mvstereo_sides(before, after, (int)SUM_OF(best_key),
                                                    best > 0 && best < args.range - 1),
                           SUM_OF(mvstereo_least_of_warp(second)) };
}

/** Adds the four paths of a sample: in one word the first and third disparity, in the other the second and fourth. */
static __device__ __forceinline__ void add(GpumeU32 sums[2], const GpumeU32 paths[4])
{
    sums[0] = sums[1] = 0;
    GPUME_UNROLL for (int p = 0; p < 4; p++) {
        sums[0] += paths[p] & 0x00ff00ff;
        sums[1] += mvstereo_bytes(paths[p], 0, 0x4341);
    }
}

/**
 * grid:   1, rows
 * block:  THREADS
 * shared: a word for each sample of a row, with margins as wide as the range on both sides
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, THREADS, WORDS == 1 ? 4 : 2)
{
    GPUME_SHARED(GpumeU32, right);
    const int lane = (int)(threadIdx.x % 32), warp = (int)(threadIdx.x / 32), words = args.range / 4;
    const int nb = args.w + args.range, quarter = (nb + 3) / 4;
    const long long row = (long long)blockIdx.y * args.w;
    MvstereoFound found = { 0 };
    GpumeU64 src[4];
    int places[4];

    for (int i = (int)threadIdx.x; i < 4 * quarter; i += THREADS)
        right[i] = NONE;
    /* sample z of the other view has index z + args.min + args.range - 1 */
    GPUME_UNROLL for (int i = 0; i < 4; i++) {
        places[i] = place_of(warp + args.range - 1 - 4 * lane - i, quarter);
        src[i]    = args.paths[i] + (row + warp) * args.range + 4 * lane;
    }
    __syncthreads();
    for (int x = warp, n = 0; x < args.w; x += STEP, n = (n + 1) % 32) {
        MvstereoFound of_sample;
        GpumeU32 sums[WORDS][2], keys[WORDS][4], best = NONE;

        GPUME_UNROLL for (int j = 0; j < WORDS; j++) {
            const int number   = 32 * j + lane;
            const int is_there = number < words;
            GpumeU32 paths[4];

            GPUME_UNROLL for (int p = 0; p < 4; p++)
                paths[p] = is_there ? *(const GpumeU32 *)(src[p] + 128 * j) : 0;
            add(sums[j], paths);
            GPUME_UNROLL for (int i = 0; i < 4; i++) {
                const GpumeU32 k = (GpumeU32)number * 4 + i;
                /* the first two disparities are in the lower halves */
                const GpumeU32 key = i & 2 ? (sums[j][i & 1] & 0xffff0000) | k : (sums[j][i & 1] << 16) + k;

                keys[j][i] = is_there ? key : NONE;
                best       = gpume_umin(best, keys[j][i]);
                if (is_there)
                    atomicMin(&right[places[i] - 32 * j], key);
            }
        }
        of_sample = choose(args, sums, keys, mvstereo_least_of_warp(best), lane);
        /* each lane keeps what was found for a sample, because all of them finish a sample as quickly as one does */
        if (lane == n)
            found = of_sample;
        if ((n == 31 || x + STEP >= args.w) && lane <= n)
            mvstereo_set_found(args, &found, row + x - (n - lane) * STEP);
        GPUME_UNROLL for (int i = 0; i < 4; i++) {
            places[i] += STEP / 4;
            src[i]    += STEP * args.range;
        }
    }
    __syncthreads();
    for (int z = (int)threadIdx.x; z < args.w; z += THREADS) {
        const int number   = z + args.min + args.range - 1;
        const GpumeU32 key = number >= 0 && number < nb ? right[place_of(number, quarter)] : NONE;

        ((short *)args.right)[row + z] = (short)(key == NONE ? -2 : DISPARITY_OF(key));
    }
}
