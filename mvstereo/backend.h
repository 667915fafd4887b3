/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What finds disparities: a table of functions for the CPU and for each kind of device. All of
 * them find the same.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_BACKEND_H
#define AVFILTER_GPUME_MVSTEREO_BACKEND_H

#include "libavfilter/gpume/mvstereo/mvstereo.h"
#include "libavfilter/gpume/picture/layout.h"
#include "libavfilter/gpume/util/frame_backend.h"

/** A backend. priv points to common.priv_size bytes, which are zero before init(). */
typedef struct MvstereoBackend {
    GpumeFrameBackend common;
    /** @param cfg stays valid until uninit() */
    int  (*init)(void *priv, const MvstereoConfig *cfg);
    /** @param layout of the frames, which are of any size */
    int  (*make)(void *priv, const MvstereoPair *pair, const GpumeLayout *layout, AVFrame *out);
    int  (*read)(void *priv, int16_t *disparity);
    /** Also after a failed init(). */
    void (*uninit)(void *priv);
} MvstereoBackend;

extern const MvstereoBackend ff_mvstereo_backend_cpu;
/** In a build without CUDA its common.hw_format is AV_PIX_FMT_NONE. */
extern const MvstereoBackend ff_mvstereo_backend_cuda;

#endif /* AVFILTER_GPUME_MVSTEREO_BACKEND_H */
