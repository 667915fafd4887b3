/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The arithmetic of interpolated pictures, by vectors on cells of 8x8 samples.
 * doc/mvfps-definition.md defines what is computed. Integers only, read by the host and by device
 * code: every backend makes the same picture.
 */

#ifndef AVFILTER_GPUME_MVFPS_ARITHMETIC_H
#define AVFILTER_GPUME_MVFPS_ARITHMETIC_H

#include "libavfilter/gpume/field/cells_args.h"
#include "libavfilter/gpume/picture/padding.h"

/** Side of a cell, and of a tile, in samples. */
#define MVFPS_CELL 8
/** Parts of the time from the picture before to the one after. */
#define MVFPS_PARTS (1 << 12)

/** Smoothness: the greatest distance between neighbouring vectors that counts, in quarter samples. */
#define MVFPS_FAR_NEIGHBOUR 32
/** Weights of the differences from neighbours and from the fields. */
#define MVFPS_SMOOTH 4
#define MVFPS_FIELD_WEIGHT 8
/** The greatest trust in a sample of a hypothesis, of 9 and 10 bits. */
#define MVFPS_MOST_TRUST 3584
/** Bits that the values of hypotheses have more than samples, with samples of 8 bits. */
#define MVFPS_VALUE_BITS 2
/** The difference of a tile from which one of the pictures may not show its place. */
#define MVFPS_HIDDEN 256

/** Side of the squares whose brightness tells a fade. */
#define MVFPS_SCENE_SIDE 16

/** Frames in a row that repeat another one; more are a still. */
#define MVFPS_MAX_REPEATS 3
/** Side of the blocks whose sums are compared, in squares of MVFPS_SCENE_SIDE: noise has none. */
#define MVFPS_REPEAT_BLOCK   4
/** Squares are counted by their difference, in 1/16 level of 8 bits. */
#define MVFPS_REPEAT_BINS  256
/** The difference that a square of a repeat may have: twice that of most squares, within these limits. */
#define MVFPS_REPEAT_LEAST  32
#define MVFPS_REPEAT_MOST   64

/** The most columns and rows of the small picture by which cuts are found; a sample stands for a square. */
#define MVFPS_DETAIL_SIDE    128
/** Detail is what differs from the mean of the box that reaches so far to all sides. */
#define MVFPS_DETAIL_RADIUS    4
/** Side of the blocks that are searched, and how far. */
#define MVFPS_DETAIL_BLOCK     8
#define MVFPS_DETAIL_RANGE_X  24
#define MVFPS_DETAIL_RANGE_Y  12
/** Added to the detail of a block, as an allowance for noise. */
#define MVFPS_DETAIL_FLOOR   128

/** Brightness is in units of 1/16 of a level of 8 bits. */
#define MVFPS_LIGHT        16
#define MVFPS_MAX_LIGHT    4095
/** The greatest changes of a fade from frame to frame: of the mean, and of the standard deviation. */
#define MVFPS_FADE_MEAN    (64 * MVFPS_LIGHT)
#define MVFPS_FADE_SPREAD  (24 * MVFPS_LIGHT)
/** One part of so many of the variance may be something else. */
#define MVFPS_FADE_REST    8

/** From the picture before to the one after, in quarter samples. */
typedef GpumeCellVector MvfpsVector;

#define MVFPS_NONE GPUME_NO_VECTOR

/** Vectors of a pair of pictures, cell by cell. NULL: there are none of this kind. */
typedef struct MvfpsFields {
    int cols, rows;
    const MvfpsVector *before_future;   ///< of the picture before, into the one after
    const MvfpsVector *after_past;      ///< of the one after, into the one before
    const MvfpsVector *before_past;     ///< of the one before, into what is before it
    const MvfpsVector *after_future;    ///< of the one after, into what follows it
} MvfpsFields;

/** The greatest distance between a vector and a field that counts, in quarter samples. */
#define MVFPS_FAR 128

/** Distances in time, in parts of that between the two pictures: the unit, the least and the greatest used. */
#define MVFPS_DISTANCE     256
#define MVFPS_MIN_DISTANCE  64
#define MVFPS_MAX_DISTANCE 1024
/** Changes of velocity that are used, in quarter samples: the greatest difference of both, their greatest sum. */
#define MVFPS_MAX_CHANGE_DIFFERENCE 128
#define MVFPS_MAX_CHANGE     511
/** The greatest distance between vectors of cells whose changes are added, in quarter samples. */
#define MVFPS_SAME_MOTION 8

/** Returns the cells of a picture of w x h samples: each has the vector of the block that its centre is in. */
GPUME_INLINE GpumeCells mvfps_cells(int w, int h)
{
    return gpume_cells(w, h, 3, MVFPS_CELL / 2);
}

/** Returns where a vector's component at a phase points to in the picture before, in 1/8 sample. */
GPUME_INLINE int mvfps_before(int v, int part)
{
    return -((2 * v * part + MVFPS_PARTS / 2) >> 12);
}

/** Returns where the component points to in the picture after, in 1/8 sample. */
GPUME_INLINE int mvfps_after(int v, int part)
{
    return 2 * v + mvfps_before(v, part);
}

GPUME_INLINE MvfpsVector mvfps_field_at(const MvfpsFields *f, const MvfpsVector *field, int x, int y)
{
    return field[av_clip(y >> 3, 0, f->rows - 1) * f->cols + av_clip(x >> 3, 0, f->cols - 1)];
}

/** Returns the distance between a field's vector at a sample and the vector (x, y). */
GPUME_INLINE int mvfps_field_distance(const MvfpsFields *f, const MvfpsVector *field, int at_x, int at_y, int x, int y)
{
    const MvfpsVector u = mvfps_field_at(f, field, at_x, at_y);
    const int distance  = FFABS(u.x - x) + FFABS(u.y - y);

    return u.x == MVFPS_NONE ? MVFPS_FAR : FFMIN(distance, MVFPS_FAR);
}

/**
 * Finds the distances between a vector that passes the sample (x, y) and the fields at both its ends: in the
 * picture before and in the one after, 0 to 2 * MVFPS_FAR each. The vectors to pictures farther
 * away count as much as those between the two, as motion continues.
 */
GPUME_INLINE void mvfps_end_distances(const MvfpsFields *f, MvfpsVector v, int x, int y, int part,
                             int *before, int *after)
{
    const int bx = x + (mvfps_before(v.x, part) >> 3), by = y + (mvfps_before(v.y, part) >> 3);
    const int ax = x + (mvfps_after(v.x, part)  >> 3), ay = y + (mvfps_after(v.y, part)  >> 3);
    int b = 0, a = 0;

    if (f->before_future)
        b = mvfps_field_distance(f, f->before_future, bx, by, v.x, v.y);
    if (f->after_past)
        a = mvfps_field_distance(f, f->after_past, ax, ay, -v.x, -v.y);
    if (!f->before_future)
        b = a;
    if (!f->after_past)
        a = b;
    *before = b + (f->before_past  ? mvfps_field_distance(f, f->before_past,  bx, by, -v.x, -v.y) : b);
    *after  = a + (f->after_future ? mvfps_field_distance(f, f->after_future, ax, ay,  v.x,  v.y) : a);
}

/** Returns the part of a vector's cost that its distance from the fields is; (x, y) is the cell's first sample. */
GPUME_INLINE int mvfps_field_penalty(const MvfpsFields *f, MvfpsVector v, int x, int y, int part)
{
    int before, after;

    mvfps_end_distances(f, v, x + MVFPS_CELL / 2, y + MVFPS_CELL / 2, part, &before, &after);
    return MVFPS_FIELD_WEIGHT * FFMIN(before, after);
}

/** Returns the distance between two vectors, up to MVFPS_FAR_NEIGHBOUR. */
GPUME_INLINE int mvfps_capped_distance(MvfpsVector a, MvfpsVector b)
{
    const int distance = FFABS(a.x - b.x) + FFABS(a.y - b.y);

    return FFMIN(distance, MVFPS_FAR_NEIGHBOUR);
}

/** The factors of the velocities that are known on both sides of a change. */
typedef struct MvfpsRate {
    int own, other;         ///< of the pair's vectors and of those beyond it, by 4096
} MvfpsRate;

/** Around a pair: the change of velocity in the picture before it, and in the one after. */
typedef struct MvfpsRates {
    MvfpsRate before, after;
} MvfpsRates;

/** Returns the factors for a distance in time that is used, in MVFPS_DISTANCE-ths of the pair's own. */
GPUME_INLINE MvfpsRate mvfps_rate(int distance)
{
    const int both = distance * (MVFPS_DISTANCE + distance);
    MvfpsRate r;

    r.own   = ((1 << 21) + (MVFPS_DISTANCE + distance) / 2) / (MVFPS_DISTANCE + distance);
    r.other = ((1 << 29) + both / 2) / both;
    return r;
}

/** A cell's changes of velocity in the picture before and in the one after: their sum and their difference. */
typedef struct MvfpsChange {
    short x, y;             ///< x = MVFPS_NONE: they are not known
    short difference_x, difference_y;
} MvfpsChange;

GPUME_INLINE int mvfps_change_of(int own, int v, int other, int u)
{
    return (own * v + other * u + 2048) >> 12;
}

/** The changes of vector v at a cell's first sample (x, y), from the fields beyond the pair, which are there. */
GPUME_INLINE MvfpsChange mvfps_change(const MvfpsFields *f, MvfpsVector v, int x, int y, int part, MvfpsRates rates)
{
    const int cx = x + MVFPS_CELL / 2, cy = y + MVFPS_CELL / 2;
    const MvfpsVector u = mvfps_field_at(f, f->before_past, cx + (mvfps_before(v.x, part) >> 3),
                                                            cy + (mvfps_before(v.y, part) >> 3));
    const MvfpsVector w = mvfps_field_at(f, f->after_future, cx + (mvfps_after(v.x, part) >> 3),
                                                             cy + (mvfps_after(v.y, part) >> 3));
    const int bx = mvfps_change_of(rates.before.own, v.x, rates.before.other, u.x);
    const int by = mvfps_change_of(rates.before.own, v.y, rates.before.other, u.y);
    const int ax = mvfps_change_of(-rates.after.own, v.x, rates.after.other, w.x);
    const int ay = mvfps_change_of(-rates.after.own, v.y, rates.after.other, w.y);
    MvfpsChange change = { MVFPS_NONE, 0, 0, 0 };

    if (u.x == MVFPS_NONE || w.x == MVFPS_NONE ||
        FFABS(bx - ax) + FFABS(by - ay) > MVFPS_MAX_CHANGE_DIFFERENCE ||
        FFABS(bx + ax) + FFABS(by + ay) > MVFPS_MAX_CHANGE)
        return change;
    change.x        = (short)(bx + ax);
    change.y        = (short)(by + ay);
    change.difference_x = (short)(bx - ax);
    change.difference_y = (short)(by - ay);
    return change;
}

/** The sums of the changes of cells. */
typedef struct MvfpsChanges {
    int nb;
    int x, y, difference_x, difference_y;
    int squares;
} MvfpsChanges;

/** Adds the change of a cell if its vector is nearly the given one. */
GPUME_INLINE void mvfps_add_change(MvfpsChanges *sum, MvfpsChange change, MvfpsVector v, MvfpsVector own)
{
    if (change.x == MVFPS_NONE || FFABS(v.x - own.x) + FFABS(v.y - own.y) > MVFPS_SAME_MOTION)
        return;
    sum->nb++;
    sum->x        += change.x;
    sum->y        += change.y;
    sum->difference_x += change.difference_x;
    sum->difference_y += change.difference_y;
    sum->squares  += change.x * change.x + change.y * change.y;
}

/** n / d, rounded down; d is above 0. */
GPUME_INLINE int mvfps_divide_down(int n, int d)
{
    return n >= 0 ? n / d : -((d - 1 - n) / d);
}

/**
 * Returns how far from its place at constant speed something is at a phase, in 1/16 sample: what
 * cells say together, the less the more they disagree, and the less both of their changes agree.
 */
GPUME_INLINE MvfpsVector mvfps_offset(const MvfpsChanges *c, int part)
{
    const int mean  = c->x * c->x + c->y * c->y;
    const int doubt = (c->nb * c->squares - mean) / 4 +
                      c->difference_x * c->difference_x + c->difference_y * c->difference_y;
    const int share = part * (MVFPS_PARTS - part) >> 12;
    MvfpsVector offset = { 0, 0 };
    int gain;

    if (!mean)
        return offset;
    gain     = (72 * mean + (mean + doubt) / 2) / (mean + doubt) * share;
    offset.x = (short)mvfps_divide_down(c->x * gain + (c->nb << 17), c->nb << 18);
    offset.y = (short)mvfps_divide_down(c->y * gain + (c->nb << 17), c->nb << 18);
    return offset;
}

/**
 * Returns the trust in a sample of a hypothesis: the less, the more both pictures differ there and in its tile.
 * @param tile   the sum of the tile's differences of luma, in levels of 8 bits
 * @param sample the sample's own difference, in levels of 8 bits
 */
GPUME_INLINE int mvfps_trust(int tile, int sample, int depth)
{
    /* sums of weighted values have 32 bits */
    const int most  = MVFPS_MOST_TRUST >> (depth > 8 ? FFMAX(depth - 10, 0) : MVFPS_VALUE_BITS);
    /* words may have bits above their samples: then it is larger than any square has room for */
    const int doubt = 64 + FFMIN((tile >> 3) + 8 * sample, 4095);

    return FFMAX(4096 * most / (doubt * doubt), 1);
}

GPUME_INLINE int mvfps_value_bits(int depth)
{
    return depth > 8 ? 0 : MVFPS_VALUE_BITS;
}

/** Returns the value of a sample of a hypothesis, with so many bits more than a sample has. */
GPUME_INLINE int mvfps_value(int before, int after, int share, int bits)
{
    return (before * share + after * (64 - share) + (32 >> bits)) >> (6 - bits);
}

GPUME_INLINE int mvfps_is_inside(int w, int h, int x, int y)
{
    return x >= 0 && y >= 0 && x <= w && y <= h;
}

/**
 * The share of the picture before, of 64, in what vector v shows around the sample (x, y): less
 * where the picture after alone sees the place.
 * @param w width of the picture, h its height
 */
GPUME_INLINE int mvfps_share(const MvfpsFields *f, int w, int h, MvfpsVector v, int x, int y, int part,
                             int difference)
{
    const int earlier    = MVFPS_PARTS - part, later = part;
    const int has_before = mvfps_is_inside(w, h, x + (mvfps_before(v.x, part) >> 3),
                                                 y + (mvfps_before(v.y, part) >> 3));
    const int has_after  = mvfps_is_inside(w, h, x + (mvfps_after(v.x, part) >> 3),
                                                 y + (mvfps_after(v.y, part) >> 3));
    int before, after;

    if (has_before != has_after)
        return has_before ? 64 : 0;
    if (difference < MVFPS_HIDDEN || !f->before_future || !f->after_past)
        return (64 * earlier + MVFPS_PARTS / 2) >> 12;
    mvfps_end_distances(f, v, x, y, part, &before, &after);
    before = later   * (32 + before);
    after  = earlier * (32 + after);
    return (64 * after + (before + after) / 2) / (before + after);
}

/** Returns by how much a square of n samples differs, in 1/16 level of 8 bits; sum: of its blocks' differences. */
GPUME_INLINE int mvfps_repeat_bin(unsigned sum, int n, int depth)
{
    const unsigned difference = (16 * sum + n / 2) / n >> (depth - 8);

    return (int)FFMIN(difference, MVFPS_REPEAT_BINS - 1u);
}

/** Returns whether a picture repeats another one, of nb squares that bins[] counts by their difference. */
GPUME_INLINE int mvfps_is_repeat(const unsigned *bins, unsigned nb)
{
    unsigned below = bins[0], median = 0, limit;

    for (; 2 * below < nb && median < MVFPS_REPEAT_BINS - 1; below += bins[median])
        median++;
    limit = av_clip(2 * median, MVFPS_REPEAT_LEAST, MVFPS_REPEAT_MOST);
    for (below = 0, median = 0; median <= limit; median++)
        below += bins[median];
    return below == nb;
}

/** Returns the side of the squares of a picture of w x h samples that are one sample of the small picture. */
GPUME_INLINE int mvfps_detail_step(int w, int h)
{
    return (FFMAX(w, h) + MVFPS_DETAIL_SIDE - 1) / MVFPS_DETAIL_SIDE;
}

/** Returns the mean of a square of n samples, in quarter levels of 8 bits. */
GPUME_INLINE int mvfps_detail_mean(unsigned long long sum, long long n, int depth)
{
    const unsigned long long mean = (4 * sum + n / 2) / n >> (depth - 8);

    /* words may have bits above their samples */
    return (int)FFMIN(mean, 1023);
}

/** Returns the detail of a sample of the small picture; box: the sum of those around it. */
GPUME_INLINE int mvfps_detail(int mean, int box)
{
    const int n = (2 * MVFPS_DETAIL_RADIUS + 1) * (2 * MVFPS_DETAIL_RADIUS + 1);

    return av_clip(128 + ((mean - (box + n / 2) / n) >> 1), 0, 255);
}

/** Returns whether the picture before is the nearest one. */
GPUME_INLINE int mvfps_is_early(int part)
{
    return part <= MVFPS_PARTS / 2;
}

/** Sums over squares at the same place in both pictures: of their brightness, its squares and products. */
typedef struct MvfpsLights {
    unsigned long long before, after;
    unsigned long long before2, after2, both;
} MvfpsLights;

/** Returns the brightness of a square of n samples, up to MVFPS_SCENE_SIDE * MVFPS_SCENE_SIDE, and their sum. */
GPUME_INLINE unsigned mvfps_light(unsigned sum, int n, int depth)
{
    const unsigned light = (MVFPS_LIGHT * sum + n / 2) / n >> (depth - 8);

    /* words may have bits above their samples */
    return FFMIN(light, (unsigned)MVFPS_MAX_LIGHT);
}

GPUME_INLINE void mvfps_add_lights(MvfpsLights *sums, unsigned before, unsigned after)
{
    sums->before  += before;
    sums->after   += after;
    sums->before2 += before * before;
    sums->after2  += after * after;
    sums->both    += before * after;
}

/**
 * Whether a picture is the one before, all of it brighter or darker or with more or less contrast, or one of the
 * two is of one colour: the brightness of one follows from that of the other, and does not change too much for
 * anybody to follow. nb: squares.
 */
GPUME_INLINE int mvfps_is_fade(MvfpsLights s, long long nb)
{
    const long long sums[2]  = { (long long)s.before, (long long)s.after };
    const long long means[2] = { sums[0] / nb, sums[1] / nb };
    const long long spread   = MVFPS_FADE_SPREAD;
    const long long a = ((long long)s.before2 - 2 * means[0] * sums[0] + nb * means[0] * means[0]) / nb;
    const long long c = ((long long)s.after2  - 2 * means[1] * sums[1] + nb * means[1] * means[1]) / nb;
    const long long b = ((long long)s.both - means[0] * sums[1] - means[1] * sums[0] + nb * means[0] * means[1]) / nb;
    const long long low = FFMIN(a, c), high = FFMAX(a, c), common = FFMAX(b, 0);
    const long long apart = high - low - spread * spread;

    return FFABS(sums[1] - sums[0]) <= MVFPS_FADE_MEAN * nb &&
           (apart <= 0 || apart * apart <= 4 * spread * spread * low) &&
           MVFPS_FADE_REST * (low * high - common * common) <= high * high;
}

/** A sample of the mean of two pictures, by distance. */
GPUME_INLINE unsigned mvfps_mean(unsigned before, unsigned after, unsigned part)
{
    return (before * (MVFPS_PARTS - part) + after * part + MVFPS_PARTS / 2) / MVFPS_PARTS;
}

#endif /* AVFILTER_GPUME_MVFPS_ARITHMETIC_H */
