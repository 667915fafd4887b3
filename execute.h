/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Work in parts, on a filter's slice threads.
 */

#ifndef AVFILTER_GPUME_EXECUTE_H
#define AVFILTER_GPUME_EXECUTE_H

#include "libavfilter/avfilter.h"
#include "libavfilter/filters.h"
#include "libavfilter/gpume/job.h"

typedef struct GpumeExecuteArg {
    GpumeJob job;
    void *arg;
} GpumeExecuteArg;

static int gpume_execute_job(AVFilterContext *ctx, void *opaque, int job, int nb_jobs)
{
    const GpumeExecuteArg *arg = opaque;

    arg->job(arg->arg, job, nb_jobs);
    return 0;
}

/**
 * Run all parts of a job and return when they are done. At most nb_jobs threads take part.
 * @param opaque the AVFilterContext
 */
static void gpume_execute(void *opaque, GpumeJob job, void *arg, int nb_jobs)
{
    GpumeExecuteArg execute_arg = { job, arg };

    ff_filter_execute(opaque, gpume_execute_job, &execute_arg, NULL, nb_jobs);
}

#endif /* AVFILTER_GPUME_EXECUTE_H */
