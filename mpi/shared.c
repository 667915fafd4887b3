/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define _GNU_SOURCE     /* sched_getaffinity(), readlink() */
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"

#if CONFIG_FFNVCODEC
/* without these macros, the loader would print that there is no driver */
#define FFNV_LOG_FUNC(...)
#define FFNV_DEBUG_LOG_FUNC(...)
#include <ffnvcodec/dynlink_loader.h>
#endif

#include "libavutil/cpu.h"
#include "libavutil/hwcontext.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"
#include "libavutil/time.h"

#include "mpi/shared.h"

/** Time between two tests of a request, microseconds. */
#define NAP 200
/** Bytes of one broadcast: MPI counts have type int. */
#define MAX_BROADCAST (1 << 28)
/** Time between two drawings of the progress bar, microseconds. */
#define INTERVAL 250000
#define BAR_WIDTH 24

void shared_report(const Shared *s, int segment, const char *format, ...)
{
    char line[1024];
    int len = snprintf(line, sizeof(line), "gpume-mpi: rank %d", s->rank);
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

int shared_open(Shared *s)
{
    MPI_Aint size;
    int code;

    memset(s, 0, sizeof(*s));
    s->win = MPI_WIN_NULL;
    if ((code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)) != MPI_SUCCESS ||
        (code = MPI_Comm_rank(MPI_COMM_WORLD, &s->rank)) != MPI_SUCCESS ||
        (code = MPI_Comm_size(MPI_COMM_WORLD, &s->size)) != MPI_SUCCESS)
        return shared_error(s, code, "MPI's communicator");
    size = s->rank ? 0 : SHARED_NB * sizeof(*s->counters);
    code = MPI_Win_allocate(size, sizeof(*s->counters), MPI_INFO_NULL, MPI_COMM_WORLD, &s->counters, &s->win);
    if (code != MPI_SUCCESS) {
        s->win = MPI_WIN_NULL;
        return shared_error(s, code, "MPI_Win_allocate");
    }
    if ((code = MPI_Win_set_errhandler(s->win, MPI_ERRORS_RETURN)) != MPI_SUCCESS ||
        (code = MPI_Win_lock_all(MPI_MODE_NOCHECK, s->win)) != MPI_SUCCESS)
        return shared_error(s, code, "MPI's window");
    return 0;
}

static int count_gpus(void)
{
    int nb = 0;
#if CONFIG_FFNVCODEC
    CudaFunctions *cu = NULL;

    if (cuda_load_functions(&cu, NULL) >= 0 &&
        (cu->cuInit(0) != CUDA_SUCCESS || cu->cuDeviceGetCount(&nb) != CUDA_SUCCESS))
        nb = 0;
    cuda_free_functions(&cu);
#endif
    return nb;
}

/* Sets *threads to this rank's share of its cores, which several ranks may be allowed to use. */
static int share_cores(MPI_Comm machine, int nb_local, int *threads)
{
    cpu_set_t mine, *all = calloc(nb_local, sizeof(mine));
    int nb_same = 0, code;

    if (!all)
        return MPI_ERR_NO_MEM;
    CPU_ZERO(&mine);
    if (sched_getaffinity(0, sizeof(mine), &mine))
        CPU_ZERO(&mine);
    code = MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE, machine);
    for (int i = 0; i < nb_local && code == MPI_SUCCESS; i++)
        nb_same += !memcmp(&mine, &all[i], sizeof(mine));
    *threads = FFMAX(av_cpu_count() / FFMAX(nb_same, 1), 1);
    free(all);
    return code;
}

int shared_open_device(Shared *s, int cuda)
{
    MPI_Comm machine = MPI_COMM_NULL;
    int local = 0, nb_local = 1, nb_gpus, code, ret = 0;

    if ((code = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, s->rank, MPI_INFO_NULL,
                                    &machine)) != MPI_SUCCESS ||
        (code = MPI_Comm_rank(machine, &local)) != MPI_SUCCESS ||
        (code = MPI_Comm_size(machine, &nb_local)) != MPI_SUCCESS ||
        (code = share_cores(machine, nb_local, &s->threads)) != MPI_SUCCESS)
        ret = shared_error(s, code, "could not find the ranks of this machine");
    if (machine != MPI_COMM_NULL && (code = MPI_Comm_free(&machine)) != MPI_SUCCESS && ret >= 0)
        ret = shared_error(s, code, "MPI_Comm_free");
    if (ret < 0)
        return ret;

    nb_gpus = count_gpus();
    if (nb_gpus > 0)
        snprintf(s->gpu, sizeof(s->gpu), "%d", local % nb_gpus);
    if (!cuda)
        return 0;
    ret = nb_gpus > 0 ? av_hwdevice_ctx_create(&s->cuda, AV_HWDEVICE_TYPE_CUDA, s->gpu, NULL, 0) : AVERROR(ENODEV);
    if (ret < 0)
        shared_report(s, -1, "could not open the GPU (--hwaccel cuda; this rank has number %d of %d "
                      "on its machine): %s", local % FFMAX(nb_gpus, 1), nb_gpus, av_err2str(ret));
    return ret;
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

int shared_divide(Shared *s, int nb)
{
    int ret = shared_agree(s, 0);

    s->first = s->end = 0;
    s->nb_pieces = nb;
    if (!s->rank && ret >= 0)
        memset(s->counters, 0, SHARED_NB * sizeof(*s->counters));
    return shared_agree(s, ret >= 0 ? shared_error(s, MPI_Win_sync(s->win), "MPI_Win_sync") : ret);
}

/* Takes the next pieces that no rank has taken: about half of this rank's share of the remaining pieces. */
static int take_range(Shared *s)
{
    int64_t taken, nb;
    int ret = shared_add(s, SHARED_TAKEN, 0, &taken);

    if (ret < 0)
        return ret;
    nb  = FFMAX((s->nb_pieces - taken) / (2 * s->size), 1);
    ret = shared_add(s, SHARED_TAKEN, nb, &taken);
    /* other ranks may have taken pieces in the meantime */
    s->first = FFMIN(taken, s->nb_pieces);
    s->end   = FFMIN(taken + nb, s->nb_pieces);
    return ret;
}

int shared_take(Shared *s, int *piece)
{
    int64_t stop;
    int ret = shared_add(s, SHARED_STOP, 0, &stop);

    *piece = -1;
    if (ret >= 0 && !stop && s->first == s->end)
        ret = take_range(s);
    if (ret >= 0 && !stop && s->first < s->end)
        *piece = s->first++;
    return ret;
}

void shared_close(Shared *s)
{
    av_buffer_unref(&s->cuda);
    if (s->win == MPI_WIN_NULL)
        return;
    if (MPI_Win_unlock_all(s->win) != MPI_SUCCESS || MPI_Win_free(&s->win) != MPI_SUCCESS)
        shared_report(s, -1, "could not free MPI's window");
    s->win = MPI_WIN_NULL;
}

/* Waits for a request without keeping a core busy. */
static int shared_wait(Shared *s, MPI_Request *request)
{
    int done = 0;

    for (;;) {
        const int code = MPI_Test(request, &done, MPI_STATUS_IGNORE);

        if (code != MPI_SUCCESS)
            return shared_error(s, code, "MPI_Test");
        if (done)
            return 0;
        progress_draw(s);
        av_usleep(NAP);
    }
}

int shared_agree(Shared *s, int status)
{
    MPI_Request request;
    int lowest = 0, ret;
    const int code = MPI_Iallreduce(&status, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);

    if (code != MPI_SUCCESS)
        return shared_error(s, code, "MPI_Iallreduce");
    ret = shared_wait(s, &request);
    return ret < 0 ? ret : FFMIN(lowest, 0);
}

int shared_broadcast(Shared *s, void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        const int now = FFMIN(size - done, MAX_BROADCAST);
        MPI_Request request;
        const int code = MPI_Ibcast((char *)data + done, now, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
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

int shared_broadcast_array(Shared *s, void *data, size_t size)
{
    void **array = data;
    int ret;

    if (s->rank) {
        av_free(*array);
        *array = av_malloc(FFMAX(size, 1));
    }
    ret = shared_agree(s, *array ? 0 : AVERROR(ENOMEM));
    return ret < 0 ? ret : shared_broadcast(s, *array, size);
}

int progress_on_terminal(void)
{
    char path[64], target[128];
    ssize_t len;

    if (isatty(STDERR_FILENO))
        return 1;
    /* mpirun forwards the output of ranks through pipes, so the standard error of mpirun is examined */
    snprintf(path, sizeof(path), "/proc/%ld/fd/2", (long)getppid());
    len = readlink(path, target, sizeof(target) - 1);
    target[FFMAX(len, 0)] = 0;
    return !strncmp(target, "/dev/pts/", 9) || !strncmp(target, "/dev/tty", 8);
}

void progress_draw(Shared *s)
{
    Progress *p = &s->progress;
    const int64_t now = av_gettime_relative();
    char bar[BAR_WIDTH + 1] = "";
    int64_t done, left;
    double rate;

    if (p->last && !p->nb_frames) {
        fputs("\r\033[K", stderr);
        p->last = 0;
    }
    if (!p->nb_frames || now - p->last < INTERVAL)
        return;
    p->last = now;
    if (shared_add(s, SHARED_FRAMES, 0, &done) < 0)
        return;
    rate  = done / FFMAX((now - p->start) / 1e6, 1e-3);
    done  = FFMIN(done + p->done_before, p->nb_frames);
    left  = rate > 0 ? (p->nb_frames - done) / rate : 0;
    for (int i = 0; i < BAR_WIDTH; i++)
        bar[i] = i < done * BAR_WIDTH / p->nb_frames ? '#' : '.';
    fprintf(stderr, "\r[%s] %"PRId64"/%"PRId64" frames, %.1f frames/s, %d rank%s, %"PRId64":%02"PRId64" left   ",
            bar, done, p->nb_frames, rate, s->size, s->size > 1 ? "s" : "", left / 60, left % 60);
    fflush(stderr);
}
