/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Reference implementation of mvstereo, written from doc/mvstereo-definition.md as plainly as possible.
 * It is not optimized.
 */

#ifndef GPUME_ORACLE_MVSTEREO_H
#define GPUME_ORACLE_MVSTEREO_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpume_oracle.h"

/** Two views and their disparities. */
typedef struct StereoOracle {
    int w, h;
    int m, n;               ///< the range of disparities is m to m + n - 1
    int is_guess;           ///< whether no pair so far has had disparities from which the range follows
    int rows, fill, fast;
    int tolerance;          ///< tolerance of the census
    int nb;                 ///< number of disparities tried for each sample, at most n
    int *base;              ///< first disparity tried for each sample, minus m
    uint8_t *left, *right;
    uint8_t table[256];
    uint64_t *census[2];    ///< census of each sample of the left view and of the right one
    int *gradient[2];
    int *v;                 ///< disparity - m, in 1/16 sample; -1: a hole
    int *age;
    int *confidence;
    uint8_t *even;          ///< whether the surroundings of a sample have no texture
    int *right_map, *matched;   ///< disparity - m of the right view; that of the left view before the map's first step
    int least, greatest;    ///< scale
    int tones[16];          ///< how many samples of the left view have which sixteenth of luma
    int agreement[6];       ///< samples with texture, valid ones, and the votes of four strips
} StereoOracle;

static int stereo_pixel(const uint8_t *p, int w, int h, int x, int y)
{
    return p[oracle_clip(y, 0, h - 1) * w + oracle_clip(x, 0, w - 1)];
}

static int stereo_value(const int *p, int w, int h, int x, int y)
{
    return p[oracle_clip(y, 0, h - 1) * w + oracle_clip(x, 0, w - 1)];
}

static void stereo_brightness(StereoOracle *o)
{
    const int nb = o->w * o->h;
    int64_t a[256] = { 0 }, b[256] = { 0 }, difference = 0;

    for (int i = 0; i < nb; i++) {
        a[o->left[i]]++;
        b[o->right[i]]++;
    }
    for (int i = 0; i < 256; i++)
        difference += i * (a[i] - b[i]);
    for (int i = 0; i < 256; i++) {
        int64_t below = 0, sum = 0;
        int j;

        for (j = 0; j < i; j++)
            below += b[j];
        for (j = 0; j < 256; j++) {
            sum += a[j];
            if (2 * sum > 2 * below + b[i])
                break;
        }
        o->table[i] = llabs(difference) < 4LL * nb ? i : oracle_clip(j, 0, 255);
    }
}

/* Returns whether a view is noisy or has been coded. */
static int stereo_is_rough(const uint8_t *p, int w, int h)
{
    int *list = malloc((w * h + 1) * sizeof(*list)), nb = 0, zeros = 0, is_rough;

    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++) {
            int sum = 0;

            for (int j = -1; j <= 1; j++)
                for (int i = -1; i <= 1; i++)
                    sum += (i && j ? 1 : i || j ? -2 : 4) * p[(y + j) * w + x + i];
            list[nb++] = abs(sum) < 63 ? abs(sum) : 63;
            zeros     += sum == 0;
        }
    qsort(list, nb, sizeof(*list), oracle_ascending);
    /* the lowest values that more than half, and more than three quarters, of them do not exceed */
    is_rough = nb && (list[nb / 2] >= 16 || 5 * (int64_t)list[nb * 3 / 4] * zeros >= 4 * nb);
    free(list);
    return is_rough;
}

static void stereo_smooth(uint8_t *p, int w, int h)
{
    uint8_t *to = malloc(w * h);

    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int sum = 8;

            for (int j = -1; j <= 1; j++)
                for (int i = -1; i <= 1; i++)
                    sum += (2 - abs(i)) * (2 - abs(j)) * stereo_pixel(p, w, h, x + i, y + j);
            to[y * w + x] = sum >> 4;
        }
    memcpy(p, to, w * h);
    free(to);
}

static uint64_t stereo_census(const uint8_t *p, int w, int h, int x, int y, int tolerance)
{
    uint64_t bits = 0;

    for (int j = -3; j <= 3; j++)
        for (int i = -3; i <= 3; i++)
            if (i || j)
                bits = 2 * bits + (stereo_pixel(p, w, h, x + i, y + j) < p[y * w + x] - tolerance);
    return bits;
}

static int stereo_gradient(const uint8_t *p, int w, int h, int x, int y)
{
    int s = 0;

    for (int j = -1; j <= 1; j++)
        s += (j ? 1 : 2) * (stereo_pixel(p, w, h, x + 1, y + j) - stereo_pixel(p, w, h, x - 1, y + j));
    return oracle_clip(s / 4 + 128, 0, 255);
}

/* Returns the cost of L(x, y) and R(z, row). */
static int stereo_cost_of(const StereoOracle *o, int x, int y, int z, int row)
{
    const int p = y * o->w + x, q = row * o->w + z;
    const int luma = abs(o->left[p] - o->table[o->right[q]]);
    const int grad = abs(o->gradient[0][p] - o->gradient[1][q]);
    uint64_t differ = o->census[0][p] ^ o->census[1][q];
    int cost = (luma < 12 ? luma : 12) / 2 + (grad < 20 ? grad : 20);

    for (; differ; differ &= differ - 1)
        cost++;
    return cost;
}

static int stereo_cost(const StereoOracle *o, int x, int y, int k)
{
    const int z = oracle_clip(x - o->m - o->base[y * o->w + x] - k, 0, o->w - 1);
    int least   = 1000;

    for (int row = y - o->rows; row <= y + o->rows; row++) {
        const int cost = stereo_cost_of(o, x, y, z, oracle_clip(row, 0, o->h - 1));

        least = cost < least ? cost : least;
    }
    return least;
}

/* Adds the costs of the paths in direction (dx, dy) to sum. */
static void stereo_path(const StereoOracle *o, const int *cost, int *sum, int dx, int dy)
{
    const int n = o->nb;
    int *path = malloc(o->w * o->h * n * sizeof(*path));

    for (int j = 0; j < o->h; j++)
        for (int i = 0; i < o->w; i++) {
            const int x = dx > 0 ? o->w - 1 - i : i, y = dy > 0 ? o->h - 1 - j : j, q = y * o->w + x;
            const int from = (y + dy) * o->w + x + dx;
            const int begins = x + dx < 0 || x + dx >= o->w || y + dy < 0 || y + dy >= o->h;
            int least = 1 << 20, step;

            for (int k = 0; k < n && !begins; k++)
                if (path[from * n + k] < least)
                    least = path[from * n + k];
            step = begins ? 0 : abs(o->left[q] - o->left[from]);
            for (int k = 0; k < n; k++) {
                int best = least + (step < 8 ? 140 : step < 24 ? 46 : 28);

                for (int b = -1; b <= 1 && !begins; b++) {
                    const int other = k + b + o->base[q] - o->base[from];

                    if (other >= 0 && other < n && path[from * n + other] + (b ? 24 : 0) < best)
                        best = path[from * n + other] + (b ? 24 : 0);
                }
                path[q * n + k] = cost[q * n + k] + (begins ? 0 : best - least);
                sum[q * n + k] += path[q * n + k];
            }
        }
    free(path);
}

static void stereo_winners(StereoOracle *o, const int *sum, int *right)
{
    const int n = o->nb;

    for (int q = 0; q < o->w * o->h; q++) {
        const int *s = sum + q * n;
        int b = 0, second = 1 << 20;

        for (int k = 0; k < n; k++)
            if (s[k] < s[b])
                b = k;
        for (int k = 0; k < n; k++)
            if (abs(k - b) > 1 && s[k] < second)
                second = s[k];
        o->confidence[q] = second - s[b] < 255 ? second - s[b] : 255;
        o->v[q] = 16 * (o->base[q] + b);
        if (b > 0 && b < n - 1) {
            const int before = s[b - 1] - s[b], after = s[b + 1] - s[b], r = before > after ? before : after;

            if (r)
                o->v[q] += (16 * (before - after) + (before > after ? r : -r)) / (2 * r);
        }
    }
    for (int y = 0; y < o->h; y++)
        for (int z = 0; z < o->w; z++) {
            int best = 1 << 20;

            right[y * o->w + z] = -100;
            for (int k = 0; k < o->n; k++) {
                const int x = z + o->m + k;
                int i;

                if (x < 0 || x >= o->w)
                    continue;
                i = k - o->base[y * o->w + x];
                if (i >= 0 && i < n && sum[(y * o->w + x) * n + i] < best) {
                    best = sum[(y * o->w + x) * n + i];
                    right[y * o->w + z] = k;
                }
            }
        }
}

static void stereo_median(int *v, int w, int h)
{
    int *to = malloc(w * h * sizeof(*to)), list[9];

    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            for (int i = 0; i < 9; i++)
                list[i] = stereo_value(v, w, h, x + i % 3 - 1, y + i / 3 - 1);
            qsort(list, 9, sizeof(*list), oracle_ascending);
            to[y * w + x] = list[4];
        }
    memcpy(v, to, w * h * sizeof(*to));
    free(to);
}

/* Returns the size of the piece that contains sample q, and lists its samples. */
static int stereo_piece(const StereoOracle *o, uint8_t *seen, int *list, int q)
{
    int nb = 1;

    list[0] = q;
    seen[q] = 1;
    for (int i = 0; i < nb; i++)
        for (int side = 0; side < 4; side++) {
            const int x = list[i] % o->w + (side == 0) - (side == 1), y = list[i] / o->w + (side == 2) - (side == 3);
            const int other = y * o->w + x;

            if (x < 0 || y < 0 || x >= o->w || y >= o->h || seen[other] || o->v[other] < 0 ||
                abs(o->v[other] - o->v[list[i]]) > 16)
                continue;
            seen[other] = 1;
            list[nb++]  = other;
        }
    return nb;
}

static int stereo_is_even(const StereoOracle *o, int x, int y)
{
    for (int j = y - 3; j <= y + 3; j++)
        for (int i = x - 3; i <= x + 3; i++)
            if (stereo_pixel(o->left, o->w, o->h, i, j) != stereo_pixel(o->left, o->w, o->h, x, j))
                return 0;
    return 1;
}

static void stereo_drop(StereoOracle *o, const int *right)
{
    const int nb  = o->w * o->h;
    uint8_t *seen = calloc(nb, 1);
    int *list     = malloc(nb * sizeof(*list));

    for (int q = 0; q < nb; q++) {
        const int k = (o->v[q] + 8) >> 4, z = q % o->w - o->m - k;

        o->even[q] = stereo_is_even(o, q % o->w, q / o->w);
        if (o->even[q] || z < 0 || z >= o->w || abs(right[q / o->w * o->w + z] - k) > 1)
            o->v[q] = -1;
    }
    for (int q = 0; q < nb; q++)
        if (o->v[q] >= 0 && !seen[q]) {
            const int size = stereo_piece(o, seen, list, q);

            for (int i = 0; i < size && size < 100; i++)
                o->v[list[i]] = -1;
        }
    for (int q = 0; q < nb; q++)
        if (o->v[q] < 0)
            o->confidence[q] = 0;
    free(seen);
    free(list);
}

/* Returns the value of a sample from those of its row, or -1. */
static int stereo_fill_sample(const StereoOracle *o, int x, int y)
{
    const int *row = o->v + y * o->w;
    int a = x, b = x;

    while (a >= 0 && row[a] < 0)
        a--;
    while (b < o->w && row[b] < 0)
        b++;
    if (a == b)
        return row[x];
    if (a < 0 || b == o->w)
        return a >= 0 ? row[a] : b < o->w ? row[b] : -1;
    if (o->even[y * o->w + x] && abs(row[a] - row[b]) <= 8 * (b - a))
        return (row[a] * (b - x) + row[b] * (x - a) + (b - a) / 2) / (b - a);
    return row[a] < row[b] ? row[a] : row[b];
}

static void stereo_fill(StereoOracle *o)
{
    int *to = malloc(o->w * o->h * sizeof(*to));

    for (int y = 0; y < o->h; y++)
        for (int x = 0; x < o->w; x++) {
            int v = -1;

            for (int j = y; j >= 0 && v < 0; j--)
                v = stereo_fill_sample(o, x, j);
            for (int j = y; j < o->h && v < 0; j++)
                v = stereo_fill_sample(o, x, j);
            to[y * o->w + x] = v < 0 ? oracle_clip(-16 * o->m, 0, 16 * (o->n - 1)) : v;
        }
    memcpy(o->v, to, o->w * o->h * sizeof(*to));
    free(to);
}

static void stereo_weighted_median(StereoOracle *o, const uint8_t *is_hole)
{
    int *to = malloc(o->w * o->h * sizeof(*to));

    for (int y = 0; y < o->h; y++)
        for (int x = 0; x < o->w; x++) {
            int values[81], weights[81], total = 0, best = 1 << 20, less = -(1 << 20);

            for (int i = 0; i < 81; i++) {
                const int px = oracle_clip(x + i % 9 - 4, 0, o->w - 1), py = oracle_clip(y + i / 9 - 4, 0, o->h - 1);
                const int difference = abs(o->left[py * o->w + px] - o->left[y * o->w + x]);

                values[i]  = o->v[py * o->w + px];
                weights[i] = difference >= 28 ? 0 : 64 >> difference / 4;
                if (is_hole[py * o->w + px])
                    weights[i] >>= 2;
                total += weights[i];
            }
            for (int i = 0; i < 81; i++) {
                int below = 0;

                /* the least value is sought: others need not be counted */
                if (values[i] <= less || values[i] >= best)
                    continue;
                for (int j = 0; j < 81; j++)
                    below += values[j] <= values[i] ? weights[j] : 0;
                *(2 * below >= total ? &best : &less) = values[i];
            }
            to[y * o->w + x] = best;
        }
    memcpy(o->v, to, o->w * o->h * sizeof(*to));
    free(to);
}

/* Counts how the views agree in every sixteenth row. */
static void stereo_judge(StereoOracle *o)
{
    memset(o->agreement, 0, sizeof(o->agreement));
    for (int y = 8; y < o->h; y += 16)
        for (int x = 0; x < o->w; x++) {
            const int q = y * o->w + x, k = (o->v[q] + 8) >> 4, rows = o->rows;
            int least[3] = { 1000, 1000, 1000 };

            o->agreement[0] += !o->even[q];
            if (o->v[q] < 0)
                continue;
            o->agreement[1]++;
            for (int row = -3; row <= 3; row++) {
                const int cost = stereo_cost_of(o, x, y, x - o->m - k, oracle_clip(y + row, 0, o->h - 1));
                int *part      = &least[row < -rows ? 0 : row <= rows ? 1 : 2];

                *part = cost < *part ? cost : *part;
            }
            if (least[0] < least[1] || least[2] < least[1])
                o->agreement[2 + 4 * (x - x % 32) / o->w] += least[0] < least[2] ? -1 : least[2] < least[0];
        }
}

/* Sets v and confidence. The views must be prepared, base and nb set. */
static void stereo_match_from(StereoOracle *o)
{
    const int nb = o->w * o->h;
    int *cost = malloc(nb * o->nb * sizeof(*cost)), *sum = calloc(nb * o->nb, sizeof(*sum));
    int *right = o->right_map;
    uint8_t *is_hole = malloc(nb);

    for (int i = 0; i < 2; i++) {
        const uint8_t *view = i ? o->right : o->left;

        o->census[i]   = malloc(nb * sizeof(*o->census[i]));
        o->gradient[i] = malloc(nb * sizeof(*o->gradient[i]));
        for (int q = 0; q < nb; q++) {
            o->census[i][q]   = stereo_census(view, o->w, o->h, q % o->w, q / o->w, o->tolerance);
            o->gradient[i][q] = stereo_gradient(view, o->w, o->h, q % o->w, q / o->w);
        }
    }
    for (int q = 0; q < nb; q++)
        for (int k = 0; k < o->nb; k++)
            cost[q * o->nb + k] = stereo_cost(o, q % o->w, q / o->w, k);
    stereo_path(o, cost, sum, -1, 0);
    stereo_path(o, cost, sum, 1, 0);
    stereo_path(o, cost, sum, 0, -1);
    stereo_path(o, cost, sum, 0, 1);
    stereo_winners(o, sum, right);
    memcpy(o->matched, o->v, nb * sizeof(*o->v));
    stereo_median(o->v, o->w, o->h);
    stereo_drop(o, right);
    stereo_judge(o);
    for (int q = 0; q < nb; q++)
        is_hole[q] = o->v[q] < 0;
    if (o->fill) {
        stereo_fill(o);
        stereo_weighted_median(o, is_hole);
        stereo_median(o->v, o->w, o->h);
    }
    free(cost);
    free(sum);
    free(is_hole);
    for (int i = 0; i < 2; i++) {
        free(o->census[i]);
        free(o->gradient[i]);
    }
}

static uint8_t *stereo_halve(const uint8_t *p, int w, int h)
{
    const int to_w = (w + 1) / 2, to_h = (h + 1) / 2;
    uint8_t *to    = malloc(to_w * to_h);

    for (int y = 0; y < to_h; y++)
        for (int x = 0; x < to_w; x++)
            to[y * to_w + x] = (p[2 * y * w + 2 * x] + stereo_pixel(p, w, h, 2 * x + 1, 2 * y) +
                                stereo_pixel(p, w, h, 2 * x, 2 * y + 1) +
                                stereo_pixel(p, w, h, 2 * x + 1, 2 * y + 1) + 2) >> 2;
    return to;
}

static void stereo_alloc(StereoOracle *o, int w, int h)
{
    o->w = w;
    o->h = h;
    o->v = malloc(w * h * sizeof(*o->v));
    o->confidence = malloc(w * h * sizeof(*o->confidence));
    o->even      = malloc(w * h);
    o->right_map = malloc(w * h * sizeof(*o->right_map));
    o->matched   = malloc(w * h * sizeof(*o->matched));
}

static void stereo_free(StereoOracle *o)
{
    free(o->left);
    free(o->right);
    free(o->v);
    free(o->confidence);
    free(o->even);
    free(o->right_map);
    free(o->matched);
    free(o->age);
}

/* Sets v and confidence. The views must be prepared. */
static void stereo_match(StereoOracle *o)
{
    o->base = calloc(o->w * o->h, sizeof(*o->base));
    o->nb   = o->n;
    if (o->fast && o->n > 32) {
        StereoOracle half = { .rows = o->rows, .fill = 1, .tolerance = o->tolerance };

        half.left  = stereo_halve(o->left, o->w, o->h);
        half.right = stereo_halve(o->right, o->w, o->h);
        half.m     = (o->m - (o->m & 1)) / 2;
        half.n     = (o->n / 2 + (o->m & 1) + 31) / 32 * 32;
        memcpy(half.table, o->table, sizeof(half.table));
        stereo_alloc(&half, (o->w + 1) / 2, (o->h + 1) / 2);
        stereo_match(&half);
        for (int q = 0; q < o->w * o->h; q++) {
            const int v = half.v[q / o->w / 2 * half.w + q % o->w / 2];

            o->base[q] = oracle_clip((2 * v + 8) / 16 + 2 * half.m - 16 - o->m, 0, o->n - 32);
        }
        o->nb = 32;
        stereo_free(&half);
    }
    stereo_match_from(o);
    free(o->base);
    o->base = NULL;
}

/* Sets the scale for a range that has been found. @param was_guess is_guess of the pair before */
static void stereo_set_scale(StereoOracle *o, const StereoOracle *before, int was_guess)
{
    int differ = 0;

    for (int i = 0; i < 16; i++)
        differ += abs(o->tones[i] - (before ? before->tones[i] : 0));
    if (before && !was_guess && o->m >= before->least &&
        (o->m + o->n <= before->greatest || differ <= o->w * o->h))
        return;
    o->least    = oracle_clip(o->m - o->n / 4, o->m >= 0 ? 0 : -1024, 1024);
    o->greatest = o->m + 2 * o->n > 1024 ? 1024 : o->m + 2 * o->n;
}

/*
 * Finds the range of disparities. The views must be prepared; m, n, is_guess and the scale must be those of the pair
 * before, n = 0 if there is none.
 */
static void stereo_range(StereoOracle *o, const StereoOracle *before)
{
    StereoOracle c = { .rows = o->rows, .tolerance = o->tolerance };
    int w = o->w, h = o->h, halvings = 0, *count, total = 0, first, last, low, high;

    c.left  = memcpy(malloc(w * h), o->left, w * h);
    c.right = memcpy(malloc(w * h), o->right, w * h);
    for (; w > 256; halvings++) {
        uint8_t *left = stereo_halve(c.left, w, h), *right = stereo_halve(c.right, w, h);

        free(c.left);
        free(c.right);
        c.left  = left;
        c.right = right;
        w = (w + 1) / 2;
        h = (h + 1) / 2;
    }
    memcpy(c.table, o->table, sizeof(c.table));
    stereo_alloc(&c, w, h);
    c.m = -(w / 8);
    c.n = (w / 8 + (w / 2 > 1 ? w / 2 : 1) + 31) / 32 * 32;
    stereo_match(&c);
    count = calloc(c.n + 1, sizeof(*count));
    for (int q = 0; q < w * h; q++)
        if (c.v[q] >= 0 && c.confidence[q]) {
            count[(c.v[q] + 8) >> 4]++;
            total++;
        }
    first = -c.m;
    last  = -c.m + (64 >> halvings);
    if (total) {
        int sum = count[0];

        for (first = 0; sum <= total / 512; sum += count[first])
            first++;
        sum = count[c.n - 1];
        for (last = c.n - 1; sum <= total / 512; sum += count[last])
            last--;
    }
    low  = (first - 2 + c.m) * (1 << halvings);
    high = (last + 3 + c.m) * (1 << halvings);
    if (o->n && !o->is_guess) {
        low  = low  < o->m ? low : o->m;
        high = high > o->m + o->n ? high : o->m + o->n;
    }
    low  = low  > 992 ? 992 : low < -1024 ? -1024 : low;
    high = high > 1024 ? 1024 : high < -992 ? -992 : high;
    if (total || !o->n) {
        const int was_guess = o->is_guess;

        o->is_guess = !total;
        o->n = (high - low + 31) / 32 * 32;
        o->n = o->n < 1024 ? o->n : 1024;
        o->m = low > high - 1024 ? low : high - 1024;
        stereo_set_scale(o, before, was_guess);
    } else {
        /* tones are those of the last pair that had disparities */
        memcpy(o->tones, before->tones, sizeof(o->tones));
    }
    free(count);
    stereo_free(&c);
}

/* Finds the vectors of blocks of 16x16 from a view into that before it: x and y in quarter samples. */
typedef void (*StereoSearch)(int (*vectors)[2], const uint8_t *view, const uint8_t *before, int w, int h);

/* Returns the vector of a sample. */
static const int *stereo_vector(const StereoOracle *o, const int (*vectors)[2], int x, int y)
{
    return vectors[y / 16 * ((o->w + 15) / 16) + x / 16];
}

/* Returns how much a sample differs from where it was before. */
static int stereo_difference(const StereoOracle *o, const StereoOracle *before, const int (*vectors)[2], int x, int y)
{
    const int *vector = stereo_vector(o, vectors, x, y);
    int sum = 8;

    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++) {
            const int weight_x = i ? vector[0] & 3 : 4 - (vector[0] & 3);
            const int weight_y = j ? vector[1] & 3 : 4 - (vector[1] & 3);

            sum += weight_x * weight_y * stereo_pixel(before->left, o->w, o->h, x + i + (vector[0] >> 2),
                                                      y + j + (vector[1] >> 2));
        }
    return abs(o->left[y * o->w + x] - (sum >> 4));
}

/* Sets where each sample was before, or -1. */
static void stereo_follow(const StereoOracle *o, const StereoOracle *before, const int (*vectors)[2], int *from)
{
    int *differences = malloc(o->w * o->h * sizeof(*differences));

    for (int q = 0; q < o->w * o->h; q++)
        differences[q] = stereo_difference(o, before, vectors, q % o->w, q / o->w);
    for (int q = 0; q < o->w * o->h; q++) {
        const int x = q % o->w, y = q / o->w, *vector = stereo_vector(o, vectors, x, y);
        const int from_x = (4 * x + vector[0] + 2) >> 2, from_y = (4 * y + vector[1] + 2) >> 2;
        int sum = 0;

        for (int i = 0; i < 25; i++)
            sum += stereo_value(differences, o->w, o->h, x + i % 5 - 2, y + i / 5 - 2);
        from[q] = sum <= 150 && from_x >= 0 && from_x < o->w && from_y >= 0 && from_y < o->h ? from_y * o->w + from_x
                                                                                             : -1;
    }
    free(differences);
}

/* Returns the median change of disparities in the part of 64x64 that begins at (left, top). */
static int stereo_change(const StereoOracle *o, const StereoOracle *before, const int *from, int left, int top)
{
    int changes[64 * 64], nb = 0;

    for (int y = top; y < top + 64 && y < o->h; y++)
        for (int x = left; x < left + 64 && x < o->w; x++) {
            const int q = y * o->w + x;

            if (from[q] >= 0)
                changes[nb++] = oracle_clip(o->v[q] - before->v[from[q]] - 16 * (before->m - o->m), -32, 32);
        }
    qsort(changes, nb, sizeof(*changes), oracle_ascending);
    return nb ? changes[(nb - 1) / 2] : 0;
}

/* Returns whether the right view shows what is behind sample q, if it has the value p. */
static int stereo_is_refuted(const StereoOracle *o, int q, int p)
{
    const int row = q / o->w * o->w, k = (p + 8) >> 4, z = q % o->w - o->m - k;
    int seen;

    if (z < 0 || z >= o->w)
        return 0;
    seen = o->right_map[row + z];
    if (seen < 0 || seen >= k - 1 || (o->tolerance && o->confidence[row + z + o->m + seen] < 96))
        return 0;
    return abs(((o->matched[row + z + o->m + seen] + 8) >> 4) - seen) <= 1;
}

/* Stabilises a sample. @param p what is expected */
static void stereo_steady(StereoOracle *o, int q, int p, int age, int change)
{
    const int limit = 24 / (change ? abs(change) : 1) < 6 ? 24 / (change ? abs(change) : 1) : 6;
    const int a = age < limit ? age : limit, difference = abs(o->v[q] - p), most = 24 / (difference ? difference : 1);

    if (difference <= 16) {
        const int new_age = a + 1 < limit ? a + 1 : limit, weight = new_age < most ? new_age : most;

        o->v[q]   = (p * weight + o->v[q] + (weight + 1) / 2) / (weight + 1);
        o->age[q] = new_age;
    } else if (a && o->confidence[q] < 96 && !stereo_is_refuted(o, q, p)) {
        o->v[q]   = p;
        o->age[q] = a - 1;
    }
}

/* Stabilises v with the pair before. @param before may be NULL */
static void stereo_stabilise(StereoOracle *o, const StereoOracle *before, StereoSearch search)
{
    const int columns = (o->w + 15) / 16, rows = (o->h + 15) / 16;
    int (*vectors)[2] = malloc(columns * rows * sizeof(*vectors)), *from = malloc(o->w * o->h * sizeof(*from));
    int *changes = malloc(((o->w + 63) / 64) * ((o->h + 63) / 64) * sizeof(*changes));

    o->age = calloc(o->w * o->h, sizeof(*o->age));
    if (before) {
        search(vectors, o->left, before->left, o->w, o->h);
        stereo_follow(o, before, vectors, from);
        for (int i = 0; i < ((o->w + 63) / 64) * ((o->h + 63) / 64); i++)
            changes[i] = stereo_change(o, before, from, i % ((o->w + 63) / 64) * 64, i / ((o->w + 63) / 64) * 64);
    }
    for (int q = 0; q < o->w * o->h && before; q++) {
        const int change = changes[q / o->w / 64 * ((o->w + 63) / 64) + q % o->w / 64];

        if (from[q] >= 0)
            stereo_steady(o, q, oracle_clip(before->v[from[q]] + 16 * (before->m - o->m) + change, 0, 16 * (o->n - 1)),
                          before->age[from[q]], change);
    }
    free(vectors);
    free(from);
    free(changes);
}

/*
 * Makes the disparity map of views with 8 bits. @param find whether to find the range of disparities
 * @param before the pair before, or NULL
 * @param search NULL, or how to find motion: then the map is stabilised
 */
static void stereo_expect(StereoOracle *o, int find, const StereoOracle *before, StereoSearch search)
{
    memset(o->tones, 0, sizeof(o->tones));
    for (int q = 0; q < o->w * o->h; q++)
        o->tones[o->left[q] / 16]++;
    stereo_brightness(o);
    o->tolerance = stereo_is_rough(o->left, o->w, o->h) && stereo_is_rough(o->right, o->w, o->h);
    if (o->tolerance) {
        stereo_smooth(o->left, o->w, o->h);
        stereo_smooth(o->right, o->w, o->h);
    }
    if (find)
        stereo_range(o, before);
    stereo_match(o);
    if (search)
        stereo_stabilise(o, before, search);
}

/* Returns the colour for l, from 0 to 1024, as 0xRRGGBB. */
static int stereo_scale(int l)
{
    static const int colors[9][3] = {
        { 0x28, 0x14, 0x5a }, { 0x3c, 0x50, 0xd2 }, { 0x28, 0x96, 0xf0 }, { 0x28, 0xd2, 0xb4 }, { 0x6e, 0xeb, 0x5a },
        { 0xc8, 0xdc, 0x32 }, { 0xfa, 0xaa, 0x28 }, { 0xeb, 0x50, 0x14 }, { 0x96, 0x0a, 0x0a },
    };
    const int i = l / 128 < 7 ? l / 128 : 7;
    int rgb = 0;

    for (int c = 0; c < 3; c++)
        rgb = rgb << 8 | (colors[i][c] + (((colors[i + 1][c] - colors[i][c]) * (l - 128 * i) + 64) >> 7));
    return rgb;
}

#endif /* GPUME_ORACLE_MVSTEREO_H */
