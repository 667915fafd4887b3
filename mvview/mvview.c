/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvview/painter.h"
#include "libavfilter/gpume/util/frames.h"

/** Number of arrows side by side that can be told apart. */
#define READABLE_ARROWS 56

const GpumeSequenceKind ff_mvview_kind = {
    "mvview", ff_mvview_format_supported, GPUME_FRAME_BACKENDS(ff_mvview_painter),
};

struct MvviewView {
    MvviewConfig cfg;
    GpumeSequence sequence;         ///< its layout is not used, because drawing has other components

    MvviewCanvas canvas;
    MvviewField field;
    MvviewPicture pic;              ///< the picture being made
    unsigned ops_allocated;
};

av_cold int ff_mvview_open(MvviewView **view, const MvviewConfig *cfg)
{
    MvviewView *v = *view = av_mallocz(sizeof(*v));
    int ret;

    if (!v)
        return AVERROR(ENOMEM);
    v->cfg = *cfg;
    ret = ff_gpume_sequence_open(&v->sequence, &ff_mvview_kind, cfg->hw_frames, &v->cfg, cfg->log_ctx);
    if (ret < 0)
        ff_mvview_close(view);
    return ret;
}

av_cold void ff_mvview_close(MvviewView **view)
{
    MvviewView *v = *view;

    if (!v)
        return;
    ff_gpume_sequence_close(&v->sequence);
    ff_mvview_field_free(&v->field);
    av_freep(&v->pic.ops);
    av_freep(view);
}

static const MvviewPainter *painter_of(const MvviewView *v)
{
    return (const MvviewPainter *)v->sequence.backend;
}

int ff_mvview_read(MvviewView *v, const AVFrame *frame)
{
    if (!frame) {
        v->field.nb = 0;
        return 0;
    }
    return ff_mvview_field_read(&v->field, frame, &v->cfg,
                                painter_of(v)->reads_fields ? ff_gpume_frame_device(frame) : NULL);
}

/* Returns the width of a line, in units of MVVIEW_SAMPLE: one sample in a small picture. */
static int line_width(const MvviewCanvas *c)
{
    return av_clip64(FFMAX(c->w, c->h) * INT64_C(256) / 1600, MVVIEW_SAMPLE, 8 * MVVIEW_SAMPLE) &
           -MVVIEW_UNIT_STEP;
}

/* Adds a shape that begins at the sample (x, y). */
static int add_op(MvviewView *v, MvviewShape shape, int x, int y)
{
    const MvviewCanvas *c = &v->canvas;
    const size_t needed = (v->pic.nb_ops + 1) * sizeof(*v->pic.ops);

    if (needed > v->ops_allocated) {
        MvviewOp *ops = av_fast_realloc(v->pic.ops, &v->ops_allocated, needed);

        if (!ops)
            return AVERROR(ENOMEM);
        v->pic.ops = ops;
    }
    shape.px = x & ((1 << c->hsub) - 1);
    shape.py = y & ((1 << c->vsub) - 1);
    v->pic.ops[v->pic.nb_ops++] = (MvviewOp) { .x = x, .y = y, .shape = shape };
    return 0;
}

static int add_arrow(void *opaque, const MvviewVector *vector)
{
    MvviewView *v = opaque;

    return add_op(v, (MvviewShape) {
                      .kind    = MVVIEW_ARROW,
                      .a       = mvview_tip(vector->dx, v->cfg.scale),
                      .b       = mvview_tip(vector->dy, v->cfg.scale),
                      .variant = vector->distance > 0,
                      .unit    = v->pic.arrow_unit,
                  }, vector->x, vector->y);
}

/* Returns the side of the squares that have one arrow each; 0: every vector has an arrow. */
static int arrow_side(const MvviewView *v)
{
    const int64_t readable = FFMAX(8, FFMAX(v->canvas.w, v->canvas.h) / READABLE_ARROWS);
    const int64_t side = v->field.side;

    if (v->cfg.step == 1 || !side)
        return 0;
    return FFMIN(v->cfg.step ? v->cfg.step * side : (readable + side - 1) / side * side, INT_MAX / 4);
}

static int add_legend(MvviewView *v)
{
    const MvviewLegend l = mvview_legend(v->canvas.w, v->canvas.h, v->pic.full);
    const int ret = add_op(v, (MvviewShape) { .kind = MVVIEW_WHEEL, .a = l.radius, .unit = v->pic.unit },
                           l.x, l.wheel_y);

    return ret < 0 ? ret : add_op(v, (MvviewShape) { .kind = MVVIEW_NUMBER, .a = l.tenths, .b = l.dot },
                                  l.x, l.number_y);
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
        ret = ff_mvview_field_choose(&v->field, v->pic.side, add_arrow, v);
        if (ret < 0)
            return ret;
    }
    return v->pic.legend ? add_legend(v) : 0;
}

/* Initializes everything but the shapes. */
static void begin_picture(MvviewView *v, int new_canvas, AVFrame *out, const AVFrame *in)
{
    const MvviewCanvas *c = &v->canvas;
    const MvviewField *f  = &v->field;
    const int side = arrow_side(v), unit = line_width(c);

    v->pic = (MvviewPicture) {
        .canvas = c, .new_canvas = new_canvas, .field = &v->field,
        .side   = side,
        .unit   = unit,
        /* lines are thinner where arrows are close to each other */
        .arrow_unit = FFMIN(unit, FFMAX(side ? side : f->side, 4) * MVVIEW_SAMPLE / 8) & -MVVIEW_UNIT_STEP,
        .legend = v->cfg.legend && v->cfg.mode & MVVIEW_FLOW && FFMIN(c->w, c->h) >= MVVIEW_MIN_LEGEND_SIDE,
        .full   = v->cfg.max ? v->cfg.max : f->nb_fields ? 0 : FFMAX(f->longest, 1),
        .ops    = v->pic.ops,
        .is_copy = !f->nb,
        .in     = in, .out = out,
    };
}

int ff_mvview_draw(MvviewView *v, AVFrame *out, const AVFrame *in)
{
    int ret = 0;

    begin_picture(v, ff_mvview_canvas_init(&v->canvas, out, ff_gpume_frame_format(out)), out, in);
    if (v->field.nb && !v->field.nb_fields)
        ret = add_ops(v);
    if (ret < 0 ||
        (ret = painter_of(v)->paint(v->sequence.priv, &v->pic)) < 0)
        memset(&v->canvas, 0, sizeof(v->canvas));
    return ret;
}
