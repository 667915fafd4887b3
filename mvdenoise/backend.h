/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Interface of backends: a table of functions for the CPU and for each kind of device. All backends
 * make the same pictures.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_BACKEND_H
#define AVFILTER_GPUME_MVDENOISE_BACKEND_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/mvdenoise/mvdenoise.h"
#include "libavfilter/gpume/mvdenoise/noise.h"
#include "libavfilter/gpume/picture/sequence.h"

/** Maximum number of pictures that a backend keeps in slots. */
#define MVDENOISE_MAX_SLOTS (3 * MVDENOISE_MAX_RADIUS + 1)

/** Describes a picture to be made. */
typedef struct MvdenoiseStep {
    int second;                                 ///< whether this is the second pass
    int radius;
    int slots[MVDENOISE_MAX_STACK];             ///< slots of the pictures from distance -radius to radius; -1: none
    int matches;                                ///< where the first of two passes keeps the picture's matches for the
                                                ///< second: 0 to radius; -1: there is one pass
    int keep;                                   ///< whether the picture passes unchanged
    /**
     * Noise of the current picture for each tone; sigma 0: the component is not denoised. Backends that
     * estimate the noise do not use it.
     */
    const MvdenoiseNoise *noise[GPUME_COMPONENTS];
    AVFrame *out;                               ///< NULL: the result is the pilot of the current picture
} MvdenoiseStep;

/** A backend. */
typedef struct MvdenoiseBackend {
    GpumeFrameBackend common;
    /**
     * Whether the backend estimates the noise of pictures itself when they are loaded; the estimate
     * then stays on its device.
     */
    int estimates;
    /**
     * Loads a picture into a slot, with its motion fields.
     * @param samples  frame whose samples are loaded; frame, which has the vectors, may be a different one
     * @param before   slot of the previous picture, or -1 at the beginning of a sequence
     * @param has      set to whether there is a field, for distances from -radius to radius
     * @param measures components whose noise is to be measured; NULL: none
     */
    int  (*load)(void *priv, int slot, const AVFrame *frame, const AVFrame *samples, int before, int *has,
                 MvdenoiseMeasure *measures);
    int  (*make)(void *priv, const MvdenoiseStep *step);
    /** Gets the noise that the backend estimated for the picture in a slot. May wait for the device. */
    int  (*get_curves)(void *priv, int slot, MvdenoiseCurve *curves);
} MvdenoiseBackend;

/** Returns the logarithm of the distance between patches. */
static inline int mvdenoise_log2_step(const MvdenoiseConfig *cfg)
{
    return MVDENOISE_LOG2_STEP - !!cfg->dense;
}

/** Returns whether a component is denoised. */
static inline int mvdenoise_is_chosen(const MvdenoiseConfig *cfg, const GpumeLayout *layout, int component)
{
    return cfg->planes >> layout->components[component].plane & 1;
}

/**
 * Returns a bit mask of the components that may have texture: not chroma, whose noise depends on luma, so that noise
 * would look like texture where sigma is too small.
 */
unsigned ff_mvdenoise_textured(const GpumeLayout *layout);

extern const MvdenoiseBackend ff_mvdenoise_backend_cpu;
extern const MvdenoiseBackend ff_mvdenoise_backend_cuda;

#endif /* AVFILTER_GPUME_MVDENOISE_BACKEND_H */
