/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/util/frame_backend.h"

enum AVPixelFormat ff_gpume_backend_hw_format(const GpumeFrameBackend *const *backends, int i)
{
    for (; *backends; backends++)
        if ((*backends)->hw_format != AV_PIX_FMT_NONE && !i--)
            return (*backends)->hw_format;
    return AV_PIX_FMT_NONE;
}

enum AVPixelFormat ff_gpume_sw_format(const AVBufferRef *hw_frames)
{
    return hw_frames ? ((const AVHWFramesContext *)hw_frames->data)->sw_format : AV_PIX_FMT_NONE;
}

enum AVPixelFormat ff_gpume_frame_format(const AVFrame *frame)
{
    return frame->hw_frames_ctx ? ff_gpume_sw_format(frame->hw_frames_ctx) : frame->format;
}

const void *ff_gpume_frame_device(const AVFrame *frame)
{
    return frame->hw_frames_ctx ? ((const AVHWFramesContext *)frame->hw_frames_ctx->data)->device_ctx : NULL;
}

int ff_gpume_are_alike(const AVFrame *a, const AVFrame *b)
{
    return a->width == b->width && a->height == b->height && ff_gpume_frame_format(a) == ff_gpume_frame_format(b) &&
           ff_gpume_frame_device(a) == ff_gpume_frame_device(b);
}

av_cold int ff_gpume_open_hw_frames(AVBufferRef **frames, AVBufferRef *device, enum AVPixelFormat format,
                                    enum AVPixelFormat sw_format, int w, int h)
{
    AVHWFramesContext *c;
    int ret;

    *frames = av_hwframe_ctx_alloc(device);
    if (!*frames)
        return AVERROR(ENOMEM);
    c            = (AVHWFramesContext *)(*frames)->data;
    c->format    = format;
    c->sw_format = sw_format;
    c->width     = w;
    c->height    = h;
    ret = av_hwframe_ctx_init(*frames);
    if (ret < 0)
        av_buffer_unref(frames);
    return ret;
}

static av_cold const GpumeFrameBackend *choose(const GpumeFrameBackend *const *backends, const AVBufferRef *hw_frames,
                                               int (*supports)(enum AVPixelFormat sw_format), const char *filter,
                                               void *log_ctx)
{
    const AVHWFramesContext *frames    = hw_frames ? (const AVHWFramesContext *)hw_frames->data : NULL;
    const enum AVPixelFormat hw_format = frames ? frames->format : AV_PIX_FMT_NONE;

    for (; *backends; backends++) {
        if ((*backends)->hw_format != hw_format)
            continue;
        if (frames && (!supports(frames->sw_format) ||
                       (*backends)->supports && !(*backends)->supports(frames->sw_format))) {
            av_log(log_ctx, AV_LOG_ERROR, "%s does not support hardware frames of format %s with samples of format "
                   "%s; insert hwdownload before it.\n", filter, av_get_pix_fmt_name(hw_format),
                   av_get_pix_fmt_name(frames->sw_format));
            return NULL;
        }
        return *backends;
    }
    av_log(log_ctx, AV_LOG_ERROR, "%s does not support hardware frames of format %s; insert hwdownload before it.\n",
           filter, av_get_pix_fmt_name(hw_format));
    return NULL;
}

av_cold int ff_gpume_open_backend(const GpumeFrameBackend **backend, void **priv,
                                  const GpumeFrameBackend *const *backends, const AVBufferRef *hw_frames,
                                  int (*supports)(enum AVPixelFormat sw_format), const char *filter, void *log_ctx)
{
    *backend = choose(backends, hw_frames, supports, filter, log_ctx);
    *priv    = *backend ? av_mallocz((*backend)->priv_size) : NULL;
    return !*backend ? AVERROR(ENOSYS) : *priv ? 0 : AVERROR(ENOMEM);
}
