/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libavutil/common.h"

#include "libavfilter/gpume/cpu/cost.h"
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
    GpumeCost sad;              ///< where words are samples
    int across, nb;             ///< squares: blocks where there are no vectors
    Sums sums[NB_PARTS];       ///< of parts that were done together, the first's
    MvfpsLights lights[NB_PARTS];
} Scene;

static int sample(const GpumeLayout *l, const uint8_t *row, int x)
{
    x *= l->components[0].step;
    return l->bytes == 1 ? row[x] : ((const uint16_t *)row)[x] >> l->shift;
}

/** Longest side of a block in a list of vectors. */
#define MAX_SIDE 255

static uint32_t cost_of(const GpumeCostArea *a, const uint8_t *ref)
{
    const int i = gpume_width_index(a->w);
    uint32_t cost;

    if (gpume_width_of(i) == a->w && a->h <= GPUME_COST_ROWS)
        return a->functions->one[i](a->cur, a->cur_linesize, ref, a->ref_linesize, a->h, UINT32_MAX);
    ff_gpume_cost_of_parts(a, &ref, 1, &cost, UINT32_MAX);
    return cost;
}

/* Adds a whole block of words beside each other that are samples, and whose match is inside the picture too. */
static void add_whole_block(Sums *s, const Scene *scene, const GpumeBlockVector *v, int x, int y, int dx, int dy)
{
    const GpumeLayout *l = scene->l;
    const int nb = v->w * v->h;
    const uint8_t *match = gpume_layout_row(l, l->components, scene->before, y + dy) + (x + dx) * l->bytes;
    uint16_t row[MAX_SIDE] = { 0 };
    const uint8_t *flat = (const uint8_t *)row;
    GpumeCostArea area = {
        .functions = &scene->sad, .cur = gpume_layout_row(l, l->components, scene->after, y) + x * l->bytes,
        .cur_linesize = scene->after->linesize[l->components[0].plane],
        .ref_linesize = scene->before->linesize[l->components[0].plane],
        .sample_size = l->bytes, .w = v->w, .h = v->h,
    };
    int mean;

    s->cost += cost_of(&area, match);
    /* the same row again and again: of zeros, the cost is the sum; of the mean, what a flat block would cost */
    area.ref_linesize = 0;
    mean = (2 * (uint64_t)cost_of(&area, flat) + nb) / (2 * nb);
    if (l->bytes == 1)
        memset(row, mean, v->w);
    else
        for (int i = 0; i < v->w; i++)
            row[i] = mean;
    s->flat += cost_of(&area, flat);
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

    if (!l->shift && l->components[0].step == 1 &&
        x1 - x0 == v->w && y1 - y0 == v->h &&
        x0 + dx >= 0 && x1 + dx <= l->w && y0 + dy >= 0 && y1 + dy <= l->h) {
        add_whole_block(s, scene, v, x0, y0, dx, dy);
        return;
    }
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

static void add_square(MvfpsLights *sums, const Scene *scene, int x0, int y0)
{
    const GpumeLayout *l = scene->l;
    const int x1 = FFMIN(x0 + MVFPS_SCENE_SIDE, l->w), y1 = FFMIN(y0 + MVFPS_SCENE_SIDE, l->h);
    const int nb = (x1 - x0) * (y1 - y0);
    unsigned before = 0, after = 0;

    for (int y = y0; y < y1; y++) {
        const uint8_t *b = gpume_layout_row(l, l->components, scene->before, y);
        const uint8_t *a = gpume_layout_row(l, l->components, scene->after,  y);

        for (int x = x0; x < x1; x++) {
            before += sample(l, b, x);
            after  += sample(l, a, x);
        }
    }
    mvfps_add_lights(sums, mvfps_light(before, nb, l->depth), mvfps_light(after, nb, l->depth));
}

static void add_squares(void *opaque, int worker, int start, int end)
{
    Scene *s = opaque;
    const int64_t nb = s->nb;
    MvfpsLights lights = { 0 };

    for (int i = nb * start / NB_PARTS; i < nb * end / NB_PARTS; i++)
        add_square(&lights, s, i % s->across * MVFPS_SCENE_SIDE, i / s->across * MVFPS_SCENE_SIDE);
    s->lights[start] = lights;
}

static void init_scene(Scene *s, const GpumeLayout *l, const AVFrame *before, const AVFrame *after)
{
    *s = (Scene) {
        .l = l, .before = before, .after = after,
        .across = (l->w + MVFPS_SCENE_SIDE - 1) / MVFPS_SCENE_SIDE,
    };
    s->nb = s->across * ((l->h + MVFPS_SCENE_SIDE - 1) / MVFPS_SCENE_SIDE);
}

static void run_parts(Scene *s, void (*run)(void *arg, int worker, int start, int end), GpumeScheduler *scheduler)
{
    GpumeTask task = { run, .arg = s, .nb_units = NB_PARTS };
    GpumeTaskList list = { (GpumeTask *[]) { &task }, 1 };

    ff_gpume_tasks_run(scheduler, (GpumeTaskList *[]) { &list }, 1);
}

double ff_mvfps_scene_figure(const GpumeLayout *l, const AVFrame *before, const AVFrame *after,
                             const GpumeCellField *past, GpumeScheduler *scheduler)
{
    uint64_t cost = 0, flat = 0;
    Scene s;

    init_scene(&s, l, before, after);
    s.past = past;
    ff_gpume_sad_init(&s.sad, 8 * l->bytes);
    run_parts(&s, add_parts, scheduler);
    for (int i = 0; i < NB_PARTS; i++) {
        cost += s.sums[i].cost;
        flat += s.sums[i].flat;
    }
    return (double)cost / FFMAX(flat, 1);
}

int ff_mvfps_scene_is_fade(const GpumeLayout *l, const AVFrame *before, const AVFrame *after,
                           GpumeScheduler *scheduler)
{
    MvfpsLights sums = { 0 };
    Scene s;

    init_scene(&s, l, before, after);
    run_parts(&s, add_squares, scheduler);
    for (int i = 0; i < NB_PARTS; i++) {
        sums.before  += s.lights[i].before;
        sums.after   += s.lights[i].after;
        sums.before2 += s.lights[i].before2;
        sums.after2  += s.lights[i].after2;
        sums.both    += s.lights[i].both;
    }
    return mvfps_is_fade(sums, s.nb);
}
