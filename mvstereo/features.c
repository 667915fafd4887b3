/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Features of samples, from which matching costs are computed.
 */

#include <string.h>

#include "libavutil/bswap.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/macros.h"

#include "libavfilter/gpume/mvstereo/match.h"

/*
 * Sets four bits of the census of a row. The pointers are separate parameters, so that the compiler
 * knows that they do not change.
 */
static void set_nibbles(uint8_t *restrict dst, const uint8_t *limit, const uint8_t *const neighbours[4], int w)
{
    const uint8_t *const a = neighbours[0], *const b = neighbours[1];
    const uint8_t *const c = neighbours[2], *const d = neighbours[3];

    for (int x = 0; x < w; x++)
        dst[x] = (a[x] < limit[x] ? 8 : 0) | (b[x] < limit[x] ? 4 : 0) | (c[x] < limit[x] ? 2 : 0) |
                 (d[x] < limit[x] ? 1 : 0);
}

/* Sets the features of a row, each feature in its own plane. */
static void set_features(uint8_t *dst, ptrdiff_t plane, const MvstereoPlane *luma, int y, int tolerance)
{
    enum { SIDE = 2 * MVSTEREO_CENSUS_R + 1, MIDDLE = SIDE * SIDE / 2 };
    const uint8_t *centre = mvstereo_row8(luma, y);
    const uint8_t *above  = centre - luma->stride, *below = centre + luma->stride;
    uint8_t *limit        = dst + MVSTEREO_NIBBLES * plane;     /* until luma is there */

    for (int x = 0; x < luma->w; x++)
        limit[x] = FFMAX(centre[x] - tolerance, 0);
    for (int i = 0; i < MVSTEREO_NIBBLES; i++) {
        const uint8_t *neighbours[4];

        for (int k = 0; k < 4; k++) {
            const int place = 4 * i + k < MIDDLE ? 4 * i + k : 4 * i + k + 1;

            neighbours[k] = centre + (place / SIDE - MVSTEREO_CENSUS_R) * luma->stride + place % SIDE -
                            MVSTEREO_CENSUS_R;
        }
        set_nibbles(dst + i * plane, limit, neighbours, luma->w);
    }
    memcpy(limit, centre, luma->w);
    dst += (MVSTEREO_NIBBLES + 1) * plane;
    for (int x = 0; x < luma->w; x++)
        dst[x] = mvstereo_gradient(above[x + 1] - above[x - 1] + 2 * (centre[x + 1] - centre[x - 1]) +
                                   below[x + 1] - below[x - 1]);
}

/* Sets where the samples of a row that a census compares are equal. */
static void set_even(uint8_t *restrict dst, const uint8_t *luma, int w)
{
    for (int x = 0; x < w; x++) {
        int differences = 0;

        for (int i = 1; i <= MVSTEREO_CENSUS_R; i++)
            differences |= (luma[x - i] ^ luma[x]) | (luma[x + i] ^ luma[x]);
        dst[x] = differences ? 0 : 255;
    }
}

/* Writes a row of features from right to left, with both ends repeated. */
static void mirror(uint8_t *dst, const uint8_t *src, int w, int before, int total)
{
    int x = 0;

    memset(dst, src[w - 1], before);
    dst += before;
    for (; x + 8 <= w; x += 8)
        AV_WN64(dst + x, av_bswap64(AV_RN64(src + w - x - 8)));
    for (; x < w; x++)
        dst[x] = src[w - 1 - x];
    memset(dst + w, src[0], total - before - w);
}

void ff_mvstereo_set_features(const MvstereoMatcher *m, uint8_t *features, int y)
{
    uint8_t *right = m->features[1] + y * MVSTEREO_FEATURES * m->right_plane;
    uint8_t *luma  = features + MVSTEREO_NIBBLES * m->left_plane;

    set_features(m->features[0] + y * MVSTEREO_FEATURES * m->left_plane, m->left_plane, m->left, y, m->tolerance);
    set_features(features, m->left_plane, m->right, y, m->tolerance);
    for (int x = 0; x < m->w; x++)
        luma[x] = m->table[luma[x]];
    for (int i = 0; i < MVSTEREO_FEATURES; i++)
        mirror(right + i * m->right_plane, features + i * m->left_plane, m->w, m->right_first, m->right_plane);
    set_even(mvstereo_row8(&m->even, y), mvstereo_row8(m->left, y), m->w);
}
