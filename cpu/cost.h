/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Costs of candidates on the CPU, as a table of functions. Each row of GPUME_COSTS has a file that
 * fills in the table.
 */

#ifndef AVFILTER_GPUME_CPU_COST_H
#define AVFILTER_GPUME_CPU_COST_H

#include <stddef.h>
#include <stdint.h>

#include "libavutil/common.h"

#include "libavfilter/gpume/core/params_args.h"

/**
 * Computes the cost of a part of a block; its width depends on the function. linesizes are in
 * bytes. Samples of two bytes are in native order and need no alignment.
 * @param h     number of rows, 1 to GPUME_COST_ROWS
 * @param limit if the cost reaches it, the function may return any value from limit to the complete
 *              cost, because the candidate cannot win
 */
typedef uint32_t GpumeCostOneFunction(const uint8_t *cur, ptrdiff_t cur_linesize,
                                      const uint8_t *ref, ptrdiff_t ref_linesize,
                                      int h, uint32_t limit);
typedef GpumeCostOneFunction *GpumeCostOne;

/** Computes the costs of four candidates. */
typedef void GpumeCostFourFunction(const uint8_t *cur, ptrdiff_t cur_linesize,
                                   const uint8_t *const ref[4], ptrdiff_t ref_linesize,
                                   int h, uint32_t cost[4], uint32_t limit);
typedef GpumeCostFourFunction *GpumeCostFour;

/**
 * Computes the costs of four or two candidates whose samples are the rounded means of two samples
 * each; the addresses are in pairs. The costs are complete.
 * @param h an even number
 */
typedef void GpumeCostMeansFunction(const uint8_t *cur, ptrdiff_t cur_linesize,
                                    const uint8_t *const *pairs, ptrdiff_t linesize,
                                    int h, uint32_t *cost);
typedef GpumeCostMeansFunction *GpumeCostMeans;

/**
 * Computes the costs of the eight candidates at a quarter sample around a centre, which is a whole
 * sample or the middle of four, in raster order. Their samples are rounded means: for diagonal
 * candidates, of the two nearest of the half samples to the left, right, above and below the
 * centre; for the others, of the nearest half sample and the centre.
 * @param five the centre, left, right, above, below
 * @param h    an even number
 */
typedef void GpumeCostAroundFunction(const uint8_t *cur, ptrdiff_t cur_linesize,
                                     const uint8_t *const five[5], ptrdiff_t linesize,
                                     int h, uint32_t cost[8]);
typedef GpumeCostAroundFunction *GpumeCostAround;

/**
 * The cost of a block is the sum of the costs of its parts. From the left, its columns are divided
 * into parts of 128, 64, 32, 16, 8 and 4 samples, according to the binary digits of its width, and
 * a part of the remaining 1 to 3; from the top, its rows are divided into parts of this number and
 * one of the remaining rows. So parts whose sides are not multiples of 4 are at the right or lower
 * edge of the picture, and costs of squares of samples define their value for such parts.
 */
#define GPUME_COST_ROWS 16

/** Widths that have functions: 1, 2, 3, 4, 8, 16, 32, 64, 128. */
#define GPUME_NB_WIDTHS 9

typedef struct GpumeCost {
    GpumeCostOne  one[GPUME_NB_WIDTHS];
    GpumeCostFour four[GPUME_NB_WIDTHS];
    /** Optional; present if it is faster than computing the means first. */
    GpumeCostMeans means[GPUME_NB_WIDTHS];
    /** Optional; present if means() is. */
    GpumeCostMeans means_of_two[GPUME_NB_WIDTHS];
    /** Optional; present if it is not slower than means() of four candidates. */
    GpumeCostAround around[GPUME_NB_WIDTHS];
    int least_of_four;      ///< number of candidates from which on four() is not slower than one() for each
} GpumeCost;

/** Returns the index of the largest of these widths that is not above w. */
static inline int gpume_width_index(int w)
{
    return w < 4 ? w - 1 : av_log2(w) + 1;
}

static inline int gpume_width_of(int index)
{
    return index < 3 ? index + 1 : 1 << (index - 1);
}

/** Lists the functions of all widths, which are called PREFIX_BITS_WIDTH. */
#define GPUME_COST_WIDTHS(prefix, bits)                                     \
    { prefix##_##bits##_1,  prefix##_##bits##_2,  prefix##_##bits##_3,      \
      prefix##_##bits##_4,  prefix##_##bits##_8,  prefix##_##bits##_16,     \
      prefix##_##bits##_32, prefix##_##bits##_64, prefix##_##bits##_128 }

/** Applies DO(index, bits, width, opt) to widths of 4 and 8, of 16 to 128, or to all of these. */
#define GPUME_COST_NARROW(DO, bits, opt)                                    \
    DO(3, bits,   4, opt)                                                   \
    DO(4, bits,   8, opt)
#define GPUME_COST_WIDE(DO, bits, opt)                                      \
    DO(5, bits,  16, opt)                                                   \
    DO(6, bits,  32, opt)                                                   \
    DO(7, bits,  64, opt)                                                   \
    DO(8, bits, 128, opt)
#define GPUME_COST_ALL(DO, bits, opt) GPUME_COST_NARROW(DO, bits, opt) GPUME_COST_WIDE(DO, bits, opt)

/** A block whose candidates are evaluated. */
typedef struct GpumeCostArea {
    const GpumeCost *functions;
    const uint8_t *cur;         ///< its first sample
    ptrdiff_t cur_linesize;     ///< bytes
    ptrdiff_t ref_linesize;
    int sample_size;            ///< bytes
    int w, h;
} GpumeCostArea;

/**
 * Computes the costs of nb candidates, 1 or 4, of a block of any size, part by part.
 * @param ref   their first samples
 * @param limit see GpumeCostOne
 */
void ff_gpume_cost_of_parts(const GpumeCostArea *area, const uint8_t *const *ref, int nb,
                            uint32_t *cost, uint32_t limit);

/**
 * Fills in a cost for this processor.
 * @param depth bits of a sample, 8 to 16; samples of more than 8 bits have two bytes
 */
#define GPUME_COST_INIT(ID, name, title)                        \
    void ff_gpume_##name##_init(GpumeCost *cost, int depth);    \
    void ff_gpume_##name##_init_x86(GpumeCost *cost, int depth); \
    void ff_gpume_##name##_init_aarch64(GpumeCost *cost, int depth);
GPUME_COSTS(GPUME_COST_INIT)
#undef GPUME_COST_INIT

#endif /* AVFILTER_GPUME_CPU_COST_H */
