/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * A view and its map beside each other, in frames of the view's format in system memory.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_VIEW_H
#define AVFILTER_GPUME_MVSTEREO_VIEW_H

#include "libavfilter/gpume/mvstereo/mvstereo.h"
#include "libavfilter/gpume/mvstereo/paint.h"
#include "libavfilter/gpume/picture/layout.h"

/** Copies a view of w columns to the first ones of a frame of its format, as high as the view. */
void ff_mvstereo_copy_view(AVFrame *out, const MvstereoView *view, int w);

/** Paints a row of a map into a frame, from a column on: gray, neutral chroma, opaque. src: disparities. */
void ff_mvstereo_paint_gray_row(const GpumeLayout *l, AVFrame *out, const MvstereoPaint *p, const int16_t *src,
                                int column, int y);

#endif /* AVFILTER_GPUME_MVSTEREO_VIEW_H */
