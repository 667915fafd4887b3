/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What a candidate costs on the CPU: a table of functions. A row of GPUME_COSTS has a
 * file of its own, which fills it in.
 */

#ifndef AVFILTER_GPUME_CPU_COST_H
#define AVFILTER_GPUME_CPU_COST_H

#include <stddef.h>
#include <stdint.h>

#include "libavutil/common.h"

#include "libavfilter/gpume/core/params_args.h"

/**
 * Cost of a part of a block, whose width is the function's own. linesizes are in
 * bytes. Samples of two bytes are in native order and need no alignment.
 * @param h     rows, 1 to GPUME_COST_ROWS
 * @param limit once the cost has reached it, any value from limit to the whole
 *              cost may be returned: the candidate cannot win any more
 */
typedef uint32_t (*GpumeCostOne)(const uint8_t *cur, ptrdiff_t cur_linesize,
                                 const uint8_t *ref, ptrdiff_t ref_linesize,
                                 int h, uint32_t limit);

/** The same for four candidates. */
typedef void (*GpumeCostFour)(const uint8_t *cur, ptrdiff_t cur_linesize,
                              const uint8_t *const ref[4], ptrdiff_t ref_linesize,
                              int h, uint32_t cost[4], uint32_t limit);

/**
 * The same for four or two candidates whose samples are the rounded means of those of two, which
 * follow each other in pairs. The costs are whole.
 * @param h an even number
 */
typedef void (*GpumeCostMeans)(const uint8_t *cur, ptrdiff_t cur_linesize,
                               const uint8_t *const *pairs, ptrdiff_t linesize,
                               int h, uint32_t *cost);

/**
 * The costs of the eight candidates that lie a quarter sample around a whole one, or around one between
 * four whole ones, in raster order. Their samples are rounded means of two of the centre and the half
 * samples to its left and right, above and below it: in diagonal ones, of the two half samples that are
 * nearest, else of one and the centre.
 * @param five the centre, left, right, above, below
 * @param h    an even number
 */
typedef void (*GpumeCostAround)(const uint8_t *cur, ptrdiff_t cur_linesize,
                                const uint8_t *const five[5], ptrdiff_t linesize,
                                int h, uint32_t cost[8]);

/**
 * A block costs what its parts cost together. From the left its columns are cut into
 * parts of 128, 64, 32, 16, 8 and 4 samples, as the binary digits of its width say, and
 * one of the 1 to 3 that remain; from the top its rows into parts of this many and one of
 * those that remain. So what is no multiple of 4 lies at the right or lower edge of the
 * picture, and a cost of squares of samples says itself what it is there.
 */
#define GPUME_COST_ROWS 16

/** Widths that have functions: 1, 2, 3, 4, 8, 16, 32, 64, 128. */
#define GPUME_NB_WIDTHS 9

typedef struct GpumeCost {
    GpumeCostOne  one[GPUME_NB_WIDTHS];
    GpumeCostFour four[GPUME_NB_WIDTHS];
    /** Optional, where it is faster than to make the means first. */
    GpumeCostMeans means[GPUME_NB_WIDTHS];
    /** Optional, where means() is there. */
    GpumeCostMeans means_of_two[GPUME_NB_WIDTHS];
    /** Optional, where it takes no longer than means() of four. */
    GpumeCostAround around[GPUME_NB_WIDTHS];
    int least_of_four;      ///< candidates from which on four() takes no longer than one() for each
} GpumeCost;

/** The greatest of these widths that is not beyond w. */
static inline int gpume_width_index(int w)
{
    return w < 4 ? w - 1 : av_log2(w) + 1;
}

static inline int gpume_width_of(int index)
{
    return index < 3 ? index + 1 : 1 << (index - 1);
}

/** The functions of all widths, called PREFIX_BITS_WIDTH. */
#define GPUME_COST_WIDTHS(prefix, bits)                                     \
    { prefix##_##bits##_1,  prefix##_##bits##_2,  prefix##_##bits##_3,      \
      prefix##_##bits##_4,  prefix##_##bits##_8,  prefix##_##bits##_16,     \
      prefix##_##bits##_32, prefix##_##bits##_64, prefix##_##bits##_128 }

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
 * The costs of nb candidates, 1 or 4, of a block of any size, part by part.
 * @param ref   their first samples
 * @param limit as for GpumeCostOne
 */
void ff_gpume_cost_of_parts(const GpumeCostArea *area, const uint8_t *const *ref, int nb,
                            uint32_t *cost, uint32_t limit);

/**
 * Fill in a cost: plain C first, then what the processor can do.
 * @param depth bits of a sample, 8 to 16; more than 8: two bytes each
 */
#define GPUME_COST_INIT(ID, name, title)                        \
    void ff_gpume_##name##_init(GpumeCost *cost, int depth);    \
    void ff_gpume_##name##_init_x86(GpumeCost *cost, int depth); \
    void ff_gpume_##name##_init_aarch64(GpumeCost *cost, int depth);
GPUME_COSTS(GPUME_COST_INIT)
#undef GPUME_COST_INIT

#endif /* AVFILTER_GPUME_CPU_COST_H */
