/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Measures the filters that use vectors, in total and kernel by kernel, with frames on the device: a table of rows.
 */

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

/** Number of different pictures; they are played forwards and backwards. */
#define PICTURES  17
#define SLOTS     (2 * PICTURES - 2)
/** Maximum number of frames between the search and a filter. */
#define MAX_QUEUE 256
/** Minimum number of frames before the first repeat; mvdenoise needs 8. */
#define WINDOW    16

/** What the pictures become. */
enum Content {
    PLAIN,
    NOISY,                      ///< with noise of sigma 10
    WOVEN,                      ///< two pictures become the fields of a frame
    VIEWS,                      ///< side by side, the second one shifted by 16 samples above and 40 below
};

/** What is measured, and how. */
typedef struct Row {
    const char *filter, *what, *options;
    const char *vectors;        ///< options with which gpume searches before; NULL: the filter searches
    enum Content content;
    int block, range, count;    ///< as in BenchRow
    int has_10_bits;            ///< whether P010 is measured, too
    int nb;                     ///< number of input frames of a repeat
    int has_kernels;            ///< whether kernels are measured, too
    /** Time of a made frame while host and device work at the same time; NULL: times on the device. */
    const char *metric;
} Row;

#define VIEW(mode)               { "mvview", mode, "mode=" mode, "algo=hme:dir=both:backend=cuda:block=8", PLAIN, 8, \
                                   .nb = 4 }
#define DEINT(n, kernels)        { "mvdeint", "passes", "parity=tff:passes=" #n, NULL, WOVEN, 8, .count = n, .nb = 64, \
                                   .has_kernels = kernels, .metric = "time of a field" }
#define STAB(mode)               { "mvstab", mode, "zoom=1:mode=" mode, NULL, PLAIN, 8, .nb = 128, \
                                   .has_kernels = 1, .metric = "time of a frame" }
#define STEREO(what, options, n) { "mvstereo", what, "layout=sbsl:max=" #n options, NULL, VIEWS, .range = n, .nb = 8, \
                                   .has_kernels = 1 }

/*
 * Repeats have as many frames as can be in flight without waiting, except where host and device work at the same time.
 */
static const Row rows[] = {
    VIEW("flow+arrows"), VIEW("blocks"),
    { "mvfps", "mci", "", "algo=hme:dir=both:pel=1:backend=cuda:block=8", PLAIN, 8, .has_10_bits = 1, .nb = 4,
      .has_kernels = 1 },
    { "mvdenoise", "radius 2", "radius=2", "algo=hme:block=8:dir=both:refs=2:smooth=8:sweeps=2:backend=cuda", NOISY, 8,
      .has_10_bits = 1, .nb = 8, .has_kernels = 1 },
    DEINT(1, 1), DEINT(2, 0), DEINT(3, 0),
    STAB("smooth"), STAB("tripod"),
    STEREO("defaults", ":temporal=0", 128), STEREO("defaults", ":temporal=0", 256),
    STEREO("fast=1", ":temporal=0:fast=1", 128), STEREO("temporal=1", "", 128),
};

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

    if (err == CUDA_SUCCESS && launches.nb_kernels == MAX_KERNELS)
        bench_die("more kernels than MAX_KERNELS", AVERROR_BUG);
    if (err == CUDA_SUCCESS) {
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

    if (!launches.recording)
        return launches.launch(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
    if (n == MAX_LAUNCHES) {
        fprintf(stderr, "more than %d launches are recorded; raise MAX_LAUNCHES or lower the row's number of frames\n",
                MAX_LAUNCHES);
        bench_die("launches", AVERROR_BUG);
    }
    launches.kernel[n] = 0;
    while (launches.kernel[n] < launches.nb_kernels && launches.kernels[launches.kernel[n]].function != f)
        launches.kernel[n]++;
    /* kernels side by side take longer */
    err = n ? launches.cu->cuStreamWaitEvent(stream, launches.end[n - 1], 0) : CUDA_SUCCESS;
    if (err == CUDA_SUCCESS)
        err = launches.cu->cuEventRecord(launches.begin[n], stream);
    if (err == CUDA_SUCCESS)
        err = launches.launch(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
    if (err == CUDA_SUCCESS)
        err = launches.cu->cuEventRecord(launches.end[n], stream);
    launches.nb++;
    return err;
}

static void begin_launches(Bench *b)
{
    launches.nb_kernels   = 0;
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

static void end_launches(Bench *b)
{
    b->cu->cuLaunchKernel      = launches.launch;
    b->cu->cuModuleGetFunction = launches.get_function;
    BENCH_CU(b, cuMemFree(launches.filler));
    for (int i = 0; i < MAX_LAUNCHES; i++) {
        BENCH_CU(b, cuEventDestroy(launches.begin[i]));
        BENCH_CU(b, cuEventDestroy(launches.end[i]));
    }
}

static AVBufferRef *alloc_frames(Bench *b, enum AVPixelFormat sw_format, int width)
{
    AVBufferRef *ref = av_hwframe_ctx_alloc(b->device);
    AVHWFramesContext *frames;
    int ret;

    if (!ref)
        bench_die("frames", AVERROR(ENOMEM));
    frames            = (AVHWFramesContext *)ref->data;
    frames->format    = AV_PIX_FMT_CUDA;
    frames->sw_format = sw_format;
    frames->width     = width;
    frames->height    = b->height;
    ret = av_hwframe_ctx_init(ref);
    if (ret < 0)
        bench_die("frames", ret);
    return ref;
}

/* Returns approximately normal noise with a standard deviation of 10. */
static int draw_noise(uint32_t *state)
{
    int sum = 0;

    /* the sum of 12 numbers up to 255 has the standard deviation 256 */
    for (int i = 0; i < 12; i++) {
        *state = *state * 1664525 + 1013904223;
        sum   += *state >> 24;
    }
    return (sum - 6 * 255) * 10 / 256;
}

/* Returns frame i on the device; chroma is half of luma, and has its width. */
static AVFrame *make_input(const Bench *b, AVBufferRef *frames, const Row *r, const uint8_t *pictures, int nb, int i)
{
    const AVHWFramesContext *hw = (const AVHWFramesContext *)frames->data;
    AVFrame *frame = av_frame_alloc(), *host = av_frame_alloc();
    const uint8_t *fields[2];
    uint32_t state = i + 1;
    int ret = AVERROR(ENOMEM);

    for (int j = 0; j < 2; j++) {
        const int n = (r->content == WOVEN ? 2 * i + j : i) % (2 * nb - 2);

        fields[j] = pictures + (size_t)FFMIN(n, 2 * nb - 2 - n) * b->width * b->height;
    }
    if (!frame || !host)
        bench_die("a frame", ret);
    host->format = hw->sw_format;
    host->width  = hw->width;
    host->height = hw->height;
    ret = av_frame_get_buffer(host, 0);
    if (ret < 0)
        bench_die("a frame in system memory", ret);
    for (int plane = 0; plane < 2; plane++) {
        for (int y = 0; y < b->height >> plane; y++) {
            const uint8_t *from = fields[r->content == WOVEN && y & 1] + (size_t)b->width * (y << plane);
            uint8_t *to         = host->data[plane] + y * host->linesize[plane];

            for (int x = 0; x < hw->width; x++) {
                const int shift = x < b->width ? 0 : (y << plane) * 2 < b->height ? 16 : 40;
                int v = from[FFMIN(x % b->width + shift, b->width - 1) & ~plane];

                v = plane ? 64 + v / 2 : v;
                if (r->content == NOISY)
                    v = av_clip_uint8(v + draw_noise(&state));
                if (hw->sw_format == AV_PIX_FMT_P010)
                    ((uint16_t *)to)[x] = v << 8;
                else
                    to[x] = v;
            }
        }
    }
    ret = av_hwframe_get_buffer(frames, frame, 0);
    if (ret >= 0)
        ret = av_hwframe_transfer_data(frame, host, 0);
    if (ret < 0)
        bench_die("an upload", ret);
    av_frame_free(&host);
    return frame;
}

/** A filter between a source and a sink. */
typedef struct Chain {
    AVFilterGraph *graph;
    AVFilterContext *src, *sink;
    int64_t nb_in;
} Chain;

static void open_chain(Chain *c, AVBufferRef *frames, const char *filter, const char *options)
{
    const AVHWFramesContext *hw = (const AVHWFramesContext *)frames->data;
    AVBufferSrcParameters *params = av_buffersrc_parameters_alloc();
    AVFilterContext *middle;
    int ret = AVERROR(ENOMEM);

    *c = (Chain) { .graph = avfilter_graph_alloc() };
    if (!params || !c->graph)
        bench_die("a filter graph", ret);
    params->format        = AV_PIX_FMT_CUDA;
    params->width         = hw->width;
    params->height        = hw->height;
    params->time_base     = (AVRational) { 1, 25 };
    params->frame_rate    = (AVRational) { 25, 1 };
    params->hw_frames_ctx = frames;
    c->src = avfilter_graph_alloc_filter(c->graph, avfilter_get_by_name("buffer"), "in");
    if (!c->src || (ret = av_buffersrc_parameters_set(c->src, params)) < 0 ||
        (ret = avfilter_init_str(c->src, NULL)) < 0 ||
        (ret = avfilter_graph_create_filter(&middle, avfilter_get_by_name(filter), filter, options, NULL,
                                            c->graph)) < 0 ||
        (ret = avfilter_graph_create_filter(&c->sink, avfilter_get_by_name("buffersink"), "out", NULL, NULL,
                                            c->graph)) < 0 ||
        (ret = avfilter_link(c->src, 0, middle, 0)) < 0 || (ret = avfilter_link(middle, 0, c->sink, 0)) < 0 ||
        (ret = avfilter_graph_config(c->graph, NULL)) < 0)
        bench_die("a filter graph", ret);
    av_free(params);
}

/* Adds a frame. Returns the number of frames that come out. @param out NULL pointers, which become them; NULL: none */
static int push(Chain *c, AVFrame *in, AVFrame **out)
{
    int nb = 0, ret;

    in->pts = c->nb_in++;
    ret = av_buffersrc_write_frame(c->src, in);
    while (ret >= 0) {
        AVFrame *frame = av_frame_alloc();

        ret = frame ? av_buffersink_get_frame(c->sink, frame) : AVERROR(ENOMEM);
        if (ret >= 0 && out)
            FFSWAP(AVFrame *, out[nb], frame);
        nb += ret >= 0;
        av_frame_free(&frame);
    }
    if (ret != AVERROR(EAGAIN))
        bench_die("a filter", ret);
    return nb;
}

/** Frames that are repeated without end, with vectors where gpume searches them before the filter gets them. */
typedef struct Inputs {
    AVFrame *pictures[SLOTS];
    int nb_pictures;
    int64_t next;               ///< number of frames taken from pictures
    Chain search;               ///< or no graph
    AVFrame *queue[MAX_QUEUE];  ///< frames for the filter
    int nb;
} Inputs;

/* Fills the queue up to nb frames. */
static void prepare(Inputs *s, int nb)
{
    while (s->nb < nb) {
        AVFrame *frame = s->pictures[s->next++ % s->nb_pictures];

        if (s->search.graph)
            s->nb += push(&s->search, frame, s->queue + s->nb);
        else if (!(s->queue[s->nb++] = av_frame_clone(frame)))
            bench_die("a frame", AVERROR(ENOMEM));
    }
}

/** Times of a repeat. */
typedef struct Times {
    double device_us, us;       ///< for each made frame; the last one is of host and device together
    int nb;                         ///< number of made frames
} Times;

/* Adds frames, after a fill that keeps the device busy until they are queued. */
static Times run(Bench *b, Chain *c, const Row *r, Inputs *in, int nb, int recording)
{
    Times t = { 0 };
    int64_t began, ended;
    float ms;

    prepare(in, nb);
    BENCH_CU(b, cuStreamSynchronize(b->hwctx->stream));
    for (int i = 0; i < FILLERS && (!r->metric || recording); i++)
        BENCH_CU(b, cuMemsetD8Async(launches.filler, i, FILLER_BYTES, b->hwctx->stream));
    launches.nb        = 0;
    launches.recording = recording;
    BENCH_CU(b, cuEventRecord(b->start, b->hwctx->stream));
    began = av_gettime_relative();
    for (int i = 0; i < nb; i++)
        t.nb += push(c, in->queue[i], NULL);
    launches.recording = 0;
    BENCH_CU(b, cuEventRecord(b->stop, b->hwctx->stream));
    BENCH_CU(b, cuEventSynchronize(b->stop));
    ended = av_gettime_relative();
    bench_check(b, b->elapsed(&ms, b->start, b->stop), "cuEventElapsedTime");
    for (int i = 0; i < nb; i++)
        av_frame_free(&in->queue[i]);
    in->nb -= nb;
    for (int i = 0; i < in->nb; i++)
        FFSWAP(AVFrame *, in->queue[i], in->queue[nb + i]);
    if (!t.nb)
        bench_die("no output frames", AVERROR_BUG);
    /* half of the frames of mvfps are those of the input */
    t.nb       /= !strcmp(r->filter, "mvfps") ? 2 : 1;
    t.device_us = ms * 1000 / t.nb;
    t.us        = (ended - began) / (double)t.nb;
    return t;
}

static void print_launches(Bench *b, BenchRow row, int nb)
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

/* Measures a row with frames of a format. */
static void measure(Bench *b, const Row *r, const char *path, enum AVPixelFormat format)
{
    AVBufferRef *frames = alloc_frames(b, format, r->content == VIEWS ? 2 * b->width : b->width);
    BenchRow row = {
        .part = r->filter, .what = r->what, .content = "clip", .width = b->width, .height = b->height,
        .block = r->block, .range = r->range, .depth = format == AV_PIX_FMT_P010 ? 10 : 8, .count = r->count,
        .metric = r->metric ? r->metric : "time on the device", .unit = "us",
    };
    BenchTimes times = { .nb = b->repeats };
    Inputs in = { 0 };
    Chain c;
    int nb;
    uint8_t *pictures = bench_read_pictures(b, path, PICTURES, &nb);

    in.nb_pictures = (2 * nb - 2) / (r->content == WOVEN ? 2 : 1);
    for (int i = 0; i < in.nb_pictures; i++)
        in.pictures[i] = make_input(b, frames, r, pictures, nb, i);
    av_free(pictures);
    if (r->vectors)
        open_chain(&in.search, frames, "gpume", r->vectors);
    begin_launches(b);
    open_chain(&c, frames, r->filter, r->options);
    /* warms up, and fills the filter's window */
    run(b, &c, r, &in, FFMAX(r->nb, WINDOW), 0);
    for (int k = 0; k < b->repeats; k++) {
        const Times t = run(b, &c, r, &in, r->nb, 0);

        times.us[k] = r->metric ? t.us : t.device_us;
    }
    bench_sort(&times);
    bench_times(b, &row, &times);
    printf("%-13s %3d %-4s %4dx%-4d %5d %5d %10.2f %5.1f %% %9.0f\n", r->what, r->count,
           av_get_pix_fmt_name(format), b->width, b->height, r->block, r->range, bench_median(&times),
           bench_spread(&times), 1e6 / bench_median(&times));
    if (r->has_kernels)
        print_launches(b, row, run(b, &c, r, &in, r->metric ? 4 : r->nb, 1).nb);
    BENCH_CU(b, cuStreamSynchronize(b->hwctx->stream));
    avfilter_graph_free(&c.graph);
    avfilter_graph_free(&in.search.graph);
    end_launches(b);
    for (int i = 0; i < in.nb_pictures; i++)
        av_frame_free(&in.pictures[i]);
    while (in.nb)
        av_frame_free(&in.queue[--in.nb]);
    av_buffer_unref(&frames);
}

void bench_filter(Bench *b, const char *filter, const char *path)
{
    if (!avfilter_get_by_name(filter)) {
        printf("%s: this build has no %s\n", filter, filter);
        return;
    }
    printf("\n%-13s %3s %-4s %9s %5s %5s %10s %7s %9s   %s, for each frame that it makes\n", "options", "nr", "",
           "size", "block", "range", "time, us", "spread", "frames/s", filter);
    for (int i = 0; i < FF_ARRAY_ELEMS(rows); i++) {
        if (strcmp(rows[i].filter, filter))
            continue;
        measure(b, &rows[i], path, AV_PIX_FMT_NV12);
        if (rows[i].has_10_bits)
            measure(b, &rows[i], path, AV_PIX_FMT_P010);
    }
}
