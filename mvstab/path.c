/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <math.h>
#include <string.h>

#include "libavutil/common.h"
#include "libavutil/macros.h"

#include "libavfilter/gpume/mvstab/backend.h"

const MvstabMatrix ff_mvstab_identity = { { 1, 0, 0, 0, 1, 0, 0, 0 } };

/* Returns entry (row, col). */
static double entry(const MvstabMatrix *a, int row, int col)
{
    return row == 2 && col == 2 ? 1 : a->m[3 * row + col];
}

/* Divides nine entries by the last one. */
static MvstabMatrix scaled(const double m[9])
{
    MvstabMatrix a;

    for (int i = 0; i < 8; i++)
        a.m[i] = m[i] / m[8];
    return a;
}

MvstabMatrix ff_mvstab_product(const MvstabMatrix *a, const MvstabMatrix *b)
{
    double m[9];

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m[3 * i + j] = entry(a, i, 0) * entry(b, 0, j) + entry(a, i, 1) * entry(b, 1, j) +
                           entry(a, i, 2) * entry(b, 2, j);
    return scaled(m);
}

MvstabMatrix ff_mvstab_inverse(const MvstabMatrix *a)
{
    double m[9];

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int r0 = (j + 1) % 3, r1 = (j + 2) % 3, c0 = (i + 1) % 3, c1 = (i + 2) % 3;

            m[3 * i + j] = entry(a, r0, c0) * entry(a, r1, c1) - entry(a, r0, c1) * entry(a, r1, c0);
        }
    return scaled(m);
}

void ff_mvstab_map(double *x, double *y, const MvstabMatrix *a)
{
    const double d = 1 / FFMAX(a->m[6] * *x + a->m[7] * *y + 1, 1. / 16);
    const double u = a->m[0] * *x + a->m[1] * *y + a->m[2];

    *y = (a->m[3] * *x + a->m[4] * *y + a->m[5]) * d;
    *x = u * d;
}

MvstabMatrix ff_mvstab_smooth(const MvstabWindow *w, int64_t number)
{
    const double time = w->step(w->opaque, number)->time, scale = w->radius + 1;
    double s1 = 0, s2 = 0, weights;
    MvstabMatrix a = { { 0 } };

    for (int64_t i = w->first; i <= w->last; i++) {
        const double d = (w->step(w->opaque, i)->time - time) / scale, weight = mvstab_weight(d);

        s1 += weight * d;
        s2 += weight * d * d;
    }
    weights = s2;
    for (int i = 0; i < 8; i++)
        a.m[i] = ff_mvstab_identity.m[i] * weights;
    for (int side = -1; side <= 1; side += 2) {
        MvstabMatrix to = ff_mvstab_identity;

        for (int64_t i = number; i != (side < 0 ? w->first : w->last); i += side) {
            const MvstabMatrix motion = w->step(w->opaque, FFMAX(i, i + side))->motion;
            const MvstabMatrix move   = side > 0 ? motion : ff_mvstab_inverse(&motion);
            const double d      = (w->step(w->opaque, i + side)->time - time) / scale;
            const double weight = mvstab_weight(d) * (s2 - s1 * d);

            to = ff_mvstab_product(&to, &move);
            for (int n = 0; n < 8; n++)
                a.m[n] += weight * to.m[n];
            weights += weight;
        }
    }
    for (int i = 0; i < 8; i++)
        a.m[i] /= weights;
    return weights > 0 ? a : ff_mvstab_identity;
}

/*
 * Adds the square of the acceleration from place k - 2 to place k to the equations of a path. Places below 0 are known.
 * @param m the diagonal of the matrix, and the two beside it
 */
static void add_acceleration(double m[][3], double g[][8], const MvstabWindow *w, int64_t number, int k,
                             const MvstabMatrix before[2])
{
    const double t0 = w->step(w->opaque, number + k - 2)->time, t1 = w->step(w->opaque, number + k - 1)->time;
    const double t2 = w->step(w->opaque, number + k)->time, third = (w->radius + 1) / 3.;
    const double weight = third * third * third * third;
    const double c[3] = { 1 / (t1 - t0), -1 / (t1 - t0) - 1 / (t2 - t1), 1 / (t2 - t1) };

    for (int i = 0; i < 3; i++) {
        const int row = k - 2 + i;

        for (int j = 0; j < 3 && row >= 0; j++) {
            const double product = weight * c[i] * c[j];

            for (int n = 0; n < 8 && k - 2 + j < 0; n++)
                g[row][n] -= product * before[1 - k - j].m[n];
            if (k - 2 + j >= 0 && j >= i)
                m[row][j - i] += product;
        }
    }
}

MvstabMatrix ff_mvstab_follow(const MvstabWindow *w, int64_t number, const MvstabMatrix before[2], int nb_before)
{
    const int nb = w->last - number + 1;
    double m[MVSTAB_MAX_RADIUS + 3][3] = { { 0 } }, g[MVSTAB_MAX_RADIUS + 3][8] = { { 0 } };
    MvstabMatrix to = ff_mvstab_identity;

    for (int k = 0; k < nb; k++) {
        if (k)
            to = ff_mvstab_product(&to, &w->step(w->opaque, number + k)->motion);
        m[k][0] = 1;
        memcpy(g[k], to.m, sizeof(to.m));
    }
    for (int k = 2 - nb_before; k < nb; k++)
        add_acceleration(m, g, w, number, k, before);
    for (int k = 0; k < nb; k++)
        for (int i = 1; i < 3; i++) {
            const double q = m[k][i] / m[k][0];

            for (int j = i; j < 3; j++)
                m[k + i][j - i] -= q * m[k][j];
            for (int n = 0; n < 8; n++)
                g[k + i][n] -= q * g[k][n];
        }
    for (int k = nb - 1; k >= 0; k--)
        for (int n = 0; n < 8; n++) {
            if (k + 1 < nb)
                g[k][n] -= m[k][1] * g[k + 1][n];
            if (k + 2 < nb)
                g[k][n] -= m[k][2] * g[k + 2][n];
            g[k][n] /= m[k][0];
        }
    memcpy(to.m, g[0], sizeof(to.m));
    return to;
}

void ff_mvstab_limit(MvstabMatrix *a, const MvstabLimits *limits)
{
    const MvstabMatrix b = *a;
    const double shift = sqrt(b.m[2] * b.m[2] + b.m[5] * b.m[5]);
    const double c = b.m[0] + b.m[4], s = b.m[3] - b.m[1], r = sqrt(c * c + s * s);

    if (shift > limits->shift) {
        a->m[2] *= limits->shift / shift;
        a->m[5] *= limits->shift / shift;
    }
    if (c < limits->cosine * r) {
        /* rotates back by the difference of the angles */
        const double sine = s < 0 ? -limits->sine : limits->sine;
        const double x = (limits->cosine * c + sine * s) / r, y = (sine * c - limits->cosine * s) / r;

        for (int i = 0; i < 2; i++) {
            a->m[i]     = x * b.m[i] - y * b.m[i + 3];
            a->m[i + 3] = y * b.m[i] + x * b.m[i + 3];
        }
    }
}

double ff_mvstab_zoom(MvstabMatrix *a, int w, int h, double max)
{
    const double half[2] = { (w - 1) / 2., (h - 1) / 2. };
    double scale = 1, part = 1;

    for (int i = 0; i < 4; i++) {
        const double corner[2] = { i & 1 ? half[0] : -half[0], i & 2 ? half[1] : -half[1] };
        const double g = a->m[6] * corner[0] + a->m[7] * corner[1];

        /* the corner k (x, y) is mapped to (k n + t) / (k g + 1), and must not be beyond the edges */
        for (int j = 0; j < 2; j++) {
            const double n = a->m[3 * j] * corner[0] + a->m[3 * j + 1] * corner[1], t = a->m[3 * j + 2];

            for (int side = -1; side <= 1; side += 2) {
                const double grows = side * n - half[j] * g, room = half[j] - side * t;
                /* how far the corner is beyond the edge at the largest zoom, with identity and with the matrix */
                const double still = side * corner[j] - max * half[j], beyond = grows - max * room;

                if (grows * scale > room)
                    scale = room / grows;
                if (beyond > 0)
                    part = FFMIN(part, still / (still - beyond));
            }
        }
    }
    for (int i = 0; i < 8 && part < 1; i++)
        a->m[i] = ff_mvstab_identity.m[i] + part * (a->m[i] - ff_mvstab_identity.m[i]);
    return part < 1 ? max : 1 / scale;
}

/* Converts a position to 1/256 sample of a component. */
static int to_units(double x)
{
    return (int)floor(av_clipd(x, -65536, 65536) * 256 + 0.5);
}

void ff_mvstab_mesh(MvstabPoint *mesh, const GpumeLayout *l, int component, int first, int end, const MvstabWarp *warp)
{
    const GpumeComponent *c = &l->components[component];
    const int cols = mvstab_points(c->w), sx = 1 << c->hsub, sy = 1 << c->vsub;
    const double x0 = warp->chroma_x / 256. * (sx - 1), cx = (l->w - 1) / 2.;
    const double y0 = warp->chroma_y / 256. * (sy - 1), cy = (l->h - 1) / 2.;

    for (int j = first; j < end; j++)
        for (int i = 0; i < cols; i++) {
            double x = MVSTAB_CELL * i * sx + x0 - cx, y = MVSTAB_CELL * j * sy + y0 - cy;

            ff_mvstab_map(&x, &y, &warp->matrix);
            mesh[j * cols + i] = (MvstabPoint) { to_units((x + cx - x0) / sx), to_units((y + cy - y0) / sy) };
        }
}
