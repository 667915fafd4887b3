/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/avconfig.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/macros.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/filters.h"
#include "libavfilter/gpume/util/frames.h"
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
                         enum AVPixelFormat (*hw_format)(const void *opaque, int i), const void *opaque)
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
    for (int i = 0; (format = hw_format(opaque, i)) != AV_PIX_FMT_NONE; i++)
        if ((ret = ff_add_format(&formats, format)) < 0)
            return ret;
    return ff_set_common_formats2(ctx, cfg_in, cfg_out, formats);
}

/* Returns whether a pool has frames like those of another one. */
static int is_like(const AVBufferRef *pool, const AVBufferRef *other)
{
    const AVHWFramesContext *a = pool ? (const AVHWFramesContext *)pool->data : NULL;
    const AVHWFramesContext *b = (const AVHWFramesContext *)other->data;

    return a && a->format == b->format && a->sw_format == b->sw_format && a->width == b->width &&
           a->height == b->height && a->device_ctx == b->device_ctx;
}

/* Gives a link a pool of frames like those of another pool. */
static int open_pool(AVFilterLink *outlink, const AVBufferRef *other)
{
    const AVHWFramesContext *from = (const AVHWFramesContext *)other->data;
    AVBufferRef *pool;
    const int ret = ff_gpume_open_hw_frames(&pool, from->device_ref, from->format, from->sw_format, from->width,
                                            from->height);

    if (ret >= 0)
        FFSWAP(AVBufferRef *, ff_filter_link(outlink)->hw_frames_ctx, pool);
    av_buffer_unref(&pool);
    return ret;
}

av_cold int ff_gpume_config_pool(AVFilterLink *outlink)
{
    const AVBufferRef *in = ff_filter_link(outlink->src->inputs[0])->hw_frames_ctx;

    return in ? open_pool(outlink, in) : 0;
}

int ff_gpume_new_samples(AVFilterLink *outlink, AVFrame *frame, AVFrame **old)
{
    const AVBufferRef *in = frame->hw_frames_ctx;
    const FilterLink *out = ff_filter_link(outlink);
    const int is_other = in && !is_like(out->hw_frames_ctx, in);
    AVFrame *f = NULL;
    int ret = is_other ? open_pool(outlink, in) : 0;

    if (ret >= 0) {
        f   = in ? av_frame_alloc() : ff_get_video_buffer(outlink, frame->width, frame->height);
        ret = !f ? AVERROR(ENOMEM) : in ? av_hwframe_get_buffer(out->hw_frames_ctx, f, 0) : 0;
    }
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
    return ret < 0 ? ret : is_other;
}
