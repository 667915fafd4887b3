/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdint.h>
#include <stdlib.h>

#include "libavutil/common.h"

#include "libavfilter/gpume/mvfps/arithmetic.h"
#include "libavfilter/gpume/mvfps/scene.h"

/** Parts of the work. */
#define NB_PARTS 64

typedef struct Sums {
    uint64_t cost, flat;
} Sums;

typedef struct Scene {
    const GpumeLayout *l;
    const AVFrame *before, *after;
    const GpumeCellField *past;
    int across, nb;             ///< blocks where there are no vectors
    Sums sums[NB_PARTS];       ///< of parts that were done together, the first's
} Scene;

static int sample(const GpumeLayout *l, const uint8_t *row, int x)
{
    x *= l->components[0].step;
    return l->bytes == 1 ? row[x] : ((const uint16_t *)row)[x] >> l->shift;
}

/* Adds a block's part inside the picture; its match's edge is repeated. */
static void add_block(Sums *s, const Scene *scene, const GpumeBlockVector *v)
{
    const GpumeLayout *l = scene->l;
    const int left = gpume_block_left(v), top = gpume_block_top(v);
    const int x0 = FFMAX(left, 0), x1 = FFMIN(left + v->w, l->w);
    const int y0 = FFMAX(top, 0),  y1 = FFMIN(top + v->h, l->h);
    const int dx = (v->dx + GPUME_UNITS / 2) >> 4, dy = (v->dy + GPUME_UNITS / 2) >> 4;
    const int64_t nb = (int64_t)(x1 - x0) * (y1 - y0);
    uint64_t sum = 0;
    int mean;

    for (int y = y0; y < y1; y++) {
        const uint8_t *a = gpume_layout_row(l, l->components, scene->after, y);
        const uint8_t *b = gpume_layout_row(l, l->components, scene->before, av_clip(y + dy, 0, l->h - 1));
        unsigned cost = 0;

        for (int x = x0; x < x1; x++) {
            const int value = sample(l, a, x);

            sum  += value;
            cost += abs(value - sample(l, b, av_clip(x + dx, 0, l->w - 1)));
        }
        s->cost += cost;
    }
    mean = (2 * sum + nb) / (2 * nb);
    for (int y = y0; y < y1; y++) {
        const uint8_t *a = gpume_layout_row(l, l->components, scene->after, y);
        unsigned flat = 0;

        for (int x = x0; x < x1; x++)
            flat += abs(sample(l, a, x) - mean);
        s->flat += flat;
    }
}

static void add_parts(void *opaque, int worker, int start, int end)
{
    Scene *s = opaque;
    const uint64_t nb    = s->past->nb ? s->past->nb : s->nb;
    const uint64_t after = nb * end / NB_PARTS;
    Sums sums = { 0 };

    for (uint64_t i = nb * start / NB_PARTS; i < after; i++) {
        GpumeBlockVector v = {
            .x = i % s->across * MVFPS_SCENE_SIDE + MVFPS_SCENE_SIDE / 2, .w = MVFPS_SCENE_SIDE,
            .y = i / s->across * MVFPS_SCENE_SIDE + MVFPS_SCENE_SIDE / 2, .h = MVFPS_SCENE_SIDE,
        };

        if (!s->past->nb || ff_gpume_cells_read(&v, s->past, i))
            add_block(&sums, s, &v);
    }
    s->sums[start] = sums;
}

double ff_mvfps_scene_figure(const GpumeLayout *l, const AVFrame *before, const AVFrame *after,
                             const GpumeCellField *past, GpumeScheduler *scheduler)
{
    Scene s = {
        .l = l, .before = before, .after = after, .past = past,
        .across = (l->w + MVFPS_SCENE_SIDE - 1) / MVFPS_SCENE_SIDE,
    };
    GpumeTask task = { add_parts, .arg = &s, .nb_units = NB_PARTS };
    GpumeTaskList list = { (GpumeTask *[]) { &task }, 1 };
    uint64_t cost = 0, flat = 0;

    s.nb = s.across * ((l->h + MVFPS_SCENE_SIDE - 1) / MVFPS_SCENE_SIDE);
    ff_gpume_tasks_run(scheduler, (GpumeTaskList *[]) { &list }, 1);
    for (int i = 0; i < NB_PARTS; i++) {
        cost += s.sums[i].cost;
        flat += s.sums[i].flat;
    }
    return flat ? (double)cost / flat : !!cost;
}
