/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Reads a block and its vector from the fields of an AVMotionVector of any filter. The host and
 * device code include this file.
 */

#ifndef AVFILTER_GPUME_FIELD_BLOCKVECTOR_H
#define AVFILTER_GPUME_FIELD_BLOCKVECTOR_H

#include "libavfilter/gpume/util/integer.h"

/** Units of displacements in a sample. */
#define GPUME_UNITS 16

/** A block and its vector. Compact, because a frame has many blocks. */
typedef struct GpumeBlockVector {
    short x, y;                 ///< the block's centre
    unsigned char w, h;         ///< size of the block, 1 or more; parts of it can be outside the picture
    signed char distance;       ///< distance of the other picture: -1 is the previous picture, 1 the next; never 0
    unsigned char inconsistent;
    int dx, dy;                 ///< in units of 1/GPUME_UNITS sample
} GpumeBlockVector;

/** Returns the left column of a block. */
GPUME_INLINE int gpume_block_left(const GpumeBlockVector *v)
{
    return v->x - v->w / 2;
}

GPUME_INLINE int gpume_block_top(const GpumeBlockVector *v)
{
    return v->y - v->h / 2;
}

/** Converts a motion to units of 1/GPUME_UNITS sample, rounded half away from 0. */
GPUME_INLINE long long gpume_in_units(int motion, int scale)
{
    const long long units = motion * (long long)GPUME_UNITS;

    if (scale == 4)             // the usual scale needs no division
        return motion * (long long)(GPUME_UNITS / 4);
    return scale > 1 ? (units + (units < 0 ? -scale / 2 : scale / 2)) / scale : units;
}

/** Returns the distance for a value of AVMotionVector.source; 0 stands for the previous picture. */
GPUME_INLINE int gpume_distance(int source)
{
    return source ? av_clip(source, -128, 127) : -1;
}

/** The fields of an AVMotionVector that are used. */
typedef struct GpumeVectorFields {
    int source, w, h, src_x, src_y, dst_x, dst_y;
    int inconsistent;           ///< bit GPUME_FLAG_INCONSISTENT of its flags
    int motion_x, motion_y, motion_scale;
} GpumeVectorFields;

/** Reads a block and its vector. @return 0 if no part of the block is inside a picture of width x height samples */
GPUME_INLINE int gpume_block_vector(GpumeBlockVector *v, const GpumeVectorFields *mv, int width, int height)
{
    int dx, dy, left, top, agree;
    long long x, y;

    v->x = (short)mv->dst_x;
    v->y = (short)mv->dst_y;
    v->w = (unsigned char)mv->w;
    v->h = (unsigned char)mv->h;
    v->distance     = (signed char)gpume_distance(mv->source);
    v->inconsistent = mv->inconsistent != 0;
    left = gpume_block_left(v);
    top  = gpume_block_top(v);
    if (!mv->w || !mv->h || left >= width || top >= height || left + mv->w <= 0 || top + mv->h <= 0)
        return 0;

    /*
     * Uses subpel vectors only if they agree with the position of the match: mestimate leaves
     * motion and scale uninitialized.
     */
    dx    = (mv->src_x - mv->dst_x) * GPUME_UNITS;
    dy    = (mv->src_y - mv->dst_y) * GPUME_UNITS;
    x     = gpume_in_units(mv->motion_x, mv->motion_scale);
    y     = gpume_in_units(mv->motion_y, mv->motion_scale);
    agree = mv->motion_scale && x > dx - GPUME_UNITS && x < dx + GPUME_UNITS &&
            y > dy - GPUME_UNITS && y < dy + GPUME_UNITS;
    v->dx = agree ? (int)x : dx;
    v->dy = agree ? (int)y : dy;
    return 1;
}

#endif /* AVFILTER_GPUME_FIELD_BLOCKVECTOR_H */
