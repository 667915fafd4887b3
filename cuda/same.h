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
    GpumeCudaSameArgs args;     ///< all but the planes of pictures and what a search has stored
} GpumeCudaSame;

/**
 * Load the kernel into the current context, which is cuda's; cuda must stay.
 * @param format of the samples on the device
 * @return 0 or an AVERROR code with a message; uninit may follow either
 */
int ff_gpume_cuda_same_init(GpumeCudaSame *s, const GpumeCuda *cuda, const GpumeParams *params,
                            enum AVPixelFormat format);

/**
 * Write a field's GpumeField.same to device memory. Its frames are in device memory.
 */
CUresult ff_gpume_cuda_same_launch(GpumeCudaSame *s, const GpumeField *field, CUdeviceptr same,
                                   CUstream stream);

void ff_gpume_cuda_same_uninit(GpumeCudaSame *s);

#endif /* AVFILTER_GPUME_CUDA_SAME_H */
