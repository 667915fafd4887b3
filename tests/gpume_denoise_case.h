/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Streams for mvdenoise as none should be: vectors that lie, times that jump, sizes that change.
 * Shared by the tests and the fuzzer.
 */

#ifndef GPUME_DENOISE_CASE_H
#define GPUME_DENOISE_CASE_H

#include <inttypes.h>
#include <string.h>

#include "libavutil/cpu.h"

#include "gpume_frame_case.h"

#define DENOISE_CASE_MAX_FRAMES 7

typedef struct DenoiseStream {
    char options[160];
    int searches;               ///< where no vectors come
    Input first;
    int nb;
    AVFrame *frames[DENOISE_CASE_MAX_FRAMES];
} DenoiseStream;

/** What comes out of a run. */
typedef struct DenoiseResult {
    int ret;                    ///< 0, or the error that ended it
    int nb;
    uint64_t hash;              ///< of all frames
} DenoiseResult;

/* Motion fields of some distances, as gpume leaves them with refs; or anything. */
static inline void draw_fields(Input *in, TestRandom *d)
{
    int distance[8], nb = 0;

    if (!test_draw(d, 3)) {
        draw_vectors(in, d);
        return;
    }
    for (int i = -4; i <= 4; i++)
        if (i && test_draw(d, 8))
            distance[nb++] = i;
    in->block = 4 << test_draw(d, 4);
    in->pel   = 1 << test_draw(d, 3);
    fields_of_vectors(in, d, distance, nb, 1 << test_draw(d, 12));
    /* they come as side data alone */
    in->nb_fields = 0;
}

static inline void draw_denoise_stream(DenoiseStream *c, TestRandom *d)
{
    static const char *const sigmas[] = { "0", "0", "0", "0.05", "0.0625", "5", "10", "40", "100" };
    static const char *const strengths[] = { "1", "1", "1", "0", "0.001", "2.5", "10" };
    static const int64_t starts[] = { 0, 0, 0, -7, INT64_C(1) << 40, INT64_MAX - 9, INT64_MIN + 9 };
    static const int64_t steps[] = { 1, 1, 1, 2, 7, 0, -1, INT64_C(1) << 33, INT64_MAX / 2 };
    static const enum AVColorRange ranges[] = { AVCOL_RANGE_UNSPECIFIED, AVCOL_RANGE_MPEG, AVCOL_RANGE_JPEG };
    const enum AVPixelFormat format = case_formats[test_draw(d, FF_ARRAY_ELEMS(case_formats))];
    int64_t pts;

    memset(c, 0, sizeof(*c));
    c->searches = !test_draw(d, 4);
    snprintf(c->options, sizeof(c->options), "radius=%u:sigma=%s:strength=%s:passes=%u:planes=%u",
             test_draw(d, 5), sigmas[test_draw(d, FF_ARRAY_ELEMS(sigmas))],
             strengths[test_draw(d, FF_ARRAY_ELEMS(strengths))], 1 + test_draw(d, 2),
             test_draw(d, 2) ? 7 : test_draw(d, 16));
    c->first = (Input) {
        .w = 1 + test_draw(d, 64), .h = 1 + test_draw(d, 64), .format = format, .in_range = !!test_draw(d, 4),
    };
    c->nb    = test_draw(d, DENOISE_CASE_MAX_FRAMES + 1);
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
        if (!c->searches || !test_draw(d, 16))
            draw_fields(&in, d);
        f = c->frames[i] = make_frame(&in);
        f->pts         = test_draw(d, 24) ? pts : AV_NOPTS_VALUE;
        f->duration    = test_draw(d, 12) ? test_draw(d, 3) : INT64_MAX - test_draw(d, 3);
        /* FFmpeg adds them up */
        if (f->pts > INT64_MAX - f->duration)
            f->duration = 0;
        f->color_range = ranges[test_draw(d, FF_ARRAY_ELEMS(ranges))];
        f->flags      |= AV_FRAME_FLAG_INTERLACED * !test_draw(d, 4) | AV_FRAME_FLAG_TOP_FIELD_FIRST * !test_draw(d, 4);
        if (!test_draw(d, 8))
            test_alloc(av_frame_new_side_data(f, AV_FRAME_DATA_GOP_TIMECODE, 8));
        pts = av_sat_add64(pts, steps[test_draw(d, FF_ARRAY_ELEMS(steps))]);
    }
    snprintf(test_context, sizeof(test_context), "%s%s, %d frames of %dx%d %s", c->options,
             c->searches ? ", searching" : "", c->nb, c->first.w, c->first.h, av_get_pix_fmt_name(format));
}

static inline void free_denoise_stream(DenoiseStream *c)
{
    for (int i = 0; i < c->nb; i++)
        av_frame_free(&c->frames[i]);
}

/* Checks that a frame has all that its input has but the samples; vectors may have been searched. */
static inline void check_properties(const AVFrame *in, const AVFrame *out, int n)
{
    /* buffersrc says what is not said */
    const int has_range = in->color_range == AVCOL_RANGE_UNSPECIFIED || out->color_range == in->color_range;

    CHECK(out->pts == in->pts && out->duration == in->duration && out->flags == in->flags &&
          out->width == in->width && out->height == in->height && out->format == in->format && has_range,
          "frame %d has other properties", n);
    for (int i = 0; i < in->nb_side_data; i++) {
        const AVFrameSideData *a = in->side_data[i], *b = av_frame_get_side_data(out, a->type);

        /* without a whole vector it is replaced where vectors are searched */
        if (a->type == AV_FRAME_DATA_MOTION_VECTORS && a->size < sizeof(*input_mvs))
            continue;
        CHECK(b && b->size == a->size && (!a->size || !memcmp(a->data, b->data, a->size)),
              "frame %d has other side data of type %d", n, a->type);
    }
}

static inline DenoiseResult run_denoise(const DenoiseStream *c, int threads)
{
    DenoiseResult r = { 0 };
    Graph g = { .searches = c->searches };
    AVFrame *out = test_alloc(av_frame_alloc());
    int ret;

    test_forget_log();
    ret = open_graph(&g, &c->first, "mvdenoise", c->options, threads);
    for (int i = 0; i <= c->nb && ret >= 0; i++) {
        ret = av_buffersrc_add_frame_flags(g.src, i < c->nb ? c->frames[i] : NULL, AV_BUFFERSRC_FLAG_KEEP_REF);
        while (ret >= 0) {
            ret = av_buffersink_get_frame(g.sink, out);
            if (ret < 0)
                break;
            CHECK(r.nb < c->nb, "more frames come out");
            if (r.nb < c->nb)
                check_properties(c->frames[r.nb], out, r.nb);
            r.hash = hash_frame(r.hash, out);
            r.nb++;
            av_frame_unref(out);
        }
        if (ret == AVERROR(EAGAIN) && i < c->nb)
            ret = 0;
    }
    CHECK(ret != AVERROR(EAGAIN), "it does not end");
    r.ret = ret == AVERROR_EOF ? 0 : FFMIN(ret, 0);
    CHECK(r.ret < 0 || r.nb == c->nb, "%d frames of %d came out", r.nb, c->nb);
    avfilter_graph_free(&g.graph);
    av_frame_free(&out);
    return r;
}

/*
 * All frames come out with their properties, threads and processors do not matter, errors say what is
 * wrong, and the input stays as it was.
 */
static inline DenoiseResult check_denoise(const DenoiseStream *c)
{
    static const struct {
        const char *name;
        int threads, cpu_flags;
    } ways[] = { { "with 5 threads", 5, -1 }, { "in plain C", 2, 0 } };
    const int depth = av_pix_fmt_desc_get(c->first.format)->comp[0].depth;
    uint64_t before = 0, after = 0;
    DenoiseResult first;

    for (int i = 0; i < c->nb; i++)
        before = hash_frame(before, c->frames[i]);
    first = run_denoise(c, 1);
    CHECK(first.ret >= 0 || test_nb_errors, "%s, without a message", av_err2str(first.ret));
    for (int i = 0; i < FF_ARRAY_ELEMS(ways); i++) {
        /* of samples above the depth, processors make different things */
        const int is_same = c->first.in_range || depth == 8 || depth == 16 || ways[i].cpu_flags < 0;
        DenoiseResult other;

        av_force_cpu_flags(ways[i].cpu_flags);
        other = run_denoise(c, ways[i].threads);
        av_force_cpu_flags(-1);
        CHECK(other.ret == first.ret && other.nb == first.nb && (other.hash == first.hash || !is_same),
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

#endif /* GPUME_DENOISE_CASE_H */
