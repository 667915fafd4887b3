/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search: which kernel it runs and how; and blocks of several sizes at once, where larger blocks cost what their
 * parts cost.
 */

#ifndef AVFILTER_GPUME_CUDA_FULL_SEARCH_H
#define AVFILTER_GPUME_CUDA_FULL_SEARCH_H

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/cuda/modules.h"
#include "libavfilter/gpume/cuda/search_args.h"

/** Every GPU gives a thread block as much shared memory, bytes. */
#define GPUME_CUDA_MAX_SHARED (48 << 10)

/**
 * Choose and shape a kernel that searches all blocks of one size.
 * @param a         params are read, and full is filled in
 * @param remaining nonzero: it searches the squares that elimination leaves
 * @return NULL: there is none
 */
const GpumeCudaModule *ff_gpume_cuda_shape_full(const GpumeCuda *cuda, GpumeCudaArgs *a, GpumeCudaLaunch *l,
                                                int remaining);

/** The same of successive elimination, filling in sea. @return NULL: there is none, or nothing to gain */
const GpumeCudaModule *ff_gpume_cuda_shape_sea(const GpumeCuda *cuda, GpumeCudaArgs *a, GpumeCudaLaunch *l);

/** Several sizes of blocks at once. Blank, or ready to be launched. */
typedef struct GpumeCudaScan {
    const GpumeCuda *cuda;
    GpumeCudaLaunch squares, merge; ///< no function: it is not needed
    GpumeCudaArgs args;
    int first;                      ///< the smallest blocks: GPUME_CUDA_SIZE()
    int nb_rows;                    ///< of squares in a picture
    int strip;                      ///< and at most in a strip, whose costs are kept at a time
    GpumeCudaBuffer sums;           ///< args.tree.sums
    int new_sums;                   ///< they are not yet 0
} GpumeCudaScan;

/** Returns whether all sizes of blocks of these parameters are found at once. */
int ff_gpume_cuda_scan_fits(const GpumeCuda *cuda, const GpumeParams *params);

/**
 * Load the kernels into the current context, which is cuda's; cuda must stay.
 * @param params those of the smallest blocks
 * @param largest side of the largest blocks
 * @return 0 or an AVERROR code with a message; uninit may follow either
 */
int ff_gpume_cuda_scan_init(GpumeCudaScan *s, const GpumeCuda *cuda, const GpumeParams *params, int largest);

/**
 * Search a field.
 * @param reference which of GpumeParams.distance
 * @param to        where its vectors are stored, by size from the smallest
 */
CUresult ff_gpume_cuda_scan_launch(GpumeCudaScan *s, const GpumeCudaPlane *cur, const GpumeCudaPlane *ref,
                                   int reference, const GpumeCudaStored *to, CUstream stream);

void ff_gpume_cuda_scan_uninit(GpumeCudaScan *s);

#endif /* AVFILTER_GPUME_CUDA_FULL_SEARCH_H */
