/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "libavutil/macros.h"

#include "mpi/signals.h"

static const Shared *volatile shared;

/** A line that is built without the functions that a signal handler must not call. */
typedef struct Line {
    char text[1024];
    size_t len;
} Line;

static void add(Line *l, const char *text)
{
    const size_t len = strlen(text);

    if (l->len + len < sizeof(l->text)) {
        memcpy(l->text + l->len, text, len);
        l->len += len;
    }
}

static void add_number(Line *l, int64_t n)
{
    char digits[24];
    int i = sizeof(digits) - 1;

    digits[i] = 0;
    do
        digits[--i] = '0' + n % 10;
    while ((n /= 10) > 0);
    add(l, digits + i);
}

/* Prints the signal and, on rank 0, the current segments of all ranks, including the rank that has died. */
static void handle_signal(int signal)
{
    const Shared *s = shared;
    Line line = { .len = 0 };

    if (s) {
        add(&line, "gpume-mpi: rank ");
        add_number(&line, s->world_rank);
        add(&line, " was terminated by signal ");
        add_number(&line, signal);
        for (int i = 0; !s->rank && i < s->size; i++) {
            const int64_t segment = s->counters[SHARED_NB + s->size + i];

            if (segment >= 0) {
                add(&line, "; rank ");
                add_number(&line, i);
                add(&line, " was in segment ");
                add_number(&line, segment);
            }
        }
        add(&line, "\n");
        if (write(STDERR_FILENO, line.text, line.len) < 0)
            _exit(1);
    }
    raise(signal);
}

void signals_catch(const Shared *world)
{
    static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
    struct sigaction action = { .sa_handler = handle_signal, .sa_flags = SA_RESETHAND };

    shared = world;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < FF_ARRAY_ELEMS(signals); i++)
        sigaction(signals[i], &action, NULL);
}

void signals_release(void)
{
    shared = NULL;
}
