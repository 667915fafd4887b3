/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Tests filters in their graphs, with streams that they do not expect. Also tests the closed captions and gaps of
 * mvfps, and that filters go on after errors. Other programs, such as gpume_mvfps.c, test the pictures.
 */

#include "libavutil/avstring.h"
#include "libavutil/intreadwrite.h"

#include "gpume_filter_harness.h"
#include "gpume_stream_case.h"

static void random_streams(const StreamKind *kind, int nb)
{
    int nb_frames = 0, nb_errors = 0;

    for (int seed = 1; seed <= nb; seed++) {
        TestRandom d = { .state = seed };
        StreamResult r;
        StreamCase c;

        draw_stream(&c, kind, &d);
        av_strlcatf(test_context, sizeof(test_context), ", seed %d", seed);
        r = check_stream(&c);
        nb_frames += r.nb;
        nb_errors += r.ret < 0;
        free_stream(&c);
    }
    printf("  %s: %d streams, %d frames, %d errors\n", kind->filter, nb, nb_frames, nb_errors);
    CHECK(nb_frames > kind->least_frames * nb && nb_errors < nb / 2, "too few frames of %s", kind->filter);
}

/*
 * Tests that frames are made when they are requested: in a gap at most two frames are ready at a
 * time, with and without pictures between its ends, and the end of the gap is at the right
 * position.
 */
static void one_by_one(void)
{
    static const struct {
        const char *options;
        int64_t late, duration;     // of the last frame
        int expected;
    } rows[] = {
        { "fps=1000:mode=blend:scene=0", 25,  1, 1080 },
        { "fps=1000:mode=blend:scene=0", 250, 1, 10080 },
        { "fps=50:mode=dup",             250, 1, 504 },
        { "fps=50:mode=blend",           1,   250, 504 },
        /* a gap that is too long is not filled */
        { "fps=50:mode=blend",           INT64_C(1) << 40, 1, 6 },
        { "fps=50:mode=blend",           1, INT64_C(1) << 40, 5 },
    };

    for (int i = 0; i < FF_ARRAY_ELEMS(rows); i++) {
        StreamCase c = { .kind = stream_kind("mvfps"), .nb = 3,
                         .first = { .w = 32, .h = 24, .format = AV_PIX_FMT_GRAY8 } };
        AVFrame *out = test_alloc(av_frame_alloc());
        int ready = 0, nb = 0, ret;
        TestFilter g = { "mvfps", rows[i].options, 1 };

        snprintf(test_context, sizeof(test_context), "%s, the last frame is late by %"PRId64" and lasts %"PRId64,
                 rows[i].options, rows[i].late, rows[i].duration);
        ret = test_open_filter(&g, c.first.format, c.first.w, c.first.h);
        for (int n = 0; n <= c.nb && ret >= 0; n++) {
            if (n < c.nb) {
                c.first.seed = n;
                c.frames[n]  = make_frame(&c.first);
                c.frames[n]->pts      = n < 2 ? n : 1 + rows[i].late;
                c.frames[n]->duration = n < 2 ? 1 : rows[i].duration;
            }
            ret = av_buffersrc_add_frame_flags(g.src, n < c.nb ? c.frames[n] : NULL,
                                               AV_BUFFERSRC_FLAG_KEEP_REF | AV_BUFFERSRC_FLAG_PUSH);
            while (ret >= 0 && nb <= 2 * rows[i].expected) {
                int waiting = 0;

                ret = av_buffersink_get_frame(g.sink, out);
                while (ret >= 0) {
                    nb++;
                    waiting++;
                    av_frame_unref(out);
                    ret = av_buffersink_get_frame_flags(g.sink, out, AV_BUFFERSINK_FLAG_NO_REQUEST);
                }
                ready = FFMAX(ready, waiting);
                ret   = waiting && ret == AVERROR(EAGAIN) ? 0 : ret;
            }
            if (ret == AVERROR(EAGAIN) && n < c.nb)
                ret = 0;
        }
        CHECK(ret == AVERROR_EOF, "%s", av_err2str(ret));
        CHECK(nb == rows[i].expected, "%d frames instead of %d", nb, rows[i].expected);
        CHECK(ready <= 2, "%d frames are ready at once", ready);
        avfilter_graph_free(&g.graph);
        av_frame_free(&out);
        free_stream(&c);
    }
}

/** Number of caption entries of a frame. */
#define CAPTIONS       4
/** Number of frames with captions. */
#define CAPTION_FRAMES 25

/* Writes entry i of input frame n: both fields of CEA-608, CTA-708, or padding. */
static void caption(uint8_t entry[3], int n, int i)
{
    static const uint8_t kinds[CAPTIONS] = { 0xfc, 0xfd, 0xfe, 0xfa };

    entry[0] = kinds[i];
    entry[1] = i < CAPTIONS - 1 ? n + 1 : 0;
    entry[2] = i < CAPTIONS - 1 ? 0x80 + i : 0;
}

/* Checks the captions of an output frame. next[] are the input frames whose captions of each kind come next. */
static void check_captions(const AVFrame *out, int next[CAPTIONS - 1])
{
    const AVFrameSideData *sd = av_frame_get_side_data(out, AV_FRAME_DATA_A53_CC);

    for (int i = 0; sd && i < sd->size / 3; i++) {
        const uint8_t *entry = sd->data + 3 * i;
        const int kind = (entry[0] & 3) < 2 ? entry[0] & 1 : 2;

        CHECK(sd->size % 3 == 0 && sd->size / 3 <= 31, "%d entries in a frame", (int)(sd->size / 3));
        if (!(entry[0] & 4))
            continue;
        CHECK(entry[1] == next[kind] + 1 && entry[2] == 0x80 + kind,
              "frame %d of the input: entry %d of kind %d comes next", next[kind], entry[1], kind);
        next[kind]++;
    }
}

/*
 * Tests that every caption is output once by a filter, even if its frame is dropped or repeated.
 * @param damaged the frame with a timestamp far too late, -1: none
 */
static void captions_of(const char *filter, const char *options, int damaged)
{
    const Input input     = { .w = 32, .h = 24, .format = AV_PIX_FMT_GRAY8 };
    const TestShape shape = test_shape(input.format, input.w, input.h);
    const TestFilter f    = { filter, options, 1, .never_searches = 1 };
    TestFrames in = { .nb = CAPTION_FRAMES }, out = { .nb = 0 };
    int next[CAPTIONS - 1] = { 0 }, ret;

    snprintf(test_context, sizeof(test_context), "captions, %s=%s, damaged %d", filter, options, damaged);
    for (int n = 0; n < in.nb; n++) {
        AVFrameSideData *sd;

        in.frames[n] = make_frame(&input);
        in.frames[n]->pts      = n == damaged ? 10000000 : n;
        in.frames[n]->duration = 1;
        sd = test_alloc(av_frame_new_side_data(in.frames[n], AV_FRAME_DATA_A53_CC, 3 * CAPTIONS));
        for (int i = 0; i < CAPTIONS; i++)
            caption(sd->data + 3 * i, n, i);
    }
    ret = test_run_filter(&f, &shape, &in, &shape, &out);
    CHECK(ret >= 0 && out.nb && out.nb < FF_ARRAY_ELEMS(out.frames), "%d frames, %s", out.nb, av_err2str(ret));
    for (int n = 0; n < out.nb; n++)
        check_captions(out.frames[n], next);
    for (int i = 0; i < CAPTIONS - 1; i++)
        CHECK(next[i] == CAPTION_FRAMES, "captions of kind %d of %d frames came out instead of %d", i, next[i],
              CAPTION_FRAMES);
    test_free_frames(&in);
    test_free_frames(&out);
}

static void captions(void)
{
    /* rates of CTA-708 and other rates */
    static const char *const rates[] = {
        "60", "30000/1001", "30", "24", "15", "60000/1001", "50", "25", "1/2x", "10", "120", "37",
    };
    static const char *const modes[] = {
        "mode=send_field", "mode=send_frame", "deint=interlaced", "enable=lt(n\\,9)", "passes=1:refs=1",
    };
    char options[32];

    for (int i = 0; i < FF_ARRAY_ELEMS(rates); i++) {
        snprintf(options, sizeof(options), "mode=dup:fps=%s", rates[i]);
        captions_of("mvfps", options, -1);
        captions_of("mvfps", options, 5);
    }
    for (int i = 0; i < FF_ARRAY_ELEMS(modes) && avfilter_get_by_name("mvdeint"); i++)
        captions_of("mvdeint", modes[i], -1);
}

/* Tests words with bits above their samples, which make differences larger than valid samples can. */
static void bits_above(void)
{
    static const int values[] = { 4080, 0xffff, 0xfc00, 1024 };

    for (int i = 0; i < FF_ARRAY_ELEMS(values); i++) {
        StreamCase c = { .kind = stream_kind("mvfps"), .nb = 4,
                         .first = { .w = 40, .h = 30, .format = AV_PIX_FMT_YUV420P10 }, .options = "fps=3x:scene=0" };
        TestRandom d = { .state = i };
        StreamResult r;

        for (int n = 0; n < c.nb; n++) {
            AVFrame *f;

            grid_of_vectors(&c.first, &d, 8, 0);
            f = c.frames[n] = make_frame(&c.first);
            f->pts = n;
            for (int y = 0; y < f->height; y++)
                for (int x = 0; x < f->width; x++)
                    AV_WN16(f->data[0] + y * f->linesize[0] + 2 * x, n & 1 ? values[i] : 0);
        }
        snprintf(test_context, sizeof(test_context), "samples of %d in 10 bits", values[i]);
        r = check_stream(&c);
        CHECK(r.ret >= 0 && r.nb > 2 * c.nb, "%d frames, %s", r.nb, av_err2str(r.ret));
        free_stream(&c);
    }
}

/* Runs a stream in which an allocation fails once it has begun, like an application that continues after errors. */
static int go_on(const StreamCase *c, int fail_at)
{
    const int outstanding = test_nb_outstanding;
    AVFrame *out = test_alloc(av_frame_alloc());
    TestFilter g = { c->kind->filter, c->options, 2, !c->searches };
    int ret, failed, is_open = test_open_filter(&g, c->first.format, c->first.w, c->first.h) >= 0;

    test_track(1);
    test_fail_allocation(fail_at, 0);
    for (int i = 0; i <= c->nb && is_open; i++) {
        ret = av_buffersrc_add_frame_flags(g.src, i < c->nb ? c->frames[i] : NULL, AV_BUFFERSRC_FLAG_KEEP_REF);
        for (int nb = 0; nb < STREAM_MAX_OUTPUT && ret >= 0; nb++) {
            ret = av_buffersink_get_frame(g.sink, out);
            av_frame_unref(out);
        }
    }
    failed = test_nb_failed;
    test_fail_allocation(0, 0);
    avfilter_graph_free(&g.graph);
    av_frame_free(&out);
    test_track(0);
    CHECK(test_nb_outstanding <= outstanding, "%d buffers leaked", test_nb_outstanding - outstanding);
    return failed;
}

/* Tests that after an error in mid-stream, a filter does not use what has failed. */
static void going_on(const StreamKind *kind, int nb)
{
    int nb_failed = 0;

    /* number 396 made mvdeint read a freed frame */
    for (int seed = 300; seed < 300 + nb; seed++) {
        TestRandom d = { .state = seed };
        StreamCase c;

        draw_stream(&c, kind, &d);
        av_strlcatf(test_context, sizeof(test_context), ", seed %d, going on", seed);
        nb_failed += go_on(&c, 1 + test_draw(&d, 60));
        free_stream(&c);
    }
    snprintf(test_context, sizeof(test_context), "%s, going on", kind->filter);
    CHECK(nb_failed > nb / 3, "only %d of %d streams failed", nb_failed, nb);
}

/* Tests that a format which changes in mid-stream is refused: the frames could be read beyond their ends. */
static void format_that_changes(const StreamKind *kind)
{
    StreamCase c = { .kind = kind, .nb = 3, .searches = 1,
                     .first = { .w = 40, .h = 30, .format = AV_PIX_FMT_YUV420P } };
    StreamResult r;

    snprintf(test_context, sizeof(test_context), "%s, a format that changes", kind->filter);
    if (!strcmp(kind->filter, "mvstereo"))
        snprintf(c.options, sizeof(c.options), "layout=al:output=left+gray8:max=8");
    for (int i = 0; i < c.nb; i++) {
        if (i == 2)
            c.first.format = AV_PIX_FMT_GRAY8;
        c.frames[i]      = make_frame(&c.first);
        c.frames[i]->pts = i;
    }
    c.first.format = AV_PIX_FMT_YUV420P;
    r = run_stream(&c, 1);
    CHECK(r.ret == AVERROR(EINVAL) && strstr(test_errors, "has the format gray instead of yuv420p"), "%s: %s",
          av_err2str(r.ret), test_errors);
    free_stream(&c);
}

int main(int argc, char **argv)
{
    const int quick = argc > 1 && !strcmp(argv[1], "-quick");

    test_fail_init();
    test_init("gpume_filter_streams");
    test_watch(600);
    for (int i = 0; i < FF_ARRAY_ELEMS(stream_kinds); i++)
        if (avfilter_get_by_name(stream_kinds[i].filter)) {
            random_streams(&stream_kinds[i], (quick ? 100 : 1000) * stream_kinds[i].least_frames);
            format_that_changes(&stream_kinds[i]);
            going_on(&stream_kinds[i], quick ? 100 : 4000);
        }
    bits_above();
    one_by_one();
    captions();
    printf("gpume_filter_streams: %d checks, %d failures\n", test_nb_checks, test_nb_failures);
    return !!test_nb_failures;
}
