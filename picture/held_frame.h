/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Frames that a filter holds together with results computed from them, so that each result is computed once.
 */

#ifndef AVFILTER_GPUME_PICTURE_HELD_FRAME_H
#define AVFILTER_GPUME_PICTURE_HELD_FRAME_H

#include "libavutil/error.h"
#include "libavutil/frame.h"

/** A held frame, and whether results have been computed from it. */
typedef struct GpumeHeldFrame {
    AVFrame *frame;             ///< NULL: none
    int loaded;                 ///< whether the copy of the samples is a copy of this frame
    int read;                   ///< whether the cells have the vectors of this frame
} GpumeHeldFrame;

/** Returns whether a frame has the samples of the held frame. The held frame keeps its buffers from being reused. */
static inline int gpume_has_samples(const GpumeHeldFrame *h, const AVFrame *frame)
{
    return h->frame && h->frame->data[0] == frame->data[0];
}

/** Returns whether a frame has the vectors of the held frame. */
static inline int gpume_has_vectors(const GpumeHeldFrame *h, const AVFrame *frame)
{
    const AVFrameSideData *a, *b;

    if (!h->frame)
        return 0;
    a = av_frame_get_side_data(h->frame, AV_FRAME_DATA_MOTION_VECTORS);
    b = av_frame_get_side_data(frame,    AV_FRAME_DATA_MOTION_VECTORS);
    return a && b ? a->data == b->data && a->size == b->size : a == b;
}

/** Holds a frame. @return 1 if the frame is a new one, 0 if it is the held frame, or AVERROR(ENOMEM) */
static inline int gpume_hold(GpumeHeldFrame *h, const AVFrame *frame)
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

/** Releases the held frame. */
static inline void gpume_release_held(GpumeHeldFrame *h)
{
    av_frame_free(&h->frame);
    h->loaded = h->read = 0;
}

#endif /* AVFILTER_GPUME_PICTURE_HELD_FRAME_H */
