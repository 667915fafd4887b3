/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/** @file Fills the table of cpu/cost.h with sums of absolute transformed differences. */

#include <stdlib.h>

#include "libavutil/attributes.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/macros.h"

#include "libavfilter/gpume/cpu/cost.h"
#include "libavfilter/gpume/util/assembly.h"

#define PIXEL_8(p, x)  (p)[x]
#define PIXEL_16(p, x) AV_RN16((p) + 2 * (x))

/* Transforms n values at a distance of step. */
static av_always_inline void hadamard(int *v, int n, int step)
{
    for (int half = 1; half < n; half *= 2)
        for (int i = 0; i < n; i++)
            if (!(i & half)) {
                const int a = v[i * step], b = v[(i + half) * step];

                v[i * step]          = a + b;
                v[(i + half) * step] = a - b;
            }
}

/* Returns the cost of a tile of n x n differences. */
static av_always_inline uint32_t cost_of_tile(int d[64], int n)
{
    uint32_t sum = 0;

    for (int i = 0; i < n; i++)
        hadamard(d + i * n, n, 1);
    for (int i = 0; i < n; i++)
        hadamard(d + i, n, n);
    for (int i = 0; i < n * n; i++)
        sum += abs(d[i]);
    return n == 8 ? (sum + 2) >> 2 : (sum + 1) >> 1;
}

/* Rows of tiles of 8x8 as long as there are 8 rows and columns, then of 4x4. */
#define SATD_DEPTH(bits)                                                                \
static av_always_inline uint32_t satd_##bits(const uint8_t *cur, ptrdiff_t cur_linesize, \
                                             const uint8_t *ref, ptrdiff_t ref_linesize, \
                                             int width, int h, uint32_t limit)          \
{                                                                                       \
    uint32_t sum = 0;                                                                   \
                                                                                        \
    for (int y = 0, n; y < h && sum < limit; y += n) {                                  \
        n = width < 8 || h - y < 8 ? 4 : 8;                                             \
        for (int x0 = 0; x0 < width; x0 += n) {                                         \
            int d[64] = { 0 };                                                          \
                                                                                        \
            for (int i = 0; i < FFMIN(n, h - y); i++)                                   \
                for (int x = x0; x < FFMIN(x0 + n, width); x++)                         \
                    d[i * n + x - x0] = PIXEL_##bits(cur + (y + i) * cur_linesize, x) - \
                                        PIXEL_##bits(ref + (y + i) * ref_linesize, x);  \
            sum += cost_of_tile(d, n);                                                  \
        }                                                                               \
    }                                                                                   \
    return sum;                                                                         \
}                                                                                       \
                                                                                        \
SATD_WIDTH(bits, 1)  SATD_WIDTH(bits, 2)  SATD_WIDTH(bits, 3)                           \
SATD_WIDTH(bits, 4)  SATD_WIDTH(bits, 8)  SATD_WIDTH(bits, 16)                          \
SATD_WIDTH(bits, 32) SATD_WIDTH(bits, 64) SATD_WIDTH(bits, 128)                         \
                                                                                        \
static const GpumeCost costs_##bits = {                                                 \
    .one  = GPUME_COST_WIDTHS(satd, bits),                                              \
    .four = GPUME_COST_WIDTHS(satd_x4, bits),                                           \
    .least_of_four = 3,                                                                 \
};

#define SATD_WIDTH(bits, width)                                                         \
static uint32_t satd_##bits##_##width(const uint8_t *cur, ptrdiff_t cur_linesize,       \
                                      const uint8_t *ref, ptrdiff_t ref_linesize,       \
                                      int h, uint32_t limit)                            \
{                                                                                       \
    return satd_##bits(cur, cur_linesize, ref, ref_linesize, width, h, limit);          \
}                                                                                       \
                                                                                        \
static void satd_x4_##bits##_##width(const uint8_t *cur, ptrdiff_t cur_linesize,        \
                                     const uint8_t *const ref[4], ptrdiff_t ref_linesize, \
                                     int h, uint32_t cost[4], uint32_t limit)           \
{                                                                                       \
    for (int i = 0; i < 4; i++)                                                         \
        cost[i] = satd_##bits##_##width(cur, cur_linesize, ref[i], ref_linesize, h, limit); \
}

SATD_DEPTH(8)
SATD_DEPTH(16)

av_cold void ff_gpume_satd_init(GpumeCost *cost, int depth)
{
    *cost = depth > 8 ? costs_16 : costs_8;

    GPUME_INIT_ASSEMBLY(ff_gpume_satd_init, cost, depth);
}
