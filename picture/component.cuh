/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The components that a kernel is given.
 */

#ifndef AVFILTER_GPUME_PICTURE_COMPONENT_CUH
#define AVFILTER_GPUME_PICTURE_COMPONENT_CUH

#include "libavfilter/gpume/cuda_common/common.cuh"
#include "libavfilter/gpume/picture/cuda_args.h"

/** Returns component i, as gpume_element() does. */
static __device__ __forceinline__ GpumeCudaComponent
gpume_component(const GpumeCudaComponent (&components)[GPUME_CUDA_COMPONENTS], int i)
{
    GpumeCudaComponent c = components[0];

    GPUME_UNROLL for (int n = 1; n < GPUME_CUDA_COMPONENTS; n++) {
        c.plane     = i == n ? components[n].plane     : c.plane;
        c.linesize  = i == n ? components[n].linesize  : c.linesize;
        c.offset    = i == n ? components[n].offset    : c.offset;
        c.log2_step = i == n ? components[n].log2_step : c.log2_step;
        c.first     = i == n ? components[n].first     : c.first;
        c.stride    = i == n ? components[n].stride    : c.stride;
        c.w         = i == n ? components[n].w         : c.w;
        c.h         = i == n ? components[n].h         : c.h;
    }
    return c;
}

#endif /* AVFILTER_GPUME_PICTURE_COMPONENT_CUH */
