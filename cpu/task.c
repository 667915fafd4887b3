/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

#include "libavutil/common.h"
#include "libavutil/time.h"

#include "libavfilter/gpume/cpu/task.h"

/**
 * What it takes to wake another thread, microseconds. They are woken one after the other,
 * so n of them take n times that and 1 / n of the time of one.
 */
#define WAKING 10

/* First many at a time, then fewer and fewer, so that all end at about the same time. */
static int take_units(GpumeTask *t, int *start)
{
    int nb;

    *start = atomic_load_explicit(&t->next_unit, memory_order_relaxed);
    do {
        const int remaining = t->nb_units - *start;

        nb = t->least;
        if (t->nb_workers == 1)
            nb = remaining;
        else if (!t->in_order)
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
    GpumeWorker worker = { .number = job };
    const int64_t begin = av_gettime_relative();
    int start, nb;

    while ((nb = take_units(t, &start)) > 0)
        t->run(t->arg, &worker, start, start + nb);
    atomic_fetch_add_explicit(&t->busy, av_gettime_relative() - begin - worker.waited,
                              memory_order_relaxed);
}

void ff_gpume_task_run(GpumeTask *t, const GpumeBackendConfig *cfg, void *arg, int nb_units)
{
    int max_workers = FFMIN(cfg->nb_threads, (nb_units + t->least - 1) / t->least);
    int64_t busy;
    int n = 1;

    if (t->max_workers)
        max_workers = FFMIN(max_workers, t->max_workers);
    if (!t->usually_busy)       // never run: it may be a matter of seconds
        n = max_workers;
    while (n < max_workers && WAKING * (n + 1) * (n + 1) <= t->usually_busy)
        n++;

    t->arg        = arg;
    t->nb_units   = nb_units;
    t->nb_workers = n;
    atomic_init(&t->next_unit, 0);
    atomic_init(&t->busy,      0);
    cfg->execute(cfg->opaque, run_job, t, n);

    /* once out of proportion, as after an interruption, is not usual yet */
    busy = atomic_load_explicit(&t->busy, memory_order_relaxed);
    if (t->usually_busy)
        busy = (t->usually_busy + FFMIN(busy, 7 * t->usually_busy)) / 2;
    t->usually_busy = FFMAX(busy, 1);
}
