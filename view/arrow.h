/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The shape of an arrow, and how far inside it a sample lies. Integers only: what draws
 * on a device can give the same picture.
 */

#ifndef AVFILTER_GPUME_VIEW_ARROW_H
#define AVFILTER_GPUME_VIEW_ARROW_H

#include <stdint.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"

/** Of lengths and distances: units in a sample. */
#define MVVIEW_SAMPLE 256
/** Of the ends of arrows: units in a sample. */
#define MVVIEW_TIP 4
/** An arrow's end is at most this far away, in units of MVVIEW_TIP; more is of no use. */
#define MVVIEW_FARTHEST (1 << 18)
/** Of all weights: a sample that is covered wholly. */
#define MVVIEW_FULL 256

/** Largest n with n * n <= x. */
static inline uint32_t mvview_sqrt(uint64_t x)
{
    uint64_t root = 0, bit = UINT64_C(1) << 62;

    if (x < 1 << 24)
        bit = 1 << 22;
    while (bit > x)
        bit >>= 2;
    for (; bit; bit >>= 2) {
        if (x >= root + bit) {
            x   -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return root;
}

/** a / b, rounded; b is positive. */
static inline int64_t mvview_divide(int64_t a, int64_t b)
{
    return (a >= 0 ? a + b / 2 : a - b / 2) / b;
}

/** An arrow that begins at (0, 0); lengths in units of MVVIEW_SAMPLE. */
typedef struct MvviewArrow {
    int ux, uy;             ///< direction; its length is 1 << 14
    int length;             ///< 0: a dot, for what is shorter than half a sample
    int head;               ///< length of the head, which is as wide as it is long
    int shaft;              ///< half of the shaft's width
    int edge;               ///< width of the line around it
    int reach;              ///< no sample farther from the segment is touched
} MvviewArrow;

/**
 * @param qx,qy the tip, in units of MVVIEW_TIP
 * @param unit  the width of a line, about, in units of MVVIEW_SAMPLE
 */
static inline void mvview_arrow_init(MvviewArrow *a, int qx, int qy, int unit)
{
    const int64_t x = (int64_t)qx * (MVVIEW_SAMPLE / MVVIEW_TIP);
    const int64_t y = (int64_t)qy * (MVVIEW_SAMPLE / MVVIEW_TIP);

    a->length = mvview_sqrt(x * x + y * y);
    if (a->length < MVVIEW_SAMPLE / 2)
        a->length = 0;
    a->ux     = a->length ? mvview_divide(x * (1 << 14), a->length) : 0;
    a->uy     = a->length ? mvview_divide(y * (1 << 14), a->length) : 0;
    /* short arrows are mostly head, but one that can be seen */
    a->head   = av_clip(a->length / 2, unit * 3, unit * 13 / 2);
    a->shaft  = unit * 5 / 8;
    a->edge   = unit * 3 / 4;
    /* the line around is 5 ** .5 times as far from the tip as from the sides, less elsewhere */
    a->reach  = a->head / 2 + (a->edge + MVVIEW_SAMPLE / 2) * 9 / 4 + MVVIEW_SAMPLE / 4;
}

/**
 * The samples (*first to *last, relative to the arrow's beginning) of row y that it can
 * touch; *first > *last: none.
 */
static inline void mvview_arrow_span(const MvviewArrow *a, int y, int *first, int *last)
{
    /* |x uy - y ux| <= reach, and -margin <= x ux + y uy <= length + margin */
    const int64_t reach  = (int64_t)a->reach * 64;
    const int64_t margin = a->head * INT64_C(64) + reach;
    const int64_t bound[2][3] = {
        { a->uy, (int64_t)y * a->ux - reach, (int64_t)y * a->ux + reach },
        { a->ux, -(int64_t)y * a->uy - margin,
          -(int64_t)y * a->uy + a->length * INT64_C(64) + reach },
    };

    if (!a->length) {
        const int out = FFABS(y) > a->reach / MVVIEW_SAMPLE + 1;

        *last  = out ? -1 : a->reach / MVVIEW_SAMPLE + 1;
        *first = -*last;
        return;
    }
    *first = INT_MIN / 2;
    *last  = INT_MAX / 2;
    for (int i = 0; i < 2; i++) {
        int64_t low = bound[i][1], high = bound[i][2];

        if (!bound[i][0]) {
            if (low > 0 || high < 0)
                *last = INT_MIN;
            continue;
        }
        low  /= bound[i][0];
        high /= bound[i][0];
        *first = FFMAX(*first, FFMIN(low, high) - 1);
        *last  = FFMIN(*last,  FFMAX(low, high) + 1);
    }
}

/** How far inside the arrow the sample (x, y) lies, negative outside, in units of MVVIEW_SAMPLE. */
static inline int mvview_arrow_depth(const MvviewArrow *a, int x, int y)
{
    const int along  = (x * (int64_t)a->ux + y * (int64_t)a->uy) >> 6;
    const int across = FFABS((int)((x * (int64_t)a->uy - y * (int64_t)a->ux) >> 6));
    /* how far away what is far away is does not matter */
    const int before = av_clip(a->length - along, -(1 << 20), 1 << 20);
    int shaft, head;

    if (!a->length) {
        /* nearly the distance: an octagon's */
        const int far = FFMAX(FFABS(x), FFABS(y)) * MVVIEW_SAMPLE;

        return a->shaft * 3 / 2 - FFMAX(far, (FFABS(x) + FFABS(y)) * 181);
    }
    shaft = FFMIN3(a->shaft - across, along + a->shaft, a->length - a->head / 2 - along);
    /* a triangle as wide as it is long: the sides' normal is (1, 2) / sqrt(5) */
    head  = FFMIN((before * 229 - FFMIN(across, 1 << 20) * 458) >> 9, a->head - before);
    return FFMAX(shaft, head);
}

/** The weight of what is depth inside its outline: half of it on the outline. */
static inline int mvview_coverage(int depth)
{
    return av_clip(depth + MVVIEW_SAMPLE / 2, 0, MVVIEW_FULL);
}

#endif /* AVFILTER_GPUME_VIEW_ARROW_H */
