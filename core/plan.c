/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/macros.h"

#include "libavfilter/gpume/core/plan.h"
#include "libavfilter/gpume/core/propagation.h"
#include "libavfilter/gpume/core/tree.h"

/* GpumeStep.threshold of vectors that were found without a pyramid, in samples */
#define THRESHOLD           16
/* GpumeStep.threshold of vectors that were found with a pyramid */
#define PYRAMID_THRESHOLD    8
/* largest GpumeStep.threshold of subpel vectors, which is half a block */
#define MAX_SUBPEL_THRESHOLD 16
/* number of larger sizes of blocks that get a pass, after they took vectors from smaller blocks; more gain nothing */
#define LARGER_PASSES        1

/* number of passes that spread global candidates */
#define GLOBAL_PASSES 2

static void add_step(GpumePlan *plan, const GpumeParams *p, GpumeStep step)
{
    if (step.pel > 1) {
        step.threshold = FFMIN(step.block / 2, MAX_SUBPEL_THRESHOLD) * step.pel;
        if (step.begin != GPUME_BEGIN_SMALLER)
            step.nb_passes = p->sweeps + 1;
    }
    plan->steps[plan->nb_steps++] = step;
}

/* Adds steps from the coarsest level down to the picture. Upper levels have no blocks smaller than 8. */
static void add_pyramid(GpumePlan *plan, const GpumeParams *p)
{
    const int block = FFMAX(p->block, 8);
    int begin = GPUME_BEGIN_FULL;

    plan->nb_levels = p->levels ? p->levels : gpume_auto_levels(p->width, p->height, block);
    for (int level = plan->nb_levels - 1; level >= 0; level--) {
        add_step(plan, p, (GpumeStep) { level, block, begin, 1, PYRAMID_THRESHOLD, p->sweeps });
        /* a fast motion may have no match in the few blocks of the uppermost level */
        begin = begin == GPUME_BEGIN_FULL && level > 1 ? GPUME_BEGIN_WIDE : GPUME_BEGIN_PARENTS;
    }
    if (plan->nb_levels > GPUME_GLOBAL_LEVEL) {
        add_step(plan, p, (GpumeStep) { 0, block, GPUME_BEGIN_GLOBAL, 1, PYRAMID_THRESHOLD, 0 });
        /* otherwise, the passes of a later step spread the global candidates */
        if (p->pel == 1 && p->block == block)
            add_step(plan, p, (GpumeStep) { 0, block, GPUME_BEGIN_KEEP, 1, PYRAMID_THRESHOLD, GLOBAL_PASSES });
    }
    /* for blocks of 4, passes only pay at the final precision */
    if (p->block < block)
        add_step(plan, p, (GpumeStep) {
            0, p->block, GPUME_BEGIN_LARGER, 1, PYRAMID_THRESHOLD, p->pel == 1 ? p->sweeps : 0
        });
}

GpumePlan ff_gpume_plan(const GpumeParams *params)
{
    GpumePlan plan = { 0 };

    switch (gpume_kind(params->algo)) {
    case GPUME_KIND_FULL:
        /* sums of samples bound only SAD */
        if (params->cost == GPUME_COST_SAD && !params->exhaustive)
            plan.stages[plan.nb_stages++] = GPUME_STAGE_SEA;
        plan.stages[plan.nb_stages++] = GPUME_STAGE_FULL;
        break;
    case GPUME_KIND_PATTERN:
        plan.stages[plan.nb_stages++] = GPUME_STAGE_PATTERN;
        break;
    case GPUME_KIND_PREDICTIVE:
        plan.stages[plan.nb_stages++] = GPUME_STAGE_WAVEFRONT;
        break;
    case GPUME_KIND_HIERARCHICAL:
        add_pyramid(&plan, params);
        break;
    }
    if (params->smooth && !plan.nb_steps)
        add_step(&plan, params, (GpumeStep) {
            0, params->block, GPUME_BEGIN_KEEP, 1, THRESHOLD, params->sweeps
        });
    if (params->pel > 1)
        add_step(&plan, params, (GpumeStep) { 0, params->block, GPUME_BEGIN_KEEP, params->pel });
    plan.nb_sizes = 1;
    plan.last_step[0] = FFMAX(plan.nb_steps - 1, 0);
    for (int i = 1; i < ff_gpume_nb_sizes(params) && gpume_kind(params->algo) == GPUME_KIND_HIERARCHICAL; i++) {
        add_step(&plan, params, (GpumeStep) {
            0, params->block << i, GPUME_BEGIN_SMALLER, params->pel, PYRAMID_THRESHOLD, i <= LARGER_PASSES
        });
        plan.last_step[plan.nb_sizes++] = plan.nb_steps - 1;
    }
    if (plan.nb_steps) {
        plan.nb_levels = FFMAX(plan.nb_levels, 1);
        plan.stages[plan.nb_stages++] = GPUME_STAGE_PROPAGATE;
    }
    if (params->check)
        plan.stages[plan.nb_stages++] = GPUME_STAGE_CHECK;
    return plan;
}

GpumeParams ff_gpume_step_params(const GpumeParams *params, const GpumeStep *step)
{
    GpumeParams p = *params;

    p.width  = gpume_level_side(params->width,  step->level);
    p.height = gpume_level_side(params->height, step->level);
    p.range  = gpume_level_side(params->range,  step->level);
    p.block  = step->block;
    p.bw     = gpume_blocks(p.width,  p.block);
    p.bh     = gpume_blocks(p.height, p.block);
    return p;
}

GpumeParams ff_gpume_global_params(const GpumeParams *params)
{
    const GpumeStep step = { .level = GPUME_GLOBAL_LEVEL, .block = GPUME_GLOBAL_BLOCK };
    GpumeParams p = ff_gpume_step_params(params, &step);

    p.range = FFMIN(p.range, GPUME_GLOBAL_RANGE);
    return p;
}

int ff_gpume_plan_has(const GpumePlan *plan, int stage)
{
    for (int i = 0; i < plan->nb_stages; i++)
        if (plan->stages[i] == stage)
            return 1;
    return 0;
}
