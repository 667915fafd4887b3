/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The planes of a picture as far as pictures between others are made of them.
 */

#ifndef AVFILTER_GPUME_BETWEEN_LAYOUT_H
#define AVFILTER_GPUME_BETWEEN_LAYOUT_H

#include "libavutil/frame.h"
#include "libavutil/pixfmt.h"

#define MVFPS_PLANES 4

typedef struct MvfpsPlane {
    int w, h;               ///< samples
    int hsub, vsub;
    int step;               ///< components that take turns in a row: 2 of semi-planar chroma
} MvfpsPlane;

typedef struct MvfpsLayout {
    enum AVPixelFormat format;
    int w, h;
    int depth;              ///< bits of a sample
    int shift;              ///< bits below them in a word
    int bytes;              ///< of a word
    int nb_planes;
    MvfpsPlane planes[MVFPS_PLANES];
} MvfpsLayout;

/** Whether there is a layout of pictures of a format: planar or semi-planar, 8 to 16 bits. */
int ff_mvfps_format_supported(enum AVPixelFormat format);

void ff_mvfps_layout_init(MvfpsLayout *l, enum AVPixelFormat format, int w, int h);

#endif /* AVFILTER_GPUME_BETWEEN_LAYOUT_H */
