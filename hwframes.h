/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Hardware frames of a filter's own.
 */

#ifndef AVFILTER_GPUME_HWFRAMES_H
#define AVFILTER_GPUME_HWFRAMES_H

#include "libavutil/attributes.h"
#include "libavutil/buffer.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"

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

#endif /* AVFILTER_GPUME_HWFRAMES_H */
