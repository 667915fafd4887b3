/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/buffer.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"
#include "libavutil/thread.h"

#include "libavfilter/gpume/field/fields.h"

/** At larger positions, AVMotionVector's coordinates overflow. */
#define MAX_SIDE 32768

void ff_gpume_fields_uninit(GpumeFieldSet *s)
{
    av_buffer_unref(&s->mvs);
    av_buffer_unref(&s->costs);
    av_buffer_unref(&s->on_device);
    memset(s, 0, sizeof(*s));
}

/** A set that is attached to side data. */
typedef struct AttachedSet {
    GpumeFieldSet set;
    struct AttachedSet *next, **link;
} AttachedSet;

/** The attached sets of this process. Only an opaque pointer of a buffer that is in this list points to a set. */
static AttachedSet *attached;
static AVMutex attached_lock = AV_MUTEX_INITIALIZER;

static void add_to_list(AttachedSet *a)
{
    ff_mutex_lock(&attached_lock);
    a->next = attached;
    a->link = &attached;
    if (attached)
        attached->link = &a->next;
    attached = a;
    ff_mutex_unlock(&attached_lock);
}

static void remove_from_list(AttachedSet *a)
{
    ff_mutex_lock(&attached_lock);
    *a->link = a->next;
    if (a->next)
        a->next->link = a->link;
    ff_mutex_unlock(&attached_lock);
}

static int is_attached(const void *opaque)
{
    const AttachedSet *a;

    ff_mutex_lock(&attached_lock);
    for (a = attached; a && a != opaque; a = a->next)
        ;
    ff_mutex_unlock(&attached_lock);
    return !!a;
}

/* Frees the buffer of side data. */
static void release(void *opaque, uint8_t *data)
{
    AttachedSet *a = opaque;

    remove_from_list(a);
    ff_gpume_fields_uninit(&a->set);
    av_free(a);
}

int ff_gpume_fields_attach(AVFrame *frame, GpumeFieldSet *s)
{
    AttachedSet *a;
    AVBufferRef *buf;

    av_frame_remove_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    if (!s->nb)
        return 0;
    a = av_mallocz(sizeof(*a));
    if (!a)
        return AVERROR(ENOMEM);
    a->set = *s;
    buf = av_buffer_create(s->mvs->data, s->mvs->size, release, a, 0);
    if (!buf) {
        av_free(a);
        return AVERROR(ENOMEM);
    }
    add_to_list(a);
    memset(s, 0, sizeof(*s));
    if (!av_frame_new_side_data_from_buf(frame, AV_FRAME_DATA_MOTION_VECTORS, buf)) {
        *s         = a->set;
        a->set.mvs = a->set.costs = a->set.on_device = NULL;
        av_buffer_unref(&buf);
        return AVERROR(ENOMEM);
    }
    return 0;
}

const GpumeFieldSet *ff_gpume_fields_searched(const AVFrame *frame)
{
    const AVFrameSideData *sd = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    const AttachedSet *a      = sd && sd->buf ? av_buffer_get_opaque(sd->buf) : NULL;

    return a && is_attached(a) ? &a->set : NULL;
}

const GpumeFieldSet *ff_gpume_frame_fields(const AVFrame *frame)
{
    const AVFrameSideData *sd = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    const GpumeFieldSet *s    = ff_gpume_fields_searched(frame);

    return s && sd->data == s->mvs->data && sd->size == s->mvs->size &&
           s->host[0].width == frame->width && s->host[0].height == frame->height &&
           FFMAX(frame->width, frame->height) <= MAX_SIDE ? s : NULL;
}
