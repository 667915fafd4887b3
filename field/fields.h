/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The motion fields of a frame, which travel with it from filter to filter. What any program
 * reads is side data of type AV_FRAME_DATA_MOTION_VECTORS. Our filters find the same fields
 * behind its buffer, with their geometry and, where they were searched on a device, on that
 * device; not so behind side data that somebody else has made, copied or replaced.
 */

#ifndef AVFILTER_GPUME_FIELD_FIELDS_H
#define AVFILTER_GPUME_FIELD_FIELDS_H

#include <stdint.h>

#include "libavutil/buffer.h"
#include "libavutil/frame.h"

#include "libavfilter/gpume/field/field_args.h"

/** Motion fields of one picture. Blank, or with buffers. */
typedef struct GpumeFieldSet {
    int nb;                         ///< fields
    int64_t number;                 ///< of the picture in the stream that was searched, from 1 on
    /** With sizes mvs and costs are those of leaves, one after the other, but of as many blocks at most. */
    GpumeMotionField host[GPUME_MAX_REFERENCES];
    /**
     * The same on a device; without on_device nothing of it is set. With sizes each of the smallest
     * blocks has the vector of its leaf, and there are no costs.
     */
    GpumeMotionField device[GPUME_MAX_REFERENCES];
    AVBufferRef *mvs;               ///< AVMotionVector[nb][bh][bw], in which host[] lies
    AVBufferRef *costs;             ///< uint32_t[nb][bh][bw]; behind them sizes, where there are any
    /** Of leaves of a tree: GpumeField.sizes, [nb][bh][bw]; NULL: blocks of one size tile the picture. */
    uint8_t *sizes;
    AVBufferRef *on_device;         ///< memory of the device in which device[] lies, or NULL
    const void *device_ctx;         ///< the AVHWDeviceContext of that device
} GpumeFieldSet;

/** The vectors of field i in memory. */
static inline AVMotionVector *gpume_field_mvs(const GpumeFieldSet *s, int i)
{
    return (AVMotionVector *)(uintptr_t)s->host[i].mvs;
}

/** Their costs. */
static inline uint32_t *gpume_field_costs(const GpumeFieldSet *s, int i)
{
    return (uint32_t *)(uintptr_t)s->host[i].costs;
}

/** Returns the one of nb fields that is of a distance, or NULL. */
static inline const GpumeMotionField *gpume_field_at(const GpumeMotionField *fields, int nb, int distance)
{
    for (int i = 0; i < nb; i++)
        if (fields[i].distance == distance)
            return &fields[i];
    return NULL;
}

/** Unreferences the buffers and blanks the set. */
void ff_gpume_fields_uninit(GpumeFieldSet *s);

/**
 * Replaces a frame's vectors by these fields. Takes over the set's buffers and blanks it.
 * @param s where nb is 0, the frame has no vectors afterwards
 * @return 0 or AVERROR(ENOMEM), and then the set is as it was
 */
int ff_gpume_fields_attach(AVFrame *frame, GpumeFieldSet *s);

/**
 * Returns the fields with which a frame's vectors came, even if they do not fit it any more, or
 * NULL. They are for messages: the side data may have been cut.
 */
const GpumeFieldSet *ff_gpume_fields_searched(const AVFrame *frame);

/**
 * Returns the fields that a frame's vectors are, or NULL: they are none of ours, or those of a
 * picture of another size. They stay as long as the frame's side data.
 */
const GpumeFieldSet *ff_gpume_fields_of(const AVFrame *frame);

#endif /* AVFILTER_GPUME_FIELD_FIELDS_H */
