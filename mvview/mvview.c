/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/mvview/painter.h"

/** Arrows side by side that can be read. */
#define READABLE_ARROWS 56
/** A picture with shorter sides has no room for a legend. */
#define MIN_LEGEND_SIDE 64

static const MvviewPainter *const painters[] = { &ff_mvview_painter_cpu, &ff_mvview_painter_cuda };

struct MvviewView {
    MvviewConfig cfg;
    enum AVPixelFormat sw_format;   ///< of hardware frames; AV_PIX_FMT_NONE: frames are in memory
    const MvviewPainter *painter;
    void *painter_priv;

    MvviewCanvas canvas;
    MvviewField field;
    MvviewOp *ops;
    int nb_ops;
    unsigned ops_allocated;
    int arrow_unit;
};

enum AVPixelFormat ff_mvview_hw_format(int i)
{
    for (int j = 0; j < FF_ARRAY_ELEMS(painters); j++)
        if (painters[j]->hw_format != AV_PIX_FMT_NONE && !i--)
            return painters[j]->hw_format;
    return AV_PIX_FMT_NONE;
}

/* Which painter, and what it paints. */
static av_cold int choose_painter(MvviewView *v)
{
    const AVHWFramesContext *frames = v->cfg.hw_frames ? (void *)v->cfg.hw_frames->data : NULL;
    const enum AVPixelFormat hw_format = frames ? frames->format : AV_PIX_FMT_NONE;

    v->sw_format = frames ? frames->sw_format : AV_PIX_FMT_NONE;
    for (int i = 0; i < FF_ARRAY_ELEMS(painters); i++) {
        if (painters[i]->hw_format != hw_format)
            continue;
        if (frames && (!ff_mvview_format_supported(v->sw_format) ||
                       !painters[i]->supports(v->sw_format))) {
            av_log(v->cfg.log_ctx, AV_LOG_ERROR, "Frames of format %s with samples of format %s "
                   "cannot be drawn into.\n", av_get_pix_fmt_name(hw_format),
                   av_get_pix_fmt_name(v->sw_format));
            return AVERROR(ENOSYS);
        }
        v->painter = painters[i];
        return 0;
    }
    av_log(v->cfg.log_ctx, AV_LOG_ERROR, "Frames of format %s cannot be drawn into.\n",
           av_get_pix_fmt_name(hw_format));
    return AVERROR(ENOSYS);
}

av_cold int ff_mvview_open(MvviewView **view, const MvviewConfig *cfg)
{
    MvviewView *v = *view = av_mallocz(sizeof(*v));
    int ret;

    if (!v)
        return AVERROR(ENOMEM);
    v->cfg = *cfg;
    ret = choose_painter(v);
    if (ret >= 0) {
        v->painter_priv = av_mallocz(v->painter->priv_size);
        ret = v->painter_priv ? v->painter->init(v->painter_priv, &v->cfg) : AVERROR(ENOMEM);
    }
    if (ret < 0)
        ff_mvview_close(view);
    return ret;
}

av_cold void ff_mvview_close(MvviewView **view)
{
    MvviewView *v = *view;

    if (!v)
        return;
    if (v->painter_priv)
        v->painter->uninit(v->painter_priv);
    av_freep(&v->painter_priv);
    ff_mvview_field_free(&v->field);
    av_freep(&v->ops);
    av_freep(view);
}

int ff_mvview_read(MvviewView *v, const AVFrame *frame)
{
    if (!frame) {
        v->field.nb = 0;
        return 0;
    }
    return ff_mvview_field_read(&v->field, frame, &v->cfg);
}

/* What is one sample wide in a small picture. */
static int unit_of(const MvviewCanvas *c)
{
    return av_clip64(FFMAX(c->w, c->h) * INT64_C(256) / 1600, MVVIEW_SAMPLE, 8 * MVVIEW_SAMPLE) &
           -MVVIEW_UNIT_STEP;
}

/* Add a shape that begins at a sample. */
static int add_op(MvviewView *v, MvviewShape shape, int x, int y)
{
    const MvviewCanvas *c = &v->canvas;
    const size_t needed = (v->nb_ops + 1) * sizeof(*v->ops);

    if (needed > v->ops_allocated) {
        MvviewOp *ops = av_fast_realloc(v->ops, &v->ops_allocated, needed);

        if (!ops)
            return AVERROR(ENOMEM);
        v->ops = ops;
    }
    shape.px = x & ((1 << c->hsub) - 1);
    shape.py = y & ((1 << c->vsub) - 1);
    v->ops[v->nb_ops++] = (MvviewOp) { .x = x, .y = y, .shape = shape };
    return 0;
}

static int add_arrow(void *opaque, const MvviewVector *vector)
{
    MvviewView *v = opaque;
    /* dx / MVVIEW_UNITS * scale / 256 * MVVIEW_TIP */
    const int64_t d = MVVIEW_UNITS * 256 / MVVIEW_TIP;
    const int64_t qx = mvview_divide(vector->dx * (int64_t)v->cfg.scale, d);
    const int64_t qy = mvview_divide(vector->dy * (int64_t)v->cfg.scale, d);

    return add_op(v, (MvviewShape) {
                      .kind    = MVVIEW_ARROW,
                      .a       = av_clip64(qx, -MVVIEW_FARTHEST, MVVIEW_FARTHEST),
                      .b       = av_clip64(qy, -MVVIEW_FARTHEST, MVVIEW_FARTHEST),
                      .variant = vector->distance > 0,
                      .unit    = v->arrow_unit,
                  }, vector->x, vector->y);
}

/* Side of the squares that have one arrow each; 0: every vector has one. */
static int arrow_side(const MvviewView *v)
{
    const int64_t readable = FFMAX(8, FFMAX(v->canvas.w, v->canvas.h) / READABLE_ARROWS);
    const int64_t side = v->field.side;

    if (v->cfg.step == 1)
        return 0;
    return FFMIN(v->cfg.step ? v->cfg.step * side : (readable + side - 1) / side * side, INT_MAX / 4);
}

static uint32_t full_length(const MvviewView *v)
{
    return FFMAX(v->cfg.max ? v->cfg.max : v->field.longest, 1);
}

static int add_legend(MvviewView *v)
{
    const MvviewCanvas *c = &v->canvas;
    const int side   = FFMIN(c->w, c->h);
    const int radius = av_clip(side / 10, 12, 160);
    const int dot    = FFMAX((radius + 6) / 20, 1);
    const int margin = radius / 4;
    const int tenths = (full_length(v) * UINT64_C(10) + MVVIEW_UNITS / 2) / MVVIEW_UNITS;
    MvviewText text;
    int height, x, y, ret;

    if (side < MIN_LEGEND_SIDE)
        return 0;
    ff_mvview_number_text(&text, tenths);
    height = MVVIEW_GLYPH_H * dot;
    x = c->w - margin - FFMAX(radius, mvview_text_half(&text, dot));
    y = c->h - margin - height;
    ret = add_op(v, (MvviewShape) { .kind = MVVIEW_WHEEL, .a = radius, .unit = unit_of(c) },
                 x, y - radius - 3 * dot);
    if (ret < 0)
        return ret;
    return add_op(v, (MvviewShape) { .kind = MVVIEW_NUMBER, .a = tenths, .b = dot }, x, y);
}

static int add_ops(MvviewView *v)
{
    int ret;

    if (v->cfg.mode & MVVIEW_BLOCKS) {
        for (int i = 0; i < v->field.nb; i++) {
            const MvviewVector *b = &v->field.vectors[i];

            ret = add_op(v, (MvviewShape) { .kind = MVVIEW_BLOCK, .a = b->w, .b = b->h,
                                            .variant = b->inconsistent }, gpume_block_left(b), gpume_block_top(b));
            if (ret < 0)
                return ret;
        }
    }
    if (v->cfg.mode & MVVIEW_ARROWS) {
        const int side = arrow_side(v);

        /* arrows next to each other have finer lines */
        v->arrow_unit = FFMIN(unit_of(&v->canvas),
                              FFMAX(side ? side : v->field.side, 4) * MVVIEW_SAMPLE / 8) & -MVVIEW_UNIT_STEP;
        ret = ff_mvview_field_choose(&v->field, side, add_arrow, v);
        if (ret < 0)
            return ret;
    }
    if (v->cfg.legend && v->cfg.mode & MVVIEW_FLOW)
        return add_legend(v);
    return 0;
}

int ff_mvview_draw(MvviewView *v, AVFrame *out, const AVFrame *in)
{
    const enum AVPixelFormat format = v->cfg.hw_frames ? v->sw_format : out->format;
    const int new_canvas = ff_mvview_canvas_init(&v->canvas, out, format);
    MvviewPicture pic;
    int ret = 0;

    v->nb_ops = 0;
    if (v->field.nb)
        ret = add_ops(v);
    if (ret >= 0) {
        pic = (MvviewPicture) {
            .canvas = &v->canvas, .new_canvas = new_canvas,
            .field  = &v->field,  .full       = full_length(v),
            .ops    = v->ops,     .nb_ops     = v->nb_ops,
            .plain  = !v->field.nb,
            .in     = in,         .out        = out,
        };
        ret = v->painter->paint(v->painter_priv, &pic);
    }
    if (ret < 0)
        memset(&v->canvas, 0, sizeof(v->canvas));
    return ret;
}
