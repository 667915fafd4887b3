/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Constants and arithmetic of mvstereo, for C and device code. doc/mvstereo-definition.md defines
 * the results.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_ARITHMETIC_H
#define AVFILTER_GPUME_MVSTEREO_ARITHMETIC_H

#ifndef GPUME_DEVICE_CODE
#include <stdint.h>
#endif

#include "libavfilter/gpume/util/integer.h"

/** Maximum number of disparities from min to max, and the number of which ranges are multiples. */
#define MVSTEREO_MAX_RANGE  1024
#define MVSTEREO_LANES      32

/** Disparities of a sample where halved views have been matched before, and how many of them are less than theirs. */
#define MVSTEREO_WINDOW     32
#define MVSTEREO_WINDOW_MID 16

#define MVSTEREO_CENSUS_R   3       ///< a census compares a sample with its 7x7 neighbours
#define MVSTEREO_NIBBLES    12      ///< a census has 48 bits: 12 groups of four
#define MVSTEREO_FEATURES   (MVSTEREO_NIBBLES + 2)  ///< features: the census, luma and the gradient

#define MVSTEREO_AD_CAP     12
#define MVSTEREO_GRAD_CAP   20
#define MVSTEREO_P1         24      ///< penalty of a disparity that changes by one
#define MVSTEREO_CHECK      1       ///< maximum difference between the disparities of both views
#define MVSTEREO_PIECE      100     ///< smaller pieces are invalid
#define MVSTEREO_ONE        16      ///< units of a disparity in a sample
#define MVSTEREO_WMED_R     4       ///< a weighted median covers 9x9 disparities
#define MVSTEREO_STILL_R    2       ///< samples to each side that are compared with where a sample was before
#define MVSTEREO_STILL      150     ///< the sample was there if their differences sum up to at most this
#define MVSTEREO_MAX_AGE    6       ///< a disparity that stays is the mean of so many before and the new one
#define MVSTEREO_BLOCK      16      ///< side of the blocks of which the motion is known
#define MVSTEREO_PART       64      ///< side of a part of the view, in which disparities change alike
#define MVSTEREO_CHANGES    32      ///< limit of such a change, in 1/16 sample
#define MVSTEREO_STEADY     24      ///< limit of the product of a change and of the weight of what was before
#define MVSTEREO_SURE       96      ///< a disparity with at least this confidence replaces the one before
#define MVSTEREO_INVALID    (-1)
#define MVSTEREO_EVEN       (-2)    ///< an invalid sample whose surroundings have nothing that could be matched
#define MVSTEREO_NOISY      16      ///< views with at least this measured noise are noisy
#define MVSTEREO_NOISES     64      ///< noise is counted up to this, exclusive; what has more counts as the greatest
#define MVSTEREO_DARKER     4       ///< views whose mean luma differs by at least this are matched in brightness
#define MVSTEREO_MAX_ROWS   3       ///< maximum number of rows above and below that are searched
#define MVSTEREO_JUDGED     16      ///< of so many rows one is judged: how the views agree
#define MVSTEREO_STRIPS     4       ///< parts of the width in which rows are judged
/** Limit of the sums of four paths, exclusive. */
#define MVSTEREO_MAX_SUM    1024

/** What is counted in rows that are judged. */
enum MvstereoCount {
    MVSTEREO_UNEVEN,            ///< samples with texture
    MVSTEREO_VALID,
    MVSTEREO_VOTES,             ///< of each strip: valid samples that fit to rows below, minus those that fit above
    MVSTEREO_NB_COUNTS = MVSTEREO_VOTES + MVSTEREO_STRIPS
};

/** Returns the penalty of a disparity that changes by more than one, for a step of luma. */
GPUME_INLINE int mvstereo_p2(int luma_step)
{
    return luma_step < 8 ? 140 : luma_step < 24 ? 46 : 28;
}

/** Returns the cost of two samples without that of their census. */
GPUME_INLINE int mvstereo_difference(int luma, int grad)
{
    return (FFMIN(luma, MVSTEREO_AD_CAP) >> 1) + FFMIN(grad, MVSTEREO_GRAD_CAP);
}

/** Returns the gradient feature from the result of Sobel's operator. */
GPUME_INLINE int mvstereo_gradient(int sobel)
{
    return av_clip(sobel / 4 + 128, 0, 255);
}

/** Returns a disparity in 1/16 sample: the minimum of two lines with opposite slopes through three sums. */
GPUME_INLINE int mvstereo_subpel(int index, int before, int sum, int after)
{
    const int a = before - sum, b = after - sum, den = FFMAX(a, b);

    if (!den)
        return index * MVSTEREO_ONE;
    return index * MVSTEREO_ONE + ((a - b) * MVSTEREO_ONE + (a > b ? den : -den)) / (2 * den);
}

/**
 * Returns whether a view is noisy, or so many of its samples have no noise at all that a codec has removed it.
 * @param counts histogram of MVSTEREO_NOISES noises
 */
GPUME_INLINE int mvstereo_is_rough(const uint32_t *counts)
{
    int64_t nb = 0, up_to = counts[0];
    int median = 0, quartile;

    for (int i = 0; i < MVSTEREO_NOISES; i++)
        nb += counts[i];
    while (nb && 2 * up_to <= nb)
        up_to += counts[++median];
    for (quartile = median; nb && 4 * up_to <= 3 * nb;)
        up_to += counts[++quartile];
    return median >= MVSTEREO_NOISY || (nb && 5 * quartile * (int64_t)counts[0] >= 4 * nb);
}

/** Returns the least disparity of halved views that are matched first, and sets how many they are. */
GPUME_INLINE int mvstereo_halved_range(int min, int span, int *halved_span)
{
    *halved_span = (span / 2 + (min & 1) + MVSTEREO_LANES - 1) / MVSTEREO_LANES * MVSTEREO_LANES;
    return min >> 1;
}

/** Returns the first disparity of a sample, from min, by that of halved views in 1/16 from their least one. */
GPUME_INLINE int mvstereo_base(int halved, int halved_min, int min, int span)
{
    const int d = ((2 * halved + MVSTEREO_ONE / 2) >> 4) + 2 * halved_min - MVSTEREO_WINDOW_MID - min;

    return av_clip(d, 0, span - MVSTEREO_WINDOW);
}

/**
 * Returns the value of a hole. One without texture is on the line between its ends, if this rises by at most half a
 * sample for each sample; others are of what is farther away.
 * @param before, after values at the ends; a negative one does not exist
 * @param i, nb         distances of the sample and of the end behind from the end before
 */
GPUME_INLINE int mvstereo_fill(int before, int after, int i, int nb, int is_even)
{
    const int difference = before - after;

    if (before < 0 || after < 0)
        return FFMAX(before, after);
    if (!is_even || FFABS(difference) > MVSTEREO_ONE / 2 * nb)
        return FFMIN(before, after);
    return (before * (nb - i) + after * i + nb / 2) / nb;
}

/** Returns the value of a disparity of 0, or the nearest one. */
GPUME_INLINE int mvstereo_zero(int min, int span)
{
    return av_clip(-min, 0, span - 1) * MVSTEREO_ONE;
}

/** Returns a sample between four, in quarters of the distances to the second column and to the second row. */
GPUME_INLINE int mvstereo_between(int a, int b, int c, int d, int x, int y)
{
    return ((4 - y) * ((4 - x) * a + x * b) + y * ((4 - x) * c + x * d) + 8) >> 4;
}

/**
 * Returns the median change of disparities.
 * @param counts how many have changed by -MVSTEREO_CHANGES to MVSTEREO_CHANGES
 */
GPUME_INLINE int mvstereo_median_change(const unsigned *counts)
{
    unsigned nb = 0, up_to = counts[0];
    int i = 0;

    for (int j = 0; j <= 2 * MVSTEREO_CHANGES; j++)
        nb += counts[j];
    while (2 * up_to < nb)
        up_to += counts[++i];
    return nb ? i - MVSTEREO_CHANGES : 0;
}

/** Returns the weight of what was before, if disparities change so much. */
GPUME_INLINE int mvstereo_steadiness(int change)
{
    return FFMIN(MVSTEREO_STEADY / FFMAX(FFABS(change), 1), MVSTEREO_MAX_AGE);
}

/**
 * Returns a disparity of a sample that was seen before, when it had another disparity.
 * @param before  expected disparity
 * @param limit   mvstereo_steadiness() of the part of the view
 * @param is_sure whether the disparity has MVSTEREO_SURE, or that before is refuted
 * @param age     how often disparities before have confirmed each other; set to that of the result
 */
GPUME_INLINE int mvstereo_stabilise(int v, int before, int limit, int is_sure, int *age)
{
    const int difference = v - before, a = FFMIN(*age, limit);

    if (FFABS(difference) <= MVSTEREO_ONE) {
        const int new_age = FFMIN(a + 1, limit), steady = mvstereo_steadiness(difference);
        const int weight  = FFMIN(new_age, steady);

        *age = new_age;
        return (before * weight + v + (weight + 1) / 2) / (weight + 1);
    }
    *age = is_sure ? 0 : FFMAX(a - 1, 0);
    return a && !is_sure ? before : v;
}

/** Returns the whole number nearest to a disparity in 1/16. */
GPUME_INLINE int mvstereo_whole(int v)
{
    return (v + MVSTEREO_ONE / 2) / MVSTEREO_ONE;
}

/** Returns whether a disparity in 1/16 of one view is that of the other view, seen. */
GPUME_INLINE int mvstereo_agrees(int v, int seen)
{
    const int difference = mvstereo_whole(v) - seen;

    return FFABS(difference) <= MVSTEREO_CHECK;
}

/** Returns the strip of a column. */
GPUME_INLINE int mvstereo_strip(int x, int w)
{
    return (x & ~31) * MVSTEREO_STRIPS / w;
}

/**
 * Returns -1 or 1 if a sample fits best to rows above or below those that are searched, otherwise 0.
 * @param costs of the sample and of those of the right view 3 rows above to 3 rows below its match
 */
GPUME_INLINE int mvstereo_vote(const int *costs, int rows)
{
    int above = 1 << 20, searched = 1 << 20, below = 1 << 20;

    for (int i = -MVSTEREO_MAX_ROWS; i <= MVSTEREO_MAX_ROWS; i++) {
        const int cost = costs[i + MVSTEREO_MAX_ROWS];

        above    = i < -rows ? FFMIN(above, cost) : above;
        below    = i > rows ? FFMIN(below, cost) : below;
        searched = FFABS(i) <= rows ? FFMIN(searched, cost) : searched;
    }
    return FFMIN(above, below) >= searched ? 0 : (below < above) - (above < below);
}

/** Returns whether a sample of the right view, seen, is behind where the sample of a disparity k should be. */
GPUME_INLINE int mvstereo_is_behind(int seen, int k)
{
    return seen >= 0 && seen < k - MVSTEREO_CHECK;
}

/** Returns the weight of a disparity in the weighted median. */
GPUME_INLINE int mvstereo_weight(int luma_difference, int is_valid)
{
    const int shift = luma_difference >> 2;

    return (shift > 6 ? 0 : 64 >> shift) >> (is_valid ? 0 : 2);
}

#endif /* AVFILTER_GPUME_MVSTEREO_ARITHMETIC_H */
