/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The arithmetic of pictures between others, by vectors on cells of 8x8 samples. doc/mvfps.texi
 * defines what is computed. Integers only: every backend makes the same picture.
 */

#ifndef AVFILTER_GPUME_BETWEEN_ARITHMETIC_H
#define AVFILTER_GPUME_BETWEEN_ARITHMETIC_H

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include "libavutil/common.h"

/** Side of a cell, and of a tile, in samples. */
#define MVFPS_CELL 8
/** Parts of the time from the picture before to the one after. */
#define MVFPS_PARTS (1 << 12)
/** Longest component of a vector that is read, in quarter samples. */
#define MVFPS_LONGEST 32000

/** From the picture before to the one after, in quarter samples. */
typedef struct MvfpsVector {
    int16_t x, y;           ///< x = MVFPS_NONE: there is no vector
} MvfpsVector;

#define MVFPS_NONE INT16_MIN

/** Vectors of a pair of pictures, cell by cell. NULL: there are none of this kind. */
typedef struct MvfpsFields {
    int cols, rows;
    const MvfpsVector *before_future;   ///< of the picture before, into the one after
    const MvfpsVector *after_past;      ///< of the one after, into the one before
    const MvfpsVector *before_past;     ///< of the one before, into what is before it
    const MvfpsVector *after_future;    ///< of the one after, into what follows it
} MvfpsFields;

/** Farthest that vectors are apart when they are compared. */
#define MVFPS_FAR 128

/** Where a vector's component passes in the picture before at an instant, in 1/8 sample. */
static inline int mvfps_before(int v, int part)
{
    return -((2 * v * part + MVFPS_PARTS / 2) >> 12);
}

/** Where it passes in the picture after. */
static inline int mvfps_after(int v, int part)
{
    return 2 * v + mvfps_before(v, part);
}

static inline MvfpsVector mvfps_field_at(const MvfpsFields *f, const MvfpsVector *field, int x, int y)
{
    return field[av_clip(y >> 3, 0, f->rows - 1) * f->cols + av_clip(x >> 3, 0, f->cols - 1)];
}

/** How far a field's vector at a sample is from (x, y), or from the opposite. */
static inline int mvfps_away(const MvfpsFields *f, const MvfpsVector *field, int at_x, int at_y, int x, int y)
{
    const MvfpsVector u = mvfps_field_at(f, field, at_x, at_y);

    return u.x == MVFPS_NONE ? MVFPS_FAR : FFMIN(abs(u.x - x) + abs(u.y - y), MVFPS_FAR);
}

/**
 * How far the fields at both ends of a vector that passes the sample (x, y) are from it: in the
 * picture before and in the one after, 0 to 2 * MVFPS_FAR each. The vectors to pictures farther
 * away count as much as those between the two, as motion goes on.
 */
static inline void mvfps_ends(const MvfpsFields *f, MvfpsVector v, int x, int y, int part,
                              int *before, int *after)
{
    const int bx = x + (mvfps_before(v.x, part) >> 3), by = y + (mvfps_before(v.y, part) >> 3);
    const int ax = x + (mvfps_after(v.x, part)  >> 3), ay = y + (mvfps_after(v.y, part)  >> 3);
    int b = 0, a = 0;

    if (f->before_future)
        b = mvfps_away(f, f->before_future, bx, by, v.x, v.y);
    if (f->after_past)
        a = mvfps_away(f, f->after_past, ax, ay, -v.x, -v.y);
    if (!f->before_future)
        b = a;
    if (!f->after_past)
        a = b;
    *before = b + (f->before_past  ? mvfps_away(f, f->before_past,  bx, by, -v.x, -v.y) : b);
    *after  = a + (f->after_future ? mvfps_away(f, f->after_future, ax, ay,  v.x,  v.y) : a);
}

#endif /* AVFILTER_GPUME_BETWEEN_ARITHMETIC_H */
