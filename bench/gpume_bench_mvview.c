/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Measures mvview with frames on the device: the time on the device and on the host.
 */

#include "config_components.h"

#include <stdio.h>
#include <string.h>

#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/frame.h"
#include "libavutil/hwcontext.h"
#include "libavutil/motion_vector.h"
#include "libavutil/pixdesc.h"

#include "gpume_bench.h"

#if CONFIG_MVVIEW_FILTER
#include "libavfilter/gpume/field/fields.h"
#include "libavfilter/gpume/mvview/mvview.h"

/** Number of frames that are drawn at a time: as many as can be in flight without waiting. */
#define FRAMES 4

typedef struct BenchMvview {
    AVBufferRef *frames;
    AVFrame *in, *out;
    MvviewView *view;
    CUdeviceptr fields;         ///< vectors on the device, or 0
} BenchMvview;

/* Makes vectors of a rotation around the middle of the picture, with slight noise. */
static void make_vectors(AVFrame *frame, int block)
{
    const int bw = (frame->width + block - 1) / block, bh = (frame->height + block - 1) / block;
    AVFrameSideData *sd = av_frame_new_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS,
                                                 (size_t)bw * bh * sizeof(AVMotionVector));
    AVMotionVector *mv;

    if (!sd)
        bench_die("vectors", AVERROR(ENOMEM));
    mv = (AVMotionVector *)sd->data;
    for (int y = 0; y < bh; y++) {
        for (int x = 0; x < bw; x++, mv++) {
            const int w = FFMIN(block, frame->width - x * block), h = FFMIN(block, frame->height - y * block);
            const int cx = x * block + w / 2, cy = y * block + h / 2;

            *mv = (AVMotionVector) {
                .source = -1, .w = w, .h = h, .dst_x = cx, .dst_y = cy, .motion_scale = 4,
                .motion_x = (cy - frame->height / 2) * 4 / 32 + (x * 7 + y * 13) % 5 - 2,
                .motion_y = (frame->width / 2 - cx) * 4 / 32 + (x * 11 + y * 3) % 5 - 2,
            };
            mv->src_x = cx + mv->motion_x / 4;
            mv->src_y = cy + mv->motion_y / 4;
        }
    }
}

/* Leaves the frame's vectors on the device, as gpume does. */
static void lay_fields(Bench *b, BenchMvview *d, int block)
{
    const AVFrameSideData *sd = av_frame_get_side_data(d->out, AV_FRAME_DATA_MOTION_VECTORS);
    GpumeFieldSet set = {
        .nb = 1, .device_ctx = ((AVHWFramesContext *)d->frames->data)->device_ctx,
        .mvs = av_buffer_alloc(sd->size), .on_device = av_buffer_alloc(1),
    };

    if (!set.mvs || !set.on_device)
        bench_die("vectors", AVERROR(ENOMEM));
    memcpy(set.mvs->data, sd->data, sd->size);
    BENCH_CU(b, cuMemAlloc(&d->fields, sd->size));
    BENCH_CU(b, cuMemcpyHtoDAsync(d->fields, set.mvs->data, sd->size, b->hwctx->stream));
    set.host[0] = (GpumeMotionField) {
        .distance = -1, .pel = 4, .width = b->width, .height = b->height, .block = block,
        .bw  = (b->width + block - 1) / block, .bh = (b->height + block - 1) / block,
        .mvs = (uintptr_t)set.mvs->data,
    };
    set.device[0]     = set.host[0];
    set.device[0].mvs = d->fields;
    if (ff_gpume_fields_attach(d->out, &set) < 0)
        bench_die("vectors", AVERROR(ENOMEM));
}

static void draw_init(Bench *b, BenchMvview *d, enum AVPixelFormat format, int mode, int step, int block)
{
    MvviewConfig cfg = {
        .mode = mode, .sources = MVVIEW_PAST | MVVIEW_FUTURE, .scale = 256, .step = step,
        .opacity = 154, .executor = { bench_execute, NULL, 1 },
    };
    int ret;

    d->frames = cfg.hw_frames = bench_alloc_frames(b, format);
    ret = ff_mvview_open(&d->view, &cfg);
    if (ret < 0)
        bench_die("drawing", ret);
    d->in  = bench_get_frame(d->frames);
    d->out = bench_get_frame(d->frames);
    make_vectors(d->out, block);
    for (int i = 0; i < 2 && d->in->data[i]; i++)
        BENCH_CU(b, cuMemsetD8Async((CUdeviceptr)(uintptr_t)d->in->data[i], 100, (size_t)d->in->linesize[i] *
                                    (b->height >> i), b->hwctx->stream));
}

static void draw_uninit(Bench *b, BenchMvview *d)
{
    BENCH_CU(b, cuStreamSynchronize(b->hwctx->stream));
    if (d->fields)
        BENCH_CU(b, cuMemFree(d->fields));
    d->fields = 0;
    ff_mvview_close(&d->view);
    av_frame_free(&d->in);
    av_frame_free(&d->out);
    av_buffer_unref(&d->frames);
}

/* Draws several frames, queued after the fill that keeps the device busy. */
static void draw_frames(Bench *b, BenchMvview *d, double *device_us, double *host_us)
{
    const int64_t began = bench_begin(b, 0);

    for (int i = 0; i < FRAMES; i++) {
        int ret = ff_mvview_read(d->view, d->out);

        if (ret > 0)
            ret = ff_mvview_draw(d->view, d->out, d->in);
        if (ret < 0)
            bench_die("drawing", ret);
    }
    bench_end(b, began, FRAMES, device_us, host_us);
}

/* Measures a mode with blocks of one size. */
static void draw(Bench *b, BenchMvview *d, enum AVPixelFormat format, const char *name, int mode, int step,
                 int block, int on_device)
{
    char what[64];
    BenchRow row = {
        .part = "mvview", .what = what, .width = b->width, .height = b->height,
        .block = block, .depth = format == AV_PIX_FMT_P010 ? 10 : 8, .metric = "time on the device", .unit = "us",
    };
    BenchTimes device = { .nb = b->repeats }, host = { .nb = b->repeats };

    snprintf(what, sizeof(what), "%s%s", name, on_device ? " of fields" : "");
    draw_init(b, d, format, mode, step, block);
    if (on_device)
        lay_fields(b, d, block);
    draw_frames(b, d, &device.us[0], &host.us[0]);
    for (int k = 0; k < b->repeats; k++)
        draw_frames(b, d, &device.us[k], &host.us[k]);
    bench_sort(&device);
    bench_sort(&host);
    bench_times(b, &row, &device);
    row.metric = "time on the host";
    bench_times(b, &row, &host);
    printf("%-24s %-6s %4dx%-4d %5d %10.2f %5.1f %% %10.2f\n", what, av_get_pix_fmt_name(format),
           b->width, b->height, block, bench_median(&device), bench_spread(&device), bench_median(&host));
    draw_uninit(b, d);
}

void bench_mvview(Bench *b)
{
    static const enum AVPixelFormat formats[] = { AV_PIX_FMT_NV12, AV_PIX_FMT_P010 };
    static const struct {
        const char *name;
        int mode, step;
    } modes[] = {
        { "flow",                MVVIEW_FLOW, 0 },
        { "arrows",              MVVIEW_ARROWS, 0 },
        { "flow+arrows",         MVVIEW_FLOW | MVVIEW_ARROWS, 0 },
        { "arrows:step=1",       MVVIEW_ARROWS, 1 },
        { "blocks",              MVVIEW_BLOCKS, 0 },
        { "blocks+arrows",       MVVIEW_BLOCKS | MVVIEW_ARROWS, 0 },
    };
    static const int blocks[] = { 16, 8, 4 };
    BenchMvview d = { 0 };

    printf("\n%-24s %-6s %9s %5s %10s %7s %10s   mvview, a frame\n", "mode", "format", "size", "block",
           "device, us", "spread", "host, us");
    bench_begin_launches(b);
    for (int f = 0; f < FF_ARRAY_ELEMS(formats); f++)
        for (int i = 0; i < FF_ARRAY_ELEMS(modes); i++)
            for (int j = 0; j < 2 * FF_ARRAY_ELEMS(blocks); j++)
                draw(b, &d, formats[f], modes[i].name, modes[i].mode, modes[i].step, blocks[j / 2], j % 2);
    bench_end_launches(b);
}
#else
void bench_mvview(Bench *b)
{
    printf("mvview: this build has no mvview\n");
}
#endif
