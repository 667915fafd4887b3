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

#include "libavfilter/gpume/core/params.h"

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
    GPUME_NB_STAGES
};

/** Largest number of stages of a plan. */
#define GPUME_MAX_STAGES 2

typedef struct GpumePlan {
    int nb_stages;
    int stages[GPUME_MAX_STAGES];   ///< enum GpumeStage, in this order
} GpumePlan;

/** The stages of a search with these parameters. */
GpumePlan ff_gpume_plan(const GpumeParams *params);

/** Whether a plan has a stage. */
int ff_gpume_plan_has(const GpumePlan *plan, int stage);

#endif /* AVFILTER_GPUME_CORE_PLAN_H */
