/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Reads AVMotionVectors of any filter.
 */

#ifndef AVFILTER_GPUME_FIELD_SIDEDATA_H
#define AVFILTER_GPUME_FIELD_SIDEDATA_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "libavutil/frame.h"
#include "libavutil/motion_vector.h"

#include "libavfilter/gpume/field/blockvector.h"
#include "libavfilter/gpume/field/field_args.h"

/** Returns the number of vectors in side data of type AV_FRAME_DATA_MOTION_VECTORS; 0 for NULL. */
static inline size_t gpume_nb_vectors(const AVFrameSideData *sd)
{
    return sd ? sd->size / sizeof(AVMotionVector) : 0;
}

/** Copies vector i of side data, which need not be aligned. */
static inline void gpume_copy_vector(AVMotionVector *dst, const AVFrameSideData *sd, size_t i)
{
    memcpy(dst, sd->data + i * sizeof(*dst), sizeof(*dst));
}

/** Returns the distance of vector i, as defined for GpumeBlockVector. */
static inline int gpume_read_distance(const AVFrameSideData *sd, size_t i)
{
    AVMotionVector mv;

    gpume_copy_vector(&mv, sd, i);
    return gpume_distance(mv.source);
}

/**
 * Reads a vector, which need not be aligned.
 * @return 0 if it has no block inside a picture of w x h samples
 */
static inline int gpume_read_vector_at(GpumeBlockVector *v, const uint8_t *p, int w, int h)
{
    GpumeVectorFields f;
    AVMotionVector mv;

    memcpy(&mv, p, sizeof(mv));
    f = (GpumeVectorFields) { mv.source, mv.w, mv.h, mv.src_x, mv.src_y, mv.dst_x, mv.dst_y,
                              !!(mv.flags & GPUME_FLAG_INCONSISTENT), mv.motion_x, mv.motion_y,
                              mv.motion_scale };
    return gpume_block_vector(v, &f, w, h);
}

/** Reads vector i of side data. @return 0 if it has no block inside a picture of w x h samples */
static inline int gpume_read_vector(GpumeBlockVector *v, const AVFrameSideData *sd, size_t i,
                                    int w, int h)
{
    return gpume_read_vector_at(v, sd->data + i * sizeof(AVMotionVector), w, h);
}

#endif /* AVFILTER_GPUME_FIELD_SIDEDATA_H */
