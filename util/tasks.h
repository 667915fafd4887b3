/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Schedules tasks that depend on each other. A task consists of units of work. The threads are woken once
 * for all tasks, because waking them for each task can take longer than the task itself. A thread takes
 * units of the oldest list of tasks first, and units of later lists when the oldest list has none that can
 * run. Everything that a unit depends on is done before a thread takes the unit, so a unit never waits.
 *
 * A thread stays with a task whose units depend on each other. If it can, it begins a task that no other thread
 * works on, even one of a later list. The data that the units share are then in the cache of its processor.
 */

#ifndef AVFILTER_GPUME_UTIL_TASKS_H
#define AVFILTER_GPUME_UTIL_TASKS_H

#include <stdatomic.h>
#include <stdint.h>

#include "libavfilter/gpume/util/executor.h"

/** The most tasks that a task may depend on. */
#define GPUME_MAX_NEEDS 3

/** A task: units of work. Members that are not set must be 0. */
typedef struct GpumeTask {
    /**
     * Does units start to end - 1.
     * @param worker number of the thread, 0 to nb_threads - 1
     */
    void (*run)(void *arg, int worker, int start, int end);
    /**
     * Returns a unit that can run now, each unit once, or -1 if there is none. Several threads call it at the
     * same time. NULL: units are taken in ascending order.
     */
    int (*take)(void *arg);
    void *arg;
    int nb_units;           ///< 0: the task is done
    int least;              ///< the least number of units that a thread takes at once; 0: 1
    const struct GpumeTask *needs[GPUME_MAX_NEEDS]; ///< the tasks that must be done before; some may be NULL

    /* Threads change what follows. A line of a cache has nothing else of this task or another one. */
    char before[64];
    atomic_int next;        ///< the first unit that nobody has taken
    atomic_int done;        ///< number of units that are done
    atomic_int nb_own;      ///< number of threads that stay with this task
    char after[64];
} GpumeTask;

/** A list of tasks. A task comes after the tasks that it depends on, and may be in several lists. */
typedef struct GpumeTaskList {
    GpumeTask **tasks;
    int nb;
    atomic_int first;       ///< index of the first task that is not done; 0 at the beginning
} GpumeTaskList;

/** The threads, and measurements that decide how many are woken. Members that are not set must be 0 at first. */
typedef struct GpumeScheduler {
    GpumeExecutor executor;
    int64_t work;           ///< usual time that one thread needs for a list, in units of 1/16 microsecond
    int64_t loss;           ///< usual time that a thread loses with waking and waiting, in units of 1/16 microsecond
} GpumeScheduler;

/**
 * Runs the tasks of the first list. When it returns, tasks of the other lists may be done as well, but no
 * unit is half done.
 */
void ff_gpume_tasks_run(GpumeScheduler *s, GpumeTaskList *const *lists, int nb_lists);

/** Returns whether all units of a task are done. */
int ff_gpume_task_done(const GpumeTask *task);

/** The most tasks of a chain. */
#define GPUME_MAX_CHAIN 32

/** Tasks that run one after the other. Zeroed, or with tasks that have not run yet. */
typedef struct GpumeTaskChain {
    GpumeTask tasks[GPUME_MAX_CHAIN];
    int nb;
} GpumeTaskChain;

/** Adds a task to a chain. The parameters are members of GpumeTask. */
void ff_gpume_chain_add(GpumeTaskChain *chain, void (*run)(void *arg, int worker, int start, int end), void *arg,
                        int nb_units);

/** Runs the tasks of a chain and zeroes the chain. */
void ff_gpume_chain_run(GpumeTaskChain *chain, GpumeScheduler *s);

/** Returns the number of parts into which rows are divided for nb_threads threads: a few parts for each thread. */
int ff_gpume_nb_parts(int nb_threads, int rows);

/** Returns the first row of one of nb parts. */
static inline int gpume_first_row(int rows, int part, int nb)
{
    return rows * (int64_t)part / nb;
}

#endif /* AVFILTER_GPUME_UTIL_TASKS_H */
