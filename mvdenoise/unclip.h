/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Corrects denoised samples near the ends of the range, where noise was clipped.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_UNCLIP_H
#define AVFILTER_GPUME_MVDENOISE_UNCLIP_H

#include <stdint.h>

#include "libavfilter/gpume/mvdenoise/arithmetic.h"

/** Shifts in 1/16384 of sigma for means from MVDENOISE_LEAST_MEAN on, 1/16 of sigma apart. */
extern const uint16_t ff_mvdenoise_shifts[MVDENOISE_SHIFTS];

/** Describes the rows of a component. */
typedef struct MvdenoiseUnclip {
    int w, depth, bytes;
    int step, shift;                ///< words from a sample to the next, and unused bits below samples, of the result
    int noisy_shift;                ///< unused bits below noisy samples
    int sigma[MVDENOISE_TONES];     ///< of the noise
} MvdenoiseUnclip;

/**
 * Corrects a row of denoised samples.
 * @param noisy noisy samples of the rows from MVDENOISE_AROUND above to as many below
 */
void ff_mvdenoise_unclip(uint8_t *row, const uint8_t *const *noisy, const MvdenoiseUnclip *u);

#endif /* AVFILTER_GPUME_MVDENOISE_UNCLIP_H */
