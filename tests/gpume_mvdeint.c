/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Compares the pictures that mvdeint makes with those of the oracle, sample by sample, and its estimates with
 * those of bwdif. Tests still areas, cuts and lone fields.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libavfilter/version.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/mvdeint/mvdeint.h"
#include "libavfilter/gpume/picture/layout.h"

#include "gpume_harness.h"
#include "gpume_deint_order.h"
#include "gpume_deint_quality.h"
#include "gpume_deint_scenes.h"
#include "gpume_oracle_mvdeint.h"
#include "gpume_filter_harness.h"

enum Content {
    CONTENT_MOTION,     ///< a texture that moves
    CONTENT_NOISE,      ///< the same, with noise
    CONTENT_CUT,        ///< the same, with another texture from some field on
    CONTENT_STILL,
    CONTENT_RANDOM,
    CONTENT_EXTREME,    ///< samples of 0 and maximum
    CONTENT_FLAT,
    CONTENT_STRIPES,    ///< still lines one sample high beside a moving texture
    CONTENT_FADE,
    CONTENT_NB
};

static const char *const content_names[CONTENT_NB] = {
    "motion", "noise", "cut", "still", "random", "extreme", "flat", "stripes", "fade",
};

typedef struct Case {
    uint64_t seed;
    TestRandom r;
    TestShape shape;
    enum Content content;
    int mx, my;                 ///< motion from field to field, in quarter samples
    int cut;                    ///< first field after the cut
    MvdeintConfig cfg;
    MvdeintInput inputs[DEINT_MAX_FRAMES];

    int nb_frames;
    AVFrame *frames[DEINT_MAX_FRAMES];
    uint8_t *copies[DEINT_MAX_FRAMES];          ///< copies of the frames' bytes
    uint16_t *truth[DEINT_MAX_FIELDS][4];       ///< all lines at the time of a field
    Deint oracle;
} Case;

static int nb_pictures, nb_compensated, nb_moved, nb_on_device;

/* Pictures */

/* Returns a sample at the time of field t. */
static int draw_sample(Case *c, int t, int i, int x, int y)
{
    const int max = (1 << c->shape.depth) - 1, one = 1 << (c->shape.depth - 8);
    int v;

    switch (c->content) {
    case CONTENT_RANDOM:  return test_draw(&c->r, max + 1);
    case CONTENT_EXTREME: return test_draw(&c->r, 2) ? max : 0;
    case CONTENT_FLAT:    return FFMIN(c->cut * 20 * one, max);
    case CONTENT_STRIPES:
        if (x < test_width(&c->shape, i) / 2)
            return (y % 3 ? 40 : 200) * one;
        break;
    case CONTENT_STILL:   t = 0; break;
    default: break;
    }
    v = one * test_texture(c->seed + 8 * (c->content == CONTENT_CUT && t >= c->cut) + i,
                           4 * x - (t * c->mx >> test_shift_x(&c->shape, i)),
                           4 * y - (t * c->my >> test_shift_y(&c->shape, i)), 4);
    if (c->content == CONTENT_NOISE)
        v += test_draw_range(&c->r, -12 * one, 12 * one);
    if (c->content == CONTENT_FADE)
        v = v * (16 - t) / 16;
    return av_clip(v, 0, max);
}

static void draw_options(Case *c)
{
    c->cfg.passes = test_draw(&c->r, 4);
    c->cfg.refs   = 1 + !!test_draw(&c->r, 3);
    c->cfg.only_first = !test_draw(&c->r, 3);
    for (int n = 0; n < c->nb_frames; n++) {
        c->inputs[n].bottom_first = n ? c->inputs[n - 1].bottom_first ^ !test_draw(&c->r, 8) : test_draw(&c->r, 2);
        c->inputs[n].is_progressive = !test_draw(&c->r, 10);
        c->inputs[n].passes = c->inputs[n].is_progressive || !test_draw(&c->r, 10);
        c->inputs[n].is_discarded = !test_draw(&c->r, 8);
    }
}

/* Weaves frames from the picture at the time of each field. */
static void draw_frames(Case *c)
{
    for (int t = 0; t < 2 * c->nb_frames; t++)
        for (int i = 0; i < c->shape.nb_components; i++) {
            const int w = test_width(&c->shape, i), h = test_height(&c->shape, i);

            c->truth[t][i] = test_alloc(av_malloc_array(w * h, sizeof(**c->truth)));
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++)
                    c->truth[t][i][y * w + x] = draw_sample(c, c->inputs[t / 2].is_progressive ? t & ~1 : t, i, x, y);
        }
    for (int n = 0; n < c->nb_frames; n++) {
        AVFrame *f = c->frames[n] = test_canaries(&c->shape, &c->r);

        f->pts = n;
        for (int i = 0; i < c->shape.nb_components; i++)
            for (int y = 0; y < test_height(&c->shape, i); y++)
                for (int x = 0; x < test_width(&c->shape, i); x++) {
                    const int shift = test_component(&c->shape, i)->shift;
                    const int t = 2 * n + ((y & 1) != c->inputs[n].bottom_first && !c->inputs[n].is_progressive);

                    test_set_word(&c->shape, f, i, x, y, c->truth[t][i][y * test_width(&c->shape, i) + x] << shift);
                }
        c->copies[n] = test_bytes(f);
    }
}

static void open_oracle(Case *c)
{
    Deint *s = &c->oracle;

    *s = (Deint) {
        .w = c->shape.w, .h = c->shape.h, .d = c->shape.depth, .nb_frames = c->nb_frames,
        .nb_components = c->shape.nb_components,
        .refs = c->cfg.refs,
    };
    for (int t = 0; t < 2 * c->nb_frames; t++) {
        s->parity[t]          = c->inputs[t / 2].bottom_first ^ (t & 1);
        s->progressive[t / 2] = c->inputs[t / 2].is_progressive;
    }
    for (int i = 0; i < c->shape.nb_components; i++) {
        DeintComponent *m = &s->components[i];
        const int size = test_width(&c->shape, i) * test_height(&c->shape, i);

        *m = (DeintComponent) {
            test_width(&c->shape, i), test_height(&c->shape, i), test_shift_x(&c->shape, i), test_shift_y(&c->shape, i),
        };
        for (int n = 0; n < c->nb_frames; n++)
            m->frames[n] = test_read_samples(&c->shape, c->frames[n], i);
        for (int t = 0; t < 2 * c->nb_frames; t++) {
            m->first[t]    = test_alloc(av_malloc_array(size, sizeof(**m->first)));
            m->intra[t]    = test_alloc(av_malloc_array(size, sizeof(**m->intra)));
            m->reach[t]    = test_alloc(av_malloc_array(size, sizeof(**m->reach)));
            m->estimate[t] = test_alloc(av_malloc_array(size, sizeof(**m->estimate)));
            m->result[t]   = test_alloc(av_malloc_array(size, sizeof(**m->result)));
        }
    }
}

static void forget_vectors(Deint *s)
{
    for (int t = 0; t < DEINT_MAX_FIELDS; t++)
        for (int i = 0; i < 4; i++)
            av_freep(&s->vectors[t][i]);
}

static void close_oracle(Case *c)
{
    forget_vectors(&c->oracle);
    for (int i = 0; i < c->shape.nb_components; i++) {
        DeintComponent *m = &c->oracle.components[i];

        for (int n = 0; n < c->nb_frames; n++)
            av_freep(&m->frames[n]);
        for (int t = 0; t < 2 * c->nb_frames; t++) {
            av_freep(&m->first[t]);
            av_freep(&m->intra[t]);
            av_freep(&m->reach[t]);
            av_freep(&m->estimate[t]);
            av_freep(&m->result[t]);
        }
    }
}

static void free_case(Case *c)
{
    close_oracle(c);
    for (int t = 0; t < 2 * c->nb_frames; t++)
        for (int i = 0; i < c->shape.nb_components; i++)
            av_freep(&c->truth[t][i]);
    for (int n = 0; n < c->nb_frames; n++) {
        av_frame_free(&c->frames[n]);
        av_freep(&c->copies[n]);
    }
}

static void draw_case(Case *c, uint64_t seed)
{
    const int size = test_mix(seed) % 8;

    memset(c, 0, sizeof(*c));
    c->seed    = seed;
    c->r       = (TestRandom) { .state = test_mix(seed + 1) };
    test_set_format(&c->shape, test_planar_formats[seed % FF_ARRAY_ELEMS(test_planar_formats)]);
    c->shape.w = (2 << c->shape.desc->log2_chroma_w) + 1 + test_draw(&c->r, size < 2 ? 9 : size < 7 ? 40 : 90);
    c->shape.h = (3 << c->shape.desc->log2_chroma_h) + 1 + test_draw(&c->r, size < 2 ? 9 : size < 7 ? 36 : 60);
    c->content = test_draw(&c->r, 2) ? CONTENT_MOTION : test_draw(&c->r, CONTENT_NB);
    c->mx      = test_draw_range(&c->r, -14, 14);
    c->my      = test_draw_range(&c->r, -10, 10);
    c->cut     = test_draw(&c->r, 10);
    c->nb_frames = 1 + test_draw(&c->r, size < 7 ? 5 : 3);
    draw_options(c);
    draw_frames(c);
    open_oracle(c);
}

/* The oracle */

static void take_vectors(void *opaque, int t, const GpumeResult *r)
{
    Deint *s = opaque;

    for (int i = 0; i < r->set.nb; i++) {
        const GpumeMotionField *f = &r->set.host[i];
        const AVMotionVector *mvs = gpume_field_mvs(&r->set, i);
        const uint32_t *costs     = gpume_field_costs(&r->set, i);
        DeintVector *v = test_alloc(av_malloc_array(f->bw * f->bh, sizeof(*v)));

        for (int j = 0; j < f->bw * f->bh; j++)
            v[j] = (DeintVector) { mvs[j].motion_x * 4 / mvs[j].motion_scale,
                                   mvs[j].motion_y * 4 / mvs[j].motion_scale, costs[j] };
        s->vectors[t][f->distance + 2 - (f->distance > 0)] = v;
    }
}

/* Searches the motion in the oracle's estimates. */
static void search(Case *c)
{
    GpumeParams params = {
        .algo = GPUME_ALGO_HME, .block = 8, .pel = 4, .smooth = GPUME_AUTO, .check = GPUME_AUTO, .sweeps = 2,
        .nb_references = 2 * c->cfg.refs,
    };
    AVFrame *frames[DEINT_MAX_FIELDS];

    for (int i = 0; i < c->cfg.refs; i++) {
        params.distance[i]               = -1 - i;
        params.distance[c->cfg.refs + i] = 1 + i;
    }
    forget_vectors(&c->oracle);
    for (int t = 0; t < 2 * c->nb_frames; t++)
        frames[t] = test_gray_frame(ff_gpume_gray_format(c->shape.depth), c->oracle.components[0].estimate[t],
                                    c->shape.w, c->shape.h);
    test_search(&params, frames, 2 * c->nb_frames, take_vectors, &c->oracle);
}

static void expect(Case *c)
{
    deint_oracle_first(&c->oracle);
    for (int pass = 0; pass < c->cfg.passes; pass++) {
        search(c);
        deint_oracle_pass(&c->oracle, pass, pass == c->cfg.passes - 1);
    }
    nb_compensated += c->oracle.nb_compensated;
    nb_moved       += c->oracle.nb_moved;
}

/* Runs */

/* Lists the samples of a field's frame that are expected. */
static void list_expected(const Case *c, uint16_t *samples[4], int t)
{
    for (int i = 0; i < c->shape.nb_components; i++)
        samples[i] = c->oracle.components[i].estimate[t];
}

/* Makes the frame of the next field and checks all of it. @param hw_frames NULL: in memory */
static void make_next(Case *c, Mvdeint *m, AVBufferRef *hw_frames, int t)
{
    TestOutput out = test_output(&c->shape, &c->r, hw_frames);
    const int ret  = ff_mvdeint_make(m, out.frame);
    uint16_t *wanted[4];

    CHECK(ret >= 0, "%s", av_err2str(ret));
    list_expected(c, wanted, t);
    test_check_output(&c->shape, &out, ret < 0 ? NULL : wanted, "field", t);
    test_check_unchanged(c->frames, c->copies, c->nb_frames);
    nb_pictures++;
    nb_on_device += !!hw_frames;
}

/* Makes the frames of a case, each as soon as possible. */
static void run_pictures(Case *c, Mvdeint *m, int on_device)
{
    AVBufferRef *hw_frames = on_device ? test_device_frames(&c->shape) : NULL;
    const uint8_t *data[DEINT_MAX_FRAMES];
    int t = 0;

    for (int n = 0; n <= c->nb_frames; n++) {
        MvdeintNext next;

        if (n < c->nb_frames) {
            AVFrame *f = test_upload(&c->shape, hw_frames, c->frames[n]);
            int ret;

            data[n] = f->data[0];
            ret     = ff_mvdeint_push(m, &f, &c->inputs[n], NULL);
            CHECK(ret >= 0 && !f, "frame %d: %s", n, av_err2str(ret));
            av_frame_free(&f);
        } else {
            ff_mvdeint_sequence(m)->flushed = 1;
        }
        while (t < 2 * c->nb_frames && ff_mvdeint_next(m, &next) == 1) {
            const int passes = c->inputs[t / 2].passes;

            CHECK(next.frame->data[0] == data[t / 2] && next.is_second == (t & 1) && next.passes == passes &&
                  next.is_skipped == (c->inputs[t / 2].is_discarded || (t & 1) && (passes || c->cfg.only_first)) &&
                  (next.after ? next.after->data[0] == data[t / 2 + 1] : t / 2 + 1 == c->nb_frames),
                  "the next field is not %d", t);
            if (passes || next.is_skipped)
                CHECK(ff_mvdeint_make(m, NULL) >= 0, "field %d cannot be skipped", t);
            else
                make_next(c, m, hw_frames, t);
            t++;
        }
        /* the last frame needs the one after it, and each pass needs a few further fields */
        CHECK(n == c->nb_frames || on_device || c->cfg.executor.nb_threads > 1 ||
              t == FFMAX(2 * n - c->cfg.refs * c->cfg.passes, 0), "%d fields come after %d frames", t, n + 1);
    }
    CHECK(t == 2 * c->nb_frames, "%d fields of %d", t, 2 * c->nb_frames);
    av_buffer_unref(&hw_frames);
}

/* A seed gives the same first sequence on the device as in memory. */
static void run_case(uint64_t seed, int on_device)
{
    TestExecutor executor = { .seed = seed };
    AVBufferRef *hw_frames = NULL;
    Mvdeint *m;
    Case c[2];
    int ret;

    test_begin_case(seed);
    draw_case(&c[0], seed);
    if (on_device && !test_fits_device(c[0].shape.format)) {
        free_case(&c[0]);
        return;
    }
    draw_case(&c[1], seed + (on_device ? FF_ARRAY_ELEMS(test_planar_formats) : 1));
    c[0].cfg.executor = test_draw_executor(&c[0].r, &executor);
    /* a sequence of another size and format; sometimes the first one again */
    c[1].cfg = c[0].cfg;
    c[1].oracle.refs = c[0].oracle.refs;
    expect(&c[0]);
    if (on_device)
        c[0].cfg.hw_frames = hw_frames = test_device_frames(&c[0].shape);
    ret = ff_mvdeint_open(&m, &c[0].cfg);
    av_buffer_unref(&hw_frames);
    snprintf(test_context, sizeof(test_context), "-seed %" PRIu64, seed);
    CHECK(ret >= 0, "%s", av_err2str(ret));
    for (int i = 0, nb = test_draw(&c[0].r, 3); i <= nb && ret >= 0; i++) {
        Case *now = &c[i & 1];

        snprintf(test_context, sizeof(test_context), "-seed %" PRIu64 "%s: %d frames of %dx%d %s, %s, %d passes, "
                 "refs %d%s, %d threads, %s, sequence %d", seed, on_device ? " -device" : "",
                 now->nb_frames, now->shape.w, now->shape.h, now->shape.desc->name,
                 content_names[now->content], now->cfg.passes, now->cfg.refs,
                 now->cfg.only_first ? ", only first fields" : "", now->cfg.executor.nb_threads,
                 test_executor_names[executor.kind], i);
        if (i == 1)
            expect(now);
        run_pictures(now, m, on_device);
    }
    ff_mvdeint_close(&m);
    free_case(&c[0]);
    free_case(&c[1]);
}

/* Comparison with bwdif */

/* Makes the frames of a case with bwdif. */
static void run_bwdif(const Case *c, TestFrames *out)
{
    const TestFilter bwdif = { .name = "bwdif", .options = "mode=send_field", .nb_threads = 1 };
    TestFrames in = { .nb = c->nb_frames };
    int ret;

    for (int n = 0; n < in.nb; n++) {
        in.frames[n] = test_alloc(av_frame_clone(c->frames[n]));
        in.frames[n]->flags |= AV_FRAME_FLAG_INTERLACED |
                               (c->inputs[n].bottom_first ? 0 : AV_FRAME_FLAG_TOP_FIELD_FIRST);
    }
    ret = test_run_filter(&bwdif, &c->shape, &in, &c->shape, out);
    CHECK(ret >= 0 && out->nb == 2 * in.nb, "%d frames, %s", out->nb, av_err2str(ret));
    test_free_frames(&in);
}

/* Compares estimates from three fields with bwdif's frames. A single frame is left out: bwdif differs there. */
static void compare_with_bwdif(uint64_t seed)
{
    TestFrames frames = { .nb = 0 };
    uint16_t *expected[4];
    Case c;

    draw_case(&c, seed);
    for (int n = 0; n < c.nb_frames; n++)
        c.inputs[n] = (MvdeintInput) { .bottom_first = c.inputs[n].bottom_first };
    snprintf(test_context, sizeof(test_context), "bwdif, seed %" PRIu64, seed);
    if (c.nb_frames > 1 &&
        (c.shape.nb_components < 3 || test_component(&c.shape, 1)->step == test_component(&c.shape, 0)->step) &&
        !test_component(&c.shape, 0)->shift && c.shape.format != AV_PIX_FMT_GRAY10) {
        close_oracle(&c);
        open_oracle(&c);
        deint_oracle_bwdif(&c.oracle);
        run_bwdif(&c, &frames);
        for (int t = 0; t < frames.nb; t++) {
            list_expected(&c, expected, t);
            test_compare_samples(&c.shape, frames.frames[t], expected, "field", t);
        }
        test_free_frames(&frames);
    }
    free_case(&c);
}

/* Returns whether a case has still lines, interlaced in one order. */
static int has_stripes(const Case *c)
{
    for (int n = 0; n < c->nb_frames; n++)
        if (c->inputs[n].is_progressive || c->inputs[n].bottom_first != c->inputs[0].bottom_first)
            return 0;
    return c->content == CONTENT_STRIPES && c->nb_frames > 2 && c->shape.w >= 20 && c->mx && c->cfg.passes;
}

/* Tests that still lines one sample high are woven exactly, up to the edge of the moving texture beside them. */
static void stripes(int nb)
{
    for (uint64_t seed = 20000; nb; seed++) {
        int nb_wrong = 0, half;
        Case c;

        draw_case(&c, seed);
        half = c.shape.w / 2;
        if (has_stripes(&c)) {
            snprintf(test_context, sizeof(test_context), "stripes, -seed %" PRIu64, seed);
            expect(&c);
            for (int t = 1; t < 2 * c.nb_frames - 1; t++)
                for (int i = 0; i < c.shape.w * c.shape.h; i++)
                    nb_wrong += i % c.shape.w < half && c.oracle.components[0].estimate[t][i] != c.truth[t][0][i];
            CHECK(!nb_wrong, "%d samples of still lines are wrong", nb_wrong);
            nb--;
        }
        free_case(&c);
    }
}

/*
 * Writes the oracle's measures of a clip for bench/deint/fit.py, in the passes of all three.
 * @param what files of the raw 8-bit gray pictures, one for each field, and of the measures; and the size
 */
static void measure_clip(const char *what)
{
    Case c = { .cfg = { .passes = MVDEINT_MAX_PASSES, .refs = MVDEINT_MAX_REFS } };
    char in[256], out[256];
    FILE *pictures = NULL;

    if (sscanf(what, "%255s %255s %dx%d", in, out, &c.shape.w, &c.shape.h) == 4)
        pictures = fopen(in, "rb");
    deint_measures = pictures ? fopen(out, "wb") : NULL;
    CHECK(deint_measures, "'%s' are not two files and a size", what);
    if (!deint_measures)
        return;
    c.shape = test_shape(AV_PIX_FMT_GRAY8, c.shape.w, c.shape.h);
    for (int t = 0; t < DEINT_MAX_FIELDS; t++) {
        const int parity = t & 1;

        if (!parity)
            c.frames[c.nb_frames++] = test_canaries(&c.shape, &c.r);
        for (int i = 0; i < c.shape.w * c.shape.h; i++) {
            const int v = fgetc(pictures), y = i / c.shape.w;

            if ((y & 1) == parity)
                test_set_word(&c.shape, c.frames[t / 2], 0, i % c.shape.w, y, FFMAX(v, 0));
        }
    }
    open_oracle(&c);
    expect(&c);
    free_case(&c);
    fclose(pictures);
    fclose(deint_measures);
    deint_measures = NULL;
}

static void in_memory(int nb)
{
    stripes(5);
    /* bwdif of FFmpeg 8.1 and older filters the lines at the edges of the first and last fields in another way */
    if (LIBAVFILTER_VERSION_MAJOR > 11) {
        deint_quality(nb > 200 ? 3 : 1);
        deint_scenes(nb > 200 ? 3 : 1);
    }
    deint_order(nb > 200 ? 35 : 7);
    for (int i = 0; i < nb; i++)
        run_case(i, 0);
    for (int i = 0; i < nb / 4 && LIBAVFILTER_VERSION_MAJOR > 11; i++)
        compare_with_bwdif(1000 + i);
    snprintf(test_context, sizeof(test_context), "all cases");
    CHECK(nb < 60 || (nb_moved > nb_compensated / 20 && nb_compensated > 1000 * nb),
          "%d samples compensated, %d moved", nb_compensated, nb_moved);
}

int main(int argc, char **argv)
{
    TestOptions o;

    if (test_begin(&o, "gpume_mvdeint", argc, argv) < 0)
        return 1;
    if (getenv("MVDEINT_MEASURES")) {
        measure_clip(getenv("MVDEINT_MEASURES"));
        return !!test_nb_failures;
    }
    if (!o.device_only && o.only >= 0)
        run_case(o.only, 0);
    else if (!o.device_only)
        in_memory(test_nb_cases(&o, 60, 600));
    if (test_begin_device()) {
        test_run_cases(&o, test_nb_cases(&o, 20, 150), run_case, 1);
        if (o.only < 0)
            test_failing_change("mvdeint", "passes=1:deint=interlaced", o.quick ? 19 : 1);
    }
    printf("gpume_mvdeint: %d pictures, %d of them on the device, %d samples compensated, %d of them other than the "
           "estimate, %d checks, %d failures\n", nb_pictures, nb_on_device, nb_compensated, nb_moved, test_nb_checks,
           test_nb_failures);
    return test_end(&o, nb_on_device);
}
