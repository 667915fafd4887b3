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

/** A block and where its match is. There are many, so they are small. */
typedef struct GpumeBlockVector {
    int16_t x, y;               ///< the block's centre
    uint8_t w, h;               ///< of the block, 1 or more; parts of it can be outside the picture
    uint8_t future;             ///< whether it points into a frame that follows
    uint8_t unsound;
    int dx, dy;                 ///< in units of 1/GPUME_UNITS sample
} GpumeBlockVector;

/** Where the block begins. */
static inline int gpume_block_left(const GpumeBlockVector *v)
{
    return v->x - v->w / 2;
}

static inline int gpume_block_top(const GpumeBlockVector *v)
{
    return v->y - v->h / 2;
}

/** A motion in units of 1/GPUME_UNITS sample, rounded, halves away from 0. */
static inline int64_t gpume_in_units(int motion, int scale)
{
    const int64_t units = motion * (int64_t)GPUME_UNITS;

    if (scale == 4)             // the most frequent one need not be divided
        return motion * (int64_t)(GPUME_UNITS / 4);
    return scale > 1 ? (units + (units < 0 ? -scale / 2 : scale / 2)) / scale : units;
}

/** How many vectors there are in side data of type AV_FRAME_DATA_MOTION_VECTORS; NULL: 0. */
static inline size_t gpume_nb_vectors(const AVFrameSideData *sd)
{
    return sd ? sd->size / sizeof(AVMotionVector) : 0;
}

/** Read vector i. @return 0 if it has no block inside a picture of w x h samples */
static inline int gpume_read_vector(GpumeBlockVector *v, const AVFrameSideData *sd, size_t i,
                                    int w, int h)
{
    AVMotionVector mv;
    int64_t x, y;
    int dx, dy, left, top, agree;

    /* side data need not be aligned */
    memcpy(&mv, sd->data + i * sizeof(mv), sizeof(mv));
    *v = (GpumeBlockVector) {
        .x = mv.dst_x, .y = mv.dst_y, .w = mv.w, .h = mv.h,
        .future  = mv.source > 0,
        .unsound = !!(mv.flags & GPUME_FLAG_UNSOUND),
    };
    left = gpume_block_left(v);
    top  = gpume_block_top(v);
    if (!mv.w || !mv.h || left >= w || top >= h || left + mv.w <= 0 || top + mv.h <= 0)
        return 0;

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
    return 1;
}

#endif /* AVFILTER_GPUME_SIDEDATA_H */
