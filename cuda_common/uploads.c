/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"

#include "libavfilter/gpume/cuda_common/uploads.h"

/** Smallest size of a buffer; sizes are powers of 2. */
#define MIN_BUFFER (64 << 10)

av_cold int ff_gpume_cuda_uploads_init(const GpumeCuda *c, GpumeCudaUploads *u)
{
    int ret = 0;

    u->size = MIN_BUFFER;
    for (int i = 0; i < GPUME_CUDA_UPLOADS && ret >= 0; i++)
        ret = ff_gpume_cuda_check(c, c->cu->cuEventCreate(&u->ring[i].done, GPUME_CUDA_WAITED),
                                  "create an event");
    return ret;
}

int ff_gpume_cuda_uploads_next(const GpumeCuda *c, GpumeCudaUploads *u, size_t size, GpumeCudaUpload **upload)
{
    GpumeCudaUpload *next = *upload = &u->ring[u->nb++ % GPUME_CUDA_UPLOADS];
    int ret;

    if (next->recorded) {
        ret = ff_gpume_cuda_check(c, c->cu->cuEventSynchronize(next->done), "wait for an upload");
        if (ret < 0)
            return ret;
    }
    next->recorded = 0;
    while (u->size < size)
        u->size *= 2;
    if (next->buffer.size >= u->size)
        return 0;
    ff_gpume_cuda_free(&next->buffer);
    return ff_gpume_cuda_alloc(c, &next->buffer, GPUME_CUDA_DEVICE | GPUME_CUDA_PINNED, u->size, "vectors");
}

int ff_gpume_cuda_upload(const GpumeCuda *c, const GpumeCudaUpload *upload, size_t size, const char *what)
{
    return ff_gpume_cuda_check(c, c->cu->cuMemcpyHtoDAsync(upload->buffer.data, upload->buffer.pinned, size,
                                                           c->hwctx->stream), what);
}

int ff_gpume_cuda_upload_end(const GpumeCuda *c, GpumeCudaUpload *upload)
{
    const int ret = ff_gpume_cuda_check(c, c->cu->cuEventRecord(upload->done, c->hwctx->stream),
                                        "record an event");

    upload->recorded = ret >= 0;
    return ret;
}

av_cold void ff_gpume_cuda_uploads_free(const GpumeCuda *c, GpumeCudaUploads *u)
{
    for (int i = 0; i < GPUME_CUDA_UPLOADS; i++) {
        ff_gpume_cuda_free(&u->ring[i].buffer);
        if (u->ring[i].done)
            c->cu->cuEventDestroy(u->ring[i].done);
        u->ring[i].done     = NULL;
        u->ring[i].recorded = 0;
    }
}
