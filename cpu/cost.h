/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

/**
 * @file
 * The cost of a candidate on the CPU: sums of absolute differences.
 */

#ifndef AVFILTER_GPUME_CPU_COST_H
#define AVFILTER_GPUME_CPU_COST_H

#include <stddef.h>
#include <stdint.h>

/**
 * Sum of absolute differences of a block, whose width is the function's own.
 * linesizes are in bytes. Samples of two bytes are in native order and need
 * no alignment.
 * @param h     rows, 1 to GPUME_MAX_BLOCK
 * @param limit once the sum has reached it, any value from limit to the whole
 *              sum may be returned: the candidate cannot win any more
 */
typedef uint32_t (*GpumeSad)(const uint8_t *cur, ptrdiff_t cur_linesize,
                             const uint8_t *ref, ptrdiff_t ref_linesize,
                             int h, uint32_t limit);

/** The same for four candidates, whose sums go to sad. */
typedef void (*GpumeSadX4)(const uint8_t *cur, ptrdiff_t cur_linesize,
                           const uint8_t *const ref[4], ptrdiff_t ref_linesize,
                           int h, uint32_t sad[4], uint32_t limit);

/** Widths with functions of their own: 1 << i. Others are put together from them. */
#define GPUME_NB_WIDTHS 8

/** Functions for blocks 1 << i samples wide. */
typedef struct GpumeCostContext {
    GpumeSad   sad[GPUME_NB_WIDTHS];
    GpumeSadX4 sad_x4[GPUME_NB_WIDTHS];
} GpumeCostContext;

/**
 * Plain C first, then what the processor can do.
 * @param depth bits of a sample, 8 to 16; more than 8: two bytes each
 */
void ff_gpume_cost_init(GpumeCostContext *cost, int depth);
void ff_gpume_cost_init_x86(GpumeCostContext *cost, int depth);

#endif /* AVFILTER_GPUME_CPU_COST_H */
