/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Work in parts, on whatever threads the caller has. Rooms that need threads are given an
 * executor; util/slice_threads.h makes one of a filter's slice threads.
 */

#ifndef AVFILTER_GPUME_UTIL_EXECUTOR_H
#define AVFILTER_GPUME_UTIL_EXECUTOR_H

/** Part number job of nb_jobs independent parts of a piece of work, on any thread. */
typedef void (*GpumeJob)(void *arg, int job, int nb_jobs);

/** Threads that work in parts. */
typedef struct GpumeExecutor {
    /** Runs all parts, on up to nb_threads threads, and returns when they are done. */
    void (*run)(void *opaque, GpumeJob job, void *arg, int nb_jobs);
    void *opaque;
    int nb_threads;             ///< 1 or more
} GpumeExecutor;

/** Run all parts of a job and return when they are done. At most nb_jobs threads take part. */
static inline void gpume_execute(const GpumeExecutor *e, GpumeJob job, void *arg, int nb_jobs)
{
    e->run(e->opaque, job, arg, nb_jobs);
}

#endif /* AVFILTER_GPUME_UTIL_EXECUTOR_H */
