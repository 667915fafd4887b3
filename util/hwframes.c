/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/avconfig.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/log.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/filters.h"
#include "libavfilter/gpume/util/hwframes.h"
#include "libavfilter/video.h"

/* Returns whether the samples of a format have another byte order than this machine. */
static int is_foreign(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);

    return desc->comp[0].depth > 8 && !!(desc->flags & AV_PIX_FMT_FLAG_BE) != AV_HAVE_BIGENDIAN;
}

/*
 * Returns whether formats of the other byte order may be used: only if the input has no others, so that no frame is
 * converted to that byte order.
 */
static int may_use_foreign(const AVFilterContext *ctx, int (*supported)(enum AVPixelFormat))
{
    const AVFilterFormats *in = ctx->inputs[0]->incfg.formats;
    int nb[2] = { 0 };

    if (!in)
        return 1;       // not known yet
    for (unsigned i = 0; i < in->nb_formats; i++)
        if (supported(in->formats[i]))
            nb[is_foreign(in->formats[i])]++;
    return nb[1] && !nb[0];
}

int ff_gpume_set_formats(const AVFilterContext *ctx, AVFilterFormatsConfig **cfg_in,
                         AVFilterFormatsConfig **cfg_out, int (*supported)(enum AVPixelFormat),
                         enum AVPixelFormat (*hw_format)(const AVFilterContext *ctx, int i))
{
    const int foreign = may_use_foreign(ctx, supported);
    const AVPixFmtDescriptor *desc = NULL;
    AVFilterFormats *formats = NULL;
    enum AVPixelFormat format;
    int ret;

    while ((desc = av_pix_fmt_desc_next(desc))) {
        format = av_pix_fmt_desc_get_id(desc);
        if (supported(format) && (foreign || !is_foreign(format)) && (ret = ff_add_format(&formats, format)) < 0)
            return ret;
    }
    for (int i = 0; (format = hw_format(ctx, i)) != AV_PIX_FMT_NONE; i++)
        if ((ret = ff_add_format(&formats, format)) < 0)
            return ret;
    return ff_set_common_formats2(ctx, cfg_in, cfg_out, formats);
}

av_cold int ff_gpume_hwframes_open(GpumeHwFrames *s, AVBufferRef *in)
{
    const AVHWFramesContext *from;
    AVHWFramesContext *to;
    int ret = AVERROR(ENOMEM);

    ff_gpume_hwframes_close(s);
    if (!in)
        return 0;
    from   = (const AVHWFramesContext *)in->data;
    s->in  = av_buffer_ref(in);
    s->out = av_hwframe_ctx_alloc(from->device_ref);
    if (s->in && s->out) {
        to            = (AVHWFramesContext *)s->out->data;
        to->format    = from->format;
        to->sw_format = from->sw_format;
        to->width     = from->width;
        to->height    = from->height;
        ret = av_hwframe_ctx_init(s->out);
    }
    if (ret < 0)
        ff_gpume_hwframes_close(s);
    return ret;
}

av_cold void ff_gpume_hwframes_close(GpumeHwFrames *s)
{
    av_buffer_unref(&s->in);
    av_buffer_unref(&s->out);
}

av_cold int ff_gpume_hwframes_config(const GpumeHwFrames *s, AVFilterLink *outlink)
{
    FilterLink *link = ff_filter_link(outlink);

    if (!s->out)
        return 0;
    av_buffer_unref(&link->hw_frames_ctx);
    link->hw_frames_ctx = av_buffer_ref(s->out);
    return link->hw_frames_ctx ? 0 : AVERROR(ENOMEM);
}

int ff_gpume_hwframes_fit(const GpumeHwFrames *s, const AVFilterLink *inlink, const AVFrame *frame)
{
    const AVHWFramesContext *a, *b;

    /* the size of frames may change in mid-stream, their format may not */
    if (frame->format != inlink->format || !frame->hw_frames_ctx != !s->in) {
        av_log(inlink->dst, AV_LOG_ERROR, "A frame has the format %s instead of %s, which the filter graph was "
               "configured for.\n", av_get_pix_fmt_name(frame->format), av_get_pix_fmt_name(inlink->format));
        return AVERROR(EINVAL);
    }
    if (!s->in)
        return 1;
    a = (const AVHWFramesContext *)frame->hw_frames_ctx->data;
    b = (const AVHWFramesContext *)s->in->data;
    return a->format == b->format && a->sw_format == b->sw_format && a->width == b->width &&
           a->height == b->height && a->device_ctx == b->device_ctx;
}

int ff_gpume_new_samples(const GpumeHwFrames *s, AVFilterLink *outlink, AVFrame *frame, AVFrame **old)
{
    AVFrame *f = s->out ? av_frame_alloc() : ff_get_video_buffer(outlink, frame->width, frame->height);
    int ret = f ? 0 : AVERROR(ENOMEM);

    if (f && s->out)
        ret = av_hwframe_get_buffer(s->out, f, 0);
    if (ret >= 0) {
        for (int i = 0; i < AV_NUM_DATA_POINTERS; i++) {
            FFSWAP(uint8_t *, frame->data[i], f->data[i]);
            FFSWAP(int, frame->linesize[i], f->linesize[i]);
            FFSWAP(AVBufferRef *, frame->buf[i], f->buf[i]);
        }
        FFSWAP(AVBufferRef *, frame->hw_frames_ctx, f->hw_frames_ctx);
        f->width  = frame->width;
        f->height = frame->height;
    }
    if (ret >= 0 && old)
        *old = f;
    else
        av_frame_free(&f);
    return ret;
}
