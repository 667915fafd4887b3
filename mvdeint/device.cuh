/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Device code common to mvdeint's kernels.
 */

#ifndef AVFILTER_GPUME_MVDEINT_DEVICE_CUH
#define AVFILTER_GPUME_MVDEINT_DEVICE_CUH

#include "libavfilter/gpume/cuda_common/common.cuh"
#include "libavfilter/gpume/mvdeint/cuda_args.h"

typedef GpumeSampleOf<GPUME_CUDA_DEPTH>::Sample MvdeintSample;

#define MVDEINT_BYTES ((int)sizeof(MvdeintSample))

/** Returns the depth of samples. The compiler knows that of bytes. */
template<typename Args> static __device__ __forceinline__ int mvdeint_depth(const Args &args)
{
    return MVDEINT_BYTES == 1 ? 8 : args.depth;
}

/**
 * Returns component i. Uses comparisons, because an index would make the compiler copy the
 * arguments to local memory.
 */
static __device__ __forceinline__ MvdeintCudaComponent mvdeint_component(const MvdeintCudaComponents &a, int i)
{
    MvdeintCudaComponent c = a.c[0];

    GPUME_UNROLL for (int n = 1; n < GPUME_CUDA_COMPONENTS; n++) {
        c.first  = i == n ? a.c[n].first  : c.first;
        c.stride = i == n ? a.c[n].stride : c.stride;
        c.w      = i == n ? a.c[n].w      : c.w;
        c.h      = i == n ? a.c[n].h      : c.h;
        c.hsub   = i == n ? a.c[n].hsub   : c.hsub;
        c.vsub   = i == n ? a.c[n].vsub   : c.vsub;
        c.match  = i == n ? a.c[n].match  : c.match;
    }
    return c;
}

/** Returns the address of sample (x, y) of a component in a picture. */
static __device__ __forceinline__ MvdeintSample *mvdeint_at(GpumeU64 picture, const MvdeintCudaComponent &c, int x,
                                                            int y)
{
    return (MvdeintSample *)(picture + c.first + (long long)c.stride * y + x * MVDEINT_BYTES);
}

#endif /* AVFILTER_GPUME_MVDEINT_DEVICE_CUH */
