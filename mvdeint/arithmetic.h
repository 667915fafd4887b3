/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The arithmetic of motion-compensated deinterlacing. doc/mvdeint-definition.md defines what is
 * computed. Integers only, read by the host and by device code: every backend makes the same picture.
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
/** Fields on each side that help to make one, at most; and all of them. */
#define MVDEINT_MAX_REFS 2
#define MVDEINT_MAX_CANDIDATES (2 * MVDEINT_MAX_REFS)
#define MVDEINT_MAX_PASSES 3

/** Scale of the proportion of lines that are no interpolated ones. */
#define MVDEINT_REAL 16
/** What is added to that where errors are weighted by it. */
#define MVDEINT_LEAST_REAL 2
/** Weights that are added up for a mean at most: five columns of three lines. */
#define MVDEINT_MAX_WEIGHTS (5 * 3 * (MVDEINT_REAL + MVDEINT_LEAST_REAL))
/** Differences are in units of 1/8 of a level of 8 bits, up to this. */
#define MVDEINT_MAX_DIFFERENCE 1023
/** Samples beside each other at which nothing changes that are kept as they are, at least. */
#define MVDEINT_STILL 5
/** Lines of a component, and columns, at least. */
#define MVDEINT_MIN_LINES   4
#define MVDEINT_MIN_COLUMNS 3
/** Shares of a difference above and below that is added to a compensated sample, of 128. */
#define MVDEINT_RESIDUAL 77

/** Areas on each side of one that tell with it which candidates match there. */
#define MVDEINT_AREAS_AROUND 2
/** The error of a candidate that does not match, at least: it has hardly any weight then. */
#define MVDEINT_NO_MATCH (1u << 17)

/** What stands for how much a pair differs where a candidate has no partner, in errors of the candidate. */
#define MVDEINT_NO_PARTNER 4

/** Sum of the six taps between samples, which come for eighths of a sample. */
#define MVDEINT_TAPS_SUM 64
/** The taps for two to six eighths have negative ones beside those in the middle. */
#define MVDEINT_TAPS       \
    {  0,  0, 64,  0,  0, 0 }, \
    {  0, -2, 58, 10, -2, 0 }, \
    {  1, -5, 52, 20, -5, 1 }, \
    {  1, -7, 46, 30, -8, 2 }, \
    {  2,-10, 40, 40,-10, 2 }, \
    {  2, -8, 30, 46, -7, 1 }, \
    {  1, -5, 20, 52, -5, 1 }, \
    {  0, -2, 10, 58, -2, 0 }

/** Weights, of 64, of the later of two blocks for the samples between their centres, by subsampling. */
#define MVDEINT_WINDOW                 \
    { 1, 5, 14, 26, 38, 50, 59, 63 },  \
    { 2, 20, 44, 62 },                 \
    { 9, 55 }

/** Directions of edges, from -3 to 3 samples; classes of each for how well it fits, and by activity. */
#define MVDEINT_DIRECTIONS 7
#define MVDEINT_LEVELS     3
#define MVDEINT_CLASSES   (MVDEINT_DIRECTIONS * MVDEINT_LEVELS * MVDEINT_LEVELS)
/** Lines of an interpolation within a field, and samples of each. */
#define MVDEINT_INTRA_LINES   4
#define MVDEINT_INTRA_COLUMNS 9

/** How the expected squared error of a compensated sample is made up. */
typedef struct MvdeintCompensated {
    unsigned least;             ///< in 1/32768 of a squared level
    unsigned real, made;        ///< factors of the error where real lines were read, and interpolated ones; 1/1024
    unsigned pair;              ///< of how much a pair differs around the sample
    unsigned activity, step;    ///< of what lines and interpolation have; 1/16384
    unsigned difference;        ///< of how much a pair differs; 1/1024
} MvdeintCompensated;

/** The same of an interpolation within the field. */
typedef struct MvdeintIntra {
    unsigned least, activity, step;
    unsigned blame;             ///< of its share in how much it differs from the compensated samples
    unsigned other;             ///< of how much both interpolations differ
} MvdeintIntra;

/** What one pass expects. */
typedef struct MvdeintModel {
    MvdeintCompensated compensated[MVDEINT_MAX_REFS];   ///< by distance
    MvdeintIntra intra[2];      ///< of the estimate of three fields, and of the taps' interpolation
} MvdeintModel;

/** The models of all passes. */
#define MVDEINT_MODELS                                  \
    {   { { 3387,  84, 435, 64, 1075, 147, 269 },       \
          { 4298, 134, 369, 43,  849, 141, 202 } },     \
        { { 4656, 1121, 103, 2026, 354 },               \
          { 4246, 1191, 127, 1673,  83 } } },           \
    {   { { 2604, 220, 443, 51,  647, 121, 278 },       \
          { 3083, 301, 287, 50,  495, 133, 204 } },     \
        { { 4395,  879,  93, 2003, 292 },               \
          { 3969,  940, 106, 1845,  80 } } },           \
    {   { { 2400, 285, 443, 58,  485,  98, 282 },       \
          { 2850, 348, 276, 54,  349, 117, 212 } },     \
        { { 4391,  797,  94, 1765, 266 },               \
          { 3909,  844, 103, 1746,  91 } } }

/** Returns the bits of a fraction that compensated samples have. */
GPUME_INLINE int mvdeint_fraction(int depth)
{
    return FFMIN(4, 16 - depth);
}

/** Returns a difference, not negative, of values of so many bits in 1/8 of a level of 8 bits. */
GPUME_INLINE int mvdeint_scaled(int difference, int bits)
{
    return FFMIN(bits > 11 ? (difference + (1 << (bits - 12))) >> (bits - 11) : difference << (11 - bits),
                 MVDEINT_MAX_DIFFERENCE);
}

/** Returns a component of a vector in eighths of the samples of a component, from quarters of luma samples. */
GPUME_INLINE int mvdeint_eighths(int v, int sub)
{
    return v * 2 >> sub;
}

/** Returns how much of what a vector reads for a line is of lines that are no interpolated ones, of MVDEINT_REAL. */
GPUME_INLINE int mvdeint_real(int eighths, int line, int parity)
{
    const int below = (eighths & 7) * (MVDEINT_REAL / 8);

    return ((line + (eighths >> 3)) & 1) == parity ? MVDEINT_REAL - below : below;
}

/** Returns the line above, or beside the picture's first one that below. */
GPUME_INLINE int mvdeint_above(int y)
{
    return y > 0 ? y - 1 : y + 1;
}

GPUME_INLINE int mvdeint_below(int y, int h)
{
    return y + 1 < h ? y + 1 : y - 1;
}

/** Returns the line of the same parity above, or beside the edge the nearest one. @param same where there is none */
GPUME_INLINE int mvdeint_two_above(int y, int same)
{
    return y >= 2 ? y - 2 : same;
}

GPUME_INLINE int mvdeint_two_below(int y, int h, int same)
{
    return y + 2 < h ? y + 2 : same;
}

/** Returns how far a compensated sample is moved, by how far those above and below were from their lines. */
GPUME_INLINE int mvdeint_residual(int above, int below)
{
    if ((above > 0 && below > 0) || (above < 0 && below < 0)) {
        const int least = FFMIN(FFABS(above), FFABS(below));

        return above > 0 ? (MVDEINT_RESIDUAL * least + 64) >> 7 : -((MVDEINT_RESIDUAL * least + 64) >> 7);
    }
    return 0;
}

/**
 * Returns whether a candidate fits the field's lines in an area as a match does, in proportion to how well the lines
 * beside them do: 1; -1: it does not; 0: nothing can be seen there.
 * @param error    sum of its differences
 * @param activity sum of the differences of the lines, doubled, from those two above and below
 */
GPUME_INLINE int mvdeint_vote(int error, int activity, int nb_samples, int depth)
{
    const int fraction = mvdeint_fraction(depth), limit = nb_samples * 3 << (fraction + depth - 9);
    const int spatial  = activity << fraction;

    return 8 * error > 3 * spatial + 4 * limit ? -1 : spatial > limit;
}

/** Returns how many candidates have to match, of those that there are, or the first estimate is kept. */
GPUME_INLINE int mvdeint_least_matches(int is_alone, int nb)
{
    return is_alone ? FFMIN(nb, 2) : 1;
}

/** Returns a sum divided by the sum of its weights. @param reciprocal 65536 divided by the latter, rounded */
GPUME_INLINE unsigned mvdeint_mean(unsigned sum, unsigned reciprocal)
{
    return (sum >> 6) * reciprocal >> 10;
}

/** Returns the mean of six squares. */
GPUME_INLINE unsigned mvdeint_sixth(unsigned sum)
{
    return sum * 171 >> 10;
}

/** What is known of a sample that is missing. */
typedef struct MvdeintAround {
    unsigned activity;          ///< mean square by which lines beside it are not what is between those beside them
    unsigned step;              ///< squared difference of the lines beside it
} MvdeintAround;

/** Returns the expected squared error of a compensated sample, in 1/32768 of a squared level. */
GPUME_INLINE unsigned mvdeint_expected(const MvdeintCompensated *c, const MvdeintAround *a, int real, unsigned error,
                                       unsigned pair, unsigned difference)
{
    const unsigned made = MVDEINT_REAL - real;
    const unsigned sum  = error * ((c->real * real + c->made * made + MVDEINT_REAL / 2) / MVDEINT_REAL) +
                          pair * c->pair +
                          (a->activity >> 4) * ((c->activity * made + MVDEINT_REAL / 2) / MVDEINT_REAL) +
                          (a->step >> 4) * ((c->step * made + MVDEINT_REAL / 2) / MVDEINT_REAL) +
                          difference * c->difference;

    return c->least + (sum >> 1);
}

/** The same of an interpolation within the field. @param blame its share, of 1024, in the squared difference off */
GPUME_INLINE unsigned mvdeint_expected_intra(const MvdeintIntra *c, const MvdeintAround *a, unsigned off,
                                             unsigned blame, unsigned other)
{
    const unsigned sum = (a->activity >> 4) * c->activity + (a->step >> 4) * c->step +
                         (off * blame >> 10) * c->blame + other * c->other;

    return c->least + (sum >> 1);
}

/** Returns the share of an interpolation in a difference: of its own expected error in both errors, of 1024. */
GPUME_INLINE unsigned mvdeint_blame(const MvdeintAround *a, int nb, unsigned inverse, int log2)
{
    const unsigned own  = 13 + ((a->activity * 102 + a->step * 10) >> 10);
    const unsigned mean = ((unsigned)nb << 21) / inverse;      // the harmonic one's half
    const unsigned rest = log2 >= 19 ? mean << (log2 - 19) : mean >> (19 - log2);

    return (own << 10) / (own + rest);
}

/** Tables of the -1.5th and the -1st power of what is 1 to 4, or 1 to 2. */
typedef struct MvdeintTables {
    const unsigned short *power;        ///< 256 entries: 128 for even logarithms, then 128 for odd ones
    const unsigned short *inverse;      ///< 128 entries
} MvdeintTables;

/** Returns the integer part of a logarithm. */
GPUME_INLINE int mvdeint_log2(unsigned v)
{
#ifdef __NVCC__
    return 31 - __clz(v);
#else
    return 31 - __builtin_clz(v);
#endif
}

/** Returns the weight of an expected squared error. @param least the logarithm of the least of those beside it */
GPUME_INLINE unsigned mvdeint_weight(const MvdeintTables *t, unsigned expected, int least)
{
    const int log2  = mvdeint_log2(expected);
    const int shift = 3 * ((log2 >> 1) - (least >> 1));

    return t->power[(log2 & 1) << 7 | (expected >> (log2 - 7) & 127)] >> FFMIN(shift, 31);
}

/** Returns a sample, from one and the weighted sum of the differences of others from it, which have a fraction. */
GPUME_INLINE int mvdeint_result(int sample, int sum, unsigned weights, int fraction)
{
    const unsigned moved = (2 * (unsigned)FFABS(sum) + (weights << fraction)) / (weights << (fraction + 1));

    return sum < 0 ? sample - (int)moved : sample + (int)moved;
}

/** What is known of a missing sample: of candidate i at distance i / 2 + 1, whose partner is i ^ 1. */
typedef struct MvdeintKnown {
    MvdeintAround around;
    unsigned present;           ///< bits of the candidates that there are
    int nb;                     ///< how many these are
    int samples[MVDEINT_MAX_CANDIDATES], real[MVDEINT_MAX_CANDIDATES];
    unsigned errors[MVDEINT_MAX_CANDIDATES], pairs[MVDEINT_MAX_CANDIDATES];
    int first, intra;           ///< both interpolations
} MvdeintKnown;

/** What follows from the candidates for the interpolations within the field. */
typedef struct MvdeintMean {
    int off;                    ///< how far their mean is from the first interpolation, in 1/8 of a level
    unsigned blame;             ///< share of an interpolation in that, of 1024
} MvdeintMean;

/** Returns the mean of candidates. @param least the least of their expected errors */
GPUME_INLINE MvdeintMean mvdeint_candidates_mean(const MvdeintTables *t, const MvdeintKnown *k,
                                                 const unsigned *expected, const int *differences, unsigned least,
                                                 int bits)
{
    const int least_log2 = mvdeint_log2(least);
    unsigned weights = 0, inverse = 0;
    MvdeintMean mean;
    int sum = 0;

    MVDEINT_UNROLL for (int i = 0; i < MVDEINT_MAX_CANDIDATES; i++) {
        const int log2 = mvdeint_log2(expected[i]), off = mvdeint_scaled(FFABS(differences[i]), bits);
        unsigned weight;

        if (!(k->present >> i & 1))
            continue;
        weight   = mvdeint_weight(t, expected[i], least_log2);
        inverse += t->inverse[expected[i] >> (log2 - 7) & 127] >> (log2 - least_log2);
        weights += weight;
        sum     += (int)weight * (differences[i] < 0 ? -off : off);
    }
    mean.off   = sum / (int)weights;
    mean.blame = mvdeint_blame(&k->around, k->nb, inverse, least_log2);
    return mean;
}

/** Returns a missing sample. */
GPUME_INLINE int mvdeint_combine(const MvdeintModel *m, const MvdeintTables *t, const MvdeintKnown *k, int depth)
{
    const int fraction = mvdeint_fraction(depth), bits = depth + fraction;
    const int apart    = mvdeint_scaled(FFABS(k->first - k->intra), depth);
    unsigned expected[MVDEINT_MAX_CANDIDATES], intra[2], least = 0xffffffffu, weights = 0;
    int differences[MVDEINT_MAX_CANDIDATES], least_log2, sum = 0;
    MvdeintMean mean = { 0, 0 };

    MVDEINT_UNROLL for (int i = 0; i < MVDEINT_MAX_CANDIDATES; i++) {
        const int off = k->present >> (i ^ 1) & 1 ? mvdeint_scaled(FFABS(k->samples[i] - k->samples[i ^ 1]), bits) : 0;

        expected[i]    = 0x80000000u;
        differences[i] = 0;
        if (!(k->present >> i & 1))
            continue;
        expected[i]    = mvdeint_expected(&m->compensated[i >> 1], &k->around, k->real[i], k->errors[i], k->pairs[i],
                                          off * off);
        differences[i] = k->samples[i] - (k->first << fraction);
        least          = FFMIN(least, expected[i]);
    }
    if (k->nb)
        mean = mvdeint_candidates_mean(t, k, expected, differences, least, bits);
    MVDEINT_UNROLL for (int i = 0; i < 2; i++) {
        const int off = k->nb && i ? mean.off + (k->first < k->intra ? -apart : apart) : mean.off;
        const int moved = av_clip(off, -MVDEINT_MAX_DIFFERENCE, MVDEINT_MAX_DIFFERENCE);

        intra[i] = mvdeint_expected_intra(&m->intra[i], &k->around, moved * moved, mean.blame, apart * apart);
        least    = FFMIN(least, intra[i]);
    }
    least_log2 = mvdeint_log2(least);
    MVDEINT_UNROLL for (int i = 0; i < MVDEINT_MAX_CANDIDATES; i++) {
        const unsigned weight = k->present >> i & 1 ? mvdeint_weight(t, expected[i], least_log2) : 0;

        weights += weight;
        sum     += (int)weight * differences[i];
    }
    MVDEINT_UNROLL for (int i = 0; i < 2; i++) {
        const unsigned weight = mvdeint_weight(t, intra[i], least_log2);

        weights += weight;
        if (i)
            sum += (int)weight * (k->intra - k->first) * (1 << fraction);
    }
    return mvdeint_result(k->first, sum, weights, fraction);
}

#endif /* AVFILTER_GPUME_MVDEINT_ARITHMETIC_H */
