/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/intmath.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"
#include "libavutil/mem_internal.h"

#define GPUME_INLINE static av_always_inline
#include "libavfilter/gpume/cpu/propagation.h"

/** Candidates that are evaluated together. */
#define GROUP 4

/** Candidates of a block in a pass: its neighbours', and around its own. */
#define NB_CANDIDATES (8 + 8)

/** Bytes between the rows of candidates of a group, which they may be long at most. */
#define MEANS_PITCH (GPUME_AVERAGE_LINESIZE / GROUP)

/** What is searched; and the block that is, with what it takes to evaluate a candidate. */
typedef struct Searcher {
    const GpumePropagation *p;
    const GpumeCpuStep *s;
    GpumeStepField *f;              ///< written
    const GpumeStepField *coarser;  ///< what f begins with
    GpumePlaneData cur, ref;
    /** The two samples that make one at parts (fx, fy), fy * pel + fx; of the reference's first block. */
    const uint8_t *between[16][2];
    ptrdiff_t half_linesize;
    ptrdiff_t half_offset;          ///< of the block in the reference
    int sample_size;
    int pel;
    GpumeChoice choice;

    GpumeBox box;
    GpumeCostArea area;
    int width_index;                ///< of functions for the whole block; -1: there are none
    GpumeCostMeans means_of_four;   ///< or NULL
    int least_of_four;              ///< candidates from which on GROUP are evaluated

    /** Of candidates in parts of a sample: a group side by side, or one that is wider. */
    DECLARE_ALIGNED(32, uint8_t, means)[GPUME_MAX_BLOCK * GPUME_AVERAGE_LINESIZE];
} Searcher;

static void set_block(Searcher *c, int bx, int by)
{
    const GpumeParams *p = &c->s->params;
    int i;

    c->box      = gpume_box(p, p->block, bx, by);
    c->half_offset = c->box.y0 * c->half_linesize + c->box.x0 * c->sample_size;
    c->area.cur = c->cur.data + c->box.y0 * c->cur.linesize + c->box.x0 * c->sample_size;
    if (c->area.w != c->box.w || c->area.h != c->box.h) {
        c->area.w      = c->box.w;
        c->area.h      = c->box.h;
        i              = gpume_width_index(c->box.w);
        c->width_index = gpume_width_of(i) == c->box.w && c->box.h <= GPUME_COST_ROWS ? i : -1;
        c->means_of_four = c->width_index < 0 || c->box.h & 1 ? NULL : c->area.functions->means[i];
        /* four at once cost less than so many one by one */
        c->least_of_four = c->means_of_four && c->pel > 1 ? 1 : 3;
    }
}

/*
 * Functions that take pel are inlined with a constant. Where a block is evaluated they are
 * what most time goes to.
 */

/* The two samples that make the first one that a vector in parts of a sample leads to. */
static av_always_inline void find_pair(const Searcher *c, const uint8_t *pair[2], GpumeVector v,
                                       int pel)
{
    const int log2_pel = gpume_log2_pel(pel);
    const uint8_t *const *two = c->between[(v.dy & (pel - 1)) << log2_pel | (v.dx & (pel - 1))];
    const ptrdiff_t offset = c->half_offset + (v.dy >> log2_pel) * c->half_linesize +
                             (v.dx >> log2_pel) * c->sample_size;

    pair[0] = two[0] + offset;
    pair[1] = two[1] + offset;
}

static void average(const Searcher *c, uint8_t *dst, const uint8_t *pair[2])
{
    const uint8_t *a = pair[0], *b = pair[1];

    if (c->width_index >= 0) {
        c->p->pixels.average[c->width_index](dst, a, b, c->half_linesize, c->box.h);
        return;
    }
    for (int w = c->box.w, i; w > 0; w -= gpume_width_of(i)) {
        const int bytes = gpume_width_of(i = gpume_width_index(w)) * c->sample_size;

        c->p->pixels.average[i](dst, a, b, c->half_linesize, c->box.h);
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

/* The same of vectors in parts of a sample. */
static av_always_inline void evaluate_means(Searcher *c, const GpumeVector *v, int nb,
                                            uint32_t *cost, uint32_t limit, int pel)
{
    const int together = c->box.w * c->sample_size <= MEANS_PITCH;
    const uint8_t *pairs[2 * GROUP], *ref[GROUP];

    for (int i = 0; i < nb; i++)
        find_pair(c, pairs + 2 * i, v[i], pel);
    if (nb == GROUP && c->means_of_four) {
        c->means_of_four(c->area.cur, c->area.cur_linesize, pairs, c->half_linesize,
                         c->box.h, cost);
        return;
    }
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
 * The costs of 1 or GROUP vectors, all admissible.
 * @param limit as for GpumeCostOne
 */
static av_always_inline void evaluate(Searcher *c, const GpumeVector *v, int nb, uint32_t *cost,
                                      uint32_t limit, int pel)
{
    const uint8_t *ref[GROUP];

    if (pel > 1) {
        evaluate_means(c, v, nb, cost, limit, pel);
        return;
    }
    for (int i = 0; i < nb; i++)
        ref[i] = c->ref.data + (c->box.y0 + v[i].dy) * c->ref.linesize +
                               (c->box.x0 + v[i].dx) * c->sample_size;
    cost_of(c, ref, c->ref.linesize, nb, cost, limit);
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

/** Candidates in their order, with what is added to their costs; and the best so far. */
typedef struct Candidates {
    GpumeVector vectors[NB_CANDIDATES];
    uint32_t penalties[NB_CANDIDATES];
    uint8_t places[NB_CANDIDATES];  ///< in bounds
    int nb;
    uint32_t *bounds;               ///< gets what they cost at least, of those that were evaluated
    GpumeVector best;
    uint32_t best_cost, best_sum;   ///< without and with the penalty; UINT32_MAX: none yet
} Candidates;

/* The first of the least sum of cost and penalty becomes the best, if it is less than that. */
static av_noinline void choose(Searcher *c, Candidates *o, int pel)
{
    for (int i = 0; i < o->nb;) {
        uint32_t least = UINT32_MAX, cost[GROUP];
        int which[GROUP], n = 0;
        GpumeVector v[GROUP];

        for (; i < o->nb && n < GROUP; i++)
            if (o->penalties[i] < o->best_sum) {
                v[n]       = o->vectors[i];
                least      = FFMIN(least, o->penalties[i]);
                which[n++] = i;
            }
        if (!n)
            break;
        if (n >= c->least_of_four) {
            for (int j = n; j < GROUP; j++)
                v[j] = v[0];
            evaluate(c, v, GROUP, cost, o->best_sum - least, pel);
        } else {
            for (int j = 0; j < n; j++)
                evaluate(c, v + j, 1, cost + j, o->best_sum - o->penalties[which[j]], pel);
        }
        for (int j = 0; j < n; j++) {
            const uint32_t penalty = o->penalties[which[j]];

            /* it may not be the whole cost, but it is no more than that */
            o->bounds[o->places[which[j]]] = cost[j];
            if (penalty < o->best_sum && cost[j] < o->best_sum - penalty) {
                o->best      = v[j];
                o->best_cost = cost[j];
                o->best_sum  = cost[j] + penalty;
            }
        }
    }
}

/* A candidate of the begin: without a penalty. */
static void add_candidate(const Searcher *c, Candidates *o, int dx, int dy)
{
    const GpumeVector v = { dx, dy };

    if (!is_admissible(c, v))
        return;
    for (int i = 0; i < o->nb; i++)
        if (same(o->vectors[i], v))
            return;
    o->places[o->nb]    = 0;
    o->penalties[o->nb] = 0;
    o->vectors[o->nb++] = v;
}

static void begin_full(Searcher *c, Candidates *o)
{
    const GpumeBox *b = &c->box;

    o->nb = 0;
    add_candidate(c, o, 0, 0);
    choose(c, o, 1);
    o->nb = 0;
    for (int dy = b->min_dy; dy <= b->max_dy && o->best_cost; dy++)
        for (int dx = b->min_dx; dx <= b->max_dx; dx++) {
            o->places[o->nb]    = 0;
            o->penalties[o->nb] = 0;
            o->vectors[o->nb++] = (GpumeVector) { dx, dy };
            if (o->nb == GROUP || dx == b->max_dx) {
                choose(c, o, 1);
                o->nb = 0;
            }
        }
}

static void begin_coarser(Searcher *c, Candidates *o, int bx, int by)
{
    /* the grid of the step before */
    const GpumeParams *p = &(c->s - 1)->params;
    const int doubled = c->s->step.begin == GPUME_BEGIN_PARENTS;

    o->nb = 0;
    for (int i = 0; i < 4; i++) {
        int x = bx, y = by;

        if (gpume_parent(i, &x, &y, p->bw, p->bh)) {
            const GpumeVector v = c->coarser->vectors[y * p->bw + x];

            add_candidate(c, o, v.dx * (1 + doubled), v.dy * (1 + doubled));
        }
    }
    if (doubled || !o->nb)
        add_candidate(c, o, 0, 0);
    choose(c, o, 1);
}

static void begin_row(Searcher *c, int by)
{
    const int bw = c->s->params.bw;
    GpumeStepField *f = c->f;

    memset(f->changed + by * bw, 0, bw);
    memset(f->bounds + NB_CANDIDATES * by * bw, 0, NB_CANDIDATES * bw * sizeof(*f->bounds));
    for (int bx = 0; bx < bw; bx++) {
        GpumeVector *v = &f->vectors[by * bw + bx];
        uint32_t unused[NB_CANDIDATES];
        Candidates o;

        if (c->s->step.begin == GPUME_BEGIN_KEEP) {
            v->dx *= c->pel;
            v->dy *= c->pel;
            continue;
        }
        set_block(c, bx, by);
        o.best_cost = o.best_sum = UINT32_MAX;
        o.bounds    = unused;
        if (c->s->step.begin == GPUME_BEGIN_FULL)
            begin_full(c, &o);
        else
            begin_coarser(c, &o, bx, by);
        *v = o.best;
        f->costs[by * bw + bx] = o.best_cost;
    }
}

/* Bits 7, 15 and 23: which of three times, each below 129, are not before since, 1 to 127. */
static av_always_inline unsigned recent(const uint8_t *changed, int since)
{
    return ((changed[0] | changed[1] << 8 | changed[2] << 16) + (0x80 - since) * 0x10101u) & 0x808080;
}

/**
 * Whether the block or a neighbour has changed since it was visited in the pass before. What
 * was known of those that have is forgotten.
 */
static av_always_inline int is_due(const GpumeStepField *f, int i, int bw, int since)
{
    uint32_t *bounds = f->bounds + NB_CANDIDATES * i;
    const unsigned above = recent(f->changed + i - bw - 1, since);
    const unsigned row   = recent(f->changed + i - 1,      since);
    const unsigned below = recent(f->changed + i + bw - 1, since);

    if (!(above | row | below))
        return 0;
    for (int j = 0; j < 3; j++) {
        bounds[j]     &= (above >> (8 * j + 7) & 1) - 1;
        bounds[5 + j] &= (below >> (8 * j + 7) & 1) - 1;
    }
    bounds[3] &= (row >>  7 & 1) - 1;
    bounds[4] &= (row >> 23 & 1) - 1;
    return 1;
}

/* The candidates of a block that lacks some neighbours. */
static void add_few(const Searcher *c, Candidates *o, int bx, int by)
{
    const GpumeParams *p = &c->s->params;
    const GpumeVector *v = c->f->vectors + by * p->bw + bx;
    GpumeVector all[1 + NB_CANDIDATES] = { *v };
    int nb_neighbours = 0, nb;

    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
            if ((x || y) && bx + x >= 0 && bx + x < p->bw && by + y >= 0 && by + y < p->bh)
                all[++nb_neighbours] = v[y * p->bw + x];
    nb = 1 + nb_neighbours;
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
            if (x || y)
                all[nb++] = (GpumeVector) { v->dx + x, v->dy + y };

    for (int i = 0; i < nb; i++) {
        uint32_t sum = 0;

        for (int j = 1; j <= nb_neighbours; j++)
            sum += gpume_difference(all[i], all[j], c->choice.threshold);
        sum = gpume_penalty(c->choice.factor, sum, nb_neighbours, c->pel, p->depth);
        if (!i) {
            o->best_sum += sum;
        } else if (is_admissible(c, all[i])) {
            o->places[o->nb]    = 0;
            o->penalties[o->nb] = sum;
            o->vectors[o->nb++] = all[i];
        }
    }
}

/**
 * The same as choose() of a block that has all neighbours and functions for the whole block:
 * of candidates in their order, given by bits, four at a time.
 */
static av_always_inline void choose_inside(Searcher *c, Candidates *o, unsigned mask, int pel)
{
    const GpumeChoice *choice = &c->choice;

    while (mask) {
        uint32_t least = UINT32_MAX, cost[GROUP];
        uint64_t best  = UINT64_MAX;
        GpumeVector v[GROUP];
        int which[GROUP], n = 0;

        do {
            const int i = which[n] = ff_ctz(mask);

            v[n++] = choice->vectors[i];
            least  = FFMIN(least, choice->penalties[i]);
            mask  &= mask - 1;
        } while (mask && n < GROUP);
        for (int j = n; j < GROUP; j++) {
            which[j] = which[0];
            v[j]     = v[0];
        }
        evaluate(c, v, GROUP, cost, o->best_sum - least, pel);
        for (int j = 0; j < GROUP; j++) {
            const int i = which[j];
            /* of equal sums the first */
            const uint64_t key = ((uint64_t)cost[j] + choice->penalties[i]) << 4 | i;

            best = FFMIN(best, key);
            /* it may not be the whole cost, but it is no more than that */
            o->bounds[i] = cost[j];
        }
        if (best >> 4 < o->best_sum) {
            const int i = best & 15;

            o->best_sum  = best >> 4;
            o->best_cost = o->best_sum - choice->penalties[i];
            o->best      = choice->vectors[i];
            for (unsigned rest = mask; rest; rest &= rest - 1) {
                const int k = ff_ctz(rest);

                mask &= ~((choice->penalties[k] >= o->best_sum) << k);
            }
        }
    }
}

/* The candidates of a block that has all neighbours. */
static av_always_inline unsigned find_candidates(Searcher *c, Candidates *o, const GpumeVector *v,
                                                 const uint32_t *bounds, int pel)
{
    const int bw = c->s->params.bw;
    GpumeChoice *choice = &c->choice;
    unsigned mask;

    memcpy(choice->vectors,     v - bw - 1, 3 * sizeof(*v));
    memcpy(choice->vectors + 5, v + bw - 1, 3 * sizeof(*v));
    choice->vectors[3] = v[-1];
    choice->vectors[4] = v[1];
    choice->own  = *v;
    choice->cost = o->best_cost;
    choice->min  = (GpumeVector) { c->box.min_dx * pel, c->box.min_dy * pel };
    choice->max  = (GpumeVector) { c->box.max_dx * pel, c->box.max_dy * pel };
    memcpy(choice->bounds, bounds, sizeof(choice->bounds));
    mask        = c->p->pixels.candidates(choice);
    o->best_sum = choice->sum;
    return mask;
}

static void add_all(const GpumeChoice *choice, Candidates *o, unsigned mask)
{
    for (; mask; mask &= mask - 1) {
        const int i = ff_ctz(mask);

        o->places[o->nb]    = i;
        o->penalties[o->nb] = choice->penalties[i];
        o->vectors[o->nb++] = choice->vectors[i];
    }
}

static av_always_inline void visit(Searcher *c, int bx, int by, int now, int pel)
{
    const GpumeParams *p = &c->s->params;
    const int i = by * p->bw + bx;
    const int inside = bx && by && bx + 1 < p->bw && by + 1 < p->bh;
    GpumeStepField *f = c->f;
    uint32_t *bounds  = f->bounds + NB_CANDIDATES * i;
    uint32_t unused[NB_CANDIDATES];
    Candidates o;
    unsigned mask = 0;

    if (inside && now > GPUME_NB_PHASES && !is_due(f, i, p->bw, now - GPUME_NB_PHASES))
        return;
    set_block(c, bx, by);
    o.nb        = 0;
    o.best      = f->vectors[i];
    o.best_cost = o.best_sum = f->costs[i];
    o.bounds    = inside ? bounds : unused;
    if (inside)
        mask = find_candidates(c, &o, &f->vectors[i], bounds, pel);
    if (inside && c->width_index >= 0 && (pel == 1 || c->means_of_four)) {
        choose_inside(c, &o, mask, pel);
    } else {
        if (inside)
            add_all(&c->choice, &o, mask);
        else
            add_few(c, &o, bx, by);
        choose(c, &o, pel);
    }
    if (!same(o.best, f->vectors[i])) {
        f->vectors[i] = o.best;
        f->costs[i]   = o.best_cost;
        f->changed[i] = now;
        memset(bounds + 8, 0, 8 * sizeof(*bounds));
    }
}

static av_always_inline void visit_row(Searcher *c, int by, int pass, int pel)
{
    for (int odd = 0; odd < 2; odd++)
        for (int bx = odd; bx < c->s->params.bw; bx += 2)
            visit(c, bx, by, 1 + GPUME_NB_PHASES * pass + 2 * (by & 1) + odd, pel);
}

static void pass_row(Searcher *c, int by, int pass)
{
    switch (c->pel) {
    case 1:  visit_row(c, by, pass, 1); break;
    case 2:  visit_row(c, by, pass, 2); break;
    default: visit_row(c, by, pass, 4); break;
    }
}

static void wait_for(const atomic_int *done, int wanted)
{
    for (int i = 0; atomic_load_explicit(done, memory_order_acquire) < wanted; i++)
        ff_gpume_pause(i);
}

static void wait_for_rows(const GpumeStepField *f, int bh, const GpumeStepUnit *u)
{
    const int others = u->pass + 1 + (u->row & 1);

    if (u->pass < 0)
        return;
    wait_for(&f->done[u->row], u->pass + 1);
    if (u->row)
        wait_for(&f->done[u->row - 1], others);
    if (u->row + 1 < bh)
        wait_for(&f->done[u->row + 1], others);
}

static void init_searcher(Searcher *c, GpumePropagation *p, const GpumeCpuStep *s,
                          const GpumeField *field, int i)
{
    const GpumeStep *step = &s->step;
    const int keep = step->begin == GPUME_BEGIN_KEEP;

    c->p           = p;
    c->s           = s;
    c->f           = &p->fields[i][p->which[i] ^ !keep];
    c->coarser     = &p->fields[i][p->which[i]];
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
    c->half_linesize = 0;
    for (int k = 0; k < c->pel * c->pel && c->pel > 1; k++) {
        const int pair = gpume_between(k % c->pel * 4 / c->pel, k / c->pel * 4 / c->pel);

        for (int m = 0; m < 2; m++) {
            const int one = pair >> 4 * m;
            const GpumePlaneData plane = ff_gpume_planes_half(&p->layout, field->ref, one & 3);

            c->half_linesize = plane.linesize;
            c->between[k][m] = plane.data + (one >> 2 & 1) * c->sample_size +
                               (one >> 3 & 1) * plane.linesize;
        }
    }
}

typedef struct StepArg {
    GpumePropagation *p;
    GpumeCpuStep *s;
    const GpumeSearch *search;
} StepArg;

static void run_units(void *opaque, int worker, int start, int end)
{
    const StepArg *arg = opaque;
    const int nb_fields = arg->search->nb_fields;
    const GpumeCpuStep *s = arg->s;
    Searcher c[GPUME_MAX_REFERENCES];

    for (int i = 0; i < nb_fields; i++)
        init_searcher(&c[i], arg->p, s, &arg->search->fields[i], i);
    for (; start < end; start++) {
        const int whole        = ff_gpume_task_whole_parts(&s->task);
        Searcher *searcher     = &c[whole ? start / s->nb_units : start % nb_fields];
        const GpumeStepUnit *u = &s->units[whole ? start % s->nb_units : start / nb_fields];

        wait_for_rows(searcher->f, s->params.bh, u);
        if (u->pass < 0)
            begin_row(searcher, u->row);
        else
            pass_row(searcher, u->row, u->pass);
        atomic_store_explicit(&searcher->f->done[u->row], u->pass + 2, memory_order_release);
    }
}

void ff_gpume_propagation_take(GpumePropagation *p, const GpumeSearch *search)
{
    const size_t nb_blocks = (size_t)p->params.bw * p->params.bh;

    for (int i = 0; i < search->nb_fields; i++) {
        const GpumeField *field = &search->fields[i];
        GpumeStepField *f = &p->fields[i][p->which[i] = 0];

        for (size_t j = 0; j < nb_blocks; j++) {
            f->vectors[j] = (GpumeVector) { field->mvs[j].motion_x, field->mvs[j].motion_y };
            f->costs[j]   = field->costs[j];
        }
    }
}

void ff_gpume_propagation_run(GpumePropagation *p, const GpumeBackendConfig *cfg,
                              const GpumeSearch *search)
{
    for (int i = 0; i < p->nb_steps; i++) {
        GpumeCpuStep *s = &p->steps[i];
        StepArg arg = { p, s, search };

        for (int j = 0; j < search->nb_fields; j++) {
            GpumeStepField *f = &p->fields[j][p->which[j] ^ (s->step.begin != GPUME_BEGIN_KEEP)];

            for (int row = 0; row < s->params.bh; row++)
                atomic_store_explicit(&f->done[row], 0, memory_order_relaxed);
        }
        s->task.parts = search->nb_fields;
        ff_gpume_task_run(&s->task, cfg, &arg, 0, s->nb_units * search->nb_fields);
        for (int j = 0; j < search->nb_fields; j++)
            p->which[j] ^= s->step.begin != GPUME_BEGIN_KEEP;
    }
}

GpumeStepField *ff_gpume_propagation_result(GpumePropagation *p, int i)
{
    return &p->fields[i][p->which[i]];
}

/* A sample of a plane, which goes on like its last ones beyond the margin. */
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
    const int pair = gpume_between((v.dx & (pel - 1)) << (2 - log2_pel),
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

/* Rows and passes, each after what it waits for: rows by turns, later passes two rows behind. */
static av_cold void list_units(GpumeCpuStep *s)
{
    const int bh = s->params.bh, nb_passes = s->step.nb_passes;

    for (int time = 0; time < bh + 4 * nb_passes; time++) {
        if (time < bh)
            s->units[s->nb_units++] = (GpumeStepUnit) { time, -1 };
        for (int half = 0; half < 2 * nb_passes; half++) {
            const int row = time - 2 * (half + 1);

            if (row >= 0 && row < bh && (row & 1) == (half & 1))
                s->units[s->nb_units++] = (GpumeStepUnit) { row, half >> 1 };
        }
    }
}

/* Both arrays of vectors of a field; what only the step that runs needs they share. */
static av_cold int init_fields(GpumeStepField f[2], size_t nb_blocks, int nb_rows)
{
    f->changed = av_calloc(nb_blocks, sizeof(*f->changed));
    f->bounds  = av_calloc(nb_blocks, NB_CANDIDATES * sizeof(*f->bounds));
    f->done    = av_calloc(nb_rows,   sizeof(*f->done));
    if (!f->changed || !f->bounds || !f->done)
        return AVERROR(ENOMEM);
    f[1] = f[0];
    for (int i = 0; i < 2; i++) {
        f[i].vectors = av_calloc(nb_blocks, sizeof(*f->vectors));
        f[i].costs   = av_calloc(nb_blocks, sizeof(*f->costs));
    }
    return f[0].vectors && f[0].costs && f[1].vectors && f[1].costs ? 0 : AVERROR(ENOMEM);
}

av_cold int ff_gpume_propagation_init(GpumePropagation *p, const GpumeParams *params,
                                      const GpumePlan *plan, const GpumeCost *cost)
{
    size_t nb_blocks = (size_t)params->bw * params->bh;
    int nb_rows = params->bh, ret = 0;

    p->params   = *params;
    p->cost     = cost;
    p->nb_steps = plan->nb_steps;
    ff_gpume_planes_init(&p->layout, params, plan);
    ff_gpume_pixels_init(&p->pixels, params->depth);
    for (int i = 0; i < p->nb_steps; i++) {
        GpumeCpuStep *s = &p->steps[i];

        s->step   = plan->steps[i];
        s->params = ff_gpume_step_params(params, &s->step);
        s->units  = av_malloc_array(s->params.bh * (1 + s->step.nb_passes), sizeof(*s->units));
        if (!s->units)
            return AVERROR(ENOMEM);
        list_units(s);
        s->task = (GpumeTask) {
            .run = run_units, .least = 1, .in_order = 1,
            .max_workers = params->nb_distances * FFMIN(s->params.bh, 2 * s->step.nb_passes + 1),
        };
        nb_blocks = FFMAX(nb_blocks, (size_t)s->params.bw * s->params.bh);
        nb_rows   = FFMAX(nb_rows, s->params.bh);
    }
    for (int i = 0; i < params->nb_distances && ret >= 0; i++)
        ret = init_fields(p->fields[i], nb_blocks, nb_rows);
    return ret;
}

av_cold void ff_gpume_propagation_uninit(GpumePropagation *p)
{
    for (int i = 0; i < p->nb_steps; i++)
        av_freep(&p->steps[i].units);
    for (int i = 0; i < GPUME_MAX_REFERENCES; i++) {
        GpumeStepField *f = p->fields[i];

        av_freep(&f->changed);
        av_freep(&f->bounds);
        av_freep(&f->done);
        for (int j = 0; j < 2; j++) {
            av_freep(&f[j].vectors);
            av_freep(&f[j].costs);
        }
    }
}
