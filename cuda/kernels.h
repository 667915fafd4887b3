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

/** A search's kernel, ready to be launched for pictures of one size. */
typedef struct GpumeCudaKernel {
    CudaFunctions *cu;
    CUmodule module;
    CUfunction function;
    /** All but planes, source, mvs and costs are set by init. */
    GpumeCudaArgs args;
    unsigned grid[2];           ///< blocks of threads, x and y
    unsigned threads;           ///< of a block
    unsigned shared;            ///< bytes of dynamic shared memory
} GpumeCudaKernel;

/**
 * Report what the driver refused, in words for the user.
 * @param what what was tried: "Could not <what>: ..."
 * @return 0, AVERROR(ENOMEM), or AVERROR_EXTERNAL
 */
int ff_gpume_cuda_check(void *log_ctx, int level, CudaFunctions *cu,
                        CUresult err, const char *what);

/**
 * Load the kernel of params->algo into the current context, which is hwctx's.
 * @param level of the message that says why it failed
 * @return 0 or an AVERROR code; uninit may follow either
 */
int ff_gpume_cuda_kernel_init(GpumeCudaKernel *kernel, AVCUDADeviceContext *hwctx,
                              const GpumeParams *params, void *log_ctx, int level);

/** Launch it, with as many references as args has. */
CUresult ff_gpume_cuda_kernel_launch(GpumeCudaKernel *kernel, int nb_references,
                                     CUstream stream);

/** Unload it from the current context. */
void ff_gpume_cuda_kernel_uninit(GpumeCudaKernel *kernel);

#endif /* AVFILTER_GPUME_CUDA_KERNELS_H */
