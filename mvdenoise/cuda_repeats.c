/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/** @file Finds CUDA frames that have the samples of another frame; see mvdenoise/repeats.h. */

#include <stdint.h>

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/device/shell.h"
#include "libavfilter/gpume/mvdenoise/cuda_args.h"
#include "libavfilter/gpume/mvdenoise/modules.h"
#include "libavfilter/gpume/mvdenoise/repeats.h"
#include "libavfilter/gpume/util/frames.h"

GPUME_SHELL_MODULES(MVDENOISE_CUDA_MODULES)

static const GpumeShellKernel kernel = { "repeats", 0, MVDENOISE_CUDA_THREADS, 0, "compare frames" };

struct MvdenoiseRepeats {
    GpumeShell shell;
    GpumeCudaBuffer differ;     ///< uint32_t
    CUevent known;              ///< recorded when differ.pinned has been written
};

static av_cold void close_device(void *priv)
{
    MvdenoiseRepeats *s = priv;

    if (s->known)
        s->shell.cuda.cu->cuEventDestroy(s->known);
}

av_cold void ff_mvdenoise_cuda_repeats_close(MvdenoiseRepeats **repeats)
{
    MvdenoiseRepeats *s = *repeats;

    if (!s)
        return;
    ff_gpume_shell_close(&s->shell, close_device, s);
    ff_gpume_cuda_free(&s->differ);
    av_freep(repeats);
}

/* Loads the kernel and allocates memory. The caller has pushed the CUDA context. */
static av_cold int load(MvdenoiseRepeats *s)
{
    int ret = ff_gpume_shell_load(&s->shell, 0, &kernel, modules, 8);

    if (ret < 0 ||
        (ret = ff_gpume_cuda_alloc(&s->shell.cuda, &s->differ, GPUME_CUDA_DEVICE | GPUME_CUDA_PINNED, sizeof(uint32_t),
                                   "comparisons")) < 0)
        return ret;
    GPUME_SHELL_TRY(&s->shell, cuEventCreate(&s->known, GPUME_CUDA_WAITED), "create an event")
    return 0;
}

static av_cold int open_repeats(MvdenoiseRepeats **repeats, const AVBufferRef *hw_frames, void *log_ctx)
{
    MvdenoiseRepeats *s = *repeats = av_mallocz(sizeof(*s));
    int ret;

    if (!s)
        return AVERROR(ENOMEM);
    if ((ret = ff_gpume_shell_open(&s->shell, hw_frames, log_ctx)) < 0 ||
        (ret = ff_gpume_shell_leave(&s->shell, load(s))) < 0)
        ff_mvdenoise_cuda_repeats_close(repeats);
    return ret;
}

/* Queues a comparison. The caller has pushed the CUDA context. */
static int compare(MvdenoiseRepeats *s, const AVFrame *a, const AVFrame *b)
{
    const CUstream stream      = ff_gpume_shell_stream(&s->shell);
    const MvdenoiseBytes bytes = ff_mvdenoise_bytes(a, b);
    MvdenoiseCudaRepeatsArgs args = { .differ = s->differ.data };
    int ret;

    /* frames of different formats or sizes differ */
    GPUME_SHELL_TRY(&s->shell, cuMemsetD8Async(s->differ.data, !bytes.nb, s->differ.size, stream), "clear a word")
    for (int i = 0; i < bytes.nb; i++)
        args.planes[i] = (MvdenoiseCudaBytes) {
            .a = (uintptr_t)a->data[i], .b = (uintptr_t)b->data[i], .linesize = { a->linesize[i], b->linesize[i] },
            .w = bytes.w[i], .h = bytes.h[i],
        };
    if (bytes.nb) {
        int w = 0;

        for (int i = 0; i < bytes.nb; i++)
            w = FFMAX(w, bytes.w[i]);
        ret = ff_gpume_shell_launch(&s->shell, 0, gpume_divide_up(w, 8 * MVDENOISE_CUDA_THREADS),
                                    gpume_divide_up(a->height, MVDENOISE_CUDA_COMPARED), bytes.nb, &args);
        if (ret < 0)
            return ret;
    }
    GPUME_SHELL_TRY(&s->shell, cuMemcpyDtoHAsync(s->differ.pinned, s->differ.data, s->differ.size, stream),
                    "download a comparison")
    GPUME_SHELL_TRY(&s->shell, cuEventRecord(s->known, stream), "record an event")
    return 0;
}

int ff_mvdenoise_cuda_compare(MvdenoiseRepeats **repeats, const AVFrame *a, const AVFrame *b, void *log_ctx)
{
    const void *device_ctx = ff_gpume_frame_device(b);
    int ret;

    if (*repeats && ff_gpume_cuda_device_ctx(&(*repeats)->shell.cuda) != device_ctx)
        ff_mvdenoise_cuda_repeats_close(repeats);
    ret = *repeats ? 0 : open_repeats(repeats, b->hw_frames_ctx, log_ctx);
    if (ret >= 0)
        ret = ff_gpume_shell_enter(&(*repeats)->shell);
    if (ret >= 0)
        ret = ff_gpume_shell_leave(&(*repeats)->shell, compare(*repeats, a, b));
    return ret < 0 ? ret : AVERROR(EAGAIN);
}

int ff_mvdenoise_cuda_compared(MvdenoiseRepeats *s)
{
    int ret = ff_gpume_shell_enter(&s->shell);

    if (ret < 0)
        return ret;
    ret = ff_gpume_shell_check(&s->shell, s->shell.cuda.cu->cuEventSynchronize(s->known), "wait for a comparison");
    ret = ff_gpume_shell_leave(&s->shell, ret);
    return ret < 0 ? ret : !*(const uint32_t *)s->differ.pinned;
}
