/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Blocks of several sizes on a device: chooses leaves, given the fields of all sizes. See core/tree.h.
 */

#ifndef AVFILTER_GPUME_CUDA_TREE_H
#define AVFILTER_GPUME_CUDA_TREE_H

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/cuda/modules.h"
#include "libavfilter/gpume/cuda/tree_args.h"

/** Zeroed, or ready to be launched. */
typedef struct GpumeCudaTree {
    const GpumeCuda *cuda;
    GpumeCudaLaunch decide, write;  ///< without a function if there is no tree
    GpumeCudaTreeArgs args;         ///< fields are stored where sizes[] says
    GpumeCudaBuffer work;
    size_t nb_sums;                 ///< bytes of a field's sums
} GpumeCudaTree;

/** Where the leaves of a field are stored. GpumeField describes the arrays. */
typedef struct GpumeCudaLeaves {
    CUdeviceptr mvs, costs, sizes;
    CUdeviceptr blocks;             ///< AVMotionVector[bh][bw]: each of the smallest blocks, with the vector of its
                                    ///< leaf
    CUdeviceptr sums;               ///< nb_sums bytes that are 0; they begin with GpumeCudaTreeSums
} GpumeCudaLeaves;

/**
 * Loads the kernels into the current context, which is that of cuda; cuda must outlive them.
 * @return 0 or an AVERROR code with a message; the caller calls uninit in both cases
 */
int ff_gpume_cuda_tree_init(GpumeCudaTree *t, const GpumeCuda *cuda, const GpumeParams *params);

/** Returns where field i of a launch stores the vectors and costs of blocks of this size. */
GpumeCudaStored ff_gpume_cuda_tree_stored(const GpumeCudaTree *t, int size, int i);

/** Makes the leaves of up to GPUME_CUDA_FIELDS fields. */
CUresult ff_gpume_cuda_tree_launch(GpumeCudaTree *t, const GpumeCudaLeaves *leaves, int nb_fields, CUstream stream);

void ff_gpume_cuda_tree_uninit(GpumeCudaTree *t);

#endif /* AVFILTER_GPUME_CUDA_TREE_H */
