/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/macros.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/mvdenoise/opponent.h"
#include "libavfilter/gpume/mvdenoise/unclip.h"
#include "libavfilter/gpume/picture/layout.h"
#include "libavfilter/gpume/util/frames.h"

/* 65536 / sqrt(6), 65536 / sqrt(18); 16384 sqrt(3 / 2), 16384 sqrt(1 / 2), 16384 sqrt(2) */
enum { TO_SECOND = 26755, TO_THIRD = 15447, FROM_SECOND = 20066, FROM_THIRD = 11585, FROM_GREEN = 23170 };

enum AVPixelFormat ff_mvdenoise_opponent_format(enum AVPixelFormat format)
{
    static const enum AVPixelFormat formats[] = {
        AV_PIX_FMT_YUV444P10,  AV_PIX_FMT_YUV444P12,  AV_PIX_FMT_YUV444P14, AV_PIX_FMT_YUV444P16,
        AV_PIX_FMT_YUVA444P10, AV_PIX_FMT_YUVA444P12, AV_PIX_FMT_YUVA444P16,
    };
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);

    if (!desc || !(desc->flags & AV_PIX_FMT_FLAG_RGB) || !ff_gpume_layout_supports(format))
        return AV_PIX_FMT_NONE;
    for (int i = 0; i < FF_ARRAY_ELEMS(formats); i++) {
        const AVPixFmtDescriptor *to = av_pix_fmt_desc_get(formats[i]);

        if (to->nb_components == desc->nb_components && to->comp[0].depth >= desc->comp[0].depth + 2)
            return formats[i];
    }
    return AV_PIX_FMT_NONE;
}

/** What is converted. */
typedef struct Conversion {
    const GpumeExecutor *executor;
    const AVFrame *rgb, *opponent;
    GpumeLayout from, to;               ///< RGB, opponent colours
    AVFrame *denoised;                  ///< RGB that is corrected by that with noise
    MvdenoiseUnclip unclip;
} Conversion;

/* The functions below are compiled for words of one and of two bytes of RGB. */

static av_always_inline int get(const uint8_t *row, int x, const GpumeLayout *l)
{
    return l->bytes == 1 ? row[x] : ((const uint16_t *)row)[x] >> l->shift;
}

static av_always_inline void put(uint8_t *row, int x, int v, const GpumeLayout *l)
{
    if (l->bytes == 1)
        row[x] = v;
    else
        ((uint16_t *)row)[x] = v << l->shift;
}

static av_always_inline void split_row(const Conversion *c, const GpumeLayout *l, int y)
{
    const int more = c->to.depth - l->depth, half = 1 << (c->to.depth - 1);
    uint8_t *from[GPUME_COMPONENTS] = { 0 };
    uint16_t *to[GPUME_COMPONENTS]  = { 0 };

    for (int i = 0; i < l->nb_components; i++) {
        from[i] = gpume_layout_row(&c->from, &c->from.components[i], c->rgb, y);
        to[i]   = (uint16_t *)gpume_layout_row(&c->to, &c->to.components[i], c->opponent, y);
    }
    for (int x = 0; x < l->w; x++) {
        const int g = get(from[0], x, l), r = get(from[1], x, l), b = get(from[2], x, l);

        to[0][x] = ((unsigned)(r + g + b) * (1 << more) + 1) / 3;
        to[1][x] = half + ((TO_SECOND * ((r - b) * (1 << more)) + (1 << 15)) >> 16);
        to[2][x] = half + ((TO_THIRD * ((r - 2 * g + b) * (1 << more)) + (1 << 15)) >> 16);
    }
    for (int x = 0; to[3] && x < l->w; x++)
        to[3][x] = get(from[3], x, l) << more;
}

static av_always_inline void join_row(const Conversion *c, const GpumeLayout *l, int y)
{
    const int more = c->to.depth - l->depth, half = 1 << (c->to.depth - 1), max = (1 << l->depth) - 1;
    uint8_t *to[GPUME_COMPONENTS]    = { 0 };
    uint16_t *from[GPUME_COMPONENTS] = { 0 };

    for (int i = 0; i < l->nb_components; i++) {
        to[i]   = gpume_layout_row(&c->from, &c->from.components[i], c->rgb, y);
        from[i] = (uint16_t *)gpume_layout_row(&c->to, &c->to.components[i], c->opponent, y);
    }
    for (int x = 0; x < l->w; x++) {
        const int first = from[0][x] * (1 << 14) + (1 << (13 + more));
        const int second = from[1][x] - half, third = from[2][x] - half;
        const int beside = first + FROM_THIRD * third;

        put(to[0], x, av_clip((first - FROM_GREEN * third) >> (14 + more), 0, max), l);
        put(to[1], x, av_clip((beside + FROM_SECOND * second) >> (14 + more), 0, max), l);
        put(to[2], x, av_clip((beside - FROM_SECOND * second) >> (14 + more), 0, max), l);
    }
    for (int x = 0; to[3] && x < l->w; x++)
        put(to[3], x, FFMIN((from[3][x] + (1 << more >> 1)) >> more, max), l);
}

static void split(void *arg, int job, int nb_jobs)
{
    const Conversion *c = arg;
    const GpumeLayout *l = &c->from;

    for (int y = l->h * job / nb_jobs; y < l->h * (job + 1) / nb_jobs; y++)
        split_row(c, l, y);
}

static void join(void *arg, int job, int nb_jobs)
{
    const Conversion *c = arg;
    const GpumeLayout *l = &c->from;

    for (int y = l->h * job / nb_jobs; y < l->h * (job + 1) / nb_jobs; y++)
        join_row(c, l, y);
}

static void convert(const AVFrame *rgb, const AVFrame *opponent, const GpumeExecutor *executor, GpumeJob job)
{
    Conversion c = { executor, rgb, opponent };

    ff_gpume_layout_init(&c.from, rgb->format, rgb->width, rgb->height);
    ff_gpume_layout_init(&c.to, opponent->format, rgb->width, rgb->height);
    gpume_execute(executor, job, &c, FFMIN(executor->nb_threads, rgb->height));
}

int ff_mvdenoise_to_opponent(AVFrame *frame, const GpumeExecutor *executor)
{
    AVFrame *to;
    int ret = ff_gpume_alloc_frame(&to, ff_mvdenoise_opponent_format(frame->format), frame->width, frame->height);

    if (ret < 0)
        return ret;
    ret = av_frame_copy_props(to, frame);
    if (ret < 0)
        goto fail;
    convert(frame, to, executor, split);
    av_frame_unref(frame);
    av_frame_move_ref(frame, to);
fail:
    av_frame_free(&to);
    return ret;
}

/* Corrects rows of all colours. */
static void correct(void *arg, int job, int nb_jobs)
{
    const Conversion *c = arg;
    const GpumeLayout *l = &c->from;

    for (int y = l->h * job / nb_jobs; y < l->h * (job + 1) / nb_jobs; y++)
        for (int i = 0; i < 3; i++) {
            const uint8_t *noisy[2 * MVDENOISE_AROUND + 1];

            for (int j = 0; j < FF_ARRAY_ELEMS(noisy); j++)
                noisy[j] = gpume_layout_row(l, &l->components[i], c->rgb,
                                            av_clip(y + j - MVDENOISE_AROUND, 0, l->h - 1));
            ff_mvdenoise_unclip(gpume_layout_row(l, &l->components[i], c->denoised, y), noisy, &c->unclip);
        }
}

int ff_mvdenoise_from_opponent(AVFrame *rgb, const AVFrame *from, const AVFrame *noisy, const MvdenoiseNoise *noise,
                               const GpumeExecutor *executor)
{
    Conversion c = { .denoised = rgb };
    AVFrame *frame;
    int ret;

    convert(rgb, from, executor, join);
    if (!noise || !noise->sigma)
        return 0;
    ret = ff_gpume_alloc_frame(&frame, rgb->format, rgb->width, rgb->height);
    if (ret < 0)
        return ret;
    convert(frame, noisy, executor, join);
    ff_gpume_layout_init(&c.from, rgb->format, rgb->width, rgb->height);
    c.rgb    = frame;
    c.unclip = (MvdenoiseUnclip) {
        .w = rgb->width, .depth = c.from.depth, .bytes = c.from.bytes, .step = 1, .shift = c.from.shift,
        .noisy_shift = c.from.shift,
    };
    for (int i = 0; i < MVDENOISE_TONES; i++)
        c.unclip.sigma[i] = noise[i].clipped * 887 >> 9;
    gpume_execute(executor, correct, &c, FFMIN(executor->nb_threads, rgb->height));
    av_frame_free(&frame);
    return 0;
}
