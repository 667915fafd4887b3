/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The steps of propagation: their memory, and the order in which threads take the rows of their passes.
 */

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/cpu/evaluate.h"

static int has_done(const GpumeStepRun *r, int row, int wanted)
{
    return atomic_load_explicit(&r->done[row], memory_order_acquire) >= wanted;
}

/* Returns whether three rows, or those of them that exist, are done. */
static int have_done(const GpumeStepRun *r, int row, int wanted, int others)
{
    return has_done(r, row, wanted) && (!row || has_done(r, row - 1, others)) &&
           (row + 1 >= r->s->params.bh || has_done(r, row + 1, others));
}

static int can_begin(const GpumeStepRun *r, int row)
{
    const GpumeStepRun *before = r - 1;
    int all;

    if (r->s == r->p->steps)
        return 1;
    all = before->s->step.nb_passes + 1;
    if (r->s->step.begin == GPUME_BEGIN_SMALLER)
        row *= 2;
    else if (r->s->step.begin != GPUME_BEGIN_KEEP && r->s->step.begin != GPUME_BEGIN_GLOBAL)
        row = FFMIN(row >> 1, before->s->params.bh - 1);
    return have_done(before, row, all, all);
}

int ff_gpume_propagation_units(const GpumeStepRun *r)
{
    return r->s->params.bh * (1 + r->s->step.nb_passes);
}

/* Prefers rows that have progressed further, because they are still in the cache. */
int ff_gpume_propagation_take(void *run)
{
    GpumeStepRun *r = run;
    const int bh = r->s->params.bh;

    for (int wave = 2 * r->s->step.nb_passes; wave >= 0; wave--) {
        const int pass = (wave + 1) / 2;
        int row = atomic_load_explicit(&r->next[wave], memory_order_relaxed);

        while (row < bh && (wave ? have_done(r, row, pass, pass + !(wave & 1)) : can_begin(r, row)))
            if (atomic_compare_exchange_weak_explicit(&r->next[wave], &row, row + (wave ? 2 : 1),
                                                      memory_order_relaxed, memory_order_relaxed))
                return pass * bh + row;
    }
    return -1;
}

/* Prepares the searches of both directions for global candidates. */
static void begin_searches(const GpumePropagation *p, GpumeStepRun *r, GpumeStepRun *opposite, const GpumeField *field)
{
    const GpumePlaneData cur = ff_gpume_planes_level(&p->layout, field->cur, GPUME_GLOBAL_LEVEL);
    const GpumePlaneData ref = ff_gpume_planes_level(&p->layout, field->ref, GPUME_GLOBAL_LEVEL);

    r->back = opposite ? &opposite->global[0] : &r->global[1];
    ff_gpume_global_begin(&p->global, &r->global[0], cur, ref);
    if (!opposite)
        ff_gpume_global_begin(&p->global, &r->global[1], ref, cur);
}

void ff_gpume_propagation_begin(GpumePropagation *p, GpumeStepRun *runs, GpumeStepRun *opposite,
                                const GpumeField *field)
{
    for (GpumeStepRun *r = runs; r < runs + p->nb_steps; r++) {
        r->field  = field;
        r->number = ++p->nb_runs;
        if (r->s->step.begin == GPUME_BEGIN_GLOBAL)
            begin_searches(p, r, opposite ? opposite + (r - runs) : NULL, field);
        for (int wave = 0; wave <= 2 * r->s->step.nb_passes; wave++)
            atomic_store_explicit(&r->next[wave], wave && !(wave & 1), memory_order_relaxed);
        for (int row = 0; row < r->s->params.bh; row++)
            atomic_store_explicit(&r->done[row], 0, memory_order_relaxed);
    }
}

/* Returns a sample of a plane; beyond the margin the last samples are repeated. */
static const uint8_t *sample_at(const GpumePropagation *p, GpumePlaneData plane, int margin, int x, int y)
{
    return plane.data + plane.linesize * av_clip(y, -margin, p->params.height - 1 + margin) +
           av_clip(x, -margin, p->params.width - 1 + margin) * (p->params.depth > 8 ? 2 : 1);
}

uint32_t ff_gpume_propagation_cost(const GpumePropagation *p, const GpumeField *field,
                                   const GpumeBox *box, GpumeVector v, int pel)
{
    const int log2_pel = gpume_log2_pel(pel), size = p->params.depth > 8 ? 2 : 1;
    const int pair = gpume_subpel_pair((v.dx & (pel - 1)) << (2 - log2_pel),
                                   (v.dy & (pel - 1)) << (2 - log2_pel));
    const int margin = pel > 1 ? GPUME_HALF_MARGIN : 0;
    const int x0 = box->x0 + (v.dx >> log2_pel), y0 = box->y0 + (v.dy >> log2_pel);
    const int inside = x0 >= -margin && x0 + box->w < p->params.width + margin &&
                       y0 >= -margin && y0 + box->h < p->params.height + margin;
    /* samples that are averaged together */
    const int w = inside ? box->w : 1, rows = inside ? GPUME_COST_ROWS : 1;
    uint8_t block[GPUME_COST_ROWS * GPUME_AVERAGE_LINESIZE];
    GpumePlaneData planes[2];
    uint32_t cost = 0;

    for (int i = 0; i < 2; i++)
        planes[i] = pel > 1 ? ff_gpume_planes_half(&p->layout, field->ref, pair >> 4 * i & 3) :
                              ff_gpume_planes_level(&p->layout, field->ref, 0);
    for (int y = 0; y < box->h; y += GPUME_COST_ROWS) {
        const GpumeCostArea area = {
            .functions = p->cost,
            .cur = field->cur->luma + (box->y0 + y) * field->cur->linesize + box->x0 * size,
            .cur_linesize = field->cur->linesize, .ref_linesize = GPUME_AVERAGE_LINESIZE,
            .sample_size = size, .w = box->w, .h = FFMIN(box->h - y, GPUME_COST_ROWS),
        };
        const uint8_t *const ref = block;
        uint32_t part;

        for (int i = 0; i < area.h; i += rows)
            for (int x = 0; x < area.w; x += w)
                p->pixels.average(block + i * GPUME_AVERAGE_LINESIZE + x * size,
                                  sample_at(p, planes[0], margin, x0 + x + (pair >> 2 & 1),
                                            y0 + y + i + (pair >> 3 & 1)),
                                  sample_at(p, planes[1], margin, x0 + x + (pair >> 6 & 1),
                                            y0 + y + i + (pair >> 7 & 1)),
                                  planes[0].linesize, w, FFMIN(rows, area.h));
        ff_gpume_cost_of_parts(&area, &ref, 1, &part, UINT32_MAX);
        cost += part;
    }
    return cost;
}

/* Returns whether a step continues with the blocks of the previous step and their bounds. */
static int shares_memory(const GpumePropagation *p, int i)
{
    return i && (p->steps[i].step.begin == GPUME_BEGIN_KEEP || p->steps[i].step.begin == GPUME_BEGIN_GLOBAL);
}

/* Times continue if a step continues with the blocks of the previous step, as far as their range allows. */
static int first_time(const GpumePropagation *p, int i)
{
    int start;

    if (!shares_memory(p, i))
        return 0;
    start = p->steps[i - 1].start + GPUME_NB_PHASES * p->steps[i - 1].step.nb_passes;
    return start + GPUME_NB_PHASES * p->steps[i].step.nb_passes > MAX_TIME ? 0 : start;
}

av_cold int ff_gpume_propagation_init(GpumePropagation *p, const GpumeParams *params, const GpumePlan *plan,
                                      const GpumeCost *cost, int nb_threads)
{
    p->params   = *params;
    p->cost     = cost;
    p->nb_steps = plan->nb_steps;
    ff_gpume_planes_init(&p->layout, params, plan);
    p->global   = ff_gpume_global_params(params);
    ff_gpume_pixels_init(&p->pixels, params->depth);
    for (int i = 0; i < p->nb_steps; i++) {
        p->steps[i].step   = plan->steps[i];
        p->steps[i].params = ff_gpume_step_params(params, &plan->steps[i]);
        p->steps[i].start  = first_time(p, i);
    }
    p->searchers = ff_gpume_propagation_searchers(nb_threads);
    return p->searchers ? 0 : AVERROR(ENOMEM);
}

/* Vectors that are kept stay in place. */
static int shares_field(const GpumePropagation *p, int i)
{
    return i && p->steps[i].step.begin == GPUME_BEGIN_KEEP;
}

/* Returns whether there are passes over the field of a step, either its own or those of steps that keep the field. */
static int has_passes(const GpumePropagation *p, int i)
{
    int nb = 0;

    do {
        nb += i < p->nb_steps ? p->steps[i].step.nb_passes : 0;
        i++;
    } while (i < p->nb_steps && shares_memory(p, i));
    return nb > 0;
}

av_cold int ff_gpume_propagation_alloc(GpumePropagation *p, GpumeStepRun *runs)
{
    for (int i = 0; i < FFMAX(p->nb_steps, 1); i++) {
        const GpumeParams *params = p->nb_steps ? &p->steps[i].params : &p->params;
        const size_t nb_blocks = (size_t)params->bw * params->bh;
        GpumeStepField *f = &runs[i].f;

        runs[i].p    = p;
        runs[i].s    = &p->steps[i];
        runs[i].done = av_calloc(params->bh, sizeof(*runs[i].done));
        if (shares_field(p, i)) {
            *f = runs[i - 1].f;
        } else {
            f->vectors = av_calloc(nb_blocks, sizeof(*f->vectors));
            f->costs   = av_calloc(nb_blocks, sizeof(*f->costs));
            if (shares_memory(p, i)) {
                f->changed = runs[i - 1].f.changed;
                f->bounds  = runs[i - 1].f.bounds;
            } else if (has_passes(p, i)) {
                f->changed = av_calloc(params->bh, CHANGED_LINESIZE(params->bw));
                f->bounds  = av_calloc(nb_blocks, NB_CANDIDATES * sizeof(*f->bounds));
            }
        }
        if (!runs[i].done || !f->vectors || !f->costs || has_passes(p, i) && (!f->changed || !f->bounds))
            return AVERROR(ENOMEM);
        for (int k = 0; k < 1 + !p->params.check && p->steps[i].step.begin == GPUME_BEGIN_GLOBAL; k++)
            if (ff_gpume_global_alloc(&p->global, &runs[i].global[k]) < 0)
                return AVERROR(ENOMEM);
    }
    return 0;
}

av_cold void ff_gpume_propagation_free(const GpumePropagation *p, GpumeStepRun *runs)
{
    for (int i = 0; i < FFMAX(p->nb_steps, 1); i++) {
        GpumeStepField *f = &runs[i].f;

        av_freep(&runs[i].done);
        for (int k = 0; k < 2; k++)
            ff_gpume_global_free(&runs[i].global[k]);
        if (shares_field(p, i))
            continue;
        av_freep(&f->vectors);
        av_freep(&f->costs);
        if (shares_memory(p, i))
            continue;
        av_freep(&f->changed);
        av_freep(&f->bounds);
    }
}

av_cold void ff_gpume_propagation_uninit(GpumePropagation *p)
{
    av_freep(&p->searchers);
}
