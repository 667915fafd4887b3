/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * A chain of jobs, each of which needs all of the one before, for threads that are called once: to
 * wake them for each job can take longer than the job.
 */

#ifndef AVFILTER_GPUME_UTIL_CHAIN_H
#define AVFILTER_GPUME_UTIL_CHAIN_H

#include "libavfilter/gpume/util/executor.h"

typedef struct GpumeLink {
    GpumeJob job;
    void *arg;
    int nb_jobs;            ///< independent parts, which are taken by whoever has nothing to do
} GpumeLink;

/** Runs the jobs of a chain, on all threads. */
void ff_gpume_chain_run(const GpumeExecutor *executor, const GpumeLink *links, int nb_links);

/** For loops that wait for another thread: pass a little time, the n-th time of this wait. */
void ff_gpume_pause(int n);

#endif /* AVFILTER_GPUME_UTIL_CHAIN_H */
