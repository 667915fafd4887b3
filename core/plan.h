/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The stages of a search, which are determined once and executed by every backend.
 */

#ifndef AVFILTER_GPUME_CORE_PLAN_H
#define AVFILTER_GPUME_CORE_PLAN_H

#include "libavfilter/gpume/core/params_args.h"

enum GpumeStage {
    /**
     * Full search by successive elimination: most candidates are proved not to be the best without
     * computing their cost. Blocks for which this does not pay are left to the next stage. A
     * backend may skip this stage if the next stage alone is faster.
     */
    GPUME_STAGE_SEA,
    /** Full search of every candidate of the remaining blocks. */
    GPUME_STAGE_FULL,
    /** Pattern search from the zero vector. */
    GPUME_STAGE_PATTERN,
    /** Predictive search: blocks wait for their neighbours' vectors. */
    GPUME_STAGE_WAVEFRONT,
    GPUME_NB_SEARCH_STAGES,         ///< the stages above find vectors, block by block
    /** Passes over whole fields: GpumePlan.steps. */
    GPUME_STAGE_PROPAGATE = GPUME_NB_SEARCH_STAGES,
    /** Compares the fields of both directions, and replaces inconsistent vectors. */
    GPUME_STAGE_CHECK,
    GPUME_NB_STAGES
};

/** Largest number of stages of a plan. */
#define GPUME_MAX_STAGES 4

/** Initial vectors of a step. */
enum GpumeBegin {
    /** The existing vectors, converted to other units: from the search stages or the previous step. */
    GPUME_BEGIN_KEEP,
    /** The best of all admissible vectors. */
    GPUME_BEGIN_FULL,
    /** The best of the doubled vectors of gpume_parent() on the level above, and zero. */
    GPUME_BEGIN_PARENTS,
    /** The same; where that is a poor match, a vector of up to GPUME_WIDE_RANGE samples that is much better. */
    GPUME_BEGIN_WIDE,
    /** The best of the vectors of gpume_parent(), which are blocks of twice the side. */
    GPUME_BEGIN_LARGER,
    /** The best of the vectors of the blocks of half the side that the block consists of. */
    GPUME_BEGIN_SMALLER,
    /** The vector of the previous step, or a global candidate that is much better. */
    GPUME_BEGIN_GLOBAL,
};

/** Returns whether a step begins with vectors of the level above, which are doubled, and zero. */
GPUME_INLINE int gpume_doubles(int begin)
{
    return begin == GPUME_BEGIN_PARENTS || begin == GPUME_BEGIN_WIDE;
}

/** Passes of propagation on one level, with blocks of one size and vectors of one precision. */
typedef struct GpumeStep {
    int level;              ///< level of the pyramid; 0 is the picture itself
    int block;              ///< side of a block, samples of the level
    int begin;              ///< enum GpumeBegin
    int pel;                ///< vectors are in units of 1/pel sample of the level
    int threshold;          ///< limit of differences of vectors, in their units
    int nb_passes;
} GpumeStep;

/** Maximum number of steps: one for each level, global candidates, two after them, larger blocks. */
#define GPUME_MAX_STEPS (GPUME_MAX_LEVELS + 3 + GPUME_MAX_SIZES - 1)

typedef struct GpumePlan {
    int nb_stages;
    int stages[GPUME_MAX_STAGES];   ///< enum GpumeStage, in order
    int nb_steps;
    GpumeStep steps[GPUME_MAX_STEPS];
    int nb_levels;                  ///< number of levels that steps need, 0 (no steps) or more
    /**
     * Number of sizes of blocks for which steps compute fields (the last step of each size): with a
     * tree all sizes of hme, else 1.
     */
    int nb_sizes;
    int last_step[GPUME_MAX_SIZES];
} GpumePlan;

/** Returns the plan of a search with these parameters; with a tree and hme it starts with the smallest blocks. */
GpumePlan ff_gpume_plan(const GpumeParams *params);

/**
 * Returns the parameters for a step's level: size, range, blocks.
 * @param params parameters of the picture
 */
GpumeParams ff_gpume_step_params(const GpumeParams *params, const GpumeStep *step);

/** Returns the parameters of the full search that finds global candidates. */
GpumeParams ff_gpume_global_params(const GpumeParams *params);

/** Returns whether a plan has a stage. */
int ff_gpume_plan_has(const GpumePlan *plan, int stage);

#endif /* AVFILTER_GPUME_CORE_PLAN_H */
