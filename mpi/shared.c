/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libavutil/macros.h"
#include "libavutil/mem.h"
#include "libavutil/time.h"

#include "mpi/shared.h"

/** Time between two tests of a request, microseconds: at first, and at most. */
#define MIN_NAP 20
#define MAX_NAP 2000
/** Bytes of one broadcast: MPI counts have type int. */
#define MAX_BROADCAST (1 << 28)

void shared_report(const Shared *s, int segment, const char *format, ...)
{
    char line[1024];
    int len = snprintf(line, sizeof(line), "gpume-mpi: rank %d", s->world_rank);
    va_list args;

    if (segment >= 0)
        len += snprintf(line + len, sizeof(line) - len, ", segment %d", segment);
    len += snprintf(line + len, sizeof(line) - len, ": ");
    va_start(args, format);
    vsnprintf(line + len, sizeof(line) - len, format, args);
    va_end(args);
    /* in one piece, because other ranks write as well */
    fprintf(stderr, "%s\n", line);
}

int shared_error(const Shared *s, int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len;

    if (code == MPI_SUCCESS)
        return 0;
    if (MPI_Error_string(code, text, &len) != MPI_SUCCESS)
        snprintf(text, sizeof(text), "error %d", code);
    shared_report(s, -1, "%s: %s", what, text);
    return AVERROR_EXTERNAL;
}

int shared_open(Shared *s, MPI_Comm comm)
{
    MPI_Aint size;
    int code;

    memset(s, 0, sizeof(*s));
    s->comm = comm;
    s->win  = MPI_WIN_NULL;
    if ((code = MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)) != MPI_SUCCESS ||
        (code = MPI_Comm_rank(comm, &s->rank)) != MPI_SUCCESS ||
        (code = MPI_Comm_size(comm, &s->size)) != MPI_SUCCESS ||
        (code = MPI_Comm_rank(MPI_COMM_WORLD, &s->world_rank)) != MPI_SUCCESS)
        return shared_error(s, code, "MPI's communicator");
    size = s->rank ? 0 : (SHARED_NB + 2 * s->size) * sizeof(*s->counters);
    code = MPI_Win_allocate(size, sizeof(*s->counters), MPI_INFO_NULL, comm, &s->counters, &s->win);
    if (code != MPI_SUCCESS) {
        s->win = MPI_WIN_NULL;
        return shared_error(s, code, "MPI_Win_allocate");
    }
    if ((code = MPI_Win_set_errhandler(s->win, MPI_ERRORS_RETURN)) != MPI_SUCCESS ||
        (code = MPI_Win_lock_all(MPI_MODE_NOCHECK, s->win)) != MPI_SUCCESS)
        return shared_error(s, code, "MPI's window");
    return 0;
}

int shared_add(Shared *s, int counter, int64_t value, int64_t *before)
{
    int64_t old;
    int code = MPI_Fetch_and_op(&value, &old, MPI_INT64_T, 0, counter, MPI_SUM, s->win);

    if (code == MPI_SUCCESS)
        code = MPI_Win_flush(0, s->win);
    if (before)
        *before = old;
    return shared_error(s, code, "MPI_Fetch_and_op");
}

/* Replaces the value of a counter. */
static int set(Shared *s, int counter, int64_t value)
{
    int64_t before;
    int code = MPI_Fetch_and_op(&value, &before, MPI_INT64_T, 0, counter, MPI_REPLACE, s->win);

    if (code == MPI_SUCCESS)
        code = MPI_Win_flush(0, s->win);
    return shared_error(s, code, "MPI_Fetch_and_op");
}

/*
 * A range of work, from first to end - 1, is packed into one word, so that one atomic addition takes a piece from
 * either end. If several ranks take pieces at the same time, first may exceed end, and then no work is left.
 */
static int64_t pack_range(int64_t first, int64_t end)
{
    return end * (1LL << 32) + first;
}

static int64_t range_first(int64_t range)
{
    return range & UINT32_MAX;
}

static int64_t range_end(int64_t range)
{
    return (range - range_first(range)) / (1LL << 32);
}

static int64_t range_length(int64_t range)
{
    return range_end(range) - range_first(range);
}

/* Returns the counter that contains the range of a rank. */
static int range_counter(int rank)
{
    return SHARED_NB + rank;
}

int shared_set_segment(Shared *s, int segment)
{
    return set(s, SHARED_NB + s->size + s->rank, segment);
}

int shared_divide(Shared *s, int nb)
{
    int ret = shared_agree(s, 0);

    for (int i = 0; !s->rank && i < SHARED_NB && ret >= 0; i++)
        ret = set(s, i, 0);
    for (int64_t i = 0; !s->rank && i < s->size && ret >= 0; i++)
        ret = set(s, range_counter(i), pack_range(nb * i / s->size, nb * (i + 1) / s->size));
    if (ret >= 0)
        ret = shared_set_segment(s, -1);
    return shared_agree(s, ret);
}

/* Finds the longest remaining range. *victim is set to its rank, or -1 if there is none. */
static int find_longest(Shared *s, int *victim, int64_t *value)
{
    int64_t *all = av_malloc_array(s->size, sizeof(*all));
    int64_t longest = 0;
    int code;

    *victim = -1;
    if (!all)
        return AVERROR(ENOMEM);
    code = MPI_Get_accumulate(NULL, 0, MPI_INT64_T, all, s->size, MPI_INT64_T, 0, SHARED_NB, s->size,
                              MPI_INT64_T, MPI_NO_OP, s->win);
    if (code == MPI_SUCCESS)
        code = MPI_Win_flush(0, s->win);
    for (int i = 0; i < s->size && code == MPI_SUCCESS; i++)
        if (range_length(all[i]) > longest) {
            longest = range_length(all[i]);
            *victim = i;
            *value  = all[i];
        }
    av_free(all);
    return shared_error(s, code, "MPI_Get_accumulate");
}

/* Takes the second half of another rank's range. */
static int steal(Shared *s, int *piece)
{
    int victim, ret;
    int64_t value;

    while ((ret = find_longest(s, &victim, &value)) >= 0 && victim >= 0) {
        const int64_t nb = (range_length(value) + 1) / 2;
        int64_t first;

        ret = shared_add(s, range_counter(victim), pack_range(0, -nb), &value);
        if (ret < 0)
            break;
        /* other ranks may have taken pieces in the meantime */
        first = FFMAX(range_first(value), range_end(value) - nb);
        if (first >= range_end(value))
            continue;
        *piece = first;
        return set(s, range_counter(s->rank), pack_range(first + 1, range_end(value)));
    }
    return ret;
}

int shared_take(Shared *s, int *piece)
{
    int64_t stop, value;
    int ret = shared_add(s, SHARED_STOP, 0, &stop);

    *piece = -1;
    if (ret < 0 || stop)
        return ret;
    ret = shared_add(s, range_counter(s->rank), 1, &value);
    if (ret < 0 || range_length(value) <= 0)
        return ret < 0 ? ret : steal(s, piece);
    *piece = range_first(value);
    return 0;
}

void shared_close(Shared *s)
{
    if (s->win == MPI_WIN_NULL)
        return;
    if (MPI_Win_unlock_all(s->win) != MPI_SUCCESS || MPI_Win_free(&s->win) != MPI_SUCCESS)
        shared_report(s, -1, "could not free MPI's window");
    s->win = MPI_WIN_NULL;
}

int shared_wait(Shared *s, MPI_Request *request)
{
    unsigned nap = MIN_NAP;
    int done = 0;

    for (;;) {
        const int code = MPI_Test(request, &done, MPI_STATUS_IGNORE);

        if (code != MPI_SUCCESS)
            return shared_error(s, code, "MPI_Test");
        if (done)
            return 0;
        if (s->idle)
            s->idle(s->opaque);
        av_usleep(nap);
        nap = FFMIN(nap * 2, MAX_NAP);
    }
}

int shared_agree(Shared *s, int status)
{
    /* GPUME_INDIVISIBLE is more serious than all errors */
    int mine[2] = { status == GPUME_INDIVISIBLE ? -1 : 0, status }, all[2];
    MPI_Request request;
    const int code = MPI_Iallreduce(mine, all, 2, MPI_INT, MPI_MIN, s->comm, &request);
    int ret;

    if (code != MPI_SUCCESS)
        return shared_error(s, code, "MPI_Iallreduce");
    ret = shared_wait(s, &request);
    if (ret < 0)
        return ret;
    return all[0] ? GPUME_INDIVISIBLE : all[1];
}

int shared_broadcast(Shared *s, void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        const int now = FFMIN(size - done, MAX_BROADCAST);
        MPI_Request request;
        const int code = MPI_Ibcast((char *)data + done, now, MPI_BYTE, 0, s->comm, &request);
        int ret;

        if (code != MPI_SUCCESS)
            return shared_error(s, code, "MPI_Ibcast");
        ret = shared_wait(s, &request);
        if (ret < 0)
            return ret;
        done += now;
    }
    return 0;
}
