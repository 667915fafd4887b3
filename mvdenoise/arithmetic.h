/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Integer arithmetic of denoising, shared by C and device code. doc/mvdenoise-definition.md defines
 * the results.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_ARITHMETIC_H
#define AVFILTER_GPUME_MVDENOISE_ARITHMETIC_H

#include "libavfilter/gpume/field/cells_args.h"
#include "libavfilter/gpume/util/integer.h"

#define MVDENOISE_MAX_RADIUS    4
/** Maximum number of patches of a stack. */
#define MVDENOISE_MAX_STACK     (2 * MVDENOISE_MAX_RADIUS + 1)
/** Side of a patch; distance of patches in a row, and of rows, in samples; that of rows is half as large if dense. */
#define MVDENOISE_PATCH         8
#define MVDENOISE_SAMPLES       (MVDENOISE_PATCH * MVDENOISE_PATCH)
#define MVDENOISE_STEP          4
#define MVDENOISE_LOG2_STEP     2
#define MVDENOISE_LOG2_CELL     3
/** Maximum number of vectors that are tried for a match: those of several positions, and the zero vector. */
#define MVDENOISE_PLACES        7
#define MVDENOISE_CANDIDATES    (MVDENOISE_PLACES + 1)
/** Number of patches whose matches of the first pass the second pass tries. */
#define MVDENOISE_NEAR          5

/** A standard deviation of 1 in samples of 8 bits. */
#define MVDENOISE_SIGMA_ONE     256
/** Smallest sigma that is denoised. */
#define MVDENOISE_SIGMA_MIN     16
#define MVDENOISE_SIGMA_MAX     (128 * MVDENOISE_SIGMA_ONE)

/**
 * Number of levels of brightness for which sigma is estimated, and of tones, for which sigma of a
 * patch is interpolated.
 */
#define MVDENOISE_LEVELS        8
#define MVDENOISE_LOG2_TONES    5
#define MVDENOISE_TONES         (1 << MVDENOISE_LOG2_TONES)

/**
 * Largest mean squared differences that noise explains, in sigma^2 / 16: of noisy patches, and of
 * those of the pilot.
 */
#define MVDENOISE_ACCEPT_NOISY  80
#define MVDENOISE_ACCEPT_PILOT  16
/** Thresholds in sigma / 256: coefficients of the mean over time of several patches, and other coefficients. */
#define MVDENOISE_THRESHOLD_MEAN    589
#define MVDENOISE_THRESHOLD_OTHER   742
/**
 * Number of ratios between a coefficient and sigma that the Wiener filter distinguishes, and the
 * index of ratio 1.
 */
#define MVDENOISE_RATIOS        512
#define MVDENOISE_LOG2_RATIO    5
/** Weight of a patch of which only the mean remains; with dense patches, twice as many share a sample. */
#define MVDENOISE_LOG2_WEIGHT(log2_step) (11 + (log2_step))

/**
 * Samples around a sample on each side, in both directions, among which clipped ones are counted; number of entries of
 * the table of mvdenoise_shift(), which begins at the least mean of clipped noise, in 1/1024 of sigma, and has 16
 * entries for each sigma.
 */
#define MVDENOISE_AROUND        3
#define MVDENOISE_COUNTED       ((2 * MVDENOISE_AROUND + 1) * (2 * MVDENOISE_AROUND + 1))
#define MVDENOISE_SHIFTS        27
#define MVDENOISE_LEAST_MEAN    409

/** Number of fraction bits of the matrices over time. */
#define MVDENOISE_LOG2_TIME     10

/** Returns the number of fraction bits for samples of a depth: values have at least 10 bits. */
GPUME_INLINE int mvdenoise_fraction(int depth)
{
    return depth < 10 ? 10 - depth : 0;
}

/** Returns the number of rows of patches, 1 << log2_step samples apart, that cover a column of h samples. */
GPUME_INLINE int mvdenoise_rows(int h, int log2_step)
{
    return h <= MVDENOISE_PATCH ? 1 : ((h - MVDENOISE_PATCH + (1 << log2_step) - 1) >> log2_step) + 1;
}

/** Returns the number of patches in a row; the last ones may be at the same position. */
GPUME_INLINE int mvdenoise_cols(int w)
{
    return w <= MVDENOISE_PATCH ? 1 : (w + 1) >> MVDENOISE_LOG2_STEP;
}

/** Returns how far patches of a row are to the left of multiples of MVDENOISE_STEP: half of it in every other row. */
GPUME_INLINE int mvdenoise_left(int row)
{
    return (row & 1) * (MVDENOISE_STEP / 2);
}

/** Returns the vertical position of a row of patches. */
GPUME_INLINE int mvdenoise_y(int row, int h, int log2_step)
{
    return FFMAX(FFMIN(row << log2_step, h - MVDENOISE_PATCH), 0);
}

/** Returns the horizontal position of a patch. */
GPUME_INLINE int mvdenoise_x(int col, int row, int w)
{
    return FFMAX(FFMIN(col * MVDENOISE_STEP - mvdenoise_left(row), w - MVDENOISE_PATCH), 0);
}

/** Returns the first row of patches that contains a sample at y. */
GPUME_INLINE int mvdenoise_first_row(int y, int log2_step)
{
    return y < MVDENOISE_PATCH ? 0 : ((y - MVDENOISE_PATCH) >> log2_step) + 1;
}

/** Returns the row of patches after those that contain a sample at y. */
GPUME_INLINE int mvdenoise_end_row(int y, int h, int log2_step)
{
    const int nb = mvdenoise_rows(h, log2_step);

    return y >= mvdenoise_y(nb - 1, h, log2_step) ? nb : (y >> log2_step) + 1;
}

/** Converts a component of a vector to quarters of a subsampled component's samples. */
GPUME_INLINE int mvdenoise_subsampled(int v, int sub)
{
    return (v + (1 << sub >> 1)) >> sub;
}

/** Converts a component of a vector to whole samples of a subsampled component. */
GPUME_INLINE int mvdenoise_whole(int v, int sub)
{
    return (mvdenoise_subsampled(v, sub) + 2) >> 2;
}

/** Returns the position at which a patch at x is read, in a row or column of this length with repeated edges. */
GPUME_INLINE int mvdenoise_inside(int x, int length)
{
    /* farther outside all samples are equal, and so are half samples */
    return av_clip(x, -12, length + 4);
}

/** Returns the Wiener gain, times 32768, of a coefficient whose ratio to sigma is about (i + 1/2) / 32. */
GPUME_INLINE int mvdenoise_gain(int i)
{
    const int n = 2 * i + 1, one = 2 << MVDENOISE_LOG2_RATIO;

    return (int)((32768LL * n * n + (n * n + one * one) / 2) / (n * n + one * one));
}

/**
 * Returns the loss of a patch's noise through interpolation at (x, y) quarters, in 1/64 of a
 * sample's variance: 64 times one minus the sum of the squared taps of H.264's interpolation.
 */
GPUME_INLINE int mvdenoise_lost(int x, int y)
{
    const int between = (x & 1) + (y & 1);

    if (!x || !y)
        return x + y == 0 ? 0 : x + y == 2 ? 11 : 15;
    return between == 2 ? 25 : between == 1 ? 23 : 20;
}

/** Returns the square root, rounded down. */
GPUME_INLINE unsigned long long mvdenoise_root(unsigned long long square)
{
    unsigned long long result = 0;
    int bit;

    for (bit = 31; bit >= 0; bit--) {
        const unsigned long long next = result | 1ULL << bit;

        if (next * next <= square)
            result = next;
    }
    return result;
}

/** Sigma as a function of brightness, in 1/MVDENOISE_SIGMA_ONE of samples of 8 bits. */
typedef struct MvdenoiseCurve {
    int sigma[MVDENOISE_LEVELS];    ///< at the middle of each level
    int single;                     ///< a common sigma for all levels
} MvdenoiseCurve;

/** Returns sigma for a tone. */
GPUME_INLINE int mvdenoise_sigma_at(const MvdenoiseCurve *c, int tone)
{
    /* distance between the middle of the tone and that of the first level, in 1/256 of the range */
    const int at = av_clip(8 * tone - 12, 0, 32 * (MVDENOISE_LEVELS - 1) - 1), level = at >> 5, part = at & 31;

    return (c->sigma[level] * (32 - part) + c->sigma[level + 1] * part + 16) >> 5;
}

/** Sets sigma for all levels. */
GPUME_INLINE void mvdenoise_level(MvdenoiseCurve *c, int sigma)
{
    for (int i = 0; i < MVDENOISE_LEVELS; i++)
        c->sigma[i] = sigma;
    c->single = sigma;
}

/** Returns the tone of a mean of samples, which may exceed their depth. */
GPUME_INLINE int mvdenoise_tone(int mean, int depth)
{
    return FFMIN(mean >> (depth - MVDENOISE_LOG2_TONES), MVDENOISE_TONES - 1);
}

/**
 * Returns the strength with which noise of sigma is removed.
 * @param factor in 1/256
 */
GPUME_INLINE int mvdenoise_strength(long long sigma, int factor)
{
    return (int)FFMIN((sigma * factor + 128) >> 8, MVDENOISE_SIGMA_MAX);
}

/** Parameters for noise of a strength and samples of a depth. */
typedef struct MvdenoiseNoise {
    int sigma;                      ///< in 1/MVDENOISE_SIGMA_ONE of samples of 8 bits; 0: the component is not
                                    ///< denoised
    int clipped;                    ///< sigma of the noise that was clipped
    unsigned long long accept[2];   ///< largest accepted sums of squared differences: of noisy patches, and of the
                                    ///< pilot's
    /**
     * Penalties that are added to such sums of noisy patches, by the fraction (x, y) of a vector in
     * quarters: [4 * y + x].
     */
    unsigned long long penalty[16];
    int threshold[2];               ///< thresholds of coefficients: of the mean over time of several patches, and of
                                    ///< others
} MvdenoiseNoise;

GPUME_INLINE MvdenoiseNoise mvdenoise_noise(int sigma, int depth)
{
    const unsigned long long squares = (unsigned long long)sigma * sigma << 2 * (depth - 8);
    const int scale = depth - 8 + mvdenoise_fraction(depth);
    MvdenoiseNoise n;

    n.sigma      = n.clipped = sigma;
    for (int i = 0; i < 16; i++)
        n.penalty[i] = squares * mvdenoise_lost(i & 3, i >> 2) >> 16;
    n.accept[0]  = squares * (MVDENOISE_SAMPLES / 16 * MVDENOISE_ACCEPT_NOISY) >> 16;
    n.accept[1]  = squares * (MVDENOISE_SAMPLES / 16 * MVDENOISE_ACCEPT_PILOT) >> 16;
    n.threshold[0] = (int)((((long long)MVDENOISE_THRESHOLD_MEAN  * sigma << scale) + (1 << 15)) >> 16);
    n.threshold[1] = (int)((((long long)MVDENOISE_THRESHOLD_OTHER * sigma << scale) + (1 << 15)) >> 16);
    return n;
}

/** How the Wiener filter turns coefficients of a pilot into ratios. */
typedef struct MvdenoiseRatios {
    int most;                       ///< larger coefficients are unchanged
    int reciprocal;                 ///< factor that turns smaller ones into ratios
} MvdenoiseRatios;

/** Returns the largest coefficient that counts as texture; larger ones count as this: two sigma. */
GPUME_INLINE int mvdenoise_most_texture(int sigma, int depth)
{
    return (int)((long long)sigma << (depth - 8 + mvdenoise_fraction(depth)) >> 7);
}

/**
 * Returns the ratios of a stack. A pilot with much texture lacks some of it. So its sigma is less, down to 0.6.
 * @param texture sum of the squares of the limited coefficients of the pilot's patch, without its mean
 */
GPUME_INLINE MvdenoiseRatios mvdenoise_ratios(int sigma, unsigned long long texture, int depth)
{
    const int scale = depth - 8 + mvdenoise_fraction(depth);
    const unsigned long long whole = (unsigned long long)sigma << scale, noise = whole * whole >> 9;
    const unsigned long long used  = FFMAX(whole * (texture + noise) / (2 * texture + noise),
                                           (unsigned long long)MVDENOISE_SIGMA_MIN << scale);
    MvdenoiseRatios r;

    r.most       = (int)(used * (MVDENOISE_RATIOS >> MVDENOISE_LOG2_RATIO) >> 8);
    r.reciprocal = (int)((1ULL << (24 + MVDENOISE_LOG2_RATIO)) / used);
    return r;
}

/**
 * Returns the strength at a tone.
 * @param factor in 1/256
 */
GPUME_INLINE int mvdenoise_strength_at(const MvdenoiseCurve *c, int tone, int factor)
{
    return mvdenoise_strength(mvdenoise_sigma_at(c, tone), factor);
}

/** Returns whether the noise of a curve is removed at all. */
GPUME_INLINE int mvdenoise_is_noisy(const MvdenoiseCurve *c, int factor)
{
    int noisy = 0;

    for (int i = 0; i < MVDENOISE_TONES; i++)
        noisy |= mvdenoise_strength_at(c, i, factor) >= MVDENOISE_SIGMA_MIN;
    return noisy;
}

/** Returns the noise at a tone of a component; if the component is not noisy, returns noise of sigma 0. */
GPUME_INLINE MvdenoiseNoise mvdenoise_noise_at(const MvdenoiseCurve *c, int tone, int factor, int noisy, int depth)
{
    const int strength = FFMAX(mvdenoise_strength_at(c, tone, factor), MVDENOISE_SIGMA_MIN);
    MvdenoiseNoise n   = mvdenoise_noise(noisy ? strength : 0, depth);

    n.clipped = FFMIN(n.sigma, mvdenoise_sigma_at(c, tone));
    return n;
}

/** Returns whether clipping has moved the mean of noisy samples at this distance from an end of the range. */
GPUME_INLINE int mvdenoise_is_near(int distance, int sigma, int depth)
{
    return distance << (26 - depth) < (MVDENOISE_LEAST_MEAN + 64 * (MVDENOISE_SHIFTS - 1)) * sigma;
}

/**
 * Returns by how much clipping at an end of the range has moved the mean of noisy samples away from it (Foi, Clipped
 * noisy images, 2009).
 * @param shifts   ff_mvdenoise_shifts
 * @param distance of the mean from the end
 * @param nb       number of noisy samples at the end, of MVDENOISE_COUNTED; with fewer than such noise has there, what
 *                 is around is in part a picture without noise
 */
GPUME_INLINE int mvdenoise_shift(const unsigned short *shifts, int distance, int nb, int sigma, int depth)
{
    int beyond, slope, weight;
    long long shift;

    if (!nb || !mvdenoise_is_near(distance, sigma, depth))
        return 0;
    beyond = FFMAX((distance << (26 - depth)) / sigma - MVDENOISE_LEAST_MEAN, 0);
    /* the share of clipped samples is slope / (slope + 1024) */
    slope  = shifts[beyond >> 6] - shifts[(beyond >> 6) + 1];
    weight = FFMIN(256 * nb * (slope + 1024) / (MVDENOISE_COUNTED * slope), 256);
    shift  = (shifts[beyond >> 6] * 64 - slope * (beyond & 63)) * ((long long)sigma << (depth - 8)) >> 20;
    return (int)((FFMIN(shift, 256LL * distance) * weight + (1 << 15)) >> 16);
}

/** Returns a sample as it was before its noise was clipped, see mvdenoise_shift(). */
GPUME_INLINE int mvdenoise_unclipped(const unsigned short *shifts, int v, int nb_least, int nb_greatest, int sigma,
                                     int depth)
{
    const int max = (1 << depth) - 1;

    return av_clip(v - mvdenoise_shift(shifts, v, nb_least, sigma, depth) +
                   mvdenoise_shift(shifts, max - v, nb_greatest, sigma, depth), 0, max);
}

#endif /* AVFILTER_GPUME_MVDENOISE_ARITHMETIC_H */
