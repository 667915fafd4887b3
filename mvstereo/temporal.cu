/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Stabilises maps over time. A thread block has a part of the view, in which disparities change alike.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"
#include "libavfilter/gpume/field/field_args.h"

#define R       MVSTEREO_STILL_R
#define PART    MVSTEREO_PART
#define THREADS MVSTEREO_CUDA_STEADY_THREADS
/** Samples of a thread. */
#define NB      (PART * PART / THREADS)

/** Returns the vector of the block of a sample, as words of AVMotionVector. */
static __device__ __forceinline__ const int *vector_at(const MvstereoCudaArgs &args, int x, int y)
{
    return (const int *)args.vectors + (y / MVSTEREO_BLOCK * args.vectors_w + x / MVSTEREO_BLOCK) * GPUME_VECTOR_WORDS;
}

/** Returns the difference of a sample from where it was before. */
static __device__ __forceinline__ int difference_at(const MvstereoCudaArgs &args, int x, int y)
{
    const int *vector = vector_at(args, x, y);
    const int dx = vector[6], dy = vector[7];
    const int x0 = av_clip(x + (dx >> 2), 0, args.w - 1), x1 = av_clip(x + (dx >> 2) + 1, 0, args.w - 1);
    const int y0 = av_clip(y + (dy >> 2), 0, args.h - 1), y1 = av_clip(y + (dy >> 2) + 1, 0, args.h - 1);
    const GpumeU8 *a = (const GpumeU8 *)(args.search_before + y0 * args.before_linesize);
    const GpumeU8 *b = (const GpumeU8 *)(args.search_before + y1 * args.before_linesize);
    const int difference = mvstereo_byte(args.luma[0], args, x, y) -
                           mvstereo_between(a[x0], a[x1], b[x0], b[x1], dx & 3, dy & 3);

    return FFABS(difference);
}

/**
 * Returns the index of where a sample was before, or -1 if it was not seen.
 * @param i index of the sample in the part
 */
static __device__ __forceinline__ long long origin(const MvstereoCudaArgs &args, const MvstereoCudaPart *part, int i,
                                                   int x, int y)
{
    const int *vector = vector_at(args, x, y);
    const int from_x = (4 * x + vector[6] + 2) >> 2, from_y = (4 * y + vector[7] + 2) >> 2;
    int sum = 0;

    if (from_x < 0 || from_x >= args.w || from_y < 0 || from_y >= args.h)
        return -1;
    GPUME_UNROLL for (int j = 0; j <= 2 * R; j++)
        GPUME_UNROLL for (int k = 0; k <= 2 * R; k++)
            sum += part->differences[i / PART + j][i % PART + k];
    return sum <= MVSTEREO_STILL ? (long long)from_y * args.w + from_x : -1;
}

/**
 * grid:   parts of MVSTEREO_PART x MVSTEREO_PART samples
 * block:  MVSTEREO_CUDA_STEADY_THREADS
 * shared: MvstereoCudaPart
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, MVSTEREO_CUDA_STEADY_THREADS, 2)
{
    GPUME_SHARED(MvstereoCudaPart, part);
    const int left = (int)blockIdx.x * PART, top = (int)blockIdx.y * PART, first = args.paint.first;
    int values[NB], expected[NB];
    long long from[NB];

    for (int i = (int)threadIdx.x; i < 2 * MVSTEREO_CHANGES + 1; i += THREADS)
        part->changes[i] = 0;
    for (int i = (int)threadIdx.x; args.vectors && i < (PART + 2 * R) * (PART + 2 * R); i += THREADS) {
        const int row = i / (PART + 2 * R), col = i % (PART + 2 * R);

        part->differences[row][col] = (GpumeU8)difference_at(args, av_clip(left + col - R, 0, args.w - 1),
                                                             av_clip(top + row - R, 0, args.h - 1));
    }
    __syncthreads();
    GPUME_UNROLL for (int n = 0; n < NB; n++) {
        const int i = (int)threadIdx.x + n * THREADS, x = left + i % PART, y = top + i / PART;

        from[n] = -1;
        if (x >= args.w || y >= args.h)
            continue;
        values[n] = mvstereo_median(args.smoothed, args, x, y);
        if (args.vectors)
            from[n] = origin(args, part, i, x, y);
        if (from[n] < 0)
            continue;
        expected[n] = ((const short *)args.disparities[0])[from[n]] - first;
        atomicAdd(&part->changes[av_clip(values[n] - expected[n], -MVSTEREO_CHANGES, MVSTEREO_CHANGES) +
                                 MVSTEREO_CHANGES], 1u);
    }
    __syncthreads();
    if (!threadIdx.x)
        part->change = mvstereo_median_change(part->changes);
    __syncthreads();
    GPUME_UNROLL for (int n = 0; n < NB; n++) {
        const int i = (int)threadIdx.x + n * THREADS, x = left + i % PART, y = top + i / PART;
        const long long q = (long long)y * args.w + x;
        int age = 0;

        if (x >= args.w || y >= args.h)
            continue;
        if (from[n] >= 0) {
            age       = ((const GpumeU8 *)args.ages[0])[from[n]];
            values[n] = mvstereo_stabilise(values[n], av_clip(expected[n] + part->change, 0,
                                                              (args.range - 1) * MVSTEREO_ONE),
                                           mvstereo_steadiness(part->change),
                                           ((const GpumeU8 *)args.confidence)[q] >= MVSTEREO_SURE, &age);
        }
        ((short *)args.disparity)[q]      = (short)values[n];
        ((short *)args.disparities[1])[q] = (short)(values[n] + first);
        ((GpumeU8 *)args.ages[1])[q]      = (GpumeU8)age;
    }
}
