/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Estimates a sample from three fields with the filter of M. Weston (BBC), as FFmpeg's bwdif does,
 * and moves the estimate towards the interpolation within the field where that filter cannot work.
 * The host and device code include this file.
 */

#ifndef AVFILTER_GPUME_MVDEINT_WESTON_H
#define AVFILTER_GPUME_MVDEINT_WESTON_H

#include "libavfilter/gpume/mvdeint/arithmetic.h"
#include "libavfilter/gpume/util/integer.h"

/** Samples around a missing sample, as in MvdeintLines. */
typedef struct MvdeintWeston {
    int above, below, above3, below3;
    int before_above, before_below, after_above, after_below;
    int earlier[5], later[5];
} MvdeintWeston;

/** Returns a sample interpolated within its field. */
GPUME_INLINE int mvdeint_alone(int above, int below, int above3, int below3, int max)
{
    return av_clip((5077 * (above + below) - 981 * (above3 + below3)) >> 13, 0, max);
}

/**
 * Returns the estimate.
 * @param nearer     whether earlier and later have samples two lines above and below
 * @param all        whether they also have samples four lines away, and the field three lines away
 * @param reached    set to how far the estimate can be from the mean of the previous and the next field; 0: nothing
 *                   changes here and nearby
 */
GPUME_INLINE int mvdeint_weston(const MvdeintWeston *s, int nearer, int all, int max, int *reached)
{
    const int still   = (s->earlier[2] + s->later[2]) >> 1;
    const int changes = FFABS(s->earlier[2] - s->later[2]);
    const int before  = (FFABS(s->before_above - s->above) + FFABS(s->before_below - s->below)) >> 1;
    const int after   = (FFABS(s->after_above - s->above) + FFABS(s->after_below - s->below)) >> 1;
    int reach = FFMAX(FFMAX(changes >> 1, before), after), sample;

    *reached = reach;
    if (!reach)
        return still;
    if (nearer) {
        const int b    = ((s->earlier[1] + s->later[1]) >> 1) - s->above;
        const int f    = ((s->earlier[3] + s->later[3]) >> 1) - s->below;
        const int high = FFMAX(FFMAX(still - s->below, still - s->above), FFMIN(b, f));
        const int low  = FFMIN(FFMIN(still - s->below, still - s->above), FFMAX(b, f));

        reach    = FFMAX(FFMAX(reach, low), -high);
        *reached = FFMIN(reach, max);
    }
    if (!all)
        sample = (s->above + s->below) >> 1;
    else if (FFABS(s->above - s->below) > changes)
        sample = (((5570 * (s->earlier[2] + s->later[2]) -
                    3801 * (s->earlier[1] + s->later[1] + s->earlier[3] + s->later[3]) +
                    1016 * (s->earlier[0] + s->later[0] + s->earlier[4] + s->later[4])) >> 2) +
                  4309 * (s->above + s->below) - 213 * (s->above3 + s->below3)) >> 13;
    else
        sample = (5077 * (s->above + s->below) - 981 * (s->above3 + s->below3)) >> 13;
    return av_clip(FFMAX(FFMIN(sample, still + reach), still - reach), 0, max);
}

/** Statistics of the neighbouring fields around a missing sample. */
typedef struct MvdeintChange {
    unsigned squares;           ///< sum of their squared differences
    int sum;                    ///< sum of their differences
    unsigned detail;            ///< sum of their squared vertical detail
} MvdeintChange;

/** Adds a sample of the neighbouring fields, from it and the samples two lines above and below. */
GPUME_INLINE void mvdeint_add_change(MvdeintChange *c, const int *earlier, const int *later, int depth)
{
    const int change = earlier[1] - later[1];
    const int detail = 2 * (earlier[1] + later[1]) - earlier[0] - later[0] - earlier[2] - later[2];
    const int scaled = mvdeint_scaled(FFABS(change), depth), size = mvdeint_scaled(FFABS(detail), depth + 2);

    c->squares += scaled * scaled;
    c->sum     += change < 0 ? -scaled : scaled;
    c->detail  += size * size;
}

/** Adds the samples of a column. */
GPUME_INLINE void mvdeint_add_column(MvdeintChange *c, const int *earlier, const int *later, int depth)
{
    MVDEINT_UNROLL for (int i = 0; i < 3; i++)
        mvdeint_add_change(c, earlier + i, later + i, depth);
}

/** Returns a / (a + b), with both squared, in 1/scale; 0 if both are 0. */
GPUME_INLINE int mvdeint_share(unsigned a, unsigned b, int scale)
{
    const int shift = FFMAX(gpume_log2(a | b | 1) - 11, 0);

    if (b >= 17 * a)            /* less than 1/256 */
        return 0;
    a = (a >> shift) * (a >> shift);
    b = (b >> shift) * (b >> shift);
    return a + b ? scale * a / (a + b) : 0;
}

/**
 * Returns an estimate that is moved towards the interpolation within the field, the more the
 * neighbouring fields change, and the less vertical detail they have in common.
 */
GPUME_INLINE int mvdeint_mixed(int estimate, int intra, const MvdeintChange *c)
{
    const unsigned mean = FFABS(c->sum) * 273 >> 12;           /* 1/15 of the sum */
    const int share = mvdeint_share(c->squares - 15 * mean * mean, MVDEINT_DETAIL * c->detail, MVDEINT_MIXED);

    return estimate + (((intra - estimate) * share + 128) >> 8);
}

/** Returns the squared difference of two samples. */
GPUME_INLINE unsigned mvdeint_squared(int a, int b, int depth)
{
    const unsigned difference = mvdeint_scaled(FFABS(a - b), depth);

    return difference * difference;
}

/**
 * Returns an estimate that is moved towards the mean of the neighbouring fields, the less these and the field itself
 * change, relative to the distance from this mean.
 * @param change sum of the squared changes
 */
GPUME_INLINE int mvdeint_woven(int estimate, int earlier, int later, unsigned change, int depth)
{
    const int still = (earlier + later) >> 1;

    return estimate + (((still - estimate) *
                        mvdeint_share(mvdeint_squared(still, estimate, depth), change, 256) + 128) >> 8);
}

#endif /* AVFILTER_GPUME_MVDEINT_WESTON_H */
