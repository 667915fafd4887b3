/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Tests the functions of mvdeint that have assembly code (gpume.c).
 */

#include <string.h>

#include "checkasm.h"
#include "vf_gpume.h"

#include "libavfilter/gpume/mvdeint/samples.h"
#include "libavutil/common.h"
#include "libavutil/cpu.h"
#include "libavutil/intmath.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem_internal.h"

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

/* Draws samples of depth bits, in bytes or words. */
static void draw_deint_samples(void *p, int nb, int depth)
{
    uint8_t *bytes  = p;
    uint16_t *words = p;

    draw_deint_row(bytes, nb);
    for (int x = nb - 1; x >= 0 && depth > 8; x--)
        words[x] = bytes[x] << (depth - 8) | (rnd() & ((1 << (depth - 8)) - 1));
}

static void check_mvdeint_match(const MvdeintSamples *s, int depth)
{
    const int bytes = depth > 8 ? 2 : 1;
    const ptrdiff_t stride = 64 * bytes;
    LOCAL_ALIGNED_32(uint8_t, src, [2 * 16 * 64]);
    LOCAL_ALIGNED_32(uint16_t, ref, [8 * 16]);
    LOCAL_ALIGNED_32(uint16_t, new, [8 * 16]);
    const uint8_t *first = src + 4 * stride + 8 * bytes;
    declare_func(void, uint16_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t stride, int fx, int fy, int w,
                 int h, int depth);

    if (!check_func(s->match, "mvdeint_match_%d", depth))
        return;
    for (int i = 0; i < 500; i++) {
        const int w = 2 << rnd() % 3, h = 2 << rnd() % 3, fx = rnd() & 7, fy = rnd() & 7;

        draw_deint_samples(src, 16 * 64, depth);
        memset(ref, 0xa5, 2 * 8 * 16);
        memset(new, 0xa5, 2 * 8 * 16);
        call_ref(ref, (ptrdiff_t)16, first, stride, fx, fy, w, h, depth);
        call_new(new, (ptrdiff_t)16, first, stride, fx, fy, w, h, depth);
        for (int y = 0; y < 8; y++)
            if (memcmp(ref + 16 * y, new + 16 * y, 2 * w) || memcmp(ref + 16 * y + 8, new + 16 * y + 8, 16) ||
                (y >= h && memcmp(ref + 16 * y, new + 16 * y, 16)))
                fail();
    }
    bench_new(new, (ptrdiff_t)16, first, stride, 3, 5, 8, 8, depth);
}

static void check_mvdeint_intra(const MvdeintSamples *s, int depth)
{
    const int bytes = depth > 8 ? 2 : 1;
    LOCAL_ALIGNED_32(uint8_t, src, [4], [2 * (DEINT_W + 2 * DEINT_AROUND)]);
    LOCAL_ALIGNED_32(uint8_t, ref, [2 * (DEINT_W + 16)]);
    LOCAL_ALIGNED_32(uint8_t, new, [2 * (DEINT_W + 16)]);
    const uint8_t *lines[4];
    declare_func(void, uint8_t *dst, const uint8_t *const *lines, int w, int depth);

    if (!check_func(s->intra, "mvdeint_intra_%d", depth))
        return;
    for (int i = 0; i < 300; i++) {
        const int w = 1 + rnd() % DEINT_W;

        for (int j = 0; j < 4; j++) {
            draw_deint_samples(src[j], DEINT_W + 2 * DEINT_AROUND, depth);
            lines[j] = src[rnd() & 3] + DEINT_AROUND * bytes;
        }
        call_ref(ref, lines, w, depth);
        call_new(new, lines, w, depth);
        if (memcmp(ref, new, w * bytes))
            fail();
    }
    bench_new(new, lines, DEINT_W, depth);
}

/** Inputs of a missing line. */
typedef struct DeintBuffers {
    uint16_t samples[MVDEINT_MAX_CANDIDATES][DEINT_W + 16];
    uint8_t known[MVDEINT_MAX_CANDIDATES][DEINT_W + 16];
    uint32_t errors[MVDEINT_MAX_CANDIDATES][DEINT_W + 16];
    uint32_t activity[DEINT_W + 16], step[DEINT_W + 16];
    uint8_t first[DEINT_W + 16], intra[DEINT_W + 16];
    uint16_t lines[2][DEINT_W + 16];            ///< first and intra of more than 8 bits
} DeintBuffers;

/* Returns the square of a difference, usually a small one. */
static unsigned draw_square(void)
{
    const unsigned d = rnd() % (MVDEINT_MAX_DIFFERENCE + 1) >> rnd() % 10;

    return rnd() % 20 ? d * d : rnd() % 2 * MVDEINT_MAX_DIFFERENCE * MVDEINT_MAX_DIFFERENCE;
}

static void draw_deint(DeintBuffers *b, MvdeintRow *row, int depth)
{
    const int more = depth - 8;

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
        b->activity[x] = draw_square();
        b->step[x]     = draw_square();
    }
    *row = (MvdeintRow) {
        .w = 1 + rnd() % DEINT_W, .depth = depth, .present = 15, .activity = b->activity, .step = b->step,
        .first = more ? (uint8_t *)b->lines[0] : b->first, .intra = more ? (uint8_t *)b->lines[1] : b->intra,
    };
    for (int x = 0; x < DEINT_W + 16 && more; x++) {
        for (int i = 0; i < 2; i++)
            b->lines[i][x] = (i ? b->intra : b->first)[x] << more | (rnd() & ((1 << more) - 1));
        for (int i = 0; i < MVDEINT_MAX_CANDIDATES; i++)
            b->samples[i][x] = FFMIN(b->samples[i][x] << more | (rnd() & ((1 << more) - 1)), ((1 << depth) - 1) << 4);
    }
    for (int i = 0; i < MVDEINT_MAX_CANDIDATES; i++)
        row->candidates[i] = (MvdeintCandidate) { b->samples[i], b->known[i], b->errors[i] };
}

/* Leaves out some candidates, or all. */
static void leave_out(MvdeintRow *row)
{
    row->present = rnd() & 15;
    for (int i = 0; i < MVDEINT_MAX_CANDIDATES && row->present; i++)
        if (!(row->present >> i & 1))
            row->candidates[i] = row->candidates[row->present >> (i ^ 1) & 1 ? i ^ 1 : ff_ctz(row->present)];
}

static void check_mvdeint_combine(const MvdeintSamples *s, int depth)
{
    static const MvdeintModel models[] = { MVDEINT_MODELS };
    static DeintBuffers b;
    LOCAL_ALIGNED_32(uint8_t, ref, [2 * (DEINT_W + 16)]);
    LOCAL_ALIGNED_32(uint8_t, new, [2 * (DEINT_W + 16)]);
    MvdeintRow row;
    declare_func(void, uint8_t *dst, const MvdeintRow *row);

    if (!check_func(s->combine, "mvdeint_combine_%d", depth))
        return;
    for (int i = 0; i < 200; i++) {
        draw_deint(&b, &row, depth);
        row.model = &models[rnd() % FF_ARRAY_ELEMS(models)];
        if (rnd() % 4 == 0)
            leave_out(&row);
        call_ref(ref, &row);
        call_new(new, &row);
        if (memcmp(ref, new, row.w * (depth > 8 ? 2 : 1)))
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

/* Draws sums of two lines. */
static void draw_sums(DeintSums *s)
{
    for (int i = 0; i < DEINT_W + 2 * DEINT_AROUND; i++) {
        const unsigned known  = rnd() & 3 ? rnd() % (MVDEINT_KNOWN + 1) : rnd() % 2 * MVDEINT_KNOWN;
        const unsigned weight = 2 * (MVDEINT_LEAST_KNOWN + known);

        s->weights[i] = weight;
        s->squares[i] = weight * draw_square();
    }
}

static int differ(const DeintSums *a, const DeintSums *b, int w)
{
    return memcmp(a->squares + DEINT_AROUND, b->squares + DEINT_AROUND, w * sizeof(*a->squares)) ||
           memcmp(a->weights + DEINT_AROUND, b->weights + DEINT_AROUND, w * sizeof(*a->weights));
}

static void check_mvdeint_errors(const MvdeintSamples *s, int depth)
{
    static DeintBuffers b;
    static DeintSums ref, new;
    MvdeintSums of_ref = sums_of(&ref), of_new = sums_of(&new);
    const uint16_t *samples[2] = { b.samples[0], b.samples[1] };
    const uint8_t *known[2] = { b.known[0], b.known[1] }, *lines[2];
    MvdeintRow row;
    declare_func(void, const MvdeintSums *sums, const uint8_t *const *lines, const uint16_t *const *samples,
                 const uint8_t *const *known, int w, int depth);

    if (!check_func(s->errors, "mvdeint_errors_%d", depth))
        return;
    for (int i = 0; i < 200; i++) {
        draw_deint(&b, &row, depth);
        lines[0] = row.first;
        lines[1] = row.intra;
        call_ref(&of_ref, lines, samples, known, row.w, depth);
        call_new(&of_new, lines, samples, known, row.w, depth);
        if (differ(&ref, &new, row.w))
            fail();
    }
    bench_new(&of_new, lines, samples, known, DEINT_W, depth);
}

static void check_mvdeint_mean(const MvdeintSamples *s)
{
    static DeintSums sums;
    MvdeintSums of_sums = sums_of(&sums);
    LOCAL_ALIGNED_32(uint32_t, ref, [DEINT_W + 16]);
    LOCAL_ALIGNED_32(uint32_t, new, [DEINT_W + 16]);
    declare_func(void, uint32_t *dst, const MvdeintSums *sums, int w);

    if (!check_func(s->mean, "mvdeint_mean"))
        return;
    for (int i = 0; i < 200; i++) {
        const int w = 1 + rnd() % DEINT_W;

        draw_sums(&sums);
        /* beyond the row is what was there before */
        for (int x = w; x < w + 16; x++)
            sums.weights[DEINT_AROUND + x] = rnd();
        call_ref(ref, &of_sums, w);
        call_new(new, &of_sums, w);
        if (memcmp(ref, new, w * sizeof(*ref)))
            fail();
    }
    bench_new(new, &of_sums, DEINT_W);
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

        draw_deint(&b, &row, 8);
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
        draw_deint(&b, &row, 8);
        memcpy(ref, b.samples[2], sizeof(ref));
        memcpy(new, b.samples[2], sizeof(new));
        call_ref(ref, b.samples[0], b.samples[1], b.first, b.intra, row.w, 8);
        call_new(new, b.samples[0], b.samples[1], b.first, b.intra, row.w, 8);
        if (memcmp(ref, new, row.w * sizeof(*ref)))
            fail();
    }
    bench_new(new, b.samples[0], b.samples[1], b.first, b.intra, DEINT_W, 8);
}

typedef struct DeintLines {
    uint8_t rows[18][DEINT_W + 2 * DEINT_AROUND];
    uint8_t first[DEINT_W + 16];
    MvdeintLines l;
} DeintLines;

/* Draws lines of all fields, often similar ones. */
static void draw_deint_lines(DeintLines *d)
{
    const uint8_t **lines = (const uint8_t **)&d->l;
    const int like = rnd() % 3;

    for (int i = 0; i < FF_ARRAY_ELEMS(d->rows); i++) {
        draw_deint_row(d->rows[i], sizeof(*d->rows));
        for (int x = 0; x < sizeof(*d->rows) && i && like; x++)
            d->rows[i][x] = av_clip_uint8(d->rows[0][x] + (like > 1 && rnd() % 4 ? 0 : (int)(rnd() % 9) - 4));
        lines[i] = d->rows[i] + DEINT_AROUND;
    }
    draw_deint_row(d->first, sizeof(d->first));
    for (int x = 0; x < DEINT_W + 16 && like; x++)
        d->first[x] = av_clip_uint8(d->rows[0][DEINT_AROUND + x] + (int)(rnd() % 5) - 2);
}

static void check_mvdeint_mix(const MvdeintSamples *s)
{
    static DeintLines d;
    static uint8_t reach[DEINT_W + 16], new[DEINT_W + 16];
    static MvdeintChange columns[DEINT_W + 16];
    declare_func(void, uint8_t *dst, const uint8_t *intra, const uint8_t *reach, const MvdeintLines *l,
                 MvdeintChange *columns, int w, int depth);

    if (!check_func(s->mix, "mvdeint_mix_8"))
        return;
    for (int i = 0; i < 300; i++) {
        const int w = 1 + rnd() % DEINT_W;

        draw_deint_lines(&d);
        memcpy(new, d.first, sizeof(new));
        for (int x = 0; x < DEINT_W + 16; x++)
            reach[x] = rnd() % 4 ? rnd() : 0;
        call_ref(d.first, d.l.above, reach, &d.l, columns, w, 8);
        call_new(new, d.l.above, reach, &d.l, columns, w, 8);
        if (memcmp(d.first, new, w))
            fail();
    }
    bench_new(new, d.l.above, reach, &d.l, columns, DEINT_W, 8);
}

static void check_mvdeint_weave(const MvdeintSamples *s)
{
    static DeintLines d;
    static uint8_t new[DEINT_W + 16];
    static uint32_t columns[DEINT_W + 16];
    declare_func(void, uint8_t *dst, const MvdeintLines *l, uint32_t *columns, int w, int depth);

    if (!check_func(s->weave, "mvdeint_weave_8"))
        return;
    for (int i = 0; i < 300; i++) {
        const int w = 1 + rnd() % DEINT_W;

        draw_deint_lines(&d);
        memcpy(new, d.first, sizeof(new));
        call_ref(d.first, &d.l, columns, w, 8);
        call_new(new, &d.l, columns, w, 8);
        if (memcmp(d.first, new, w))
            fail();
    }
    bench_new(new, &d.l, columns, DEINT_W, 8);
}

static void check_mvdeint_estimate(const MvdeintSamples *s)
{
    static DeintLines d;
    static uint8_t ref[2][DEINT_W + 16], new[2][DEINT_W + 16];
    declare_func(void, uint8_t *dst, uint8_t *reach, const MvdeintLines *l, int w, enum MvdeintKind kind, int max);

    if (!check_func(s->estimate, "mvdeint_estimate_8"))
        return;
    for (int i = 0; i < 300; i++) {
        const int w = 1 + rnd() % DEINT_W, kind = rnd() % 8 ? MVDEINT_ALL : rnd() % MVDEINT_ALL;

        draw_deint_lines(&d);
        call_ref(ref[0], ref[1], &d.l, w, kind, 255);
        call_new(new[0], new[1], &d.l, w, kind, 255);
        if (memcmp(ref[0], new[0], w) || memcmp(ref[1], new[1], w))
            fail();
    }
    bench_new(new[0], new[1], &d.l, DEINT_W, MVDEINT_ALL, 255);
}

/* Draws four areas of samples of this many bits, often similar ones. */
static void draw_deint_areas(uint16_t areas[4][MVDEINT_AREA], int bits)
{
    const int like = rnd() % 3, spread = 1 << rnd() % bits;

    for (int i = 0; i < 4; i++)
        for (int j = 0; j < MVDEINT_AREA; j++)
            areas[i][j] = like == 0 ? rnd() & ((1 << bits) - 1) : like == 1 ? -(rnd() & 1) & ((1 << bits) - 1) :
                          av_clip((i ? areas[0][j] : 1 << (bits - 1)) + (int)(rnd() % spread) - spread / 2, 0,
                                  (1 << bits) - 1);
}

static void check_mvdeint_fits(const MvdeintSamples *s)
{
    static uint8_t line[8 * MVDEINT_BLOCK];
    LOCAL_ALIGNED_32(uint16_t, areas, [4], [MVDEINT_AREA]);
    const uint16_t *rows[4] = { areas[0], areas[1], areas[2], areas[3] };
    unsigned ref[4][4], new[4][4];
    declare_func(void, unsigned (*fits)[4], const uint8_t *line, ptrdiff_t stride, const uint16_t *const *areas, int w,
                 int nb, int second, int depth);

    if (!check_func(s->fits, "mvdeint_fits_8"))
        return;
    for (int i = 0; i < 300; i++) {
        const int w = 1 + rnd() % MVDEINT_BLOCK, nb = 1 + rnd() % 4, second = rnd() & 1;

        draw_deint_row(line, sizeof(line));
        draw_deint_areas(areas, 12);
        memset(ref, 0xa5, sizeof(ref));
        memset(new, 0xa5, sizeof(new));
        call_ref(ref, line, (ptrdiff_t)2 * MVDEINT_BLOCK, rows, w, nb, second, 8);
        call_new(new, line, (ptrdiff_t)2 * MVDEINT_BLOCK, rows, w, nb, second, 8);
        if (memcmp(ref, new, sizeof(ref)))
            fail();
    }
    bench_new(new, line, (ptrdiff_t)2 * MVDEINT_BLOCK, rows, MVDEINT_BLOCK, 4, 1, 8);
}

static void check_mvdeint_blend(const MvdeintSamples *s)
{
    LOCAL_ALIGNED_32(uint16_t, areas, [4], [MVDEINT_AREA]);
    LOCAL_ALIGNED_32(uint16_t, ref, [MVDEINT_BLOCK], [16]);
    LOCAL_ALIGNED_32(uint16_t, new, [MVDEINT_BLOCK], [16]);
    const uint16_t *of[4] = { areas[0], areas[1], areas[2], areas[3] };
    unsigned fits[MVDEINT_BLOCK / 2][4];
    declare_func(void, uint16_t *dst, ptrdiff_t dst_stride, const uint16_t *const *areas, const unsigned (*fits)[4],
                 const uint8_t *wx, const uint8_t *wy, int w, int h);

    if (!check_func(s->blend, "mvdeint_blend"))
        return;
    for (int i = 0; i < 300; i++) {
        const int hsub = rnd() % 3, vsub = rnd() % 3, w = MVDEINT_BLOCK >> hsub;

        draw_deint_areas(areas, i & 1 ? 12 : 16);
        for (int j = 0; j < 4; j++) {
            const unsigned squares[4] = { rnd() >> rnd() % 32 >> 3, rnd() >> rnd() % 32 >> 3,
                                          rnd() >> rnd() % 32 >> 3, rnd() >> rnd() % 32 >> 3 };

            mvdeint_fits(fits[j], squares);
        }
        memset(ref, 0xa5, MVDEINT_BLOCK * sizeof(*ref));
        memset(new, 0xa5, MVDEINT_BLOCK * sizeof(*new));
        call_ref(ref[0], (ptrdiff_t)16, of, fits, ff_mvdeint_window[hsub], ff_mvdeint_window[vsub], w,
                 MVDEINT_BLOCK >> vsub);
        call_new(new[0], (ptrdiff_t)16, of, fits, ff_mvdeint_window[hsub], ff_mvdeint_window[vsub], w,
                 MVDEINT_BLOCK >> vsub);
        for (int y = 0; y < MVDEINT_BLOCK; y++)
            if (memcmp(ref[y], new[y], 2 * w) || memcmp(ref[y] + 8, new[y] + 8, 16) ||
                (y >= MVDEINT_BLOCK >> vsub && memcmp(ref[y], new[y], 16)))
                fail();
    }
    bench_new(new[0], (ptrdiff_t)16, of, fits, ff_mvdeint_window[0], ff_mvdeint_window[0], MVDEINT_BLOCK,
              MVDEINT_BLOCK);
}

static void check_mvdeint_known(const MvdeintSamples *s)
{
    static uint8_t ref[MVDEINT_BLOCK][16], new[MVDEINT_BLOCK][16];
    declare_func(void, uint8_t *dst, ptrdiff_t stride, const int *halves, const uint8_t *wx, const uint8_t *wy, int w,
                 int h);

    if (!check_func(s->known, "mvdeint_known"))
        return;
    for (int i = 0; i < 300; i++) {
        const int hsub = rnd() % 3, vsub = rnd() % 3, w = MVDEINT_BLOCK >> hsub, h = MVDEINT_BLOCK >> vsub;
        const int halves[4] = { rnd() % 9, rnd() % 9, rnd() % 9, rnd() % 9 };

        memset(ref, 0xa5, sizeof(ref));
        memset(new, 0xa5, sizeof(new));
        call_ref(ref[0], (ptrdiff_t)16, halves, ff_mvdeint_window[hsub], ff_mvdeint_window[vsub], w, h);
        call_new(new[0], (ptrdiff_t)16, halves, ff_mvdeint_window[hsub], ff_mvdeint_window[vsub], w, h);
        for (int y = 0; y < MVDEINT_BLOCK; y++)
            if (memcmp(ref[y], new[y], w) || memcmp(ref[y] + 8, new[y] + 8, 8) || (y >= h && memcmp(ref[y], new[y], 8)))
                fail();
    }
    bench_new(new[0], (ptrdiff_t)16, (const int[4]) { 0, 1, 2, 3 }, ff_mvdeint_window[0], ff_mvdeint_window[0],
              MVDEINT_BLOCK, MVDEINT_BLOCK);
}

void checkasm_check_mvdeint(void)
{
    MvdeintSamples s;

    for (int depth = 8; depth <= 12; depth++) {
        ff_mvdeint_samples_init(&s, depth);
        check_mvdeint_match(&s, depth);
        check_mvdeint_intra(&s, depth);
        if (depth > 10)
            continue;
        check_mvdeint_combine(&s, depth);
        check_mvdeint_errors(&s, depth);
    }
    ff_mvdeint_samples_init(&s, 8);
    check_mvdeint_mean(&s);
    check_mvdeint_compare(&s);
    check_mvdeint_residual(&s);
    check_mvdeint_mix(&s);
    check_mvdeint_weave(&s);
    check_mvdeint_estimate(&s);
    check_mvdeint_fits(&s);
    check_mvdeint_blend(&s);
    check_mvdeint_known(&s);
    report("mvdeint");
}
