/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What denoises pictures: a table of functions for the CPU and for each kind of device. All of
 * them make the same pictures.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_BACKEND_H
#define AVFILTER_GPUME_MVDENOISE_BACKEND_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/mvdenoise/mvdenoise.h"
#include "libavfilter/gpume/mvdenoise/noise.h"
#include "libavfilter/gpume/picture/layout.h"
#include "libavfilter/gpume/util/frame_backend.h"

/** Pictures that a backend keeps at most, in slots. */
#define MVDENOISE_MAX_SLOTS (3 * MVDENOISE_MAX_RADIUS + 1)

/** A picture that is to be made. */
typedef struct MvdenoiseStep {
    int second;                                 ///< pass
    int radius;
    int slots[MVDENOISE_MAX_STACK];             ///< pictures from distance -radius to radius; -1: there is none
    int keep;                                   ///< the picture stays as it is
    /** Of the current picture, by tones; sigma 0: the component stays as it is. Not for a backend that estimates. */
    const MvdenoiseNoise *noise[GPUME_COMPONENTS];
    AVFrame *out;                               ///< NULL: the result is the pilot of the current picture
} MvdenoiseStep;

/** A backend. priv points to common.priv_size bytes, which are zero before init(). */
typedef struct MvdenoiseBackend {
    GpumeFrameBackend common;
    /** It finds the noise of a picture itself when that is loaded, and nobody but its device knows it. */
    int estimates;
    /** @param cfg stays valid until uninit() */
    int  (*init)(void *priv, const MvdenoiseConfig *cfg);
    /** Forgets all pictures. Those from now on have this layout, which stays. */
    int  (*set_layout)(void *priv, const GpumeLayout *layout);
    /**
     * Puts a picture into a slot, with its motion fields.
     * @param samples  the frame, or another one, that has its samples
     * @param before   the slot of the picture before, or -1: a sequence begins
     * @param has      set to whether there is a field, for distances from -radius to radius
     * @param measures of the components whose noise is to be measured; NULL: of none
     */
    int  (*load)(void *priv, int slot, const AVFrame *frame, const AVFrame *samples, int before, int *has,
                 MvdenoiseMeasure *measures);
    int  (*make)(void *priv, const MvdenoiseStep *step);
    /** Gets what a backend that estimates knows of the components of the picture in a slot. May wait for its device. */
    int  (*get_curves)(void *priv, int slot, MvdenoiseCurve *curves);
    /** Also after a failed init(). */
    void (*uninit)(void *priv);
} MvdenoiseBackend;

/** Returns whether a component is to be denoised. */
static inline int mvdenoise_is_chosen(const MvdenoiseConfig *cfg, const GpumeLayout *layout, int component)
{
    return cfg->planes >> layout->components[component].plane & 1;
}

extern const MvdenoiseBackend ff_mvdenoise_backend_cpu;
/** In a build without CUDA its hw_format is AV_PIX_FMT_NONE. */
extern const MvdenoiseBackend ff_mvdenoise_backend_cuda;

#endif /* AVFILTER_GPUME_MVDENOISE_BACKEND_H */
