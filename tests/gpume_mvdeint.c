/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The pictures that mvdeint makes beside those of the oracle, sample by sample, and its estimates beside
 * bwdif's; what it makes of still areas, cuts and lone fields.
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libavfilter/avfilter.h"
#include "libavfilter/buffersink.h"
#include "libavfilter/buffersrc.h"
#include "libavfilter/version.h"
#include "libavutil/cpu.h"
#include "libavutil/hwcontext.h"
#include "libavutil/imgutils.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/core/engine.h"
#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/mvdeint/mvdeint.h"

#include "gpume_harness.h"
#include "gpume_oracle_mvdeint.h"

/** In bytes of a frame that are no samples. */
#define CANARY 0xa5
/** A part that takes longer does not end. */
#define TEST_SECONDS 600

enum Content {
    CONTENT_MOTION,     ///< a texture that moves
    CONTENT_NOISE,      ///< with noise
    CONTENT_CUT,        ///< another one from some field on
    CONTENT_STILL,
    CONTENT_RANDOM,
    CONTENT_EXTREME,    ///< samples of 0 and maximum
    CONTENT_FLAT,
    CONTENT_STRIPES,    ///< lines of one sample that stand still, beside a texture that moves
    CONTENT_FADE,
    CONTENT_NB
};

static const char *const content_names[CONTENT_NB] = {
    "motion", "noise", "cut", "still", "random", "extreme", "flat", "stripes", "fade",
};

static const enum AVPixelFormat formats[] = {
    AV_PIX_FMT_GRAY8, AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV410P, AV_PIX_FMT_YUV411P, AV_PIX_FMT_YUV440P,
    AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUVA420P, AV_PIX_FMT_NV12, AV_PIX_FMT_NV24, AV_PIX_FMT_GBRP,
    AV_PIX_FMT_GRAY10, AV_PIX_FMT_YUV420P9, AV_PIX_FMT_YUV420P10, AV_PIX_FMT_YUV422P12, AV_PIX_FMT_P010,
    AV_PIX_FMT_P016, AV_PIX_FMT_YUV444P16, AV_PIX_FMT_GRAY16, AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUV420P14,
};

typedef struct Case {
    uint64_t seed;
    TestRandom r;
    int w, h;
    enum AVPixelFormat format;
    const AVPixFmtDescriptor *desc;
    int depth, nb_components;
    enum Content content;
    int mx, my;                 ///< from field to field, in quarter samples
    int cut;                    ///< first field behind it
    MvdeintConfig cfg;
    MvdeintInput inputs[DEINT_MAX_FRAMES];

    int nb_frames;
    AVFrame *frames[DEINT_MAX_FRAMES];
    uint8_t *copies[DEINT_MAX_FRAMES];          ///< of the frames' bytes
    uint16_t *truth[DEINT_MAX_FIELDS][4];       ///< all lines at the time of a field
    Deint oracle;
} Case;

static int nb_pictures, nb_compensated, nb_moved, nb_on_device;

static AVBufferRef *device;     ///< NULL: there is none
static AVHWFramesConstraints *device_has;

/* Pictures */

/* Returns FFmpeg's component that the definition calls number i: green is the first. */
static const AVComponentDescriptor *component(const Case *c, int i)
{
    static const int rgb[4] = { 1, 0, 2, 3 };

    return &c->desc->comp[c->desc->flags & AV_PIX_FMT_FLAG_RGB ? rgb[i] : i];
}

static int shift_x(const Case *c, int i)
{
    return i == 1 || i == 2 ? c->desc->log2_chroma_w : 0;
}

static int shift_y(const Case *c, int i)
{
    return i == 1 || i == 2 ? c->desc->log2_chroma_h : 0;
}

static int width(const Case *c, int i)
{
    return AV_CEIL_RSHIFT(c->w, shift_x(c, i));
}

static int height(const Case *c, int i)
{
    return AV_CEIL_RSHIFT(c->h, shift_y(c, i));
}

static uint8_t *word(const Case *c, const AVFrame *f, int i, int x, int y)
{
    const AVComponentDescriptor *d = component(c, i);

    return f->data[d->plane] + y * (ptrdiff_t)f->linesize[d->plane] + x * d->step + d->offset;
}

static int get_word(const Case *c, const AVFrame *f, int i, int x, int y)
{
    const uint8_t *p = word(c, f, i, x, y);

    return c->depth > 8 ? AV_RN16(p) : *p;
}

static void set_word(const Case *c, const AVFrame *f, int i, int x, int y, int v)
{
    uint8_t *p = word(c, f, i, x, y);

    if (c->depth > 8)
        AV_WN16(p, v);
    else
        *p = v;
}

/* A frame of canaries, with bytes between the rows, in either order. */
static AVFrame *alloc_frame(Case *c)
{
    AVFrame *f = test_alloc(av_frame_alloc());
    const int flip = !test_draw(&c->r, 4);
    int linesizes[4], size = 0, at = 0;

    f->width  = c->w;
    f->height = c->h;
    f->format = c->format;
    av_image_fill_linesizes(linesizes, c->format, c->w);
    for (int i = 0; i < 4 && linesizes[i]; i++) {
        f->linesize[i] = FFALIGN(linesizes[i], 2) + 2 * test_draw(&c->r, 30);
        size += height(c, i) * f->linesize[i];
    }
    f->buf[0] = test_alloc(av_buffer_alloc(size + 64));
    memset(f->buf[0]->data, CANARY, f->buf[0]->size);
    for (int i = 0; i < 4 && linesizes[i]; i++) {
        const int length = height(c, i) * f->linesize[i];

        f->data[i] = f->buf[0]->data + at + (flip ? length - f->linesize[i] : 0);
        at += length;
        if (flip)
            f->linesize[i] *= -1;
    }
    return f;
}

/* 0 to 255, of which neighbours are alike; x and y in quarter samples */
static int texture(uint64_t seed, int x, int y)
{
    int sum = 0;

    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            sum += (int)(test_mix(seed ^ test_mix(((x >> 4) + i) * 65536 + (y >> 4) + j)) >> 56) *
                   (i ? x & 15 : 16 - (x & 15)) * (j ? y & 15 : 16 - (y & 15));
    return sum >> 8;
}

/* A sample at the time of field t. */
static int draw_sample(Case *c, int t, int i, int x, int y)
{
    const int max = (1 << c->depth) - 1, one = 1 << (c->depth - 8);
    int v;

    switch (c->content) {
    case CONTENT_RANDOM:  return test_draw(&c->r, max + 1);
    case CONTENT_EXTREME: return test_draw(&c->r, 2) ? max : 0;
    case CONTENT_FLAT:    return FFMIN(c->cut * 20 * one, max);
    case CONTENT_STRIPES:
        if (x < width(c, i) / 2)
            return (y % 3 ? 40 : 200) * one;
        break;
    case CONTENT_STILL:   t = 0; break;
    default: break;
    }
    v = one * texture(c->seed + 8 * (c->content == CONTENT_CUT && t >= c->cut) + i,
                      4 * x - (t * c->mx >> shift_x(c, i)), 4 * y - (t * c->my >> shift_y(c, i)));
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
    for (int n = 0; n < c->nb_frames; n++) {
        c->inputs[n].bottom_first = n ? c->inputs[n - 1].bottom_first ^ !test_draw(&c->r, 8) : test_draw(&c->r, 2);
        c->inputs[n].is_progressive = !test_draw(&c->r, 10);
        c->inputs[n].passes = c->inputs[n].is_progressive || !test_draw(&c->r, 10);
    }
}

/* Weaves frames of what is there at the time of each field. */
static void draw_frames(Case *c)
{
    for (int t = 0; t < 2 * c->nb_frames; t++)
        for (int i = 0; i < c->nb_components; i++) {
            const int w = width(c, i), h = height(c, i);

            c->truth[t][i] = test_alloc(av_malloc_array(w * h, sizeof(**c->truth)));
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++)
                    c->truth[t][i][y * w + x] = draw_sample(c, c->inputs[t / 2].is_progressive ? t & ~1 : t, i, x, y);
        }
    for (int n = 0; n < c->nb_frames; n++) {
        AVFrame *f = c->frames[n] = alloc_frame(c);

        f->pts = n;
        for (int i = 0; i < c->nb_components; i++)
            for (int y = 0; y < height(c, i); y++)
                for (int x = 0; x < width(c, i); x++) {
                    const int shift = component(c, i)->shift;
                    const int t = 2 * n + ((y & 1) != c->inputs[n].bottom_first && !c->inputs[n].is_progressive);

                    set_word(c, f, i, x, y, c->truth[t][i][y * width(c, i) + x] << shift);
                }
        c->copies[n] = test_alloc(av_memdup(f->buf[0]->data, f->buf[0]->size));
    }
}

static void open_oracle(Case *c)
{
    Deint *s = &c->oracle;

    *s = (Deint) {
        .w = c->w, .h = c->h, .d = c->depth, .nb_frames = c->nb_frames, .nb_components = c->nb_components,
        .refs = c->cfg.refs,
    };
    for (int t = 0; t < 2 * c->nb_frames; t++) {
        s->parity[t]          = c->inputs[t / 2].bottom_first ^ (t & 1);
        s->progressive[t / 2] = c->inputs[t / 2].is_progressive;
    }
    for (int i = 0; i < c->nb_components; i++) {
        DeintComponent *m = &s->components[i];
        const int size = width(c, i) * height(c, i);

        *m = (DeintComponent) { width(c, i), height(c, i), shift_x(c, i), shift_y(c, i) };
        for (int n = 0; n < c->nb_frames; n++) {
            m->frames[n] = test_alloc(av_malloc_array(size, sizeof(**m->frames)));
            for (int j = 0; j < size; j++)
                m->frames[n][j] = get_word(c, c->frames[n], i, j % m->w, j / m->w) >> component(c, i)->shift;
        }
        for (int t = 0; t < 2 * c->nb_frames; t++) {
            m->first[t]    = test_alloc(av_malloc_array(size, sizeof(**m->first)));
            m->intra[t]    = test_alloc(av_malloc_array(size, sizeof(**m->intra)));
            m->still[t]    = test_alloc(av_mallocz(size));
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
    for (int i = 0; i < c->nb_components; i++) {
        DeintComponent *m = &c->oracle.components[i];

        for (int n = 0; n < c->nb_frames; n++)
            av_freep(&m->frames[n]);
        for (int t = 0; t < 2 * c->nb_frames; t++) {
            av_freep(&m->first[t]);
            av_freep(&m->intra[t]);
            av_freep(&m->still[t]);
            av_freep(&m->estimate[t]);
            av_freep(&m->result[t]);
        }
    }
}

static void free_case(Case *c)
{
    close_oracle(c);
    for (int t = 0; t < 2 * c->nb_frames; t++)
        for (int i = 0; i < c->nb_components; i++)
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
    c->format  = formats[seed % FF_ARRAY_ELEMS(formats)];
    c->desc    = av_pix_fmt_desc_get(c->format);
    c->depth   = c->desc->comp[0].depth;
    c->nb_components = c->desc->nb_components;
    c->w       = (2 << c->desc->log2_chroma_w) + 1 + test_draw(&c->r, size < 2 ? 9 : size < 7 ? 40 : 90);
    c->h       = (3 << c->desc->log2_chroma_h) + 1 + test_draw(&c->r, size < 2 ? 9 : size < 7 ? 36 : 60);
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

static enum AVPixelFormat gray_format(int depth)
{
    switch (depth) {
    case 8:  return AV_PIX_FMT_GRAY8;
    case 9:  return AV_PIX_FMT_GRAY9;
    case 10: return AV_PIX_FMT_GRAY10;
    case 12: return AV_PIX_FMT_GRAY12;
    case 14: return AV_PIX_FMT_GRAY14;
    default: return AV_PIX_FMT_GRAY16;
    }
}

static AVFrame *luma_of(const Case *c, int t)
{
    const DeintComponent *m = &c->oracle.components[0];
    AVFrame *f = test_alloc(av_frame_alloc());

    f->width  = c->w;
    f->height = c->h;
    f->format = gray_format(c->depth);
    if (av_frame_get_buffer(f, 0) < 0)
        test_alloc(NULL);
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            uint8_t *p = f->data[0] + y * f->linesize[0];

            if (c->depth > 8)
                AV_WN16(p + 2 * x, m->estimate[t][y * c->w + x]);
            else
                p[x] = m->estimate[t][y * c->w + x];
        }
    return f;
}

static void take_vectors(Case *c, GpumeEngine *e, int *t)
{
    GpumeResult r;

    while (ff_gpume_engine_pull(e, &r) >= 0) {
        for (int i = 0; i < r.set.nb; i++) {
            const GpumeMotionField *f = &r.set.host[i];
            const AVMotionVector *mvs = gpume_field_mvs(&r.set, i);
            DeintVector *v = test_alloc(av_malloc_array(f->bw * f->bh, sizeof(*v)));

            for (int j = 0; j < f->bw * f->bh; j++)
                v[j] = (DeintVector) { mvs[j].motion_x * 4 / mvs[j].motion_scale,
                                       mvs[j].motion_y * 4 / mvs[j].motion_scale };
            c->oracle.vectors[*t][f->distance + 2 - (f->distance > 0)] = v;
        }
        ff_gpume_result_uninit(&r);
        ++*t;
    }
}

/* Has the motion of the oracle's estimates searched, which tests/gpume_unit.c tests. */
static void search(Case *c)
{
    TestExecutor executor = { .kind = TEST_SERIAL };
    GpumeEngineConfig cfg = {
        .params   = { .algo = GPUME_ALGO_HME, .block = 8, .pel = 4, .smooth = GPUME_AUTO, .check = GPUME_AUTO,
                      .nb_references = 2 * c->cfg.refs },
        .backend  = GPUME_BACKEND_cpu,
        .executor = { test_execute, &executor, 1 },
    };
    GpumeEngine *e = NULL;
    int nb = 0;

    for (int i = 0; i < c->cfg.refs; i++) {
        cfg.params.distance[i]               = -1 - i;
        cfg.params.distance[c->cfg.refs + i] = 1 + i;
    }
    forget_vectors(&c->oracle);
    for (int t = 0; t < 2 * c->nb_frames; t++) {
        AVFrame *f = luma_of(c, t);

        if (!e && ff_gpume_engine_open(&e, &cfg, f->width, f->height, f->format, NULL) < 0)
            test_alloc(NULL);
        if (ff_gpume_engine_push(e, &f) < 0)
            test_alloc(NULL);
        take_vectors(c, e, &nb);
    }
    ff_gpume_engine_flush(e);
    take_vectors(c, e, &nb);
    CHECK(nb == 2 * c->nb_frames, "%d of %d fields were searched", nb, 2 * c->nb_frames);
    ff_gpume_engine_close(&e);
}

static void expect(Case *c)
{
    deint_oracle_first(&c->oracle);
    for (int pass = 0; pass < c->cfg.passes; pass++) {
        search(c);
        deint_oracle_pass(&c->oracle, pass);
    }
    nb_compensated += c->oracle.nb_compensated;
    nb_moved       += c->oracle.nb_moved;
}

/* Runs */

/* Compares a frame's samples with those that are expected. */
static void compare(const Case *c, const AVFrame *f, int t)
{
    for (int i = 0; i < c->nb_components; i++) {
        int nb_wrong = 0, wx = 0, wy = 0, is = 0, should = 0;

        for (int y = 0; y < height(c, i); y++)
            for (int x = 0; x < width(c, i); x++) {
                const int v = get_word(c, f, i, x, y);
                const int wanted = c->oracle.components[i].estimate[t][y * width(c, i) + x] << component(c, i)->shift;

                if (v != wanted && !nb_wrong++) {
                    wx     = x;
                    wy     = y;
                    is     = v;
                    should = wanted;
                }
            }
        CHECK(!nb_wrong, "field %d, component %d has %d instead of %d at (%d,%d), and %d more are wrong", t, i, is,
              should, wx, wy, nb_wrong - 1);
    }
}

/* Frames on the device */

/* Whether such pictures can be there. */
static int fits_device(const Case *c)
{
    for (int i = 0; device && device_has->valid_sw_formats[i] != AV_PIX_FMT_NONE; i++)
        if (device_has->valid_sw_formats[i] == c->format)
            return 1;
    return 0;
}

/* Allocates frames with even sides, as devices have them. */
static AVBufferRef *alloc_device_frames(const Case *c)
{
    AVBufferRef *ref = test_alloc(av_hwframe_ctx_alloc(device));
    AVHWFramesContext *frames = (void *)ref->data;
    int ret;

    frames->format    = AV_PIX_FMT_CUDA;
    frames->sw_format = c->format;
    frames->width     = FFALIGN(c->w, 2);
    frames->height    = FFALIGN(c->h, 2);
    ret = av_hwframe_ctx_init(ref);
    CHECK(ret >= 0, "frames on the device: %s", av_err2str(ret));
    return ref;
}

/* In memory, as large as those on the device, of canaries. */
static AVFrame *alloc_even_frame(const Case *c)
{
    AVFrame *f = test_alloc(av_frame_alloc());

    f->width  = FFALIGN(c->w, 2);
    f->height = FFALIGN(c->h, 2);
    f->format = c->format;
    if (av_frame_get_buffer(f, 0) < 0)
        test_alloc(NULL);
    for (int i = 0; i < 4 && f->buf[i]; i++)
        memset(f->buf[i]->data, CANARY, f->buf[i]->size);
    return f;
}

/* A frame on the device, with the samples of this one or, if that is NULL, canaries. */
static AVFrame *upload(const Case *c, AVBufferRef *frames, const AVFrame *from)
{
    AVFrame *f = alloc_even_frame(c), *to = test_alloc(av_frame_alloc());
    int ret;

    for (int i = 0; from && i < c->nb_components; i++)
        for (int y = 0; y < height(c, i); y++)
            for (int x = 0; x < width(c, i); x++)
                set_word(c, f, i, x, y, get_word(c, from, i, x, y));
    ret = av_hwframe_get_buffer(frames, to, 0);
    if (ret >= 0)
        ret = av_hwframe_transfer_data(to, f, 0);
    if (ret >= 0 && from)
        ret = av_frame_copy_props(to, from);
    CHECK(ret >= 0, "upload: %s", av_err2str(ret));
    to->width  = c->w;
    to->height = c->h;
    av_frame_free(&f);
    return to;
}

static AVFrame *download(const Case *c, AVFrame *from)
{
    AVFrame *to = alloc_even_frame(c);
    int ret;

    from->width  = to->width;
    from->height = to->height;
    ret = av_hwframe_transfer_data(to, from, 0);
    CHECK(ret >= 0, "download: %s", av_err2str(ret));
    return to;
}

/* All but the samples of a picture that was on the device is as it was. */
static void check_beside(const Case *c, const AVFrame *f)
{
    int nb_wrong = 0;

    for (int i = 0; i < c->nb_components; i++)
        for (int y = 0; y < AV_CEIL_RSHIFT(f->height, shift_y(c, i)); y++)
            for (int x = 0; x < AV_CEIL_RSHIFT(f->width, shift_x(c, i)); x++)
                nb_wrong += (x >= width(c, i) || y >= height(c, i)) &&
                            get_word(c, f, i, x, y) != (c->depth > 8 ? CANARY * 257 : CANARY);
    CHECK(!nb_wrong, "something beside it was written");
}

/* Lets the frame of the next field be made, and looks at all of it. @param hw_frames NULL: in memory */
static void make_next(Case *c, Mvdeint *m, AVBufferRef *hw_frames, int t)
{
    AVFrame *out    = hw_frames ? upload(c, hw_frames, NULL) : alloc_frame(c);
    uint8_t *before = hw_frames ? NULL : test_alloc(av_memdup(out->buf[0]->data, out->buf[0]->size));
    const int ret   = ff_mvdeint_make(m, out);

    CHECK(ret >= 0, "%s", av_err2str(ret));
    nb_pictures++;
    if (hw_frames) {
        AVFrame *down = download(c, out);

        if (ret >= 0)
            compare(c, down, t);
        check_beside(c, down);
        nb_on_device++;
        av_frame_free(&down);
        av_frame_free(&out);
        return;
    }
    if (ret >= 0)
        compare(c, out, t);
    /* without the samples, all must be as it was */
    for (int i = 0; i < c->nb_components; i++)
        for (int y = 0; y < height(c, i); y++)
            for (int x = 0; x < width(c, i); x++)
                set_word(c, out, i, x, y, c->depth > 8 ? CANARY * 257 : CANARY);
    CHECK(!memcmp(before, out->buf[0]->data, out->buf[0]->size), "something beside it was written");
    for (int i = 0; i < c->nb_frames; i++)
        CHECK(!memcmp(c->copies[i], c->frames[i]->buf[0]->data, c->frames[i]->buf[0]->size),
              "frame %d was written to", i);
    av_free(before);
    av_frame_free(&out);
}

/* Has the frames of a case made; each as soon as it can be. */
static void run_pictures(Case *c, Mvdeint *m, int on_device)
{
    AVBufferRef *hw_frames = on_device ? alloc_device_frames(c) : NULL;
    const uint8_t *data[DEINT_MAX_FRAMES];
    int t = 0;

    for (int n = 0; n <= c->nb_frames; n++) {
        MvdeintNext next;

        if (n < c->nb_frames) {
            AVFrame *f = on_device ? upload(c, hw_frames, c->frames[n]) : test_alloc(av_frame_clone(c->frames[n]));
            int ret;

            data[n] = f->data[0];
            ret     = ff_mvdeint_push(m, &f, &c->inputs[n], NULL);
            CHECK(ret >= 0 && !f, "frame %d: %s", n, av_err2str(ret));
            av_frame_free(&f);
        } else {
            ff_mvdeint_flush(m);
        }
        while (t < 2 * c->nb_frames && ff_mvdeint_next(m, &next) == 1) {
            CHECK(next.frame->data[0] == data[t / 2] && next.is_second == (t & 1) &&
                  next.passes == c->inputs[t / 2].passes &&
                  (next.after ? next.after->data[0] == data[t / 2 + 1] : t / 2 + 1 == c->nb_frames),
                  "another field than %d is next", t);
            if (next.passes && (t & 1))
                CHECK(ff_mvdeint_make(m, NULL) >= 0, "field %d cannot be left out", t);
            else
                make_next(c, m, hw_frames, t);
            t++;
        }
        /* one more frame tells of the last one, and each pass needs a few fields ahead */
        CHECK(n == c->nb_frames || on_device || c->cfg.executor.nb_threads > 1 ||
              t == FFMAX(2 * n - c->cfg.refs * c->cfg.passes, 0), "%d fields come after %d frames", t, n + 1);
    }
    CHECK(t == 2 * c->nb_frames, "%d fields of %d", t, 2 * c->nb_frames);
    av_buffer_unref(&hw_frames);
}

/* On the device, the first sequence is drawn as in memory, so a seed means the same in both. */
static void run_case(uint64_t seed, int on_device)
{
    static const int threads[] = { 1, 2, 5 };
    TestExecutor executor = { .seed = seed };
    AVBufferRef *hw_frames = NULL;
    Mvdeint *m;
    Case c[2];
    int ret;

    test_watch(TEST_SECONDS);
    /* every other one in plain C */
    av_force_cpu_flags(seed & 1 ? 0 : -1);
    draw_case(&c[0], seed);
    if (on_device && !fits_device(&c[0])) {
        free_case(&c[0]);
        return;
    }
    draw_case(&c[1], seed + (on_device ? FF_ARRAY_ELEMS(formats) : 1));
    executor.kind = test_draw(&c[0].r, TEST_NB_EXECUTORS);
    c[0].cfg.executor = (GpumeExecutor) { test_execute, &executor, threads[test_draw(&c[0].r, 3)] };
    /* a sequence of another size and format, and at times the first one again */
    c[1].cfg = c[0].cfg;
    c[1].oracle.refs = c[0].oracle.refs;
    expect(&c[0]);
    if (on_device)
        c[0].cfg.hw_frames = hw_frames = alloc_device_frames(&c[0]);
    ret = ff_mvdeint_open(&m, &c[0].cfg);
    av_buffer_unref(&hw_frames);
    snprintf(test_context, sizeof(test_context), "-seed %" PRIu64, seed);
    CHECK(ret >= 0, "%s", av_err2str(ret));
    for (int i = 0, nb = test_draw(&c[0].r, 3); i <= nb && ret >= 0; i++) {
        Case *now = &c[i & 1];

        snprintf(test_context, sizeof(test_context), "-seed %" PRIu64 "%s: %d frames of %dx%d %s, %s, %d passes, "
                 "refs %d, %d threads, %s, sequence %d", seed, on_device ? " -device" : "",
                 now->nb_frames, now->w, now->h, now->desc->name,
                 content_names[now->content], now->cfg.passes, now->cfg.refs, now->cfg.executor.nb_threads,
                 test_executor_names[executor.kind], i);
        if (i == 1)
            expect(now);
        run_pictures(now, m, on_device);
    }
    ff_mvdeint_close(&m);
    free_case(&c[0]);
    free_case(&c[1]);
}

/* Beside bwdif */

/* Has bwdif make the frames of a case. Returns how many came. */
static int run_bwdif(const Case *c, AVFrame **out)
{
    AVFilterGraph *graph = test_alloc(avfilter_graph_alloc());
    AVFilterContext *src, *bwdif, *sink;
    char args[128];
    int nb = 0, ret;

    graph->nb_threads = 1;
    snprintf(args, sizeof(args), "video_size=%dx%d:pix_fmt=%d:time_base=1/25:frame_rate=25", c->w, c->h, c->format);
    if (avfilter_graph_create_filter(&src, avfilter_get_by_name("buffer"), "in", args, NULL, graph) < 0 ||
        avfilter_graph_create_filter(&bwdif, avfilter_get_by_name("bwdif"), "bwdif", "mode=send_field", NULL,
                                     graph) < 0 ||
        avfilter_graph_create_filter(&sink, avfilter_get_by_name("buffersink"), "out", NULL, NULL, graph) < 0 ||
        avfilter_link(src, 0, bwdif, 0) < 0 || avfilter_link(bwdif, 0, sink, 0) < 0 ||
        avfilter_graph_config(graph, NULL) < 0)
        test_alloc(NULL);
    for (int n = 0; n <= c->nb_frames; n++) {
        AVFrame *f = n < c->nb_frames ? test_alloc(av_frame_clone(c->frames[n])) : NULL;

        if (f)
            f->flags |= AV_FRAME_FLAG_INTERLACED | (c->inputs[n].bottom_first ? 0 : AV_FRAME_FLAG_TOP_FIELD_FIRST);
        ret = av_buffersrc_add_frame(src, f);
        CHECK(ret >= 0, "%s", av_err2str(ret));
        av_frame_free(&f);
        while (nb < DEINT_MAX_FIELDS) {
            out[nb] = test_alloc(av_frame_alloc());
            if (av_buffersink_get_frame(sink, out[nb]) < 0) {
                av_frame_free(&out[nb]);
                break;
            }
            nb++;
        }
    }
    avfilter_graph_free(&graph);
    return nb;
}

/* Compares the estimates of three fields with bwdif's frames; of a lone frame bwdif makes none of one field. */
static void beside_bwdif(uint64_t seed)
{
    AVFrame *frames[DEINT_MAX_FIELDS];
    Case c;
    int nb;

    draw_case(&c, seed);
    for (int n = 0; n < c.nb_frames; n++)
        c.inputs[n] = (MvdeintInput) { .bottom_first = c.inputs[n].bottom_first };
    snprintf(test_context, sizeof(test_context), "bwdif, seed %" PRIu64, seed);
    if (c.nb_frames > 1 && (c.desc->nb_components < 3 || component(&c, 1)->step == component(&c, 0)->step) &&
        !component(&c, 0)->shift && c.format != AV_PIX_FMT_GRAY10) {
        close_oracle(&c);
        open_oracle(&c);
        deint_oracle_first(&c.oracle);
        nb = run_bwdif(&c, frames);
        CHECK(nb == 2 * c.nb_frames, "%d frames", nb);
        for (int t = 0; t < nb; t++) {
            compare(&c, frames[t], t);
            av_frame_free(&frames[t]);
        }
    }
    free_case(&c);
}

/* Returns whether a case has lines that stand still, interlaced in one order. */
static int has_stripes(const Case *c)
{
    for (int n = 0; n < c->nb_frames; n++)
        if (c->inputs[n].is_progressive || c->inputs[n].bottom_first != c->inputs[0].bottom_first)
            return 0;
    return c->content == CONTENT_STRIPES && c->nb_frames > 2 && c->w >= 20 && c->mx && c->cfg.passes;
}

/* Lines of one sample that stand still are woven exactly, up to the edge of what moves beside them. */
static void stripes(int nb)
{
    for (uint64_t seed = 20000; nb; seed++) {
        int nb_wrong = 0, half;
        Case c;

        draw_case(&c, seed);
        half = c.w / 2;
        if (has_stripes(&c)) {
            snprintf(test_context, sizeof(test_context), "stripes, -seed %" PRIu64, seed);
            expect(&c);
            for (int t = 1; t < 2 * c.nb_frames - 1; t++)
                for (int i = 0; i < c.w * c.h; i++)
                    nb_wrong += i % c.w < half && c.oracle.components[0].estimate[t][i] != c.truth[t][0][i];
            CHECK(!nb_wrong, "%d samples of lines that stand still are wrong", nb_wrong);
            nb--;
        }
        free_case(&c);
    }
}

static void in_memory(int nb)
{
    stripes(5);
    for (int i = 0; i < nb; i++)
        run_case(i, 0);
    /* bwdif of FFmpeg 8.1 and older filters the lines at the edges of the first and last fields in another way */
    for (int i = 0; i < nb / 4 && LIBAVFILTER_VERSION_MAJOR > 11; i++)
        beside_bwdif(1000 + i);
    snprintf(test_context, sizeof(test_context), "all cases");
    CHECK(nb < 100 || (nb_moved > nb_compensated / 20 && nb_compensated > 1000 * nb),
          "%d samples compensated, %d moved", nb_compensated, nb_moved);
}

int main(int argc, char **argv)
{
    int nb = 600, nb_device = 150, device_only = 0;
    int64_t only = -1;

    test_fail_init();
    test_init("gpume_mvdeint");
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-quick")) {
            nb = 120;
            nb_device = 40;
        } else if (!strcmp(argv[i], "-device")) {
            device_only = 1;    // for tools that look at kernels
        } else if (i + 1 < argc && !strcmp(argv[i], "-seed")) {
            only = strtoll(argv[++i], NULL, 0);
        } else if (i + 1 < argc && !strcmp(argv[i], "-cases")) {
            nb = nb_device = atoi(argv[++i]);
        } else {
            fprintf(stderr, "usage: gpume_mvdeint [-quick] [-device] [-cases N] [-seed N]\n"
                            "  -device   only what is made on a device\n"
                            "  -seed N   only the case of this seed\n");
            return 1;
        }
    }
    test_watch(TEST_SECONDS);
    if (!device_only && only >= 0)
        run_case(only, 0);
    else if (!device_only)
        in_memory(nb);
    device = test_open_device();
    if (device) {
        device_has = test_alloc(av_hwdevice_get_hwframe_constraints(device, NULL));
        for (int i = 0; i < nb_device && only < 0; i++)
            run_case(i, 1);
        if (only >= 0)
            run_case(only, 1);
        av_hwframe_constraints_free(&device_has);
    } else {
        printf("  there is no device\n");
    }
    av_buffer_unref(&device);
    printf("gpume_mvdeint: %d pictures, %d of them on the device, %d samples compensated, %d of them other than the "
           "estimate, %d checks, %d failures\n", nb_pictures, nb_on_device, nb_compensated, nb_moved, test_nb_checks,
           test_nb_failures);
    return test_nb_failures || (device_only && only < 0 && !nb_on_device);
}
