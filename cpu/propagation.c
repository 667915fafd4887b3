/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/cpu/evaluate.h"

/* Returns whether a vector in quarters leads to whole samples, or to the middle between four of them. */
static av_always_inline int is_centre(GpumeVector v)
{
    return !((v.dx | v.dy) & 1 || (v.dx ^ v.dy) & 2);
}

/* Evaluates the eight vectors around such a vector. */
static av_always_inline void evaluate_around(const Searcher *c, GpumeVector own, uint32_t cost[8])
{
    const GpumePlaces *p = &c->places;
    const int size = c->sample_size;
    const ptrdiff_t offset = c->offset + (own.dy >> 2) * p->linesize + (own.dx >> 2) * size;
    const uint8_t *right = p->base[0][2] + offset, *below = p->base[0][8] + offset;

    if (own.dx & 2) {
        const uint8_t *five[5] = { p->base[0][10] + offset, below, below + size, right, right + p->linesize };

        c->around(c->area.cur, c->area.cur_linesize, five, p->linesize, c->box.h, cost);
    } else {
        const uint8_t *five[5] = { p->base[0][0] + offset, right - size, right, below - p->linesize, below };

        c->around(c->area.cur, c->area.cur_linesize, five, p->linesize, c->box.h, cost);
    }
}

/* Returns a mask (bits 7, 15 and 23) of three times that are not before since, 1 to 127. Reads a fourth time. */
static av_always_inline unsigned recent(const uint8_t *changed, int since)
{
    return (AV_RL32(changed) + (MAX_TIME - since) * 0x1010101u) & 0x808080;
}

/* Gathers bits 7, 15 and 23 in bits 0 to 2. */
static av_always_inline unsigned gather_bits(unsigned x)
{
    return (x >> 7) * 0x10204 >> 16 & 7;
}

/*
 * Returns a bit mask of neighbours that have changed since the block was visited in the previous
 * pass; bit 8: the block itself.
 */
static av_always_inline unsigned changed_since(const uint8_t *changed, int linesize, int since)
{
    const unsigned above = gather_bits(recent(changed - linesize - 1, since));
    const unsigned row   = recent(changed - 1, since);
    const unsigned below = gather_bits(recent(changed + linesize - 1, since));

    return above | below << 5 | (row >> 4 & 8) | (row >> 19 & 16) | (row >> 7 & 256);
}

/* Returns the candidates of a block with missing neighbours, as a mask of c->choice.vectors. */
static unsigned few_candidates(Searcher *c, Best *o, int bx, int by)
{
    const GpumeParams *p = &c->s->params;
    const GpumeVector *v = c->f->vectors + by * p->bw + bx;
    GpumeChoice *choice = &c->choice;
    int nb_neighbours = 0, nb, x, y;
    unsigned mask = 0;

    for (int i = 0; i < 8; i++) {
        gpume_around(i, &x, &y);
        if (bx + x >= 0 && bx + x < p->bw && by + y >= 0 && by + y < p->bh)
            choice->vectors[nb_neighbours++] = v[y * p->bw + x];
    }
    nb = nb_neighbours;
    for (int i = 0; i < 8; i++) {
        gpume_around(i, &x, &y);
        choice->vectors[nb++] = (GpumeVector) { v->dx + x, v->dy + y };
    }

    /* the own vector first: its sum determines which of the others may be better */
    choice->own = *v;
    for (int i = -1; i < nb; i++) {
        const GpumeVector one = i < 0 ? choice->own : choice->vectors[i];
        uint32_t penalty = 0;

        for (int j = 0; j < nb_neighbours; j++)
            penalty += gpume_difference(one, choice->vectors[j], choice->threshold);
        penalty = gpume_penalty(choice->factor, penalty, nb_neighbours, c->pel, p->depth);
        if (i < 0) {
            o->sum += penalty;
        } else {
            choice->penalties[i] = penalty;
            mask |= (penalty < o->sum && is_admissible(c, one)) << i;
        }
    }
    return mask;
}

/* Returns whether a block, or an existing neighbour, has changed since a time. */
static int edge_changed(const Searcher *c, int bx, int by, int since)
{
    const GpumeParams *p = &c->s->params;

    for (int y = FFMAX(by - 1, 0); y <= FFMIN(by + 1, p->bh - 1); y++)
        for (int x = FFMAX(bx - 1, 0); x <= FFMIN(bx + 1, p->bw - 1); x++)
            if (c->f->changed[y * CHANGED_LINESIZE(p->bw) + x] >= since)
                return 1;
    return 0;
}

static av_always_inline void visit_edge(Searcher *c, int bx, int by, int now, int pel)
{
    GpumeStepField *f = c->f;
    const int bw = c->s->params.bw, i = by * bw + bx;
    Best o = { f->vectors[i], f->costs[i], f->costs[i] };

    set_block(c, bx, by);
    choose(c, &o, few_candidates(c, &o, bx, by), pel);
    if (!same(o.vector, f->vectors[i])) {
        f->vectors[i] = o.vector;
        f->costs[i]   = o.cost;
        f->changed[by * CHANGED_LINESIZE(bw) + bx] = now;
    }
}

/* Returns the candidates of a block with all neighbours, in the row of the current block. */
static av_always_inline unsigned all_candidates(Searcher *c, Visit *visit, int by, int pel)
{
    const GpumeParams *p = &c->s->params;
    const int bw = p->bw, i = by * bw + visit->bx;
    const GpumeVector *v = c->f->vectors + i;
    uint32_t *bounds = c->f->bounds + NB_CANDIDATES * i;
    GpumeChoice *choice = &visit->choice;
    const int x0 = visit->bx * p->block;

    choice->cost = c->f->costs[i];
    choice->min  = (GpumeVector) { gpume_min_displacement(p->range, x0) * pel, c->box.min_dy * pel };
    choice->max  = (GpumeVector) {
        gpume_max_displacement(p->range, p->width, x0 + p->block) * pel, c->box.max_dy * pel
    };
    return c->p->pixels.candidates_at(choice, v, bw, bounds, visit->forgotten & 0xff);
}

/*
 * Converts the bounds of the vectors around one vector to those around another, which is displaced
 * by (x, y).
 * @param cost cost of the first vector
 */
static void move_bounds(uint32_t *around, uint32_t cost, int x, int y)
{
    /* 8: the own vector, 9: unknown */
    static const uint8_t from[9][8] = {
        { 9, 9, 9, 9, 1, 9, 3, 8 }, { 9, 9, 9, 0, 2, 3, 8, 4 }, { 9, 9, 9, 1, 9, 8, 4, 9 },
        { 9, 0, 1, 9, 8, 9, 5, 6 }, { 9, 9, 9, 9, 9, 9, 9, 9 }, { 1, 2, 9, 8, 9, 6, 7, 9 },
        { 9, 3, 8, 9, 6, 9, 9, 9 }, { 3, 8, 4, 5, 7, 9, 9, 9 }, { 8, 4, 9, 6, 9, 9, 9, 9 },
    };
    const int place = x < -1 || x > 1 || y < -1 || y > 1 ? 4 : 3 * y + x + 4;
    uint32_t known[10];

    memcpy(known, around, 8 * sizeof(*known));
    known[8] = cost;
    known[9] = 0;
    for (int i = 0; i < 8; i++)
        around[i] = known[from[place][i]];
}

/* Takes the best candidate of a block if it is better than its own vector. */
static av_always_inline void take_best(Searcher *c, Visit *visit, int by, int now)
{
    const GpumeChoice *choice = &visit->choice;
    GpumeStepField *f = c->f;
    const int bw = c->s->params.bw, i = by * bw + visit->bx;
    uint32_t *bounds = f->bounds + NB_CANDIDATES * i;
    const uint64_t least = gpume_least_sum(choice, bounds, visit->cost,
                                           visit->around ? visit->mask & 0xff : visit->mask, visit->mask);

    if (least >> 4 < choice->sum) {
        const GpumeVector v = choice->vectors[least & 15];

        move_bounds(bounds + 8, f->costs[i], v.dx - choice->own.dx, v.dy - choice->own.dy);
        f->vectors[i] = v;
        f->costs[i]   = (least >> 4) - choice->penalties[least & 15];
        f->changed[by * CHANGED_LINESIZE(bw) + visit->bx] = now;
    }
}

static av_always_inline void visit_batch(Searcher *c, int n, int by, int now, int pel)
{
    GpumeStepField *f = c->f;

    if (n)
        set_block(c, c->visits[0].bx, by);
    for (int k = 0; k < n; k++)
        c->visits[k].mask = all_candidates(c, &c->visits[k], by, pel);
    for (int k = 0; k < n; k++) {
        Visit *visit = &c->visits[k];
        const GpumeVector own = visit->choice.own;
        const unsigned mask = visit->mask;

        if (!mask)
            continue;
        move_block(c, visit->bx);
        visit->around = pel == 4 && c->around && mask >> 8 & (mask >> 8) - 1 && is_centre(own);
        if (visit->around)
            evaluate_around(c, own, f->bounds + NB_CANDIDATES * (by * c->s->params.bw + visit->bx) + 8);
        if (visit->around ? mask & 0xff : mask)
            evaluate_all(c, &visit->choice, visit->around ? mask & 0xff : mask, visit->cost, visit->choice.sum, pel);
    }
    for (int k = 0; k < n; k++)
        if (c->visits[k].mask)
            take_best(c, &c->visits[k], by, now);
}

static av_always_inline void visit_row(Searcher *c, int by, int pass, int pel)
{
    const int bw = c->s->params.bw, bh = c->s->params.bh;

    for (int odd = 0; odd < 2; odd++) {
        const int now = 1 + c->s->start + GPUME_NB_PHASES * pass + 2 * (by & 1) + odd, since = now - GPUME_NB_PHASES;
        const uint8_t *changed = c->f->changed + by * CHANGED_LINESIZE(bw);
        const unsigned always = pass || goes_on(c->s) ? 0 : 1 << 8;
        const int inside = by && by + 1 < bh;
        int n = 0;

        for (int bx = 0; bx < bw; bx += inside ? FFMAX(bw - 1, 1) : 1)
            if ((bx & 1) == odd && (always || edge_changed(c, bx, by, since)))
                visit_edge(c, bx, by, now, pel);
        for (int bx = 2 - odd; bx + 1 < bw && inside; bx += 2) {
            Visit *visit = &c->visits[n];

            visit->bx = bx;
            visit->forgotten = always | (since > 0 ? changed_since(changed + bx, CHANGED_LINESIZE(bw), since) : 0);
            n += visit->forgotten != 0;
            if (n == BATCH) {
                visit_batch(c, n, by, now, pel);
                n = 0;
            }
        }
        visit_batch(c, n, by, now, pel);
    }
}

static void pass_row(Searcher *c, int by, int pass)
{
    switch (c->pel) {
    case 1:  visit_row(c, by, pass, 1); break;
    case 2:  visit_row(c, by, pass, 2); break;
    default: visit_row(c, by, pass, 4); break;
    }
}

static void init_searcher(Searcher *c, GpumeStepRun *r)
{
    const GpumePropagation *p = r->p;
    const GpumeField *field = r->field;
    const GpumeStep *step = &r->s->step;

    c->number      = r->number;
    c->p           = p;
    c->s           = r->s;
    c->f           = &r->f;
    c->before      = r->s > p->steps ? &r[-1].f : NULL;
    c->run         = r;
    c->cur         = ff_gpume_planes_level(&p->layout, field->cur, step->level);
    c->ref         = ff_gpume_planes_level(&p->layout, field->ref, step->level);
    c->sample_size = p->params.depth > 8 ? 2 : 1;
    c->pel         = step->pel;
    c->choice.threshold   = step->threshold;
    c->choice.factor      = gpume_penalty_factor(p->params.smooth, step->block);
    c->choice.shift       = 3 + gpume_log2_pel(step->pel);
    c->choice.depth_shift = p->params.depth - 8;
    c->area = (GpumeCostArea) {
        .functions = p->cost, .cur_linesize = c->cur.linesize, .sample_size = c->sample_size,
    };
    for (int k = 0; k < BATCH; k++)
        c->visits[k].choice = c->choice;
    c->places = (GpumePlaces) {
        .base[0][0] = c->ref.data, .linesize = c->ref.linesize, .size = c->sample_size,
        .log2_pel = gpume_log2_pel(c->pel), .low = c->pel - 1,
    };
    for (int k = 0; k < c->pel * c->pel && c->pel > 1; k++) {
        const int pair = gpume_subpel_pair(k % c->pel * 4 / c->pel, k / c->pel * 4 / c->pel);

        for (int m = 0; m < 2; m++) {
            const int one = pair >> 4 * m;
            const GpumePlaneData plane = ff_gpume_planes_half(&p->layout, field->ref, one & 3);

            c->places.linesize   = plane.linesize;
            c->places.base[m][k] = plane.data + (one >> 2 & 1) * c->sample_size + (one >> 3 & 1) * plane.linesize;
        }
    }
}

void ff_gpume_propagation_run(void *run, int worker, int start, int end)
{
    GpumeStepRun *r = run;
    Searcher *c = &r->p->searchers[worker];
    const int bh = r->s->params.bh;

    if (c->number != r->number)
        init_searcher(c, r);
    for (; start < end; start++) {
        const int row = start % bh, pass = start / bh;

        if (pass)
            pass_row(c, row, pass - 1);
        else
            ff_gpume_propagation_begin_row(c, row);
        atomic_store_explicit(&r->done[row], pass + 1, memory_order_release);
    }
}

av_cold Searcher *ff_gpume_propagation_searchers(int nb_threads)
{
    return av_calloc(nb_threads, sizeof(Searcher));
}
