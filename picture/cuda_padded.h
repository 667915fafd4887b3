/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Copies of pictures with repeated edges on the device; picture/padded.h has such copies in system memory.
 */

#ifndef AVFILTER_GPUME_PICTURE_CUDA_PADDED_H
#define AVFILTER_GPUME_PICTURE_CUDA_PADDED_H

#include "libavfilter/gpume/cuda_common/driver.h"
#include "libavfilter/gpume/picture/cuda_args.h"
#include "libavfilter/gpume/picture/layout.h"

/** The layout of copies, and the kernel that makes them. Zeroed before the first use. */
typedef struct GpumeCudaPadding {
    size_t first[GPUME_COMPONENTS];     ///< bytes to sample (0, 0)
    size_t size;
    int stride[GPUME_COMPONENTS];       ///< bytes
    GpumeCudaLaunch load;
} GpumeCudaPadding;

/** Loads the kernel into the current context. @return 0 or an AVERROR code with a message */
int ff_gpume_cuda_padding_init(const GpumeCuda *c, GpumeCudaPadding *p, int bytes);
void ff_gpume_cuda_padding_uninit(const GpumeCuda *c, GpumeCudaPadding *p);

/** Computes the layout of copies of pictures. */
void ff_gpume_cuda_padding_set(GpumeCudaPadding *p, const GpumeLayout *l);

/** Describes the frames of copies, gray ones of component 0. FFmpeg does not allocate such frames on devices. */
int ff_gpume_cuda_describe_gray(AVBufferRef **gray, const GpumeCuda *c, const GpumeLayout *l);

/**
 * Makes a frame of a copy. Its data and linesize are those of all components.
 * @param pool buffers of p->size bytes on the device
 * @param gray as ff_gpume_cuda_describe_gray() sets it
 * @return NULL: out of memory
 */
AVFrame *ff_gpume_cuda_padded_frame(GpumeCudaPool *pool, AVBufferRef *gray, const GpumeCudaPadding *p,
                                    const GpumeLayout *l);

/** Returns the addresses of a component of a frame and of the same component of a copy. */
GpumeCudaComponent ff_gpume_cuda_component(const GpumeCudaPadding *p, const GpumeLayout *l, int i,
                                           const AVFrame *frame, CUdeviceptr copy);

/** Queues the copy of a frame, of p->size bytes, on the stream of its device. @return 0 or an AVERROR code */
int ff_gpume_cuda_padded_load(const GpumeCuda *c, GpumeCudaPadding *p, const GpumeLayout *l,
                              const AVFrame *frame, CUdeviceptr copy);

#endif /* AVFILTER_GPUME_PICTURE_CUDA_PADDED_H */
