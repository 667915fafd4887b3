/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Copies luma of both views as 8 bits, twice, as few views are smoothed later, and computes histograms.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

typedef GpumeSampleOf<GPUME_CUDA_DEPTH>::Sample Sample;

/**
 * grid:   columns of 256 samples, MVSTEREO_CUDA_VIEW_ROWS rows each, views
 * block:  256 threads, a column each
 * shared: MVSTEREO_CUDA_LUMA_SHARED
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, 256, 4)
{
    GPUME_SHARED(GpumeU32, histogram);
    MvstereoCudaStats *stats = (MvstereoCudaStats *)args.stats;
    const int x = (int)(blockIdx.x * 256 + threadIdx.x), view = (int)blockIdx.z;
    const int first = (int)blockIdx.y * MVSTEREO_CUDA_VIEW_ROWS;
    const int end   = gpume_min(first + MVSTEREO_CUDA_VIEW_ROWS, args.h);
    const GpumeU64 src = view ? args.views[1] : args.views[0], search = view ? 0 : args.search;
    GpumeU8 *raw = (GpumeU8 *)(view ? args.raw[1] : args.raw[0]);
    GpumeU8 *dst = (GpumeU8 *)(view ? args.luma[1] : args.luma[0]);
    const long long step     = view ? args.steps[1] : args.steps[0];
    const long long linesize = view ? args.linesizes[1] : args.linesizes[0];

    histogram[threadIdx.x] = 0;
    __syncthreads();
    for (int y = first; y < end && x < args.w; y += MVSTEREO_CUDA_VIEW_BATCH) {
        int v[MVSTEREO_CUDA_VIEW_BATCH];

        /* all at once, as loads do not pass the atomics */
        GPUME_UNROLL for (int i = 0; i < MVSTEREO_CUDA_VIEW_BATCH; i++)
            v[i] = *(const Sample *)(src + gpume_min(y + i, end - 1) * linesize + x * step) >> args.shift;
        GPUME_UNROLL for (int i = 0; i < MVSTEREO_CUDA_VIEW_BATCH; i++)
            if (y + i < end) {
                const long long q = (long long)(y + i) * args.w + x;

                raw[q] = dst[q] = (GpumeU8)v[i];
                if (search)
                    ((GpumeU8 *)(search + (y + i) * args.search_linesize))[x] = (GpumeU8)v[i];
                atomicAdd(&histogram[v[i]], 1u);
            }
    }
    __syncthreads();
    if (histogram[threadIdx.x])
        atomicAdd(&stats->histograms[view][threadIdx.x], histogram[threadIdx.x]);
}
