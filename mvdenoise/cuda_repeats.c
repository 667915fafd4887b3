/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/** @file Finds CUDA frames that have the samples of another frame; see mvdenoise/repeats.h. */

#include <stdint.h>

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/cuda_common/filter.h"
#include "libavfilter/gpume/mvdenoise/cuda_args.h"
#include "libavfilter/gpume/mvdenoise/modules.h"
#include "libavfilter/gpume/mvdenoise/repeats.h"
#include "libavfilter/gpume/util/frames.h"

GPUME_CUDA_FILTER_MODULES(MVDENOISE_CUDA_MODULES)

static const GpumeCudaFilterKernel kernel = { "repeats", 0, MVDENOISE_CUDA_THREADS, 0, "compare frames" };

struct MvdenoiseRepeats {
    GpumeCudaFilter gpu;
    GpumeCudaBuffer differ;     ///< uint32_t
    CUevent known;              ///< recorded when differ.pinned has been written
};

static av_cold void close_device(void *priv)
{
    MvdenoiseRepeats *s = priv;

    if (s->known)
        s->gpu.cuda.cu->cuEventDestroy(s->known);
}

av_cold void ff_mvdenoise_cuda_repeats_close(MvdenoiseRepeats **repeats)
{
    MvdenoiseRepeats *s = *repeats;

    if (!s)
        return;
    ff_gpume_cuda_filter_close(&s->gpu, close_device, s);
    ff_gpume_cuda_free(&s->differ);
    av_freep(repeats);
}

/* Loads the kernel and allocates memory. The caller has pushed the CUDA context. */
static av_cold int load(MvdenoiseRepeats *s)
{
    int ret = ff_gpume_cuda_filter_load(&s->gpu, 0, &kernel, modules, 8);

    if (ret < 0 ||
        (ret = ff_gpume_cuda_alloc(&s->gpu.cuda, &s->differ, GPUME_CUDA_DEVICE | GPUME_CUDA_PINNED, sizeof(uint32_t),
                                   "comparisons")) < 0)
        return ret;
    return GPUME_CUDA_CALL(&s->gpu, cuEventCreate(&s->known, GPUME_CUDA_WAITED), "create an event");
}

static av_cold int open_repeats(MvdenoiseRepeats **repeats, const AVBufferRef *hw_frames, void *log_ctx)
{
    MvdenoiseRepeats *s = *repeats = av_mallocz(sizeof(*s));
    int ret;

    if (!s)
        return AVERROR(ENOMEM);
    if ((ret = ff_gpume_cuda_filter_open(&s->gpu, hw_frames, log_ctx)) < 0 ||
        (ret = ff_gpume_cuda_filter_leave(&s->gpu, load(s))) < 0)
        ff_mvdenoise_cuda_repeats_close(repeats);
    return ret;
}

/* Queues a comparison. The caller has pushed the CUDA context. */
static int compare(MvdenoiseRepeats *s, const AVFrame *a, const AVFrame *b)
{
    const CUstream stream      = ff_gpume_cuda_filter_stream(&s->gpu);
    const MvdenoiseBytes bytes = ff_mvdenoise_bytes(a, b);
    MvdenoiseCudaRepeatsArgs args = { .differ = s->differ.data };
    int ret;

    /* frames of different formats or sizes differ */
    if ((ret = GPUME_CUDA_CALL(&s->gpu, cuMemsetD8Async(s->differ.data, !bytes.nb, s->differ.size, stream),
                               "clear a word")) < 0)
        return ret;
    for (int i = 0; i < bytes.nb; i++)
        args.planes[i] = (MvdenoiseCudaBytes) {
            .a = (uintptr_t)a->data[i], .b = (uintptr_t)b->data[i], .linesize = { a->linesize[i], b->linesize[i] },
            .w = bytes.w[i], .h = bytes.h[i],
        };
    if (bytes.nb) {
        int w = 0;

        for (int i = 0; i < bytes.nb; i++)
            w = FFMAX(w, bytes.w[i]);
        ret = ff_gpume_cuda_filter_launch(&s->gpu, 0, gpume_divide_up(w, 8 * MVDENOISE_CUDA_THREADS),
                                          gpume_divide_up(a->height, MVDENOISE_CUDA_COMPARED), bytes.nb, &args);
        if (ret < 0)
            return ret;
    }
    if ((ret = GPUME_CUDA_CALL(&s->gpu, cuMemcpyDtoHAsync(s->differ.pinned, s->differ.data, s->differ.size, stream),
                               "download a comparison")) < 0 ||
        (ret = GPUME_CUDA_CALL(&s->gpu, cuEventRecord(s->known, stream), "record an event")) < 0)
        return ret;
    return 0;
}

int ff_mvdenoise_cuda_compare(MvdenoiseRepeats **repeats, const AVFrame *a, const AVFrame *b, void *log_ctx)
{
    const void *device_ctx = ff_gpume_frame_device(b);
    int ret;

    if (*repeats && ff_gpume_cuda_device_ctx(&(*repeats)->gpu.cuda) != device_ctx)
        ff_mvdenoise_cuda_repeats_close(repeats);
    ret = *repeats ? 0 : open_repeats(repeats, b->hw_frames_ctx, log_ctx);
    if (ret >= 0)
        ret = ff_gpume_cuda_filter_enter(&(*repeats)->gpu);
    if (ret >= 0)
        ret = ff_gpume_cuda_filter_leave(&(*repeats)->gpu, compare(*repeats, a, b));
    return ret < 0 ? ret : AVERROR(EAGAIN);
}

int ff_mvdenoise_cuda_compared(MvdenoiseRepeats *s)
{
    int ret = ff_gpume_cuda_filter_enter(&s->gpu);

    if (ret < 0)
        return ret;
    ret = ff_gpume_cuda_filter_check(&s->gpu, s->gpu.cuda.cu->cuEventSynchronize(s->known), "wait for a comparison");
    ret = ff_gpume_cuda_filter_leave(&s->gpu, ret);
    return ret < 0 ? ret : !*(const uint32_t *)s->differ.pinned;
}
