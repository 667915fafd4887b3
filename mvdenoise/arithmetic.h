/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What denoising calculates with, in integers that C and device code share:
 * doc/mvdenoise-definition.md is its definition.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_ARITHMETIC_H
#define AVFILTER_GPUME_MVDENOISE_ARITHMETIC_H

#include "libavfilter/gpume/field/cells_args.h"
#include "libavfilter/gpume/util/integer.h"

#define MVDENOISE_MAX_RADIUS    4
/** Patches of a stack at most. */
#define MVDENOISE_MAX_STACK     (2 * MVDENOISE_MAX_RADIUS + 1)
/** Side of a patch, and the distance between patches, in samples. */
#define MVDENOISE_PATCH         8
#define MVDENOISE_SAMPLES       (MVDENOISE_PATCH * MVDENOISE_PATCH)
#define MVDENOISE_STEP          4
#define MVDENOISE_LOG2_CELL     3
/** Vectors that are tried for a match at most: of so many places, and the zero vector. */
#define MVDENOISE_PLACES        7
#define MVDENOISE_CANDIDATES    (MVDENOISE_PLACES + 1)

/** A standard deviation of 1, in samples of 8 bits. */
#define MVDENOISE_SIGMA_ONE     256
/** Below it there is no noise to take out. */
#define MVDENOISE_SIGMA_MIN     16
#define MVDENOISE_SIGMA_MAX     (128 * MVDENOISE_SIGMA_ONE)

/*
 * The noise is estimated from the energies of blocks: at first from the one that has so many of 256
 * before it. From that follows the mean of what white noise has, as far as all are noise, in 1/1024.
 * Then that mean follows from the mean of all energies up to it, several times, in 1/1024 again. In
 * the end sigma^2, and what texture and rounding add to it, are so much / 16 of it.
 */
#define MVDENOISE_QUANTILE      26
#define MVDENOISE_FROM_QUANTILE 1894
#define MVDENOISE_ROUNDS        6
#define MVDENOISE_FROM_LOWER    1428
#define MVDENOISE_FROM_ENERGY   809
#define MVDENOISE_TEXTURE       27689
/*
 * Noise that was compressed or scaled, or is film grain, is correlated between samples: that of the
 * component at half the size is then stronger than white noise would be. By so many variances / 256
 * and this texture it has to exceed the variance at full size; what it has more counts so many / 4 times.
 */
#define MVDENOISE_HALVED_MORE    369
#define MVDENOISE_HALVED_TEXTURE 409600
#define MVDENOISE_HALVED_COUNTS  9
/** Fewer blocks of the halved component tell nothing. */
#define MVDENOISE_HALVED_LEAST   48
/** Samples of a block that may be black or white. */
#define MVDENOISE_MAX_CUT_OFF   4

/** Mean squared differences that noise explains, in sigma^2 / 16: of noisy patches, of those of the pilot. */
#define MVDENOISE_ACCEPT_NOISY  80
#define MVDENOISE_ACCEPT_PILOT  16
/** Coefficients below so many sigma / 256 are noise: of the mean of several patches over time, others. */
#define MVDENOISE_THRESHOLD_MEAN    589
#define MVDENOISE_THRESHOLD_OTHER   742
/** Ratios of a coefficient to sigma that the Wiener filter tells apart, and how many of them are 1. */
#define MVDENOISE_RATIOS        512
#define MVDENOISE_LOG2_RATIO    5
/** Weight of a patch of which only the mean is left. */
#define MVDENOISE_LOG2_WEIGHT   13

/** Bits of a matrix over time after the point. */
#define MVDENOISE_LOG2_TIME     10

/** Returns how many bits of fraction samples of a depth get, so that they have at least 10 bits. */
GPUME_INLINE int mvdenoise_fraction(int depth)
{
    return depth < 10 ? 10 - depth : 0;
}

/** Returns how many patches cover a row, or column, of samples. */
GPUME_INLINE int mvdenoise_patches(int length)
{
    return length <= MVDENOISE_PATCH ? 1 : (length - MVDENOISE_PATCH + MVDENOISE_STEP - 1) / MVDENOISE_STEP + 1;
}

/** Returns where patch i of a row, or column, of samples begins. */
GPUME_INLINE int mvdenoise_place(int i, int length)
{
    return FFMAX(FFMIN(i * MVDENOISE_STEP, length - MVDENOISE_PATCH), 0);
}

/** Returns the first patch of a row, or column, that has a sample. */
GPUME_INLINE int mvdenoise_first_patch(int sample)
{
    return sample < MVDENOISE_PATCH ? 0 : (sample - MVDENOISE_PATCH) / MVDENOISE_STEP + 1;
}

/** Returns the patch that is first behind those that have a sample. */
GPUME_INLINE int mvdenoise_end_patch(int sample, int length)
{
    const int nb = mvdenoise_patches(length);

    return sample >= mvdenoise_place(nb - 1, length) ? nb : sample / MVDENOISE_STEP + 1;
}

/** Returns a component of a vector in quarters of a subsampled component's samples. */
GPUME_INLINE int mvdenoise_subsampled(int v, int sub)
{
    return (v + (1 << sub >> 1)) >> sub;
}

/** Returns where a patch is read that is at x, in a row or column of so many samples whose edges are repeated. */
GPUME_INLINE int mvdenoise_inside(int x, int length)
{
    /* farther out all samples are the same, half samples too */
    return av_clip(x, -12, length + 4);
}

/** Returns what the Wiener filter leaves of a coefficient, by 32768, whose ratio to sigma is around (i + 1/2) / 32. */
GPUME_INLINE int mvdenoise_gain(int i)
{
    const int n = 2 * i + 1, one = 2 << MVDENOISE_LOG2_RATIO;

    return (int)((32768LL * n * n + (n * n + one * one) / 2) / (n * n + one * one));
}

/**
 * Returns how much of a patch's noise, in 1/64 of a sample's variance, is lost between samples, at (x, y) in
 * quarters: 64 times 1 less the sum of the squared taps of H.264's interpolation.
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

/** Returns the variance of noise whose blocks have a mean energy, with what texture adds to it. */
GPUME_INLINE long long mvdenoise_variance(unsigned long long energy, int depth)
{
    return (long long)(energy * MVDENOISE_FROM_ENERGY >> (2 * (depth - 8) + 4));
}

/** Returns sigma of noise whose blocks have a mean energy, and those of the halved component. */
GPUME_INLINE int mvdenoise_sigma(unsigned long long energy, unsigned long long halved, int depth)
{
    const long long fine   = FFMAX(mvdenoise_variance(energy, depth) - MVDENOISE_TEXTURE, 0);
    /* a mean of four samples has a quarter of their variance */
    const long long coarse = 4 * mvdenoise_variance(halved, depth);
    const long long more   = coarse - (MVDENOISE_HALVED_MORE * fine >> 8) - MVDENOISE_HALVED_TEXTURE;
    const unsigned long long sigma = mvdenoise_root(fine + (FFMAX(more, 0) * MVDENOISE_HALVED_COUNTS >> 2));

    return (int)FFMIN(sigma, MVDENOISE_SIGMA_MAX);
}

/** Returns the strength with which noise of sigma is taken out. @param factor by 256 */
GPUME_INLINE int mvdenoise_strength(long long sigma, int factor)
{
    return (int)FFMIN((sigma * factor + 128) >> 8, MVDENOISE_SIGMA_MAX);
}

/** What noise of a strength is, for samples of a depth. */
typedef struct MvdenoiseNoise {
    int sigma;                      ///< in 1/MVDENOISE_SIGMA_ONE of samples of 8 bits; 0: there is none
    unsigned long long accept[2];   ///< largest sums of squared differences: of noisy patches, of the pilot's
    /** What is added to such sums of noisy patches, which begin at (x, y) in quarters of a sample: [4 * y + x]. */
    unsigned long long penalty[16];
    int threshold[2];               ///< for coefficients: of the mean of several patches, others
    int most, reciprocal;           ///< |coefficient| above which it stays, and what makes ratios of those below
} MvdenoiseNoise;

GPUME_INLINE MvdenoiseNoise mvdenoise_noise(int sigma, int depth)
{
    const unsigned long long squares = (unsigned long long)sigma * sigma << 2 * (depth - 8);
    const int scale = depth - 8 + mvdenoise_fraction(depth);
    MvdenoiseNoise n;

    n.sigma      = sigma < MVDENOISE_SIGMA_MIN ? 0 : sigma;
    for (int i = 0; i < 16; i++)
        n.penalty[i] = squares * mvdenoise_lost(i & 3, i >> 2) >> 16;
    n.accept[0]  = squares * (MVDENOISE_SAMPLES / 16 * MVDENOISE_ACCEPT_NOISY) >> 16;
    n.accept[1]  = squares * (MVDENOISE_SAMPLES / 16 * MVDENOISE_ACCEPT_PILOT) >> 16;
    n.threshold[0] = (int)((((long long)MVDENOISE_THRESHOLD_MEAN  * sigma << scale) + (1 << 15)) >> 16);
    n.threshold[1] = (int)((((long long)MVDENOISE_THRESHOLD_OTHER * sigma << scale) + (1 << 15)) >> 16);
    n.most       = (int)(((long long)sigma << scale) * (MVDENOISE_RATIOS >> MVDENOISE_LOG2_RATIO) >> 8);
    n.reciprocal = sigma ? (int)((1LL << (24 + MVDENOISE_LOG2_RATIO)) / ((long long)sigma << scale)) : 0;
    return n;
}

#endif /* AVFILTER_GPUME_MVDENOISE_ARITHMETIC_H */
