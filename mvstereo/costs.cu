/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Compares the features of both views.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

static __device__ __forceinline__ int cost(GpumeU64 a, GpumeU64 b)
{
    const GpumeU64 differ = a ^ b;
    const int luma = (int)(a >> 48 & 0xff) - (int)(b >> 48 & 0xff), grad = (int)(a >> 56) - (int)(b >> 56);

    return gpume_popcount((GpumeU32)differ) + gpume_popcount((GpumeU32)(differ >> 32) & 0xffff) +
           mvstereo_difference(FFABS(luma), FFABS(grad));
}

/**
 * grid:   disparities of MVSTEREO_CUDA_COST_COLS samples of a row in 256s, rows
 * block:  256 threads, a disparity of these samples each, so that a warp reads and writes what follows each other
 * shared: none
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, 256, 4)
{
    const int y = (int)blockIdx.y;
    const GpumeU32 number = blockIdx.x * 256 + threadIdx.x;
    const int first = (int)(number / (GpumeU32)args.range) * MVSTEREO_CUDA_COST_COLS;
    const int k     = (int)(number % (GpumeU32)args.range);
    const GpumeU64 *left = (const GpumeU64 *)args.features[0] + (long long)y * args.w;
    GpumeU8 *dst = (GpumeU8 *)args.costs + (long long)y * args.w * args.range;

    GPUME_UNROLL for (int i = 0; i < MVSTEREO_CUDA_COST_COLS; i++) {
        const int x = first + i, z = av_clip(x - args.min - k, 0, args.w - 1);
        int least   = 255;

        if (x < args.w) {
            const GpumeU64 features = left[x];

            for (int j = -args.rows; j <= args.rows; j++) {
                const int row = av_clip(y + j, 0, args.h - 1);

                least = gpume_min(least, cost(features,
                                              ((const GpumeU64 *)args.features[1])[(long long)row * args.w + z]));
            }
            dst[(long long)x * args.range + k] = (GpumeU8)least;
        }
    }
}
