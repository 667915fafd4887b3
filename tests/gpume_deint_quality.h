/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Compares the frames that mvdeint makes from synthetic clips with bwdif's and with the true ones: no field may be
 * worse than that of bwdif where its neighbours do not match, no lines may be combed, and still areas may not flicker.
 */

#ifndef GPUME_DEINT_QUALITY_H
#define GPUME_DEINT_QUALITY_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libavutil/common.h"
#include "libavutil/frame.h"
#include "libavutil/mem.h"

#include "gpume_harness.h"
#include "gpume_filter_harness.h"

enum { QUALITY_W = 112, QUALITY_H = 96, QUALITY_FIELDS = 20 };

/** How far a field may be below that of bwdif, in dB: the effect of half a level at a few samples of a matched area. */
#define QUALITY_LEAST 0.2

/** Number of successive samples that are visible as a line. */
#define QUALITY_ROW 6

/** What happens in a clip of a moving texture. */
typedef enum QualityEvent {
    QUALITY_PAN, QUALITY_CUT, QUALITY_FADE_OUT, QUALITY_FADE_IN, QUALITY_DISSOLVE, QUALITY_FLASH, QUALITY_FLASH_2,
    QUALITY_BLACK, QUALITY_LONE, QUALITY_ORDER, QUALITY_BOX, QUALITY_NOISE, QUALITY_NB
} QualityEvent;

static const char *const quality_names[QUALITY_NB] = {
    "pan", "cut", "fade out", "fade in", "dissolve", "flash", "flash of two fields", "black field", "lone field",
    "change of the field order", "box beside stripes", "still noise",
};

typedef struct QualityClip {
    QualityEvent event;
    uint64_t seed;
    TestShape shape;
    uint8_t truth[QUALITY_FIELDS][QUALITY_H][QUALITY_W];
    uint8_t made[QUALITY_FIELDS][QUALITY_H][QUALITY_W];
    uint8_t bwdif[QUALITY_FIELDS][QUALITY_H][QUALITY_W];
} QualityClip;

static int quality_texture(uint64_t seed, int t, int x, int y)
{
    return test_texture(seed, 4 * x - 9 * t, 4 * y - 3 * t, 4) / 2 + test_texture(seed + 1, 4 * x - 9 * t,
                                                                                  4 * y - 3 * t, 3) / 2;
}

static int quality_sample(const QualityClip *c, int t, int x, int y)
{
    const int is_other = (c->event == QUALITY_CUT && t >= 9) || (c->event == QUALITY_LONE && t == 9);
    const int other = quality_texture(c->seed + 7, t, x, y), part = av_clip(t - 5, 0, 10);
    int v = is_other ? other : quality_texture(c->seed, t, x, y);

    switch (c->event) {
    case QUALITY_FADE_OUT: return 16 + (v - 16) * (10 - part) / 10;
    case QUALITY_FADE_IN:  return 16 + (v - 16) * part / 10;
    case QUALITY_DISSOLVE: return (v * (10 - part) + other * part) / 10;
    case QUALITY_FLASH:    return t == 8 ? v + 90 : v;
    case QUALITY_FLASH_2:  return t == 8 || t == 9 ? v * 9 / 5 : v;
    case QUALITY_BLACK:    return t == 8 ? 16 : v;
    case QUALITY_BOX:
        if (x - 3 * t < 8 || x - 3 * t > 40 || y < 24 || y > 70)
            return y % 2 ? 180 : 60;
        break;
    case QUALITY_NOISE:
        return quality_texture(c->seed, 0, x, y) + (int)(test_mix(c->seed + (t * 256 + y) * 256 + x) % 17) - 8;
    default: break;
    }
    return v;
}

/* Makes the frames of all fields of the clip with a filter. */
static void quality_run(QualityClip *c, const char *name, const char *options, uint8_t (*out)[QUALITY_H][QUALITY_W])
{
    const TestFilter f = { .name = name, .options = options, .nb_threads = 1 };
    TestFrames in = { .nb = QUALITY_FIELDS / 2 }, made = { .nb = 0 };
    TestRandom r = { .state = c->seed };
    int ret;

    for (int n = 0; n < in.nb; n++) {
        const int bottom = c->event == QUALITY_ORDER && n >= 5;

        in.frames[n] = test_canaries(&c->shape, &r);
        in.frames[n]->pts    = n;
        in.frames[n]->flags |= AV_FRAME_FLAG_INTERLACED | (bottom ? 0 : AV_FRAME_FLAG_TOP_FIELD_FIRST);
        for (int y = 0; y < QUALITY_H; y++)
            for (int x = 0; x < QUALITY_W; x++)
                test_set_word(&c->shape, in.frames[n], 0, x, y, c->truth[2 * n + ((y & 1) != bottom)][y][x]);
    }
    ret = test_run_filter(&f, &c->shape, &in, &c->shape, &made);
    CHECK(ret >= 0 && made.nb == QUALITY_FIELDS, "%d frames, %s", made.nb, av_err2str(ret));
    for (int t = 0; t < made.nb; t++)
        for (int y = 0; y < QUALITY_H; y++)
            for (int x = 0; x < QUALITY_W; x++)
                out[t][y][x] = test_word(&c->shape, made.frames[t], 0, x, y);
    test_free_frames(&in);
    test_free_frames(&made);
}

static double quality_error(uint8_t (*a)[QUALITY_W], uint8_t (*b)[QUALITY_W])
{
    int64_t sum = 0;

    for (int y = 0; y < QUALITY_H; y++)
        for (int x = 0; x < QUALITY_W; x++)
            sum += (a[y][x] - b[y][x]) * (a[y][x] - b[y][x]);
    return sum / (double)(QUALITY_H * QUALITY_W);
}

/* Returns how far a sample is above both neighbouring lines (> 0) or below them (< 0), or 0. */
static int quality_apart(uint8_t (*p)[QUALITY_W], int x, int y)
{
    const int up = p[y][x] - p[y - 1][x], down = p[y][x] - p[y + 1][x];

    return up > 0 && down > 0 ? FFMIN(up, down) : up < 0 && down < 0 ? FFMAX(up, down) : 0;
}

/* Returns the number of samples that wrongly stand out from both neighbouring lines, QUALITY_ROW or more in a row. */
static int quality_combed(uint8_t (*p)[QUALITY_W], uint8_t (*truth)[QUALITY_W])
{
    int nb = 0;

    for (int y = 1; y < QUALITY_H - 1; y++)
        for (int x = 0, row = 0; x < QUALITY_W; x++) {
            const int apart = quality_apart(p, x, y), wanted = quality_apart(truth, x, y);

            row = FFABS(apart) > 24 && FFABS(apart - wanted) > 24 && FFABS(apart) > FFABS(wanted) ? row + 1 : 0;
            nb += row >= QUALITY_ROW;
        }
    return nb;
}

/* Tests that combing is detected in a frame woven from distant fields of a pan. */
static void quality_check_combing(QualityClip *c)
{
    int nb;

    for (int y = 0; y < QUALITY_H; y++)
        memcpy(c->made[0][y], c->truth[8 * (y & 1)][y], QUALITY_W);
    nb = quality_combed(c->made[0], c->truth[0]);
    CHECK(nb >= 20, "only %d samples of woven fields are found to be combed", nb);
}

/* Returns the mean squared difference between successive frames. */
static double quality_flicker(uint8_t (*p)[QUALITY_H][QUALITY_W])
{
    double sum = 0;

    for (int t = 3; t < QUALITY_FIELDS - 3; t++)
        sum += quality_error(p[t], p[t + 1]);
    return sum / (QUALITY_FIELDS - 6);
}

static void quality_check(QualityClip *c, const char *options)
{
    double worst = 100, sum = 0;
    int combed = 0, combed_bwdif = 0, at = 0;

    quality_run(c, "mvdeint", options, c->made);
    for (int t = 0; t < QUALITY_FIELDS; t++) {
        const double made = FFMAX(quality_error(c->made[t], c->truth[t]), 0.01);
        const double gain = 10 * log10(FFMAX(quality_error(c->bwdif[t], c->truth[t]), 0.01) / made);

        sum          += gain / QUALITY_FIELDS;
        combed       += quality_combed(c->made[t], c->truth[t]);
        combed_bwdif += quality_combed(c->bwdif[t], c->truth[t]);
        if (gain < worst) {
            worst = gain;
            at    = t;
        }
    }
    if (getenv("QUALITY_PRINT"))
        printf("  %-26s %s: mean %+.2f dB, worst %+.2f (field %d), combed %d, bwdif's %d, flicker %.2f, %.2f\n",
               quality_names[c->event], options, sum, worst, at, combed, combed_bwdif, quality_flicker(c->made),
               quality_flicker(c->bwdif));
    CHECK(worst >= -QUALITY_LEAST, "field %d is %.2f dB below bwdif's", at, -worst);
    CHECK(combed <= combed_bwdif, "%d samples are combed, %d of bwdif's", combed, combed_bwdif);
    CHECK(c->event != QUALITY_NOISE || quality_flicker(c->made) < quality_flicker(c->bwdif),
          "still noise flickers more than with bwdif");
}

static void deint_quality(int nb_seeds)
{
    static const char *const options[] = { "passes=1", "passes=2", "passes=3" };
    QualityClip *c = test_alloc(av_mallocz(sizeof(*c)));

    c->shape = test_shape(AV_PIX_FMT_GRAY8, QUALITY_W, QUALITY_H);
    for (int n = 0; n < nb_seeds * QUALITY_NB; n++) {
        c->event = n % QUALITY_NB;
        c->seed  = 100 * (n / QUALITY_NB + 1);
        for (int t = 0; t < QUALITY_FIELDS; t++)
            for (int y = 0; y < QUALITY_H; y++)
                for (int x = 0; x < QUALITY_W; x++)
                    c->truth[t][y][x] = av_clip_uint8(quality_sample(c, t, x, y));
        snprintf(test_context, sizeof(test_context), "%s, seed %d", quality_names[c->event], (int)c->seed);
        if (c->event == QUALITY_PAN)
            quality_check_combing(c);
        quality_run(c, "bwdif", "mode=send_field", c->bwdif);
        for (int i = 0; i < FF_ARRAY_ELEMS(options); i++) {
            snprintf(test_context, sizeof(test_context), "%s, seed %d, %s", quality_names[c->event], (int)c->seed,
                     options[i]);
            quality_check(c, options[i]);
        }
    }
    av_free(c);
}

#endif /* GPUME_DEINT_QUALITY_H */
