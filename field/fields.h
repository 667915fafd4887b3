/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The motion fields of a frame travel with it from filter to filter. Every program can read them as
 * side data of type AV_FRAME_DATA_MOTION_VECTORS. gpume's filters get the same fields from the
 * buffer of the side data, with their geometry and, if they were searched on a device, the copy on
 * that device. Side data that another program has made, copied or replaced has no such fields.
 */

#ifndef AVFILTER_GPUME_FIELD_FIELDS_H
#define AVFILTER_GPUME_FIELD_FIELDS_H

#include <stdint.h>

#include "libavutil/buffer.h"
#include "libavutil/frame.h"

#include "libavfilter/gpume/field/field_args.h"

/** Motion fields of one picture. Zeroed, or with buffers. */
typedef struct GpumeFieldSet {
    int nb;                         ///< number of fields
    int64_t number;                 ///< number of the picture in the stream that was searched, from 1 on
    /** The fields in system memory. If sizes is set, mvs and costs are those of the leaves, at most bw * bh of them. */
    GpumeMotionField host[GPUME_MAX_REFERENCES];
    /**
     * The fields on a device; only set with on_device. If sizes is set, each of the smallest blocks
     * has the vector of its leaf, and there are no costs.
     */
    GpumeMotionField device[GPUME_MAX_REFERENCES];
    AVBufferRef *mvs;               ///< AVMotionVector[nb][bh][bw], which contains the vectors of host[]
    AVBufferRef *costs;             ///< uint32_t[nb][bh][bw], followed by sizes if there are any
    /** Sides of the leaves of a tree: GpumeField.sizes, [nb][bh][bw]; NULL: blocks of one size tile the picture. */
    uint8_t *sizes;
    AVBufferRef *on_device;         ///< device memory that contains device[], or NULL
    const void *device_ctx;         ///< the AVHWDeviceContext of that device
} GpumeFieldSet;

/** Returns the vectors of field i in system memory. */
static inline AVMotionVector *gpume_field_mvs(const GpumeFieldSet *s, int i)
{
    return (AVMotionVector *)(uintptr_t)s->host[i].mvs;
}

/** Returns the costs of field i in system memory. */
static inline uint32_t *gpume_field_costs(const GpumeFieldSet *s, int i)
{
    return (uint32_t *)(uintptr_t)s->host[i].costs;
}

/** Returns the field of a distance, or NULL. */
static inline const GpumeMotionField *gpume_field_at(const GpumeMotionField *fields, int nb, int distance)
{
    for (int i = 0; i < nb; i++)
        if (fields[i].distance == distance)
            return &fields[i];
    return NULL;
}

/** Unreferences the buffers and zeroes the set. */
void ff_gpume_fields_uninit(GpumeFieldSet *s);

/**
 * Replaces a frame's vectors by these fields. Takes over the set's buffers and zeroes the set.
 * @param s if nb is 0, the frame has no vectors afterwards
 * @return 0 or AVERROR(ENOMEM); on error the set is unchanged
 */
int ff_gpume_fields_attach(AVFrame *frame, GpumeFieldSet *s);

/**
 * Returns the fields that were attached with a frame's vectors, or NULL. The fields are for messages
 * only: the frame may have changed its size, or the side data may have been truncated.
 */
const GpumeFieldSet *ff_gpume_fields_searched(const AVFrame *frame);

/**
 * Returns the fields that are a frame's vectors. Returns NULL if the vectors are not from gpume, or
 * belong to a picture of another size. The fields stay valid as long as the frame's side data.
 */
const GpumeFieldSet *ff_gpume_frame_fields(const AVFrame *frame);

#endif /* AVFILTER_GPUME_FIELD_FIELDS_H */
