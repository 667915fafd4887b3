/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Runs work in parts on the threads of the caller. Rooms that need threads receive an executor;
 * util/slice_threads.h makes an executor of a filter's slice threads.
 */

#ifndef AVFILTER_GPUME_UTIL_EXECUTOR_H
#define AVFILTER_GPUME_UTIL_EXECUTOR_H

/** Does part number job of work that consists of nb_jobs independent parts. May run on any thread. */
typedef void (*GpumeJob)(void *arg, int job, int nb_jobs);

/** A set of threads that runs work in parts. */
typedef struct GpumeExecutor {
    /** Runs all parts, on up to nb_threads threads, and returns when they are done. */
    void (*run)(void *opaque, GpumeJob job, void *arg, int nb_jobs);
    void *opaque;
    int nb_threads;             ///< 1 or more
} GpumeExecutor;

/** Runs all parts of a job on at most nb_jobs threads, and returns when the parts are done. */
static inline void gpume_execute(const GpumeExecutor *e, GpumeJob job, void *arg, int nb_jobs)
{
    e->run(e->opaque, job, arg, nb_jobs);
}

#endif /* AVFILTER_GPUME_UTIL_EXECUTOR_H */
