/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full and diamond search of the serial program of A. Monteiro's thesis (UFRGS, 2012): plain C,
 * block by block. The kernels' speed-up is measured against it, and their results must be equal to its results.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "libavutil/time.h"

#include "gpume_bench_seed.h"

/** Larger than the cost of any candidate: 16 differences of 255 are less. */
#define NOT_ADMISSIBLE INT32_MAX

typedef struct Search {
    const GpumeSeedArgs *args;
    int ds;
    const uint8_t *cur, *ref;
} Search;

static int sad_of(const Search *s, int x0, int y0, int dx, int dy)
{
    const GpumeSeedArgs *a = s->args;
    const uint8_t *cur = s->cur + (ptrdiff_t)y0 * a->width + x0;
    const uint8_t *ref = s->ref + (ptrdiff_t)(y0 + dy) * a->width + x0 + dx;
    int sad = 0;

    if (x0 + dx < 0 || x0 + dx > a->width  - GPUME_SEED_BLOCK ||
        y0 + dy < 0 || y0 + dy > a->height - GPUME_SEED_BLOCK)
        return NOT_ADMISSIBLE;
    for (int y = 0; y < GPUME_SEED_BLOCK; y++)
        for (int x = 0; x < GPUME_SEED_BLOCK; x++)
            sad += abs(cur[y * a->width + x] - ref[y * a->width + x]);
    return sad;
}

static GpumeSeedVector full_search(const Search *s, int x0, int y0)
{
    const int first = -s->args->range, end = first + s->args->side;
    GpumeSeedVector best = { first, first, NOT_ADMISSIBLE };

    for (int y = first; y < end; y++)
        for (int x = first; x < end; x++) {
            const int sad = sad_of(s, x0, y0, x, y);

            if (sad < best.sad)
                best = (GpumeSeedVector) { x, y, sad };
        }
    return best;
}

/* Tries points around the best point so far. */
static GpumeSeedVector try_points(const Search *s, int x0, int y0, GpumeSeedVector best,
                                  const int8_t (*points)[2], int nb_points)
{
    const GpumeSeedVector centre = best;
    const int range = s->args->range;

    for (int i = 0; i < nb_points; i++) {
        const int x = centre.x + points[i][0], y = centre.y + points[i][1];
        int sad;

        if (abs(x) > range || abs(y) > range)
            continue;
        sad = sad_of(s, x0, y0, x, y);
        if (sad < best.sad)
            best = (GpumeSeedVector) { x, y, sad };
    }
    return best;
}

static GpumeSeedVector diamond_search(const Search *s, int x0, int y0)
{
    static const int8_t large[][2] = {
        { -2, 0 }, { -1, -1 }, { 0, -2 }, { 1, -1 }, { 2, 0 }, { 1, 1 }, { 0, 2 }, { -1, 1 },
    };
    static const int8_t small[][2] = { { -1, 0 }, { 0, -1 }, { 1, 0 }, { 0, 1 } };
    GpumeSeedVector best = { 0, 0, sad_of(s, x0, y0, 0, 0) };

    for (int step = 0; step < GPUME_SEED_STEPS; step++) {
        const GpumeSeedVector centre = best;

        best = try_points(s, x0, y0, best, large, 8);
        if (best.x == centre.x && best.y == centre.y)
            break;
    }
    return try_points(s, x0, y0, best, small, 4);
}

int64_t bench_seed_serial(const GpumeSeedArgs *args, int ds, const uint8_t *cur, const uint8_t *ref,
                          int every, GpumeSeedVector *vectors)
{
    const int64_t began = av_gettime_relative();
    const Search s = { args, ds, cur, ref };

    for (int row = 0; row < args->bh; row += every)
        for (int i = 0; i < args->bw; i++) {
            const int x0 = i * GPUME_SEED_BLOCK, y0 = row * GPUME_SEED_BLOCK;

            vectors[(size_t)row * args->bw + i] = ds ? diamond_search(&s, x0, y0) : full_search(&s, x0, y0);
        }
    return av_gettime_relative() - began;
}
