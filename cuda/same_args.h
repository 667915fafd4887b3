/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The comparison of cells: what its host side and its kernel share.
 */

#ifndef AVFILTER_GPUME_CUDA_SAME_ARGS_H
#define AVFILTER_GPUME_CUDA_SAME_ARGS_H

#include "libavfilter/gpume/core/same_args.h"
#include "libavfilter/gpume/cuda/search_args.h"

#define GPUME_CUDA_SAME_THREADS 256

/** Compare a picture with its reference where luma is known to be the same. */
typedef struct GpumeCudaSameArgs {
    GpumeParams params;
    int nb_planes;
    GpumeOtherPlane planes[GPUME_MAX_OTHER_PLANES];
    GpumeCudaPlane cur[GPUME_MAX_OTHER_PLANES];
    GpumeCudaPlane ref[GPUME_MAX_OTHER_PLANES];
    unsigned long long mvs;     ///< AVMotionVector[bh][bw]
    unsigned long long costs;   ///< uint32_t[bh][bw]
    unsigned long long same;    ///< uint8_t: GpumeField.same
} GpumeCudaSameArgs;

#endif /* AVFILTER_GPUME_CUDA_SAME_ARGS_H */
