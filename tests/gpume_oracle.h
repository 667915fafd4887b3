/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Reference implementation of the searches, written from doc/gpume-definition.md, "Searches", as
 * plainly as possible. The tests compare every backend with it. It uses nothing of the filter or of
 * FFmpeg, and is not optimized.
 *
 * To add a search, write oracle_search_NAME() from its definition and list it in oracle_searches[].
 * To add a cost, write oracle_NAME() and list it in oracle_costs[].
 */

#ifndef GPUME_ORACLE_H
#define GPUME_ORACLE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * A program that counts candidates may define this macro. It is called for every vector that is
 * tried for block (bx, by) of rows of bw blocks, in units of 1/pel sample.
 */
#ifndef ORACLE_NOTE
#define ORACLE_NOTE(bx, by, bw, pel, dx, dy)
#endif

/** Samples without padding bits, row after row. */
typedef struct OraclePicture {
    int w, h;
    const uint16_t *samples;
    const uint16_t *halves[3];  ///< values between samples, see oracle_enlarge(), or NULL
} OraclePicture;

typedef struct OracleVector {
    int dx, dy;
    uint32_t cost;
    int inconsistent;       ///< nonzero: the check found the vector inconsistent, see gpume_oracle_motion.h
} OracleVector;

/** Samples; stride is the distance of rows, step that of samples in a row. */
typedef struct OracleSamples {
    const uint16_t *first;
    int stride, step;
} OracleSamples;

/** Returns the cost of w x h samples. If it reaches limit, the cost of the first rows is sufficient. */
typedef int64_t (*OracleCost)(OracleSamples cur, OracleSamples ref, int w, int h, int64_t limit);

typedef struct OracleBlock {
    const OraclePicture *cur, *ref;
    OracleCost cost;
    int x0, y0;             ///< first sample
    int w, h;               ///< size inside the picture
    int range;
    int bx, by, bw, bh;     ///< position of the block, and number of blocks
    /** Vectors of the blocks before this block, in raster order. */
    const OracleVector *found;
    /** Results of the two previous searches in the same direction; NULL if there are none. */
    const OracleVector *last, *before_last;
} OracleBlock;

/* What all oracles use */

static inline int oracle_min(int a, int b)
{
    return a < b ? a : b;
}

static inline int oracle_max(int a, int b)
{
    return a > b ? a : b;
}

static inline int oracle_clip(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* Compares numbers for qsort(). */
static inline int oracle_ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static inline void *oracle_memory(size_t nb, size_t size)
{
    void *p = calloc(nb, size);

    if (!p)
        abort();
    return p;
}

/* Returns the sample at (x, y); outside of the picture that is the nearest sample at its edge. */
static inline int oracle_at(const uint16_t *p, int w, int h, int x, int y)
{
    return p[oracle_clip(y, 0, h - 1) * w + oracle_clip(x, 0, w - 1)];
}

/* Searches */

static int oracle_difference(OracleSamples cur, OracleSamples ref, int x, int y)
{
    return cur.first[y * cur.stride + x * cur.step] - ref.first[y * ref.stride + x * ref.step];
}

static int64_t oracle_sad(OracleSamples cur, OracleSamples ref, int w, int h, int64_t limit)
{
    int64_t cost = 0;

    for (int y = 0; y < h && cost < limit; y++) {
        int sum = 0;

        for (int x = 0; x < w; x++)
            sum += abs(oracle_difference(cur, ref, x, y));
        cost += sum;
    }
    return cost;
}

/* Multiplies n values at a distance of step by a Hadamard matrix, whose rows may be in any order. */
static void oracle_hadamard(int *v, int step, int n)
{
    for (int half = 1; half < n; half *= 2)
        for (int i = 0; i < n; i++)
            if (!(i & half)) {
                const int a = v[step * i], b = v[step * (i + half)];

                v[step * i]          = a + b;
                v[step * (i + half)] = a - b;
            }
}

/* Returns the cost of a tile of n x n samples at (x0, y0) in a block of w x h. */
static int64_t oracle_tile(OracleSamples cur, OracleSamples ref, int w, int h, int x0, int y0, int n)
{
    int tile[64] = { 0 };
    int64_t sum = 0;

    for (int y = 0; y < n && y0 + y < h; y++) {
        for (int x = 0; x < n && x0 + x < w; x++)
            tile[n * y + x] = oracle_difference(cur, ref, x0 + x, y0 + y);
        oracle_hadamard(tile + n * y, 1, n);
    }
    for (int x = 0; x < n; x++)
        oracle_hadamard(tile + x, n, n);
    for (int i = 0; i < n * n; i++)
        sum += abs(tile[i]);
    return n == 8 ? (sum + 2) / 4 : (sum + 1) / 2;
}

static int64_t oracle_satd(OracleSamples cur, OracleSamples ref, int w, int h, int64_t limit)
{
    int64_t cost = 0;

    for (int y = 0; y < h && cost < limit; y += 4) {
        for (int x = 0; x < w; x += 4) {
            /* samples in whole tiles of 8x8 are counted at the tile's first sample */
            if (x >= w / 8 * 8 || y >= h / 8 * 8)
                cost += oracle_tile(cur, ref, w, h, x, y, 4);
            else if (x % 8 == 0 && y % 8 == 0)
                cost += oracle_tile(cur, ref, w, h, x, y, 8);
        }
    }
    return cost;
}

/** Indexed by the name of the option's value. */
static const struct {
    const char *name;
    OracleCost cost;
} oracle_costs[] = {
    { "sad",  oracle_sad },
    { "satd", oracle_satd },
};

static uint32_t oracle_cost(const OracleBlock *b, int dx, int dy, uint32_t limit)
{
    const uint16_t *cur = b->cur->samples + b->y0 * b->cur->w + b->x0;
    const uint16_t *ref = b->ref->samples + (b->y0 + dy) * b->ref->w + b->x0 + dx;

    ORACLE_NOTE(b->bx, b->by, b->bw, 1, dx, dy);
    return b->cost((OracleSamples){ cur, b->cur->w, 1 }, (OracleSamples){ ref, b->ref->w, 1 },
                   b->w, b->h, limit);
}

static int oracle_admissible(const OracleBlock *b, int dx, int dy)
{
    if (dx < -b->range || dx > b->range || dy < -b->range || dy > b->range)
        return 0;
    return b->x0 + dx >= 0 && b->x0 + dx + b->w <= b->ref->w &&
           b->y0 + dy >= 0 && b->y0 + dy + b->h <= b->ref->h;
}

static void oracle_try(const OracleBlock *b, int dx, int dy, OracleVector *best)
{
    uint32_t cost;

    if (!oracle_admissible(b, dx, dy))
        return;
    cost = oracle_cost(b, dx, dy, best->cost);
    if (cost < best->cost) {
        best->dx   = dx;
        best->dy   = dy;
        best->cost = cost;
    }
}

/* Tries (0,0), then all vectors in raster order. If costs are equal, the first vector wins. */
static OracleVector oracle_search_fs(const OracleBlock *b)
{
    OracleVector best = { 0, 0, oracle_cost(b, 0, 0, UINT32_MAX) };
    /* vectors beyond this have no candidate inside the picture */
    const int reach_x = oracle_min(b->range, b->ref->w);
    const int reach_y = oracle_min(b->range, b->ref->h);

    for (int dy = -reach_y; dy <= reach_y; dy++)
        for (int dx = -reach_x; dx <= reach_x; dx++)
            oracle_try(b, dx, dy, &best);
    return best;
}

/* Tries points relative to c, each multiplied by step. */
static void oracle_try_points(const OracleBlock *b, OracleVector c, const int (*points)[2],
                              int nb, int step, OracleVector *best)
{
    for (int i = 0; i < nb; i++)
        oracle_try(b, c.dx + step * points[i][0], c.dy + step * points[i][1], best);
}

static int oracle_same(OracleVector a, OracleVector b)
{
    return a.dx == b.dx && a.dy == b.dy;
}

/* The eight neighbours of a sample, in the order of tss, ntss and fss. */
static const int oracle_square[8][2] = {
    { 0, -1 }, { 0, 1 }, { -1, 0 }, { 1, 0 }, { -1, -1 }, { -1, 1 }, { 1, -1 }, { 1, 1 },
};

static const int oracle_small_diamond[4][2] = {
    { -1, 0 }, { 0, -1 }, { 1, 0 }, { 0, 1 },
};

static const int oracle_hexagon[6][2] = {
    { -2, 0 }, { -1, -2 }, { -1, 2 }, { 1, -2 }, { 1, 2 }, { 2, 0 },
};

static OracleVector oracle_search_tss(const OracleBlock *b)
{
    OracleVector best = { 0, 0, oracle_cost(b, 0, 0, UINT32_MAX) };

    if (best.cost == 0)
        return best;
    for (int step = (b->range + 1) / 2; step > 0; step /= 2)
        oracle_try_points(b, best, oracle_square, 8, step, &best);
    return best;
}

/* Halves the step if the centre is the best point, else continues around the best point. */
static OracleVector oracle_halve_where_still(const OracleBlock *b, const int (*points)[2],
                                             int nb, int step)
{
    OracleVector best = { 0, 0, oracle_cost(b, 0, 0, UINT32_MAX) };

    while (best.cost > 0 && step > 0) {
        const OracleVector c = best;

        oracle_try_points(b, c, points, nb, step, &best);
        if (oracle_same(best, c))
            step /= 2;
    }
    return best;
}

static OracleVector oracle_search_tdls(const OracleBlock *b)
{
    return oracle_halve_where_still(b, oracle_small_diamond, 4, (b->range + 1) / 2);
}

static OracleVector oracle_search_fss(const OracleBlock *b)
{
    return oracle_halve_where_still(b, oracle_square, 8, 2);
}

static OracleVector oracle_search_ntss(const OracleBlock *b)
{
    const OracleVector zero = { 0, 0, oracle_cost(b, 0, 0, UINT32_MAX) };
    const int step = (b->range + 1) / 2;
    OracleVector best = zero;

    if (best.cost == 0)
        return best;
    oracle_try_points(b, zero, oracle_square, 8, step, &best);
    oracle_try_points(b, zero, oracle_square, 8, 1,    &best);
    if (oracle_same(best, zero))
        return best;
    if (best.dx * best.dx <= 1 && best.dy * best.dy <= 1) {
        oracle_try_points(b, best, oracle_square, 8, 1, &best);
        return best;
    }
    for (int s = step / 2; s > 0; s /= 2)
        oracle_try_points(b, best, oracle_square, 8, s, &best);
    return best;
}

static OracleVector oracle_search_ds(const OracleBlock *b)
{
    OracleVector best = { 0, 0, oracle_cost(b, 0, 0, UINT32_MAX) };
    OracleVector c;

    if (best.cost == 0)
        return best;

    do {
        c = best;
        oracle_try(b, c.dx - 2, c.dy,     &best);
        oracle_try(b, c.dx - 1, c.dy - 1, &best);
        oracle_try(b, c.dx,     c.dy - 2, &best);
        oracle_try(b, c.dx + 1, c.dy - 1, &best);
        oracle_try(b, c.dx + 2, c.dy,     &best);
        oracle_try(b, c.dx + 1, c.dy + 1, &best);
        oracle_try(b, c.dx,     c.dy + 2, &best);
        oracle_try(b, c.dx - 1, c.dy + 1, &best);
    } while (!oracle_same(best, c));

    oracle_try_points(b, c, oracle_small_diamond, 4, 1, &best);
    return best;
}

/* Searches with hexagons, starting from a vector. */
static void oracle_hexagons(const OracleBlock *b, OracleVector *best)
{
    OracleVector c;

    do {
        c = *best;
        oracle_try_points(b, c, oracle_hexagon, 6, 1, best);
    } while (!oracle_same(*best, c));
    oracle_try_points(b, c, oracle_small_diamond, 4, 1, best);
}

static OracleVector oracle_search_hexbs(const OracleBlock *b)
{
    OracleVector best = { 0, 0, oracle_cost(b, 0, 0, UINT32_MAX) };

    if (best.cost > 0)
        oracle_hexagons(b, &best);
    return best;
}

static int oracle_median(int a, int b, int c)
{
    if (a <= b && b <= c || c <= b && b <= a)
        return b;
    if (b <= a && a <= c || c <= a && a <= b)
        return a;
    return c;
}

/**
 * Tries the first candidates of epzs and umh: the median of the vectors to the left, above, and
 * above to the right, then (0,0), then these vectors. If there are two of them, the median includes
 * (0,0); if there is one, it is the median.
 * @param left_corner for a block in the last column, the vector above to the left replaces that
 *                    above to the right
 */
static OracleVector oracle_neighbours(const OracleBlock *b, int left_corner)
{
    OracleVector best = { 0, 0, UINT32_MAX };
    const OracleVector *row   = b->found + b->by * b->bw;
    const OracleVector *above = row - b->bw;
    OracleVector v[3] = { { 0 } };
    int nb = 0;

    if (b->bx > 0)
        v[nb++] = row[b->bx - 1];
    if (b->by > 0) {
        v[nb++] = above[b->bx];
        if (b->bx < b->bw - 1)
            v[nb++] = above[b->bx + 1];
        else if (left_corner && b->bx > 0)
            v[nb++] = above[b->bx - 1];
    }

    if (nb == 1)
        oracle_try(b, v[0].dx, v[0].dy, &best);
    else
        oracle_try(b, oracle_median(v[0].dx, v[1].dx, v[2].dx),
                      oracle_median(v[0].dy, v[1].dy, v[2].dy), &best);
    oracle_try(b, 0, 0, &best);
    for (int i = 0; i < nb; i++)
        oracle_try(b, v[i].dx, v[i].dy, &best);
    return best;
}

/* Returns the result of an earlier search for a block, or (0,0) if there was none. */
static OracleVector oracle_earlier(const OracleBlock *b, const OracleVector *field,
                                   int bx, int by)
{
    return field ? field[by * b->bw + bx] : (OracleVector){ 0, 0, 0 };
}

static OracleVector oracle_search_epzs(const OracleBlock *b)
{
    OracleVector best = oracle_neighbours(b, 0), v, c;
    const OracleVector last   = oracle_earlier(b, b->last, b->bx, b->by);
    const OracleVector before = oracle_earlier(b, b->before_last, b->bx, b->by);

    oracle_try(b, last.dx, last.dy, &best);
    oracle_try(b, last.dx + last.dx - before.dx, last.dy + last.dy - before.dy, &best);
    if (b->bx > 0) {
        v = oracle_earlier(b, b->last, b->bx - 1, b->by);
        oracle_try(b, v.dx, v.dy, &best);
    }
    if (b->by > 0) {
        v = oracle_earlier(b, b->last, b->bx, b->by - 1);
        oracle_try(b, v.dx, v.dy, &best);
    }
    if (b->bx < b->bw - 1) {
        v = oracle_earlier(b, b->last, b->bx + 1, b->by);
        oracle_try(b, v.dx, v.dy, &best);
    }
    if (b->by < b->bh - 1) {
        v = oracle_earlier(b, b->last, b->bx, b->by + 1);
        oracle_try(b, v.dx, v.dy, &best);
    }

    do {
        c = best;
        oracle_try_points(b, c, oracle_small_diamond, 4, 1, &best);
    } while (!oracle_same(best, c));
    return best;
}

static OracleVector oracle_search_umh(const OracleBlock *b)
{
    static const int hexagon[15][2] = {
        { -4, -1 }, { -4, 0 }, { -4, 1 }, { -4, 2 },
        {  4, -2 }, {  4, -1 }, { 4, 0 }, {  4, 1 }, { 4, 2 },
        { -2,  3 }, {  0,  4 }, { 2, 3 }, { -2, -3 }, { 0, -4 }, { 2, -3 },
    };
    OracleVector best = oracle_neighbours(b, 1), c = best;

    /* a cross, half as high as it is wide */
    for (int d = 1; d <= b->range; d += 2) {
        oracle_try(b, c.dx - d, c.dy, &best);
        oracle_try(b, c.dx + d, c.dy, &best);
        if (d <= b->range / 2) {
            oracle_try(b, c.dx, c.dy - d, &best);
            oracle_try(b, c.dx, c.dy + d, &best);
        }
    }

    /* a square; its left side moves with the best vector */
    c = best;
    for (int dy = c.dy - 2; dy <= c.dy + 2; dy++)
        for (int dx = best.dx - 2; dx <= c.dx + 2; dx++)
            oracle_try(b, dx, dy, &best);

    c = best;
    for (int size = 1; size <= b->range / 4; size++)
        oracle_try_points(b, c, hexagon, 15, size, &best);

    oracle_hexagons(b, &best);
    return best;
}

/** By the name of the option's value; hme is in gpume_oracle_motion.h. */
static const struct {
    const char *name;
    OracleVector (*search)(const OracleBlock *b);
} oracle_searches[] = {
    { "fs",    oracle_search_fs },
    { "tss",   oracle_search_tss },
    { "tdls",  oracle_search_tdls },
    { "ntss",  oracle_search_ntss },
    { "fss",   oracle_search_fss },
    { "ds",    oracle_search_ds },
    { "hexbs", oracle_search_hexbs },
    { "epzs",  oracle_search_epzs },
    { "umh",   oracle_search_umh },
};

/** Returns the number of blocks of side block in a row or column of n samples. */
static int oracle_blocks(int n, int block)
{
    int nb = 0;

    for (int start = 0; start < n; start += block)
        nb++;
    return nb;
}

/** A search and its blocks. */
typedef struct OracleSearch {
    OracleVector (*search)(const OracleBlock *b);
    OracleCost cost;
    int block, range;
} OracleSearch;

/**
 * Searches a whole picture.
 * @param last, before_last results of the two previous searches in the same direction, or NULL
 * @param vectors           output, one for each block in raster order
 */
static inline void oracle_field(OracleSearch s, const OraclePicture *cur, const OraclePicture *ref,
                                const OracleVector *last, const OracleVector *before_last,
                                OracleVector *vectors)
{
    const int block = s.block;
    const int bw = oracle_blocks(cur->w, block);
    const int bh = oracle_blocks(cur->h, block);

    for (int by = 0; by < bh; by++) {
        for (int bx = 0; bx < bw; bx++) {
            OracleBlock b = {
                .cur = cur, .ref = ref, .cost = s.cost,
                .x0 = bx * block, .y0 = by * block,
                .w = oracle_min(block, cur->w - bx * block),
                .h = oracle_min(block, cur->h - by * block),
                .range = s.range,
                .bx = bx, .by = by, .bw = bw, .bh = bh,
                .found = vectors, .last = last, .before_last = before_last,
            };

            vectors[by * bw + bx] = s.search(&b);
        }
    }
}

#endif /* GPUME_ORACLE_H */
