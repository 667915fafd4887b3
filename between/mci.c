/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "config.h"
#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/mem_internal.h"
#include "libavutil/thread.h"

#include "libavfilter/gpume/between/mci.h"

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
#include "libavfilter/gpume/between/samples_template.c"
#undef FUNC
#undef SAMPLE
#undef INTERMEDIATE

#define FUNC(name)   name ## _16
#define SAMPLE       uint16_t
#define INTERMEDIATE int
#include "libavfilter/gpume/between/samples_template.c"

static int difference(const uint16_t *a, const uint16_t *b)
{
    int sum = 0;

    for (int i = 0; i < MVFPS_TILE_SAMPLES; i++)
        sum += abs(a[i] - b[i]);
    return sum;
}

static void mean(uint16_t *dst, const uint16_t *a, const uint16_t *b, int share, int nb)
{
    for (int i = 0; i < nb; i++)
        dst[i] = (a[i] * share + b[i] * (64 - share) + 32) >> 6;
}

static void window(uint16_t *dst, const uint16_t (*windows)[MVFPS_TILE_SAMPLES], unsigned cells)
{
    memset(dst, 0, MVFPS_TILE_SAMPLES * sizeof(*dst));
    for (int cell = 0; cell < MVFPS_TILE_CELLS; cell++)
        if (cells >> cell & 1)
            for (int i = 0; i < MVFPS_TILE_SAMPLES; i++)
                dst[i] += windows[cell][i];
}

static void add_weighted(uint32_t *sum, uint16_t *weights, const uint16_t *values, const uint16_t *window,
                         int trust, int nb)
{
    for (int i = 0; i < nb; i++) {
        const uint32_t weight = window[i] * trust;

        sum[i]     += weight * values[i];
        weights[i] += weight;
    }
}

static void divide(uint16_t *dst, const uint32_t *sum, const uint16_t *weights, int nb)
{
    for (int i = 0; i < nb; i++)
        if (weights[i])
            dst[i] = (sum[i] + weights[i] / 2) / weights[i];
}

av_cold void ff_mvfps_dsp_init(MvfpsDsp *dsp, int bytes)
{
    *dsp = (MvfpsDsp) {
        .sad        = bytes == 1 ? sad_8   : sad_16,
        .sharp      = bytes == 1 ? sharp_8 : sharp_16,
        .difference = difference,
        .mean       = mean,
        .window     = window,
        .add        = add_weighted,
        .divide     = divide,
    };
#if ARCH_X86 && HAVE_X86ASM
    ff_mvfps_dsp_init_x86(dsp, bytes);
#endif
}

/* Without smoothness; any number that is not less than limit, if it is not. */
static unsigned cost(const MvfpsInstant *s, int x, int y, MvfpsVector v, unsigned limit)
{
    const MvfpsSamples *b = &s->before->components[0], *a = &s->after->components[0];
    const int bytes = s->layout->bytes;
    const int bx = mvfps_before(v.x, s->part), by = mvfps_before(v.y, s->part);
    const int ax = mvfps_after(v.x, s->part),  ay = mvfps_after(v.y, s->part);
    const unsigned penalty = mvfps_unfaithful(&s->fields, v, x, y, s->part);

    if (penalty >= limit)
        return penalty;
    return penalty + (s->dsp.sad(mvfps_sample(b, x + (bx >> 3), y + (by >> 3), bytes), b->stride, bx & 7, by & 7,
                                 mvfps_sample(a, x + (ax >> 3), y + (ay >> 3), bytes), a->stride, ax & 7, ay & 7)
                      >> (s->layout->depth - 8));
}

/** Different vectors in order. */
typedef struct List {
    int nb;
    MvfpsVector v[24];
} List;

static int equal(MvfpsVector a, MvfpsVector b)
{
    return a.x == b.x && a.y == b.y;
}

static void add(List *list, MvfpsVector v)
{
    if (v.x == MVFPS_NONE)
        return;
    for (int i = 0; i < list->nb; i++)
        if (equal(list->v[i], v))
            return;
    list->v[list->nb++] = v;
}

static MvfpsVector opposite(MvfpsVector v)
{
    return v.x == MVFPS_NONE ? v : (MvfpsVector) { -v.x, -v.y };
}

/** The cell itself, and those around it in raster order. */
static const int8_t around[9][2] = {
    { 0, 0 }, { -1, -1 }, { 0, -1 }, { 1, -1 }, { -1, 0 }, { 1, 0 }, { -1, 1 }, { 0, 1 }, { 1, 1 },
};

static MvfpsVector first_vector(const MvfpsInstant *s, int cx, int cy)
{
    const MvfpsFields *f = &s->fields;
    const int at = cy * f->cols + cx;
    MvfpsVector best = { 0, 0 };
    unsigned least = UINT_MAX;
    List list = { 0 };

    for (int i = 0; i < 9; i++) {
        const int n = av_clip(cy + 2 * around[i][1], 0, f->rows - 1) * f->cols +
                      av_clip(cx + 2 * around[i][0], 0, f->cols - 1);

        if (f->before_future)
            add(&list, f->before_future[n]);
        if (f->after_past)
            add(&list, opposite(f->after_past[n]));
    }
    if (f->before_past)
        add(&list, opposite(f->before_past[at]));
    if (f->after_future)
        add(&list, f->after_future[at]);
    add(&list, best);
    for (int i = 0; i < list.nb; i++) {
        const unsigned j = cost(s, cx * MVFPS_CELL, cy * MVFPS_CELL, list.v[i], least);

        if (j < least) {
            least = j;
            best  = list.v[i];
        }
    }
    return best;
}

void ff_mvfps_first(const MvfpsInstant *s, MvfpsVector *vectors, int first, int end)
{
    for (int y = first; y < end; y++)
        for (int x = 0; x < s->fields.cols; x++)
            vectors[y * (size_t)s->fields.cols + x] = first_vector(s, x, y);
}

static MvfpsVector next_vector(const MvfpsInstant *s, const MvfpsVector *from, int cx, int cy)
{
    const MvfpsFields *f  = &s->fields;
    const MvfpsVector own = from[cy * (size_t)f->cols + cx];
    MvfpsVector best = own, near[8];
    unsigned least = UINT_MAX;
    List list = { 0 };
    int nb = 0;

    add(&list, own);
    for (int i = 1; i < 9; i++) {
        const int x = cx + around[i][0], y = cy + around[i][1];

        if (x >= 0 && y >= 0 && x < f->cols && y < f->rows) {
            near[nb] = from[y * (size_t)f->cols + x];
            add(&list, near[nb++]);
        }
    }
    for (int i = 1; i < 9; i++)
        add(&list, (MvfpsVector) { own.x + around[i][0], own.y + around[i][1] });
    for (int i = 0; i < list.nb; i++) {
        unsigned j = 0;

        for (int k = 0; k < nb; k++)
            j += mvfps_unlike(list.v[i], near[k]);
        if (nb)
            j = MVFPS_SMOOTH * j / nb;
        if (j >= least)
            continue;
        j += cost(s, cx * MVFPS_CELL, cy * MVFPS_CELL, list.v[i], least - j);
        if (j < least) {
            least = j;
            best  = list.v[i];
        }
    }
    return best;
}

void ff_mvfps_pass(const MvfpsInstant *s, const MvfpsVector *from, MvfpsVector *to, int first, int end)
{
    for (int y = first; y < end; y++)
        for (int x = 0; x < s->fields.cols; x++)
            to[y * (size_t)s->fields.cols + x] = next_vector(s, from, x, y);
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
static void find_hypotheses(const MvfpsInstant *s, const MvfpsVector *vectors, int tx, int ty, MvfpsTile *tile)
{
    static const uint8_t order[MVFPS_TILE_CELLS] = { 5, 6, 9, 10, 0, 1, 2, 3, 4, 7, 8, 11, 12, 13, 14, 15 };

    const MvfpsVector *rows[4];
    int columns[4];

    for (int i = 0; i < 4; i++) {
        columns[i] = av_clip(tx - 1 + i, 0, s->fields.cols - 1);
        rows[i]    = vectors + av_clip(ty - 1 + i, 0, s->fields.rows - 1) * (size_t)s->fields.cols;
    }
    tile->nb = 0;
    for (int i = 0; i < MVFPS_TILE_CELLS; i++) {
        const MvfpsVector v = rows[order[i] >> 2][columns[order[i] & 3]];
        int k = 0;

        while (k < tile->nb && abs(tile->hypotheses[k].v.x - v.x) +
                               abs(tile->hypotheses[k].v.y - v.y) > (i < 4 ? 1 : 2))
            k++;
        if (k == tile->nb) {
            tile->hypotheses[k] = (MvfpsHypothesis) { .v = v };
            tile->nb++;
        }
        tile->hypotheses[k].cells |= 1 << order[i];
    }
}

/* How far a hypothesis is believed, and which side sees the place, by both sides' luma. */
static void judge(const MvfpsInstant *s, MvfpsHypothesis *h, int tx, int ty,
                  const uint16_t *before, const uint16_t *after)
{
    const int difference = s->dsp.difference(before, after) >> (s->layout->depth - 8);

    h->trust = mvfps_trust(difference);
    h->share = mvfps_share(&s->fields, s->layout->w, s->layout->h, h->v, (tx + 1) * MVFPS_CELL,
                           (ty + 1) * MVFPS_CELL, s->part, difference);
}

static void put(const MvfpsLayout *l, uint8_t *dst, int x, int v)
{
    if (l->bytes == 1)
        dst[x] = v;
    else
        ((uint16_t *)dst)[x] = v << l->shift;
}

/* A component of a tile; that of component 0 comes first and judges. */
static void make_tile(const MvfpsInstant *s, MvfpsTile *tile, int component, int tx, int ty, AVFrame *out)
{
    const MvfpsLayout *l    = s->layout;
    const MvfpsComponent *c = &l->components[component];
    const MvfpsSamples *before = &s->before->components[component];
    const MvfpsSamples *after  = &s->after->components[component];
    const int w = MVFPS_CELL >> c->hsub, h = MVFPS_CELL >> c->vsub;
    const int x0 = (MVFPS_CELL * tx + MVFPS_CELL / 2) >> c->hsub;
    const int y0 = (MVFPS_CELL * ty + MVFPS_CELL / 2) >> c->vsub;
    const int max = (1 << l->depth) - 1;
    const int nb = 8 * h;
    LOCAL_ALIGNED_32(uint16_t, match,   [2], [MVFPS_TILE_SAMPLES]);
    LOCAL_ALIGNED_32(uint16_t, bell_of, [MVFPS_TILE_SAMPLES]);
    LOCAL_ALIGNED_32(uint16_t, result,  [MVFPS_TILE_SAMPLES]);
    LOCAL_ALIGNED_32(uint16_t, weights, [MVFPS_TILE_SAMPLES]);
    LOCAL_ALIGNED_32(uint32_t, sum,     [MVFPS_TILE_SAMPLES]);

    if (tile->nb > 1) {
        memset(weights, 0, MVFPS_TILE_SAMPLES * sizeof(*weights));
        memset(sum,     0, MVFPS_TILE_SAMPLES * sizeof(*sum));
    }
    for (int i = 0; i < tile->nb; i++) {
        MvfpsHypothesis *z = &tile->hypotheses[i];
        /* in sixteenths of this component's samples */
        const int bx = 2 * mvfps_before(z->v.x, s->part) >> c->hsub;
        const int by = 2 * mvfps_before(z->v.y, s->part) >> c->vsub;
        const int ax = 2 * mvfps_after(z->v.x, s->part)  >> c->hsub;
        const int ay = 2 * mvfps_after(z->v.y, s->part)  >> c->vsub;

        s->dsp.sharp(match[0], mvfps_sample(before, x0 + (bx >> 4), y0 + (by >> 4), l->bytes), before->stride,
                     bx & 15, by & 15, w, h, max);
        s->dsp.sharp(match[1], mvfps_sample(after,  x0 + (ax >> 4), y0 + (ay >> 4), l->bytes), after->stride,
                     ax & 15, ay & 15, w, h, max);
        if (!component)
            judge(s, z, tx, ty, match[0], match[1]);
        s->dsp.mean(result, match[0], match[1], z->share, nb);
        if (tile->nb > 1) {
            s->dsp.window(bell_of, windows[c->vsub][c->hsub], z->cells);
            s->dsp.add(sum, weights, result, bell_of, z->trust, nb);
        }
    }
    /* the mean of a single one is what it is */
    if (tile->nb > 1)
        s->dsp.divide(result, sum, weights, nb);

    if (s->dsp.store && w == 8 && c->step == 1 && x0 >= 0 && y0 >= 0 && x0 + w <= c->w && y0 + h <= c->h) {
        s->dsp.store(mvfps_row(l, c, out, y0) + x0, out->linesize[c->plane], result, h);
        return;
    }
    for (int y = FFMAX(-y0, 0); y < FFMIN(h, c->h - y0); y++) {
        uint8_t *dst = mvfps_row(l, c, out, y0 + y);

        for (int x = FFMAX(-x0, 0); x < FFMIN(w, c->w - x0); x++)
            put(l, dst, (x0 + x) * c->step, result[8 * y + x]);
    }
}

void ff_mvfps_compensate(const MvfpsInstant *s, const MvfpsVector *vectors, AVFrame *out, int first, int end)
{
    static AVOnce once = AV_ONCE_INIT;
    const int nb_x = (s->layout->w + MVFPS_CELL + MVFPS_CELL / 2 - 1) / MVFPS_CELL;

    ff_thread_once(&once, init_windows);
    for (int ty = first - 1; ty < end - 1; ty++) {
        for (int tx = -1; tx < nb_x - 1; tx++) {
            MvfpsTile tile;

            find_hypotheses(s, vectors, tx, ty, &tile);
            for (int i = 0; i < s->layout->nb_components; i++)
                make_tile(s, &tile, i, tx, ty, out);
        }
    }
}
