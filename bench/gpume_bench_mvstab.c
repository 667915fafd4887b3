/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Measures mvstab for a frame on the device, including its search, in total and kernel by kernel.
 */

#include "config_components.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libavutil/error.h"
#include "libavutil/frame.h"
#include "libavutil/mem.h"
#include "libavutil/time.h"

#include "gpume_bench.h"

#if CONFIG_MVSTAB_FILTER
#include "libavfilter/gpume/mvstab/mvstab.h"

/** Number of pictures of the clip; number of frames of a run. */
#define PICTURES 32
#define FRAMES   128

typedef struct BenchMvstab {
    AVBufferRef *frames;
    AVFrame *in[PICTURES], *out;
    Mvstab *mvstab;
    int64_t nb;
} BenchMvstab;

/* Returns a frame on the device with gray chroma. */
static AVFrame *upload(Bench *b, AVBufferRef *frames, const uint8_t *luma)
{
    AVFrame *host = bench_host_frame(b, frames);

    for (int y = 0; y < b->height; y++)
        memcpy(host->data[0] + y * host->linesize[0], luma + (size_t)y * b->width, b->width);
    for (int y = 0; y < b->height / 2; y++)
        memset(host->data[1] + y * host->linesize[1], 128, b->width);
    return bench_upload(frames, host);
}

static void mvstab_init(Bench *b, BenchMvstab *d, const char *path, enum MvstabMode mode)
{
    MvstabConfig cfg = {
        .executor = { bench_execute, NULL, 1 }, .mode = mode, .smoothing = 30,
        .limits = { INFINITY, 0, -2 },
    };
    const size_t size = (size_t)b->width * b->height;
    uint8_t *luma;
    int nb, ret;

    d->frames = bench_alloc_frames(b, AV_PIX_FMT_NV12);
    luma      = bench_read_pictures(b, path, PICTURES, &nb);
    for (int i = 0; i < PICTURES; i++)
        d->in[i] = upload(b, d->frames, luma + i % nb * size);
    av_free(luma);
    cfg.hw_frames = d->frames;
    ret = ff_mvstab_open(&d->mvstab, &cfg);
    if (ret < 0)
        bench_die("stabilised frames", ret);
    d->out = bench_get_frame(d->frames);
}

static void mvstab_uninit(BenchMvstab *d)
{
    ff_mvstab_close(&d->mvstab);
    for (int i = 0; i < PICTURES; i++)
        av_frame_free(&d->in[i]);
    av_frame_free(&d->out);
    av_buffer_unref(&d->frames);
}

/* Adds a frame and makes those that it completes. Returns their number. */
static int push(BenchMvstab *d)
{
    AVFrame *frame = av_frame_clone(d->in[d->nb % PICTURES]), *made;
    const MvstabInput input = { .time = d->nb++ };
    MvstabNext next;
    int ret = frame ? ff_mvstab_push(d->mvstab, &frame, &input) : AVERROR(ENOMEM), nb = 0;

    while (ret >= 0 && (ret = ff_mvstab_next(d->mvstab, &next)) > 0) {
        made = ff_mvstab_take(d->mvstab);
        av_frame_free(&made);
        ret = ff_mvstab_make(d->mvstab, d->out);
        nb++;
    }
    if (ret < 0)
        bench_die("stabilised frames", ret);
    return nb;
}

/* Returns the time per frame in microseconds, while device and host work at the same time. */
static double make_frames(Bench *b, BenchMvstab *d)
{
    int64_t began;
    int nb = 0;

    BENCH_CU(b, cuStreamSynchronize(b->hwctx->stream));
    began = av_gettime_relative();
    for (int i = 0; i < FRAMES; i++)
        nb += push(d);
    BENCH_CU(b, cuStreamSynchronize(b->hwctx->stream));
    return (av_gettime_relative() - began) / (double)nb;
}

void bench_mvstab(Bench *b, const char *path)
{
    static const char *const names[] = { "smooth", "tripod" };
    BenchRow row = {
        .part = "mvstab", .content = "clip", .width = b->width, .height = b->height, .block = MVSTAB_BLOCK, .depth = 8,
        .metric = "time of a frame", .unit = "us",
    };

    printf("\n%-6s %9s %10s %7s %9s   mvstab, a frame, search included\n", "mode", "size", "time, us", "spread",
           "frames/s");
    for (enum MvstabMode mode = MVSTAB_SMOOTH; mode <= MVSTAB_TRIPOD; mode++) {
        BenchTimes times = { .nb = b->repeats };
        BenchMvstab d    = { 0 };
        int nb = 0;

        row.what = names[mode];
        mvstab_init(b, &d, path, mode);
        make_frames(b, &d);
        for (int k = 0; k < b->repeats; k++)
            times.us[k] = make_frames(b, &d);
        bench_sort(&times);
        bench_times(b, &row, &times);
        printf("%-6s %4dx%-4d %10.2f %5.1f %% %9.0f\n", row.what, b->width, b->height, bench_median(&times),
               bench_spread(&times), 1e6 / bench_median(&times));
        mvstab_uninit(&d);
        d = (BenchMvstab) { 0 };
        bench_begin_launches(b);
        bench_forget_kernels();
        mvstab_init(b, &d, path, mode);
        make_frames(b, &d);
        bench_record_launches(1);
        for (int i = 0; i < 4; i++)
            nb += push(&d);
        bench_record_launches(0);
        BENCH_CU(b, cuStreamSynchronize(b->hwctx->stream));
        bench_print_launches(b, row, nb);
        mvstab_uninit(&d);
        bench_end_launches(b);
    }
}
#else
void bench_mvstab(Bench *b, const char *path)
{
    printf("mvstab: this build has no mvstab\n");
}
#endif
