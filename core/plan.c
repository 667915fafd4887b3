/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavfilter/gpume/core/plan.h"
#include "libavfilter/gpume/core/searches.h"

GpumePlan ff_gpume_plan(const GpumeParams *params)
{
    GpumePlan plan = { 0 };

    switch (gpume_kind(params->algo)) {
    case GPUME_KIND_FULL:
        /* sums of samples give a bound for SAD only */
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
    }
    return plan;
}

int ff_gpume_plan_has(const GpumePlan *plan, int stage)
{
    for (int i = 0; i < plan->nb_stages; i++)
        if (plan->stages[i] == stage)
            return 1;
    return 0;
}
