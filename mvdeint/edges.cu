/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Repeats the edges of a picture.
 */

#include "libavfilter/gpume/mvdeint/device.cuh"

/**
 * grid:   columns of samples and GPUME_PAD around them, a line for each warp and GPUME_PAD around, components
 * block:  MVDEINT_CUDA_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvdeintCudaEdgesArgs, MVDEINT_CUDA_THREADS)
{
    const MvdeintCudaComponent c = mvdeint_component(args.components, blockIdx.z);
    const int x = (int)(blockIdx.x * 32 + threadIdx.x % 32) - GPUME_PAD;
    const int y = (int)(blockIdx.y * MVDEINT_CUDA_WARPS + threadIdx.x / 32) - GPUME_PAD;

    if (x >= c.w + GPUME_PAD || y >= c.h + GPUME_PAD || (x >= 0 && x < c.w && y >= 0 && y < c.h))
        return;
    *mvdeint_at(args.picture, c, x, y) = *mvdeint_at(args.picture, c, av_clip(x, 0, c.w - 1), av_clip(y, 0, c.h - 1));
}
