/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Compares the maps that mvstereo makes, in memory and on a device, with those of the oracle, sample by
 * sample. Tests allocations that fail.
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libavutil/cpu.h"
#include "libavutil/hwcontext.h"
#include "libavutil/intfloat.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/mvstereo/mvstereo.h"

#include "gpume_harness.h"
#include "gpume_oracle_mvstereo.h"
#include "gpume_filter_harness.h"

#define MAX_PAIRS 3

enum Content {
    CONTENT_SCENE,      ///< textured planes in front of each other
    CONTENT_DARK,       ///< the same, one view darker
    CONTENT_NOISY,      ///< the same, with noise
    CONTENT_CODED,      ///< the same, with less detail than noise
    CONTENT_RANDOM,
    CONTENT_EXTREME,    ///< samples of 0 and maximum
    CONTENT_FLAT,
    CONTENT_NB
};

static const enum AVPixelFormat formats[] = {
    AV_PIX_FMT_GRAY8, AV_PIX_FMT_YUV420P, AV_PIX_FMT_NV12, AV_PIX_FMT_GBRP, AV_PIX_FMT_GRAY10, AV_PIX_FMT_YUV420P9,
    AV_PIX_FMT_YUV420P10, AV_PIX_FMT_YUV422P12, AV_PIX_FMT_P010, AV_PIX_FMT_P016, AV_PIX_FMT_YUV444P16,
    AV_PIX_FMT_YUVA420P, AV_PIX_FMT_GBRP12,
};

/** Arrangement of the views in frames. */
enum Arrangement { TWO_FRAMES, SIDE_BY_SIDE, ONE_ABOVE_THE_OTHER, ROWS, COLUMNS, ARRANGEMENTS };

typedef struct Case {
    TestRandom r;
    MvstereoConfig cfg;
    int find;                   ///< whether to find the range
    int right;                  ///< the map is of the right view
    int column;                 ///< first column of the map in the output
    int above;                  ///< bits of words above the depth of their samples
    int w, h;
    enum AVPixelFormat format;
    const AVPixFmtDescriptor *desc;
    enum Arrangement arrangement;
    int nb_pairs;
    AVFrame *frames[MAX_PAIRS][2];      ///< the second one may be NULL
    MvstereoPair pairs[MAX_PAIRS];
    StereoOracle oracle[MAX_PAIRS];
    uint8_t drawn[2][90 * 50];  ///< luma of the last pair, before noise and other changes
} Case;

static int nb_maps, nb_on_device, nb_valid, nb_found, nb_smoothed, nb_coded, nb_darker, nb_moved, nb_steady;

/* A sample of component 0, as FFmpeg's descriptor says where it is. */
static uint8_t *word(const Case *c, const MvstereoView *view, int x, int y)
{
    const AVComponentDescriptor *d = &c->desc->comp[c->desc->flags & AV_PIX_FMT_FLAG_RGB ? 1 : 0];

    return view->frame->data[d->plane] + (view->y + y * view->step_y) * (ptrdiff_t)view->frame->linesize[d->plane] +
           (view->x + x * view->step_x) * d->step + d->offset;
}

static AVFrame *make_frame(Case *c, int w, int h)
{
    AVFrame *f = test_alloc_frame(c->format, FFALIGN(w, 2), FFALIGN(h, 2));

    for (int i = 0; i < FF_ARRAY_ELEMS(f->buf) && f->buf[i]; i++)
        for (size_t j = 0; j < f->buf[i]->size; j++)
            f->buf[i]->data[j] = test_draw(&c->r, 256);
    f->width  = w;
    f->height = h;
    return f;
}

/* Draws the luma of two views. */
static void draw_views(Case *c, uint8_t *left, uint8_t *right, enum Content content)
{
    const int w = c->w, h = c->h, planes = 1 + test_draw(&c->r, 4), noise = content == CONTENT_NOISY ? 41 : 1;
    uint8_t *texture = test_alloc(av_malloc((w + 80) * h));

    for (int i = 0; i < 2 * w * h; i++) {
        const int v = content == CONTENT_FLAT ? 77 : content == CONTENT_EXTREME ? -test_draw(&c->r, 2)
                                                                               : test_draw(&c->r, 256);

        *(i & 1 ? &right[i / 2] : &left[i / 2]) = v;
    }
    for (int p = 0; p < planes && content <= CONTENT_CODED; p++) {
        const int x0 = p ? test_draw(&c->r, w) : 0, y0 = p ? test_draw(&c->r, h) : 0;
        const int x1 = p ? x0 + 1 + test_draw(&c->r, w) : w, y1 = p ? y0 + 1 + test_draw(&c->r, h) : h;
        const int disparity = test_draw_range(&c->r, -5, 20), rough = 1 + test_draw(&c->r, 90);
        const int base = test_draw(&c->r, 256 - rough), smooth = test_draw(&c->r, 3);

        for (int i = 0; i < (w + 80) * h; i++)
            texture[i] = base + test_draw(&c->r, rough);
        for (int k = 0; k < smooth; k++)
            for (int i = 1; i < (w + 80) * h; i++)
                texture[i] = (texture[i] + texture[i - 1]) / 2;
        for (int y = y0; y < FFMIN(y1, h); y++)
            for (int x = x0 - 40; x < x1 + 40; x++) {
                const int v = texture[y * (w + 80) + (x + 40) % (w + 80)];

                if (x >= x0 && x < FFMIN(x1, w))
                    left[y * w + x] = v;
                if (x >= x0 && x < x1 && x - disparity >= 0 && x - disparity < w)
                    right[y * w + x - disparity] = v;
            }
    }
    for (int i = 0; i < w * h; i++) {
        if (content == CONTENT_DARK)
            right[i] = right[i] * 3 / 4;
        left[i]  = av_clip_uint8(left[i]  + (int)test_draw(&c->r, noise) - noise / 2);
        right[i] = av_clip_uint8(right[i] + (int)test_draw(&c->r, noise) - noise / 2);
        if (content == CONTENT_CODED) {
            left[i]  = left[i - i % w % 4];
            right[i] = right[i - i % w % 4];
        }
    }
    av_free(texture);
}

static AVFrame *gray_frame(const uint8_t *view, int w, int h)
{
    AVFrame *f = test_alloc_frame(AV_PIX_FMT_GRAY8, w, h);

    for (int y = 0; y < h; y++)
        memcpy(f->data[0] + y * (ptrdiff_t)f->linesize[0], view + y * w, w);
    return f;
}

static void take_vectors(void *opaque, int n, const GpumeResult *r)
{
    int (*vectors)[2] = opaque;

    for (int k = 0; n && k < r->search.fields[0].nb; k++) {
        vectors[k][0] = r->search.fields[0].mvs[k].motion_x;
        vectors[k][1] = r->search.fields[0].mvs[k].motion_y;
        nb_moved += vectors[k][0] || vectors[k][1];
    }
}

/* Finds vectors as mvstereo does. */
static void search_views(int (*vectors)[2], const uint8_t *view, const uint8_t *before, int w, int h)
{
    const GpumeParams params = {
        .algo = GPUME_ALGO_HME, .block = 16, .smooth = 8, .sweeps = 2, .pel = 4, .nb_references = 1,
        .distance = { -1 },
    };
    AVFrame *frames[2] = { gray_frame(before, w, h), gray_frame(view, w, h) };

    test_search(&params, frames, 2, take_vectors, vectors);
}

/* Makes the frames of a pair. */
static void arrange(Case *c, int n)
{
    static const uint8_t sizes[ARRANGEMENTS][2] = { { 1, 1 }, { 2, 1 }, { 1, 2 }, { 1, 2 }, { 2, 1 } };
    const int a = c->arrangement, odd = a ? test_draw(&c->r, 2) : 0;
    const int w = c->w * sizes[a][0] + (sizes[a][0] > 1 ? odd : 0);
    const int h = c->h * sizes[a][1] + (sizes[a][1] > 1 ? odd : 0);
    const int swapped = test_draw(&c->r, 2);
    MvstereoPair *p   = &c->pairs[n];
    MvstereoView *second = &p->views[!swapped];

    c->frames[n][0] = make_frame(c, w, h);
    c->frames[n][1] = a == TWO_FRAMES ? make_frame(c, w, h) : NULL;
    *p = (MvstereoPair) {
        { { .step_x = 1, .step_y = 1 }, { .step_x = 1, .step_y = 1 } }, c->w, c->h,
        .right = c->right, .column = c->column,
    };
    p->views[swapped].frame = c->frames[n][0];
    second->frame           = a == TWO_FRAMES ? c->frames[n][1] : c->frames[n][0];
    if (a == SIDE_BY_SIDE)
        second->x = w - w / 2;
    if (a == ONE_ABOVE_THE_OTHER)
        second->y = h - h / 2;
    if (a == ROWS || a == COLUMNS) {
        for (int i = 0; i < 2; i++)
            *(a == ROWS ? &p->views[i].step_y : &p->views[i].step_x) = 2;
        *(a == ROWS ? &second->y : &second->x) = 1;
    }
}

static void draw_pair(Case *c, int n)
{
    const AVComponentDescriptor *d = &c->desc->comp[0];
    /* sometimes the views move, and rarely not alike */
    const int seen = n && c->cfg.temporal && test_draw(&c->r, 4), moves = test_draw(&c->r, 3);
    const int dx = moves ? test_draw_range(&c->r, -7, 7) : 0, dy = moves ? test_draw_range(&c->r, -3, 3) : 0;
    const int nearer = test_draw(&c->r, 4) ? 0 : test_draw_range(&c->r, -2, 2);
    const enum Content content = test_draw(&c->r, 2) ? CONTENT_SCENE : test_draw(&c->r, CONTENT_NB);
    StereoOracle *o = &c->oracle[n];

    *o = (StereoOracle) { .rows = c->cfg.rows, .fill = c->cfg.fill, .fast = c->cfg.fast };
    stereo_alloc(o, c->w, c->h);
    o->left  = malloc(c->w * c->h);
    o->right = malloc(c->w * c->h);
    draw_views(c, o->left, o->right, content);
    for (int i = 0; i < 2; i++) {
        uint8_t *view = i ? o->right : o->left;

        for (int k = 0; k < c->w * c->h && seen; k++)
            view[k] = av_clip_uint8(stereo_pixel(c->drawn[i], c->w, c->h, k % c->w + dx + i * nearer, k / c->w + dy) +
                                    test_draw_range(&c->r, -2, 2));
        memcpy(c->drawn[i], view, c->w * c->h);
    }
    arrange(c, n);
    for (int i = 0; i < 2; i++)
        for (int y = 0; y < c->h; y++)
            for (int x = 0; x < c->w; x++) {
                const int v = (i ? o->right : o->left)[y * c->w + x];
                uint8_t *to = word(c, &c->pairs[n].views[i], x, y);

                if (d->depth > 8)
                    AV_WN16(to, (v << (d->depth - 8) | test_draw(&c->r, 1 << (d->depth - 8))) << d->shift |
                                c->above << (d->depth + d->shift));
                else
                    *to = v;
            }
    if (c->right) {
        FFSWAP(uint8_t *, o->left, o->right);
        for (int i = 0; i < 2 * c->h; i++)
            for (int x = 0; x < c->w / 2; x++) {
                uint8_t *row = (i & 1 ? o->left : o->right) + i / 2 * c->w;

                FFSWAP(uint8_t, row[x], row[c->w - 1 - x]);
            }
    }
    if (c->find && n) {
        o->m = c->oracle[n - 1].m;
        o->n = c->oracle[n - 1].n;
        o->is_guess = c->oracle[n - 1].is_guess;
        o->least    = c->oracle[n - 1].least;
        o->greatest = c->oracle[n - 1].greatest;
    } else if (!c->find) {
        o->m = c->cfg.min;
        o->n = FFALIGN(c->cfg.max - c->cfg.min, 32);
        o->least    = c->cfg.min;
        o->greatest = c->cfg.max;
    }
    stereo_expect(o, c->find, n ? &c->oracle[n - 1] : NULL, c->cfg.temporal ? search_views : NULL);
    for (int i = 0; i < c->w * c->h && o->age; i++)
        nb_steady += o->age[i] > 0;
    nb_smoothed += o->tolerance;
    nb_coded    += o->tolerance && content == CONTENT_CODED;
    for (int i = 0; i < 256; i++)
        if (o->table[i] != i) {
            nb_darker++;
            break;
        }
    for (int i = 0; i < c->w * c->h; i++)
        nb_valid += o->v[i] > 0;
    nb_found += c->find;
}

/** Where frames are, and where their views are matched. */
enum Place { IN_MEMORY, ON_DEVICE, UPLOADED };

static void draw_case(Case *c, uint64_t seed, enum Place place)
{
    memset(c, 0, sizeof(*c));
    c->r.state      = test_mix(seed);
    c->format       = formats[seed % FF_ARRAY_ELEMS(formats)];
    c->desc         = av_pix_fmt_desc_get(c->format);
    c->arrangement  = test_draw(&c->r, ARRANGEMENTS);
    c->w            = test_draw(&c->r, 4) ? 1 + test_draw(&c->r, 90) : 1 + test_draw(&c->r, 4);
    c->h            = test_draw(&c->r, 4) ? 1 + test_draw(&c->r, 50) : 1 + test_draw(&c->r, 4);
    c->find         = !test_draw(&c->r, 4);
    if (c->find && !test_draw(&c->r, 3)) {
        c->w = 257 + test_draw(&c->r, 30);
        c->h = 1 + test_draw(&c->r, 12);
    }
    c->cfg.rows     = test_draw(&c->r, 4) ? 0 : 1 + test_draw(&c->r, MVSTEREO_MAX_ROWS);
    c->cfg.fill     = !!test_draw(&c->r, 4);
    c->cfg.fast     = !test_draw(&c->r, 3);
    c->cfg.temporal = c->cfg.fill && !test_draw(&c->r, 3);
    c->right    = !test_draw(&c->r, 4);
    c->above    = seed & 2 ? test_mix(~seed) % 128 : 0;
    c->cfg.output   = test_draw(&c->r, MVSTEREO_NB_OUTPUTS);
    if (place == ON_DEVICE && ff_mvstereo_output_format(c->cfg.output, 1) == AV_PIX_FMT_NONE)
        c->cfg.output = MVSTEREO_GRAY;
    c->cfg.backend  = place == UPLOADED ? GPUME_BACKEND_cuda : GPUME_BACKEND_cpu;
    c->column       = test_draw(&c->r, 3) ? 0 : c->w;
    c->cfg.legend   = test_draw(&c->r, 2);
    c->cfg.depth_one = c->cfg.output == MVSTEREO_DEPTH ? 1 + test_draw(&c->r, 1 << 20) : 0;
    if (!c->find) {
        c->cfg.min  = test_draw(&c->r, 3) ? 0 : test_draw_range(&c->r, -50, 50);
        c->cfg.max  = c->cfg.min + 1 + test_draw(&c->r, test_draw(&c->r, 4) ? 40 : 100);
        /* values for which there are special kernels */
        if (!test_draw(&c->r, 8)) {
            c->cfg.max = c->cfg.min + 129 + test_draw(&c->r, test_draw(&c->r, 2) ? 128 : MVSTEREO_MAX_RANGE - 128);
            c->w       = FFMIN(c->w, 40);
            c->h       = FFMIN(c->h, 12);
        }
    }
    c->nb_pairs     = 1 + test_draw(&c->r, MAX_PAIRS);
    for (int n = 0; n < c->nb_pairs; n++)
        draw_pair(c, n);
}

static void free_case(Case *c)
{
    for (int n = 0; n < c->nb_pairs; n++) {
        av_frame_free(&c->frames[n][0]);
        av_frame_free(&c->frames[n][1]);
        stereo_free(&c->oracle[n]);
    }
}

/* Returns the expected value of a sample of the output. */
static int expected_sample(const Case *c, const StereoOracle *o, int x, int y)
{
    const int least = 16 * o->least, greatest = 16 * o->greatest;
    const int from = y * c->w + (c->right ? c->w - 1 - x : x), v = o->v[from], d = v + 16 * o->m;

    switch (c->cfg.output) {
    case MVSTEREO_DISPARITY:
        return v < 0 ? 65535 : d - FFMIN(least, 0);
    case MVSTEREO_DEPTH:
        return v < 0 ? 0 : d <= 0 ? 65535 : FFMIN((c->cfg.depth_one + d / 2) / d, 65535);
    case MVSTEREO_GRAY:
        return v < 0 ? 0 : 1 + av_clip((d - least) * 254 / (greatest - least), 0, 254);
    case MVSTEREO_CONFIDENCE:
        return o->confidence[from];
    case MVSTEREO_FLOAT:
        return av_float2int(v < 0 ? INFINITY : d / 16.f);
    case MVSTEREO_LEFT_GRAY: {
        const int level = v < 0 ? 0 : 1 + av_clip((d - least) * 254 / (greatest - least), 0, 254);
        const int shift = c->desc->comp[0].depth - 8;

        return c->desc->flags & AV_PIX_FMT_FLAG_RGB ? level << shift
                                                    : (16 << shift) + ((level * 219 << shift) + 127) / 255;
    }
    default:
        if (c->cfg.legend && c->w >= 64 && x >= c->w - 16) {
            const int l = (c->h - 1 - y) * 1024 / FFMAX(c->h - 1, 1), column = x - (c->w - 16);

            return !column ? 0 : column < 8 && ((l + 4) & 127) < 8 ? 0xffffff : stereo_scale(l);
        }
        return v < 0 ? 0 : stereo_scale(av_clip((d - least) * 1024 / (greatest - least), 0, 1024));
    }
}

/* Returns a sample of the output. */
static int painted_sample(const Case *c, const AVFrame *out, int x, int y)
{
    const uint8_t *row = out->data[0] + y * (ptrdiff_t)out->linesize[0];

    x += c->column;
    if (c->cfg.output == MVSTEREO_LEFT_GRAY) {
        const MvstereoView view = { .frame = out, .step_x = 1, .step_y = 1 };
        const uint8_t *from = word(c, &view, x, y);

        return c->desc->comp[0].depth > 8 ? AV_RN16(from) >> c->desc->comp[0].shift : *from;
    }
    switch (out->format) {
    case AV_PIX_FMT_GRAYF32: return AV_RN32(row + 4 * x);
    case AV_PIX_FMT_GRAY16:
    case AV_PIX_FMT_P016:   return AV_RN16(row + 2 * x);
    case AV_PIX_FMT_RGB24:  return AV_RB24(row + 3 * x);
    case AV_PIX_FMT_0BGR32: return AV_RL24(row + 4 * x) >> 16 | (AV_RL24(row + 4 * x) & 0xff00) | (row[4 * x] << 16);
    default:                return row[x];
    }
}

static void compare(const Case *c, int n, const AVFrame *out, const int16_t *disparity)
{
    const StereoOracle *o = &c->oracle[n];

    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            const int from = y * c->w + (c->right ? c->w - 1 - x : x);
            const int v = o->v[from] < 0 ? MVSTEREO_HOLE : o->v[from] + 16 * o->m;
            const int expected = expected_sample(c, o, x, y), painted = painted_sample(c, out, x, y);

            if (disparity[y * c->w + x] != v || painted != expected) {
                CHECK(0, "pair %d, (%d, %d): disparity %d instead of %d, painted %x instead of %x", n, x, y,
                      disparity[y * c->w + x], v, painted, expected);
                return;
            }
        }
    CHECK(1, "equal");
}

static AVFrame *get_device_frame(AVBufferRef *hw_frames, int w, int h)
{
    AVFrame *f = test_alloc(av_frame_alloc());

    CHECK(av_hwframe_get_buffer(hw_frames, f, 0) >= 0, "a frame on the device");
    f->width  = w;
    f->height = h;
    return f;
}

/* Replaces the frames of all pairs by frames on the device. */
static AVBufferRef *upload(Case *c)
{
    AVBufferRef *hw_frames = NULL;

    for (int n = 0; n < c->nb_pairs; n++)
        for (int i = 0; i < 2 && c->frames[n][i]; i++) {
            AVFrame *f = c->frames[n][i], *to;

            if (!hw_frames) {
                const TestShape shape = test_shape(c->format, f->width + 1, f->height + 1);

                hw_frames = test_device_frames(&shape);
            }
            to        = get_device_frame(hw_frames, FFALIGN(f->width, 2), FFALIGN(f->height, 2));
            to->width = f->width;
            to->height = f->height;
            CHECK(av_hwframe_transfer_data(to, f, 0) >= 0, "upload");
            for (int v = 0; v < 2; v++)
                if (c->pairs[n].views[v].frame == f)
                    c->pairs[n].views[v].frame = to;
            av_frame_free(&c->frames[n][i]);
            c->frames[n][i] = to;
        }
    return hw_frames;
}

/* Makes all maps of a case. Returns 0, or the error that ended it. */
static int make_maps(const Case *c, AVBufferRef *hw_frames, int is_complete)
{
    const enum AVPixelFormat format = c->cfg.output == MVSTEREO_LEFT_GRAY ? c->format
                                    : ff_mvstereo_output_format(c->cfg.output, !!hw_frames);
    MvstereoConfig cfg = c->cfg;
    int16_t *disparity = malloc(c->w * c->h * sizeof(*disparity));
    const TestShape shape = test_shape(format, c->column + c->w, c->h);
    AVBufferRef *out_frames = hw_frames ? test_device_frames(&shape) : NULL;
    int counts[MVSTEREO_NB_COUNTS], ret;
    Mvstereo *mvstereo;

    cfg.hw_frames = hw_frames;
    ret = ff_mvstereo_open(&mvstereo, &cfg);
    for (int n = 0; n < c->nb_pairs && ret >= 0; n++) {
        AVFrame *out = hw_frames ? get_device_frame(out_frames, c->column + c->w, c->h) : av_frame_alloc();

        if (out && !hw_frames) {
            out->width  = c->column + c->w;
            out->height = c->h;
            out->format = format;
        }
        ret = !out ? AVERROR(ENOMEM) : hw_frames ? 0 : av_frame_get_buffer(out, 0);
        if (ret >= 0)
            ret = ff_mvstereo_make(mvstereo, &c->pairs[n], out);
        if (ret >= 0)
            ret = ff_mvstereo_read(mvstereo, disparity);
        if (ret >= 0)
            ret = ff_mvstereo_judge(mvstereo, counts);
        CHECK(ret < 0 || !memcmp(counts, c->oracle[n].agreement, sizeof(counts)), "pair %d: %d of %d agree instead of "
              "%d of %d", n, counts[1], counts[0], c->oracle[n].agreement[1], c->oracle[n].agreement[0]);
        if (ret >= 0 && hw_frames) {
            AVFrame *down = test_alloc(av_frame_alloc());

            ret = av_hwframe_transfer_data(down, out, 0);
            av_frame_free(&out);
            out = down;
        }
        if (ret >= 0)
            compare(c, n, out, disparity);
        av_frame_free(&out);
        nb_maps += ret >= 0;
        nb_on_device += ret >= 0 && (hw_frames || c->cfg.backend == GPUME_BACKEND_cuda);
    }
    CHECK(ret >= 0 || !is_complete, "%s", av_err2str(ret));
    ff_mvstereo_close(&mvstereo);
    av_buffer_unref(&out_frames);
    free(disparity);
    return ret;
}

static void run_case(uint64_t seed, int place)
{
    static const char *const places[] = { "", " on the device", " uploaded" };
    TestExecutor executor = { .seed = seed };
    AVBufferRef *hw_frames = NULL;
    Case c;

    test_begin_case(seed);
    if (place == ON_DEVICE && !test_fits_device(formats[seed % FF_ARRAY_ELEMS(formats)]))
        return;
    draw_case(&c, seed, place);
    c.cfg.executor = test_draw_executor(&c.r, &executor);
    snprintf(test_context, sizeof(test_context), "seed %" PRIu64 "%s: %dx%d %s, arrangement %d, %d to %d%s, "
             "rows %d, fast %d, temporal %d, right %d, fill %d, output %d, %s, %d threads", seed,
             places[place], c.w, c.h,
             c.desc->name, c.arrangement, c.oracle[0].m, c.oracle[0].m + c.oracle[0].n, c.find ? " (found)" : "",
             c.cfg.rows, c.cfg.fast, c.cfg.temporal, c.right, c.cfg.fill, c.cfg.output,
             test_executor_names[executor.kind], c.cfg.executor.nb_threads);
    if (place == ON_DEVICE)
        hw_frames = upload(&c);
    make_maps(&c, hw_frames, 1);
    free_case(&c);
    av_buffer_unref(&hw_frames);
    av_force_cpu_flags(-1);
}

/* Makes the maps of a case, with allocations that fail. */
static int make_again(void *opaque)
{
    test_let_fail();
    return make_maps(opaque, NULL, 0);
}

static void release_nothing(void *opaque)
{
}

/* Makes each allocation fail in turn. The result must be an error or the right maps, without leaks. */
static void failing_allocations(void)
{
    TestExecutor executor = { TEST_SERIAL };
    Case c;

    for (uint64_t seed = 100;; seed++) {
        draw_case(&c, seed, IN_MEMORY);
        if (c.find && c.cfg.rows && c.w > 256 && c.nb_pairs > 1)
            break;
        free_case(&c);
    }
    c.cfg.executor = (GpumeExecutor) { test_execute, &executor, 2 };
    test_failing_allocations(make_again, release_nothing, &c, 1, 30, 1, "in memory");
    free_case(&c);
}

enum { FILM_W = 176, FILM_H = 96, FILM_PAIRS = 9, FILM_PAN = 3, FILM_SIDE = 48 };

/** What changes in a film, or what is in it. */
enum Film {
    FILM_PANS, FILM_COMES_NEARER, FILM_IS_CUT,
    FILM_UNCOVERS,              ///< a thing moves before what looks almost like it
    FILM_APPROACHES,            ///< a thing comes much nearer; the range is found
    FILM_CLIPPED,               ///< a white surface at the left border, which the right view does not show
    FILM_FLAT,                  ///< the same value everywhere; the range is found
};

/* Returns luma of a texture in which neighbours are alike. */
static int texture_at(int seed, int x, int y)
{
    int sum = 0;

    for (int i = 0; i < 4; i++)
        sum += test_mix(seed * 1000003 + (y / 2 + i / 2) * 1009 + x / 2 + i % 2) % 100;
    return 40 + sum / 2;
}

/* Returns where the thing in front is in pair n, and its disparity. */
static int thing_at(enum Film film, int n, int *disparity)
{
    *disparity = film == FILM_UNCOVERS ? 34 : film == FILM_APPROACHES ? 12 + 7 * n : 12 + n / 2;
    return film == FILM_UNCOVERS ? 36 + 9 * n : film == FILM_APPROACHES ? 110 : 60 + 2 * n;
}

/* Draws a view of a pair: a plane with a disparity of 6, and a thing before it. */
static AVFrame *draw_film(enum Film film, int n, int is_right, TestRandom *r)
{
    uint8_t view[FILM_W * FILM_H];
    const int scene = film == FILM_IS_CUT && n >= FILM_PAIRS / 2, pan = film == FILM_PANS ? FILM_PAN * n : 0;
    const int noise = film == FILM_PANS ? 31 : film == FILM_UNCOVERS || film == FILM_FLAT ? 1 : 5;
    const int contrast = film == FILM_PANS ? 8 : film == FILM_UNCOVERS ? 4 : 1;
    int disparity, left = thing_at(film, n, &disparity);

    for (int y = 0; y < FILM_H; y++)
        for (int x = 0; x < FILM_W; x++) {
            const int from = x - left + (is_right ? disparity : 0);
            const int has_thing = film == FILM_COMES_NEARER || film == FILM_UNCOVERS || film == FILM_APPROACHES;
            const int is_thing = has_thing && from >= 0 && from < FILM_SIDE && y >= 24 &&
                                 y < 24 + FILM_SIDE;
            const int v = is_thing ? texture_at(7, from, y) : texture_at(scene, 50 + x + pan + (is_right ? 6 : 0), y);
            const int is_white = film == FILM_CLIPPED && !is_right && x < FILM_SIDE && y >= 24 && y < 24 + FILM_SIDE;

            view[y * FILM_W + x] = av_clip_uint8(v / contrast + (int)test_draw(r, noise) - noise / 2);
            if (is_white || film == FILM_FLAT)
                view[y * FILM_W + x] = is_white ? 255 : 16;
        }
    return gray_frame(view, FILM_W, FILM_H);
}

/* Makes the maps of a film; if something approaches, those of output=gray8. @param temporal of still films: fill */
static void make_film(int16_t *maps, enum Film film, int temporal)
{
    TestExecutor executor = { TEST_SERIAL };
    TestRandom r = { .state = 5 };
    const MvstereoConfig cfg = {
        .max = film == FILM_APPROACHES || film == FILM_FLAT ? 0 : film == FILM_UNCOVERS ? 64 : 32,
        .min = film == FILM_CLIPPED ? -16 : 0,
        .output = film == FILM_APPROACHES ? MVSTEREO_GRAY : MVSTEREO_DISPARITY,
        .fill = film < FILM_CLIPPED || temporal, .temporal = film < FILM_CLIPPED && temporal,
        .executor = { test_execute, &executor, 2 },
    };
    Mvstereo *mvstereo;

    CHECK(ff_mvstereo_open(&mvstereo, &cfg) >= 0, "open");
    for (int n = 0; n < FILM_PAIRS; n++) {
        AVFrame *views[2], *out = test_alloc_frame(ff_mvstereo_output_format(cfg.output, 0), FILM_W, FILM_H);
        MvstereoPair pair = { .w = FILM_W, .h = FILM_H };

        for (int i = 0; i < 2; i++) {
            views[i] = draw_film(film, n, i, &r);
            pair.views[i] = (MvstereoView) { .frame = views[i], .step_x = 1, .step_y = 1 };
        }
        CHECK(ff_mvstereo_make(mvstereo, &pair, out) >= 0 &&
              ff_mvstereo_read(mvstereo, maps + n * FILM_W * FILM_H) >= 0, "pair %d", n);
        for (int q = 0; film == FILM_APPROACHES && q < FILM_W * FILM_H; q++)
            maps[n * FILM_W * FILM_H + q] = out->data[0][q / FILM_W * out->linesize[0] + q % FILM_W];
        for (int i = 0; i < 2; i++)
            av_frame_free(&views[i]);
        av_frame_free(&out);
    }
    ff_mvstereo_close(&mvstereo);
}

/* Samples behind a thing that moves are as without stabilisation. The scale of a film stays when a thing approaches. */
static void behind_things(int16_t *maps[2])
{
    const int size = FILM_W * FILM_H;
    int wrong[2] = { 0 }, changed = 0, nearer = 0;

    for (int i = 0; i < 2; i++) {
        make_film(maps[i], FILM_UNCOVERS, i);
        for (int q = size; q < FILM_PAIRS * size; q++) {
            int unused, left = thing_at(FILM_UNCOVERS, q / size, &unused), x = q % FILM_W, y = q % size / FILM_W;

            wrong[i] += x >= left - 40 && x < left - 3 && y >= 24 && y < 24 + FILM_SIDE && abs(maps[i][q] - 96) > 80;
        }
    }
    CHECK(wrong[1] <= wrong[0] + 20, "%d samples behind a thing are wrong, %d without stabilisation", wrong[1],
          wrong[0]);
    make_film(maps[0], FILM_APPROACHES, 0);
    for (int n = 1; n < FILM_PAIRS; n++) {
        for (int q = 0; q < 16 * FILM_W; q++)
            changed += abs(maps[0][n * size + q] - maps[0][q]) > 2;
        nearer += maps[0][n * size + 48 * FILM_W + 134] >= maps[0][(n - 1) * size + 48 * FILM_W + 134];
    }
    CHECK(changed < 100 && nearer == FILM_PAIRS - 1, "%d samples that stand still change, %d maps of what approaches",
          changed, nearer);
}

/* What has no texture is a hole, and is filled from what surrounds it. */
static void without_texture(int16_t *maps[2])
{
    int stated[2] = { 0 }, wrong = 0, others = 0;

    for (int i = 0; i < 2; i++) {
        make_film(maps[i], FILM_CLIPPED, i);
        for (int q = 0; q < FILM_W * FILM_H; q++) {
            const int x = q % FILM_W, y = q / FILM_W, is_in = y >= 28 && y < 20 + FILM_SIDE && x < FILM_SIDE - 4;
            const int is_out = y >= 24 && y < 24 + FILM_SIDE ? x >= FILM_SIDE + 16 : x >= 16;

            stated[0] += !i && is_in && maps[0][q] != MVSTEREO_HOLE;
            others    += !i && is_out && maps[0][q] == MVSTEREO_HOLE;
            wrong     += i && is_in && abs(maps[1][q] - 96) > 16;
        }
    }
    CHECK(!stated[0] && !wrong && others < 200, "of a white surface %d samples are stated, %d are filled wrongly; %d "
          "others are holes", stated[0], wrong, others);
    for (int i = 0; i < 2; i++) {
        make_film(maps[i], FILM_FLAT, i);
        for (int q = 0; q < FILM_PAIRS * FILM_W * FILM_H; q++)
            stated[1] += maps[i][q] != (i ? 0 : MVSTEREO_HOLE);
    }
    CHECK(!stated[1], "%d samples of flat views are stated, or not filled with 0", stated[1]);
}

/* Stabilised maps of a noisy pan change less, those of what comes nearer are not late, a cut leaves nothing behind. */
static void over_time(void)
{
    const int size = FILM_W * FILM_H;
    int16_t *maps[2] = { test_alloc(av_malloc_array(FILM_PAIRS * size, 2)),
                         test_alloc(av_malloc_array(FILM_PAIRS * size, 2)) };
    int changes[2] = { 0 }, wrong[2] = { 0 }, different = 0;

    snprintf(test_context, sizeof(test_context), "over time");
    for (int i = 0; i < 2; i++) {
        make_film(maps[i], FILM_PANS, i);
        for (int q = 2 * size; q < FILM_PAIRS * size; q++)
            changes[i] += q % FILM_W < FILM_W - FILM_PAN && abs(maps[i][q] - maps[i][q - size + FILM_PAN]) > 16;
    }
    CHECK(changes[0] > 1000 && 2 * changes[1] < changes[0], "%d changes in a pan, %d without", changes[1], changes[0]);
    for (int i = 0; i < 2; i++) {
        make_film(maps[i], FILM_COMES_NEARER, i);
        for (int n = 2; n < FILM_PAIRS; n++) {
            int disparity, left = thing_at(FILM_COMES_NEARER, n, &disparity);

            for (int q = 0; q < (FILM_SIDE - 8) * (FILM_SIDE - 8); q++)
                wrong[i] += abs(maps[i][n * size + (28 + q / (FILM_SIDE - 8)) * FILM_W + left + 4 +
                                        q % (FILM_SIDE - 8)] - 16 * disparity) > 16;
        }
    }
    CHECK(wrong[1] <= wrong[0] + 100, "%d samples of what comes nearer are wrong, %d without", wrong[1], wrong[0]);
    for (int i = 0; i < 2; i++)
        make_film(maps[i], FILM_IS_CUT, i);
    for (int q = FILM_PAIRS / 2 * size; q < (FILM_PAIRS / 2 + 1) * size; q++)
        different += maps[0][q] != maps[1][q];
    CHECK(different < size / 100, "%d samples after a cut are not those of the scene", different);
    behind_things(maps);
    without_texture(maps);
    av_free(maps[0]);
    av_free(maps[1]);
}

int main(int argc, char **argv)
{
    TestOptions o;
    int nb;

    if (test_begin(&o, "gpume_mvstereo", argc, argv) < 0)
        return 1;
    if (!o.device_only) {
        nb = test_nb_cases(&o, 100, 1200);
        test_run_cases(&o, nb, run_case, IN_MEMORY);
        snprintf(test_context, sizeof(test_context), "all cases");
        CHECK(nb < 100 || (nb_valid > 500 * nb && nb_found > nb / 5 && nb_smoothed > nb / 50 && nb_coded > nb / 50 &&
                         nb_darker > nb / 50 && nb_moved > nb && nb_steady > 20 * nb),
              "%d valid samples, %d ranges, %d smoothed, %d coded, %d darker, %d blocks in motion, %d steady samples",
              nb_valid, nb_found, nb_smoothed, nb_coded, nb_darker, nb_moved, nb_steady);
        if (o.only < 0)
            over_time();
        if (o.only < 0)
            failing_allocations();
    }
    if (test_begin_device()) {
        nb = test_nb_cases(&o, 40, 200);
        for (int i = 0; i < nb; i++) {
            run_case(o.only >= 0 ? o.only : i, ON_DEVICE);
            if (i % 4 == 0)
                run_case(o.only >= 0 ? o.only : i, UPLOADED);
        }
    }
    printf("gpume_mvstereo: %d maps, %d of them on the device, %d valid samples, %d checks, %d failures\n", nb_maps,
           nb_on_device, nb_valid, test_nb_checks, test_nb_failures);
    return test_end(&o, nb_on_device);
}
