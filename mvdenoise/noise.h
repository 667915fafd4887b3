/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Estimates the strength of the noise of pictures from areas that contain little else.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_NOISE_H
#define AVFILTER_GPUME_MVDENOISE_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/mvdenoise/levels.h"
#include "libavfilter/gpume/picture/layout.h"

/** Measurements of a component. Its blocks are the complete blocks of side MVDENOISE_PATCH. */
typedef struct MvdenoiseMeasure {
    int wanted;
    const MvdenoiseBlock *blocks;   ///< NULL if the component is not wanted
    const uint8_t *halved;          ///< bins of energies of the component at half the size, if there are no vectors
    const uint16_t *means;          ///< means of the blocks of component 0
} MvdenoiseMeasure;

/** State of the estimate for a sequence. Zeroed at first. */
typedef struct MvdenoiseEstimate {
    MvdenoiseKnown known[GPUME_COMPONENTS];
    uint16_t *means;                ///< means of the last picture
    unsigned means_allocated;
} MvdenoiseEstimate;

/**
 * Measures a row of nb blocks.
 * @param blocks, means either may be NULL
 * @param matches       for each block the first sample of its match, with the same stride, or NULL;
 *                      NULL if there are no matches at all
 */
void ff_mvdenoise_measure(MvdenoiseBlock *blocks, uint16_t *means, const uint8_t *samples,
                          const uint8_t *const *matches, ptrdiff_t stride, int nb, int depth);

/**
 * Measures a row of nb blocks of the component at half the size.
 * @param scratch room for MVDENOISE_PATCH rows of nb * MVDENOISE_PATCH samples
 */
void ff_mvdenoise_measure_halved(uint8_t *bins, uint8_t *scratch, const uint8_t *samples, ptrdiff_t stride, int nb,
                                 int depth);

/**
 * Estimates the noise of the next picture.
 * @param curves    set for the components that are wanted
 * @param before    set to whether the curve of a component is also valid for the previous picture
 * @param first     whether a new sequence begins
 * @param has_field whether matches in the previous picture were measured
 * @return 0 or AVERROR(ENOMEM)
 */
int ff_mvdenoise_estimate(MvdenoiseEstimate *e, MvdenoiseCurve *curves, int *before, const MvdenoiseMeasure *measures,
                          const GpumeLayout *l, int first, int has_field);
void ff_mvdenoise_estimate_uninit(MvdenoiseEstimate *e);

#endif /* AVFILTER_GPUME_MVDENOISE_NOISE_H */
