/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What is done for every picture, shared out among as many threads as it is worth.
 *
 * A task has units, which are taken in ascending order by whoever has nothing to do. So
 * a unit may wait for one before it: that has been taken by a thread that is running.
 */

#ifndef AVFILTER_GPUME_CPU_TASK_H
#define AVFILTER_GPUME_CPU_TASK_H

#include <stdatomic.h>
#include <stdint.h>

#include "libavfilter/gpume/core/backend.h"

/** One of those who share a task. */
typedef struct GpumeWorker {
    int number;             ///< 0 to nb_threads - 1, different from that of the others
    int64_t waited;         ///< for other workers, microseconds
} GpumeWorker;

/** A task. Before it is run for the first time, what is not set is 0. */
typedef struct GpumeTask {
    /** Do units start to end - 1, all of them before nb_first or none. */
    void (*run)(void *arg, GpumeWorker *worker, int start, int end);
    int first_least;        ///< units that a worker takes at once, of the first ones
    int least;              ///< units that a worker takes at least, of the others
    int in_order;           ///< nonzero: no more than these, for others wait for them
    int max_workers;

    /* of this run */
    void *arg;
    int nb_first, nb_units;
    int nb_workers;
    int64_t usually_busy;   ///< microseconds of all workers, a mean of the runs before
    atomic_llong busy;      ///< the same of this one, without those waited
    atomic_int next_unit;   ///< the first that nobody has taken
    atomic_int first_done;  ///< how many of the first ones are done
} GpumeTask;

/**
 * Run a task, on one thread or several.
 * @param nb_first units that have to be done before any of the others begins, may be 0
 * @param nb_units all
 */
void ff_gpume_task_run(GpumeTask *task, const GpumeBackendConfig *cfg, void *arg,
                       int nb_first, int nb_units);

/** For loops that wait for another worker: pass a little time, the n-th time of this wait. */
void ff_gpume_pause(int n);

#endif /* AVFILTER_GPUME_CPU_TASK_H */
