/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Runs random streams through the filter on every backend, and compares the results with the
 * oracle. gpume_soak.c and the fuzzers use this file. A case depends only on the state of a
 * generator or on a fuzzer's bytes.
 */

#ifndef GPUME_CASE_H
#define GPUME_CASE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libavutil/avstring.h"
#include "libavutil/error.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"

#include "gpume_harness.h"

#define MAX_CASE_FRAMES 10

/** Backends and frames for the search of a case. */
enum CaseBackend {
    CASE_CPU,
    CASE_CUDA,              ///< frames in system memory
    CASE_FRAMES,            ///< frames on the device
    CASE_NB_BACKENDS
};

static const char *const case_backends[CASE_NB_BACKENDS] = { "cpu", "cuda", "frames" };

typedef struct CaseLimits {
    int max_side;
    /** Approximate number of absolute differences of a case. */
    int64_t max_work;
    int64_t max_device_work;    ///< maximum for the CUDA backends
    unsigned backends;          ///< 1 << enum CaseBackend
    int hostile;                ///< nonzero: includes frames that cannot be searched
    AVBufferRef *device;        ///< CUDA device; NULL: the filter opens one
    const char *folder;         ///< folder for files; NULL: none are written
} CaseLimits;

typedef struct Case {
    TestStream s;
    int dir, refs, exhaustive, async_depth, metadata, file, nb_threads;
    int automatic;          ///< do not set options that have their default values
    int feed_all;           ///< push all frames before the first is pulled
    int close_after;        ///< number of output frames before the graph is closed; -1: all
    int code;               ///< expected result of the run: 0 or an error
    int64_t work;
} Case;

/** Formats that hwupload_cuda supports. */
static const enum AVPixelFormat device_formats[] = {
    AV_PIX_FMT_NV12, AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV444P, AV_PIX_FMT_P010LE,
    AV_PIX_FMT_P016LE, AV_PIX_FMT_YUV444P16LE, AV_PIX_FMT_NV16,
};

/** Returns the backends of a list of names. */
static inline unsigned case_backends_of(const char *list)
{
    unsigned mask = 0;

    for (int b = 0; b < CASE_NB_BACKENDS; b++)
        mask |= av_match_name(case_backends[b], list) << b;
    return mask;
}

/* Draws the samples of a picture: something moves relative to the previous picture, or nothing does. */
static inline void draw_samples(TestRandom *r, TestPicture *pic, const TestPicture *before)
{
    const int max = (1 << test_depth(pic->format)) - 1;
    const int kind = test_draw(r, 8);
    const unsigned seed = test_draw(r, 65536);
    const int dx = test_draw_range(r, -8, 8), dy = test_draw_range(r, -8, 8);
    TestRandom noise = { .state = seed };

    pic->samples = test_alloc(av_malloc_array((size_t)pic->w * pic->h, sizeof(*pic->samples)));
    for (int y = 0; y < pic->h; y++) {
        for (int x = 0; x < pic->w; x++) {
            uint16_t *dst = &pic->samples[y * pic->w + x];
            const int sx = x + dx, sy = y + dy;

            if (kind < 4 && before && test_same_picture(pic, before) &&
                sx >= 0 && sy >= 0 && sx < pic->w && sy < pic->h) {
                *dst = before->samples[sy * pic->w + sx];
                if (kind == 3 && !test_draw(&noise, 8))
                    *dst ^= 1;
            } else if (kind == 4) {
                *dst = seed & 1 ? max : 0;
            } else if (kind == 5) {
                *dst = (x / (1 + seed % 7) + y / (1 + seed % 5)) & 1 ? max : 0;
            } else if (kind == 6) {
                *dst = ((x + dx) * 13 + (y + dy) * 7 + (int)seed) & max;
            } else {
                *dst = test_draw(&noise, max + 1);
            }
        }
    }
}

/* Returns the number of candidates of a sample that a search evaluates, or an equivalent. */
static inline int64_t search_work(const TestStream *s, int w, int h)
{
    const int64_t full = test_full_work(s, w, h);

    return full ? 1 + full / (w * h) : 60 + 6 * s->range;
}

/* Returns the work for blocks of one size. */
static inline int64_t size_work(const Case *c, int block)
{
    const TestStream *s = &c->s;
    const int hme    = gpume_kind(s->algo) == GPUME_KIND_HIERARCHICAL;
    const int sweeps = test_sweeps(s);
    const int larger = hme && block > s->block;
    const int passes = larger ? 1 : (hme ? 2 : !!s->smooth) * sweeps + (s->pel > 1 ? sweeps + 1 : 0);
    const int nb_fields = s->nb_references << !!s->check;
    int64_t work = 0;

    for (int i = 0; i < s->nb; i++) {
        const TestPicture *p = &s->pics[i];

        /* relative to a candidate, subpel samples take the oracle this much time */
        work += (int64_t)p->w * p->h * nb_fields * (s->cost == GPUME_COST_SATD ? 8 : 1) *
                ((larger ? 4 : search_work(s, p->w, p->h)) + 17 * passes + (s->pel > 1 ? 25 * s->pel * s->pel : 0));
    }
    return work;
}

static inline int64_t case_work(const Case *c)
{
    int64_t work = size_work(c, c->s.block);

    for (int block = 2 * c->s.block; block <= c->s.tree_max; block *= 2)
        work += size_work(c, block);
    return work;
}

/* Draws the processing of vectors, and the number of levels of hme. */
static inline void draw_motion(TestRandom *r, Case *c)
{
    static const int pels[] = { 1, 4, 2 };
    TestStream *s = &c->s;
    const int hme = gpume_kind(s->algo) == GPUME_KIND_HIERARCHICAL;

    c->automatic = test_draw(r, 2);
    s->smooth    = test_draw(r, 2) ? test_draw(r, 1 << test_draw(r, 7)) + 1 : 0;
    s->check     = test_draw(r, 2);
    s->pel       = pels[test_draw(r, FF_ARRAY_ELEMS(pels))];
    s->levels    = hme && test_draw(r, 2) ? test_draw_range(r, 1, GPUME_MAX_LEVELS) : 0;
    s->sweeps    = test_draw(r, 2) ? 1 << test_draw(r, 5) : 0;
    if (c->automatic && hme) {
        s->smooth = test_default(s->algo, "smooth");
        s->check  = test_default(s->algo, "check");
        s->pel    = test_default(s->algo, "pel");
    }
    if (!hme && !s->smooth && s->pel == 1)
        s->sweeps = 0;
    s->cost = test_draw(r, 3) % GPUME_NB_COSTS;
}

/* Makes some of the cases search blocks of several sizes. */
static inline void draw_tree(TestRandom *r, Case *c)
{
    TestStream *s = &c->s;
    int nb_sizes = 1;

    s->lambda = s->qp = -1;
    if (test_draw(r, 4) != 3)
        return;
    /* other values of the case do not change, if possible */
    if (s->block > 32)
        s->block = 4 << test_draw(r, 4);
    for (s->tree_max = 64; s->tree_max > FFMAX(16, 2 * s->block); s->tree_max /= 2)
        nb_sizes++;
    s->tree_max <<= test_draw(r, nb_sizes);
    switch (test_draw(r, 4)) {
    case 0: break;
    case 1: s->qp     = test_draw(r, 52); break;
    case 2: s->lambda = test_draw(r, 2) ? 0 : 65536; break;
    /* mostly small, so that there are leaves of all sizes */
    case 3: s->lambda = test_draw(r, (1 << test_draw(r, 17)) + 1); break;
    }
}

/* Lets parts of a picture move differently, so that there are leaves of several sizes. */
static inline void draw_parts(TestRandom *r, TestStream *s)
{
    for (int i = 1; i < s->nb; i++) {
        const TestPicture *pic = &s->pics[i], *before = &s->pics[i - 1];
        const int nb = test_same_picture(pic, before) ? test_draw(r, 5) : 0;

        for (int k = 0; k < nb; k++) {
            const int x0 = test_draw(r, pic->w), x1 = x0 + test_draw_range(r, 1, 48);
            const int y0 = test_draw(r, pic->h), y1 = y0 + test_draw_range(r, 1, 48);
            const int dx = test_draw_range(r, -6, 6), dy = test_draw_range(r, -6, 6);

            for (int y = y0; y < FFMIN(y1, pic->h); y++)
                for (int x = x0; x < FFMIN(x1, pic->w); x++)
                    pic->samples[y * pic->w + x] = oracle_at(before->samples, pic->w, pic->h, x + dx, y + dy);
        }
    }
}

/* Removes something that takes time. */
static inline void reduce_work(Case *c)
{
    TestStream *s = &c->s;

    if (s->sweeps > 1) {
        s->sweeps /= 2;
    } else if (s->range > 4) {
        s->range /= 2;
    } else if (s->nb > 2) {
        av_freep(&s->pics[--s->nb].samples);
    } else if (s->pel > 1) {
        s->pel    = 1;
        s->sweeps = 0;
    } else if (s->range > 1) {
        s->range /= 2;
    } else {
        av_freep(&s->pics[--s->nb].samples);
    }
}

static inline void draw_case(TestRandom *r, const CaseLimits *l, Case *c)
{
    static const int depths[] = { 0, 1, 2, 3, 5, 64 };
    TestStream *s = &c->s;
    TestPicture now = { 0 };
    int changes, limit, device;

    memset(c, 0, sizeof(*c));
    s->algo        = test_draw(r, GPUME_NB_ALGOS);
    s->block       = 4 << test_draw(r, 6);
    c->dir         = 1 + test_draw(r, 3);
    /* mostly small */
    s->range       = 1 + test_draw(r, 1 << (1 + test_draw(r, 10)));
    c->exhaustive  = !test_draw(r, 4) && s->algo == GPUME_ALGO_FS;
    c->async_depth = depths[test_draw(r, FF_ARRAY_ELEMS(depths))];
    c->nb_threads  = 1 + test_draw(r, 4);
    c->metadata    = test_draw(r, 2);
    c->file        = test_draw(r, 2) && l->folder ? test_draw(r, TEST_NB_FILES) : TEST_NO_FILE;
    c->feed_all    = !test_draw(r, 4);
    s->nb          = 1 + test_draw(r, MAX_CASE_FRAMES);
    c->close_after = test_draw(r, 4) ? -1 : (int)test_draw(r, s->nb + 1);
    device         = test_draw(r, 3) == 2;
    c->refs        = test_draw(r, 3) ? 1 : 1 + (int)test_draw(r, 3);
    changes        = device ? 0 : test_draw(r, 8);
    test_set_dir(s, c->dir, c->refs);

    limit = test_draw(r, 4) ? l->max_side / 2 : l->max_side;
    for (int i = 0; i < s->nb; i++) {
        const int what = i ? test_draw(r, 8) < 2 && changes > 4 ? changes - 4 : 0 : 3;

        if (what & 1) {
            now.w = 1 + test_draw(r, limit);
            now.h = 1 + test_draw(r, limit);
        }
        if (what & 2)
            now.format = test_formats[test_draw(r, test_nb_formats)];
        if (device && !i) {
            now.w     += now.w & 1;
            now.h     += now.h & 1;
            now.format = device_formats[test_draw(r, FF_ARRAY_ELEMS(device_formats))];
        }
        now.pts      = test_draw(r, 8) ? 7 * i + (int)test_draw(r, 5) : AV_NOPTS_VALUE;
        now.guarded  = test_draw(r, 2);
        now.at_end   = test_draw(r, 2);
        now.negative = !test_draw(r, 3);
        now.padding  = test_draw(r, 40) * (1 + (test_depth(now.format) > 8));
        now.keep     = test_draw(r, 2);
        now.fault    = l->hostile && !test_draw(r, 16) ? test_draw(r, TEST_NB_FAULTS) : TEST_FINE;
        if (now.fault == TEST_NARROW && now.h == 1)
            now.fault = TEST_FINE;
        s->pics[i] = now;
        draw_samples(r, &s->pics[i], i ? &s->pics[i - 1] : NULL);
    }
    draw_motion(r, c);
    draw_tree(r, c);
    if (s->tree_max)
        draw_parts(r, s);
    while (case_work(c) > l->max_work && (s->nb > 1 || s->range > 1))
        reduce_work(c);
    c->work        = case_work(c);
    c->close_after = FFMIN(c->close_after, s->nb);

    for (int i = 0; i < s->nb; i++) {
        const TestPicture *p = &s->pics[i], *first = &s->pics[0];

        /* all frames of a .npy file have the same number of blocks */
        if (p->fault || (c->file == TEST_NPY &&
                         (oracle_blocks(p->w, s->block) != oracle_blocks(first->w, s->block) ||
                          oracle_blocks(p->h, s->block) != oracle_blocks(first->h, s->block))))
            c->code = AVERROR(EINVAL);
    }
}

static inline void case_options(char *buf, size_t size, const Case *c, enum CaseBackend backend,
                                const char *folder)
{
    static const char *const dirs[] = { "", "past", "future", "both" };
    static const char *const files[] = { "", ":mv_file=%s/v.csv", ":mv_file=%s/v.npy", ":mv_file=%s/v.npys",
                                         ":stats_file=%s/stats", ":stats_file=%s/stats.jsonl" };

    const struct {
        const char *name;
        int value;
    } motion[] = {
        { "range", c->s.range }, { "smooth", c->s.smooth }, { "check", c->s.check },
        { "pel", FFMAX(c->s.pel, 1) },
    };

    snprintf(buf, size, "algo=%s:cost=%s:block=%d:dir=%s:exhaustive=%d:async_depth=%d:"
             "metadata=%d:backend=%s", test_algos[c->s.algo], test_costs[c->s.cost], c->s.block,
             dirs[c->dir], c->exhaustive, c->async_depth, c->metadata, backend == CASE_CPU ? "cpu" : "cuda");
    for (int i = 0; i < FF_ARRAY_ELEMS(motion); i++)
        if (!c->automatic || motion[i].value != test_default(c->s.algo, motion[i].name))
            av_strlcatf(buf, size, ":%s=%d", motion[i].name, motion[i].value);
    if (c->refs > 1)
        av_strlcatf(buf, size, ":refs=%d", c->refs);
    if (c->s.sweeps)
        av_strlcatf(buf, size, ":sweeps=%d", c->s.sweeps);
    if (c->s.levels)
        av_strlcatf(buf, size, ":levels=%d", c->s.levels);
    if (c->s.tree_max)
        av_strlcatf(buf, size, ":tree=1");
    if (c->s.tree_max && (c->s.tree_max != 64 || !c->automatic))
        av_strlcatf(buf, size, ":tree_max=%d", c->s.tree_max);
    if (c->s.tree_max && c->s.lambda >= 0)
        av_strlcatf(buf, size, ":lambda=%d", c->s.lambda);
    if (c->s.tree_max && c->s.qp >= 0)
        av_strlcatf(buf, size, ":qp=%d", c->s.qp);
    if (c->file)
        av_strlcatf(buf, size, files[c->file], folder);
}

/** Replaces the cuts in a file of statistics by none, as the expected file has it: gpume_mvfps.c tests their rule. */
static inline void forget_cuts(char *text)
{
    static const char *const cuts[] = { "cut:1 ", "\"cut\":1," };

    for (int i = 0; i < FF_ARRAY_ELEMS(cuts); i++)
        for (char *p = text; (p = strstr(p, cuts[i])); p++)
            p[strlen(cuts[i]) - 2] = '0';
}

/**
 * Runs a case on a backend, which may change the layout of its pictures.
 * @return the error that ended the run, or 0; r->wrong describes other faults
 */
static inline int run_case_on(Case *c, const CaseLimits *l, enum CaseBackend backend, TestRun *r)
{
    static const char *const names[] = { "", "v.csv", "v.npy", "v.npys", "stats", "stats.jsonl" };
    char options[512], path[256];
    AVBPrint text, wanted;
    int guarded[MAX_CASE_FRAMES], there;

    case_options(options, sizeof(options), c, backend, l->folder);
    *r = (TestRun){
        .options = options, .nb_threads = c->nb_threads, .upload = backend == CASE_FRAMES,
        .device = l->device, .feed_all = c->feed_all, .closes = c->close_after >= 0,
        .close_after = c->close_after,
    };
    for (int i = 0; i < c->s.nb; i++) {
        guarded[i] = c->s.pics[i].guarded;
        c->s.pics[i].guarded &= backend != CASE_FRAMES;
    }
    test_run(r, &c->s);
    for (int i = 0; i < c->s.nb; i++)
        c->s.pics[i].guarded = guarded[i];
    r->options = NULL;
    if (!c->file)
        return r->ret;

    snprintf(path, sizeof(path), "%s/%s", l->folder, names[c->file]);
    there = test_read_file(&text, path);
    unlink(path);
    if (!r->wrong[0] && r->ret < 0 && there)
        av_strlcpy(r->wrong, "a file was left by a run that failed", sizeof(r->wrong));
    if (!r->wrong[0] && r->ret >= 0 && c->close_after < 0) {
        test_expect_file(&wanted, &c->s, c->file, c->s.nb);
        if (there && c->file >= TEST_STATS)
            forget_cuts(text.str);
        if (!there || text.len != wanted.len || memcmp(text.str, wanted.str, text.len))
            av_strlcpy(r->wrong, "another file", sizeof(r->wrong));
        av_bprint_finalize(&wanted, NULL);
    }
    av_bprint_finalize(&text, NULL);
    return r->ret;
}

static inline int on_device(const Case *c)
{
    const TestPicture *first = &c->s.pics[0];
    int known = 0;

    for (int i = 0; i < FF_ARRAY_ELEMS(device_formats); i++)
        known |= first->format == device_formats[i];
    for (int i = 0; i < c->s.nb; i++)
        if (!test_same_picture(&c->s.pics[i], first) || c->s.pics[i].fault)
            return 0;
    /* the sides are even, because chroma has half the samples */
    return known && first->w % 2 == 0 && first->h % 2 == 0;
}

static inline void print_case(FILE *f, const Case *c, const CaseLimits *l, enum CaseBackend backend)
{
    char options[512];

    case_options(options, sizeof(options), c, backend, l->folder);
    fprintf(f, "  gpume=%s%s, %d threads%s, closed after %d\n", options,
            backend == CASE_FRAMES ? " on frames on the device" : "", c->nb_threads,
            c->feed_all ? ", all at once" : "", c->close_after);
    for (int i = 0; i < c->s.nb; i++) {
        const TestPicture *p = &c->s.pics[i];

        fprintf(f, "  frame %d: %dx%d %s%s%s%s%s\n", i, p->w, p->h, av_get_pix_fmt_name(p->format),
                p->guarded ? ", luma only" : "", p->guarded && p->negative ? ", bottom up" : "",
                p->pts == AV_NOPTS_VALUE ? ", no timestamp" : "",
                p->fault ? ", not to be searched" : "");
    }
}

/**
 * Draws a case, runs it on every backend, and compares the results.
 * @param counts incremented by the number of runs on each backend
 * @return 0, or -1 after printing a difference
 */
static inline int run_case(TestRandom *d, const CaseLimits *l, unsigned counts[CASE_NB_BACKENDS])
{
    Case c;
    int ret = 0;

    draw_case(d, l, &c);
    test_expect(&c.s);
    for (int b = 0; b < CASE_NB_BACKENDS && !ret; b++) {
        TestRun r;

        if (!(l->backends & 1 << b) || (b != CASE_CPU && c.work > l->max_device_work) ||
            (b == CASE_FRAMES && !on_device(&c)))
            continue;
        run_case_on(&c, l, b, &r);
        /* a backend may not support a search; it then reports this */
        if (r.ret == AVERROR(ENOSYS) && b != CASE_CPU && !r.wrong[0])
            continue;
        if (!r.wrong[0] && c.close_after < 0 && r.ret != c.code)
            snprintf(r.wrong, sizeof(r.wrong), "%s, expected %s",
                     r.ret < 0 ? av_err2str(r.ret) : "success",
                     c.code < 0 ? av_err2str(c.code) : "success");
        if (r.wrong[0]) {
            fprintf(stderr, "%s\n", r.wrong);
            print_case(stderr, &c, l, b);
            ret = -1;
        }
        counts[b]++;
    }
    test_free_stream(&c.s);
    return ret;
}

#endif /* GPUME_CASE_H */
