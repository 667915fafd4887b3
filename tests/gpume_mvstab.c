/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Compares the frames, motions and matrices of mvstab with those of the oracle, bit by bit. Tests how well it finds a
 * known motion, cuts, and paths that are written and read.
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libavutil/mem.h"

#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/mvstab/file.h"
#include "libavfilter/gpume/mvstab/mvstab.h"
#include "libavfilter/gpume/output/system.h"

#include "gpume_harness.h"
#include "gpume_filter_harness.h"
#include "gpume_oracle_mvstab.h"

enum Content { CONTENT_SHAKE, CONTENT_CUT, CONTENT_PERSON, CONTENT_FLAT, CONTENT_REPEATS, CONTENT_RANDOM, CONTENT_GAPS,
               CONTENT_NB };

static const char *const content_names[CONTENT_NB] = { "shake", "cut", "person", "flat", "repeats", "random",
                                                        "gaps" };

typedef struct Case {
    uint64_t seed;
    TestRandom r;
    TestShape shape;
    enum Content content;
    int cut;
    double second[STAB_MAX_FRAMES];     ///< share of the second shot in a frame
    double fade[STAB_MAX_FRAMES];       ///< how far a frame is faded to a level
    int level[STAB_MAX_FRAMES];         ///< of 8 bits
    int noise;                  ///< largest, of 8 bits
    int shake, turn;            ///< largest translation, samples; largest rotation and zoom, in 1/1000
    MvstabConfig cfg;
    AVFrame *frames[STAB_MAX_FRAMES];
    uint8_t *copies[STAB_MAX_FRAMES];
    StabM truth[STAB_MAX_FRAMES];       ///< from positions of a frame to those of the scene
    Stab oracle;
} Case;

static int nb_pictures, nb_on_device, nb_outside, nb_known, nb_sampled, nb_homographies, nb_keys, nb_again, nb_cuts;
static int nb_drawn;

/* Draws the pose of the camera at a frame. */
static StabM draw_pose(Case *c, const StabM *before)
{
    const double turn = test_draw_range(&c->r, -c->turn, c->turn) / 1000.;
    const double zoom = 1 + test_draw_range(&c->r, -c->turn, c->turn) / 1000.;
    StabM m = stab_identity();

    if (c->content == CONTENT_REPEATS && test_draw(&c->r, 2))
        return *before;
    m.a[0][0] = m.a[1][1] = zoom * (1 - turn * turn / 2);
    m.a[1][0] = zoom * turn;
    m.a[0][1] = -m.a[1][0];
    m.a[0][2] = test_draw_range(&c->r, -4 * c->shake, 4 * c->shake) / 4.;
    m.a[1][2] = test_draw_range(&c->r, -4 * c->shake, 4 * c->shake) / 4.;
    if (c->turn == 20 && !test_draw(&c->r, 4)) {
        m.a[2][0] = test_draw_range(&c->r, -20, 20) / 1e5;
        m.a[2][1] = test_draw_range(&c->r, -20, 20) / 1e5;
    }
    return m;
}

/* Returns a sample of component i of frame t. */
static int draw_sample(Case *c, int t, int i, int x, int y)
{
    const int max = (1 << c->shape.depth) - 1, one = 1 << (c->shape.depth - 8);
    const double lx = x * (1 << test_shift_x(&c->shape, i)) - (c->shape.w - 1) / 2.;
    const double ly = y * (1 << test_shift_y(&c->shape, i)) - (c->shape.h - 1) / 2.;
    uint64_t seed = c->seed + i;
    double u, v, sample;

    if (c->content == CONTENT_RANDOM)
        return test_draw(&c->r, max + 1);
    if (c->content == CONTENT_FLAT)
        return 40 * one;
    stab_map(&c->truth[t], lx, ly, &u, &v);
    if (c->content == CONTENT_PERSON && fabs(lx + 8 * t - 20) < c->shape.w / 6.) {
        u = lx + 3 * t;
        v = ly;
        seed += 20;
    }
    u = floor(4 * u + 4000.5);
    v = floor(4 * v + 4000.5);
    sample  = (1 - c->second[t]) * test_texture(seed, u, v, 4) + c->second[t] * test_texture(seed + 40, u, v, 4);
    sample += c->fade[t] * (c->level[t] - sample);
    if (c->noise)
        sample = av_clip(sample + test_draw_range(&c->r, -c->noise, c->noise), 0, 255);
    return one * (int)sample;
}

/* Draws where the second shot is, and frames without texture or with less. */
static void draw_fades(Case *c)
{
    const int has_cut = c->content == CONTENT_CUT || c->content == CONTENT_GAPS && test_draw(&c->r, 2);

    for (int t = 0; t < c->oracle.nb_frames; t++) {
        c->second[t] = has_cut && t >= c->cut;
        if (c->content != CONTENT_GAPS || test_draw(&c->r, 3))
            continue;
        c->fade[t]  = test_draw(&c->r, 2) ? 1 : 0.9;
        c->level[t] = test_draw(&c->r, 2) ? 16 : 235;
    }
}

static void draw_frames(Case *c)
{
    for (int t = 0; t < c->oracle.nb_frames; t++) {
        AVFrame *f = c->frames[t] = test_canaries(&c->shape, &c->r);

        c->truth[t] = draw_pose(c, &c->truth[FFMAX(t - 1, 0)]);
        if (!t)
            c->truth[t] = stab_identity();
        f->pts = t;
        f->chroma_location = c->oracle.chroma_x ? AVCHROMA_LOC_CENTER : c->seed & 2 ? AVCHROMA_LOC_LEFT :
                             AVCHROMA_LOC_UNSPECIFIED;
        f->color_range = c->seed & 4 ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
        for (int i = 0; i < c->shape.nb_components; i++)
            for (int y = 0; y < test_height(&c->shape, i); y++)
                for (int x = 0; x < test_width(&c->shape, i); x++)
                    test_set_word(&c->shape, f, i, x, y,
                                  draw_sample(c, t, i, x, y) << test_component(&c->shape, i)->shift);
        c->copies[t] = test_bytes(f);
    }
}

static void take_vectors(void *opaque, int n, const GpumeResult *r)
{
    StabVector *v = opaque;

    for (int i = 0; r->set.nb && i < r->set.host[0].bw * r->set.host[0].bh; i++) {
        const AVMotionVector *mv = &gpume_field_mvs(&r->set, 0)[i];

        v[i] = (StabVector) {
            mv->motion_x * 4 / mv->motion_scale, mv->motion_y * 4 / mv->motion_scale, !mv->flags,
        };
    }
}

/* Searches a in b. The vectors do not depend on the depth. */
static void search(Stab *s, StabVector *v, const uint16_t *a, const uint16_t *b)
{
    const GpumeParams params = {
        .algo = GPUME_ALGO_HME, .block = 16, .pel = 4, .smooth = GPUME_AUTO, .check = GPUME_AUTO,
        .nb_references = 1, .distance = { -1 },
    };
    const enum AVPixelFormat format = ff_gpume_gray_format(s->d);
    AVFrame *frames[2] = { test_gray_frame(format, b, s->w, s->h), test_gray_frame(format, a, s->w, s->h) };

    test_search(&params, frames, 2, take_vectors, v);
}

static void draw_options(Case *c)
{
    Stab *s = &c->oracle;

    c->cfg.mode      = test_draw(&c->r, 3);
    s->tripod        = c->cfg.mode == MVSTAB_TRIPOD;
    s->follow        = c->cfg.mode == MVSTAB_FOLLOW;
    c->cfg.model     = s->model  = test_draw(&c->r, 3);
    c->cfg.border    = s->border = test_draw(&c->r, 4);
    c->cfg.smoothing = s->n      = 1 + test_draw(&c->r, test_draw(&c->r, 2) ? 3 : 9);
    c->cfg.limits.shift  = s->max_shift = test_draw(&c->r, 3) ? INFINITY : test_draw(&c->r, 5);
    c->cfg.limits.sine   = s->sine      = 0.01 * test_draw(&c->r, 3);
    c->cfg.limits.cosine = s->cosine    = test_draw(&c->r, 3) ? -2 : sqrt(1 - s->sine * s->sine);
    c->cfg.zoom      = s->zoom      = test_draw(&c->r, 3) ? 0 : 0.8 + 0.1 * test_draw(&c->r, 6);
    s->chroma_x  = test_draw(&c->r, 2) ? 128 : 0;
    s->chroma_y  = 128;
    s->nb_frames = 1 + test_draw(&c->r, 7);
    s->search    = search;
    for (int t = 0; t < s->nb_frames; t++) {
        s->times[t]  = t ? s->times[t - 1] + (test_draw(&c->r, 6) ? 1 : 2.5) : 1;
        s->passes[t] = !test_draw(&c->r, 10);
    }
}

static void open_oracle(Case *c)
{
    Stab *s = &c->oracle;
    const int is_rgb = !!(c->shape.desc->flags & AV_PIX_FMT_FLAG_RGB);

    s->w = c->shape.w;
    s->h = c->shape.h;
    s->d = c->shape.depth;
    s->nb_components = c->shape.nb_components;
    for (int i = 0; i < s->nb_components; i++) {
        StabComponent *m = &s->components[i];
        const int is_alpha = c->shape.desc->flags & AV_PIX_FMT_FLAG_ALPHA && i == s->nb_components - 1;

        *m = (StabComponent) {
            test_width(&c->shape, i), test_height(&c->shape, i), test_shift_x(&c->shape, i), test_shift_y(&c->shape, i),
        };
        m->black = is_rgb || is_alpha ? 0 : (i ? 128 : c->seed & 4 ? 0 : 16) << (s->d - 8);
        for (int t = 0; t < s->nb_frames; t++) {
            m->frames[t] = test_read_samples(&c->shape, c->frames[t], i);
            m->out[t]    = test_alloc(av_malloc_array(m->w * m->h, 2));
        }
    }
}

static void free_case(Case *c)
{
    for (int t = 0; t < c->oracle.nb_frames; t++) {
        for (int i = 0; i < c->shape.nb_components; i++) {
            av_freep(&c->oracle.components[i].frames[t]);
            av_freep(&c->oracle.components[i].out[t]);
        }
        av_frame_free(&c->frames[t]);
        av_freep(&c->copies[t]);
    }
}

static void draw_case(Case *c, uint64_t seed)
{
    memset(c, 0, sizeof(*c));
    c->seed = seed;
    c->r    = (TestRandom) { .state = test_mix(seed + 1) };
    test_set_format(&c->shape, test_planar_formats[seed % FF_ARRAY_ELEMS(test_planar_formats)]);
    c->shape.w = test_draw(&c->r, 5) ? test_draw_range(&c->r, 48, 150) : test_draw_range(&c->r, 4, 40);
    c->shape.h = test_draw(&c->r, 5) ? test_draw_range(&c->r, 40, 110) : test_draw_range(&c->r, 4, 40);
    c->content = test_draw(&c->r, 3) ? CONTENT_SHAKE : test_draw(&c->r, CONTENT_NB);
    c->cut     = test_draw(&c->r, 6);
    c->shake   = test_draw(&c->r, 3) ? 4 : 24;
    c->turn    = 20;
    if (seed % 19 == 7) {
        /* more blocks than a fit is decided on */
        c->shape.w = test_draw_range(&c->r, 400, 432);
        c->shape.h = test_draw_range(&c->r, 370, 400);
        c->content = CONTENT_SHAKE;
        c->turn    = 5;
    }
    draw_options(c);
    draw_fades(c);
    draw_frames(c);
    open_oracle(c);
}

/* Compares what is known of frame t with what is expected. */
static void compare_step(const Case *c, const MvstabNext *next, int t)
{
    const Stab *s = &c->oracle;
    int same = 1;

    for (int i = 0; i < 8; i++)
        same &= next->step->motion.m[i] == s->motion[t].a[i / 3][i % 3];
    CHECK(same, "frame %d: the motion is %g %g instead of %g %g", t, next->step->motion.m[2], next->step->motion.m[5],
          s->motion[t].a[0][2], s->motion[t].a[1][2]);
    CHECK(next->step->begins == s->begins[t] && next->step->inliers == s->inliers[t],
          "frame %d: begins is %d instead of %d, inliers are %g instead of %g", t, next->step->begins, s->begins[t],
          next->step->inliers, s->inliers[t]);
    same = 1;
    for (int i = 0; i < 8; i++)
        same &= next->matrix.m[i] == s->final[t][i];
    CHECK(same, "frame %d: the matrix is %g %g %g instead of %g %g %g", t, next->matrix.m[0], next->matrix.m[2],
          next->matrix.m[5], s->final[t][0], s->final[t][2], s->final[t][5]);
}

/* Checks all of frame t, which the filter does not read any more. */
static void check_frame(Case *c, TestOutput *out, int t)
{
    uint16_t *wanted[4];

    for (int i = 0; i < c->shape.nb_components; i++)
        wanted[i] = c->oracle.components[i].out[t];
    test_check_output(&c->shape, out, wanted, "frame", t);
}

/* Makes frame t, and checks the one before. @param last the frame before; set to the new one */
static void make_next(Case *c, Mvstab *m, AVBufferRef *hw_frames, int t, TestOutput *last)
{
    TestOutput out = test_output(&c->shape, &c->r, hw_frames);
    int ret;

    out.frame->chroma_location = c->frames[t]->chroma_location;
    out.frame->color_range     = c->frames[t]->color_range;
    ret = ff_mvstab_make(m, out.frame);
    CHECK(ret >= 0, "%s", av_err2str(ret));
    if (t)
        check_frame(c, last, t - 1);
    *last = out;
    test_check_unchanged(c->frames, c->copies, c->oracle.nb_frames);
    nb_pictures++;
    nb_on_device += !!hw_frames;
}

/* Makes the frames of a case, each as soon as possible. */
static void run_pictures(Case *c, Mvstab *m, int on_device)
{
    AVBufferRef *hw_frames = on_device ? test_device_frames(&c->shape) : NULL;
    TestOutput last;
    int t = 0;

    for (int n = 0; n <= c->oracle.nb_frames; n++) {
        MvstabNext next;

        if (n < c->oracle.nb_frames) {
            AVFrame *f = test_upload(&c->shape, hw_frames, c->frames[n]);
            const MvstabInput input = { .time = c->oracle.times[n], .passes = c->oracle.passes[n] };
            const int ret = ff_mvstab_push(m, &f, &input);

            CHECK(ret >= 0 && !f, "frame %d: %s", n, av_err2str(ret));
            av_frame_free(&f);
        } else {
            ff_mvstab_flush(m);
        }
        while (t < c->oracle.nb_frames && ff_mvstab_next(m, &next) == 1) {
            AVFrame *taken = ff_mvstab_take(m);

            CHECK(taken->pts == t && !taken->buf[0], "the next frame is not %d", t);
            av_frame_free(&taken);
            compare_step(c, &next, t);
            make_next(c, m, hw_frames, t++, &last);
        }
    }
    CHECK(t == c->oracle.nb_frames, "%d frames of %d", t, c->oracle.nb_frames);
    if (t)
        check_frame(c, &last, t - 1);
    av_buffer_unref(&hw_frames);
}

/* A seed gives the same first sequence on the device as in memory. */
static void run_case(uint64_t seed, int on_device)
{
    TestExecutor executor = { .seed = seed };
    AVBufferRef *hw_frames = NULL;
    Mvstab *m;
    Case c;
    int ret;

    test_begin_case(seed);
    draw_case(&c, seed);
    if (on_device && !test_fits_device(c.shape.format)) {
        free_case(&c);
        return;
    }
    c.cfg.executor = test_draw_executor(&c.r, &executor);
    snprintf(test_context, sizeof(test_context), "-seed %" PRIu64 "%s: %d frames of %dx%d %s, %s, mode %d, model %d, "
             "border %d, smoothing %d, %d threads, %s", seed, on_device ? " -device" : "", c.oracle.nb_frames,
             c.shape.w, c.shape.h, c.shape.desc->name, content_names[c.content], c.cfg.mode, c.cfg.model, c.cfg.border,
             c.cfg.smoothing, c.cfg.executor.nb_threads, test_executor_names[executor.kind]);
    stab_oracle(&c.oracle);
    nb_outside      += c.oracle.nb_outside;
    nb_sampled      += c.oracle.nb_sampled;
    nb_homographies += c.oracle.nb_homographies;
    nb_keys         += c.oracle.nb_keys;
    nb_again        += c.oracle.nb_again;
    nb_cuts         += c.oracle.nb_cuts;
    nb_drawn        += c.oracle.nb_drawn;
    for (int t = 1; t < c.oracle.nb_frames; t++)
        nb_known += c.oracle.inliers[t] > 0;
    if (on_device)
        c.cfg.hw_frames = hw_frames = test_device_frames(&c.shape);
    ret = ff_mvstab_open(&m, &c.cfg);
    av_buffer_unref(&hw_frames);
    CHECK(ret >= 0, "%s", av_err2str(ret));
    /* the same sequence again, after the end of the first */
    for (int i = 0, nb = 1 + !test_draw(&c.r, 4); i < nb && ret >= 0; i++)
        run_pictures(&c, m, on_device);
    ff_mvstab_close(&m);
    free_case(&c);
}

/* Prepares a scene of known motion and finds its path. */
static void find_path(Case *c, int nb)
{
    c->shape = test_shape(AV_PIX_FMT_GRAY8, 288, 240);
    c->oracle.nb_frames = nb;
    c->oracle.n         = 8;
    c->oracle.search    = search;
    c->oracle.max_shift = INFINITY;
    c->oracle.cosine    = -2;
    draw_frames(c);
    open_oracle(c);
    stab_oracle(&c->oracle);
}

/* Returns how far a motion from frame t to frame r maps a position from the true one. */
static double error_of(const Case *c, const StabM *motion, int t, int r)
{
    const StabM truth = stab_times(stab_inverse(c->truth[r]), c->truth[t]);
    double x, y, u, v;

    stab_map(&truth, 30, 30, &x, &y);
    stab_map(motion, 30, 30, &u, &v);
    return hypot(x - u, y - v);
}

/* Tests that a known motion is found, also behind a person who moves differently. */
static void find_motion(enum Content content, double largest)
{
    const StabM still = stab_identity();
    double sum = 0, none = 0;
    Case c = { .seed = 7, .r = { .state = 5 }, .content = content, .shake = 4, .turn = 5 };

    test_watch(TEST_SECONDS);
    snprintf(test_context, sizeof(test_context), "known motion, %s", content_names[content]);
    find_path(&c, 8);
    for (int t = 1; t < c.oracle.nb_frames; t++) {
        sum  += error_of(&c, &c.oracle.motion[t], t, t - 1);
        none += error_of(&c, &still, t, t - 1);
    }
    CHECK(sum < largest * none, "the mean error is %g, the mean motion %g", sum / 7, none / 7);
    free_case(&c);
}

/* Tests where shots begin, and that the path continues behind frames without texture. */
static void find_shots(void)
{
    /* light: 0 (black) to 9, or w (white). shots: a, b, or tenths of b. path: b (begins), k (known), h (held) */
    static const struct { const char *name, *light, *shots, *path; int noise; } scenes[] = {
        { "a black frame",       "999990999999", "aaaaaaaaaaaa", "bkkkkhkkkkkk" },
        { "three black frames",  "999900099999", "aaaaaaaaaaaa", "bkkkhhhkkkkk" },
        { "a flash",             "99999w999999", "aaaaaaaaaaaa", "bkkkkhkkkkkk" },
        { "a flash of two",      "9999ww999999", "aaaaaaaaaaaa", "bkkkhhkkkkkk" },
        { "a slow fade",         "987654000456789", "aaaaaaaaaaaaaaa", "bkkkkkhhhkkkkkk" },
        { "a fast fade",         "999941001599", "aaaaaaaaaaaa", "bkkkhhhhhhkk" },
        { "a fade from black",   "000258999999", "aaaaaaaaaaaa", "bhhhbkkkkkkk" },
        { "a fade to black",     "999999852000", "aaaaaaaaaaaa", "bkkkkkkkhhhh" },
        { "a cut",               "999999999999", "aaaaabbbbbbb", "bkkkkbkkkkkk" },
        { "a cut through black", "999990099999", "aaaaaabbbbbb", "bkkkkhhbkkkk" },
        { "a cut through white", "99999ww99999", "aaaaaabbbbbb", "bkkkkhhbkkkk" },
        { "shots of two frames", "999999999999", "aaaabbaabbbb", "bkkkhhkkbkkk" },
        { "a noisy fade",        "998642000002468", "aaaaaaaaaaaaaaa", "bkkkkhhhhhhkkkk", 28 },
        { "a cut before two frames", "999999999999", "aaaaaaaaaabb", "bkkkkkkkkkbk" },
        { "a cut before one frame",  "999999999999", "aaaaaaaaaaab", "bkkkkkkkkkkb" },
        { "a crossfade",         "999999999999", "aaaa2468bbbb", "bkkkkkkkkkkk" },
    };

    for (int i = 0; i < FF_ARRAY_ELEMS(scenes); i++) {
        Case c = { .seed = 7, .r = { .state = 5 + i }, .shake = 4, .turn = 5, .noise = scenes[i].noise };
        StabM pose = stab_identity();
        const int nb = strlen(scenes[i].light);
        char path[STAB_MAX_FRAMES + 1] = "";
        int from = 0;

        test_watch(TEST_SECONDS);
        snprintf(test_context, sizeof(test_context), "%s", scenes[i].name);
        for (int t = 0; t < nb; t++) {
            const char light = scenes[i].light[t], shot = scenes[i].shots[t];

            c.level[t]  = light == 'w' ? 235 : 16;
            c.fade[t]   = light == 'w' ? 1 : ('9' - light) / 9.;
            c.second[t] = shot == 'a' ? 0 : shot == 'b' ? 1 : (shot - '0') / 10.;
        }
        find_path(&c, nb);
        for (int t = 0; t < nb; t++) {
            path[t] = c.oracle.begins[t] ? 'b' : c.oracle.inliers[t] > 0 ? 'k' : 'h';
            from    = path[t] == 'b' ? t : from;
            pose    = path[t] == 'b' ? stab_identity() : stab_times(pose, c.oracle.motion[t]);
        }
        CHECK(!strcmp(path, scenes[i].path), "the path is %s instead of %s", path, scenes[i].path);
        CHECK(path[nb - 1] == 'h' || error_of(&c, &pose, nb - 1, from) < 0.5, "the last frame is %g samples off",
              error_of(&c, &pose, nb - 1, from));
        free_case(&c);
    }
}

static const MvstabStep *pan_step(const void *opaque, int64_t number)
{
    return &((const MvstabStep *)opaque)[number];
}

/* Tests that paths follow a pan, also at its ends. */
static void follow_pan(void)
{
    MvstabStep steps[60] = { { .begins = 1 } };
    MvstabMatrix before[2] = { { { 0 } } };

    snprintf(test_context, sizeof(test_context), "a pan");
    for (int i = 0; i < 60; i++) {
        steps[i].motion = ff_mvstab_identity;
        steps[i].motion.m[2] = i ? 3 * (1 + (i == 21)) : 0;
        steps[i].time = i + (i > 20);
    }
    for (int i = 0; i < 60; i++) {
        const MvstabWindow w = {
            .step = pan_step, .opaque = steps, .first = FFMAX(i - 9, 0), .last = FFMIN(i + 9, 59), .radius = 9,
        };
        const MvstabMatrix smooth = ff_mvstab_smooth(&w, i);
        MvstabMatrix follow;

        for (int k = 0; k < FFMIN(i, 2); k++)
            before[k].m[2] = 3 * (steps[i - 1 - k].time - steps[i].time);
        follow = ff_mvstab_follow(&w, i, before, FFMIN(i, 2));
        CHECK(fabs(smooth.m[2]) < 1e-9, "the smooth path is %g away in frame %d", smooth.m[2], i);
        CHECK(fabs(follow.m[2]) < 1e-6, "the straight path is %g away in frame %d", follow.m[2], i);
    }
}

/* Tests that rotations and shifts are limited exactly. */
static void limit_angles(void)
{
    snprintf(test_context, sizeof(test_context), "limits");
    for (int i = -179; i < 180; i += 7)
        for (int limit = 0; limit <= 170; limit += 17) {
            const double angle = i * M_PI / 180, most = limit * M_PI / 180;
            const MvstabLimits limits = { .shift = limit, .sine = sin(most), .cosine = cos(most) };
            MvstabMatrix a = { { 1.5 * cos(angle), -1.5 * sin(angle), 30, 1.5 * sin(angle), 1.5 * cos(angle), i } };

            ff_mvstab_limit(&a, &limits);
            CHECK(fabs(fabs(atan2(a.m[3], a.m[0])) - FFMIN(fabs(angle), most)) < 1e-9 && i * a.m[3] >= -1e-9 &&
                  fabs(hypot(a.m[0], a.m[3]) - 1.5) < 1e-9 && a.m[1] == -a.m[3] && a.m[4] == a.m[0],
                  "%d degrees, at most %d, became %g", i, limit, atan2(a.m[3], a.m[0]) * 180 / M_PI);
            CHECK(fabs(hypot(a.m[2], a.m[5]) - FFMIN(hypot(30, i), limit)) < 1e-9,
                  "a shift of (30, %d) became (%g, %g)", i, a.m[2], a.m[5]);
        }
}

/* Tests that no corner is outside of the input frame after the zoom, and that a matrix which needs less stays. */
static void find_zooms(void)
{
    snprintf(test_context, sizeof(test_context), "zooms");
    for (int shift = 0; shift <= 400; shift += 5)
        for (int turn = -1; turn <= 1; turn++) {
            const MvstabMatrix before = {
                { 1 - shift / 900., turn / 9., shift, -turn / 9., 1, -shift / 3., turn / 999. },
            };
            MvstabMatrix a = before;
            const double zoom = ff_mvstab_zoom(&a, 160, 90, 1.5);

            for (int i = 0; i < 4; i++) {
                double x = (i & 1 ? 79.5 : -79.5) / zoom, y = (i & 2 ? 44.5 : -44.5) / zoom;

                ff_mvstab_map(&x, &y, &a);
                CHECK(fabs(x) < 79.5 + 1e-9 && fabs(y) < 44.5 + 1e-9, "shift %d, turn %d, zoom %g: a corner is at %g, "
                      "%g", shift, turn, zoom, x, y);
            }
            CHECK(zoom == 1.5 || zoom >= 1 && zoom < 1.5 && !memcmp(&a, &before, sizeof(a)), "shift %d, turn %d, zoom "
                  "%g: the matrix changed", shift, turn, zoom);
        }
}

/* Writes rows at these seconds as a filter graph does. */
static void write_path(const char *path, const double *times, int nb, int overwrite, int wanted)
{
    const MvstabStep step = { .motion = ff_mvstab_identity, .inliers = 0.5 };
    MvstabFile f = { .nb = 0 };
    int ret = ff_mvstab_file_create(&f, path, overwrite, NULL), err;

    for (int i = 0; i < nb && ret >= 0; i++)
        ret = ff_mvstab_file_write(&f, &step, times[i]);
    err = ff_mvstab_file_close(&f, ret < 0);
    CHECK((ret < 0 ? ret : err) == wanted, "%s: %s", path, av_err2str(ret));
}

/* Tests that a graph after a change of size goes on in the file of the one before, and another video begins anew. */
static void go_on(void)
{
    const double times[] = { 0, 1, 2, 3, 4, 5, 6 };
    MvstabFile f = { .nb = 0 };
    char path[64];

    snprintf(test_context, sizeof(test_context), "a path in several filter graphs");
    snprintf(path, sizeof(path), "gpume_mvstab-%d.npy", ff_gpume_system_process());
    write_path(path, times, 3, 1, 0);
    write_path(path, times + 3, 2, 0, 0);
    write_path(path, times, 0, 0, 0);
    write_path(path, times, 2, 0, AVERROR(EEXIST));
    CHECK(ff_mvstab_file_read(&f, path, NULL) >= 0 && f.nb == 5 && ff_mvstab_file_find(&f, 4) && f.next == 4,
          "%" PRId64 " rows, row %" PRId64, f.nb, f.next);
    f.rows[3][6] = 1 / 64.;
    CHECK(ff_mvstab_file_check(&f, 160, 120, 0), "perspective of a row that is not used");
    f.taken = 2;
    CHECK(ff_mvstab_file_check(&f, 96, 96, 0) && !ff_mvstab_file_check(&f, 160, 120, 0), "perspective");
    ff_mvstab_file_close(&f, 0);
    write_path(path, times, 2, 1, 0);
    write_path(path, times + 1, 3, 1, 0);
    CHECK(ff_mvstab_file_read(&f, path, NULL) >= 0 && f.nb == 3, "%" PRId64 " rows", f.nb);
    ff_mvstab_file_close(&f, 0);
    ff_gpume_system_remove(path);
}

static void in_memory(int nb)
{
    go_on();
    follow_pan();
    limit_angles();
    find_zooms();
    find_motion(CONTENT_SHAKE, 0.03);
    find_motion(CONTENT_PERSON, 0.03);
    find_shots();
    for (int i = 0; i < nb; i++)
        run_case(i, 0);
    snprintf(test_context, sizeof(test_context), "all cases");
    CHECK(nb < 60 || nb_outside > 1000 && nb_known > nb / 2 && nb_sampled > 2 && nb_homographies > 5 &&
          nb_keys > 0 && nb_again > 0 && nb_cuts > 0 && (nb < 400 || nb_drawn > 0), "%d samples outside, %d motions, "
          "%d fits from samples, %d homographies, %d key frames, %d paths continued, %d cuts, %d drawn back",
          nb_outside, nb_known, nb_sampled, nb_homographies, nb_keys, nb_again, nb_cuts, nb_drawn);
}

int main(int argc, char **argv)
{
    TestOptions o;

    if (test_begin(&o, "gpume_mvstab", argc, argv) < 0)
        return 1;
    if (!o.device_only && o.only >= 0)
        run_case(o.only, 0);
    else if (!o.device_only)
        in_memory(test_nb_cases(&o, 60, 400));
    if (test_begin_device()) {
        test_run_cases(&o, test_nb_cases(&o, 20, 100), run_case, 1);
        if (o.only < 0)
            test_failing_change("mvstab", "smoothing=2", o.quick ? 19 : 1);
    }
    printf("gpume_mvstab: %d pictures, %d of them on the device, %d motions, %d fits from samples, %d homographies, %d "
           "key frames, %d paths continued, %d cuts, %d drawn back, %d samples outside, %d checks, %d failures\n",
           nb_pictures, nb_on_device, nb_known, nb_sampled, nb_homographies, nb_keys, nb_again, nb_cuts, nb_drawn,
           nb_outside, test_nb_checks, test_nb_failures);
    return test_end(&o, nb_on_device);
}
