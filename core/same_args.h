/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Which cells of a picture are equal to those of its reference, in every plane. Read by the host
 * and by device code.
 */

#ifndef AVFILTER_GPUME_CORE_SAME_ARGS_H
#define AVFILTER_GPUME_CORE_SAME_ARGS_H

#include "libavfilter/gpume/core/geometry.h"

/** Side of a cell, luma samples: that of a macroblock, as encoders want it. */
#define GPUME_CELL 16

/** Planes of a frame that have other components than the one that is searched. */
#define GPUME_MAX_OTHER_PLANES 3

/** What such a plane looks like. */
typedef struct GpumeOtherPlane {
    int index;              ///< in a frame: 0 in packed formats, where luma is compared once more
    int x_shift, y_shift;   ///< by how much it is smaller than luma
    int step;               ///< bytes from sample to sample, of all components that are in it
} GpumeOtherPlane;

/** Bytes of a plane. */
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

/** First and last block that a cell has samples of, along one axis. */
typedef struct GpumeBlockRange {
    int first, last;
} GpumeBlockRange;

/** Returns the blocks of a cell along one axis. @param length of the picture */
GPUME_INLINE GpumeBlockRange gpume_blocks_of_cell(int block, int length, int cell)
{
    GpumeBlockRange r;

    r.first = cell * GPUME_CELL / block;
    r.last  = (gpume_lesser((cell + 1) * GPUME_CELL, length) - 1) / block;
    return r;
}

#endif /* AVFILTER_GPUME_CORE_SAME_ARGS_H */
