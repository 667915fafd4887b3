/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Determines the range of disparities of two views.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_RANGE_H
#define AVFILTER_GPUME_MVSTEREO_RANGE_H

#include "libavfilter/gpume/mvstereo/arithmetic.h"

/** Views are halved until they are at most this wide. */
#define MVSTEREO_COARSE_W   256

#define MVSTEREO_TONES      16

/** The smallest disparity, and the largest plus one; equal: unknown. */
typedef struct MvstereoRange {
    int min, max;
    int is_guess;               ///< whether no view had certain disparities so far
    int least, greatest;        ///< scale of maps: the range of disparities, with headroom if the range is determined
    unsigned luma[MVSTEREO_TONES];      ///< how many samples of the left view before had which sixteenth of luma
} MvstereoRange;

/** Returns how often a view of this width is halved before its range is determined. */
GPUME_INLINE int mvstereo_range_halvings(int w)
{
    int n = 0;

    for (; w > MVSTEREO_COARSE_W; n++)
        w = (w + 1) / 2;
    return n;
}

/** Returns the smallest disparity of halved views of width w, and sets their number. */
GPUME_INLINE int mvstereo_range_coarse(int w, int *range)
{
    const int below = w / 8;

    *range = (below + FFMAX(w / 2, 1) + MVSTEREO_LANES - 1) / MVSTEREO_LANES * MVSTEREO_LANES;
    return -below;
}

/** Sets what is known of the left view before. Returns whether more than half of its samples have other tones now. */
GPUME_INLINE int mvstereo_range_is_cut(MvstereoRange *r, const unsigned *luma)
{
    int64_t nb = 0, differ = 0;

    for (int i = 0; i < MVSTEREO_TONES; i++) {
        unsigned count = 0;

        for (int k = 0; k < 256 / MVSTEREO_TONES; k++)
            count += luma[i * (256 / MVSTEREO_TONES) + k];
        nb        += count;
        differ    += FFABS((int64_t)count - r->luma[i]);
        r->luma[i] = count;
    }
    return differ > nb;
}

/**
 * Sets the scale for a range, with headroom of its size for what is nearer, and of a quarter of it for what is farther
 * away; only ranges with negative disparities have negative scales. The scale stays until the view is cut, unless
 * something is farther away.
 * @param luma histogram of the left view
 */
GPUME_INLINE void mvstereo_range_set_scale(MvstereoRange *r, const unsigned *luma, int was_guess)
{
    const int is_cut = mvstereo_range_is_cut(r, luma), size = r->max - r->min;

    if (r->least < r->greatest && !was_guess && r->min >= r->least && (r->max <= r->greatest || !is_cut))
        return;
    r->least    = FFMAX(r->min - size / 4, r->min >= 0 ? 0 : -MVSTEREO_MAX_RANGE);
    r->greatest = FFMIN(r->max + size, MVSTEREO_MAX_RANGE);
}

/**
 * Extends a range by that of halved views. Views without certain disparities, such as black ones, do not change it.
 * @param counts   histogram of nb whole disparities from min on, of samples whose confidence is not 0
 * @param halvings number of halvings
 * @param luma     histogram of the left view
 */
GPUME_INLINE void mvstereo_range_widen(MvstereoRange *r, const unsigned *counts, int nb, int min, int halvings,
                                       const unsigned *luma)
{
    const int was_guess = r->is_guess;
    int first = 0, last = nb - 1, total = 0, below, above, size;

    for (int i = 0; i < nb; i++)
        total += counts[i];
    if (total) {
        /* ignores one of 512 disparities at either end, and adds a margin of two samples of the halved views */
        for (below = counts[first]; below <= total / 512; below += counts[first])
            first++;
        for (above = counts[last]; above <= total / 512; above += counts[last])
            last--;
    } else if (r->min < r->max) {
        return;
    } else {
        first = -min;
        last  = first + (64 >> halvings);
    }
    first = (first - 2 + min) * (1 << halvings);
    last  = (last + 3 + min) * (1 << halvings);
    if (r->min < r->max && !r->is_guess) {
        first = FFMIN(first, r->min);
        last  = FFMAX(last, r->max);
    }
    /* the options' limits; near objects matter more than distant ones */
    first  = FFMAX(FFMIN(first, MVSTEREO_MAX_RANGE - MVSTEREO_LANES), -MVSTEREO_MAX_RANGE);
    last   = FFMAX(FFMIN(last, MVSTEREO_MAX_RANGE), MVSTEREO_LANES - MVSTEREO_MAX_RANGE);
    size   = (last - first + MVSTEREO_LANES - 1) / MVSTEREO_LANES * MVSTEREO_LANES;
    r->is_guess = !total;
    r->min = FFMAX(first, last - MVSTEREO_MAX_RANGE);
    r->max = r->min + FFMIN(size, MVSTEREO_MAX_RANGE);
    mvstereo_range_set_scale(r, luma, was_guess);
}

#endif /* AVFILTER_GPUME_MVSTEREO_RANGE_H */
