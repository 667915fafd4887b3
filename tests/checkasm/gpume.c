/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Tests functions that have assembly code in FFmpeg's checkasm: they must give the same results as
 * C and must not change registers or inputs. Measures their speed. The functions of cpu/ are tested here, those of a
 * filter's folder in the file with its name.
 */

#include <string.h>

#include "config_components.h"

#include "checkasm.h"
#include "vf_gpume.h"

#include "libavfilter/gpume/core/propagation.h"
#include "libavfilter/gpume/cpu/cost.h"
#include "libavfilter/gpume/cpu/pixels.h"
#include "libavfilter/gpume/cpu/sea.h"
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

/** Runs a statement for trials with every kind of samples. */
#define FOR_TRIALS(depth)                                   \
    for (int kind = 0; kind < NB_KINDS; kind++)             \
        for (int trial = (fill(kind, depth), 0); trial < TRIALS; trial++)

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

/** Sets the first of h rows nb times, all in the same direction. Returns their linesize. */
static ptrdiff_t rows_alike(const uint8_t **first, int nb, int h)
{
    ptrdiff_t linesize, other;

    first[0] = rows_of(&ref, h, &linesize);
    for (int k = 1; k < nb; k++) {
        do
            first[k] = rows_of(&ref, h, &other);
        while (other != linesize);
    }
    return linesize;
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
        FOR_TRIALS(depth) {
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
        FOR_TRIALS(depth) {
            const int h = height_of(trial);
            ptrdiff_t cur_linesize;
            const uint8_t *c = rows_of(&cur, h, &cur_linesize);
            const ptrdiff_t ref_linesize = rows_alike(r, 4, h);
            uint32_t limit;

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
        FOR_TRIALS(8) {
            const int h = (height_of(trial) + 1) & ~1;
            ptrdiff_t cur_linesize;
            const uint8_t *c = rows_of(&cur, h, &cur_linesize);
            const ptrdiff_t linesize = rows_alike(blocks, nb, h);

            memset(found, 0xa5, sizeof(found));
            call_ref(c, cur_linesize, blocks, linesize, h, sum);
            call_new(c, cur_linesize, blocks, linesize, h, found + 1);
            if (memcmp(found + 1, sum, nb_costs * sizeof(*sum)) || found[0] != 0xa5a5a5a5 ||
                found[nb_costs + 1] != 0xa5a5a5a5 || inputs_changed())
                fail();
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
        FOR_TRIALS(8) {
            const int n = 1 + rnd() % STRIDE;

            memset(rows_out, 0xa5, sizeof(rows_out));
            call_ref(rows_out[0], cur.data + trial, n, 255);
            call_new(rows_out[1], cur.data + trial, n, 255);
            if (wrong_row(rows_out[0], rows_out[1], n, 1) || inputs_changed())
                fail();
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
        FOR_TRIALS(8) {
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

/* Sums: a row of the picture, the bytes written after it, and both planes. */
#define WIDTH   320
#define HEIGHT   96
#define GUARD    32

/** Number of candidates in maps that are joined. */
#define JOINED 1200

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

/* Tests bound(), or bound_and_store(), which is for complete blocks. */
static void check_bound(const char *name, int store)
{
    GpumeParams params = { .width = WIDTH, .height = HEIGHT, .block = 16, .depth = 8 };
    static uint16_t sums[2][2 * HEIGHT * (WIDTH + 2 * GPUME_SEA_ALIGN)];
    static uint16_t sums_before[FF_ARRAY_ELEMS(sums[0])];
    static uint16_t stored[HEIGHT * WIDTH + GUARD];
    static uint64_t kept[GPUME_SEA_KEPT_WORDS(WIDTH) + 1];
    static uint64_t map[2][HEIGHT][GPUME_SEA_KEPT_WORDS(WIDTH)];
    GpumeSea sea;
    GpumeSeaBounds b;

    declare_func(int, const GpumeSeaBounds *b, const uint8_t *sums, int nb_rows, uint64_t *kept);

    ff_gpume_sea_init(&sea, &params);
    if (check_func(store ? sea.bound_and_store : sea.bound, "gpume_%s", name)) {
        for (int trial = 0; trial < 24 * TRIALS; trial++) {
            const int kind  = RANDOM + trial % (EXTREMES - RANDOM + 1);
            const int block = params.block = 4 << rnd() % 5;
            const int w     = store || trial & 1 ? block : 1 + rnd() % block;
            const int h     = store || trial & 2 ? block : 1 + rnd() % block;
            const int most  = 1 + rnd() % (WIDTH - w + 1), candidates = most > 70 && rnd() & 1 ? 33 : most;
            const int rows  = 1 + rnd() % (HEIGHT - h + 1), row_words = FFALIGN(candidates, GPUME_SEA_ALIGN);
            const uint8_t *first = (const uint8_t *)(sums[1] + rnd() % (WIDTH - w - candidates + 2));
            const unsigned limits[][2] = {
                { UINT16_MAX,                       rnd() & UINT16_MAX },
                { rnd() % 4,                        UINT16_MAX },
                { rnd() & 511,                      rnd() & 2047 },
                { rnd() & UINT16_MAX,               rnd() & UINT16_MAX },
                { rnd() & UINT16_MAX >> rnd() % 16, rnd() & UINT16_MAX >> rnd() % 16 },
            };
            const unsigned *limit = limits[rnd() % FF_ARRAY_ELEMS(limits)];

            for (int i = 0; i < FF_ARRAY_ELEMS(sums[0]) && trial % 16 < 3; i++) {
                const unsigned base = kind == REALISTIC ? 8000 : rnd() & INT16_MAX >> 1;

                sums[0][i] = sum_of(kind, base);
                sums[1][i] = sum_of(kind, base);
            }
            memcpy(sums_before, sums[1], sizeof(sums_before));
            ff_gpume_sea_init(&sea, &params);
            ff_gpume_sea_block(&sea, &b, (const uint8_t *)sums[0], w, h);
            first += rnd() % (HEIGHT - h - rows + 2) * sea.linesize;
            b.nb_candidates = candidates;
            b.map_linesize  = 2 * row_words;
            b.half_limit    = twice(limit[0]);
            b.quarter_limit = twice(limit[1]);

            /* A row may be returned because of bits after its last candidate, so the candidates
             * of all rows are compared. */
            memset(map, 0, sizeof(map));
            for (int i = 0; i < 2; i++) {
                memset(stored, 0xa5, sizeof(stored));
                for (int row = 0; row < rows; row++) {
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
                for (int row = 0; row < rows && store; row++)
                    if (!stored_well(&b, first + row * sea.linesize, stored + row * row_words, map[i][row]))
                        fail();
                for (int j = store ? rows * row_words : 0; j < FF_ARRAY_ELEMS(stored); j++)
                    if (stored[j] != 0xa5a5)
                        fail();
            }
            if (memcmp(map[0], map[1], sizeof(map[0])) || memcmp(sums[1], sums_before, sizeof(sums_before)))
                fail();
        }
        /* the bounds of halves eliminate all candidates */
        params.block = 16;
        ff_gpume_sea_init(&sea, &params);
        memset(sums, 0, sizeof(sums));
        ff_gpume_sea_block(&sea, &b, (const uint8_t *)sums[0], 16, 16);
        b.nb_candidates = 33;
        b.half_limit    = b.quarter_limit = twice(100);
        b.map           = (uint8_t *)stored;
        b.map_linesize  = 66;
        memset(sums[1], 1, sizeof(sums[1]));
        bench_new(&b, (const uint8_t *)sums[1], 33, kept);
    }
    report("%s", name);
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
    }
    check_blocks("sad", "means", ff_gpume_sad_init, 8, 4);
    check_blocks("sad", "means_x2", ff_gpume_sad_init, 4, 2);
    check_blocks("sad", "around", ff_gpume_sad_init, 5, 8);
    check_right();
    check_below();
    check_centre();
    check_candidates();
    check_candidates_at();
    check_add();
    check_bound("bound", 0);
    check_bound("bound_and_store", 1);
    check_join();
#define CHECK_FILTER(NAME, name)        \
    if (CONFIG_##NAME##_FILTER)         \
        checkasm_check_##name();
    CHECK_FILTER(MVVIEW,    mvview)
    CHECK_FILTER(MVFPS,     mvfps)
    CHECK_FILTER(MVDENOISE, mvdenoise)
    CHECK_FILTER(MVDEINT,   mvdeint)
    CHECK_FILTER(MVSTAB,    mvstab)
    CHECK_FILTER(MVSTEREO,  mvstereo)
#undef CHECK_FILTER
}
