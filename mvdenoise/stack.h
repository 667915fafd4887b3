/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Stacks: a patch and its matches in the pictures around.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_STACK_H
#define AVFILTER_GPUME_MVDENOISE_STACK_H

#include "libavfilter/gpume/mvdenoise/samples.h"
#include "libavfilter/gpume/mvdenoise/transform.h"
#include "libavfilter/gpume/picture/interpolation.h"
#include "libavfilter/gpume/picture/padded.h"

/** A picture of a window. Copies are whole samples and half samples. */
typedef struct MvdenoiseMember {
    const GpumePadded *noisy;               ///< [GPUME_NB_PLANES]; NULL: there is no picture, or no field into it
    const GpumePadded *pilot;               ///< the same, in the second pass
    const GpumeCellVector *cells;           ///< vectors of the current picture into it; NULL: it is the current one
} MvdenoiseMember;

/** The current picture and those around. */
typedef struct MvdenoiseWindow {
    const GpumeLayout *layout;
    const MvdenoiseSamples *samples;
    GpumeCells cells;
    int radius;
    int second;                             ///< pass
    MvdenoiseMember members[MVDENOISE_MAX_STACK];   ///< from distance -radius to radius
} MvdenoiseWindow;

/** Collects the stack of the patch that begins at (x, y) of a component. */
void ff_mvdenoise_stack(MvdenoiseStack *stack, const MvdenoiseWindow *w, int component, int x, int y,
                        const MvdenoiseNoise *noise);

#endif /* AVFILTER_GPUME_MVDENOISE_STACK_H */
