/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Noise as a function of brightness: the measurements of blocks, and how sigma at several levels
 * follows from them. C and device code include this file. The section "Estimate" of
 * doc/mvdenoise-definition.md is its definition.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_LEVELS_H
#define AVFILTER_GPUME_MVDENOISE_LEVELS_H

#include "libavfilter/gpume/mvdenoise/arithmetic.h"

/** Number of bins in which measured values are counted; there are eight for each power of two. */
#define MVDENOISE_BINS          240
/** Bin of blocks that do not count. */
#define MVDENOISE_NO_BIN        255
/** A block is dead if more than this number of its samples equal its minimum, or its maximum. */
#define MVDENOISE_MOST_EQUAL    12
/**
 * A block is also dead if its energy times the square of the number of equal neighbours, minus
 * eight, exceeds this limit. In drawn pictures, edges have high energy but flat areas next to them.
 */
#define MVDENOISE_ALIKE         8
#define MVDENOISE_MOST_ALIKE    3000000
/** A block repeats its match if at least this number of samples are equal. */
#define MVDENOISE_REPEATED      58
/** Minimum number of usable blocks: of a picture, a level, a level of white noise, the halved component. */
#define MVDENOISE_LEAST_BLOCKS  12
#define MVDENOISE_LEAST_LEVEL   32
#define MVDENOISE_LEAST_WHITE   8
#define MVDENOISE_LEAST_HALVED  24
/**
 * Number of blocks with which the estimate of a level has the same weight as those of all levels
 * together; four times as many if the level has fewer than MVDENOISE_LEAST_LEVEL.
 */
#define MVDENOISE_SHRINK        16
/** Maximum weight of a level in the line through all of them, so that sums fit. */
#define MVDENOISE_MOST_WEIGHT   4095

/** Quantiles in 1/256: energies at first; differences; textures, up to which blocks are calm; the median. */
#define MVDENOISE_QUANTILE          26
#define MVDENOISE_QUANTILE_MATCHED  51
#define MVDENOISE_QUANTILE_CALM     64
#define MVDENOISE_MEDIAN            128
/** Mean energy of white noise relative to this quantile, in 1/1024. */
#define MVDENOISE_FROM_QUANTILE     1894
/** Number of refinements of the mean energy; limit of the energies that are averaged, in 1/1024 of the mean. */
#define MVDENOISE_ROUNDS            6
#define MVDENOISE_FROM_LOWER        1428

/** Measurements of a block. */
typedef struct MvdenoiseBlock {
    unsigned char level;        ///< level of brightness
    unsigned char energy;       ///< bin of its energy, or MVDENOISE_NO_BIN
    unsigned char matched;      ///< bin of the variance of its difference from the match, or MVDENOISE_NO_BIN
    unsigned char coarse;       ///< bin of the variance of the means of the difference; valid if matched is
    unsigned char texture;      ///< bin of the variance of the sum of both; valid if matched is
} MvdenoiseBlock;

/** Measurements that are counted of calm blocks, those with the least texture of their level. */
enum { MVDENOISE_CALM_ENERGY, MVDENOISE_CALM_MATCHED, MVDENOISE_CALM_COARSE, MVDENOISE_CALM_TEXTURE, MVDENOISE_CALM };

/** Histograms of the measurements of a component. */
typedef struct MvdenoiseBins {
    unsigned energies[MVDENOISE_LEVELS][MVDENOISE_BINS];
    unsigned matched[MVDENOISE_LEVELS][MVDENOISE_BINS];
    unsigned textures[MVDENOISE_LEVELS][MVDENOISE_BINS];
    unsigned calm[MVDENOISE_CALM][MVDENOISE_BINS];  ///< values of calm blocks
    unsigned halved[MVDENOISE_BINS];        ///< energies of blocks of the halved component
} MvdenoiseBins;

/** If fewer than one block of this number is alive, there is no noise: the picture is drawn. */
#define MVDENOISE_LEAST_ALIVE   8

/** Results from the bins of a component: variances in 1/65536 of squared samples of 8 bits. */
typedef struct MvdenoiseFound {
    /** From energies, and from differences: for each level, then for all levels. */
    long long fine[MVDENOISE_LEVELS + 1], total[MVDENOISE_LEVELS + 1];
    long long calm[MVDENOISE_CALM];     ///< medians of calm blocks
    long long halved;
    unsigned nb_fine[MVDENOISE_LEVELS + 1], nb_total[MVDENOISE_LEVELS + 1];
    unsigned nb_halved;
} MvdenoiseFound;

/** State of the noise estimate of a component. Zeroed at first. */
typedef struct MvdenoiseKnown {
    MvdenoiseCurve curve;       ///< curve of the last picture
    int is_provisional;         ///< whether no picture since the beginning of the sequence, or the last cut, had
                                ///< matches
} MvdenoiseKnown;

/** Returns the bin of a value. */
GPUME_INLINE int mvdenoise_bin(unsigned v)
{
    int exponent = 3;

    if (v < 8)
        return (int)v;
    for (int step = 16; step; step >>= 1)
        if ((unsigned long long)v >> (exponent + step))
            exponent += step;
    return (exponent - 2) << 3 | (int)(v >> (exponent - 3) & 7);
}

/** Returns the logarithm of the width of a bin. */
GPUME_INLINE int mvdenoise_bin_log2(int bin)
{
    return bin < 8 ? 0 : (bin >> 3) - 1;
}

/** Returns the smallest value of a bin. */
GPUME_INLINE unsigned long long mvdenoise_bin_low(int bin)
{
    return bin < 8 ? (unsigned long long)bin : (8ULL | (bin & 7)) << mvdenoise_bin_log2(bin);
}

/** Returns the value with this rank, counted from 0; values in a bin are assumed to be equally spaced. */
GPUME_INLINE unsigned long long mvdenoise_of_rank(const unsigned *bins, unsigned rank)
{
    int bin = 0;

    while (rank >= bins[bin])
        rank -= bins[bin++];
    return mvdenoise_bin_low(bin) + ((2ULL * rank + 1) << mvdenoise_bin_log2(bin)) / (2ULL * bins[bin]);
}

/*
 * The bins that a thread adds up. On a device, the lanes of a warp share the bins and add up their sums; so all of them
 * call what adds up bins.
 */
#ifdef GPUME_DEVICE_CODE
GPUME_INLINE unsigned long long mvdenoise_add_lanes(unsigned long long v, int first, int end);

#define MVDENOISE_OWN_BIN     ((int)threadIdx.x % 32)
#define MVDENOISE_NEXT_BIN    32
#define MVDENOISE_ADD_BINS(v) mvdenoise_add_lanes(v, 1, 32)
#else
#define MVDENOISE_OWN_BIN     0
#define MVDENOISE_NEXT_BIN    1
#define MVDENOISE_ADD_BINS(v) (v)
#endif

/** Returns the mean of the values up to most, assuming equally spaced values in a bin; 0: there are none. */
GPUME_INLINE unsigned long long mvdenoise_mean_up_to(const unsigned *bins, unsigned long long most)
{
    unsigned long long sum = 0, nb = 0;

    for (int i = MVDENOISE_OWN_BIN; i < MVDENOISE_BINS && mvdenoise_bin_low(i) <= most; i += MVDENOISE_NEXT_BIN) {
        const unsigned long long low = mvdenoise_bin_low(i), end = low + (1ULL << mvdenoise_bin_log2(i));
        const unsigned long long high = FFMIN(end - 1, most);
        const unsigned long long here = bins[i] * (high - low + 1) >> mvdenoise_bin_log2(i);

        nb  += here;
        sum += here * (low + high);
    }
    nb  = MVDENOISE_ADD_BINS(nb);
    sum = MVDENOISE_ADD_BINS(sum);
    return nb ? sum / (2 * nb) : 0;
}

/** Returns the mean energy of noise, from nb energies of which some contain little else. */
GPUME_INLINE unsigned long long mvdenoise_noise_energy(const unsigned *bins, unsigned nb)
{
    unsigned long long mean;

    if (!nb)
        return 0;
    mean = mvdenoise_of_rank(bins, (unsigned)((unsigned long long)nb * MVDENOISE_QUANTILE >> 8)) *
           MVDENOISE_FROM_QUANTILE >> 10;
    for (int i = 0; i < MVDENOISE_ROUNDS; i++)
        mean = mvdenoise_mean_up_to(bins, mean) * MVDENOISE_FROM_LOWER >> 10;
    return mean;
}

/** Returns the variance of noise from its mean energy, without the contributions of texture and rounding. */
GPUME_INLINE long long mvdenoise_fine_variance(const unsigned *bins, unsigned nb)
{
    const long long variance = (long long)(mvdenoise_noise_energy(bins, nb) * 809 >> 4);

    return FFMAX(variance - 27689, 0);
}

/** Returns the variance of noise of the halved component, including the contribution of texture. */
GPUME_INLINE long long mvdenoise_halved_variance(const unsigned *bins, unsigned nb)
{
    return (long long)(mvdenoise_noise_energy(bins, nb) * 809 >> 4);
}

/** Returns the variance of noise from the bins of differences. */
GPUME_INLINE long long mvdenoise_total_variance(const unsigned *bins, unsigned nb)
{
    if (!nb)
        return 0;
    return (long long)(mvdenoise_of_rank(bins, (unsigned)((unsigned long long)nb * MVDENOISE_QUANTILE_MATCHED >> 8)) *
                       2354 >> 8);
}

/** Returns the last bin of textures of calm blocks; -1: there are none. */
GPUME_INLINE int mvdenoise_calm_bin(const unsigned *bins, unsigned nb)
{
    unsigned rank = (unsigned)((unsigned long long)nb * MVDENOISE_QUANTILE_CALM >> 8);
    int bin = -1;

    if (nb)
        for (bin = 0; rank >= bins[bin]; bin++)
            rank -= bins[bin];
    return bin;
}

/**
 * Returns the median of a variance of calm blocks: of second differences, of differences, of the
 * means of 4x4 differences times 16, of half the sums.
 */
GPUME_INLINE long long mvdenoise_calm_median(const unsigned *bins, unsigned nb, int which)
{
    unsigned long long median;

    if (!nb)
        return 0;
    median = mvdenoise_of_rank(bins, (unsigned)((unsigned long long)nb * MVDENOISE_MEDIAN >> 8));
    return (long long)(which == MVDENOISE_CALM_ENERGY  ? median * 809 >> 4 :
                       which == MVDENOISE_CALM_MATCHED ? median * 8 :
                       which == MVDENOISE_CALM_COARSE  ? median * 512 / 3 : median * 4);
}

/** Returns sigma^2 for removing white noise; rather too large than too small. */
GPUME_INLINE long long mvdenoise_of_white(long long fine)
{
    return 35 * fine >> 5;
}

/** Returns sigma^2 for removing noise that may not be white, without matches. */
GPUME_INLINE long long mvdenoise_without_matches(long long fine, long long halved)
{
    /* a mean of four samples has a quarter of their variance */
    const long long more = 4 * halved - (369 * fine >> 8) - 409600;

    return more > 0 ? fine + (9 * more >> 2) : mvdenoise_of_white(fine);
}

/** Returns whether a level has enough blocks with matches, without which texture cannot be told from noise. */
GPUME_INLINE int mvdenoise_is_known(const MvdenoiseFound *f, int level, unsigned least)
{
    return FFMIN(f->nb_fine[level], f->nb_total[level]) >= least;
}

/** Returns sigma^2, if the noise is white. The noise of a camera is white at each level. */
GPUME_INLINE long long mvdenoise_white(const MvdenoiseFound *f)
{
    long long sum = 0, nb = 0;

    for (int i = 0; i < MVDENOISE_LEVELS; i++)
        if (mvdenoise_is_known(f, i, MVDENOISE_LEAST_LEVEL)) {
            const long long n = FFMIN(f->nb_fine[i], f->nb_total[i]);

            sum += n * FFMIN(f->fine[i], f->total[i]);
            nb  += n;
        }
    return nb ? sum / nb : FFMIN(f->fine[MVDENOISE_LEVELS], f->total[MVDENOISE_LEVELS]);
}

/** Returns the variance of white noise of a level. The lesser one of few blocks' estimates would be too small. */
GPUME_INLINE long long mvdenoise_level_variance(const MvdenoiseFound *f, int level)
{
    const long long least = FFMIN(f->fine[level], f->total[level]);

    return mvdenoise_is_known(f, level, MVDENOISE_LEAST_LEVEL) ? least :
           FFMIN((f->fine[level] + f->total[level]) >> 1, 9 * least >> 3);
}

/** Returns sigma^2 for removing noise that is not white, or -1 if it is white. */
GPUME_INLINE long long mvdenoise_correlated(const MvdenoiseFound *f)
{
    const long long difference = f->calm[MVDENOISE_CALM_MATCHED];
    /* the error of an inexact match is in proportion to the texture */
    const long long inexact = FFMAX(f->calm[MVDENOISE_CALM_TEXTURE] - (difference >> 1), 0) >> 4;
    const long long noise   = FFMAX(difference - inexact - 65536, 0);
    const long long missing = noise - FFMIN(f->calm[MVDENOISE_CALM_ENERGY], noise);
    const long long coded   = FFMIN(mvdenoise_of_white(noise) + 6 * missing, 1441792 + (21 * noise >> 4));
    const long long grain   = FFMIN(f->calm[MVDENOISE_CALM_COARSE] - 8 * inexact - 131072, 10 * noise);

    return 5 * mvdenoise_white(f) > 3 * noise ? -1 : FFMAX(coded, grain);
}

/** Returns sigma from its square in 1/65536. */
GPUME_INLINE int mvdenoise_sigma_of(long long square)
{
    return (int)FFMIN(mvdenoise_root(FFMAX(square, 0)), MVDENOISE_SIGMA_MAX);
}

/** Returns whether the differences determine the noise. */
GPUME_INLINE int mvdenoise_is_matched(const MvdenoiseFound *f)
{
    return f->nb_total[MVDENOISE_LEVELS] >= MVDENOISE_LEAST_BLOCKS;
}

/**
 * Replaces the squares of known levels by those on the line through them with the least squared
 * errors, as noise of a camera has it: the variance grows in proportion to brightness.
 */
GPUME_INLINE void mvdenoise_fit_line(long long *line, const long long *squares, const unsigned *nb, unsigned known)
{
    long long n = 0, x = 0, xx = 0, y = 0, xy = 0, slope = 0, spread, rise;

    for (int i = 0; i < MVDENOISE_LEVELS; i++) {
        const long long weight = known >> i & 1 ? FFMIN(nb[i], MVDENOISE_MOST_WEIGHT) : 0;

        n  += weight;
        x  += weight * i;
        xx += weight * i * i;
        y  += weight ? weight * (squares[i] >> 4) : 0;
        xy += weight ? weight * (squares[i] >> 4) * i : 0;
    }
    spread = n * xx - x * x;
    rise   = n * xy - x * y;
    if (spread)
        slope = rise >= 0 ? rise / spread : -((spread - 1 - rise) / spread);
    for (int i = 0; i < MVDENOISE_LEVELS; i++)
        line[i] = n ? FFMAX(y + slope * (n * i - x), 0) / n * 16 : 0;
}

/** Sets sigma of levels with too few blocks to that of the nearest known level, or the darker one of two. */
GPUME_INLINE void mvdenoise_fill_levels(MvdenoiseCurve *c, unsigned known)
{
    int sigma[MVDENOISE_LEVELS];

    for (int i = 0; i < MVDENOISE_LEVELS; i++) {
        int distance = 0;

        while (!(i >= distance && known >> (i - distance) & 1) &&
               !(i + distance < MVDENOISE_LEVELS && known >> (i + distance) & 1))
            distance++;
        sigma[i] = c->sigma[i >= distance && known >> (i - distance) & 1 ? i - distance : i + distance];
    }
    for (int i = 0; i < MVDENOISE_LEVELS; i++)
        c->sigma[i] = sigma[i];
}

/**
 * Returns the estimate of a component from its own measurements.
 * @param matched whether to use the differences
 * @param anew    whether the noise must be white, because differences from a picture of another scene do not tell
 */
GPUME_INLINE MvdenoiseCurve mvdenoise_own_curve(const MvdenoiseFound *f, int matched, int anew, unsigned nb_blocks)
{
    const long long halved = f->nb_halved < MVDENOISE_LEAST_HALVED ? 0 : f->halved;
    const long long other  = matched && !anew ? mvdenoise_correlated(f) : -1;
    const int is_white     = other < 0;
    long long square       = !matched ? mvdenoise_without_matches(f->fine[MVDENOISE_LEVELS], halved)
                                      : is_white ? mvdenoise_of_white(mvdenoise_white(f)) : other;
    long long squares[MVDENOISE_LEVELS], line[MVDENOISE_LEVELS], sum = 0, nb = 0;
    unsigned known = 0;
    MvdenoiseCurve c;

    for (int i = 0; i < MVDENOISE_LEVELS; i++) {
        const unsigned n = FFMIN(f->nb_fine[i], f->nb_total[i]);

        if (!matched || !mvdenoise_is_known(f, i, is_white ? MVDENOISE_LEAST_WHITE : MVDENOISE_LEAST_LEVEL))
            continue;
        known |= 1u << i;
        squares[i] = square / FFMAX(f->total[MVDENOISE_LEVELS] >> 8, 1) * (f->total[i] >> 8);
        squares[i] = is_white ? mvdenoise_of_white(mvdenoise_level_variance(f, i))
                              : FFMAX(FFMIN(squares[i], 2 * square), square >> 1);
        sum += squares[i] * n;
        nb  += n;
    }
    if (nb)
        square = sum / nb;
    if (f->nb_fine[MVDENOISE_LEVELS] < nb_blocks / MVDENOISE_LEAST_ALIVE)
        square = known = 0;
    c.single = mvdenoise_sigma_of(square);
    mvdenoise_fit_line(line, squares, f->nb_fine, known);
    for (int i = 0; i < MVDENOISE_LEVELS; i++) {
        const long long n = FFMIN(f->nb_fine[i], 1 << 20);
        const int shrink  = n < MVDENOISE_LEAST_LEVEL ? 4 * MVDENOISE_SHRINK : MVDENOISE_SHRINK;

        if (known >> i & 1)
            squares[i] = (squares[i] * n + (is_white ? line[i] : square) * shrink) / (n + shrink);
        c.sigma[i] = known >> i & 1 ? mvdenoise_sigma_of(squares[i]) : c.single;
    }
    if (known)
        mvdenoise_fill_levels(&c, known);
    return c;
}

GPUME_INLINE MvdenoiseCurve mvdenoise_smoothed(const MvdenoiseCurve *before, const MvdenoiseCurve *now)
{
    MvdenoiseCurve c;

    for (int i = 0; i < MVDENOISE_LEVELS; i++)
        c.sigma[i] = (3 * before->sigma[i] + now->sigma[i] + 2) >> 2;
    c.single = (3 * before->single + now->single + 2) >> 2;
    return c;
}

/**
 * Updates the estimate with the next picture.
 * @param anew      whether a sequence begins, or there is a cut
 * @param has_field whether the picture has vectors into the previous one
 * @param nb_blocks number of blocks of the component
 * @return whether the curve is also valid for the previous picture
 */
GPUME_INLINE int mvdenoise_learn(MvdenoiseKnown *k, const MvdenoiseFound *f, int anew, int has_field,
                                 unsigned nb_blocks)
{
    const int matched = has_field && mvdenoise_is_matched(f);
    const MvdenoiseCurve own = mvdenoise_own_curve(f, matched, anew, nb_blocks);
    const int is_first = matched && !anew && k->is_provisional;

    if (anew || is_first)
        k->curve = own;
    else if (matched || !has_field)
        k->curve = mvdenoise_smoothed(&k->curve, &own);
    k->is_provisional = anew || (k->is_provisional && !matched);
    return is_first;
}

#endif /* AVFILTER_GPUME_MVDENOISE_LEVELS_H */
