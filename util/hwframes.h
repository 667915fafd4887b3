/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What filters that take hardware frames, too, have in common: formats, and frames of their own.
 */

#ifndef AVFILTER_GPUME_UTIL_HWFRAMES_H
#define AVFILTER_GPUME_UTIL_HWFRAMES_H

#include "libavutil/attributes.h"
#include "libavutil/buffer.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/formats.h"

/**
 * The same formats in and out.
 * @param supported whether a format of samples is taken
 * @param hw_format format i of hardware frames; AV_PIX_FMT_NONE: there are no more
 * @return 0 or an AVERROR code
 */
static inline int gpume_set_formats(const AVFilterContext *ctx, AVFilterFormatsConfig **cfg_in,
                                    AVFilterFormatsConfig **cfg_out, int (*supported)(enum AVPixelFormat),
                                    enum AVPixelFormat (*hw_format)(int i))
{
    const AVPixFmtDescriptor *desc = NULL;
    AVFilterFormats *formats = NULL;
    enum AVPixelFormat format;
    int ret;

    while ((desc = av_pix_fmt_desc_next(desc))) {
        format = av_pix_fmt_desc_get_id(desc);
        if (supported(format) && (ret = ff_add_format(&formats, format)) < 0)
            return ret;
    }
    for (int i = 0; (format = hw_format(i)) != AV_PIX_FMT_NONE; i++)
        if ((ret = ff_add_format(&formats, format)) < 0)
            return ret;
    return ff_set_common_formats2(ctx, cfg_in, cfg_out, formats);
}

/**
 * Make frames like others: of their device, format and size.
 * @param like an AVHWFramesContext
 * @param out  set to a new one; on an error to NULL, or to one that is to be unreferenced
 * @return 0 or an AVERROR code
 */
static inline av_cold int gpume_frames_like(const AVBufferRef *like, AVBufferRef **out)
{
    const AVHWFramesContext *from = (const AVHWFramesContext *)like->data;
    AVHWFramesContext *to;

    *out = av_hwframe_ctx_alloc(from->device_ref);
    if (!*out)
        return AVERROR(ENOMEM);
    to            = (AVHWFramesContext *)(*out)->data;
    to->format    = from->format;
    to->sw_format = from->sw_format;
    to->width     = from->width;
    to->height    = from->height;
    return av_hwframe_ctx_init(*out);
}

#endif /* AVFILTER_GPUME_UTIL_HWFRAMES_H */
