/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Measures mvdeint for a field on the device, including its search, in total and kernel by kernel.
 */

#include "config_components.h"

#include <stdio.h>
#include <string.h>

#include "libavutil/error.h"
#include "libavutil/frame.h"
#include "libavutil/mem.h"
#include "libavutil/time.h"

#include "gpume_bench.h"

#if CONFIG_MVDEINT_FILTER
#include "libavfilter/gpume/mvdeint/mvdeint.h"

/** Number of pictures of the clip, two of which become the fields of a frame; number of frames of a run. */
#define PICTURES 32
#define FRAMES   64

typedef struct BenchMvdeint {
    AVBufferRef *frames;
    AVFrame *in[PICTURES / 2], *out;
    Mvdeint *mvdeint;
} BenchMvdeint;

/* Returns a frame on the device whose fields are from two pictures of the clip; chroma is half of luma. */
static AVFrame *weave(Bench *b, AVBufferRef *frames, const uint8_t *first, const uint8_t *second)
{
    AVFrame *host = bench_host_frame(b, frames);

    for (int y = 0; y < b->height; y++)
        memcpy(host->data[0] + y * host->linesize[0], (y & 1 ? second : first) + (size_t)y * b->width, b->width);
    for (int y = 0; y < b->height / 2; y++) {
        const uint8_t *luma = (y & 1 ? second : first) + (size_t)2 * y * b->width;

        for (int x = 0; x < b->width; x++)
            host->data[1][y * host->linesize[1] + x] = 64 + luma[x & ~1] / 2;
    }
    return bench_upload(frames, host);
}

static void mvdeint_init(Bench *b, BenchMvdeint *d, const char *path, int passes, int max_in_flight)
{
    MvdeintConfig cfg = {
        .executor = { bench_execute, NULL, 1 }, .passes = passes, .refs = MVDEINT_MAX_REFS,
        .max_in_flight = max_in_flight,
    };
    const size_t size = (size_t)b->width * b->height;
    uint8_t *luma;
    int nb, ret;

    d->frames = bench_alloc_frames(b, AV_PIX_FMT_NV12);
    luma      = bench_read_pictures(b, path, PICTURES, &nb);
    for (int i = 0; i < PICTURES / 2; i++)
        d->in[i] = weave(b, d->frames, luma + 2 * i % nb * size, luma + (2 * i + 1) % nb * size);
    av_free(luma);
    cfg.hw_frames = d->frames;
    ret = ff_mvdeint_open(&d->mvdeint, &cfg);
    if (ret < 0)
        bench_die("deinterlaced frames", ret);
    d->out = bench_get_frame(d->frames);
}

static void mvdeint_uninit(BenchMvdeint *d)
{
    ff_mvdeint_close(&d->mvdeint);
    for (int i = 0; i < PICTURES / 2; i++)
        av_frame_free(&d->in[i]);
    av_frame_free(&d->out);
    av_buffer_unref(&d->frames);
}

/* Adds a frame and makes the fields that it completes. Returns their number. */
static int push(BenchMvdeint *d, int i)
{
    AVFrame *frame = av_frame_clone(d->in[i % (PICTURES / 2)]);
    const MvdeintInput input = { 0 };
    MvdeintNext next;
    int ret = frame ? ff_mvdeint_push(d->mvdeint, &frame, &input, NULL) : AVERROR(ENOMEM), nb = 0;

    while (ret >= 0 && (ret = ff_mvdeint_next(d->mvdeint, &next)) > 0) {
        ret = ff_mvdeint_make(d->mvdeint, d->out);
        nb++;
    }
    if (ret < 0)
        bench_die("deinterlaced frames", ret);
    return nb;
}

/* Returns the time per field in microseconds, while device and host work at the same time. */
static double make_fields(Bench *b, BenchMvdeint *d)
{
    int64_t began;
    int nb = 0;

    BENCH_CU(b, cuStreamSynchronize(b->hwctx->stream));
    began = av_gettime_relative();
    for (int i = 0; i < FRAMES; i++)
        nb += push(d, i);
    BENCH_CU(b, cuStreamSynchronize(b->hwctx->stream));
    return (av_gettime_relative() - began) / (double)nb;
}

/* Measures each kernel, with one search at a time: kernels side by side take longer. */
static void measure_kernels(Bench *b, const BenchRow *row, const char *path)
{
    BenchMvdeint d = { 0 };
    int nb = 0;

    bench_begin_launches(b);
    bench_forget_kernels();
    mvdeint_init(b, &d, path, row->count, 1);
    make_fields(b, &d);
    bench_keep_busy(b);
    bench_record_launches(1);
    for (int i = 0; i < 4; i++)
        nb += push(&d, i);
    bench_record_launches(0);
    BENCH_CU(b, cuStreamSynchronize(b->hwctx->stream));
    bench_print_launches(b, *row, nb);
    mvdeint_uninit(&d);
    bench_end_launches(b);
}

void bench_mvdeint(Bench *b, const char *path)
{
    BenchRow row = {
        .part = "mvdeint", .what = "passes", .content = "clip", .width = b->width, .height = b->height,
        .block = MVDEINT_BLOCK, .depth = 8, .metric = "time of a field", .unit = "us",
    };

    printf("\n%-6s %9s %10s %7s %9s   mvdeint, a field, search included\n", "passes", "size", "time, us", "spread",
           "frames/s");
    for (row.count = 1; row.count <= MVDEINT_MAX_PASSES; row.count++) {
        BenchTimes times = { .nb = b->repeats };
        BenchMvdeint d   = { 0 };

        mvdeint_init(b, &d, path, row.count, 0);
        make_fields(b, &d);
        for (int k = 0; k < b->repeats; k++)
            times.us[k] = make_fields(b, &d);
        bench_sort(&times);
        bench_times(b, &row, &times);
        printf("%-6d %4dx%-4d %10.2f %5.1f %% %9.0f\n", row.count, b->width, b->height, bench_median(&times),
               bench_spread(&times), 1e6 / bench_median(&times));
        mvdeint_uninit(&d);
        /* further passes run the same kernels */
        if (row.count == 1)
            measure_kernels(b, &row, path);
    }
}
#else
void bench_mvdeint(Bench *b, const char *path)
{
    printf("mvdeint: this build has no mvdeint\n");
}
#endif
