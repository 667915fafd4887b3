/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Arithmetic of motion-compensated deinterlacing, in integers. doc/mvdeint-definition.md defines
 * the results. The host and device code include this file, so every backend makes the same picture.
 */

#ifndef AVFILTER_GPUME_MVDEINT_ARITHMETIC_H
#define AVFILTER_GPUME_MVDEINT_ARITHMETIC_H

#include "libavfilter/gpume/field/cells_args.h"
#include "libavfilter/gpume/picture/padding.h"

#ifdef GPUME_DEVICE_CODE
#define MVDEINT_UNROLL GPUME_UNROLL
#else
#define MVDEINT_UNROLL
#endif

/** Side of a block of the search, and of the area between the centres of four blocks, in luma samples. */
#define MVDEINT_BLOCK 8
/** Maximum numbers of fields used on each side, of fields used in total, and of passes. */
#define MVDEINT_MAX_REFS 2
#define MVDEINT_MAX_CANDIDATES (2 * MVDEINT_MAX_REFS)
#define MVDEINT_MAX_PASSES 3

/** Maximum sums of both vectors of an almost steady motion, in quarters of a sample. */
#define MVDEINT_STEADY_X 8
#define MVDEINT_STEADY_Y 12

/** Added to the sum of squared differences of a block on two known lines of an area. */
#define MVDEINT_LEAST_SQUARES 10240

/** Scale of the share of known (not interpolated) lines. */
#define MVDEINT_KNOWN 16
/** Added to the share of known lines where that share is the weight of an error, so that no weight is 0. */
#define MVDEINT_LEAST_KNOWN 2
/** Maximum sum of weights of a mean: five columns of two lines. */
#define MVDEINT_MAX_WEIGHTS (5 * 2 * (MVDEINT_KNOWN + MVDEINT_LEAST_KNOWN))
/** Largest difference, in units of 1/8 level of 8 bits. */
#define MVDEINT_MAX_DIFFERENCE 1023
/** Minimum number of adjacent samples without change that keep the first estimate. */
#define MVDEINT_STILL 8
/** Minimum number of lines and of columns of a component. */
#define MVDEINT_MIN_LINES   4
#define MVDEINT_MIN_COLUMNS 3
/** Compensated samples are corrected by this share, in 1/128, of the smaller difference on the two lines around. */
#define MVDEINT_RESIDUAL 77

/** Largest share, in 1/256, of the interpolation within the field in an estimate; and the factor of vertical detail. */
#define MVDEINT_MIXED  192
#define MVDEINT_DETAIL 6

/** Number of areas on each side whose votes on a candidate are added to those of an area. */
#define MVDEINT_AREAS_AROUND 2
/** Minimum error of a candidate that does not match, which gives it almost no weight. */
#define MVDEINT_NO_MATCH (1u << 17)

/**
 * The six taps for positions between samples, which are in eighths of a sample. Their sum is 64. For one to seven
 * eighths, the taps next to the middle ones are negative.
 */
#define MVDEINT_TAPS       \
    {  0,  0, 64,  0,  0, 0 }, \
    {  0, -2, 58, 10, -2, 0 }, \
    {  1, -5, 52, 20, -5, 1 }, \
    {  1, -7, 46, 30, -8, 2 }, \
    {  2,-10, 40, 40,-10, 2 }, \
    {  2, -8, 30, 46, -7, 1 }, \
    {  1, -5, 20, 52, -5, 1 }, \
    {  0, -2, 10, 58, -2, 0 }

/** Weights, in 1/64, of the later of two blocks for the samples between their centres, by subsampling. */
#define MVDEINT_WINDOW                 \
    { 1, 5, 14, 26, 38, 50, 59, 63 },  \
    { 2, 20, 44, 62 },                 \
    { 9, 55 }

/**
 * Number of directions of edges, from -3 to 3 samples; number of levels of how well a direction fits, and of the
 * activity.
 */
#define MVDEINT_DIRECTIONS 7
#define MVDEINT_LEVELS     3
#define MVDEINT_CLASSES   (MVDEINT_DIRECTIONS * MVDEINT_LEVELS * MVDEINT_LEVELS)
/** Number of lines of an interpolation within a field, and of samples in each. */
#define MVDEINT_INTRA_LINES   4
#define MVDEINT_INTRA_COLUMNS 9

/** Components of the expected squared error of a compensated sample. */
typedef struct MvdeintCompensated {
    unsigned least;             ///< in 1/32768 of a squared level
    unsigned known;             ///< factor of the error on known lines; 1/1024
    unsigned interpolated;      ///< factor of the error on interpolated lines; 1/1024
    unsigned activity, step;    ///< factors of the activity and of the step; 1/16384
    unsigned difference;        ///< factor of the difference of a pair; 1/1024
} MvdeintCompensated;

/** Components of the expected squared error of an interpolation within the field. */
typedef struct MvdeintIntra {
    unsigned least, activity, step;
    unsigned difference;        ///< factor of its share of the squared difference from the candidates' mean
    unsigned other;             ///< factor of the difference between both interpolations
} MvdeintIntra;

/** Models of the expected errors of a pass. */
typedef struct MvdeintModel {
    MvdeintCompensated compensated[MVDEINT_MAX_REFS];   ///< by distance
    MvdeintIntra intra[2];      ///< errors of the estimate from three fields, and of the interpolation with taps
} MvdeintModel;

/** The models of all passes. */
#define MVDEINT_MODELS                                  \
    {   { {  2102,  89, 121, 140,  57,  23 },           \
          {  3211,  37, 272,  75,   2,  13 } },         \
        { { 60000,  486,    1,    1,   1 },             \
          {   128, 2356, 2381,   34,   1 } } },         \
    {   { {  3695, 259, 254, 165,   2,  12 },           \
          { 60000,  36, 440,   2,   1,  16 } },         \
        { { 15222,  999,    1,    1, 375 },             \
          {  1264, 1386, 4000,  118,   1 } } },         \
    {   { {  5254, 182, 286,  92,   1,  15 },           \
          {  7577, 172, 461,  14,   1,  11 } },         \
        { { 60000,  919,    1,    4,   8 },             \
          {  1942, 5002, 3448,    6,   1 } } }

/** Number of blocks across and down whose costs show the noise, and how many of them cost less than the low cost. */
#define MVDEINT_NOISE_SIDE  16
#define MVDEINT_NOISE_LOWER 25

/** Returns the number of fraction bits of compensated samples. */
GPUME_INLINE int mvdeint_fraction(int depth)
{
    return FFMIN(4, 16 - depth);
}

/** Returns a non-negative difference of values of this many bits, in 1/8 level of 8 bits. */
GPUME_INLINE int mvdeint_scaled(int difference, int bits)
{
    return FFMIN(bits > 11 ? (difference + (1 << (bits - 12))) >> (bits - 11) : difference << (11 - bits),
                 MVDEINT_MAX_DIFFERENCE);
}

/** Converts a component of a vector from quarters of luma samples to eighths of a component's samples. */
GPUME_INLINE int mvdeint_eighths(int v, int sub)
{
    return v * 2 >> sub;
}

/**
 * Returns the vertical part of a vector, in quarters of a line, rounded to an even number of lines. From a field of the
 * other parity it reads known lines for all missing lines. Of an almost steady motion it rounds the mean: the search
 * likes odd numbers of lines, which lead from known lines to known lines, and so finds one line less or more.
 * @param other_x, other_y the vector to the field on the other side
 */
GPUME_INLINE int mvdeint_exact(int x, int y, int other_x, int other_y)
{
    const int is_steady = FFABS(x + other_x) <= MVDEINT_STEADY_X && FFABS(y + other_y) <= MVDEINT_STEADY_Y;
    const int v = is_steady ? (y - other_y) / 2 : y, size = (FFABS(v) + 3) & ~7;

    return v < 0 ? -size : size;
}

/** Returns the column, or row, of a block whose cost shows the noise. @param nb number of all columns or rows */
GPUME_INLINE int mvdeint_noise_place(int i, int nb)
{
    return (2 * i + 1) * nb / (2 * MVDEINT_NOISE_SIDE);
}

/** Returns bit i, from the highest bit on, of the low cost of blocks; 0 after the lowest bit. */
GPUME_INLINE unsigned mvdeint_noise_bit(int i, int depth)
{
    return 1u << (depth + 3) >> i;
}

/** Returns the noise in the sum of absolute differences of exact vectors, from the low cost of blocks. */
GPUME_INLINE int mvdeint_noise(unsigned low, int depth)
{
    return FFMAX((int)low - (48 << (depth - 8)), 0) << mvdeint_fraction(depth);
}

/**
 * Returns whether exact vectors replace the vectors of a block, from the sums of absolute differences of both
 * neighbours on the missing lines. Exact vectors compare known lines, which have all of the noise; others compare
 * interpolated lines, which have less.
 */
GPUME_INLINE int mvdeint_is_exact(int difference, int exact, int noise)
{
    return 5 * exact <= 3 * difference + 4 * noise;
}

/** Returns the vertical part of a vector of distance 2, next to an exact vector of distance 1. */
GPUME_INLINE int mvdeint_follow(int v, int exact)
{
    return FFABS(v - 2 * exact) <= 8 ? 2 * exact : v;
}

/** Returns the share of known lines in what a vector reads for a line, in 1/MVDEINT_KNOWN. */
GPUME_INLINE int mvdeint_known(int eighths, int line, int parity)
{
    const int below = (eighths & 7) * (MVDEINT_KNOWN / 8);

    return ((line + (eighths >> 3)) & 1) == parity ? MVDEINT_KNOWN - below : below;
}

/** Returns the line above, or the line below for the first line of the picture. */
GPUME_INLINE int mvdeint_above(int y)
{
    return y > 0 ? y - 1 : y + 1;
}

GPUME_INLINE int mvdeint_below(int y, int h)
{
    return y + 1 < h ? y + 1 : y - 1;
}

/**
 * Returns the next line of the same parity above.
 * @param same the line to return if there is none
 */
GPUME_INLINE int mvdeint_two_above(int y, int same)
{
    return y >= 2 ? y - 2 : same;
}

GPUME_INLINE int mvdeint_two_below(int y, int h, int same)
{
    return y + 2 < h ? y + 2 : same;
}

/** Returns the other pair of lines, in an area of nb pairs, whose known line is next to the missing line of a pair. */
GPUME_INLINE int mvdeint_next_pair(int pair, int nb, int known_is_second)
{
    return av_clip(known_is_second ? pair - 1 : pair + 1, 0, nb - 1);
}

/**
 * Computes how well four blocks fit a pair of lines of an area, up to 256.
 * @param squares sums of squared differences on the known lines
 */
GPUME_INLINE void mvdeint_fits(unsigned *fits, const unsigned *squares)
{
    int least = 31;

    MVDEINT_UNROLL for (int i = 0; i < 4; i++)
        least = FFMIN(least, gpume_log2(squares[i] + MVDEINT_LEAST_SQUARES));
    MVDEINT_UNROLL for (int i = 0; i < 4; i++) {
        const int log2 = gpume_log2(squares[i] + MVDEINT_LEAST_SQUARES);

        fits[i] = (384 - ((squares[i] + MVDEINT_LEAST_SQUARES) >> (log2 - 7))) >> (log2 - least);
    }
}

/**
 * Blends the samples of four blocks: those above on the left and right, and those below.
 * @param x, y weights of the blocks on the right and below, in 1/64
 */
GPUME_INLINE int mvdeint_blend(const int *samples, const unsigned *fits, int x, int y)
{
    const unsigned weights[4] = {
        (64 - x) * (64 - y) * fits[0], x * (64 - y) * fits[1], (64 - x) * y * fits[2], x * y * fits[3],
    };
    const unsigned inverse = 0xffffffffu / (weights[0] + weights[1] + weights[2] + weights[3]);
    int sum = 4096 * samples[0] + 2048;

    MVDEINT_UNROLL for (int i = 1; i < 4; i++)
        sum += (int)(weights[i] * inverse >> 20) * (samples[i] - samples[0]);
    return sum >> 12;
}

/**
 * Returns the correction of a compensated sample from the differences of the lines above and below: a share of the
 * smaller one; 0 if their signs differ.
 */
GPUME_INLINE int mvdeint_residual(int above, int below)
{
    const int least = FFMAX(FFMIN(above, below), 0) + FFMIN(FFMAX(above, below), 0);

    /* rounds halves away from 0 */
    return (MVDEINT_RESIDUAL * least + 64 - (least < 0)) >> 7;
}

/**
 * Returns whether a candidate fits the field's lines in an area, relative to how well the
 * neighbouring lines fit: 1: it matches; -1: it does not; 0: undecided.
 * @param error    sum of its differences
 * @param activity sum of the differences between the doubled lines and the two lines around them
 */
GPUME_INLINE int mvdeint_vote(int error, int activity, int nb_samples, int depth)
{
    const int fraction = mvdeint_fraction(depth), limit = nb_samples * 3 << (fraction + depth - 9);
    const int spatial  = activity << fraction;

    return 8 * error > 3 * spatial + 4 * limit ? -1 : spatial > limit;
}

/**
 * Returns the number of candidates of nb that must match; if fewer match, the first estimate is kept.
 * @param is_poor whether fewer than two candidates match in most areas of the field
 */
GPUME_INLINE int mvdeint_least_matches(int is_poor, int nb)
{
    return is_poor ? FFMIN(nb, 2) : 1;
}

/**
 * Returns a weighted mean.
 * @param reciprocal 65536 divided by the sum of the weights, rounded
 */
GPUME_INLINE unsigned mvdeint_mean(unsigned sum, unsigned reciprocal)
{
    return (sum >> 6) * reciprocal >> 10;
}

/** Returns the mean of six squares. */
GPUME_INLINE unsigned mvdeint_sixth(unsigned sum)
{
    return sum * 171 >> 10;
}

/** Statistics of the neighbourhood of a missing sample. */
typedef struct MvdeintAround {
    unsigned activity;          ///< mean squared deviation of the neighbouring lines from the interpolation of their
                                ///< neighbours
    unsigned step;              ///< squared difference of the lines above and below
} MvdeintAround;

/** Returns the expected squared error of a compensated sample, in 1/32768 of a squared level. */
GPUME_INLINE unsigned mvdeint_expected(const MvdeintCompensated *c, const MvdeintAround *a, int known, unsigned error,
                                       unsigned difference)
{
    const unsigned interpolated = MVDEINT_KNOWN - known;
    const unsigned lines        = c->known * known + c->interpolated * interpolated;
    const unsigned sum          =
        error * ((lines + MVDEINT_KNOWN / 2) / MVDEINT_KNOWN) +
        (a->activity >> 4) * ((c->activity * interpolated + MVDEINT_KNOWN / 2) / MVDEINT_KNOWN) +
        (a->step >> 4) * ((c->step * interpolated + MVDEINT_KNOWN / 2) / MVDEINT_KNOWN) + difference * c->difference;

    return c->least + (sum >> 1);
}

/**
 * Returns the expected squared error of an interpolation within the field.
 * @param difference squared difference from the mean of the candidates
 * @param share      the share, in 1/1024, of the interpolation in this difference
 */
GPUME_INLINE unsigned mvdeint_expected_intra(const MvdeintIntra *c, const MvdeintAround *a, unsigned difference,
                                             unsigned share, unsigned other)
{
    const unsigned sum = (a->activity >> 4) * c->activity + (a->step >> 4) * c->step +
                         (difference * share >> 10) * c->difference + other * c->other;

    return c->least + (sum >> 1);
}

/**
 * Returns the share, in 1/1024, of an interpolation in a difference: its expected error relative to
 * both expected errors.
 */
GPUME_INLINE unsigned mvdeint_own_share(const MvdeintAround *a, int nb, unsigned inverse, int log2)
{
    const unsigned own  = 13 + ((a->activity * 102 + a->step * 10) >> 10);
    const unsigned mean = ((unsigned)nb << 21) / inverse;      // half of the harmonic mean
    const unsigned rest = log2 >= 19 ? mean << (log2 - 19) : mean >> (19 - log2);

    return (own << 10) / (own + rest);
}

/** Tables of 4096 x^-1.5 for x from 1 to 4, and of 4096 / x for x from 1 to 2. */
typedef struct MvdeintTables {
    const unsigned short *power;        ///< 256 entries: 128 for even logarithms, then 128 for odd ones
    const unsigned short *inverse;      ///< 128 entries
} MvdeintTables;

/**
 * Returns the weight of an expected squared error.
 * @param least logarithm of the least of the expected errors in the same mean
 */
GPUME_INLINE unsigned mvdeint_weight(const MvdeintTables *t, unsigned expected, int least)
{
    const int log2  = gpume_log2(expected);
    const int shift = 3 * ((log2 >> 1) - (least >> 1));

    return t->power[(log2 & 1) << 7 | (expected >> (log2 - 7) & 127)] >> FFMIN(shift, 31);
}

/** Returns a sample plus the weighted mean of differences, which have a fraction. */
GPUME_INLINE int mvdeint_result(int sample, int sum, unsigned weights, int fraction)
{
    const unsigned size  = sum < 0 ? -(unsigned)sum : sum;
    const unsigned moved = (2 * size + (weights << fraction)) / (weights << (fraction + 1));

    return sum < 0 ? sample - (int)moved : sample + (int)moved;
}

/** Data of a missing sample: candidate i has distance i / 2 + 1, and its partner is i ^ 1. */
typedef struct MvdeintKnown {
    MvdeintAround around;
    unsigned present;           ///< bit mask of the candidates that exist
    int nb;                     ///< number of candidates
    int samples[MVDEINT_MAX_CANDIDATES], known[MVDEINT_MAX_CANDIDATES];
    unsigned errors[MVDEINT_MAX_CANDIDATES];
    int first, intra;           ///< the two interpolations
} MvdeintKnown;

/** Statistics of the candidates, for the interpolations within the field. */
typedef struct MvdeintMean {
    int difference;             ///< difference between their mean and the first interpolation, in 1/8 level
    unsigned share;             ///< share of an interpolation in this difference, in 1/1024
} MvdeintMean;

/**
 * Returns the mean of the candidates.
 * @param least the least of their expected errors
 */
GPUME_INLINE MvdeintMean mvdeint_candidates_mean(const MvdeintTables *t, const MvdeintKnown *k,
                                                 const unsigned *expected, const int *differences, unsigned least,
                                                 int bits)
{
    const int least_log2 = gpume_log2(least);
    unsigned weights = 0, inverse = 0;
    MvdeintMean mean;
    int sum = 0;

    MVDEINT_UNROLL for (int i = 0; i < MVDEINT_MAX_CANDIDATES; i++) {
        const int log2 = gpume_log2(expected[i]), difference = mvdeint_scaled(FFABS(differences[i]), bits);
        unsigned weight;

        if (!(k->present >> i & 1))
            continue;
        weight   = mvdeint_weight(t, expected[i], least_log2);
        inverse += t->inverse[expected[i] >> (log2 - 7) & 127] >> (log2 - least_log2);
        weights += weight;
        sum     += (int)weight * (differences[i] < 0 ? -difference : difference);
    }
    mean.difference = sum / (int)weights;
    mean.share      = mvdeint_own_share(&k->around, k->nb, inverse, least_log2);
    return mean;
}

/** Returns a missing sample. */
GPUME_INLINE int mvdeint_combine(const MvdeintModel *m, const MvdeintTables *t, const MvdeintKnown *k, int depth)
{
    const int fraction = mvdeint_fraction(depth), bits = depth + fraction;
    const int apart    = mvdeint_scaled(FFABS(k->first - k->intra), depth);
    unsigned expected[MVDEINT_MAX_CANDIDATES], intra[2], least = 0xffffffffu, weights = 0;
    /* samples with bits above the depth make sums that wrap */
    unsigned sum = 0;
    int differences[MVDEINT_MAX_CANDIDATES], least_log2;
    MvdeintMean mean = { 0, 0 };

    MVDEINT_UNROLL for (int i = 0; i < MVDEINT_MAX_CANDIDATES; i++) {
        const int pair = k->present >> (i ^ 1) & 1 ? mvdeint_scaled(FFABS(k->samples[i] - k->samples[i ^ 1]), bits) : 0;

        expected[i]    = 0x80000000u;
        differences[i] = 0;
        if (!(k->present >> i & 1))
            continue;
        expected[i]    = mvdeint_expected(&m->compensated[i >> 1], &k->around, k->known[i], k->errors[i], pair * pair);
        differences[i] = k->samples[i] - (k->first << fraction);
        least          = FFMIN(least, expected[i]);
    }
    if (k->nb)
        mean = mvdeint_candidates_mean(t, k, expected, differences, least, bits);
    MVDEINT_UNROLL for (int i = 0; i < 2; i++) {
        const int difference = k->nb && i ? mean.difference + (k->first < k->intra ? -apart : apart) : mean.difference;
        const int clipped    = av_clip(difference, -MVDEINT_MAX_DIFFERENCE, MVDEINT_MAX_DIFFERENCE);

        intra[i] = mvdeint_expected_intra(&m->intra[i], &k->around, clipped * clipped, mean.share, apart * apart);
        least    = FFMIN(least, intra[i]);
    }
    least_log2 = gpume_log2(least);
    MVDEINT_UNROLL for (int i = 0; i < MVDEINT_MAX_CANDIDATES; i++) {
        const unsigned weight = k->present >> i & 1 ? mvdeint_weight(t, expected[i], least_log2) : 0;

        weights += weight;
        sum     += weight * (unsigned)differences[i];
    }
    MVDEINT_UNROLL for (int i = 0; i < 2; i++) {
        const unsigned weight = mvdeint_weight(t, intra[i], least_log2);

        weights += weight;
        if (i)
            sum += weight * (unsigned)(k->intra - k->first) << fraction;
    }
    return mvdeint_result(k->first, (int)sum, weights, fraction);
}

/**
 * Limits how far a missing sample is from that of the first estimate.
 * @param reach greatest reach of the sample and both neighbours
 * @param apart difference of the two nearest candidates, with a fraction
 */
GPUME_INLINE int mvdeint_limit(int sample, int first, int reach, int apart, int depth)
{
    const int agreed = 3 * reach - (2 * apart >> mvdeint_fraction(depth));
    const int limit  = reach ? FFMAX(agreed, reach >> 3) + (2 << (depth - 8)) : 0;

    return av_clip(sample, first - limit, first + limit);
}

#endif /* AVFILTER_GPUME_MVDEINT_ARITHMETIC_H */
