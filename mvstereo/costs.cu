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
 * grid:   words of four disparities of a row in 256s, rows
 * block:  256 threads, a word each
 * shared: none
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, 256, 4)
{
    const int words = args.range / 4, y = (int)blockIdx.y;
    const GpumeU32 number = blockIdx.x * 256 + threadIdx.x;
    const int x = (int)(number / (GpumeU32)words), first = (int)(number % (GpumeU32)words) * 4;
    GpumeU32 word = 0;
    GpumeU64 left;

    if (x >= args.w)
        return;
    left = ((const GpumeU64 *)args.features[0])[(long long)y * args.w + x];
    GPUME_UNROLL for (int i = 0; i < 4; i++) {
        const int z = av_clip(x - args.min - first - i, 0, args.w - 1);
        int least   = 255;

        for (int j = -args.rows; j <= args.rows; j++) {
            const int row = av_clip(y + j, 0, args.h - 1);

            least = gpume_min(least, cost(left, ((const GpumeU64 *)args.features[1])[(long long)row * args.w + z]));
        }
        word |= (GpumeU32)least << 8 * i;
    }
    ((GpumeU32 *)args.costs)[((long long)y * args.w + x) * words + first / 4] = word;
}
