/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"
#include "libavutil/mem_internal.h"

#define GPUME_INLINE static av_always_inline
#include "libavfilter/gpume/cpu/propagation.h"

/** Number of candidates that are evaluated together. */
#define GROUP GPUME_GROUP

/** Number of candidates of a block in a pass: neighbours, and vectors around its own. */
#define NB_CANDIDATES (8 + 8)

/** Largest time, see GpumeStepField. */
#define MAX_TIME 128
/** Distance between rows of times: four are read at once, also at the end of a row. */
#define CHANGED_LINESIZE(bw) ((bw) + 1)

/**
 * Number of blocks of a phase that are visited together: each step is done for all before the next,
 * so that no block waits.
 */
#define BATCH 16

/** Bytes between the rows of candidates of a group; also their maximum length. */
#define MEANS_PITCH (GPUME_AVERAGE_LINESIZE / GROUP)

/** A visit of a block that has all neighbours. */
typedef struct Visit {
    GpumeChoice choice;
    uint32_t cost[NB_CANDIDATES];   ///< costs of the evaluated candidates, in sequence
    int bx;
    unsigned forgotten;             ///< bit mask of neighbours that have changed since the previous visit
    unsigned mask;                  ///< bit mask of candidates
    int around;                     ///< whether the candidates around the own vector are evaluated together
} Visit;

/** State of a search, including the current block and data for evaluating its candidates. */
struct GpumePropagationSearcher {
    uint64_t number;                ///< number of the run
    const GpumePropagation *p;
    const GpumeCpuStep *s;
    GpumeStepField *f;              ///< the field that is written
    const GpumeStepField *before;   ///< the field from which f begins
    GpumeStepRun *run;
    GpumePlaneData cur, ref;
    GpumePlaces places;
    ptrdiff_t offset;               ///< offset of the block in them
    int sample_size;
    int pel;
    GpumeChoice choice;
    Visit visits[BATCH];

    GpumeBox box;
    GpumeCostArea area;
    int width_index;                ///< index of the functions for the whole block; -1: there are none
    GpumeCostMeans means_of_four, means_of_two; ///< or NULL
    GpumeCostAround around;         ///< or NULL
    int least_of_four;              ///< number of candidates from which on GROUP candidates are evaluated at once

    /** Samples of subpel candidates: of a group side by side, or of a wider one. */
    DECLARE_ALIGNED(32, uint8_t, means)[GPUME_MAX_BLOCK * GPUME_AVERAGE_LINESIZE];
};

typedef struct GpumePropagationSearcher Searcher;

static void set_block(Searcher *c, int bx, int by)
{
    const GpumeParams *p = &c->s->params;
    int i;

    c->box      = gpume_box(p, p->block, bx, by);
    c->offset   = c->box.y0 * c->places.linesize + c->box.x0 * c->sample_size;
    c->area.cur = c->cur.data + c->box.y0 * c->cur.linesize + c->box.x0 * c->sample_size;
    if (c->area.w != c->box.w || c->area.h != c->box.h) {
        c->area.w      = c->box.w;
        c->area.h      = c->box.h;
        i              = gpume_width_index(c->box.w);
        c->width_index = gpume_width_of(i) == c->box.w && c->box.h <= GPUME_COST_ROWS ? i : -1;
        c->means_of_four = c->width_index < 0 || c->box.h & 1 ? NULL : c->area.functions->means[i];
        c->means_of_two = c->means_of_four ? c->area.functions->means_of_two[i] : NULL;
        c->around = c->means_of_four && c->pel == 4 ? c->area.functions->around[i] : NULL;
        c->least_of_four = c->pel > 1 && c->means_of_four ? 1 :
                           c->pel == 1 && c->width_index >= 0 ? c->area.functions->least_of_four : 3;
    }
}

/* Moves to a block of the same size in the same row. Only x0 of the box changes, not the displacements. */
static av_always_inline void move_block(Searcher *c, int bx)
{
    const int x0 = bx * c->s->params.block, bytes = (x0 - c->box.x0) * c->sample_size;

    c->box.x0    = x0;
    c->offset   += bytes;
    c->area.cur += bytes;
}

/*
 * Functions that take pel are inlined with a constant. Where a block is evaluated they are
 * what most time goes to.
 */

static void average(const Searcher *c, uint8_t *dst, const uint8_t *const pair[2])
{
    const uint8_t *a = pair[0], *b = pair[1];

    if (c->width_index >= 0) {
        c->p->pixels.average[c->width_index](dst, a, b, c->places.linesize, c->box.h);
        return;
    }
    for (int w = c->box.w, i; w > 0; w -= gpume_width_of(i)) {
        const int bytes = gpume_width_of(i = gpume_width_index(w)) * c->sample_size;

        c->p->pixels.average[i](dst, a, b, c->places.linesize, c->box.h);
        dst += bytes;
        a   += bytes;
        b   += bytes;
    }
}

static void cost_of(const Searcher *c, const uint8_t *const *ref, ptrdiff_t ref_linesize, int nb,
                    uint32_t *cost, uint32_t limit)
{
    const GpumeCostArea *a = &c->area;

    if (c->width_index < 0) {
        GpumeCostArea area = *a;

        area.ref_linesize = ref_linesize;
        ff_gpume_cost_of_parts(&area, ref, nb, cost, limit);
    } else if (nb == GROUP) {
        a->functions->four[c->width_index](a->cur, a->cur_linesize, ref, ref_linesize, a->h,
                                           cost, limit);
    } else {
        *cost = a->functions->one[c->width_index](a->cur, a->cur_linesize, *ref, ref_linesize,
                                                  a->h, limit);
    }
}

/* Computes the costs of subpel vectors; pairs has the addresses of their samples. */
static void cost_of_means(Searcher *c, const uint8_t *const *pairs, int nb, uint32_t *cost, uint32_t limit)
{
    const int together = c->box.w * c->sample_size <= MEANS_PITCH;
    const uint8_t *ref[GROUP];

    for (int i = 0; i < nb; i++) {
        ref[i] = c->means + (together ? i * MEANS_PITCH : 0);
        average(c, c->means + (together ? i * MEANS_PITCH : 0), pairs + 2 * i);
        if (!together)
            cost_of(c, ref, GPUME_AVERAGE_LINESIZE, 1, cost + i, limit);
    }
    if (together)
        cost_of(c, ref, GPUME_AVERAGE_LINESIZE, nb, cost, limit);
}

/**
 * Evaluates up to GROUP admissible candidates.
 * @param ref   addresses of their samples, or pairs of them; there are GROUP of them, including
 *              others
 * @param limit see GpumeCostOne
 */
static av_always_inline void evaluate(Searcher *c, const uint8_t *const *ref, int nb, uint32_t *cost,
                                      uint32_t limit, int pel)
{
    if (nb < c->least_of_four) {
        for (int i = 0; i < nb; i++)
            if (pel > 1)
                cost_of_means(c, ref + 2 * i, 1, cost + i, limit);
            else
                cost_of(c, ref + i, c->places.linesize, 1, cost + i, limit);
    } else if (pel == 1) {
        cost_of(c, ref, c->places.linesize, GROUP, cost, limit);
    } else if (nb <= 2 && c->means_of_two) {
        c->means_of_two(c->area.cur, c->area.cur_linesize, ref, c->places.linesize, c->box.h, cost);
    } else if (c->means_of_four) {
        c->means_of_four(c->area.cur, c->area.cur_linesize, ref, c->places.linesize, c->box.h, cost);
    } else {
        cost_of_means(c, ref, GROUP, cost, limit);
    }
}

static int same(GpumeVector a, GpumeVector b)
{
    return a.dx == b.dx && a.dy == b.dy;
}

static int is_admissible(const Searcher *c, GpumeVector v)
{
    const GpumeBox *b = &c->box;

    return v.dx >= b->min_dx * c->pel && v.dx <= b->max_dx * c->pel &&
           v.dy >= b->min_dy * c->pel && v.dy <= b->max_dy * c->pel;
}

/** The best candidate so far. */
typedef struct Best {
    GpumeVector vector;
    uint32_t cost, sum;     ///< without and with its penalty; UINT32_MAX: there is no candidate yet
} Best;

/* Evaluates candidates of choice.vectors one after the other. */
static av_always_inline void evaluate_all(Searcher *c, const GpumeChoice *choice, unsigned mask,
                                          uint32_t cost[NB_CANDIDATES], uint32_t limit, int pel)
{
    const uint8_t *ref[2 * NB_CANDIDATES];
    const int n = c->p->pixels.locate[pel > 1](ref, choice->vectors, mask, &c->places, c->offset);

    for (int i = 0; i < n; i += GROUP)
        evaluate(c, ref + (pel > 1 ? 2 * i : i), FFMIN(n - i, GROUP), cost + i, limit, pel);
}

/**
 * Finds the first candidate in mask with the least sum of cost and penalty, and makes it the best
 * if it is better.
 */
static av_always_inline void choose(Searcher *c, Best *o, unsigned mask, int pel)
{
    const GpumeChoice *choice = &c->choice;
    uint32_t cost[NB_CANDIDATES], bounds[NB_CANDIDATES];
    uint64_t least;

    if (!mask)
        return;
    evaluate_all(c, choice, mask, cost, o->sum, pel);
    least = c->p->pixels.least_sum(choice, bounds, cost, mask, mask);
    if (least >> 4 < o->sum) {
        o->sum    = least >> 4;
        o->cost   = o->sum - choice->penalties[least & 15];
        o->vector = choice->vectors[least & 15];
    }
}

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

static void begin_full(Searcher *c, Best *o)
{
    const GpumeBox *b = &c->box;
    int nb;

    choose_added(c, o, add_candidate(c, 0, (GpumeVector) { 0 }));
    for (int dy = b->min_dy; dy <= b->max_dy && o->cost; dy++)
        for (int dx = b->min_dx; dx <= b->max_dx; dx += nb) {
            for (nb = 0; nb < GROUP && dx + nb <= b->max_dx;)
                nb = add_candidate(c, nb, (GpumeVector) { dx + nb, dy });
            choose_added(c, o, nb);
        }
}

static void begin_coarser(Searcher *c, Best *o, int bx, int by)
{
    /* the grid of the previous step */
    const GpumeParams *p = &(c->s - 1)->params;
    const int factor = c->s->step.begin == GPUME_BEGIN_PARENTS ? 2 : 1;
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

/* Returns whether the bounds of blocks stay valid, because the step continues in the same units. */
static int goes_on(const GpumeCpuStep *s)
{
    return s->start && s->step.pel == 1;
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

static void begin_row(Searcher *c, int by)
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
            begin_full(c, &o);
        else if (c->s->step.begin == GPUME_BEGIN_SMALLER)
            begin_smaller(c, &o, bx, by);
        else
            begin_coarser(c, &o, bx, by);
        *v = o.vector;
        f->costs[by * bw + bx] = o.cost;
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
    const uint64_t least = c->p->pixels.least_sum(choice, bounds, visit->cost,
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
        .log2_pel = gpume_log2_pel(c->pel), .low = c->pel - 1, .high = (c->pel - 1) << gpume_log2_pel(c->pel),
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
            begin_row(c, row);
        atomic_store_explicit(&r->done[row], pass + 1, memory_order_release);
    }
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
static int sample_at(const GpumePropagation *p, GpumePlaneData plane, int margin, int x, int y)
{
    const uint8_t *row = plane.data + plane.linesize *
                         av_clip(y, -margin, p->params.height - 1 + margin);

    x = av_clip(x, -margin, p->params.width - 1 + margin);
    return p->params.depth > 8 ? AV_RN16(row + 2 * x) : row[x];
}

uint32_t ff_gpume_propagation_cost(const GpumePropagation *p, const GpumeField *field,
                                   const GpumeBox *box, GpumeVector v, int pel)
{
    const int log2_pel = gpume_log2_pel(pel), size = p->params.depth > 8 ? 2 : 1;
    const int pair = gpume_subpel_pair((v.dx & (pel - 1)) << (2 - log2_pel),
                                   (v.dy & (pel - 1)) << (2 - log2_pel));
    const int margin = pel > 1 ? GPUME_HALF_MARGIN : 0;
    const int x0 = box->x0 + (v.dx >> log2_pel), y0 = box->y0 + (v.dy >> log2_pel);
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

        for (int i = 0; i < area.h; i++)
            for (int x = 0; x < box->w; x++) {
                uint8_t *dst = block + i * GPUME_AVERAGE_LINESIZE + x * size;
                const int a = sample_at(p, planes[0], margin, x0 + x + (pair >> 2 & 1),
                                        y0 + y + i + (pair >> 3 & 1));
                const int b = sample_at(p, planes[1], margin, x0 + x + (pair >> 6 & 1),
                                        y0 + y + i + (pair >> 7 & 1));

                if (size == 1)
                    *dst = (a + b + 1) >> 1;
                else
                    AV_WN16(dst, (a + b + 1) >> 1);
            }
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
    p->searchers = av_calloc(nb_threads, sizeof(*p->searchers));
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
