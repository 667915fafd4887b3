/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Compares the cells of frames on the device.
 */

#ifndef AVFILTER_GPUME_CUDA_SAME_H
#define AVFILTER_GPUME_CUDA_SAME_H

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/cuda/modules.h"
#include "libavfilter/gpume/cuda/search_args.h"

typedef struct GpumeCudaSame {
    const GpumeCuda *cuda;
    GpumeCudaLaunch launch;
    GpumeCudaSameArgs args;     ///< all members but the planes of pictures and the results of a search
} GpumeCudaSame;

/**
 * Loads the kernel into the current context, which is that of cuda; cuda must outlive it.
 * @param format pixel format of the frames on the device
 * @return 0 or an AVERROR code with a message; uninit may follow either
 */
int ff_gpume_cuda_same_init(GpumeCudaSame *s, const GpumeCuda *cuda, const GpumeParams *params,
                            enum AVPixelFormat format);

/**
 * Writes a field's GpumeField.same to device memory. The frames of the field are in device memory.
 */
CUresult ff_gpume_cuda_same_launch(GpumeCudaSame *s, const GpumeField *field, CUdeviceptr same,
                                   CUstream stream);

void ff_gpume_cuda_same_uninit(GpumeCudaSame *s);

#endif /* AVFILTER_GPUME_CUDA_SAME_H */
