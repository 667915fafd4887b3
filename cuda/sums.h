/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of several sizes at once: larger blocks cost what their parts cost.
 */

#ifndef AVFILTER_GPUME_CUDA_SUMS_H
#define AVFILTER_GPUME_CUDA_SUMS_H

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/cuda/modules.h"
#include "libavfilter/gpume/cuda/sums_args.h"

/** Blank, or ready to be launched. */
typedef struct GpumeCudaSums {
    const GpumeCuda *cuda;
    GpumeCudaLaunch squares, join;  ///< no function: it is not needed
    GpumeCudaSumsArgs args;
    int nb_rows;                    ///< of tiles in a picture
    int strip;                      ///< and at most in a strip, whose costs are kept at a time
    size_t row;                     ///< bytes of those of a row of tiles
    int first;                      ///< the smallest blocks: GPUME_CUDA_SUMMED()
    GpumeCudaBuffer sums;           ///< args.sums
    int new_sums;                   ///< they are not yet 0
} GpumeCudaSums;

/**
 * The sizes whose vectors it finds: all from one on.
 * @return 0: the smallest, as ff_gpume_size_params() counts them; ff_gpume_nb_sizes(): none
 */
int ff_gpume_cuda_sums_from(const GpumeCuda *cuda, const GpumeParams *params);

/**
 * Load the kernels into the current context, which is cuda's; cuda must stay.
 * @param params of the smallest blocks whose vectors it finds
 * @param largest side of the largest
 * @return 0 or an AVERROR code with a message; uninit may follow either
 */
int ff_gpume_cuda_sums_init(GpumeCudaSums *s, const GpumeCuda *cuda, const GpumeParams *params, int largest);

/**
 * Search a field.
 * @param reference which of GpumeParams.distance
 * @param to        where its vectors go, by size from the smallest
 */
CUresult ff_gpume_cuda_sums_launch(GpumeCudaSums *s, const GpumeCudaPlane *cur, const GpumeCudaPlane *ref,
                                   int reference, const GpumeCudaSumsSize *to, CUstream stream);

void ff_gpume_cuda_sums_uninit(GpumeCudaSums *s);

#endif /* AVFILTER_GPUME_CUDA_SUMS_H */
