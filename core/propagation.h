/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Arithmetic of true motion: the pyramid, passes of propagation, subpel vectors, the check in both
 * directions. doc/gpume-definition.md defines the results. Every backend and device code include
 * this file.
 *
 * A pass visits the blocks in four phases, (bx & 1, by & 1) = (0,0), (1,0), (0,1), (1,1). Blocks of
 * a phase are not neighbours, so their order does not matter. Blocks of the first two phases are in
 * even rows and read only odd rows, which do not change meanwhile. So the order of even rows does
 * not matter, and neither does that of odd rows after them.
 */

#ifndef AVFILTER_GPUME_CORE_PROPAGATION_H
#define AVFILTER_GPUME_CORE_PROPAGATION_H

#include "libavfilter/gpume/core/geometry.h"
#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/field/field_args.h"
#include "libavfilter/gpume/picture/interpolation.h"

#define GPUME_NB_PHASES 4

/** Returns the side of a level, in samples; each level has half the side of the level below it. */
GPUME_INLINE int gpume_level_side(int side, int level)
{
    return (side + (1 << level) - 1) >> level;
}

/** Returns the default number of levels for a picture and blocks of this side. */
GPUME_INLINE int gpume_auto_levels(int width, int height, int block)
{
    const int side  = gpume_lesser(width, height);
    const int least = 2 * block > GPUME_COARSEST ? 2 * block : GPUME_COARSEST;
    int levels = 1;

    while (levels < GPUME_MAX_LEVELS && gpume_level_side(side, levels - 1) >= least)
        levels++;
    return levels;
}

/** Sets the position of neighbour i, 0 to 7, in raster order; also used for the vectors around a vector. */
GPUME_INLINE void gpume_around(int i, int *x, int *y)
{
    /* two bits for each neighbour */
    *x = (0x9224 >> 2 * i & 3) - 1;
    *y = (0xa940 >> 2 * i & 3) - 1;
}

/** Returns whether a phase of a pass, from 1 on, visits blocks of odd columns. */
GPUME_INLINE int gpume_phase_column(int phase)
{
    return (phase - 1) & 1;
}

/** Returns whether a phase visits blocks of odd rows. */
GPUME_INLINE int gpume_phase_row(int phase)
{
    return (phase - 1) >> 1 & 1;
}

/** Returns the number of odd, or even, columns or rows among nb. */
GPUME_INLINE int gpume_phase_size(int nb, int odd)
{
    return (nb - odd + 1) / 2;
}

/*
 * Smoothness.
 */

/** Returns the L1 distance of two vectors in their units, limited to threshold. */
GPUME_INLINE unsigned gpume_difference(GpumeVector a, GpumeVector b, unsigned threshold)
{
    const int x = a.dx - b.dx, y = a.dy - b.dy;
    const unsigned sum = (x < 0 ? -x : x) + (y < 0 ? -y : y);

    return sum < threshold ? sum : threshold;
}

/**
 * Returns the penalty that smoothness adds to a cost.
 * @param factor gpume_penalty_factor()
 * @param sum    sum of the differences from all neighbours
 * @param nb     number of neighbours, 0 to 8
 */
GPUME_INLINE unsigned gpume_penalty(unsigned factor, unsigned sum, int nb, int pel, int depth)
{
    return nb ? (factor * sum / (unsigned)(nb * pel)) << (depth - 8) : 0;
}

GPUME_INLINE unsigned gpume_penalty_factor(int smooth, int block)
{
    return smooth * block;
}

/**
 * Finds the blocks of a coarser field from which a block takes initial vectors: its parent, then
 * the neighbours of the parent on the block's side: above or below, left or right, and diagonal.
 * @param i        0 to 3
 * @param bx, by   the block; replaced by the block of the coarser field
 * @param bw, bh   number of blocks of the coarser field
 * @return 0 if there is no such block
 */
GPUME_INLINE int gpume_parent(int i, int *bx, int *by, int bw, int bh)
{
    const int x = gpume_lesser(*bx >> 1, bw - 1) + (i & 2 ? (*bx & 1 ? 1 : -1) : 0);
    const int y = gpume_lesser(*by >> 1, bh - 1) + (i & 1 ? (*by & 1 ? 1 : -1) : 0);

    *bx = x;
    *by = y;
    return x >= 0 && x < bw && y >= 0 && y < bh;
}

/** Largest component of a vector that GPUME_BEGIN_WIDE finds, in samples of the level. */
#define GPUME_WIDE_RANGE 32

/** Returns the limit of the cost of such a vector. With larger ones, what has no match takes false ones. */
GPUME_INLINE unsigned gpume_wide_limit(unsigned cost)
{
    return cost / 4;
}

/*
 * Global candidates: vectors of a full search of small blocks on a coarse level, for objects that are smaller than
 * a block of the levels where hme begins. The search compares 8 bits of each sample.
 */

#define GPUME_GLOBAL_LEVEL  2
/** Side of a block on that level, in samples of the level. */
#define GPUME_GLOBAL_BLOCK  4
/** Largest component of a vector, in samples of the level; a row has as many candidates as a warp has lanes. */
#define GPUME_GLOBAL_RANGE 15
/** Samples of the picture along a sample of the level, and along a side of such a block. */
#define GPUME_GLOBAL_SCALE  (1 << GPUME_GLOBAL_LEVEL)
#define GPUME_GLOBAL_CELL   (GPUME_GLOBAL_BLOCK * GPUME_GLOBAL_SCALE)
/** Number of candidates that a block tries, at different positions. */
#define GPUME_GLOBAL_PLACES 4
/** A vector is doubtful if it costs at least this for each sample of 8 bits. */
#define GPUME_GLOBAL_COST   4

/** Returns the first of the two columns, or rows, of candidates that are nearest to the centre of a block. */
GPUME_INLINE int gpume_global_first(int start, int length)
{
    return (start + length / 2 + GPUME_GLOBAL_CELL / 2) / GPUME_GLOBAL_CELL - 1;
}

/** Returns whether a cost of w x h samples is high enough to try other vectors. */
GPUME_INLINE int gpume_global_doubtful(unsigned cost, int w, int h, int depth)
{
    return cost >= (unsigned)(GPUME_GLOBAL_COST * w * h) << (depth - 8);
}

/** Converts a component of a picture's vector to samples of the level, rounded. */
GPUME_INLINE int gpume_global_rounded(int d)
{
    return (d + GPUME_GLOBAL_SCALE / 2) >> GPUME_GLOBAL_LEVEL;
}

/** Returns whether a candidate, in samples of the picture, is too close to a vector to be tried. */
GPUME_INLINE int gpume_global_near(GpumeVector a, GpumeVector b)
{
    const int x = a.dx - b.dx, y = a.dy - b.dy;

    return x >= -GPUME_GLOBAL_SCALE && x <= GPUME_GLOBAL_SCALE && y >= -GPUME_GLOBAL_SCALE && y <= GPUME_GLOBAL_SCALE;
}

/** Returns the limit of cost plus penalty below which a candidate replaces a vector with this sum. */
GPUME_INLINE unsigned gpume_global_limit(unsigned sum)
{
    return sum / 8 * 3 + sum % 8 * 3 / 8;
}

/*
 * The check.
 */

/** Returns the column, or row, of the block that contains the centre of a block displaced by d. */
GPUME_INLINE int gpume_partner(int start, int length, int d, int pel, int block, int nb)
{
    const int i = start + length / 2 + gpume_whole(d, pel);

    return i < 0 ? 0 : gpume_lesser(i / block, nb - 1);
}

/** Returns whether a vector is consistent with that of its partner: together they return to within a sample. */
GPUME_INLINE int gpume_consistent(GpumeVector a, GpumeVector b, int pel)
{
    const int x = a.dx + b.dx, y = a.dy + b.dy;

    return x >= -pel && x <= pel && y >= -pel && y <= pel;
}

/**
 * Sorts 1 to 8 values and returns their median; for an even number, the mean of the two middle
 * values, rounded down.
 */
GPUME_INLINE int gpume_median_of(short *v, int nb)
{
    for (int i = 1; i < nb; i++) {
        const short value = v[i];
        int j = i;

        for (; j > 0 && v[j - 1] > value; j--)
            v[j] = v[j - 1];
        v[j] = value;
    }
    return nb & 1 ? v[nb / 2] : (v[nb / 2 - 1] + v[nb / 2]) >> 1;
}

#endif /* AVFILTER_GPUME_CORE_PROPAGATION_H */
