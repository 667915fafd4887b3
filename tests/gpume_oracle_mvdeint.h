/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Reference implementation of mvdeint, written from doc/mvdeint-definition.md, sample by sample and as
 * plainly as possible. It is not optimized.
 */

#ifndef GPUME_ORACLE_MVDEINT_H
#define GPUME_ORACLE_MVDEINT_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpume_oracle.h"

/** Maximum number of frames in a sequence. */
#define DEINT_MAX_FRAMES 8
#define DEINT_MAX_FIELDS (2 * DEINT_MAX_FRAMES)

/** A component of all frames, and its estimates for all fields. Names at the right are of the definition. */
typedef struct DeintComponent {
    int w, h, sx, sy;
    uint16_t *frames[DEINT_MAX_FRAMES];
    uint16_t *first[DEINT_MAX_FIELDS];      ///< X(0)
    uint16_t *intra[DEINT_MAX_FIELDS];      ///< L
    uint16_t *reach[DEINT_MAX_FIELDS];
    uint16_t *estimate[DEINT_MAX_FIELDS];   ///< X(p)
    uint16_t *result[DEINT_MAX_FIELDS];     ///< X(p + 1)
} DeintComponent;

/** A vector, in quarter samples of luma, and its cost. */
typedef struct DeintVector {
    int x, y;
    unsigned cost;
} DeintVector;

typedef struct Deint {
    int w, h, d, nb_frames, nb_components;
    int refs, is_last;          ///< fields on each side; whether the pass is the last one
    int parity[DEINT_MAX_FIELDS], progressive[DEINT_MAX_FRAMES];
    DeintComponent components[4];
    /** Vectors of each field, at distances -2, -1, 1 and 2; NULL: none. */
    DeintVector *vectors[DEINT_MAX_FIELDS][4];
    int nb_compensated, nb_moved;           ///< number of compensated samples, and of those that differ from X(0)
} Deint;

/** Taps of the interpolation within a field. */
static const int16_t deint_taps[63][36] = {
#include "libavfilter/gpume/mvdeint/taps.h"
};

static int deint_at(const DeintComponent *c, const uint16_t *p, int x, int y)
{
    return oracle_at(p, c->w, c->h, x, y);
}

static int deint_scaled(int v, int b)
{
    return oracle_min(b > 11 ? (v + (1 << (b - 12))) >> (b - 11) : v * (1 << (11 - b)), 1023);
}

static int deint_above(int y)
{
    return y ? y - 1 : 1;
}

static int deint_below(const DeintComponent *c, int y)
{
    return y == c->h - 1 ? c->h - 2 : y + 1;
}

static int deint_log2(unsigned v)
{
    int e = 0;

    while (v >> 1 >> e)
        e++;
    return e;
}

static unsigned deint_square(unsigned v)
{
    return v * v;
}

/* Estimates */

static int deint_first(const Deint *s, const DeintComponent *c, int t, int x, int y)
{
    const int n = t / 2, max = (1 << s->d) - 1, h = c->h;
    const uint16_t *f      = c->frames[n];
    const uint16_t *before = c->frames[n ? n - 1 : n];
    const uint16_t *after  = c->frames[n + 1 < s->nb_frames ? n + 1 : n];
    const uint16_t *p0 = t & 1 ? f : before, *p1 = t & 1 ? after : f;
    const int ya = deint_above(y), yb = deint_below(c, y);
    const int a  = deint_at(c, f, x, ya), b = deint_at(c, f, x, yb);
    const int a3 = deint_at(c, f, x, y < 3 ? y + 1 : y - 3), b3 = deint_at(c, f, x, y + 3 >= h ? y - 1 : y + 3);
    int both[5], still, change, reach, z;

    if (!t || t == 2 * s->nb_frames - 1)
        return oracle_clip((5077 * (a + b) - 981 * (a3 + b3)) >> 13, 0, max);
    for (int k = -2; k <= 2; k++)
        both[2 + k] = deint_at(c, p0, x, y + 2 * k) + deint_at(c, p1, x, y + 2 * k);
    still  = both[2] >> 1;
    change = abs(deint_at(c, p0, x, y) - deint_at(c, p1, x, y));
    reach  = oracle_max(change >> 1,
                        oracle_max((abs(deint_at(c, before, x, ya) - a) + abs(deint_at(c, before, x, yb) - b)) >> 1,
                                   (abs(deint_at(c, after, x, ya) - a) + abs(deint_at(c, after, x, yb) - b)) >> 1));
    c->reach[t][y * c->w + x] = reach;
    if (!reach)
        return still;
    if (y >= 2 && y <= h - 3) {
        const int u = (both[1] >> 1) - a, v = (both[3] >> 1) - b;
        const int high = oracle_max(oracle_max(still - b, still - a), oracle_min(u, v));
        const int low  = oracle_min(oracle_min(still - b, still - a), oracle_max(u, v));

        reach = oracle_max(oracle_max(reach, low), -high);
        c->reach[t][y * c->w + x] = oracle_min(reach, max);
    }
    if (y < 4 || y > h - 5)
        z = (a + b) >> 1;
    else if (abs(a - b) > change)
        z = (((5570 * both[2] - 3801 * (both[1] + both[3]) + 1016 * (both[0] + both[4])) >> 2) +
             4309 * (a + b) - 213 * (a3 + b3)) >> 13;
    else
        z = (5077 * (a + b) - 981 * (a3 + b3)) >> 13;
    return oracle_clip(oracle_clip(z, still - reach, still + reach), 0, max);
}

static int deint_intra(const Deint *s, const DeintComponent *c, int t, int x, int y)
{
    const uint16_t *f = c->frames[t / 2];
    const int v = 1 << (s->d - 8), a = deint_above(y), b = deint_below(c, y);
    const int lines[4] = { y < 3 ? a : y - 3, a, b, y + 3 >= c->h ? b : y + 3 };
    int best = 0, least = 0, activity, fit, busy, sum = 2048;

    for (int i = -3; i <= 3; i++) {
        int cost = 2 * v * abs(i);

        for (int j = -2; j <= 2; j++)
            cost += abs(deint_at(c, f, x + i + j, a) - deint_at(c, f, x - i + j, b));
        if (i == -3 || cost < least) {
            least = cost;
            best  = i;
        }
    }
    activity = abs(deint_at(c, f, x, lines[0]) - deint_at(c, f, x, a)) +
               abs(deint_at(c, f, x, a) - deint_at(c, f, x, b)) +
               abs(deint_at(c, f, x, lines[3]) - deint_at(c, f, x, b));
    fit  = least < 10 * v ? 0 : least < 40 * v ? 1 : 2;
    busy = activity < 6 * v ? 0 : activity < 30 * v ? 1 : 2;
    for (int k = 0; k < 4; k++)
        for (int j = 0; j < 9; j++)
            sum += deint_taps[9 * (best + 3) + 3 * fit + busy][9 * k + j] * deint_at(c, f, x + j - 4, lines[k]);
    return oracle_clip(sum >> 12, 0, (1 << s->d) - 1);
}

static int deint_is_known(const Deint *s, int t, int y)
{
    return (y & 1) == s->parity[t];
}

/* Makes the estimates of bwdif. */
static void deint_oracle_bwdif(Deint *s)
{
    for (int i = 0; i < s->nb_components; i++)
        for (int t = 0; t < 2 * s->nb_frames; t++)
            for (int y = 0; y < s->components[i].h; y++)
                for (int x = 0; x < s->components[i].w; x++) {
                    DeintComponent *c = &s->components[i];
                    const int at = y * c->w + x;

                    c->reach[t][at] = (1 << s->d) - 1;
                    c->first[t][at] = s->progressive[t / 2] || deint_is_known(s, t, y) ? c->frames[t / 2][at]
                                                                                      : deint_first(s, c, t, x, y);
                    c->estimate[t][at] = c->first[t][at];
                }
}

/* Returns bwdif's sample w mixed with l, the one interpolated within the field. */
static int deint_mixed(const Deint *s, const DeintComponent *c, int t, int x, int y, int w, int l)
{
    const int n = t / 2;
    const uint16_t *s0 = c->frames[t & 1 ? n : n - 1], *s1 = c->frames[t & 1 ? n + 1 : n];
    unsigned change = 0, detail = 0, mean;
    int sum = 0, shift;

    for (int i = -2; i <= 2; i += 2)
        for (int j = -2; j <= 2; j++) {
            int both[3], off = deint_at(c, s0, x + j, y + i) - deint_at(c, s1, x + j, y + i);

            for (int k = 0; k < 3; k++)
                both[k] = deint_at(c, s0, x + j, y + i + 2 * k - 2) + deint_at(c, s1, x + j, y + i + 2 * k - 2);
            change += deint_square(deint_scaled(abs(off), s->d));
            sum    += (off < 0 ? -1 : 1) * deint_scaled(abs(off), s->d);
            detail += 6 * deint_square(deint_scaled(abs(2 * both[1] - both[0] - both[2]), s->d + 2));
        }
    mean    = abs(sum) * 273 >> 12;
    change -= 15 * mean * mean;
    shift   = change | detail ? oracle_max(deint_log2(change | detail) - 11, 0) : 0;
    change >>= shift;
    detail >>= shift;
    if (!change && !detail)
        return w;
    return w + (((l - w) * (int)(192 * change * change / (change * change + detail * detail)) + 128) >> 8);
}

/* Returns sample v of the estimate moved towards the neighbouring fields where little changes. */
static int deint_woven(const Deint *s, const DeintComponent *c, int t, int x, int y, int v)
{
    const int n = t / 2, lines[2] = { deint_above(y), deint_below(c, y) };
    const uint16_t *f  = c->frames[n], *before = c->frames[n - !(t & 1)], *after = c->frames[n + (t & 1)];
    const int still = (deint_at(c, before, x, y) + deint_at(c, after, x, y)) >> 1;
    uint64_t distance = deint_square(deint_scaled(abs(still - v), s->d)), change = 0;
    int shift;

    for (int j = x - 2; j <= x + 2; j++) {
        for (int i = -2; i <= 2; i += 2)
            change += deint_square(deint_scaled(abs(deint_at(c, before, j, y + i) - deint_at(c, after, j, y + i)),
                                                s->d));
        for (int i = 0; i < 2; i++)
            for (int k = oracle_max(n - 1, 0); k <= oracle_min(n + 1, s->nb_frames - 1); k++)
                change += deint_square(deint_scaled(abs(deint_at(c, c->frames[k], j, lines[i]) -
                                                        deint_at(c, f, j, lines[i])), s->d));
    }
    if (!distance && !change)
        return v;
    shift = oracle_max(deint_log2(distance | change) - 11, 0);
    distance = (distance >> shift) * (distance >> shift);
    change   = (change >> shift) * (change >> shift);
    return v + (((still - v) * (int)(256 * distance / (distance + change)) + 128) >> 8);
}

static void deint_oracle_first(Deint *s)
{
    deint_oracle_bwdif(s);
    for (int i = 0; i < s->nb_components; i++)
        for (int t = 0; t < 2 * s->nb_frames; t++)
            for (int y = 0; y < s->components[i].h; y++)
                for (int x = 0; x < s->components[i].w; x++) {
                    DeintComponent *c = &s->components[i];
                    const int at = y * c->w + x;

                    c->intra[t][at] = deint_is_known(s, t, y) ? 0 : deint_intra(s, c, t, x, y);
                    if (t && t < 2 * s->nb_frames - 1 && !s->progressive[t / 2] && !deint_is_known(s, t, y) &&
                        c->reach[t][at])
                        c->first[t][at] = deint_woven(s, c, t, x, y, deint_mixed(s, c, t, x, y, c->first[t][at],
                                                                                 c->intra[t][at]));
                    c->estimate[t][at] = c->first[t][at];
                }
}

/* A pass */

/** If not NULL, gets the measures of missing samples with four candidates: bench/deint/fit.py reads them. */
static FILE *deint_measures;

/** A candidate of a component: its compensated samples c, and r, how much of each is from samples of the field. */
typedef struct DeintCandidate {
    int field, distance, partner;
    int *c, *r;
    const uint8_t *matches;     ///< whether it matches in each area of luma
} DeintCandidate;

static int deint_compensated(const Deint *s, const DeintComponent *c, const DeintCandidate *z, DeintVector v,
                             int x, int y, int *known)
{
    static const int taps[8][6] = {
        { 0, 0, 64, 0, 0, 0 },    { 0, -2, 58, 10, -2, 0 }, { 1, -5, 52, 20, -5, 1 }, { 1, -7, 46, 30, -8, 2 },
        { 2, -10, 40, 40, -10, 2 }, { 2, -8, 30, 46, -7, 1 }, { 1, -5, 20, 52, -5, 1 }, { 0, -2, 10, 58, -2, 0 },
    };
    const int f = oracle_min(4, 16 - s->d), ex = (2 * v.x) >> c->sx, ey = (2 * v.y) >> c->sy;
    const int line = y + (ey >> 3), is_made = z->distance < 0 && !s->is_last && !s->progressive[z->field / 2];
    const uint16_t *estimate = is_made ? c->result[z->field] : c->estimate[z->field];
    int sum = 1 << (11 - f);

    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            sum += taps[ey & 7][i] * taps[ex & 7][j] *
                   deint_at(c, estimate, x + (ex >> 3) + j - 2, line + i - 2);
    *known = (line & 1) == s->parity[z->field] ? 16 - 2 * (ey & 7) : 2 * (ey & 7);
    return oracle_clip(sum >> (12 - f), 0, ((1 << s->d) - 1) << f);
}

/* Returns how well a block fits the lines 2 k and 2 k + 1 of an area, 1 / (squared differences + 10240). */
static unsigned deint_squares(const Deint *s, const DeintComponent *c, int t, const DeintCandidate *z, DeintVector v,
                              int x0, int y0, int k)
{
    const int f = oracle_min(4, 16 - s->d), w = 8 >> c->sx, h = 8 >> c->sy;
    const int second = (y0 & 1) != s->parity[t], other = oracle_clip(second ? k - 1 : k + 1, 0, h / 2 - 1);
    const int lines[2] = { y0 + 2 * k + second, y0 + 2 * other + second };
    unsigned sum = 10240;
    int known;

    for (int i = 0; i < 2; i++)
        for (int x = x0; x < x0 + w; x++)
            sum += deint_square(deint_scaled(abs((deint_at(c, c->estimate[t], x, lines[i]) << f) -
                                                 deint_compensated(s, c, z, v, x, lines[i], &known)), s->d + f));
    return sum;
}

/* Overlaps the four blocks around area (k, l). */
static void deint_area_overlap(const Deint *s, const DeintComponent *c, int t, DeintCandidate *z,
                               const DeintVector *vectors, int k, int l)
{
    static const int windows[3][8] = { { 1, 5, 14, 26, 38, 50, 59, 63 }, { 2, 20, 44, 62 }, { 9, 55 } };
    const int cols = (s->w + 7) / 8, rows = (s->h + 7) / 8, x0 = (8 * k - 4) >> c->sx, y0 = (8 * l - 4) >> c->sy;
    DeintVector v[4];

    for (int i = 0; i < 4; i++)
        v[i] = vectors[oracle_clip(l - 1 + i / 2, 0, rows - 1) * cols + oracle_clip(k - 1 + (i & 1), 0, cols - 1)];
    for (int y = oracle_max(y0, 0); y < oracle_min(y0 + (8 >> c->sy), c->h); y++) {
        unsigned squares[4], least = UINT32_MAX;

        for (int i = 0; i < 4; i++) {
            squares[i] = deint_squares(s, c, t, z, v[i], x0, y0, (y - y0) / 2);
            least      = squares[i] < least ? squares[i] : least;
        }
        for (int x = oracle_max(x0, 0); x < oracle_min(x0 + (8 >> c->sx), c->w); x++) {
            const int wx = windows[c->sx][x - x0], wy = windows[c->sy][y - y0];
            unsigned u[4], sum_u = 0, rest = 4096, sum = 2048, sum_known = 2048;

            for (int i = 0; i < 4; i++) {
                const int e = deint_log2(squares[i]);

                u[i]   = (i & 1 ? wx : 64 - wx) * (i / 2 ? wy : 64 - wy) *
                         ((384 - (squares[i] >> (e - 7))) >> (e - deint_log2(least)));
                sum_u += u[i];
            }
            for (int i = 3; i >= 0; i--) {
                const unsigned weight = i ? u[i] * (UINT32_MAX / sum_u) >> 20 : rest;
                int known;

                rest      -= weight;
                sum       += weight * deint_compensated(s, c, z, v[i], x, y, &known);
                sum_known += (i & 1 ? wx : 64 - wx) * (i / 2 ? wy : 64 - wy) * known;
            }
            z->c[y * c->w + x] = sum >> 12;
            z->r[y * c->w + x] = sum_known >> 12;
        }
    }
}

static void deint_overlap(const Deint *s, const DeintComponent *c, int t, DeintCandidate *z, const DeintVector *vectors)
{
    for (int l = 0; l <= (s->h + 7) / 8; l++)
        for (int k = 0; k <= (s->w + 7) / 8; k++)
            deint_area_overlap(s, c, t, z, vectors, k, l);
}

/* Returns N, the noise, from the costs of both neighbouring fields. */
static int deint_noise(const Deint *s, int t)
{
    const int cols = (s->w + 7) / 8, rows = (s->h + 7) / 8;
    int costs[256];

    for (int i = 0; i < 256; i++) {
        const int at = (2 * (i / 16) + 1) * rows / 32 * cols + (2 * (i % 16) + 1) * cols / 32;

        costs[i] = oracle_min(s->vectors[t][1][at].cost, s->vectors[t][2][at].cost);
    }
    qsort(costs, 256, sizeof(*costs), oracle_ascending);
    return oracle_max(oracle_min(costs[25], (16 << s->d) - 1) - 48 * (1 << (s->d - 8)), 0) << oracle_min(4, 16 - s->d);
}

/* Rounds the vectors of the nearest fields of field t where both fields then agree better. */
static void deint_round(Deint *s, int t)
{
    const DeintCandidate z[2] = { { .field = t - 1, .distance = -1 }, { .field = t + 1, .distance = 1 } };
    const DeintComponent *c = s->components;
    const int cols = (s->w + 7) / 8, nb = cols * ((s->h + 7) / 8);
    DeintVector *v[2] = { s->vectors[t][1], s->vectors[t][2] };
    int noise;

    if (!v[0] || !v[1] || t < 1 || t + 2 > 2 * s->nb_frames || s->parity[t - 1] == s->parity[t] ||
        s->parity[t + 1] == s->parity[t])
        return;
    noise = deint_noise(s, t);
    for (int b = 0; b < nb; b++) {
        const DeintVector own[2] = { v[0][b], v[1][b] };
        const int is_steady = abs(own[0].x + own[1].x) <= 8 && abs(own[0].y + own[1].y) <= 12;
        DeintVector even[2];
        int sums[2] = { 0 }, known;

        for (int i = 0; i < 2; i++) {
            const int dy = is_steady ? (own[i].y - own[!i].y) / 2 : own[i].y;

            even[i] = (DeintVector) { own[i].x, (dy < 0 ? -8 : 8) * ((abs(dy) + 3) / 8), own[i].cost };
        }
        for (int i = 0; i < 64; i++) {
            const int x = b % cols * 8 + i % 8, y = b / cols * 8 + i / 8;

            if ((y & 1) == s->parity[t])
                continue;
            sums[0] += abs(deint_compensated(s, c, &z[0], own[0], x, y, &known) -
                           deint_compensated(s, c, &z[1], own[1], x, y, &known));
            sums[1] += abs(deint_compensated(s, c, &z[0], even[0], x, y, &known) -
                           deint_compensated(s, c, &z[1], even[1], x, y, &known));
        }
        if ((even[0].y == own[0].y && even[1].y == own[1].y) || 5 * sums[1] > 3 * sums[0] + 4 * noise)
            continue;
        for (int i = 0; i < 2; i++) {
            DeintVector *far = s->vectors[t][3 * i];

            v[i][b] = even[i];
            if (far && abs(far[b].y - 2 * even[i].y) <= 8)
                far[b].y = 2 * even[i].y;
        }
    }
}

static void deint_residual(const Deint *s, const DeintComponent *c, int t, const DeintCandidate *z)
{
    const int f = oracle_min(4, 16 - s->d);

    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w && !deint_is_known(s, t, y); x++) {
            const int ya = deint_above(y), yb = deint_below(c, y);
            const int a = (deint_at(c, c->estimate[t], x, ya) << f) - z->c[ya * c->w + x];
            const int b = (deint_at(c, c->estimate[t], x, yb) << f) - z->c[yb * c->w + x];
            const int move = (77 * oracle_min(abs(a), abs(b)) + 64) >> 7;
            int *p = &z->c[y * c->w + x];

            if (a > 0 && b > 0)
                *p = oracle_min(*p + move, ((1 << s->d) - 1) << f);
            if (a < 0 && b < 0)
                *p = oracle_max(*p - move, 0);
        }
}

static unsigned deint_mean(unsigned n, unsigned v)
{
    return ((n >> 6) * ((65536 + v / 2) / v)) >> 10;
}

static unsigned deint_activity(const Deint *s, const DeintComponent *c, int t, int x, int y)
{
    const int lines[2] = { deint_above(y), deint_below(c, y) };
    const uint16_t *p = c->estimate[t];
    unsigned sum = 0;

    for (int k = 0; k < 2; k++)
        for (int j = x - 1; j <= x + 1; j++) {
            const int i = lines[k], up = i < 2 ? i + 2 : i - 2, down = i + 2 >= c->h ? i - 2 : i + 2;

            sum += deint_square(deint_scaled(abs(2 * deint_at(c, p, j, i) - deint_at(c, p, j, up) -
                                                 deint_at(c, p, j, down)), s->d + 1));
        }
    return (171 * sum) >> 10;
}

static unsigned deint_error(const Deint *s, const DeintComponent *c, int t, const DeintCandidate *z, int x, int y)
{
    const int f = oracle_min(4, 16 - s->d), lines[2] = { deint_above(y), deint_below(c, y) };
    unsigned n = 0, v = 0;

    for (int k = 0; k < 2; k++)
        for (int j = x - 2; j <= x + 2; j++) {
            const int at = lines[k] * c->w + oracle_clip(j, 0, c->w - 1);
            const int m  = deint_scaled(abs((c->estimate[t][at] << f) - z->c[at]), s->d + f);

            n += (z->r[at] + 2) * deint_square(m);
            v += z->r[at] + 2;
        }
    return deint_mean(n, v);
}

/* Returns the vote of area (k, l) of luma for a candidate. */
static int deint_vote(const Deint *s, const DeintComponent *c, int t, const DeintCandidate *z, int k, int l)
{
    const int f = oracle_min(4, 16 - s->d);
    long e = 0, a = 0, n = 0;

    for (int y = oracle_max(8 * l - 4, 0); y < oracle_min(8 * l + 4, c->h); y++)
        for (int x = oracle_max(8 * k - 4, 0); x < oracle_min(8 * k + 4, c->w); x++) {
            const int up = y < 2 ? y + 2 : y - 2, down = y + 2 >= c->h ? y - 2 : y + 2;
            const uint16_t *p = c->estimate[t];

            if ((y & 1) != s->parity[t])
                continue;
            e += abs((p[y * c->w + x] << f) - z->c[y * c->w + x]);
            a += abs(2 * p[y * c->w + x] - p[up * c->w + x] - p[down * c->w + x]) << f;
            n += 3 << (s->d + f - 9);
        }
    return 8 * e > 3 * a + 4 * n ? -1 : a > n;
}

/* Sets for each area which candidates match: those with enough votes around, unless all votes in the area are -1. */
static void deint_matches(const Deint *s, const DeintComponent *c, int t, const DeintCandidate *z, int nb,
                          uint8_t **matches)
{
    const int cols = (s->w + 7) / 8 + 1, rows = (s->h + 7) / 8 + 1;
    int *votes = test_alloc(calloc(cols * rows, sizeof(*votes)));
    uint8_t *any = test_alloc(calloc(cols, rows));

    for (int n = 0; n < nb; n++) {
        matches[n] = test_alloc(calloc(cols, rows));
        for (int i = 0; i < cols * rows; i++) {
            votes[i] = deint_vote(s, c, t, &z[n], i % cols, i / cols);
            any[i]  |= votes[i] >= 0;
        }
        for (int i = 0; i < cols * rows; i++) {
            int sum = 0;

            for (int j = 0; j < cols * rows; j++)
                if (abs(j % cols - i % cols) <= 2 && abs(j / cols - i / cols) <= 2)
                    sum += votes[j];
            matches[n][i] = sum >= 0;
        }
    }
    for (int n = 0; n < nb; n++)
        for (int i = 0; i < cols * rows; i++)
            matches[n][i] &= any[i];
    free(votes);
    free(any);
}

/* Returns the area of luma that contains a sample of a component. */
static int deint_area(const Deint *s, const DeintComponent *c, int x, int y)
{
    return ((4 + (y << c->sy)) >> 3) * ((s->w + 7) / 8 + 1) + ((4 + (x << c->sx)) >> 3);
}

/* Returns whether a sample keeps its value of X(0) because too few candidates match. */
static int deint_is_first(const Deint *s, const DeintComponent *c, const DeintCandidate *z, int nb, int x, int y)
{
    const int nb_areas = ((s->w + 7) / 8 + 1) * ((s->h + 7) / 8 + 1), area = deint_area(s, c, x, y);
    int nb_poor = 0, here = 0;

    for (int i = 0; i < nb_areas; i++) {
        int there = 0;

        for (int j = 0; j < nb; j++)
            there += z[j].matches[i];
        nb_poor += there < 2;
        if (i == area)
            here = there;
    }
    return nb && here < (2 * nb_poor > nb_areas ? oracle_min(nb, 2) : 1);
}

/* Returns the error of a candidate, at least 2^17 if it does not match. */
static unsigned deint_matched(const Deint *s, const DeintComponent *c, int t, const DeintCandidate *z, int x, int y)
{
    const unsigned error = deint_error(s, c, t, z, x, y);

    return z->matches[deint_area(s, c, x, y)] || error > 131072 ? error : 131072;
}

/* Returns E of candidate i. */
static unsigned deint_least(const Deint *s, const DeintComponent *c, int t, const DeintCandidate *z, int nb, int i,
                            int x, int y)
{
    unsigned least = deint_matched(s, c, t, &z[i], x, y);

    for (int j = 0; j < nb; j++)
        if (z[j].distance == 2 * z[i].distance) {
            const unsigned far = deint_matched(s, c, t, &z[j], x, y);

            least = far < least ? far : least;
        }
    return least;
}

static unsigned deint_weight(unsigned m, unsigned least)
{
    const int e = deint_log2(m), f = deint_log2(least), i = (m >> (e - 7)) & 127;
    const double p = 4096 * pow(1 + (i + 0.5) / 128, -1.5) * (e & 1 ? pow(2, -1.5) : 1);

    return (unsigned)lrint(p) >> oracle_min(3 * ((e >> 1) - (f >> 1)), 31);
}

/* Returns how far a result can be from the sample of X(0). */
static int deint_limit(const Deint *s, const DeintComponent *c, int t, const DeintCandidate *z, int nb, int x, int y)
{
    const int at = y * c->w + x, has_both = nb > 1 && z[0].distance == -1 && z[1].distance == 1;
    const int apart = has_both ? 2 * abs(z[0].c[at] - z[1].c[at]) >> oracle_min(4, 16 - s->d) : 0;
    int m = 0, limit = 0, nb_still = 0;

    for (int j = x - 1; j <= x + 1; j++)
        m = oracle_max(m, deint_at(c, c->reach[t], j, y));
    for (int i = oracle_max(x - 7, 0); i < oracle_min(x + 8, c->w) && nb_still < 8; i++)
        nb_still = c->reach[t][y * c->w + i] ? 0 : nb_still + 1;
    if (m && nb_still < 8)
        limit = oracle_max(3 * m - apart, m / 8) + (2 << (s->d - 8));
    return limit;
}

static int deint_sample(Deint *s, const DeintComponent *c, int pass, int t, const DeintCandidate *z, int nb, int x,
                        int y)
{
    static const unsigned factors[3][2][6] = {
        { { 2102, 89, 121, 140, 57, 23 }, { 3211, 37, 272, 75, 2, 13 } },
        { { 3695, 259, 254, 165, 2, 12 }, { 60000, 36, 440, 2, 1, 16 } },
        { { 5254, 182, 286, 92, 1, 15 }, { 7577, 172, 461, 14, 1, 11 } },
    };
    static const unsigned intra_factors[3][2][5] = {
        { { 60000, 486, 1, 1, 1 }, { 128, 2356, 2381, 34, 1 } },
        { { 15222, 999, 1, 1, 375 }, { 1264, 1386, 4000, 118, 1 } },
        { { 60000, 919, 1, 4, 8 }, { 1942, 5002, 3448, 6, 1 } },
    };
    const int f = oracle_min(4, 16 - s->d), at = y * c->w + x, z0 = c->first[t][at], l = c->intra[t][at];
    const unsigned A = deint_activity(s, c, t, x, y);
    const unsigned S = deint_square(deint_scaled(abs(deint_at(c, c->estimate[t], x, deint_above(y)) -
                                                     deint_at(c, c->estimate[t], x, deint_below(c, y))), s->d));
    const int apart = deint_scaled(abs(z0 - l), s->d);
    const int limit = deint_limit(s, c, t, z, nb, x, y);
    int32_t record[25] = { pass, t, x, y, z0, l, A, S, limit };
    unsigned m[6], least = UINT32_MAX, blame = 0, q = 0;
    int h = 0, n = 0;

    if (deint_is_first(s, c, z, nb, x, y))
        return z0;
    for (int i = 0; i < nb; i++) {
        const unsigned *k = factors[pass][abs(z[i].distance) - 1];
        const unsigned R = z[i].r[at], made = 16 - R;
        const unsigned E = deint_least(s, c, t, z, nb, i, x, y);
        const unsigned D = z[i].partner < 0 ? 0 : deint_square(deint_scaled(abs(z[i].c[at] - z[z[i].partner].c[at]),
                                                                            s->d + f));

        memcpy(record + 9 + 4 * i, (int32_t[]) { z[i].c[at], R, E, D }, 4 * sizeof(*record));
        m[i] = k[0] + ((E * ((k[1] * R + k[2] * made + 8) / 16) + (A >> 4) * ((k[3] * made + 8) / 16) +
                        (S >> 4) * ((k[4] * made + 8) / 16) + D * k[5]) >> 1);
        least = m[i] < least ? m[i] : least;
    }
    if (deint_measures && nb == 4)
        fwrite(record, sizeof(record), 1, deint_measures);
    if (nb) {
        const int e = deint_log2(least);
        unsigned V = 0, g, r, o;

        for (int i = 0; i < nb; i++) {
            const unsigned u = deint_weight(m[i], least);
            const int off = z[i].c[at] - (z0 << f), b = deint_log2(m[i]);

            q += u;
            h += (int)u * (off < 0 ? -deint_scaled(-off, s->d + f) : deint_scaled(off, s->d + f));
            V += (unsigned)lrint(4096 / (1 + ((m[i] >> (b - 7) & 127) + 0.5) / 128)) >> (b - e);
        }
        h /= (int)q;
        g = ((unsigned)nb << 21) / V;
        r = e >= 19 ? g << (e - 19) : g >> (19 - e);
        o = 13 + ((102 * A + 10 * S) >> 10);
        blame = 1024 * o / (o + r);
    }
    for (int i = 0; i < 2; i++) {
        const unsigned *k = intra_factors[pass][i];
        int H = h;

        if (i)
            H = oracle_clip(z0 >= l ? h + apart : h - apart, -1023, 1023);
        if (!nb)
            H = 0;
        m[nb + i] = k[0] + (((A >> 4) * k[1] + (S >> 4) * k[2] + ((deint_square(abs(H)) * blame) >> 10) * k[3] +
                             deint_square(apart) * k[4]) >> 1);
        least = m[nb + i] < least ? m[nb + i] : least;
    }
    q = 0;
    for (int i = 0; i < nb + 2; i++) {
        const unsigned u = deint_weight(m[i], least);

        q += u;
        n += (int)u * (i < nb ? z[i].c[at] - (z0 << f) : i == nb ? 0 : (l - z0) * (1 << f));
    }
    h = (2 * (unsigned)abs(n) + (q << f)) / (q << (f + 1));
    s->nb_moved += h != 0;
    return oracle_clip(n < 0 ? z0 - h : z0 + h, z0 - limit, z0 + limit);
}

/* Makes a field of a component. @param matches areas where each candidate matches; the call for luma sets them */
static void deint_field(Deint *s, const DeintComponent *c, int pass, int t, uint8_t **matches)
{
    DeintCandidate z[4];
    int nb = 0;

    for (int i = 0; i < 2 * s->refs; i++) {
        const int distance = (i / 2 + 1) * (i & 1 ? 1 : -1);
        const DeintVector *v = s->vectors[t][distance + 2 - (distance > 0)];

        if (t + distance < 0 || t + distance >= 2 * s->nb_frames || !v)
            continue;
        z[nb] = (DeintCandidate) {
            .field = t + distance, .distance = distance, .partner = -1,
            .c = test_alloc(calloc(c->w * c->h, sizeof(int))), .r = test_alloc(calloc(c->w * c->h, sizeof(int))),
        };
        deint_overlap(s, c, t, &z[nb], v);
        if (nb && z[nb - 1].distance == -distance) {
            z[nb].partner     = nb - 1;
            z[nb - 1].partner = nb;
        }
        nb++;
    }
    if (c == s->components)
        deint_matches(s, c, t, z, nb, matches);
    for (int i = 0; i < nb; i++) {
        z[i].matches = matches[i];
        deint_residual(s, c, t, &z[i]);
    }
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            const int at = y * c->w + x;

            c->result[t][at] = deint_is_known(s, t, y) ? c->estimate[t][at] : deint_sample(s, c, pass, t, z, nb, x, y);
            s->nb_compensated += nb && !deint_is_known(s, t, y);
        }
    for (int i = 0; i < nb; i++) {
        free(z[i].c);
        free(z[i].r);
    }
}

/* Runs a pass: makes all results from the estimates and their vectors, then makes them the new estimates. */
static void deint_oracle_pass(Deint *s, int pass, int is_last)
{
    s->is_last = is_last;
    for (int t = 0; t < 2 * s->nb_frames; t++) {
        uint8_t *matches[4] = { NULL };

        if (!s->progressive[t / 2])
            deint_round(s, t);
        for (int i = 0; i < s->nb_components && !s->progressive[t / 2]; i++)
            deint_field(s, &s->components[i], pass, t, matches);
        for (int i = 0; i < 4; i++)
            free(matches[i]);
    }
    for (int i = 0; i < s->nb_components; i++) {
        DeintComponent *c = &s->components[i];

        for (int t = 0; t < 2 * s->nb_frames; t++)
            for (int j = 0; j < c->w * c->h && !s->progressive[t / 2]; j++)
                c->estimate[t][j] = c->result[t][j];
    }
}

#endif /* GPUME_ORACLE_MVDEINT_H */
