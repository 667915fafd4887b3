/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavfilter/filters.h"
#include "libavfilter/gpume/util/slice_threads.h"

typedef struct ExecuteArg {
    GpumeJob job;
    void *arg;
} ExecuteArg;

static int execute_job(AVFilterContext *ctx, void *opaque, int job, int nb_jobs)
{
    const ExecuteArg *arg = opaque;

    arg->job(arg->arg, job, nb_jobs);
    return 0;
}

static void run(void *opaque, GpumeJob job, void *arg, int nb_jobs)
{
    ExecuteArg execute_arg = { job, arg };

    ff_filter_execute(opaque, execute_job, &execute_arg, NULL, nb_jobs);
}

GpumeExecutor ff_gpume_slice_threads(AVFilterContext *ctx)
{
    return (GpumeExecutor) { run, ctx, ff_filter_get_nb_threads(ctx) };
}
