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
#include "libavfilter/gpume/mvdenoise/samples.h"

/** Patches of pictures that show the same. */
typedef struct MvdenoiseStack {
    int nb, own;                ///< patches, and which of them is the current picture's
    int base;                   ///< mean of that one
    ptrdiff_t stride;           ///< bytes
    MvdenoisePatch patches[2 * MVDENOISE_MAX_STACK];    ///< in the second pass each is followed by the pilot's
} MvdenoiseStack;

/**
 * Functions of a depth. Coefficients are int16_t of up to 10 bits, int32_t of more, MVDENOISE_SAMPLES of a patch;
 * buffers of them are aligned to 32 bytes.
 */
typedef struct MvdenoiseTransform {
    /**
     * Transforms patches over space; rows and columns of the coefficients are exchanged.
     * @param coefs with room for nb + 1 patches
     */
    void (*over_space)(void *coefs, const MvdenoisePatch *patches, ptrdiff_t stride, int nb, int base, int fraction);
    /**
     * Transforms nb patches over time, sets coefficients that noise explains to 0, and transforms back what becomes of
     * one patch.
     * @param mean the threshold of the mean over time; that of others is other
     * @return how many were left, without the first
     */
    unsigned (*threshold)(void *dst, const void *coefs, int nb, int own, int mean, int other);
    /**
     * Does the same with coefficients filtered by those of the pilot, which follow patch by patch.
     * @return the sum of squared gains, by 65536
     */
    unsigned (*wiener)(void *dst, const void *coefs, int nb, int own, int most, int reciprocal);
    /** Transforms a patch back over space, and adds base. */
    void (*back)(uint16_t *dst, const void *coefs, int base, int max);
} MvdenoiseTransform;

/** Fill in the table: plain C first, then what the processor can do. */
void ff_mvdenoise_transform_init(MvdenoiseTransform *t, int depth);
void ff_mvdenoise_transform_init_x86(MvdenoiseTransform *t, int depth);
void ff_mvdenoise_transform_init_aarch64(MvdenoiseTransform *t, int depth);

/**
 * Makes the current picture's patch of a stack, with mvdenoise_fraction() more bits than samples.
 * @param noise by tones
 * @return its weight
 */
unsigned ff_mvdenoise_filter(const MvdenoiseTransform *t, uint16_t *dst, const MvdenoiseStack *stack,
                             const MvdenoiseNoise *noise, int second, int depth);

#endif /* AVFILTER_GPUME_MVDENOISE_TRANSFORM_H */
