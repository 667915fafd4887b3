/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Transforms stacks over space and time, and reduces their coefficients.
 *
 * With up to 10 bits they fit into 16 bits: a patch has 64 values below 1024 and each transform
 * keeps the sum of squares, so no coefficient of 9 patches is above 24 * 1024.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_TRANSFORM_H
#define AVFILTER_GPUME_MVDENOISE_TRANSFORM_H

#include <stdint.h>

#include "libavfilter/gpume/mvdenoise/arithmetic.h"
#include "libavfilter/gpume/mvdenoise/samples.h"

/** Similar patches of several pictures. */
typedef struct MvdenoiseStack {
    int nb, own;                ///< number of patches, and index of the current picture's patch
    int base;                   ///< mean of the current picture's patch
    int textured;               ///< whether the component may have texture
    ptrdiff_t stride;           ///< bytes
    MvdenoisePatch patches[2 * MVDENOISE_MAX_STACK];    ///< in the second pass, each patch is followed by the same
                                                        ///< patch of the pilot
} MvdenoiseStack;

/**
 * Functions for a depth. Coefficients are int16_t for up to 10 bits, else int32_t; a patch has
 * MVDENOISE_SAMPLES of them. Buffers of coefficients are aligned to 32 bytes.
 */
typedef struct MvdenoiseTransform {
    /**
     * Transforms patches over space. The result is transposed.
     * @param coefs output with room for nb + 1 patches
     */
    void (*over_space)(void *coefs, const MvdenoisePatch *patches, ptrdiff_t stride, int nb, int base, int fraction);
    /**
     * Transforms nb patches over time, sets coefficients below a threshold to 0, and transforms one
     * patch back.
     * @param mean  threshold of the mean over time
     * @param other threshold of the other coefficients
     * @return the number of coefficients that remain, except the first
     */
    unsigned (*threshold)(void *dst, const void *coefs, int nb, int own, int mean, int other);
    /**
     * Transforms in the same way, but multiplies the coefficients by Wiener gains that follow from
     * the pilot. Each patch is followed by that of the pilot.
     * @return the sum of squared gains, times 65536
     */
    unsigned (*wiener)(void *dst, const void *coefs, int nb, int own, int most, int reciprocal);
    /** Transforms a patch back over space, and adds base. */
    void (*back)(uint16_t *dst, const void *coefs, int base, int max);
} MvdenoiseTransform;

/** Fills in the table for this processor. */
void ff_mvdenoise_transform_init(MvdenoiseTransform *t, int depth);
void ff_mvdenoise_transform_init_x86(MvdenoiseTransform *t, int depth);
void ff_mvdenoise_transform_init_aarch64(MvdenoiseTransform *t, int depth);

/**
 * Makes the current picture's patch of a stack, with mvdenoise_fraction() more bits than samples.
 * @param noise noise, indexed by tone
 * @return weight of the patch
 */
unsigned ff_mvdenoise_filter(const MvdenoiseTransform *t, uint16_t *dst, const MvdenoiseStack *stack,
                             const MvdenoiseNoise *noise, int second, int depth, int log2_step);

#endif /* AVFILTER_GPUME_MVDENOISE_TRANSFORM_H */
