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

/** Candidates that are evaluated together. */
#define GROUP 4

/** Candidates of a block in a pass: its own vector, its neighbours', and around its own. */
#define NB_CANDIDATES (1 + 8 + 8)

/** Bytes between the rows of candidates of a group, which they may be long at most. */
#define MEANS_PITCH (GPUME_AVERAGE_LINESIZE / GROUP)

/* The eight around, in raster order. */
static const int8_t around[8][2] = {
    { -1, -1 }, { 0, -1 }, { 1, -1 }, { -1, 0 }, { 1, 0 }, { -1, 1 }, { 0, 1 }, { 1, 1 },
};

/** Where one of the two samples is that make a sample between others. */
typedef struct Between {
    const uint8_t *data;
    ptrdiff_t linesize;
} Between;

/** What is searched; and the block that is, with what it takes to evaluate a candidate. */
typedef struct Searcher {
    const GpumePropagation *p;
    const GpumeCpuStep *s;
    GpumeStepField *f;              ///< written
    const GpumeStepField *coarser;  ///< what f begins with
    GpumePlaneData cur, ref;
    Between between[16][2];         ///< of reference samples at quarters, fy * 4 + fx
    int sample_size;
    int pel;
    unsigned penalty_factor;
    int penalty_shift;              ///< of blocks with eight neighbours

    GpumeBox box;
    GpumeCostArea area;
    int width_index;                ///< of functions for the whole block; -1: there are none

    /** Of candidates in parts of a sample: a group side by side, or one that is wider. */
    DECLARE_ALIGNED(32, uint8_t, means)[GPUME_MAX_BLOCK * GPUME_AVERAGE_LINESIZE];
} Searcher;

static void set_block(Searcher *c, int bx, int by)
{
    const GpumeParams *p = &c->s->params;
    int i;

    c->box      = gpume_box(p, p->block, bx, by);
    c->area.cur = c->cur.data + c->box.y0 * c->cur.linesize + c->box.x0 * c->sample_size;
    if (c->area.w != c->box.w || c->area.h != c->box.h) {
        c->area.w      = c->box.w;
        c->area.h      = c->box.h;
        i              = gpume_width_index(c->box.w);
        c->width_index = gpume_width_of(i) == c->box.w && c->box.h <= GPUME_COST_ROWS ? i : -1;
    }
}

/* The samples that a vector in parts of a sample leads to. */
static void average(const Searcher *c, uint8_t *dst, GpumeVector v)
{
    const int log2_pel = gpume_log2_pel(c->pel);
    const int fx = (v.dx & (c->pel - 1)) << (2 - log2_pel);
    const int fy = (v.dy & (c->pel - 1)) << (2 - log2_pel);
    const Between *b = c->between[fy * 4 + fx];
    const ptrdiff_t x = (c->box.x0 + (v.dx >> log2_pel)) * c->sample_size;
    const int y = c->box.y0 + (v.dy >> log2_pel);
    const uint8_t *first  = b[0].data + y * b[0].linesize + x;
    const uint8_t *second = b[1].data + y * b[1].linesize + x;

    if (c->width_index >= 0) {
        c->p->pixels.average[c->width_index](dst, first, b[0].linesize, second, b[1].linesize,
                                             c->box.h);
        return;
    }
    for (int w = c->box.w, i; w > 0; w -= gpume_width_of(i)) {
        const int bytes = gpume_width_of(i = gpume_width_index(w)) * c->sample_size;

        c->p->pixels.average[i](dst, first, b[0].linesize, second, b[1].linesize, c->box.h);
        dst    += bytes;
        first  += bytes;
        second += bytes;
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

/**
 * The costs of 1 or GROUP vectors, all admissible.
 * @param limit as for GpumeCostOne
 */
static void evaluate(Searcher *c, const GpumeVector *v, int nb, uint32_t *cost, uint32_t limit)
{
    const uint8_t *ref[GROUP];

    if (c->pel == 1) {
        for (int i = 0; i < nb; i++)
            ref[i] = c->ref.data + (c->box.y0 + v[i].dy) * c->ref.linesize +
                                   (c->box.x0 + v[i].dx) * c->sample_size;
        cost_of(c, ref, c->ref.linesize, nb, cost, limit);
    } else if (c->box.w * c->sample_size <= MEANS_PITCH) {
        for (int i = 0; i < nb; i++) {
            ref[i] = c->means + i * MEANS_PITCH;
            average(c, c->means + i * MEANS_PITCH, v[i]);
        }
        cost_of(c, ref, GPUME_AVERAGE_LINESIZE, nb, cost, limit);
    } else {
        ref[0] = c->means;
        for (int i = 0; i < nb; i++) {
            average(c, c->means, v[i]);
            cost_of(c, ref, GPUME_AVERAGE_LINESIZE, 1, cost + i, limit);
        }
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

/** Candidates in their order, with what is added to their costs; and the best so far. */
typedef struct Choice {
    GpumeVector vectors[NB_CANDIDATES + GROUP];
    uint32_t penalties[NB_CANDIDATES + GROUP];
    int nb;
    GpumeVector best;
    uint32_t best_cost, best_sum;   ///< without and with the penalty; UINT32_MAX: none yet
} Choice;

/* The first of the least sum of cost and penalty becomes the best, if it is less than that. */
static void choose(Searcher *c, Choice *o)
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
        /* what is computed for nothing costs less than one by one */
        if (n == GROUP - 1) {
            v[n]       = v[n - 1];
            which[n++] = which[GROUP - 2];
        }
        if (n == GROUP) {
            evaluate(c, v, GROUP, cost, o->best_sum - least);
        } else {
            for (int j = 0; j < n; j++)
                evaluate(c, v + j, 1, cost + j, o->best_sum - o->penalties[which[j]]);
        }
        for (int j = 0; j < n; j++) {
            const uint32_t penalty = o->penalties[which[j]];

            if (cost[j] < o->best_sum - FFMIN(penalty, o->best_sum)) {
                o->best      = v[j];
                o->best_cost = cost[j];
                o->best_sum  = cost[j] + penalty;
            }
        }
    }
}

/* A candidate of the begin: without a penalty. */
static void add_candidate(const Searcher *c, Choice *o, int dx, int dy)
{
    const GpumeVector v = { dx, dy };

    if (!is_admissible(c, v))
        return;
    for (int i = 0; i < o->nb; i++)
        if (same(o->vectors[i], v))
            return;
    o->penalties[o->nb] = 0;
    o->vectors[o->nb++] = v;
}

static void begin_full(Searcher *c, Choice *o)
{
    const GpumeBox *b = &c->box;

    o->nb = 0;
    add_candidate(c, o, 0, 0);
    choose(c, o);
    o->nb = 0;
    for (int dy = b->min_dy; dy <= b->max_dy && o->best_cost; dy++)
        for (int dx = b->min_dx; dx <= b->max_dx; dx++) {
            o->penalties[o->nb] = 0;
            o->vectors[o->nb++] = (GpumeVector) { dx, dy };
            if (o->nb == GROUP || dx == b->max_dx) {
                choose(c, o);
                o->nb = 0;
            }
        }
}

static void begin_coarser(Searcher *c, Choice *o, int bx, int by)
{
    /* the grid of the step before */
    const GpumeParams *p = &(c->s - 1)->params;
    const int doubled = c->s->step.begin == GPUME_BEGIN_PARENTS;

    o->nb = 0;
    for (int i = 0; i < 4; i++) {
        int x = bx, y = by;

        if (gpume_parent(i, &x, &y, p->bw, p->bh)) {
            const GpumeVector v = c->coarser->vectors[y * p->bw + x];

            add_candidate(c, o, v.dx << doubled, v.dy << doubled);
        }
    }
    if (doubled || !o->nb)
        add_candidate(c, o, 0, 0);
    choose(c, o);
}

static void begin_row(Searcher *c, int by)
{
    const int bw = c->s->params.bw;
    GpumeStepField *f = c->f;

    memset(f->changed + by * bw, 0, bw);
    for (int bx = 0; bx < bw; bx++) {
        GpumeVector *v = &f->vectors[by * bw + bx];
        Choice o = { .best_cost = UINT32_MAX, .best_sum = UINT32_MAX };

        if (c->s->step.begin == GPUME_BEGIN_KEEP) {
            v->dx *= c->pel;
            v->dy *= c->pel;
            continue;
        }
        set_block(c, bx, by);
        if (c->s->step.begin == GPUME_BEGIN_FULL)
            begin_full(c, &o);
        else
            begin_coarser(c, &o, bx, by);
        *v = o.best;
        f->costs[by * bw + bx] = o.best_cost;
    }
}

/* Whether the block or a neighbour has changed since it was visited in the pass before. */
static int is_due(const GpumeStepField *f, int i, int bw, int since)
{
    const uint8_t *changed = f->changed + i;
    int last = 0;

    for (int y = -bw; y <= bw; y += bw)
        last = FFMAX(last, FFMAX3(changed[y - 1], changed[y], changed[y + 1]));
    return last >= since;
}

/* The neighbours' vectors in raster order; returns how many there are. */
static int gather(const GpumeStepField *f, const GpumeParams *p, int bx, int by, GpumeVector nb[8])
{
    const GpumeVector *v = f->vectors + by * p->bw + bx;
    int n = 0;

    if (bx && by && bx + 1 < p->bw && by + 1 < p->bh) {
        memcpy(nb,     v - p->bw - 1, 3 * sizeof(*nb));
        memcpy(nb + 5, v + p->bw - 1, 3 * sizeof(*nb));
        nb[3] = v[-1];
        nb[4] = v[1];
        return 8;
    }
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
            if ((x || y) && bx + x >= 0 && bx + x < p->bw && by + y >= 0 && by + y < p->bh)
                nb[n++] = v[y * p->bw + x];
    return n;
}

static void visit(Searcher *c, int bx, int by, int now)
{
    const GpumeParams *p = &c->s->params;
    const int i = by * p->bw + bx;
    GpumeStepField *f = c->f;
    const GpumeVector own = f->vectors[i];
    GpumeVector nb[8], v[NB_CANDIDATES];
    const int nb_neighbours = gather(f, p, bx, by, nb);
    uint32_t sums[16 + 1];
    int nb_others = 1, n;
    Choice o;

    if (now > GPUME_NB_PHASES && nb_neighbours == 8 && !is_due(f, i, p->bw, now - GPUME_NB_PHASES))
        return;
    set_block(c, bx, by);

    v[0] = own;
    for (int j = 0; j < nb_neighbours; j++) {
        int is_new = 1;

        for (int k = 0; k < nb_others; k++)
            is_new &= !same(v[k], nb[j]);
        if (is_new)
            v[nb_others++] = nb[j];
    }
    n = nb_others;
    for (int j = 0; j < 8; j++) {
        const GpumeVector next = { own.dx + around[j][0], own.dy + around[j][1] };
        int is_new = 1;

        for (int k = 1; k < nb_others; k++)
            is_new &= !same(v[k], next);
        if (is_new)
            v[n++] = next;
    }

    if (!c->penalty_factor) {
        memset(sums, 0, sizeof(sums));
    } else if (nb_neighbours == 8) {
        c->p->pixels.differences(sums, v, FFMIN(n, 16), nb, c->s->step.threshold);
        if (n > 16)
            c->p->pixels.differences(sums + 16, v + 16, 1, nb, c->s->step.threshold);
    } else {
        for (int j = 0; j < n; j++) {
            sums[j] = 0;
            for (int k = 0; k < nb_neighbours; k++)
                sums[j] += gpume_difference(v[j], nb[k], c->s->step.threshold);
        }
    }

    o.nb        = 0;
    o.best      = own;
    o.best_cost = f->costs[i];
    for (int j = 0; j < n; j++) {
        const uint32_t penalty = nb_neighbours == 8 ?
            (c->penalty_factor * sums[j] >> c->penalty_shift) << (p->depth - 8) :
            gpume_penalty(c->penalty_factor, sums[j], nb_neighbours, c->pel, p->depth);

        if (!j) {
            o.best_sum = o.best_cost + penalty;
        } else if (penalty < o.best_sum && is_admissible(c, v[j])) {
            o.penalties[o.nb] = penalty;
            o.vectors[o.nb++] = v[j];
        }
    }
    choose(c, &o);
    if (!same(o.best, own)) {
        f->vectors[i] = o.best;
        f->costs[i]   = o.best_cost;
        f->changed[i] = now;
    }
}

static void pass_row(Searcher *c, int by, int pass)
{
    for (int odd = 0; odd < 2; odd++)
        for (int bx = odd; bx < c->s->params.bw; bx += 2)
            visit(c, bx, by, 1 + GPUME_NB_PHASES * pass + 2 * (by & 1) + odd);
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
    c->penalty_factor = gpume_penalty_factor(p->params.smooth, step->block);
    c->penalty_shift  = 3 + gpume_log2_pel(step->pel);
    c->area = (GpumeCostArea) {
        .functions = p->cost, .cur_linesize = c->cur.linesize, .sample_size = c->sample_size,
    };
    for (int k = 0; k < 16 && c->pel > 1; k++) {
        const int pair = gpume_between(k & 3, k >> 2);

        for (int m = 0; m < 2; m++) {
            const int one = pair >> 4 * m;
            const GpumePlaneData plane = ff_gpume_planes_half(&p->layout, field->ref, one & 3);

            c->between[k][m].linesize = plane.linesize;
            c->between[k][m].data     = plane.data + (one >> 2 & 1) * c->sample_size +
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
        Searcher *searcher     = &c[start % nb_fields];
        const GpumeStepUnit *u = &s->units[start / nb_fields];

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
    const int x0 = box->x0 + (v.dx >> log2_pel), y0 = box->y0 + (v.dy >> log2_pel);
    GpumePlaneData planes[2];
    int x_of[2], y_of[2], margin[2];
    uint8_t block[GPUME_COST_ROWS * GPUME_AVERAGE_LINESIZE];
    uint32_t cost = 0;

    for (int i = 0; i < 2; i++) {
        const int one = pair >> 4 * i;

        planes[i] = ff_gpume_planes_half(&p->layout, field->ref, one & 3);
        margin[i] = one & 3 ? GPUME_HALF_MARGIN : 0;
        x_of[i]   = one >> 2 & 1;
        y_of[i]   = one >> 3 & 1;
    }
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
                const int a = sample_at(p, planes[0], margin[0], x0 + x_of[0] + x, y0 + y_of[0] + y + i);
                const int b = sample_at(p, planes[1], margin[1], x0 + x_of[1] + x, y0 + y_of[1] + y + i);
                uint8_t *dst = block + i * GPUME_AVERAGE_LINESIZE + x * size;

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

static av_cold int init_field(GpumeStepField *f, size_t nb_blocks, int nb_rows)
{
    f->vectors = av_calloc(nb_blocks, sizeof(*f->vectors));
    f->costs   = av_calloc(nb_blocks, sizeof(*f->costs));
    f->changed = av_calloc(nb_blocks, sizeof(*f->changed));
    f->done    = av_calloc(nb_rows,   sizeof(*f->done));
    return f->vectors && f->costs && f->changed && f->done ? 0 : AVERROR(ENOMEM);
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
        for (int j = 0; j < 2 && ret >= 0; j++)
            ret = init_field(&p->fields[i][j], nb_blocks, nb_rows);
    return ret;
}

av_cold void ff_gpume_propagation_uninit(GpumePropagation *p)
{
    for (int i = 0; i < p->nb_steps; i++)
        av_freep(&p->steps[i].units);
    for (int i = 0; i < GPUME_MAX_REFERENCES; i++)
        for (int j = 0; j < 2; j++) {
            GpumeStepField *f = &p->fields[i][j];

            av_freep(&f->vectors);
            av_freep(&f->costs);
            av_freep(&f->changed);
            av_freep(&f->done);
        }
}
