/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The flow: what colour each vector has, and which vector each cell of 4x4 samples.
 */

#include "libavfilter/gpume/cuda/common.cuh"
#include "libavfilter/gpume/mvview/cuda_args.h"

/**
 * grid:   vectors
 * block:  MVVIEW_CUDA_MAP_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvviewCudaMapArgs, MVVIEW_CUDA_MAP_THREADS)
{
    const MvviewCudaPalette *palette = (const MvviewCudaPalette *)args.palette;
    const int i = blockIdx.x * MVVIEW_CUDA_MAP_THREADS + threadIdx.x;
    GpumeU32 *cells = (GpumeU32 *)args.cells;
    GpumeU16 *colour = (GpumeU16 *)args.colours + 4ll * i;
    unsigned length, key;
    unsigned char rgb[3];
    MvviewCudaVector v;

    if (i >= args.nb)
        return;
    v      = ((const MvviewCudaVector *)args.vectors)[i];
    length = mvview_sqrt((unsigned long long)((long long)v.dx * v.dx + (long long)v.dy * v.dy));
    if (args.nb_comps == 1)
        rgb[0] = rgb[1] = rgb[2] = FFMIN(length, args.full) * 255ull / args.full;
    else
        mvview_wheel(rgb, v.dx, v.dy, length, args.full);
    for (int c = 0; c < args.nb_comps; c++)
        colour[c] = mvview_component(palette->matrix[c], palette->offset[c], rgb[0], rgb[1], rgb[2],
                                     args.depth);

    key = i + 1 + (v.y1 & MVVIEW_CUDA_FUTURE ? 0 : args.nb);
    for (int y = v.y0; y < (v.y1 & ~MVVIEW_CUDA_FUTURE); y++)
        for (int x = v.x0; x < v.x1; x++)
            atomicMax(cells + (long long)y * args.cells_w + x, key);
}
