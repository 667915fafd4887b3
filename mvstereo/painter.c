/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/intfloat.h"
#include "libavutil/intreadwrite.h"

#include "libavfilter/gpume/mvstereo/painter.h"
#include "libavfilter/gpume/mvstereo/view.h"

/* Returns a sample of the output. */
static uint32_t paint_value(const MvstereoPainter *p, int v)
{
    switch (p->output) {
    case MVSTEREO_DISPARITY: return mvstereo_paint_disparity(&p->paint, v);
    case MVSTEREO_COLOR:     return mvstereo_paint_value(&p->paint, v);
    case MVSTEREO_DEPTH:     return mvstereo_paint_depth(&p->paint, v);
    case MVSTEREO_FLOAT:     return av_float2int(mvstereo_paint_float(&p->paint, v));
    default:                 return mvstereo_paint_gray(&p->paint, v);
    }
}

void ff_mvstereo_painter_init(MvstereoPainter *p, const MvstereoConfig *cfg, const MvstereoRange *range, int w, int h)
{
    const int nb = FFALIGN(range->max - range->min, MVSTEREO_LANES) * MVSTEREO_ONE;

    if (p->paint.w == w && p->paint.h == h && p->paint.first == range->min * MVSTEREO_ONE &&
        p->paint.least == range->least * MVSTEREO_ONE && p->paint.greatest == range->greatest * MVSTEREO_ONE &&
        p->nb >= nb)
        return;
    p->nb     = nb;
    p->output = cfg->output;
    p->paint  = (MvstereoPaint) {
        .first = range->min * MVSTEREO_ONE, .least = range->least * MVSTEREO_ONE,
        .greatest = range->greatest * MVSTEREO_ONE, .legend = cfg->legend,
        .w = w, .h = h, .depth_one = cfg->depth_one,
    };
    for (int v = MVSTEREO_INVALID; v < nb; v++)
        p->painted[v + 1] = paint_value(p, v);
}

void ff_mvstereo_painter_set_out(MvstereoPainter *p, AVFrame *out, int column)
{
    p->out    = out;
    p->column = column;
    if (p->output == MVSTEREO_LEFT_GRAY)
        ff_gpume_layout_init(&p->out_layout, out->format, out->width, out->height);
}

void ff_mvstereo_paint_rows(void *painter, int worker, int first, int end)
{
    const MvstereoPainter *s = painter;
    const MvstereoPaint *p   = &s->paint;
    const uint32_t *painted  = s->painted + 1;
    const int w = p->w, from = mvstereo_paint_column(p, 0), step = p->mirrored ? -1 : 1;

    for (int y = first; y < end; y++) {
        const int16_t *src        = s->disparity + y * s->stride + from;
        const uint8_t *confidence = s->confidence + y * (size_t)w + from;
        uint8_t *dst = s->out->data[0] + y * (ptrdiff_t)s->out->linesize[0] +
                       s->column * ff_mvstereo_bytes(s->output, 0);

        switch (s->output) {
        case MVSTEREO_DISPARITY:
        case MVSTEREO_DEPTH:
            for (int x = 0; x < w; x++)
                ((uint16_t *)dst)[x] = painted[src[x * step]];
            break;
        case MVSTEREO_GRAY:
            for (int x = 0; x < w; x++)
                dst[x] = painted[src[x * step]];
            break;
        case MVSTEREO_COLOR:
            for (int x = 0; x < w; x++)
                AV_WB24(dst + 3 * x, painted[src[x * step]]);
            for (int x = mvstereo_paint_legend_column(p); x < w; x++)
                AV_WB24(dst + 3 * x, mvstereo_paint_legend(p, x, y));
            break;
        case MVSTEREO_FLOAT:
            for (int x = 0; x < w; x++)
                ((uint32_t *)dst)[x] = painted[src[x * step]];
            break;
        case MVSTEREO_LEFT_GRAY:
            ff_mvstereo_paint_gray_row(&s->out_layout, s->out, painted, src, step, s->column, y);
            break;
        default:
            for (int x = 0; x < w; x++)
                dst[x] = confidence[x * step];
        }
    }
}
