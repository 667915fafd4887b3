/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Reference implementation of mvfps, written from doc/mvfps-definition.md as plainly as possible. It
 * uses nothing of the filter or of FFmpeg, and is not optimized. x >> n rounds down, also if x is
 * negative, and x & (2^n - 1) is the remainder.
 */

#ifndef GPUME_ORACLE_BETWEEN_H
#define GPUME_ORACLE_BETWEEN_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpume_oracle.h"

/** A vector in quarter samples. */
typedef struct BetweenVector {
    int x, y;
} BetweenVector;

/** A vector of the side data: its block, and the motion in units of 1/16 sample. */
typedef struct BetweenBlock {
    int left, top, w, h;
    int x, y;
} BetweenBlock;

/** The vectors of a frame that point into one other frame. */
typedef struct BetweenField {
    int nb_blocks;              ///< 0: the field is missing
    BetweenBlock *blocks;       ///< blocks that are at least partly in the picture
    BetweenVector *cells;       ///< set by mvfps_oracle_make()
    uint8_t *has;               ///< whether a cell has a vector
} BetweenField;

/** A component: samples without what is below or above them, and 1 / 2^sx by 1 / 2^sy of all. */
typedef struct BetweenComponent {
    int w, h, sx, sy;
    const uint16_t *a, *c;
    uint16_t *out;              ///< the result
} BetweenComponent;

typedef struct Between {
    int w, h, d;
    int t;                      ///< the phase, 1 to 4095
    int p, q;                   ///< time from the frame before A to A, and from C to the one after it; 256: A to C
    int nb_components;
    BetweenComponent components[4];
    BetweenField f, k, f0, k0;

    /* set by mvfps_oracle_make() */
    int cols, rows;
    BetweenVector *vectors;
    BetweenVector *offsets;     ///< offsets of the cells, in 1/16 sample
    int nb_offsets;             ///< number of offsets other than 0
} Between;

typedef struct BetweenHypothesis {
    BetweenVector v, o;
    int has[16];                ///< which cells belong to the hypothesis
    int e, s;
} BetweenHypothesis;

static BetweenVector mvfps_oracle_vector(int x, int y)
{
    return (BetweenVector) { x, y };
}

static BetweenVector mvfps_oracle_opposite(BetweenVector v)
{
    return mvfps_oracle_vector(-v.x, -v.y);
}

static int mvfps_oracle_difference(BetweenVector u, BetweenVector v)
{
    return abs(u.x - v.x) + abs(u.y - v.y);
}

/* Fields */

static void mvfps_oracle_read(const Between *b, BetweenField *field)
{
    if (!field->nb_blocks)
        return;
    field->cells = oracle_memory(b->cols * b->rows, sizeof(*field->cells));
    field->has   = oracle_memory(b->cols * b->rows, sizeof(*field->has));
    for (int r = 0; r < b->rows; r++)
        for (int c = 0; c < b->cols; c++) {
            const int x = oracle_min(8 * c + 4, b->w - 1), y = oracle_min(8 * r + 4, b->h - 1);
            const int at = r * b->cols + c;

            for (int i = 0; i < field->nb_blocks; i++) {
                const BetweenBlock *k = &field->blocks[i];

                if (x < k->left || x >= k->left + k->w || y < k->top || y >= k->top + k->h)
                    continue;
                field->cells[at].x = oracle_clip((k->x + 2) >> 2, -32000, 32000);
                field->cells[at].y = oracle_clip((k->y + 2) >> 2, -32000, 32000);
                field->has[at]     = 1;
            }
        }
}

/* Returns the vector of a field at sample (x, y), or NULL if the field has none there. */
static const BetweenVector *mvfps_oracle_at(const Between *b, const BetweenField *field, int x, int y)
{
    const int at = oracle_clip(y >> 3, 0, b->rows - 1) * b->cols +
                   oracle_clip(x >> 3, 0, b->cols - 1);

    return field->has[at] ? &field->cells[at] : NULL;
}

/* Positions */

/*
 * Returns how far from its position at the phase an object that moves by v is in A, in 1/8 sample, for one
 * component of v ...
 */
static int mvfps_oracle_a(const Between *b, int v)
{
    return -((2 * v * b->t + 2048) >> 12);
}

/* ... and how far away it is in C. */
static int mvfps_oracle_c(const Between *b, int v)
{
    return 2 * v + mvfps_oracle_a(b, v);
}

/* Distance of a vector from those of the fields */

static int mvfps_oracle_d(const BetweenVector *u, BetweenVector v)
{
    return u ? oracle_min(mvfps_oracle_difference(*u, v), 128) : 128;
}

static void mvfps_oracle_distances(const Between *b, BetweenVector v, int x, int y, int *da, int *dc)
{
    const int ax = x + (mvfps_oracle_a(b, v.x) >> 3), ay = y + (mvfps_oracle_a(b, v.y) >> 3);
    const int cx = x + (mvfps_oracle_c(b, v.x) >> 3), cy = y + (mvfps_oracle_c(b, v.y) >> 3);
    const BetweenVector w = mvfps_oracle_opposite(v);
    int da1 = 0, dc1 = 0;

    if (b->f.nb_blocks)
        da1 = mvfps_oracle_d(mvfps_oracle_at(b, &b->f, ax, ay), v);
    if (b->k.nb_blocks)
        dc1 = mvfps_oracle_d(mvfps_oracle_at(b, &b->k, cx, cy), w);
    if (!b->f.nb_blocks)
        da1 = dc1;
    if (!b->k.nb_blocks)
        dc1 = da1;
    *da = da1 + (b->f0.nb_blocks ? mvfps_oracle_d(mvfps_oracle_at(b, &b->f0, ax, ay), w) : da1);
    *dc = dc1 + (b->k0.nb_blocks ? mvfps_oracle_d(mvfps_oracle_at(b, &b->k0, cx, cy), v) : dc1);
}

/* The cost of a vector */

static int mvfps_oracle_sample(const BetweenComponent *m, const uint16_t *samples, int x, int y)
{
    return oracle_at(samples, m->w, m->h, x, y);
}

/* Returns the value at (x + ex / 8, y + ey / 8), interpolated linearly. */
static int mvfps_oracle_linear(const BetweenComponent *m, const uint16_t *samples, int x, int y,
                          int ex, int ey)
{
    const int fx = ex & 7, fy = ey & 7;

    x += ex >> 3;
    y += ey >> 3;
    return (mvfps_oracle_sample(m, samples, x,     y    ) * (8 - fx) * (8 - fy) +
            mvfps_oracle_sample(m, samples, x + 1, y    ) * fx       * (8 - fy) +
            mvfps_oracle_sample(m, samples, x,     y + 1) * (8 - fx) * fy       +
            mvfps_oracle_sample(m, samples, x + 1, y + 1) * fx       * fy       + 32) >> 6;
}

static int mvfps_oracle_cost(const Between *b, int c, int r, BetweenVector v)
{
    const BetweenComponent *m = &b->components[0];
    int sad = 0, da, dc;

    for (int y = 8 * r; y < 8 * r + 8; y++)
        for (int x = 8 * c; x < 8 * c + 8; x++)
            sad += abs(mvfps_oracle_linear(m, m->a, x, y, mvfps_oracle_a(b, v.x), mvfps_oracle_a(b, v.y)) -
                       mvfps_oracle_linear(m, m->c, x, y, mvfps_oracle_c(b, v.x), mvfps_oracle_c(b, v.y)));
    mvfps_oracle_distances(b, v, 8 * c + 4, 8 * r + 4, &da, &dc);
    return (sad >> (b->d - 8)) + 8 * oracle_min(da, dc);
}

/* What passes in front */

static int mvfps_oracle_near(const Between *b, const BetweenField *field, int x, int y, BetweenVector v)
{
    return field->nb_blocks && mvfps_oracle_d(mvfps_oracle_at(b, field, x, y), v) <= 8;
}

/* The number of ends of u at which v is hidden, for the sample (x, y). */
static int mvfps_oracle_hides(const Between *b, BetweenVector u, BetweenVector v, int x, int y)
{
    const int ax = x + (mvfps_oracle_a(b, u.x) >> 3), ay = y + (mvfps_oracle_a(b, u.y) >> 3);
    const int cx = x + (mvfps_oracle_c(b, u.x) >> 3), cy = y + (mvfps_oracle_c(b, u.y) >> 3);
    int nb = 0;

    if (mvfps_oracle_near(b, &b->f, ax, ay, u) &&
        mvfps_oracle_near(b, &b->k, ax + (v.x >> 2), ay + (v.y >> 2), mvfps_oracle_opposite(v)))
        nb++;
    if (mvfps_oracle_near(b, &b->k, cx, cy, mvfps_oracle_opposite(u)) &&
        mvfps_oracle_near(b, &b->f, cx - (v.x >> 2), cy - (v.y >> 2), v))
        nb++;
    return nb;
}

/* What stands still */

static int mvfps_oracle_still(const Between *b, int x, int y)
{
    const BetweenComponent *m = &b->components[0];
    const int c = oracle_clip(x >> 3, 0, b->cols - 1), r = oracle_clip(y >> 3, 0, b->rows - 1);
    int64_t n = 0, v = 0, e = 0;

    for (int i = 8 * r - 8; i < 8 * r + 16; i++)
        for (int j = 8 * c - 8; j < 8 * c + 16; j++)
            if (i >= 0 && i < b->h && j >= 0 && j < b->w) {
                const int right = oracle_min(j + 1, b->w - 1), below = oracle_min(i + 1, b->h - 1);
                const int a = oracle_min(m->a[i * m->w + j] >> (b->d - 8), 255);
                const int x = oracle_min(m->a[i * m->w + right] >> (b->d - 8), 255);
                const int y = oracle_min(m->a[below * m->w + j] >> (b->d - 8), 255);
                const int d = oracle_min(m->c[i * m->w + j] >> (b->d - 8), 255);
                const int g = abs(x - a) > abs(y - a) ? abs(x - a) : abs(y - a);

                n++;
                v += g * g;
                e += g * abs(a - d);
            }
    return v >= 64 * n && v >= 5 * e;
}

/* Vectors at the phase */

/* The vector of a list, with costs, that cell (c, r) takes. */
static BetweenVector mvfps_oracle_choose(const Between *b, const BetweenVector *list, const int *costs, int nb,
                                         int c, int r)
{
    const int x = 8 * c + 4, y = 8 * r + 4;
    int best = 0, front = -1;
    BetweenVector v;

    for (int i = 1; i < nb; i++)
        if (costs[i] < costs[best])
            best = i;
    for (int i = 0; i < nb; i++)
        if (costs[i] < costs[best] + 256 && mvfps_oracle_difference(list[i], list[best]) >= 16 &&
            mvfps_oracle_hides(b, list[i], list[best], x, y) > mvfps_oracle_hides(b, list[best], list[i], x, y) &&
            (front < 0 || costs[i] < costs[front]))
            front = i;
    v = list[front < 0 ? best : front];
    if (abs(v.x) + abs(v.y) >= 8 && mvfps_oracle_still(b, x, y) &&
        mvfps_oracle_still(b, x + (mvfps_oracle_a(b, v.x) >> 3), y + (mvfps_oracle_a(b, v.y) >> 3)) &&
        mvfps_oracle_still(b, x + (mvfps_oracle_c(b, v.x) >> 3), y + (mvfps_oracle_c(b, v.y) >> 3)))
        v = mvfps_oracle_vector(0, 0);
    return v;
}

static const int mvfps_oracle_nine[9][2] = {
    { 0, 0 }, { -1, -1 }, { 0, -1 }, { 1, -1 }, { -1, 0 }, { 1, 0 }, { -1, 1 }, { 0, 1 }, { 1, 1 },
};

static BetweenVector mvfps_oracle_first(const Between *b, int c, int r)
{
    BetweenVector list[2 * 9 + 3];
    int costs[2 * 9 + 3], nb = 0;

    for (int i = 0; i < 9; i++) {
        const int at = oracle_clip(r + 2 * mvfps_oracle_nine[i][1], 0, b->rows - 1) * b->cols +
                       oracle_clip(c + 2 * mvfps_oracle_nine[i][0], 0, b->cols - 1);

        if (b->f.nb_blocks && b->f.has[at])
            list[nb++] = b->f.cells[at];
        if (b->k.nb_blocks && b->k.has[at])
            list[nb++] = mvfps_oracle_opposite(b->k.cells[at]);
    }
    if (b->f0.nb_blocks && b->f0.has[r * b->cols + c])
        list[nb++] = mvfps_oracle_opposite(b->f0.cells[r * b->cols + c]);
    if (b->k0.nb_blocks && b->k0.has[r * b->cols + c])
        list[nb++] = b->k0.cells[r * b->cols + c];
    list[nb++] = mvfps_oracle_vector(0, 0);

    for (int i = 0; i < nb; i++)
        costs[i] = mvfps_oracle_cost(b, c, r, list[i]);
    return mvfps_oracle_choose(b, list, costs, nb, c, r);
}

static BetweenVector mvfps_oracle_second(const Between *b, const BetweenVector *first, int c, int r)
{
    const BetweenVector own = first[r * b->cols + c];
    BetweenVector around[8], list[1 + 8 + 8];
    int costs[1 + 8 + 8], n = 0, nb = 0;

    for (int y = r - 1; y <= r + 1; y++)
        for (int x = c - 1; x <= c + 1; x++)
            if (x >= 0 && x < b->cols && y >= 0 && y < b->rows && (x != c || y != r))
                around[n++] = first[y * b->cols + x];
    list[nb++] = own;
    for (int i = 0; i < n; i++)
        list[nb++] = around[i];
    for (int i = 1; i < 9; i++)
        list[nb++] = mvfps_oracle_vector(own.x + mvfps_oracle_nine[i][0], own.y + mvfps_oracle_nine[i][1]);

    for (int i = 0; i < nb; i++) {
        int sum = 0;

        for (int j = 0; j < n; j++)
            sum += oracle_min(mvfps_oracle_difference(list[i], around[j]), 32);
        costs[i] = mvfps_oracle_cost(b, c, r, list[i]) + (n ? 4 * sum / n : 0);
    }
    return mvfps_oracle_choose(b, list, costs, nb, c, r);
}

/* Acceleration */

/* Returns n / d rounded down. d must be positive. */
static int64_t mvfps_oracle_divide(int64_t n, int64_t d)
{
    return n / d - (n % d < 0);
}

static int64_t mvfps_oracle_product(BetweenVector u, BetweenVector v)
{
    return (int64_t)u.x * v.x + (int64_t)u.y * v.y;
}

static int64_t mvfps_oracle_k(int64_t p)
{
    return mvfps_oracle_divide(2097152 + mvfps_oracle_divide(256 + p, 2), 256 + p);
}

static int64_t mvfps_oracle_l(int64_t p)
{
    return mvfps_oracle_divide(536870912 + mvfps_oracle_divide(p * (256 + p), 2), p * (256 + p));
}

/* Returns one component of a change of velocity, which is given in 1/4096. */
static int mvfps_oracle_change(int64_t sum)
{
    return oracle_clip(mvfps_oracle_divide(sum + 2048, 4096), -32000, 32000);
}

/* Returns whether a cell counts, and sets *sum to b + d and *difference to b - d of the definition if so. */
static int mvfps_oracle_counts(const Between *b, int c, int r, BetweenVector *sum,
                          BetweenVector *difference)
{
    const BetweenVector v = b->vectors[r * b->cols + c];
    const int x = 8 * c + 4, y = 8 * r + 4;
    const BetweenVector *f0 = mvfps_oracle_at(b, &b->f0, x + (mvfps_oracle_a(b, v.x) >> 3),
                                         y + (mvfps_oracle_a(b, v.y) >> 3));
    const BetweenVector *k0 = mvfps_oracle_at(b, &b->k0, x + (mvfps_oracle_c(b, v.x) >> 3),
                                         y + (mvfps_oracle_c(b, v.y) >> 3));
    const int64_t kp = mvfps_oracle_k(b->p), lp = mvfps_oracle_l(b->p);
    const int64_t kq = mvfps_oracle_k(b->q), lq = mvfps_oracle_l(b->q);
    BetweenVector before, after;

    if (!f0 || !k0)
        return 0;
    before      = mvfps_oracle_vector(mvfps_oracle_change(kp * v.x + lp * f0->x),
                                 mvfps_oracle_change(kp * v.y + lp * f0->y));
    after       = mvfps_oracle_vector(mvfps_oracle_change(lq * k0->x - kq * v.x),
                                 mvfps_oracle_change(lq * k0->y - kq * v.y));
    *sum        = mvfps_oracle_vector(before.x + after.x, before.y + after.y);
    *difference = mvfps_oracle_vector(before.x - after.x, before.y - after.y);
    return abs(difference->x) + abs(difference->y) <= 128 && abs(sum->x) + abs(sum->y) <= 511;
}

/* Returns one component of the offset. s is that component of S, the sum over n cells. */
static int mvfps_oracle_part(const Between *b, int64_t s, int64_t g, int64_t n)
{
    const int64_t t = mvfps_oracle_divide((int64_t)b->t * (4096 - b->t), 4096);

    return mvfps_oracle_divide(s * g * t + 131072 * n, 262144 * n);
}

static BetweenVector mvfps_oracle_offset(const Between *b, int c, int r)
{
    BetweenVector s = { 0, 0 }, d = { 0, 0 };
    int64_t n = 0, q = 0, ss, e, g;

    if (!b->f0.nb_blocks || !b->k0.nb_blocks ||
        b->p < 64 || b->p > 1024 || b->q < 64 || b->q > 1024)
        return mvfps_oracle_vector(0, 0);
    for (int i = 0; i < 9; i++) {
        const int x = oracle_clip(c + 2 * mvfps_oracle_nine[i][0], 0, b->cols - 1);
        const int y = oracle_clip(r + 2 * mvfps_oracle_nine[i][1], 0, b->rows - 1);
        BetweenVector sum, difference;

        if (mvfps_oracle_difference(b->vectors[y * b->cols + x], b->vectors[r * b->cols + c]) > 8 ||
            !mvfps_oracle_counts(b, x, y, &sum, &difference))
            continue;
        n++;
        s.x += sum.x;
        s.y += sum.y;
        d.x += difference.x;
        d.y += difference.y;
        q   += mvfps_oracle_product(sum, sum);
    }
    ss = mvfps_oracle_product(s, s);
    if (!n || !ss)
        return mvfps_oracle_vector(0, 0);
    e = ss + mvfps_oracle_divide(n * q - ss, 4) + mvfps_oracle_product(d, d);
    g = mvfps_oracle_divide(72 * ss + mvfps_oracle_divide(e, 2), e);
    return mvfps_oracle_vector(mvfps_oracle_part(b, s.x, g, n), mvfps_oracle_part(b, s.y, g, n));
}

/* Samples along a vector */

/* First of components with as many columns as component 0, then of others, whose first and last taps are 0. */
static const int mvfps_oracle_taps[2][16][6] = {
    {
        {  0,  0, 64,  0,  0,  0 }, {  1, -3, 63,  4, -1,  0 }, {  1, -5, 62,  8, -2,  0 }, {  2, -7, 60, 12, -3,  0 },
        {  2, -9, 58, 17, -4,  0 }, {  2, -9, 53, 23, -6,  1 }, {  2, -9, 49, 28, -7,  1 }, {  2, -9, 44, 34, -8,  1 },
        {  2, -9, 39, 39, -9,  2 }, {  1, -8, 34, 44, -9,  2 }, {  1, -7, 28, 49, -9,  2 }, {  1, -6, 23, 53, -9,  2 },
        {  0, -4, 17, 58, -9,  2 }, {  0, -3, 12, 60, -7,  2 }, {  0, -2,  8, 62, -5,  1 }, {  0, -1,  4, 63, -3,  1 },
    }, {
        {  0,  0, 64,  0,  0,  0 }, {  0, -2, 63,  3,  0,  0 }, {  0, -3, 62,  6, -1,  0 }, {  0, -4, 59, 10, -1,  0 },
        {  0, -4, 56, 14, -2,  0 }, {  0, -5, 51, 20, -2,  0 }, {  0, -5, 47, 25, -3,  0 }, {  0, -4, 41, 30, -3,  0 },
        {  0, -4, 36, 36, -4,  0 }, {  0, -3, 30, 41, -4,  0 }, {  0, -3, 25, 47, -5,  0 }, {  0, -2, 20, 51, -5,  0 },
        {  0, -2, 14, 56, -4,  0 }, {  0, -1, 10, 59, -4,  0 }, {  0, -1,  6, 62, -3,  0 }, {  0,  0,  3, 63, -2,  0 },
    },
};

/*
 * Returns the value of a component at the distance (ex, ey) / 8, in samples of luma, plus the offset o
 * from sample (x, y).
 */
static int mvfps_oracle_along(const Between *b, const BetweenComponent *m, const uint16_t *samples,
                         int x, int y, int ex, int ey, BetweenVector o)
{
    const int px = (2 * ex + o.x) >> m->sx, py = (2 * ey + o.y) >> m->sy;
    const int *tx = mvfps_oracle_taps[m->sx > 0][px & 15], *ty = mvfps_oracle_taps[m->sx > 0][py & 15];
    int sum = 0;

    x += px >> 4;
    y += py >> 4;
    if (!(px & 15) && !(py & 15))
        return mvfps_oracle_sample(m, samples, x, y);
    for (int j = 0; j < 6; j++) {
        int row = 0;

        for (int i = 0; i < 6; i++)
            row += tx[i] * mvfps_oracle_sample(m, samples, x - 2 + i, y - 2 + j);
        sum += ty[j] * row;
    }
    return oracle_clip((sum + 2048) >> 12, 0, (1 << b->d) - 1);
}

static int mvfps_oracle_pa(const Between *b, const BetweenComponent *m, int x, int y,
                      BetweenVector v, BetweenVector o)
{
    return mvfps_oracle_along(b, m, m->a, x, y, mvfps_oracle_a(b, v.x), mvfps_oracle_a(b, v.y), o);
}

static int mvfps_oracle_pc(const Between *b, const BetweenComponent *m, int x, int y,
                      BetweenVector v, BetweenVector o)
{
    return mvfps_oracle_along(b, m, m->c, x, y, mvfps_oracle_c(b, v.x), mvfps_oracle_c(b, v.y), o);
}

/* Tiles */

static const int mvfps_oracle_slope[4][8] = {
    {  8,  7,  6,  5,  4,  3,  2,  2 }, { 13, 13, 13, 12, 11, 10, 10,  9 },
    {  9, 10, 10, 11, 12, 13, 13, 13 }, {  2,  2,  3,  4,  5,  6,  7,  8 },
};

/* Returns the slope for sample x of a tile, in one dimension, of a component subsampled by 2^shift. */
static int mvfps_oracle_slope_at(int p, int x, int shift)
{
    int sum = 0;

    for (int i = 0; i < 1 << shift; i++)
        sum += mvfps_oracle_slope[p][(x << shift) + i];
    return (sum + (1 << shift) / 2) >> shift;
}

/* Returns the trust in the prediction from samples pa and pc. */
static int mvfps_oracle_trust(const Between *b, const BetweenHypothesis *y, int pa, int pc)
{
    const int u = 64 + (y->e >> 3) + 8 * (abs(pa - pc) >> (b->d - 8));
    const int g = ((3584 >> (b->d == 8 ? 2 : b->d > 10 ? b->d - 10 : 0)) * 4096) / (u * u);

    return g < 1 ? 1 : g;
}

/* Sets the tile's difference e and the share s of a hypothesis. */
static void mvfps_oracle_weigh(const Between *b, BetweenHypothesis *y, int i, int j)
{
    const BetweenComponent *m = &b->components[0];
    const int x8 = 8 * i + 8, y8 = 8 * j + 8;
    const int ax = x8 + (mvfps_oracle_a(b, y->v.x) >> 3), ay = y8 + (mvfps_oracle_a(b, y->v.y) >> 3);
    const int cx = x8 + (mvfps_oracle_c(b, y->v.x) >> 3), cy = y8 + (mvfps_oracle_c(b, y->v.y) >> 3);
    const int in_a = ax >= 0 && ax <= b->w && ay >= 0 && ay <= b->h;
    const int in_c = cx >= 0 && cx <= b->w && cy >= 0 && cy <= b->h;
    int e = 0, da, dc;

    for (int ty = 0; ty < 8; ty++)
        for (int tx = 0; tx < 8; tx++)
            e += abs(mvfps_oracle_pa(b, m, 8 * i + 4 + tx, 8 * j + 4 + ty, y->v, y->o) -
                     mvfps_oracle_pc(b, m, 8 * i + 4 + tx, 8 * j + 4 + ty, y->v, y->o));
    e >>= b->d - 8;
    y->e = e;

    y->s = (64 * (4096 - b->t) + 2048) >> 12;
    if (e >= 256 && b->f.nb_blocks && b->k.nb_blocks) {
        int64_t wa, wc;

        mvfps_oracle_distances(b, y->v, x8, y8, &da, &dc);
        wa = (4096 - b->t) * (32 + dc);
        wc = b->t * (32 + da);
        y->s = (64 * wa + (wa + wc) / 2) / (wa + wc);
    }
    if (in_a != in_c)
        y->s = in_a ? 64 : 0;
}

static void mvfps_oracle_tile(const Between *b, int i, int j)
{
    static const int order[16] = { 5, 6, 9, 10, 0, 1, 2, 3, 4, 7, 8, 11, 12, 13, 14, 15 };
    BetweenHypothesis list[16];
    int nb = 0;

    memset(list, 0, sizeof(list));
    for (int o = 0; o < 16; o++) {
        const int p = order[o] & 3, q = order[o] >> 2;
        const int c = oracle_clip(i - 1 + p, 0, b->cols - 1);
        const int r = oracle_clip(j - 1 + q, 0, b->rows - 1);
        const BetweenVector v = b->vectors[r * b->cols + c];
        int k = 0;

        while (k < nb && mvfps_oracle_difference(list[k].v, v) > (o < 4 ? 1 : 2))
            k++;
        if (k == nb) {
            list[nb].v   = v;
            list[nb++].o = b->offsets[r * b->cols + c];
        }
        list[k].has[order[o]] = 1;
    }
    for (int k = 0; k < nb; k++)
        mvfps_oracle_weigh(b, &list[k], i, j);

    for (int l = 0; l < b->nb_components; l++) {
        const BetweenComponent *m = &b->components[l];

        for (int ty = 0; ty < 8 >> m->sy; ty++)
            for (int tx = 0; tx < 8 >> m->sx; tx++) {
                const int x = ((8 * i + 4) >> m->sx) + tx, y = ((8 * j + 4) >> m->sy) + ty;
                const int f = b->d == 8 && nb > 1 ? 2 : 0;
                int64_t sum = 0, weights = 0;

                if (x < 0 || x >= m->w || y < 0 || y >= m->h)
                    continue;
                for (int k = 0; k < nb; k++) {
                    const BetweenHypothesis *h = &list[k];
                    const int pa = mvfps_oracle_pa(b, m, x, y, h->v, h->o);
                    const int pc = mvfps_oracle_pc(b, m, x, y, h->v, h->o);
                    const int64_t v = (pa * h->s + pc * (64 - h->s) + (32 >> f)) >> (6 - f);
                    const int64_t g = mvfps_oracle_trust(b, h, pa, pc);
                    int window = 0;

                    for (int n = 0; n < 16; n++)
                        if (h->has[n])
                            window += mvfps_oracle_slope_at(n & 3, tx, m->sx) *
                                      mvfps_oracle_slope_at(n >> 2, ty, m->sy);
                    sum     += window * g * v;
                    weights += window * g;
                }
                m->out[y * m->w + x] = (sum + (weights << f) / 2) / (weights << f);
            }
    }
}

/** Makes the picture at the phase. */
static void mvfps_oracle_make(Between *b)
{
    BetweenField *const fields[4] = { &b->f, &b->k, &b->f0, &b->k0 };
    BetweenVector *first;

    b->cols    = (b->w + 7) / 8;
    b->rows    = (b->h + 7) / 8;
    b->vectors = oracle_memory(b->cols * b->rows, sizeof(*b->vectors));
    b->offsets = oracle_memory(b->cols * b->rows, sizeof(*b->offsets));
    first      = oracle_memory(b->cols * b->rows, sizeof(*first));
    for (int i = 0; i < 4; i++)
        mvfps_oracle_read(b, fields[i]);

    for (int r = 0; r < b->rows; r++)
        for (int c = 0; c < b->cols; c++)
            first[r * b->cols + c] = mvfps_oracle_first(b, c, r);
    for (int r = 0; r < b->rows; r++)
        for (int c = 0; c < b->cols; c++)
            b->vectors[r * b->cols + c] = mvfps_oracle_second(b, first, c, r);
    b->nb_offsets = 0;
    for (int r = 0; r < b->rows; r++)
        for (int c = 0; c < b->cols; c++) {
            const BetweenVector o = mvfps_oracle_offset(b, c, r);

            b->offsets[r * b->cols + c] = o;
            b->nb_offsets += o.x || o.y;
        }
    for (int j = -1; 8 * j + 4 < b->h; j++)
        for (int i = -1; 8 * i + 4 < b->w; i++)
            mvfps_oracle_tile(b, i, j);

    for (int i = 0; i < 4; i++) {
        free(fields[i]->cells);
        free(fields[i]->has);
        fields[i]->cells = NULL;
        fields[i]->has   = NULL;
    }
    free(first);
    free(b->vectors);
    free(b->offsets);
    b->vectors = NULL;
    b->offsets = NULL;
}

/* Repeats */

/* Returns whether component 0 of one picture repeats that of the other. */
static int mvfps_oracle_is_repeat(const uint16_t *a, const uint16_t *c, int w, int h, int d)
{
    const int across = (w + 15) / 16, nb = across * ((h + 15) / 16);
    int *e = oracle_memory(nb, sizeof(*e));
    int m = 0, limit, is_repeat = 1;

    for (int i = 0; i < nb; i++) {
        int64_t sum = 0, n = 0;

        for (int block = 0; block < 16; block++) {
            int64_t difference = 0;

            for (int y = i / across * 16 + block / 4 * 4, k = 0; k < 4; k++, y++)
                for (int x = i % across * 16 + block % 4 * 4, l = 0; l < 4; l++, x++)
                    if (x < w && y < h) {
                        difference += a[y * w + x] - c[y * w + x];
                        n++;
                    }
            sum += difference < 0 ? -difference : difference;
        }
        sum  = (16 * sum + n / 2) / n >> (d - 8);
        e[i] = sum < 255 ? (int)sum : 255;
    }
    for (int below = 0; ; m++) {
        for (int i = 0; i < nb; i++)
            below += e[i] == m;
        if (2 * below >= nb)
            break;
    }
    limit = oracle_clip(2 * m, 32, 64);
    for (int i = 0; i < nb; i++)
        is_repeat &= e[i] <= limit;
    free(e);
    return is_repeat;
}

/* New detail, and fades */

/* Returns the detail of a picture of w x h samples, computed from a small picture of cols x rows samples. */
static uint8_t *mvfps_oracle_detail(const uint16_t *samples, int w, int h, int d, int s, int cols, int rows)
{
    int *m = oracle_memory(cols * rows, sizeof(*m));
    uint8_t *detail = oracle_memory(cols * rows, 1);

    for (int j = 0; j < rows; j++)
        for (int i = 0; i < cols; i++) {
            int64_t sum = 0, n = 0;

            for (int y = j * s; y < (j + 1) * s; y++)
                for (int x = i * s; x < (i + 1) * s; x++)
                    if (x < w && y < h) {
                        sum += samples[y * w + x];
                        n++;
                    }
            sum = ((4 * sum + n / 2) / n) >> (d - 8);
            m[j * cols + i] = sum < 1023 ? (int)sum : 1023;
        }
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < cols; i++) {
            int b = 0;

            for (int y = j - 4; y <= j + 4; y++)
                for (int x = i - 4; x <= i + 4; x++)
                    b += m[oracle_clip(y, 0, rows - 1) * cols + oracle_clip(x, 0, cols - 1)];
            detail[j * cols + i] = oracle_clip(128 + ((m[j * cols + i] - (b + 40) / 81) >> 1), 0, 255);
        }
    free(m);
    return detail;
}

/** A long vector, in whole samples. */
typedef struct OracleLong {
    int x, y;
} OracleLong;

static int oracle_in_samples(double motion, int scale)
{
    const double whole = round(motion / scale);

    return whole < -32768 ? -32768 : whole > 32767 ? 32767 : (int)whole;
}

/*
 * Finds whether vectors into the previous picture show a motion: by long vectors that are like the entry before them,
 * and by those that share a motion.
 */
static void oracle_shows_motion(const AVMotionVector *mvs, int nb, int shows[2])
{
    OracleLong *list = test_alloc(av_malloc_array(nb + 1, sizeof(*list)));
    const int step   = nb / 4096 > 1 ? nb / 4096 : 1;
    int nb_list = 0, counted = 0, inconsistent = 0, m[2] = { 0, 0 };

    for (int i = 0; i < nb; i += step) {
        const AVMotionVector *v = &mvs[i], *u = i ? v - 1 : NULL;
        const double x = v->motion_x, y = v->motion_y, scale = v->motion_scale;

        if (v->source != -1)
            continue;
        counted++;
        if (v->flags & 1)
            inconsistent++;
        else if (scale > 0 && 2 * fmax(fabs(x), fabs(y)) >= 3 * scale) {
            list[nb_list++] = (OracleLong) { oracle_in_samples(x, scale), oracle_in_samples(y, scale) };
            if (u && u->source == -1 && !(u->flags & 1) && fabs(x - u->motion_x) + fabs(y - u->motion_y) <= scale)
                m[0]++;
        }
    }
    for (int i = 0; i < nb_list; i++) {
        int equal = 0;

        for (int k = 0; k < nb_list; k++)
            if (abs(list[k].x - list[i].x) < 2 && abs(list[k].y - list[i].y) < 2)
                equal++;
        m[1] = equal > m[1] ? equal : m[1];
    }
    av_free(list);
    for (int i = 0; i < 2; i++)
        shows[i] = inconsistent > 0 && (counted < 900 ? m[i] >= inconsistent : 10 * m[i] >= inconsistent);
}

/* Returns the value that is compared with the option scene: how much of the moved detail the other picture lacks. */
static double mvfps_oracle_new_detail(const uint16_t *a, const uint16_t *c, int w, int h, int d)
{
    const int s = ((w > h ? w : h) + 127) / 128, cols = (w + s - 1) / s, rows = (h + s - 1) / s;
    uint8_t *details[2] = { mvfps_oracle_detail(a, w, h, d, s, cols, rows),
                            mvfps_oracle_detail(c, w, h, d, s, cols, rows) };
    int64_t cost = 0, f = 0, n = 0, moved = 0;

    for (int i = 0; i < 2; i++)
        for (int top = 0; top < rows; top += 8)
            for (int left = 0; left < cols; left += 8, n++) {
                const uint8_t *own = details[i], *other = details[!i];
                int least = INT32_MAX, still = 0, detail = 0;

                for (int dy = -12; dy <= 12; dy++)
                    for (int dx = -24; dx <= 24; dx++) {
                        int sum = 0;

                        for (int y = top; y < top + 8; y++)
                            for (int x = left; x < left + 8; x++)
                                sum += abs(own[oracle_min(y, rows - 1) * cols + oracle_min(x, cols - 1)] -
                                           other[oracle_clip(y + dy, 0, rows - 1) * cols +
                                                 oracle_clip(x + dx, 0, cols - 1)]);
                        least = oracle_min(least, sum);
                        if (!dx && !dy)
                            still = sum;
                    }
                for (int y = top; y < top + 8; y++)
                    for (int x = left; x < left + 8; x++)
                        detail += abs(own[oracle_min(y, rows - 1) * cols + oracle_min(x, cols - 1)] - 128);
                if (6 * (still - 128) <= detail)
                    continue;
                cost += least;
                f    += detail + 128;
                moved++;
            }
    free(details[0]);
    free(details[1]);
    return moved && 8 * moved >= 3 * n ? (double)cost / (double)f : 0;
}

/** Returns whether two pictures, given by their components 0 with d bits, belong to a fade. */
static int mvfps_oracle_is_fade(const uint16_t *a, const uint16_t *c, int w, int h, int d)
{
    const int across = (w + 15) / 16, nb = across * ((h + 15) / 16);
    int64_t *lights[2], sums[2] = { 0 }, means[2], products[3] = { 0 }, low, high, v, t;
    int is_fade;

    for (int i = 0; i < 2; i++) {
        const uint16_t *samples = i ? c : a;

        lights[i] = oracle_memory(nb, sizeof(*lights[i]));
        for (int k = 0; k < nb; k++) {
            int64_t sum = 0, n = 0;

            for (int y = k / across * 16; y < h && y < k / across * 16 + 16; y++)
                for (int x = k % across * 16; x < w && x < k % across * 16 + 16; x++) {
                    sum += samples[y * w + x];
                    n++;
                }
            lights[i][k] = mvfps_oracle_divide(16 * sum + n / 2, n) >> (d - 8);
            if (lights[i][k] > 4095)
                lights[i][k] = 4095;
            sums[i] += lights[i][k];
        }
        means[i] = sums[i] / nb;
    }
    for (int k = 0; k < nb; k++) {
        const int64_t da = lights[0][k] - means[0], dc = lights[1][k] - means[1];

        products[0] += da * da;
        products[1] += dc * dc;
        products[2] += da * dc;
    }
    for (int i = 0; i < 3; i++)
        products[i] = mvfps_oracle_divide(products[i], nb);
    low  = products[0] < products[1] ? products[0] : products[1];
    high = products[0] + products[1] - low;
    v    = products[2] > 0 ? products[2] : 0;
    t    = high - low - 384 * 384;
    is_fade = (low > 0 && 8 * v * v >= 7 * low * high) ||
              (llabs(sums[1] - sums[0]) <= 1024 * (int64_t)nb && (t <= 0 || t * t <= 4 * 384 * 384 * low) &&
               8 * (low * high - v * v) <= high * high);
    free(lights[0]);
    free(lights[1]);
    return is_fade;
}

/** Returns a sample of mode=blend. part is the weight, in 1/4096, of the later frame. */
static int mvfps_oracle_blend(int a, int c, int part)
{
    return ((int64_t)a * (4096 - part) + (int64_t)c * part + 2048) / 4096;
}

#endif /* GPUME_ORACLE_BETWEEN_H */
