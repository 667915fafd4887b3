/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Measures the interpolation of a frame by mvfps on the device, in total and kernel by kernel, with
 * vectors from gpume.
 */

#include "config_components.h"

#include <stdio.h>

#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/frame.h"
#include "libavutil/pixdesc.h"

#include "gpume_bench.h"

#if CONFIG_MVFPS_FILTER
#include "libavfilter/gpume/mvfps/mvfps.h"

/** Number of pictures of a run: as many as can be in flight without waiting. */
#define MADE    4
/** Number of input frames: a pair comes first, so that each picture needs one new frame. */
#define FRAMES  (MADE + 2)

typedef struct BenchMvfps {
    AVBufferRef *frames;
    AVFrame *in[FRAMES], *out;
    Mvfps *mvfps;
} BenchMvfps;

/* Returns a picture of the clip, without colours. */
static AVFrame *get_picture(Bench *b, AVBufferRef *frames, int i)
{
    AVFrame *frame = bench_get_frame(frames);
    const int bytes = b->depth > 8 ? 2 : 1;
    CUDA_MEMCPY2D copy = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = b->pictures[i], .srcPitch = b->pitch,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = (CUdeviceptr)(uintptr_t)frame->data[0],
        .dstPitch      = frame->linesize[0],   .WidthInBytes = (size_t)b->width * bytes, .Height = b->height,
    };

    BENCH_CU(b, cuMemcpy2DAsync(&copy, b->hwctx->stream));
    BENCH_CU(b, cuMemsetD8Async((CUdeviceptr)(uintptr_t)frame->data[1], 128,
                                (size_t)frame->linesize[1] * ((b->height + 1) / 2), b->hwctx->stream));
    frame->pts = i;
    return frame;
}

/* Searches the vectors of the pictures with gpume. */
static void search(Bench *b, BenchMvfps *d, const char *options)
{
    AVFrame *pictures[FRAMES];

    for (int i = 0; i < FRAMES; i++)
        pictures[i] = get_picture(b, d->frames, i % b->nb_pictures);
    bench_find_vectors(b, d->frames, pictures, d->in, FRAMES, options);
}

static void mvfps_init(Bench *b, BenchMvfps *d, enum AVPixelFormat format, int block)
{
    MvfpsConfig cfg = { .executor = { bench_execute, NULL, 1 } };
    char options[80];
    int ret;

    d->frames = bench_alloc_frames(b, format);
    snprintf(options, sizeof(options), "algo=hme:block=%d:dir=both:pel=1:backend=cuda", block);
    search(b, d, options);
    bench_forget_kernels();
    cfg.hw_frames = d->frames;
    ret = ff_mvfps_open(&d->mvfps, &cfg);
    if (ret < 0)
        bench_die("interpolated frames", ret);
    d->out = bench_get_frame(d->frames);
}

static void mvfps_uninit(BenchMvfps *d)
{
    ff_mvfps_close(&d->mvfps);
    for (int i = 0; i < FRAMES; i++)
        av_frame_free(&d->in[i]);
    av_frame_free(&d->out);
    av_buffer_unref(&d->frames);
}

static void make_picture(BenchMvfps *d, int i)
{
    static const int distances[2] = { MVFPS_DISTANCE, MVFPS_DISTANCE };
    int ret = ff_mvfps_begin(d->mvfps, d->in[i], d->in[i + 1], distances, MVFPS_MCI);

    if (ret < 0 ||
        (ret = ff_mvfps_find_cut(d->mvfps, MVFPS_MCI, MVFPS_DUP, GPUME_DEFAULT_SCENE)) < 0 ||
        (ret = ff_mvfps_make(d->mvfps, d->out, MVFPS_PARTS / 2, MVFPS_MCI)) < 0)
        bench_die("interpolated frames", ret);
}

/* Makes a picture between each two input pictures, queued after the fill that keeps the device busy. */
static void make_pictures(Bench *b, BenchMvfps *d, int recording, double *device_us, double *host_us)
{
    int64_t began;

    make_picture(d, 0);
    began = bench_begin(b, recording);
    for (int i = 1; i <= MADE; i++)
        make_picture(d, i);
    bench_end(b, began, MADE, device_us, host_us);
}

void bench_mvfps(Bench *b)
{
    static const int blocks[] = { 16, 8, 4 };
    const enum AVPixelFormat format = b->depth > 8 ? AV_PIX_FMT_P010 : AV_PIX_FMT_NV12;
    BenchMvfps d = { 0 };

    printf("\n%-6s %9s %5s %10s %7s %9s %10s   mvfps, an interpolated frame, with its uploads\n", "format", "size",
           "block", "device, us", "spread", "frames/s", "host, us");
    bench_begin_launches(b);
    for (int j = 0; j < FF_ARRAY_ELEMS(blocks); j++) {
        BenchRow row = {
            .part = "mvfps", .what = "mci", .content = b->content, .width = b->width, .height = b->height,
            .block = blocks[j], .depth = b->depth > 8 ? 10 : 8, .metric = "time on the device", .unit = "us",
        };
        BenchTimes device = { .nb = b->repeats }, host = { .nb = b->repeats };

        mvfps_init(b, &d, format, blocks[j]);
        make_pictures(b, &d, 0, &device.us[0], &host.us[0]);
        for (int k = 0; k < b->repeats; k++)
            make_pictures(b, &d, 0, &device.us[k], &host.us[k]);
        bench_sort(&device);
        bench_sort(&host);
        bench_times(b, &row, &device);
        row.metric = "time on the host";
        bench_times(b, &row, &host);
        printf("%-6s %4dx%-4d %5d %10.2f %5.1f %% %9.0f %10.2f\n", av_get_pix_fmt_name(format), b->width,
               b->height, blocks[j], bench_median(&device), bench_spread(&device),
               1e6 / bench_median(&device), bench_median(&host));
        make_pictures(b, &d, 1, &device.us[0], &host.us[0]);
        bench_print_launches(b, row, MADE);
        mvfps_uninit(&d);
    }
    bench_end_launches(b);
}
#else
void bench_mvfps(Bench *b)
{
    printf("mvfps: this build has no mvfps\n");
}
#endif
