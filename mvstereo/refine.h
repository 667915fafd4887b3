/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Makes a map of what was matched: medians, what both views agree on, pieces, holes that are filled.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_REFINE_H
#define AVFILTER_GPUME_MVSTEREO_REFINE_H

#include "libavfilter/gpume/mvstereo/match.h"

/** Maps of pictures of a size. */
typedef struct MvstereoRefiner {
    MvstereoPlane disparity;    ///< in 1/16 from the least one; where nothing was filled, MVSTEREO_INVALID
    MvstereoPlane valid;        ///< 255: a disparity was found, 0: it was filled, or is missing
    MvstereoPlane other;        ///< before or after a step
    int32_t *parents, *sizes;   ///< of pieces
    const MvstereoMatcher *matcher;
    int fill;
} MvstereoRefiner;

/** @return 0 or AVERROR(ENOMEM), and then r is blank */
int ff_mvstereo_refiner_open(MvstereoRefiner *r, int w, int h);
void ff_mvstereo_refiner_close(MvstereoRefiner *r);

/**
 * Makes the map of what m has matched.
 * @param m    its confidence becomes 0 where nothing was found; the luma of the left view is read
 * @param fill 0: stop when it is known what is valid, and leave holes
 */
void ff_mvstereo_refine(MvstereoRefiner *r, const MvstereoMatcher *m, int fill);

#endif /* AVFILTER_GPUME_MVSTEREO_REFINE_H */
