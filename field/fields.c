/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/buffer_internal.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/field/fields.h"

/** Farther out AVMotionVector's coordinates wrap around. */
#define MAX_SIDE 32768

void ff_gpume_fields_uninit(GpumeFieldSet *s)
{
    av_buffer_unref(&s->mvs);
    av_buffer_unref(&s->costs);
    av_buffer_unref(&s->on_device);
    memset(s, 0, sizeof(*s));
}

/* Frees the buffer of side data; buffers with this function are those that lead to a set. */
static void release(void *opaque, uint8_t *data)
{
    GpumeFieldSet *s = opaque;

    ff_gpume_fields_uninit(s);
    av_free(s);
}

int ff_gpume_fields_attach(AVFrame *frame, GpumeFieldSet *s)
{
    GpumeFieldSet *kept;
    AVBufferRef *buf;

    av_frame_remove_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    if (!s->nb)
        return 0;
    kept = av_memdup(s, sizeof(*s));
    if (!kept)
        return AVERROR(ENOMEM);
    buf = av_buffer_create(s->mvs->data, s->mvs->size, release, kept, 0);
    if (!buf) {
        av_free(kept);
        return AVERROR(ENOMEM);
    }
    memset(s, 0, sizeof(*s));
    if (!av_frame_new_side_data_from_buf(frame, AV_FRAME_DATA_MOTION_VECTORS, buf)) {
        *s          = *kept;
        kept->mvs   = kept->costs = kept->on_device = NULL;
        av_buffer_unref(&buf);
        return AVERROR(ENOMEM);
    }
    return 0;
}

const GpumeFieldSet *ff_gpume_fields_searched(const AVFrame *frame)
{
    const AVFrameSideData *sd = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);

    /* a function that nobody else can have, so what it frees is known */
    return sd && sd->buf && sd->buf->buffer->free == release ? sd->buf->buffer->opaque : NULL;
}

const GpumeFieldSet *ff_gpume_fields_of(const AVFrame *frame)
{
    const AVFrameSideData *sd = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    const GpumeFieldSet *s    = ff_gpume_fields_searched(frame);

    return s && sd->data == s->mvs->data && sd->size == s->mvs->size &&
           s->host[0].width == frame->width && s->host[0].height == frame->height &&
           FFMAX(frame->width, frame->height) <= MAX_SIDE ? s : NULL;
}
