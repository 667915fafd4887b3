/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds the least sum of paths for each sample of both views. A block of threads has a row, a warp one sample after
 * the other, and each lane GPUME_CUDA_VARIANT words of four disparities, 32 words apart.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

#define WORDS GPUME_CUDA_VARIANT
#define NONE  (~0u)
/** A sum and its disparity are one number: sum << LOG2_RANGE | disparity. */
#define LOG2_RANGE 10

/** Returns where the key of sample z is. Lanes have every fourth sample, which are side by side then. */
static __device__ __forceinline__ int place_of(int z, int w)
{
    return (z & 3) * ((w + 3) / 4) + (z >> 2);
}

static __device__ __forceinline__ GpumeU32 least_of_warp(GpumeU32 v)
{
    GPUME_UNROLL for (int i = 1; i < 32; i *= 2)
        v = gpume_umin(v, __shfl_xor_sync(GPUME_WHOLE_WARP, v, i));
    return v;
}

/** Returns the sum of a disparity, which every lane may have. */
static __device__ __forceinline__ int sum_of(const GpumeU32 sums[WORDS][4], int k)
{
    GpumeU32 mine = 0;

    GPUME_UNROLL for (int j = 0; j < WORDS; j++)
        GPUME_UNROLL for (int i = 0; i < 4; i++)
            mine = k >> 7 == j && (k & 3) == i ? sums[j][i] : mine;
    return (int)__shfl_sync(GPUME_WHOLE_WARP, mine, k >> 2 & 31);
}

/** Sets the disparity and the confidence of a sample. */
static __device__ __forceinline__ void choose(const MvstereoCudaArgs &args, const GpumeU32 sums[WORDS][4], long long q,
                                              GpumeU32 best_key, int lane)
{
    const int best = (int)(best_key & ((1 << LOG2_RANGE) - 1)), least = (int)(best_key >> LOG2_RANGE);
    const int before = sum_of(sums, gpume_max(best - 1, 0)), after = sum_of(sums, gpume_min(best + 1, args.range - 1));
    GpumeU32 second  = NONE;

    GPUME_UNROLL for (int j = 0; j < WORDS; j++)
        GPUME_UNROLL for (int i = 0; i < 4; i++) {
            const int distance = (32 * j + lane) * 4 + i - best;

            if (FFABS(distance) > 1)
                second = gpume_umin(second, sums[j][i]);
        }
    second = least_of_warp(second);
    if (lane)
        return;
    ((short *)args.matched)[q] = (short)(best > 0 && best < args.range - 1
                                         ? mvstereo_subpel(best, before, least, after) : best * MVSTEREO_ONE);
    ((GpumeU8 *)args.confidence)[q] = (GpumeU8)gpume_umin(second - (GpumeU32)least, 255u);
}

/**
 * grid:   1, rows
 * block:  MVSTEREO_CUDA_THREADS
 * shared: a word for each sample of a row, their number a multiple of 4
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, MVSTEREO_CUDA_THREADS, 2)
{
    GPUME_SHARED(GpumeU32, right);
    const int lane = (int)(threadIdx.x % 32), words = args.range / 4;
    const long long row = (long long)blockIdx.y * args.w;

    for (int z = (int)threadIdx.x; z < args.w; z += MVSTEREO_CUDA_THREADS)
        right[place_of(z, args.w)] = NONE;
    __syncthreads();
    for (int x = (int)(threadIdx.x / 32); x < args.w; x += MVSTEREO_CUDA_THREADS / 32) {
        GpumeU32 sums[WORDS][4], best = NONE;

        GPUME_UNROLL for (int j = 0; j < WORDS; j++) {
            const int number   = 32 * j + lane;
            const int is_there = number < words;
            const long long at = (row + x) * words + number;
            GpumeU32 v[4];

            GPUME_UNROLL for (int p = 0; p < 4; p++)
                v[p] = is_there ? ((const GpumeU32 *)args.paths[p])[at] : 0;
            GPUME_UNROLL for (int i = 0; i < 4; i++) {
                const int k = number * 4 + i, z = x - args.min - k;

                sums[j][i] = (v[0] >> 8 * i & 0xff) + (v[1] >> 8 * i & 0xff) + (v[2] >> 8 * i & 0xff) +
                             (v[3] >> 8 * i & 0xff);
                if (!is_there) {
                    sums[j][i] = 1 << 20;
                } else {
                    const GpumeU32 key = sums[j][i] << LOG2_RANGE | (GpumeU32)k;

                    best = gpume_umin(best, key);
                    if (z >= 0 && z < args.w)
                        atomicMin(&right[place_of(z, args.w)], key);
                }
            }
        }
        choose(args, sums, row + x, least_of_warp(best), lane);
    }
    __syncthreads();
    for (int z = (int)threadIdx.x; z < args.w; z += MVSTEREO_CUDA_THREADS) {
        const GpumeU32 key = right[place_of(z, args.w)];

        ((short *)args.right)[row + z] = (short)(key == NONE ? -2 : (int)(key & ((1 << LOG2_RANGE) - 1)));
    }
}
