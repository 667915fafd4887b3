/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Compares the frames that mvdeint makes of scenes with bwdif's and with the true ones, in the whole picture and in the
 * part that the scene is about: bench/deint/scenes.py in small.
 */

#ifndef GPUME_DEINT_SCENES_H
#define GPUME_DEINT_SCENES_H

#include "gpume_deint_quality.h"

typedef enum Scene {
    SCENE_LETTERBOX, SCENE_LETTERBOX_ODD, SCENE_LETTERBOX_TWO_WAYS, SCENE_LETTERBOX_DOWN, SCENE_BOARD,
    SCENE_LOGO, SCENE_FADE, SCENE_SUBTITLE, SCENE_TICKER, SCENE_SPLIT, SCENE_INSET, SCENE_MATTE, SCENE_CONFETTI,
    SCENE_RAIN, SCENE_SPOKES, SCENE_BALL, SCENE_STRIPES, SCENE_CREDITS, SCENE_NOISE,
    SCENE_NB
} Scene;

/** How far mvdeint must be above bwdif, in dB, in the picture and in the part. */
static const struct {
    const char *name;
    double least;
} scenes[SCENE_NB] = {
    { "letterbox", 3 }, { "letterbox of 25 lines", 3 }, { "letterbox, two ways", -QUALITY_LEAST },
    { "letterbox, one line down", -QUALITY_LEAST }, { "board", 3 },
    { "half transparent logo", -QUALITY_LEAST }, { "fade under a logo", -QUALITY_LEAST },
    { "subtitle", -QUALITY_LEAST }, { "ticker", -QUALITY_LEAST }, { "split screen", -QUALITY_LEAST },
    { "picture in picture", -QUALITY_LEAST },
    { "film behind a matte", -QUALITY_LEAST }, { "confetti", -QUALITY_LEAST }, { "rain", -QUALITY_LEAST },
    { "spokes", -QUALITY_LEAST }, { "ball", -QUALITY_LEAST }, { "stripes with noise", -QUALITY_LEAST },
    { "credits, two lines up", 3 }, { "letterbox with noise", 1 },
};

static int scene_pan(uint64_t seed, int dx, int dy, int t, int x, int y)
{
    return test_texture(seed, 4 * (x + dx * t) + 4096, 4 * (y + dy * t) + 4096, 5);
}

/* Returns whether a sample belongs to random letters of 5x8 cells. */
static int scene_letter(int x, int y)
{
    return y >= 0 && y < 16 && x % 12 < 10 && test_mix(9 + (x / 12 * 8 + y / 2) * 8 + x % 12 / 2) % 2;
}

/* Returns whether a sample belongs to letters of strokes 3 columns or 2 lines wide; a row of them has 40 lines. */
static int scene_stroke(int x, int y)
{
    const uint64_t bits = test_mix(50 + y / 40 * 16 + x / 18);
    const int row = y % 40, column = x % 18;

    return (row < 20 && ((column < 3 && bits & 1) || (column >= 9 && column < 12 && bits & 2))) ||
           (column < 12 && ((row < 2 && bits & 4) || (row >= 9 && row < 11 && bits & 8) ||
                            (row >= 18 && row < 20 && bits & 16)));
}

static int scene_is_logo(int x, int y)
{
    return (x >= 80 && x < 104 && y >= 11 && y < 16) || FFABS(FFABS(x - 92) + FFABS(y - 18) - 10) < 3;
}

/* Returns whether one of some small things covers a sample. */
static int scene_is_thing(int t, int x, int y, int w, int h, int dx, int dy, int nb)
{
    for (int i = 0; i < nb; i++) {
        const uint64_t r = test_mix(100 + i);
        const int left = (r % QUALITY_W + (dx ? ((int)(r >> 20) % 3 - 1) * dx * t : 0) + 64 * QUALITY_W) % QUALITY_W;
        const int top  = ((r >> 10) % QUALITY_H + (dy + (r >> 30) % 3) * t) % QUALITY_H;

        if (x >= left && x < left + w && y >= top && y < top + h)
            return 1 + i;
    }
    return 0;
}

static int scene_sample(Scene scene, uint64_t seed, int t, int x, int y)
{
    const int pan = scene_pan(seed, 4, 0, t, x, y), bar = scene == SCENE_LETTERBOX_ODD ? 25 : 24;
    const int letter = scene_letter(x + (scene == SCENE_TICKER ? 3 * t : 0), y - 76);
    const int bounce = FFABS(3 * t % 60 - 30), radius = (x - 56) * (x - 56) + (y - 48) * (y - 48);
    const int still = scene_pan(seed, 0, 0, t, x, y), noise = test_mix(seed + (t * 256 + y) * 256 + x) % 21;

    switch (scene) {
    case SCENE_LETTERBOX:
    case SCENE_LETTERBOX_ODD:      return y < bar || y >= QUALITY_H - bar ? 16 : pan;
    case SCENE_NOISE:              return (y < bar || y >= QUALITY_H - bar ? 16 : pan) + noise - 10;
    case SCENE_LETTERBOX_TWO_WAYS: return y < bar || y >= QUALITY_H - bar ? 16 : scene_pan(seed, 4, 2, t, x, y);
    case SCENE_LETTERBOX_DOWN:     return y < bar || y >= QUALITY_H - bar ? 16 : scene_pan(seed, 0, 1, t, x, y);
    case SCENE_BOARD:              return x >= 16 && x < 80 && y >= 16 && y < 40 ? 16 : pan;
    case SCENE_LOGO:               return scene_is_logo(x, y) ? (pan + 235) / 2 : pan;
    case SCENE_FADE:               return scene_is_logo(x, y) ? 235 : 16 + (pan - 16) * (20 - t) / 20;
    case SCENE_SUBTITLE:           return letter ? 235 : scene_letter(x - 1, y - 77) ? 16 : pan;
    case SCENE_TICKER:             return y < 72 ? scene_pan(seed, 1, 0, t, x, y) : letter ? 235 : 40;
    case SCENE_SPLIT:              return y < 48 ? pan : scene_pan(seed + 1, -3, 0, t, x, y);
    case SCENE_INSET:
        return x >= 48 && x < 96 && y >= 16 && y < 56 ? scene_pan(seed + 1, 0, 2, t, x, y) : pan;
    case SCENE_MATTE:              return radius < 40 * 40 ? pan : 60;
    case SCENE_CONFETTI: {
        const int thing = scene_is_thing(t, x, y, 6, 5, 2, 2, 24);

        return thing ? 20 + (int)(test_mix(thing) % 230) : still;
    }
    case SCENE_RAIN:
        return scene_is_thing(t, x, y, 1, 24, 0, 13, 20) ? still + (235 - still) * 3 / 10 : still;
    case SCENE_SPOKES:
        return radius < 40 * 40 ? 120 + lrint(80 * sin(12 * (atan2(y - 47.5, x - 55.5) - 0.03 * t))) : still;
    case SCENE_BALL:
        return (x - 24 - 3 * t) * (x - 24 - 3 * t) + (y - 65 + bounce) * (y - 65 + bounce) <= 64 ? 220 : still;
    case SCENE_STRIPES:            return (y % 2 ? 60 : 180) + (int)(test_mix(seed + (t * 256 + y) * 256 + x) % 3) - 1;
    case SCENE_CREDITS:            return scene_stroke(x, y + 2 * t) ? 235 : 16;
    default:                       return pan;
    }
}

/* Returns whether a sample is in the part that a scene is about. */
static int scene_is_part(Scene scene, int x, int y)
{
    switch (scene) {
    case SCENE_LETTERBOX:
    case SCENE_LETTERBOX_ODD:
    case SCENE_NOISE:
    case SCENE_LETTERBOX_TWO_WAYS:
    case SCENE_LETTERBOX_DOWN:     return FFABS(FFABS(2 * y + 1 - QUALITY_H) - 48) < 6;
    case SCENE_BOARD:              return x >= 12 && x < 84 && y >= 12 && y < 44;
    case SCENE_LOGO:
    case SCENE_FADE:               return x >= 76 && x < 108 && y >= 4 && y < 32;
    case SCENE_SUBTITLE:
    case SCENE_TICKER:             return y >= 70;
    case SCENE_SPLIT:              return y >= 46 && y < 50;
    case SCENE_INSET:              return x >= 44 && x < 100 && y >= 12 && y < 60;
    default:                       return 1;
    }
}

/* Returns the PSNR of a clip without its first and last fields. */
static double scene_psnr(const QualityClip *c, uint8_t (*const p)[QUALITY_H][QUALITY_W], Scene scene, int only_part)
{
    double sum = 0;
    int nb = 0;

    for (int t = 3; t < QUALITY_FIELDS - 3; t++)
        for (int y = 0; y < QUALITY_H; y++)
            for (int x = 0; x < QUALITY_W; x++)
                if (!only_part || scene_is_part(scene, x, y)) {
                    sum += (p[t][y][x] - c->truth[t][y][x]) * (p[t][y][x] - c->truth[t][y][x]);
                    nb++;
                }
    return 10 * log10(65025 / FFMAX(sum / nb, 0.01));
}

static void deint_scenes(int nb_seeds)
{
    static const char *const options[] = { "passes=1", "passes=2", "passes=3" };
    QualityClip *c = test_alloc(av_mallocz(sizeof(*c)));

    c->shape = test_shape(AV_PIX_FMT_GRAY8, QUALITY_W, QUALITY_H);
    for (int n = 0; n < nb_seeds * SCENE_NB; n++) {
        const Scene scene = n % SCENE_NB;

        c->event = QUALITY_PAN;
        c->seed  = 100 * (n / SCENE_NB + 1);
        for (int t = 0; t < QUALITY_FIELDS; t++)
            for (int y = 0; y < QUALITY_H; y++)
                for (int x = 0; x < QUALITY_W; x++)
                    c->truth[t][y][x] = av_clip_uint8(scene_sample(scene, c->seed, t, x, y));
        quality_run(c, "bwdif", "mode=send_field", c->bwdif);
        for (int i = 0; i < FF_ARRAY_ELEMS(options); i++) {
            quality_run(c, "mvdeint", options[i], c->made);
            for (int part = 0; part < 2; part++) {
                const double made = scene_psnr(c, c->made, scene, part), bwdif = scene_psnr(c, c->bwdif, scene, part);

                snprintf(test_context, sizeof(test_context), "%s, seed %d, %s, %s", scenes[scene].name, (int)c->seed,
                         options[i], part ? "part" : "picture");
                if (getenv("QUALITY_PRINT"))
                    printf("  %s: %.2f dB, bwdif %.2f\n", test_context, made, bwdif);
                CHECK(made >= bwdif + (part || scenes[scene].least < 0 ? scenes[scene].least : 0),
                      "%.2f dB, %.2f above bwdif, expected %.2f", made, made - bwdif, scenes[scene].least);
            }
        }
    }
    av_free(c);
}

#endif /* GPUME_DEINT_SCENES_H */
