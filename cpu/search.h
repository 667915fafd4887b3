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
 * Points that need not be tried when the centre of a pattern has moved to one of its points,
 * because they have been tried around the previous centre.
 */
typedef struct GpumeUntriedPoints {
    /** For each point that becomes the centre, a bit mask of the points to try, the lowest bit first. */
    uint8_t untried[GPUME_NB_PATTERNS][GPUME_MAX_PATTERN_POINTS];
} GpumeUntriedPoints;

void ff_gpume_untried_points_init(GpumeUntriedPoints *u);

/** A block that has been searched by full search and is part of a larger block. */
typedef struct GpumePart {
    GpumeVector vector;         ///< the first vector of least cost
    uint32_t cost;
    uint32_t zero_cost;         ///< cost of (0, 0)
    uint8_t *map;               ///< map of its bounds, GpumeSea.map_size bytes
    int has_map;                ///< whether the map is valid; else only the cost is known
} GpumePart;

/** A block to search, and the best candidate so far. */
typedef struct GpumeBlock {
    const GpumePlan *plan;
    const GpumeCost *functions;
    int algo;
    int range;                  ///< samples
    int exhaustive;             ///< nonzero: complete cost of every candidate
    int sample_size;            ///< bytes
    ptrdiff_t cur_linesize;     ///< bytes
    ptrdiff_t ref_linesize;     ///< bytes

    /* the following are only needed by some stages */
    const GpumeUntriedPoints *untried;
    const GpumeSea *sea;
    const uint8_t *cur_sums;    ///< both planes
    const uint8_t *ref_sums;
    GpumeFront *front;
    const GpumeSea *sea_of_parts;
    const GpumePart *parts;     ///< SEA: the blocks of which this block consists
    int nb_parts;               ///< 0: the block has sums of samples
    GpumePart *part;            ///< output for the larger block; NULL: there is only one size
    int is_part;                ///< whether it is part of a larger block, which needs a map
    const uint8_t *no_map;      ///< zeros in the size of a map, for parts without a map
    struct GpumeBlock *whole;   ///< FULL: the larger block whose sums of costs include this block; or NULL
    uint32_t *sums;             ///< sums of its parts' costs, for each vector in raster order from (-range, -range)
                                ///< on
    int sums_are_bounds;        ///< whether sums may be below the cost of a candidate

    int bx, by;                 ///< position in the field
    GpumeBox box;
    const uint8_t *cur;         ///< the block's first sample
    const uint8_t *ref;         ///< the sample at the same position in the reference
    int width;                  ///< width of the previous block; 0: no previous block of this height
    GpumeCostOne one;           ///< for the whole block; NULL: only parts have functions
    GpumeCostFour four;
    GpumeNeighbours neighbours; ///< for predictive searches
    int next_dy;                ///< full search: candidates above have been tried
    uint32_t least;             ///< lower bound of the costs of all candidates

    int dx, dy;                 ///< best candidate; initially the vector of another block
    uint32_t cost;              ///< UINT32_MAX: no candidate has been tried
} GpumeBlock;

/** Searches with patterns from the vector (dx, dy) on, indexed by enum GpumeAlgo. */
extern void (*const ff_gpume_cpu_patterns[GPUME_NB_ALGOS])(GpumeBlock *b);

/** Computes costs of blocks that have no function for their width or height. */
void ff_gpume_cpu_cost_of_parts(const GpumeBlock *b, const uint8_t *const *ref, int nb, uint32_t *cost, uint32_t limit);

/** Stages of full search; they return whether the block is done. */
int ff_gpume_cpu_stage_sea(GpumeBlock *b);
int ff_gpume_cpu_stage_full(GpumeBlock *b);

/** Prepares the parts of the block at box, which add up their costs. */
void ff_gpume_cpu_begin_sums(GpumeBlock *b);

/** Searches the block at box, cur and ref with the stages of the plan. */
void ff_gpume_cpu_search(GpumeBlock *b);

#endif /* AVFILTER_GPUME_CPU_SEARCH_H */
