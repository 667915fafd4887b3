/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The vectors with which the steps of propagation begin.
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/macros.h"

#include "libavfilter/gpume/cpu/evaluate.h"

/* Adds an initial candidate, which has no penalty. Returns the number of candidates. */
static int add_candidate(Searcher *c, int nb, GpumeVector v)
{
    if (!is_admissible(c, v))
        return nb;
    for (int i = 0; i < nb; i++)
        if (same(c->choice.vectors[i], v))
            return nb;
    c->choice.penalties[nb] = 0;
    c->choice.vectors[nb]   = v;
    return nb + 1;
}

/* Chooses among the added candidates. */
static void choose_added(Searcher *c, Best *o, int nb)
{
    const GpumeVector v = c->choice.vectors[0];

    if (nb > 1 || nb && o->cost != UINT32_MAX) {
        choose(c, o, (1 << nb) - 1, 1);
    } else if (nb) {
        const uint8_t *ref = c->ref.data + c->offset + v.dy * c->places.linesize + v.dx * c->sample_size;

        cost_of(c, &ref, c->places.linesize, 1, &o->cost, UINT32_MAX);
        o->vector = v;
        o->sum    = o->cost;
    }
}

/* Chooses among all vectors with components of up to range samples. */
static Best best_within(Searcher *c, int range)
{
    const GpumeBox b = gpume_box_within(c->box, range);
    Best o = { .cost = UINT32_MAX, .sum = UINT32_MAX };
    int nb;

    choose_added(c, &o, add_candidate(c, 0, (GpumeVector) { 0 }));
    for (int dy = b.min_dy; dy <= b.max_dy && o.cost; dy++)
        for (int dx = b.min_dx; dx <= b.max_dx; dx += nb) {
            for (nb = 0; nb < GROUP && dx + nb <= b.max_dx;)
                nb = add_candidate(c, nb, (GpumeVector) { dx + nb, dy });
            choose_added(c, &o, nb);
        }
    return o;
}

static void begin_coarser(Searcher *c, Best *o, int bx, int by)
{
    /* the grid of the previous step */
    const GpumeParams *p = &(c->s - 1)->params;
    const int factor = gpume_doubles(c->s->step.begin) ? 2 : 1;
    int nb = 0;

    for (int i = 0; i < 4; i++) {
        int x = bx, y = by;

        if (gpume_parent(i, &x, &y, p->bw, p->bh)) {
            const GpumeVector v = c->before->vectors[y * p->bw + x];

            nb = add_candidate(c, nb, (GpumeVector) { v.dx * factor, v.dy * factor });
        }
    }
    if (factor > 1 || !nb)
        nb = add_candidate(c, nb, (GpumeVector) { 0 });
    choose_added(c, o, nb);
    if (c->s->step.begin == GPUME_BEGIN_WIDE &&
        gpume_global_doubtful(o->cost, c->box.w, c->box.h, c->s->params.depth)) {
        const Best wide = best_within(c, GPUME_WIDE_RANGE);

        if (wide.cost < gpume_wide_limit(o->cost))
            *o = wide;
    }
}

static av_noinline void begin_smaller(Searcher *c, Best *o, int bx, int by)
{
    /* the grid of the previous step */
    const GpumeParams *p = &(c->s - 1)->params;
    int nb = 0;

    for (int y = 2 * by; y < FFMIN(2 * by + 2, p->bh); y++)
        for (int x = 2 * bx; x < FFMIN(2 * bx + 2, p->bw); x++)
            nb = add_candidate(c, nb, c->before->vectors[y * p->bw + x]);
    if (!nb)
        nb = add_candidate(c, nb, (GpumeVector) { 0 });
    choose(c, o, (1 << nb) - 1, c->pel);
}

/* Returns the best vector near a global candidate, which has the precision of a coarse level. */
static Best refine(Searcher *c, GpumeVector v)
{
    Best o = { .cost = UINT32_MAX, .sum = UINT32_MAX };

    for (int step = GPUME_GLOBAL_SCALE / 2; step; step >>= 1) {
        const GpumeVector centre = o.cost == UINT32_MAX ? v : o.vector;
        int nb = o.cost == UINT32_MAX ? add_candidate(c, 0, centre) : 0;

        for (int i = 0; i < 8; i++) {
            int x, y;

            gpume_around(i, &x, &y);
            nb = add_candidate(c, nb, (GpumeVector) { centre.dx + step * x, centre.dy + step * y });
        }
        choose_added(c, &o, nb);
    }
    return o;
}

/* Returns the penalty of a vector relative to the neighbours of the previous step. */
static uint32_t penalty_before(const Searcher *c, GpumeVector v, int bx, int by)
{
    const GpumeParams *p = &c->s->params;
    uint32_t sum = 0;
    int nb = 0;

    for (int i = 0; i < 8; i++) {
        int x, y;

        gpume_around(i, &x, &y);
        x += bx;
        y += by;
        if (x < 0 || y < 0 || x >= p->bw || y >= p->bh)
            continue;
        sum += gpume_difference(v, c->before->vectors[y * p->bw + x], c->s->step.threshold);
        nb++;
    }
    return gpume_penalty(gpume_penalty_factor(p->smooth, p->block), sum, nb, 1, p->depth);
}

/* Replaces the vector of the previous step if a global candidate is much better. */
static av_noinline void begin_global(Searcher *c, Best *o, int bx, int by)
{
    GpumeVector candidates[GPUME_GLOBAL_PLACES];
    int nb;

    set_block(c, bx, by);
    nb = ff_gpume_global_candidates(&c->p->global, &c->run->global[0], c->run->back, &c->box, o->vector, candidates);
    if (nb)
        o->sum = gpume_global_limit(o->cost + penalty_before(c, o->vector, bx, by));
    for (int k = 0; k < nb; k++) {
        Best near = refine(c, candidates[k]);

        if (near.cost == UINT32_MAX)
            continue;
        near.sum += penalty_before(c, near.vector, bx, by);
        if (near.sum < o->sum)
            *o = near;
    }
}

/* Resets data that a step must not take over from the previous step. */
static void begin_memory(const Searcher *c, int by)
{
    const int bw = c->s->params.bw;
    GpumeStepField *f = c->f;

    if (goes_on(c->s))
        return;
    if (c->s->start) {
        /* bounds of the neighbours' vectors stay valid; those around the own vector do not, because
         * these are other vectors now */
        for (int bx = 0; bx < bw; bx++)
            memset(f->bounds + NB_CANDIDATES * (by * bw + bx) + 8, 0, 8 * sizeof(*f->bounds));
    } else if (f->changed) {
        memset(f->changed + by * CHANGED_LINESIZE(bw), 0, bw);
        memset(f->bounds + NB_CANDIDATES * by * bw, 0, NB_CANDIDATES * bw * sizeof(*f->bounds));
    }
}

/* Copies a row of the previous step, except blocks that take a global candidate. */
static void begin_row_global(Searcher *c, int by)
{
    const GpumeParams *p = &c->s->params;
    GpumeStepField *f = c->f;

    for (int bx = 0; bx < p->bw; bx++) {
        const int i = by * p->bw + bx;
        Best o = { c->before->vectors[i], c->before->costs[i] };

        if (gpume_global_doubtful(o.cost, FFMIN(p->block, p->width - bx * p->block),
                                  FFMIN(p->block, p->height - by * p->block), p->depth))
            begin_global(c, &o, bx, by);
        if (!same(o.vector, c->before->vectors[i]) && c->s->start) {
            f->changed[by * CHANGED_LINESIZE(p->bw) + bx] = c->s->start;
            memset(f->bounds + NB_CANDIDATES * i + 8, 0, 8 * sizeof(*f->bounds));
        }
        f->vectors[i] = o.vector;
        f->costs[i]   = o.cost;
    }
}

void ff_gpume_propagation_begin_row(Searcher *c, int by)
{
    const int bw = c->s->params.bw;
    GpumeStepField *f = c->f;

    begin_memory(c, by);
    if (c->s->step.begin == GPUME_BEGIN_GLOBAL) {
        begin_row_global(c, by);
        return;
    }
    for (int bx = 0; bx < bw; bx++) {
        GpumeVector *v = &f->vectors[by * bw + bx];
        Best o = { .cost = UINT32_MAX, .sum = UINT32_MAX };

        if (c->s->step.begin == GPUME_BEGIN_KEEP) {
            v->dx *= c->pel;
            v->dy *= c->pel;
            continue;
        }
        set_block(c, bx, by);
        if (c->s->step.begin == GPUME_BEGIN_FULL)
            o = best_within(c, c->s->params.range);
        else if (c->s->step.begin == GPUME_BEGIN_SMALLER)
            begin_smaller(c, &o, bx, by);
        else
            begin_coarser(c, &o, bx, by);
        *v = o.vector;
        f->costs[by * bw + bx] = o.cost;
    }
}
