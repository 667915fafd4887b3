/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Measures mvstereo for a pair of views on the device: in total, kernel by kernel, and the memory traffic of
 * costs and paths.
 */

#include "config_components.h"

#include <stdio.h>
#include <string.h>

#include "libavutil/frame.h"
#include "libavutil/mem.h"

#include "gpume_bench.h"

#if CONFIG_MVSTEREO_FILTER
#include "libavfilter/gpume/mvstereo/mvstereo.h"

/** Number of pairs in a run. */
#define PAIRS 8
/** Disparities of the upper and the lower half of the picture. */
#define FAR   16
#define NEAR  40
/** Bytes transferred for each sample and disparity: costs once, four paths each written, read and added. */
#define BYTES (1 + 4 + 4 + 4)

typedef struct BenchMvstereo {
    AVBufferRef *frames, *out_frames;
    AVFrame *views[2], *out;
    MvstereoPair pair;
    Mvstereo *mvstereo;
} BenchMvstereo;

/* Returns a view on the device: the picture shifted by some columns. */
static AVFrame *make_view(Bench *b, AVBufferRef *frames, const uint8_t *luma, int is_right)
{
    AVFrame *host = bench_host_frame(b, frames);

    for (int y = 0; y < b->height; y++) {
        const int shift = is_right ? (2 * y < b->height ? FAR : NEAR) : 0;

        for (int x = 0; x < b->width; x++)
            host->data[0][y * host->linesize[0] + x] = luma[y * b->width + FFMIN(x + shift, b->width - 1)];
    }
    for (int y = 0; y < b->height / 2; y++)
        memset(host->data[1] + y * host->linesize[1], 128, b->width);
    return bench_upload(frames, host);
}

static void mvstereo_init(Bench *b, BenchMvstereo *d, const char *path, MvstereoConfig cfg)
{
    uint8_t *luma;
    int nb, ret;

    d->frames     = bench_alloc_frames(b, AV_PIX_FMT_NV12);
    d->out_frames = bench_alloc_frames(b, ff_mvstereo_output_format(MVSTEREO_DISPARITY, 1));
    luma          = bench_read_pictures(b, path, 2, &nb);
    d->pair       = (MvstereoPair) { .w = b->width, .h = b->height };
    for (int i = 0; i < 2; i++) {
        d->views[i]      = make_view(b, d->frames, luma, i);
        d->pair.views[i] = (MvstereoView) { .frame = d->views[i], .step_x = 1, .step_y = 1 };
    }
    av_free(luma);
    cfg.executor  = (GpumeExecutor) { bench_execute, NULL, 1 };
    cfg.fill      = 1;
    cfg.hw_frames = d->frames;
    ret = ff_mvstereo_open(&d->mvstereo, &cfg);
    if (ret < 0)
        bench_die("disparities", ret);
    d->out = bench_get_frame(d->out_frames);
}

static void mvstereo_uninit(BenchMvstereo *d)
{
    ff_mvstereo_close(&d->mvstereo);
    av_frame_free(&d->views[0]);
    av_frame_free(&d->views[1]);
    av_frame_free(&d->out);
    av_buffer_unref(&d->frames);
    av_buffer_unref(&d->out_frames);
}

/* Makes maps, queued after the fill that keeps the device busy. */
static double make_maps(Bench *b, BenchMvstereo *d, int recording)
{
    const int64_t began = bench_begin(b, recording);
    double device_us, host_us;

    for (int i = 0; i < PAIRS; i++) {
        const int ret = ff_mvstereo_make(d->mvstereo, &d->pair, d->out);

        if (ret < 0)
            bench_die("disparities", ret);
    }
    bench_end(b, began, PAIRS, &device_us, &host_us);
    return device_us;
}

/* Measures mvstereo with options. @param what name of the row */
static void measure(Bench *b, const char *path, const char *what, MvstereoConfig cfg)
{
    BenchRow row = {
        .part = "mvstereo", .what = what, .content = "clip", .width = b->width, .height = b->height,
        .range = cfg.max - cfg.min, .depth = 8, .metric = "time on the device", .unit = "us",
    };
    const double bytes = b->width * (double)b->height * row.range * BYTES;
    BenchTimes device  = { .nb = b->repeats };
    BenchMvstereo d    = { 0 };
    double us;

    bench_begin_launches(b);
    bench_forget_kernels();
    mvstereo_init(b, &d, path, cfg);
    make_maps(b, &d, 0);
    for (int k = 0; k < b->repeats; k++)
        device.us[k] = make_maps(b, &d, 0);
    bench_sort(&device);
    bench_times(b, &row, &device);
    us = bench_median(&device);
    printf("%-12s %4dx%-4d %5d %10.2f %5.1f %% %9.0f %9.0f\n", what, b->width, b->height, row.range, us,
           bench_spread(&device), 1e6 / us, bytes / us / 1000);
    make_maps(b, &d, 1);
    bench_print_launches(b, row, PAIRS);
    mvstereo_uninit(&d);
    bench_end_launches(b);
}

void bench_mvstereo(Bench *b, const char *path)
{
    printf("\n%-12s %9s %5s %10s %7s %9s %9s   mvstereo, a pair; GB/s: %d bytes per sample and "
           "disparity\n", "options", "size", "range", "device, us", "spread", "pairs/s", "GB/s", BYTES);
    for (int range = 64; range <= 256; range *= 2)
        measure(b, path, "defaults", (MvstereoConfig) { .max = range });
    measure(b, path, "fast=1", (MvstereoConfig) { .max = 128, .fast = 1 });
    measure(b, path, "rows=1", (MvstereoConfig) { .max = 128, .rows = 1 });
    measure(b, path, "temporal=1", (MvstereoConfig) { .max = 128, .temporal = 1 });
}
#else
void bench_mvstereo(Bench *b, const char *path)
{
    printf("mvstereo: this build has no mvstereo\n");
}
#endif
