/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * A chain of jobs, each of which needs all of the one before, for threads that are called once: to
 * wake them for each job can take longer than the job.
 */

#ifndef AVFILTER_GPUME_CHAIN_H
#define AVFILTER_GPUME_CHAIN_H

#include "libavfilter/gpume/job.h"

typedef struct GpumeLink {
    GpumeJob job;
    void *arg;
    int nb_jobs;            ///< independent parts, which are taken by whoever has nothing to do
} GpumeLink;

/**
 * Run the jobs of a chain.
 * @param execute    runs all parts of a job, on any threads, and returns when they are done
 * @param nb_threads that many at most take part
 */
void ff_gpume_chain_run(void (*execute)(void *opaque, GpumeJob job, void *arg, int nb_jobs), void *opaque,
                        int nb_threads, const GpumeLink *links, int nb_links);

/** For loops that wait for another thread: pass a little time, the n-th time of this wait. */
void ff_gpume_pause(int n);

#endif /* AVFILTER_GPUME_CHAIN_H */
