/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search: chooses and shapes the kernel, and searches several block sizes at once, where the
 * cost of a large block is the sum of the costs of its parts.
 */

#ifndef AVFILTER_GPUME_CUDA_FULL_SEARCH_H
#define AVFILTER_GPUME_CUDA_FULL_SEARCH_H

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/cuda/modules.h"
#include "libavfilter/gpume/cuda/search_args.h"

/** Bytes of shared memory that a thread block can have on every GPU. */
#define GPUME_CUDA_MAX_SHARED (48 << 10)

/**
 * Chooses a kernel that searches all blocks of one size, and its shape.
 * @param a         reads params and sets the part of the kernel
 * @param remaining nonzero: searches the squares that elimination leaves
 * @return NULL: there is none, or the kernel of the next stage is faster alone
 */
typedef const GpumeCudaModule *GpumeCudaShape(const GpumeCuda *cuda, GpumeCudaArgs *a, GpumeCudaLaunch *l,
                                              int remaining);

/** Full search, and successive elimination. */
GpumeCudaShape ff_gpume_cuda_shape_full, ff_gpume_cuda_shape_sea;

/** Search of several block sizes at once. Zeroed, or ready to be launched. */
typedef struct GpumeCudaScan {
    const GpumeCuda *cuda;
    GpumeCudaLaunch squares;
    GpumeCudaArgs args;
    int first;                      ///< index of the smallest blocks: GPUME_CUDA_SIZE()
    int nb_rows;                    ///< rows of squares in a picture
    int strip;                      ///< maximum rows of squares in a strip; costs of one strip are kept at a time
    GpumeCudaBuffer sums;           ///< args.tree.sums, then args.tree.counts; or nothing
    int new_sums;                   ///< sums is not yet 0
} GpumeCudaScan;

/** Returns whether one search finds the vectors of all block sizes of these parameters. */
int ff_gpume_cuda_scan_fits(const GpumeCuda *cuda, const GpumeParams *params);

/**
 * Loads the kernels into the current context, which is that of cuda; cuda must outlive them.
 * @param params parameters of the smallest blocks
 * @param largest side of the largest blocks
 * @return 0 or an AVERROR code with a message; uninit may follow either
 */
int ff_gpume_cuda_scan_init(GpumeCudaScan *s, const GpumeCuda *cuda, const GpumeParams *params, int largest);

/**
 * Searches a field.
 * @param reference index in GpumeParams.distance
 * @param to        where vectors are stored, by size from the smallest
 */
CUresult ff_gpume_cuda_scan_launch(GpumeCudaScan *s, const GpumeCudaPlane *cur, const GpumeCudaPlane *ref,
                                   int reference, const GpumeCudaStored *to, CUstream stream);

void ff_gpume_cuda_scan_uninit(GpumeCudaScan *s);

#endif /* AVFILTER_GPUME_CUDA_FULL_SEARCH_H */
