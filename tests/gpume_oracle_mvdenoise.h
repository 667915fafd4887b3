/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The oracle of mvdenoise: what doc/mvdenoise-definition.md says, as plainly as possible. Written from
 * that text, not from the filter.
 */

#ifndef GPUME_ORACLE_MVDENOISE_H
#define GPUME_ORACLE_MVDENOISE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DENOISE_MAX_FRAMES 8
#define DENOISE_MAX_RADIUS 4

/** A block of a motion field; vectors in 1/16 sample. */
typedef struct DenoiseBlock {
    int left, top, w, h, distance;
    int dx, dy;
} DenoiseBlock;

typedef struct DenoiseComponent {
    int w, h, sx, sy;
    int chosen;                                 ///< whether planes has it
    const uint16_t *noisy[DENOISE_MAX_FRAMES];
    uint16_t *pilot[DENOISE_MAX_FRAMES];
    uint16_t *out[DENOISE_MAX_FRAMES];
    int strength[DENOISE_MAX_FRAMES];           ///< S
    int estimate[DENOISE_MAX_FRAMES];           ///< G
} DenoiseComponent;

/** A sequence. Memory of pilots and results is the caller's. */
typedef struct Denoise {
    int w, h, d;
    int nb_frames, nb_components;
    int radius, passes;
    int sigma, factor;                          ///< options, in 1/256; sigma 0: estimated
    DenoiseComponent components[4];
    const DenoiseBlock *blocks[DENOISE_MAX_FRAMES];
    int nb_blocks[DENOISE_MAX_FRAMES];
    int nb_stacked;                             ///< patches of other pictures in stacks
    int nb_correlated;                          ///< estimates that halved components made larger
} Denoise;

static int denoise_clip(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

static int64_t denoise_pow2(int n)
{
    return (int64_t)1 << n;
}

/* Noise */

static int denoise_compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* The energy of the block that begins at (x0, y0), or -1: it does not count. */
static int64_t denoise_energy(const uint16_t *p, int w, int x0, int y0, int d)
{
    static const int kernel[3][3] = { { 1, -2, 1 }, { -2, 4, -2 }, { 1, -2, 1 } };
    int64_t energy = 0;
    int extreme = 0;

    for (int y = y0; y < y0 + 8; y++)
        for (int x = x0; x < x0 + 8; x++)
            extreme += p[y * w + x] == 0 || p[y * w + x] == denoise_pow2(d) - 1;
    for (int y = y0; y < y0 + 6; y++)
        for (int x = x0; x < x0 + 6; x++) {
            int64_t q = 0;

            for (int j = 0; j < 3; j++)
                for (int i = 0; i < 3; i++)
                    q += kernel[j][i] * p[(y + j) * w + x + i];
            energy += q * q;
        }
    return extreme > 4 ? -1 : energy;
}

/* v of the text, with what texture adds to it; 0 if fewer than least blocks count. */
static int64_t denoise_variance(const uint16_t *p, int w, int h, int d, int least)
{
    const int cols = w / 8, rows = h / 8;
    int64_t *all = malloc((cols * rows + 1) * sizeof(*all)), *counted = malloc((cols * rows + 1) * sizeof(*all));
    int64_t level = 0;
    int n = 0;

    for (int j = 0; j < rows; j++)
        for (int i = 0; i < cols; i++)
            all[j * cols + i] = denoise_energy(p, w, 8 * i, 8 * j, d);
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < cols; i++) {
            int across = 0, down = 0;

            for (int k = 0; k < cols; k++)
                across |= all[j * cols + k] != 0;
            for (int k = 0; k < rows; k++)
                down |= all[k * cols + i] != 0;
            if (across && down && all[j * cols + i] >= 0)
                counted[n++] = all[j * cols + i];
        }
    if (n >= least) {
        qsort(counted, n, sizeof(*counted), denoise_compare);
        level = (1894 * counted[26 * n >> 8]) >> 10;
        for (int k = 0; k < 6; k++) {
            int64_t sum = 0, number = 0;

            for (int i = 0; i < n; i++)
                if (counted[i] <= level) {
                    sum += counted[i];
                    number++;
                }
            level = number ? (1428 * (sum / number)) >> 10 : 0;
        }
    }
    free(all);
    free(counted);
    return (809 * level) >> (2 * (d - 8) + 4);
}

static int denoise_own_estimate(const uint16_t *p, int w, int h, int d, int *nb_correlated)
{
    const int64_t v = FFMAX(denoise_variance(p, w, h, d, 1) - 27689, 0);
    uint16_t *small = malloc(((w / 2) * (h / 2) + 1) * sizeof(*small));
    int64_t more, root = 0;

    for (int y = 0; y < h / 2; y++)
        for (int x = 0; x < w / 2; x++)
            small[y * (w / 2) + x] = (p[2 * y * w + 2 * x] + p[2 * y * w + 2 * x + 1] + p[(2 * y + 1) * w + 2 * x] +
                                      p[(2 * y + 1) * w + 2 * x + 1] + 2) / 4;
    more = 4 * denoise_variance(small, w / 2, h / 2, d, 48) - (369 * v >> 8) - 409600;
    free(small);
    *nb_correlated += more > 0;
    more = v + (9 * FFMAX(more, 0) >> 2);
    while (root < 32768 && (root + 1) * (root + 1) <= more)
        root++;
    return root;
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

static void denoise_strengths(Denoise *s)
{
    const DenoiseComponent *first = &s->components[0];

    for (int t = 0; t < s->nb_frames; t++) {
        const int anew = !t || denoise_is_cut(first->noisy[t], first->noisy[t - 1], s->w, s->h);

        for (int i = 0; i < s->nb_components; i++) {
            DenoiseComponent *c = &s->components[i];
            const int own = s->sigma ? 0 : denoise_own_estimate(c->noisy[t], c->w, c->h, s->d, &s->nb_correlated);
            int64_t strength;

            c->estimate[t] = s->sigma ? s->sigma : anew ? own : (3 * c->estimate[t - 1] + own + 2) >> 2;
            strength       = ((int64_t)c->estimate[t] * s->factor + 128) >> 8;
            c->strength[t] = c->chosen ? denoise_clip(strength, 0, 32768) : 0;
        }
    }
}

/* Samples between samples, letter by letter as the standard has them */

typedef struct DenoisePlane {
    const uint16_t *p;
    int w, h, d;
} DenoisePlane;

static int denoise_sample(const DenoisePlane *s, int x, int y)
{
    return s->p[denoise_clip(y, 0, s->h - 1) * s->w + denoise_clip(x, 0, s->w - 1)];
}

static int denoise_six(int a, int b, int c, int d, int e, int f)
{
    return a - 5 * b + 20 * c + 20 * d - 5 * e + f;
}

static int denoise_b1(const DenoisePlane *s, int x, int y)
{
    return denoise_six(denoise_sample(s, x - 2, y), denoise_sample(s, x - 1, y), denoise_sample(s, x, y),
                       denoise_sample(s, x + 1, y), denoise_sample(s, x + 2, y), denoise_sample(s, x + 3, y));
}

static int denoise_h1(const DenoisePlane *s, int x, int y)
{
    return denoise_six(denoise_sample(s, x, y - 2), denoise_sample(s, x, y - 1), denoise_sample(s, x, y),
                       denoise_sample(s, x, y + 1), denoise_sample(s, x, y + 2), denoise_sample(s, x, y + 3));
}

static int denoise_half(const DenoisePlane *s, int v)
{
    return denoise_clip((v + 16) >> 5, 0, denoise_pow2(s->d) - 1);
}

static int denoise_j(const DenoisePlane *s, int x, int y)
{
    const int j1 = denoise_six(denoise_b1(s, x, y - 2), denoise_b1(s, x, y - 1), denoise_b1(s, x, y),
                               denoise_b1(s, x, y + 1), denoise_b1(s, x, y + 2), denoise_b1(s, x, y + 3));

    return denoise_clip((j1 + 512) >> 10, 0, denoise_pow2(s->d) - 1);
}

/* The sample at (x, y), in quarters. */
static int denoise_quarter(const DenoisePlane *s, int qx, int qy)
{
    const int x = qx >> 2, y = qy >> 2;
    const int fx = qx & 3, fy = qy & 3;

#define AVERAGE(a, b) (((a) + (b) + 1) >> 1)
#define WHOLE(x, y) denoise_sample(s, x, y)
#define RIGHT(x, y) denoise_half(s, denoise_b1(s, x, y))
#define BELOW(x, y) denoise_half(s, denoise_h1(s, x, y))
    if (!fx && !fy)
        return WHOLE(x, y);
    if (!fy)
        return fx == 2 ? RIGHT(x, y) : AVERAGE(WHOLE(x + (fx == 3), y), RIGHT(x, y));
    if (!fx)
        return fy == 2 ? BELOW(x, y) : AVERAGE(WHOLE(x, y + (fy == 3)), BELOW(x, y));
    if (fx == 2 && fy == 2)
        return denoise_j(s, x, y);
    if (fx == 2)
        return AVERAGE(denoise_j(s, x, y), RIGHT(x, y + (fy == 3)));
    if (fy == 2)
        return AVERAGE(denoise_j(s, x, y), BELOW(x + (fx == 3), y));
    return AVERAGE(RIGHT(x, y + (fy == 3)), BELOW(x + (fx == 3), y));
#undef AVERAGE
#undef WHOLE
#undef RIGHT
#undef BELOW
}

static void denoise_read(int *patch, const DenoisePlane *s, int x0, int y0, int dx, int dy)
{
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++)
            patch[8 * y + x] = denoise_quarter(s, 4 * (x0 + x) + dx, 4 * (y0 + y) + dy);
}

/* Stacks */

/* The vector of a cell, in quarter samples. Returns 0 if there is none. */
static int denoise_cell(const Denoise *s, int t, int distance, int c, int r, int *x, int *y)
{
    const int at_x = denoise_clip(8 * c + 4, 0, s->w - 1), at_y = denoise_clip(8 * r + 4, 0, s->h - 1);
    int found = 0;

    for (int i = 0; i < s->nb_blocks[t]; i++) {
        const DenoiseBlock *b = &s->blocks[t][i];

        if (b->distance != distance || at_x < b->left || at_x >= b->left + b->w || at_y < b->top ||
            at_y >= b->top + b->h)
            continue;
        found = 1;
        *x = denoise_clip((b->dx + 2) >> 2, -32000, 32000);
        *y = denoise_clip((b->dy + 2) >> 2, -32000, 32000);
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

typedef struct DenoiseStack {
    int nb, own;
    int noisy[2 * DENOISE_MAX_RADIUS + 1][64], pilot[2 * DENOISE_MAX_RADIUS + 1][64];
} DenoiseStack;

static void denoise_stack(Denoise *s, DenoiseStack *k, const DenoiseComponent *c, int t, int x, int y, int second)
{
    static const int lost[4][4] = { { 0, 15, 11, 15 }, { 15, 25, 23, 25 }, { 11, 23, 20, 23 }, { 15, 25, 23, 25 } };
    const int cols = (s->w + 7) / 8, rows = (s->h + 7) / 8;
    const int64_t strength = c->strength[t];
    const int64_t limit = (strength * strength * denoise_pow2(2 * (s->d - 8)) * (second ? 64 : 320)) >> 16;

    k->nb = 0;
    for (int u = t - s->radius; u <= t + s->radius; u++) {
        const DenoisePlane noisy = { u >= 0 && u < s->nb_frames ? c->noisy[u] : NULL, c->w, c->h, s->d };
        const DenoisePlane pilot = { noisy.p ? c->pilot[u] : NULL, c->w, c->h, s->d };
        const DenoisePlane *look = second ? &pilot : &noisy;
        const DenoisePlane own   = { second ? c->pilot[t] : c->noisy[t], c->w, c->h, s->d };
        int64_t least = -1;
        int dx = 0, dy = 0, patch[64], match[64];

        if (!noisy.p)
            continue;
        denoise_read(patch, &own, x, y, 0, 0);
        for (int i = 0; i < 8 && u != t; i++) {
            static const int at[8][2] = {
                { 0, 0 }, { 7, 0 }, { 0, 7 }, { 7, 7 }, { -8, 3 }, { 15, 3 }, { 3, -8 },
            };
            const int cx = denoise_clip(((x + at[i][0]) * denoise_pow2(c->sx)) >> 3, 0, cols - 1);
            const int cy = denoise_clip(((y + at[i][1]) * denoise_pow2(c->sy)) >> 3, 0, rows - 1);
            int64_t sum = 0;
            int vx = 0, vy = 0;

            if (i < 7 ? !denoise_cell(s, t, u - t, cx, cy, &vx, &vy) : !denoise_has_entry(s, t, u - t))
                continue;
            vx = (vx + ((1 << c->sx) >> 1)) >> c->sx;
            vy = (vy + ((1 << c->sy) >> 1)) >> c->sy;
            denoise_read(match, look, x, y, vx, vy);
            for (int n = 0; n < 64; n++)
                sum += (int64_t)(match[n] - patch[n]) * (match[n] - patch[n]);
            if (!second)
                sum += (strength * strength * denoise_pow2(2 * (s->d - 8)) * lost[vy & 3][vx & 3]) >> 16;
            if (sum <= limit && (least < 0 || sum < least)) {
                least = sum;
                dx    = vx;
                dy    = vy;
            }
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

/* All patches of a stack; over space, then over time. */
static void denoise_forward(int64_t (*c)[64], int (*patches)[64], int nb, int base, int f)
{
    for (int k = 0; k < nb; k++) {
        int64_t columns[64];

        for (int v = 0; v < 8; v++)
            for (int x = 0; x < 8; x++) {
                int64_t sum = 64;

                for (int y = 0; y < 8; y++)
                    sum += denoise_matrix[v][y] * (patches[k][8 * y + x] - base) * denoise_pow2(f);
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
            int64_t sum = 64;

            for (int v = 0; v < 8; v++)
                sum += denoise_matrix[v][y] * rows[8 * v + x];
            result[8 * y + x] = sum >> 7;
        }
}

/* What becomes of a stack; returns the weight. */
static int64_t denoise_filter(int64_t *result, DenoiseStack *k, int64_t strength, int d, int second)
{
    int64_t c[2 * DENOISE_MAX_RADIUS + 1][64], q[2 * DENOISE_MAX_RADIUS + 1][64];
    const int f = d < 10 ? 10 - d : 0;
    const int64_t scaled = strength * denoise_pow2(d - 8 + f);
    const int64_t thresholds[2] = { (589 * scaled + 32768) >> 16, (742 * scaled + 32768) >> 16 };
    const int64_t most = (16 * scaled) >> 8;
    const int64_t reciprocal = denoise_pow2(29) / scaled;
    int64_t left = 0, squares = 0, weight;
    int base = 32;

    for (int i = 0; i < 64; i++)
        base += k->noisy[k->own][i];
    base >>= 6;
    denoise_forward(c, k->noisy, k->nb, base, f);
    if (second)
        denoise_forward(q, k->pilot, k->nb, base, f);
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
            ratio   = denoise_clip((denoise_clip(llabs(q[j][i]), 0, most) * reciprocal) >> 16, 0, 511);
            n       = (2 * ratio + 1) * (2 * ratio + 1);
            gain    = (32768 * n + (n + 4096) / 2) / (n + 4096);
            c[j][i] = (c[j][i] * gain + 16384) >> 15;
            squares += (gain >> 7) * (gain >> 7);
        }
    weight = second ? denoise_pow2(29) / (65536 + squares) : 8192 / (1 + left);
    denoise_backward(result, c, k->nb, k->own);
    for (int i = 0; i < 64; i++)
        result[i] = denoise_clip(result[i] + base * denoise_pow2(f), 0, (denoise_pow2(d) - 1) * denoise_pow2(f));
    return weight;
}

/* Where patch i of a row of samples begins, or -1: there are not so many. */
static int denoise_place(int i, int length)
{
    const int nb = length <= 8 ? 1 : (length - 5) / 4 + 1;

    return i >= nb ? -1 : 4 * i < length - 8 ? 4 * i : length > 8 ? length - 8 : 0;
}

static void denoise_component(Denoise *s, DenoiseComponent *c, int t, int second, uint16_t *out)
{
    static const int window[8][8] = {
        { 12, 20, 24, 26, 26, 24, 20, 12 }, { 20, 33, 41, 44, 44, 41, 33, 20 },
        { 24, 41, 50, 54, 54, 50, 41, 24 }, { 26, 44, 54, 59, 59, 54, 44, 26 },
        { 26, 44, 54, 59, 59, 54, 44, 26 }, { 24, 41, 50, 54, 54, 50, 41, 24 },
        { 20, 33, 41, 44, 44, 41, 33, 20 }, { 12, 20, 24, 26, 26, 24, 20, 12 },
    };
    const int f = s->d < 10 ? 10 - s->d : 0;
    int64_t *n, *m;

    if (c->strength[t] < 16) {
        memcpy(out, c->noisy[t], c->w * c->h * sizeof(*out));
        return;
    }
    n = calloc(c->w * c->h, sizeof(*n));
    m = calloc(c->w * c->h, sizeof(*m));
    for (int j = 0, y; (y = denoise_place(j, c->h)) >= 0; j++)
        for (int i = 0, x; (x = denoise_place(i, c->w)) >= 0; i++) {
            DenoiseStack k;
            int64_t result[64], weight;

            denoise_stack(s, &k, c, t, x, y, second);
            weight = denoise_filter(result, &k, c->strength[t], s->d, second);
            for (int b = 0; b < 8; b++)
                for (int a = 0; a < 8; a++)
                    if (x + a < c->w && y + b < c->h) {
                        n[(y + b) * c->w + x + a] += weight * window[b][a] * result[8 * b + a];
                        m[(y + b) * c->w + x + a] += weight * window[b][a];
                    }
        }
    for (int i = 0; i < c->w * c->h; i++)
        out[i] = (n[i] + m[i] * denoise_pow2(f) / 2) / (m[i] * denoise_pow2(f));
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
            }
}

#endif /* GPUME_ORACLE_MVDENOISE_H */
