/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The components of a picture: where the samples of luma and chroma, or of RGB, are in the planes.
 */

#ifndef AVFILTER_GPUME_PICTURE_LAYOUT_H
#define AVFILTER_GPUME_PICTURE_LAYOUT_H

#include "libavutil/frame.h"
#include "libavutil/pixfmt.h"

#define GPUME_COMPONENTS 4

typedef struct GpumeComponent {
    int w, h;               ///< samples
    int hsub, vsub;
    int plane;
    int offset, step;       ///< words to the first sample of a row, and from a sample to the next
} GpumeComponent;

typedef struct GpumeLayout {
    enum AVPixelFormat format;
    int w, h;
    int depth;              ///< bits of a sample
    int shift;              ///< unused bits below a sample in a word
    int bytes;              ///< bytes of a word
    int nb_components;
    GpumeComponent components[GPUME_COMPONENTS];    ///< luma or green first
} GpumeLayout;

/** Returns whether a format has a layout: planar and semi-planar formats of 8 to 16 bits have one. */
int ff_gpume_layout_supports(enum AVPixelFormat format);

/** Returns the format of gray frames whose samples have this depth. */
enum AVPixelFormat ff_gpume_gray_format(int depth);

void ff_gpume_layout_init(GpumeLayout *l, enum AVPixelFormat format, int w, int h);

/** Returns whether the samples of a frame, in memory or on a device, have this layout. */
int ff_gpume_layout_is(const GpumeLayout *l, const AVFrame *frame);

/** Sets the layout of the samples of a frame. @return whether the layout has changed */
int ff_gpume_layout_change(GpumeLayout *l, const AVFrame *frame);

/** Returns the address of the first sample of row y of a component. */
static inline uint8_t *gpume_layout_row(const GpumeLayout *l, const GpumeComponent *c, const AVFrame *frame, int y)
{
    return frame->data[c->plane] + y * (ptrdiff_t)frame->linesize[c->plane] + c->offset * l->bytes;
}

#endif /* AVFILTER_GPUME_PICTURE_LAYOUT_H */
