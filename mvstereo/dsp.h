/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Functions that match pictures, in the version for this processor.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_DSP_H
#define AVFILTER_GPUME_MVSTEREO_DSP_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/mvstereo/arithmetic.h"

/** Returns the distance of the costs of consecutive samples in a path; there is padding of 255 on both sides. */
static inline ptrdiff_t mvstereo_path_step(int range)
{
    return range + MVSTEREO_LANES;
}

/** Costs of samples in a row. Assembly code depends on the layout of this and the following structs. */
typedef struct MvstereoCosts {
    uint8_t *costs;             ///< range bytes for each sample
    const uint8_t *left;        ///< features of the first sample; each feature is in a plane
    /**
     * Features of the other view from right to left, beginning with the first sample's match at the
     * smallest disparity.
     */
    const uint8_t *right;
    ptrdiff_t left_plane, right_plane;  ///< bytes between features
    ptrdiff_t nb, range;
} MvstereoCosts;

/** One step of paths, for one or several samples. */
typedef struct MvstereoPath {
    uint8_t *path;              ///< costs of the first sample
    const uint8_t *before;      ///< costs of the previous sample on the path
    const uint8_t *costs;
    const uint8_t *p2;
    uint8_t *least;             ///< output: minimum of path
    const uint8_t *least_before;
    ptrdiff_t path_step, costs_step;    ///< distances between samples
    ptrdiff_t step;             ///< distance of p2 and of both minima: 1 or -1
    ptrdiff_t nb, range;
} MvstereoPath;

/** The paths of a sample, and the best sums of the other view. */
typedef struct MvstereoSums {
    const uint8_t *paths[4];
    uint16_t *sums;             ///< output: range sums
    uint16_t *right_least;      ///< least sums of the matches, beginning with that at the smallest disparity
    uint16_t *right_index;
    ptrdiff_t range;
    uint16_t first;             ///< index of the first sum
} MvstereoSums;

/** A row of the weighted median. */
typedef struct MvstereoMedian {
    int16_t *dst;
    const int16_t *disparity;   ///< disparity of the first sample; the 9x9 neighbourhood of each sample can be read
    const uint8_t *luma;        ///< luma of the first sample; readable as disparity
    const uint8_t *valid;       ///< 255: valid, 0: invalid; readable as disparity
    ptrdiff_t stride;           ///< distance between rows of all three, in samples
    ptrdiff_t nb;
} MvstereoMedian;

typedef struct MvstereoDSP {
    void (*costs)(const MvstereoCosts *c);
    void (*path)(const MvstereoPath *p);
    /** Adds the paths, and updates the other view where a sum is better. @return the least sum */
    int (*sum)(const MvstereoSums *s);
    /** Computes nb medians; may read and write up to 15 more. */
    void (*weighted_median)(const MvstereoMedian *m);
} MvstereoDSP;

void ff_mvstereo_dsp_init(MvstereoDSP *dsp);
void ff_mvstereo_dsp_init_aarch64(MvstereoDSP *dsp);
void ff_mvstereo_dsp_init_x86(MvstereoDSP *dsp);

#endif /* AVFILTER_GPUME_MVSTEREO_DSP_H */
