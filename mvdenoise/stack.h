/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Stacks: a patch and its matches in the neighbouring pictures.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_STACK_H
#define AVFILTER_GPUME_MVDENOISE_STACK_H

#include "libavfilter/gpume/mvdenoise/samples.h"
#include "libavfilter/gpume/mvdenoise/transform.h"
#include "libavfilter/gpume/picture/layout.h"
#include "libavfilter/gpume/picture/padded.h"

/** A picture of a window, by component. */
typedef struct MvdenoiseMember {
    const MvdenoiseSource *noisy;           ///< NULL: there is no picture, or no field into it
    const MvdenoiseSource *pilot;           ///< set in the second pass
    /**
     * Vectors of the current picture into it: cells or, in the second pass, the first pass's match of each patch of
     * all components; NULL: it is the current picture.
     */
    const GpumeCellVector *vectors;
    GpumeCellVector *matches;               ///< where the first of two passes puts its matches
} MvdenoiseMember;

/** The current picture and its neighbours. */
typedef struct MvdenoiseWindow {
    const GpumeLayout *layout;
    const MvdenoiseSamples *samples;
    GpumeCells cells;
    int log2_step;                          ///< logarithm of the distance between rows of patches
    size_t first[GPUME_COMPONENTS];         ///< number of patches of the components before each
    int radius;
    int second;                             ///< whether this is the second pass
    unsigned textured;                      ///< bit mask of components that may have texture
    MvdenoiseMember members[MVDENOISE_MAX_STACK];   ///< from distance -radius to radius
} MvdenoiseWindow;

/**
 * Sets the sources of a picture's components.
 * @param copies whole and half samples, [GPUME_NB_PLANES]
 */
void ff_mvdenoise_sources(MvdenoiseSource *sources, const GpumePadded *copies, const GpumeLayout *layout);

/** Returns the values that all patches of row y of a component share; x must be set. */
MvdenoiseSpot ff_mvdenoise_spot(const MvdenoiseWindow *w, int component, int y);

/**
 * Collects the stack of a patch of a component.
 * @param noise noise, indexed by tone
 */
void ff_mvdenoise_stack(MvdenoiseStack *stack, const MvdenoiseWindow *w, int component, const MvdenoiseSpot *spot,
                        const MvdenoiseNoise *noise);

#endif /* AVFILTER_GPUME_MVDENOISE_STACK_H */
