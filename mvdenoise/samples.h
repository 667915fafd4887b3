/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Functions on samples: finding matches of patches, and combining overlapping patches to a row.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_SAMPLES_H
#define AVFILTER_GPUME_MVDENOISE_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/mvdenoise/arithmetic.h"
#include "libavfilter/gpume/picture/layout.h"

/**
 * A patch in a picture: its samples are the means of two. Assembly code depends on the layout of
 * this and the following structs.
 */
typedef struct MvdenoisePatch {
    const uint8_t *from[2];
} MvdenoisePatch;

/** Sample (0, 0) of a component, and the samples up to 3 quarters to the right and below, indexed by 4 y + x. */
typedef struct MvdenoiseSource {
    MvdenoisePatch parts[16];
    ptrdiff_t stride;           ///< bytes
} MvdenoiseSource;

/**
 * The position of a patch, as its candidates need it. Cells are in samples of the first component; in the second
 * pass there is one for each patch, in samples of its component, which then is not subsampled.
 */
typedef struct MvdenoiseSpot {
    int32_t beside[MVDENOISE_CANDIDATES];   ///< offsets to the right of the samples whose cells' vectors are tried;
                                            ///< then 0
    int32_t rows[MVDENOISE_CANDIDATES];     ///< first cells of the rows of these cells; then 0
    int32_t x, y;
    int32_t least, most_x, most_y;          ///< limits of mvdenoise_inside()
    int32_t hsub, vsub;                     ///< subsampling of the component
    int32_t stride, log2_bytes;
    int32_t log2_cell, last_column;
    size_t patch;                           ///< number of the patch among those of all components
} MvdenoiseSpot;

/** Targets of vectors: offsets in bytes from a source's samples, and the part of the source. */
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

/** Returns the cell of candidate i of a patch. */
static inline GpumeCellVector mvdenoise_cell(const GpumeCellVector *field, const MvdenoiseSpot *spot, int i)
{
    const int x = (spot->x + spot->beside[i]) * (1 << spot->hsub) >> spot->log2_cell;

    return i < MVDENOISE_PLACES ? field[spot->rows[i] + av_clip(x, 0, spot->last_column)] : (GpumeCellVector) { 0, 0 };
}

/** Maximum number of pictures in which matches are searched. */
#define MVDENOISE_OTHERS (MVDENOISE_MAX_STACK - 1)

/** The search for matches of a patch in other pictures. */
typedef struct MvdenoiseSearch {
    uint64_t limits[MVDENOISE_OTHERS];      ///< upper limits of the sums, exclusive; replaced by the least sums
    const MvdenoiseSource *sources[MVDENOISE_OTHERS];   ///< all have the same stride
    MvdenoiseCandidates candidates[MVDENOISE_OTHERS];
    int64_t best[MVDENOISE_OTHERS];         ///< initially -1; then the bit of mask of its best candidate
    uint64_t mask;                          ///< bit mask of the candidates to be tried
    const unsigned long long *penalties;    ///< penalties of a source's parts
} MvdenoiseSearch;

/** Functions for samples of a depth. Strides are in bytes. */
typedef struct MvdenoiseSamples {
    /** Reads a patch. @return the sum of its samples */
    unsigned (*read)(uint16_t *dst, const MvdenoisePatch *patch, ptrdiff_t stride);
    /**
     * Finds the candidates of a patch in the field of a picture.
     * @return bit mask of the candidates that differ from those before them
     */
    unsigned (*candidates)(MvdenoiseCandidates *dst, const GpumeCellVector *field, const MvdenoiseSpot *spot);
    /**
     * Finds in each picture the first candidate with the least sum of squared differences and
     * penalty. Tries the candidates in mask, which is not 0.
     */
    void (*best)(MvdenoiseSearch *search, const uint16_t *own);
    /**
     * Adds a row of nb patches that are MVDENOISE_STEP apart.
     * @param sums    weighted sums, uint32_t or, for more than 10 bits, uint64_t
     * @param samples row of the first patch
     */
    void (*add)(void *sums, uint32_t *weights, const uint16_t *samples, const uint16_t *patch_weights, int nb,
                const uint8_t *window);
    /** Divides w sums by their weights. */
    void (*divide)(uint16_t *dst, const void *sums, const uint32_t *weights, int w, int fraction);
    void (*copy)(uint16_t *dst, const uint8_t *src, int w);
    /** Writes words of samples, step words apart, with padding bits below them. */
    void (*store)(uint8_t *dst, const uint16_t *src, int w, int step, int shift);
} MvdenoiseSamples;

/** The denoised patches of a component, row by row. */
typedef struct MvdenoiseResults {
    uint16_t (*samples)[MVDENOISE_SAMPLES];     ///< with mvdenoise_fraction() more bits
    uint16_t *weights;
} MvdenoiseResults;

/** Fills in the table for this processor. */
void ff_mvdenoise_samples_init(MvdenoiseSamples *s, int depth);
void ff_mvdenoise_samples_init_x86(MvdenoiseSamples *s, int depth);
void ff_mvdenoise_samples_init_aarch64(MvdenoiseSamples *s, int depth);

/**
 * Makes row y of a component from the patches that contain it. May write up to 7 more samples.
 * @param scratch 12 bytes for each sample, and for MVDENOISE_PATCH more
 */
void ff_mvdenoise_combine(const MvdenoiseSamples *s, uint16_t *dst, const MvdenoiseResults *results,
                          const GpumeComponent *c, int y, int depth, int log2_step, void *scratch);

#endif /* AVFILTER_GPUME_MVDENOISE_SAMPLES_H */
