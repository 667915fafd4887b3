/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds the least sum of paths for each sample of both views. A thread block has a row, and a sample has LANES lanes of
 * a warp. With bases, the disparities of a sample begin at its base.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

/** The variant is the binary logarithm of the number of lanes of a sample. */
#define LANES (1 << (GPUME_CUDA_VARIANT & ~MVSTEREO_CUDA_AMPERE))
/** Disparities of a lane, and words of two. */
#define NB    MVSTEREO_WINDOW
#define PAIRS (NB / 2)
#define NONE  (~0u)
/** Greater than any sum, at most 4 * (140 + 48 + 6 + 20), times NB, plus a disparity within the lane. */
#define FAR   0x7bffu
/** Distance of samples that a lane takes one after the other. */
#define STEP  (MVSTEREO_CUDA_WINNER_THREADS / LANES)

/** Sums of two disparities are in a word, in this order: 0 and 2, 1 and 3, 4 and 6, ... Returns the first of a word. */
static __device__ __forceinline__ int first_of(int pair)
{
    return pair / 2 * 4 + pair % 2;
}

/** Returns the half of a word in which a disparity is. */
static __device__ __forceinline__ int half_of(int k)
{
    return (k & ~3) + (k << 1 & 2) + (k >> 1 & 1);
}

/** Adds the paths of a sample. */
static __device__ __forceinline__ void add(GpumeU32 sums[PAIRS], const MvstereoCudaArgs &args, long long at)
{
    GPUME_UNROLL for (int i = 0; i < PAIRS; i++)
        sums[i] = 0;
    GPUME_UNROLL for (int p = 0; p < 4; p++)
        GPUME_UNROLL for (int j = 0; j < NB; j += 16) {
            int4 four;

            gpume_load_global(&four, (const void *)(args.paths[p] + at + j));
            GPUME_UNROLL for (int i = 0; i < 4; i++) {
                const GpumeU32 costs = (GpumeU32)(i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w);

                sums[j / 2 + 2 * i]     += costs & 0x00ff00ff;
                sums[j / 2 + 2 * i + 1] += mvstereo_bytes(costs, 0, 0x4341);
            }
        }
}

/** Returns the least half of some words. */
static __device__ __forceinline__ GpumeU32 least_of(const GpumeU32 words[PAIRS])
{
    GpumeU32 least = words[0];

    GPUME_UNROLL for (int i = 1; i < PAIRS; i++)
        least = mvstereo_min2(least, words[i]);
    return gpume_umin(least & 0xffff, least >> 16);
}

static __device__ __forceinline__ GpumeU32 exchange(GpumeU32 v, int lane)
{
    return LANES > 1 ? __shfl_sync(GPUME_WHOLE_WARP, v, lane) : v;
}

static __device__ __forceinline__ GpumeU32 least_of_sample(GpumeU32 v)
{
    GPUME_UNROLL for (int i = 1; i < LANES; i *= 2)
        v = gpume_umin(v, __shfl_xor_sync(GPUME_WHOLE_WARP, v, i));
    return v;
}

/**
 * Returns what was found for a sample.
 * @param number the lane's number within the sample
 * @param nb     number of disparities
 */
static __device__ __forceinline__ MvstereoFound find(const GpumeU32 sums[PAIRS], int number, int nb, int base)
{
    const int group = (int)(threadIdx.x % 32) - number, first = NB * number;
    /* sum * NB + disparity within the lane; in memory, because they are accessed by disparity */
    union {
        GpumeU32 pairs[PAIRS];
        GpumeU16 halves[NB];
    } keys;
    GpumeU32 best, second, before, after;
    int k;

    GPUME_UNROLL for (int i = 0; i < PAIRS; i++)
        keys.pairs[i] = sums[i] * NB + (GpumeU32)(first_of(i) * 0x10001 + 0x20000);
    best   = least_of(keys.pairs);
    best   = least_of_sample(first < nb ? best / NB << 16 | (best % NB + (GpumeU32)first) : NONE);
    k      = (int)(best & 0xffff);
    before = exchange(keys.halves[half_of((k - 1) & (NB - 1))], group + (gpume_max(k - 1, 0) / NB));
    after  = exchange(keys.halves[half_of((k + 1) & (NB - 1))], group + (gpume_min(k + 1, nb - 1) / NB));
    GPUME_UNROLL for (int i = -1; i <= 1; i++)
        if ((GpumeU32)(k + i - first) < NB)
            keys.halves[half_of(k + i - first)] = FAR;
    second = least_of_sample(first < nb ? least_of(keys.pairs) / NB : NONE);
    return MvstereoFound { best + (GpumeU32)base, mvstereo_sides((int)(before / NB), (int)(after / NB),
                                                                 (int)(best >> 16), k > 0 && k < nb - 1), second };
}

/**
 * grid:   1, rows
 * block:  MVSTEREO_CUDA_WINNER_THREADS
 * shared: a word for each sample of a row, and for as many before and behind as there are disparities
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, MVSTEREO_CUDA_WINNER_THREADS, 9)
{
    /* of a sample of the other view: sum << 16 | column of the sample of this view; z has z + min + range - 1 */
    GPUME_SHARED(GpumeU32, right);
    const int number = (int)(threadIdx.x % LANES), nb = args.w + args.range;
    const int range  = args.base ? MVSTEREO_WINDOW : args.range, is_there = NB * number < range;
    const long long row = (long long)blockIdx.y * args.w;
    MvstereoFound found = { 0 };

    for (int i = (int)threadIdx.x; i < nb; i += MVSTEREO_CUDA_WINNER_THREADS)
        right[i] = NONE;
    __syncthreads();
    for (int first = (int)(threadIdx.x / 32 * 32 / LANES), n = 0; first < args.w; first += STEP, n = (n + 1) % LANES) {
        const int mine = first + (int)(threadIdx.x % 32 / LANES), x = gpume_min(mine, args.w - 1);
        const int base = args.base ? ((const short *)args.base)[row + x] : 0;
        GpumeU32 sums[PAIRS], *to = right + (x - base - NB * number + args.range - 1);
        MvstereoFound of_sample;

        add(sums, args, (row + x) * range + (is_there ? NB * number : 0));
        if (is_there) {
            GPUME_UNROLL for (int i = 0; i < PAIRS; i++) {
                atomicMin(to - first_of(i), sums[i] << 16 | (GpumeU32)x);
                atomicMin(to - first_of(i) - 2, (sums[i] & 0xffff0000) | (GpumeU32)x);
            }
        }
        of_sample = find(sums, number, range, base);
        /* each lane keeps what was found for a sample, because all of them finish a sample as quickly as one does */
        if (number == n)
            found = of_sample;
        if ((n == LANES - 1 || first + STEP >= args.w) && number <= n && mine - (n - number) * STEP < args.w)
            mvstereo_set_found(args, &found, row + mine - (n - number) * STEP);
    }
    __syncthreads();
    for (int z = (int)threadIdx.x; z < args.w; z += MVSTEREO_CUDA_WINNER_THREADS) {
        const int i = z + args.min + args.range - 1;
        const GpumeU32 key = i >= 0 && i < nb ? right[i] : NONE;

        ((short *)args.right)[row + z] = (short)(key == NONE ? -2 : (int)(key & 0xffff) - z - args.min);
    }
}
