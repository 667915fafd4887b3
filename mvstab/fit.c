/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <math.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/core/geometry.h"
#include "libavfilter/gpume/mvstab/fit.h"

/** Largest bin of the histogram in each direction, and number of bins in a row, with empty ones at the ends. */
#define MAX_BIN 256
#define BINS    (2 * MAX_BIN + 3)
/** Number of hypotheses; vectors this far from a peak of the histogram belong to it, in samples. */
#define HYPOTHESES 5
#define NEAR       3
/** A tensor of this trace is halved. */
#define TRACE_HALVED (100. * 4 * 2 * MVSTAB_BLOCK * MVSTAB_BLOCK / 2)
/** Least trace of a tensor that tells a motion. */
#define LEAST_TRACE  (2 * MVSTAB_BLOCK * MVSTAB_BLOCK)
/** Weight of blocks at the left, right and upper edge when a hypothesis is chosen, and share of the picture there. */
#define EDGE_WEIGHT 5
#define EDGE_SHARE  8
/** Least number of blocks whose motion is known, and least share of them that move alike. */
#define LEAST_BLOCKS 6
#define LEAST_INLIERS 0.08
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

/* Returns whether a matrix maps all corners of a block into the picture. */
static int is_inside(const MvstabFit *f, const MvstabMatrix *a, double x0, double y0, double x1, double y1)
{
    for (int i = 0; i < 4; i++) {
        double x = i & 1 ? x1 : x0, y = i & 2 ? y1 : y0;

        ff_mvstab_map(&x, &y, a);
        if (fabs(x) > (f->w - 1) / 2. || fabs(y) > (f->h - 1) / 2.)
            return 0;
    }
    return 1;
}

static int bin_of(double vx, double vy)
{
    const int x = av_clip((int)floor(vx + 0.5), -MAX_BIN, MAX_BIN);
    const int y = av_clip((int)floor(vy + 0.5), -MAX_BIN, MAX_BIN);

    return (y + MAX_BIN + 1) * BINS + x + MAX_BIN + 1;
}

/* Weights the blocks for the choice of a hypothesis. */
static void weight_blocks(MvstabFit *f)
{
    double mean = 0;

    for (int i = 0; i < f->nb; i++)
        mean += f->blocks[i].xx + f->blocks[i].yy;
    mean /= FFMAX(f->nb, 1);
    for (int i = 0; i < f->nb; i++) {
        MvstabBlock *b = &f->blocks[i];

        /* in 1/256, so that sums in the histogram are exact */
        b->weight = floor(256 * FFMIN((b->xx + b->yy) / mean, 1)) / 256;
    }
}

void ff_mvstab_fit_read(MvstabFit *f, const AVMotionVector *mvs, const MvstabTensor *tensors,
                        const MvstabMatrix *inside)
{
    const int cols = gpume_blocks(f->w, MVSTAB_BLOCK);

    f->nb = f->nb_inside = f->nb_textured = 0;
    for (int i = 0; i < f->nb_all; i++) {
        const int x0 = i % cols * MVSTAB_BLOCK, x1 = FFMIN(x0 + MVSTAB_BLOCK, f->w) - 1;
        const int y0 = i / cols * MVSTAB_BLOCK, y1 = FFMIN(y0 + MVSTAB_BLOCK, f->h) - 1;
        const double cx = (f->w - 1) / 2., cy = (f->h - 1) / 2.;
        const double trace = (double)tensors[i].xx + tensors[i].yy;
        MvstabBlock *b = &f->blocks[f->nb];
        double damping;

        if (inside && !is_inside(f, inside, x0 - cx, y0 - cy, x1 - cx, y1 - cy))
            continue;
        f->nb_inside++;
        if (trace < LEAST_TRACE)
            continue;
        f->nb_textured++;
        if (mvs[i].flags & GPUME_FLAG_INCONSISTENT)
            continue;
        damping = 1 / (1 + trace / TRACE_HALVED);
        *b = (MvstabBlock) {
            .x = (x0 + x1) / 2. - cx, .y = (y0 + y1) / 2. - cy,
            .vx = mvs[i].motion_x / (double)mvs[i].motion_scale, .vy = mvs[i].motion_y / (double)mvs[i].motion_scale,
            .xx = tensors[i].xx * damping, .xy = tensors[i].xy * damping, .yy = tensors[i].yy * damping, .is_left = 1,
        };
        b->bin = bin_of(b->vx, b->vy);
        f->nb++;
    }
    weight_blocks(f);
}

int ff_mvstab_has_texture(const MvstabFit *f)
{
    return f->nb_textured >= LEAST_BLOCKS;
}

int ff_mvstab_agrees(const MvstabFit *f, int share)
{
    return ff_mvstab_has_texture(f) && share * f->nb >= f->nb_textured;
}

/* Returns the squared distance between a block's motion and that of a transform. */
static double residual(const MvstabBlock *b, const MvstabMatrix *a)
{
    double x = b->x, y = b->y;

    ff_mvstab_map(&x, &y, a);
    x -= b->x + b->vx;
    y -= b->y + b->vy;
    return x * x + y * y;
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

/*
 * Sets the derivatives of a block's motion by the parameters of a model. The last two of a homography divide by the
 * denominator, which makes the equations linear.
 */
static void derive(double a[8], double b[8], const MvstabBlock *block, double x, double y, int n)
{
    const double qx = block->x + block->vx, qy = block->y + block->vy;

    if (n == 4) {
        memcpy(a, (const double[4]) { 1, 0, x, -y }, 4 * sizeof(*a));
        memcpy(b, (const double[4]) { 0, 1, y,  x }, 4 * sizeof(*b));
    } else {
        memcpy(a, (const double[8]) { 1, 0, x, y, 0, 0, -x * qx, -y * qx }, 8 * sizeof(*a));
        memcpy(b, (const double[8]) { 0, 1, 0, 0, x, y, -x * qy, -y * qy }, 8 * sizeof(*b));
    }
}

/* Adds a block to the equations. */
static void add_block(double m[8][8], double g[8], const MvstabBlock *block, double xx, double xy, double yy,
                      double unit, int n)
{
    double a[8], b[8], u[8], v[8];

    derive(a, b, block, block->x * unit, block->y * unit, n);
    for (int j = 0; j < n; j++) {
        u[j] = xx * a[j] + xy * b[j];
        v[j] = xy * a[j] + yy * b[j];
    }
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++)
            m[i][j] += a[i] * u[j] + b[i] * v[j];
        g[i] += u[i] * block->vx + v[i] * block->vy;
    }
}

/*
 * Returns the weight of a block when a hypothesis is chosen. A person in front of the camera rarely covers the edges.
 */
static double vote_of(const MvstabFit *f, const MvstabBlock *b)
{
    const int is_at_edge = fabs(b->x) > f->w / 2. - f->w / (double)EDGE_SHARE ||
                           b->y < f->h / (double)EDGE_SHARE - f->h / 2.;

    return b->weight * (is_at_edge ? EDGE_WEIGHT : 1);
}

/*
 * Fits a model to all blocks, each weighted by its distance from a transform at a scale, in samples.
 * @param plain whether the weights of the choice are used instead of the tensors
 */
static void refit(const MvstabFit *f, MvstabMatrix *a, int n, double scale, int plain)
{
    const double unit = 2. / FFMAX(f->w, f->h);
    double m[8][8] = { { 0 } }, g[8] = { 0 };

    for (int i = 0; i < f->nb; i++) {
        const MvstabBlock *b = &f->blocks[i];
        const double e = 1 + residual(b, a) / (scale * scale), weight = (plain ? vote_of(f, b) : 1) / (e * e);

        if (plain)
            add_block(m, g, b, weight, 0, weight, unit, n);
        else
            add_block(m, g, b, weight * b->xx, weight * b->xy, weight * b->yy, unit, n);
    }
    solve(m, g, n);
    if (n == 4)
        *a = (MvstabMatrix) { { 1 + g[2] * unit, -g[3] * unit, g[0], g[3] * unit, 1 + g[2] * unit, g[1], 0, 0 } };
    else
        *a = (MvstabMatrix) { { 1 + g[2] * unit, g[3] * unit, g[0], g[4] * unit, 1 + g[5] * unit, g[1],
                                g[6] * unit, g[7] * unit } };
}

/* Returns the highest peak of the histogram of the blocks that are left: its block, or -1 if few are left. */
static int find_peak(MvstabFit *f)
{
    uint32_t best = 0;
    int peak = -1, left = 0;

    for (int i = 0; i < f->nb; i++)
        if (f->blocks[i].is_left) {
            f->histogram[f->blocks[i].bin] += (uint32_t)(256 * f->blocks[i].weight);
            left++;
        }
    for (int i = 0; i < f->nb && 20 * left >= f->nb; i++) {
        uint32_t sum = 0;

        for (int n = 0; n < 9 && f->blocks[i].is_left; n++)
            sum += f->histogram[f->blocks[i].bin + (n / 3 - 1) * BINS + n % 3 - 1];
        if (sum > best) {
            best = sum;
            peak = i;
        }
    }
    for (int i = 0; i < f->nb; i++)
        f->histogram[f->blocks[i].bin] = 0;
    return peak;
}

/* Finds the similarity with which most blocks move. */
static MvstabMatrix choose(MvstabFit *f)
{
    MvstabMatrix best = ff_mvstab_identity;
    double most = -1, all = 0;

    for (int i = 0; i < f->nb; i++)
        all += vote_of(f, &f->blocks[i]);
    for (int i = 0; i < HYPOTHESES && 2 * most < all; i++) {
        const int peak = find_peak(f);
        MvstabMatrix a = ff_mvstab_identity;
        double votes = 0;

        if (peak < 0)
            break;
        a.m[2] = floor(f->blocks[peak].vx + 0.5);
        a.m[5] = floor(f->blocks[peak].vy + 0.5);
        for (int j = 0; j < f->nb; j++) {
            MvstabBlock *b = &f->blocks[j];

            b->is_left &= fabs(b->vx - a.m[2]) > NEAR || fabs(b->vy - a.m[5]) > NEAR;
        }
        for (double scale = 4; scale >= 0.5; scale /= 2)
            refit(f, &a, 4, scale, 1);
        for (int j = 0; j < f->nb; j++)
            votes += vote_of(f, &f->blocks[j]) / (1 + 4 * residual(&f->blocks[j], &a));
        if (votes > most) {
            most = votes;
            best = a;
        }
    }
    return best;
}

/* Returns the sum of the residuals, which grow no further above half a sample. */
static double cost_of(const MvstabFit *f, const MvstabMatrix *a)
{
    double cost = 0;

    for (int i = 0; i < f->nb; i++) {
        const MvstabBlock *b = &f->blocks[i];
        const double e = 4 * residual(b, a);

        cost += (b->xx + b->yy) * e / (1 + e);
    }
    return cost;
}

/* Returns whether a transform is far from what a camera does from frame to frame. */
static int is_wild(const MvstabMatrix *a)
{
    return fabs(a->m[0] - 1) > 0.5 || fabs(a->m[4] - 1) > 0.5 || fabs(a->m[1]) > 0.5 || fabs(a->m[3]) > 0.5;
}

double ff_mvstab_fit(MvstabFit *f, MvstabMatrix *motion, enum MvstabModel model)
{
    MvstabMatrix a, b;
    int inliers = 0;

    *motion = ff_mvstab_identity;
    if (f->nb < LEAST_BLOCKS)
        return 0;
    a = choose(f);
    refit(f, &a, 4, 1, 0);
    for (int i = 0; i < 3; i++)
        refit(f, &a, 4, 0.5, 0);
    b = a;
    for (int i = 0; i < 3; i++) {
        if (model != MVSTAB_HOMOGRAPHY)
            refit(f, &a, 4, 0.5, 0);
        if (model != MVSTAB_SIMILARITY)
            refit(f, &b, 8, 0.5, 0);
    }
    if (model == MVSTAB_HOMOGRAPHY || model == MVSTAB_AUTO && cost_of(f, &b) < HOMOGRAPHY_SHARE * cost_of(f, &a))
        a = b;
    for (int i = 0; i < f->nb; i++)
        inliers += residual(&f->blocks[i], &a) < 1;
    if (is_wild(&a) || inliers < LEAST_INLIERS * f->nb)
        return 0;
    *motion = a;
    return inliers / (double)f->nb;
}
