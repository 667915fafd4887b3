/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Functions of motion-compensated interpolation that take most of the time.
 */

#ifndef AVFILTER_GPUME_MVFPS_DSP_H
#define AVFILTER_GPUME_MVFPS_DSP_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/mvfps/arithmetic.h"

/** Maximum number of vectors of a tile: one of each cell around it. */
#define MVFPS_TILE_CELLS 16
/** Capacity of the list of vectors from which a cell chooses. */
#define MVFPS_LIST 24

/** Bit mask of the cells at the corners of a tile. */
#define MVFPS_CORNERS 0x660u

/** The four taps for each sixteenth of a sample, for components with fewer columns than component 0. */
extern const int8_t ff_mvfps_taps[16][4];
/** The six taps, for those with as many. */
extern const int8_t ff_mvfps_long_taps[16][6];

/** Samples of a tile: rows of 8, even if a component has fewer. */
#define MVFPS_TILE_SAMPLES (MVFPS_CELL * MVFPS_CELL)

/**
 * Functions that take most of the time, for a size of samples in bytes. Arrays of tiles have rows
 * of 8 values; in tiles of fewer columns, the other values are undefined. Both pictures have the
 * same stride.
 */
typedef struct MvfpsDsp {
    /**
     * Returns the sum of absolute differences of 8x8 samples of two pictures. at_a and at_b are x +
     * 8 * y, a position in eighths of a sample, 0 to 7 in both directions; bilinear, rounded.
     */
    int (*sad)(const uint8_t *a, const uint8_t *b, ptrdiff_t stride, int at_a, int at_b);
    /**
     * Interpolates tiles of w x h samples of two pictures with six taps, or with four if w is less than 8; at[i] is
     * x + 16 * y, a position in sixteenths of a sample.
     * @return the sum of their absolute differences if they are 8x8
     */
    int (*match)(uint16_t (*dst)[MVFPS_TILE_SAMPLES], const uint8_t *a, const uint8_t *b, ptrdiff_t stride,
                 const int *at, int w, int h, int max);
    /**
     * Computes dst = (a * share + b * (64 - share) + 32) >> 6. nb is a multiple of 16, also in the
     * following functions.
     */
    void (*mean)(uint16_t *dst, const uint16_t *a, const uint16_t *b, int share, int nb);
    /**
     * weights += window * trust; sum += window * trust * value.
     * The window is the sum of those of the cells, at least one, whose bits are set; the trust is mvfps_trust(), and
     * the value mvfps_value().
     * @param matches    the samples of both pictures
     * @param difference of the tile
     * @param first      whether sum and weights have no values yet, as if they were 0
     */
    void (*add)(uint32_t *sum, uint32_t *weights, const uint16_t (*matches)[MVFPS_TILE_SAMPLES],
                const uint16_t (*windows)[MVFPS_TILE_SAMPLES], unsigned cells, int share, int difference, int nb,
                int first, int depth);
    /** dst = sum / weights without the additional bits of the values, rounded, where weights are not 0. */
    void (*divide)(uint16_t *dst, const uint32_t *sum, const uint32_t *weights, int nb, int depth);
    /** Stores rows of 8 or 4 samples of one byte; the number of rows is even. NULL: not available. */
    void (*store)(uint8_t *dst, ptrdiff_t stride, const uint16_t *src, int w, int h);
    /**
     * Copies those of nb vectors that are not missing and not equal to an earlier one. Both lists
     * have room for MVFPS_LIST.
     * @return the number of copied vectors
     */
    int (*distinct)(MvfpsVector *dst, const MvfpsVector *src, int nb);
    /**
     * Copies those of eight vectors that are not missing and not among nb others. dst has room for
     * eight. @return their number
     */
    int (*distinct_from)(MvfpsVector *dst, const MvfpsVector *src, const MvfpsVector *others, int nb);
    /** Sums mvfps_capped_distance() from each of nb vectors to eight others. */
    void (*sum_distances)(int *sums, const MvfpsVector *v, int nb, const MvfpsVector *others);
    /**
     * Computes mvfps_field_penalty() for nb vectors. May read v, and write undefined values, up to
     * the next multiple of 8.
     */
    void (*field_penalties)(int *penalties, const MvfpsVector *v, int nb, const MvfpsFields *fields, int x, int y,
                       int part);
} MvfpsDsp;

/** Sets functions for samples of some bytes; those for a processor are set where they are faster. */
void ff_mvfps_dsp_init(MvfpsDsp *dsp, int bytes);
void ff_mvfps_dsp_init_x86(MvfpsDsp *dsp, int bytes);
void ff_mvfps_dsp_init_aarch64(MvfpsDsp *dsp, int bytes);

/** MvfpsDsp.field_penalties() in C, for any fields. */
static inline void mvfps_field_penalties(int *penalties, const MvfpsVector *v, int nb, const MvfpsFields *fields,
                                         int x, int y, int part)
{
    for (int i = 0; i < nb; i++)
        penalties[i] = mvfps_field_penalty(fields, v[i], x, y, part);
}

/** Sums a cell of w x h samples of both pictures. The earlier one has one more to the right and below. */
MvfpsCellSums ff_mvfps_sum_cell(const uint8_t *before, const uint8_t *after, ptrdiff_t stride, int w, int h,
                                int depth);

/** Sums mvfps_capped_distance() from a vector to others. */
static inline int mvfps_sum_distance(MvfpsVector v, const MvfpsVector *others, int nb)
{
    int sum = 0;

    for (int i = 0; i < nb; i++)
        sum += mvfps_capped_distance(v, others[i]);
    return sum;
}

#endif /* AVFILTER_GPUME_MVFPS_DSP_H */
