/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

/**
 * @file
 * The kernels: loaded, shaped for a picture, launched.
 */

#ifndef AVFILTER_GPUME_CUDA_KERNELS_H
#define AVFILTER_GPUME_CUDA_KERNELS_H

#include "compat/cuda/dynlink_loader.h"
#include "libavutil/hwcontext_cuda.h"

#include "libavfilter/gpume/cuda/gpume_cuda.h"
#include "libavfilter/gpume/gpume_params.h"

/** Most launches that a search takes. */
#define GPUME_CUDA_MAX_LAUNCHES 2

/** A kernel, and the shape in which it is launched. */
typedef struct GpumeCudaLaunch {
    CUmodule module;
    CUfunction function;
    unsigned grid[2];           ///< blocks of threads, x and y
    unsigned threads;           ///< of a block
    unsigned shared;            ///< bytes of dynamic shared memory
} GpumeCudaLaunch;

/** A search's kernels, ready to be launched for pictures of one size. */
typedef struct GpumeCudaKernel {
    CudaFunctions *cu;
    /** All but planes, source, mvs and costs are set by init and launch. */
    GpumeCudaArgs args;
    /** In this order; those after the first search what it has left. */
    GpumeCudaLaunch launches[GPUME_CUDA_MAX_LAUNCHES];
    int nb_launches;
    int new_left;               ///< args.left's counts are not yet 0
    int multiprocessor_shared;  ///< bytes of shared memory of a multiprocessor
    /** Of searches that predict: fields by direction and age, and a ticket; or 0. */
    CUdeviceptr state;
    int new_state;              ///< it is not yet 0
    unsigned nb_searches[GPUME_NB_DIRECTIONS];
} GpumeCudaKernel;

/**
 * Report what the driver refused, in words for the user.
 * @param what what was tried: "Could not <what>: ..."
 * @return 0, AVERROR(ENOMEM), or AVERROR_EXTERNAL
 */
int ff_gpume_cuda_check(void *log_ctx, int level, CudaFunctions *cu,
                        CUresult err, const char *what);

/**
 * Load the kernels of params->algo into the current context, which is hwctx's.
 * @param level of the message that says why it failed
 * @return 0 or an AVERROR code; uninit may follow either
 */
int ff_gpume_cuda_kernel_init(GpumeCudaKernel *kernel, AVCUDADeviceContext *hwctx,
                              const GpumeParams *params, void *log_ctx, int level);

/**
 * Launch them, with as many references as args has. All launches of a kernel go to one
 * stream, and none is replayed: each finds what the ones before it have left.
 */
CUresult ff_gpume_cuda_kernel_launch(GpumeCudaKernel *kernel, int nb_references,
                                     CUstream stream);

/** Unload them from the current context. */
void ff_gpume_cuda_kernel_uninit(GpumeCudaKernel *kernel);

#endif /* AVFILTER_GPUME_CUDA_KERNELS_H */
