/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Reference implementation of true motion, written from doc/gpume-definition.md, "True motion", as
 * plainly as possible: the search hme, and the options smooth, pel and check, which apply to every
 * search. Like gpume_oracle.h it uses nothing of the filter or of FFmpeg, and is hardly optimized.
 */

#ifndef GPUME_ORACLE_MOTION_H
#define GPUME_ORACLE_MOTION_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpume_oracle.h"

/** Options of a search for motion between two pictures. */
typedef struct OracleMotion {
    OracleVector (*search)(const OracleBlock *b);   ///< NULL: hme
    OracleCost cost;
    int block, range;
    int depth;              ///< bits per sample
    int smooth;             ///< 0: off
    int sweeps;
    int pel;                ///< 1, 2 or 4
    int levels;             ///< levels of the pyramid of hme; 0: the default number
} OracleMotion;

static int oracle_abs(int a)
{
    return a < 0 ? -a : a;
}

/* Returns a / b rounded down. b must be positive. */
static int oracle_floor(int a, int b)
{
    return a >= 0 ? a / b : -((-a + b - 1) / b);
}

/* Interpolation between samples */

static int oracle_sample(const OraclePicture *p, int x, int y)
{
    return oracle_at(p->samples, p->w, p->h, x, y);
}

/* Returns H.264's 6-tap filter of the samples (x, y) + k * (dx, dy), k from -2 to 3, unscaled. */
static int oracle_six(const OraclePicture *p, int x, int y, int dx, int dy)
{
    return      oracle_sample(p, x - 2 * dx, y - 2 * dy) -
            5 * oracle_sample(p, x -     dx, y -     dy) +
           20 * oracle_sample(p, x,          y)          +
           20 * oracle_sample(p, x +     dx, y +     dy) -
            5 * oracle_sample(p, x + 2 * dx, y + 2 * dy) +
                oracle_sample(p, x + 3 * dx, y + 3 * dy);
}

/* Returns b of the standard: the value half a sample to the right of (x, y). */
static int oracle_right(const OraclePicture *p, int max, int x, int y)
{
    return p->halves[0] ? p->halves[0][y * p->w + x] :
           oracle_clip(oracle_floor(oracle_six(p, x, y, 1, 0) + 16, 32), 0, max);
}

/* Returns h of the standard: the value half a sample below (x, y). */
static int oracle_below(const OraclePicture *p, int max, int x, int y)
{
    return p->halves[1] ? p->halves[1][y * p->w + x] :
           oracle_clip(oracle_floor(oracle_six(p, x, y, 0, 1) + 16, 32), 0, max);
}

/* Returns j of the standard: the value half a sample to the right and below (x, y). */
static int oracle_middle(const OraclePicture *p, int max, int x, int y)
{
    int sum;

    if (p->halves[2])
        return p->halves[2][y * p->w + x];
    sum = oracle_six(p, x, y - 2, 1, 0) - 5 * oracle_six(p, x, y - 1, 1, 0) + 20 * oracle_six(p, x, y, 1, 0) +
          20 * oracle_six(p, x, y + 1, 1, 0) - 5 * oracle_six(p, x, y + 2, 1, 0) + oracle_six(p, x, y + 3, 1, 0);
    return oracle_clip(oracle_floor(sum + 512, 1024), 0, max);
}

static int oracle_mean(int a, int b)
{
    return (a + b + 1) / 2;
}

/**
 * Returns the value at (px / 4, py / 4). In the standard, G, H and M are samples, and the positions
 * between them are named
 *   G a b c H
 *   d e f g
 *   h i j k m
 *   n p q r
 *   M   s
 */
static int oracle_quarter(const OraclePicture *pic, int max, int px, int py)
{
    const int x = oracle_floor(px, 4), y = oracle_floor(py, 4);

#define G oracle_sample(pic, x, y)
#define H oracle_sample(pic, x + 1, y)
#define M oracle_sample(pic, x, y + 1)
#define b oracle_right(pic, max, x, y)
#define s oracle_right(pic, max, x, y + 1)
#define h oracle_below(pic, max, x, y)
#define m oracle_below(pic, max, x + 1, y)
#define j oracle_middle(pic, max, x, y)
    switch (4 * (py - 4 * y) + px - 4 * x) {
    case  0: return G;
    case  1: return oracle_mean(G, b);  // a
    case  2: return b;
    case  3: return oracle_mean(b, H);  // c
    case  4: return oracle_mean(G, h);  // d
    case  5: return oracle_mean(b, h);  // e
    case  6: return oracle_mean(b, j);  // f
    case  7: return oracle_mean(b, m);  // g
    case  8: return h;
    case  9: return oracle_mean(h, j);  // i
    case 10: return j;
    case 11: return oracle_mean(j, m);  // k
    case 12: return oracle_mean(h, M);  // n
    case 13: return oracle_mean(h, s);  // p
    case 14: return oracle_mean(j, s);  // q
    case 15: return oracle_mean(m, s);  // r
    }
#undef G
#undef H
#undef M
#undef b
#undef s
#undef h
#undef m
#undef j
    abort();
}

/**
 * Returns the picture interpolated to steps of 1 / pel sample, from the first to the last sample of
 * each row and column. The caller frees its samples. Without it each vector would interpolate the
 * same samples again.
 */
static OraclePicture oracle_enlarge(const OraclePicture *p, int depth, int pel)
{
    static int (*const between[3])(const OraclePicture *, int, int, int) = {
        oracle_right, oracle_below, oracle_middle
    };
    const int w = (p->w - 1) * pel + 1, h = (p->h - 1) * pel + 1, max = (1 << depth) - 1;
    uint16_t *samples = oracle_memory((size_t)w * h, sizeof(*samples)), *halves[3] = { NULL };
    OraclePicture with = *p;

    /* a value half a sample away is part of up to ten others */
    for (int i = 0; i < 3 && pel > 1; i++) {
        with.halves[i] = halves[i] = oracle_memory((size_t)p->w * p->h, sizeof(*halves[i]));
        for (int at = 0; at < p->w * p->h; at++)
            halves[i][at] = between[i](p, max, at % p->w, at / p->w);
    }
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            samples[(size_t)y * w + x] = oracle_quarter(&with, max, x * 4 / pel, y * 4 / pel);
    for (int i = 0; i < 3; i++)
        free(halves[i]);
    return (OraclePicture){ w, h, samples };
}

/* Smoothing passes */

/** Vectors of one precision on one level of the pyramid. */
typedef struct OracleLevel {
    const OraclePicture *cur;
    const OraclePicture *ref;   ///< enlarged
    OracleCost cost;
    int depth, smooth, block, range;
    int pel;
    int threshold;              ///< T of the definition, in samples
    int bw, bh;
    OracleVector *vectors;      ///< only dx and dy are used
} OracleLevel;

static int oracle_level_admissible(const OracleLevel *l, int bx, int by, int dx, int dy)
{
    const int x0 = bx * l->block, y0 = by * l->block;
    const int x1 = oracle_min(x0 + l->block, l->cur->w) - 1;    // last sample of the block
    const int y1 = oracle_min(y0 + l->block, l->cur->h) - 1;

    return oracle_abs(dx) <= l->range * l->pel && oracle_abs(dy) <= l->range * l->pel &&
           x0 * l->pel + dx >= 0 && x1 * l->pel + dx < l->ref->w &&
           y0 * l->pel + dy >= 0 && y1 * l->pel + dy < l->ref->h;
}

/* Returns D of the definition; where that is limit or more, any value that is limit or more. */
static int64_t oracle_level_cost(const OracleLevel *l, int bx, int by, int dx, int dy,
                                 int64_t limit)
{
    const int x0 = bx * l->block, y0 = by * l->block, pel = l->pel;
    const uint16_t *ref = l->ref->samples + (size_t)(y0 * pel + dy) * l->ref->w + x0 * pel + dx;

    ORACLE_NOTE(bx, by, l->bw, pel, dx, dy);
    return l->cost((OracleSamples){ l->cur->samples + y0 * l->cur->w + x0, l->cur->w, 1 },
                   (OracleSamples){ ref, l->ref->w * pel, pel },
                   oracle_min(l->block, l->cur->w - x0), oracle_min(l->block, l->cur->h - y0), limit);
}

/* Sets *n to the index of neighbour i of block (bx, by). Returns 0 if there is no such block. */
static int oracle_neighbour(int bw, int bh, int bx, int by, int i, int *n)
{
    /* offsets of the neighbours in raster order */
    static const int around[8][2] = {
        { -1, -1 }, { 0, -1 }, { 1, -1 }, { -1, 0 }, { 1, 0 }, { -1, 1 }, { 0, 1 }, { 1, 1 },
    };
    const int x = bx + around[i][0], y = by + around[i][1];

    *n = y * bw + x;
    return x >= 0 && x < bw && y >= 0 && y < bh;
}

/* Returns P of the definition: the penalty for vectors unlike those of the neighbours. */
static int64_t oracle_penalty(const OracleLevel *l, int bx, int by, int dx, int dy)
{
    int64_t sum = 0;
    int nb = 0, n;

    for (int i = 0; i < 8; i++) {
        if (!oracle_neighbour(l->bw, l->bh, bx, by, i, &n))
            continue;
        sum += oracle_min(oracle_abs(dx - l->vectors[n].dx) + oracle_abs(dy - l->vectors[n].dy),
                          l->threshold * l->pel);
        nb++;
    }
    return nb ? l->smooth * l->block * sum / (nb * l->pel) << (l->depth - 8) : 0;
}

typedef struct OracleBest {
    int dx, dy;
    int64_t cost;           ///< D + P
} OracleBest;

static void oracle_pass_try(const OracleLevel *l, int bx, int by, int dx, int dy,
                            OracleBest *best)
{
    const int64_t penalty = oracle_penalty(l, bx, by, dx, dy);
    const int64_t cost = oracle_level_cost(l, bx, by, dx, dy, best->cost - penalty) + penalty;

    if (cost < best->cost)
        *best = (OracleBest){ dx, dy, cost };
}

static void oracle_pass_block(const OracleLevel *l, int bx, int by)
{
    OracleVector *own = &l->vectors[by * l->bw + bx];
    OracleBest best = { 0, 0, INT64_MAX };
    int n;

    oracle_pass_try(l, bx, by, own->dx, own->dy, &best);
    for (int i = 0; i < 8; i++) {
        if (oracle_neighbour(l->bw, l->bh, bx, by, i, &n) &&
            oracle_level_admissible(l, bx, by, l->vectors[n].dx, l->vectors[n].dy))
            oracle_pass_try(l, bx, by, l->vectors[n].dx, l->vectors[n].dy, &best);
    }
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            if ((dx || dy) && oracle_level_admissible(l, bx, by, own->dx + dx, own->dy + dy))
                oracle_pass_try(l, bx, by, own->dx + dx, own->dy + dy, &best);
        }
    }
    own->dx = best.dx;
    own->dy = best.dy;
}

static void oracle_passes(const OracleLevel *l, int nb)
{
    while (nb-- > 0)
        for (int odd_row = 0; odd_row < 2; odd_row++)
            for (int odd_column = 0; odd_column < 2; odd_column++)
                for (int by = odd_row; by < l->bh; by += 2)
                    for (int bx = odd_column; bx < l->bw; bx += 2)
                        oracle_pass_block(l, bx, by);
}

/* Returns a level whose vectors are in whole samples. @param vectors array for the vectors of the level */
static OracleLevel oracle_level(const OracleMotion *m, const OraclePicture *cur,
                                const OraclePicture *ref, int block, int range,
                                OracleVector *vectors)
{
    return (OracleLevel){
        .cur = cur, .ref = ref, .cost = m->cost, .depth = m->depth, .smooth = m->smooth,
        .block = block, .range = range, .pel = 1, .threshold = m->search ? 16 : 8,
        .bw = oracle_blocks(cur->w, block), .bh = oracle_blocks(cur->h, block),
        .vectors = vectors,
    };
}

/* Refines vectors in whole samples to steps of 1 / pel sample. */
static void oracle_pel(const OracleMotion *m, const OraclePicture *cur, const OraclePicture *ref,
                       OracleVector *vectors)
{
    const OraclePicture large = oracle_enlarge(ref, m->depth, m->pel);
    OracleLevel l = oracle_level(m, cur, &large, m->block, m->range, vectors);

    l.pel       = m->pel;
    l.threshold = oracle_min(m->block / 2, 16);
    for (int k = 0; k < l.bw * l.bh; k++) {
        vectors[k].dx *= m->pel;
        vectors[k].dy *= m->pel;
    }
    oracle_passes(&l, m->sweeps + 1);
    free((void *)large.samples);
}

/* hme */

/* Returns the picture at half the width and height. The caller frees its samples. */
static OraclePicture oracle_halve(const OraclePicture *p)
{
    const int w = (p->w + 1) / 2, h = (p->h + 1) / 2;
    uint16_t *samples = oracle_memory((size_t)w * h, sizeof(*samples));

    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            samples[y * w + x] = (oracle_sample(p, 2 * x, 2 * y) +
                                  oracle_sample(p, 2 * x + 1, 2 * y) +
                                  oracle_sample(p, 2 * x, 2 * y + 1) +
                                  oracle_sample(p, 2 * x + 1, 2 * y + 1) + 2) / 4;
    return (OraclePicture){ w, h, samples };
}

/*
 * Tries the vector of block (px, py) of before, multiplied by factor, for block (bx, by), if that block
 * exists and the product is admissible.
 */
static void oracle_parent_try(const OracleLevel *l, int bx, int by, const OracleLevel *before,
                              int px, int py, int factor, OracleBest *best)
{
    OracleVector v;
    int64_t cost;

    if (px < 0 || px >= before->bw || py < 0 || py >= before->bh)
        return;
    v = before->vectors[py * before->bw + px];
    v.dx *= factor;
    v.dy *= factor;
    if (!oracle_level_admissible(l, bx, by, v.dx, v.dy))
        return;
    cost = oracle_level_cost(l, bx, by, v.dx, v.dy, best->cost);
    if (cost < best->cost)
        *best = (OracleBest){ v.dx, v.dy, cost };
}

/* Replaces the best vector of a block if it is a poor match, and one of up to 32 samples is much better. */
static void oracle_wide(const OracleLevel *l, int bx, int by, OracleBest *best)
{
    const int w = oracle_min(l->block, l->cur->w - bx * l->block), h = oracle_min(l->block, l->cur->h - by * l->block);
    OracleBest found = { 0, 0, INT64_MAX };

    if (best->cost < (int64_t)4 * w * h << (l->depth - 8))
        return;
    found.cost = oracle_level_cost(l, bx, by, 0, 0, INT64_MAX);
    for (int dy = -32; dy <= 32; dy++)
        for (int dx = -32; dx <= 32; dx++)
            if (oracle_level_admissible(l, bx, by, dx, dy)) {
                const int64_t cost = oracle_level_cost(l, bx, by, dx, dy, found.cost);

                if (cost < found.cost)
                    found = (OracleBest){ dx, dy, cost };
            }
    if (found.cost < best->cost / 4)
        *best = found;
}

/**
 * Sets the initial vectors of a level.
 * @param before the level above in the pyramid, or the same level with blocks twice as large
 * @param factor by which the vectors of before are multiplied
 * @param zero   nonzero: also try the zero vector for every block; 0: use it only for blocks without
 *               an admissible vector
 * @param wide   nonzero: blocks may take a vector of oracle_wide()
 */
static void oracle_begin(const OracleLevel *l, const OracleLevel *before, int factor, int zero, int wide)
{
    for (int by = 0; by < l->bh; by++) {
        for (int bx = 0; bx < l->bw; bx++) {
            const int px = oracle_min(bx / 2, before->bw - 1), x = px + (bx % 2 ? 1 : -1);
            const int py = oracle_min(by / 2, before->bh - 1), y = py + (by % 2 ? 1 : -1);
            OracleVector *v = &l->vectors[by * l->bw + bx];
            OracleBest best = { 0, 0, INT64_MAX };

            oracle_parent_try(l, bx, by, before, px, py, factor, &best);
            oracle_parent_try(l, bx, by, before, px, y,  factor, &best);
            oracle_parent_try(l, bx, by, before, x,  py, factor, &best);
            oracle_parent_try(l, bx, by, before, x,  y,  factor, &best);
            if (zero && oracle_level_cost(l, bx, by, 0, 0, best.cost) < best.cost)
                best = (OracleBest){ 0, 0, oracle_level_cost(l, bx, by, 0, 0, INT64_MAX) };
            if (wide)
                oracle_wide(l, bx, by, &best);
            v->dx = best.dx;
            v->dy = best.dy;
        }
    }
}

/* Global candidates */

enum { ORACLE_SMALL = 4, ORACLE_SMALL_RANGE = 15 };     // block size and largest range of the search on level 2

/** The search between level 2 of two pictures in both directions, with samples reduced to 8 bits. */
typedef struct OracleGlobal {
    OraclePicture cur, ref;
    int range, bw, bh;
    OracleVector *there, *back;     ///< from cur to ref, from ref to cur
} OracleGlobal;

static OraclePicture oracle_8_bits(const OraclePicture *p, int depth)
{
    uint16_t *samples = oracle_memory((size_t)p->w * p->h, sizeof(*samples));

    for (int k = 0; k < p->w * p->h; k++)
        samples[k] = p->samples[k] >> (depth - 8);
    return (OraclePicture){ p->w, p->h, samples };
}

static OracleGlobal oracle_global(const OraclePicture *cur, const OraclePicture *ref, int depth, int range)
{
    OracleGlobal g = { oracle_8_bits(cur, depth), oracle_8_bits(ref, depth) };
    OracleSearch search = { oracle_search_fs, oracle_sad, ORACLE_SMALL };

    g.range = search.range = oracle_min(range, ORACLE_SMALL_RANGE);
    g.bw    = oracle_blocks(cur->w, ORACLE_SMALL);
    g.bh    = oracle_blocks(cur->h, ORACLE_SMALL);
    g.there = oracle_memory(g.bw * g.bh, sizeof(*g.there));
    g.back  = oracle_memory(g.bw * g.bh, sizeof(*g.back));
    oracle_field(search, &g.cur, &g.ref, NULL, NULL, g.there);
    oracle_field(search, &g.ref, &g.cur, NULL, NULL, g.back);
    return g;
}

static void oracle_global_free(OracleGlobal *g)
{
    free((void *)g->cur.samples);
    free((void *)g->ref.samples);
    free(g->there);
    free(g->back);
}

/*
 * Returns the index of the small block that the centre of small block i points to, in one dimension.
 * side is the width or height of the picture, d the component of the vector, nb the number of blocks.
 */
static int oracle_small_partner(int i, int side, int d, int nb)
{
    const int start = i * ORACLE_SMALL, length = oracle_min(ORACLE_SMALL, side - start);

    return oracle_clip(oracle_floor(start + length / 2 + d, ORACLE_SMALL), 0, nb - 1);
}

static int oracle_confirmed(const OracleGlobal *g, int bx, int by)
{
    const OracleVector v = g->there[by * g->bw + bx];
    const int px = oracle_small_partner(bx, g->cur.w, v.dx, g->bw);
    const int py = oracle_small_partner(by, g->cur.h, v.dy, g->bh);

    for (int y = oracle_max(py - 1, 0); y <= oracle_min(py + 1, g->bh - 1); y++) {
        for (int x = oracle_max(px - 1, 0); x <= oracle_min(px + 1, g->bw - 1); x++) {
            const OracleVector back = g->back[y * g->bw + x];

            if (oracle_abs(v.dx + back.dx) <= 1 && oracle_abs(v.dy + back.dy) <= 1)
                return 1;
        }
    }
    return 0;
}

/* Returns whether v, a vector of the full-size picture, also fits a small block of level 2. */
static int oracle_small_matches(const OracleGlobal *g, int bx, int by, OracleVector v)
{
    const OracleLevel l = {
        .cur = &g->cur, .ref = &g->ref, .cost = oracle_sad, .block = ORACLE_SMALL, .range = g->range, .pel = 1,
        .bw = g->bw, .bh = g->bh,
    };
    const int w = oracle_min(ORACLE_SMALL, g->cur.w - bx * ORACLE_SMALL);
    const int h = oracle_min(ORACLE_SMALL, g->cur.h - by * ORACLE_SMALL);
    const int dx = oracle_floor(v.dx + 2, 4), dy = oracle_floor(v.dy + 2, 4);

    return oracle_level_admissible(&l, bx, by, dx, dy) &&
           oracle_level_cost(&l, bx, by, dx, dy, INT64_MAX) < 4 * w * h;
}

/*
 * Replaces *v by the cheapest admissible vector among itself and its 8 neighbours at distance step.
 * v->cost stays INT64_MAX if none is admissible.
 */
static void oracle_refine(const OracleLevel *l, int bx, int by, int step, OracleBest *v)
{
    OracleBest best = { 0, 0, INT64_MAX };

    for (int i = -1; i < 9; i++) {
        const int dx = v->dx + (i < 0 ? 0 : (i % 3 - 1) * step), dy = v->dy + (i < 0 ? 0 : (i / 3 - 1) * step);
        int64_t cost;

        if (i == 4 || !oracle_level_admissible(l, bx, by, dx, dy))
            continue;
        cost = oracle_level_cost(l, bx, by, dx, dy, INT64_MAX);
        if (cost < best.cost)
            best = (OracleBest){ dx, dy, cost };
    }
    *v = best;
}

/* Returns the vector of a block: its present one or a better candidate of level 2. */
static OracleVector oracle_take_candidate(const OracleLevel *l, const OracleGlobal *g, int bx, int by)
{
    const int x0 = bx * l->block, w = oracle_min(l->block, l->cur->w - x0);
    const int y0 = by * l->block, h = oracle_min(l->block, l->cur->h - y0);
    const OracleVector v = l->vectors[by * l->bw + bx];
    const int64_t cost = oracle_level_cost(l, bx, by, v.dx, v.dy, INT64_MAX);
    OracleBest best = { v.dx, v.dy, 3 * (cost + oracle_penalty(l, bx, by, v.dx, v.dy)) / 8 };
    OracleVector given[4];
    int nb = 0;

    if (cost < (int64_t)4 * w * h << (l->depth - 8))
        return v;
    for (int k = 0; k < 4; k++) {
        const int i = (x0 + w / 2 + 8) / 16 - 1 + k % 2, j = (y0 + h / 2 + 8) / 16 - 1 + k / 2;
        OracleBest o = { 0, 0, INT64_MAX };
        int known = 0;

        if (i < 0 || j < 0 || i >= g->bw || j >= g->bh || oracle_small_matches(g, i, j, v))
            continue;
        o.dx = 4 * g->there[j * g->bw + i].dx;
        o.dy = 4 * g->there[j * g->bw + i].dy;
        for (int n = 0; n < nb; n++)
            known |= given[n].dx == o.dx && given[n].dy == o.dy;
        if (known || oracle_abs(o.dx - v.dx) <= 4 && oracle_abs(o.dy - v.dy) <= 4 || !oracle_confirmed(g, i, j))
            continue;
        given[nb++] = (OracleVector){ .dx = o.dx, .dy = o.dy };
        oracle_refine(l, bx, by, 2, &o);
        if (o.cost == INT64_MAX)
            continue;
        oracle_refine(l, bx, by, 1, &o);
        o.cost += oracle_penalty(l, bx, by, o.dx, o.dy);
        if (o.cost < best.cost)
            best = o;
    }
    return (OracleVector){ .dx = best.dx, .dy = best.dy };
}

static void oracle_take_candidates(const OracleLevel *l, const OracleGlobal *g)
{
    OracleVector *taken = oracle_memory(l->bw * l->bh, sizeof(*taken));

    for (int k = 0; k < l->bw * l->bh; k++)
        taken[k] = oracle_take_candidate(l, g, k % l->bw, k / l->bw);
    memcpy(l->vectors, taken, l->bw * l->bh * sizeof(*taken));
    free(taken);
}

/** Runs the search hme. @param vectors receives the vectors, in whole samples, of blocks of m->block samples */
static void oracle_hme(const OracleMotion *m, const OraclePicture *cur, const OraclePicture *ref,
                       OracleVector *vectors)
{
    enum { MAX = 32 };
    const int block = oracle_max(m->block, 8);
    OraclePicture curs[MAX] = { *cur }, refs[MAX] = { *ref };
    OracleLevel l, before = { 0 };
    int nb = 1;

    while (m->levels ? nb < m->levels :
                       oracle_min(curs[nb - 1].w, curs[nb - 1].h) >= oracle_max(32, 2 * block)) {
        curs[nb] = oracle_halve(&curs[nb - 1]);
        refs[nb] = oracle_halve(&refs[nb - 1]);
        nb++;
    }
    for (int i = nb - 1; i >= 0; i--) {
        l = oracle_level(m, &curs[i], &refs[i], block, (m->range + (1 << i) - 1) >> i, NULL);
        l.vectors = oracle_memory(l.bw * l.bh, sizeof(*l.vectors));
        if (i == nb - 1)
            oracle_field((OracleSearch){ oracle_search_fs, m->cost, block, l.range },
                         l.cur, l.ref, NULL, NULL, l.vectors);
        else
            oracle_begin(&l, &before, 2, 1, i == nb - 2 && i > 0);
        oracle_passes(&l, m->sweeps);
        free(before.vectors);
        before = l;
    }
    if (nb > 2) {
        OracleGlobal g = oracle_global(&curs[2], &refs[2], m->depth, (m->range + 3) / 4);

        oracle_take_candidates(&l, &g);
        oracle_global_free(&g);
        if (m->pel == 1 && m->block >= 8)
            oracle_passes(&l, 2);
    }
    if (m->block < block) {
        l = oracle_level(m, cur, ref, m->block, m->range, vectors);
        oracle_begin(&l, &before, 1, 0, 0);
        if (m->pel == 1)
            oracle_passes(&l, m->sweeps);
    } else {
        memcpy(vectors, before.vectors, before.bw * before.bh * sizeof(*vectors));
    }
    free(before.vectors);
    for (int i = 1; i < nb; i++) {
        free((void *)curs[i].samples);
        free((void *)refs[i].samples);
    }
}

/**
 * Searches a whole picture, without the check.
 * @param last, before_last the fields found by the last search in the same direction and by the one
 *                          before it
 * @param found   receives the vectors of the search before smooth and pel; not set by hme
 * @param vectors receives the final vectors
 */
static inline void oracle_motion(const OracleMotion *m, const OraclePicture *cur,
                                 const OraclePicture *ref, const OracleVector *last,
                                 const OracleVector *before_last, OracleVector *found,
                                 OracleVector *vectors)
{
    if (m->search) {
        OracleLevel l = oracle_level(m, cur, ref, m->block, m->range, vectors);

        oracle_field((OracleSearch){ m->search, m->cost, m->block, m->range }, cur, ref,
                     last, before_last, found);
        memcpy(vectors, found, l.bw * l.bh * sizeof(*vectors));
        if (m->smooth)
            oracle_passes(&l, m->sweeps);
    } else {
        oracle_hme(m, cur, ref, vectors);
    }
    if (m->pel > 1)
        oracle_pel(m, cur, ref, vectors);
}

/* The check */

/* Returns whether the block that v of block (bx, by) points to has about the opposite vector in other. */
static int oracle_consistent(const OracleMotion *m, int w, int h, int bx, int by, OracleVector v,
                             const OracleVector *other)
{
    const int bw = oracle_blocks(w, m->block), bh = oracle_blocks(h, m->block);
    const int x0 = bx * m->block, y0 = by * m->block;
    const int x = x0 + oracle_min(m->block, w - x0) / 2 + oracle_floor(v.dx + m->pel / 2, m->pel);
    const int y = y0 + oracle_min(m->block, h - y0) / 2 + oracle_floor(v.dy + m->pel / 2, m->pel);
    const OracleVector partner = other[oracle_clip(oracle_floor(y, m->block), 0, bh - 1) * bw +
                                       oracle_clip(oracle_floor(x, m->block), 0, bw - 1)];

    return oracle_abs(v.dx + partner.dx) <= m->pel && oracle_abs(v.dy + partner.dy) <= m->pel;
}

static int oracle_median_of(int *v, int nb)
{
    for (int i = 0; i < nb; i++) {
        for (int j = i + 1; j < nb; j++) {
            if (v[j] < v[i]) {
                const int swap = v[i];

                v[i] = v[j];
                v[j] = swap;
            }
        }
    }
    return nb % 2 ? v[nb / 2] : oracle_floor(v[nb / 2 - 1] + v[nb / 2], 2);
}

/* Replaces the vectors marked as inconsistent by medians of their neighbours, ring by ring from outside. */
static void oracle_replace(int bw, int bh, OracleVector *vectors)
{
    /* ring in which a vector was replaced; 0: consistent, -1: not replaced yet */
    int *ring = oracle_memory(bw * bh, sizeof(*ring));
    int nb_found = 1;

    for (int k = 0; k < bw * bh; k++)
        ring[k] = vectors[k].inconsistent ? -1 : 0;
    for (int now = 1; nb_found; now++) {
        nb_found = 0;
        for (int k = 0; k < bw * bh; k++) {
            int dx[8], dy[8], nb = 0, n;

            for (int i = 0; i < 8 && ring[k] < 0; i++) {
                if (!oracle_neighbour(bw, bh, k % bw, k / bw, i, &n) || ring[n] < 0 ||
                    ring[n] >= now)
                    continue;
                dx[nb] = vectors[n].dx;
                dy[nb] = vectors[n].dy;
                nb++;
            }
            if (!nb)
                continue;
            vectors[k].dx = oracle_median_of(dx, nb);
            vectors[k].dy = oracle_median_of(dy, nb);
            ring[k]       = now;
            nb_found++;
        }
    }
    free(ring);
}

/** Applies the check to the fields of two pictures that are each other's reference. */
static inline void oracle_check(const OracleMotion *m, int w, int h, OracleVector *a, OracleVector *b)
{
    const int bw = oracle_blocks(w, m->block), bh = oracle_blocks(h, m->block);

    for (int by = 0; by < bh; by++) {
        for (int bx = 0; bx < bw; bx++) {
            const int k = by * bw + bx;

            a[k].inconsistent = !oracle_consistent(m, w, h, bx, by, a[k], b);
            b[k].inconsistent = !oracle_consistent(m, w, h, bx, by, b[k], a);
        }
    }
    oracle_replace(bw, bh, a);
    oracle_replace(bw, bh, b);
}

/** Sets the costs of the final vectors to D, also of vectors that point outside of the picture. */
static inline void oracle_set_costs(const OracleMotion *m, const OraclePicture *cur,
                                    const OraclePicture *ref, OracleVector *vectors)
{
    const int bw = oracle_blocks(cur->w, m->block), bh = oracle_blocks(cur->h, m->block);
    const int quarters = 4 / m->pel;
    uint16_t *match = oracle_memory(m->block * m->block, sizeof(*match));

    for (int k = 0; k < bw * bh; k++) {
        OracleVector *v = &vectors[k];
        const int x0 = k % bw * m->block, w = oracle_min(m->block, cur->w - x0);
        const int y0 = k / bw * m->block, h = oracle_min(m->block, cur->h - y0);

        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                match[y * w + x] = oracle_quarter(ref, (1 << m->depth) - 1,
                                                  4 * (x0 + x) + v->dx * quarters,
                                                  4 * (y0 + y) + v->dy * quarters);
        v->cost = m->cost((OracleSamples){ cur->samples + y0 * cur->w + x0, cur->w, 1 },
                          (OracleSamples){ match, w, 1 }, w, h, INT64_MAX);
    }
    free(match);
}

/** Returns the cost of a picture whose blocks are each predicted by their mean. */
static inline uint64_t oracle_intra(OracleCost cost, const OraclePicture *p, int block)
{
    uint64_t intra = 0;

    for (int y0 = 0; y0 < p->h; y0 += block) {
        for (int x0 = 0; x0 < p->w; x0 += block) {
            const int w = oracle_min(block, p->w - x0), h = oracle_min(block, p->h - y0);
            const uint16_t *first = p->samples + y0 * p->w + x0;
            uint16_t mean;
            int64_t sum = 0;

            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++)
                    sum += first[y * p->w + x];
            mean   = (2 * sum + w * h) / (2 * w * h);
            intra += cost((OracleSamples){ first, p->w, 1 }, (OracleSamples){ &mean, 0, 0 },
                          w, h, INT64_MAX);
        }
    }
    return intra;
}

#endif /* GPUME_ORACLE_MOTION_H */
