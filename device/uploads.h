/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * A ring of buffers through which filters send data to the device, frame by frame, without
 * waiting for it.
 */

#ifndef AVFILTER_GPUME_DEVICE_UPLOADS_H
#define AVFILTER_GPUME_DEVICE_UPLOADS_H

#include "libavfilter/gpume/device/driver.h"

/** Uploads that can be in flight. */
#define GPUME_CUDA_UPLOADS 4

/** One of them. The host fills buffer.pinned; kernels read buffer.data. */
typedef struct GpumeCudaUpload {
    GpumeCudaBuffer buffer;
    CUevent done;               ///< what reads the buffer has ended
    int recorded;
} GpumeCudaUpload;

/** Blank, or initialised. */
typedef struct GpumeCudaUploads {
    GpumeCudaUpload ring[GPUME_CUDA_UPLOADS];
    unsigned nb;                ///< so far; number n, from 1 on, is (or was) in ring[(n - 1) % GPUME_CUDA_UPLOADS]
    size_t size;                ///< bytes of new buffers, a power of 2
} GpumeCudaUploads;

/* All of them with the context pushed. They return 0 or an AVERROR code with a message. */

int ff_gpume_cuda_uploads_init(const GpumeCuda *c, GpumeCudaUploads *u);

/**
 * The next one, with room for size bytes. Waits only if GPUME_CUDA_UPLOADS are in flight, and
 * allocates only if size is larger than ever before.
 */
int ff_gpume_cuda_uploads_next(const GpumeCuda *c, GpumeCudaUploads *u, size_t size, GpumeCudaUpload **upload);

/** Queue the copy of its first bytes. */
int ff_gpume_cuda_upload(const GpumeCuda *c, const GpumeCudaUpload *upload, size_t size, const char *what);

/** What was queued so far is all that reads it. */
int ff_gpume_cuda_upload_end(const GpumeCuda *c, GpumeCudaUpload *upload);

/** Blank them. Nothing may be in flight. */
void ff_gpume_cuda_uploads_free(const GpumeCuda *c, GpumeCudaUploads *u);

#endif /* AVFILTER_GPUME_DEVICE_UPLOADS_H */
