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

/**
 * @file
 * The searches once more, written from their definition as plainly as can be:
 * what the tests hold every backend against. Nothing here uses anything of the
 * filter or of FFmpeg, and nothing is done for speed.
 *
 * To add a search: write oracle_search_NAME() from its definition, and list it
 * in oracle_searches[].
 */

#ifndef GPUME_ORACLE_H
#define GPUME_ORACLE_H

#include <stdint.h>
#include <string.h>

/** Samples, right-justified, a row after the other. */
typedef struct OraclePicture {
    int w, h;
    const uint16_t *samples;
} OraclePicture;

typedef struct OracleBlock {
    const OraclePicture *cur, *ref;
    int x0, y0;             ///< first sample
    int w, h;               ///< true size
    int range;
} OracleBlock;

typedef struct OracleVector {
    int dx, dy;
    uint32_t cost;
} OracleVector;

static int oracle_min(int a, int b)
{
    return a < b ? a : b;
}

static uint32_t oracle_cost(const OracleBlock *b, int dx, int dy)
{
    uint32_t cost = 0;

    for (int y = b->y0; y < b->y0 + b->h; y++) {
        for (int x = b->x0; x < b->x0 + b->w; x++) {
            int cur = b->cur->samples[y * b->cur->w + x];
            int ref = b->ref->samples[(y + dy) * b->ref->w + x + dx];

            cost += cur > ref ? cur - ref : ref - cur;
        }
    }
    return cost;
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
    cost = oracle_cost(b, dx, dy);
    if (cost < best->cost) {
        best->dx   = dx;
        best->dy   = dy;
        best->cost = cost;
    }
}

/* Of equal costs the first in raster order, (0,0) before all. */
static OracleVector oracle_search_fs(const OracleBlock *b)
{
    OracleVector best = { 0, 0, oracle_cost(b, 0, 0) };
    /* nothing further away is inside the picture */
    const int reach_x = oracle_min(b->range, b->ref->w);
    const int reach_y = oracle_min(b->range, b->ref->h);

    for (int dy = -reach_y; dy <= reach_y; dy++)
        for (int dx = -reach_x; dx <= reach_x; dx++)
            oracle_try(b, dx, dy, &best);
    return best;
}

static OracleVector oracle_search_ds(const OracleBlock *b)
{
    OracleVector best = { 0, 0, oracle_cost(b, 0, 0) };
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
    } while (best.dx != c.dx || best.dy != c.dy);

    c = best;
    oracle_try(b, c.dx - 1, c.dy,     &best);
    oracle_try(b, c.dx,     c.dy - 1, &best);
    oracle_try(b, c.dx + 1, c.dy,     &best);
    oracle_try(b, c.dx,     c.dy + 1, &best);
    return best;
}

/** By the name of the option's value. */
static const struct {
    const char *name;
    OracleVector (*search)(const OracleBlock *b);
} oracle_searches[] = {
    { "fs", oracle_search_fs },
    { "ds", oracle_search_ds },
};

/** Blocks of side block in a row or column of n samples. */
static int oracle_blocks(int n, int block)
{
    int nb = 0;

    for (int start = 0; start < n; start += block)
        nb++;
    return nb;
}

/**
 * Search a whole picture.
 * @param vectors gets one for each block, in raster order
 */
static void oracle_field(OracleVector (*search)(const OracleBlock *b),
                         const OraclePicture *cur, const OraclePicture *ref,
                         int block, int range, OracleVector *vectors)
{
    for (int y0 = 0; y0 < cur->h; y0 += block) {
        for (int x0 = 0; x0 < cur->w; x0 += block) {
            OracleBlock b = {
                .cur = cur, .ref = ref,
                .x0 = x0, .y0 = y0,
                .w = oracle_min(block, cur->w - x0),
                .h = oracle_min(block, cur->h - y0),
                .range = range,
            };

            *vectors++ = search(&b);
        }
    }
}

#endif /* GPUME_ORACLE_H */
