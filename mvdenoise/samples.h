/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What is done with samples: those between samples, matches of patches, and the mean of patches
 * that overlap.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_SAMPLES_H
#define AVFILTER_GPUME_MVDENOISE_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/mvdenoise/arithmetic.h"

/** Half samples are made up to so far around a component. */
#define MVDENOISE_MARGIN 14

/** What the patches of a component have become, in raster order. */
typedef struct MvdenoiseResults {
    uint16_t (*samples)[MVDENOISE_SAMPLES];     ///< with mvdenoise_fraction() more bits
    uint16_t *weights;
} MvdenoiseResults;

/** Functions for samples of one byte or two. Strides are in bytes. */
typedef struct MvdenoiseSamples {
    /**
     * Makes half samples of a row, those at x from 0 to w - 1.
     * @param whole from 2 to the left and above to 3 to the right and below are read
     */
    void (*halves)(uint8_t *right, uint8_t *below, uint8_t *centre, const uint8_t *whole, ptrdiff_t stride,
                   int w, int max);
    /** Reads a patch, the mean of two. */
    void (*read)(uint16_t *dst, const uint8_t *a, const uint8_t *b, ptrdiff_t stride);
    /** Sums the squared differences of two patches. */
    uint64_t (*squares)(const uint16_t *a, const uint16_t *b);
    /**
     * Makes row y of a component of w x h samples from the patches that have it.
     * @param scratch 12 bytes for each sample, and for MVDENOISE_PATCH more
     */
    void (*combine)(uint16_t *dst, const MvdenoiseResults *results, int w, int h, int y, int depth, void *scratch);
    void (*copy)(uint16_t *dst, const uint8_t *src, int w);
    /** Writes words of samples, step words apart, with bits below them. */
    void (*store)(uint8_t *dst, const uint16_t *src, int w, int step, int shift);
} MvdenoiseSamples;

/** In C as the build has it, and in C that is compiled for AVX2. */
void ff_mvdenoise_samples_init_c(MvdenoiseSamples *s, int depth);
void ff_mvdenoise_samples_init_avx2(MvdenoiseSamples *s, int depth);

#endif /* AVFILTER_GPUME_MVDENOISE_SAMPLES_H */
