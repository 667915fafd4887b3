/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What makes pictures: the CPU or a device. A table of functions each; all of them make the same
 * pictures.
 */

#ifndef AVFILTER_GPUME_MVFPS_BACKEND_H
#define AVFILTER_GPUME_MVFPS_BACKEND_H

#include "libavutil/error.h"
#include "libavutil/frame.h"

#include "libavfilter/gpume/mvfps/mvfps.h"
#include "libavfilter/gpume/picture/layout.h"

/** A pair of pictures. Both have the layout. */
typedef struct MvfpsPair {
    const GpumeLayout *layout;
    const AVFrame *before, *after;
    /** Factors of the velocities beyond the pair; before.own is 0: they cannot be used. */
    MvfpsRates rates;
} MvfpsPair;

/*
 * Whether a frame has the samples, or the vectors, of another one that is held, so that no third
 * one can be at the same place. NULL: none is held.
 */
static inline int mvfps_same_samples(const AVFrame *held, const AVFrame *frame)
{
    return held && held->data[0] == frame->data[0];
}

static inline int mvfps_same_vectors(const AVFrame *held, const AVFrame *frame)
{
    const AVFrameSideData *a, *b;

    if (!held)
        return 0;
    a = av_frame_get_side_data(held,  AV_FRAME_DATA_MOTION_VECTORS);
    b = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    return a && b ? a->data == b->data && a->size == b->size : a == b;
}

/** A frame of a pair that a backend holds, and what it has made of it. */
typedef struct MvfpsHeld {
    AVFrame *frame;
    int loaded, read;           ///< whether the picture and the fields are this frame's
} MvfpsHeld;

/** Hold a frame from now on. Returns 1, 0 if it is the one that is held, or AVERROR(ENOMEM). */
static inline int mvfps_hold(MvfpsHeld *h, const AVFrame *frame)
{
    const int same_samples = mvfps_same_samples(h->frame, frame);

    if (same_samples && mvfps_same_vectors(h->frame, frame))
        return 0;
    h->loaded &= same_samples;
    h->read    = 0;
    av_frame_free(&h->frame);
    h->frame = av_frame_clone(frame);
    return h->frame ? 1 : AVERROR(ENOMEM);
}

/**
 * A backend. priv points to priv_size bytes, which are zero before init(). What its functions do
 * and return is in between.h.
 */
typedef struct MvfpsBackend {
    size_t priv_size;
    /** Of frames on its device; AV_PIX_FMT_NONE: those in system memory. */
    enum AVPixelFormat hw_format;
    /** @param cfg stays valid until uninit() */
    int  (*init)(void *priv, const MvfpsConfig *cfg);
    /** All pictures from now on, until it is called again, have this layout, which stays. */
    int  (*set_layout)(void *priv, const GpumeLayout *layout);
    /** @param pair stays as it is, and its frames do, until it is called again */
    int  (*begin)(void *priv, const MvfpsPair *pair, enum MvfpsMode mode);
    int  (*look)(void *priv, enum MvfpsMode mode, enum MvfpsMode cut, double scene);
    int  (*make)(void *priv, AVFrame *out, int part, enum MvfpsMode mode);
    int  (*copy)(void *priv, AVFrame *out, const AVFrame *in);     // optional
    /** Also after a failed init(). */
    void (*uninit)(void *priv);
} MvfpsBackend;

extern const MvfpsBackend ff_mvfps_backend_cpu;
/** In a build without CUDA one that takes no frames. */
extern const MvfpsBackend ff_mvfps_backend_cuda;

#endif /* AVFILTER_GPUME_MVFPS_BACKEND_H */
