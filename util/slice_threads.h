/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * An executor that runs work on the slice threads of a filter.
 */

#ifndef AVFILTER_GPUME_UTIL_SLICE_THREADS_H
#define AVFILTER_GPUME_UTIL_SLICE_THREADS_H

#include "libavfilter/avfilter.h"
#include "libavfilter/filters.h"
#include "libavfilter/gpume/util/executor.h"

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

static void gpume_run_on_slice_threads(void *opaque, GpumeJob job, void *arg, int nb_jobs)
{
    GpumeExecuteArg execute_arg = { job, arg };

    ff_filter_execute(opaque, gpume_execute_job, &execute_arg, NULL, nb_jobs);
}

/** Returns an executor for the slice threads of a filter. The filter must be in a graph. */
static GpumeExecutor gpume_slice_threads(AVFilterContext *ctx)
{
    return (GpumeExecutor) { gpume_run_on_slice_threads, ctx, ff_filter_get_nb_threads(ctx) };
}

#endif /* AVFILTER_GPUME_UTIL_SLICE_THREADS_H */
