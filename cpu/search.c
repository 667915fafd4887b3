/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/macros.h"

#define GPUME_INLINE static av_always_inline
#include "libavfilter/gpume/cpu/candidates.h"

void ff_gpume_cpu_cost_of_parts(const GpumeBlock *b, const uint8_t *const *ref, int nb, uint32_t *cost, uint32_t limit)
{
    const GpumeCostArea area = {
        b->functions, b->cur, b->cur_linesize, b->ref_linesize, b->sample_size, b->box.w, b->box.h
    };

    ff_gpume_cost_of_parts(&area, ref, nb, cost, limit);
}

static const struct {
    int nb_points;
    int8_t points[GPUME_MAX_PATTERN_POINTS][2];
} patterns[] = {
#define PATTERN(name) { GPUME_##name##_POINTS, { GPUME_##name } },
    GPUME_PATTERNS(PATTERN)
};

static const int8_t grid_hexagon[][2] = { GPUME_GRID_HEXAGON };

/* Inlined with a constant pattern, so that the loops over its points are unrolled. */
static av_always_inline int try_points(GpumeBlock *b, const GpumePatternState *s, unsigned wanted,
                                       const int8_t (*points)[2], int nb_points)
{
    const uint8_t *ref[GPUME_MAX_PATTERN_POINTS + 1];
    int8_t point[GPUME_MAX_PATTERN_POINTS + 1];
    int nb = 0, best;

    for (int i = 0; i < nb_points; i++) {
        const int dx = s->x + points[i][0] * s->step;
        const int dy = s->y + points[i][1] * s->step;

        ref[nb]   = gpume_ref_at(b, dx, dy);
        point[nb] = i;
        nb       += wanted >> i & gpume_admissible(&b->box, dx, dy);
    }

    best = gpume_try_candidates(b, ref, nb);
    if (best < 0)
        return -1;
    best  = point[best];
    b->dx = s->x + points[best][0] * s->step;
    b->dy = s->y + points[best][1] * s->step;
    return best;
}

/**
 * Tries the admissible points of a pattern in order.
 * @param wanted bit mask of the points to try, the lowest bit for the first
 * @return the point that is the new best candidate, or -1
 */
static av_always_inline int try_pattern(GpumeBlock *b, const GpumePatternState *s, unsigned wanted)
{
    switch (s->pattern) {
#define TRY(name)                                                               \
    case GPUME_PATTERN_##name:                                                  \
        return try_points(b, s, wanted, patterns[GPUME_PATTERN_##name].points,  \
                          GPUME_##name##_POINTS);
    GPUME_PATTERNS(TRY)
    }
    return -1;
}

#define ALL_POINTS ~0u

av_cold void ff_gpume_untried_points_init(GpumeUntriedPoints *u)
{
    memset(u, 0, sizeof(*u));
    for (int i = 0; i < GPUME_NB_PATTERNS; i++) {
        const int8_t (*p)[2] = patterns[i].points;
        const int nb = patterns[i].nb_points;

        for (int from = 0; from < nb; from++)
            for (int to = 0; to < nb; to++) {
                const int dx = p[from][0] + p[to][0];
                const int dy = p[from][1] + p[to][1];
                int is_new = dx || dy;

                for (int j = 0; j < nb; j++)
                    is_new &= dx != p[j][0] || dy != p[j][1];
                u->untried[i][from] |= is_new << to;
            }
    }
}

static av_always_inline void search_pattern(GpumeBlock *b, int algo)
{
    unsigned wanted = ALL_POINTS;
    GpumePatternState s;

    gpume_pattern_begin(&s, algo, b->dx, b->dy, b->range);
    for (;;) {
        const int pattern = s.pattern, step = s.step;
        const int point   = try_pattern(b, &s, wanted);

        if (!gpume_pattern_next(&s, algo, b->dx, b->dy, b->range))
            break;
        /* around one of the points that were just tried */
        wanted = point >= 0 && s.pattern == pattern && s.step == step &&
                 s.x == b->dx && s.y == b->dy ? b->untried->untried[pattern][point]
                                              : ALL_POINTS;
    }
}

/* Tries predictors; at most as many as a queue holds. Many of them are equal. */
static void try_predictors(GpumeBlock *b, const GpumeVector *p, int nb)
{
    GpumeQueue q;

    q.nb = 0;
    for (int i = 0; i < nb; i++) {
        int is_new = 1;

        for (int j = 0; j < i; j++)
            is_new &= p[i].dx != p[j].dx || p[i].dy != p[j].dy;
        if (is_new)
            gpume_enqueue(b, &q, p[i].dx, p[i].dy);
    }
    gpume_try_queue(b, &q);
}

static void predict_epzs(GpumeBlock *b)
{
    GpumeVector p[GPUME_EPZS_PREDICTORS];

    gpume_epzs_predictors(p, &b->neighbours);
    try_predictors(b, p, FF_ARRAY_ELEMS(p));
}

static void predict_umh(GpumeBlock *b)
{
    GpumeVector p[GPUME_UMH_PREDICTORS];
    int x, y, dx, dy;
    GpumeQueue q;

    gpume_umh_predictors(p, &b->neighbours);
    try_predictors(b, p, FF_ARRAY_ELEMS(p));
    if (!b->cost)
        return;

    q.nb = 0;
    x = b->dx;
    y = b->dy;
    for (int k = 0; k < gpume_umh_cross_points(b->range); k++) {
        gpume_umh_cross(k, b->range, &dx, &dy);
        gpume_enqueue(b, &q, x + dx, y + dy);
    }
    gpume_try_queue(b, &q);

    x = b->dx;
    y = b->dy;
    for (int row = 0; row < GPUME_UMH_ROWS; row++) {
        const int nb = gpume_umh_row_points(b->dx, x), first = b->dx - GPUME_UMH_ROWS / 2;

        for (int k = 0; k < nb; k++)
            gpume_enqueue(b, &q, first + k, y + row - GPUME_UMH_ROWS / 2);
        gpume_try_queue(b, &q);
    }

    x = b->dx;
    y = b->dy;
    for (int k = 0; k < gpume_umh_grid_points(b->range); k++) {
        gpume_umh_grid(k, grid_hexagon, &dx, &dy);
        gpume_enqueue(b, &q, x + dx, y + dy);
    }
    gpume_try_queue(b, &q);
}

/** The initial part of predictive searches, indexed by enum GpumeAlgo. */
static void (*const predict[GPUME_NB_ALGOS])(GpumeBlock *b) = {
#define PREDICT_FULL(ID, name)
#define PREDICT_PATTERN(ID, name)
#define PREDICT_HIERARCHICAL(ID, name)
#define PREDICT_PREDICTIVE(ID, name) [GPUME_ALGO_##ID] = predict_##name,
#define PREDICT(ID, name, kind, ...) PREDICT_##kind(ID, name)
    GPUME_SEARCHES(PREDICT)
};

#define SEARCH(ID, ...)                         \
static void search_##ID(GpumeBlock *b)          \
{                                               \
    search_pattern(b, GPUME_ALGO_##ID);         \
}
GPUME_SEARCHES(SEARCH)

#define SEARCH_OF(ID, ...) search_##ID,
void (*const ff_gpume_cpu_patterns[GPUME_NB_ALGOS])(GpumeBlock *b) = {
    GPUME_SEARCHES(SEARCH_OF)
};

static int stage_pattern(GpumeBlock *b)
{
    if (gpume_try_zero_vector(b))
        ff_gpume_cpu_patterns[b->algo](b);
    return 1;
}

static int stage_wavefront(GpumeBlock *b)
{
    ff_gpume_wavefront_neighbours(b->front, &b->neighbours, b->bx, b->by);
    predict[b->algo](b);
    if (b->cost)
        ff_gpume_cpu_patterns[b->algo](b);
    ff_gpume_wavefront_found(b->front, b->bx, b->by, (GpumeVector) { b->dx, b->dy });
    return 1;
}

/**
 * Stages of single blocks, indexed by enum GpumeStage. They return whether the block is done;
 * otherwise the next stage continues.
 */
static int (*const stages[GPUME_NB_SEARCH_STAGES])(GpumeBlock *b) = {
    [GPUME_STAGE_SEA]       = ff_gpume_cpu_stage_sea,
    [GPUME_STAGE_FULL]      = ff_gpume_cpu_stage_full,
    [GPUME_STAGE_PATTERN]   = stage_pattern,
    [GPUME_STAGE_WAVEFRONT] = stage_wavefront,
};

void ff_gpume_cpu_search(GpumeBlock *b)
{
    if (b->width != b->box.w) {
        const int i     = gpume_width_index(b->box.w);
        const int whole = gpume_width_of(i) == b->box.w && b->box.h <= GPUME_COST_ROWS;

        b->one   = whole ? b->functions->one[i]  : NULL;
        b->four  = whole ? b->functions->four[i] : NULL;
        b->width = b->box.w;
    }
    b->cost    = UINT32_MAX;
    b->least   = 0;
    b->next_dy = b->box.min_dy;
    if (b->part)
        b->part->has_map = 0;
    for (int i = 0; i < b->plan->nb_stages && b->plan->stages[i] < GPUME_NB_SEARCH_STAGES; i++)
        if (stages[b->plan->stages[i]](b))
            break;
    if (b->part) {
        b->part->vector = (GpumeVector) { b->dx, b->dy };
        b->part->cost   = b->cost;
    }
}
