/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Transforms of stacks over space and time, and what is done to their coefficients.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_TRANSFORM_H
#define AVFILTER_GPUME_MVDENOISE_TRANSFORM_H

#include <stdint.h>

#include "libavfilter/gpume/mvdenoise/arithmetic.h"

/** Patches of pictures that show the same. */
typedef struct MvdenoiseStack {
    int nb, own;                    ///< patches, and which of them is the current picture's
    uint16_t noisy[MVDENOISE_MAX_STACK][MVDENOISE_SAMPLES];
    uint16_t pilot[MVDENOISE_MAX_STACK][MVDENOISE_SAMPLES];     ///< in the second pass
} MvdenoiseStack;

/** Functions of a depth. Results have mvdenoise_fraction() more bits than samples. */
typedef struct MvdenoiseTransform {
    /** Sets coefficients that noise explains to 0. @return the weight of the current picture's patch in dst */
    unsigned (*threshold)(uint16_t *dst, const MvdenoiseStack *stack, const MvdenoiseNoise *noise, int depth);
    /** Filters coefficients by the pilot's. @return the same */
    unsigned (*wiener)(uint16_t *dst, const MvdenoiseStack *stack, const MvdenoiseNoise *noise, int depth);
} MvdenoiseTransform;

/** In C as the build has it, and in C that is compiled for AVX2. */
void ff_mvdenoise_transform_init_c(MvdenoiseTransform *t, int depth);
void ff_mvdenoise_transform_init_avx2(MvdenoiseTransform *t, int depth);

#endif /* AVFILTER_GPUME_MVDENOISE_TRANSFORM_H */
