/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * From pictures on a device to fields: the kernels of a plan and, with a tree, of blocks of each size.
 */

#ifndef AVFILTER_GPUME_CUDA_SEARCH_H
#define AVFILTER_GPUME_CUDA_SEARCH_H

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/cuda/full_search.h"
#include "libavfilter/gpume/cuda/launch.h"
#include "libavfilter/gpume/cuda/motion.h"
#include "libavfilter/gpume/cuda/tree.h"

/** Blocks of one size, and the kernels that find their vectors. */
typedef struct GpumeCudaSize {
    GpumeParams params;
    GpumeCudaKernel kernel;
    GpumeCudaMotion motion;
} GpumeCudaSize;

/** Blank, or ready to be launched. */
typedef struct GpumeCudaSearch {
    GpumeParams params;
    GpumeCudaSize sizes[GPUME_MAX_SIZES];
    int nb_sizes;               ///< that are searched: 1, too, where hme's steps make fields of all sizes
    int is_scanned;             ///< nonzero: scan finds the vectors of all sizes at once
    GpumeCudaScan scan;
    GpumeCudaTree tree;
} GpumeCudaSearch;

/** A field to be searched. */
typedef struct GpumeCudaSearchField {
    GpumeCudaPlane cur, ref;    ///< luma
    CUdeviceptr cur_planes, ref_planes;     ///< what ff_gpume_cuda_search_planes() has made
    int reference;              ///< which of GpumeParams.distance
    int is_stored;              ///< nonzero: it is stored to leaves, of which only mvs and costs exist without a tree
    GpumeCudaLeaves leaves;
} GpumeCudaSearchField;

/**
 * Load the kernels that a search needs into the current context, which is cuda's; cuda must stay.
 * @param shift bits below the samples of the luma on the device
 * @param before one of the same parameters, on another stream, with which it takes turns: what a search reads of the
 *               one before it is read of that one's; it must not outlive it. NULL: there is none
 * @return 0 or an AVERROR code with a message; uninit may follow either
 */
int ff_gpume_cuda_search_init(GpumeCudaSearch *s, const GpumeCuda *cuda, const GpumeParams *params,
                              const GpumePlan *plan, int shift, GpumeCudaSearch *before);

/** Returns the bytes of a picture's planes, which have to be 0 at first; 0: there are none. */
size_t ff_gpume_cuda_search_planes_size(const GpumeCudaSearch *s);

/** Make the planes of a picture. */
CUresult ff_gpume_cuda_search_planes(GpumeCudaSearch *s, const GpumeCudaPlane *luma, CUdeviceptr planes,
                                     CUstream stream);

/**
 * Search up to GPUME_CUDA_FIELDS fields. With check these are two, each other's opposite, else all are of one
 * picture. Those that are not stored are last.
 * @param intra uint64_t of each field that is stored; 0 without GpumeParams.intra
 */
CUresult ff_gpume_cuda_search_launch(GpumeCudaSearch *s, const GpumeCudaSearchField *fields, int nb_fields,
                                     CUdeviceptr intra, CUstream stream);

void ff_gpume_cuda_search_uninit(GpumeCudaSearch *s);

#endif /* AVFILTER_GPUME_CUDA_SEARCH_H */
