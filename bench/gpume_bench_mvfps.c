/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What mvfps takes to make a frame between two others on the device: in all, and kernel by
 * kernel, along the vectors that gpume finds.
 */

#include "config_components.h"

#include <stdio.h>
#include <string.h>

#include "libavfilter/avfilter.h"
#include "libavfilter/buffersink.h"
#include "libavfilter/buffersrc.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/frame.h"
#include "libavutil/hwcontext.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"
#include "libavutil/time.h"

#include "gpume_bench.h"

#if CONFIG_MVFPS_FILTER
#include "libavfilter/gpume/mvfps/mvfps.h"

/** Pictures of a run: as many as can be in flight without waiting. */
#define MADE    4
/** Before them a pair, so that each has one new frame. */
#define FRAMES  (MADE + 2)
/** What keeps the device busy until they are queued. */
#define FILLER_BYTES (256 << 20)
#define FILLERS      128

#define MAX_KERNELS  16
#define MAX_LAUNCHES 256

/** Kernels by name, and when each of their launches began and ended. */
static struct Launches {
    tcuLaunchKernel *launch;            ///< the driver's
    tcuModuleGetFunction *get_function;
    CudaFunctions *cu;
    struct { CUfunction function; char name[40]; } kernels[MAX_KERNELS];
    int nb_kernels;
    int recording, nb;
    CUevent begin[MAX_LAUNCHES], end[MAX_LAUNCHES];
    int kernel[MAX_LAUNCHES];
} launches;

static CUresult CUDAAPI get_function(CUfunction *function, CUmodule module, const char *name)
{
    const CUresult err = launches.get_function(function, module, name);

    if (err == CUDA_SUCCESS && launches.nb_kernels < MAX_KERNELS) {
        launches.kernels[launches.nb_kernels].function = *function;
        snprintf(launches.kernels[launches.nb_kernels++].name, sizeof(launches.kernels->name), "%s", name);
    }
    return err;
}

static CUresult CUDAAPI launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                               unsigned bz, unsigned shared, CUstream stream, void **params, void **extra)
{
    const int n = launches.nb;
    CUresult err;

    if (!launches.recording || n == MAX_LAUNCHES)
        return launches.launch(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
    launches.kernel[n] = 0;
    while (launches.kernel[n] < launches.nb_kernels && launches.kernels[launches.kernel[n]].function != f)
        launches.kernel[n]++;
    err = launches.cu->cuEventRecord(launches.begin[n], stream);
    if (err == CUDA_SUCCESS)
        err = launches.launch(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
    if (err == CUDA_SUCCESS)
        err = launches.cu->cuEventRecord(launches.end[n], stream);
    launches.nb++;
    return err;
}

/* Stand between the filter and the driver. */
static void begin_launches(Bench *b)
{
    launches.cu           = b->cu;
    launches.launch       = b->cu->cuLaunchKernel;
    launches.get_function = b->cu->cuModuleGetFunction;
    for (int i = 0; i < MAX_LAUNCHES; i++) {
        BENCH_CU(b, cuEventCreate(&launches.begin[i], CU_EVENT_DEFAULT));
        BENCH_CU(b, cuEventCreate(&launches.end[i],   CU_EVENT_DEFAULT));
    }
    b->cu->cuLaunchKernel      = launch;
    b->cu->cuModuleGetFunction = get_function;
}

static void end_launches(Bench *b)
{
    b->cu->cuLaunchKernel      = launches.launch;
    b->cu->cuModuleGetFunction = launches.get_function;
    for (int i = 0; i < MAX_LAUNCHES; i++) {
        BENCH_CU(b, cuEventDestroy(launches.begin[i]));
        BENCH_CU(b, cuEventDestroy(launches.end[i]));
    }
}

typedef struct BenchMvfps {
    AVBufferRef *frames;
    AVFrame *in[FRAMES], *out;
    Mvfps *mvfps;
    CUdeviceptr filler;
} BenchMvfps;

/* A picture of the clip, without colours. */
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

/* The pictures with their vectors, as gpume leaves them. */
static void search(Bench *b, BenchMvfps *d, const char *options)
{
    AVBufferSrcParameters *params = av_buffersrc_parameters_alloc();
    AVFilterGraph *graph = avfilter_graph_alloc();
    AVFilterContext *src, *filter, *sink;
    int ret = AVERROR(ENOMEM);

    if (!params || !graph)
        bench_die("a filter graph", ret);
    params->format        = AV_PIX_FMT_CUDA;
    params->width         = b->width;
    params->height        = b->height;
    params->time_base     = (AVRational) { 1, 25 };
    params->hw_frames_ctx = d->frames;
    src = avfilter_graph_alloc_filter(graph, avfilter_get_by_name("buffer"), "in");
    if (!src || (ret = av_buffersrc_parameters_set(src, params)) < 0 ||
        (ret = avfilter_init_str(src, NULL)) < 0 ||
        (ret = avfilter_graph_create_filter(&filter, avfilter_get_by_name("gpume"), "gpume", options, NULL,
                                            graph)) < 0 ||
        (ret = avfilter_graph_create_filter(&sink, avfilter_get_by_name("buffersink"), "out", NULL, NULL,
                                            graph)) < 0 ||
        (ret = avfilter_link(src, 0, filter, 0)) < 0 || (ret = avfilter_link(filter, 0, sink, 0)) < 0 ||
        (ret = avfilter_graph_config(graph, NULL)) < 0)
        bench_die("a filter graph", ret);
    for (int i = 0; i < FRAMES; i++) {
        AVFrame *frame = get_picture(b, d->frames, i % b->nb_pictures);

        frame->pts = i;
        ret = av_buffersrc_add_frame(src, frame);
        if (ret < 0)
            bench_die("searching", ret);
        av_frame_free(&frame);
    }
    ret = av_buffersrc_add_frame(src, NULL);
    for (int i = 0; i < FRAMES && ret >= 0; i++) {
        d->in[i] = av_frame_alloc();
        ret = d->in[i] ? av_buffersink_get_frame(sink, d->in[i]) : AVERROR(ENOMEM);
    }
    if (ret < 0)
        bench_die("searching", ret);
    avfilter_graph_free(&graph);
    av_free(params);
}

static void mvfps_init(Bench *b, BenchMvfps *d, enum AVPixelFormat format, int block)
{
    MvfpsConfig cfg = { .executor = { bench_execute, NULL, 1 } };
    char options[80];
    int ret;

    d->frames = bench_alloc_frames(b, format);
    snprintf(options, sizeof(options), "algo=hme:block=%d:dir=both:pel=1:backend=cuda", block);
    search(b, d, options);
    launches.nb_kernels = 0;
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

    if (ret >= 0)
        ret = ff_mvfps_look(d->mvfps, MVFPS_MCI, MVFPS_DUP, 2);
    if (ret >= 0)
        ret = ff_mvfps_make(d->mvfps, d->out, MVFPS_PARTS / 2, MVFPS_MCI);
    if (ret < 0)
        bench_die("interpolated frames", ret);
}

/* One picture between each two, behind what keeps the device busy. */
static void make_pictures(Bench *b, BenchMvfps *d, int recording, double *device_us, double *host_us)
{
    const CUstream stream = b->hwctx->stream;
    int64_t began;
    float ms;

    make_picture(d, 0);
    BENCH_CU(b, cuStreamSynchronize(stream));
    for (int i = 0; i < FILLERS; i++)
        BENCH_CU(b, cuMemsetD8Async(d->filler, i, FILLER_BYTES, stream));
    launches.nb        = 0;
    launches.recording = recording;
    BENCH_CU(b, cuEventRecord(b->start, stream));
    began = av_gettime_relative();
    for (int i = 1; i <= MADE; i++)
        make_picture(d, i);
    *host_us = (av_gettime_relative() - began) / (double)MADE;
    launches.recording = 0;
    BENCH_CU(b, cuEventRecord(b->stop, stream));
    BENCH_CU(b, cuEventSynchronize(b->stop));
    bench_check(b, b->elapsed(&ms, b->start, b->stop), "cuEventElapsedTime");
    *device_us = ms * 1000 / MADE;
}

/* What each kernel takes, of one of the runs. */
static void print_kernels(Bench *b, BenchMvfps *d, BenchRow row)
{
    double us, host, sum = 0;

    make_pictures(b, d, 1, &us, &host);
    for (int k = 0; k < launches.nb_kernels; k++) {
        BenchTimes t = { 0 };

        for (int i = 0; i < launches.nb; i++) {
            float ms;

            if (launches.kernel[i] != k || t.nb == BENCH_MAX_REPEATS)
                continue;
            bench_check(b, b->elapsed(&ms, launches.begin[i], launches.end[i]), "cuEventElapsedTime");
            t.us[t.nb++] = ms * 1000;
        }
        if (!t.nb)
            continue;
        bench_sort(&t);
        sum += bench_median(&t) * t.nb / MADE;
        printf("    %-28s %10.2f us, %5.1f %%, %d a frame\n", launches.kernels[k].name, bench_median(&t),
               bench_spread(&t), t.nb / MADE);
        row.what   = launches.kernels[k].name;
        row.metric = "time of a kernel";
        bench_times(b, &row, &t);
    }
    printf("    %-28s %10.2f us, %.0f frames/s\n", "all kernels", sum, 1e6 / sum);
}

void bench_mvfps(Bench *b)
{
    static const int blocks[] = { 16, 8, 4 };
    const enum AVPixelFormat format = b->depth > 8 ? AV_PIX_FMT_P010 : AV_PIX_FMT_NV12;
    BenchMvfps d = { 0 };

    printf("\n%-6s %9s %5s %10s %7s %9s %10s   mvfps, an interpolated frame, with its uploads\n", "format", "size",
           "block", "device, us", "spread", "frames/s", "host, us");
    BENCH_CU(b, cuMemAlloc(&d.filler, FILLER_BYTES));
    begin_launches(b);
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
        print_kernels(b, &d, row);
        mvfps_uninit(&d);
    }
    end_launches(b);
    BENCH_CU(b, cuMemFree(d.filler));
}
#else
void bench_mvfps(Bench *b)
{
    printf("mvfps: this build has no mvfps\n");
}
#endif
