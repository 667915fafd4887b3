/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Interface of backends: a table of functions for the CPU and for each kind of device. All backends
 * make the same pictures.
 */

#ifndef AVFILTER_GPUME_MVFPS_BACKEND_H
#define AVFILTER_GPUME_MVFPS_BACKEND_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/mvfps/mvfps.h"
#include "libavfilter/gpume/picture/sequence.h"

/** A pair of pictures. Both have the layout. */
typedef struct MvfpsPair {
    const GpumeLayout *layout;
    const AVFrame *before, *after;
    /** Factors of the velocities beyond the pair; if before.own is 0, they cannot be used. */
    MvfpsRates rates;
} MvfpsPair;

/**
 * A backend. priv points to common.priv_size bytes, which are zero before init(). What its functions do
 * and return is in mvfps.h.
 */
typedef struct MvfpsBackend {
    GpumeFrameBackend common;
    /** @param l layout of both frames, which need not be that of other pictures */
    int  (*is_repeat)(void *priv, const GpumeLayout *l, const AVFrame *first, const AVFrame *frame);
    /** @param pair must stay unchanged, including its frames, until begin() is called again */
    int  (*begin)(void *priv, const MvfpsPair *pair, enum MvfpsMode mode);
    int  (*find_cut)(void *priv, enum MvfpsMode mode, enum MvfpsMode cut, double scene);
    int  (*make)(void *priv, AVFrame *out, int part, enum MvfpsMode mode);
    int  (*copy)(void *priv, AVFrame *out, const AVFrame *in);     // optional
} MvfpsBackend;

extern const MvfpsBackend ff_mvfps_backend_cpu;
extern const MvfpsBackend ff_mvfps_backend_cuda;

#endif /* AVFILTER_GPUME_MVFPS_BACKEND_H */
