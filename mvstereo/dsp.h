/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The functions that match pictures, for this processor. Plain C first, then what it can do.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_DSP_H
#define AVFILTER_GPUME_MVSTEREO_DSP_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/mvstereo/arithmetic.h"

/** A path's costs of a sample begin so far behind those of the one before it, with 255 on both sides. */
static inline ptrdiff_t mvstereo_path_step(int range)
{
    return range + MVSTEREO_LANES;
}

/** Costs of samples in a row. Assembly code knows the layout of this and what follows. */
typedef struct MvstereoCosts {
    uint8_t *costs;             ///< range a sample
    const uint8_t *left;        ///< the first sample's features; each is a plane
    /** The other view from right to left: the feature of the first sample's match at the least disparity. */
    const uint8_t *right;
    ptrdiff_t left_plane, right_plane;  ///< bytes from a feature to the next
    ptrdiff_t nb, range;
} MvstereoCosts;

/** A part of paths, of a sample each. */
typedef struct MvstereoPath {
    uint8_t *path;              ///< costs of the first sample
    const uint8_t *before;      ///< those of the sample before it on its path
    const uint8_t *costs;
    const uint8_t *p2;
    uint8_t *least;             ///< set to the least of path
    const uint8_t *least_before;
    ptrdiff_t path_step, costs_step;    ///< from a sample to the next
    ptrdiff_t step;             ///< of p2 and both of least: 1 or -1
    ptrdiff_t nb, range;
} MvstereoPath;

/** The paths of a sample, and what is known of the other view. */
typedef struct MvstereoSums {
    const uint8_t *paths[4];
    uint16_t *sums;             ///< range of them
    uint16_t *right_least;      ///< of matches, from the one at the least disparity
    uint16_t *right_index;
    ptrdiff_t range;
    uint16_t first;             ///< index of the first sum
} MvstereoSums;

/** A row of the weighted median. */
typedef struct MvstereoMedian {
    int16_t *dst;
    const int16_t *disparity;   ///< of the first sample; 9x9 around each can be read
    const uint8_t *luma;        ///< likewise
    const uint8_t *valid;       ///< 255: it is, 0: it is not; likewise
    ptrdiff_t stride;           ///< samples, of all three
    ptrdiff_t nb;
} MvstereoMedian;

typedef struct MvstereoDSP {
    void (*costs)(const MvstereoCosts *c);
    void (*path)(const MvstereoPath *p);
    /** Adds the paths, and finds matches of the other view that are better. @return the least sum */
    int (*sum)(const MvstereoSums *s);
    /** @return the index of the first sum that is equal to value, and there is one */
    int (*find)(const uint16_t *sums, int value, ptrdiff_t range);
    /** @return the least sum; all are less than 0x8000 */
    int (*least)(const uint16_t *sums, ptrdiff_t range);
    /** Up to 15 more than nb may be read and written. */
    void (*weighted_median)(const MvstereoMedian *m);
} MvstereoDSP;

void ff_mvstereo_dsp_init(MvstereoDSP *dsp);
void ff_mvstereo_dsp_init_x86(MvstereoDSP *dsp);
void ff_mvstereo_dsp_init_aarch64(MvstereoDSP *dsp);

#endif /* AVFILTER_GPUME_MVSTEREO_DSP_H */
