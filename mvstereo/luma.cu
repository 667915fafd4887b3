/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Copies luma of both views as 8 bits, twice, as few views are smoothed later, and makes histograms of it and of its
 * noise. The last thread block decides how the views are compared.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

#define BATCH MVSTEREO_CUDA_VIEW_BATCH

typedef GpumeSampleOf<GPUME_CUDA_DEPTH>::Sample Sample;

/**
 * Decides for all later kernels, when all luma has been read. A thread has a luma of the right view and finds that of
 * the left view that as many samples are below.
 */
static __device__ __forceinline__ void decide(MvstereoCudaDecision *d, const MvstereoCudaArgs &args)
{
    MvstereoCudaStats *stats = (MvstereoCudaStats *)args.stats;
    const int luma       = (int)threadIdx.x;
    const GpumeU32 right = gpume_load_volatile(&stats->histograms[1][luma]);
    GpumeU32 match = 0;

    d->up_to[0][luma] = gpume_load_volatile(&stats->histograms[0][luma]);
    d->up_to[1][luma] = right;
    if (luma < 2 * MVSTEREO_NOISES)
        d->noises[luma / MVSTEREO_NOISES][luma % MVSTEREO_NOISES] =
            gpume_load_volatile(&stats->noises[luma / MVSTEREO_NOISES][luma % MVSTEREO_NOISES]);
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

/** Returns 8 bits of a sample, as words can have bits above its depth. */
static __device__ __forceinline__ GpumeU8 load(GpumeU64 src, int shift)
{
    return (GpumeU8)(*(const Sample *)src >> shift);
}

/** Copies rows of a column, and counts them. */
static __device__ __forceinline__ void copy(MvstereoCudaDecision *d, const MvstereoCudaArgs &args, int x, int y)
{
    GpumeU8 *raw = (GpumeU8 *)(blockIdx.z ? args.raw[1] : args.raw[0]);
    GpumeU8 *dst = (GpumeU8 *)(blockIdx.z ? args.luma[1] : args.luma[0]);
    const GpumeU64 search    = blockIdx.z ? 0 : args.search, src = blockIdx.z ? args.views[1] : args.views[0];
    const long long linesize = blockIdx.z ? args.linesizes[1] : args.linesizes[0];
    const long long step     = blockIdx.z ? args.steps[1] : args.steps[0], at = x * step;
    const long long left     = at - (x ? step : 0), right = at + (x < args.w - 1 ? step : 0);
    /* of rows y - 1 to y + BATCH: the middle sample, and both beside it */
    int middle[BATCH + 2], beside[BATCH + 2];

    /* all at once, as loads do not pass the atomics */
    GPUME_UNROLL for (int i = 0; i < BATCH + 2; i++) {
        const GpumeU64 row = src + av_clip(y - 1 + i, 0, args.h - 1) * linesize;

        middle[i] = load(row + at, args.shift);
        beside[i] = load(row + left, args.shift) + load(row + right, args.shift);
    }
    GPUME_UNROLL for (int i = 1; i <= BATCH; i++) {
        const int row = y - 1 + i;
        const int v   = beside[i - 1] + beside[i + 1] + 4 * middle[i] - 2 * (middle[i - 1] + middle[i + 1] + beside[i]);
        const long long q = row * (long long)args.w + x;

        if (row >= args.h)
            return;
        raw[q] = dst[q] = (GpumeU8)middle[i];
        if (search)
            ((GpumeU8 *)(search + row * args.search_linesize))[x] = (GpumeU8)middle[i];
        atomicAdd(&d->up_to[0][middle[i]], 1u);
        if (row && row < args.h - 1 && x && x < args.w - 1)
            atomicAdd(&d->noises[0][gpume_min(FFABS(v), MVSTEREO_NOISES - 1)], 1u);
    }
}

/**
 * grid:   columns of 256 samples, MVSTEREO_CUDA_VIEW_ROWS rows each, views
 * block:  256 threads, a column each
 * shared: MvstereoCudaDecision
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, 256, 4)
{
    GPUME_SHARED(MvstereoCudaDecision, d);
    MvstereoCudaStats *stats = (MvstereoCudaStats *)args.stats;
    const int thread  = (int)threadIdx.x, x = (int)blockIdx.x * 256 + thread, view = (int)blockIdx.z;
    const GpumeU32 nb = 2 * (GpumeU32)((args.w + 255) / 256 * ((args.h + MVSTEREO_CUDA_VIEW_ROWS - 1) /
                                                               MVSTEREO_CUDA_VIEW_ROWS));
    int is_last = 0;

    d->up_to[0][thread] = 0;
    if (thread < MVSTEREO_NOISES)
        d->noises[0][thread] = 0;
    __syncthreads();
    for (int i = 0; i < MVSTEREO_CUDA_VIEW_ROWS && x < args.w; i += BATCH)
        copy(d, args, x, (int)blockIdx.y * MVSTEREO_CUDA_VIEW_ROWS + i);
    __syncthreads();
    if (d->up_to[0][thread])
        atomicAdd(&stats->histograms[view][thread], d->up_to[0][thread]);
    if (thread < MVSTEREO_NOISES && d->noises[0][thread])
        atomicAdd(&stats->noises[view][thread], d->noises[0][thread]);
    __syncthreads();
    if (!thread) {
        __threadfence();
        is_last = atomicAdd(&stats->blocks, 1u) == nb - 1;
    }
    if (__syncthreads_or(is_last))
        decide(d, args);
}
