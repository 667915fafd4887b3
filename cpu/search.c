/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/intmath.h"
#include "libavutil/macros.h"

#define GPUME_INLINE static av_always_inline
#include "libavfilter/gpume/cpu/search.h"
#include "libavfilter/gpume/gpume_params.h"
#include "libavfilter/gpume/gpume_searches.h"

/** Rows after which it is worth looking whether a candidate has lost. */
#define ROWS 16

/* What a sum need not be completed beyond. */
static av_always_inline uint32_t limit_of(const GpumeBlock *b)
{
    return b->exhaustive ? UINT32_MAX : b->cost;
}

/* Blocks with more rows than that, and those without a function for their width. */
static av_noinline void cost_of_parts(const GpumeBlock *b, const uint8_t *const *ref,
                                      int nb, uint32_t *cost)
{
    const uint32_t limit = limit_of(b);
    uint32_t least = 0;

    memset(cost, 0, nb * sizeof(*cost));
    for (int y = 0; y < b->h && least < limit; y += ROWS) {
        const int rows = FFMIN(b->h - y, ROWS);
        int x = 0;

        for (int i = GPUME_NB_WIDTHS - 1; i >= 0; i--) {
            const ptrdiff_t offset = y * b->ref_linesize + x * b->sample_size;
            const uint8_t *cur = b->cur + y * b->cur_linesize + x * b->sample_size;

            if (!(b->w >> i & 1))
                continue;
            if (nb == 4) {
                const uint8_t *const part[4] = { ref[0] + offset, ref[1] + offset,
                                                 ref[2] + offset, ref[3] + offset };
                uint32_t sad[4];

                b->cost_ctx->sad_x4[i](cur, b->cur_linesize, part, b->ref_linesize,
                                       rows, sad, limit);
                for (int j = 0; j < 4; j++)
                    cost[j] += sad[j];
            } else {
                *cost += b->cost_ctx->sad[i](cur, b->cur_linesize, *ref + offset,
                                             b->ref_linesize, rows, limit);
            }
            x += 1 << i;
        }
        least = *cost;
        for (int j = 1; j < nb; j++)
            least = FFMIN(least, cost[j]);
    }
}

/**
 * Evaluate candidates, given by their first samples, in this order.
 * @param ref has room for one more than nb
 * @return which one is the best now: of those cheaper than the best so far, the
 *         first of the cheapest; -1: none
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
        if (!b->sad)
            cost_of_parts(b, ref + i, n, cost);
        else if (n == 4)
            b->sad_x4(b->cur, b->cur_linesize, ref + i, b->ref_linesize, b->h,
                      cost, limit_of(b));
        else
            *cost = b->sad(b->cur, b->cur_linesize, ref[i], b->ref_linesize, b->h,
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

static int admissible(const GpumeBlock *b, int dx, int dy)
{
    return dx >= b->min_dx && dx <= b->max_dx && dy >= b->min_dy && dy <= b->max_dy;
}

static void try_vector(GpumeBlock *b, int dx, int dy)
{
    const uint8_t *ref[2] = { ref_at(b, dx, dy) };

    if (!try_candidates(b, ref, 1)) {
        b->dx = dx;
        b->dy = dy;
    }
}

static const struct {
    int nb_points;
    int8_t points[GPUME_MAX_PATTERN_POINTS][2];
} patterns[] = {
#define PATTERN(name) { GPUME_##name##_POINTS, { GPUME_##name } },
    GPUME_PATTERNS(PATTERN)
};

static const int8_t grid_hexagon[][2] = { GPUME_GRID_HEXAGON };

/* Inlined with a pattern that is a constant, so that loops over its points are not. */
static av_always_inline int try_points(GpumeBlock *b, const GpumeWalk *w, unsigned wanted,
                                       const int8_t (*points)[2], int nb_points)
{
    const uint8_t *ref[GPUME_MAX_PATTERN_POINTS + 1];
    int8_t point[GPUME_MAX_PATTERN_POINTS + 1];
    int nb = 0, best;

    for (int i = 0; i < nb_points; i++) {
        const int dx = w->x + points[i][0] * w->step;
        const int dy = w->y + points[i][1] * w->step;

        ref[nb]   = ref_at(b, dx, dy);
        point[nb] = i;
        nb       += wanted >> i & admissible(b, dx, dy);
    }

    best = try_candidates(b, ref, nb);
    if (best < 0)
        return -1;
    best  = point[best];
    b->dx = w->x + points[best][0] * w->step;
    b->dy = w->y + points[best][1] * w->step;
    return best;
}

/**
 * Try the admissible points of a pattern in its order.
 * @param wanted a bit for each point, the lowest for the first: those to try
 * @return the point that is the best candidate now, or -1
 */
static av_always_inline int try_pattern(GpumeBlock *b, const GpumeWalk *w, unsigned wanted)
{
    switch (w->pattern) {
#define TRY(name)                                                               \
    case GPUME_PATTERN_##name:                                                  \
        return try_points(b, w, wanted, patterns[GPUME_PATTERN_##name].points,  \
                          GPUME_##name##_POINTS);
    GPUME_PATTERNS(TRY)
    }
    return -1;
}

#define ALL_POINTS ~0u

av_cold void ff_gpume_cpu_walks_init(GpumeWalks *walks)
{
    memset(walks, 0, sizeof(*walks));
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
                walks->untried[i][from] |= is_new << to;
            }
    }
}

static av_always_inline void walk(GpumeBlock *b, int algo)
{
    unsigned wanted = ALL_POINTS;
    GpumeWalk w;

    gpume_walk_begin(&w, algo, b->dx, b->dy, b->range);
    for (;;) {
        const int pattern = w.pattern, step = w.step;
        const int point   = try_pattern(b, &w, wanted);

        if (!gpume_walk_next(&w, algo, b->dx, b->dy, b->range))
            break;
        /* around one of the points that were just tried */
        wanted = point >= 0 && w.pattern == pattern && w.step == step &&
                 w.x == b->dx && w.y == b->dy ? b->walks->untried[pattern][point]
                                              : ALL_POINTS;
    }
}

#define WALK_FROM_ZERO(name)                                                \
static void search_##name(GpumeBlock *b)                                    \
{                                                                           \
    walk(b, GPUME_ALGO_##name);                                             \
}

WALK_FROM_ZERO(TSS)
WALK_FROM_ZERO(TDLS)
WALK_FROM_ZERO(NTSS)
WALK_FROM_ZERO(FSS)
WALK_FROM_ZERO(DS)
WALK_FROM_ZERO(HEXBS)

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
    if (!admissible(b, dx, dy))
        return;
    q->ref[q->nb]     = ref_at(b, dx, dy);
    q->vectors[q->nb] = (GpumeVector) { dx, dy };
    if (++q->nb == FF_ARRAY_ELEMS(q->vectors))
        try_queue(b, q);
}

/* At most as many as a queue holds; many are alike. */
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

static void search_EPZS(GpumeBlock *b)
{
    GpumeVector p[GPUME_EPZS_PREDICTORS];

    gpume_predict_epzs(p, b->neighbours);
    try_predictors(b, p, FF_ARRAY_ELEMS(p));
    if (b->cost)
        walk(b, GPUME_ALGO_EPZS);
}

static void search_UMH(GpumeBlock *b)
{
    GpumeVector p[GPUME_UMH_PREDICTORS];
    int x, y, dx, dy;
    Queue q;

    gpume_predict_umh(p, b->neighbours);
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
    for (int row = -2; row <= 2; row++) {
        const int nb = gpume_umh_row_points(b->dx, x), first = b->dx - 2;

        for (int k = 0; k < nb; k++)
            enqueue(b, &q, first + k, y + row);
        try_queue(b, &q);
    }

    x = b->dx;
    y = b->dy;
    for (int k = 0; k < gpume_umh_grid_points(b->range); k++) {
        gpume_umh_grid(k, grid_hexagon, &dx, &dy);
        enqueue(b, &q, x + dx, y + dy);
    }
    try_queue(b, &q);

    if (b->cost)
        walk(b, GPUME_ALGO_UMH);
}

/* Those candidates of a row of which kept has bits. Returns their number. */
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
                dx[n]  = b->min_dx + i + ff_ctzll(bits);
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
 * Let only candidates win that cost no more than the best of a short search
 * does, which is one of them. Of equal ones the first still has to be found.
 */
static void find_limit(GpumeBlock *b)
{
    const uint32_t zero_cost = b->cost;

    if (admissible(b, b->start_dx, b->start_dy))
        try_vector(b, b->start_dx, b->start_dy);
    search_DS(b);
    b->dx   = b->dy = 0;
    b->cost = FFMIN(b->cost + 1, zero_cost);
}

static void search_fs(GpumeBlock *b)
{
    const GpumeEliminate *e = b->eliminate;
    const int nb = b->max_dx - b->min_dx + 1;
    uint64_t kept[GPUME_KEPT_WORDS(2 * GPUME_MAX_RANGE + 1)];
    GpumeBounds bounds;
    int nb_tried = 0;

    if (e) {
        find_limit(b);
        ff_gpume_eliminate_block(e, &bounds, b->cur_sums, b->w, b->h);
        bounds.nb_candidates = nb;
    } else {
        memset(kept, 0xff, sizeof(kept));
    }

    for (int dy = b->min_dy; dy <= b->max_dy && (b->cost || b->exhaustive); dy++) {
        if (e) {
            ff_gpume_eliminate_limit(e, &bounds, b->cost);
            dy += e->bound(&bounds, b->ref_sums + dy * e->linesize + b->min_dx * 2,
                           b->max_dy - dy + 1, kept);
            if (dy > b->max_dy)
                break;
        }
        nb_tried += try_row(b, dy, kept, nb);
        if (e && nb_tried > 64 && nb_tried > nb * (dy - b->min_dy + 1) / 2) {
            /* it costs more than it spares: noise, most likely */
            e = NULL;
            memset(kept, 0xff, sizeof(kept));
        }
    }
}

static void (*const searches[GPUME_NB_ALGOS])(GpumeBlock *b) = {
    [GPUME_ALGO_FS] = search_fs,
#define SEARCH(name, ...) [GPUME_ALGO_##name] = search_##name,
    GPUME_SEARCHES(SEARCH)
};

void ff_gpume_cpu_search(GpumeBlock *b, int algo)
{
    const int width = av_log2(b->w);

    b->sad    = NULL;
    if (b->w == 1 << width && b->h <= ROWS) {
        b->sad    = b->cost_ctx->sad[width];
        b->sad_x4 = b->cost_ctx->sad_x4[width];
    }

    b->cost = UINT32_MAX;
    if (!b->neighbours) {
        try_vector(b, 0, 0);
        if (!b->cost && !b->exhaustive)
            return;
    }
    searches[algo](b);
}
