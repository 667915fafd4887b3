/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Declarations that the host code and the kernels of the CUDA backend share. Addresses are device addresses.
 */

#ifndef AVFILTER_GPUME_MVSTAB_CUDA_ARGS_H
#define AVFILTER_GPUME_MVSTAB_CUDA_ARGS_H

#include "libavfilter/gpume/mvstab/arithmetic.h"
#include "libavfilter/gpume/picture/cuda_args.h"

/** Number of threads of a thread block. A warp measures a block, or makes 32 samples of a row. */
#define MVSTAB_CUDA_THREADS 256
#define MVSTAB_CUDA_WARPS   (MVSTAB_CUDA_THREADS / 32)

/** Bytes of the table of taps, which comes before the meshes. */
#define MVSTAB_CUDA_TAPS (64 * MVSTAB_NB_TAPS)

/** Parameters of the kernel that computes the tensors of component 0. */
typedef struct MvstabCudaTensorArgs {
    unsigned long long first;   ///< the sample (0, 0) of a picture
    unsigned long long tensors; ///< MvstabTensor of each block
    int stride, w, h;
    int cols, nb;               ///< blocks in a row, and of the picture
    int shift;                  ///< bits of a sample above 8
} MvstabCudaTensorArgs;

/** Parameters of the kernel that warps a picture. */
typedef struct MvstabCudaWarpArgs {
    GpumeCudaComponent components[GPUME_CUDA_COMPONENTS];   ///< planes that are written; copies that are read
    unsigned long long before[GPUME_CUDA_COMPONENTS];       ///< planes of the previous output frame; 0: there is none
    long long before_linesize[GPUME_CUDA_COMPONENTS];
    int black[GPUME_CUDA_COMPONENTS];
    unsigned mesh[GPUME_CUDA_COMPONENTS];                   ///< number of points before the component's mesh
    unsigned long long tables;                              ///< taps, then MvstabPoint of all meshes
    int around;                 ///< samples around the component that are also written, as those at its edge
    int border;                 ///< enum MvstabBorder
    int depth, shift;           ///< shift: bits below a sample in a word of the frame
} MvstabCudaWarpArgs;

#endif /* AVFILTER_GPUME_MVSTAB_CUDA_ARGS_H */
