/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What a search consists of: stages, decided once, executed by every backend.
 */

#ifndef AVFILTER_GPUME_CORE_PLAN_H
#define AVFILTER_GPUME_CORE_PLAN_H

#include "libavfilter/gpume/core/params_args.h"

enum GpumeStage {
    /**
     * Full search by successive elimination: most candidates are proved not to be the
     * best without computing their cost. The remaining blocks, where this does not pay, go
     * to the next stage. A backend may skip this stage where the next alone is faster.
     */
    GPUME_STAGE_SEA,
    /** Full search of every candidate of the blocks that are still to be searched. */
    GPUME_STAGE_FULL,
    /** Pattern search from the zero vector. */
    GPUME_STAGE_PATTERN,
    /** Predictive search: blocks wait for their neighbours' vectors. */
    GPUME_STAGE_WAVEFRONT,
    GPUME_NB_SEARCH_STAGES,         ///< those above find vectors, block by block
    /** Passes over whole fields: GpumePlan.steps. */
    GPUME_STAGE_PROPAGATE = GPUME_NB_SEARCH_STAGES,
    /** Compare the fields of both directions, and replace the inconsistent vectors. */
    GPUME_STAGE_CHECK,
    GPUME_NB_STAGES
};

/** Largest number of stages of a plan. */
#define GPUME_MAX_STAGES 4

/** What the vectors of a step begin with. */
enum GpumeBegin {
    /** Those that there are, in other units: of the search stages or of the step before. */
    GPUME_BEGIN_KEEP,
    /** The best of all that are admissible. */
    GPUME_BEGIN_FULL,
    /** The best of twice those of the level above, at gpume_parent(), and zero. */
    GPUME_BEGIN_PARENTS,
    /** The best of those of blocks of twice the side, at gpume_parent(). */
    GPUME_BEGIN_LARGER,
    /** The best of those of the blocks of half the side that it consists of. */
    GPUME_BEGIN_SMALLER,
    /** Those of the step before or, where a global candidate is much better, that. */
    GPUME_BEGIN_GLOBAL,
};

/** Passes of propagation on one level, with blocks of one size and vectors of one precision. */
typedef struct GpumeStep {
    int level;              ///< of the pyramid, 0 is the picture itself
    int block;              ///< side of a block, samples of the level
    int begin;              ///< enum GpumeBegin
    int pel;                ///< vectors are in units of 1/pel sample of the level
    int threshold;          ///< differences of vectors count up to this, in their units
    int nb_passes;
} GpumeStep;

/** Largest number of steps: a level each, global candidates, two that follow them, larger blocks. */
#define GPUME_MAX_STEPS (GPUME_MAX_LEVELS + 3 + GPUME_MAX_SIZES - 1)

typedef struct GpumePlan {
    int nb_stages;
    int stages[GPUME_MAX_STAGES];   ///< enum GpumeStage, in this order
    int nb_steps;
    GpumeStep steps[GPUME_MAX_STEPS];
    int nb_levels;                  ///< of pictures that steps need, 0 (no steps) or more
    /** Sizes of blocks whose fields steps leave, the last one of each: with a tree all of hme's, else 1. */
    int nb_sizes;
    int last_step[GPUME_MAX_SIZES];
} GpumePlan;

/** The stages of a search with these parameters; but for hme, of its smallest blocks. */
GpumePlan ff_gpume_plan(const GpumeParams *params);

/**
 * The parameters as a step's level has them: size, range, blocks.
 * @param params those of the picture
 */
GpumeParams ff_gpume_step_params(const GpumeParams *params, const GpumeStep *step);

/** Returns the parameters of the full search that finds global candidates. */
GpumeParams ff_gpume_global_params(const GpumeParams *params);

/** Whether a plan has a stage. */
int ff_gpume_plan_has(const GpumePlan *plan, int stage);

#endif /* AVFILTER_GPUME_CORE_PLAN_H */
