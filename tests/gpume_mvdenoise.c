/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Compares the pictures that mvdenoise makes, in memory and on a device, with those of the oracle, sample by
 * sample. Tests its estimates of noise, and the filter in a graph.
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libavfilter/avfilter.h"
#include "libavutil/mem.h"
#include "libavutil/motion_vector.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/field/sidedata.h"
#include "libavfilter/gpume/mvdenoise/mvdenoise.h"
#include "libavfilter/gpume/mvdenoise/noise.h"
#include "libavfilter/gpume/mvdenoise/repeats.h"

#include "gpume_harness.h"
#include "gpume_oracle_mvdenoise.h"
#include "gpume_filter_harness.h"


enum Content {
    CONTENT_NOISE,      ///< a texture that moves, with noise
    CONTENT_CUT,        ///< the same, with another texture from some picture on
    CONTENT_CLEAN,
    CONTENT_BARS,       ///< with flat bars above and below, or at the sides
    CONTENT_RANDOM,
    CONTENT_EXTREME,    ///< samples of 0 and maximum
    CONTENT_FLAT,
    CONTENT_GRAIN,      ///< a texture with noise that four samples share, in larger pictures
    CONTENT_NB
};

static const char *const content_names[CONTENT_NB] = {
    "noise", "cut", "clean", "bars", "random", "extreme", "flat", "grain",
};

static const enum AVPixelFormat formats[] = {
    AV_PIX_FMT_GRAY8, AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV410P, AV_PIX_FMT_YUV411P, AV_PIX_FMT_YUV440P,
    AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUVA420P, AV_PIX_FMT_NV12, AV_PIX_FMT_NV24, AV_PIX_FMT_GBRP, AV_PIX_FMT_GBRAP,
    AV_PIX_FMT_GRAY10, AV_PIX_FMT_YUV420P9, AV_PIX_FMT_YUV420P10, AV_PIX_FMT_YUV422P12, AV_PIX_FMT_P010,
    AV_PIX_FMT_P016, AV_PIX_FMT_YUV444P16, AV_PIX_FMT_GRAY16, AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUV420P14,
};

typedef struct Case {
    uint64_t seed;
    TestRandom r;
    TestShape shape;
    enum Content content;
    int noise;                  ///< strength in 1/16 of 8-bit samples
    int mx, my;                 ///< motion from picture to picture, in quarter samples
    int cut;                    ///< first picture after the cut
    int exact;                  ///< vectors are those of the texture, or nearly so
    int block;                  ///< side of a block; 0: mixed sizes
    int missing;                ///< number of fields of 16 that are missing
    MvdenoiseConfig cfg;

    int nb_frames;
    int flags[DENOISE_MAX_FRAMES];
    int strength[DENOISE_MAX_FRAMES];           ///< as a command sets it before each picture
    AVFrame *frames[DENOISE_MAX_FRAMES];
    uint8_t *copies[DENOISE_MAX_FRAMES];        ///< copies of the frames' bytes
    uint16_t *samples[DENOISE_MAX_FRAMES][4];   ///< without padding bits
    uint16_t *expected[DENOISE_MAX_FRAMES][4];
    uint16_t *pilots[DENOISE_MAX_FRAMES][4];
    int clipped[DENOISE_MAX_FRAMES][32];        ///< sigma of the clipped noise of component 0, by the oracle
    DenoiseBlock *blocks[DENOISE_MAX_FRAMES];
    int nb_blocks[DENOISE_MAX_FRAMES];
} Case;

static int nb_opponent, nb_pictures, nb_stacked, nb_estimated, nb_correlated, nb_matched, nb_on_device, nb_unclipped,
           nb_colours_unclipped;

/* Pictures */

/* Returns approximately normal noise with a standard deviation of 1. */
static double draw_normal(TestRandom *r)
{
    double sum = -6;

    for (int i = 0; i < 12; i++)
        sum += (test_draw(r, 65536) + 0.5) / 65536;
    return sum;
}

static int draw_sample(Case *c, int n, int i, int x, int y)
{
    const int max = (1 << c->shape.depth) - 1, one = 1 << (c->shape.depth - 8);
    const int scene = c->content == CONTENT_CUT && n >= c->cut;
    double v;

    if (c->content == CONTENT_RANDOM)
        return test_draw(&c->r, max + 1);
    if (c->content == CONTENT_EXTREME)
        return test_draw(&c->r, 2) ? max : 0;
    if (c->content == CONTENT_FLAT || (c->content == CONTENT_BARS && (c->cut & 1 ? x < 8 || x > 17 : y < 9)))
        return FFMIN(c->cut * 40 * one, max);
    v = one * (double)test_texture(c->seed + 8 * scene + i, 4 * x - (n * c->mx >> test_shift_x(&c->shape, i)),
                                   4 * y - (n * c->my >> test_shift_y(&c->shape, i)), 5);
    if (c->content == CONTENT_GRAIN) {
        TestRandom r = { .state = test_mix(c->seed ^ test_mix((x >> 1) << 20 | (y >> 1) << 8 | n << 4 | i)) };

        v += draw_normal(&r) * c->noise * one / 16;
    } else if (c->content != CONTENT_CLEAN)
        v += draw_normal(&c->r) * c->noise * one / 16;
    return av_clip(lrint(v), 0, max);
}

/* Vectors */

static int draw_motion(Case *c, int truth)
{
    static const int reach[] = { 100, 1000, 40000 };

    if (test_draw(&c->r, 16) < c->exact)
        return truth;
    if (test_draw(&c->r, 4))
        return truth + test_draw_range(&c->r, -4, 4);
    return test_draw_range(&c->r, -1, 1) * (int)test_draw(&c->r, reach[test_draw(&c->r, 3)]);
}

static int draw_field(Case *c, AVMotionVector *mvs, int nb, int distance)
{
    const int sides = c->block ? c->block : 6 + test_draw(&c->r, 12);

    for (int y = 0; y < c->shape.h; y += sides)
        for (int x = 0; x < c->shape.w; x += sides) {
            AVMotionVector *mv = &mvs[nb];
            const int w = c->block ? FFMIN(sides, c->shape.w - x) : test_draw(&c->r, 40);
            const int h = c->block ? FFMIN(sides, c->shape.h - y) : test_draw(&c->r, 40);

            if (!test_draw(&c->r, 20))
                continue;
            *mv = (AVMotionVector) {
                .source = distance, .w = w, .h = h, .dst_x = x + w / 2, .dst_y = y + h / 2, .motion_scale = 4,
                .motion_x = draw_motion(c, distance * c->mx), .motion_y = draw_motion(c, distance * c->my),
            };
            mv->src_x = av_clip_int16(mv->dst_x + ((mv->motion_x + 2) >> 2));
            mv->src_y = av_clip_int16(mv->dst_y + ((mv->motion_y + 2) >> 2));
            nb++;
        }
    return nb;
}

static void draw_side_data(Case *c, int n)
{
    AVMotionVector *mvs = test_alloc(av_calloc(10 * ((c->shape.w + 3) / 4) * ((c->shape.h + 3) / 4), sizeof(*mvs)));
    AVFrameSideData *sd;
    int nb = 0;

    for (int distance = -5; distance <= 5; distance++)
        if (distance && n + distance >= -1 && test_draw(&c->r, 16) >= c->missing)
            nb = draw_field(c, mvs, nb, distance);
    if (nb || test_draw(&c->r, 2)) {
        sd = test_alloc(av_frame_new_side_data(c->frames[n], AV_FRAME_DATA_MOTION_VECTORS, nb * sizeof(*mvs)));
        if (nb)
            memcpy(sd->data, mvs, nb * sizeof(*mvs));
        c->blocks[n] = test_alloc(av_calloc(nb + 1, sizeof(**c->blocks)));
        for (int i = 0; i < nb; i++) {
            GpumeBlockVector v;

            if (gpume_read_vector(&v, sd, i, c->shape.w, c->shape.h))
                c->blocks[n][c->nb_blocks[n]++] = (DenoiseBlock) {
                    gpume_block_left(&v), gpume_block_top(&v), v.w, v.h, v.distance, v.dx, v.dy,
                };
        }
    }
    av_free(mvs);
}

/* Cases */

static void draw_options(Case *c)
{
    static const int sigmas[] = { 0, 0, 0, 1, 15, 16, 17, 200, 512, 2560, 2560, 5120, 25600 };
    static const int strengths[] = { 0, 128, 256, 256, 256, 256, 300, 2560 };

    c->cfg.radius   = test_draw(&c->r, 5);
    c->cfg.passes   = 1 + !!test_draw(&c->r, 3);
    c->cfg.sigma    = sigmas[test_draw(&c->r, FF_ARRAY_ELEMS(sigmas))];
    c->cfg.strength = strengths[test_draw(&c->r, FF_ARRAY_ELEMS(strengths))];
    c->cfg.single   = !test_draw(&c->r, 6);
    c->cfg.dense    = !test_draw(&c->r, 4);
    c->cfg.planes   = test_draw(&c->r, 2) ? 7 : 1 + test_draw(&c->r, 15);
    if (c->content == CONTENT_NOISE && test_draw(&c->r, 2))
        c->cfg.sigma = 16 * c->noise;
    if (c->content == CONTENT_GRAIN) {
        c->cfg.sigma  *= test_draw(&c->r, 4) == 0;
        c->cfg.radius &= 1;
    }
}

static void draw_case(Case *c, uint64_t seed)
{
    static const int blocks[] = { 4, 8, 8, 8, 16, 0 };
    const int size = test_mix(seed) % 8;

    memset(c, 0, sizeof(*c));
    c->seed    = seed;
    c->r       = (TestRandom) { .state = test_mix(seed + 1) };
    c->shape.w = 1 + test_draw(&c->r, size < 2 ? 9 : size < 7 ? 40 : 72);
    c->shape.h = 1 + test_draw(&c->r, size < 2 ? 9 : size < 7 ? 36 : 50);
    test_set_format(&c->shape, formats[seed % FF_ARRAY_ELEMS(formats)]);
    c->content = test_draw(&c->r, 2) ? CONTENT_NOISE : test_draw(&c->r, CONTENT_NB);
    c->noise   = test_draw(&c->r, 2) ? test_draw(&c->r, 60) : test_draw(&c->r, 700);
    c->mx      = test_draw_range(&c->r, -14, 14);
    c->my      = test_draw_range(&c->r, -10, 10);
    c->cut     = test_draw(&c->r, 7);
    c->exact   = test_draw(&c->r, 17);
    c->block   = blocks[test_draw(&c->r, FF_ARRAY_ELEMS(blocks))];
    c->missing = test_draw(&c->r, 2) ? 0 : test_draw(&c->r, 17);
    c->nb_frames = 1 + test_draw(&c->r, size < 7 ? 7 : 3);
    if (c->content == CONTENT_GRAIN) {
        c->shape.w   = 128 + test_draw(&c->r, 20);
        c->shape.h   = 96 + test_draw(&c->r, 20);
        c->nb_frames = 1 + test_draw(&c->r, 2);
    }
    draw_options(c);
    for (int n = 0; n < c->nb_frames; n++) {
        AVFrame *f = c->frames[n] = test_canaries(&c->shape, &c->r);

        f->pts         = n;
        c->strength[n] = c->cfg.strength;
        for (int i = 0; i < c->shape.nb_components; i++) {
            const int w = test_width(&c->shape, i), h = test_height(&c->shape, i);
            const int shift = test_component(&c->shape, i)->shift;
            uint16_t *dst = c->samples[n][i] = test_alloc(av_malloc_array(w * h, sizeof(*dst)));

            c->expected[n][i] = test_alloc(av_malloc_array(w * h, sizeof(*dst)));
            c->pilots[n][i]   = test_alloc(av_malloc_array(w * h, sizeof(*dst)));
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++, dst++) {
                    *dst = draw_sample(c, n, i, x, y);
                    test_set_word(&c->shape, f, i, x, y, *dst << shift | test_draw(&c->r, 1 << shift));
                }
        }
        draw_side_data(c, n);
        c->copies[n] = test_bytes(f);
    }
}

static void free_case(Case *c)
{
    for (int n = 0; n < c->nb_frames; n++) {
        av_frame_free(&c->frames[n]);
        av_freep(&c->copies[n]);
        av_freep(&c->blocks[n]);
        for (int i = 0; i < 4; i++) {
            av_freep(&c->samples[n][i]);
            av_freep(&c->expected[n][i]);
            av_freep(&c->pilots[n][i]);
        }
    }
}

/* Lets the oracle denoise the frames of a case. */
static void expect(Case *c)
{
    Denoise s = {
        .w = c->shape.w, .h = c->shape.h, .d = c->shape.depth, .nb_frames = c->nb_frames,
        .nb_components = c->shape.nb_components,
        .radius = c->cfg.radius, .passes = c->cfg.passes, .sigma = c->cfg.sigma,
        .single = c->cfg.single, .dense = c->cfg.dense, .opponent = c->cfg.opponent,
    };

    for (int i = 0; i < c->shape.nb_components; i++) {
        DenoiseComponent *m = &s.components[i];

        *m = (DenoiseComponent) {
            test_width(&c->shape, i), test_height(&c->shape, i), test_shift_x(&c->shape, i), test_shift_y(&c->shape, i),
        };
        m->textured = !i || c->shape.desc->flags & AV_PIX_FMT_FLAG_RGB;
        m->chosen = c->cfg.planes >> test_component(&c->shape, i)->plane & 1;
        for (int n = 0; n < c->nb_frames; n++) {
            m->noisy[n] = c->samples[n][i];
            m->pilot[n] = c->pilots[n][i];
            m->out[n]   = c->expected[n][i];
        }
    }
    for (int n = 0; n < c->nb_frames; n++) {
        s.blocks[n]    = c->blocks[n];
        s.nb_blocks[n] = c->nb_blocks[n];
        s.is_repeat[n] = !!(c->flags[n] & MVDENOISE_IS_REPEAT);
        s.is_kept[n]   = !!(c->flags[n] & MVDENOISE_IS_KEPT);
        s.factor[n]    = c->strength[n];
    }
    mvdenoise_oracle_make(&s);
    memcpy(c->clipped, s.components[0].clipped, sizeof(c->clipped));
    nb_stacked    += s.nb_stacked;
    nb_unclipped  += s.nb_unclipped;
    nb_correlated += s.nb_correlated;
    nb_matched    += s.nb_matched;
    for (int i = 0; i < c->shape.nb_components && !c->cfg.sigma; i++)
        nb_estimated += s.components[i].chosen && s.components[i].estimate[0][8] > 0;
}

/* Frames on the device */

/* Makes the next picture and checks all of it. @param hw_frames NULL: in memory */
static void make_next(Case *c, Mvdenoise *m, AVBufferRef *hw_frames, int n)
{
    TestOutput out = test_output(&c->shape, &c->r, hw_frames);
    const int ret  = ff_mvdenoise_make(m, out.frame);

    CHECK(ret >= 0, "%s", av_err2str(ret));
    test_check_output(&c->shape, &out, ret < 0 ? NULL : c->expected[n], "picture", n);
    test_check_unchanged(c->frames, c->copies, c->nb_frames);
    nb_pictures++;
    nb_on_device += !!hw_frames;
}

/* Makes the pictures of a case, each as soon as possible. */
static void run_pictures(Case *c, Mvdenoise *m, int on_device)
{
    const int delay = c->cfg.radius * c->cfg.passes;
    AVBufferRef *hw_frames = on_device ? test_device_frames(&c->shape) : NULL;
    const uint8_t *data[DENOISE_MAX_FRAMES];
    int nb_out = 0;

    for (int n = 0; n <= c->nb_frames; n++) {
        const AVFrame *next;

        if (n < c->nb_frames) {
            AVFrame *f = test_upload(&c->shape, hw_frames, c->frames[n]);
            int ret;

            data[n] = f->data[0];
            ff_mvdenoise_set_strength(m, c->strength[n]);
            ret     = ff_mvdenoise_push(m, &f, NULL, c->flags[n]);
            CHECK(ret >= 0 && !f, "picture %d: %s", n, av_err2str(ret));
            av_frame_free(&f);
            CHECK(!ff_mvdenoise_next(m) == (nb_out + delay > n), "picture %d comes at the wrong time", nb_out);
        } else {
            ff_mvdenoise_sequence(m)->flushed = 1;
        }
        while ((next = ff_mvdenoise_next(m)) && nb_out < c->nb_frames) {
            CHECK(next->data[0] == data[nb_out], "the next picture is not %d", nb_out);
            make_next(c, m, hw_frames, nb_out++);
        }
    }
    CHECK(nb_out == c->nb_frames && !ff_mvdenoise_next(m), "%d pictures of %d", nb_out, c->nb_frames);
    av_buffer_unref(&hw_frames);
}

/* A seed gives the same first sequence on the device as in memory. */
static void run_case(uint64_t seed, int on_device)
{
    TestRandom flags = { .state = test_mix(seed + 77) };
    TestExecutor executor = { .seed = seed };
    AVBufferRef *hw_frames = NULL;
    Mvdenoise *m;
    Case c[2];
    int ret;

    test_begin_case(seed);
    draw_case(&c[0], seed);
    if (on_device && !test_fits_device(c[0].shape.format)) {
        free_case(&c[0]);
        return;
    }
    draw_case(&c[1], seed + (on_device ? FF_ARRAY_ELEMS(formats) : 1));
    c[0].cfg.executor = test_draw_executor(&c[0].r, &executor);
    /* frames that are not denoised, or are marked as repeats */
    for (int i = 0; i < 2 && !test_draw(&flags, 3); i++)
        for (int n = 1; n < c[i].nb_frames; n++)
            c[i].flags[n] = test_draw(&flags, 3) ? 0 : test_draw(&flags, 4);
    /* a sequence of another size and, in memory, format; sometimes the first one again */
    c[1].cfg = c[0].cfg;
    for (int i = 0, varies = !test_draw(&flags, 3); i < 2; i++)
        for (int n = 0; n < c[i].nb_frames; n++)
            c[i].strength[n] = varies ? test_draw(&flags, 3) * 200 : c[0].cfg.strength;
    expect(&c[0]);
    if (on_device)
        c[0].cfg.hw_frames = hw_frames = test_device_frames(&c[0].shape);
    ret = ff_mvdenoise_open(&m, &c[0].cfg);
    av_buffer_unref(&hw_frames);
    snprintf(test_context, sizeof(test_context), "-seed %" PRIu64, seed);
    CHECK(ret >= 0, "%s", av_err2str(ret));
    for (int i = 0, nb = test_draw(&c[0].r, 3); i <= nb && ret >= 0; i++) {
        Case *now = &c[i & 1];

        snprintf(test_context, sizeof(test_context), "-seed %" PRIu64 "%s: %d frames of %dx%d %s, %s with %d, "
                 "blocks of %d, %d exact, radius %d, sigma %d * %d, %d passes, dense %d, "
                 "planes %d, %d threads, %s, sequence %d",
                 seed, on_device ? " -device" : "", now->nb_frames, now->shape.w, now->shape.h, now->shape.desc->name,
                 content_names[now->content], now->noise, now->block,
                 now->exact, now->cfg.radius, now->cfg.sigma, now->cfg.strength, now->cfg.passes, now->cfg.dense,
                 now->cfg.planes, now->cfg.executor.nb_threads, test_executor_names[executor.kind], i);
        if (i == 1)
            expect(now);
        run_pictures(now, m, on_device);
    }
    ff_mvdenoise_close(&m);
    free_case(&c[0]);
    free_case(&c[1]);
}

/* Cases whose noise is correlated, on the device. */
static void run_grain(int nb)
{
    const int before = nb_correlated, nb_drawn = nb;

    for (uint64_t seed = 20000; nb; seed++) {
        Case c;
        int is_one;

        draw_case(&c, seed);
        is_one = c.content == CONTENT_GRAIN && !c.cfg.sigma && test_fits_device(c.shape.format);
        free_case(&c);
        if (is_one) {
            run_case(seed, 1);
            nb--;
        }
    }
    /* whether noise is found to be correlated depends on the case, so a few cases prove nothing */
    CHECK(nb_drawn < 4 || nb_correlated > before, "no noise was correlated in %d cases", nb_drawn);
}

/* Returns whether two frames are found to be equal when rows and columns are cropped from them. */
static int has_same(const Case *c, const AVFrame *a, const AVFrame *b, int cut, int on_device,
                    MvdenoiseRepeats **repeats)
{
    AVBufferRef *hw_frames[2] = { NULL };
    AVFrame *f[2];
    int ret;

    for (int i = 0; i < 2; i++) {
        if (on_device)
            hw_frames[i] = test_device_frames(&c->shape);
        f[i] = test_upload(&c->shape, hw_frames[i], i ? b : a);
        f[i]->width  -= cut;
        f[i]->height -= cut;
    }
    ret = ff_mvdenoise_compare(repeats, f[0], f[1], NULL);
    if (ret == AVERROR(EAGAIN))
        ret = ff_mvdenoise_compared(*repeats);
    for (int i = 0; i < 2; i++) {
        av_frame_free(&f[i]);
        av_buffer_unref(&hw_frames[i]);
    }
    return ret;
}

/* Tests frames that are equal, differ by one sample, or differ only where they have been cropped. */
static void repeats(int nb, int on_device)
{
    MvdenoiseRepeats *on = NULL;
    const int nb_drawn = nb;
    int nb_inside = 0;

    for (uint64_t seed = 30000; nb; seed++) {
        Case c;
        TestShape kept;
        AVFrame *b;
        int i, x, y, cut, is_inside, ret;

        draw_case(&c, seed);
        if (c.shape.w < 5 || c.shape.h < 5 || on_device && !test_fits_device(c.shape.format)) {
            free_case(&c);
            continue;
        }
        b    = test_canaries(&c.shape, &c.r);
        test_copy_words(&c.shape, b, c.frames[0]);
        cut  = 4 * test_draw(&c.r, 2);
        kept = c.shape;
        kept.w -= cut;
        kept.h -= cut;
        i = test_draw(&c.r, c.shape.nb_components);
        /* often at an edge, which a comparison misses most easily */
        x = test_draw(&c.r, 2) ? test_width(&c.shape, i) - 1 : test_draw(&c.r, test_width(&c.shape, i));
        y = test_draw(&c.r, 2) ? test_height(&c.shape, i) - 1 : test_draw(&c.r, test_height(&c.shape, i));
        is_inside = x < test_width(&kept, i) && y < test_height(&kept, i);
        snprintf(test_context, sizeof(test_context), "seed %"PRIu64"%s, %s %dx%d, cut by %d, sample %d,%d of %d", seed,
                 on_device ? " on the device" : "", c.shape.desc->name, c.shape.w, c.shape.h, cut, x, y, i);
        ret = has_same(&c, c.frames[0], b, cut, on_device, &on);
        CHECK(ret == 1, "equal frames: %d", ret);
        test_set_word(&c.shape, b, i, x, y, test_word(&c.shape, b, i, x, y) ^ 1 << test_component(&c.shape, i)->shift);
        ret = has_same(&c, c.frames[0], b, cut, on_device, &on);
        CHECK(ret == !is_inside, "different frames: %d", ret);
        nb_inside += is_inside;
        av_frame_free(&b);
        free_case(&c);
        nb--;
    }
    ff_mvdenoise_repeats_close(&on);
    CHECK(nb_drawn < 8 || nb_inside, "no difference was inside in %d cases", nb_drawn);
}

/* Noise */

/* Draws a noisy picture that has smooth and detailed parts. */
static void draw_scene(uint16_t *p, int w, int h, int depth, double sigma, TestRandom *r)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const int detail   = x > w / 2 && (y / 3 + x / 5 & 1) ? 60 : 0;
            /* a bent slope, so that no block is flat */
            const double slope = 60. * y * y / (h * h) + 40. * x * x / (w * w) + 5 * sin(0.1 * x + 0.13 * y);
            const double v     = 70 + detail + slope + sigma * draw_normal(r);

            p[y * w + x] = av_clip(lrint(v * (1 << (depth - 8))), 0, (1 << depth) - 1);
        }
}

/* Returns the estimate of a picture without matches, at one level of brightness or, with -1, all. */
static int estimate(MvdenoiseEstimate *e, const uint16_t *p, int w, int h, int depth, int first, int level)
{
    const int cols = w / 8, rows = h / 8;
    const GpumeLayout l = { .w = w, .h = h, .depth = depth, .nb_components = 1, .components = { { .w = w, .h = h } } };
    MvdenoiseBlock *blocks = test_alloc(av_calloc(cols * rows, sizeof(*blocks)));
    uint8_t *halved     = test_alloc(av_calloc(cols * rows / 4, sizeof(*halved)));
    uint16_t *means     = test_alloc(av_calloc(cols * rows, sizeof(*means)));
    uint8_t *bytes      = test_alloc(av_malloc(w * h)), *half = test_alloc(av_malloc(8 * w));
    const MvdenoiseMeasure m = { 1, blocks, halved, means };
    MvdenoiseCurve curve = { { 0 } };
    int before = 0, ret;

    for (int i = 0; i < w * h; i++)
        bytes[i] = p[i];
    for (int y = 0; y < rows; y++) {
        const uint8_t *samples = depth > 8 ? (const uint8_t *)(p + 8 * y * w) : bytes + 8 * y * w;
        const int stride       = depth > 8 ? 2 * w : w;

        ff_mvdenoise_measure(blocks + y * cols, means + y * cols, samples, NULL, stride, cols, depth);
        if (y & 1 || y == rows - 1)
            continue;
        ff_mvdenoise_measure_halved(halved + y / 2 * (cols / 2), half, samples, stride, cols / 2, depth);
    }
    ret = ff_mvdenoise_estimate(e, &curve, &before, &m, &l, first, 0);
    CHECK(ret >= 0, "%s", av_err2str(ret));
    av_free(blocks);
    av_free(halved);
    av_free(half);
    av_free(means);
    av_free(bytes);
    return level < 0 ? curve.single : curve.sigma[level];
}

/*
 * Draws a picture whose noise has a strength of 8 and is correlated, as after an encoder: each sample is the
 * mean of itself and its neighbours.
 */
static void draw_correlated(uint16_t *p, int w, int h, int depth, TestRandom *r)
{
    uint16_t *clean = test_alloc(av_malloc_array(w * h, sizeof(*clean)));
    double *noise   = test_alloc(av_malloc_array((w + 2) * (h + 2), sizeof(*noise)));

    draw_scene(clean, w, h, depth, 0, r);
    for (int i = 0; i < (w + 2) * (h + 2); i++)
        noise[i] = draw_normal(r);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const double *n  = noise + (y + 1) * (w + 2) + x + 1;
            const double sum = 4 * n[0] + 2 * (n[-1] + n[1] + n[-w - 2] + n[w + 2]) +
                               n[-w - 3] + n[-w - 1] + n[w + 1] + n[w + 3];

            /* the variance of such a sum is 36 */
            p[y * w + x] = av_clip(clean[y * w + x] + lrint(sum / 6 * 8 * (1 << (depth - 8))), 0, (1 << depth) - 1);
        }
    av_free(noise);
    av_free(clean);
}

/* Checks an estimate of white noise. It is 4.6 % above sigma, because a bit too much denoising is the lesser evil. */
static void check_white(int found, double sigma, const char *what)
{
    CHECK(found >= 0.93 * 256 * sigma && found <= 1.15 * 256 * sigma, "%g of %g%s", found / 256., sigma, what);
}

/* Tests estimates: near sigma for white noise, 0 without noise, up to twice sigma for correlated noise. */
static void estimates(void)
{
    static const double sigmas[] = { 0, 2, 3, 5, 10, 20, 30, 40 };
    static const int depths[]    = { 8, 10, 16 };
    const int w = 320, h = 240;
    uint16_t *p = test_alloc(av_malloc_array(w * h, sizeof(*p)));

    for (int i = 0; i < FF_ARRAY_ELEMS(sigmas) * FF_ARRAY_ELEMS(depths); i++) {
        const double sigma = sigmas[i / 3];
        const int depth    = depths[i % 3];
        MvdenoiseEstimate e = { { { { { 0 } } } } };
        TestRandom r = { .state = test_mix(i) };
        int found, next;

        draw_scene(p, w, h, depth, sigma, &r);
        snprintf(test_context, sizeof(test_context), "noise of %g in %d bits", sigma, depth);
        found = estimate(&e, p, w, h, depth, 1, -1);
        check_white(found, sigma, "");
        /* then it changes by a quarter of the difference, but at once at a cut */
        draw_scene(p, w, h, depth, sigma + 4, &r);
        next = estimate(&e, p, w, h, depth, 0, -1);
        CHECK(fabs(next - found - 256) < 120, "%g after %g", next / 256., found / 256.);
        for (int j = 0; j < w * h / 2; j++)
            FFSWAP(uint16_t, p[j], p[w * h - 1 - j]);
        next = estimate(&e, p, w, h, depth, 0, -1);
        check_white(next, sigma + 4, " after a cut");
        draw_correlated(p, w, h, depth, &r);
        next = estimate(&e, p, w, h, depth, 1, -1);
        CHECK(next > 8 * 256 && next < 16 * 256, "%g of correlated noise of 8", next / 256.);
        ff_mvdenoise_estimate_uninit(&e);
    }
    av_free(p);
}

/* Words of 16 bits can have samples above their depth: they have the brightest level and tone. */
static void check_above(void)
{
    MvdenoiseBlock blocks[2];
    uint16_t means[2], samples[16 * MVDENOISE_PATCH];
    TestRandom r = { .state = 1 };

    for (int depth = 9; depth < 16; depth++) {
        snprintf(test_context, sizeof(test_context), "samples above %d bits", depth);
        for (int i = 0; i < FF_ARRAY_ELEMS(samples); i++)
            samples[i] = i & 8 ? 60000 + test_draw(&r, 5000) : (1 << depth) - 1 - test_draw(&r, 16);
        ff_mvdenoise_measure(blocks, means, (const uint8_t *)samples, NULL, 16 * sizeof(*samples), 2, depth);
        for (int i = 0; i < 2; i++) {
            CHECK(blocks[i].level == MVDENOISE_LEVELS - 1, "block %d has level %d", i, blocks[i].level);
            CHECK(mvdenoise_tone(means[i], depth) == MVDENOISE_TONES - 1, "block %d has tone %d", i,
                  mvdenoise_tone(means[i], depth));
        }
    }
}

/* Remaining noise */

#define GAIN_FRAMES 7

/* Denoises pictures of a moving texture. Returns the mean squared error of the one in the middle. */
static double error_left(int radius, int passes, int sigma, double noise)
{
    TestExecutor executor = { TEST_SERIAL };
    const MvdenoiseConfig cfg = {
        .executor = { test_execute, &executor, 1 }, .radius = radius, .sigma = sigma, .strength = 256,
        .passes = passes, .planes = 1,
    };
    Case c = {
        .seed = 1, .r = { .state = 1 }, .shape = test_shape(AV_PIX_FMT_GRAY8, 160, 120),
        .content = CONTENT_CLEAN, .mx = 6, .my = -3,
        .exact = 16, .block = 8,
    };
    AVFrame *out = test_canaries(&c.shape, &c.r);
    Mvdenoise *m;
    double error = 0;
    int ret = ff_mvdenoise_open(&m, &cfg), nb_out = 0;

    for (int n = 0; n < GAIN_FRAMES && ret >= 0; n++) {
        AVFrame *f = c.frames[n] = test_canaries(&c.shape, &c.r);

        for (int y = 0; y < c.shape.h; y++)
            for (int x = 0; x < c.shape.w; x++) {
                const double v = draw_sample(&c, n, 0, x, y) + noise * draw_normal(&c.r);

                test_set_word(&c.shape, f, 0, x, y, av_clip(lrint(v), 0, 255));
            }
        draw_side_data(&c, n);
        ret = ff_mvdenoise_push(m, &f, NULL, 0);
        if (n == GAIN_FRAMES - 1)
            ff_mvdenoise_sequence(m)->flushed = 1;
        while (ret >= 0 && ff_mvdenoise_next(m) && nb_out <= GAIN_FRAMES / 2 && (ret = ff_mvdenoise_make(m, out)) >= 0)
            nb_out++;
        av_freep(&c.blocks[n]);
    }
    CHECK(ret >= 0 && nb_out == GAIN_FRAMES / 2 + 1, "%d pictures, %s", nb_out, av_err2str(ret));
    for (int y = 0; y < c.shape.h; y++)
        for (int x = 0; x < c.shape.w; x++) {
            const int difference = test_word(&c.shape, out, 0, x, y) - draw_sample(&c, GAIN_FRAMES / 2, 0, x, y);

            error += difference * difference / (double)(c.shape.w * c.shape.h);
        }
    ff_mvdenoise_close(&m);
    av_frame_free(&out);
    return error;
}

/* Tests that each additional frame on both sides removes more noise, and that the second pass does. */
static void gains(void)
{
    static const double noises[] = { 5, 10, 20 };

    for (int i = 0; i < FF_ARRAY_ELEMS(noises); i++) {
        const double noise = noises[i], square = noise * noise;
        double left[4], first, estimated;

        snprintf(test_context, sizeof(test_context), "noise of %g in a texture that moves", noise);
        for (int radius = 0; radius < 4; radius++)
            left[radius] = error_left(radius, 2, noise * 256, noise);
        first     = error_left(2, 1, noise * 256, noise);
        estimated = error_left(2, 2, 0, noise);
        CHECK(left[0] < square / 4 && left[1] < left[0] && left[2] < left[1] && left[3] < left[2],
              "errors of %g, %g, %g, %g are left", left[0], left[1], left[2], left[3]);
        CHECK(left[2] < square / 10 && left[2] < first, "%g and after one pass %g", left[2], first);
        CHECK(estimated < left[2] * 1.1, "%g where the noise is estimated", estimated);
    }
}

/* The filter in its graph */

#define MAX_CASES 3

/** Successive frames of one format, and the output of mvdenoise. */
typedef struct Sequence {
    Case cases[MAX_CASES];      ///< each with its own size
    int nb_cases;
    char options[200];
    TestFilter filter;
    TestFrames in, out;
} Sequence;

/* Converts samples of a case between RGB of d bits and opponent colours of d + k bits. */
static void convert_colours(Case *c, uint16_t *(*samples)[4], void (*convert)(int64_t *c, int d, int k), int d, int k)
{
    for (int n = 0; n < c->nb_frames; n++)
        for (int i = 0; i < c->shape.w * c->shape.h; i++) {
            int64_t colours[4] = { 0 };

            for (int j = 0; j < c->shape.nb_components; j++)
                colours[j] = samples[n][j][i];
            convert(colours, d, k);
            for (int j = 0; j < c->shape.nb_components; j++)
                samples[n][j][i] = colours[j];
        }
}

/* Lets the oracle make what the filter makes, which denoises RGB of up to 14 bits as opponent colours. */
static void expect_of_filter(Case *c)
{
    static const enum AVPixelFormat to[2][4] = {
        { AV_PIX_FMT_YUV444P10,  AV_PIX_FMT_YUV444P12,  AV_PIX_FMT_YUV444P14,  AV_PIX_FMT_YUV444P16 },
        { AV_PIX_FMT_YUVA444P10, AV_PIX_FMT_YUVA444P12, AV_PIX_FMT_YUVA444P16, AV_PIX_FMT_YUVA444P16 },
    };
    const TestShape rgb = c->shape;
    const int sigma = c->cfg.sigma;
    int k;

    if (!(rgb.desc->flags & AV_PIX_FMT_FLAG_RGB) || rgb.depth > 14 || (c->cfg.planes & 7) != 7) {
        expect(c);
        return;
    }
    test_set_format(&c->shape, to[rgb.nb_components > 3][(FFMAX(rgb.depth, 8) - 7) / 2]);
    k = c->shape.depth - rgb.depth;
    c->cfg.sigma = sigma ? FFMAX(lrint(sigma / sqrt(3)), 1) : 0;
    c->cfg.opponent = 1;
    convert_colours(c, c->samples, denoise_to_opponent, rgb.depth, k);
    expect(c);
    convert_colours(c, c->samples, denoise_from_opponent, rgb.depth, k);
    convert_colours(c, c->expected, denoise_from_opponent, rgb.depth, k);
    c->cfg.opponent = 0;
    c->cfg.sigma = sigma;
    c->shape     = rgb;
    for (int n = 0; n < c->nb_frames; n++) {
        for (int i = 0; i < 32; i++)
            c->clipped[n][i] = c->clipped[n][i] * 887 >> 9;
        for (int i = 0; i < 3 && !(c->flags[n] & MVDENOISE_IS_KEPT); i++)
            nb_colours_unclipped += denoise_unclip(c->expected[n][i], c->samples[n][i], rgb.w, rgb.h, rgb.depth,
                                                   c->clipped[n]);
    }
    nb_opponent++;
}

static void draw_sequence(Sequence *q, uint64_t seed, int nb_cases)
{
    Case *first = &q->cases[0];
    int pts = 0;

    memset(q, 0, sizeof(*q));
    q->nb_cases = nb_cases;
    q->filter   = (TestFilter) {
        .name = "mvdenoise", .options = q->options, .nb_threads = 1 + seed % 3, .colorspace = AVCOL_SPC_BT709,
        .writable = 1,
    };
    for (int i = 0; i < nb_cases; i++) {
        Case *c = &q->cases[i];

        draw_case(c, seed + (uint64_t)i * FF_ARRAY_ELEMS(formats));
        c->cfg = first->cfg;
        for (int n = 0; n < c->nb_frames; n++)
            c->strength[n] = c->cfg.strength;
        expect_of_filter(c);
        for (int n = 0; n < c->nb_frames; n++) {
            AVFrame *f = c->frames[n];

            f->pts      = pts;
            f->duration = 1 + test_draw(&c->r, 5);
            f->flags    = AV_FRAME_FLAG_INTERLACED * test_draw(&c->r, 2) | AV_FRAME_FLAG_KEY;
            f->colorspace = AVCOL_SPC_BT709;
            av_dict_set_int(&f->metadata, "number", pts, 0);
            pts += f->duration;
        }
    }
    snprintf(q->options, sizeof(q->options),
             "radius=%d:sigma=%.8f:strength=%.8f:passes=%d:dense=%d:planes=%u%s",
             first->cfg.radius, first->cfg.sigma / 256., first->cfg.strength / 256., first->cfg.passes,
             first->cfg.dense, first->cfg.planes, first->cfg.radius ? ":search=never" : "");
}

static void free_sequence(Sequence *q)
{
    test_free_frames(&q->in);
    test_free_frames(&q->out);
    for (int i = 0; i < q->nb_cases; i++)
        free_case(&q->cases[i]);
}

static void set_input(Sequence *q, int on_device)
{
    for (int i = 0; i < q->nb_cases; i++)
        test_add_frames(&q->in, &q->cases[i].shape, q->cases[i].frames, q->cases[i].nb_frames, on_device);
}

static int run_sequence(Sequence *q)
{
    return test_run_filter(&q->filter, &q->cases[0].shape, &q->in, &q->cases[0].shape, &q->out);
}

/* Checks that all frames are output, in order, each with its properties and the samples of the oracle. */
static void check_out(const Sequence *q)
{
    int nb = 0;

    for (int i = 0; i < q->nb_cases; i++)
        for (int n = 0; n < q->cases[i].nb_frames; n++, nb++) {
            const AVFrame *in = q->cases[i].frames[n], *out = q->out.frames[nb];
            const AVDictionaryEntry *number;

            if (nb >= q->out.nb)
                continue;
            number = av_dict_get(out->metadata, "number", NULL, 0);
            CHECK(out->width == in->width && out->height == in->height && out->pts == in->pts &&
                  out->duration == in->duration && out->flags == in->flags && out->colorspace == in->colorspace &&
                  number && atoi(number->value) == in->pts, "frame %d has other properties", nb);
            if (out->width == in->width && out->height == in->height)
                test_compare_samples(&q->cases[i].shape, out, q->cases[i].expected[n], "picture", n);
        }
    CHECK(q->out.nb == nb, "%d frames of %d", q->out.nb, nb);
}

static int nb_sequences;

/* @param apart distance of their seeds */
static void sequences(int nb, int first, int apart, int on_device)
{
    for (int i = first; i < first + nb * apart; i += apart) {
        Sequence q;
        int ret;

        test_watch(TEST_SECONDS);
        draw_sequence(&q, i, 1 + i % MAX_CASES);
        if (!on_device || test_fits_device(q.cases[0].shape.format)) {
            snprintf(test_context, sizeof(test_context), "sequence %d%s, %s, %d sizes, %s", i,
                     on_device ? " on the device" : "", q.cases[0].shape.desc->name, q.nb_cases, q.options);
            set_input(&q, on_device);
            ret = run_sequence(&q);
            CHECK(ret >= 0, "%s", av_err2str(ret));
            check_out(&q);
            nb_sequences++;
        }
        free_sequence(&q);
    }
}

/** The first seed of a sequence in the format YUV420P; draw_case() takes the formats in turn. */
#define FIRST_YUV420P (400 * FF_ARRAY_ELEMS(formats) + 1)
/** Seeds of sequences with few samples, which are run for hundreds of allocations: one changes the size. */
#define SMALL_CHANGE  (FIRST_YUV420P + 591 * FF_ARRAY_ELEMS(formats))
#define SMALL_SEARCH  (FIRST_YUV420P + 6509 * FF_ARRAY_ELEMS(formats))

/* Makes each allocation fail in turn. */
static void failing_allocations(int on_device, int step)
{
    Sequence q;
    const Case *c = &q.cases[0];

    for (uint64_t seed = SMALL_CHANGE;; seed += FF_ARRAY_ELEMS(formats)) {
        draw_sequence(&q, seed, 2);
        if (c->shape.format == AV_PIX_FMT_YUV420P && c->cfg.radius && c->cfg.passes == 2 && !c->cfg.sigma &&
            c->nb_frames > 4 && c->nb_blocks[1] > 2)
            break;
        free_sequence(&q);
    }
    set_input(&q, on_device);
    CHECK(run_sequence(&q) >= 0, "the sequence fails");
    check_out(&q);
    test_failing_filter(&q.filter, &c->shape, &q.in, step, 50, on_device ? "on the device" : "in memory");
    free_sequence(&q);
}

/* The same where the filter searches vectors itself. */
static void failing_searches(int step)
{
    Sequence q;
    const Case *c = &q.cases[0];
    int ret;

    for (uint64_t seed = SMALL_SEARCH;; seed += FF_ARRAY_ELEMS(formats)) {
        draw_sequence(&q, seed, 1);
        if (c->shape.format == AV_PIX_FMT_YUV420P && c->cfg.radius == 1 && c->nb_frames > 3 && c->cfg.strength &&
            c->cfg.planes == 7 && c->shape.w > 16 && c->shape.h > 16)
            break;
        free_sequence(&q);
    }
    *strstr(q.options, ":search=") = 0;
    for (int n = 0; n < c->nb_frames; n++)
        av_frame_remove_side_data(c->frames[n], AV_FRAME_DATA_MOTION_VECTORS);
    set_input(&q, 0);
    ret = run_sequence(&q);
    CHECK(ret >= 0 && q.out.nb == c->nb_frames, "%d frames, %s", q.out.nb, av_err2str(ret));
    CHECK(ret < 0 || av_frame_get_side_data(q.out.frames[1], AV_FRAME_DATA_MOTION_VECTORS), "nothing was searched");
    test_failing_filter(&q.filter, &c->shape, &q.in, step, 200, "with a search");
    free_sequence(&q);
}

static void in_memory(int nb, int step)
{
    estimates();
    check_above();
    gains();
    for (int i = 0; i < nb; i++)
        run_case(i, 0);
    snprintf(test_context, sizeof(test_context), "all cases");
    CHECK(nb < 120 || (nb_stacked > 100 * nb && nb_estimated > nb / 10 && nb_correlated > nb / 50),
          "%d patches in stacks, %d estimates, %d of correlated noise", nb_stacked, nb_estimated, nb_correlated);
    repeats(FFMIN(nb, 200), 0);
    sequences(nb / 15, 5000, 1, 0);
    /* RGB, without and with alpha, of which every other one has all colours */
    for (int i = 0; i < FF_ARRAY_ELEMS(formats); i++)
        if (formats[i] == AV_PIX_FMT_GBRP || formats[i] == AV_PIX_FMT_GBRAP)
            sequences(6 + nb / 100, 40 * FF_ARRAY_ELEMS(formats) + i, FF_ARRAY_ELEMS(formats), 0);
    CHECK(nb_opponent >= 6, "only %d cases in opponent colours", nb_opponent);
    CHECK(nb_unclipped > 1000 && nb_colours_unclipped > 100,
          "only %d samples of components and %d of colours were corrected", nb_unclipped, nb_colours_unclipped);
    failing_allocations(0, step);
}

int main(int argc, char **argv)
{
    TestOptions o;
    int nb, step;

    if (test_begin(&o, "gpume_mvdenoise", argc, argv) < 0)
        return 1;
    step = o.quick ? 5 : 1;     // distance between allocations that fail
    if (!o.device_only && o.only >= 0)
        run_case(o.only, 0);
    else if (!o.device_only)
        in_memory(test_nb_cases(&o, 120, 1500), step);
    if (test_begin_device()) {
        nb = test_nb_cases(&o, 40, 200);
        test_run_cases(&o, nb, run_case, 1);
        if (o.only < 0) {
            run_grain(nb / 10);
            repeats(FFMIN(nb, 50), 1);
            sequences(nb / 5, 5000, 1, 1);
            test_failing_change("mvdenoise", "radius=0", o.quick ? 11 : 1);
        }
        if (o.only < 0 && !o.device_only)
            failing_allocations(1, step);
    }
    /* a search opens a device */
    if (o.device_only || o.only >= 0)
        ;
    else if (test_device && !test_driver_function("gpume_standin_fail"))
        printf("  failing searches: skipped, the driver's allocations are not to fail\n");
    else
        failing_searches(step);
    if (test_device && o.device_only && o.only < 0 && !nb_on_device)
        printf("  no case has a format of the device: too few cases\n");
    printf("gpume_mvdenoise: %d pictures, %d of them on the device, %d patches in stacks, "
           "%d estimates (%d of correlated noise), %d sequences, "
           "%d checks, %d failures\n", nb_pictures, nb_on_device, nb_stacked, nb_estimated, nb_correlated, nb_sequences,
           test_nb_checks, test_nb_failures);
    return test_end(&o, nb_on_device);
}
