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
