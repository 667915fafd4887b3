/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"
#if HAVE_PTHREADS
#include <sched.h>
#endif

#include "libavutil/common.h"
#include "libavutil/time.h"

#include "libavfilter/gpume/cpu/task.h"

/**
 * What it takes to wake another thread, microseconds. They are woken one after the other,
 * so n of them take n times that and 1 / n of the time of one.
 */
#define WAKING 3

/** How often a thread that waits looks before it lets others run. */
#define PATIENCE 1000

void ff_gpume_pause(int n)
{
    if (n < PATIENCE) {
#if ARCH_X86 && HAVE_INLINE_ASM
        __asm__ volatile ("pause");
#endif
    } else {
#if HAVE_PTHREADS
        sched_yield();
#else
        av_usleep(1);
#endif
    }
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
        else if (!is_first && !t->in_order)
            nb = FFMAX(nb, remaining / (2 * t->nb_workers));
        nb = FFMIN(nb, remaining);
    } while (nb > 0 &&
             !atomic_compare_exchange_weak_explicit(&t->next_unit, start, *start + nb,
                                                    memory_order_relaxed,
                                                    memory_order_relaxed));
    return nb;
}

static void wait_for_first(GpumeTask *t, GpumeWorker *worker)
{
    const int64_t begin = av_gettime_relative();

    for (int i = 0; atomic_load_explicit(&t->first_done, memory_order_acquire) < t->nb_first; i++)
        ff_gpume_pause(i);
    worker->waited += av_gettime_relative() - begin;
}

static void run_job(void *opaque, int job, int nb_jobs)
{
    GpumeTask *t = opaque;
    GpumeWorker worker = { .number = job };
    const int64_t begin = av_gettime_relative();
    int start, nb, first_done = 0;

    while ((nb = take_units(t, &start)) > 0) {
        if (start >= t->nb_first && !first_done) {
            wait_for_first(t, &worker);
            first_done = 1;
        }
        t->run(t->arg, &worker, start, start + nb);
        if (start < t->nb_first)
            atomic_fetch_add_explicit(&t->first_done, nb, memory_order_release);
    }
    atomic_fetch_add_explicit(&t->busy, av_gettime_relative() - begin - worker.waited,
                              memory_order_relaxed);
}

void ff_gpume_task_run(GpumeTask *t, const GpumeBackendConfig *cfg, void *arg,
                       int nb_first, int nb_units)
{
    const int max_workers = FFMIN(cfg->nb_threads, t->max_workers);
    int64_t busy;
    int n = 1;

    if (!t->usually_busy)       // never run: it may be a matter of seconds
        n = max_workers;
    while (n < max_workers && WAKING * (n + 1) * (n + 1) <= t->usually_busy)
        n++;

    t->arg        = arg;
    t->nb_first   = nb_first;
    t->nb_units   = nb_units;
    t->nb_workers = n;
    atomic_init(&t->busy,       0);
    atomic_init(&t->next_unit,  0);
    atomic_init(&t->first_done, 0);
    cfg->execute(cfg->opaque, run_job, t, n);

    /* once out of proportion, as after an interruption, is not usual yet */
    busy = atomic_load_explicit(&t->busy, memory_order_relaxed);
    if (t->usually_busy)
        busy = (t->usually_busy + FFMIN(busy, 7 * t->usually_busy)) / 2;
    t->usually_busy = FFMAX(busy, 1);
}
