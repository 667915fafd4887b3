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

/** Sets the differences of the part's samples, and of those around them. */
static __device__ __forceinline__ void find_differences(MvstereoCudaPart *part, const MvstereoCudaArgs &args, int left,
                                                        int top)
{
    enum { SIDE = PART + 2 * R, PARTS = (SIDE * SIDE + THREADS - 1) / THREADS };
    int differences[PARTS];

    /* all at once, as loads do not pass stores */
    GPUME_UNROLL for (int n = 0; n < PARTS; n++) {
        const int i = (int)threadIdx.x + n * THREADS;

        differences[n] = difference_at(args, av_clip(left + i % SIDE - R, 0, args.w - 1),
                                       av_clip(top + i / SIDE - R, 0, args.h - 1));
    }
    GPUME_UNROLL for (int n = 0; n < PARTS; n++) {
        const int i = (int)threadIdx.x + n * THREADS;

        if (i < SIDE * SIDE)
            part->differences[i / SIDE][i % SIDE] = (GpumeU8)differences[n];
    }
}

/** Returns the index of where a sample was before, or -1 if it was not in the view. */
static __device__ __forceinline__ int origin(const MvstereoCudaArgs &args, int x, int y)
{
    const int *vector = vector_at(args, gpume_min(x, args.w - 1), gpume_min(y, args.h - 1));
    const int from_x = (4 * x + vector[6] + 2) >> 2, from_y = (4 * y + vector[7] + 2) >> 2;

    return from_x < 0 || from_x >= args.w || from_y < 0 || from_y >= args.h ? -1 : from_y * args.w + from_x;
}

/**
 * Finds where the samples of a thread were before, or -1 for those that were not seen.
 * @param col, row the first sample in the part
 */
static __device__ __forceinline__ void find_origins(int *from, const MvstereoCudaPart *part,
                                                    const MvstereoCudaArgs &args, int col, int row)
{
    const int x = (int)blockIdx.x * PART + col, y = (int)blockIdx.y * PART + row;
    int sums[NB + 2 * R];

    GPUME_UNROLL for (int n = 0; n < NB + 2 * R; n++) {
        sums[n] = 0;
        GPUME_UNROLL for (int k = 0; k <= 2 * R; k++)
            sums[n] += part->differences[row + n][col + k];
    }
    GPUME_UNROLL for (int n = 0; n < NB; n++) {
        int sum = 0;

        GPUME_UNROLL for (int j = 0; j <= 2 * R; j++)
            sum += sums[n + j];
        from[n] = origin(args, x, y + n);
        if (sum > MVSTEREO_STILL || x >= args.w || y + n >= args.h)
            from[n] = -1;
    }
}

/** Returns whether the right view shows something behind a sample where it had to be with this disparity. */
static __device__ __forceinline__ int is_refuted(const MvstereoCudaArgs &args, int x, int y, int v)
{
    const int k = mvstereo_whole(v), z = x - args.min - k;
    const int seen = z < 0 || z >= args.w ? k : mvstereo_short(args.right, args, z, y);

    const int from = z + args.min + seen, is_rough = ((const MvstereoCudaStats *)args.stats)->is_rough;

    return mvstereo_is_behind(seen, k) && mvstereo_byte(args.confidence, args, from, y) >= is_rough * MVSTEREO_SURE &&
           mvstereo_agrees(mvstereo_short(args.matched, args, from, y), seen);
}

/**
 * A thread has samples of a column.
 * grid:   parts of MVSTEREO_PART x MVSTEREO_PART samples
 * block:  MVSTEREO_CUDA_STEADY_THREADS
 * shared: MvstereoCudaPart
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, MVSTEREO_CUDA_STEADY_THREADS, 2)
{
    GPUME_SHARED(MvstereoCudaPart, part);
    const int col = (int)threadIdx.x % PART, row = (int)threadIdx.x / PART * NB, first = args.paint.first;
    const int x   = (int)blockIdx.x * PART + col, y = (int)blockIdx.y * PART + row;
    int values[NB], expected[NB], ages[NB], confidence[NB];
    int from[NB];

    for (int i = (int)threadIdx.x; i < 2 * MVSTEREO_CHANGES + 1; i += THREADS)
        part->changes[i] = 0;
    if (args.vectors)
        find_differences(part, args, x - col, y - row);
    GPUME_UNROLL for (int n = 0; n < NB; n += MVSTEREO_CUDA_THREAD_ROWS)
        mvstereo_medians(values + n, args.smoothed, args, x, y + n);
    __syncthreads();
    GPUME_UNROLL for (int n = 0; n < NB; n++)
        from[n] = -1;
    if (args.vectors)
        find_origins(from, part, args, col, row);
    GPUME_UNROLL for (int n = 0; n < NB; n++) {
        if (from[n] < 0)
            continue;
        expected[n] = ((const short *)args.disparities[0])[from[n]] - first;
        ages[n]     = ((const GpumeU8 *)args.ages[0])[from[n]];
    }
    GPUME_UNROLL for (int n = 0; n < NB; n++)
        if (from[n] >= 0)
            atomicAdd(&part->changes[av_clip(values[n] - expected[n], -MVSTEREO_CHANGES, MVSTEREO_CHANGES) +
                                     MVSTEREO_CHANGES], 1u);
    __syncthreads();
    if (!threadIdx.x)
        part->change = mvstereo_median_change(part->changes);
    __syncthreads();
    if (x >= args.w)
        return;
    GPUME_UNROLL for (int n = 0; n < NB; n++)
        confidence[n] = mvstereo_byte(args.confidence, args, x, y + n);
    GPUME_UNROLL for (int n = 0; n < NB; n++) {
        const long long q = (y + n) * (long long)args.w + x;
        int age = 0;

        if (y + n >= args.h)
            return;
        if (from[n] >= 0) {
            const int v  = av_clip(expected[n] + part->change, 0, (args.range - 1) * MVSTEREO_ONE);
            int is_final = confidence[n] >= MVSTEREO_SURE;

            age = ages[n];
            if (age && !is_final && FFABS(values[n] - v) > MVSTEREO_ONE)
                is_final = is_refuted(args, x, y + n, v);
            values[n] = mvstereo_stabilise(values[n], v, mvstereo_steadiness(part->change), is_final, &age);
        }
        ((short *)args.disparity)[q]      = (short)values[n];
        ((short *)args.disparities[1])[q] = (short)(values[n] + first);
        ((GpumeU8 *)args.ages[1])[q]      = (GpumeU8)age;
    }
}
