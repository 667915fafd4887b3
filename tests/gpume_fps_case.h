/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Streams for mvfps as none should be: vectors that lie, times that jump, sizes that change.
 * Shared by the tests and the fuzzer.
 */

#ifndef GPUME_FPS_CASE_H
#define GPUME_FPS_CASE_H

#include <inttypes.h>
#include <string.h>

#include "libavutil/cpu.h"

#include "gpume_frame_case.h"

#define FPS_MAX_FRAMES 5
/** Then the graph is closed: two frames may be years apart. */
#define FPS_MAX_OUTPUT 48

typedef struct FpsCase {
    char options[128];
    Input first;
    int nb;
    AVFrame *frames[FPS_MAX_FRAMES];
} FpsCase;

/** What comes out of a run. */
typedef struct FpsResult {
    int ret;                ///< 0, or the error that ended it
    int nb;
    uint64_t hash;          ///< of all frames
} FpsResult;

static void draw_fps_case(FpsCase *c, TestRandom *d)
{
    static const char *const rates[] = { "2x", "5/2x", "60", "24000/1001", "1/3x", "7x", "1000", "1/60" };
    static const char *const kinds[] = { "mci", "mci", "mci", "blend", "dup" };
    static const char *const scenes[] = { "0", "0.6", "0.001", "1000" };
    static const int64_t starts[] = { 0, 0, 0, 0, 0, 0, -7, INT64_C(1) << 40, INT64_MAX - 9, INT64_MIN + 9 };
    static const int64_t steps[] = { 1, 1, 1, 1, 2, 7, 0, -1, 1000, INT64_C(1) << 33, INT64_MAX / 2 };
    static const enum AVColorRange ranges[] = { AVCOL_RANGE_UNSPECIFIED, AVCOL_RANGE_MPEG, AVCOL_RANGE_JPEG };
    const enum AVPixelFormat format = case_formats[test_draw(d, FF_ARRAY_ELEMS(case_formats))];
    int64_t pts;

    memset(c, 0, sizeof(*c));
    snprintf(c->options, sizeof(c->options), "fps=%s:mode=%s:scene=%s:cut=%s",
             rates[test_draw(d, FF_ARRAY_ELEMS(rates))], kinds[test_draw(d, FF_ARRAY_ELEMS(kinds))],
             scenes[test_draw(d, FF_ARRAY_ELEMS(scenes))], test_draw(d, 2) ? "dup" : "blend");
    c->first = (Input) { .w = 1 + test_draw(d, 64), .h = 1 + test_draw(d, 64), .format = format };
    c->nb    = test_draw(d, FPS_MAX_FRAMES + 1);
    pts      = starts[test_draw(d, FF_ARRAY_ELEMS(starts))];
    for (int i = 0; i < c->nb; i++) {
        Input in = c->first;
        AVFrame *f;

        if (i && !test_draw(d, 8)) {
            in.w = 1 + test_draw(d, 64);
            in.h = 1 + test_draw(d, 64);
        }
        /* the same picture again at times */
        in.seed = test_draw(d, 4);
        draw_vectors(&in, d);
        f = c->frames[i] = make_frame(&in);
        f->pts         = test_draw(d, 24) ? pts : AV_NOPTS_VALUE;
        f->duration    = test_draw(d, 12) ? test_draw(d, 3) : INT64_MAX - test_draw(d, 3);
        /* FFmpeg adds them up */
        if (f->pts > INT64_MAX - f->duration)
            f->duration = 0;
        f->color_range = ranges[test_draw(d, FF_ARRAY_ELEMS(ranges))];
        if (!test_draw(d, 8))
            f->flags |= AV_FRAME_FLAG_INTERLACED;
        if (!test_draw(d, 8))
            av_dict_set(&f->metadata, "lavfi.gpume.past.cost", test_draw(d, 2) ? "nan" : "1e9", 0);
        if (!test_draw(d, 8))
            av_dict_set(&f->metadata, "lavfi.gpume.past.intra", test_draw(d, 2) ? "-1" : "3", 0);
        pts = av_sat_add64(pts, steps[test_draw(d, FF_ARRAY_ELEMS(steps))]);
    }
    snprintf(test_context, sizeof(test_context), "%s, %d frames of %dx%d %s", c->options, c->nb,
             c->first.w, c->first.h, av_get_pix_fmt_name(format));
}

static void free_fps_case(FpsCase *c)
{
    for (int i = 0; i < c->nb; i++)
        av_frame_free(&c->frames[i]);
}

/* @param configure called when options are set; may be NULL */
static FpsResult run_fps(const FpsCase *c, int threads, void (*configure)(void))
{
    FpsResult r = { 0 };
    Graph g = { .configure = configure };
    AVFrame *out = test_alloc(av_frame_alloc());
    int64_t last = AV_NOPTS_VALUE;
    int ret;

    test_forget_log();
    ret = open_graph(&g, &c->first, "mvfps", c->options, threads);
    for (int i = 0; i <= c->nb && ret >= 0 && r.nb < FPS_MAX_OUTPUT; i++) {
        ret = av_buffersrc_add_frame_flags(g.src, i < c->nb ? c->frames[i] : NULL, AV_BUFFERSRC_FLAG_KEEP_REF);
        while (ret >= 0 && r.nb < FPS_MAX_OUTPUT) {
            ret = av_buffersink_get_frame(g.sink, out);
            if (ret < 0)
                break;
            CHECK(out->pts != AV_NOPTS_VALUE && (last == AV_NOPTS_VALUE || out->pts > last),
                  "frame %d comes at %"PRId64", the one before at %"PRId64, r.nb, out->pts, last);
            last   = out->pts;
            r.hash = hash_frame(r.hash, out);
            r.nb++;
            av_frame_unref(out);
        }
        if (ret == AVERROR(EAGAIN) && i < c->nb)
            ret = 0;
    }
    CHECK(ret != AVERROR(EAGAIN), "it does not end");
    r.ret = ret == AVERROR_EOF ? 0 : FFMIN(ret, 0);
    avfilter_graph_free(&g.graph);
    av_frame_free(&out);
    return r;
}

/* Threads and processors do not matter, errors say what is wrong, and the input stays as it was. */
static FpsResult check_fps(const FpsCase *c)
{
    static const struct {
        const char *name;
        int threads, cpu_flags;
    } ways[] = { { "with 5 threads", 5, -1 }, { "in plain C", 2, 0 } };
    uint64_t before = 0, after = 0;
    FpsResult first;

    for (int i = 0; i < c->nb; i++)
        before = hash_frame(before, c->frames[i]);
    first = run_fps(c, 1, NULL);
    CHECK(first.ret >= 0 || test_nb_errors, "%s, without a message", av_err2str(first.ret));
    for (int i = 0; i < FF_ARRAY_ELEMS(ways); i++) {
        FpsResult other;

        av_force_cpu_flags(ways[i].cpu_flags);
        other = run_fps(c, ways[i].threads, NULL);
        av_force_cpu_flags(-1);
        CHECK(other.ret == first.ret && other.nb == first.nb && other.hash == first.hash,
              "something else %s: %d frames and %s, not %d and %s", ways[i].name, other.nb,
              av_err2str(other.ret), first.nb, av_err2str(first.ret));
    }
    for (int i = 0; i < c->nb; i++) {
        after = hash_frame(after, c->frames[i]);
        CHECK(is_intact(c->frames[i]), "something beside frame %d was written", i);
    }
    CHECK(before == after, "the input was written to");
    return first;
}

#endif /* GPUME_FPS_CASE_H */
