/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * A block and its vector, as the fields of an AVMotionVector say it, whoever made that. Read by
 * the host and by device code.
 */

#ifndef AVFILTER_GPUME_FIELD_BLOCKVECTOR_H
#define AVFILTER_GPUME_FIELD_BLOCKVECTOR_H

#include "libavfilter/gpume/util/integer.h"

/** Units of displacements in a sample. */
#define GPUME_UNITS 16

/** A block and where its match is. There are many, so they are small. */
typedef struct GpumeBlockVector {
    short x, y;                 ///< the block's centre
    unsigned char w, h;         ///< of the block, 1 or more; parts of it can be outside the picture
    signed char distance;       ///< of the other picture: -1 is the one before, 1 the one after; never 0
    unsigned char inconsistent;
    int dx, dy;                 ///< in units of 1/GPUME_UNITS sample
} GpumeBlockVector;

/** Where the block begins. */
GPUME_INLINE int gpume_block_left(const GpumeBlockVector *v)
{
    return v->x - v->w / 2;
}

GPUME_INLINE int gpume_block_top(const GpumeBlockVector *v)
{
    return v->y - v->h / 2;
}

/** A motion in units of 1/GPUME_UNITS sample, rounded, halves away from 0. */
GPUME_INLINE long long gpume_in_units(int motion, int scale)
{
    const long long units = motion * (long long)GPUME_UNITS;

    if (scale == 4)             // the most frequent one need not be divided
        return motion * (long long)(GPUME_UNITS / 4);
    return scale > 1 ? (units + (units < 0 ? -scale / 2 : scale / 2)) / scale : units;
}

/** The distance that AVMotionVector.source stands for. */
GPUME_INLINE int gpume_distance(int source)
{
    return source ? av_clip(source, -128, 127) : -1;
}

/** What is read of an AVMotionVector. */
typedef struct GpumeVectorFields {
    int source, w, h, src_x, src_y, dst_x, dst_y;
    int inconsistent;           ///< GPUME_FLAG_INCONSISTENT of its flags
    int motion_x, motion_y, motion_scale;
} GpumeVectorFields;

/** Says which block has a vector. @return 0 if none inside a picture of width x height samples has */
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
     * Subpel vectors count only where they agree with the position of the match: mestimate leaves
     * motion and scale as they were in memory.
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
