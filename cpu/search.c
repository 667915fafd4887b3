/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/intmath.h"
#include "libavutil/macros.h"

#define GPUME_INLINE static av_always_inline
#include "libavfilter/gpume/cpu/search.h"

/* Returns the cost from which on a cost need not be completed. */
static av_always_inline uint32_t limit_of(const GpumeBlock *b)
{
    return b->exhaustive ? UINT32_MAX : b->cost;
}

/* Computes costs of blocks that have no function for their width or height. */
static av_noinline void cost_of_parts(const GpumeBlock *b, const uint8_t *const *ref,
                                      int nb, uint32_t *cost, uint32_t limit)
{
    const GpumeCostArea area = {
        b->functions, b->cur, b->cur_linesize, b->ref_linesize, b->sample_size, b->box.w, b->box.h
    };

    ff_gpume_cost_of_parts(&area, ref, nb, cost, limit);
}

/**
 * Evaluates candidates, given by their first samples, in order.
 * @param ref has room for nb + 1
 * @return the index of the new best candidate: among those cheaper than the best so far, the first
 *         with the least cost; -1: none
 */
static av_always_inline int try_candidates(GpumeBlock *b, const uint8_t **ref, int nb)
{
    int best = -1;

    for (int i = 0; i < nb;) {
        uint32_t cost[4];
        int n = 1;

        if (nb - i >= 3) {
            ref[nb] = ref[nb - 1];
            n = 4;
        }
        if (!b->one)
            cost_of_parts(b, ref + i, n, cost, limit_of(b));
        else if (n == 4)
            b->four(b->cur, b->cur_linesize, ref + i, b->ref_linesize, b->box.h,
                    cost, limit_of(b));
        else
            *cost = b->one(b->cur, b->cur_linesize, ref[i], b->ref_linesize, b->box.h,
                           limit_of(b));
        for (int j = 0; j < n; j++) {
            if (cost[j] < b->cost) {
                b->cost = cost[j];
                best    = i + j;
            }
        }
        i += n;
    }
    return best;
}

static const uint8_t *ref_at(const GpumeBlock *b, int dx, int dy)
{
    return b->ref + dy * b->ref_linesize + dx * b->sample_size;
}

static void try_vector(GpumeBlock *b, int dx, int dy)
{
    const uint8_t *ref[2] = { ref_at(b, dx, dy) };

    if (!try_candidates(b, ref, 1)) {
        b->dx = dx;
        b->dy = dy;
    }
}

/* Returns whether another vector may be better, or all must be tried. */
static int try_zero_vector(GpumeBlock *b)
{
    try_vector(b, 0, 0);
    return b->cost || b->exhaustive;
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

        ref[nb]   = ref_at(b, dx, dy);
        point[nb] = i;
        nb       += wanted >> i & gpume_admissible(&b->box, dx, dy);
    }

    best = try_candidates(b, ref, nb);
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

/** Candidates that wait to be tried. */
typedef struct Queue {
    const uint8_t *ref[16 + 1];
    GpumeVector vectors[16];
    int nb;
} Queue;

static void try_queue(GpumeBlock *b, Queue *q)
{
    const int best = try_candidates(b, q->ref, q->nb);

    if (best >= 0) {
        b->dx = q->vectors[best].dx;
        b->dy = q->vectors[best].dy;
    }
    q->nb = 0;
}

static av_always_inline void enqueue(GpumeBlock *b, Queue *q, int dx, int dy)
{
    if (!gpume_admissible(&b->box, dx, dy))
        return;
    q->ref[q->nb]     = ref_at(b, dx, dy);
    q->vectors[q->nb] = (GpumeVector) { dx, dy };
    if (++q->nb == FF_ARRAY_ELEMS(q->vectors))
        try_queue(b, q);
}

/* Tries predictors; at most as many as a queue holds. Many of them are equal. */
static void try_predictors(GpumeBlock *b, const GpumeVector *p, int nb)
{
    Queue q;

    q.nb = 0;
    for (int i = 0; i < nb; i++) {
        int is_new = 1;

        for (int j = 0; j < i; j++)
            is_new &= p[i].dx != p[j].dx || p[i].dy != p[j].dy;
        if (is_new)
            enqueue(b, &q, p[i].dx, p[i].dy);
    }
    try_queue(b, &q);
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
    Queue q;

    gpume_umh_predictors(p, &b->neighbours);
    try_predictors(b, p, FF_ARRAY_ELEMS(p));
    if (!b->cost)
        return;

    q.nb = 0;
    x = b->dx;
    y = b->dy;
    for (int k = 0; k < gpume_umh_cross_points(b->range); k++) {
        gpume_umh_cross(k, b->range, &dx, &dy);
        enqueue(b, &q, x + dx, y + dy);
    }
    try_queue(b, &q);

    x = b->dx;
    y = b->dy;
    for (int row = 0; row < GPUME_UMH_ROWS; row++) {
        const int nb = gpume_umh_row_points(b->dx, x), first = b->dx - GPUME_UMH_ROWS / 2;

        for (int k = 0; k < nb; k++)
            enqueue(b, &q, first + k, y + row - GPUME_UMH_ROWS / 2);
        try_queue(b, &q);
    }

    x = b->dx;
    y = b->dy;
    for (int k = 0; k < gpume_umh_grid_points(b->range); k++) {
        gpume_umh_grid(k, grid_hexagon, &dx, &dy);
        enqueue(b, &q, x + dx, y + dy);
    }
    try_queue(b, &q);
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
static void (*const pattern_searches[GPUME_NB_ALGOS])(GpumeBlock *b) = {
    GPUME_SEARCHES(SEARCH_OF)
};

/* Tries the candidates of a row that kept marks. Returns their number. */
static int try_row(GpumeBlock *b, int dy, const uint64_t *kept, int nb)
{
    const uint8_t *ref[4 + 1];
    int dx[4 + 1];
    int n = 0, nb_tried = 0;

    for (int i = 0; i < nb; i += 64) {
        uint64_t bits = kept[i / 64];

        if (nb - i < 64)
            bits &= (UINT64_C(1) << (nb - i)) - 1;
        while (bits || n && i + 64 >= nb) {
            if (bits) {
                dx[n]  = b->box.min_dx + i + ff_ctzll(bits);
                ref[n] = ref_at(b, dx[n], dy);
                bits  &= bits - 1;
                n++;
            }
            if (n == 4 || !bits && i + 64 >= nb) {
                const int best = try_candidates(b, ref, n);

                if (best >= 0) {
                    b->dx = dx[best];
                    b->dy = dy;
                }
                nb_tried += n;
                n = 0;
            }
        }
    }
    return nb_tried;
}

/**
 * Sets a limit: only candidates that cost no more than the best candidate of a short search can
 * win. If several have this cost, the first must still be found.
 * @param dx, dy a vector that may be good, admissible or not
 */
static void find_limit(GpumeBlock *b, int dx, int dy)
{
    const uint32_t zero_cost = b->cost;

    if (gpume_admissible(&b->box, dx, dy))
        try_vector(b, dx, dy);
    search_DS(b);
    b->dx   = b->dy = 0;
    b->cost = FFMIN(b->cost + 1, zero_cost);
}

/* Returns whether a vector differs from those of the first nb parts and from (0, 0). */
static int is_new(const GpumeBlock *b, GpumeVector v, int nb)
{
    int is_new = v.dx || v.dy;

    for (int i = 0; i < nb; i++)
        is_new &= b->parts[i].vector.dx != v.dx || b->parts[i].vector.dy != v.dy;
    return is_new;
}

/**
 * Sets the limit from the vectors of the blocks that this block consists of. Each of them is the
 * first vector of least cost. So if they are equal, no earlier candidate has the sum of their
 * costs, and none has less. Returns whether the best candidate is known.
 */
static int find_limit_of_parts(GpumeBlock *b)
{
    const GpumePart *first = b->parts;
    uint32_t zero_cost = 0;
    int are_same = 1;
    Queue q;

    for (const GpumePart *p = first; p < first + b->nb_parts; p++) {
        b->least  += p->cost;
        zero_cost += p->zero_cost;
        are_same  &= p->vector.dx == first->vector.dx && p->vector.dy == first->vector.dy;
    }
    b->part->zero_cost = zero_cost;
    b->dx   = b->dy = 0;
    b->cost = zero_cost;
    if (zero_cost == b->least)
        return 1;
    if (are_same) {
        b->dx   = first->vector.dx;
        b->dy   = first->vector.dy;
        b->cost = b->least;
        return 1;
    }
    q.nb = 0;
    for (int i = 0; i < b->nb_parts; i++) {
        const GpumeVector v = b->parts[i].vector;

        if (is_new(b, v, i))
            enqueue(b, &q, v.dx, v.dy);
    }
    try_queue(b, &q);
    b->dx   = b->dy = 0;
    b->cost = FFMIN(b->cost + 1, zero_cost);
    return 0;
}

/* Returns whether elimination pays, as opposed to trying all candidates; it does not in noise. */
static int pays(int nb_tried, int nb)
{
    return nb_tried <= 64 || nb_tried <= nb / 2;
}

/* Returns the index of an admissible vector in a block's map. */
static ptrdiff_t in_map(const GpumeBlock *b, int dx, int dy)
{
    return 2 * ((dy + b->range) * (ptrdiff_t)b->sea->map_row + dx + b->range);
}

/*
 * Completes a map in which the bounds of the rows before dy, and some in row dy, are known; the
 * others are set to 0.
 */
static void finish_map(const GpumeBlock *b, int dy, int nb)
{
    const ptrdiff_t start = in_map(b, b->box.min_dx + nb, dy);
    const ptrdiff_t end   = in_map(b, b->box.max_dx, b->box.max_dy) + 2;

    if (start < end)
        memset(b->part->map + start, 0, end - start);
    b->part->has_map = 1;
}

static int eliminate_by_sums(GpumeBlock *b)
{
    const GpumeSea *sea = b->sea;
    const GpumeBox *box = &b->box;
    const ptrdiff_t offset = box->y0 * sea->linesize + box->x0 * sizeof(uint16_t);
    const int nb = box->max_dx - box->min_dx + 1;
    uint64_t kept[GPUME_SEA_KEPT_WORDS(2 * GPUME_MAX_RANGE + 1)];
    GpumeSeaBounds bounds;
    int nb_tried = 0, goes_on = 1, dy, stores;

    ff_gpume_sea_block(sea, &bounds, b->cur_sums + offset, box->w, box->h);
    bounds.nb_candidates = nb;
    bounds.map_linesize  = 2 * sea->map_row;
    stores = b->part && bounds.nb_halves == FF_ARRAY_ELEMS(bounds.half);
    /* roots come one after the other, in an order that the processor cannot predict */
    if (stores)
        ff_gpume_sea_prefetch(sea, b->cur_sums + offset, GPUME_MAX_ROOT);

    for (dy = box->min_dy; dy <= box->max_dy && b->cost > b->least && goes_on; dy++) {
        const uint8_t *sums = b->ref_sums + offset + dy * sea->linesize + box->min_dx * 2;

        ff_gpume_sea_limit(sea, &bounds, b->cost);
        if (stores) {
            bounds.map = b->part->map + in_map(b, box->min_dx, dy);
            dy += sea->bound_and_store(&bounds, sums, box->max_dy - dy + 1, kept);
        } else {
            dy += sea->bound(&bounds, sums, box->max_dy - dy + 1, kept);
        }
        if (dy > box->max_dy)
            break;
        nb_tried += try_row(b, dy, kept, nb);
        goes_on   = pays(nb_tried, nb * (dy - box->min_dy + 1));
    }
    if (stores)
        finish_map(b, dy, 0);
    b->next_dy = dy;
    return goes_on;
}

static void set_parts(const GpumeBlock *b, GpumeSeaParts *p, int dy)
{
    const ptrdiff_t offset = in_map(b, b->box.min_dx, dy);

    for (int i = 0; i < FF_ARRAY_ELEMS(p->map); i++) {
        const GpumePart *part = &b->parts[i];

        p->map[i]   = (i < b->nb_parts && part->has_map ? part->map : b->no_map) + offset;
        p->least[i] = i < b->nb_parts ? ff_gpume_sea_least(b->sea_of_parts, part->cost) : 0;
    }
    p->dst   = b->part->map + offset;
    p->shift = b->sea->join_shift;
}

/* Queues the candidates of a group that kept marks; a group can extend over several rows of a map. */
static int enqueue_group(GpumeBlock *b, Queue *q, int first, int dy, uint32_t kept)
{
    int nb = 0;

    for (; kept; kept &= kept - 1, nb++) {
        const int i = first + ff_ctz(kept);
        const int y = i / b->sea->map_row;

        enqueue(b, q, b->box.min_dx + i - y * b->sea->map_row, dy + y);
        if (q->nb == 4)
            try_queue(b, q);
    }
    return nb;
}

/*
 * Eliminates candidates with the bounds of the parts.
 * @param is_known whether only the map is needed
 */
static int eliminate_by_parts(GpumeBlock *b, int is_known)
{
    const GpumeSea *sea = b->sea;
    const GpumeBox *box = &b->box;
    const int nb = box->max_dx - box->min_dx + 1;
    /* complete rows are contiguous in maps */
    const int nb_rows = nb == sea->map_row ? box->max_dy - box->min_dy + 1 : 1;
    int nb_tried = 0, i = 0, goes_on = 1, dy;
    GpumeSeaParts p;
    Queue q;

    q.nb = 0;
    p.nb_candidates = nb * nb_rows;
    for (dy = box->min_dy; dy <= box->max_dy && goes_on; dy += nb_rows) {
        set_parts(b, &p, dy);
        for (i = 0; goes_on; i += GPUME_SEA_GROUP) {
            uint32_t kept;

            p.limit = is_known ? 0 : ff_gpume_sea_join_limit(sea, b->cost);
            i = sea->join(&p, i, &kept);
            if (i >= p.nb_candidates)
                break;
            if (is_known)
                continue;
            if (p.nb_candidates - i < GPUME_SEA_GROUP)
                kept &= (1u << (p.nb_candidates - i)) - 1;
            nb_tried += enqueue_group(b, &q, i, dy, kept);
            goes_on   = b->cost > b->least && pays(nb_tried, nb * (dy - box->min_dy) + i + GPUME_SEA_GROUP);
        }
    }
    try_queue(b, &q);
    if (!goes_on) {
        /* groups extend beyond the last candidate */
        i   = FFMIN(i, p.nb_candidates);
        dy -= nb_rows;
        finish_map(b, dy, i);
        b->next_dy = dy + i / nb;
        return b->cost <= b->least;
    }
    b->part->has_map = 1;
    return 1;
}

static int stage_sea(GpumeBlock *b)
{
    /* neighbouring blocks often have similar motion */
    const int last_dx = b->dx, last_dy = b->dy;
    int has_maps = 0;

    if (!b->nb_parts) {
        const int is_best = !try_zero_vector(b);

        if (b->part)
            b->part->zero_cost = b->cost;
        if (is_best)
            return 1;
        find_limit(b, last_dx, last_dy);
        return eliminate_by_sums(b);
    }
    for (int i = 0; i < b->nb_parts; i++)
        has_maps |= b->parts[i].has_map;
    if (!find_limit_of_parts(b))
        return eliminate_by_parts(b, 0);
    if (b->is_part && has_maps)
        eliminate_by_parts(b, 1);
    return 1;
}

/* Computes the costs of all candidates of a row, up to limit; may write up to three more costs. */
static void cost_row(const GpumeBlock *b, int dy, uint32_t *cost, int nb, uint32_t limit)
{
    const uint8_t *first = ref_at(b, b->box.min_dx, dy);

    for (int i = 0; i < nb; i += 4) {
        const uint8_t *ref[4];

        for (int j = 0; j < 4; j++)
            ref[j] = first + FFMIN(i + j, nb - 1) * b->sample_size;
        if (b->four)
            b->four(b->cur, b->cur_linesize, ref, b->ref_linesize, b->box.h, cost + i, limit);
        else
            cost_of_parts(b, ref, 4, cost + i, limit);
    }
}

/* Returns the sums of costs of a row of candidates. */
static uint32_t *sums_at(const GpumeBlock *b, uint32_t *sums, int dy)
{
    return sums + (dy + b->range) * (size_t)(2 * b->range + 1) + b->box.min_dx + b->range;
}

void ff_gpume_cpu_begin_sums(GpumeBlock *b)
{
    const GpumeBox *box = &b->box;

    b->sums_are_bounds = 0;
    for (int dy = box->min_dy; dy <= box->max_dy; dy++)
        memset(sums_at(b, b->sums, dy), 0, (box->max_dx - box->min_dx + 1) * sizeof(*b->sums));
}

/* Finds candidates of a row that are better. */
static void compare_row(GpumeBlock *b, int dy, const uint32_t *cost, int nb)
{
    for (int i = 0; i < nb; i++) {
        if (cost[i] >= b->cost)
            continue;
        if (b->nb_parts && b->sums_are_bounds) {
            try_vector(b, b->box.min_dx + i, dy);
        } else {
            b->cost = cost[i];
            b->dx   = b->box.min_dx + i;
            b->dy   = dy;
        }
    }
}

/*
 * Searches a block that is a part of a larger block, or has parts. A candidate then costs the sum
 * of the parts' costs, or more if some parts did not evaluate all candidates or computed incomplete
 * costs.
 */
static void search_sums(GpumeBlock *b)
{
    const int nb = b->box.max_dx - b->box.min_dx + 1;
    /* limits do not pay in small blocks */
    const int is_limited = !b->exhaustive && b->box.w > 8;
    uint32_t costs[2 * GPUME_MAX_RANGE + 1 + 3];

    if (!b->nb_parts)
        b->sums_are_bounds = is_limited;
    try_zero_vector(b);
    for (int dy = b->box.min_dy; dy <= b->box.max_dy; dy++) {
        const uint32_t *row = b->nb_parts ? sums_at(b, b->sums, dy) : costs;

        if (!b->cost && !b->exhaustive) {
            b->sums_are_bounds = 1;
            break;
        }
        if (!b->nb_parts)
            cost_row(b, dy, costs, nb, is_limited ? b->cost : UINT32_MAX);
        compare_row(b, dy, row, nb);
        if (b->whole) {
            uint32_t *sums = sums_at(b, b->whole->sums, dy);

            for (int i = 0; i < nb; i++)
                sums[i] += row[i];
        }
    }
    if (b->whole)
        b->whole->sums_are_bounds |= b->sums_are_bounds;
}

static int stage_full(GpumeBlock *b)
{
    uint64_t all[GPUME_SEA_KEPT_WORDS(2 * GPUME_MAX_RANGE + 1)];

    if (b->whole || b->sums) {
        search_sums(b);
        return 1;
    }

    memset(all, 0xff, sizeof(all));
    if (b->cost == UINT32_MAX && !try_zero_vector(b))
        return 1;
    for (int dy = b->next_dy; dy <= b->box.max_dy && (b->cost || b->exhaustive); dy++)
        try_row(b, dy, all, b->box.max_dx - b->box.min_dx + 1);
    return 1;
}

static int stage_pattern(GpumeBlock *b)
{
    if (try_zero_vector(b))
        pattern_searches[b->algo](b);
    return 1;
}

static int stage_wavefront(GpumeBlock *b)
{
    ff_gpume_wavefront_neighbours(b->front, &b->neighbours, b->bx, b->by);
    predict[b->algo](b);
    if (b->cost)
        pattern_searches[b->algo](b);
    ff_gpume_wavefront_found(b->front, b->bx, b->by, (GpumeVector) { b->dx, b->dy });
    return 1;
}

/**
 * Stages of single blocks, indexed by enum GpumeStage. They return whether the block is done;
 * otherwise the next stage continues.
 */
static int (*const stages[GPUME_NB_SEARCH_STAGES])(GpumeBlock *b) = {
    [GPUME_STAGE_SEA]       = stage_sea,
    [GPUME_STAGE_FULL]      = stage_full,
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
