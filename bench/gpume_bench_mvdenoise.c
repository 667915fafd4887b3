/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Measures mvdenoise for a frame on the device, in total and kernel by kernel, with vectors from
 * gpume.
 */

#include "config_components.h"

#include <stdio.h>
#include <string.h>

#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/frame.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"

#include "gpume_bench.h"

#if CONFIG_MVDENOISE_FILTER
#include "libavfilter/gpume/mvdenoise/mvdenoise.h"

#define RADIUS 2
#define PASSES 2
/** Number of pictures of a run: as many as can be in flight without waiting. */
#define MADE   8
/** Number of pictures before them, which the first one needs. */
#define AHEAD  (PASSES * RADIUS)
#define FRAMES (AHEAD + 1 + MADE)
#define SIGMA  10

typedef struct BenchMvdenoise {
    AVBufferRef *frames;
    AVFrame *in[FRAMES], *out;
    Mvdenoise *mvdenoise;
} BenchMvdenoise;

/* Returns approximately normal noise. */
static int draw_noise(uint32_t *state)
{
    int sum = 0;

    /* the sum of 12 numbers up to 255 has the standard deviation 256 */
    for (int i = 0; i < 12; i++) {
        *state = *state * 1664525 + 1013904223;
        sum   += *state >> 24;
    }
    return (sum - 6 * 255) * SIGMA / 256;
}

static void put(const Bench *b, uint8_t *row, int x, int v, uint32_t *state)
{
    v = av_clip_uint8(v + draw_noise(state));
    if (b->depth > 8)
        ((uint16_t *)row)[x] = v << 8;
    else
        row[x] = v;
}

/* Returns a noisy picture of the clip on the device; chroma is half of luma. */
static AVFrame *make_noisy(Bench *b, AVBufferRef *frames, const uint8_t *luma, uint32_t *state)
{
    AVFrame *host = bench_host_frame(b, frames);

    for (int y = 0; y < b->height; y++)
        for (int x = 0; x < b->width; x++)
            put(b, host->data[0] + y * host->linesize[0], x, luma[y * b->width + x], state);
    for (int y = 0; y < b->height / 2; y++)
        for (int x = 0; x < b->width; x++)
            put(b, host->data[1] + y * host->linesize[1], x, 64 + luma[2 * y * b->width + (x & ~1)] / 2, state);
    return bench_upload(frames, host);
}

static void mvdenoise_init(Bench *b, BenchMvdenoise *d, enum AVPixelFormat format, const char *path)
{
    MvdenoiseConfig cfg = {
        .executor = { bench_execute, NULL, 1 }, .radius = RADIUS, .strength = 256, .passes = PASSES, .planes = 7,
    };
    AVFrame *pictures[FRAMES];
    uint32_t state = 1;
    uint8_t *luma;
    int nb, ret;

    d->frames = bench_alloc_frames(b, format);
    luma      = bench_read_pictures(b, path, FRAMES, &nb);
    for (int i = 0; i < FRAMES; i++)
        pictures[i] = make_noisy(b, d->frames, luma + (size_t)(i % nb) * b->width * b->height, &state);
    av_free(luma);
    bench_find_vectors(b, d->frames, pictures, d->in, FRAMES,
                       "algo=hme:block=8:dir=both:refs=2:smooth=8:sweeps=2:backend=cuda");
    bench_forget_kernels();
    cfg.hw_frames = d->frames;
    ret = ff_mvdenoise_open(&d->mvdenoise, &cfg);
    if (ret < 0)
        bench_die("denoised frames", ret);
    d->out = bench_get_frame(d->frames);
}

static void mvdenoise_uninit(BenchMvdenoise *d)
{
    ff_mvdenoise_close(&d->mvdenoise);
    for (int i = 0; i < FRAMES; i++)
        av_frame_free(&d->in[i]);
    av_frame_free(&d->out);
    av_buffer_unref(&d->frames);
}

static void push(BenchMvdenoise *d, int i)
{
    AVFrame *frame = av_frame_clone(d->in[i]);
    const int ret  = frame ? ff_mvdenoise_push(d->mvdenoise, &frame, NULL, 0) : AVERROR(ENOMEM);

    if (ret < 0)
        bench_die("denoised frames", ret);
}

static void make(BenchMvdenoise *d)
{
    const int ret = ff_mvdenoise_make(d->mvdenoise, d->out);

    if (ret < 0)
        bench_die("denoised frames", ret);
}

/* Makes a picture for each input picture, queued after the fill that keeps the device busy. */
static void make_pictures(Bench *b, BenchMvdenoise *d, int recording, double *device_us, double *host_us)
{
    int64_t began;

    for (int i = 0; i <= AHEAD; i++)
        push(d, i);
    make(d);
    began = bench_begin(b, recording);
    for (int i = 0; i < MADE; i++) {
        push(d, AHEAD + 1 + i);
        make(d);
    }
    bench_end(b, began, MADE, device_us, host_us);
    ff_mvdenoise_flush(d->mvdenoise);
}

void bench_mvdenoise(Bench *b, const char *path)
{
    const enum AVPixelFormat format = b->depth > 8 ? AV_PIX_FMT_P010 : AV_PIX_FMT_NV12;
    BenchRow row = {
        .part = "mvdenoise", .what = "radius 2", .content = "clip", .width = b->width, .height = b->height,
        .block = 8, .depth = b->depth > 8 ? 10 : 8, .metric = "time on the device", .unit = "us",
    };
    BenchTimes device = { .nb = b->repeats }, host = { .nb = b->repeats };
    BenchMvdenoise d = { 0 };

    printf("\n%-6s %9s %10s %7s %9s %10s   mvdenoise, a frame, radius %d, %d passes\n", "format", "size", "device, us",
           "spread", "frames/s", "host, us", RADIUS, PASSES);
    bench_begin_launches(b);
    mvdenoise_init(b, &d, format, path);
    make_pictures(b, &d, 0, &device.us[0], &host.us[0]);
    for (int k = 0; k < b->repeats; k++)
        make_pictures(b, &d, 0, &device.us[k], &host.us[k]);
    bench_sort(&device);
    bench_sort(&host);
    bench_times(b, &row, &device);
    row.metric = "time on the host";
    bench_times(b, &row, &host);
    printf("%-6s %4dx%-4d %10.2f %5.1f %% %9.0f %10.2f\n", av_get_pix_fmt_name(format), b->width, b->height,
           bench_median(&device), bench_spread(&device), 1e6 / bench_median(&device), bench_median(&host));
    make_pictures(b, &d, 1, &device.us[0], &host.us[0]);
    bench_print_launches(b, row, MADE);
    mvdenoise_uninit(&d);
    bench_end_launches(b);
}
#else
void bench_mvdenoise(Bench *b, const char *path)
{
    printf("mvdenoise: this build has no mvdenoise\n");
}
#endif
