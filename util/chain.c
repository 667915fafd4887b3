/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <stdatomic.h>
#if HAVE_PTHREADS
#include <sched.h>
#endif

#include "libavutil/macros.h"
#include "libavutil/time.h"

#include "libavfilter/gpume/util/chain.h"

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

typedef struct Chain {
    const GpumeLink *links;
    int nb;
    atomic_int next;        ///< the first part, of all jobs, that nobody has taken
    atomic_int done;        ///< how many of them are done
} Chain;

/*
 * Parts are taken in ascending order. So one that waits for those of the job before waits for
 * threads that are running, whether or not others have begun.
 */
static void run_parts(void *arg, int job, int nb_jobs)
{
    Chain *s = arg;

    for (;;) {
        int part = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
        int before = 0, i = 0;

        while (i < s->nb && part >= before + s->links[i].nb_jobs)
            before += s->links[i++].nb_jobs;
        if (i == s->nb)
            return;
        for (int n = 0; atomic_load_explicit(&s->done, memory_order_acquire) < before; n++)
            ff_gpume_pause(n);
        s->links[i].job(s->links[i].arg, part - before, s->links[i].nb_jobs);
        atomic_fetch_add_explicit(&s->done, 1, memory_order_acq_rel);
    }
}

void ff_gpume_chain_run(const GpumeExecutor *executor, const GpumeLink *links, int nb_links)
{
    Chain s = { links, nb_links };

    atomic_init(&s.next, 0);
    atomic_init(&s.done, 0);
    gpume_execute(executor, run_parts, &s, FFMAX(executor->nb_threads, 1));
}
