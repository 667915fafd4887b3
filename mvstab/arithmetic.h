/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The arithmetic of mvstab that the host and the device share: sums of derivatives, and positions in the warp.
 * doc/mvstab-definition.md defines it.
 */

#ifndef AVFILTER_GPUME_MVSTAB_ARITHMETIC_H
#define AVFILTER_GPUME_MVSTAB_ARITHMETIC_H

#include "libavfilter/gpume/util/integer.h"

/** Side of a block whose motion is searched, in luma samples. */
#define MVSTAB_BLOCK 16
/** log2 of the distance between points of a mesh, in samples. */
#define MVSTAB_LOG2_CELL 4
#define MVSTAB_CELL (1 << MVSTAB_LOG2_CELL)
/** Number of taps in each direction, and how many of them come before the position. */
#define MVSTAB_NB_TAPS 8
#define MVSTAB_TAPS_BEFORE 3

/** What a sample becomes that the input frame does not have. */
enum MvstabBorder {
    MVSTAB_CROP,                ///< zoomed in, so that there are none; otherwise the edge's sample is repeated
    MVSTAB_KEEP,                ///< the sample of the previous output frame
    MVSTAB_BLACK,
    MVSTAB_MIRROR,              ///< the picture is mirrored at its edge
};

/** Sums of products of derivatives over a block. */
typedef struct MvstabTensor {
    int xx, xy, yy;
} MvstabTensor;

/** A position in a component, in 1/256 sample; in a mesh, that of an output sample. */
typedef struct MvstabPoint {
    int x, y;
} MvstabPoint;

/** Returns the value between a and b, i cells of 16 after a. */
GPUME_INLINE int mvstab_between(int a, int b, int i)
{
    return (a * (MVSTAB_CELL - i) + b * i + MVSTAB_CELL / 2) >> MVSTAB_LOG2_CELL;
}

/** Returns position x, in 1/64 sample, mirrored at the edges of length samples. */
GPUME_INLINE int mvstab_mirrored(int x, int length)
{
    const int period = 128 * length;
    int m = (x + 32) % period;

    m += m < 0 ? period : 0;
    return (m < period / 2 ? m : period - 1 - m) - 32;
}

/** Returns whether position x, in 1/64 sample, is outside length samples. */
GPUME_INLINE int mvstab_is_outside(int x, int length)
{
    return x < -32 || x >= 64 * length - 32;
}

/** Rounds the sum of taps of both directions to a sample. */
GPUME_INLINE int mvstab_sample(int sum, int depth)
{
    return av_clip((sum + (1 << 11)) >> 12, 0, (1 << depth) - 1);
}

#endif /* AVFILTER_GPUME_MVSTAB_ARITHMETIC_H */
