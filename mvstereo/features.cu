/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Makes what is compared of both views: census, luma, gradient, in a word. And the penalties of steps in the left
 * view; and where its disparities begin.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

/**
 * grid:   MVSTEREO_CUDA_COLS x MVSTEREO_CUDA_ROWS samples, views
 * block:  MVSTEREO_CUDA_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, MVSTEREO_CUDA_THREADS, 4)
{
    const MvstereoCudaStats *stats = (const MvstereoCudaStats *)args.stats;
    const GpumeU64 src = blockIdx.z ? args.luma[1] : args.luma[0];
    const GpumeU64 dst = blockIdx.z ? args.features[1] : args.features[0];
    MVSTEREO_PLACE();
    GpumeU64 bits = 0;
    int sobel = 0, steps[2], centre, limit;

    if (!is_inside)
        return;
    centre = mvstereo_byte(src, args, x, y);
    limit  = centre - stats->is_rough;
    GPUME_UNROLL for (int j = -MVSTEREO_CENSUS_R; j <= MVSTEREO_CENSUS_R; j++)
        GPUME_UNROLL for (int i = -MVSTEREO_CENSUS_R; i <= MVSTEREO_CENSUS_R; i++) {
            const int v = mvstereo_byte(src, args, x + i, y + j);

            if (i || j)
                bits = bits << 1 | (GpumeU64)(v < limit);
            if (j >= -1 && j <= 1 && (i == 1 || i == -1))
                sobel += i * (j ? 1 : 2) * v;
            if (i + j == -1 && i * j == 0)
                steps[j ? 1 : 0] = centre - v;
        }
    if (blockIdx.z) {
        centre = stats->table[centre];
    } else {
        if (args.base) {
            const long long half = (long long)(y / 2) * ((args.w + 1) / 2) + x / 2;

            ((short *)args.base)[q] = (short)mvstereo_base(((const short *)args.half)[half], args.half_min, args.min,
                                                           args.range);
        }
        ((GpumeU8 *)args.p2[0])[q] = (GpumeU8)mvstereo_p2(FFABS(steps[0]));
        ((GpumeU8 *)args.p2[1])[q] = (GpumeU8)mvstereo_p2(FFABS(steps[1]));
    }
    ((GpumeU64 *)dst)[q] = bits | (GpumeU64)centre << 48 | (GpumeU64)mvstereo_gradient(sobel) << 56;
}
