/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/intmath.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem_internal.h"
#include "libavutil/thread.h"

#include "libavfilter/gpume/mvfps/mci.h"

/** Returns the sum of absolute differences of two pictures along a vector. */
static unsigned sad(const MvfpsPhase *s, int x, int y, MvfpsVector v)
{
    const GpumeSamples *b = &s->before->components[0], *a = &s->after->components[0];
    const int bytes = s->layout->bytes;
    const int bx = mvfps_before(v.x, s->part), by = mvfps_before(v.y, s->part);
    const int ax = mvfps_after(v.x, s->part),  ay = mvfps_after(v.y, s->part);

    return s->dsp.sad(gpume_padded_sample(b, x + (bx >> 3), y + (by >> 3), bytes),
                      gpume_padded_sample(a, x + (ax >> 3), y + (ay >> 3), bytes), b->stride,
                      (bx & 7) + 8 * (by & 7), (ax & 7) + 8 * (ay & 7)) >> (s->layout->depth - 8);
}

/** Different vectors in order, and their penalties apart from those of the fields. */
typedef struct List {
    int nb;
    MvfpsVector v[MVFPS_LIST];
    int cost[MVFPS_LIST];
} List;

void ff_mvfps_sums(const MvfpsPhase *s, MvfpsCellSums *sums, int first, int end)
{
    const GpumeSamples *b = &s->before->components[0], *a = &s->after->components[0];
    const int bytes = s->layout->bytes;

    for (int r = first; r < end; r++)
        for (int c = 0; c < s->fields.cols; c++) {
            const ptrdiff_t at = r * MVFPS_CELL * b->stride + c * MVFPS_CELL * bytes;
            const int w = FFMIN(MVFPS_CELL, b->w - c * MVFPS_CELL), h = FFMIN(MVFPS_CELL, b->h - r * MVFPS_CELL);

            sums[r * (size_t)s->fields.cols + c] = ff_mvfps_sum_cell(b->first + at, a->first + at, b->stride, w, h,
                                                                     s->layout->depth);
        }
}

/** A vector's sum of absolute differences and its cost. */
typedef struct Match {
    unsigned sad;           ///< UINT_MAX: not computed, because the cost without it is too much already
    unsigned cost;          ///< without an unknown sum
} Match;

/*
 * Returns the index of a vector that passes in front of the best one, or the best one's. Computes
 * sums that this needs.
 */
static int foremost(const MvfpsPhase *s, int x, int y, const List *list, Match *matches, int best)
{
    unsigned limit = matches[best].cost + MVFPS_FRONT_COST;
    int found = best;

    for (int i = 0; i < list->nb; i++) {
        Match *m = &matches[i];

        if (m->cost >= limit || !mvfps_is_in_front(&s->fields, list->v[i], list->v[best], x + MVFPS_CELL / 2,
                                                   y + MVFPS_CELL / 2, s->part))
            continue;
        if (m->sad == UINT_MAX) {
            m->sad   = sad(s, x, y, list->v[i]);
            m->cost += m->sad;
        }
        if (m->cost < limit) {
            limit = m->cost;
            found = i;
        }
    }
    return found;
}

/*
 * Returns the vector of a list that the cell that begins at (x, y) takes.
 * @param least_sad the sum of the list's first vector if it is known, else UINT_MAX; set to the sum
 *                  of the result
 */
static MvfpsVector choose(const MvfpsPhase *s, int x, int y, const List *list, unsigned *least_sad)
{
    const MvfpsVector zero = { 0, 0 };
    unsigned least = UINT_MAX;
    int penalties[MVFPS_LIST], best = 0;
    Match matches[MVFPS_LIST];

    s->dsp.field_penalties(penalties, list->v, list->nb, &s->fields, x, y, s->part);
    for (int i = 0; i < list->nb; i++) {
        Match *m = &matches[i];

        m->cost = list->cost[i] + penalties[i];
        m->sad  = UINT_MAX;
        if (m->cost >= least)
            continue;
        m->sad   = i || *least_sad == UINT_MAX ? sad(s, x, y, list->v[i]) : *least_sad;
        m->cost += m->sad;
        if (m->cost < least) {
            least = m->cost;
            best  = i;
        }
    }
    best = foremost(s, x, y, list, matches, best);
    if (mvfps_moves_still(s->sums, s->fields.cols, s->fields.rows, list->v[best], x, y, s->part)) {
        *least_sad = sad(s, x, y, zero);
        return zero;
    }
    *least_sad = matches[best].sad;
    return list->v[best];
}

static MvfpsVector opposite(MvfpsVector v)
{
    return v.x == MVFPS_NONE ? v : (MvfpsVector) { -v.x, -v.y };
}

/** The cell itself, then its neighbours in raster order. */
static const int8_t around[9][2] = {
    { 0, 0 }, { -1, -1 }, { 0, -1 }, { 1, -1 }, { -1, 0 }, { 1, 0 }, { -1, 1 }, { 0, 1 }, { 1, 1 },
};

/** Offsets of these cells in a field; all cells are `distance` cells away, and exist. */
typedef struct Around {
    int distance;
    int steps[9];
} Around;

static Around around_cells(const MvfpsFields *f, int distance)
{
    Around a = { distance };

    for (int i = 0; i < 9; i++)
        a.steps[i] = distance * (around[i][1] * f->cols + around[i][0]);
    return a;
}

static av_always_inline int is_inside(const MvfpsFields *f, const Around *a, int cx, int cy)
{
    return cx >= a->distance && cy >= a->distance && cx + a->distance < f->cols && cy + a->distance < f->rows;
}

/* Returns the i-th of these cells in a field, or the nearest cell if it does not exist. */
static av_always_inline int cell_around(const MvfpsFields *f, const Around *a, int cx, int cy, int i, int inside)
{
    if (inside)
        return cy * f->cols + cx + a->steps[i];
    return av_clip(cy + a->distance * around[i][1], 0, f->rows - 1) * f->cols +
           av_clip(cx + a->distance * around[i][0], 0, f->cols - 1);
}

static MvfpsVector first_vector(const MvfpsPhase *s, const Around *a, int cx, int cy, unsigned *sad)
{
    const MvfpsFields *f = &s->fields;
    const int at = cy * f->cols + cx, inside = is_inside(f, a, cx, cy);
    MvfpsVector found[MVFPS_LIST];
    List list;
    int nb = 0;

    for (int i = 0; i < 9; i++) {
        const int n = cell_around(f, a, cx, cy, i, inside);

        if (f->before_future)
            found[nb++] = f->before_future[n];
        if (f->after_past)
            found[nb++] = opposite(f->after_past[n]);
    }
    if (f->before_past)
        found[nb++] = opposite(f->before_past[at]);
    if (f->after_future)
        found[nb++] = f->after_future[at];
    found[nb++] = (MvfpsVector) { 0, 0 };
    list.nb = s->dsp.distinct(list.v, found, nb);
    memset(list.cost, 0, list.nb * sizeof(*list.cost));
    *sad = UINT_MAX;
    return choose(s, cx * MVFPS_CELL, cy * MVFPS_CELL, &list, sad);
}

void ff_mvfps_first(const MvfpsPhase *s, MvfpsVector *vectors, unsigned *sads, int first, int end)
{
    const Around two_away = around_cells(&s->fields, 2);

    for (int y = first; y < end; y++)
        for (int x = 0; x < s->fields.cols; x++)
            vectors[y * (size_t)s->fields.cols + x] =
                first_vector(s, &two_away, x, y, &sads[y * (size_t)s->fields.cols + x]);
}

static MvfpsVector next_vector(const MvfpsPhase *s, const Around *a, const MvfpsVector *from, const unsigned *sads,
                               int cx, int cy)
{
    const MvfpsFields *f  = &s->fields;
    const size_t at       = cy * (size_t)f->cols + cx;
    const MvfpsVector own = from[at];
    const int inside = is_inside(f, a, cx, cy);
    MvfpsVector found[MVFPS_LIST], next[8];
    const MvfpsVector *beside = found + 1;
    unsigned sad = sads[at];
    List list;
    int nb = 0;

    found[0] = own;
    for (int i = 1; i < 9; i++) {
        const int x = cx + around[i][0], y = cy + around[i][1];

        next[i - 1] = (MvfpsVector) { own.x + around[i][0], own.y + around[i][1] };
        if (inside || (x >= 0 && y >= 0 && x < f->cols && y < f->rows))
            found[1 + nb++] = from[at + a->steps[i]];
    }
    list.nb  = s->dsp.distinct(list.v, found, 1 + nb);
    /* none of these vectors equals the cell's own or another of them */
    list.nb += s->dsp.distinct_from(list.v + list.nb, next, list.v + 1, list.nb - 1);
    if (nb == 8) {
        s->dsp.sum_distances(list.cost, list.v, list.nb, beside);
        /* a division by a constant is faster */
        for (int i = 0; i < list.nb; i++)
            list.cost[i] = (unsigned)list.cost[i] * MVFPS_SMOOTH / 8;
    } else {
        for (int i = 0; i < list.nb; i++)
            list.cost[i] = nb ? MVFPS_SMOOTH * mvfps_sum_distance(list.v[i], beside, nb) / nb : 0;
    }
    return choose(s, cx * MVFPS_CELL, cy * MVFPS_CELL, &list, &sad);
}

void ff_mvfps_pass(const MvfpsPhase *s, const MvfpsVector *from, const unsigned *sads, MvfpsVector *to,
                   int first, int end)
{
    const Around one_away = around_cells(&s->fields, 1);

    for (int y = first; y < end; y++)
        for (int x = 0; x < s->fields.cols; x++)
            to[y * (size_t)s->fields.cols + x] = next_vector(s, &one_away, from, sads, x, y);
}

void ff_mvfps_changes(const MvfpsPhase *s, const MvfpsVector *vectors, MvfpsChange *changes, int first, int end)
{
    for (int y = first; y < end; y++)
        for (int x = 0; x < s->fields.cols; x++) {
            const size_t at = y * (size_t)s->fields.cols + x;

            changes[at] = mvfps_change(&s->fields, vectors[at], x * MVFPS_CELL, y * MVFPS_CELL, s->part, s->rates);
        }
}

void ff_mvfps_offsets(const MvfpsPhase *s, const MvfpsVector *vectors, const MvfpsChange *changes,
                      MvfpsVector *offsets, int first, int end)
{
    const MvfpsFields *f  = &s->fields;
    const Around two_away = around_cells(f, 2);

    for (int y = first; y < end; y++)
        for (int x = 0; x < f->cols; x++) {
            const size_t at  = y * (size_t)f->cols + x;
            const int inside = is_inside(f, &two_away, x, y);
            MvfpsChanges sum = { 0 };

            for (int i = 0; i < 9; i++) {
                const int n = cell_around(f, &two_away, x, y, i, inside);

                mvfps_add_change(&sum, changes[n], vectors[n], vectors[at]);
            }
            offsets[at] = mvfps_offset(&sum, s->part);
        }
}

/*
 * Tiles lie between the centres of four cells. The contributions of the 4x4 cells around a tile are
 * weighted by a separable bell: for each column (or row) of cells, the weights of the tile's
 * columns (or rows) of samples. The weights of all cells sum to 32.
 */
static const int8_t bell[4][8] = {
    {  8,  7,  6,  5,  4,  3,  2,  2 },
    { 13, 13, 13, 12, 11, 10, 10,  9 },
    {  9, 10, 10, 11, 12, 13, 13, 13 },
    {  2,  2,  3,  4,  5,  6,  7,  8 },
};

/** Weights of a tile's samples for each of its cells, by the subsampling of a component; repeated on the right. */
DECLARE_ALIGNED(32, static uint16_t, windows)[3][3][MVFPS_TILE_CELLS][MVFPS_TILE_SAMPLES];

int ff_mvfps_slope(int cell, int i, int sub)
{
    int sum = 0;

    for (int k = 0; k < 1 << sub; k++)
        sum += bell[cell][(i << sub) + k];
    return (sum + (1 << sub >> 1)) >> sub;
}

static av_cold void init_windows(void)
{
    for (int sy = 0; sy < 3; sy++)
        for (int sx = 0; sx < 3; sx++)
            for (int cell = 0; cell < MVFPS_TILE_CELLS; cell++)
                for (int y = 0; y < MVFPS_CELL >> sy; y++)
                    for (int x = 0; x < MVFPS_CELL; x++)
                        windows[sy][sx][cell][8 * y + x] =
                            ff_mvfps_slope(cell & 3, x & ((MVFPS_CELL >> sx) - 1), sx) *
                            ff_mvfps_slope(cell >> 2, y, sy);
}

/*
 * Returns a bit mask of the cells around a tile whose vectors differ by at most 2 from that of the
 * leader, one of the cells; at the corners of the tile by at most 1.
 */
static unsigned cluster(const MvfpsVector *cells, int leader)
{
    unsigned bits = 0;

    for (int i = 0; i < MVFPS_TILE_CELLS; i++)
        bits |= (unsigned)(abs(cells[i].x - cells[leader].x) + abs(cells[i].y - cells[leader].y) <=
                           (MVFPS_CORNERS >> i & 1 ? 1 : 2)) << i;
    return bits;
}

/*
 * Collects the vectors around a tile; the four cells at its corners are first. A cell whose vector
 * is nearly equal to an existing one joins it.
 */
static void find_hypotheses(const MvfpsPhase *s, const MvfpsVector *vectors, const MvfpsVector *offsets,
                            int tx, int ty, MvfpsTile *tile)
{
    const int cols = s->fields.cols;
    const int inside = tx >= 1 && tx + 3 <= cols;
    MvfpsVector around[MVFPS_TILE_CELLS];
    unsigned left = (1 << MVFPS_TILE_CELLS) - 1;
    size_t rows[4];
    int columns[4];

    for (int i = 0; i < 4; i++) {
        rows[i]    = av_clip(ty - 1 + i, 0, s->fields.rows - 1) * (size_t)cols;
        columns[i] = av_clip(tx - 1 + i, 0, cols - 1);
        if (inside)
            AV_COPY128U(&around[4 * i], &vectors[rows[i] + tx - 1]);
    }
    for (int i = 0; i < MVFPS_TILE_CELLS && !inside; i++)
        around[i] = vectors[rows[i >> 2] + columns[i & 3]];

    tile->nb = 0;
    while (left) {
        MvfpsHypothesis *z = &tile->hypotheses[tile->nb++];
        const int leader   = ff_ctz(left & MVFPS_CORNERS ? left & MVFPS_CORNERS : left);

        z->v      = around[leader];
        z->offset = offsets ? offsets[rows[leader >> 2] + columns[leader & 3]] : (MvfpsVector) { 0, 0 };
        z->cells  = left & cluster(around, leader);
        left     &= ~z->cells;
    }
}

/* Sets the difference of a hypothesis and the share of each picture, by how much their luma differs. */
static void judge(const MvfpsPhase *s, MvfpsHypothesis *h, int tx, int ty, int difference)
{
    h->difference = difference >> (s->layout->depth - 8);
    h->share = mvfps_share(&s->fields, s->layout->w, s->layout->h, h->v, (tx + 1) * MVFPS_CELL,
                           (ty + 1) * MVFPS_CELL, s->part, h->difference);
}

static void put(const GpumeLayout *l, uint8_t *dst, int x, int v)
{
    if (l->bytes == 1)
        dst[x] = v;
    else
        ((uint16_t *)dst)[x] = v << l->shift;
}

/** The position and size of a tile in a component. */
typedef struct Place {
    int x, y, w, h;
} Place;

static Place place_of(const GpumeComponent *c, int tx, int ty)
{
    return (Place) {
        (MVFPS_CELL * tx + MVFPS_CELL / 2) >> c->hsub, (MVFPS_CELL * ty + MVFPS_CELL / 2) >> c->vsub,
        MVFPS_CELL >> c->hsub, MVFPS_CELL >> c->vsub,
    };
}

/* Stores the part of a tile that is inside the picture, from rows of eight values. */
static void store(const MvfpsPhase *s, const GpumeComponent *c, const Place *p, const uint16_t *values, AVFrame *out)
{
    const GpumeLayout *l = s->layout;

    if (s->dsp.store && p->w >= 4 && c->step == 1 && p->x >= 0 && p->y >= 0 && p->x + p->w <= c->w &&
        p->y + p->h <= c->h) {
        s->dsp.store(gpume_layout_row(l, c, out, p->y) + p->x, out->linesize[c->plane], values, p->w, p->h);
        return;
    }
    for (int y = FFMAX(-p->y, 0); y < FFMIN(p->h, c->h - p->y); y++) {
        uint8_t *dst = gpume_layout_row(l, c, out, p->y + y);

        for (int x = FFMAX(-p->x, 0); x < FFMIN(p->w, c->w - p->x); x++)
            put(l, dst, (p->x + x) * c->step, values[8 * y + x]);
    }
}

/* Makes a component of a tile. Component 0 comes first and determines the trust. */
static void make_tile(const MvfpsPhase *s, MvfpsTile *tile, int component, int tx, int ty, AVFrame *out)
{
    const GpumeLayout *l    = s->layout;
    const GpumeComponent *c = &l->components[component];
    const GpumeSamples *before = &s->before->components[component];
    const GpumeSamples *after  = &s->after->components[component];
    const Place p = place_of(c, tx, ty);
    const int max = (1 << l->depth) - 1;
    const int nb = 8 * p.h;
    LOCAL_ALIGNED_32(uint16_t, match,   [2], [MVFPS_TILE_SAMPLES]);
    LOCAL_ALIGNED_32(uint16_t, result,  [MVFPS_TILE_SAMPLES]);
    LOCAL_ALIGNED_32(uint32_t, weights, [MVFPS_TILE_SAMPLES]);
    LOCAL_ALIGNED_32(uint32_t, sum,     [MVFPS_TILE_SAMPLES]);

    for (int i = 0; i < tile->nb; i++) {
        MvfpsHypothesis *z = &tile->hypotheses[i];
        /* in sixteenths of this component's samples */
        const int bx = (2 * mvfps_before(z->v.x, s->part) + z->offset.x) >> c->hsub;
        const int by = (2 * mvfps_before(z->v.y, s->part) + z->offset.y) >> c->vsub;
        const int ax = (2 * mvfps_after(z->v.x, s->part)  + z->offset.x) >> c->hsub;
        const int ay = (2 * mvfps_after(z->v.y, s->part)  + z->offset.y) >> c->vsub;
        const int at[] = { (bx & 15) + 16 * (by & 15), (ax & 15) + 16 * (ay & 15) };
        const uint8_t *b = gpume_padded_sample(before, p.x + (bx >> 4), p.y + (by >> 4), l->bytes);
        const uint8_t *a = gpume_padded_sample(after,  p.x + (ax >> 4), p.y + (ay >> 4), l->bytes);
        const int difference = s->dsp.match(match, b, a, before->stride, at, p.w, p.h, max);

        if (!component)
            judge(s, z, tx, ty, difference);
        if (tile->nb == 1)
            s->dsp.mean(result, match[0], match[1], z->share, nb);
        else
            s->dsp.add(sum, weights, match, windows[c->vsub][c->hsub], z->cells, z->share, z->difference, nb, !i,
                       l->depth);
    }
    /* with a single hypothesis there is no mean to compute */
    if (tile->nb > 1)
        s->dsp.divide(result, sum, weights, nb, l->depth);
    store(s, c, &p, result, out);
}

void ff_mvfps_compensate(const MvfpsPhase *s, const MvfpsVector *vectors, const MvfpsVector *offsets,
                         AVFrame *out, int first, int end)
{
    static AVOnce once = AV_ONCE_INIT;
    const int nb_x = (s->layout->w + MVFPS_CELL + MVFPS_CELL / 2 - 1) / MVFPS_CELL;

    ff_thread_once(&once, init_windows);
    for (int ty = first - 1; ty < end - 1; ty++) {
        for (int tx = -1; tx < nb_x - 1; tx++) {
            MvfpsTile tile;

            find_hypotheses(s, vectors, offsets, tx, ty, &tile);
            for (int i = 0; i < s->layout->nb_components; i++)
                make_tile(s, &tile, i, tx, ty, out);
        }
    }
}
