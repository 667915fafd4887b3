/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds the motion of the camera between two pictures.
 */

#include <math.h>

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/core/geometry.h"
#include "libavfilter/gpume/mvstab/path.h"

/** Largest bin of the histogram in each direction, and number of bins in a row, with empty ones at the ends. */
#define MAX_BIN 256
#define BINS    (2 * MAX_BIN + 3)
/** Number of hypotheses; vectors this far from a peak of the histogram belong to it, in samples. */
#define HYPOTHESES 5
#define NEAR       3
/** A tensor of this trace is halved. */
#define TRACE_HALVED (100. * 4 * MVSTAB_BLOCK * MVSTAB_BLOCK)
/** Inverse of the share of blocks that are taken for noise, and how much of their texture is. */
#define NOISE_SHARE 10
#define NOISE_PART  (15 / 16.)
/** Least trace of a tensor that tells a motion. */
#define LEAST_TRACE  (2 * MVSTAB_BLOCK * MVSTAB_BLOCK)
/** Weight of blocks at the left, right and upper edge when a hypothesis is chosen, and share of the picture there. */
#define EDGE_WEIGHT 5
#define EDGE_SHARE  8
/** Least number of blocks whose motion is known, and least share of them that move alike. */
#define LEAST_BLOCKS 6
#define LEAST_INLIERS 0.08
/** Inverse of the least share of the blocks with texture whose motion is known if both pictures show the same. */
#define AGREES 4
/** Numbers of refits to the sample as a similarity, then as both models, and to all blocks. */
#define REFITS_FIRST 2
#define REFITS_BOTH  2
#define REFITS_ALL   2
/** Scale of the squared distances, in samples, of blocks from the motion: those of 1 / SCALE count a quarter. */
#define SCALE 3
/** A homography is taken if it lowers the residual to this share. */
#define HOMOGRAPHY_SHARE 0.8

av_cold int ff_mvstab_fit_init(MvstabFit *f, int w, int h)
{
    ff_mvstab_fit_uninit(f);
    f->w      = w;
    f->h      = h;
    f->nb_all = gpume_blocks(w, MVSTAB_BLOCK) * gpume_blocks(h, MVSTAB_BLOCK);
    f->blocks = av_calloc(f->nb_all, sizeof(*f->blocks));
    f->histogram = av_calloc(BINS * BINS, sizeof(*f->histogram));
    return f->blocks && f->histogram ? 0 : AVERROR(ENOMEM);
}

av_cold void ff_mvstab_fit_uninit(MvstabFit *f)
{
    av_freep(&f->blocks);
    av_freep(&f->histogram);
}

void ff_mvstab_fit_read(MvstabFit *f, const AVMotionVector *mvs, const MvstabTensor *tensors,
                        const MvstabMatrix *inside)
{
    f->nb = f->nb_inside = f->nb_textured = 0;
    for (int y0 = 0; y0 < f->h; y0 += MVSTAB_BLOCK)
        for (int x0 = 0; x0 < f->w; x0 += MVSTAB_BLOCK, mvs++, tensors++) {
            const double x = (x0 + FFMIN(x0 + MVSTAB_BLOCK, f->w) - f->w) / 2.;
            const double y = (y0 + FFMIN(y0 + MVSTAB_BLOCK, f->h) - f->h) / 2.;
            const int trace = tensors->xx + tensors->yy;
            double px = x, py = y;

            if (inside)
                ff_mvstab_map(&px, &py, inside);
            if (inside && (fabs(px) > (f->w - MVSTAB_BLOCK) / 2. || fabs(py) > (f->h - MVSTAB_BLOCK) / 2.))
                continue;
            f->nb_inside++;
            f->nb_textured += trace >= LEAST_TRACE;
            if (trace < LEAST_TRACE || mvs->flags & GPUME_FLAG_INCONSISTENT)
                continue;
            f->blocks[f->nb++] = (MvstabBlock) {
                .x  = x, .qx = x + mvs->motion_x / (double)mvs->motion_scale,
                .y  = y, .qy = y + mvs->motion_y / (double)mvs->motion_scale,
                .xx = tensors->xx, .xy = tensors->xy, .yy = tensors->yy,
            };
        }
}

int ff_mvstab_has_texture(const MvstabFit *f)
{
    return f->nb_textured >= LEAST_BLOCKS;
}

int ff_mvstab_agrees(const MvstabFit *f)
{
    return ff_mvstab_has_texture(f) && AGREES * f->nb >= f->nb_textured;
}

/* Returns 1 / (1 + scale r) for the squared distance r between a block's motion and that of a transform. */
static av_always_inline double nearness(const MvstabBlock *b, const MvstabMatrix *a, double scale)
{
    const double d = FFMAX(a->m[6] * b->x + a->m[7] * b->y + 1, 1. / 16);
    const double x = a->m[0] * b->x + a->m[1] * b->y + a->m[2] - d * b->qx;
    const double y = a->m[3] * b->x + a->m[4] * b->y + a->m[5] - d * b->qy;

    return d * d / (d * d + scale * (x * x + y * y));
}

/* Solves n linear equations with a symmetric positive definite matrix. The result replaces the right-hand side. */
static void solve(double m[8][8], double g[8], int n)
{
    double scale[8];

    for (int i = 0; i < n; i++)
        scale[i] = m[i][i] > 0 ? 1 / sqrt(m[i][i]) : 0;
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++)
            m[i][j] *= scale[i] * scale[j];
        m[i][i] += 1e-9;
        g[i]    *= scale[i];
    }
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            const double q = m[k][i] / m[k][k];

            for (int j = i; j < n; j++)
                m[i][j] -= q * m[k][j];
            g[i] -= q * g[k];
        }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            g[i] -= m[i][j] * g[j];
        g[i] /= m[i][i];
    }
    for (int i = 0; i < n; i++)
        g[i] *= scale[i];
}

/** Number of blocks that are added to sums together. A processor waits if it reads what it wrote just before. */
#define BATCH 16

/* What a block adds to the sums: each factor, of its tensor and of that times its new position, times each term. */
typedef struct Products {
    double factors[6], terms[6];
} Products;

static av_always_inline void set_products(Products *p, const MvstabBlock *b, double xx, double xy, double yy)
{
    const double x = xx * b->qx + xy * b->qy, y = xy * b->qx + yy * b->qy;

    *p = (Products) {
        { xx, xy, yy, x, y, x * b->qx + y * b->qy }, { 1, b->x, b->y, b->x * b->x, b->x * b->y, b->y * b->y },
    };
}

/* Adds blocks to the sums from which n parameters are found. */
static av_always_inline void add_products(double sums[6][6], const Products *p, int nb, int n)
{
    for (int k = 0; k < nb; k++)
        for (int i = 0; i < (n == 4 ? 5 : 6); i++)
            for (int j = 0; j < (n == 4 && i > 2 ? 3 : 6); j++)
                sums[i][j] += p[k].factors[i] * p[k].terms[j];
}

/*
 * Returns the transform with n parameters that fits blocks best, from their sums. With (t0 t1 t2), (t3 t4 t5) for the
 * first rows of its matrix, and (t6 t7 t8) for the last one, negated, the sums give a quadratic form in t. A parameter
 * changes t by a row of the basis.
 */
static MvstabMatrix solve_model(double sums[6][6], int n)
{
    static const uint8_t factor[3][3] = { { 0, 1, 3 }, { 1, 2, 4 }, { 3, 4, 5 } };
    static const uint8_t term[3][3]   = { { 3, 4, 1 }, { 4, 5, 2 }, { 1, 2, 0 } };
    static const int8_t bases[2][8][9] = {
        { { [2] = 1 }, { [5] = 1 }, { [0] = 1, [4] = 1 }, { [1] = -1, [3] = 1 } },
        { { [0] = 1 }, { [1] = 1 }, { [2] = 1 }, { [3] = 1 }, { [4] = 1 }, { [5] = 1 }, { [6] = -1 }, { [7] = -1 } },
    };
    const int8_t (*const basis)[9] = bases[n == 8];
    double m[8][8] = { { 0 } }, g[8] = { 0 };
    MvstabMatrix a = ff_mvstab_identity;

    for (int i = 0; i < n; i++)
        for (int k = 0; k < 9; k++) {
            double form[9];

            for (int l = 0; l < 9 && basis[i][k]; l++)
                form[l] = basis[i][k] * sums[factor[k / 3][l / 3]][term[k % 3][l % 3]];
            if (basis[i][k])
                g[i] += form[8] - form[0] - form[4];
            for (int j = i; j < n && basis[i][k]; j++)
                for (int l = 0; l < 9; l++)
                    m[i][j] += basis[j][l] * form[l];
        }
    solve(m, g, n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 8; k++)
            a.m[k] += basis[i][k] * (k < 6 ? g[i] : -g[i]);
    return a;
}

/*
 * Fits a model to blocks, each weighted by its distance from a transform.
 * @param plain_scale 0: also by its tensor; else by its vote, and distances at this scale
 */
static av_always_inline void refit_model(const MvstabBlock *blocks, int nb, MvstabMatrix *a, int n, double plain_scale)
{
    double sums[6][6] = { { 0 } };
    Products products[BATCH];

    for (int i = 0; i < nb; i++) {
        const MvstabBlock *b = &blocks[i];
        const double near = nearness(b, a, plain_scale > 0 ? plain_scale : SCALE), weight = near * near;

        if (plain_scale > 0)
            set_products(&products[i % BATCH], b, weight * b->vote, 0, weight * b->vote);
        else
            set_products(&products[i % BATCH], b, weight * b->xx, weight * b->xy, weight * b->yy);
        if (i % BATCH == BATCH - 1 || i == nb - 1)
            add_products(sums, products, i % BATCH + 1, n);
    }
    *a = solve_model(sums, n);
}

static void refit(const MvstabBlock *blocks, int nb, MvstabMatrix *a, int n)
{
    if (n == 4)
        refit_model(blocks, nb, a, 4, 0);
    else
        refit_model(blocks, nb, a, 8, 0);
}

/* Takes out of the tensors what noise adds to each, and damps large ones. nb blocks are those of the sample. */
static void weigh(MvstabFit *f, int nb)
{
    unsigned traces[MVSTAB_SAMPLE], noise;

    for (int i = 0; i < nb; i++) {
        const MvstabBlock *b = &f->blocks[i * (int64_t)f->nb / nb];

        traces[i] = b->xx + b->yy;
    }
    /* traces are less than 2^25 */
    noise = gpume_order_statistic(traces, nb, nb / NOISE_SHARE, 1 << 24);
    for (int i = 0; i < f->nb; i++) {
        MvstabBlock *b = &f->blocks[i];
        const double half = (b->xx + b->yy) / 2, h = (b->xx - b->yy) / 2, r = sqrt(h * h + b->xy * b->xy);
        const double part = FFMIN(noise * NOISE_PART / 2, half - r);
        const double damping = 1 / (1 + 2 * (half - part) / TRACE_HALVED);

        b->xx  = (b->xx - part) * damping;
        b->xy *= damping;
        b->yy  = (b->yy - part) * damping;
    }
}

static int bin_of(const MvstabBlock *b)
{
    const int x = av_clip((int)floor(b->qx - b->x + 0.5), -MAX_BIN, MAX_BIN);
    const int y = av_clip((int)floor(b->qy - b->y + 0.5), -MAX_BIN, MAX_BIN);

    return (y + MAX_BIN + 1) * BINS + x + MAX_BIN + 1;
}

/* Weighs blocks, takes evenly spread ones, and lets these vote. Returns their number; *all becomes the sum of votes. */
static int take_sample(MvstabFit *f, double *all)
{
    const int nb = FFMIN(f->nb, MVSTAB_SAMPLE);
    double mean = 0;

    weigh(f, nb);
    for (int i = 0; i < nb; i++) {
        f->sample[i] = f->blocks[i * (int64_t)f->nb / nb];
        f->bins[i]   = bin_of(&f->sample[i]);
        mean += f->sample[i].xx + f->sample[i].yy;
    }
    mean /= nb;
    *all = 0;
    for (int i = 0; i < nb; i++) {
        MvstabBlock *b = &f->sample[i];
        const int is_at_edge = fabs(b->x) > f->w / 2. - f->w / (double)EDGE_SHARE ||
                               b->y < f->h / (double)EDGE_SHARE - f->h / 2.;

        /* in 1/256, so that sums in the histogram are exact */
        b->vote = floor(256 * FFMIN((b->xx + b->yy) / mean, 1)) / 256 * (is_at_edge ? EDGE_WEIGHT : 1);
        *all   += b->vote;
    }
    return nb;
}

/* Returns the highest peak of the histogram of the blocks that are left: its block, or -1 if few are left. */
static int find_peak(MvstabFit *f, int nb)
{
    uint32_t best = 0;
    int peak = -1, left = 0;

    for (int i = 0; i < nb; i++)
        if (f->bins[i] >= 0) {
            f->histogram[f->bins[i]] += (uint32_t)(256 * f->sample[i].vote);
            left++;
        }
    for (int i = 0; i < nb && 20 * left >= nb; i++) {
        uint32_t sum = 0;

        for (int n = 0; n < 9 && f->bins[i] >= 0; n++)
            sum += f->histogram[f->bins[i] + (n / 3 - 1) * BINS + n % 3 - 1];
        if (sum > best) {
            best = sum;
            peak = i;
        }
    }
    for (int i = 0; i < nb; i++)
        if (f->bins[i] >= 0)
            f->histogram[f->bins[i]] = 0;
    return peak;
}

/* Finds the similarity with which most blocks of the sample move. */
static MvstabMatrix choose(MvstabFit *f, int nb, double all)
{
    MvstabMatrix best = ff_mvstab_identity;
    double most = -1;

    for (int i = 0; i < HYPOTHESES && 2 * most < all; i++) {
        const int peak = find_peak(f, nb);
        MvstabMatrix a = ff_mvstab_identity;
        double votes = 0;

        if (peak < 0)
            break;
        a.m[2] = floor(f->sample[peak].qx - f->sample[peak].x + 0.5);
        a.m[5] = floor(f->sample[peak].qy - f->sample[peak].y + 0.5);
        for (int j = 0; j < nb; j++) {
            const MvstabBlock *b = &f->sample[j];

            if (fabs(b->qx - b->x - a.m[2]) <= NEAR && fabs(b->qy - b->y - a.m[5]) <= NEAR)
                f->bins[j] = -1;
        }
        for (double scale = 1. / 16; scale <= 4; scale *= 4)
            refit_model(f->sample, nb, &a, 4, scale);
        for (int j = 0; j < nb; j++)
            votes += f->sample[j].vote * nearness(&f->sample[j], &a, 4);
        if (votes > most) {
            most = votes;
            best = a;
        }
    }
    return best;
}

/* Returns the sum of the residuals of the sample, which grow little above a sample. */
static double cost_of(const MvstabFit *f, int nb, const MvstabMatrix *a)
{
    double cost = 0;

    for (int i = 0; i < nb; i++)
        cost += (f->sample[i].xx + f->sample[i].yy) * (1 - nearness(&f->sample[i], a, SCALE));
    return cost;
}

/* Returns whether a transform is far from what a camera does from frame to frame. */
static int is_wild(const MvstabFit *f, const MvstabMatrix *a)
{
    return fabs(a->m[0] - 1) > 0.5 || fabs(a->m[4] - 1) > 0.5 || fabs(a->m[1]) > 0.5 || fabs(a->m[3]) > 0.5 ||
           fabs(a->m[6]) * f->w + fabs(a->m[7]) * f->h > 1;
}

double ff_mvstab_fit(MvstabFit *f, MvstabMatrix *motion, enum MvstabModel model)
{
    MvstabMatrix a, b;
    double votes;
    int nb, inliers = 0, n = 4;

    *motion = ff_mvstab_identity;
    if (f->nb < LEAST_BLOCKS)
        return 0;
    nb = take_sample(f, &votes);
    a  = choose(f, nb, votes);
    for (int i = 0; i < REFITS_FIRST; i++)
        refit(f->sample, nb, &a, 4);
    b = a;
    for (int i = 0; i < REFITS_BOTH; i++) {
        if (model != MVSTAB_HOMOGRAPHY)
            refit(f->sample, nb, &a, 4);
        if (model != MVSTAB_SIMILARITY)
            refit(f->sample, nb, &b, 8);
    }
    if (model == MVSTAB_HOMOGRAPHY ||
        model == MVSTAB_AUTO && cost_of(f, nb, &b) < HOMOGRAPHY_SHARE * cost_of(f, nb, &a)) {
        a = b;
        n = 8;
    }
    for (int i = 0; i < REFITS_ALL; i++)
        refit(f->blocks, f->nb, &a, n);
    for (int i = 0; i < f->nb; i++)
        inliers += nearness(&f->blocks[i], &a, 1) > 0.5;
    if (is_wild(f, &a) || inliers < LEAST_INLIERS * f->nb)
        return 0;
    *motion = a;
    return inliers / (double)f->nb;
}
