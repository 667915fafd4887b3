/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What an AVMotionVector says, whoever made it.
 */

#ifndef AVFILTER_GPUME_SIDEDATA_H
#define AVFILTER_GPUME_SIDEDATA_H

#include <stdint.h>
#include <string.h>

#include "libavutil/frame.h"
#include "libavutil/motion_vector.h"

/** Of displacements: units in a sample. */
#define GPUME_UNITS 16
/** Bit of AVMotionVector.flags with which gpume marks vectors that its check could not confirm. */
#define GPUME_FLAG_UNSOUND 1

/** A block and where its match is. */
typedef struct GpumeBlockVector {
    int x, y;                   ///< the block's centre
    int left, top, w, h;        ///< the block, 1 sample or more; parts can be outside the picture
    int dx, dy;                 ///< in units of 1/GPUME_UNITS sample
    int future;                 ///< whether it points into a frame that follows
    int unsound;
} GpumeBlockVector;

/** a / b, rounded, halves away from 0; b is positive. */
static inline int64_t gpume_divide(int64_t a, int64_t b)
{
    return (a >= 0 ? a + b / 2 : a - b / 2) / b;
}

/** A motion in units of 1/GPUME_UNITS sample. */
static inline int64_t gpume_in_units(int motion, int scale)
{
    if (scale == 4)             // the most frequent one need not be divided
        return motion * (int64_t)(GPUME_UNITS / 4);
    return scale > 1 ? gpume_divide(motion * (int64_t)GPUME_UNITS, scale)
                     : motion * (int64_t)GPUME_UNITS;
}

/** How many vectors a frame has. */
static inline size_t gpume_nb_vectors(const AVFrameSideData *sd)
{
    return sd ? sd->size / sizeof(AVMotionVector) : 0;
}

/**
 * Read vector i of a frame's side data of type AV_FRAME_DATA_MOTION_VECTORS.
 * @return 0 if it has no block inside a picture of w x h samples
 */
static inline int gpume_read_vector(GpumeBlockVector *v, const AVFrameSideData *sd, size_t i,
                                    int w, int h)
{
    AVMotionVector mv;
    int64_t x, y;
    int dx, dy, agree;

    /* side data need not be aligned */
    memcpy(&mv, sd->data + i * sizeof(mv), sizeof(mv));
    v->x       = mv.dst_x;
    v->y       = mv.dst_y;
    v->left    = mv.dst_x - mv.w / 2;
    v->top     = mv.dst_y - mv.h / 2;
    v->w       = mv.w;
    v->h       = mv.h;
    v->future  = mv.source > 0;
    v->unsound = !!(mv.flags & GPUME_FLAG_UNSOUND);

    /*
     * In parts of a sample, if the vector has them. mestimate leaves its parts as they were in
     * memory, so they count only where they agree with the position of the match.
     */
    dx    = (mv.src_x - mv.dst_x) * GPUME_UNITS;
    dy    = (mv.src_y - mv.dst_y) * GPUME_UNITS;
    x     = gpume_in_units(mv.motion_x, mv.motion_scale);
    y     = gpume_in_units(mv.motion_y, mv.motion_scale);
    agree = mv.motion_scale && x > dx - GPUME_UNITS && x < dx + GPUME_UNITS &&
            y > dy - GPUME_UNITS && y < dy + GPUME_UNITS;
    v->dx = agree ? x : dx;
    v->dy = agree ? y : dy;

    return mv.w && mv.h && v->left < w && v->top < h && v->left + v->w > 0 && v->top + v->h > 0;
}

#endif /* AVFILTER_GPUME_SIDEDATA_H */
