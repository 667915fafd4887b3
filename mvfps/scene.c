/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdint.h>
#include <stdlib.h>

#include "libavutil/common.h"

#include "libavfilter/gpume/mvfps/arithmetic.h"
#include "libavfilter/gpume/mvfps/scene.h"
#include "libavfilter/gpume/field/sidedata.h"

typedef struct Sums {
    const GpumeLayout *l;
    const AVFrame *before, *after;
    uint64_t cost, flat;
} Sums;

static int sample(const Sums *s, const AVFrame *frame, int x, int y)
{
    const GpumeComponent *c = &s->l->components[0];
    const uint8_t *row = gpume_layout_row(s->l, c, frame, y);

    return s->l->bytes == 1 ? row[x * c->step] : ((const uint16_t *)row)[x * c->step] >> s->l->shift;
}

/* Add a block's part inside the picture; its match's edge is repeated. */
static void add_block(Sums *s, const GpumeBlockVector *v)
{
    const int left = gpume_block_left(v), top = gpume_block_top(v);
    const int x0 = FFMAX(left, 0), x1 = FFMIN(left + v->w, s->l->w);
    const int y0 = FFMAX(top, 0),  y1 = FFMIN(top + v->h, s->l->h);
    const int dx = (v->dx + GPUME_UNITS / 2) >> 4, dy = (v->dy + GPUME_UNITS / 2) >> 4;
    const int64_t nb = (int64_t)(x1 - x0) * (y1 - y0);
    uint64_t sum = 0;
    int mean;

    for (int y = y0; y < y1; y++) {
        const int ry = av_clip(y + dy, 0, s->l->h - 1);

        for (int x = x0; x < x1; x++) {
            const int value = sample(s, s->after, x, y);

            sum     += value;
            s->cost += abs(value - sample(s, s->before, av_clip(x + dx, 0, s->l->w - 1), ry));
        }
    }
    mean = (2 * sum + nb) / (2 * nb);
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++)
            s->flat += abs(sample(s, s->after, x, y) - mean);
}

double ff_mvfps_scene_figure(const GpumeLayout *l, const AVFrame *before, const AVFrame *after)
{
    const AVFrameSideData *sd = av_frame_get_side_data(after, AV_FRAME_DATA_MOTION_VECTORS);
    const size_t nb = gpume_nb_vectors(sd);
    Sums s = { l, before, after };
    GpumeBlockVector v;
    int any = 0;

    for (size_t i = 0; i < nb; i++) {
        if (gpume_read_vector(&v, sd, i, l->w, l->h) && !(v.distance > 0)) {
            add_block(&s, &v);
            any = 1;
        }
    }
    v = (GpumeBlockVector) { .w = MVFPS_SCENE_SIDE, .h = MVFPS_SCENE_SIDE };
    for (int y = 0; !any && y < l->h; y += MVFPS_SCENE_SIDE) {
        for (int x = 0; x < l->w; x += MVFPS_SCENE_SIDE) {
            v.x = x + MVFPS_SCENE_SIDE / 2;
            v.y = y + MVFPS_SCENE_SIDE / 2;
            add_block(&s, &v);
        }
    }
    return s.flat ? (double)s.cost / s.flat : !!s.cost;
}
