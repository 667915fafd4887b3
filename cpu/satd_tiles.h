/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * SATD of parts of blocks with assembly functions for rows of tiles; shared by the processors.
 */

#ifndef AVFILTER_GPUME_CPU_SATD_TILES_H
#define AVFILTER_GPUME_CPU_SATD_TILES_H

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/mem_internal.h"

#include "libavfilter/gpume/cpu/cost.h"

/** Returns the cost of a row of tiles, w samples wide. */
typedef uint32_t (*Tiles)(const uint8_t *cur, ptrdiff_t cur_linesize,
                          const uint8_t *ref, ptrdiff_t ref_linesize, int w);

/* Returns the cost of 1 to 3 rows that are no complete tile; equal rows are added below them. */
static av_noinline uint32_t cost_of_rest(const uint8_t *cur, ptrdiff_t cur_linesize,
                                         const uint8_t *ref, ptrdiff_t ref_linesize,
                                         int w, int h, int sample_size, Tiles four)
{
    DECLARE_ALIGNED(16, uint8_t, rows)[2][4 * 2 * GPUME_MAX_BLOCK] = { { 0 } };
    const int bytes = w * sample_size;

    for (int y = 0; y < h; y++) {
        memcpy(rows[0] + y * bytes, cur + y * cur_linesize, bytes);
        memcpy(rows[1] + y * bytes, ref + y * ref_linesize, bytes);
    }
    return four(rows[0], bytes, rows[1], bytes, w);
}

#define TILES(bits, side, opt)                                                              \
uint32_t ff_gpume_satd_##bits##_##side##_##opt(const uint8_t *cur, ptrdiff_t cur_linesize,  \
                                               const uint8_t *ref, ptrdiff_t ref_linesize,  \
                                               int w);

/* Defines the cost of a width, from functions for its tiles of 4x4 and of 8x8. */
#define ONE(bits, width, opt, opt4, opt8)                                                   \
static uint32_t satd_##bits##_##width##_##opt(const uint8_t *cur, ptrdiff_t cur_linesize,   \
                                              const uint8_t *ref, ptrdiff_t ref_linesize,   \
                                              int h, uint32_t limit)                        \
{                                                                                           \
    uint32_t sum = 0;                                                                       \
    int n;                                                                                  \
                                                                                            \
    for (; h > 0 && sum < limit; h -= n) {                                                  \
        n = width < 8 || h < 8 ? 4 : 8;                                                     \
        if (n == 8)                                                                         \
            sum += ff_gpume_satd_##bits##_8_##opt8(cur, cur_linesize, ref, ref_linesize, width); \
        else if (h >= n)                                                                    \
            sum += ff_gpume_satd_##bits##_4_##opt4(cur, cur_linesize, ref, ref_linesize, width); \
        else                                                                                \
            sum += cost_of_rest(cur, cur_linesize, ref, ref_linesize, width, h, bits / 8,   \
                                ff_gpume_satd_##bits##_4_##opt4);                           \
        cur += n * cur_linesize;                                                            \
        ref += n * ref_linesize;                                                            \
    }                                                                                       \
    return sum;                                                                             \
}

#define FOUR(bits, width, opt)                                                              \
static void satd_x4_##bits##_##width##_##opt(const uint8_t *cur, ptrdiff_t cur_linesize,    \
                                             const uint8_t *const ref[4],                   \
                                             ptrdiff_t ref_linesize,                        \
                                             int h, uint32_t cost[4], uint32_t limit)       \
{                                                                                           \
    for (int i = 0; i < 4; i++)                                                             \
        cost[i] = satd_##bits##_##width##_##opt(cur, cur_linesize, ref[i], ref_linesize,    \
                                                h, limit);                                  \
}

/* Computes two candidates at a time, as wide as a tile. */
#define FOUR_IN_PAIRS(width, opt)                                                           \
void ff_gpume_satd_pair_##width##_##opt(const uint8_t *cur, ptrdiff_t cur_linesize,         \
                                       const uint8_t *const ref[2], ptrdiff_t ref_linesize, \
                                       uint32_t cost[2]);                                   \
                                                                                            \
static void satd_x4_8_##width##_##opt(const uint8_t *cur, ptrdiff_t cur_linesize,           \
                                     const uint8_t *const ref[4], ptrdiff_t ref_linesize,   \
                                     int h, uint32_t cost[4], uint32_t limit)               \
{                                                                                           \
    const uint8_t *r[4] = { ref[0], ref[1], ref[2], ref[3] };                               \
                                                                                            \
    memset(cost, 0, 4 * sizeof(*cost));                                                     \
    for (; h >= width; h -= width) {                                                        \
        for (int i = 0; i < 4; i += 2)                                                      \
            ff_gpume_satd_pair_##width##_##opt(cur, cur_linesize, r + i, ref_linesize, cost + i); \
        cur += width * cur_linesize;                                                        \
        for (int i = 0; i < 4; i++)                                                         \
            r[i] += width * ref_linesize;                                                   \
    }                                                                                       \
    for (int i = 0; i < 4 && h; i++)                                                        \
        cost[i] += satd_8_##width##_##opt(cur, cur_linesize, r[i], ref_linesize, h, UINT32_MAX); \
}

#define BOTH(bits, width, opt, opt4, opt8)                                                  \
ONE(bits, width, opt, opt4, opt8)                                                           \
FOUR(bits, width, opt)

#define WIDE(bits, opt, opt4, opt8)                                                         \
BOTH(bits,  16, opt, opt4, opt8)                                                            \
BOTH(bits,  32, opt, opt4, opt8)                                                            \
BOTH(bits,  64, opt, opt4, opt8)                                                            \
BOTH(bits, 128, opt, opt4, opt8)

#define SET(i, bits, width, opt)                                                            \
    cost->one[i]  = satd_##bits##_##width##_##opt;                                          \
    cost->four[i] = satd_x4_##bits##_##width##_##opt;

#endif /* AVFILTER_GPUME_CPU_SATD_TILES_H */
