/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Streams with wrong vectors, times that jump and sizes that change, and checks of what filters make from them.
 * Shared by the tests and the fuzzer. To add a filter, add a row to stream_kinds.
 */

#ifndef GPUME_STREAM_CASE_H
#define GPUME_STREAM_CASE_H

#include <inttypes.h>
#include <string.h>

#include "libavutil/avstring.h"
#include "libavutil/cpu.h"

#include "gpume_frame_case.h"

#define STREAM_MAX_FRAMES 8
/** Number of output frames after which the graph is closed: two frames of the input may be years apart. */
#define STREAM_MAX_OUTPUT 48

typedef struct StreamCase StreamCase;

/** Properties of a filter. */
typedef struct StreamKind {
    const char *filter;
    int max_frames;
    int least_frames;           ///< minimum of the average number of output frames of a stream
    void (*draw_options)(StreamCase *c, TestRandom *d);
    void (*draw_vectors)(Input *in, TestRandom *d);             ///< NULL: no frame has vectors
    void (*draw_properties)(AVFrame *f, TestRandom *d);         // optional
    /** Checks output frame n. @param last time of the frame before it, or AV_NOPTS_VALUE */
    void (*check_frame)(const StreamCase *c, const AVFrame *out, int n, int64_t last);  // optional
    /** Returns the number of output frames of a stream without errors. */
    int (*nb_expected)(const StreamCase *c);                    // optional
} StreamKind;

struct StreamCase {
    const StreamKind *kind;
    char options[160];
    int searches;               ///< whether the filter searches if a frame has no vectors
    int choice;                 ///< for the functions of the kind
    Input first;
    int nb;
    AVFrame *frames[STREAM_MAX_FRAMES];
};

/** The result of a run. */
typedef struct StreamResult {
    int ret;                    ///< 0, or the error that ended it
    int nb;
    uint64_t hash;              ///< hash of all output frames
} StreamResult;

#define DRAWN(d, list) ((list)[test_draw(d, FF_ARRAY_ELEMS(list))])

/* mvfps */

static void draw_fps_options(StreamCase *c, TestRandom *d)
{
    static const char *const rates[] = { "2x", "5/2x", "60", "24000/1001", "1/3x", "7x", "1000", "1/60" };
    static const char *const kinds[] = { "mci", "mci", "mci", "blend", "dup" };
    static const char *const scenes[] = { "0", "0.6", "0.001", "1" };
    const char *kind = DRAWN(d, kinds);

    snprintf(c->options, sizeof(c->options), "fps=%s:mode=%s", DRAWN(d, rates), kind);
    if (strcmp(kind, "dup"))
        av_strlcatf(c->options, sizeof(c->options), ":scene=%s", DRAWN(d, scenes));
    if (!strcmp(kind, "mci"))
        av_strlcatf(c->options, sizeof(c->options), ":cut=%s", test_draw(d, 2) ? "dup" : "blend");
    c->first.in_range = 0;
}

static void draw_fps_properties(AVFrame *f, TestRandom *d)
{
    if (!test_draw(d, 8))
        av_dict_set(&f->metadata, "lavfi.gpume.past.cost", test_draw(d, 2) ? "nan" : "1e9", 0);
    if (!test_draw(d, 8))
        av_dict_set(&f->metadata, "lavfi.gpume.past.intra", test_draw(d, 2) ? "-1" : "3", 0);
}

static void check_fps_frame(const StreamCase *c, const AVFrame *out, int n, int64_t last)
{
    CHECK(out->pts != AV_NOPTS_VALUE && (last == AV_NOPTS_VALUE || out->pts > last),
          "frame %d has time %"PRId64", the frame before it %"PRId64, n, out->pts, last);
}

/* mvdenoise */

static void draw_denoise_options(StreamCase *c, TestRandom *d)
{
    static const char *const sigmas[] = { "0", "0", "0", "0.05", "0.0625", "5", "10", "40", "100" };
    static const char *const strengths[] = { "1", "1", "1", "0", "0.001", "2.5", "10" };
    const char *sigma = DRAWN(d, sigmas);
    const unsigned radius = test_draw(d, 5);

    c->searches = !test_draw(d, 4);
    snprintf(c->options, sizeof(c->options), "radius=%u:sigma=%s:strength=%s:passes=%u:planes=%u:levels=%u:dense=%u",
             radius, sigma, DRAWN(d, strengths), 1 + test_draw(d, 2), test_draw(d, 2) ? 7 : 1 + test_draw(d, 15),
             !radius || strcmp(sigma, "0") || test_draw(d, 2), test_draw(d, 2));
}

/* Sets motion fields of several distances, as gpume does with refs, or arbitrary vectors. */
static void draw_distant_fields(Input *in, TestRandom *d)
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
    /* only as side data */
    in->nb_fields = 0;
}

/* Checks that a frame has all properties and side data of its input frame; vectors may have been searched. */
static void check_denoise_frame(const StreamCase *c, const AVFrame *out, int n, int64_t last)
{
    const AVFrame *in = c->nb ? c->frames[FFMIN(n, c->nb - 1)] : out;
    /* buffersrc sets a color range that is unspecified */
    const int has_range = in->color_range == AVCOL_RANGE_UNSPECIFIED || out->color_range == in->color_range;

    CHECK(out->pts == in->pts && out->duration == in->duration && out->flags == in->flags &&
          out->width == in->width && out->height == in->height && out->format == in->format && has_range,
          "frame %d has other properties", n);
    for (int i = 0; i < in->nb_side_data; i++) {
        const AVFrameSideData *a = in->side_data[i], *b = av_frame_get_side_data(out, a->type);

        /* a search replaces side data that is too small for one vector */
        if (a->type == AV_FRAME_DATA_MOTION_VECTORS && a->size < sizeof(*input_mvs))
            continue;
        CHECK(b && b->size == a->size && (!a->size || !memcmp(a->data, b->data, a->size)),
              "frame %d has other side data of type %d", n, a->type);
    }
}

static int one_for_each(const StreamCase *c)
{
    return c->nb;
}

/* mvdeint */

enum { DEINT_FIELDS = 1, DEINT_FLAGGED = 2 };

static void draw_deint_options(StreamCase *c, TestRandom *d)
{
    static const char *const parities[] = { "auto", "tff", "bff" };

    c->choice = test_draw(d, 4);
    snprintf(c->options, sizeof(c->options), "mode=%s:deint=%s:parity=%s:passes=%u:refs=%u",
             c->choice & DEINT_FIELDS ? "send_field" : "send_frame", c->choice & DEINT_FLAGGED ? "interlaced" : "all",
             DRAWN(d, parities), 1 + test_draw(d, 3), 1 + test_draw(d, 2));
    c->first.w += 8;
    c->first.h += 8;
}

/* Returns the input frame of an output frame. */
static const AVFrame *deint_input(const StreamCase *c, int n)
{
    int i = 0;

    for (; i < c->nb; i++) {
        const int is_whole = c->choice & DEINT_FLAGGED && !(c->frames[i]->flags & AV_FRAME_FLAG_INTERLACED);

        n -= c->choice & DEINT_FIELDS && !is_whole ? 2 : 1;
        if (n < 0)
            return c->frames[i];
    }
    return NULL;
}

static void check_deint_frame(const StreamCase *c, const AVFrame *out, int n, int64_t last)
{
    const AVFrame *in = deint_input(c, n);

    CHECK(in && out->width == in->width && out->height == in->height && out->format == in->format,
          "frame %d has the wrong size or format", n);
}

static int one_for_each_field(const StreamCase *c)
{
    int n = 0;

    while (deint_input(c, n))
        n++;
    return n;
}

/* mvstab */

static void draw_stab_options(StreamCase *c, TestRandom *d)
{
    static const char *const modes[] = { "smooth", "follow", "tripod" };
    static const char *const models[] = { "auto", "similarity", "homography" };
    static const char *const borders[] = { "crop", "keep", "black", "mirror" };
    static const char *const zooms[] = { "0", "0", "1", "0.3", "9" };

    snprintf(c->options, sizeof(c->options),
             "mode=%s:model=%s:border=%s:zoom=%s:smoothing=%u:max_shift=%d:max_angle=%d",
             DRAWN(d, modes), DRAWN(d, models), DRAWN(d, borders), DRAWN(d, zooms),
             1 + test_draw(d, test_draw(d, 2) ? 4 : 250),
             test_draw_range(d, -1, 9), test_draw_range(d, -1, 3));
}

/* An interlaced frame is an error. */
static void draw_stab_properties(AVFrame *f, TestRandom *d)
{
    if (test_draw(d, 64))
        f->flags &= ~AV_FRAME_FLAG_INTERLACED;
}

/* mvstereo */

static void draw_stereo_options(StreamCase *c, TestRandom *d)
{
    static const char *const layouts[] = { "auto", "sbs", "sbsr", "tb", "abr", "sbs2l", "ab2r", "irl", "icl", "al" };
    static const char *const outputs[] = { "disparity", "disparity", "gray8", "color", "confidence", "float",
                                           "left+gray8" };
    static const char *const views[] = { "left", "left", "right", "both" };
    const char *output = DRAWN(d, outputs);
    const int has_map = strcmp(output, "confidence") != 0;
    const unsigned fill = !has_map || test_draw(d, 2);
    const int min = test_draw(d, 3) ? 0 : test_draw_range(d, -40, 40);

    snprintf(c->options, sizeof(c->options), "layout=%s:output=%s:min=%d:max=%d:rows=%u:fast=%u:fill=%u:"
             "temporal=%u:view=%s", DRAWN(d, layouts), output, min,
             test_draw(d, 3) ? min + 1 + (int)test_draw(d, 70) : 0, test_draw(d, 2), test_draw(d, 2), fill,
             !has_map || !fill || test_draw(d, 2), strcmp(output, "left+gray8") ? DRAWN(d, views) : "left");
}

static const StreamKind stream_kinds[] = {
    { "mvfps",     5, 3, draw_fps_options,     draw_vectors,        draw_fps_properties, check_fps_frame },
    { "mvdenoise", 7, 2, draw_denoise_options, draw_distant_fields, NULL, check_denoise_frame, one_for_each },
    { "mvdeint",   6, 2, draw_deint_options,   NULL,                NULL, check_deint_frame, one_for_each_field },
    { "mvstab",    8, 2, draw_stab_options,    NULL,                draw_stab_properties, check_denoise_frame,
      one_for_each },
    { "mvstereo",  4, 1, draw_stereo_options },
};

/* Returns the kind of a filter, or NULL. */
static const StreamKind *stream_kind(const char *filter)
{
    for (int i = 0; i < FF_ARRAY_ELEMS(stream_kinds); i++)
        if (!strcmp(filter, stream_kinds[i].filter))
            return &stream_kinds[i];
    return NULL;
}

static void draw_stream_frame(StreamCase *c, int i, int64_t pts, TestRandom *d)
{
    static const enum AVColorRange ranges[] = { AVCOL_RANGE_UNSPECIFIED, AVCOL_RANGE_MPEG, AVCOL_RANGE_JPEG };
    Input in = c->first;
    AVFrame *f;

    if (i && !test_draw(d, 8)) {
        in.w = 1 + test_draw(d, 64);
        in.h = 1 + test_draw(d, 64);
    }
    /* few seeds, so that pictures repeat */
    in.seed = test_draw(d, 4);
    if (c->kind->draw_vectors && (!c->searches || !test_draw(d, 16)))
        c->kind->draw_vectors(&in, d);
    f = c->frames[i] = make_frame(&in);
    f->pts           = test_draw(d, 24) ? pts : AV_NOPTS_VALUE;
    f->duration      = test_draw(d, 12) ? test_draw(d, 3) : INT64_MAX - test_draw(d, 3);
    /* FFmpeg adds pts and duration, which must not overflow */
    if (f->pts > INT64_MAX - f->duration)
        f->duration = 0;
    f->color_range = DRAWN(d, ranges);
    f->flags      |= AV_FRAME_FLAG_INTERLACED * !test_draw(d, 4) | AV_FRAME_FLAG_TOP_FIELD_FIRST * !test_draw(d, 4);
    if (!test_draw(d, 8))
        test_alloc(av_frame_new_side_data(f, AV_FRAME_DATA_GOP_TIMECODE, 8));
    if (c->kind->draw_properties)
        c->kind->draw_properties(f, d);
}

static void draw_stream(StreamCase *c, const StreamKind *kind, TestRandom *d)
{
    static const int64_t starts[] = { 0, 0, 0, 0, 0, -7, INT64_C(1) << 40, INT64_MAX - 9, INT64_MIN + 9 };
    static const int64_t steps[] = { 1, 1, 1, 1, 2, 7, 0, -1, 1000, INT64_C(1) << 33, INT64_MAX / 2 };
    int64_t pts;

    *c = (StreamCase) {
        .kind  = kind,
        .first = {
            .w = 1 + test_draw(d, 64), .h = 1 + test_draw(d, 64), .format = DRAWN(d, case_formats),
            .in_range = !!test_draw(d, 4),
        },
    };
    kind->draw_options(c, d);
    c->nb = test_draw(d, kind->max_frames + 1);
    pts   = DRAWN(d, starts);
    for (int i = 0; i < c->nb; i++) {
        draw_stream_frame(c, i, pts, d);
        pts = av_sat_add64(pts, DRAWN(d, steps));
    }
    snprintf(test_context, sizeof(test_context), "%s=%s%s, %d frames of %dx%d %s", kind->filter, c->options,
             c->searches ? ", searching" : "", c->nb, c->first.w, c->first.h, av_get_pix_fmt_name(c->first.format));
}

static void free_stream(StreamCase *c)
{
    for (int i = 0; i < c->nb; i++)
        av_frame_free(&c->frames[i]);
}

static StreamResult run_stream(const StreamCase *c, int threads)
{
    StreamResult r = { 0 };
    TestFilter g = { c->kind->filter, c->options, threads, !c->searches };
    AVFrame *out = test_alloc(av_frame_alloc());
    int64_t last = AV_NOPTS_VALUE;
    int ret;

    test_forget_log();
    ret = test_open_filter(&g, c->first.format, c->first.w, c->first.h);
    for (int i = 0; i <= c->nb && ret >= 0 && r.nb < STREAM_MAX_OUTPUT; i++) {
        ret = av_buffersrc_add_frame_flags(g.src, i < c->nb ? c->frames[i] : NULL, AV_BUFFERSRC_FLAG_KEEP_REF);
        while (ret >= 0 && r.nb < STREAM_MAX_OUTPUT) {
            ret = av_buffersink_get_frame(g.sink, out);
            if (ret < 0)
                break;
            if (c->kind->check_frame)
                c->kind->check_frame(c, out, r.nb, last);
            last   = out->pts;
            r.hash = test_hash_frame(r.hash, out);
            r.nb++;
            av_frame_unref(out);
        }
        if (ret == AVERROR(EAGAIN) && i < c->nb)
            ret = 0;
    }
    CHECK(ret != AVERROR(EAGAIN), "the graph neither ends nor fails after the last frame");
    r.ret = ret == AVERROR_EOF ? 0 : FFMIN(ret, 0);
    if (r.ret >= 0 && c->kind->nb_expected) {
        const int expected = c->kind->nb_expected(c);

        CHECK(r.nb == expected, "%d frames came out instead of %d", r.nb, expected);
    }
    avfilter_graph_free(&g.graph);
    av_frame_free(&out);
    return r;
}

/* Checks that results do not depend on threads and processors, errors have messages, and the input is unchanged. */
static StreamResult check_stream(const StreamCase *c)
{
    static const struct {
        const char *name;
        int threads, cpu_flags;
    } variants[] = { { "with 5 threads", 5, -1 }, { "in plain C", 2, 0 } };
    const int depth = av_pix_fmt_desc_get(c->first.format)->comp[0].depth;
    uint64_t before = 0, after = 0;
    StreamResult first;

    for (int i = 0; i < c->nb; i++)
        before = test_hash_frame(before, c->frames[i]);
    first = run_stream(c, 1);
    CHECK(first.ret >= 0 || test_nb_errors, "%s, without a message", av_err2str(first.ret));
    for (int i = 0; i < FF_ARRAY_ELEMS(variants); i++) {
        /* samples above the depth: mvdenoise and mvdeint do not define the result */
        const int is_same = c->first.in_range || depth == 8 || depth == 16 || variants[i].cpu_flags < 0 ||
                            (strcmp(c->kind->filter, "mvdenoise") && strcmp(c->kind->filter, "mvdeint"));
        StreamResult other;

        av_force_cpu_flags(variants[i].cpu_flags);
        other = run_stream(c, variants[i].threads);
        av_force_cpu_flags(-1);
        CHECK(other.ret == first.ret && other.nb == first.nb && (other.hash == first.hash || !is_same),
              "another result %s: %d frames and %s, not %d and %s", variants[i].name, other.nb,
              av_err2str(other.ret), first.nb, av_err2str(first.ret));
    }
    for (int i = 0; i < c->nb; i++) {
        after = test_hash_frame(after, c->frames[i]);
        CHECK(is_intact(c->frames[i]), "bytes between the rows of input frame %d were written", i);
    }
    CHECK(before == after, "the input was written to");
    return first;
}

#endif /* GPUME_STREAM_CASE_H */
