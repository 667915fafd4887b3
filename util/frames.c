/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"

#include "libavfilter/gpume/util/frames.h"

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

int ff_gpume_alloc_frame(AVFrame **frame, enum AVPixelFormat format, int w, int h)
{
    int ret;

    *frame = av_frame_alloc();
    if (!*frame)
        return AVERROR(ENOMEM);
    (*frame)->format = format;
    (*frame)->width  = w;
    (*frame)->height = h;
    ret = av_frame_get_buffer(*frame, 0);
    if (ret < 0)
        av_frame_free(frame);
    return ret;
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
