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

#include "libavutil/frame.h"

#include "libavfilter/gpume/mvfps/mvfps.h"
#include "libavfilter/gpume/picture/layout.h"
#include "libavfilter/gpume/util/frame_backend.h"

/** A pair of pictures. Both have the layout. */
typedef struct MvfpsPair {
    const GpumeLayout *layout;
    const AVFrame *before, *after;
    /** Factors of the velocities beyond the pair; before.own is 0: they cannot be used. */
    MvfpsRates rates;
} MvfpsPair;

/**
 * A backend. priv points to common.priv_size bytes, which are zero before init(). What its functions do
 * and return is in mvfps.h.
 */
typedef struct MvfpsBackend {
    GpumeFrameBackend common;
    /** @param cfg stays valid until uninit() */
    int  (*init)(void *priv, const MvfpsConfig *cfg);
    /** All pictures from now on, until it is called again, have this layout, which stays. */
    int  (*set_layout)(void *priv, const GpumeLayout *layout);
    /** @param l layout of both frames, which need not be that of other pictures */
    int  (*is_repeat)(void *priv, const GpumeLayout *l, const AVFrame *first, const AVFrame *frame);
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
