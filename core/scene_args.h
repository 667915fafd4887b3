/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Arithmetic of scene cut detection, in integers; doc/mvfps-definition.md defines the results. The
 * host and device code include this file.
 */

#ifndef AVFILTER_GPUME_CORE_SCENE_ARGS_H
#define AVFILTER_GPUME_CORE_SCENE_ARGS_H

#include "libavfilter/gpume/util/integer.h"

/** Side of the squares whose brightness decides whether there is a fade. */
#define GPUME_SCENE_SIDE 16

/**
 * Maximum number of columns and rows of the small picture with which cuts are found; each of its
 * samples represents a square.
 */
#define GPUME_DETAIL_SIDE    128
/** Detail is the difference from the mean of a box with this radius. */
#define GPUME_DETAIL_RADIUS    4
/** Side of the blocks that are searched, their greatest number in both pictures, and the range of the search. */
#define GPUME_DETAIL_BLOCK     8
#define GPUME_DETAIL_BLOCKS  (2 * (GPUME_DETAIL_SIDE / GPUME_DETAIL_BLOCK) * (GPUME_DETAIL_SIDE / GPUME_DETAIL_BLOCK))
#define GPUME_DETAIL_RANGE_X  24
#define GPUME_DETAIL_RANGE_Y  12
/** Added to the detail of a block, as an allowance for noise. */
#define GPUME_DETAIL_FLOOR   128

/** Brightness is in units of 1/16 of a level of 8 bits. */
#define GPUME_LIGHT        16
#define GPUME_MAX_LIGHT    4095
/** Largest changes of a fade from frame to frame: of the mean, and of the standard deviation. */
#define GPUME_FADE_MEAN    (64 * GPUME_LIGHT)
#define GPUME_FADE_SPREAD  (24 * GPUME_LIGHT)
/** Inverse of the share of the variance that a fade need not explain. */
#define GPUME_FADE_REST    8

/** A block of the small picture stands still if its cost at the same place is at most this and a part of its detail. */
#define GPUME_STILL_COST   128
#define GPUME_STILL_DETAIL   6
/** A scene begins only if at least this share of the blocks, in eighths, do not stand still. */
#define GPUME_SCENE_SHARE    3

/** Returns the side of the squares of a picture of w x h samples that become a sample of the small picture. */
GPUME_INLINE int gpume_detail_step(int w, int h)
{
    return (FFMAX(w, h) + GPUME_DETAIL_SIDE - 1) / GPUME_DETAIL_SIDE;
}

/** Returns the mean of a square of n samples, in quarter levels of 8 bits. */
GPUME_INLINE int gpume_detail_mean(unsigned long long sum, long long n, int depth)
{
    const unsigned long long mean = (4 * sum + n / 2) / n >> (depth - 8);

    /* words may have bits above their samples */
    return (int)FFMIN(mean, 1023);
}

/**
 * Returns the detail of a sample of the small picture.
 * @param box sum of the samples around it
 */
GPUME_INLINE int gpume_detail(int mean, int box)
{
    const int n = (2 * GPUME_DETAIL_RADIUS + 1) * (2 * GPUME_DETAIL_RADIUS + 1);

    return av_clip(128 + ((mean - (box + n / 2) / n) >> 1), 0, 255);
}

/** Returns whether a block of the small picture, with the cost of the match at the same place, stands still. */
GPUME_INLINE int gpume_block_is_still(unsigned cost, unsigned detail)
{
    return GPUME_STILL_DETAIL * cost <= GPUME_STILL_DETAIL * GPUME_STILL_COST + detail;
}

/**
 * Returns whether many blocks do not stand still, and most of their detail is nowhere in the other picture.
 * @param detail sum of their detail and of GPUME_DETAIL_FLOOR
 * @param moved  number of these blocks
 * @param nb     number of all blocks
 */
GPUME_INLINE int gpume_is_new(unsigned long long cost, unsigned long long detail, unsigned moved, unsigned nb,
                              double threshold)
{
    return moved && 8 * moved >= GPUME_SCENE_SHARE * nb && (double)cost / (double)detail >= threshold;
}

/** Sums over squares at the same position in both pictures: of brightness, its squares and its products. */
typedef struct GpumeLights {
    unsigned long long before, after;
    unsigned long long before2, after2, both;
} GpumeLights;

/**
 * Returns the brightness of a square of n samples with this sum; n is at most GPUME_SCENE_SIDE *
 * GPUME_SCENE_SIDE.
 */
GPUME_INLINE unsigned gpume_light(unsigned sum, int n, int depth)
{
    const unsigned light = (GPUME_LIGHT * sum + n / 2) / n >> (depth - 8);

    /* words may have bits above their samples */
    return FFMIN(light, (unsigned)GPUME_MAX_LIGHT);
}

GPUME_INLINE void gpume_add_lights(GpumeLights *sums, unsigned before, unsigned after)
{
    sums->before  += before;
    sums->after   += after;
    sums->before2 += before * before;
    sums->after2  += after * after;
    sums->both    += before * after;
}

/**
 * Returns whether the later picture is a fade of the earlier one: brighter or darker, of more or
 * less contrast, or one of the two is of a single colour. The brightness of one must follow from
 * that of the other; if it follows only roughly, it must not change too much for a viewer to follow.
 * @param nb number of squares
 */
GPUME_INLINE int gpume_is_fade(GpumeLights s, long long nb)
{
    const long long sums[2]  = { (long long)s.before, (long long)s.after };
    const long long means[2] = { sums[0] / nb, sums[1] / nb };
    const long long spread   = GPUME_FADE_SPREAD;
    const long long a = ((long long)s.before2 - 2 * means[0] * sums[0] + nb * means[0] * means[0]) / nb;
    const long long c = ((long long)s.after2  - 2 * means[1] * sums[1] + nb * means[1] * means[1]) / nb;
    const long long b = ((long long)s.both - means[0] * sums[1] - means[1] * sums[0] + nb * means[0] * means[1]) / nb;
    const long long low = FFMIN(a, c), high = FFMAX(a, c), common = FFMAX(b, 0);
    const long long apart = high - low - spread * spread;

    /* a flash may be stronger than a fade, but keeps what the picture shows */
    return low > 0 && GPUME_FADE_REST * (low * high - common * common) <= low * high ||
           FFABS(sums[1] - sums[0]) <= GPUME_FADE_MEAN * nb &&
           (apart <= 0 || apart * apart <= 4 * spread * spread * low) &&
           GPUME_FADE_REST * (low * high - common * common) <= high * high;
}

#endif /* AVFILTER_GPUME_CORE_SCENE_ARGS_H */
