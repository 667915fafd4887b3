/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Warps a picture. Each thread makes a sample.
 */

#include "libavfilter/gpume/cuda_common/common.cuh"
#include "libavfilter/gpume/mvstab/cuda_args.h"
#include "libavfilter/gpume/picture/component.cuh"

typedef GpumeSampleOf<GPUME_CUDA_DEPTH>::Sample MvstabSample;

#define BYTES ((int)sizeof(MvstabSample))

/* Returns the position of output sample (x, y), in 1/64 sample. */
static __device__ __forceinline__ MvstabPoint position(const MvstabPoint *mesh, int cols, int x, int y)
{
    const MvstabPoint *above = mesh + (y >> MVSTAB_LOG2_CELL) * cols + (x >> MVSTAB_LOG2_CELL), *below = above + cols;
    const int i = x & (MVSTAB_CELL - 1), j = y & (MVSTAB_CELL - 1);
    MvstabPoint p;

    p.x = mvstab_between(mvstab_between(above[0].x, below[0].x, j), mvstab_between(above[1].x, below[1].x, j), i);
    p.y = mvstab_between(mvstab_between(above[0].y, below[0].y, j), mvstab_between(above[1].y, below[1].y, j), i);
    p.x = (p.x + 2) >> 2;
    p.y = (p.y + 2) >> 2;
    return p;
}

/* Returns the interpolated sample at a position. */
static __device__ __forceinline__ int interpolate(const GpumeCudaComponent &c, MvstabPoint p, const signed char *taps,
                                                  int depth)
{
    const int x = gpume_inside(p.x >> 6, c.w) - MVSTAB_TAPS_BEFORE;
    const int y = gpume_inside(p.y >> 6, c.h) - MVSTAB_TAPS_BEFORE;
    const GpumeU64 first = c.first + (long long)c.stride * y + x * BYTES;
    int tx[MVSTAB_NB_TAPS], sum = 0;

    GPUME_UNROLL for (int i = 0; i < MVSTAB_NB_TAPS; i++)
        tx[i] = taps[(p.x & 63) * MVSTAB_NB_TAPS + i];
    GPUME_UNROLL for (int j = 0; j < MVSTAB_NB_TAPS; j++) {
        const MvstabSample *row = (const MvstabSample *)(first + (long long)c.stride * j);
        int part = 0;

        GPUME_UNROLL for (int i = 0; i < MVSTAB_NB_TAPS; i++)
            part += tx[i] * row[i];
        sum += taps[(p.y & 63) * MVSTAB_NB_TAPS + j] * part;
    }
    return mvstab_sample(sum, depth);
}

/**
 * grid:   columns of the largest component, with those around it, 32 each; rows, MVSTAB_CUDA_WARPS each; components
 * block:  MVSTAB_CUDA_THREADS
 * shared: MVSTAB_CUDA_TAPS bytes
 */
GPUME_KERNEL_OF(MvstabCudaWarpArgs, MVSTAB_CUDA_THREADS)
{
    GPUME_SHARED(signed char, taps);
    const GpumeCudaComponent c = gpume_component(args.components, blockIdx.z);
    const int out_x = blockIdx.x * 32 + threadIdx.x % 32 - args.around;
    const int out_y = blockIdx.y * MVSTAB_CUDA_WARPS + threadIdx.x / 32 - args.around;
    const int x = av_clip(out_x, 0, c.w - 1), y = av_clip(out_y, 0, c.h - 1), z = blockIdx.z;
    const unsigned mesh = gpume_element(args.mesh, z);
    const GpumeU64 before = gpume_element(args.before, z);
    const long long before_linesize = gpume_element(args.before_linesize, z);
    const int black = gpume_element(args.black, z);
    const int depth = BYTES == 1 ? 8 : args.depth;
    const int cols = ((c.w + MVSTAB_CELL - 1) >> MVSTAB_LOG2_CELL) + 1;
    MvstabPoint p;
    int is_outside, v;

    for (int i = threadIdx.x; i < MVSTAB_CUDA_TAPS / 4; i += MVSTAB_CUDA_THREADS)
        ((GpumeU32 *)taps)[i] = ((const GpumeU32 *)args.tables)[i];
    __syncthreads();
    if (out_x >= c.w + args.around || out_y >= c.h + args.around)
        return;
    p = position((const MvstabPoint *)(args.tables + MVSTAB_CUDA_TAPS) + mesh, cols, x, y);
    is_outside = mvstab_is_outside(p.x, c.w) || mvstab_is_outside(p.y, c.h);
    if (is_outside && args.border == MVSTAB_BLACK) {
        v = black << args.shift;
    } else if (is_outside && args.border == MVSTAB_KEEP && before) {
        v = ((const MvstabSample *)(before + before_linesize * y))[(x << c.log2_step) + c.offset] >> args.shift
            << args.shift;
    } else {
        if (is_outside && args.border == MVSTAB_MIRROR) {
            p.x = mvstab_mirrored(p.x, c.w);
            p.y = mvstab_mirrored(p.y, c.h);
        }
        v = interpolate(c, p, taps, depth) << args.shift;
    }
    ((MvstabSample *)(c.plane + c.linesize * out_y))[out_x * (1LL << c.log2_step) + c.offset] = (MvstabSample)v;
}
