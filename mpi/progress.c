/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define _XOPEN_SOURCE 700   /* readlink() */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libavutil/macros.h"
#include "libavutil/time.h"

#include "mpi/progress.h"

/** Time between two drawings, microseconds. */
#define INTERVAL 250000
#define BAR_WIDTH 24

int progress_on_terminal(void)
{
    char path[64], target[128];
    ssize_t len;

    if (isatty(STDERR_FILENO))
        return 1;
    /* mpirun forwards the output of ranks through pipes, so the standard error of mpirun is examined */
    snprintf(path, sizeof(path), "/proc/%ld/fd/2", (long)getppid());
    len = readlink(path, target, sizeof(target) - 1);
    if (len <= 0)
        return 0;
    target[len] = 0;
    return !strncmp(target, "/dev/pts/", 9) || !strncmp(target, "/dev/tty", 8);
}

void progress_draw(void *progress)
{
    Progress *p = progress;
    const int64_t now = av_gettime_relative();
    char bar[BAR_WIDTH + 1];
    int64_t done, left;
    double rate;

    if (!p->nb_frames || now - p->last < INTERVAL)
        return;
    p->last = now;
    if (shared_add(p->shared, SHARED_FRAMES, 0, &done) < 0)
        return;
    rate  = done / FFMAX((now - p->start) / 1e6, 1e-3);
    done  = FFMIN(done + p->done_before, p->nb_frames);
    left  = rate > 0 ? (p->nb_frames - done) / rate : 0;
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < done * BAR_WIDTH / p->nb_frames ? '#' : '.';
    bar[BAR_WIDTH] = 0;
    fprintf(stderr, "\r[%s] %"PRId64"/%"PRId64" frames, %.1f frames/s, %d rank%s, %"PRId64":%02"PRId64" left   ",
            bar, done, p->nb_frames, rate, p->shared->size, p->shared->size > 1 ? "s" : "", left / 60, left % 60);
    fflush(stderr);
    p->shown = 1;
}

void progress_end(Progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = 0;
}
