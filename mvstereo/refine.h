/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Makes a map from the matches: medians, check of both views, pieces, filling of holes.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_REFINE_H
#define AVFILTER_GPUME_MVSTEREO_REFINE_H

#include <stdatomic.h>

#include "libavfilter/gpume/mvstereo/match.h"

/** Pieces of parts of a map are joined with those of the next part, then those of groups of 2, 4, 8 and 16 parts. */
#define MVSTEREO_LEVELS 5

typedef struct MvstereoLevel {
    struct MvstereoRefiner *r;
    int size;                   ///< parts of a group
} MvstereoLevel;

/** Maps of pictures of a size. */
typedef struct MvstereoRefiner {
    MvstereoPlane disparity;    ///< in 1/16 sample from the smallest disparity; MVSTEREO_INVALID: not filled
    MvstereoPlane valid;        ///< 255: a disparity was found; 0: it was filled, or is missing
    MvstereoPlane other;        ///< the map before or after a step
    int32_t *parents, *sizes;   ///< for each sample: parent in the tree of its piece; size of the piece of a root
    uint8_t *is_empty;          ///< whether a row has no valid samples
    MvstereoLevel levels[MVSTEREO_LEVELS];
    const MvstereoMatcher *matcher;
    int fill;
    atomic_int agreement[MVSTEREO_NB_COUNTS];   ///< enum MvstereoCount
} MvstereoRefiner;

/** @return 0 or AVERROR(ENOMEM); on error r is zeroed */
int ff_mvstereo_refiner_open(MvstereoRefiner *r, int w, int h);
void ff_mvstereo_refiner_close(MvstereoRefiner *r);

/**
 * Adds tasks that make the map from the matches of m.
 * @param m    its confidence is set to 0 where no disparity was found; luma of the left view is
 *             read
 * @param fill 0: leaves holes
 */
void ff_mvstereo_refine(MvstereoRefiner *r, const MvstereoMatcher *m, int fill, GpumeTaskChain *chain);

#endif /* AVFILTER_GPUME_MVSTEREO_REFINE_H */
