/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Tests the functions of mvfps that have assembly code (gpume.c).
 */

#include <string.h>

#include "checkasm.h"
#include "vf_gpume.h"

#include "libavfilter/gpume/mvfps/dsp.h"
#include "libavutil/common.h"
#include "libavutil/cpu.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem_internal.h"

/** Samples of a picture, including those around a tile. */
#define MVFPS_LINE 32

typedef struct MvfpsBuffers {
    uint8_t pictures[2][MVFPS_LINE * 24];
    uint16_t tiles[2][MVFPS_TILE_SAMPLES];
    uint16_t matches[2][2][MVFPS_TILE_SAMPLES];
    DECLARE_ALIGNED(32, uint16_t, windows)[MVFPS_TILE_CELLS][MVFPS_TILE_SAMPLES];
    uint32_t sum[2][MVFPS_TILE_SAMPLES];
    uint32_t weights[2][MVFPS_TILE_SAMPLES];
    uint16_t dst[2][MVFPS_TILE_SAMPLES + 16];
} MvfpsBuffers;

static void draw_mvfps(MvfpsBuffers *b, int depth)
{
    const unsigned max = (1 << depth) - 1;

    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < sizeof(b->pictures[k]); i++)
            b->pictures[k][i] = rnd() & 3 ? rnd() : rnd() & 1 ? 255 : 0;
        for (int i = 0; i < MVFPS_TILE_SAMPLES; i++)
            b->tiles[k][i] = rnd() & 3 ? rnd() & max : rnd() & 1 ? max : 0;
    }
    /* the sum of the weights of the cells is at most 1024 */
    for (int k = 0; k < MVFPS_TILE_CELLS; k++)
        for (int i = 0; i < MVFPS_TILE_SAMPLES; i++)
            b->windows[k][i] = rnd() % 65;
    memset(b->sum, 0, sizeof(b->sum));
    memset(b->weights, 0, sizeof(b->weights));
    for (int i = 0; i < sizeof(b->dst[0]) / 2; i++)
        b->dst[0][i] = b->dst[1][i] = rnd();
}

/*
 * Draws positions in two pictures, in units of 1/parts sample. Depending on i, the second position
 * is arbitrary, has a whole component where the first has one, or equals the first. i covers all
 * positions four times.
 */
static void draw_places(int *at, int i, int parts)
{
    const int nb = parts * parts;

    at[0] = i % nb;
    at[1] = rnd() % nb;
    if (i / nb & 1 && at[0] < parts)
        at[1] %= parts;
    if (i / nb & 1 && !(at[0] % parts))
        at[1] -= at[1] % parts;
    if (i / nb & 2)
        at[1] = at[0];
}

static void check_mvfps_sad(const MvfpsDsp *dsp, MvfpsBuffers *b)
{
    declare_func(int, const uint8_t *a, const uint8_t *b, ptrdiff_t stride, int at_a, int at_b);

    if (!check_func(dsp->sad, "mvfps_sad_8"))
        return;
    for (int i = 0; i < 4 * 64; i++) {
        int at[2], ref, new;

        draw_places(at, i, 8);
        draw_mvfps(b, 8);
        ref = call_ref(b->pictures[0], b->pictures[1], MVFPS_LINE, at[0], at[1]);
        new = call_new(b->pictures[0], b->pictures[1], MVFPS_LINE, at[0], at[1]);
        if (ref != new)
            fail();
    }
    bench_new(b->pictures[0], b->pictures[1], MVFPS_LINE, 43, 17);
}

static void check_mvfps_match(const MvfpsDsp *dsp, MvfpsBuffers *b)
{
    const int first = 3 * MVFPS_LINE + 8;
    int at[2] = { 83, 38 };
    declare_func(int, uint16_t (*dst)[MVFPS_TILE_SAMPLES], const uint8_t *a, const uint8_t *b, ptrdiff_t stride,
                 const int *at, int w, int h, int max);

    if (!check_func(dsp->match, "mvfps_match_8"))
        return;
    for (int i = 0; i < 4 * 256; i++) {
        const int w = 2 << rnd() % 3, h = 2 << rnd() % 3;
        int ref, new;

        draw_places(at, i, 16);
        draw_mvfps(b, 8);
        memset(b->matches, 0, sizeof(b->matches));
        ref = call_ref(b->matches[0], b->pictures[0] + first, b->pictures[1] + first, MVFPS_LINE, at, w, h, 255);
        new = call_new(b->matches[1], b->pictures[0] + first, b->pictures[1] + first, MVFPS_LINE, at, w, h, 255);
        if (w == 8 && h == 8 && ref != new)
            fail();
        for (int n = 0; n < 8 * h; n++)
            if (n % 8 < w && (b->matches[0][0][n] != b->matches[1][0][n] || b->matches[0][1][n] != b->matches[1][1][n]))
                fail();
    }
    bench_new(b->matches[1], b->pictures[0] + first, b->pictures[1] + first, MVFPS_LINE, at, 8, 8, 255);
}

static void check_mvfps_mean(const MvfpsDsp *dsp, MvfpsBuffers *b)
{
    declare_func(void, uint16_t *dst, const uint16_t *a, const uint16_t *b, int share, int nb);

    if (!check_func(dsp->mean, "mvfps_mean_8"))
        return;
    for (int share = 0; share <= 64; share++) {
        const int nb = 16 << rnd() % 3;

        draw_mvfps(b, 8);
        call_ref(b->dst[0], b->tiles[0], b->tiles[1], share, nb);
        call_new(b->dst[1], b->tiles[0], b->tiles[1], share, nb);
        if (memcmp(b->dst[0], b->dst[1], sizeof(b->dst[0])))
            fail();
    }
    bench_new(b->dst[1], b->tiles[0], b->tiles[1], 20, 64);
}

static void check_mvfps_add(const MvfpsDsp *dsp, const MvfpsDsp *plain, MvfpsBuffers *b)
{
    declare_func(void, uint32_t *sum, uint32_t *weights, const uint16_t (*matches)[MVFPS_TILE_SAMPLES],
                 const uint16_t (*windows)[MVFPS_TILE_SAMPLES], unsigned cells, int share, int difference, int nb,
                 int first, int depth);

    if (!check_func(dsp->add, "mvfps_add_8"))
        return;
    for (int i = 0; i < 64; i++) {
        const int nb  = 16 << rnd() % 3;
        unsigned left = 0xffff;

        draw_mvfps(b, 8);
        memset(b->sum, 0xa5, sizeof(b->sum));
        memset(b->weights, 0x5a, sizeof(b->weights));
        for (int first = 1; left; first = 0) {
            const unsigned some = left & rnd(), cells = some ? some : left;
            const int share = rnd() % 65;
            const int difference = i ? (i & 3 ? rnd() % 1024 : rnd() % (64 * 255 + 1)) : 0;

            left &= ~cells;
            for (int x = 0; x < MVFPS_TILE_SAMPLES; x++)
                for (int k = 0; k < 2; k++)
                    b->matches[0][k][x] = i ? 255 - (rnd() & (i & 4 ? 255 : 15)) : 255;
            call_ref(b->sum[0], b->weights[0], b->matches[0], b->windows, cells, share, difference, nb, first, 8);
            call_new(b->sum[1], b->weights[1], b->matches[0], b->windows, cells, share, difference, nb, first, 8);
        }
        plain->divide(b->dst[0], b->sum[0], b->weights[0], nb, 8);
        dsp->divide(b->dst[1], b->sum[1], b->weights[1], nb, 8);
        for (int x = 0; x < MVFPS_TILE_SAMPLES; x++)
            if (b->weights[0][x] != b->weights[1][x] || b->sum[0][x] != b->sum[1][x] ||
                x < nb && b->weights[0][x] && b->dst[0][x] != b->dst[1][x])
                fail();
    }
    bench_new(b->sum[1], b->weights[1], b->matches[0], b->windows, 0x1248, 32, 100, 64, 0, 8);
}

/* There is no C version. */
static void check_mvfps_store(const MvfpsDsp *dsp, MvfpsBuffers *b)
{
    declare_func(void, uint8_t *dst, ptrdiff_t stride, const uint16_t *src, int w, int h);

    if (!dsp->store || !check_func(dsp->store, "mvfps_store_8"))
        return;
    for (int i = 0; i < 8; i++) {
        const int w = i < 4 ? 4 : 8, h = 2 + 2 * (i & 3);

        draw_mvfps(b, 8);
        memcpy(b->pictures[1], b->pictures[0], sizeof(b->pictures[0]));
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                b->pictures[0][y * MVFPS_LINE + x] = b->tiles[0][8 * y + x];
        call_new(b->pictures[1], MVFPS_LINE, b->tiles[0], w, h);
        if (memcmp(b->pictures[0], b->pictures[1], sizeof(b->pictures[0])))
            fail();
    }
    bench_new(b->pictures[1], MVFPS_LINE, b->tiles[0], 8, 8);
}

/* Draws vectors that are similar, or as far apart as possible. With none, some vectors are missing. */
static void draw_vectors(MvfpsVector *v, int nb, int none)
{
    const int range = rnd() & 1 ? 3 : rnd() & 1 ? 100 : GPUME_LONGEST + 1;

    for (int i = 0; i < nb; i++) {
        v[i].x = none && !(rnd() & 15) ? MVFPS_NONE : (int)(rnd() % (2 * range + 1)) - range;
        v[i].y = rnd() & 7 ? (int)(rnd() % (2 * range + 1)) - range : rnd() & 1 ? range : -range;
    }
}

static void check_mvfps_distinct(const MvfpsDsp *dsp)
{
    MvfpsVector v[MVFPS_LIST], dst[2][MVFPS_LIST];
    declare_func(int, MvfpsVector *dst, const MvfpsVector *src, int nb);

    if (!check_func(dsp->distinct, "mvfps_distinct"))
        return;
    for (int i = 0; i < 256; i++) {
        const int nb = 1 + rnd() % MVFPS_LIST;
        int ref, new;

        draw_vectors(v, FF_ARRAY_ELEMS(v), 1);
        for (int k = 1; k < MVFPS_LIST; k++)
            if (rnd() % 8 < i % 8)
                v[k] = v[rnd() % k];
        ref = call_ref(dst[0], v, nb);
        new = call_new(dst[1], v, nb);
        if (ref != new || memcmp(dst[0], dst[1], ref * sizeof(**dst)))
            fail();
    }
    bench_new(dst[1], v, 21);
}

static void check_mvfps_distinct_from(const MvfpsDsp *dsp)
{
    MvfpsVector v[8], others[MVFPS_LIST], dst[2][8];
    declare_func(int, MvfpsVector *dst, const MvfpsVector *src, const MvfpsVector *others, int nb);

    if (!check_func(dsp->distinct_from, "mvfps_distinct_from"))
        return;
    for (int i = 0; i < 256; i++) {
        const int nb = rnd() % (MVFPS_LIST + 1);
        int ref, new;

        draw_vectors(v, FF_ARRAY_ELEMS(v), 1);
        draw_vectors(others, FF_ARRAY_ELEMS(others), 1);
        for (int k = 0; k < nb; k++)
            if (rnd() % 8 < i % 8)
                others[k] = v[rnd() & 7];
        ref = call_ref(dst[0], v, others, nb);
        new = call_new(dst[1], v, others, nb);
        if (ref != new || memcmp(dst[0], dst[1], ref * sizeof(**dst)))
            fail();
    }
    bench_new(dst[1], v, others, 4);
}

static void check_mvfps_sum_distances(const MvfpsDsp *dsp)
{
    MvfpsVector v[24], others[8];
    int sums[2][24];
    declare_func(void, int *sums, const MvfpsVector *v, int nb, const MvfpsVector *others);

    if (!check_func(dsp->sum_distances, "mvfps_sum_distances"))
        return;
    for (int i = 0; i < 64; i++) {
        const int nb = 1 + rnd() % 24;

        draw_vectors(v, FF_ARRAY_ELEMS(v), 0);
        draw_vectors(others, FF_ARRAY_ELEMS(others), 0);
        call_ref(sums[0], v, nb, others);
        call_new(sums[1], v, nb, others);
        if (memcmp(sums[0], sums[1], nb * sizeof(**sums)))
            fail();
    }
    bench_new(sums[1], v, 17, others);
}

static void check_mvfps_field_penalties(const MvfpsDsp *dsp)
{
    static MvfpsVector cells[4][30 * 20];
    const MvfpsFields all = { 30, 20, cells[0], cells[1], cells[2], cells[3] };
    MvfpsVector v[24];
    int penalties[2][24];
    declare_func(void, int *penalties, const MvfpsVector *v, int nb, const MvfpsFields *fields, int x, int y,
                 int part);

    if (!check_func(dsp->field_penalties, "mvfps_field_penalties"))
        return;
    for (int i = 0; i < 256; i++) {
        const int cols = 1 + rnd() % 30, rows = 1 + rnd() % 20, nb = 1 + rnd() % 24;
        const int x = 8 * (rnd() % cols), y = 8 * (rnd() % rows), part = 1 + rnd() % (MVFPS_PARTS - 1);
        const MvfpsFields fields = {
            cols, rows, cells[0], cells[1], i & 7 ? cells[2] : NULL, i & 6 ? cells[3] : NULL,
        };

        for (int k = 0; k < 4; k++)
            draw_vectors(cells[k], FF_ARRAY_ELEMS(cells[k]), 1);
        draw_vectors(v, FF_ARRAY_ELEMS(v), 0);
        call_ref(penalties[0], v, nb, &fields, x, y, part);
        call_new(penalties[1], v, nb, &fields, x, y, part);
        if (memcmp(penalties[0], penalties[1], nb * sizeof(**penalties)))
            fail();
    }
    bench_new(penalties[1], v, 16, &all, 80, 40, 2048);
}

void checkasm_check_mvfps(void)
{
    static MvfpsBuffers b;
    const int flags = av_get_cpu_flags();
    MvfpsDsp dsp, plain;

    av_force_cpu_flags(0);
    ff_mvfps_dsp_init(&plain, 1);
    av_force_cpu_flags(flags);
    ff_mvfps_dsp_init(&dsp, 1);
    check_mvfps_sad(&dsp, &b);
    check_mvfps_match(&dsp, &b);
    check_mvfps_mean(&dsp, &b);
    check_mvfps_add(&dsp, &plain, &b);
    check_mvfps_store(&dsp, &b);
    check_mvfps_distinct(&dsp);
    check_mvfps_distinct_from(&dsp);
    check_mvfps_sum_distances(&dsp);
    check_mvfps_field_penalties(&dsp);
    report("mvfps");
}
