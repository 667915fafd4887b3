/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Paints maps into frames in system memory.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_PAINTER_H
#define AVFILTER_GPUME_MVSTEREO_PAINTER_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/mvstereo/mvstereo.h"
#include "libavfilter/gpume/mvstereo/paint.h"
#include "libavfilter/gpume/mvstereo/range.h"
#include "libavfilter/gpume/picture/layout.h"

typedef struct MvstereoPainter {
    enum MvstereoOutput output;
    MvstereoPaint paint;
    int nb;                     ///< number of values that have samples
    uint32_t painted[1 + MVSTEREO_MAX_RANGE * MVSTEREO_ONE];   ///< samples of the output: of a hole, of 0, of 1 ...

    const int16_t *disparity;   ///< in 1/16 sample, from the range's least one; MVSTEREO_INVALID: hole
    ptrdiff_t stride;           ///< samples from a row of disparities to the next
    const uint8_t *confidence;  ///< rows of the map's width

    AVFrame *out;
    int column;                 ///< column of the output at which the map begins
    GpumeLayout out_layout;     ///< with MVSTEREO_LEFT_GRAY
} MvstereoPainter;

/** Prepares for maps of this range and size. */
void ff_mvstereo_painter_init(MvstereoPainter *p, const MvstereoConfig *cfg, const MvstereoRange *range, int w, int h);

/** Sets the frame, and the column of it at which the map begins. */
void ff_mvstereo_painter_set_out(MvstereoPainter *p, AVFrame *out, int column);

/**
 * Paints rows of a map, as a part of a task.
 * @param painter MvstereoPainter whose members are set; paint.mirrored, too
 */
void ff_mvstereo_paint_rows(void *painter, int worker, int first, int end);

#endif /* AVFILTER_GPUME_MVSTEREO_PAINTER_H */
