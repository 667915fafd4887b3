/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/core/propagation.h"
#include "libavfilter/gpume/cpu/check.h"

av_cold int ff_gpume_check_init(GpumeCheck *c, const GpumeParams *p)
{
    const size_t nb_blocks = (size_t)p->bw * p->bh;

    c->rings     = av_calloc(nb_blocks, sizeof(*c->rings));
    c->remaining = av_calloc(nb_blocks, sizeof(*c->remaining));
    return c->rings && c->remaining ? 0 : AVERROR(ENOMEM);
}

void ff_gpume_check_row(GpumeCheck *c, const GpumeParams *p, const GpumeVector *vectors,
                        const GpumeVector *opposite, int by)
{
    for (int bx = 0; bx < p->bw; bx++) {
        const GpumeBox box  = gpume_box(p, p->block, bx, by);
        const GpumeVector v = vectors[by * p->bw + bx];
        const int x = gpume_partner(box.x0, box.w, v.dx, p->pel, p->block, p->bw);
        const int y = gpume_partner(box.y0, box.h, v.dy, p->pel, p->block, p->bh);

        c->rings[by * p->bw + bx] = gpume_consistent(v, opposite[y * p->bw + x], p->pel) ?
                                    GPUME_RING_CONSISTENT : GPUME_RING_NONE;
    }
}

/* Replaces a vector by the median of neighbours of earlier rings. Returns whether there are any. */
static int replace(const GpumeCheck *c, const GpumeParams *p, GpumeVector *vectors, int i, int ring)
{
    const int bx = i % p->bw, by = i / p->bw;
    short dx[8], dy[8];
    int nb = 0;

    for (int y = by - 1; y <= by + 1; y++)
        for (int x = bx - 1; x <= bx + 1; x++)
            if (x >= 0 && x < p->bw && y >= 0 && y < p->bh && c->rings[y * p->bw + x] < ring) {
                dx[nb]   = vectors[y * p->bw + x].dx;
                dy[nb++] = vectors[y * p->bw + x].dy;
            }
    if (nb)
        vectors[i] = (GpumeVector) { gpume_median_of(dx, nb), gpume_median_of(dy, nb) };
    return nb;
}

void ff_gpume_check_replace(GpumeCheck *c, const GpumeParams *p, GpumeVector *vectors)
{
    const int nb_blocks = p->bw * p->bh;
    int nb = 0, nb_before;

    for (int i = 0; i < nb_blocks; i++)
        if (c->rings[i] == GPUME_RING_NONE)
            c->remaining[nb++] = i;
    for (int ring = 1; nb; ring++) {
        nb_before = nb;
        nb        = 0;
        for (int j = 0; j < nb_before; j++) {
            const int i = c->remaining[j];

            if (replace(c, p, vectors, i, ring))
                c->rings[i] = ring;
            else
                c->remaining[nb++] = i;
        }
        if (nb == nb_before)
            break;
    }
}

av_cold void ff_gpume_check_uninit(GpumeCheck *c)
{
    av_freep(&c->rings);
    av_freep(&c->remaining);
}
