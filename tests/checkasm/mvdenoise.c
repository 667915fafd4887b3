/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Tests the functions of mvdenoise that have assembly code (gpume.c).
 */

#include <string.h>

#include "checkasm.h"
#include "vf_gpume.h"

#include "libavfilter/gpume/mvdenoise/samples.h"
#include "libavfilter/gpume/mvdenoise/transform.h"
#include "libavutil/common.h"
#include "libavutil/cpu.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem_internal.h"

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
        MvdenoiseRatios ratios;

        if (!check_func(t->wiener, "mvdenoise_wiener_%d_%d", depth, nb))
            continue;
        for (int i = 0; i < 64; i++) {
            unsigned ref, new;

            ratios = mvdenoise_ratios(draw_coefs(t, b, depth).sigma, rnd() & 1 ? 0 : rnd() & 0xffffff, depth);
            ref = call_ref(b->results[0], b->coefs[0], nb, i % nb, ratios.most, ratios.reciprocal);
            new = call_new(b->results[1], b->coefs[0], nb, i % nb, ratios.most, ratios.reciprocal);
            if (ref != new || memcmp(b->results[0], b->results[1], MVDENOISE_SAMPLES * coef_size(depth)))
                fail();
        }
        bench_new(b->results[1], b->coefs[0], nb, nb / 2, ratios.most, ratios.reciprocal);
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

void checkasm_check_mvdenoise(void)
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
        check_mvdenoise_over_space(&t, &b, depth);
        check_mvdenoise_threshold(&t, &b, depth);
        check_mvdenoise_wiener(&t, &b, depth);
        check_mvdenoise_back(&t, &b, depth);
    }
    report("mvdenoise");
}
