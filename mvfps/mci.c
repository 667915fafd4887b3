/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "config.h"
#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/intmath.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem_internal.h"
#include "libavutil/thread.h"

#include "libavfilter/gpume/mvfps/mci.h"

/* Catmull and Rom's spline at sixteenths of a sample; the sum is 64. */
const int8_t ff_mvfps_taps[16][4] = {
    {  0, 64,  0,  0 }, { -2, 63,  3,  0 }, { -3, 62,  6, -1 }, { -4, 59, 10, -1 },
    { -4, 56, 14, -2 }, { -5, 51, 20, -2 }, { -5, 47, 25, -3 }, { -4, 41, 30, -3 },
    { -4, 36, 36, -4 }, { -3, 30, 41, -4 }, { -3, 25, 47, -5 }, { -2, 20, 51, -5 },
    { -2, 14, 56, -4 }, { -1, 10, 59, -4 }, { -1,  6, 62, -3 }, {  0,  3, 63, -2 },
};

#define FUNC(name)   name ## _8
#define SAMPLE       uint8_t
#define INTERMEDIATE int16_t
#include "libavfilter/gpume/mvfps/samples_template.c"
#undef FUNC
#undef SAMPLE
#undef INTERMEDIATE

#define FUNC(name)   name ## _16
#define SAMPLE       uint16_t
#define INTERMEDIATE int
#include "libavfilter/gpume/mvfps/samples_template.c"

static void mean(uint16_t *dst, const uint16_t *a, const uint16_t *b, int share, int nb)
{
    for (int i = 0; i < nb; i++)
        dst[i] = (a[i] * share + b[i] * (64 - share) + 32) >> 6;
}

static void add_weighted(uint32_t *sum, uint16_t *weights, const uint16_t *values,
                         const uint16_t (*windows)[MVFPS_TILE_SAMPLES], unsigned cells, int trust, int nb, int first)
{
    uint16_t window[MVFPS_TILE_SAMPLES] = { 0 };

    for (int cell = 0; cell < MVFPS_TILE_CELLS; cell++)
        if (cells >> cell & 1)
            for (int i = 0; i < nb; i++)
                window[i] += windows[cell][i];
    for (int i = 0; i < nb; i++) {
        const uint32_t weight = window[i] * trust;

        sum[i]     = (first ? 0 : sum[i]) + weight * values[i];
        weights[i] = (first ? 0 : weights[i]) + weight;
    }
}

static void divide(uint16_t *dst, const uint32_t *sum, const uint16_t *weights, int nb)
{
    for (int i = 0; i < nb; i++)
        if (weights[i])
            dst[i] = (sum[i] + weights[i] / 2) / weights[i];
}

static int sum_unlike(MvfpsVector v, const MvfpsVector *others, int nb)
{
    int sum = 0;

    for (int i = 0; i < nb; i++)
        sum += mvfps_unlike(v, others[i]);
    return sum;
}

static void unlike(int *sums, const MvfpsVector *v, int nb, const MvfpsVector *others)
{
    for (int i = 0; i < nb; i++)
        sums[i] = sum_unlike(v[i], others, 8);
}

void ff_mvfps_unfaithful(int *penalties, const MvfpsVector *v, int nb, const MvfpsFields *fields, int x, int y,
                         int part)
{
    for (int i = 0; i < nb; i++)
        penalties[i] = mvfps_unfaithful(fields, v[i], x, y, part);
}

/** The cells at the corners of a tile, as bits. */
#define CORNERS 0x660u

static unsigned like(const MvfpsVector *cells, int leader)
{
    unsigned bits = 0;

    for (int i = 0; i < MVFPS_TILE_CELLS; i++)
        bits |= (unsigned)(abs(cells[i].x - cells[leader].x) + abs(cells[i].y - cells[leader].y) <=
                           (CORNERS >> i & 1 ? 1 : 2)) << i;
    return bits;
}

av_cold void ff_mvfps_dsp_init(MvfpsDsp *dsp, int bytes)
{
    *dsp = (MvfpsDsp) {
        .sad        = bytes == 1 ? sad_8   : sad_16,
        .match      = bytes == 1 ? match_8 : match_16,
        .mean       = mean,
        .add        = add_weighted,
        .divide     = divide,
        .unlike     = unlike,
        .unfaithful = ff_mvfps_unfaithful,
        .like       = like,
    };
#if ARCH_X86 && HAVE_X86ASM
    ff_mvfps_dsp_init_x86(dsp, bytes);
#elif ARCH_AARCH64 && HAVE_NEON
    ff_mvfps_dsp_init_aarch64(dsp, bytes);
#endif
}

/** Sums the absolute differences of two pictures along a vector. */
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

/** Different vectors in order, and what they cost apart from samples and the fields. */
typedef struct List {
    int nb;
    MvfpsVector v[24];
    int cost[24];
} List;

/* Adds a vector, if it is one, that is none of those from first to end. */
static av_always_inline void add_unless(List *list, MvfpsVector v, int first, int end)
{
    if (v.x == MVFPS_NONE)
        return;
    for (int i = first; i < end; i++)
        if (AV_RN32(&list->v[i]) == AV_RN32(&v))
            return;
    list->cost[list->nb] = 0;
    list->v[list->nb++]  = v;
}

static void add(List *list, MvfpsVector v)
{
    add_unless(list, v, 0, list->nb);
}

/* Returns the vector of least cost of a list, for the cell that begins at (x, y). */
static MvfpsVector cheapest(const MvfpsPhase *s, int x, int y, const List *list)
{
    MvfpsVector best = { 0, 0 };
    unsigned least = UINT_MAX;
    int unfaithful[FF_ARRAY_ELEMS(list->v)];

    s->dsp.unfaithful(unfaithful, list->v, list->nb, &s->fields, x, y, s->part);
    for (int i = 0; i < list->nb; i++) {
        unsigned j = list->cost[i] + unfaithful[i];

        if (j >= least)
            continue;
        j += sad(s, x, y, list->v[i]);
        if (j < least) {
            least = j;
            best  = list->v[i];
        }
    }
    return best;
}

static MvfpsVector opposite(MvfpsVector v)
{
    return v.x == MVFPS_NONE ? v : (MvfpsVector) { -v.x, -v.y };
}

/** The cell itself, and those around it in raster order. */
static const int8_t around[9][2] = {
    { 0, 0 }, { -1, -1 }, { 0, -1 }, { 1, -1 }, { -1, 0 }, { 1, 0 }, { -1, 1 }, { 0, 1 }, { 1, 1 },
};

/** Where they are in a field, from the cell on, when they are so many cells away and all there. */
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

/* The i-th of them in a field; the nearest cell where there is none. */
static av_always_inline int cell_around(const MvfpsFields *f, const Around *a, int cx, int cy, int i, int inside)
{
    if (inside)
        return cy * f->cols + cx + a->steps[i];
    return av_clip(cy + a->distance * around[i][1], 0, f->rows - 1) * f->cols +
           av_clip(cx + a->distance * around[i][0], 0, f->cols - 1);
}

static MvfpsVector first_vector(const MvfpsPhase *s, const Around *a, int cx, int cy)
{
    const MvfpsFields *f = &s->fields;
    const int at = cy * f->cols + cx, inside = is_inside(f, a, cx, cy);
    List list;

    list.nb = 0;
    for (int i = 0; i < 9; i++) {
        const int n = cell_around(f, a, cx, cy, i, inside);

        if (f->before_future)
            add(&list, f->before_future[n]);
        if (f->after_past)
            add(&list, opposite(f->after_past[n]));
    }
    if (f->before_past)
        add(&list, opposite(f->before_past[at]));
    if (f->after_future)
        add(&list, f->after_future[at]);
    add(&list, (MvfpsVector) { 0, 0 });
    return cheapest(s, cx * MVFPS_CELL, cy * MVFPS_CELL, &list);
}

void ff_mvfps_first(const MvfpsPhase *s, MvfpsVector *vectors, int first, int end)
{
    const Around two_away = around_cells(&s->fields, 2);

    for (int y = first; y < end; y++)
        for (int x = 0; x < s->fields.cols; x++)
            vectors[y * (size_t)s->fields.cols + x] = first_vector(s, &two_away, x, y);
}

static MvfpsVector next_vector(const MvfpsPhase *s, const Around *a, const MvfpsVector *from, int cx, int cy)
{
    const MvfpsFields *f  = &s->fields;
    const MvfpsVector own = from[cy * (size_t)f->cols + cx];
    const int inside = is_inside(f, a, cx, cy);
    MvfpsVector beside[8];
    List list;
    int nb = 0, nb_found;

    list.nb = 0;
    add(&list, own);
    for (int i = 1; i < 9; i++) {
        const int x = cx + around[i][0], y = cy + around[i][1];

        if (inside || (x >= 0 && y >= 0 && x < f->cols && y < f->rows)) {
            beside[nb] = from[cy * f->cols + cx + a->steps[i]];
            add(&list, beside[nb++]);
        }
    }
    /* of these none is own or another of these */
    nb_found = list.nb;
    for (int i = 1; i < 9; i++)
        add_unless(&list, (MvfpsVector) { own.x + around[i][0], own.y + around[i][1] }, 1, nb_found);
    if (nb == 8)
        s->dsp.unlike(list.cost, list.v, list.nb, beside);
    else
        for (int i = 0; i < list.nb; i++)
            list.cost[i] = sum_unlike(list.v[i], beside, nb);
    for (int i = 0; i < list.nb && nb; i++)
        list.cost[i] = MVFPS_SMOOTH * list.cost[i] / nb;
    return cheapest(s, cx * MVFPS_CELL, cy * MVFPS_CELL, &list);
}

void ff_mvfps_pass(const MvfpsPhase *s, const MvfpsVector *from, MvfpsVector *to, int first, int end)
{
    const Around one_away = around_cells(&s->fields, 1);

    for (int y = first; y < end; y++)
        for (int x = 0; x < s->fields.cols; x++)
            to[y * (size_t)s->fields.cols + x] = next_vector(s, &one_away, from, x, y);
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
 * Tiles lie between the centres of four cells. What a sample of a tile gets from the 4x4 cells
 * around it is weighted by a bell, which is separable: for each column of cells, or row, the
 * weights of the tile's columns, or rows, of samples. They sum up to 32.
 */
static const int8_t bell[4][8] = {
    {  8,  7,  6,  5,  4,  3,  2,  2 },
    { 13, 13, 13, 12, 11, 10, 10,  9 },
    {  9, 10, 10, 11, 12, 13, 13, 13 },
    {  2,  2,  3,  4,  5,  6,  7,  8 },
};

/** Weights of the samples of a tile for each of its cells, by the subsampling of a component. */
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
                    for (int x = 0; x < MVFPS_CELL >> sx; x++)
                        windows[sy][sx][cell][8 * y + x] = ff_mvfps_slope(cell & 3, x, sx) *
                                                           ff_mvfps_slope(cell >> 2, y, sy);
}

/*
 * The vectors around a tile, those of the four cells at its corners first. A cell whose vector
 * is nearly one that is there joins it.
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
        const int leader   = ff_ctz(left & CORNERS ? left & CORNERS : left);

        z->v      = around[leader];
        z->offset = offsets ? offsets[rows[leader >> 2] + columns[leader & 3]] : (MvfpsVector) { 0, 0 };
        z->cells  = left & s->dsp.like(around, leader);
        left     &= ~z->cells;
    }
}

/* How far a hypothesis is believed, and which side sees the place, by how much both sides' luma differs. */
static void judge(const MvfpsPhase *s, MvfpsHypothesis *h, int tx, int ty, int difference, int is_single)
{
    difference >>= s->layout->depth - 8;
    /* a single one needs none */
    h->trust = is_single ? 1 : mvfps_trust(difference);
    h->share = mvfps_share(&s->fields, s->layout->w, s->layout->h, h->v, (tx + 1) * MVFPS_CELL,
                           (ty + 1) * MVFPS_CELL, s->part, difference);
}

static void put(const GpumeLayout *l, uint8_t *dst, int x, int v)
{
    if (l->bytes == 1)
        dst[x] = v;
    else
        ((uint16_t *)dst)[x] = v << l->shift;
}

/* A component of a tile; that of component 0 comes first and judges. */
static void make_tile(const MvfpsPhase *s, MvfpsTile *tile, int component, int tx, int ty, AVFrame *out)
{
    const GpumeLayout *l    = s->layout;
    const GpumeComponent *c = &l->components[component];
    const GpumeSamples *before = &s->before->components[component];
    const GpumeSamples *after  = &s->after->components[component];
    const int w = MVFPS_CELL >> c->hsub, h = MVFPS_CELL >> c->vsub;
    const int x0 = (MVFPS_CELL * tx + MVFPS_CELL / 2) >> c->hsub;
    const int y0 = (MVFPS_CELL * ty + MVFPS_CELL / 2) >> c->vsub;
    const int max = (1 << l->depth) - 1;
    const int nb = 8 * h;
    LOCAL_ALIGNED_32(uint16_t, match,   [2], [MVFPS_TILE_SAMPLES]);
    LOCAL_ALIGNED_32(uint16_t, result,  [MVFPS_TILE_SAMPLES]);
    LOCAL_ALIGNED_32(uint16_t, weights, [MVFPS_TILE_SAMPLES]);
    LOCAL_ALIGNED_32(uint32_t, sum,     [MVFPS_TILE_SAMPLES]);

    for (int i = 0; i < tile->nb; i++) {
        MvfpsHypothesis *z = &tile->hypotheses[i];
        /* in sixteenths of this component's samples */
        const int bx = (2 * mvfps_before(z->v.x, s->part) + z->offset.x) >> c->hsub;
        const int by = (2 * mvfps_before(z->v.y, s->part) + z->offset.y) >> c->vsub;
        const int ax = (2 * mvfps_after(z->v.x, s->part)  + z->offset.x) >> c->hsub;
        const int ay = (2 * mvfps_after(z->v.y, s->part)  + z->offset.y) >> c->vsub;
        const int at[] = { (bx & 15) + 16 * (by & 15), (ax & 15) + 16 * (ay & 15) };
        const int difference =
            s->dsp.match(match, gpume_padded_sample(before, x0 + (bx >> 4), y0 + (by >> 4), l->bytes),
                         gpume_padded_sample(after, x0 + (ax >> 4), y0 + (ay >> 4), l->bytes), before->stride,
                         at, w, h, max);

        if (!component)
            judge(s, z, tx, ty, difference, tile->nb == 1);
        s->dsp.mean(result, match[0], match[1], z->share, nb);
        if (tile->nb > 1)
            s->dsp.add(sum, weights, result, windows[c->vsub][c->hsub], z->cells, z->trust, nb, !i);
    }
    /* the mean of a single one is what it is */
    if (tile->nb > 1)
        s->dsp.divide(result, sum, weights, nb);

    if (s->dsp.store && w >= 4 && c->step == 1 && x0 >= 0 && y0 >= 0 && x0 + w <= c->w && y0 + h <= c->h) {
        s->dsp.store(gpume_layout_row(l, c, out, y0) + x0, out->linesize[c->plane], result, w, h);
        return;
    }
    for (int y = FFMAX(-y0, 0); y < FFMIN(h, c->h - y0); y++) {
        uint8_t *dst = gpume_layout_row(l, c, out, y0 + y);

        for (int x = FFMAX(-x0, 0); x < FFMIN(w, c->w - x0); x++)
            put(l, dst, (x0 + x) * c->step, result[8 * y + x]);
    }
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
