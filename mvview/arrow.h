/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Defines the shape of an arrow and computes how far inside it a sample lies. Uses integers only.
 * The host and device code include this file.
 */

#ifndef AVFILTER_GPUME_MVVIEW_ARROW_H
#define AVFILTER_GPUME_MVVIEW_ARROW_H

#include "libavfilter/gpume/mvview/integer.h"

/** The number of units of lengths and distances in a sample. */
#define MVVIEW_SAMPLE 256
/** The number of units in a sample for the positions of arrows' tips. */
#define MVVIEW_TIP 4
/** Largest distance from an arrow's beginning to its tip, in units of MVVIEW_TIP; no picture needs more. */
#define MVVIEW_FARTHEST (1 << 18)
/** The weight of a sample that is covered completely. */
#define MVVIEW_FULL 256

/** An arrow that begins at (0, 0); lengths in units of MVVIEW_SAMPLE. */
typedef struct MvviewArrow {
    int ux, uy;             ///< direction; its length is 1 << 14
    int length;             ///< 0: a dot, drawn for vectors shorter than half a sample
    int head;               ///< length of the head, which is as wide as it is long
    int shaft;              ///< half of the shaft's width
    int edge;               ///< width of the dark outline
    int reach;              ///< largest distance of a touched sample from the line between beginning and tip
} MvviewArrow;

GPUME_INLINE int mvview_arrow_edge(int unit)
{
    return unit * 3 / 4;
}

GPUME_INLINE int mvview_arrow_reach(int head, int unit)
{
    /* at the tip the outline is sqrt(5) times as wide as at the sides, elsewhere less */
    return head / 2 + (mvview_arrow_edge(unit) + MVVIEW_SAMPLE / 2) * 9 / 4 + MVVIEW_SAMPLE / 4;
}

/** Returns the length of the head of the longest arrows. */
GPUME_INLINE int mvview_arrow_max_head(int unit)
{
    return unit * 13 / 2;
}

GPUME_INLINE int mvview_arrow_max_reach(int unit)
{
    return mvview_arrow_reach(mvview_arrow_max_head(unit), unit);
}

/**
 * Initializes an arrow.
 * @param qx,qy the tip, in units of MVVIEW_TIP
 * @param unit  approximate width of a line, in units of MVVIEW_SAMPLE
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
    /* the head takes half of a short arrow, but is never too small to be seen */
    a->head   = av_clip(a->length / 2, unit * 3, mvview_arrow_max_head(unit));
    a->shaft  = unit * 5 / 8;
    a->edge   = mvview_arrow_edge(unit);
    a->reach  = mvview_arrow_reach(a->head, unit);
}

/**
 * Finds the samples of row y that the arrow can touch: *first to *last, relative to the arrow's
 * beginning. *first > *last if there are none.
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

/** The position of a sample relative to an arrow: along it and across it, in units of 1 / (1 << 14) sample. */
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

/** Moves a position to the next sample on the right. */
GPUME_INLINE void mvview_arrow_step(const MvviewArrow *a, MvviewAlong *at)
{
    at->along  += a->ux;
    at->across += a->uy;
}

/**
 * Returns how far inside the arrow the sample (x, y) lies, in units of MVVIEW_SAMPLE; negative
 * outside.
 * @param at mvview_arrow_along() of (x, y)
 */
GPUME_INLINE int mvview_arrow_depth(const MvviewArrow *a, MvviewAlong at, int x, int y)
{
    const int along  = (int)(at.along >> 6);
    const int across = FFABS((int)(at.across >> 6));
    /* larger distances make no difference */
    const int before = av_clip(a->length - along, -(1 << 20), 1 << 20);
    int shaft, head;

    if (!a->length) {
        /* an approximation of the distance, whose contours are octagons */
        const int longest = FFMAX(FFABS(x), FFABS(y)) * MVVIEW_SAMPLE;

        return a->shaft * 3 / 2 - FFMAX(longest, (FFABS(x) + FFABS(y)) * 181);
    }
    shaft = FFMIN3(a->shaft - across, along + a->shaft, a->length - a->head / 2 - along);
    /* the head is a triangle as wide as it is long: the normal of its sides is (1, 2) / sqrt(5) */
    head  = FFMIN((before * 229 - FFMIN(across, 1 << 20) * 458) >> 9, a->head - before);
    return FFMAX(shaft, head);
}

/** Returns the weight of a sample that lies depth inside an outline. On the outline it is half of MVVIEW_FULL. */
GPUME_INLINE int mvview_coverage(int depth)
{
    return av_clip(depth + MVVIEW_SAMPLE / 2, 0, MVVIEW_FULL);
}

#endif /* AVFILTER_GPUME_MVVIEW_ARROW_H */
