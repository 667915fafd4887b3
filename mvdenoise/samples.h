/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What is done with samples: matches of patches are found, and patches that overlap become a row.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_SAMPLES_H
#define AVFILTER_GPUME_MVDENOISE_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/mvdenoise/arithmetic.h"

/** A patch in a picture: its samples are the means of two. Assembly code knows the layout of this and what follows. */
typedef struct MvdenoisePatch {
    const uint8_t *from[2];
} MvdenoisePatch;

/** The sample (0, 0) of a component, and those up to 3 quarter samples to the right and below: 4 y + x. */
typedef struct MvdenoiseSource {
    MvdenoisePatch parts[16];
    ptrdiff_t stride;           ///< bytes
} MvdenoiseSource;

/** A patch, as far as its candidates depend on it. Cells are of the first component's samples. */
typedef struct MvdenoiseSpot {
    int32_t beside[MVDENOISE_CANDIDATES];   ///< how far right the samples are whose cells' vectors are tried; then 0
    int32_t rows[MVDENOISE_CANDIDATES];     ///< the first cells of these cells' rows; then 0
    int32_t x, y;
    int32_t least, most_x, most_y;          ///< mvdenoise_inside() is between these
    int32_t hsub, vsub;                     ///< of the component
    int32_t stride, log2_bytes;
    int32_t log2_cell, last_column;
} MvdenoiseSpot;

/** Where vectors lead: to bytes from a source's samples, and to which part of it. */
typedef struct MvdenoiseCandidates {
    int32_t offsets[MVDENOISE_CANDIDATES];
    int32_t parts[MVDENOISE_CANDIDATES];
} MvdenoiseCandidates;

/** Returns the patch of a source to which a candidate leads. */
static inline MvdenoisePatch mvdenoise_match(const MvdenoiseSource *source, const MvdenoiseCandidates *c, int i)
{
    const MvdenoisePatch *part = &source->parts[c->parts[i]];

    return (MvdenoisePatch) { { part->from[0] + c->offsets[i], part->from[1] + c->offsets[i] } };
}

/** Pictures in which matches are sought at most. */
#define MVDENOISE_OTHERS (MVDENOISE_MAX_STACK - 1)

/** The search for matches of a patch in other pictures. */
typedef struct MvdenoiseSearch {
    uint64_t limits[MVDENOISE_OTHERS];      ///< sums have to be less than that; then the least ones
    const MvdenoiseSource *sources[MVDENOISE_OTHERS];   ///< all with the same stride
    MvdenoiseCandidates candidates[MVDENOISE_OTHERS];
    int64_t best[MVDENOISE_OTHERS];         ///< at first -1; then which bit of mask its best candidate has
    uint64_t mask;                          ///< a bit for each of these
    const unsigned long long *penalties;    ///< of a source's parts
} MvdenoiseSearch;

/** Functions for samples of a depth. Strides are in bytes. */
typedef struct MvdenoiseSamples {
    /** Reads a patch. @return the sum of its samples */
    unsigned (*read)(uint16_t *dst, const MvdenoisePatch *patch, ptrdiff_t stride);
    /**
     * Finds the candidates of a patch in the field of a picture.
     * @return a bit for each that differs from those before
     */
    unsigned (*candidates)(MvdenoiseCandidates *dst, const GpumeCellVector *field, const MvdenoiseSpot *spot);
    /**
     * Finds the first candidate in each picture whose sum of squared differences and penalty is least, of all
     * with a bit in mask, which is not 0.
     */
    void (*best)(MvdenoiseSearch *search, const uint16_t *own);
    /**
     * Adds a row of nb patches that are MVDENOISE_STEP apart.
     * @param sums    of weighted samples, uint32_t or, of more than 10 bits, uint64_t
     * @param samples the first patch's row
     */
    void (*add)(void *sums, uint32_t *weights, const uint16_t *samples, const uint16_t *patch_weights, int nb,
                const uint8_t *window);
    /** Divides the sums by their weights. Up to 7 samples more than w may be read and written. */
    void (*divide)(uint16_t *dst, const void *sums, const uint32_t *weights, int w, int fraction);
    void (*copy)(uint16_t *dst, const uint8_t *src, int w);
    /** Writes words of samples, step words apart, with bits below them. */
    void (*store)(uint8_t *dst, const uint16_t *src, int w, int step, int shift);
} MvdenoiseSamples;

/** What the patches of a component have become, in raster order. */
typedef struct MvdenoiseResults {
    uint16_t (*samples)[MVDENOISE_SAMPLES];     ///< with mvdenoise_fraction() more bits
    uint16_t *weights;
} MvdenoiseResults;

/** Fill in the table: plain C first, then what the processor can do. */
void ff_mvdenoise_samples_init(MvdenoiseSamples *s, int depth);
void ff_mvdenoise_samples_init_x86(MvdenoiseSamples *s, int depth);
void ff_mvdenoise_samples_init_aarch64(MvdenoiseSamples *s, int depth);

/**
 * Makes row y of a component of w x h samples from the patches that have it. Up to 7 samples more are written.
 * @param scratch 12 bytes for each sample, and for MVDENOISE_PATCH more
 */
void ff_mvdenoise_combine(const MvdenoiseSamples *s, uint16_t *dst, const MvdenoiseResults *results, int w, int h,
                          int y, int depth, void *scratch);

#endif /* AVFILTER_GPUME_MVDENOISE_SAMPLES_H */
