/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The shape of an arrow, and how far inside it a sample lies. Integers only; read by the host
 * and by device code.
 */

#ifndef AVFILTER_GPUME_MVVIEW_ARROW_H
#define AVFILTER_GPUME_MVVIEW_ARROW_H

#include "libavfilter/gpume/mvview/integer.h"

/** Units of lengths and distances in a sample. */
#define MVVIEW_SAMPLE 256
/** Units of the ends of arrows in a sample. */
#define MVVIEW_TIP 4
/** An arrow's end is at most this far away, in units of MVVIEW_TIP; more is of no use. */
#define MVVIEW_FARTHEST (1 << 18)
/** The weight of a sample that is covered completely. */
#define MVVIEW_FULL 256

/** An arrow that begins at (0, 0); lengths in units of MVVIEW_SAMPLE. */
typedef struct MvviewArrow {
    int ux, uy;             ///< direction; its length is 1 << 14
    int length;             ///< 0: a dot, for what is shorter than half a sample
    int head;               ///< length of the head, which is as wide as it is long
    int shaft;              ///< half of the shaft's width
    int edge;               ///< width of the line around it
    int reach;              ///< no sample farther from the segment is touched
} MvviewArrow;

GPUME_INLINE int mvview_arrow_edge(int unit)
{
    return unit * 3 / 4;
}

GPUME_INLINE int mvview_arrow_reach(int head, int unit)
{
    /* the line around is 5 ** .5 times as far from the tip as from the sides, less elsewhere */
    return head / 2 + (mvview_arrow_edge(unit) + MVVIEW_SAMPLE / 2) * 9 / 4 + MVVIEW_SAMPLE / 4;
}

/** Returns the length of the head of the longest arrows. */
GPUME_INLINE int mvview_arrow_most_head(int unit)
{
    return unit * 13 / 2;
}

GPUME_INLINE int mvview_arrow_most_reach(int unit)
{
    return mvview_arrow_reach(mvview_arrow_most_head(unit), unit);
}

/**
 * @param qx,qy the tip, in units of MVVIEW_TIP
 * @param unit  the width of a line, about, in units of MVVIEW_SAMPLE
 */
GPUME_INLINE void mvview_arrow_init(MvviewArrow *a, int qx, int qy, int unit)
{
    const long long x = (long long)qx * (MVVIEW_SAMPLE / MVVIEW_TIP);
    const long long y = (long long)qy * (MVVIEW_SAMPLE / MVVIEW_TIP);

    a->length = mvview_sqrt(x * x + y * y);
    if (a->length < MVVIEW_SAMPLE / 2)
        a->length = 0;
    a->ux     = a->length ? mvview_divide(x * (1 << 14), a->length) : 0;
    a->uy     = a->length ? mvview_divide(y * (1 << 14), a->length) : 0;
    /* short arrows are mostly head, but one that can be seen */
    a->head   = av_clip(a->length / 2, unit * 3, mvview_arrow_most_head(unit));
    a->shaft  = unit * 5 / 8;
    a->edge   = mvview_arrow_edge(unit);
    a->reach  = mvview_arrow_reach(a->head, unit);
}

/**
 * The samples (*first to *last, relative to the arrow's beginning) of row y that it can
 * touch; *first > *last: none.
 */
GPUME_INLINE void mvview_arrow_span(const MvviewArrow *a, int y, int *first, int *last)
{
    /* |x uy - y ux| <= reach, and -margin <= x ux + y uy <= length + margin */
    const long long reach  = (long long)a->reach * 64;
    const long long margin = a->head * 64LL + reach;
    const long long bound[2][3] = {
        { a->uy, (long long)y * a->ux - reach, (long long)y * a->ux + reach },
        { a->ux, -(long long)y * a->uy - margin,
          -(long long)y * a->uy + a->length * 64LL + reach },
    };

    if (!a->length) {
        const int out = FFABS(y) > a->reach / MVVIEW_SAMPLE + 1;

        *last  = out ? -1 : a->reach / MVVIEW_SAMPLE + 1;
        *first = -*last;
        return;
    }
    *first = -(1 << 30);
    *last  = 1 << 30;
    for (int i = 0; i < 2; i++) {
        long long low = bound[i][1], high = bound[i][2];

        if (!bound[i][0]) {
            if (low > 0 || high < 0)
                *last = -(1 << 30) - 1;
            continue;
        }
        low  /= bound[i][0];
        high /= bound[i][0];
        *first = FFMAX(*first, FFMIN(low, high) - 1);
        *last  = FFMIN(*last,  FFMAX(low, high) + 1);
    }
}

/** A sample as an arrow sees it: how far along it and to its side, in units of 1 / (1 << 14) sample. */
typedef struct MvviewAlong {
    long long along, across;
} MvviewAlong;

GPUME_INLINE MvviewAlong mvview_arrow_along(const MvviewArrow *a, int x, int y)
{
    MvviewAlong at;

    at.along  = x * (long long)a->ux + y * (long long)a->uy;
    at.across = x * (long long)a->uy - y * (long long)a->ux;
    return at;
}

/** The same of the sample to the right of it. */
GPUME_INLINE void mvview_arrow_step(const MvviewArrow *a, MvviewAlong *at)
{
    at->along  += a->ux;
    at->across += a->uy;
}

/**
 * How far inside the arrow the sample (x, y) lies, negative outside, in units of MVVIEW_SAMPLE.
 * @param at mvview_arrow_along() of it
 */
GPUME_INLINE int mvview_arrow_depth(const MvviewArrow *a, MvviewAlong at, int x, int y)
{
    const int along  = (int)(at.along >> 6);
    const int across = FFABS((int)(at.across >> 6));
    /* how far away what is far away is does not matter */
    const int before = av_clip(a->length - along, -(1 << 20), 1 << 20);
    int shaft, head;

    if (!a->length) {
        /* nearly the distance: an octagon's */
        const int longest = FFMAX(FFABS(x), FFABS(y)) * MVVIEW_SAMPLE;

        return a->shaft * 3 / 2 - FFMAX(longest, (FFABS(x) + FFABS(y)) * 181);
    }
    shaft = FFMIN3(a->shaft - across, along + a->shaft, a->length - a->head / 2 - along);
    /* a triangle as wide as it is long: the sides' normal is (1, 2) / sqrt(5) */
    head  = FFMIN((before * 229 - FFMIN(across, 1 << 20) * 458) >> 9, a->head - before);
    return FFMAX(shaft, head);
}

/** The weight of what is depth inside its outline: half of it on the outline. */
GPUME_INLINE int mvview_coverage(int depth)
{
    return av_clip(depth + MVVIEW_SAMPLE / 2, 0, MVVIEW_FULL);
}

#endif /* AVFILTER_GPUME_MVVIEW_ARROW_H */
