/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/core/same.h"

int ff_gpume_other_planes(GpumeOtherPlane planes[GPUME_MAX_OTHER_PLANES],
                          enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    int nb = 0;

    if (desc->nb_components > 1 && av_pix_fmt_count_planes(format) == 1) {
        planes[0] = (GpumeOtherPlane) { .step = desc->comp[0].step };
        return 1;
    }
    for (int plane = 1, c; plane <= GPUME_MAX_OTHER_PLANES; plane++) {
        int chroma;

        for (c = 0; c < desc->nb_components && desc->comp[c].plane != plane; c++)
            ;
        if (c == desc->nb_components)
            break;
        /* gray with alpha has two components, but no chroma */
        chroma = c < 3 && desc->nb_components > 2;
        planes[nb++] = (GpumeOtherPlane) {
            .index   = plane,
            .x_shift = chroma ? desc->log2_chroma_w : 0,
            .y_shift = chroma ? desc->log2_chroma_h : 0,
            .step    = desc->comp[c].step,
        };
    }
    return nb;
}

size_t ff_gpume_nb_cells(const GpumeParams *p)
{
    return (size_t)gpume_blocks(p->width, GPUME_CELL) * gpume_blocks(p->height, GPUME_CELL);
}

/* Returns whether luma of a cell equals the reference: all its blocks have the zero vector at cost 0. */
static int same_luma(const GpumeField *field, const GpumeParams *p, int cx, int cy)
{
    const GpumeBlockRange across = gpume_blocks_of_cell(p->block, p->width,  cx);
    const GpumeBlockRange down   = gpume_blocks_of_cell(p->block, p->height, cy);

    for (int by = down.first; by <= down.last; by++)
        for (int bx = across.first; bx <= across.last; bx++) {
            const size_t i = (size_t)by * p->bw + bx;
            const AVMotionVector *mv = &field->mvs[i];

            if (field->costs[i] || mv->motion_x || mv->motion_y)
                return 0;
        }
    return 1;
}

static int same_bytes(const AVFrame *a, const AVFrame *b, int plane, const GpumeBytes *box)
{
    const ptrdiff_t a_linesize = a->linesize[plane], b_linesize = b->linesize[plane];

    /* no other code checks these planes */
    if (!a->data[plane] || !b->data[plane])
        return 0;
    for (int y = box->y; y < box->y + box->h; y++)
        if (memcmp(a->data[plane] + y * a_linesize + box->x,
                   b->data[plane] + y * b_linesize + box->x, box->w))
            return 0;
    return 1;
}

void ff_gpume_compare_cells(const GpumeField *field, const GpumeParams *p, int start, int end)
{
    const AVFrame *cur = field->cur->frame, *ref = field->ref->frame;
    const int nb_columns = gpume_blocks(p->width, GPUME_CELL);
    GpumeOtherPlane planes[GPUME_MAX_OTHER_PLANES];
    const int nb_planes = ff_gpume_other_planes(planes, cur->format);

    for (int cy = start; cy < end; cy++)
        for (int cx = 0; cx < nb_columns; cx++) {
            int same = same_luma(field, p, cx, cy);

            for (int i = 0; i < nb_planes && same; i++) {
                const GpumeBytes box = gpume_cell_bytes(p, &planes[i], cx, cy);

                same = same_bytes(cur, ref, planes[i].index, &box);
            }
            field->same[cy * nb_columns + cx] = same;
        }
}
