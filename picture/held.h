/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Frames that are held together with what has been made of them, so that it is made once.
 */

#ifndef AVFILTER_GPUME_PICTURE_HELD_H
#define AVFILTER_GPUME_PICTURE_HELD_H

#include "libavutil/error.h"
#include "libavutil/frame.h"

/** A frame that is held, and what has been made of it. */
typedef struct GpumeHeld {
    AVFrame *frame;             ///< NULL: none
    int loaded, read;           ///< whether the copy of the samples and the cells are this frame's
} GpumeHeld;

/** Returns whether a frame has the samples of the one that is held, so that no third one can be at the same place. */
static inline int gpume_has_samples(const GpumeHeld *h, const AVFrame *frame)
{
    return h->frame && h->frame->data[0] == frame->data[0];
}

/** Returns whether it has its vectors. */
static inline int gpume_has_vectors(const GpumeHeld *h, const AVFrame *frame)
{
    const AVFrameSideData *a, *b;

    if (!h->frame)
        return 0;
    a = av_frame_get_side_data(h->frame, AV_FRAME_DATA_MOTION_VECTORS);
    b = av_frame_get_side_data(frame,    AV_FRAME_DATA_MOTION_VECTORS);
    return a && b ? a->data == b->data && a->size == b->size : a == b;
}

/** Holds a frame from now on. @return 1, 0 if it is the one that is held, or AVERROR(ENOMEM) */
static inline int gpume_hold(GpumeHeld *h, const AVFrame *frame)
{
    const int has_samples = gpume_has_samples(h, frame);

    if (has_samples && gpume_has_vectors(h, frame))
        return 0;
    h->loaded &= has_samples;
    h->read    = 0;
    av_frame_free(&h->frame);
    h->frame = av_frame_clone(frame);
    return h->frame ? 1 : AVERROR(ENOMEM);
}

/** Lets go of it. */
static inline void gpume_let_go(GpumeHeld *h)
{
    av_frame_free(&h->frame);
    h->loaded = h->read = 0;
}

#endif /* AVFILTER_GPUME_PICTURE_HELD_H */
