/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Measures the kernels of filters, one by one, and prepares the vectors that the filters read.
 */

#include <stdio.h>

#include "libavfilter/avfilter.h"
#include "libavfilter/buffersink.h"
#include "libavfilter/buffersrc.h"
#include "libavutil/error.h"
#include "libavutil/frame.h"
#include "libavutil/mem.h"
#include "libavutil/time.h"

#include "gpume_bench.h"

#define MAX_KERNELS  64
#define MAX_LAUNCHES 1024

/** Size of a fill that keeps the device busy while launches are queued. */
#define FILLER_BYTES (256 << 20)
#define FILLERS      128

/** Names of kernels, and the times of their launches. */
static struct Launches {
    tcuLaunchKernel *launch;            ///< the driver's function
    tcuModuleGetFunction *get_function;
    CudaFunctions *cu;
    struct { CUfunction function; char name[40]; } kernels[MAX_KERNELS];
    int nb_kernels;
    int recording, nb;
    CUevent begin[MAX_LAUNCHES], end[MAX_LAUNCHES];
    int kernel[MAX_LAUNCHES];
    CUdeviceptr filler;
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

void bench_begin_launches(Bench *b)
{
    launches.cu           = b->cu;
    launches.launch       = b->cu->cuLaunchKernel;
    launches.get_function = b->cu->cuModuleGetFunction;
    for (int i = 0; i < MAX_LAUNCHES; i++) {
        BENCH_CU(b, cuEventCreate(&launches.begin[i], CU_EVENT_DEFAULT));
        BENCH_CU(b, cuEventCreate(&launches.end[i],   CU_EVENT_DEFAULT));
    }
    BENCH_CU(b, cuMemAlloc(&launches.filler, FILLER_BYTES));
    b->cu->cuLaunchKernel      = launch;
    b->cu->cuModuleGetFunction = get_function;
}

void bench_end_launches(Bench *b)
{
    b->cu->cuLaunchKernel      = launches.launch;
    b->cu->cuModuleGetFunction = launches.get_function;
    BENCH_CU(b, cuMemFree(launches.filler));
    for (int i = 0; i < MAX_LAUNCHES; i++) {
        BENCH_CU(b, cuEventDestroy(launches.begin[i]));
        BENCH_CU(b, cuEventDestroy(launches.end[i]));
    }
}

void bench_forget_kernels(void)
{
    launches.nb_kernels = 0;
}

void bench_keep_busy(Bench *b)
{
    BENCH_CU(b, cuStreamSynchronize(b->hwctx->stream));
    for (int i = 0; i < FILLERS; i++)
        BENCH_CU(b, cuMemsetD8Async(launches.filler, i, FILLER_BYTES, b->hwctx->stream));
}

void bench_record_launches(int recording)
{
    if (recording)
        launches.nb = 0;
    launches.recording = recording;
}

int64_t bench_begin(Bench *b, int recording)
{
    bench_keep_busy(b);
    bench_record_launches(recording);
    BENCH_CU(b, cuEventRecord(b->start, b->hwctx->stream));
    return av_gettime_relative();
}

void bench_end(Bench *b, int64_t began, int nb, double *device_us, double *host_us)
{
    float ms;

    *host_us = (av_gettime_relative() - began) / (double)nb;
    bench_record_launches(0);
    BENCH_CU(b, cuEventRecord(b->stop, b->hwctx->stream));
    BENCH_CU(b, cuEventSynchronize(b->stop));
    bench_check(b, b->elapsed(&ms, b->start, b->stop), "cuEventElapsedTime");
    *device_us = ms * 1000 / nb;
}

void bench_print_launches(Bench *b, BenchRow row, int nb)
{
    double sum = 0;

    /* the frames' stream does not wait for all other streams */
    for (int i = 0; i < launches.nb; i++)
        BENCH_CU(b, cuEventSynchronize(launches.end[i]));
    for (int k = 0; k < launches.nb_kernels; k++) {
        BenchTimes t = { 0 };
        double all = 0;
        int count = 0;

        for (int i = 0; i < launches.nb; i++) {
            float ms;

            if (launches.kernel[i] != k)
                continue;
            bench_check(b, b->elapsed(&ms, launches.begin[i], launches.end[i]), "cuEventElapsedTime");
            all += ms * 1000;
            count++;
            if (t.nb < BENCH_MAX_REPEATS)
                t.us[t.nb++] = ms * 1000;
        }
        if (!t.nb)
            continue;
        bench_sort(&t);
        sum += all / nb;
        printf("    %-28s %10.2f us, %5.1f %%, %d a frame: %.2f us\n", launches.kernels[k].name, bench_median(&t),
               bench_spread(&t), count / nb, all / nb);
        row.what   = launches.kernels[k].name;
        row.metric = "time of a kernel";
        bench_times(b, &row, &t);
    }
    printf("    %-28s %10.2f us, %.0f frames/s\n", "all kernels", sum, 1e6 / sum);
}

void bench_find_vectors(Bench *b, AVBufferRef *frames, AVFrame **in, AVFrame **out, int nb, const char *options)
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
    params->hw_frames_ctx = frames;
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
    for (int i = 0; i < nb; i++) {
        in[i]->pts = i;
        ret = av_buffersrc_add_frame(src, in[i]);
        if (ret < 0)
            bench_die("searching", ret);
        av_frame_free(&in[i]);
    }
    ret = av_buffersrc_add_frame(src, NULL);
    for (int i = 0; i < nb && ret >= 0; i++) {
        out[i] = av_frame_alloc();
        ret = out[i] ? av_buffersink_get_frame(sink, out[i]) : AVERROR(ENOMEM);
    }
    if (ret < 0)
        bench_die("searching", ret);
    avfilter_graph_free(&graph);
    av_free(params);
}
