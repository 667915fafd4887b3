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
 * grid:   the samples around the component with the most; 1; components
 * block:  MVDEINT_CUDA_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvdeintCudaEdgesArgs, MVDEINT_CUDA_THREADS)
{
    const MvdeintCudaComponent c = mvdeint_component(args.components, blockIdx.z);
    const int w = c.w + 2 * GPUME_PAD, i = blockIdx.x * MVDEINT_CUDA_THREADS + threadIdx.x;
    const int beside = i - 2 * GPUME_PAD * w;           /* the lines above and below come before those beside */
    int x = i % w - GPUME_PAD, y = i / w - GPUME_PAD;

    if (beside >= 0) {
        y  = beside / (2 * GPUME_PAD);
        x  = beside % (2 * GPUME_PAD) - GPUME_PAD;
        x += x < 0 ? 0 : c.w;
    } else {
        y += y < 0 ? 0 : c.h;
    }
    if (beside >= 2 * GPUME_PAD * c.h)
        return;
    *mvdeint_at(args.picture, c, x, y) = *mvdeint_at(args.picture, c, av_clip(x, 0, c.w - 1), av_clip(y, 0, c.h - 1));
}
