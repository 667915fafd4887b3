/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Tests functions that have assembly code in FFmpeg's checkasm: they must give the same results as
 * C and must not change registers or inputs. Measures their speed.
 */

#include <string.h>

#include "config_components.h"

#include "checkasm.h"
#include "libavfilter/gpume/mvdeint/samples.h"
#include "libavfilter/gpume/mvdenoise/samples.h"
#include "libavfilter/gpume/mvdenoise/transform.h"
#include "libavfilter/gpume/mvfps/dsp.h"
#include "libavfilter/gpume/mvstereo/dsp.h"
#include "libavfilter/gpume/core/propagation.h"
#include "libavfilter/gpume/cpu/cost.h"
#include "libavfilter/gpume/cpu/pixels.h"
#include "libavfilter/gpume/cpu/sea.h"
#include "libavfilter/gpume/mvview/canvas.h"
#include "libavutil/common.h"
#include "libavutil/cpu.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem_internal.h"

/* Buffers of samples: a block can begin at any of FREE bytes and at as many rows. */
#define FREE    96
#define STRIDE  (2 * GPUME_MAX_BLOCK + FREE)
#define ROWS    128

typedef struct Samples {
    uint8_t data[ROWS * STRIDE];
} Samples;

static Samples cur, ref, cur_before, ref_before;

enum {
    RANDOM,
    REALISTIC,      ///< similar to the neighbours in a picture and to the next picture
    EXTREMES,       ///< 0 or the maximum, at random
    DARK_IN_BRIGHT, ///< one picture is all 0, the other has the maximum
    BRIGHT_IN_DARK,
    NB_KINDS
};

static void put(Samples *s, int i, int depth, int value)
{
    if (depth > 8)
        AV_WN16(s->data + 2 * i, value);
    else
        s->data[i] = value;
}

static void fill(int kind, int depth)
{
    const int n   = sizeof(cur.data) / (depth > 8 ? 2 : 1);
    const int max = (1 << depth) - 1;
    int value     = max / 2;

    for (int i = 0; i < n; i++) {
        int a, b;

        switch (kind) {
        case RANDOM:
            a = rnd() & max;
            b = rnd() & max;
            break;
        case REALISTIC:
            value = av_clip(value + (int)(rnd() & 15) - 7, 0, max);
            a = value;
            b = av_clip(value + (int)(rnd() & 3) - 1, 0, max);
            break;
        case EXTREMES:
            a = rnd() & 1 ? max : 0;
            b = rnd() & 1 ? max : 0;
            break;
        default:
            a = kind == DARK_IN_BRIGHT ? 0 : max;
            b = max - a;
            break;
        }
        put(&cur, i, depth, a);
        put(&ref, i, depth, b);
    }
    cur_before = cur;
    ref_before = ref;
}

static int inputs_changed(void)
{
    return memcmp(&cur, &cur_before, sizeof(cur)) || memcmp(&ref, &ref_before, sizeof(ref));
}

/**
 * Returns the first of h rows that begin at any position. Sets linesize, which is negative for rows
 * from the bottom up.
 */
static const uint8_t *rows_of(const Samples *s, int h, ptrdiff_t *linesize)
{
    const uint8_t *first = s->data + rnd() % FREE + (rnd() % (ROWS - h + 1)) * STRIDE;

    *linesize = STRIDE;
    if (rnd() & 1) {
        first    += (h - 1) * STRIDE;
        *linesize = -STRIDE;
    }
    return first;
}

/** Returns a height: the minimum, odd heights, the maximum. */
static int height_of(int trial)
{
    const int h[] = { 1, 2, 3, GPUME_COST_ROWS - 1, GPUME_COST_ROWS };

    return trial < FF_ARRAY_ELEMS(h) ? h[trial] : 1 + rnd() % GPUME_COST_ROWS;
}

/** Returns a limit without effect, above, equal to or below the sum, or of 1. */
static uint32_t limit_of(int trial, uint32_t sum)
{
    switch (trial % 5) {
    case 0:  return UINT32_MAX;
    case 1:  return sum + 1;
    case 2:  return sum;
    case 3:  return sum / 2;
    default: return 1;
    }
}

/** Returns whether a cost is wrong. A cost that has reached the limit may be incomplete. */
static int wrong_sum(uint32_t found, uint32_t sum, uint32_t limit)
{
    return sum < limit ? found != sum : found < limit || found > sum;
}

#define TRIALS 20

typedef void (*CostInit)(GpumeCost *cost, int depth);

static void check_one(const char *name, CostInit init, int depth)
{
    declare_func(uint32_t, const uint8_t *cur, ptrdiff_t cur_linesize,
                 const uint8_t *ref, ptrdiff_t ref_linesize, int h, uint32_t limit);

    for (int i = gpume_width_index(4); i < GPUME_NB_WIDTHS; i++) {
        const int width = gpume_width_of(i);
        GpumeCost cost;

        init(&cost, depth);
        if (!check_func(cost.one[i], "gpume_%s_%d_%d", name, depth, width))
            continue;
        for (int kind = 0; kind < NB_KINDS; kind++) {
            fill(kind, depth);
            for (int trial = 0; trial < TRIALS; trial++) {
                const int h = height_of(trial);
                ptrdiff_t cur_linesize, ref_linesize;
                const uint8_t *c = rows_of(&cur, h, &cur_linesize);
                const uint8_t *r = rows_of(&ref, h, &ref_linesize);
                uint32_t sum, found, limit;

                sum   = call_ref(c, cur_linesize, r, ref_linesize, h, UINT32_MAX);
                limit = limit_of(trial, sum);
                found = call_new(c, cur_linesize, r, ref_linesize, h, limit);
                if (wrong_sum(found, sum, limit) || inputs_changed())
                    fail();
            }
        }
        fill(REALISTIC, depth);
        bench_new(cur.data, STRIDE, ref.data + 1, STRIDE, GPUME_COST_ROWS, UINT32_MAX);
    }
    report("%s_%d", name, depth);
}

static void check_four(const char *name, CostInit init, int depth)
{
    declare_func(void, const uint8_t *cur, ptrdiff_t cur_linesize,
                 const uint8_t *const ref[4], ptrdiff_t ref_linesize,
                 int h, uint32_t cost[4], uint32_t limit);

    for (int i = gpume_width_index(4); i < GPUME_NB_WIDTHS; i++) {
        const int width = gpume_width_of(i);
        const uint8_t *r[4] = { ref.data + 1, ref.data + 2, ref.data + 3, ref.data + 4 };
        uint32_t sum[4], found[6];
        GpumeCost cost;

        init(&cost, depth);
        if (!check_func(cost.four[i], "gpume_%s_x4_%d_%d", name, depth, width))
            continue;
        for (int kind = 0; kind < NB_KINDS; kind++) {
            fill(kind, depth);
            for (int trial = 0; trial < TRIALS; trial++) {
                const int h = height_of(trial);
                ptrdiff_t cur_linesize, ref_linesize;
                const uint8_t *c = rows_of(&cur, h, &cur_linesize);
                uint32_t limit;

                /* all rows are in the same direction */
                r[0] = rows_of(&ref, h, &ref_linesize);
                for (int k = 1; k < 4; k++) {
                    ptrdiff_t linesize;

                    do
                        r[k] = rows_of(&ref, h, &linesize);
                    while (linesize != ref_linesize);
                }
                memset(found, 0xa5, sizeof(found));
                call_ref(c, cur_linesize, r, ref_linesize, h, sum, UINT32_MAX);
                limit = limit_of(trial, sum[rnd() & 3]);
                call_new(c, cur_linesize, r, ref_linesize, h, found + 1, limit);
                for (int k = 0; k < 4; k++) {
                    if (wrong_sum(found[1 + k], sum[k], limit))
                        fail();
                }
                if (found[0] != 0xa5a5a5a5 || found[5] != 0xa5a5a5a5 || inputs_changed())
                    fail();
            }
        }
        fill(REALISTIC, depth);
        for (int k = 0; k < 4; k++)
            r[k] = ref.data + 1 + k;
        bench_new(cur.data, STRIDE, r, STRIDE, GPUME_COST_ROWS, sum, UINT32_MAX);
    }
    report("%s_x4_%d", name, depth);
}

/* Tests functions that compute nb_costs costs for each of nb blocks: means(), means_of_two() or around(). */
static void check_blocks(const char *name, const char *what, CostInit init, int nb, int nb_costs)
{
    declare_func(void, const uint8_t *cur, ptrdiff_t cur_linesize,
                 const uint8_t *const *blocks, ptrdiff_t linesize, int h, uint32_t *cost);

    for (int i = gpume_width_index(4); i < GPUME_NB_WIDTHS; i++) {
        const int width = gpume_width_of(i);
        const uint8_t *blocks[8];
        uint32_t sum[8], found[10];
        GpumeCost cost;

        init(&cost, 8);
        if (!check_func(nb == 8 ? cost.means[i] : nb == 4 ? cost.means_of_two[i] : cost.around[i],
                        "gpume_%s_%s_8_%d", name, what, width))
            continue;
        for (int kind = 0; kind < NB_KINDS; kind++) {
            fill(kind, 8);
            for (int trial = 0; trial < TRIALS; trial++) {
                const int h = (height_of(trial) + 1) & ~1;
                ptrdiff_t cur_linesize, linesize;
                const uint8_t *c = rows_of(&cur, h, &cur_linesize);

                blocks[0] = rows_of(&ref, h, &linesize);
                for (int k = 1; k < nb; k++) {
                    ptrdiff_t other;

                    do
                        blocks[k] = rows_of(&ref, h, &other);
                    while (other != linesize);
                }
                memset(found, 0xa5, sizeof(found));
                call_ref(c, cur_linesize, blocks, linesize, h, sum);
                call_new(c, cur_linesize, blocks, linesize, h, found + 1);
                if (memcmp(found + 1, sum, nb_costs * sizeof(*sum)) || found[0] != 0xa5a5a5a5 ||
                    found[nb_costs + 1] != 0xa5a5a5a5 || inputs_changed())
                    fail();
            }
        }
        fill(REALISTIC, 8);
        for (int k = 0; k < nb; k++)
            blocks[k] = ref.data + 1 + k;
        bench_new(cur.data, STRIDE, blocks, STRIDE, GPUME_COST_ROWS, sum);
    }
    report("%s_%s", name, what);
}

/* Output rows, including the bytes after the samples that functions may write. */
static uint8_t rows_out[2][4 * STRIDE];

static void check_average(int depth)
{
    declare_func(void, uint8_t *dst, const uint8_t *a, const uint8_t *b, ptrdiff_t linesize, int h);

    for (int i = gpume_width_index(4); i < GPUME_NB_WIDTHS; i++) {
        static DECLARE_ALIGNED(32, uint8_t, dst)[2][(GPUME_COST_ROWS + 1) * GPUME_AVERAGE_LINESIZE];
        GpumePixels pixels;

        ff_gpume_pixels_init(&pixels, depth);
        if (!check_func(pixels.average[i], "gpume_average_%d_%d", depth, gpume_width_of(i)))
            continue;
        for (int kind = 0; kind < NB_KINDS; kind++) {
            fill(kind, depth);
            for (int trial = 0; trial < TRIALS; trial++) {
                const int h = height_of(trial);
                ptrdiff_t linesize, other;
                const uint8_t *a = rows_of(&ref, h, &linesize), *b;

                do
                    b = rows_of(&ref, h, &other);
                while (other != linesize);
                memset(dst, 0xa5, sizeof(dst));
                call_ref(dst[0], a, b, linesize, h);
                call_new(dst[1], a, b, linesize, h);
                if (memcmp(dst[0], dst[1], sizeof(dst[0])) || inputs_changed())
                    fail();
            }
        }
        fill(REALISTIC, depth);
        bench_new(dst[1], ref.data, ref.data + 1, STRIDE, GPUME_COST_ROWS);
    }
    report("average_%d", depth);
}

static void check_halve(void)
{
    GpumePixels pixels;

    declare_func(void, uint8_t *dst, const uint8_t *a, const uint8_t *b, int n);

    ff_gpume_pixels_init(&pixels, 8);
    if (check_func(pixels.halve, "gpume_halve_8")) {
        for (int kind = 0; kind < NB_KINDS; kind++) {
            fill(kind, 8);
            for (int trial = 0; trial < TRIALS; trial++) {
                const int n = trial < 2 ? trial : rnd() % (STRIDE / 2);

                memset(rows_out, 0xa5, sizeof(rows_out));
                call_ref(rows_out[0], cur.data, ref.data + 1, n);
                call_new(rows_out[1], cur.data, ref.data + 1, n);
                if (memcmp(rows_out[0], rows_out[1], sizeof(rows_out[0])) || inputs_changed())
                    fail();
            }
        }
        bench_new(rows_out[1], cur.data, ref.data, STRIDE / 2);
    }
    report("halve");
}

/* Returns whether a row is wrong: its n samples, or bytes that must not be written after them. */
static int wrong_row(const uint8_t *wanted, const uint8_t *found, int n, int bytes)
{
    for (int i = (n + GPUME_PIXELS_SLACK) * bytes; i < (n + 3 * GPUME_PIXELS_SLACK) * bytes; i++)
        if (found[i] != 0xa5)
            return 1;
    return memcmp(wanted, found, n * bytes);
}

static void check_right(void)
{
    GpumePixels pixels;

    declare_func(void, uint8_t *dst, const uint8_t *src, int n, int max);

    ff_gpume_pixels_init(&pixels, 8);
    if (check_func(pixels.right, "gpume_right_8")) {
        for (int kind = 0; kind < NB_KINDS; kind++) {
            fill(kind, 8);
            for (int trial = 0; trial < TRIALS; trial++) {
                const int n = 1 + rnd() % STRIDE;

                memset(rows_out, 0xa5, sizeof(rows_out));
                call_ref(rows_out[0], cur.data + trial, n, 255);
                call_new(rows_out[1], cur.data + trial, n, 255);
                if (wrong_row(rows_out[0], rows_out[1], n, 1) || inputs_changed())
                    fail();
            }
        }
        bench_new(rows_out[1], cur.data, STRIDE, 255);
    }
    report("right");
}

static void check_below(void)
{
    static int16_t sums[2][4 * STRIDE];
    const uint8_t *rows[6];
    GpumePixels pixels;

    declare_func(void, uint8_t *dst, void *sums, const uint8_t *const rows[6], int n, int max);

    ff_gpume_pixels_init(&pixels, 8);
    if (check_func(pixels.below, "gpume_below_8")) {
        for (int kind = 0; kind < NB_KINDS; kind++) {
            fill(kind, 8);
            for (int trial = 0; trial < TRIALS; trial++) {
                const int n = 1 + rnd() % STRIDE;

                for (int i = 0; i < 6; i++)
                    rows[i] = (rnd() & 1 ? &cur : &ref)->data + rnd() % 64 * STRIDE;
                memset(rows_out, 0xa5, sizeof(rows_out));
                memset(sums,     0xa5, sizeof(sums));
                call_ref(rows_out[0], sums[0], rows, n, 255);
                call_new(rows_out[1], sums[1], rows, n, 255);
                if (wrong_row(rows_out[0], rows_out[1], n, 1) ||
                    wrong_row((uint8_t *)sums[0], (uint8_t *)sums[1], n, 2) || inputs_changed())
                    fail();
            }
        }
        bench_new(rows_out[1], sums[1], rows, STRIDE, 255);
    }
    report("below");
}

static void check_centre(void)
{
    static int16_t sums[ROWS * STRIDE];
    GpumePixels pixels;

    declare_func(void, uint8_t *dst, const void *sums, int n, int max);

    ff_gpume_pixels_init(&pixels, 8);
    if (check_func(pixels.centre, "gpume_centre_8")) {
        for (int trial = 0; trial < 4 * TRIALS; trial++) {
            const int n = 1 + rnd() % STRIDE;

            /* from -10 to 42 times the maximum */
            for (int i = 0; i < n + 5; i++)
                sums[i] = trial & 1 ? (rnd() & 1 ? 10710 : -2550) : (int)(rnd() % 13261) - 2550;
            memset(rows_out, 0xa5, sizeof(rows_out));
            call_ref(rows_out[0], sums, n, 255);
            call_new(rows_out[1], sums, n, 255);
            if (wrong_row(rows_out[0], rows_out[1], n, 1))
                fail();
        }
        bench_new(rows_out[1], sums, STRIDE, 255);
    }
    report("centre");
}

static GpumeVector vector_like(GpumeVector v, int spread)
{
    return (GpumeVector) { v.dx + (int)(rnd() % (2 * spread + 1)) - spread,
                           v.dy + (int)(rnd() % (2 * spread + 1)) - spread };
}

/* Makes a choice with typical values. Fields that functions set are not changed. */
static void make_choice(GpumeChoice *choice, int trial)
{
    const int most = 4 * GPUME_MAX_RANGE;
    const int spread = trial % 3 == 0 ? 1 : trial % 3 == 1 ? 12 : most;

    choice->own = vector_like((GpumeVector) { 0 }, most);
    for (int i = 0; i < 8; i++)
        choice->vectors[i] = vector_like(trial & 1 && i ? choice->vectors[i - 1] : choice->own,
                                         FFMIN(spread, most / 8));
    choice->min = (GpumeVector) { rnd() & 1 ? -2 * most : choice->own.dx,
                                   rnd() & 1 ? -2 * most : choice->own.dy };
    choice->max = (GpumeVector) { rnd() & 1 ?  2 * most : choice->own.dx,
                                   rnd() & 1 ?  2 * most : choice->own.dy };
    choice->threshold   = 1 + rnd() % 64;
    choice->factor      = rnd() % (GPUME_MAX_SMOOTH * GPUME_MAX_BLOCK + 1);
    choice->shift       = 3 + rnd() % 3;
    choice->depth_shift = rnd() % 9;
    /* with a penalty, the largest cost has 32 bits */
    choice->cost        = trial % 8 ? rnd() % (1 << (rnd() % 30)) : INT32_MAX - rnd() % 65536;
    for (int i = 0; i < 16; i++)
        choice->bounds[i] = rnd() & 1 ? 0 : rnd() % (2 * choice->cost + 1);
}

static void check_candidates(void)
{
    GpumePixels pixels;
    GpumeChoice ref_choice, new_choice;
    unsigned wanted, found;

    declare_func(unsigned, GpumeChoice *choice);

    ff_gpume_pixels_init(&pixels, 8);
    memset(&ref_choice, 0, sizeof(ref_choice));
    if (check_func(pixels.candidates, "gpume_candidates")) {
        for (int trial = 0; trial < 100 * TRIALS; trial++) {
            make_choice(&ref_choice, trial);
            new_choice = ref_choice;
            wanted = call_ref(&ref_choice);
            found  = call_new(&new_choice);
            if (wanted != found || memcmp(&ref_choice, &new_choice, sizeof(ref_choice)))
                fail();
        }
        bench_new(&new_choice);
    }
    report("candidates");
}

static void check_candidates_at(void)
{
    GpumePixels pixels;
    GpumeChoice ref_choice, new_choice;

    declare_func(unsigned, GpumeChoice *choice, const GpumeVector *v, ptrdiff_t bw, uint32_t bounds[16],
                 unsigned forgotten);

    ff_gpume_pixels_init(&pixels, 8);
    memset(&ref_choice, 0, sizeof(ref_choice));
    if (check_func(pixels.candidates_at, "gpume_candidates_at")) {
        for (int trial = 0; trial < 100 * TRIALS; trial++) {
            const int bw = 3 + rnd() % 5;
            GpumeVector field[3 * 8];
            uint32_t bounds[2][16];
            const unsigned forgotten = rnd() & rnd() & 0xff;
            unsigned wanted, found;

            make_choice(&ref_choice, trial);
            for (int i = 0; i < 3 * bw; i++)
                field[i] = vector_like(ref_choice.own, 4);
            for (int i = 0; i < 8; i++) {
                int x, y;

                gpume_around(i, &x, &y);
                field[(1 + y) * bw + 1 + x] = ref_choice.vectors[i];
            }
            field[bw + 1] = ref_choice.own;
            memcpy(bounds[0], ref_choice.bounds, sizeof(bounds[0]));
            memcpy(bounds[1], ref_choice.bounds, sizeof(bounds[1]));
            memset(ref_choice.vectors, 0xff, sizeof(ref_choice.vectors));
            new_choice = ref_choice;
            wanted = call_ref(&ref_choice, field + bw + 1, bw, bounds[0], forgotten);
            found  = call_new(&new_choice, field + bw + 1, bw, bounds[1], forgotten);
            /* not all versions copy the bounds */
            memset(ref_choice.bounds, 0, sizeof(ref_choice.bounds));
            memset(new_choice.bounds, 0, sizeof(new_choice.bounds));
            if (wanted != found || memcmp(&ref_choice, &new_choice, sizeof(ref_choice)) ||
                memcmp(bounds[0], bounds[1], sizeof(bounds[0])))
                fail();
            if (trial == 100 * TRIALS - 1)
                bench_new(&new_choice, field + bw + 1, bw, bounds[1], 0);
        }
    }
    report("candidates_at");
}

static void check_locate(void)
{
    GpumePixels pixels;

    declare_func(int, const uint8_t **ref, const GpumeVector vectors[16], unsigned mask, const GpumePlaces *places,
                 ptrdiff_t offset);

    ff_gpume_pixels_init(&pixels, 8);
    for (int pairs = 0; pairs < 2; pairs++)
        if (check_func(pixels.locate[pairs], "gpume_locate_%s", pairs ? "pairs" : "whole")) {
            for (int trial = 0; trial < 10 * TRIALS; trial++) {
                const int log2_pel = pairs ? 1 + (rnd() & 1) : 0;
                const unsigned mask = 1 + rnd() % 0xffff;
                const ptrdiff_t offset = rnd() & INT32_MAX;
                const uint8_t *ref[2][2 * 16];
                GpumeVector vectors[16];
                int wanted, found;
                GpumePlaces places = {
                    .linesize = 64 * (1 + rnd() % 1000), .size = 1 + (rnd() & 1), .log2_pel = log2_pel,
                    .low = (1 << log2_pel) - 1, .high = ((1 << log2_pel) - 1) << log2_pel,
                };

                for (int i = 0; i < 32; i++)
                    places.base[i >> 4][i & 15] = (const uint8_t *)((uintptr_t)rnd() << 14 ^ rnd());
                for (int i = 0; i < 16; i++)
                    vectors[i] = vector_like((GpumeVector) { 0 }, 4 * GPUME_MAX_RANGE);
                wanted = call_ref(ref[0], vectors, mask, &places, offset);
                found  = call_new(ref[1], vectors, mask, &places, offset);
                if (wanted != found ||
                    memcmp(ref[0], ref[1], (1 + pairs) * FFALIGN(av_popcount(mask), GPUME_GROUP) * sizeof(*ref[0])))
                    fail();
                if (trial == 10 * TRIALS - 1)
                    bench_new(ref[1], vectors, 0x1111, &places, offset);
            }
        }
    report("locate");
}

static void check_least_sum(void)
{
    GpumePixels pixels;
    GpumeChoice choice = { 0 };
    uint32_t bounds[2][16], cost[16];

    declare_func(uint64_t, const GpumeChoice *choice, uint32_t bounds[16], const uint32_t *cost,
                 unsigned evaluated, unsigned mask);

    ff_gpume_pixels_init(&pixels, 8);
    if (check_func(pixels.least_sum, "gpume_least_sum")) {
        for (int trial = 0; trial < 10 * TRIALS; trial++) {
            const unsigned most = trial & 1 ? 4 : 1U << 31, mask = 1 + rnd() % 0xffff, evaluated = mask & rnd();
            uint64_t wanted, found;

            for (int i = 0; i < 16; i++) {
                bounds[0][i] = bounds[1][i] = rnd() % most;
                cost[i] = rnd() % most;
                choice.penalties[i] = rnd() % most;
            }
            wanted = call_ref(&choice, bounds[0], cost, evaluated, mask);
            found  = call_new(&choice, bounds[1], cost, evaluated, mask);
            if (wanted != found || memcmp(bounds[0], bounds[1], sizeof(bounds[0])))
                fail();
        }
        bench_new(&choice, bounds[1], cost, 0x1111, 0x1111);
    }
    report("least_sum");
}

/* Sums: a row of the picture, the bytes written after it, and both planes. */
#define WIDTH   320
#define HEIGHT   96
#define GUARD    32

/** Number of candidates in maps that are joined. */
#define JOINED 1200

static uint64_t kept_of_bench[8];

static void check_columns(int depth)
{
    const GpumeParams params = { .width = WIDTH, .height = HEIGHT, .block = 4, .depth = depth };
    static const uint8_t zeros[2 * WIDTH];
    static uint16_t dst[2][WIDTH + GUARD];
    static uint32_t sums[2][WIDTH + GUARD];
    const int widest = (STRIDE - FREE) / (depth > 8 ? 2 : 1) & ~15;
    GpumeSea sea;

    declare_func(void, uint16_t *dst, uint32_t *sums, const uint8_t *add,
                 const uint8_t *sub, ptrdiff_t n, int shift);

    ff_gpume_sea_init(&sea, &params);
    if (check_func(sea.columns, "gpume_columns_%d", depth)) {
        for (int kind = 0; kind < NB_KINDS; kind++) {
            fill(kind, depth);
            /* quarters and halves of blocks of all sizes */
            for (int side = 1; side <= 64; side *= 2) {
                const int shift = FFMAX(depth + 2 * av_log2(side) - 15, 0);
                const int n     = side == 4 ? 0 : side == 8 ? widest : 16 * (1 + rnd() % (widest / 16));
                const Samples *s = rnd() & 1 ? &cur : &ref;
                const uint8_t *first = s->data + rnd() % FREE;

                memset(dst,  0xa5, sizeof(dst));
                memset(sums, 0, sizeof(sums));
                for (int y = 0; y < FFMIN(3 * side, ROWS); y++) {
                    const uint8_t *add = first + y * STRIDE;
                    const uint8_t *sub = y < side ? zeros : add - side * STRIDE;

                    call_ref(dst[0], sums[0], add, sub, n, shift);
                    call_new(dst[1], sums[1], add, sub, n, shift);
                    if (memcmp(dst[0], dst[1], sizeof(dst[0])) ||
                        memcmp(sums[0], sums[1], sizeof(sums[0])))
                        fail();
                }
                if (inputs_changed())
                    fail();
            }
        }
        fill(REALISTIC, depth);
        bench_new(dst[1], sums[1], cur.data + STRIDE, cur.data, widest, 1);
    }
    report("columns_%d", depth);
}

static void check_add(void)
{
    const GpumeParams params = { .width = WIDTH, .height = HEIGHT, .block = 16, .depth = 8 };
    static uint16_t a[WIDTH + GUARD], b[WIDTH + GUARD], b_before[WIDTH + GUARD];
    static uint16_t dst[2][WIDTH + 2 * GUARD];
    GpumeSea sea;

    declare_func(void, uint16_t *dst, const uint16_t *a, const uint16_t *b, ptrdiff_t n);

    ff_gpume_sea_init(&sea, &params);
    if (check_func(sea.add, "gpume_add_sums")) {
        for (int trial = 0; trial < TRIALS; trial++) {
            const int n    = GPUME_SEA_ALIGN * (1 + rnd() % (WIDTH / GPUME_SEA_ALIGN));
            const int step = 1 << rnd() % 6;

            for (int i = 0; i < FF_ARRAY_ELEMS(a); i++) {
                a[i] = trial == 0 ? 0x3fff : trial == 1 ? UINT16_MAX : rnd() & 0x3fff;
                b[i] = trial == 0 ? 0x3fff : trial == 1 ? UINT16_MAX : rnd() & 0x3fff;
            }
            memcpy(b_before, b, sizeof(b));
            memset(dst, 0xa5, sizeof(dst));
            call_ref(dst[0], a, b + 1, n);
            call_new(dst[1], a, b + 1, n);
            if (memcmp(dst[0], dst[1], sizeof(dst[0])) || memcmp(b, b_before, sizeof(b)))
                fail();

            /* if source and destination overlap, the addend begins one step later */
            for (int i = 0; i < 2; i++)
                memcpy(dst[i], a, sizeof(a));
            call_ref(dst[0], dst[0], dst[0] + step, n);
            call_new(dst[1], dst[1], dst[1] + step, n);
            if (memcmp(dst[0], dst[1], sizeof(dst[0])))
                fail();
        }
        bench_new(dst[1], a, b, WIDTH);
    }
    report("add_sums");
}

/** Returns a word of the sums of a picture: near a value, or the minimum or maximum. */
static unsigned sum_of(int kind, unsigned base)
{
    switch (kind) {
    case RANDOM:    return rnd() & INT16_MAX;
    case REALISTIC: return FFMIN(base + (rnd() & 255), INT16_MAX);
    default:        return rnd() & 1 ? INT16_MAX : 0;
    }
}

/** Returns a limit in the format of bound(). */
static uint32_t twice(unsigned limit)
{
    return limit * 0x10001u;
}

/**
 * Handles the result of a function for the rows from *row on: a row with a surviving candidate, or
 * none.
 * @param kept map of that row, followed by a word that must stay 0xa5...
 * @return whether a row was found; *row is then its index
 */
static int take_row(uint64_t (*map)[GPUME_SEA_KEPT_WORDS(WIDTH)], int *row, int rows, int found,
                    const uint64_t *kept, int candidates)
{
    const int words = GPUME_SEA_KEPT_WORDS(candidates);

    if (found < 0 || found > rows - *row || kept[words] != 0xa5a5a5a5a5a5a5a5) {
        fail();
        return 0;
    }
    *row += found;
    if (*row == rows)
        return 0;
    memcpy(map[*row], kept, words * sizeof(*kept));
    if (candidates & 63)
        map[*row][words - 1] &= ((uint64_t)1 << (candidates & 63)) - 1;
    return 1;
}

static void check_bound(void)
{
    GpumeParams params = { .width = WIDTH, .height = HEIGHT, .depth = 8 };
    static uint16_t sums[2][2 * HEIGHT * (WIDTH + 2 * GPUME_SEA_ALIGN)];
    static uint16_t sums_before[FF_ARRAY_ELEMS(sums[0])];
    static uint64_t kept[GPUME_SEA_KEPT_WORDS(WIDTH) + 1];
    static uint64_t map[2][HEIGHT][GPUME_SEA_KEPT_WORDS(WIDTH)];
    GpumeSea sea;
    GpumeSeaBounds b;

    declare_func(int, const GpumeSeaBounds *b, const uint8_t *sums, int nb_rows, uint64_t *kept);

    params.block = 16;
    ff_gpume_sea_init(&sea, &params);
    if (check_func(sea.bound, "gpume_bound")) {
        for (int kind = RANDOM; kind <= EXTREMES; kind++) {
            for (int i = 0; i < FF_ARRAY_ELEMS(sums[0]); i++) {
                const unsigned base = rnd() & INT16_MAX >> 1;

                sums[0][i] = sum_of(kind, kind == REALISTIC ? 8000 : base);
                sums[1][i] = sum_of(kind, kind == REALISTIC ? 8000 : base);
            }
            memcpy(sums_before, sums[1], sizeof(sums_before));
            for (int trial = 0; trial < 8 * TRIALS; trial++) {
                int w, h, candidates, rows;
                const uint8_t *first;

                params.block = 4 << trial % 5;
                w = trial & 1 ? params.block : 1 + rnd() % params.block;
                h = trial & 2 ? params.block : 1 + rnd() % params.block;
                ff_gpume_sea_init(&sea, &params);
                ff_gpume_sea_block(&sea, &b, (const uint8_t *)sums[0], w, h);

                candidates = 1 + rnd() % (WIDTH  - w + 1);
                rows       = 1 + rnd() % (HEIGHT - h + 1);
                if (candidates > 70 && rnd() & 1)
                    candidates = 33;
                first = (const uint8_t *)(sums[1] + rnd() % (WIDTH - w - candidates + 2)) +
                        rnd() % (HEIGHT - h - rows + 2) * sea.linesize;
                b.nb_candidates = candidates;
                switch (rnd() % 4) {
                case 0:
                    b.half_limit    = twice(UINT16_MAX);
                    b.quarter_limit = twice(rnd() & UINT16_MAX);
                    break;
                case 1:
                    b.half_limit    = twice(rnd() % 4);
                    b.quarter_limit = twice(UINT16_MAX);
                    break;
                case 2:
                    b.half_limit    = twice(rnd() & 511);
                    b.quarter_limit = twice(rnd() & 2047);
                    break;
                default:
                    b.half_limit    = twice(rnd() & UINT16_MAX);
                    b.quarter_limit = twice(rnd() & UINT16_MAX);
                    break;
                }

                /* A row may be returned because of bits after its last candidate, so the candidates
                 * of all rows are compared. */
                memset(map, 0, sizeof(map));
                for (int i = 0; i < 2; i++) {
                    for (int row = 0; row < rows; row++) {
                        const uint8_t *p = first + row * sea.linesize;
                        int found;

                        memset(kept, 0xa5, sizeof(kept));
                        if (i) {
                            found = call_new(&b, p, rows - row, kept);
                        } else {
                            found = call_ref(&b, p, rows - row, kept);
                        }
                        if (!take_row(map[i], &row, rows, found, kept, candidates))
                            break;
                    }
                }
                if (memcmp(map[0], map[1], sizeof(map[0])) ||
                    memcmp(sums[1], sums_before, sizeof(sums_before)))
                    fail();
            }
        }
        /* the bounds of halves eliminate most candidates */
        params.block = 16;
        ff_gpume_sea_init(&sea, &params);
        ff_gpume_sea_block(&sea, &b, (const uint8_t *)sums[0], 16, 16);
        b.nb_candidates = 33;
        b.half_limit    = 0;
        b.quarter_limit = twice(100);
        memset(sums[1], 0, sizeof(sums[1]));
        bench_new(&b, (const uint8_t *)sums[1], 33, kept);
    }
    report("bound");
}

/** Returns the lower bound of a candidate's cost from the sums of parts of a block. */
static unsigned difference_of(const uint8_t *sums, const ptrdiff_t *offset, const uint32_t *own, int n)
{
    unsigned sum = 0;

    for (int i = 0; i < n; i++)
        sum += abs(*(const uint16_t *)(sums + offset[i]) - (int)(own[i] & UINT16_MAX));
    return FFMIN(sum, UINT16_MAX);
}

/** Returns whether the stored bounds of a row are correct. */
static int stored_well(const GpumeSeaBounds *b, const uint8_t *sums, const uint16_t *stored, const uint64_t *kept)
{
    for (int x = 0; x < b->nb_candidates; x++) {
        const unsigned halves   = difference_of(sums + 2 * x, b->half_offset, b->half, 4);
        const unsigned quarters = difference_of(sums + 2 * x, b->quarter_offset, b->quarter, 16);

        if (stored[x] != quarters && (stored[x] != halves || kept[x / 64] >> x % 64 & 1))
            return 0;
    }
    return 1;
}

static void check_bound_and_store(void)
{
    GpumeParams params = { .width = WIDTH, .height = HEIGHT, .depth = 8 };
    static uint16_t sums[2][2 * HEIGHT * (WIDTH + 2 * GPUME_SEA_ALIGN)];
    static uint16_t stored[HEIGHT * WIDTH + GUARD];
    static uint64_t map[2][HEIGHT][GPUME_SEA_KEPT_WORDS(WIDTH)];
    GpumeSea sea;
    GpumeSeaBounds b;

    declare_func(int, const GpumeSeaBounds *b, const uint8_t *sums, int nb_rows, uint64_t *kept);

    params.block = 16;
    ff_gpume_sea_init(&sea, &params);
    if (check_func(sea.bound_and_store, "gpume_bound_and_store")) {
        for (int trial = 0; trial < 24 * TRIALS; trial++) {
            const int kind = RANDOM + trial % (EXTREMES - RANDOM + 1);
            const int block = params.block = 4 << rnd() % 4;
            const int candidates = 1 + rnd() % (WIDTH - block + 1), row_words = FFALIGN(candidates, GPUME_SEA_ALIGN);
            const int rows = 1 + rnd() % (HEIGHT - block + 1);
            const uint8_t *first = (const uint8_t *)(sums[1] + rnd() % (WIDTH - block - candidates + 2));

            for (int i = 0; i < FF_ARRAY_ELEMS(sums[0]) && trial % 16 < 3; i++) {
                const unsigned base = kind == REALISTIC ? 8000 : rnd() & INT16_MAX >> 1;

                sums[0][i] = sum_of(kind, base);
                sums[1][i] = sum_of(kind, base);
            }
            ff_gpume_sea_init(&sea, &params);
            ff_gpume_sea_block(&sea, &b, (const uint8_t *)sums[0], block, block);
            first += rnd() % (HEIGHT - block - rows + 2) * sea.linesize;
            b.nb_candidates = candidates;
            b.map_linesize  = 2 * row_words;
            b.half_limit    = twice(rnd() & UINT16_MAX >> rnd() % 16);
            b.quarter_limit = twice(rnd() & UINT16_MAX >> rnd() % 16);

            memset(map, 0, sizeof(map));
            for (int i = 0; i < 2; i++) {
                memset(stored, 0xa5, sizeof(stored));
                for (int row = 0; row < rows; row++) {
                    uint64_t kept[GPUME_SEA_KEPT_WORDS(WIDTH) + 1];
                    const uint8_t *p = first + row * sea.linesize;
                    int found;

                    memset(kept, 0xa5, sizeof(kept));
                    b.map = (uint8_t *)(stored + row * row_words);
                    if (i) {
                        found = call_new(&b, p, rows - row, kept);
                    } else {
                        found = call_ref(&b, p, rows - row, kept);
                    }
                    if (!take_row(map[i], &row, rows, found, kept, candidates))
                        break;
                }
                for (int row = 0; row < rows; row++)
                    if (!stored_well(&b, first + row * sea.linesize, stored + row * row_words, map[i][row]))
                        fail();
                for (int j = rows * row_words; j < FF_ARRAY_ELEMS(stored); j++)
                    if (stored[j] != 0xa5a5)
                        fail();
            }
            if (memcmp(map[0], map[1], sizeof(map[0])))
                fail();
        }
        params.block = 16;
        ff_gpume_sea_init(&sea, &params);
        memset(sums, 0, sizeof(sums));
        ff_gpume_sea_block(&sea, &b, (const uint8_t *)sums[0], 16, 16);
        b.nb_candidates = 33;
        b.half_limit    = b.quarter_limit = twice(100);
        b.map           = (uint8_t *)stored;
        b.map_linesize  = 66;
        memset(sums[1], 1, sizeof(sums[1]));
        bench_new(&b, (const uint8_t *)sums[1], 33, kept_of_bench);
    }
    report("bound_and_store");
}

static void check_join(void)
{
    const GpumeParams params = { .width = WIDTH, .height = HEIGHT, .block = 8, .depth = 8 };
    static uint16_t maps[4][JOINED + GPUME_SEA_GROUP];
    static uint16_t dst[2][JOINED + GPUME_SEA_GROUP + GUARD];
    static uint32_t groups[2][JOINED / GPUME_SEA_GROUP + 1];
    GpumeSea sea;
    GpumeSeaParts p;

    declare_func(int, const GpumeSeaParts *p, int first, uint32_t *kept);

    ff_gpume_sea_init(&sea, &params);
    if (check_func(sea.join, "gpume_join_bounds")) {
        for (int trial = 0; trial < 8 * TRIALS; trial++) {
            const int begin = GPUME_SEA_GROUP * (rnd() % 4);
            const int nb    = begin + 1 + rnd() % (JOINED - begin);
            const int shift = rnd() % 16;

            for (int i = 0; i < 4; i++) {
                for (int j = 0; j < FF_ARRAY_ELEMS(maps[i]); j++)
                    maps[i][j] = trial % 4 ? rnd() & UINT16_MAX >> shift : rnd() & 1 ? UINT16_MAX : 0;
                p.map[i]   = (const uint8_t *)maps[i];
                p.least[i] = twice(rnd() & UINT16_MAX >> rnd() % 16);
            }
            p.shift         = rnd() & 1;
            p.nb_candidates = nb;
            p.limit         = twice(rnd() % 8 ? (rnd() & UINT16_MAX >> rnd() % 16) : UINT16_MAX);
            memset(dst,    0xa5, sizeof(dst));
            memset(groups, 0, sizeof(groups));
            for (int i = 0; i < 2; i++) {
                p.dst = (uint8_t *)dst[i];
                for (int j = begin; j < nb; j += GPUME_SEA_GROUP) {
                    const int before = j;
                    uint32_t kept;

                    if (i) {
                        j = call_new(&p, j, &kept);
                    } else {
                        j = call_ref(&p, j, &kept);
                    }
                    if (j < before || j < nb && j % GPUME_SEA_GROUP) {
                        fail();
                        break;
                    }
                    if (j < nb)
                        groups[i][j / GPUME_SEA_GROUP] =
                            nb - j < GPUME_SEA_GROUP ? kept & ((1u << (nb - j)) - 1) : kept;
                }
                /* the last group may be stored completely */
                for (int j = nb; j < FFALIGN(nb, GPUME_SEA_GROUP); j++)
                    dst[i][j] = 0;
            }
            if (memcmp(groups[0], groups[1], sizeof(groups[0])) || memcmp(dst[0], dst[1], sizeof(dst[0])))
                fail();
        }
        p.limit = p.shift = 0;
        p.least[0] = twice(1);
        p.nb_candidates = 33 * 33;
        bench_new(&p, 0, groups[0]);
    }
    report("join_bounds");
}

#if CONFIG_MVVIEW_FILTER
/* Rows of words with weights for mvview, followed by words that must not change. */
#define BLEND_WORDS  (16 * MVVIEW_PAD)
#define BLEND_MARGIN 32

typedef struct Blend {
    uint16_t mul[BLEND_WORDS], add_8[BLEND_WORDS];
    uint32_t add_16[BLEND_WORDS];
    uint8_t src[2 * BLEND_WORDS + BLEND_MARGIN];
    uint8_t dst[2][2 * BLEND_WORDS + BLEND_MARGIN];
} Blend;

/** Draws words of depth bits, bits below them, and weights as shapes or the flow have. */
static void draw_blend(Blend *b, int depth)
{
    const int max = (1 << depth) - 1;

    for (int i = 0; i < sizeof(b->src); i++) {
        b->src[i]    = rnd();
        b->dst[0][i] = b->dst[1][i] = rnd();
    }
    for (int i = 0; i < BLEND_WORDS; i++) {
        const int weight  = rnd() & 1 ? rnd() % 257 : rnd() & 1 ? 256 : 0;
        const int colour  = rnd() & 1 ? rnd() & max : rnd() & 1 ? max : 0;

        b->mul[i]    = 256 - weight;
        b->add_16[i] = weight ? weight * colour + 128 : 0;
        b->add_8[i]  = b->add_16[i];
    }
}

static MvviewCanvas blend_canvas(enum AVPixelFormat format)
{
    const AVFrame frame = { .width = 64, .height = 64 };
    MvviewCanvas c = { 0 };

    ff_mvview_canvas_init(&c, &frame, format);
    return c;
}

static void check_blend_8(void)
{
    const MvviewCanvas c = blend_canvas(AV_PIX_FMT_YUV420P);
    static Blend b;
    declare_func(void, uint8_t *dst, const uint8_t *src, const uint16_t *mul,
                 const uint16_t *add, ptrdiff_t n);

    if (!check_func(c.blend_8, "mvview_blend_8"))
        return;
    for (int n = MVVIEW_PAD; n <= BLEND_WORDS; n += MVVIEW_PAD) {
        draw_blend(&b, 8);
        call_ref(b.dst[0], b.src, b.mul, b.add_8, n);
        call_new(b.dst[1], b.src, b.mul, b.add_8, n);
        if (memcmp(b.dst[0], b.dst[1], sizeof(b.dst[0])))
            fail();
    }
    bench_new(b.dst[1], b.src, b.mul, b.add_8, BLEND_WORDS);
}

static void check_blend_16(enum AVPixelFormat format)
{
    const MvviewCanvas c = blend_canvas(format);
    static Blend b;
    declare_func(void, uint8_t *dst, const uint8_t *src, const uint16_t *mul,
                 const uint32_t *add, ptrdiff_t n, int shift);

    if (!check_func(c.blend_16, "mvview_blend_16_%d", c.depth))
        return;
    for (int n = MVVIEW_PAD; n <= BLEND_WORDS; n += MVVIEW_PAD) {
        draw_blend(&b, c.depth);
        call_ref(b.dst[0], b.src, b.mul, b.add_16, n, c.shift);
        call_new(b.dst[1], b.src, b.mul, b.add_16, n, c.shift);
        if (memcmp(b.dst[0], b.dst[1], sizeof(b.dst[0])))
            fail();
    }
    bench_new(b.dst[1], b.src, b.mul, b.add_16, BLEND_WORDS, c.shift);
}

/* There is no C version; compares with a C function for rows. */
static void check_blend_rect_8(void)
{
    enum { N = BLEND_WORDS / 4, H = 5, LINE = N + BLEND_MARGIN };
    const MvviewCanvas c = blend_canvas(AV_PIX_FMT_YUV420P);
    static uint16_t weights[H * 2 * N];
    static uint8_t dst[2][H * LINE];
    static Blend b;
    declare_func(void, uint8_t *dst, ptrdiff_t linesize, const uint8_t *weights, ptrdiff_t n, int h);

    if (!c.blend_rect_8 || !check_func(c.blend_rect_8, "mvview_blend_rect_8"))
        return;
    for (int n = MVVIEW_PAD; n <= N; n += MVVIEW_PAD) {
        for (int i = 0; i < sizeof(dst[0]); i++)
            dst[0][i] = dst[1][i] = rnd();
        for (int y = 0; y < H; y++) {
            draw_blend(&b, 8);
            memcpy(weights + y * 2 * n,     b.mul,   2 * n);
            memcpy(weights + y * 2 * n + n, b.add_8, 2 * n);
            for (int x = 0; x < n; x++)
                dst[0][y * LINE + x] = (dst[0][y * LINE + x] * b.mul[x] + b.add_8[x]) >> 8;
        }
        call_new(dst[1], LINE, (const uint8_t *)weights, n, H);
        if (memcmp(dst[0], dst[1], sizeof(dst[0])))
            fail();
    }
    bench_new(dst[1], LINE, (const uint8_t *)weights, N, H);
}

static void check_view(void)
{
    check_blend_8();
    check_blend_16(AV_PIX_FMT_YUV420P10);
    check_blend_16(AV_PIX_FMT_P012);
    check_blend_16(AV_PIX_FMT_YUV444P16);
    check_blend_rect_8();
    report("blend");
}
#endif

#if CONFIG_MVFPS_FILTER
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

/* There is no C version; compares with two calls for one component. */
static void check_mvfps_match_two(const MvfpsDsp *dsp, const MvfpsDsp *plain, MvfpsBuffers *b)
{
    const int first = 3 * MVFPS_LINE + 8, apart = 5 * MVFPS_LINE - 3;
    int at[2] = { 83, 38 };
    declare_func(void, uint16_t (*dst)[MVFPS_TILE_SAMPLES], const uint8_t *a, const uint8_t *b, ptrdiff_t stride,
                 const int *at, ptrdiff_t apart, int h, int max);

    if (!dsp->match_two || !check_func(dsp->match_two, "mvfps_match_two_8"))
        return;
    for (int i = 0; i < 4 * 256; i++) {
        const int h = 2 << rnd() % 3;

        draw_places(at, i, 16);
        draw_mvfps(b, 8);
        call_new(b->matches[1], b->pictures[0] + first, b->pictures[1] + first, MVFPS_LINE, at, apart, h, 255);
        for (int k = 0; k < 2; k++) {
            plain->match(b->matches[0], b->pictures[0] + first + k * apart, b->pictures[1] + first + k * apart,
                         MVFPS_LINE, at, 4, h, 255);
            for (int n = 0; n < 8 * h; n++)
                if (n % 8 < 4 && (b->matches[0][0][n] != b->matches[1][0][n + 4 * k] ||
                                  b->matches[0][1][n] != b->matches[1][1][n + 4 * k]))
                    fail();
        }
    }
    bench_new(b->matches[1], b->pictures[0] + first, b->pictures[1] + first, MVFPS_LINE, at, apart, 4, 255);
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

static void check_mvfps_cluster(const MvfpsDsp *dsp)
{
    MvfpsVector cells[MVFPS_TILE_CELLS];
    declare_func(unsigned, const MvfpsVector *cells, int leader);

    if (!check_func(dsp->cluster, "mvfps_cluster"))
        return;
    for (int i = 0; i < 64 * MVFPS_TILE_CELLS; i++) {
        unsigned ref, new;

        draw_vectors(cells, FF_ARRAY_ELEMS(cells), 0);
        ref = call_ref(cells, i % MVFPS_TILE_CELLS);
        new = call_new(cells, i % MVFPS_TILE_CELLS);
        if (ref != new)
            fail();
    }
    bench_new(cells, 5);
}

static void check_mvfps(void)
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
    check_mvfps_match_two(&dsp, &plain, &b);
    check_mvfps_mean(&dsp, &b);
    check_mvfps_add(&dsp, &plain, &b);
    check_mvfps_store(&dsp, &b);
    check_mvfps_distinct(&dsp);
    check_mvfps_distinct_from(&dsp);
    check_mvfps_sum_distances(&dsp);
    check_mvfps_field_penalties(&dsp);
    check_mvfps_cluster(&dsp);
    report("mvfps");
}
#endif

#if CONFIG_MVDENOISE_FILTER
/** Pictures from which patches are read, and length of their rows in samples. */
#define MVDENOISE_PICTURES  4
#define MVDENOISE_LINE      48

typedef struct MvdenoiseBuffers {
    uint16_t pictures[MVDENOISE_PICTURES][MVDENOISE_LINE * 40];     ///< in bytes or words
    MvdenoisePatch patches[2 * MVDENOISE_MAX_STACK];
    MvdenoiseSource source;
    DECLARE_ALIGNED(32, uint16_t, samples)[2][MVDENOISE_SAMPLES];
    /* space for 32 bits each */
    DECLARE_ALIGNED(32, int32_t, coefs)[2][(2 * MVDENOISE_MAX_STACK + 1) * MVDENOISE_SAMPLES];
    DECLARE_ALIGNED(32, int32_t, results)[2][MVDENOISE_SAMPLES];
} MvdenoiseBuffers;

static int draw_sample(int kind, int max)
{
    return kind == 0 ? rnd() % (max + 1U) : kind == 1 ? (rnd() & 1) * max : FFMIN(max / 3 + rnd() % (max / 8), max);
}

static ptrdiff_t draw_pictures(MvdenoiseBuffers *b, int depth)
{
    const int bytes = depth > 8 ? 2 : 1, kind = rnd() % 3, max = (1 << depth) - 1;

    for (int k = 0; k < MVDENOISE_PICTURES; k++)
        for (int i = 0; i < FF_ARRAY_ELEMS(b->pictures[k]); i++) {
            const int v = draw_sample(kind, max);

            if (bytes > 1)
                b->pictures[k][i] = v;
            else
                ((uint8_t *)b->pictures[k])[i] = v;
        }
    for (int i = 0; i < FF_ARRAY_ELEMS(b->patches); i++)
        for (int k = 0; k < 2; k++)
            b->patches[i].from[k] = (uint8_t *)b->pictures[rnd() % MVDENOISE_PICTURES] +
                                    (rnd() % 32 * MVDENOISE_LINE + rnd() % 40) * bytes;
    for (int i = 0; i < FF_ARRAY_ELEMS(b->source.parts); i++)
        for (int k = 0; k < 2; k++)
            b->source.parts[i].from[k] = (uint8_t *)b->pictures[rnd() % MVDENOISE_PICTURES] +
                                         (12 * MVDENOISE_LINE + 12) * bytes;
    b->source.stride = MVDENOISE_LINE * bytes;
    for (int i = 0; i < MVDENOISE_SAMPLES; i++)
        b->samples[0][i] = b->samples[1][i] = draw_sample(kind, max);
    return b->source.stride;
}

static void check_mvdenoise_read(const MvdenoiseSamples *s, MvdenoiseBuffers *b, int depth)
{
    ptrdiff_t stride;
    declare_func(unsigned, uint16_t *dst, const MvdenoisePatch *patch, ptrdiff_t stride);

    if (!check_func(s->read, "mvdenoise_read_%d", depth))
        return;
    for (int i = 0; i < 64; i++) {
        unsigned ref, new;

        stride = draw_pictures(b, depth);
        ref = call_ref(b->samples[0], b->patches, stride);
        new = call_new(b->samples[1], b->patches, stride);
        if (ref != new || memcmp(b->samples[0], b->samples[1], sizeof(b->samples[0])))
            fail();
    }
    bench_new(b->samples[1], b->patches, stride);
}

static void check_mvdenoise_candidates(const MvdenoiseSamples *s)
{
    static GpumeCellVector field[30 * 20];
    MvdenoiseSpot spot = { .log2_cell = 3 };
    MvdenoiseCandidates dst[2];
    declare_func(unsigned, MvdenoiseCandidates *dst, const GpumeCellVector *field, const MvdenoiseSpot *spot);

    if (!check_func(s->candidates, "mvdenoise_candidates"))
        return;
    for (int i = 0; i < 1024; i++) {
        const int cols = 1 + rnd() % 30, rows = 1 + rnd() % 20, range = i & 1 ? 3 : i & 2 ? 100 : GPUME_LONGEST + 1;
        unsigned ref, new;

        for (int k = 0; k < FF_ARRAY_ELEMS(field); k++) {
            field[k].x = rnd() & 7 ? (int)(rnd() % (2 * range - 1)) - range + 1 : GPUME_NO_VECTOR;
            field[k].y = rnd() & 7 ? (int)(rnd() % (2 * range - 1)) - range + 1 : 0;
        }
        spot.hsub        = rnd() % 3;
        spot.vsub        = rnd() % 3;
        spot.x           = rnd() % (8 * cols) >> spot.hsub;
        spot.y           = rnd() % (8 * rows) >> spot.vsub;
        spot.least       = mvdenoise_inside(-100000, 0);
        spot.most_x      = mvdenoise_inside(100000, 8 * cols >> spot.hsub);
        spot.most_y      = mvdenoise_inside(100000, 8 * rows >> spot.vsub);
        spot.stride      = 64 * (1 + rnd() % 64);
        spot.log2_bytes  = rnd() & 1;
        spot.last_column = cols - 1;
        for (int k = 0; k < MVDENOISE_PLACES; k++) {
            spot.beside[k] = (int)(rnd() % 31) - 15;
            spot.rows[k]   = rnd() % rows * cols;
        }
        ref = call_ref(&dst[0], field, &spot);
        new = call_new(&dst[1], field, &spot);
        if (ref != new || memcmp(&dst[0], &dst[1], sizeof(dst[0])))
            fail();
    }
    bench_new(&dst[1], field, &spot);
}

static void check_mvdenoise_best(const MvdenoiseSamples *s, MvdenoiseBuffers *b, int depth)
{
    MvdenoiseSearch ref, new;
    unsigned long long penalties[16] = { 0 };
    declare_func(void, MvdenoiseSearch *search, const uint16_t *own);

    if (!check_func(s->best, "mvdenoise_best_%d", depth))
        return;
    memset(&ref, 0, sizeof(ref));
    ref.penalties = penalties;
    for (int i = 0; i < 512; i++) {
        const ptrdiff_t stride = draw_pictures(b, depth);
        const int bytes        = depth > 8 ? 2 : 1;
        const uint64_t most    = 64ULL << 2 * depth;

        ref.mask = i & 1 ? (uint64_t)rnd() << 32 | rnd() : 1ULL << (rnd() & 63) | 1ULL << (rnd() & 63);
        for (int k = 0; k < 16; k++)
            penalties[k] = i & 2 ? rnd() % (most >> 6) : 0;
        for (int j = 0; j < MVDENOISE_OTHERS; j++) {
            MvdenoiseCandidates *c = &ref.candidates[j];

            ref.sources[j] = &b->source;
            ref.best[j]    = -1;
            ref.limits[j]  = rnd() & 7 ? 1 + ((uint64_t)rnd() << 8) % most : most;
            for (int k = 0; k < MVDENOISE_CANDIDATES; k++) {
                const int same = k && !(rnd() & 7);

                c->offsets[k] = same ? c->offsets[k - 1] : ((int)(rnd() % 24) - 12) * bytes +
                                                           ((int)(rnd() % 24) - 12) * (int)stride;
                c->parts[k]   = same ? c->parts[k - 1] : rnd() & 15;
            }
        }
        /* an equal or nearly equal patch */
        if (!(i & 4)) {
            const MvdenoisePatch equal = mvdenoise_match(&b->source, &ref.candidates[rnd() & 7], rnd() & 7);

            s->read(b->samples[0], &equal, stride);
            b->samples[0][rnd() % 64] ^= rnd() & 1;
        }
        new = ref;
        call_ref(&ref, b->samples[0]);
        call_new(&new, b->samples[0]);
        if (memcmp(ref.limits, new.limits, sizeof(ref.limits)) || memcmp(ref.best, new.best, sizeof(ref.best)))
            fail();
    }
    new.mask = 0x55555555;
    bench_new(&new, b->samples[0]);
}

static void check_mvdenoise_add(const MvdenoiseSamples *s, int depth)
{
    static uint16_t samples[20][MVDENOISE_SAMPLES];
    uint64_t sums[2][90];
    uint32_t weights[2][90];
    uint16_t patch_weights[20];
    uint8_t window[MVDENOISE_PATCH];
    declare_func(void, void *sums, uint32_t *weights, const uint16_t *samples, const uint16_t *patch_weights, int nb,
                 const uint8_t *window);

    if (!check_func(s->add, "mvdenoise_add_%d", depth))
        return;
    for (int i = 0; i < 64; i++) {
        const int nb = rnd() % 21;

        for (int k = 0; k < 20; k++)
            for (int j = 0; j < MVDENOISE_SAMPLES; j++)
                samples[k][j] = rnd() % (1 << depth);
        for (int k = 0; k < 20; k++)
            patch_weights[k] = rnd() & 3 ? 1 + rnd() % 8192 : 8192;
        for (int k = 0; k < MVDENOISE_PATCH; k++)
            window[k] = 1 + rnd() % 60;
        for (int k = 0; k < 90; k++) {
            weights[0][k] = weights[1][k] = rnd() >> 12;
            sums[0][k]    = sums[1][k]    = 0;
        }
        call_ref(sums[0], weights[0], samples[0] + 8, patch_weights, nb, window);
        call_new(sums[1], weights[1], samples[0] + 8, patch_weights, nb, window);
        if (memcmp(sums[0], sums[1], sizeof(sums[0])) || memcmp(weights[0], weights[1], sizeof(weights[0])))
            fail();
    }
    bench_new(sums[1], weights[1], samples[0], patch_weights, 20, window);
}

/* Tests quotients near whole numbers and near halves. */
static void check_mvdenoise_divide(const MvdenoiseSamples *s, int depth)
{
    union {
        uint32_t s10[80];
        uint64_t s16[80];
    } sums;
    uint32_t weights[80];
    uint16_t dst[2][80];
    const int fraction = mvdenoise_fraction(depth);
    declare_func(void, uint16_t *dst, const void *sums, const uint32_t *weights, int w, int fraction);

    if (!check_func(s->divide, "mvdenoise_divide_%d", depth))
        return;
    for (int i = 0; i < 256; i++) {
        const int w = 1 + rnd() % 72;

        for (int k = 0; k < 80; k++) {
            const uint32_t weight = weights[k] = 1 + rnd() % (i & 1 ? 8192 * 346 : 100);
            const uint64_t sum    = (rnd() % (1ULL << depth)) * ((uint64_t)weight << fraction) +
                                    (weight << fraction) / 2 + rnd() % 5;
            const uint64_t most   = ((1ULL << depth) - 1) * ((uint64_t)weight << fraction);

            if (depth > 10)
                sums.s16[k] = FFMIN(FFMAX(sum, 2) - 2, most);
            else
                sums.s10[k] = FFMIN(FFMAX(sum, 2) - 2, most);
        }
        call_ref(dst[0], &sums, weights, w, fraction);
        call_new(dst[1], &sums, weights, w, fraction);
        if (memcmp(dst[0], dst[1], w * sizeof(**dst)))
            fail();
    }
    bench_new(dst[1], &sums, weights, 72, fraction);
}

static size_t coef_size(int depth)
{
    return depth > 10 ? sizeof(int32_t) : sizeof(int16_t);
}

static void check_mvdenoise_over_space(const MvdenoiseTransform *t, MvdenoiseBuffers *b, int depth)
{
    const int fraction = mvdenoise_fraction(depth);
    ptrdiff_t stride;
    declare_func(void, void *coefs, const MvdenoisePatch *patches, ptrdiff_t stride, int nb, int base, int fraction);

    if (!check_func(t->over_space, "mvdenoise_over_space_%d", depth))
        return;
    for (int i = 0; i < 256; i++) {
        const int nb = 1 + i % (2 * MVDENOISE_MAX_STACK), base = draw_sample(rnd() & 1, (1 << depth) - 1);

        stride = draw_pictures(b, depth);
        call_ref(b->coefs[0], b->patches, stride, nb, base, fraction);
        call_new(b->coefs[1], b->patches, stride, nb, base, fraction);
        if (memcmp(b->coefs[0], b->coefs[1], nb * MVDENOISE_SAMPLES * coef_size(depth)))
            fail();
    }
    bench_new(b->coefs[1], b->patches, stride, 10, 100, fraction);
}

/* Draws coefficients of patches and noise, up to the largest possible values and down to 0. */
static MvdenoiseNoise draw_coefs(const MvdenoiseTransform *t, MvdenoiseBuffers *b, int depth)
{
    const ptrdiff_t stride = draw_pictures(b, depth);
    const int sigma = rnd() & 1 ? MVDENOISE_SIGMA_MIN + rnd() % 8192 : rnd() & 1 ? MVDENOISE_SIGMA_MIN
                                                                                 : MVDENOISE_SIGMA_MAX;

    t->over_space(b->coefs[0], b->patches, stride, 2 * MVDENOISE_MAX_STACK, draw_sample(2, (1 << depth) - 1),
                  mvdenoise_fraction(depth));
    return mvdenoise_noise(sigma, depth);
}

static void check_mvdenoise_threshold(const MvdenoiseTransform *t, MvdenoiseBuffers *b, int depth)
{
    declare_func(unsigned, void *dst, const void *coefs, int nb, int own, int mean, int other);

    for (int nb = 1; nb <= MVDENOISE_MAX_STACK; nb++) {
        if (!check_func(t->threshold, "mvdenoise_threshold_%d_%d", depth, nb))
            continue;
        for (int i = 0; i < 64; i++) {
            const MvdenoiseNoise noise = draw_coefs(t, b, depth);
            unsigned ref, new;

            ref = call_ref(b->results[0], b->coefs[0], nb, i % nb, noise.threshold[0], noise.threshold[1]);
            new = call_new(b->results[1], b->coefs[0], nb, i % nb, noise.threshold[0], noise.threshold[1]);
            if (ref != new || memcmp(b->results[0], b->results[1], MVDENOISE_SAMPLES * coef_size(depth)))
                fail();
        }
        bench_new(b->results[1], b->coefs[0], nb, nb / 2, 100, 100);
    }
}

static void check_mvdenoise_wiener(const MvdenoiseTransform *t, MvdenoiseBuffers *b, int depth)
{
    declare_func(unsigned, void *dst, const void *coefs, int nb, int own, int most, int reciprocal);

    for (int nb = 1; nb <= MVDENOISE_MAX_STACK; nb++) {
        MvdenoiseNoise noise;

        if (!check_func(t->wiener, "mvdenoise_wiener_%d_%d", depth, nb))
            continue;
        for (int i = 0; i < 64; i++) {
            unsigned ref, new;

            noise = draw_coefs(t, b, depth);
            ref = call_ref(b->results[0], b->coefs[0], nb, i % nb, noise.most, noise.reciprocal);
            new = call_new(b->results[1], b->coefs[0], nb, i % nb, noise.most, noise.reciprocal);
            if (ref != new || memcmp(b->results[0], b->results[1], MVDENOISE_SAMPLES * coef_size(depth)))
                fail();
        }
        bench_new(b->results[1], b->coefs[0], nb, nb / 2, noise.most, noise.reciprocal);
    }
}

static void check_mvdenoise_back(const MvdenoiseTransform *t, MvdenoiseBuffers *b, int depth)
{
    const int fraction = mvdenoise_fraction(depth), max = ((1 << depth) - 1) << fraction;
    declare_func(void, uint16_t *dst, const void *coefs, int base, int max);

    if (!check_func(t->back, "mvdenoise_back_%d", depth))
        return;
    for (int i = 0; i < 256; i++) {
        const MvdenoiseNoise noise = draw_coefs(t, b, depth);
        const int base = draw_sample(rnd() & 1, (1 << depth) - 1) << fraction;

        if (i & 1)
            t->threshold(b->results[0], b->coefs[0], 1 + i % MVDENOISE_MAX_STACK, 0, noise.threshold[0],
                         noise.threshold[1]);
        else
            memcpy(b->results[0], b->coefs[0], sizeof(b->results[0]));
        call_ref(b->samples[0], b->results[0], base, max);
        call_new(b->samples[1], b->results[0], base, max);
        if (memcmp(b->samples[0], b->samples[1], sizeof(b->samples[0])))
            fail();
    }
    bench_new(b->samples[1], b->results[0], 100, max);
}

static void check_mvdenoise(void)
{
    static const int depths[] = { 8, 9, 10, 12, 16 };
    static MvdenoiseBuffers b;

    for (int i = 0; i < FF_ARRAY_ELEMS(depths); i++) {
        const int depth = depths[i];
        MvdenoiseSamples s;
        MvdenoiseTransform t;

        ff_mvdenoise_samples_init(&s, depth);
        ff_mvdenoise_transform_init(&t, depth);
        if (!i)
            check_mvdenoise_candidates(&s);
        check_mvdenoise_read(&s, &b, depth);
        check_mvdenoise_best(&s, &b, depth);
        check_mvdenoise_add(&s, depth);
        check_mvdenoise_divide(&s, depth);
        check_mvdenoise_over_space(&t, &b, depth);
        check_mvdenoise_threshold(&t, &b, depth);
        check_mvdenoise_wiener(&t, &b, depth);
        check_mvdenoise_back(&t, &b, depth);
    }
    report("mvdenoise");
}
#endif

#if CONFIG_MVSTEREO_FILTER
#define STEREO_RANGE 96
#define STEREO_NB    7
#define STEREO_STEP  (STEREO_RANGE + MVSTEREO_LANES)

static void draw_bytes(uint8_t *p, size_t size, int nb)
{
    for (size_t i = 0; i < size; i++)
        p[i] = rnd() % nb;
}

static void check_mvstereo_costs(const MvstereoDSP *dsp)
{
    static uint8_t left[MVSTEREO_FEATURES][32], right[MVSTEREO_FEATURES][STEREO_RANGE + 64];
    LOCAL_ALIGNED_32(uint8_t, costs, [2], [STEREO_NB * STEREO_RANGE]);
    MvstereoCosts c = {
        .left = left[0] + 3, .right = right[0] + STEREO_NB + 2, .left_plane = sizeof(left[0]),
        .right_plane = sizeof(right[0]),
    };
    declare_func(void, const MvstereoCosts *c);

    if (!check_func(dsp->costs, "mvstereo_costs"))
        return;
    for (int i = 0; i < 64; i++) {
        draw_bytes(left[0], MVSTEREO_NIBBLES * sizeof(left[0]), 16);
        draw_bytes(right[0], MVSTEREO_NIBBLES * sizeof(right[0]), 16);
        draw_bytes(left[MVSTEREO_NIBBLES], 2 * sizeof(left[0]), i & 1 ? 256 : 30);
        draw_bytes(right[MVSTEREO_NIBBLES], 2 * sizeof(right[0]), i & 1 ? 256 : 30);
        memset(costs, 99, sizeof(costs[0]) * 2);
        c.nb    = 1 + i % STEREO_NB;
        c.range = MVSTEREO_LANES * (1 + i % 3);
        c.costs = costs[0];
        call_ref(&c);
        c.costs = costs[1];
        call_new(&c);
        if (memcmp(costs[0], costs[1], sizeof(costs[0])))
            fail();
    }
    c.nb = STEREO_NB;
    bench_new(&c);
}

static void check_mvstereo_path(const MvstereoDSP *dsp)
{
    LOCAL_ALIGNED_32(uint8_t, paths, [2], [(STEREO_NB + 2) * STEREO_STEP + MVSTEREO_LANES]);
    LOCAL_ALIGNED_32(uint8_t, costs, [STEREO_NB * STEREO_RANGE]);
    uint8_t least[2][STEREO_NB + 2], p2[STEREO_NB];
    declare_func(void, const MvstereoPath *p);

    if (!check_func(dsp->path, "mvstereo_path"))
        return;
    for (int i = 0; i < 64; i++) {
        const int range = MVSTEREO_LANES * (1 + i % 3), step = range + MVSTEREO_LANES, back = i & 1;
        /* after windows that have nothing in common, the least cost can be as large as that */
        const int base = i % 4 ? 74 : 214;
        MvstereoPath p = {
            .costs = costs + (back ? (STEREO_NB - 1) * range : 0), .p2 = p2 + (back ? STEREO_NB - 1 : 0),
            .path_step = back ? -step : step, .costs_step = back ? -range : range, .step = back ? -1 : 1,
            .nb = STEREO_NB, .range = range,
        };

        draw_bytes(costs, STEREO_NB * STEREO_RANGE, 75);
        for (int k = 0; k < STEREO_NB; k++)
            p2[k] = mvstereo_p2(rnd() % 40);
        memset(paths[0], 255, sizeof(paths[0]));
        memset(least[0], 0, sizeof(least[0]));
        least[0][back ? STEREO_NB + 1 : 0] = base;
        for (int k = 0; k < range; k++) {
            uint8_t *first = paths[0] + MVSTEREO_LANES + (back ? STEREO_NB + 1 : 0) * step + k;

            /* 255: what the window before does not have */
            *first = base > 74 ? rnd() % 3 ? 255 : 214 : rnd() % 141 + 74;
            if (k == i)
                *first = base;
        }
        memcpy(paths[1], paths[0], sizeof(paths[0]));
        memcpy(least[1], least[0], sizeof(least[0]));
        for (int v = 0; v < 2; v++) {
            p.path         = paths[v] + MVSTEREO_LANES + (back ? STEREO_NB : 1) * step;
            p.before       = p.path - p.path_step;
            p.least        = least[v] + (back ? STEREO_NB : 1);
            p.least_before = p.least - p.step;
            if (v) {
                call_new(&p);
            } else {
                call_ref(&p);
            }
        }
        if (memcmp(paths[0], paths[1], sizeof(paths[0])) || memcmp(least[0], least[1], sizeof(least[0])))
            fail();
        if (i == 63)
            bench_new(&p);
    }
}

static void check_mvstereo_sums(const MvstereoDSP *dsp)
{
    LOCAL_ALIGNED_32(uint8_t, paths, [4], [STEREO_RANGE]);
    LOCAL_ALIGNED_32(uint16_t, sums, [2], [STEREO_RANGE]);
    uint16_t right[2][2][STEREO_RANGE + 1];
    MvstereoSums s = { .paths = { paths[0], paths[1], paths[2], paths[3] } };
    int least[2];

    if (check_func(dsp->sum, "mvstereo_sum")) {
        declare_func(int, const MvstereoSums *s);

        for (int i = 0; i < 64; i++) {
            s.range = MVSTEREO_LANES * (1 + i % 3);
            draw_bytes(paths[0], 4 * sizeof(paths[0]), i & 1 ? 215 : 20);
            for (int k = 0; k <= STEREO_RANGE; k++) {
                right[0][0][k] = rnd() & 1 ? INT16_MAX : rnd() % 860;
                right[0][1][k] = rnd() % 1024;
            }
            memcpy(right[1], right[0], sizeof(right[0]));
            memset(sums, 0, 2 * sizeof(sums[0]));
            for (int v = 0; v < 2; v++) {
                s.sums        = sums[v];
                s.right_least = right[v][0] + 1;
                s.right_index = right[v][1] + 1;
                if (v) {
                    least[v] = call_new(&s);
                } else {
                    least[v] = call_ref(&s);
                }
            }
            if (least[0] != least[1] || memcmp(sums[0], sums[1], sizeof(sums[0])) ||
                memcmp(right[0], right[1], sizeof(right[0])))
                fail();
        }
        bench_new(&s);
    }
    for (int k = 0; k < STEREO_RANGE; k++)
        sums[0][k] = rnd() % 40 + 3;
    if (check_func(dsp->find, "mvstereo_find")) {
        declare_func(int, const uint16_t *sums, int value, ptrdiff_t range);

        for (int k = 0; k < STEREO_RANGE; k++) {
            least[0] = call_ref(sums[0], sums[0][k], STEREO_RANGE);
            least[1] = call_new(sums[0], sums[0][k], STEREO_RANGE);
            if (least[0] != least[1])
                fail();
        }
        bench_new(sums[0], sums[0][40], STEREO_RANGE);
    }
    if (check_func(dsp->least, "mvstereo_least")) {
        declare_func(int, const uint16_t *sums, ptrdiff_t range);

        for (int k = 0; k < STEREO_RANGE; k++) {
            const int range = MVSTEREO_LANES * (1 + k / MVSTEREO_LANES);

            sums[0][k] = 3 - k % 3;
            least[0]   = call_ref(sums[0], range);
            least[1]   = call_new(sums[0], range);
            if (least[0] != least[1])
                fail();
            sums[0][k] = INT16_MAX;
        }
        bench_new(sums[0], STEREO_RANGE);
    }
}

static void check_mvstereo_weighted_median(const MvstereoDSP *dsp)
{
    enum { MAP_W = 80, NB = 37, FIRST = 4 * MAP_W + 8 };
    static int16_t disparity[9 * MAP_W], dst[2][64];
    static uint8_t luma[9 * MAP_W], valid[9 * MAP_W];
    MvstereoMedian m = {
        .disparity = disparity + FIRST, .luma = luma + FIRST, .valid = valid + FIRST, .stride = MAP_W,
    };
    declare_func(void, const MvstereoMedian *m);

    if (!check_func(dsp->weighted_median, "mvstereo_weighted_median"))
        return;
    for (int i = 0; i < 64; i++) {
        const int base = rnd() % 16000, range = 1 << rnd() % 14;

        for (int k = 0; k < 9 * MAP_W; k++) {
            const int value = base + rnd() % range;

            /* FFMIN() evaluates its arguments twice */
            disparity[k] = FFMIN(value, MVSTEREO_MAX_RANGE * MVSTEREO_ONE - 1);
            valid[k]     = i & 1 && rnd() & 1 ? 0 : 255;
        }
        draw_bytes(luma, sizeof(luma), 1 << (i % 9));
        m.nb = 1 + i % NB;
        for (int v = 0; v < 2; v++) {
            m.dst = dst[v];
            if (v) {
                call_new(&m);
            } else {
                call_ref(&m);
            }
        }
        if (memcmp(dst[0], dst[1], m.nb * sizeof(dst[0][0])))
            fail();
    }
    m.nb = 32;
    bench_new(&m);
}

static void check_mvstereo(void)
{
    MvstereoDSP dsp;

    ff_mvstereo_dsp_init(&dsp);
    check_mvstereo_costs(&dsp);
    check_mvstereo_path(&dsp);
    check_mvstereo_sums(&dsp);
    check_mvstereo_weighted_median(&dsp);
    report("mvstereo");
}
#endif

#if CONFIG_MVDEINT_FILTER
/** Maximum number of samples of a row, and size of the margin. */
#define DEINT_W     200
#define DEINT_AROUND 32

/* Draws samples of 8 bits: arbitrary, with similar neighbours, or extreme. */
static void draw_deint_row(uint8_t *p, int nb)
{
    const int kind = rnd() % 3, spread = 1 << rnd() % 8;

    for (int x = 0; x < nb; x++)
        p[x] = kind == 0 ? rnd() : kind == 1 ? -(rnd() & 1) : av_clip_uint8((x ? p[x - 1] : rnd() & 255) +
                                                                            (int)(rnd() % (2 * spread + 1)) - spread);
}

static void check_mvdeint_match(const MvdeintSamples *s)
{
    LOCAL_ALIGNED_32(uint8_t, src, [16 * 64]);
    LOCAL_ALIGNED_32(uint16_t, ref, [8 * 16]);
    LOCAL_ALIGNED_32(uint16_t, new, [8 * 16]);
    declare_func(void, uint16_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t stride, int fx, int fy, int w,
                 int h, int depth);

    if (!check_func(s->match, "mvdeint_match_8"))
        return;
    for (int i = 0; i < 500; i++) {
        const int w = 2 << rnd() % 3, h = 2 << rnd() % 3, fx = rnd() & 7, fy = rnd() & 7;

        draw_deint_row(src, 16 * 64);
        memset(ref, 0xa5, 2 * 8 * 16);
        memset(new, 0xa5, 2 * 8 * 16);
        call_ref(ref, (ptrdiff_t)16, src + 4 * 64 + 8, (ptrdiff_t)64, fx, fy, w, h, 8);
        call_new(new, (ptrdiff_t)16, src + 4 * 64 + 8, (ptrdiff_t)64, fx, fy, w, h, 8);
        for (int y = 0; y < 8; y++)
            if (memcmp(ref + 16 * y, new + 16 * y, 2 * w) || memcmp(ref + 16 * y + 8, new + 16 * y + 8, 16) ||
                (y >= h && memcmp(ref + 16 * y, new + 16 * y, 16)))
                fail();
    }
    bench_new(new, (ptrdiff_t)16, src + 4 * 64 + 8, (ptrdiff_t)64, 3, 5, 8, 8, 8);
}

static void check_mvdeint_intra(const MvdeintSamples *s)
{
    LOCAL_ALIGNED_32(uint8_t, src, [4], [DEINT_W + 2 * DEINT_AROUND]);
    LOCAL_ALIGNED_32(uint8_t, ref, [DEINT_W + 16]);
    LOCAL_ALIGNED_32(uint8_t, new, [DEINT_W + 16]);
    const uint8_t *lines[4];
    declare_func(void, uint8_t *dst, const uint8_t *const *lines, int w, int depth);

    if (!check_func(s->intra, "mvdeint_intra_8"))
        return;
    for (int i = 0; i < 300; i++) {
        const int w = 1 + rnd() % DEINT_W;

        for (int j = 0; j < 4; j++) {
            draw_deint_row(src[j], DEINT_W + 2 * DEINT_AROUND);
            lines[j] = src[rnd() & 3] + DEINT_AROUND;
        }
        call_ref(ref, lines, w, 8);
        call_new(new, lines, w, 8);
        if (memcmp(ref, new, w))
            fail();
    }
    bench_new(new, lines, DEINT_W, 8);
}

/** Inputs of a missing line. */
typedef struct DeintBuffers {
    uint16_t samples[MVDEINT_MAX_CANDIDATES][DEINT_W + 16];
    uint8_t known[MVDEINT_MAX_CANDIDATES][DEINT_W + 16];
    uint32_t errors[MVDEINT_MAX_CANDIDATES][DEINT_W + 16], pairs[2][DEINT_W + 16];
    uint32_t activity[DEINT_W + 16], step[DEINT_W + 16];
    uint8_t first[DEINT_W + 16], intra[DEINT_W + 16];
} DeintBuffers;

/* Returns the square of a difference, usually a small one. */
static unsigned draw_square(void)
{
    const unsigned d = rnd() % (MVDEINT_MAX_DIFFERENCE + 1) >> rnd() % 10;

    return rnd() % 20 ? d * d : rnd() % 2 * MVDEINT_MAX_DIFFERENCE * MVDEINT_MAX_DIFFERENCE;
}

static void draw_deint(DeintBuffers *b, MvdeintRow *row)
{
    draw_deint_row(b->first, DEINT_W + 16);
    draw_deint_row(b->intra, DEINT_W + 16);
    for (int x = 0; x < DEINT_W + 16; x++) {
        if (rnd() & 1)
            b->intra[x] = av_clip_uint8(b->first[x] + (int)(rnd() % 9) - 4);
        for (int i = 0; i < MVDEINT_MAX_CANDIDATES; i++) {
            b->samples[i][x] = rnd() & 3 ? av_clip(16 * b->first[x] + (int)(rnd() % 129) - 64, 0, 4080) : rnd() % 4081;
            b->known[i][x]   = rnd() & 1 ? rnd() % (MVDEINT_KNOWN + 1) : rnd() % 2 * MVDEINT_KNOWN;
            b->errors[i][x]  = draw_square();
        }
        for (int i = 0; i < 2; i++)
            b->pairs[i][x] = draw_square() / 2;
        b->activity[x] = draw_square();
        b->step[x]     = draw_square();
    }
    *row = (MvdeintRow) {
        .w = 1 + rnd() % DEINT_W, .depth = 8, .present = 15, .first = b->first, .intra = b->intra,
        .activity = b->activity, .step = b->step,
    };
    for (int i = 0; i < MVDEINT_MAX_CANDIDATES; i++)
        row->candidates[i] = (MvdeintCandidate) { b->samples[i], b->known[i], b->errors[i], b->pairs[i / 2] };
}

static void check_mvdeint_combine(const MvdeintSamples *s)
{
    static const MvdeintModel models[] = { MVDEINT_MODELS };
    static DeintBuffers b;
    LOCAL_ALIGNED_32(uint8_t, ref, [DEINT_W + 16]);
    LOCAL_ALIGNED_32(uint8_t, new, [DEINT_W + 16]);
    MvdeintRow row;
    declare_func(void, uint8_t *dst, const MvdeintRow *row);

    if (!check_func(s->combine, "mvdeint_combine_8"))
        return;
    for (int i = 0; i < 200; i++) {
        draw_deint(&b, &row);
        row.model = &models[rnd() % FF_ARRAY_ELEMS(models)];
        call_ref(ref, &row);
        call_new(new, &row);
        if (memcmp(ref, new, row.w))
            fail();
    }
    row.w = DEINT_W;
    bench_new(new, &row);
}

/** Sums of a row, whose margins are not compared. */
typedef struct DeintSums {
    uint32_t squares[DEINT_W + 2 * DEINT_AROUND];
    uint16_t weights[DEINT_W + 2 * DEINT_AROUND];
} DeintSums;

static MvdeintSums sums_of(DeintSums *s)
{
    return (MvdeintSums) { s->squares + DEINT_AROUND, s->weights + DEINT_AROUND };
}

/* Draws sums of nb lines. */
static void draw_sums(DeintSums *a, DeintSums *b, int nb)
{
    for (int i = 0; i < DEINT_W + 2 * DEINT_AROUND; i++) {
        const unsigned known  = rnd() & 3 ? rnd() % (MVDEINT_KNOWN + 1) : rnd() % 2 * MVDEINT_KNOWN;
        const unsigned weight = nb * (MVDEINT_LEAST_KNOWN + known);

        a->weights[i] = b->weights[i] = weight;
        a->squares[i] = b->squares[i] = weight * draw_square();
    }
}

static int differ(const DeintSums *a, const DeintSums *b, int w)
{
    return memcmp(a->squares + DEINT_AROUND, b->squares + DEINT_AROUND, w * sizeof(*a->squares)) ||
           memcmp(a->weights + DEINT_AROUND, b->weights + DEINT_AROUND, w * sizeof(*a->weights));
}

static void check_mvdeint_sums(const MvdeintSamples *s)
{
    static DeintBuffers b;
    static DeintSums ref, new;
    MvdeintSums of_ref = sums_of(&ref), of_new = sums_of(&new);
    MvdeintRow row;

    if (check_func(s->add_errors, "mvdeint_add_errors_8")) {
        declare_func(void, const MvdeintSums *sums, const uint8_t *line, const uint16_t *samples, const uint8_t *known,
                     int w, int depth);

        for (int i = 0; i < 200; i++) {
            draw_deint(&b, &row);
            draw_sums(&ref, &new, 1);
            call_ref(&of_ref, b.first, b.samples[0], b.known[0], row.w, 8);
            call_new(&of_new, b.first, b.samples[0], b.known[0], row.w, 8);
            if (differ(&ref, &new, row.w))
                fail();
        }
        bench_new(&of_new, b.first, b.samples[0], b.known[0], DEINT_W, 8);
    }
    if (check_func(s->add_pair, "mvdeint_add_pair_8")) {
        declare_func(void, const MvdeintSums *sums, const uint16_t *one, const uint16_t *two, const uint8_t *real_one,
                     const uint8_t *real_two, int w, int depth);

        for (int i = 0; i < 200; i++) {
            draw_deint(&b, &row);
            draw_sums(&ref, &new, 2);
            call_ref(&of_ref, b.samples[0], b.samples[1], b.known[0], b.known[1], row.w, 8);
            call_new(&of_new, b.samples[0], b.samples[1], b.known[0], b.known[1], row.w, 8);
            if (differ(&ref, &new, row.w))
                fail();
        }
        bench_new(&of_new, b.samples[0], b.samples[1], b.known[0], b.known[1], DEINT_W, 8);
    }
}

static void check_mvdeint_mean(const MvdeintSamples *s)
{
    static DeintSums sums, same;
    MvdeintSums of_sums = sums_of(&sums);
    LOCAL_ALIGNED_32(uint32_t, ref, [DEINT_W + 16]);
    LOCAL_ALIGNED_32(uint32_t, new, [DEINT_W + 16]);
    declare_func(void, uint32_t *dst, const MvdeintSums *sums, int w, int shift);

    if (!check_func(s->mean, "mvdeint_mean"))
        return;
    for (int i = 0; i < 200; i++) {
        const int w = 1 + rnd() % DEINT_W, shift = rnd() & 1;

        draw_sums(&sums, &same, 2 + shift);
        /* beyond the row is what was there before */
        for (int x = w; x < w + 16; x++)
            sums.weights[DEINT_AROUND + x] = rnd();
        call_ref(ref, &of_sums, w, shift);
        call_new(new, &of_sums, w, shift);
        if (memcmp(ref, new, w * sizeof(*ref)))
            fail();
    }
    bench_new(new, &of_sums, DEINT_W, 1);
}

/* Draws samples of depth bits. */
static void draw_deint_words(uint16_t *p, int nb, int depth)
{
    LOCAL_ALIGNED_32(uint8_t, bytes, [DEINT_W + 2 * DEINT_AROUND]);

    for (int x = 0; x < nb; x++) {
        if (x % (DEINT_W + 2 * DEINT_AROUND) == 0)
            draw_deint_row(bytes, DEINT_W + 2 * DEINT_AROUND);
        p[x] = bytes[x % (DEINT_W + 2 * DEINT_AROUND)] << (depth - 8) | (rnd() & ((1 << (depth - 8)) - 1));
    }
}

static void check_mvdeint_words(int depth)
{
    LOCAL_ALIGNED_32(uint16_t, src, [4], [DEINT_W + 2 * DEINT_AROUND]);
    LOCAL_ALIGNED_32(uint16_t, ref, [DEINT_W + 16]);
    LOCAL_ALIGNED_32(uint16_t, new, [DEINT_W + 16]);
    MvdeintSamples s;

    ff_mvdeint_samples_init(&s, depth);
    if (check_func(s.match, "mvdeint_match_%d", depth)) {
        declare_func(void, uint16_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t stride, int fx, int fy,
                     int w, int h, int depth);

        for (int i = 0; i < 500; i++) {
            const int w = 2 << rnd() % 3, h = 2 << rnd() % 3, fx = rnd() & 7, fy = rnd() & 7;

            draw_deint_words(src[0], 4 * (DEINT_W + 2 * DEINT_AROUND), depth);
            memset(ref, 0xa5, 2 * 8 * 16);
            memset(new, 0xa5, 2 * 8 * 16);
            call_ref(ref, (ptrdiff_t)16, (uint8_t *)(src[0] + 4 * 64 + 8), (ptrdiff_t)128, fx, fy, w, h, depth);
            call_new(new, (ptrdiff_t)16, (uint8_t *)(src[0] + 4 * 64 + 8), (ptrdiff_t)128, fx, fy, w, h, depth);
            for (int y = 0; y < 8; y++)
                if (memcmp(ref + 16 * y, new + 16 * y, 2 * w) || memcmp(ref + 16 * y + 8, new + 16 * y + 8, 16) ||
                    (y >= h && memcmp(ref + 16 * y, new + 16 * y, 16)))
                    fail();
        }
        bench_new(new, (ptrdiff_t)16, (uint8_t *)(src[0] + 4 * 64 + 8), (ptrdiff_t)128, 3, 5, 8, 8, depth);
    }
    if (check_func(s.intra, "mvdeint_intra_%d", depth)) {
        const uint8_t *lines[4];
        declare_func(void, uint8_t *dst, const uint8_t *const *lines, int w, int depth);

        for (int i = 0; i < 300; i++) {
            const int w = 1 + rnd() % DEINT_W;

            for (int j = 0; j < 4; j++) {
                draw_deint_words(src[j], DEINT_W + 2 * DEINT_AROUND, depth);
                lines[j] = (uint8_t *)(src[rnd() & 3] + DEINT_AROUND);
            }
            call_ref((uint8_t *)ref, lines, w, depth);
            call_new((uint8_t *)new, lines, w, depth);
            if (memcmp(ref, new, w * sizeof(*ref)))
                fail();
        }
        bench_new((uint8_t *)new, lines, DEINT_W, depth);
    }
}

/* Draws compensated samples and lines of depth bits. */
static void draw_deint_deep(DeintBuffers *b, uint16_t lines[2][DEINT_W + 16], MvdeintRow *row, int depth)
{
    draw_deint(b, row);
    for (int i = 0; i < 2; i++)
        for (int x = 0; x < DEINT_W + 16; x++)
            lines[i][x] = (i ? b->intra : b->first)[x] << (depth - 8) | (rnd() & ((1 << (depth - 8)) - 1));
    for (int i = 0; i < MVDEINT_MAX_CANDIDATES; i++)
        for (int x = 0; x < DEINT_W + 16; x++)
            b->samples[i][x] = FFMIN(b->samples[i][x] << (depth - 8) | (rnd() & ((1 << (depth - 8)) - 1)),
                                     ((1 << depth) - 1) << 4);
    row->depth = depth;
    row->first = (uint8_t *)lines[0];
    row->intra = (uint8_t *)lines[1];
}

static void check_mvdeint_deep(int depth)
{
    static const MvdeintModel models[] = { MVDEINT_MODELS };
    static uint16_t lines[2][DEINT_W + 16], ref[DEINT_W + 16], new[DEINT_W + 16];
    static DeintBuffers b;
    static DeintSums ref_sums, new_sums;
    MvdeintSums of_ref = sums_of(&ref_sums), of_new = sums_of(&new_sums);
    MvdeintSamples s;
    MvdeintRow row;

    ff_mvdeint_samples_init(&s, depth);
    if (check_func(s.combine, "mvdeint_combine_%d", depth)) {
        declare_func(void, uint8_t *dst, const MvdeintRow *row);

        for (int i = 0; i < 200; i++) {
            draw_deint_deep(&b, lines, &row, depth);
            row.model = &models[rnd() % FF_ARRAY_ELEMS(models)];
            call_ref((uint8_t *)ref, &row);
            call_new((uint8_t *)new, &row);
            if (memcmp(ref, new, row.w * sizeof(*ref)))
                fail();
        }
        row.w = DEINT_W;
        bench_new((uint8_t *)new, &row);
    }
    if (check_func(s.add_errors, "mvdeint_add_errors_%d", depth)) {
        declare_func(void, const MvdeintSums *sums, const uint8_t *line, const uint16_t *samples, const uint8_t *known,
                     int w, int depth);

        for (int i = 0; i < 200; i++) {
            draw_deint_deep(&b, lines, &row, depth);
            draw_sums(&ref_sums, &new_sums, 1);
            call_ref(&of_ref, row.first, b.samples[0], b.known[0], row.w, depth);
            call_new(&of_new, row.first, b.samples[0], b.known[0], row.w, depth);
            if (differ(&ref_sums, &new_sums, row.w))
                fail();
        }
        bench_new(&of_new, row.first, b.samples[0], b.known[0], DEINT_W, depth);
    }
    if (check_func(s.add_pair, "mvdeint_add_pair_%d", depth)) {
        declare_func(void, const MvdeintSums *sums, const uint16_t *one, const uint16_t *two, const uint8_t *real_one,
                     const uint8_t *real_two, int w, int depth);

        for (int i = 0; i < 200; i++) {
            draw_deint_deep(&b, lines, &row, depth);
            draw_sums(&ref_sums, &new_sums, 2);
            call_ref(&of_ref, b.samples[0], b.samples[1], b.known[0], b.known[1], row.w, depth);
            call_new(&of_new, b.samples[0], b.samples[1], b.known[0], b.known[1], row.w, depth);
            if (differ(&ref_sums, &new_sums, row.w))
                fail();
        }
        bench_new(&of_new, b.samples[0], b.samples[1], b.known[0], b.known[1], DEINT_W, depth);
    }
}

static void check_mvdeint_compare(const MvdeintSamples *s)
{
    static DeintBuffers b;
    MvdeintRow row;
    declare_func(void, int *error, int *activity, const uint8_t *line, const uint8_t *above, const uint8_t *below,
                 const uint16_t *samples, int w, int depth);

    if (!check_func(s->compare, "mvdeint_compare_8"))
        return;
    for (int i = 0; i < 300; i++) {
        const int w = 1 + rnd() % MVDEINT_BLOCK, at = rnd() % DEINT_W;
        int ref[2] = { rnd() % 1000, rnd() % 1000 }, new[2] = { ref[0], ref[1] };

        draw_deint(&b, &row);
        call_ref(&ref[0], &ref[1], b.first + at, b.intra + at, b.known[0] + at, b.samples[0] + at, w, 8);
        call_new(&new[0], &new[1], b.first + at, b.intra + at, b.known[0] + at, b.samples[0] + at, w, 8);
        if (ref[0] != new[0] || ref[1] != new[1])
            fail();
    }
    bench_new(&(int) { 0 }, &(int) { 0 }, b.first, b.intra, b.known[0], b.samples[0], MVDEINT_BLOCK, 8);
}

static void check_mvdeint_residual(const MvdeintSamples *s)
{
    static DeintBuffers b;
    static uint16_t ref[DEINT_W + 16], new[DEINT_W + 16];
    MvdeintRow row;
    declare_func(void, uint16_t *dst, const uint16_t *above, const uint16_t *below, const uint8_t *line_above,
                 const uint8_t *line_below, int w, int depth);

    if (!check_func(s->residual, "mvdeint_residual_8"))
        return;
    for (int i = 0; i < 200; i++) {
        draw_deint(&b, &row);
        memcpy(ref, b.samples[2], sizeof(ref));
        memcpy(new, b.samples[2], sizeof(new));
        call_ref(ref, b.samples[0], b.samples[1], b.first, b.intra, row.w, 8);
        call_new(new, b.samples[0], b.samples[1], b.first, b.intra, row.w, 8);
        if (memcmp(ref, new, row.w * sizeof(*ref)))
            fail();
    }
    bench_new(new, b.samples[0], b.samples[1], b.first, b.intra, DEINT_W, 8);
}

static void check_mvdeint_mix(const MvdeintSamples *s)
{
    static uint8_t src[11][DEINT_W + 2 * DEINT_AROUND];
    static uint8_t still[DEINT_W + 16], ref[DEINT_W + 16], new[DEINT_W + 16];
    static MvdeintChange columns[DEINT_W + 16];
    MvdeintLines l;
    declare_func(void, uint8_t *dst, const uint8_t *intra, const uint8_t *still, const MvdeintLines *l,
                 MvdeintChange *columns, int w, int depth);

    if (!check_func(s->mix, "mvdeint_mix_8"))
        return;
    for (int i = 0; i < 300; i++) {
        const int w = 1 + rnd() % DEINT_W, like = rnd() & 1;

        for (int j = 0; j < FF_ARRAY_ELEMS(src); j++)
            draw_deint_row(src[j], DEINT_W + 2 * DEINT_AROUND);
        for (int j = 0; j < 5; j++) {
            l.earlier[j] = src[j] + DEINT_AROUND;
            l.later[j]   = src[5 + j] + DEINT_AROUND;
            for (int x = 0; x < DEINT_W + 2 * DEINT_AROUND && like; x++)
                src[5 + j][x] = av_clip_uint8(src[j][x] + (int)(rnd() % 9) - 4);
        }
        draw_deint_row(ref, DEINT_W + 16);
        memcpy(new, ref, sizeof(new));
        for (int x = 0; x < DEINT_W + 16; x++)
            still[x] = !(rnd() % 4);
        call_ref(ref, src[10] + DEINT_AROUND, still, &l, columns, w, 8);
        call_new(new, src[10] + DEINT_AROUND, still, &l, columns, w, 8);
        if (memcmp(ref, new, w))
            fail();
    }
    bench_new(new, src[10] + DEINT_AROUND, still, &l, columns, DEINT_W, 8);
}

static void check_mvdeint(void)
{
    MvdeintSamples s;

    ff_mvdeint_samples_init(&s, 8);
    check_mvdeint_match(&s);
    check_mvdeint_intra(&s);
    check_mvdeint_combine(&s);
    check_mvdeint_sums(&s);
    check_mvdeint_mean(&s);
    check_mvdeint_compare(&s);
    check_mvdeint_residual(&s);
    check_mvdeint_mix(&s);
    for (int depth = 9; depth <= 12; depth++)
        check_mvdeint_words(depth);
    for (int depth = 9; depth <= 10; depth++)
        check_mvdeint_deep(depth);
    report("mvdeint");
}
#endif

void checkasm_check_vf_gpume(void)
{
    static const int depths[] = { 8, 16 };

    for (int i = 0; i < FF_ARRAY_ELEMS(depths); i++) {
#define CHECK(ID, name, title)                                  \
        check_one(#name, ff_gpume_##name##_init, depths[i]);    \
        check_four(#name, ff_gpume_##name##_init, depths[i]);
        GPUME_COSTS(CHECK)
#undef CHECK
        check_columns(depths[i]);
        check_average(depths[i]);
    }
    check_blocks("sad", "means", ff_gpume_sad_init, 8, 4);
    check_blocks("sad", "means_x2", ff_gpume_sad_init, 4, 2);
    check_blocks("sad", "around", ff_gpume_sad_init, 5, 8);
    check_halve();
    check_right();
    check_below();
    check_centre();
    check_candidates();
    check_candidates_at();
    check_locate();
    check_least_sum();
    check_add();
    check_bound();
    check_bound_and_store();
    check_join();
#if CONFIG_MVVIEW_FILTER
    check_view();
#endif
#if CONFIG_MVFPS_FILTER
    check_mvfps();
#endif
#if CONFIG_MVDENOISE_FILTER
    check_mvdenoise();
#endif
#if CONFIG_MVDEINT_FILTER
    check_mvdeint();
#endif
#if CONFIG_MVSTEREO_FILTER
    check_mvstereo();
#endif
}
