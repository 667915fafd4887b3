/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The oracle of mvstab: doc/mvstab-definition.md in plain code, without anything of the filter.
 */

#ifndef GPUME_ORACLE_MVSTAB_H
#define GPUME_ORACLE_MVSTAB_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpume_oracle.h"

#define STAB_MAX_FRAMES 16
#define STAB_MAX_BLOCKS 700

typedef struct StabM {
    double a[3][3];
} StabM;

typedef struct StabVector {
    int x, y;                   ///< quarter samples
    int consistent;
} StabVector;

typedef struct StabBlock {
    double x, y, qx, qy, xx, xy, yy, vote;
    int bx, by, left;
} StabBlock;

typedef struct StabComponent {
    int w, h, sx, sy, is_chroma, black;
    uint16_t *frames[STAB_MAX_FRAMES];
    uint16_t *out[STAB_MAX_FRAMES];
} StabComponent;

enum { STAB_CROP, STAB_KEEP, STAB_BLACK, STAB_MIRROR };

typedef struct Stab {
    int w, h, d, nb_frames, nb_components;
    StabComponent components[4];
    int tripod, follow, model, border, n, chroma_x, chroma_y;
    double max_shift, sine, cosine, zoom, times[STAB_MAX_FRAMES];
    int passes[STAB_MAX_FRAMES];
    /** Searches picture a, of component 0, in picture b. */
    void (*search)(struct Stab *s, StabVector *v, const uint16_t *a, const uint16_t *b);
    void *opaque;

    StabM motion[STAB_MAX_FRAMES], matrix[STAB_MAX_FRAMES];
    double inliers[STAB_MAX_FRAMES], needs[STAB_MAX_FRAMES], final[STAB_MAX_FRAMES][8];
    int begins[STAB_MAX_FRAMES];
    StabBlock blocks[STAB_MAX_BLOCKS];
    int nb, nb_all, nb_textured, nb_inside;
    int nb_outside, nb_sampled, nb_homographies, nb_keys, nb_again, nb_cuts, nb_drawn;
} Stab;

static StabM stab_identity(void)
{
    return (StabM) { { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } };
}

static StabM stab_normal(StabM m)
{
    const double last = m.a[2][2];

    for (int i = 0; i < 9; i++)
        m.a[i / 3][i % 3] = i == 8 ? 1 : m.a[i / 3][i % 3] / last;
    return m;
}

static StabM stab_times(StabM p, StabM q)
{
    StabM m;

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m.a[i][j] = p.a[i][0] * q.a[0][j] + p.a[i][1] * q.a[1][j] + p.a[i][2] * q.a[2][j];
    return stab_normal(m);
}

static StabM stab_inverse(StabM p)
{
    StabM m;

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int r = (j + 1) % 3, t = (j + 2) % 3, c = (i + 1) % 3, e = (i + 2) % 3;

            m.a[i][j] = p.a[r][c] * p.a[t][e] - p.a[r][e] * p.a[t][c];
        }
    return stab_normal(m);
}

static void stab_map(const StabM *m, double x, double y, double *u, double *v)
{
    double d = m->a[2][0] * x + m->a[2][1] * y + 1;

    if (d < 0.0625)
        d = 0.0625;
    *u = (m->a[0][0] * x + m->a[0][1] * y + m->a[0][2]) * (1 / d);
    *v = (m->a[1][0] * x + m->a[1][1] * y + m->a[1][2]) * (1 / d);
}

/* Returns a sample of component 0 in 8 bits; outside the picture, that at its edge. */
static int stab_at(const Stab *s, const uint16_t *p, int x, int y)
{
    return oracle_at(p, s->w, s->h, x, y) >> (s->d - 8);
}

/* Reads the blocks of a motion field. */
static void stab_read(Stab *s, const uint16_t *p, const StabVector *v, const StabM *inside)
{
    const int cols = (s->w + 15) / 16, rows = (s->h + 15) / 16;

    s->nb_all = cols * rows;
    s->nb = s->nb_textured = s->nb_inside = 0;
    for (int i = 0; i < s->nb_all; i++) {
        const int x0 = i % cols * 16, y0 = i / cols * 16;
        const int x1 = oracle_clip(x0 + 15, 0, s->w - 1), y1 = oracle_clip(y0 + 15, 0, s->h - 1);
        StabBlock b = { .x = (x0 + x1) / 2. - (s->w - 1) / 2., .y = (y0 + y1) / 2. - (s->h - 1) / 2. };
        int64_t xx = 0, xy = 0, yy = 0;
        double u, w;

        if (inside) {
            stab_map(inside, b.x, b.y, &u, &w);
            if (fabs(u) > s->w / 2. - 8 || fabs(w) > s->h / 2. - 8)
                continue;
        }
        s->nb_inside++;
        for (int y = y0; y <= y1; y++)
            for (int x = x0; x <= x1; x++) {
                const int dx = stab_at(s, p, x + 1, y) - stab_at(s, p, x - 1, y);
                const int dy = stab_at(s, p, x, y + 1) - stab_at(s, p, x, y - 1);

                xx += dx * dx;
                xy += dx * dy;
                yy += dy * dy;
            }
        if (xx + yy < 512)
            continue;
        s->nb_textured++;
        if (!v[i].consistent)
            continue;
        b.qx = b.x + v[i].x / 4.;
        b.qy = b.y + v[i].y / 4.;
        b.xx = xx;
        b.xy = xy;
        b.yy = yy;
        s->blocks[s->nb++] = b;
    }
}

/* Returns how near a block is to a matrix. */
static double stab_near(const StabBlock *b, const StabM *m, double scale)
{
    double d = m->a[2][0] * b->x + m->a[2][1] * b->y + 1, x, y;

    if (d < 0.0625)
        d = 0.0625;
    x = m->a[0][0] * b->x + m->a[0][1] * b->y + m->a[0][2] - d * b->qx;
    y = m->a[1][0] * b->x + m->a[1][1] * b->y + m->a[1][2] - d * b->qy;
    return d * d / (d * d + scale * (x * x + y * y));
}

/* Solves n equations. Column 8 is the right-hand side, and becomes the result. */
static void stab_solve(double m[8][9], int n)
{
    double c[8];

    for (int i = 0; i < n; i++)
        c[i] = m[i][i] > 0 ? 1 / sqrt(m[i][i]) : 0;
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++)
            m[i][j] *= c[i] * c[j];
        m[i][i] += 1e-9;
        m[i][8] *= c[i];
    }
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            const double q = m[k][i] / m[k][k];

            for (int j = i; j < n; j++)
                m[i][j] -= q * m[k][j];
            m[i][8] -= q * m[k][8];
        }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            m[i][8] -= m[i][j] * m[j][8];
        m[i][8] /= m[i][i];
    }
    for (int i = 0; i < n; i++)
        m[i][8] *= c[i];
}

/* Refines a matrix by nb blocks. @param scale 0: by their tensors; else plainly, at this scale */
static StabM stab_refine(const StabBlock *blocks, int nb, StabM before, int n, double scale)
{
    static const int rows[2][8][9] = {
        { { 0, 0, 1 }, { 0, 0, 0, 0, 0, 1 }, { 1, 0, 0, 0, 1 }, { 0, -1, 0, 1 } },
        { { 1 }, { 0, 1 }, { 0, 0, 1 }, { 0, 0, 0, 1 }, { 0, 0, 0, 0, 1 }, { 0, 0, 0, 0, 0, 1 },
          { 0, 0, 0, 0, 0, 0, -1 }, { 0, 0, 0, 0, 0, 0, 0, -1 } },
    };
    double form[9][9] = { { 0 } }, m[8][9] = { { 0 } };
    StabM r = stab_identity();

    for (int k = 0; k < nb; k++) {
        const StabBlock *b = &blocks[k];
        const double near = stab_near(b, &before, scale ? scale : 3);
        const double weight = scale ? near * near * b->vote : near * near;
        const double xx = scale ? weight : weight * b->xx, xy = scale ? 0 : weight * b->xy;
        const double yy = scale ? weight : weight * b->yy;
        const double f = xx * b->qx + xy * b->qy, h = xy * b->qx + yy * b->qy;
        const double t[3][3] = { { xx, xy, f }, { xy, yy, h }, { f, h, f * b->qx + h * b->qy } };
        const double p[3] = { b->x, b->y, 1 };

        for (int i = 0; i < 9; i++)
            for (int j = 0; j < 9; j++)
                form[i][j] += t[i / 3][j / 3] * (p[i % 3] * p[j % 3]);
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 9; k++) {
            const int *a = rows[n == 8][i];

            if (!a[k])
                continue;
            m[i][8] += a[k] * form[k][8] - a[k] * form[k][0] - a[k] * form[k][4];
            for (int j = i; j < n; j++)
                for (int l = 0; l < 9; l++)
                    m[i][j] += a[k] * rows[n == 8][j][l] * form[k][l];
        }
    stab_solve(m, n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 8; k++)
            r.a[k / 3][k % 3] += rows[n == 8][i][k] * (k < 6 ? 1 : -1) * m[i][8];
    return r;
}

/* Finds the hypothesis in a sample of nb blocks. */
static StabM stab_hypothesis(const Stab *s, StabBlock *b, int nb)
{
    StabM chosen = stab_identity();
    double best = -1, all = 0, mean = 0;

    for (int i = 0; i < nb; i++)
        mean += b[i].xx + b[i].yy;
    mean /= nb;
    for (int i = 0; i < nb; i++) {
        const double share = (b[i].xx + b[i].yy) / mean;

        b[i].vote  = floor(256 * (share < 1 ? share : 1)) / 256;
        b[i].vote *= fabs(b[i].x) > s->w / 2. - s->w / 8. || b[i].y < s->h / 8. - s->h / 2. ? 5 : 1;
        b[i].bx    = oracle_clip(floor(b[i].qx - b[i].x + 0.5), -256, 256);
        b[i].by    = oracle_clip(floor(b[i].qy - b[i].y + 0.5), -256, 256);
        b[i].left  = 1;
        all       += b[i].vote;
    }
    for (int n = 0; n < 5 && 2 * best < all; n++) {
        StabM m = stab_identity();
        double most = 0, score = 0;
        int left = 0, peak = -1;

        for (int i = 0; i < nb; i++)
            left += b[i].left;
        for (int i = 0; i < nb && 20 * left >= nb; i++) {
            double sum = 0;

            for (int j = 0; j < nb; j++)
                if (b[j].left && abs(b[j].bx - b[i].bx) <= 1 && abs(b[j].by - b[i].by) <= 1)
                    sum += b[j].vote;
            if (b[i].left && sum > most) {
                most = sum;
                peak = i;
            }
        }
        if (peak < 0)
            break;
        m.a[0][2] = floor(b[peak].qx - b[peak].x + 0.5);
        m.a[1][2] = floor(b[peak].qy - b[peak].y + 0.5);
        for (int i = 0; i < nb; i++)
            if (fabs(b[i].qx - b[i].x - m.a[0][2]) <= 3 && fabs(b[i].qy - b[i].y - m.a[1][2]) <= 3)
                b[i].left = 0;
        m = stab_refine(b, nb, m, 4, 0.0625);
        m = stab_refine(b, nb, m, 4, 0.25);
        m = stab_refine(b, nb, m, 4, 1);
        m = stab_refine(b, nb, m, 4, 4);
        for (int i = 0; i < nb; i++)
            score += b[i].vote * stab_near(&b[i], &m, 4);
        if (score > best) {
            best   = score;
            chosen = m;
        }
    }
    return chosen;
}

static double stab_cost(const StabBlock *b, int nb, const StabM *m)
{
    double sum = 0;

    for (int i = 0; i < nb; i++)
        sum += (b[i].xx + b[i].yy) * (1 - stab_near(&b[i], m, 3));
    return sum;
}

/* Weighs the used blocks, nb of which are the sample. */
static void stab_weigh(Stab *s, int nb)
{
    int traces[512];

    for (int i = 0; i < nb; i++)
        traces[i] = s->blocks[i * s->nb / nb].xx + s->blocks[i * s->nb / nb].yy;
    qsort(traces, nb, sizeof(*traces), oracle_ascending);
    for (int i = 0; i < s->nb; i++) {
        StabBlock *b = &s->blocks[i];
        const double half = (b->xx + b->yy) / 2, g = (b->xx - b->yy) / 2;
        const double least = half - sqrt(g * g + b->xy * b->xy), noise = traces[nb / 10] * 0.9375 / 2;
        const double part = least < noise ? least : noise, factor = 1 / (1 + 2 * (half - part) / 102400.);

        b->xx = (b->xx - part) * factor;
        b->xy = b->xy * factor;
        b->yy = (b->yy - part) * factor;
    }
}

/* Returns the inliers. */
static double stab_fit(Stab *s, StabM *motion)
{
    static StabBlock sample[512];
    const int nb = s->nb < 512 ? s->nb : 512;
    StabM a, b;
    int near = 0, n = 4;

    *motion = stab_identity();
    if (s->nb < 6)
        return 0;
    stab_weigh(s, nb);
    for (int i = 0; i < nb; i++)
        sample[i] = s->blocks[i * s->nb / nb];
    s->nb_sampled += nb < s->nb;
    a = stab_hypothesis(s, sample, nb);
    for (int i = 0; i < 2; i++)
        a = stab_refine(sample, nb, a, 4, 0);
    b = a;
    for (int i = 0; i < 2; i++) {
        a = stab_refine(sample, nb, a, 4, 0);
        b = stab_refine(sample, nb, b, 8, 0);
    }
    if (s->model == 2 || !s->model && stab_cost(sample, nb, &b) < 0.8 * stab_cost(sample, nb, &a)) {
        a = b;
        n = 8;
        s->nb_homographies++;
    }
    for (int i = 0; i < 2; i++)
        a = stab_refine(s->blocks, s->nb, a, n, 0);
    for (int i = 0; i < s->nb; i++)
        near += stab_near(&s->blocks[i], &a, 1) > 0.5;
    if (near < 0.08 * s->nb || fabs(a.a[0][0] - 1) > 0.5 || fabs(a.a[1][1] - 1) > 0.5 || fabs(a.a[0][1]) > 0.5 ||
        fabs(a.a[1][0]) > 0.5 || fabs(a.a[2][0]) * s->w + fabs(a.a[2][1]) * s->h > 1)
        return 0;
    *motion = a;
    return near / (double)s->nb;
}

/* Sets the eight taps of a fraction. */
static void stab_taps(int *taps, int f)
{
    const int first = f > 32 ? 64 - f : f;
    double v[8], sum = 0;
    int total = 0;

    for (int i = 0; i < 8; i++) {
        const double x = i - 3 - first / 64., p = M_PI * x;

        v[i] = x == 0 ? 1 : fabs(x) < 4 ? sin(p) / p * (sin(p / 4) / (p / 4)) : 0;
        sum += v[i];
    }
    for (int i = 0; i < 8; i++) {
        v[i]   *= 64 / sum;
        taps[i] = floor(v[i]);
        total  += taps[i];
    }
    for (; total < 64; total++) {
        int best = 0;

        for (int i = 1; i < 8; i++)
            if (v[i] - taps[i] > v[best] - taps[best])
                best = i;
        taps[best]++;
    }
    for (int i = 0; i < 4 && f > 32; i++) {
        const int t = taps[i];

        taps[i]     = taps[7 - i];
        taps[7 - i] = t;
    }
}

static int stab_between(int a, int b, int i)
{
    return (a * (16 - i) + b * i + 8) >> 4;
}

/* Returns coordinate k of the mesh's point (i, j), in 1/256 sample of a component. */
static int stab_point(const Stab *s, const StabComponent *c, const StabM *m, int i, int j, int k)
{
    const double x0 = s->chroma_x / 256. * ((1 << c->sx) - 1), y0 = s->chroma_y / 256. * ((1 << c->sy) - 1);
    const double cx = (s->w - 1) / 2., cy = (s->h - 1) / 2.;
    double x, y, v;

    stab_map(m, 16 * i * (1 << c->sx) + x0 - cx, 16 * j * (1 << c->sy) + y0 - cy, &x, &y);
    v = k ? (y + cy - y0) / (1 << c->sy) : (x + cx - x0) / (1 << c->sx);
    v = v < -65536 ? -65536 : v > 65536 ? 65536 : v;
    return floor(256 * v + 0.5);
}

static int stab_mirror(int p, int length)
{
    int m = (p + 32) % (128 * length);

    if (m < 0)
        m += 128 * length;
    return m >= 64 * length ? 128 * length - 1 - m - 32 : m - 32;
}

/* Makes a component of an output frame. @param before NULL: there is no previous output frame */
static void stab_warp(Stab *s, const StabComponent *c, uint16_t *out, const uint16_t *in, const uint16_t *before,
                      const StabM *m, int border)
{
    static int taps[64][8];
    int corners[2][4];

    if (!taps[0][3])
        for (int f = 0; f < 64; f++)
            stab_taps(taps[f], f);
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            int p[2], outside, sum = 0;

            for (int n = 0; n < 8 && x % 16 == 0; n++)
                corners[n / 4][n % 4] = stab_point(s, c, m, x / 16 + n / 2 % 2, y / 16 + n % 2, n / 4);
            for (int k = 0; k < 2; k++) {
                const int a = stab_between(corners[k][0], corners[k][1], y % 16);
                const int b = stab_between(corners[k][2], corners[k][3], y % 16);

                p[k] = (stab_between(a, b, x % 16) + 2) >> 2;
            }
            outside = p[0] < -32 || p[0] >= 64 * c->w - 32 || p[1] < -32 || p[1] >= 64 * c->h - 32;
            s->nb_outside += outside;
            if (outside && border == STAB_BLACK) {
                out[y * c->w + x] = c->black;
                continue;
            }
            if (outside && border == STAB_KEEP && before) {
                out[y * c->w + x] = before[y * c->w + x];
                continue;
            }
            if (outside && border == STAB_MIRROR) {
                p[0] = stab_mirror(p[0], c->w);
                p[1] = stab_mirror(p[1], c->h);
            }
            for (int j = 0; j < 8; j++) {
                const int row = oracle_clip(oracle_clip(p[1] >> 6, -28, c->h + 18) - 3 + j, 0, c->h - 1);
                int part = 0;

                for (int i = 0; i < 8; i++) {
                    const int col = oracle_clip(oracle_clip(p[0] >> 6, -28, c->w + 18) - 3 + i, 0, c->w - 1);

                    part += taps[p[0] & 63][i] * in[row * c->w + col];
                }
                sum += taps[p[1] & 63][j] * part;
            }
            out[y * c->w + x] = oracle_clip((sum + 2048) >> 12, 0, (1 << s->d) - 1);
        }
}

/* Finds the matrices of tripod. */
static void stab_tripod(Stab *s, int t, StabM *k, StabM *b, int *key)
{
    static uint16_t aligned[256 * STAB_MAX_BLOCKS];
    StabVector v[STAB_MAX_BLOCKS];
    StabM before = stab_times(*k, *b), inverse, found;
    double inliers;
    int fits;

    if (s->begins[t]) {
        *k = *b = s->matrix[t] = stab_identity();
        *key = t;
        return;
    }
    *b = stab_times(*b, s->motion[t]);
    s->matrix[t] = stab_inverse(stab_times(*k, *b));
    if (!s->inliers[t])
        return;
    inverse = stab_inverse(*b);
    stab_warp(s, &s->components[0], aligned, s->components[0].frames[t], NULL, &inverse, STAB_CROP);
    s->search(s, v, aligned, s->components[0].frames[*key]);
    stab_read(s, aligned, v, &inverse);
    inliers = stab_fit(s, &found);
    fits    = inliers > 0 && 4 * (inliers * s->nb) >= s->nb_textured;
    if (fits)
        *b = stab_times(found, *b);
    if (!fits || 2 * s->nb_inside < s->nb_all) {
        *k   = stab_times(*k, *b);
        *b   = stab_identity();
        *key = t;
        s->nb_keys++;
    }
    s->matrix[t] = stab_inverse(stab_times(*k, *b));
    s->motion[t] = stab_times(stab_times(stab_inverse(before), *k), *b);
}

static double stab_k(double u)
{
    const double v = 1 - u * u;

    return v > 0 ? v * v * v : 0;
}

/* Finds the matrix of frame t on the smooth path. */
static void stab_smooth(Stab *s, int t, int first, int last)
{
    const int f = t - s->n > first ? t - s->n : first, l = t + s->n < last ? t + s->n : last;
    double sum[8] = { 0 }, weights = 0, s1 = 0, s2 = 0;

    for (int i = f; i <= l; i++) {
        const double d = (s->times[i] - s->times[t]) / (s->n + 1);

        s1 += stab_k(d) * d;
        s2 += stab_k(d) * d * d;
    }
    for (int way = 0; way < 3; way++) {
        StabM m = stab_identity();

        for (int i = way == 0 ? t : way == 1 ? t - 1 : t + 1; way == 0 ? i == t : way == 1 ? i >= f : i <= l;
             i += way == 1 ? -1 : 1) {
            const double d = (s->times[i] - s->times[t]) / (s->n + 1), weight = stab_k(d) * (s2 - s1 * d);

            if (way == 1)
                m = stab_times(m, stab_inverse(s->motion[i + 1]));
            if (way == 2)
                m = stab_times(m, s->motion[i]);
            for (int j = 0; j < 8; j++)
                sum[j] += weight * m.a[j / 3][j % 3];
            weights += weight;
        }
    }
    s->matrix[t] = stab_identity();
    for (int j = 0; j < 8 && weights > 0; j++)
        s->matrix[t].a[j / 3][j % 3] = sum[j] / weights;
}

/* Finds the matrix of frame t on a path of least acceleration. */
static void stab_follow(Stab *s, int t, int first, int last)
{
    static double m[STAB_MAX_FRAMES][STAB_MAX_FRAMES + 8];
    const int nb = (t + s->n < last ? t + s->n : last) - t + 1;
    const double third = (s->n + 1) / 3., weight = third * third * third * third;
    StabM known[2], to = stab_identity();

    memset(m, 0, sizeof(m));
    for (int k = 0; k < 2 && t - k > first; k++) {
        to       = stab_times(to, stab_inverse(s->motion[t - k]));
        known[k] = stab_times(to, s->matrix[t - k - 1]);
    }
    to = stab_identity();
    for (int k = 0; k < nb; k++) {
        if (k)
            to = stab_times(to, s->motion[t + k]);
        m[k][k] = 1;
        for (int n = 0; n < 8; n++)
            m[k][STAB_MAX_FRAMES + n] = to.a[n / 3][n % 3];
    }
    for (int k = t - first > 1 ? 0 : 2 - (t - first); k < nb; k++) {
        const double a = s->times[t + k - 1] - s->times[t + k - 2], b = s->times[t + k] - s->times[t + k - 1];
        const double c[3] = { 1 / a, -1 / a - 1 / b, 1 / b };

        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const int row = k - 2 + i, col = k - 2 + j;

                if (row < 0)
                    continue;
                if (col >= 0)
                    m[row][col] += weight * c[i] * c[j];
                for (int n = 0; n < 8 && col < 0; n++)
                    m[row][STAB_MAX_FRAMES + n] -= weight * c[i] * c[j] * known[-1 - col].a[n / 3][n % 3];
            }
    }
    for (int k = 0; k < nb; k++)
        for (int i = k + 1; i < nb; i++) {
            const double q = m[k][i] / m[k][k];

            for (int j = i; j < STAB_MAX_FRAMES + 8; j++)
                if (j < nb || j >= STAB_MAX_FRAMES)
                    m[i][j] -= q * m[k][j];
        }
    for (int k = nb - 1; k >= 0; k--)
        for (int n = STAB_MAX_FRAMES; n < STAB_MAX_FRAMES + 8; n++) {
            for (int j = k + 1; j < nb; j++)
                m[k][n] -= m[k][j] * m[j][n];
            m[k][n] /= m[k][k];
        }
    s->matrix[t] = stab_identity();
    for (int n = 0; n < 8; n++)
        s->matrix[t].a[n / 3][n % 3] = m[0][STAB_MAX_FRAMES + n];
}

static void stab_limit(const Stab *s, StabM *m)
{
    const double shift = sqrt(m->a[0][2] * m->a[0][2] + m->a[1][2] * m->a[1][2]);
    const double c = m->a[0][0] + m->a[1][1], e = m->a[1][0] - m->a[0][1], r = sqrt(c * c + e * e);
    const double sine = e < 0 ? -s->sine : s->sine;

    if (shift > s->max_shift) {
        m->a[0][2] *= s->max_shift / shift;
        m->a[1][2] *= s->max_shift / shift;
    }
    for (int i = 0; i < 2 && c < s->cosine * r; i++) {
        const double x = (s->cosine * c + sine * e) / r, y = (sine * c - s->cosine * e) / r;
        const double above = m->a[0][i], below = m->a[1][i];

        m->a[0][i] = x * above - y * below;
        m->a[1][i] = y * above + x * below;
    }
}

/* Returns the zoom that frame t needs. Its matrix moves towards identity if that is more than 1.5. */
static double stab_needs(Stab *s, int t)
{
    StabM *m = &s->matrix[t], one = stab_identity();
    double z = 1, share = 1;

    for (int corner = 0; corner < 4; corner++) {
        const double x = (corner & 1 ? 1 : -1) * ((s->w - 1) / 2.), y = (corner & 2 ? 1 : -1) * ((s->h - 1) / 2.);

        for (int k = 0; k < 2; k++)
            for (int side = -1; side <= 1; side += 2) {
                const double half = ((k ? s->h : s->w) - 1) / 2., g = m->a[2][0] * x + m->a[2][1] * y;
                const double grows = side * (m->a[k][0] * x + m->a[k][1] * y) - half * g;
                const double room = half - side * m->a[k][2];
                const double e = grows - 1.5 * room, e1 = side * (k ? y : x) - 1.5 * half;

                if (grows * z > room)
                    z = room / grows;
                if (e > 0 && e1 / (e1 - e) < share)
                    share = e1 / (e1 - e);
            }
    }
    if (share == 1)
        return 1 / z;
    s->nb_drawn++;
    for (int i = 0; i < 8; i++)
        m->a[i / 3][i % 3] = one.a[i / 3][i % 3] + share * (m->a[i / 3][i % 3] - one.a[i / 3][i % 3]);
    return 1.5;
}

/* Sets the final matrix of frame t. */
static void stab_zoom(Stab *s, int t, int first, int last)
{
    const int r = s->border == STAB_CROP && s->zoom <= 0 ? (s->n + 3) / 4 : 0;
    double zoom = s->zoom > 0 ? s->zoom : 1;

    if (r) {
        double sum = 0, weights = 0;

        for (int i = -r; i <= r; i++) {
            const int from = t + i > first ? t + i : first, at = from + r < last ? from + r : last;

            sum     += stab_k(i / (r + 1.)) * s->needs[at];
            weights += stab_k(i / (r + 1.));
        }
        zoom = sum / weights;
    }
    for (int i = 0; i < 8; i++)
        s->final[t][i] = s->matrix[t].a[i / 3][i % 3] / (i % 3 == 2 ? 1 : zoom);
}

/* Compares frame t with frame r. Returns whether they agree, and sets the motion. */
static int stab_compare(Stab *s, int t, int r, StabM *motion, double *inliers)
{
    StabVector v[STAB_MAX_BLOCKS];

    *motion  = stab_identity();
    *inliers = 0;
    s->search(s, v, s->components[0].frames[t], s->components[0].frames[r]);
    stab_read(s, s->components[0].frames[t], v, NULL);
    if (s->nb_textured < 6 || s->nb < 0.25 * s->nb_textured)
        return 0;
    *inliers = stab_fit(s, motion);
    return 1;
}

/* Finds the motions of all frames. */
static void stab_motions(Stab *s)
{
    int found = 0, row = 0;     /* the last frame that is not lost; how many lost frames agree with each other */
    int last = s->nb_frames - 1;

    for (int t = 0; t < s->nb_frames; t++) {
        s->motion[t]  = stab_identity();
        s->inliers[t] = 0;
        s->begins[t]  = !t;
    }
    for (int t = 1; t < s->nb_frames; t++) {
        const int agrees = stab_compare(s, t, t - 1, &s->motion[t], &s->inliers[t]);
        StabM again;
        double inliers;

        if (agrees && found == t - 1) {
            found = t;
            continue;
        }
        row = agrees ? row + 1 : 1;
        if (s->nb_textured >= 6 && stab_compare(s, t, found, &again, &inliers) && inliers > 0) {
            for (int i = found + 1; i < t; i++) {
                s->motion[i]  = stab_identity();
                s->inliers[i] = 0;
            }
            s->motion[t]  = again;
            s->inliers[t] = inliers;
            found = t;
            s->nb_again++;
        } else if (row == 3) {
            for (int i = found + 1; i < t - 1; i++) {
                s->motion[i]  = stab_identity();
                s->inliers[i] = 0;
            }
            s->begins[t - 2] = 1;
            found = t;
            s->nb_cuts++;
        }
    }
    if (found < last && s->nb_textured >= 6) {
        s->begins[last - row + 1] = 1;
        s->nb_cuts++;
        last -= row;
    }
    for (int i = found + 1; i <= last; i++) {
        s->motion[i]  = stab_identity();
        s->inliers[i] = 0;
    }
}

/* Makes all output frames. */
static void stab_oracle(Stab *s)
{
    StabM k = stab_identity(), b = stab_identity();
    int key = 0;

    stab_motions(s);
    for (int t = 0; t < s->nb_frames && s->tripod; t++)
        stab_tripod(s, t, &k, &b, &key);
    for (int t = 0, first = 0, last; t < s->nb_frames; t++) {
        if (s->begins[t])
            first = t;
        for (last = t; last + 1 < s->nb_frames && !s->begins[last + 1]; last++)
            continue;
        if (s->follow)
            stab_follow(s, t, first, last);
        else if (!s->tripod)
            stab_smooth(s, t, first, last);
        stab_limit(s, &s->matrix[t]);
        s->needs[t] = s->border == STAB_CROP && s->zoom <= 0 ? stab_needs(s, t) : 1;
        if (t > first && s->needs[t - 1] > s->needs[t])
            s->needs[t] = s->needs[t - 1];
    }
    for (int t = 0, first = 0, last; t < s->nb_frames; t++) {
        StabM m = stab_identity();

        if (s->begins[t])
            first = t;
        for (last = t; last + 1 < s->nb_frames && !s->begins[last + 1]; last++)
            continue;
        stab_zoom(s, t, first, last);
        for (int i = 0; i < 8 && !s->passes[t]; i++)
            m.a[i / 3][i % 3] = s->final[t][i];
        for (int i = 0; i < s->nb_components; i++) {
            StabComponent *c = &s->components[i];

            stab_warp(s, c, c->out[t], c->frames[t], s->begins[t] ? NULL : c->out[t - 1], &m,
                      s->passes[t] ? STAB_CROP : s->border);
        }
        for (int i = 0; i < 8; i++)
            s->final[t][i] = m.a[i / 3][i % 3];
    }
}

#endif /* GPUME_ORACLE_MVSTAB_H */
