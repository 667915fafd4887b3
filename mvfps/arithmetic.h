/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Arithmetic of frame interpolation along the vectors of cells of 8x8 samples, in integers.
 * doc/mvfps-definition.md defines the results. The host and device code include this file, so every
 * backend makes the same picture.
 */

#ifndef AVFILTER_GPUME_MVFPS_ARITHMETIC_H
#define AVFILTER_GPUME_MVFPS_ARITHMETIC_H

#include "libavfilter/gpume/core/scene_args.h"
#include "libavfilter/gpume/field/cells_args.h"
#include "libavfilter/gpume/picture/padding.h"

/** Side of a cell, and of a tile, in samples. */
#define MVFPS_CELL 8
/** Number of parts into which the time between the earlier and the later picture is divided. */
#define MVFPS_PARTS (1 << 12)

/** Smoothness: largest distance between neighbouring vectors that is counted, in quarter samples. */
#define MVFPS_FAR_NEIGHBOUR 32
/** Weights of the distances from neighbours and from the fields. */
#define MVFPS_SMOOTH 4
#define MVFPS_FIELD_WEIGHT 8
/** A vector in front may cost this much more than the best one. */
#define MVFPS_FRONT_COST 256
/** Least distance between two vectors of which one may be in front, and largest one from the fields for that. */
#define MVFPS_FRONT_APART  16
#define MVFPS_FRONT_NEAR    8
/** Least distance from zero of a vector that a still place does not have. */
#define MVFPS_MOVING        8
/**
 * A place is still if the mean square of its gradients is at least this, and so many times the mean product of
 * gradients and differences.
 */
#define MVFPS_STILL_CONTRAST 64
#define MVFPS_STILL_RATIO     5
/** The greatest trust in a sample of a hypothesis, of 9 and 10 bits. */
#define MVFPS_MOST_TRUST 3584
/** Bits that the values of hypotheses have more than samples, with samples of 8 bits. */
#define MVFPS_VALUE_BITS 2
/** Difference of a tile from which one of the pictures may not show the place. */
#define MVFPS_HIDDEN 256

/** Maximum number of consecutive repeats; more are a still. */
#define MVFPS_MAX_REPEATS 3
/** Side of the squares' blocks whose sums are compared; sums average out noise. */
#define MVFPS_REPEAT_BLOCK   4
/** Number of bins in which squares are counted by their difference, in 1/16 level of 8 bits. */
#define MVFPS_REPEAT_BINS  256
/** Limits of the difference of a square of a repeat, which is at most twice that of most squares. */
#define MVFPS_REPEAT_LEAST  32
#define MVFPS_REPEAT_MOST   64

/** A vector from the earlier to the later picture, in quarter samples. */
typedef GpumeCellVector MvfpsVector;

#define MVFPS_NONE GPUME_NO_VECTOR

/** Vectors of a pair of pictures, for each cell. NULL: there is no such field. */
typedef struct MvfpsFields {
    int cols, rows;
    const MvfpsVector *before_future;   ///< from the earlier picture to the later one
    const MvfpsVector *after_past;      ///< from the later picture to the earlier one
    const MvfpsVector *before_past;     ///< from the earlier picture to the picture before it
    const MvfpsVector *after_future;    ///< from the later picture to the picture after it
} MvfpsFields;

/** Largest distance between a vector and a field that is counted, in quarter samples. */
#define MVFPS_FAR 128

/** Distances in time, relative to the distance of the pair: unit, minimum and maximum. */
#define MVFPS_DISTANCE     256
#define MVFPS_MIN_DISTANCE  64
#define MVFPS_MAX_DISTANCE 1024
/** Limits of changes of velocity, in quarter samples: of the difference and of the sum of the two changes. */
#define MVFPS_MAX_CHANGE_DIFFERENCE 128
#define MVFPS_MAX_CHANGE     511
/** Largest distance between the vectors of cells whose changes are added, in quarter samples. */
#define MVFPS_SAME_MOTION 8

/** Returns the cells of a picture of w x h samples. A cell has the vector of the block that contains its centre. */
GPUME_INLINE GpumeCells mvfps_cells(int w, int h)
{
    return gpume_cells(w, h, 3, MVFPS_CELL / 2);
}

/** Returns where a component of a vector at a phase points in the earlier picture, in 1/8 sample. */
GPUME_INLINE int mvfps_before(int v, int part)
{
    return -((2 * v * part + MVFPS_PARTS / 2) >> 12);
}

/** Returns where the component points in the later picture, in 1/8 sample. */
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
 * Finds the distances between a vector through the sample (x, y) and the fields at its two ends, in
 * the earlier and in the later picture: 0 to 2 * MVFPS_FAR each. The fields beyond the pair count
 * as much as those of the pair, because motion continues.
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

/** Returns the penalty of a vector for its distance from the fields; (x, y) is the first sample of the cell. */
GPUME_INLINE int mvfps_field_penalty(const MvfpsFields *f, MvfpsVector v, int x, int y, int part)
{
    int before, after;

    mvfps_end_distances(f, v, x + MVFPS_CELL / 2, y + MVFPS_CELL / 2, part, &before, &after);
    return MVFPS_FIELD_WEIGHT * FFMIN(before, after);
}

GPUME_INLINE int mvfps_distance(MvfpsVector a, MvfpsVector b)
{
    return FFABS(a.x - b.x) + FFABS(a.y - b.y);
}

/** Returns whether a field has nearly the vector (x, y) at a sample. A field may be missing. */
GPUME_INLINE int mvfps_field_has(const MvfpsFields *f, const MvfpsVector *field, int at_x, int at_y, int x, int y)
{
    return field && mvfps_field_distance(f, field, at_x, at_y, x, y) <= MVFPS_FRONT_NEAR;
}

/**
 * Returns how many pictures show at one end of vector u, through the sample (x, y), what moves by
 * vector v and is hidden there by what moves by u: 0 to 2.
 */
GPUME_INLINE int mvfps_hides(const MvfpsFields *f, MvfpsVector u, MvfpsVector v, int x, int y, int part)
{
    const int bx = x + (mvfps_before(u.x, part) >> 3), by = y + (mvfps_before(u.y, part) >> 3);
    const int ax = x + (mvfps_after(u.x, part)  >> 3), ay = y + (mvfps_after(u.y, part)  >> 3);
    const int dx = v.x >> 2, dy = v.y >> 2;

    return (mvfps_field_has(f, f->before_future, bx, by, u.x, u.y) &&
            mvfps_field_has(f, f->after_past, bx + dx, by + dy, -v.x, -v.y)) +
           (mvfps_field_has(f, f->after_past, ax, ay, -u.x, -u.y) &&
            mvfps_field_has(f, f->before_future, ax - dx, ay - dy, v.x, v.y));
}

/** Returns whether what moves by u passes in front of what moves by v at the sample (x, y). */
GPUME_INLINE int mvfps_is_in_front(const MvfpsFields *f, MvfpsVector u, MvfpsVector v, int x, int y, int part)
{
    return mvfps_distance(u, v) >= MVFPS_FRONT_APART &&
           mvfps_hides(f, u, v, x, y, part) > mvfps_hides(f, v, u, x, y, part);
}

/**
 * Sums over the samples of a cell, in levels of 8 bits. The gradient of a sample of the earlier picture is the greater
 * of its differences from the next samples to the right and below.
 */
typedef struct MvfpsCellSums {
    unsigned nb;
    unsigned contrast;          ///< sum of the squares of the gradients
    unsigned change;            ///< sum of the products of gradients and differences from the later picture
} MvfpsCellSums;

/**
 * Adds a sample. Words may have bits above their samples.
 * @param right,below the next samples of the earlier picture
 */
GPUME_INLINE void mvfps_add_sample(MvfpsCellSums *s, int before, int right, int below, int after, int depth)
{
    const int b = FFMIN(before >> (depth - 8), 255), a = FFMIN(after >> (depth - 8), 255);
    const int x = FFMIN(right >> (depth - 8), 255), y = FFMIN(below >> (depth - 8), 255);
    const int gradient = FFMAX(FFABS(x - b), FFABS(y - b));

    s->nb++;
    s->contrast += gradient * gradient;
    s->change   += gradient * FFABS(a - b);
}

/** Returns whether the cell at a sample and those around it stand still, and have contrast that shows it. */
GPUME_INLINE int mvfps_is_still(const MvfpsCellSums *sums, int cols, int rows, int x, int y)
{
    const int cx = av_clip(x >> 3, 0, cols - 1), cy = av_clip(y >> 3, 0, rows - 1);
    MvfpsCellSums all = { 0, 0, 0 };

    for (int j = FFMAX(cy - 1, 0); j <= FFMIN(cy + 1, rows - 1); j++)
        for (int i = FFMAX(cx - 1, 0); i <= FFMIN(cx + 1, cols - 1); i++) {
            const MvfpsCellSums *s = &sums[j * cols + i];

            all.nb       += s->nb;
            all.contrast += s->contrast;
            all.change   += s->change;
        }
    return all.contrast >= MVFPS_STILL_CONTRAST * all.nb && all.contrast >= MVFPS_STILL_RATIO * all.change;
}

/**
 * Returns whether vector v of the cell that begins at the sample (x, y) moves, but the cell and what v leads to
 * in both pictures stand still.
 */
GPUME_INLINE int mvfps_moves_still(const MvfpsCellSums *sums, int cols, int rows, MvfpsVector v, int x, int y,
                                   int part)
{
    const int cx = x + MVFPS_CELL / 2, cy = y + MVFPS_CELL / 2;

    return FFABS(v.x) + FFABS(v.y) >= MVFPS_MOVING && mvfps_is_still(sums, cols, rows, cx, cy) &&
           mvfps_is_still(sums, cols, rows, cx + (mvfps_before(v.x, part) >> 3), cy + (mvfps_before(v.y, part) >> 3)) &&
           mvfps_is_still(sums, cols, rows, cx + (mvfps_after(v.x, part) >> 3), cy + (mvfps_after(v.y, part) >> 3));
}

/** Returns the distance between two vectors, up to MVFPS_FAR_NEIGHBOUR. */
GPUME_INLINE int mvfps_capped_distance(MvfpsVector a, MvfpsVector b)
{
    const int distance = mvfps_distance(a, b);

    return FFMIN(distance, MVFPS_FAR_NEIGHBOUR);
}

/** Factors of the velocities on both sides of a change. */
typedef struct MvfpsRate {
    int own, other;         ///< factors of the pair's vectors and of the vectors beyond the pair, times 4096
} MvfpsRate;

/** Factors for the change in the earlier picture, and for that in the later picture. */
typedef struct MvfpsRates {
    MvfpsRate before, after;
} MvfpsRates;

/** Returns the factors for a distance in time, in units of the pair's distance / MVFPS_DISTANCE. */
GPUME_INLINE MvfpsRate mvfps_rate(int distance)
{
    const int both = distance * (MVFPS_DISTANCE + distance);
    MvfpsRate r;

    r.own   = ((1 << 21) + (MVFPS_DISTANCE + distance) / 2) / (MVFPS_DISTANCE + distance);
    r.other = ((1 << 29) + both / 2) / both;
    return r;
}

/** Changes of a cell's velocity in the earlier and in the later picture: their sum and their difference. */
typedef struct MvfpsChange {
    short x, y;             ///< x = MVFPS_NONE: unknown
    short difference_x, difference_y;
} MvfpsChange;

GPUME_INLINE int mvfps_change_of(int own, int v, int other, int u)
{
    return (own * v + other * u + 2048) >> 12;
}

/**
 * Returns the changes of vector v at a cell's first sample (x, y), from the fields beyond the pair,
 * which must exist.
 */
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

/** Sums of the changes of cells. */
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

/** Returns n / d, rounded down; d is positive. */
GPUME_INLINE int mvfps_divide_down(int n, int d)
{
    return n >= 0 ? n / d : -((d - 1 - n) / d);
}

/**
 * Returns the offset of a position at a phase from that at constant speed, in 1/16 sample. The
 * offset decreases with the disagreement between cells, and with that between the two changes.
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
    /* words may have bits above their samples, which make the difference larger than valid samples can */
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
 * Returns the share, in 1/64, of the earlier picture along vector v around the sample (x, y). It is
 * smaller where only the later picture shows the place.
 * @param w, h size of the picture
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

/**
 * Returns the bin of a square of n samples.
 * @param sum sum of the differences of its blocks
 */
GPUME_INLINE int mvfps_repeat_bin(unsigned sum, int n, int depth)
{
    const unsigned difference = (16 * sum + n / 2) / n >> (depth - 8);

    return (int)FFMIN(difference, MVFPS_REPEAT_BINS - 1u);
}

/**
 * Returns whether a picture repeats another.
 * @param bins number of squares by difference, nb in total
 */
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

/** Returns whether the earlier picture is nearer. */
GPUME_INLINE int mvfps_is_early(int part)
{
    return part <= MVFPS_PARTS / 2;
}

/** Returns a sample of the mean of two pictures, weighted by distance. */
GPUME_INLINE unsigned mvfps_mean(unsigned before, unsigned after, unsigned part)
{
    return (before * (MVFPS_PARTS - part) + after * part + MVFPS_PARTS / 2) / MVFPS_PARTS;
}

#endif /* AVFILTER_GPUME_MVFPS_ARITHMETIC_H */
