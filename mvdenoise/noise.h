/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Estimates how strong the noise of pictures is, from the areas where they have little else.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_NOISE_H
#define AVFILTER_GPUME_MVDENOISE_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/mvdenoise/arithmetic.h"
#include "libavfilter/gpume/picture/layout.h"

/** A block whose samples are cut off at black or white tells nothing. */
#define MVDENOISE_NO_ENERGY UINT64_MAX

/** What is measured of a component. Its blocks are those of MVDENOISE_PATCH samples a side that are whole. */
typedef struct MvdenoiseMeasure {
    int wanted;
    const uint64_t *energies;       ///< what second differences of blocks have, or MVDENOISE_NO_ENERGY; if wanted
    const uint64_t *halved;         ///< the same of the component at half the size
    const uint16_t *means;          ///< of blocks; of component 0
} MvdenoiseMeasure;

/** What is known of the noise of a sequence. Blank at first. */
typedef struct MvdenoiseEstimate {
    int sigma[GPUME_COMPONENTS];
    uint16_t *means;                ///< of the last picture
    unsigned means_allocated;
    uint64_t *energies;             ///< those that count
    unsigned energies_allocated;
    unsigned char *is_flat;         ///< of columns of blocks
    unsigned flat_allocated;
} MvdenoiseEstimate;

/**
 * Measures a row of nb blocks.
 * @param energies, means either may be NULL
 */
void ff_mvdenoise_measure(uint64_t *energies, uint16_t *means, const uint8_t *samples, ptrdiff_t stride, int nb,
                          int depth);

/** Halves both sides of samples: makes a row of nb blocks. @param dst rows of nb * MVDENOISE_PATCH samples, no more */
void ff_mvdenoise_halve(uint8_t *dst, const uint8_t *samples, ptrdiff_t stride, int nb, int depth);

/**
 * Estimates the noise of the next picture.
 * @param sigma in 1/MVDENOISE_SIGMA_ONE of samples of 8 bits, for the components that are wanted
 * @param first whether another sequence begins
 * @return 0 or AVERROR(ENOMEM)
 */
int ff_mvdenoise_estimate(MvdenoiseEstimate *e, int *sigma, const MvdenoiseMeasure *measures, const GpumeLayout *l,
                          int first);
void ff_mvdenoise_estimate_uninit(MvdenoiseEstimate *e);

#endif /* AVFILTER_GPUME_MVDENOISE_NOISE_H */
