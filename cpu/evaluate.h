/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The state of a thread that searches by propagation, and the evaluation of candidates, for the parts of that search.
 */

#ifndef AVFILTER_GPUME_CPU_EVALUATE_H
#define AVFILTER_GPUME_CPU_EVALUATE_H

#include <stdint.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
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
typedef struct GpumePropagationSearcher {
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
} Searcher;

static inline void set_block(Searcher *c, int bx, int by)
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

static inline void average(const Searcher *c, uint8_t *dst, const uint8_t *const pair[2])
{
    c->p->pixels.average(dst, pair[0], pair[1], c->places.linesize, c->box.w, c->box.h);
}

static inline void cost_of(const Searcher *c, const uint8_t *const *ref, ptrdiff_t ref_linesize, int nb,
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
static inline void cost_of_means(Searcher *c, const uint8_t *const *pairs, int nb, uint32_t *cost, uint32_t limit)
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

static inline int same(GpumeVector a, GpumeVector b)
{
    return a.dx == b.dx && a.dy == b.dy;
}

static inline int is_admissible(const Searcher *c, GpumeVector v)
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
    const int n = gpume_locate(ref, choice->vectors, mask, &c->places, c->offset, pel > 1 ? 2 : 1);

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
    least = gpume_least_sum(choice, bounds, cost, mask, mask);
    if (least >> 4 < o->sum) {
        o->sum    = least >> 4;
        o->cost   = o->sum - choice->penalties[least & 15];
        o->vector = choice->vectors[least & 15];
    }
}

/* Returns whether the bounds of blocks stay valid, because the step continues in the same units. */
static inline int goes_on(const GpumeCpuStep *s)
{
    return s->start && s->step.pel == 1;
}

/* Gives a row of blocks the vectors with which a step begins. */
void ff_gpume_propagation_begin_row(Searcher *c, int by);

/* Allocates the state of some threads, for av_free(). */
Searcher *ff_gpume_propagation_searchers(int nb_threads);

#endif /* AVFILTER_GPUME_CPU_EVALUATE_H */
