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
 * The searches on the CPU.
 */

#ifndef AVFILTER_GPUME_CPU_SEARCH_H
#define AVFILTER_GPUME_CPU_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/cpu/cost.h"
#include "libavfilter/gpume/cpu/eliminate.h"
#include "libavfilter/gpume/gpume_searches.h"

/**
 * Which points need not be tried when the centre of a pattern has moved to one of
 * its points: they have been, around the centre before.
 */
typedef struct GpumeWalks {
    /** For each point that is the new centre, bits of those to try, the lowest first. */
    uint8_t untried[GPUME_NB_PATTERNS][GPUME_MAX_PATTERN_POINTS];
} GpumeWalks;

void ff_gpume_cpu_walks_init(GpumeWalks *walks);

/** A block to search, and the best candidate so far. */
typedef struct GpumeBlock {
    const GpumeCostContext *cost_ctx;
    const GpumeWalks *walks;
    const uint8_t *cur;         ///< the block's first sample
    ptrdiff_t cur_linesize;     ///< bytes
    const uint8_t *ref;         ///< the sample at the same place in the reference
    ptrdiff_t ref_linesize;     ///< bytes
    int sample_size;            ///< bytes
    int w, h;                   ///< true size, samples
    int range;                  ///< samples
    int min_dx, max_dx;         ///< admissible vectors, samples
    int min_dy, max_dy;

    int exhaustive;             ///< nonzero: no sum is left incomplete, no candidate left out
    const GpumeEliminate *eliminate;    ///< of a full search; NULL: leave no candidate out
    const uint8_t *cur_sums;    ///< where eliminate is: the block's own sums
    const uint8_t *ref_sums;    ///< those at the same place in the reference
    int start_dx, start_dy;     ///< a vector that may be good, admissible or not

    const GpumeNeighbours *neighbours;  ///< of a search that has predictors, else NULL

    GpumeSad sad;               ///< for the whole block; NULL: only for parts of it
    GpumeSadX4 sad_x4;

    int dx, dy;                 ///< best candidate
    uint32_t cost;              ///< its SAD
} GpumeBlock;

/** Search one block: set sad, sad_x4, dx, dy and cost. */
void ff_gpume_cpu_search(GpumeBlock *b, int algo);

#endif /* AVFILTER_GPUME_CPU_SEARCH_H */
