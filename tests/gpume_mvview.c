/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Tests mvview through libavfilter's API: every format, invalid side data, frames with other
 * references, independence from threads and processors, and a comparison with codecview.
 */

#include <inttypes.h>
#include <string.h>

#include "config.h"

#include "libavutil/avstring.h"

#include "libavfilter/gpume/mvview/arrow.h"
#include "libavfilter/gpume/mvview/wheel.h"

#include "gpume_filter_harness.h"
#include "gpume_view_case.h"

/* Decides by the name alone, so that the test does not repeat the filter's code. */
static int is_format(const char *name)
{
    static const char *const begins[] = { "yuv4", "yuvj4", "yuva4", "nv", "p0", "p2", "p4", "rgb48", "bgr48", "rgba64",
                                          "bgra64" };

    for (int i = 0; i < FF_ARRAY_ELEMS(begins); i++)
        if (av_strstart(name, begins[i], NULL))
            return 1;
    /* planar RGB, but of floating point or in the upper bits */
    if (av_strstart(name, "gbr", NULL))
        return !strstr(name, "f16") && !strstr(name, "32") && !strstr(name, "msb");
    return av_match_name(name, "gray,gray9le,gray9be,gray10le,gray10be,gray12le,gray12be,"
                               "gray14le,gray14be,gray16le,gray16be,"
                               "rgb24,bgr24,rgba,bgra,argb,abgr,rgb0,bgr0,0rgb,0bgr");
}

static void all_formats(void)
{
    const AVPixFmtDescriptor *desc = NULL;
    TestRandom r = { .state = 5 };
    int nb_accepted = 0, nb_refused = 0, mode = 0;

    while ((desc = av_pix_fmt_desc_next(desc))) {
        Input in = { .w = 45, .h = 39, .format = av_pix_fmt_desc_get_id(desc), .seed = 3 };
        TestFilter g = { "mvview", "", 1, .never_searches = 1 };
        int ret;

        if (desc->flags & AV_PIX_FMT_FLAG_HWACCEL)
            continue;
        snprintf(test_context, sizeof(test_context), "format %s", desc->name);
        ret = test_open_filter(&g, in.format, in.w, in.h);
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
    for (int i = 0; i < nb; i++) {
        TestRandom r = { .state = test_mix(i) };
        Input in = {
            .w = 1 + test_draw(&r, i % 3 ? 40 : 200), .h = 1 + test_draw(&r, i % 3 ? 40 : 200),
            .format = view_formats[test_draw(&r, FF_ARRAY_ELEMS(view_formats))], .seed = i,
        };
        const char *mode = modes[test_draw(&r, FF_ARRAY_ELEMS(modes))];

        wild_vectors(&in, &r);
        snprintf(test_context, sizeof(test_context), "bad side data %d: %dx%d %s %s", i,
                 in.w, in.h, av_get_pix_fmt_name(in.format), mode);
        check_same(&in, mode);
    }
}

/* Each allocation fails: the run must end with an error or the right pictures. */
static void fail_allocations(const char *options, const Input *in, int nb, int searches)
{
    const TestShape shape   = test_shape(in->format, in->w, in->h);
    const TestFilter filter = { "mvview", options, 2, !searches };
    TestFrames frames = { .nb = nb }, out = { .nb = 0 };
    int ret;

    for (int i = 0; i < nb; i++)
        frames.frames[i] = make_frame(&in[i]);
    ret = test_run_filter(&filter, &shape, &frames, &shape, &out);
    CHECK(ret >= 0 && out.nb == nb, "%d frames, %s", out.nb, av_err2str(ret));
    CHECK(!searches || out.nb < 2 || av_frame_get_side_data(out.frames[1], AV_FRAME_DATA_MOTION_VECTORS),
          "nothing was searched");
    test_free_frames(&out);
    test_failing_filter(&filter, &shape, &frames, 1, searches ? 100 : 50, options);
    test_free_frames(&frames);
}

static void failing_allocations(void)
{
    static const char *const options[] = { "mode=flow+arrows+blocks:legend=1:background=gray", "step=1" };
    static const enum AVPixelFormat formats[] = { AV_PIX_FMT_YUV420P, AV_PIX_FMT_P010LE };
    TestRandom random = { .state = 41 };

    for (int i = 0; i < FF_ARRAY_ELEMS(formats); i++) {
        Input in[2] = { { .w = 70, .h = 66, .format = formats[i], .seed = i } };

        grid_of_vectors(&in[0], &random, 16, 40);
        in[1] = in[0];
        fail_allocations(options[i], in, 2, 0);
    }
}

/* mvview searches itself, so allocations of the engine fail, too. */
static void failing_searches(void)
{
    Input in[3];

    for (int i = 0; i < 3; i++)
        in[i] = (Input) { .w = 24, .h = 17, .format = AV_PIX_FMT_YUV420P, .seed = i };
    fail_allocations("mode=flow+arrows", in, 3, 1);
}

/* Tests that frames without anything to draw pass through. */
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
        TestFilter g = { "mvview", rows[i].options, 1, .never_searches = 1 };
        int ret;

        snprintf(test_context, sizeof(test_context), "nothing to draw, row %d", i);
        input_mvs[0] = vector(16, 16, rows[i].w, 16, 3, 4);
        input_mvs[0].source = rows[i].source;
        f    = make_frame(&in);
        data = f->data[0];
        ret  = test_open_filter(&g, in.format, in.w, in.h);
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

/* Tests so many vectors that several threads read them; some of them are invalid. */
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

/* Decides by the name whether a format is one of frames on a device. */
static int is_device_format(const char *name)
{
    return is_format(name) && !av_strstart(name, "gbr", NULL) && !av_match_name(name, "rgb24,bgr24") &&
           !strstr(name, "48") && !strstr(name, "64");
}

/* Tests that frames on a device look the same as those drawn on the CPU. */
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

/*
 * Tests that motion fields on the device, of all block sizes, precisions, distances and lengths,
 * look as in memory.
 */
static void fields_on_device(AVBufferRef *device, int nb)
{
    static const enum AVPixelFormat formats[] = {
        AV_PIX_FMT_NV12, AV_PIX_FMT_P010LE, AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV444P16LE, AV_PIX_FMT_BGR0,
    };
    static const int distances[][4] = { { -1 }, { 1 }, { -1, 1 }, { -1, -2, 1, 2 }, { -2, -3, 3 } };
    static const int counts[] = { 1, 1, 2, 4, 3 };

    for (int i = 0; i < nb; i++) {
        TestRandom r = { .state = test_mix(i + 4000) };
        const int n   = test_draw(&r, FF_ARRAY_ELEMS(counts));
        const int few = 4 << test_draw(&r, 6);
        Input in = {
            .w = 1 + test_draw(&r, i % 3 ? 60 : 260), .h = 1 + test_draw(&r, i % 3 ? 60 : 140),
            .format = formats[test_draw(&r, FF_ARRAY_ELEMS(formats))], .seed = i, .even = 1,
            .block  = i % 4 ? few : 4, .pel = 1 << test_draw(&r, 3), .is_elsewhere = i % 8 == 7,
        };
        char options[128];

        fields_of_vectors(&in, &r, distances[n], counts[n], 1 << test_draw(&r, 12));
        snprintf(options, sizeof(options), "%s:distance=%d", modes[test_draw(&r, FF_ARRAY_ELEMS(modes))],
                 test_draw(&r, 2) ? 0 : test_draw(&r, 4));
        if (strstr(options, "arrows") && !strstr(options, "step=") && test_draw(&r, 2))
            av_strlcatf(options, sizeof(options), ":step=%d", test_draw(&r, 8));
        snprintf(test_context, sizeof(test_context), "fields %d on the device: %dx%d %s block %d %s", i, in.w, in.h,
                 av_get_pix_fmt_name(in.format), in.block, options);
        check_once_on_device(device, &in, options, 0);
    }
}

/** Pictures of changing size. */
static const int sizes[][2] = { { 64, 48 }, { 64, 48 }, { 33, 90 }, { 200, 17 }, { 1, 1 }, { 64, 48 } };
static const char all_modes[] = "mode=arrows+flow+blocks:legend=1:background=gray";

/* Tests sequences of frames: sizes that change, frames without vectors, the filter disabled. */
static void sequences_on_device(AVBufferRef *device)
{
    TestRandom r = { .state = 12 };
    DeviceGraph d = { .device = device };
    int ret = 0;

    for (int i = 0; i < 3 * FF_ARRAY_ELEMS(sizes) && ret >= 0; i++) {
        const int j = i / 3;
        Input in = { .w = sizes[j][0], .h = sizes[j][1], .format = AV_PIX_FMT_NV12, .seed = i, .even = 1 };

        snprintf(test_context, sizeof(test_context), "sizes that change on the device, frame %d", i);
        in.block = 4 << i % 3;
        in.pel   = 2;
        if (i % 3 == 1)
            grid_of_vectors(&in, &r, in.block, 9);
        else if (i % 3)
            fields_of_vectors(&in, &r, (const int[]) { -1, 1 }, 2, 9);
        if (!i)
            ret = open_device_graph(&d, &in, all_modes);
        if (ret >= 0)
            ret = check_on_device(&d, &in, all_modes, !(i % 3));
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

/* Tests that a graph draws pictures of changing size as a graph for each size would. */
static void sizes_that_change(void)
{
    const TestShape first   = test_shape(AV_PIX_FMT_YUV420P, sizes[0][0], sizes[0][1]);
    const TestFilter filter = { "mvview", all_modes, 3, .never_searches = 1 };
    AVFrame *alone[FF_ARRAY_ELEMS(sizes)];
    TestFrames in = { .nb = FF_ARRAY_ELEMS(sizes) }, out = { .nb = 0 };
    TestRandom r = { .state = 11 };
    int ret;

    for (int i = 0; i < in.nb; i++) {
        Input input = { .w = sizes[i][0], .h = sizes[i][1], .format = first.format, .seed = i };

        snprintf(test_context, sizeof(test_context), "sizes that change, frame %d", i);
        grid_of_vectors(&input, &r, 16, 9);
        in.frames[i]      = make_frame(&input);
        in.frames[i]->pts = i;
        alone[i]          = filter_frame(&input, "mvview", all_modes, 1, 1);
    }
    ret = test_run_filter(&filter, &first, &in, &first, &out);
    CHECK(ret >= 0 && out.nb == in.nb, "%d frames, %s", out.nb, av_err2str(ret));
    for (int i = 0; i < in.nb; i++) {
        CHECK(i >= out.nb || alone[i] && out.frames[i]->width == sizes[i][0] && same_pictures(out.frames[i], alone[i]),
              "another picture, frame %d", i);
        av_frame_free(&alone[i]);
    }
    test_free_frames(&in);
    test_free_frames(&out);
}

/* Tests that mvview draws at both ends of codecview's arrows, and nowhere far from them. */
static void compare_with_codecview(int nb)
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
        if (i % 3 == 2) {       // mestimate leaves these fields uninitialized
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
                    const int is_outside = px < FFMIN(x, x + dx) - 6 || px > FFMAX(x, x + dx) + 6 ||
                                    py < FFMIN(y, y + dy) - 6 || py > FFMAX(y, y + dy) + 6;

                    nb_far += is_outside && ours->data[0][py * ours->linesize[0] + px] != 16;
                }
            CHECK(!nb_far, "%d samples far away", nb_far);
            av_frame_free(&before);
        }
        av_frame_free(&ours);
        av_frame_free(&theirs);
    }
}

/* Tests known colours, and that inconsistent blocks and future vectors look different. */
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

/* Tests that the nearest distance, or the requested one, is drawn as if it were the only one. */
static void distances(void)
{
    static const int sources[] = { -3, 2, -1, 5, -2, 2 };
    static const struct {
        const char *options;
        int past, future;       ///< distances that are drawn
    } rows[] = {
        { "mode=arrows+flow+blocks",                      -1,  2 },
        { "mode=arrows+flow+blocks:distance=2",           -2,  2 },
        { "mode=arrows+flow+blocks:distance=5",           -5,  5 },
        { "mode=arrows+flow+blocks:source=past",          -1,  0 },
        { "mode=arrows+blocks:source=future",              0,  2 },
        { "mode=arrows+blocks:distance=3:source=past",    -3,  0 },
        { "mode=arrows+blocks:distance=3:source=future",   0,  3 },
    };

    for (int i = 0; i < FF_ARRAY_ELEMS(rows); i++) {
        Input in = { .w = 96, .h = 64, .format = AV_PIX_FMT_YUV420P, .has_side_data = 1,
                     .size = FF_ARRAY_ELEMS(sources) * sizeof(AVMotionVector) };
        AVFrame *all, *alone;
        int nb = 0;

        snprintf(test_context, sizeof(test_context), "distances, %s", rows[i].options);
        for (int j = 0; j < FF_ARRAY_ELEMS(sources); j++) {
            input_mvs[j] = vector(8 + 16 * j, 24 + 3 * j, 16, 16, 5 - 3 * j, 7);
            input_mvs[j].source = sources[j];
        }
        all = filter_frame(&in, "mvview", rows[i].options, 1, 0);
        for (int j = 0; j < FF_ARRAY_ELEMS(sources); j++)
            if (sources[j] == rows[i].past || sources[j] == rows[i].future)
                input_mvs[nb++] = input_mvs[j];
        in.size = nb * sizeof(*input_mvs);
        alone   = filter_frame(&in, "mvview", rows[i].options, 1, 0);
        CHECK(all && alone && same_pictures(all, alone), "another picture");
        av_frame_free(&all);
        av_frame_free(&alone);
    }
}

/* Tests the arithmetic: roots, angles, and that spans contain every touched sample. */
static void arithmetic(int quick)
{
    TestRandom r = { .state = 9 };

    for (int i = 0; i < 20000; i++) {
        const uint64_t x = test_mix(i) >> test_draw(&r, 62);
        const uint64_t root = mvview_sqrt(x);

        snprintf(test_context, sizeof(test_context), "root of %" PRIu64, x);
        CHECK(root * root <= x && (root == UINT32_MAX || (root + 1) * (root + 1) > x),
              "%" PRIu64, root);
    }
    for (int i = 0; i < (quick ? 300 : 3000); i++) {
        const int range = 1 << test_draw(&r, 9);
        const int qx = test_draw_range(&r, -range, range), qy = test_draw_range(&r, -range, range);
        MvviewArrow a;

        mvview_arrow_init(&a, qx, qy, 128 + test_draw(&r, 640));
        snprintf(test_context, sizeof(test_context), "the span of arrow (%d,%d)", qx, qy);
        for (int y = -range / 4 - 40; y <= range / 4 + 40; y += 1 + test_draw(&r, 3)) {
            int first, last;

            mvview_arrow_span(&a, y, &first, &last);
            for (int x = -range / 4 - 40; x <= range / 4 + 40; x++)
                CHECK(x >= first && x <= last ||
                      !mvview_coverage(mvview_arrow_depth(&a, mvview_arrow_along(&a, x, y), x, y) + a.edge),
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

static void in_memory(int quick)
{
    arithmetic(quick);
    colours();
    distances();
    untouched();
    sizes_that_change();
    many_vectors();
    failing_allocations();
    failing_searches();
    if (avfilter_get_by_name("codecview"))
        compare_with_codecview(quick ? 40 : 400);
    all_formats();
    bad_side_data(quick ? 100 : 1000);
}

int main(int argc, char **argv)
{
    TestOptions o;

    if (test_begin(&o, "gpume_mvview", argc, argv) < 0)
        return 1;
    if (!o.device_only)
        in_memory(o.quick);
    if (test_begin_device()) {
        on_device(test_device, o.quick ? 60 : 400);
        fields_on_device(test_device, o.quick ? 150 : 1500);
        sequences_on_device(test_device);
        test_failing_change("mvview", "search=never", o.quick ? 11 : 1);
    }
    printf("gpume_mvview: %d checks, %d failures\n", test_nb_checks, test_nb_failures);
    return test_end(&o, test_nb_checks);
}
