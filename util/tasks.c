/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#if HAVE_PTHREADS
#include <pthread.h>
#include <sched.h>
#endif

#include "libavutil/avassert.h"
#include "libavutil/common.h"
#include "libavutil/time.h"

#include "libavfilter/gpume/util/tasks.h"

/** Parts of a job for each thread: several, because rows take different times. */
#define PARTS 4

/** A waiting thread polls this many times before it begins to yield between polls. */
#define POLLS_BEFORE_YIELD 1000
/** A waiting thread polls this many times before it begins to sleep between polls. */
#define POLLS_BEFORE_SLEEP 1500

/** Upper limit of a measured loss, in units of 1/16 microsecond: waking threads cannot take longer. */
#define MAX_LOSS (16 * 200)

/** Threads continue with later lists until they have worked this many times as long as waking them took. */
#define WORK_PER_LOSS 8

typedef struct Run {
    GpumeTaskList *const *lists;
    int nb_lists;
    int nb_workers;
    int64_t begin;          ///< time of the beginning, microseconds
    int64_t min_time;       ///< minimum time that threads shall work, microseconds
    atomic_int stop;
    atomic_int nb_inside;   ///< workers that have begun and not ended
#if HAVE_PTHREADS
    pthread_t caller;
#endif
    atomic_llong busy;      ///< microseconds that all workers together have worked
} Run;

/* Waits a little after a thread has found nothing to do n times in a row. */
static void back_off(int n)
{
    if (n < POLLS_BEFORE_YIELD) {
#if ARCH_X86 && HAVE_INLINE_ASM
        __asm__ volatile ("pause");
#elif ARCH_AARCH64 && HAVE_INLINE_ASM
        /* waits longer than 'yield' does, which most processors skip */
        __asm__ volatile ("isb");
#endif
    } else if (n < POLLS_BEFORE_SLEEP) {
#if HAVE_PTHREADS
        sched_yield();
#endif
    } else {
        /* the processor belongs to another thread, perhaps the one that works on what is waited for */
        av_usleep(20);
    }
}

int ff_gpume_task_done(const GpumeTask *t)
{
    return atomic_load_explicit(&t->done, memory_order_acquire) == t->nb_units;
}

static int list_done(GpumeTaskList *l)
{
    const int before = atomic_load_explicit(&l->first, memory_order_relaxed);
    int first = before;

    while (first < l->nb && ff_gpume_task_done(l->tasks[first]))
        first++;
    if (first != before)
        atomic_store_explicit(&l->first, first, memory_order_relaxed);
    return first == l->nb;
}

/**
 * Takes units of a task: many at a time at first, then fewer and fewer, so that all threads end at about the
 * same time. Returns the number of units.
 * @param is_oldest whether the task is in the oldest list; if not, threads may have to stop soon
 */
static int take_units(GpumeTask *t, int nb_workers, int is_oldest, int *start)
{
    int nb;

    *start = atomic_load_explicit(&t->next, memory_order_relaxed);
    if (*start >= t->nb_units)
        return 0;
    for (int i = 0; i < GPUME_MAX_NEEDS; i++)
        if (t->needs[i] && !ff_gpume_task_done(t->needs[i]))
            return 0;
    if (t->take) {
        *start = t->take(t->arg);
        if (*start < 0)
            return 0;
        atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed);
        return 1;
    }
    do {
        const int remaining = t->nb_units - *start;

        nb = nb_workers == 1 ? remaining : FFMAX(t->least, is_oldest ? remaining / (2 * nb_workers) : 1);
        nb = FFMIN(FFMAX(nb, 1), remaining);
    } while (nb > 0 && !atomic_compare_exchange_weak_explicit(&t->next, start, *start + nb,
                                                              memory_order_relaxed, memory_order_relaxed));
    return nb;
}

/* What a thread has done. */
enum Done {
    NOTHING,                ///< no unit could run
    UNITS,
    TASK,                   ///< units that were the last ones of a task
};

/* Runs some units of a task. */
static enum Done do_task(const Run *r, GpumeTask *t, int worker, int is_oldest)
{
    int start, nb = take_units(t, r->nb_workers, is_oldest, &start);

    if (nb <= 0)
        return NOTHING;
    t->run(t->arg, worker, start, start + nb);
    nb += atomic_fetch_add_explicit(&t->done, nb, memory_order_acq_rel);
    return nb == t->nb_units ? TASK : UNITS;
}

/* Replaces the task that a thread stays with by t, which may be NULL. */
static void stay_with(GpumeTask **own, GpumeTask *t)
{
    if (*own)
        atomic_fetch_sub_explicit(&(*own)->nb_own, 1, memory_order_relaxed);
    *own = t;
    if (t)
        atomic_fetch_add_explicit(&t->nb_own, 1, memory_order_relaxed);
}

/*
 * Runs some units.
 * @param own the task with which the thread stays, or NULL
 */
static enum Done do_units(const Run *r, int worker, GpumeTask **own)
{
    enum Done done = *own ? do_task(r, *own, worker, 0) : NOTHING;

    if (done)
        return done;
    stay_with(own, NULL);
    for (int shared = 0; shared < 2; shared++)
        for (int i = 0; i < r->nb_lists; i++) {
            GpumeTaskList *l = r->lists[i];

            if (list_done(l))
                continue;
            for (int k = atomic_load_explicit(&l->first, memory_order_relaxed); k < l->nb; k++) {
                GpumeTask *t = l->tasks[k];

                if (!shared && atomic_load_explicit(&t->nb_own, memory_order_relaxed))
                    continue;
                done = do_task(r, t, worker, !i);
                if (!done)
                    continue;
                if (t->take)
                    stay_with(own, t);
                return done;
            }
        }
    return NOTHING;
}

/*
 * Returns whether threads shall stop. They stop when the first list is done, and they have worked for the minimum time
 * or all lists are done. A single thread needs no minimum time, because no thread was woken.
 */
static int shall_stop(const Run *r)
{
    if (!list_done(r->lists[0]))
        return 0;
    if (r->nb_workers == 1 || av_gettime_relative() - r->begin >= r->min_time)
        return 1;
    for (int i = 1; i < r->nb_lists; i++)
        if (!list_done(r->lists[i]))
            return 0;
    return 1;
}

static void work_on(void *opaque, int worker, int nb_workers)
{
    Run *r = opaque;
    int64_t since = av_gettime_relative(), busy = 0;
    GpumeTask *own = NULL;
    int n = 0;

    atomic_fetch_add_explicit(&r->nb_inside, 1, memory_order_relaxed);
    while (!atomic_load_explicit(&r->stop, memory_order_relaxed)) {
        const enum Done done = do_units(r, worker, &own);

        /* between the units of a task there is no reason to stop */
        if (done != UNITS && shall_stop(r)) {
            atomic_store_explicit(&r->stop, 1, memory_order_relaxed);
        } else if (done) {
            if (n)
                since = av_gettime_relative();
            n = 0;
        } else {
            if (!n)
                busy += av_gettime_relative() - since;
            back_off(n++);
        }
    }
    stay_with(&own, NULL);
    if (!n)
        busy += av_gettime_relative() - since;
    atomic_fetch_add_explicit(&r->busy, busy, memory_order_relaxed);
    atomic_fetch_sub_explicit(&r->nb_inside, 1, memory_order_release);
#if HAVE_PTHREADS
    /* the caller would sleep until the others have ended, and waking it takes long, so it ends last */
    if (pthread_equal(pthread_self(), r->caller))
        for (int i = 0; atomic_load_explicit(&r->nb_inside, memory_order_acquire); i++)
            back_off(i);
#endif
}

static int nb_done(GpumeTaskList *const *lists, int nb_lists)
{
    int nb = 0;

    for (int i = 0; i < nb_lists; i++)
        nb += list_done(lists[i]);
    return nb;
}

void ff_gpume_tasks_run(GpumeScheduler *s, GpumeTaskList *const *lists, int nb_lists)
{
    Run r = {
        .lists = lists, .nb_lists = nb_lists, .nb_workers = FFMAX(s->executor.nb_threads, 1),
        .begin = av_gettime_relative(), .min_time = WORK_PER_LOSS * s->loss / 16,
    };
    const int before = nb_done(lists, nb_lists);
    int64_t busy, loss, work;

    if (list_done(lists[0]))
        return;
    /* waking a thread pays off if the thread does much more work than waking costs */
    if (s->work)
        r.nb_workers = av_clip64((nb_lists - before) * s->work / (2 * FFMAX(s->loss, 1)), 1, r.nb_workers);
    atomic_init(&r.stop, 0);
    atomic_init(&r.busy, 0);
    atomic_init(&r.nb_inside, 0);
#if HAVE_PTHREADS
    r.caller = pthread_self();
#endif
    gpume_execute(&s->executor, work_on, &r, r.nb_workers);

    busy    = 16 * atomic_load_explicit(&r.busy, memory_order_relaxed);
    work    = busy / FFMAX(nb_done(lists, nb_lists) - before, 1);
    /* the loss may have become less, so a smaller value is tried now and then */
    loss    = r.nb_workers > 1 ? 16 * (av_gettime_relative() - r.begin) - busy / r.nb_workers : s->loss - s->loss / 32;
    s->work = s->work ? s->work + (work - s->work) / 8 : work;
    s->loss = s->loss + (FFMIN(loss, MAX_LOSS) - s->loss) / 8;
}

void ff_gpume_chain_add(GpumeTaskChain *chain, void (*run)(void *arg, int worker, int start, int end), void *arg,
                        int nb_units)
{
    GpumeTask *task = &chain->tasks[chain->nb];

    av_assert0(chain->nb < FF_ARRAY_ELEMS(chain->tasks));
    *task = (GpumeTask) { run, .arg = arg, .nb_units = nb_units, .needs = { chain->nb ? task - 1 : NULL } };
    chain->nb++;
}

void ff_gpume_chain_run(GpumeTaskChain *chain, GpumeScheduler *s)
{
    GpumeTask *tasks[GPUME_MAX_CHAIN];
    GpumeTaskList list = { tasks, chain->nb };
    GpumeTaskList *const lists[] = { &list };

    for (int i = 0; i < chain->nb; i++)
        tasks[i] = &chain->tasks[i];
    ff_gpume_tasks_run(s, lists, 1);
    chain->nb = 0;
}

int ff_gpume_nb_parts(int nb_threads, int rows)
{
    return FFMIN(PARTS * (int64_t)nb_threads, rows);
}
