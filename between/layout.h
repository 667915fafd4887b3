/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The components of a picture as far as pictures between others are made of them.
 */

#ifndef AVFILTER_GPUME_BETWEEN_LAYOUT_H
#define AVFILTER_GPUME_BETWEEN_LAYOUT_H

#include "libavutil/frame.h"
#include "libavutil/pixfmt.h"

#define MVFPS_COMPONENTS 4

typedef struct MvfpsComponent {
    int w, h;               ///< samples
    int hsub, vsub;
    int plane;
    int offset, step;       ///< words to the first sample of a row, and from each to the next
} MvfpsComponent;

typedef struct MvfpsLayout {
    enum AVPixelFormat format;
    int w, h;
    int depth;              ///< bits of a sample
    int shift;              ///< bits below them in a word
    int bytes;              ///< of a word
    int nb_components;
    MvfpsComponent components[MVFPS_COMPONENTS];    ///< luma or green first
} MvfpsLayout;

/** Whether there is a layout of pictures of a format: planar or semi-planar, 8 to 16 bits. */
int ff_mvfps_format_supported(enum AVPixelFormat format);

void ff_mvfps_layout_init(MvfpsLayout *l, enum AVPixelFormat format, int w, int h);

/** The word of the first sample of row y of a component. */
static inline uint8_t *mvfps_row(const MvfpsLayout *l, const MvfpsComponent *c, const AVFrame *frame, int y)
{
    return frame->data[c->plane] + y * (ptrdiff_t)frame->linesize[c->plane] + c->offset * l->bytes;
}

#endif /* AVFILTER_GPUME_BETWEEN_LAYOUT_H */
