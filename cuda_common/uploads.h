/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * A ring of buffers through which filters send data to the device frame by frame, without waiting for the
 * device.
 */

#ifndef AVFILTER_GPUME_CUDA_COMMON_UPLOADS_H
#define AVFILTER_GPUME_CUDA_COMMON_UPLOADS_H

#include "libavfilter/gpume/cuda_common/driver.h"

/** The most uploads in flight. */
#define GPUME_CUDA_UPLOADS 4

/** An upload. The host fills buffer.pinned; kernels read buffer.data. */
typedef struct GpumeCudaUpload {
    GpumeCudaBuffer buffer;
    CUevent done;               ///< the kernels that read the buffer have ended
    int recorded;
} GpumeCudaUpload;

/** The ring: zeroed, or initialised. */
typedef struct GpumeCudaUploads {
    GpumeCudaUpload ring[GPUME_CUDA_UPLOADS];
    unsigned nb;                ///< uploads so far; upload n, from 1 on, uses ring[(n - 1) % GPUME_CUDA_UPLOADS]
    size_t size;                ///< bytes of new buffers, a power of 2
} GpumeCudaUploads;

/* All functions need the pushed context. They return 0 or an AVERROR code with a message. */

int ff_gpume_cuda_uploads_init(const GpumeCuda *c, GpumeCudaUploads *u);

/**
 * Sets *upload to the next upload, with room for size bytes. Waits only if GPUME_CUDA_UPLOADS uploads are in
 * flight, and allocates only if size is larger than ever before.
 */
int ff_gpume_cuda_uploads_next(const GpumeCuda *c, GpumeCudaUploads *u, size_t size, GpumeCudaUpload **upload);

/** Queues the copy of the first size bytes of an upload. */
int ff_gpume_cuda_upload(const GpumeCuda *c, const GpumeCudaUpload *upload, size_t size, const char *what);

/** Marks the end of an upload. All kernels that read it have been queued before. */
int ff_gpume_cuda_upload_end(const GpumeCuda *c, GpumeCudaUpload *upload);

/** Frees the uploads of the ring. No upload may be in flight. */
void ff_gpume_cuda_uploads_free(const GpumeCuda *c, GpumeCudaUploads *u);

#endif /* AVFILTER_GPUME_CUDA_COMMON_UPLOADS_H */
