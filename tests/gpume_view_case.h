/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Frames with vectors, and what mvview makes of them: on threads, with what a processor has, on
 * a device. Shared by the tests and the fuzzer.
 */

#ifndef GPUME_VIEW_CASE_H
#define GPUME_VIEW_CASE_H

#include <inttypes.h>
#include <string.h>

#include "config.h"

#include "libavfilter/buffersink.h"
#include "libavfilter/buffersrc.h"
#include "libavutil/cpu.h"
#include "libavutil/hwcontext.h"
#include "libavutil/imgutils.h"
#include "libavutil/mem.h"
#include "libavutil/opt.h"
#include "libavutil/pixdesc.h"

#include "gpume_harness.h"

/** Bytes around the rows of a frame that nobody may touch. */
#define MARGIN 48
#define CANARY 0xa5

#define MAX_VECTORS 10000

/** What a frame is made of. */
typedef struct Input {
    int w, h;
    enum AVPixelFormat format;
    uint64_t seed;
    size_t size;            ///< of the side data, input_mvs, in bytes
    int has_side_data;
    int even;               ///< cut from a larger picture of even sides, as devices have them
} Input;

/** Of the input at hand. */
static AVMotionVector input_mvs[MAX_VECTORS];

/* A frame of random samples whose rows have canaries before and behind them. */
static AVFrame *make_frame(const Input *in)
{
    AVFrame *f = test_alloc(av_frame_alloc());
    TestRandom r = { .state = test_mix(in->seed) };
    const int planes = av_pix_fmt_count_planes(in->format);
    size_t size = 0, at = 0;
    AVBufferRef *buf;

    f->width  = in->even ? FFALIGN(in->w, 2) : in->w;
    f->height = in->even ? FFALIGN(in->h, 2) : in->h;
    f->format = in->format;
    f->pts    = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < planes; i++) {
            const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(in->format);
            const int h = i == 1 || i == 2 ? AV_CEIL_RSHIFT(f->height, desc->log2_chroma_h) : f->height;
            int linesizes[4];

            av_image_fill_linesizes(linesizes, in->format, f->width);
            f->linesize[i] = FFALIGN(linesizes[i], 2) + 2 * MARGIN;
            if (pass) {
                f->data[i] = f->buf[0]->data + at + MARGIN;
                for (int y = 0; y < h; y++)
                    for (int x = 0; x < linesizes[i]; x++)
                        f->data[i][y * f->linesize[i] + x] = test_draw(&r, 256);
                at += h * f->linesize[i];
            } else {
                size += h * f->linesize[i];
            }
        }
        if (!pass) {
            buf = test_alloc(av_buffer_alloc(size + 64));
            memset(buf->data, CANARY, size + 64);
            f->buf[0] = buf;
        }
    }
    if (in->has_side_data) {
        AVFrameSideData *sd = test_alloc(av_frame_new_side_data(f, AV_FRAME_DATA_MOTION_VECTORS,
                                                                in->size));

        memcpy(sd->data, input_mvs, in->size);
    }
    f->width  = in->w;
    f->height = in->h;
    return f;
}

static int rows_of(const AVFrame *f, int plane)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(f->format);

    return plane == 1 || plane == 2 ? AV_CEIL_RSHIFT(f->height, desc->log2_chroma_h) : f->height;
}

static int same_pictures(const AVFrame *a, const AVFrame *b)
{
    int linesizes[4];

    av_image_fill_linesizes(linesizes, a->format, a->width);
    for (int i = 0; i < av_pix_fmt_count_planes(a->format); i++)
        for (int y = 0; y < rows_of(a, i); y++)
            if (memcmp(a->data[i] + y * (ptrdiff_t)a->linesize[i],
                       b->data[i] + y * (ptrdiff_t)b->linesize[i], linesizes[i]))
                return 0;
    return 1;
}

/* That nothing between the rows of a frame of make_frame() was written. */
static int is_intact(const AVFrame *f)
{
    int linesizes[4];

    av_image_fill_linesizes(linesizes, f->format, f->width);
    for (int i = 0; i < av_pix_fmt_count_planes(f->format); i++)
        for (int y = 0; y < rows_of(f, i); y++) {
            const uint8_t *row = f->data[i] + y * (ptrdiff_t)f->linesize[i];

            for (int x = 1; x <= MARGIN; x++)
                if (row[-x] != CANARY || row[linesizes[i] + x - 1] != CANARY &&
                    linesizes[i] + x <= f->linesize[i] - MARGIN)
                    return 0;
        }
    return 1;
}

typedef struct Graph {
    AVFilterGraph *graph;
    AVFilterContext *src, *sink;
    void (*configure)(void);    ///< called when options are set; may be NULL
} Graph;

static int open_graph(Graph *g, const Input *in, const char *filter, const char *options, int threads)
{
    AVFilterContext *ctx;
    char args[128];
    int ret;

    g->graph = avfilter_graph_alloc();
    if (!g->graph)
        return AVERROR(ENOMEM);
    g->graph->nb_threads = threads;
    snprintf(args, sizeof(args), "video_size=%dx%d:pix_fmt=%d:time_base=1/25", in->w, in->h,
             in->format);
    if ((ret = avfilter_graph_create_filter(&g->src, avfilter_get_by_name("buffer"), "in", args,
                                            NULL, g->graph)) < 0 ||
        (ret = avfilter_graph_create_filter(&ctx, avfilter_get_by_name(filter), filter, options,
                                            NULL, g->graph)) < 0 ||
        (ret = avfilter_graph_create_filter(&g->sink, avfilter_get_by_name("buffersink"), "out",
                                            NULL, NULL, g->graph)) < 0 ||
        (ret = avfilter_link(g->src, 0, ctx, 0)) < 0 ||
        (ret = avfilter_link(ctx, 0, g->sink, 0)) < 0)
        return ret;
    /* a format that the filter does not take must not be converted */
    avfilter_graph_set_auto_convert(g->graph, AVFILTER_AUTO_CONVERT_NONE);
    if (g->configure)
        g->configure();
    return avfilter_graph_config(g->graph, NULL);
}

/* What a filter makes of a frame; held: somebody else has it, too. */
static AVFrame *filter_frame(const Input *in, const char *filter, const char *options,
                             int threads, int held)
{
    AVFrame *f = make_frame(in), *out = test_alloc(av_frame_alloc());
    AVFrame *before = make_frame(in), *other = held ? test_alloc(av_frame_clone(f)) : NULL;
    const uint8_t *data = f->data[0];
    Graph g = { 0 };
    int ret = open_graph(&g, in, filter, options, threads);

    CHECK(ret >= 0, "%s=%s: %s", filter, options, av_err2str(ret));
    if (ret >= 0)
        ret = av_buffersrc_add_frame(g.src, f);
    if (ret >= 0)
        ret = av_buffersink_get_frame(g.sink, out);
    CHECK(ret >= 0, "%s=%s: %s", filter, options, av_err2str(ret));
    if (ret < 0) {
        av_frame_free(&out);
    } else if (held) {
        CHECK(same_pictures(other, before), "a frame that somebody holds was drawn into");
        CHECK(in->even || is_intact(other), "a frame that somebody holds was written to");
    } else if (out->data[0] == data) {
        CHECK(in->even || is_intact(out), "what is outside the picture was written to");
    }
    av_frame_free(&f);
    av_frame_free(&before);
    av_frame_free(&other);
    avfilter_graph_free(&g.graph);
    return out;
}

static AVMotionVector vector(int x, int y, int w, int h, int dx, int dy)
{
    return (AVMotionVector) {
        .source = -1, .w = w, .h = h, .dst_x = x, .dst_y = y, .src_x = x + dx, .src_y = y + dy,
        .motion_x = dx, .motion_y = dy, .motion_scale = 1,
    };
}

/* Blocks of a grid as a search leaves them. */
static void grid_of_vectors(Input *in, TestRandom *r, int block, int range)
{
    int nb = 0;

    for (int y = 0; y < in->h; y += block)
        for (int x = 0; x < in->w && nb < MAX_VECTORS; x += block) {
            const int w = FFMIN(block, in->w - x), h = FFMIN(block, in->h - y);

            input_mvs[nb] = vector(x + w / 2, y + h / 2, w, h,
                                 test_draw_range(r, -range, range), test_draw_range(r, -range, range));
            input_mvs[nb].flags = !test_draw(r, 4);
            nb++;
        }
    in->size = nb * sizeof(*input_mvs);
    in->has_side_data = 1;
}

/* What no search leaves. */
static void wild_vectors(Input *in, TestRandom *r)
{
    const int nb = test_draw(r, 40);

    for (int i = 0; i < nb; i++) {
        AVMotionVector *mv = &input_mvs[i];

        switch (test_draw(r, 4)) {
        case 0:
            for (int j = 0; j < sizeof(*mv); j++)
                ((uint8_t *)mv)[j] = test_draw(r, 256);
            break;
        case 1:
            *mv = vector(test_draw_range(r, -300, 300), test_draw_range(r, -300, 300),
                         test_draw(r, 256), test_draw(r, 256),
                         test_draw_range(r, -30000, 30000), test_draw_range(r, -30000, 30000));
            break;
        default:
            *mv = vector(test_draw(r, in->w), test_draw(r, in->h),
                         1 + test_draw(r, 20), 1 + test_draw(r, 20),
                         test_draw_range(r, -90, 90), test_draw_range(r, -90, 90));
            break;
        }
        if (!test_draw(r, 4)) {
            mv->motion_x = test_draw(r, 2) ? INT32_MIN : INT32_MAX;
            mv->motion_y = test_draw(r, 2) ? INT32_MIN : 0;
        }
        mv->source       = test_draw_range(r, -1, 1);
        mv->motion_scale = test_draw(r, 3) ? test_draw(r, 5) : test_draw(r, 65536);
    }
    /* the last one may not be whole */
    in->size = nb * sizeof(*input_mvs) + (nb ? 0 : test_draw(r, 2)) +
               (test_draw(r, 2) ? test_draw(r, sizeof(*input_mvs)) : 0);
    in->has_side_data = 1;
}

/** One of each kind. */
static const enum AVPixelFormat view_formats[] = {
    AV_PIX_FMT_YUV420P, AV_PIX_FMT_GRAY8, AV_PIX_FMT_YUV410P, AV_PIX_FMT_NV12, AV_PIX_FMT_P010LE,
    AV_PIX_FMT_RGB24, AV_PIX_FMT_YUV444P16BE, AV_PIX_FMT_BGRA, AV_PIX_FMT_YUVA420P, AV_PIX_FMT_GBRP,
};

/** Of the filter. */
static const char *const modes[] = {
    "mode=arrows", "mode=flow", "mode=blocks", "mode=arrows:step=1:scale=2.5",
    "mode=flow+arrows+blocks:legend=1", "mode=flow:max=3:opacity=1:background=gray",
    "mode=arrows+flow:step=1:background=black:source=past", "mode=arrows:scale=64:step=1",
    "mode=blocks+arrows:source=future:background=gray", "mode=flow:legend=1:opacity=0:max=0.01",
    "mode=arrows+flow+blocks:step=3:scale=0",
};

/* Every number of threads and every processor, in place or not, gives the same picture. */
static void check_same(const Input *in, const char *options)
{
    static const struct {
        const char *name;
        int threads, held, cpu_flags;
    } ways[] = {
        { "in a new frame",  1, 1, -1 },
        { "with 5 threads",  5, 0, -1 },
        { "in plain C",      8, 1,  0 },
#if ARCH_X86
        { "with SSE2",       2, 0, AV_CPU_FLAG_MMX | AV_CPU_FLAG_MMXEXT | AV_CPU_FLAG_SSE | AV_CPU_FLAG_SSE2 },
#endif
    };
    AVFrame *first = filter_frame(in, "mvview", options, 1, 0), *other;

    if (!first)
        return;
    for (int i = 0; i < FF_ARRAY_ELEMS(ways); i++) {
        av_force_cpu_flags(ways[i].cpu_flags);
        other = filter_frame(in, "mvview", options, ways[i].threads, ways[i].held);
        av_force_cpu_flags(-1);
        CHECK(other && same_pictures(first, other), "another picture %s", ways[i].name);
        av_frame_free(&other);
    }
    av_frame_free(&first);
}

/* What a graph makes of frames on a device, as frames in memory. */
typedef struct DeviceGraph {
    AVBufferRef *device;
    AVBufferRef *frames;        ///< of the size of the last input, to whole chroma samples
    Graph g;
} DeviceGraph;

static void even_sides(AVFrame *f)
{
    f->width  = FFALIGN(f->width,  2);
    f->height = FFALIGN(f->height, 2);
}

static int need_frames(DeviceGraph *d, const Input *in)
{
    AVHWFramesContext *frames = d->frames ? (void *)d->frames->data : NULL;

    if (frames && frames->width == FFALIGN(in->w, 2) && frames->height == FFALIGN(in->h, 2))
        return 0;
    av_buffer_unref(&d->frames);
    d->frames = test_alloc(av_hwframe_ctx_alloc(d->device));
    frames = (void *)d->frames->data;
    frames->format    = AV_PIX_FMT_CUDA;
    frames->sw_format = in->format;
    frames->width     = FFALIGN(in->w, 2);
    frames->height    = FFALIGN(in->h, 2);
    return av_hwframe_ctx_init(d->frames);
}

static int open_device_graph(DeviceGraph *d, const Input *in, const char *options)
{
    AVBufferSrcParameters *params = test_alloc(av_buffersrc_parameters_alloc());
    AVFilterContext *ctx;
    int ret = need_frames(d, in);

    params->format        = AV_PIX_FMT_CUDA;
    params->width         = in->w;
    params->height        = in->h;
    params->time_base     = (AVRational) { 1, 25 };
    params->hw_frames_ctx = d->frames;
    d->g.graph = test_alloc(avfilter_graph_alloc());
    d->g.src   = test_alloc(avfilter_graph_alloc_filter(d->g.graph, avfilter_get_by_name("buffer"), "in"));
    if (ret < 0 || (ret = av_buffersrc_parameters_set(d->g.src, params)) < 0 ||
        (ret = avfilter_init_str(d->g.src, NULL)) < 0 ||
        (ret = avfilter_graph_create_filter(&ctx, avfilter_get_by_name("mvview"), "mvview", options,
                                            NULL, d->g.graph)) < 0 ||
        (ret = avfilter_graph_create_filter(&d->g.sink, avfilter_get_by_name("buffersink"), "out",
                                            NULL, NULL, d->g.graph)) < 0 ||
        (ret = avfilter_link(d->g.src, 0, ctx, 0)) < 0 ||
        (ret = avfilter_link(ctx, 0, d->g.sink, 0)) < 0)
        goto end;
    ret = avfilter_graph_config(d->g.graph, NULL);
end:
    av_free(params);
    return ret;
}

static void close_device_graph(DeviceGraph *d)
{
    avfilter_graph_free(&d->g.graph);
    av_buffer_unref(&d->frames);
}

static int download(AVFrame *to, AVFrame *from)
{
    even_sides(from);
    return av_hwframe_transfer_data(to, from, 0);
}

/* Send a frame through; it stays as it was, and what comes out is what the CPU draws. */
static int check_on_device(DeviceGraph *d, const Input *in, const char *options, int same)
{
    AVFrame *f = make_frame(in), *up = test_alloc(av_frame_alloc());
    AVFrame *out = test_alloc(av_frame_alloc()), *down = test_alloc(av_frame_alloc());
    AVFrame *kept = test_alloc(av_frame_alloc()), *expected = NULL;
    int ret = need_frames(d, in);

    if (!same)
        expected = filter_frame(in, "mvview", options, 1, 0);
    even_sides(f);
    if (ret >= 0)
        ret = av_hwframe_get_buffer(d->frames, up, 0);
    if (ret >= 0)
        ret = av_hwframe_transfer_data(up, f, 0);
    if (ret >= 0)
        ret = av_frame_copy_props(up, f);
    up->width  = in->w;
    up->height = in->h;
    if (ret >= 0)
        ret = av_buffersrc_write_frame(d->g.src, up);
    if (ret >= 0)
        ret = av_buffersink_get_frame(d->g.sink, out);
    CHECK(ret < 0 || out->width == in->w && out->height == in->h && out->data[0] != up->data[0] &&
          out->hw_frames_ctx->data != up->hw_frames_ctx->data &&
          !!av_frame_get_side_data(out, AV_FRAME_DATA_MOTION_VECTORS) == in->has_side_data,
          "it is not a new frame with the properties of the old one");
    if (ret >= 0)
        ret = download(down, out);
    if (ret >= 0)
        ret = download(kept, up);
    CHECK(ret >= 0, "%s", av_err2str(ret));
    if (ret >= 0) {
        CHECK(same_pictures(kept, f), "the frame that went in was drawn into");
        f->width  = down->width  = in->w;
        f->height = down->height = in->h;
        CHECK(same_pictures(expected ? expected : f, down), "another picture on the device");
    }
    av_frame_free(&f);
    av_frame_free(&up);
    av_frame_free(&out);
    av_frame_free(&down);
    av_frame_free(&kept);
    av_frame_free(&expected);
    return ret;
}

/* The same in a graph of its own. */
static void check_once_on_device(AVBufferRef *device, const Input *in, const char *options, int same)
{
    DeviceGraph d = { .device = device };
    const int ret = open_device_graph(&d, in, options);

    CHECK(ret >= 0, "%s: %s", options, av_err2str(ret));
    if (ret >= 0)
        check_on_device(&d, in, options, same);
    close_device_graph(&d);
}

#endif /* GPUME_VIEW_CASE_H */
