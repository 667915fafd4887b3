/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Reads a view in system memory, and writes a view and its map side by side into frames of the view's format.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_VIEW_H
#define AVFILTER_GPUME_MVSTEREO_VIEW_H

#include "libavfilter/gpume/mvstereo/mvstereo.h"
#include "libavfilter/gpume/picture/layout.h"

/**
 * Reads a row of a view's luma as 8 bits.
 * @param l layout of the view's frame
 * @param w columns of the view
 */
void ff_mvstereo_load_row(uint8_t *dst, const MvstereoView *view, const GpumeLayout *l, int y, int w);

/** Copies a view of w columns to the left side of a frame of the same format and height. */
void ff_mvstereo_copy_view(AVFrame *out, const MvstereoView *view, int w);

/**
 * Paints a row of a map into a frame: gray, neutral chroma, opaque.
 * @param gray   values of output=gray8 by disparity
 * @param src    disparity of the first column
 * @param step   1, or -1: disparities are from right to left
 * @param column first column of the map in the frame
 */
void ff_mvstereo_paint_gray_row(const GpumeLayout *l, AVFrame *out, const uint32_t *gray, const int16_t *src,
                                int step, int column, int y);

#endif /* AVFILTER_GPUME_MVSTEREO_VIEW_H */
