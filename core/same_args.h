/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Determines which cells of a picture equal those of its reference in every plane. The host and
 * device code include this file.
 */

#ifndef AVFILTER_GPUME_CORE_SAME_ARGS_H
#define AVFILTER_GPUME_CORE_SAME_ARGS_H

#include "libavfilter/gpume/core/geometry.h"

/** Side of a cell in luma samples: that of a macroblock, which encoders expect. */
#define GPUME_CELL 16

/** Maximum number of planes of a frame that have components other than the one that is searched. */
#define GPUME_MAX_OTHER_PLANES 3

/** Layout of such a plane. */
typedef struct GpumeOtherPlane {
    int index;              ///< index in a frame; 0 in packed formats, whose luma is compared again
    int x_shift, y_shift;   ///< log2 of the ratio between luma and the plane
    int step;               ///< bytes between samples, including all components in the plane
} GpumeOtherPlane;

/** A range of bytes of a plane. */
typedef struct GpumeBytes {
    int x, y;
    int w, h;
} GpumeBytes;

/** Returns the bytes of the cell (cx, cy) in a plane. */
GPUME_INLINE GpumeBytes gpume_cell_bytes(const GpumeParams *p, const GpumeOtherPlane *plane,
                                         int cx, int cy)
{
    const int x = cx * GPUME_CELL, y = cy * GPUME_CELL;
    const int w = gpume_lesser(GPUME_CELL, p->width  - x);
    const int h = gpume_lesser(GPUME_CELL, p->height - y);
    GpumeBytes b;

    b.x = (x >> plane->x_shift) * plane->step;
    b.y = y >> plane->y_shift;
    b.w = ((w + (1 << plane->x_shift) - 1) >> plane->x_shift) * plane->step;
    b.h = (h + (1 << plane->y_shift) - 1) >> plane->y_shift;
    return b;
}

/** First and last block that overlap a cell, along one axis. */
typedef struct GpumeBlockRange {
    int first, last;
} GpumeBlockRange;

/**
 * Returns the blocks that overlap a cell along one axis.
 * @param length length of the picture
 */
GPUME_INLINE GpumeBlockRange gpume_blocks_of_cell(int block, int length, int cell)
{
    GpumeBlockRange r;

    r.first = cell * GPUME_CELL / block;
    r.last  = (gpume_lesser((cell + 1) * GPUME_CELL, length) - 1) / block;
    return r;
}

#endif /* AVFILTER_GPUME_CORE_SAME_ARGS_H */
