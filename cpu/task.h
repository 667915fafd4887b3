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
#include "libavfilter/gpume/util/chain.h"

/** More than the binary digits of any number of threads. */
#define GPUME_TASK_LEVELS 16

/** A task. Before it is run for the first time, what is not set is 0. */
typedef struct GpumeTask {
    /**
     * Do units start to end - 1, all of them before nb_first or none.
     * @param worker number of the thread, 0 to nb_threads - 1
     */
    void (*run)(void *arg, int worker, int start, int end);
    int first_least;        ///< units that a worker takes at once, of the first ones
    int least;              ///< units that a worker takes at least, of the others
    int in_order;           ///< nonzero: no more than these, for others wait for them
    /**
     * Nonzero: the units are so many parts, which have nothing to do with each other. No more
     * workers than these take whole ones; see ff_gpume_task_whole_parts().
     */
    int parts;
    int max_workers;

    /* how many threads it is worth: 1 << level of them, or all */
    int level;
    unsigned nb_runs;
    int64_t usual[GPUME_TASK_LEVELS];   ///< what a run takes with so many, microseconds / 16; 0: not known

    /* of this run */
    void *arg;
    int nb_first, nb_units;
    int nb_workers;
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

/** For run(): whether workers take whole parts, one after the other; else the parts' units may alternate. */
int ff_gpume_task_whole_parts(const GpumeTask *task);

#endif /* AVFILTER_GPUME_CPU_TASK_H */
