/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libavutil/macros.h"
#include "libavutil/time.h"

#include "mpi/shared.h"

/** Between two looks at a request, microseconds: at first, and at most. */
#define MIN_NAP 20
#define MAX_NAP 2000
/** Bytes of one broadcast: counts are of type int. */
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
    /* in one piece: other ranks write, too */
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
    size = s->rank ? 0 : (SHARED_SEGMENTS + s->size) * sizeof(*s->counters);
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

int shared_set(Shared *s, int counter, int64_t value)
{
    int64_t before;
    int code = MPI_Fetch_and_op(&value, &before, MPI_INT64_T, 0, counter, MPI_REPLACE, s->win);

    if (code == MPI_SUCCESS)
        code = MPI_Win_flush(0, s->win);
    return shared_error(s, code, "MPI_Fetch_and_op");
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

int shared_reset(Shared *s)
{
    int ret = shared_agree(s, 0);

    for (int i = 0; !s->rank && i < SHARED_SEGMENTS + s->size && ret >= 0; i++)
        ret = shared_set(s, i, i < SHARED_SEGMENTS ? 0 : -1);
    return shared_agree(s, ret);
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
    /* in the order of their gravity */
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
