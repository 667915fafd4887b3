/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The filter mvview through libavfilter's API: every format, bad side data, frames that
 * others hold, threads and processors that must not matter, and what is drawn beside what
 * codecview draws.
 */

#include <inttypes.h>
#include <string.h>

#include "config.h"

#include "libavfilter/buffersink.h"
#include "libavfilter/buffersrc.h"
#include "libavutil/avstring.h"
#include "libavutil/cpu.h"
#include "libavutil/hwcontext.h"
#include "libavutil/imgutils.h"
#include "libavutil/mem.h"
#include "libavutil/opt.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/view/arrow.h"
#include "libavfilter/gpume/view/wheel.h"

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
} Graph;

static int open_graph(Graph *g, const Input *in, const char *filter, const char *options, int threads)
{
    AVFilterContext *ctx;
    char args[128];
    int ret;

    g->graph = test_alloc(avfilter_graph_alloc());
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

/* From the name alone, so that it is not the filter's own rule again. */
static int is_format(const char *name)
{
    static const char *const planar[] = { "yuv4", "yuvj4", "yuva4", "nv", "p0", "p2", "p4" };

    for (int i = 0; i < FF_ARRAY_ELEMS(planar); i++)
        if (av_strstart(name, planar[i], NULL))
            return 1;
    return av_match_name(name, "gray,gray9le,gray9be,gray10le,gray10be,gray12le,gray12be,"
                               "gray14le,gray14be,gray16le,gray16be,"
                               "rgb24,bgr24,rgba,bgra,argb,abgr,rgb0,bgr0,0rgb,0bgr,gbrp,gbrap");
}

static void all_formats(void)
{
    const AVPixFmtDescriptor *desc = NULL;
    TestRandom r = { .state = 5 };
    int nb_accepted = 0, nb_refused = 0, mode = 0;

    while ((desc = av_pix_fmt_desc_next(desc))) {
        Input in = { .w = 45, .h = 39, .format = av_pix_fmt_desc_get_id(desc), .seed = 3 };
        Graph g = { 0 };
        int ret;

        if (desc->flags & AV_PIX_FMT_FLAG_HWACCEL)
            continue;
        snprintf(test_context, sizeof(test_context), "format %s", desc->name);
        ret = open_graph(&g, &in, "mvview", "", 1);
        avfilter_graph_free(&g.graph);
        CHECK((ret >= 0) == is_format(desc->name), "%s", ret < 0 ? "refused" : "accepted");
        *(ret < 0 ? &nb_refused : &nb_accepted) += 1;
        if (ret < 0)
            continue;
        grid_of_vectors(&in, &r, 8, 12);
        for (int i = 0; i < 2; i++)
            check_same(&in, modes[mode++ % FF_ARRAY_ELEMS(modes)]);
        check_same(&in, "mode=flow+arrows+blocks:background=black");
    }
    CHECK(nb_accepted > 90 && nb_refused > 60, "%d and %d", nb_accepted, nb_refused);
    printf("  %d formats drawn, %d refused\n", nb_accepted, nb_refused);
}

static void bad_side_data(int nb)
{
    static const enum AVPixelFormat formats[] = {
        AV_PIX_FMT_YUV420P, AV_PIX_FMT_GRAY8, AV_PIX_FMT_YUV410P, AV_PIX_FMT_NV12, AV_PIX_FMT_P010LE,
        AV_PIX_FMT_RGB24, AV_PIX_FMT_YUV444P16BE, AV_PIX_FMT_BGRA, AV_PIX_FMT_YUVA420P, AV_PIX_FMT_GBRP,
    };

    for (int i = 0; i < nb; i++) {
        TestRandom r = { .state = test_mix(i) };
        Input in = {
            .w = 1 + test_draw(&r, i % 3 ? 40 : 200), .h = 1 + test_draw(&r, i % 3 ? 40 : 200),
            .format = formats[test_draw(&r, FF_ARRAY_ELEMS(formats))], .seed = i,
        };
        const char *mode = modes[test_draw(&r, FF_ARRAY_ELEMS(modes))];

        wild_vectors(&in, &r);
        snprintf(test_context, sizeof(test_context), "bad side data %d: %dx%d %s %s", i,
                 in.w, in.h, av_get_pix_fmt_name(in.format), mode);
        check_same(&in, mode);
    }
}

/* Frames that have nothing to draw are the same frames. */
static void untouched(void)
{
    static const struct {
        size_t size;
        int has, w, source;
        const char *options;
    } rows[] = {
        { 0, 0, 16, -1, "background=black" },
        { 0, 1, 16, -1, "mode=flow:background=gray" },
        { sizeof(AVMotionVector) - 1, 1, 16, -1, "mode=blocks" },
        { sizeof(AVMotionVector), 1, 0, -1, "mode=flow+arrows:background=black" },
        { sizeof(AVMotionVector), 1, 16, -1, "source=future:background=black" },
        { sizeof(AVMotionVector), 1, 16, 1, "source=past:background=black" },
    };

    for (int i = 0; i < FF_ARRAY_ELEMS(rows); i++) {
        Input in = { .w = 32, .h = 32, .format = AV_PIX_FMT_YUV420P, .size = rows[i].size,
                     .has_side_data = rows[i].has };
        AVFrame *f, *out = test_alloc(av_frame_alloc());
        const uint8_t *data;
        Graph g = { 0 };
        int ret;

        snprintf(test_context, sizeof(test_context), "nothing to draw, row %d", i);
        input_mvs[0] = vector(16, 16, rows[i].w, 16, 3, 4);
        input_mvs[0].source = rows[i].source;
        f    = make_frame(&in);
        data = f->data[0];
        ret  = open_graph(&g, &in, "mvview", rows[i].options, 1);
        if (ret >= 0)
            ret = av_buffersrc_write_frame(g.src, f);
        if (ret >= 0)
            ret = av_buffersink_get_frame(g.sink, out);
        CHECK(ret >= 0 && out->data[0] == data && same_pictures(out, f), "%s", av_err2str(ret));
        avfilter_graph_free(&g.graph);
        av_frame_free(&f);
        av_frame_free(&out);
    }
}

/* So many that threads read them, and some of them are nothing. */
static void many_vectors(void)
{
    TestRandom r = { .state = 31 };
    Input in = { .w = 400, .h = 400, .format = AV_PIX_FMT_YUV420P, .seed = 31 };

    snprintf(test_context, sizeof(test_context), "many vectors");
    grid_of_vectors(&in, &r, 4, 9);
    for (int i = 0; i < MAX_VECTORS; i++) {
        input_mvs[i].source = test_draw(&r, 2) ? 1 : -1;
        if (!test_draw(&r, 3))
            input_mvs[i].w = 0;
    }
    check_same(&in, "mode=arrows+flow+blocks:step=1");
    check_same(&in, "mode=arrows+flow:source=future");
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

/* From the name alone, as above: of the formats that lie on a device. */
static int is_device_format(const char *name)
{
    return is_format(name) && !av_match_name(name, "gbrp,gbrap,rgb24,bgr24");
}

/* Whatever the device has: what it draws is what the CPU draws. */
static void on_device(AVBufferRef *device, int nb_wild)
{
    AVHWFramesConstraints *has = test_alloc(av_hwdevice_get_hwframe_constraints(device, NULL));
    enum AVPixelFormat formats[64];
    TestRandom r = { .state = 21 };
    int nb_formats = 0, mode = 0;

    for (int i = 0; has->valid_sw_formats[i] != AV_PIX_FMT_NONE; i++) {
        const enum AVPixelFormat format = has->valid_sw_formats[i];
        const AVPixFmtDescriptor *desc  = av_pix_fmt_desc_get(format);
        Input in = { .w = 45, .h = 39, .format = format, .seed = 3, .even = 1 };
        DeviceGraph d = { .device = device };
        int ret;

        if (desc->flags & AV_PIX_FMT_FLAG_HWACCEL)
            continue;
        snprintf(test_context, sizeof(test_context), "format %s on the device", desc->name);
        ret = open_device_graph(&d, &in, "");
        close_device_graph(&d);
        CHECK((ret >= 0) == is_device_format(desc->name), "%s", ret < 0 ? "refused" : "accepted");
        if (ret >= 0)
            formats[nb_formats++] = format;
    }
    av_hwframe_constraints_free(&has);
    CHECK(nb_formats > 8, "only %d formats", nb_formats);

    for (int i = 0; i < nb_formats; i++) {
        Input in = { .w = i & 1 ? 133 : 70, .h = i & 2 ? 39 : 66, .format = formats[i], .seed = i, .even = 1 };

        grid_of_vectors(&in, &r, 4 << i % 3, 12);
        for (int j = 0; j < 3; j++) {
            snprintf(test_context, sizeof(test_context), "%s on the device, %s",
                     av_get_pix_fmt_name(in.format), modes[mode % FF_ARRAY_ELEMS(modes)]);
            check_once_on_device(device, &in, modes[mode++ % FF_ARRAY_ELEMS(modes)], 0);
        }
        for (int j = 0; j < 2; j++)
            check_once_on_device(device, &in, j ? "mode=flow+arrows+blocks:background=black" :
                                 "mode=flow+blocks:background=gray:legend=1", 0);
    }
    for (int i = 0; i < nb_wild; i++) {
        Input in;

        r.state = test_mix(i + 1000);
        in = (Input) {
            .w = 1 + test_draw(&r, i % 3 ? 40 : 200), .h = 1 + test_draw(&r, i % 3 ? 40 : 100),
            .format = formats[test_draw(&r, nb_formats)], .seed = i, .even = 1,
        };
        mode = test_draw(&r, FF_ARRAY_ELEMS(modes));
        wild_vectors(&in, &r);
        snprintf(test_context, sizeof(test_context), "bad side data %d on the device: %dx%d %s %s", i,
                 in.w, in.h, av_get_pix_fmt_name(in.format), modes[mode]);
        check_once_on_device(device, &in, modes[mode], 0);
    }
    printf("  %d formats on the device\n", nb_formats);
}

/* Frames that follow each other: sizes that change, frames without vectors, the filter switched off. */
static void sequences_on_device(AVBufferRef *device)
{
    static const int sizes[][2] = { { 64, 48 }, { 64, 48 }, { 33, 90 }, { 200, 17 }, { 1, 1 }, { 64, 48 } };
    const char *const options = "mode=arrows+flow+blocks:legend=1:background=gray";
    TestRandom r = { .state = 12 };
    DeviceGraph d = { .device = device };
    int ret = 0;

    for (int i = 0; i < 3 * FF_ARRAY_ELEMS(sizes) && ret >= 0; i++) {
        const int j = i / 3;
        Input in = { .w = sizes[j][0], .h = sizes[j][1], .format = AV_PIX_FMT_NV12, .seed = i, .even = 1 };

        snprintf(test_context, sizeof(test_context), "sizes that change on the device, frame %d", i);
        if (i % 3)
            grid_of_vectors(&in, &r, 4 << i % 3, 9);
        if (!i)
            ret = open_device_graph(&d, &in, options);
        if (ret >= 0)
            ret = check_on_device(&d, &in, options, !(i % 3));
        CHECK(ret >= 0, "%s", av_err2str(ret));
    }
    close_device_graph(&d);
    for (int i = 0; i < 2; i++) {
        Input in = { .w = 64, .h = 48, .format = AV_PIX_FMT_NV12, .seed = i, .even = 1 };

        snprintf(test_context, sizeof(test_context), "switched off on the device");
        grid_of_vectors(&in, &r, 16, 9);
        check_once_on_device(device, &in, i ? "background=black:enable=0" : "enable=1", i);
    }
}

/* One graph draws pictures of one size, then of another, as if each had a graph of its own. */
static void sizes_that_change(void)
{
    static const int sizes[][2] = { { 64, 48 }, { 64, 48 }, { 33, 90 }, { 200, 17 }, { 1, 1 }, { 64, 48 } };
    const char *const options = "mode=arrows+flow+blocks:legend=1:background=gray";
    TestRandom r = { .state = 11 };
    Graph g = { 0 };
    int ret = 0;

    for (int i = 0; i < FF_ARRAY_ELEMS(sizes) && ret >= 0; i++) {
        Input in = { .w = sizes[i][0], .h = sizes[i][1], .format = AV_PIX_FMT_YUV420P, .seed = i };
        AVFrame *out = test_alloc(av_frame_alloc()), *f, *alone;

        snprintf(test_context, sizeof(test_context), "sizes that change, frame %d", i);
        grid_of_vectors(&in, &r, 16, 9);
        f = make_frame(&in);
        f->pts = i;
        if (!i)
            ret = open_graph(&g, &in, "mvview", options, 3);
        if (ret >= 0)
            ret = av_buffersrc_add_frame(g.src, f);
        if (ret >= 0)
            ret = av_buffersink_get_frame(g.sink, out);
        CHECK(ret >= 0, "%s", av_err2str(ret));
        alone = filter_frame(&in, "mvview", options, 1, 1);
        CHECK(ret < 0 || alone && out->width == in.w && same_pictures(out, alone), "another picture");
        av_frame_free(&f);
        av_frame_free(&out);
        av_frame_free(&alone);
    }
    avfilter_graph_free(&g.graph);
}

/* Where codecview begins and ends its arrows, mvview draws, too; nowhere far away. */
static void beside_codecview(int nb)
{
    for (int i = 0; i < nb; i++) {
        TestRandom r = { .state = test_mix(i + 77) };
        Input in = { .w = 96, .h = 80, .format = AV_PIX_FMT_YUV420P, .seed = i, .has_side_data = 1,
                     .size = sizeof(AVMotionVector) };
        const int x = 20 + test_draw(&r, 56), y = 20 + test_draw(&r, 40);
        const int dx = test_draw_range(&r, -20, 20), dy = test_draw_range(&r, -20, 20);
        AVFrame *ours, *theirs;
        int nb_far = 0;

        snprintf(test_context, sizeof(test_context), "(%d,%d) from (%d,%d)", dx, dy, x, y);
        input_mvs[0] = vector(x, y, 16, 16, dx, dy);
        if (i % 3 == 1)
            input_mvs[0].motion_x = input_mvs[0].motion_y = input_mvs[0].motion_scale = 0;
        if (i % 3 == 2) {       // as mestimate leaves it: what was in memory
            input_mvs[0].motion_x     = test_draw_range(&r, -INT16_MAX, INT16_MAX) * 65536;
            input_mvs[0].motion_y     = 1 << 30;
            input_mvs[0].motion_scale = test_draw(&r, 65536);
        }
        ours   = filter_frame(&in, "mvview", "background=black", 1, 1);
        theirs = filter_frame(&in, "codecview", "mv_type=fp", 1, 1);
        if (ours && theirs) {
            AVFrame *before = make_frame(&in);

            for (int end = 0; end < 2; end++) {
                const int px = x + end * dx, py = y + end * dy;

                CHECK(theirs->data[0][py * theirs->linesize[0] + px] !=
                      before->data[0][py * before->linesize[0] + px], "codecview has no end there");
                CHECK(ours->data[0][py * ours->linesize[0] + px] >= 100,
                      "end %d: %d", end, ours->data[0][py * ours->linesize[0] + px]);
            }
            for (int py = 0; py < in.h; py++)
                for (int px = 0; px < in.w; px++) {
                    const int far = px < FFMIN(x, x + dx) - 6 || px > FFMAX(x, x + dx) + 6 ||
                                    py < FFMIN(y, y + dy) - 6 || py > FFMAX(y, y + dy) + 6;

                    nb_far += far && ours->data[0][py * ours->linesize[0] + px] != 16;
                }
            CHECK(!nb_far, "%d samples far away", nb_far);
            av_frame_free(&before);
        }
        av_frame_free(&ours);
        av_frame_free(&theirs);
    }
}

/* Colours that are known, and that unsound blocks and the future look different. */
static void colours(void)
{
    static const struct {
        int dx, dy;
        uint8_t rgb[3];
    } known[] = {
        { 8,  0, { 255,   0,   0 } }, { 0, 0, { 255, 255, 255 } },
        { -8, 0, {   0, 208, 255 } }, { 4, 0, { 255, 127, 127 } },
        { 16, 0, { 191,   0,   0 } },
    };

    for (int i = 0; i < FF_ARRAY_ELEMS(known); i++) {
        Input in = { .w = 16, .h = 16, .format = AV_PIX_FMT_RGB24, .has_side_data = 1,
                     .size = sizeof(AVMotionVector) };
        AVFrame *out;

        snprintf(test_context, sizeof(test_context), "colour of (%d,%d)", known[i].dx, known[i].dy);
        input_mvs[0] = vector(8, 8, 16, 16, known[i].dx, known[i].dy);
        out = filter_frame(&in, "mvview", "mode=flow:opacity=1:max=8", 1, 0);
        for (int c = 0; out && c < 3; c++)
            CHECK(FFABS(out->data[0][7 * out->linesize[0] + 21 + c] - known[i].rgb[c]) <= 2,
                  "component %d is %d", c, out->data[0][7 * out->linesize[0] + 21 + c]);
        av_frame_free(&out);
    }
    for (int i = 0; i < 2; i++) {
        Input in = { .w = 32, .h = 32, .format = AV_PIX_FMT_YUV420P, .has_side_data = 1,
                     .size = sizeof(AVMotionVector) };
        const char *options = i ? "mode=blocks" : "mode=arrows";
        AVFrame *a, *b;

        snprintf(test_context, sizeof(test_context), "%s that differ", options);
        input_mvs[0] = vector(16, 16, 16, 16, 6, 5);
        a = filter_frame(&in, "mvview", options, 1, 0);
        input_mvs[0].flags  = i;
        input_mvs[0].source = i ? -1 : 1;
        b = filter_frame(&in, "mvview", options, 1, 0);
        CHECK(a && b && !same_pictures(a, b), "they look the same");
        av_frame_free(&a);
        av_frame_free(&b);
    }
}

/* The arithmetic: roots, angles, and spans that leave out nothing. */
static void arithmetic(void)
{
    TestRandom r = { .state = 9 };

    for (int i = 0; i < 20000; i++) {
        const uint64_t x = test_mix(i) >> test_draw(&r, 62);
        const uint64_t root = mvview_sqrt(x);

        snprintf(test_context, sizeof(test_context), "root of %" PRIu64, x);
        CHECK(root * root <= x && (root == UINT32_MAX || (root + 1) * (root + 1) > x),
              "%" PRIu64, root);
    }
    for (int i = 0; i < 3000; i++) {
        const int range = 1 << test_draw(&r, 9);
        const int qx = test_draw_range(&r, -range, range), qy = test_draw_range(&r, -range, range);
        MvviewArrow a;

        mvview_arrow_init(&a, qx, qy, 128 + test_draw(&r, 640));
        snprintf(test_context, sizeof(test_context), "the span of arrow (%d,%d)", qx, qy);
        for (int y = -range / 4 - 40; y <= range / 4 + 40; y += 1 + test_draw(&r, 3)) {
            int first, last;

            mvview_arrow_span(&a, y, &first, &last);
            for (int x = -range / 4 - 40; x <= range / 4 + 40; x++)
                CHECK(x >= first && x <= last || !mvview_coverage(mvview_arrow_depth(&a, x, y) + a.edge),
                      "sample (%d,%d) is not in %d to %d", x, y, first, last);
        }
    }
    for (int i = 0; i < 8; i++) {
        static const int8_t at[8][2] = { { 1, 0 }, { 1, 1 }, { 0, 1 }, { -1, 1 }, { -1, 0 },
                                         { -1, -1 }, { 0, -1 }, { 1, -1 } };
        const int angle = mvview_angle(100 * at[i][0], 100 * at[i][1]);

        snprintf(test_context, sizeof(test_context), "angle %d of 8", i);
        CHECK(FFABS(angle - i * 8192) < 8, "%d", angle);
    }
}

int main(int argc, char **argv)
{
    const int quick = argc > 1 && !strcmp(argv[1], "-quick");
    AVBufferRef *device;

    test_init("gpume_mvview");
    test_watch(600);
    arithmetic();
    colours();
    untouched();
    sizes_that_change();
    many_vectors();
    if (avfilter_get_by_name("codecview"))
        beside_codecview(quick ? 40 : 400);
    all_formats();
    bad_side_data(quick ? 100 : 1000);
    device = test_open_device();
    if (device) {
        on_device(device, quick ? 60 : 400);
        sequences_on_device(device);
    } else {
        printf("  there is no device\n");
    }
    av_buffer_unref(&device);
    printf("gpume_mvview: %d checks, %d failures\n", test_nb_checks, test_nb_failures);
    return !!test_nb_failures;
}
