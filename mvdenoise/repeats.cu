/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Decides whether the samples of two frames differ.
 */

#include "libavfilter/gpume/mvdenoise/device.cuh"

/** Returns plane i. An index instead of comparisons would make the compiler copy the arguments to local memory. */
static __device__ __forceinline__ MvdenoiseCudaBytes plane_of(const MvdenoiseCudaRepeatsArgs &args, int z)
{
    MvdenoiseCudaBytes p = args.planes[0];

    GPUME_UNROLL for (int i = 1; i < GPUME_CUDA_COMPONENTS; i++) {
        p.a           = z == i ? args.planes[i].a           : p.a;
        p.b           = z == i ? args.planes[i].b           : p.b;
        p.linesize[0] = z == i ? args.planes[i].linesize[0] : p.linesize[0];
        p.linesize[1] = z == i ? args.planes[i].linesize[1] : p.linesize[1];
        p.w           = z == i ? args.planes[i].w           : p.w;
        p.h           = z == i ? args.planes[i].h           : p.h;
    }
    return p;
}

/** Returns whether eight bytes of a row from x on differ; at the end of the row fewer. */
static __device__ __forceinline__ int bytes_differ(GpumeU64 a, GpumeU64 b, int x, int w)
{
    int differ = 0;

    if (!((a | b) & 7) && x + 8 <= w) {
        int2 first, second;

        gpume_load_global(&first,  (const void *)(a + x));
        gpume_load_global(&second, (const void *)(b + x));
        return (first.x ^ second.x) | (first.y ^ second.y);
    }
    GPUME_NO_UNROLL for (int i = x; i < gpume_min(x + 8, w); i++)
        differ |= ((const GpumeU8 *)a)[i] ^ ((const GpumeU8 *)b)[i];
    return differ;
}

/**
 * grid:   eight bytes of a row for each thread, MVDENOISE_CUDA_COMPARED rows, planes
 * block:  MVDENOISE_CUDA_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvdenoiseCudaRepeatsArgs, MVDENOISE_CUDA_THREADS)
{
    const MvdenoiseCudaBytes p = plane_of(args, blockIdx.z);
    const int x = (int)(blockIdx.x * MVDENOISE_CUDA_THREADS + threadIdx.x) * 8;
    const int first_y = blockIdx.y * MVDENOISE_CUDA_COMPARED;
    int differ = 0;

    if (x < p.w)
        GPUME_UNROLL for (int i = 0; i < MVDENOISE_CUDA_COMPARED; i++) {
            const int y = first_y + i;

            if (y < p.h)
                differ |= bytes_differ(p.a + p.linesize[0] * y, p.b + p.linesize[1] * y, x, p.w);
        }
    if (__syncthreads_or(differ) && !threadIdx.x)
        atomicMax((GpumeU32 *)args.differ, 1u);
}
