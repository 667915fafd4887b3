/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Schedules work: tasks of units that need each other, on threads that are called once, for to wake
 * them for each task can take longer than the task. A thread takes units of the oldest list first
 * and, where it finds none that can be done, those of later lists. What a unit needs has been done
 * when it is taken, so it runs to its end whether or not other threads are there.
 */

#ifndef AVFILTER_GPUME_UTIL_TASKS_H
#define AVFILTER_GPUME_UTIL_TASKS_H

#include <stdatomic.h>
#include <stdint.h>

#include "libavfilter/gpume/util/executor.h"

/** Tasks that one may need. */
#define GPUME_MAX_NEEDS 3

/** Units of work. What is not set is 0. */
typedef struct GpumeTask {
    /**
     * Does units start to end - 1.
     * @param worker number of the thread, 0 to nb_threads - 1
     */
    void (*run)(void *arg, int worker, int start, int end);
    /**
     * Takes a unit that can be done now, each of them once, and returns it, or returns -1. Called by
     * several threads at a time. NULL: units are taken in ascending order.
     */
    int (*take)(void *arg);
    void *arg;
    int nb_units;           ///< 0: it is done
    int least;              ///< units that are taken at once at least; 0: 1
    const struct GpumeTask *needs[GPUME_MAX_NEEDS]; ///< those that have to be done before; some may be NULL

    atomic_int next;        ///< the first unit that nobody has taken
    atomic_int done;        ///< how many of them are done
} GpumeTask;

/** Tasks, each after those that it needs. One may be in several lists. */
typedef struct GpumeTaskList {
    GpumeTask **tasks;
    int nb;
    atomic_int first;       ///< those before it are done; at first 0
} GpumeTaskList;

/** The threads, and what is known of them. Before it is used for the first time, what is not set is 0. */
typedef struct GpumeScheduler {
    GpumeExecutor executor;
    int64_t work;           ///< usual length of a list, on one thread, microseconds / 16
    int64_t loss;           ///< what a thread that takes part usually waits, microseconds / 16
} GpumeScheduler;

/**
 * Runs the tasks of the first list. Some of the others may have been done, too, when it returns,
 * but none has been begun only.
 */
void ff_gpume_tasks_run(GpumeScheduler *s, GpumeTaskList *const *lists, int nb_lists);

/** Returns whether all units of a task are done. */
int ff_gpume_task_done(const GpumeTask *task);

/** Tasks of a chain at most. */
#define GPUME_MAX_CHAIN 6

/** Tasks, each of which needs all of the one before. Blank, or with tasks that have not been run. */
typedef struct GpumeTaskChain {
    GpumeTask tasks[GPUME_MAX_CHAIN];
    int nb;
} GpumeTaskChain;

/** Adds a task, whose fields are called so in GpumeTask. */
void ff_gpume_chain_add(GpumeTaskChain *chain, void (*run)(void *arg, int worker, int start, int end), void *arg,
                        int nb_units);

/** Runs the tasks of a chain, which is blank then. */
void ff_gpume_chain_run(GpumeTaskChain *chain, GpumeScheduler *s);

/** Returns into how many parts so many rows are divided for so many threads: a few for each. */
int ff_gpume_nb_parts(int nb_threads, int rows);

/** Returns the first row of one of nb parts. */
static inline int gpume_first_row(int rows, int part, int nb)
{
    return rows * (int64_t)part / nb;
}

#endif /* AVFILTER_GPUME_UTIL_TASKS_H */
