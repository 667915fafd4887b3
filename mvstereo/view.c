/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/common.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/mvstereo/view.h"

void ff_mvstereo_load_row(uint8_t *dst, const MvstereoView *view, const GpumeLayout *l, int y, int w)
{
    const GpumeComponent *c = &l->components[0];
    const int step          = view->step_x * c->step;
    const uint8_t *src      = gpume_layout_row(l, c, view->frame, view->y + y * view->step_y) +
                              view->x * c->step * l->bytes;
    const uint16_t *src16   = (const uint16_t *)src;

    if (l->bytes == 1)
        for (int x = 0; x < w; x++)
            dst[x] = src[x * step];
    else
        for (int x = 0; x < w; x++)
            dst[x] = src16[x * step] >> (l->shift + l->depth - 8);
}

static void put(const GpumeLayout *l, uint8_t *row, int at, int v)
{
    if (l->bytes > 1)
        ((uint16_t *)row)[at] = v << l->shift;
    else
        row[at] = v;
}

void ff_mvstereo_copy_view(AVFrame *out, const MvstereoView *view, int w)
{
    GpumeLayout from, to;

    ff_gpume_layout_init(&from, out->format, view->frame->width, view->frame->height);
    ff_gpume_layout_init(&to, out->format, out->width, out->height);
    for (int i = 0; i < to.nb_components; i++) {
        const GpumeComponent *c = &from.components[i], *d = &to.components[i];
        const int columns = AV_CEIL_RSHIFT(w, d->hsub), left = view->x >> c->hsub;
        /* samples side by side; the samples of other components between them are copied, too */
        const int nb = view->step_x == 1 ? FFMIN(columns, c->w - left) : 0;

        for (int y = 0; y < d->h; y++) {
            /* row of the chroma sample that contains the view's first luma sample */
            const int row = FFMIN((view->y + (y << c->vsub) * view->step_y) >> c->vsub, c->h - 1);
            const uint8_t *src = gpume_layout_row(&from, c, view->frame, row);
            uint8_t *dst       = gpume_layout_row(&to, d, out, y);

            if (nb > 0)
                memcpy(dst, src + left * c->step * to.bytes, ((nb - 1) * (size_t)c->step + 1) * to.bytes);
            for (int x = FFMAX(nb, 0); x < columns; x++) {
                const int col = FFMIN((view->x + (x << c->hsub) * view->step_x) >> c->hsub, c->w - 1);

                memcpy(dst + x * d->step * to.bytes, src + col * c->step * to.bytes, to.bytes);
            }
        }
    }
}

void ff_mvstereo_paint_gray_row(const GpumeLayout *l, AVFrame *out, const uint32_t *gray, const int16_t *src,
                                int step, int column, int y)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(l->format);
    const int is_rgb     = desc->flags & AV_PIX_FMT_FLAG_RGB;
    const int has_alpha  = desc->flags & AV_PIX_FMT_FLAG_ALPHA;
    const int is_limited = !is_rgb && out->color_range != AVCOL_RANGE_JPEG;

    for (int i = 0; i < l->nb_components; i++) {
        const GpumeComponent *c = &l->components[i];
        const int is_alpha = has_alpha && i == l->nb_components - 1, is_chroma = !is_rgb && !is_alpha && i;
        const int shift    = l->depth - 8, greatest = (1 << l->depth) - 1;
        uint8_t *row;

        if (y & ((1 << c->vsub) - 1))
            continue;
        row = gpume_layout_row(l, c, out, y >> c->vsub);
        for (int x = (column + (1 << c->hsub) - 1) >> c->hsub; x < c->w; x++) {
            int v = is_chroma ? 128 << shift : greatest;

            if (!is_chroma && !is_alpha) {
                v = gray[src[(x - column) * step]];
                v = is_limited ? (16 << shift) + ((v * 219 << shift) + 127) / 255 : v << shift;
            }
            put(l, row, x * c->step, v);
        }
    }
}
