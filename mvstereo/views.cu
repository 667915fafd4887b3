/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Processes luma: measures its noise, decides how the views are compared, smooths or halves it.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

#define NOISE  0
#define DECIDE 1
#define SMOOTH 2
#define HALVE  3

/** Makes a histogram of noise. */
static __device__ __forceinline__ void noise(const MvstereoCudaArgs &args)
{
    GPUME_SHARED(GpumeU32, histogram);
    MvstereoCudaStats *stats = (MvstereoCudaStats *)args.stats;
    const int x = (int)(blockIdx.x * 256 + threadIdx.x), view = (int)blockIdx.z;
    const int first = gpume_max((int)blockIdx.y * MVSTEREO_CUDA_VIEW_ROWS, 1);
    const int end   = gpume_min((int)(blockIdx.y + 1) * MVSTEREO_CUDA_VIEW_ROWS, args.h - 1);

    if (threadIdx.x < MVSTEREO_NOISES)
        histogram[threadIdx.x] = 0;
    __syncthreads();
    for (int y = first; y < end && x > 0 && x < args.w - 1; y += MVSTEREO_CUDA_VIEW_BATCH) {
        /* of rows y - 1 to y + MVSTEREO_CUDA_VIEW_BATCH: the middle sample, and both beside it */
        int middle[MVSTEREO_CUDA_VIEW_BATCH + 2], beside[MVSTEREO_CUDA_VIEW_BATCH + 2];

        /* all at once, as loads do not pass the atomics */
        GPUME_UNROLL for (int i = 0; i < MVSTEREO_CUDA_VIEW_BATCH + 2; i++) {
            const GpumeU8 *a = (const GpumeU8 *)(view ? args.raw[1] : args.raw[0]) +
                               (long long)gpume_min(y - 1 + i, end) * args.w + x;

            middle[i] = a[0];
            beside[i] = a[-1] + a[1];
        }
        GPUME_UNROLL for (int i = 1; i <= MVSTEREO_CUDA_VIEW_BATCH; i++)
            if (y - 1 + i < end) {
                const int v = beside[i - 1] + beside[i + 1] + 4 * middle[i] -
                              2 * (middle[i - 1] + middle[i + 1] + beside[i]);

                atomicAdd(&histogram[gpume_min(FFABS(v), MVSTEREO_NOISES - 1)], 1u);
            }
    }
    __syncthreads();
    if (threadIdx.x < MVSTEREO_NOISES && histogram[threadIdx.x])
        atomicAdd(&stats->noises[view][threadIdx.x], histogram[threadIdx.x]);
}

/**
 * Decides for all later kernels. A thread has a luma of the right view and finds that of the left view that as many
 * samples are below.
 */
static __device__ __forceinline__ void decide(const MvstereoCudaArgs &args)
{
    MvstereoCudaStats *stats = (MvstereoCudaStats *)args.stats;
    GPUME_SHARED(MvstereoCudaDecision, d);
    const int luma       = (int)threadIdx.x;
    const GpumeU32 right = stats->histograms[1][luma];
    GpumeU32 match = 0;

    d->up_to[0][luma] = stats->histograms[0][luma];
    d->up_to[1][luma] = right;
    if (luma < 2 * MVSTEREO_NOISES)
        d->noises[luma / MVSTEREO_NOISES][luma % MVSTEREO_NOISES] =
            stats->noises[luma / MVSTEREO_NOISES][luma % MVSTEREO_NOISES];
    for (int i = 1; i < 256; i *= 2) {
        GpumeU32 before[2];

        __syncthreads();
        GPUME_UNROLL for (int j = 0; j < 2; j++)
            before[j] = luma >= i ? d->up_to[j][luma - i] : 0;
        __syncthreads();
        GPUME_UNROLL for (int j = 0; j < 2; j++)
            d->up_to[j][luma] += before[j];
    }
    /* the difference of the sums of luma is that of these sums, as both views have as many samples */
    d->differ[luma] = (long long)d->up_to[1][luma] - d->up_to[0][luma];
    if (luma % 32 == 0 && luma < 64)
        d->is_rough[luma / 32] = (GpumeU32)mvstereo_is_rough(d->noises[luma / 32]);
    for (int i = 128; i; i /= 2) {
        __syncthreads();
        if (luma < i)
            d->differ[luma] += d->differ[luma + i];
    }
    __syncthreads();
    /* how many of the first 255 sums of the left view are not greater; these sums ascend */
    for (GpumeU32 i = 128; i; i /= 2)
        if (2ll * d->up_to[0][match + i - 1] <= 2ll * d->up_to[1][luma] - right)
            match += i;
    stats->table[luma] = (GpumeU8)(FFABS(d->differ[0]) < (long long)MVSTEREO_DARKER * d->up_to[0][255] ? luma : match);
    if (!luma)
        stats->is_rough = d->is_rough[0] && d->is_rough[1];
}

/** Smooths rough views. A thread has several rows, so that there are few where there is nothing to do. */
static __device__ __forceinline__ void smooth(const MvstereoCudaArgs &args)
{
    const GpumeU64 src = blockIdx.z ? args.raw[1] : args.raw[0], dst = blockIdx.z ? args.luma[1] : args.luma[0];
    const int x      = (int)(blockIdx.x * MVSTEREO_CUDA_COLS + threadIdx.x % MVSTEREO_CUDA_COLS);
    const int number = (int)(blockIdx.y * MVSTEREO_CUDA_ROWS + threadIdx.x / MVSTEREO_CUDA_COLS);
    const int first  = number * MVSTEREO_CUDA_VIEW_BATCH;

    if (x >= args.w || !((const MvstereoCudaStats *)args.stats)->is_rough)
        return;
    for (int y = first; y < gpume_min(first + MVSTEREO_CUDA_VIEW_BATCH, args.h); y++) {
        int sum = 8;

        GPUME_UNROLL for (int j = -1; j <= 1; j++)
            GPUME_UNROLL for (int i = -1; i <= 1; i++)
                sum += (i ? 1 : 2) * (j ? 1 : 2) * mvstereo_byte(src, args, x + i, y + j);
        sum >>= 4;
        ((GpumeU8 *)dst)[(long long)y * args.w + x] = (GpumeU8)sum;
        if (args.search && !blockIdx.z)
            ((GpumeU8 *)(args.search + y * args.search_linesize))[x] = (GpumeU8)sum;
    }
}

/** Halves luma; w and h are the sizes before. */
static __device__ __forceinline__ void halve(const MvstereoCudaArgs &args)
{
    const GpumeU64 src = blockIdx.z ? args.luma[1] : args.luma[0], dst = blockIdx.z ? args.halved[1] : args.halved[0];
    const int w = (args.w + 1) / 2, h = (args.h + 1) / 2;
    const int x = (int)(blockIdx.x * MVSTEREO_CUDA_COLS + threadIdx.x % MVSTEREO_CUDA_COLS);
    const int y = (int)(blockIdx.y * MVSTEREO_CUDA_ROWS + threadIdx.x / MVSTEREO_CUDA_COLS);

    if (x >= w || y >= h)
        return;
    ((GpumeU8 *)dst)[(long long)y * w + x] =
        (GpumeU8)((mvstereo_byte(src, args, 2 * x, 2 * y) + mvstereo_byte(src, args, 2 * x + 1, 2 * y) +
                   mvstereo_byte(src, args, 2 * x, 2 * y + 1) + mvstereo_byte(src, args, 2 * x + 1, 2 * y + 1) +
                   2) >> 2);
}

/**
 * grid:   noise: columns of 256 samples, MVSTEREO_CUDA_VIEW_ROWS rows each, views; decide: one
 * thread block; others: MVSTEREO_CUDA_COLS x MVSTEREO_CUDA_ROWS samples of the result, times
 * MVSTEREO_CUDA_VIEW_BATCH rows where views are smoothed, views
 * block:  256
 * shared: noise: a histogram; decide: MvstereoCudaDecision; others: none
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, 256, 4)
{
    if (GPUME_CUDA_VARIANT == NOISE)
        noise(args);
    else if (GPUME_CUDA_VARIANT == DECIDE)
        decide(args);
    else if (GPUME_CUDA_VARIANT == SMOOTH)
        smooth(args);
    else
        halve(args);
}
