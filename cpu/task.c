/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/common.h"
#include "libavutil/time.h"

#include "libavfilter/gpume/cpu/task.h"

/**
 * A task that takes this long, microseconds, is worth all threads. A shorter one may take
 * longer with them: they have to be woken, and how long that takes depends on the machine.
 */
#define LONG 2000

/** Runs after which another number of threads is tried; of the first ones, which know least. */
#define TRIAL       32
#define FIRST_TRIAL  3

int ff_gpume_task_whole_parts(const GpumeTask *t)
{
    return t->nb_workers <= t->parts;
}

/* At first many at a time, then fewer and fewer, so that all end at about the same time. */
static int take_units(GpumeTask *t, int *start)
{
    int nb;

    *start = atomic_load_explicit(&t->next_unit, memory_order_relaxed);
    do {
        const int is_first  = *start < t->nb_first;
        const int remaining = (is_first ? t->nb_first : t->nb_units) - *start;

        nb = is_first ? t->first_least : t->least;
        if (t->nb_workers == 1)
            nb = remaining;
        else if (ff_gpume_task_whole_parts(t))
            nb = t->nb_units / t->parts;
        else if (!is_first && !t->in_order)
            nb = FFMAX(nb, remaining / (2 * t->nb_workers));
        nb = FFMIN(nb, remaining);
    } while (nb > 0 &&
             !atomic_compare_exchange_weak_explicit(&t->next_unit, start, *start + nb,
                                                    memory_order_relaxed,
                                                    memory_order_relaxed));
    return nb;
}

static void run_job(void *opaque, int job, int nb_jobs)
{
    GpumeTask *t = opaque;
    int start, nb;

    while ((nb = take_units(t, &start)) > 0) {
        if (start >= t->nb_first)
            for (int i = 0; atomic_load_explicit(&t->first_done, memory_order_acquire) <
                            t->nb_first; i++)
                ff_gpume_pause(i);
        t->run(t->arg, job, start, start + nb);
        if (start < t->nb_first)
            atomic_fetch_add_explicit(&t->first_done, nb, memory_order_release);
    }
}

/* The level of this run: the best one, or now and then one next to it. */
static int choose_level(GpumeTask *t, int top)
{
    const unsigned n = t->nb_runs++;
    const int trial  = n < 8 * FIRST_TRIAL ? FIRST_TRIAL : TRIAL;
    int level;

    if (!n || t->usual[t->level] > 16 * LONG)
        return t->level = top;
    level = t->level + (n / trial & 1 ? -1 : 1);
    return n % trial || level < 0 || level > top ? t->level : level;
}

void ff_gpume_task_run(GpumeTask *t, const GpumeBackendConfig *cfg, void *arg,
                       int nb_first, int nb_units)
{
    const int max_workers = FFMIN(cfg->executor.nb_threads, t->max_workers);
    const int level = choose_level(t, av_ceil_log2(max_workers));
    int64_t begin, time;

    t->arg        = arg;
    t->nb_first   = nb_first;
    t->nb_units   = nb_units;
    t->nb_workers = FFMIN(1 << level, max_workers);
    atomic_init(&t->next_unit,  0);
    atomic_init(&t->first_done, 0);
    begin = av_gettime_relative();
    gpume_execute(&cfg->executor, run_job, t, t->nb_workers);
    time  = FFMAX(16 * (av_gettime_relative() - begin), 1);

    /* once out of proportion, as after an interruption, is not usual yet */
    if (t->usual[level])
        time = (3 * t->usual[level] + FFMIN(time, 8 * t->usual[level])) / 4;
    t->usual[level] = time;
    if (level != t->level && time < t->usual[t->level])
        t->level = level;
}
