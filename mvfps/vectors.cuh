/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * An AVMotionVector's words.
 */

#ifndef AVFILTER_GPUME_MVFPS_VECTORS_CUH
#define AVFILTER_GPUME_MVFPS_VECTORS_CUH

#include "libavfilter/gpume/mvfps/device.cuh"

/** Words of an AVMotionVector; mvfps/cuda.c checks that its fields lie as they are read here. */
#define MVFPS_CUDA_VECTOR 10

/** Read vector i. @return 0 if it has no block inside a picture of w x h samples */
static __device__ __forceinline__ int mvfps_read_vector(GpumeBlockVector *v, GpumeU64 vectors, GpumeU32 i,
                                                        int w, int h)
{
    const GpumeU64 p = vectors + 4ull * MVFPS_CUDA_VECTOR * i;
    int2 a, b, c;
    GpumeU32 scale;

    gpume_load_global(&a, (const void *)p);
    gpume_load_global(&b, (const void *)(p + 8));
    gpume_load_global(&c, (const void *)(p + 24));
    gpume_load_global(&scale, (const void *)(p + 32));

    const GpumeVectorFields f = { a.x, a.y & 255, a.y >> 8 & 255, (short)(a.y >> 16), (short)b.x,
                                  (short)(b.x >> 16), (short)b.y, 0, c.x, c.y, (int)(scale & 0xffff) };

    return gpume_block_vector(v, &f, w, h);
}

#endif /* AVFILTER_GPUME_MVFPS_VECTORS_CUH */
