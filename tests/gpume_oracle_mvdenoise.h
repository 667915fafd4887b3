/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Reference implementation of mvdenoise, written from doc/mvdenoise-definition.md as plainly as possible,
 * without looking at the filter. It is not optimized.
 */

#ifndef GPUME_ORACLE_MVDENOISE_H
#define GPUME_ORACLE_MVDENOISE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpume_oracle_motion.h"

#define DENOISE_MAX_FRAMES 8
#define DENOISE_MAX_RADIUS 4

/** A block of a motion field; vectors in 1/16 sample. */
typedef struct DenoiseBlock {
    int left, top, w, h, distance;
    int dx, dy;
} DenoiseBlock;

typedef struct DenoiseComponent {
    int w, h, sx, sy;
    int chosen;                                 ///< whether the option planes contains it
    int textured;                               ///< whether it is not chroma or alpha of YUV
    const uint16_t *noisy[DENOISE_MAX_FRAMES];
    uint16_t *pilot[DENOISE_MAX_FRAMES];
    uint16_t *out[DENOISE_MAX_FRAMES];
    int strength[DENOISE_MAX_FRAMES][32];       ///< S_k of the definition
    int clipped[DENOISE_MAX_FRAMES][32];        ///< C_k
    int estimate[DENOISE_MAX_FRAMES][9];        ///< estimates of each level, then of all levels
    int was_matched;                            ///< whether a picture had matches since the last cut
    int *matches[DENOISE_MAX_FRAMES];           ///< x, y and whether there is one, of patches and windows: first pass
} DenoiseComponent;

/** A sequence. The caller allocates pilot and out of the components. */
typedef struct Denoise {
    int w, h, d;
    int nb_frames, nb_components;
    int radius, passes, dense;
    int sigma;                                  ///< option sigma, in 1/256; 0: estimated
    int factor[DENOISE_MAX_FRAMES];             ///< option strength when each picture arrives, in 1/256
    int single;                                 ///< levels=0
    int opponent;                               ///< whether the components are opponent colours
    int is_repeat[DENOISE_MAX_FRAMES], is_kept[DENOISE_MAX_FRAMES];
    DenoiseComponent components[4];
    const DenoiseBlock *blocks[DENOISE_MAX_FRAMES];
    int nb_blocks[DENOISE_MAX_FRAMES];
    int nb_stacked;                             ///< number of patches in stacks that are from other pictures
    int nb_unclipped;                           ///< samples that were corrected
    int nb_correlated, nb_matched;              ///< estimates of a single picture: with correlated noise, with matches
} Denoise;

static int64_t denoise_pow2(int n)
{
    return (int64_t)1 << n;
}

/* Noise */

/** Values that are counted in bins, and the level of each. */
typedef struct DenoiseValues {
    int64_t *values;
    int *levels;
    int n;
} DenoiseValues;

/** Variances of the blocks of one level or of all. */
typedef struct DenoiseVariances {
    int64_t n, n_total;
    int64_t fine, total;                        ///< F and D of the definition
} DenoiseVariances;

static void denoise_add_value(DenoiseValues *v, int64_t value, int level)
{
    v->values[v->n]   = value;
    v->levels[v->n++] = level;
}

/* Returns the lowest value of the bin that contains value, and its width. */
static int64_t denoise_bin(int64_t value, int64_t *width)
{
    *width = 1;
    while (value >= 16 * *width)
        *width *= 2;
    return value / *width * *width;
}

static int denoise_has_level(const DenoiseValues *v, int i, int level)
{
    return level < 0 || v->levels[i] == level;
}

static int64_t denoise_count(const DenoiseValues *v, int level)
{
    int64_t n = 0;

    for (int i = 0; i < v->n; i++)
        n += denoise_has_level(v, i, level);
    return n;
}

/* Returns the number of values of a level that are below value. */
static int64_t denoise_below(const DenoiseValues *v, int level, int64_t value)
{
    int64_t n = 0;

    for (int i = 0; i < v->n; i++)
        n += denoise_has_level(v, i, level) && v->values[i] < value;
    return n;
}

static int64_t denoise_quantile(const DenoiseValues *v, int level, int p)
{
    const int64_t number = denoise_count(v, level) * p >> 8;

    for (int i = 0; i < v->n; i++) {
        int64_t width, low = denoise_bin(v->values[i], &width);
        const int64_t before = denoise_below(v, level, low), behind = denoise_below(v, level, low + width);

        if (denoise_has_level(v, i, level) && before <= number && number < behind)
            return low + width * (2 * (number - before) + 1) / (2 * (behind - before));
    }
    return 0;
}

static int64_t denoise_noise_energy(const DenoiseValues *v, int level)
{
    int64_t l = (1894 * denoise_quantile(v, level, 26)) >> 10;

    if (!denoise_count(v, level))
        return 0;
    for (int k = 0; k < 6; k++) {
        int64_t sum = 0, number = 0, width;

        for (int64_t low = 0; low <= l && low < denoise_pow2(32); low += width) {
            int64_t h, c;

            denoise_bin(low, &width);
            h = FFMIN(low + width - 1, l);
            c = (denoise_below(v, level, low + width) - denoise_below(v, level, low)) * (h - low + 1) / width;
            sum    += c * (low + h);
            number += c;
        }
        l = (1428 * (number ? sum / (2 * number) : 0)) >> 10;
    }
    return l;
}

static DenoiseVariances denoise_variances(const DenoiseValues *energies, const DenoiseValues *totals, int level)
{
    return (DenoiseVariances) {
        .n       = denoise_count(energies, level),
        .n_total = denoise_count(totals, level),
        .fine    = FFMAX(((809 * denoise_noise_energy(energies, level)) >> 4) - 27689, 0),
        .total   = (2354 * denoise_quantile(totals, level, 51)) >> 8,
    };
}

/* Returns the energy of the block whose first sample is (x0, y0). */
static int64_t denoise_energy(const uint16_t *p, int w, int x0, int y0, int d)
{
    static const int kernel[3][3] = { { 1, -2, 1 }, { -2, 4, -2 }, { 1, -2, 1 } };
    int64_t energy = 0;

    for (int y = y0; y < y0 + 6; y++)
        for (int x = x0; x < x0 + 6; x++) {
            int64_t q = 0;

            for (int j = 0; j < 3; j++)
                for (int i = 0; i < 3; i++)
                    q += kernel[j][i] * p[(y + j) * w + x + i];
            energy += q * q;
        }
    return energy / denoise_pow2(2 * (d - 8));
}

static int denoise_is_dead(const uint16_t *p, int w, int x0, int y0, int d)
{
    int64_t alike = 0;
    int least = INT32_MAX, greatest = -1, nb_least = 0, nb_greatest = 0;

    for (int i = 0; i < 64; i++) {
        const int v = p[(y0 + i / 8) * w + x0 + i % 8];

        least    = FFMIN(least, v);
        greatest = FFMAX(greatest, v);
    }
    for (int i = 0; i < 64; i++) {
        nb_least    += p[(y0 + i / 8) * w + x0 + i % 8] == least;
        nb_greatest += p[(y0 + i / 8) * w + x0 + i % 8] == greatest;
    }
    for (int y = y0; y < y0 + 8; y++)
        for (int x = x0; x < x0 + 8; x++)
            alike += (x < x0 + 7 && p[y * w + x] == p[y * w + x + 1]) +
                     (y < y0 + 7 && p[y * w + x] == p[(y + 1) * w + x]);
    alike = FFMAX(alike - 8, 0);
    return nb_least > 12 || nb_greatest > 12 || denoise_energy(p, w, x0, y0, d) * alike * alike > 3000000;
}

static int denoise_block_mean(const uint16_t *p, int w, int x0, int y0)
{
    int sum = 0;

    for (int y = y0; y < y0 + 8; y++)
        for (int x = x0; x < x0 + 8; x++)
            sum += p[y * w + x];
    return (sum + 32) / 64;
}

static int denoise_is_cut(const uint16_t *now, const uint16_t *before, int w, int h)
{
    int64_t difference = 0, spread = 0, sum = 0, n = (w / 8) * (h / 8);

    for (int y = 0; y + 8 <= h; y += 8)
        for (int x = 0; x + 8 <= w; x += 8)
            sum += denoise_block_mean(now, w, x, y);
    for (int y = 0; y + 8 <= h; y += 8)
        for (int x = 0; x + 8 <= w; x += 8) {
            difference += abs(denoise_block_mean(now, w, x, y) - denoise_block_mean(before, w, x, y));
            spread     += llabs(denoise_block_mean(now, w, x, y) - sum / n);
        }
    return 2 * difference > spread;
}

/* Interpolation between samples */

/** A plane of samples of d bits. */
typedef struct DenoisePlane {
    OraclePicture p;
    int d;
} DenoisePlane;

/*
 * Returns twice the value at (qx / 4, qy / 4). It is doubled because some values are means of two, which
 * the definition does not round here.
 */
static int denoise_quarter(const DenoisePlane *s, int qx, int qy)
{
    const int x = qx >> 2, y = qy >> 2;
    const int fx = qx & 3, fy = qy & 3, max = denoise_pow2(s->d) - 1;

#define WHOLE(x, y) oracle_sample(&s->p, x, y)
#define RIGHT(x, y) oracle_right(&s->p, max, x, y)
#define BELOW(x, y) oracle_below(&s->p, max, x, y)
    if (!fx && !fy)
        return 2 * WHOLE(x, y);
    if (!fy)
        return fx == 2 ? 2 * RIGHT(x, y) : WHOLE(x + (fx == 3), y) + RIGHT(x, y);
    if (!fx)
        return fy == 2 ? 2 * BELOW(x, y) : WHOLE(x, y + (fy == 3)) + BELOW(x, y);
    if (fx == 2 && fy == 2)
        return 2 * oracle_middle(&s->p, max, x, y);
    if (fx == 2)
        return oracle_middle(&s->p, max, x, y) + RIGHT(x, y + (fy == 3));
    if (fy == 2)
        return oracle_middle(&s->p, max, x, y) + BELOW(x + (fx == 3), y);
    return RIGHT(x, y + (fy == 3)) + BELOW(x + (fx == 3), y);
#undef WHOLE
#undef RIGHT
#undef BELOW
}

/* Reads a patch of doubled samples. */
static void denoise_read(int *patch, const DenoisePlane *s, int x0, int y0, int dx, int dy)
{
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++)
            patch[8 * y + x] = denoise_quarter(s, 4 * (x0 + x) + dx, 4 * (y0 + y) + dy);
}

/* Stacks */

/* Sets *x and *y to the vector of a cell, in quarter samples. Returns 0 if it has none. */
static int denoise_cell(const Denoise *s, int t, int distance, int c, int r, int *x, int *y)
{
    const int at_x = oracle_clip(8 * c + 4, 0, s->w - 1), at_y = oracle_clip(8 * r + 4, 0, s->h - 1);
    int found = 0;

    for (int i = 0; i < s->nb_blocks[t]; i++) {
        const DenoiseBlock *b = &s->blocks[t][i];

        if (b->distance != distance || at_x < b->left || at_x >= b->left + b->w || at_y < b->top ||
            at_y >= b->top + b->h)
            continue;
        found = 1;
        *x = oracle_clip((b->dx + 2) >> 2, -32000, 32000);
        *y = oracle_clip((b->dy + 2) >> 2, -32000, 32000);
    }
    return found;
}

static int denoise_has_entry(const Denoise *s, int t, int distance)
{
    int has = 0;

    for (int i = 0; i < s->nb_blocks[t]; i++)
        has |= s->blocks[t][i].distance == distance;
    return has;
}

/* Estimates */

/** Values of blocks with a match, in the same order. */
typedef struct DenoiseMatched {
    DenoiseValues energies, totals, coarse, textures;
} DenoiseMatched;

/* Measures the differences of a block from its match, if it has one. */
static void denoise_compare(const Denoise *s, const DenoiseComponent *c, int t, int x0, int y0, int level,
                            int64_t energy, DenoiseMatched *m)
{
    const int cols = (s->w + 7) / 8, rows = (s->h + 7) / 8;
    const DenoisePlane before = { { c->w, c->h, t ? c->noisy[t - 1] : NULL }, s->d };
    int64_t sum = 0, squares = 0, parts[4] = { 0 }, of_parts = 0, of_sums = 0, of_both = 0;
    int x, y, nb_equal = 0;

    if (!t || !s->radius || !denoise_cell(s, t, -1, FFMIN(((x0 + 4) * denoise_pow2(c->sx)) >> 3, cols - 1),
                                          FFMIN(((y0 + 4) * denoise_pow2(c->sy)) >> 3, rows - 1), &x, &y))
        return;
    x = (((x + ((1 << c->sx) >> 1)) >> c->sx) + 2) >> 2;
    y = (((y + ((1 << c->sy) >> 1)) >> c->sy) + 2) >> 2;
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 8; i++) {
            const int64_t here = c->noisy[t][(y0 + j) * c->w + x0 + i];
            const int64_t there = oracle_sample(&before.p, x0 + i + x, y0 + j + y), a = here - there;

            of_sums  += (here + there) * (here + there);
            of_both  += here + there;
            sum      += a;
            squares  += a * a;
            nb_equal += !a;
            parts[j / 4 * 2 + i / 4] += a;
        }
    if (nb_equal >= 58)
        return;
    for (int i = 0; i < 4; i++)
        of_parts += parts[i] * parts[i];
    denoise_add_value(&m->energies, energy, level);
    denoise_add_value(&m->totals, (64 * squares - sum * sum) / denoise_pow2(2 * (s->d - 8)), level);
    denoise_add_value(&m->coarse, (4 * of_parts - sum * sum) / denoise_pow2(2 * (s->d - 8)), level);
    denoise_add_value(&m->textures, (64 * of_sums - of_both * of_both) / denoise_pow2(2 * (s->d - 8)), level);
}

static DenoiseValues denoise_alloc_values(int n)
{
    return (DenoiseValues) { calloc(n + 1, sizeof(int64_t)), calloc(n + 1, sizeof(int)), 0 };
}

static void denoise_free_values(DenoiseValues *v)
{
    free(v->values);
    free(v->levels);
}

/* Leaves only the calm blocks. */
static void denoise_leave_calm(DenoiseMatched *m)
{
    DenoiseValues *values[] = { &m->energies, &m->totals, &m->coarse, &m->textures };
    int *calm = calloc(m->totals.n + 1, sizeof(*calm)), nb = 0;

    for (int i = 0; i < m->textures.n; i++) {
        const int level = m->textures.levels[i];
        const int64_t low = denoise_bin(m->textures.values[i], &(int64_t) { 0 });

        calm[i] = denoise_below(&m->textures, level, low) <= denoise_count(&m->textures, level) * 64 >> 8;
    }
    for (int i = 0; i < m->totals.n; i++) {
        for (int j = 0; j < 4 && calm[i]; j++)
            values[j]->values[nb] = values[j]->values[i];
        nb += calm[i];
    }
    for (int j = 0; j < 4; j++)
        values[j]->n = nb;
    free(calm);
}

/* Returns X of the definition for a picture that is matched, or -1 if its noise is white. */
static int64_t denoise_correlated(const DenoiseVariances *v, DenoiseMatched *m)
{
    int64_t white = 0, number = 0, difference, inexact, noise, coded, grain;

    for (int i = 0; i < 8; i++) {
        const int64_t n = FFMIN(v[i].n, v[i].n_total);

        white  += n < 32 ? 0 : n * FFMIN(v[i].fine, v[i].total);
        number += n < 32 ? 0 : n;
    }
    white = number ? white / number : FFMIN(v[8].fine, v[8].total);
    denoise_leave_calm(m);
    difference = 8 * denoise_quantile(&m->totals, -1, 128);
    inexact    = FFMAX(4 * denoise_quantile(&m->textures, -1, 128) - difference / 2, 0) / 16;
    noise      = FFMAX(difference - inexact - 65536, 0);
    if (5 * white > 3 * noise)
        return -1;
    coded = ((35 * noise) >> 5) + 6 * (noise - FFMIN((809 * denoise_quantile(&m->energies, -1, 128)) >> 4, noise));
    grain = FFMIN(512 * denoise_quantile(&m->coarse, -1, 128) / 3 - 8 * inexact - 131072, 10 * noise);
    return FFMAX(FFMIN(coded, 1441792 + ((21 * noise) >> 4)), grain);
}

/* Returns H of the definition: the noise energy of the picture at half its size. */
static int64_t denoise_halved(const uint16_t *p, int w, int h, int d)
{
    uint16_t *small    = malloc(((w / 2) * (h / 2) + 1) * sizeof(*small));
    DenoiseValues v    = denoise_alloc_values(w * h);
    int64_t result;

    for (int y = 0; y < h / 2; y++)
        for (int x = 0; x < w / 2; x++)
            small[y * (w / 2) + x] = (p[2 * y * w + 2 * x] + p[2 * y * w + 2 * x + 1] + p[(2 * y + 1) * w + 2 * x] +
                                      p[(2 * y + 1) * w + 2 * x + 1] + 2) / 4;
    for (int y = 0; y + 8 <= h / 2; y += 8)
        for (int x = 0; x + 8 <= w / 2; x += 8)
            if (!denoise_is_dead(small, w / 2, x, y, d))
                denoise_add_value(&v, denoise_energy(small, w / 2, x, y, d), 0);
    result = v.n < 24 ? 0 : (809 * denoise_noise_energy(&v, -1)) >> 4;
    denoise_free_values(&v);
    free(small);
    return result;
}

static int denoise_root(int64_t square)
{
    int64_t root = 0;

    for (int64_t bit = denoise_pow2(15); bit; bit /= 2)
        if ((root + bit) * (root + bit) <= square)
            root += bit;
    return root;
}

/* Returns L_k of the definition. */
static int64_t denoise_line(const DenoiseVariances *v, const int64_t *squares, const int *known, int k)
{
    int64_t n = 0, x = 0, xx = 0, y = 0, xy = 0, slope = 0;

    for (int i = 0; i < 8; i++)
        if (known[i]) {
            const int64_t weight = FFMIN(v[i].n, 4095);

            n  += weight;
            x  += weight * i;
            xx += weight * i * i;
            y  += weight * (squares[i] >> 4);
            xy += weight * (squares[i] >> 4) * i;
        }
    if (n * xx - x * x)
        slope = floor((long double)(n * xy - x * y) / (n * xx - x * x));
    return 16 * (FFMAX(y + slope * (n * k - x), 0) / n);
}

/* Estimates the noise from a single picture: own[i] from the variances v[i] of level i, own[8] from those of all. */
static void denoise_own(int *own, const DenoiseVariances *v, DenoiseMatched *m, int64_t halved, int matched, int anew,
                        int nb_blocks, int *nb_correlated)
{
    const DenoiseVariances *all = &v[8];
    const int64_t p = matched ? FFMIN(all->fine, all->total) : all->fine;
    int64_t x, square, squares[8], n[8], sum = 0, number = 0;
    int white, known[8];

    if (matched) {
        x      = denoise_correlated(v, m);
        white  = x < 0 || anew;
        square = white ? (35 * p) >> 5 : x;
    } else {
        x = 4 * halved - ((369 * p) >> 8) - 409600;
        white  = x <= 0;
        square = white ? (35 * p) >> 5 : p + ((9 * x) >> 2);
    }
    *nb_correlated += !white;
    for (int i = 0; i < 8; i++) {
        n[i]     = FFMIN(v[i].n, v[i].n_total);
        known[i] = n[i] >= (white ? 8 : 32) && matched;
        if (white) {
            const int64_t least = FFMIN(v[i].fine, v[i].total);

            squares[i] = (35 * (n[i] >= 32 ? least : FFMIN((v[i].fine + v[i].total) >> 1, (9 * least) >> 3))) >> 5;
        } else {
            squares[i] = FFMAX(FFMIN(square / FFMAX(all->total >> 8, 1) * (v[i].total >> 8), 2 * square), square >> 1);
        }
        sum    += known[i] ? squares[i] * n[i] : 0;
        number += known[i] ? n[i] : 0;
    }
    if (number)
        square = sum / number;
    if (all->n < nb_blocks / 8) {
        square = 0;
        memset(known, 0, sizeof(known));
    }
    own[8] = FFMIN(denoise_root(square), 32768);
    for (int i = 0; i < 8; i++) {
        int nearest = -1;

        for (int j = 7; j >= 0; j--)
            if (known[j] && (nearest < 0 || abs(j - i) <= abs(nearest - i)))
                nearest = j;
        if (nearest >= 0) {
            const int64_t blocks = FFMIN(v[nearest].n, denoise_pow2(20));
            const int64_t shrink = blocks < 32 ? 64 : 16;
            const int64_t to     = white ? denoise_line(v, squares, known, nearest) : square;

            own[i] = denoise_root((squares[nearest] * blocks + shrink * to) / (blocks + shrink));
        } else {
            own[i] = own[8];
        }
        own[i] = FFMIN(own[i], 32768);
    }
}

/* Sets the estimate of a component of picture t. anew: whether the picture follows a cut or is the first. */
static void denoise_estimate(Denoise *s, DenoiseComponent *c, int t, int anew)
{
    DenoiseValues energies = denoise_alloc_values(c->w * c->h);
    DenoiseMatched m = {
        denoise_alloc_values(c->w * c->h), denoise_alloc_values(c->w * c->h), denoise_alloc_values(c->w * c->h),
        denoise_alloc_values(c->w * c->h),
    };
    const int has_entry = t && s->radius && denoise_has_entry(s, t, -1);
    DenoiseVariances v[9];
    int own[9], matched;

    for (int y = 0; y + 8 <= c->h; y += 8)
        for (int x = 0; x + 8 <= c->w; x += 8) {
            const int level      = denoise_block_mean(c->noisy[t], c->w, x, y) >> (s->d - 3);
            const int64_t energy = denoise_energy(c->noisy[t], c->w, x, y, s->d);

            if (denoise_is_dead(c->noisy[t], c->w, x, y, s->d))
                continue;
            denoise_add_value(&energies, energy, level);
            denoise_compare(s, c, t, x, y, level, energy, &m);
        }
    for (int i = 0; i < 9; i++)
        v[i] = denoise_variances(&energies, &m.totals, i < 8 ? i : -1);
    matched = has_entry && m.totals.n >= 12;
    s->nb_matched += matched;
    denoise_own(own, v, &m, has_entry ? 0 : denoise_halved(c->noisy[t], c->w, c->h, s->d), matched, anew,
                (c->w / 8) * (c->h / 8), &s->nb_correlated);
    for (int i = 0; i < 9; i++) {
        if (anew || (matched && !c->was_matched))
            c->estimate[t][i] = own[i];
        else if (has_entry && !matched)
            c->estimate[t][i] = c->estimate[t - 1][i];
        else
            c->estimate[t][i] = (3 * c->estimate[t - 1][i] + own[i] + 2) >> 2;
        if (matched && !anew && !c->was_matched)
            c->estimate[t - 1][i] = c->estimate[t][i];
    }
    c->was_matched = !anew && (matched || c->was_matched);
    denoise_free_values(&energies);
    denoise_free_values(&m.energies);
    denoise_free_values(&m.totals);
    denoise_free_values(&m.coarse);
    denoise_free_values(&m.textures);
}

/* Sets S of each tone of a component of picture t; all are 0 if the component is not filtered. */
static void denoise_strength(const Denoise *s, DenoiseComponent *c, int t)
{
    int stays = 1;

    for (int k = 0; k < 32; k++) {
        const int at = oracle_clip(8 * k - 12, 0, 223), l = at / 32, m = at % 32;
        const int *g = c->estimate[t];
        const int64_t sigma = s->sigma ? s->sigma : s->single ? g[8] : (g[l] * (32 - m) + g[l + 1] * m + 16) >> 5;

        c->strength[t][k] = oracle_clip((sigma * s->factor[t] + 128) >> 8, 0, 32768);
        c->clipped[t][k]  = sigma;
        stays &= c->strength[t][k] < 16;
    }
    for (int k = 0; k < 32; k++) {
        c->strength[t][k] = stays || !c->chosen ? 0 : FFMAX(c->strength[t][k], 16);
        c->clipped[t][k]  = FFMIN(c->clipped[t][k], c->strength[t][k]);
    }
}

static void denoise_strengths(Denoise *s)
{
    const DenoiseComponent *first = &s->components[0];

    for (int i = 0; i < s->nb_components; i++) {
        DenoiseComponent *c = &s->components[i];

        for (int t = 0; t < s->nb_frames && !s->sigma; t++)
            denoise_estimate(s, c, t, !t || denoise_is_cut(first->noisy[t], first->noisy[t - 1], s->w, s->h));
        for (int t = 0; t < s->nb_frames; t++)
            denoise_strength(s, c, t);
    }
}

typedef struct DenoiseStack {
    int nb, own;
    int noisy[2 * DENOISE_MAX_RADIUS + 1][64], pilot[2 * DENOISE_MAX_RADIUS + 1][64];  ///< doubled samples
} DenoiseStack;

/** A patch of a picture. */
typedef struct DenoiseSpot {
    int t;
    int col, row;               ///< its place among the patches
    int x, y;                   ///< its first sample
} DenoiseSpot;

/* Returns the tone of the patch at (x, y). */
static int denoise_tone(const DenoisePlane *s, int x, int y)
{
    int patch[64], sum = 32;

    denoise_read(patch, s, x, y, 0, 0);
    for (int i = 0; i < 64; i++)
        sum += patch[i] / 2;
    return (sum >> 6) / denoise_pow2(s->d - 5);
}

/* Returns the number of rows of patches. */
static int denoise_patch_rows(const Denoise *s, int h)
{
    const int step = s->dense ? 2 : 4;

    return h <= 8 ? 1 : (h - 9 + step) / step + 1;
}

/* Returns the number of patches in a row. */
static int denoise_patch_cols(int w)
{
    return w <= 8 ? 1 : (w + 1) / 4;
}

/* Returns the first pass's match of a patch of picture t in picture u. */
static int *denoise_match(const Denoise *s, const DenoiseComponent *c, int t, int u, int i, int j)
{
    return c->matches[t] + 3 * ((j * denoise_patch_cols(c->w) + i) * (2 * s->radius + 1) + u - t + s->radius);
}

/* Sets *x and *y to candidate i of a patch in picture u, 7 being the zero vector. Returns 0 if there is none. */
static int denoise_candidate(const Denoise *s, const DenoiseComponent *c, const DenoiseSpot *p, int u, int second,
                             int i, int *x, int *y)
{
    static const int at[8][2] = {
        { 0, 0 }, { 7, 0 }, { 0, 7 }, { 7, 7 }, { -8, 3 }, { 15, 3 }, { 3, -8 },
    };
    static const int around[5][2] = {
        { 0, 0 }, { -12, -8 }, { 12, 8 }, { -8, 12 }, { 8, -12 },
    };
    const int cols = (s->w + 7) / 8, rows = (s->h + 7) / 8, log2_step = s->dense ? 1 : 2;
    int found;

    *x = *y = 0;
    if (i == 7)
        return denoise_has_entry(s, p->t, u - p->t);
    if (second) {
        const int row = oracle_clip((p->y + around[i % 5][1]) >> log2_step, 0, denoise_patch_rows(s, c->h) - 1);
        const int col = oracle_clip((p->x + around[i % 5][0] + 2 * (row % 2)) >> 2, 0, denoise_patch_cols(c->w) - 1);
        const int *match = denoise_match(s, c, p->t, u, col, row);

        *x = match[0];
        *y = match[1];
        return i < 5 && match[2];
    }
    found = denoise_cell(s, p->t, u - p->t, oracle_clip(((p->x + at[i][0]) * denoise_pow2(c->sx)) >> 3, 0, cols - 1),
                         oracle_clip(((p->y + at[i][1]) * denoise_pow2(c->sy)) >> 3, 0, rows - 1), x, y);
    *x = (*x + ((1 << c->sx) >> 1)) >> c->sx;
    *y = (*y + ((1 << c->sy) >> 1)) >> c->sy;
    return found;
}

static void denoise_stack(Denoise *s, DenoiseStack *k, const DenoiseComponent *c, const DenoiseSpot *p, int second)
{
    static const int lost[4][4] = { { 0, 15, 11, 15 }, { 15, 25, 23, 25 }, { 11, 23, 20, 23 }, { 15, 25, 23, 25 } };
    const int t = p->t, x = p->x, y = p->y;
    const DenoisePlane own = { { c->w, c->h, second ? c->pilot[t] : c->noisy[t] }, s->d };
    const int64_t strength = c->strength[t][denoise_tone(&own, x, y)];
    const int64_t limit = (strength * strength * denoise_pow2(2 * (s->d - 8)) * (second ? 64 : 320)) >> 16;

    k->nb = 0;
    for (int u = t - s->radius; u <= t + s->radius; u++) {
        const DenoisePlane noisy = { { c->w, c->h, u >= 0 && u < s->nb_frames ? c->noisy[u] : NULL }, s->d };
        const DenoisePlane pilot = { { c->w, c->h, noisy.p.samples ? c->pilot[u] : NULL }, s->d };
        const DenoisePlane *look = second ? &pilot : &noisy;
        int64_t least = -1;
        int dx = 0, dy = 0, patch[64], match[64];

        if (!noisy.p.samples || (u > t && s->is_repeat[u]) || (u < t && s->is_repeat[u + 1]))
            continue;
        denoise_read(patch, &own, x, y, 0, 0);
        for (int i = 0; i < 8 && u != t; i++) {
            int64_t sum = 0;
            int vx, vy;

            if (!denoise_candidate(s, c, p, u, second, i, &vx, &vy))
                continue;
            denoise_read(match, look, x, y, vx, vy);
            for (int n = 0; n < 64; n++) {
                const int64_t difference = (match[n] + 1) / 2 - patch[n] / 2;

                sum += difference * difference;
            }
            if (!second)
                sum += (strength * strength * denoise_pow2(2 * (s->d - 8)) * lost[vy & 3][vx & 3]) >> 16;
            if (sum <= limit && (least < 0 || sum < least)) {
                least = sum;
                dx    = vx;
                dy    = vy;
            }
        }
        if (!second) {
            int *found = denoise_match(s, c, t, u, p->col, p->row);

            found[0] = dx;
            found[1] = dy;
            found[2] = least >= 0;
        }
        if (u != t && least < 0)
            continue;
        if (u == t)
            k->own = k->nb;
        else
            s->nb_stacked++;
        denoise_read(k->noisy[k->nb], &noisy, x, y, dx, dy);
        if (second)
            denoise_read(k->pilot[k->nb], &pilot, x, y, dx, dy);
        k->nb++;
    }
}

/* Transforms */

static const int denoise_matrix[8][8] = {
    { 64,  64,  64,  64,  64,  64,  64,  64 }, { 89,  75,  50,  18, -18, -50, -75, -89 },
    { 83,  36, -36, -83, -83, -36,  36,  83 }, { 75, -18, -89, -50,  50,  89,  18, -75 },
    { 64, -64, -64,  64,  64, -64, -64,  64 }, { 50, -89,  18,  75, -75, -18,  89, -50 },
    { 36, -83,  83, -36, -36,  83, -83,  36 }, { 18, -50,  75, -89,  89, -75,  50, -18 },
};

static int64_t denoise_over_time(int count, int k, int j)
{
    const double a = sqrt((k ? 2. : 1.) / count);

    return llround(1024 * a * cos(3.14159265358979323846 * (2 * j + 1) * k / (2. * count)));
}

/* Transforms the patches of a stack, which have doubled samples, in space. */
static void denoise_space(int64_t (*c)[64], int (*patches)[64], int nb, int base, int d, int f)
{
    for (int k = 0; k < nb; k++) {
        int64_t columns[64], scaled[64];

        for (int i = 0; i < 64; i++)
            scaled[i] = d == 8 ? (patches[k][i] - 2 * base) * denoise_pow2(f) / 2
                               : ((patches[k][i] + 1) / 2 - base) * denoise_pow2(f);

        for (int v = 0; v < 8; v++)
            for (int x = 0; x < 8; x++) {
                int64_t sum = 64;

                for (int y = 0; y < 8; y++)
                    sum += denoise_matrix[v][y] * scaled[8 * y + x];
                columns[8 * v + x] = sum >> 7;
            }
        for (int v = 0; v < 8; v++)
            for (int u = 0; u < 8; u++) {
                int64_t sum = 128;

                for (int x = 0; x < 8; x++)
                    sum += denoise_matrix[u][x] * columns[8 * v + x];
                c[k][8 * v + u] = sum >> 8;
            }
    }
}

/* Transforms them in time. */
static void denoise_time(int64_t (*c)[64], int nb)
{
    for (int i = 0; i < 64 && nb > 1; i++) {
        int64_t before[2 * DENOISE_MAX_RADIUS + 1];

        for (int k = 0; k < nb; k++)
            before[k] = c[k][i];
        for (int k = 0; k < nb; k++) {
            int64_t sum = 512;

            for (int j = 0; j < nb; j++)
                sum += denoise_over_time(nb, k, j) * before[j];
            c[k][i] = sum >> 10;
        }
    }
}

static void denoise_backward(int64_t *result, int64_t (*c)[64], int nb, int own)
{
    int64_t one[64], rows[64];

    for (int i = 0; i < 64; i++) {
        int64_t sum = 512;

        for (int k = 0; k < nb; k++)
            sum += denoise_over_time(nb, k, own) * c[k][i];
        one[i] = nb > 1 ? sum >> 10 : c[0][i];
    }
    for (int v = 0; v < 8; v++)
        for (int x = 0; x < 8; x++) {
            int64_t sum = 128;

            for (int u = 0; u < 8; u++)
                sum += denoise_matrix[u][x] * one[8 * v + u];
            rows[8 * v + x] = sum >> 8;
        }
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++) {
            int64_t sum = 64 - x % 2;

            for (int v = 0; v < 8; v++)
                sum += denoise_matrix[v][y] * rows[8 * v + x];
            result[8 * y + x] = sum >> 7;
        }
}

/* Filters a stack into a patch and returns the weight of the patch. */
static int64_t denoise_filter(int64_t *result, DenoiseStack *k, int64_t strength, int d, int second, int dense,
                              int textured)
{
    int64_t c[2 * DENOISE_MAX_RADIUS + 1][64], q[2 * DENOISE_MAX_RADIUS + 1][64];
    const int f = d < 10 ? 10 - d : 0;
    const int64_t scaled = strength * denoise_pow2(d - 8 + f);
    const int64_t thresholds[2] = { (589 * scaled + 32768) >> 16, (742 * scaled + 32768) >> 16 };
    int64_t left = 0, squares = 0, texture = 0, used = scaled, weight;
    int base = 32;

    for (int i = 0; i < 64; i++)
        base += k->noisy[k->own][i] / 2;
    base >>= 6;
    denoise_space(c, k->noisy, k->nb, base, d, f);
    denoise_time(c, k->nb);
    if (second) {
        denoise_space(q, k->pilot, k->nb, base, d, f);
        for (int i = 1; i < 64; i++) {
            const int64_t limited = textured ? FFMIN(llabs(q[k->own][i]), scaled / 128) : 0;

            texture += limited * limited;
        }
        used = FFMAX(scaled * (texture + scaled * scaled / 512) / (2 * texture + scaled * scaled / 512),
                     16 * denoise_pow2(d - 8 + f));
        denoise_time(q, k->nb);
    }
    for (int j = 0; j < k->nb; j++)
        for (int i = 0; i < 64; i++) {
            int64_t ratio, n, gain;

            if (!i && !j)
                continue;
            if (!second) {
                if (llabs(c[j][i]) < thresholds[j > 0 || k->nb == 1])
                    c[j][i] = 0;
                else
                    left++;
                continue;
            }
            ratio   = oracle_clip(llabs(q[j][i]), 0, (16 * used) >> 8) * (denoise_pow2(29) / used);
            ratio   = oracle_clip(ratio >> 16, 0, 511);
            n       = (2 * ratio + 1) * (2 * ratio + 1);
            gain    = (32768 * n + (n + 4096) / 2) / (n + 4096);
            c[j][i] = (c[j][i] * gain + 16384) >> 15;
            squares += (gain >> 7) * (gain >> 7);
        }
    weight = second ? denoise_pow2(dense ? 28 : 29) / (65536 + squares) : (dense ? 4096 : 8192) / (1 + left);
    denoise_backward(result, c, k->nb, k->own);
    for (int i = 0; i < 64; i++)
        result[i] = oracle_clip(result[i] + base * denoise_pow2(f), 0, (denoise_pow2(d) - 1) * denoise_pow2(f));
    return weight;
}

/* Returns by how much clipping has moved a mean away from an end of the range. nb: number of samples at the end */
static int64_t denoise_shift(int64_t distance, int64_t nb, int64_t sigma, int d)
{
    static const int shifts[27] = {
        6529, 5599, 4825, 4172, 3616, 3139, 2728, 2372, 2063, 1794, 1559, 1354, 1175, 1018, 881, 761, 657,
        565, 486, 417, 357, 305, 259, 220, 187, 158, 133,
    };
    const int64_t scaled = distance * denoise_pow2(26 - d);
    int64_t u, part, slope, weight, shift;

    if (scaled >= 2073 * sigma || !nb)
        return 0;
    u      = FFMAX(scaled / sigma - 409, 0);
    part   = u % 64;
    slope  = shifts[u / 64] - shifts[u / 64 + 1];
    weight = FFMIN(256 * nb * (slope + 1024) / (49 * slope), 256);
    shift  = ((64 * shifts[u / 64] - part * slope) * sigma * denoise_pow2(d - 8)) >> 20;
    return (FFMIN(shift, 256 * distance) * weight + 32768) >> 16;
}

/* Corrects the samples of a result where the noise was clipped. Returns how many. sigma: C_k of 32 tones */
static int denoise_unclip(uint16_t *out, const uint16_t *noisy, int w, int h, int d, const int *sigma)
{
    const int max = denoise_pow2(d) - 1;
    int nb = 0;

    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const int v = out[y * w + x], c = sigma[v / denoise_pow2(d - 5)];
            int least = 0, greatest = 0;

            for (int b = -3; b <= 3; b++)
                for (int a = -3; a <= 3; a++) {
                    const int p = oracle_at(noisy, w, h, x + a, y + b);

                    least    += p == 0;
                    greatest += p == max;
                }
            out[y * w + x] = oracle_clip(v - denoise_shift(v, least, c, d) + denoise_shift(max - v, greatest, c, d),
                                         0, max);
            nb += out[y * w + x] != v;
        }
    return nb;
}

static void denoise_component(Denoise *s, DenoiseComponent *c, int t, int second, uint16_t *out)
{
    static const int window[8][8] = {
        { 12, 20, 24, 26, 26, 24, 20, 12 }, { 20, 33, 41, 44, 44, 41, 33, 20 },
        { 24, 41, 50, 54, 54, 50, 41, 24 }, { 26, 44, 54, 59, 59, 54, 44, 26 },
        { 26, 44, 54, 59, 59, 54, 44, 26 }, { 24, 41, 50, 54, 54, 50, 41, 24 },
        { 20, 33, 41, 44, 44, 41, 33, 20 }, { 12, 20, 24, 26, 26, 24, 20, 12 },
    };
    const DenoisePlane noisy = { { c->w, c->h, c->noisy[t] }, s->d };
    const int f = s->d < 10 ? 10 - s->d : 0;
    int64_t *n, *m;

    if (!c->strength[t][0] || (s->is_kept[t] && second == s->passes - 1)) {
        memcpy(out, c->noisy[t], c->w * c->h * sizeof(*out));
        return;
    }
    n = calloc(c->w * c->h, sizeof(*n));
    m = calloc(c->w * c->h, sizeof(*m));
    if (!second)
        c->matches[t] = calloc(denoise_patch_cols(c->w) * denoise_patch_rows(s, c->h), 3 * 9 * sizeof(int));
    for (int j = 0; j < denoise_patch_rows(s, c->h); j++)
        for (int i = 0; i < denoise_patch_cols(c->w); i++) {
            const int x = oracle_clip(4 * i - 2 * (j % 2), 0, FFMAX(c->w - 8, 0));
            const int y = oracle_clip((s->dense ? 2 : 4) * j, 0, FFMAX(c->h - 8, 0));
            DenoiseStack k;
            int64_t result[64], weight;

            denoise_stack(s, &k, c, &(DenoiseSpot) { t, i, j, x, y }, second);
            weight = denoise_filter(result, &k, c->strength[t][denoise_tone(&noisy, x, y)], s->d, second, s->dense,
                                    c->textured);
            for (int b = 0; b < 8; b++)
                for (int a = 0; a < 8; a++)
                    if (x + a < c->w && y + b < c->h) {
                        n[(y + b) * c->w + x + a] += weight * window[b][a] * result[8 * b + a];
                        m[(y + b) * c->w + x + a] += weight * window[b][a];
                    }
        }
    for (int i = 0; i < c->w * c->h; i++)
        out[i] = (n[i] + m[i] * denoise_pow2(f) / 2) / (m[i] * denoise_pow2(f));
    if (second == s->passes - 1 && !s->opponent)
        s->nb_unclipped += denoise_unclip(out, c->noisy[t], c->w, c->h, s->d, c->clipped[t]);
    free(n);
    free(m);
}

/** Makes the results of all pictures. */
static void mvdenoise_oracle_make(Denoise *s)
{
    denoise_strengths(s);
    for (int second = 0; second < s->passes; second++)
        for (int t = 0; t < s->nb_frames; t++)
            for (int i = 0; i < s->nb_components; i++) {
                DenoiseComponent *c = &s->components[i];

                denoise_component(s, c, t, second, second == s->passes - 1 ? c->out[t] : c->pilot[t]);
                if (second == s->passes - 1) {
                    free(c->matches[t]);
                    c->matches[t] = NULL;
                }
            }
}

/* Divides and rounds down. */
static int64_t denoise_quotient(int64_t n, int64_t by)
{
    return n >= 0 ? n / by : -((by - 1 - n) / by);
}

/**
 * Converts a sample of green, red, blue and, perhaps, alpha of d bits to opponent colours of d + k bits, or back.
 */
static void denoise_to_opponent(int64_t c[4], int d, int k)
{
    const int64_t g = c[0], r = c[1], b = c[2], half = (int64_t)1 << (d + k - 1);

    c[0] = denoise_quotient((r + g + b) * (1 << k) + 1, 3);
    c[1] = half + denoise_quotient(26755 * (r - b) * (1 << k) + 32768, 65536);
    c[2] = half + denoise_quotient(15447 * (r - 2 * g + b) * (1 << k) + 32768, 65536);
    c[3] = c[3] * (1 << k);
}

static void denoise_from_opponent(int64_t c[4], int d, int k)
{
    const int64_t half = (int64_t)1 << (d + k - 1), max = ((int64_t)1 << d) - 1, one = (int64_t)1 << (14 + k);
    const int64_t y = 16384 * c[0] + one / 2, u = c[1] - half, v = c[2] - half;

    c[0] = oracle_clip(denoise_quotient(y - 23170 * v, one), 0, max);
    c[1] = oracle_clip(denoise_quotient(y + 11585 * v + 20066 * u, one), 0, max);
    c[2] = oracle_clip(denoise_quotient(y + 11585 * v - 20066 * u, one), 0, max);
    c[3] = oracle_clip(denoise_quotient(c[3] + (1 << k) / 2, 1 << k), 0, max);
}

#endif /* GPUME_ORACLE_MVDENOISE_H */
