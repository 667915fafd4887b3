/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds which disparities two views have.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_RANGE_H
#define AVFILTER_GPUME_MVSTEREO_RANGE_H

#include "libavfilter/gpume/mvstereo/arithmetic.h"

/** Views are halved until they are at most so wide. */
#define MVSTEREO_COARSE_W   256

/** The least and the greatest disparity plus one; equal: none is known. */
typedef struct MvstereoRange {
    int min, max;
} MvstereoRange;

/** Returns how often a view of this width is halved before the range is looked for. */
GPUME_INLINE int mvstereo_range_halvings(int w)
{
    int n = 0;

    for (; w > MVSTEREO_COARSE_W; n++)
        w = (w + 1) / 2;
    return n;
}

/** Returns the least disparity that halved views can have, w samples wide, and sets how many they are. */
GPUME_INLINE int mvstereo_range_coarse(int w, int *range)
{
    const int below = w / 8;

    *range = (below + FFMAX(w / 2, 1) + MVSTEREO_LANES - 1) / MVSTEREO_LANES * MVSTEREO_LANES;
    return -below;
}

/**
 * Widens a range by what halved views have.
 * @param counts   of their whole disparities from min, nb of them
 * @param halvings how often they were halved
 */
GPUME_INLINE void mvstereo_range_widen(MvstereoRange *r, const unsigned *counts, int nb, int min, int halvings)
{
    int first = 0, last = nb - 1, total = 0, below, above, size;

    for (int i = 0; i < nb; i++)
        total += counts[i];
    if (total) {
        /* one of 512 may be wrong at either end, and each of them two samples of the halved views */
        for (below = counts[first]; below <= total / 512; below += counts[first])
            first++;
        for (above = counts[last]; above <= total / 512; above += counts[last])
            last--;
    } else {
        first = -min;
        last  = first + (64 >> halvings);
    }
    first = (first - 2 + min) * (1 << halvings);
    last  = (last + 3 + min) * (1 << halvings);
    if (r->min < r->max) {
        first = FFMIN(first, r->min);
        last  = FFMAX(last, r->max);
    }
    /* nearer things matter more than those that are farther away */
    last   = FFMIN(last, MVSTEREO_MAX_RANGE);
    size   = (last - first + MVSTEREO_LANES - 1) / MVSTEREO_LANES * MVSTEREO_LANES;
    r->min = FFMAX(first, last - MVSTEREO_MAX_RANGE);
    r->max = r->min + FFMIN(size, MVSTEREO_MAX_RANGE);
}

#endif /* AVFILTER_GPUME_MVSTEREO_RANGE_H */
