/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The searches on the CPU.
 */

#ifndef AVFILTER_GPUME_CPU_SEARCH_H
#define AVFILTER_GPUME_CPU_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/core/geometry.h"
#include "libavfilter/gpume/core/plan.h"
#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/cpu/cost.h"
#include "libavfilter/gpume/cpu/sea.h"
#include "libavfilter/gpume/cpu/wavefront.h"

/**
 * Which points need not be tried when the centre of a pattern has moved to one of
 * its points: they have been, around the centre before.
 */
typedef struct GpumeUntriedPoints {
    /** For each point that is the new centre, bits of those to try, the lowest first. */
    uint8_t untried[GPUME_NB_PATTERNS][GPUME_MAX_PATTERN_POINTS];
} GpumeUntriedPoints;

void ff_gpume_untried_points_init(GpumeUntriedPoints *u);

/** A block that has been searched fully and is part of a larger one. */
typedef struct GpumePart {
    GpumeVector vector;         ///< the first of least cost
    uint32_t cost;
    uint32_t zero_cost;         ///< of (0, 0)
    uint8_t *map;               ///< of its bounds, GpumeSea.map_size bytes
    int has_map;                ///< they are there; else nothing is known but the cost
} GpumePart;

/** A block to search, and the best candidate so far. */
typedef struct GpumeBlock {
    const GpumePlan *plan;
    const GpumeCost *functions;
    int algo;
    int range;                  ///< samples
    int exhaustive;             ///< nonzero: the whole cost of every candidate
    int sample_size;            ///< bytes
    ptrdiff_t cur_linesize;     ///< bytes
    ptrdiff_t ref_linesize;     ///< bytes

    /* what single stages need */
    const GpumeUntriedPoints *untried;
    const GpumeSea *sea;
    const uint8_t *cur_sums;    ///< both planes
    const uint8_t *ref_sums;
    GpumeFront *front;
    const GpumeSea *sea_of_parts;
    const GpumePart *parts;     ///< SEA: the blocks that this one consists of
    int nb_parts;               ///< 0: it has sums
    GpumePart *part;            ///< gets what the block has as a part; NULL: there is one size
    int is_part;                ///< of a larger block, which wants a map
    const uint8_t *no_map;      ///< of parts: zeros, as many as in a map
    struct GpumeBlock *whole;   ///< FULL: the one that this one is a part of, of which it adds up the costs; or NULL
    uint32_t *sums;             ///< of its parts' costs, of each vector in raster order from (-range, -range) on
    int sums_are_bounds;        ///< some may be less than what the candidate costs

    int bx, by;                 ///< its place in the field
    GpumeBox box;
    const uint8_t *cur;         ///< the block's first sample
    const uint8_t *ref;         ///< the sample at the same place in the reference
    int width;                  ///< of the block before; 0: there is none of this height
    GpumeCostOne one;           ///< for the whole block; NULL: only for parts of it
    GpumeCostFour four;
    GpumeNeighbours neighbours; ///< of a predictive search
    int next_dy;                ///< of a full search: candidates above have been tried
    uint32_t least;             ///< and no candidate costs less

    int dx, dy;                 ///< best candidate; at first, what was found for another block
    uint32_t cost;              ///< UINT32_MAX: none has been tried
} GpumeBlock;

/** Get ready for the parts of the block at box, which will add up what they cost. */
void ff_gpume_cpu_begin_sums(GpumeBlock *b);

/** Search the block at box, cur and ref: one stage of the plan after the other. */
void ff_gpume_cpu_search(GpumeBlock *b);

#endif /* AVFILTER_GPUME_CPU_SEARCH_H */
