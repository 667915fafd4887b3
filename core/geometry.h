/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Positions of blocks and their admissible vectors. The host and device code include this file.
 */

#ifndef AVFILTER_GPUME_CORE_GEOMETRY_H
#define AVFILTER_GPUME_CORE_GEOMETRY_H

#include "libavfilter/gpume/core/params_args.h"

/** Returns the number of blocks of this side that cover length samples. */
GPUME_INLINE int gpume_blocks(int length, int block)
{
    return (length + block - 1) / block;
}

GPUME_INLINE int gpume_lesser(int a, int b)
{
    return a < b ? a : b;
}

/** Returns the smallest displacement along one axis of a block that begins at start. */
GPUME_INLINE int gpume_min_displacement(int range, int start)
{
    return -gpume_lesser(range, start);
}

/** Returns the largest displacement of a block that ends before end, in a picture of length samples. */
GPUME_INLINE int gpume_max_displacement(int range, int length, int end)
{
    return gpume_lesser(range, length - end);
}

/**
 * Returns block (bx, by). A block that begins outside the picture has a w or h below 1.
 * @param block p->block, or the same value as a constant
 */
GPUME_INLINE GpumeBox gpume_box(const GpumeParams *p, int block, int bx, int by)
{
    GpumeBox b;

    b.x0 = bx * block;
    b.y0 = by * block;
    b.w  = gpume_lesser(block, p->width  - b.x0);
    b.h  = gpume_lesser(block, p->height - b.y0);
    b.min_dx = gpume_min_displacement(p->range, b.x0);
    b.max_dx = gpume_max_displacement(p->range, p->width,  b.x0 + b.w);
    b.min_dy = gpume_min_displacement(p->range, b.y0);
    b.max_dy = gpume_max_displacement(p->range, p->height, b.y0 + b.h);
    return b;
}

/** Returns a block whose displacements are limited further. */
GPUME_INLINE GpumeBox gpume_box_within(GpumeBox b, int range)
{
    b.min_dx = b.min_dx < -range ? -range : b.min_dx;
    b.min_dy = b.min_dy < -range ? -range : b.min_dy;
    b.max_dx = gpume_lesser(b.max_dx, range);
    b.max_dy = gpume_lesser(b.max_dy, range);
    return b;
}

GPUME_INLINE int gpume_admissible(const GpumeBox *b, int dx, int dy)
{
    return dx >= b->min_dx && dx <= b->max_dx && dy >= b->min_dy && dy <= b->max_dy;
}

#endif /* AVFILTER_GPUME_CORE_GEOMETRY_H */
