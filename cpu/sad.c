/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/** @file Fills the table of cpu/cost.h with sums of absolute differences, in C or in the version for the processor. */

#include <stdlib.h>

#include "libavutil/attributes.h"
#include "libavutil/intreadwrite.h"

#include "libavfilter/gpume/cpu/cost.h"
#include "libavfilter/gpume/util/assembly.h"

#define PIXEL_8(p, x)  (p)[x]
#define PIXEL_16(p, x) AV_RN16((p) + 2 * (x))

/* indices of the two of five whose means are the candidates around a centre: the centre, left, right, above, below */
static const uint8_t around[8][2] = {
    { 1, 3 }, { 0, 3 }, { 2, 3 }, { 0, 1 }, { 0, 2 }, { 1, 4 }, { 0, 4 }, { 2, 4 },
};

/* Processes a row at a time, and compares the sum with limit where this is cheap. */
#define SAD_WIDTH(bits, width)                                              \
static uint32_t sad_##bits##_##width(const uint8_t *cur,                    \
                                     ptrdiff_t cur_linesize,                \
                                     const uint8_t *ref,                    \
                                     ptrdiff_t ref_linesize,                \
                                     int h, uint32_t limit)                 \
{                                                                           \
    uint32_t sum = 0;                                                       \
                                                                            \
    for (int y = 0; y < h && sum < limit; y++) {                            \
        for (int x = 0; x < (width); x++)                                   \
            sum += abs(PIXEL_##bits(cur, x) - PIXEL_##bits(ref, x));        \
        cur += cur_linesize;                                                \
        ref += ref_linesize;                                                \
    }                                                                       \
    return sum;                                                             \
}                                                                           \
                                                                            \
static void sad_x4_##bits##_##width(const uint8_t *cur,                     \
                                    ptrdiff_t cur_linesize,                 \
                                    const uint8_t *const ref[4],            \
                                    ptrdiff_t ref_linesize,                 \
                                    int h, uint32_t sad[4], uint32_t limit) \
{                                                                           \
    for (int i = 0; i < 4; i++)                                             \
        sad[i] = sad_##bits##_##width(cur, cur_linesize,                    \
                                      ref[i], ref_linesize, h, limit);      \
}

/* Defines the costs of the rounded means of two samples, for nb candidates. */
#define SAD_MEANS(bits, width, name, nb)                                    \
static void sad_##name##_##bits##_##width(const uint8_t *cur,               \
                                          ptrdiff_t cur_linesize,           \
                                          const uint8_t *const *pairs,      \
                                          ptrdiff_t linesize, int h,        \
                                          uint32_t *sad)                    \
{                                                                           \
    for (int i = 0; i < (nb); i++) {                                        \
        const uint8_t *c = cur, *a = pairs[2 * i], *b = pairs[2 * i + 1];   \
                                                                            \
        sad[i] = 0;                                                         \
        for (int y = 0; y < h; y++) {                                       \
            for (int x = 0; x < (width); x++)                               \
                sad[i] += abs(PIXEL_##bits(c, x) -                          \
                              ((PIXEL_##bits(a, x) +                        \
                                PIXEL_##bits(b, x) + 1) >> 1));             \
            c += cur_linesize;                                              \
            a += linesize;                                                  \
            b += linesize;                                                  \
        }                                                                   \
    }                                                                       \
}

/* Defines the costs of the eight candidates a quarter sample around a centre. */
#define SAD_AROUND(bits, width)                                             \
static void sad_around_##bits##_##width(const uint8_t *cur,                 \
                                        ptrdiff_t cur_linesize,             \
                                        const uint8_t *const five[5],       \
                                        ptrdiff_t linesize, int h,          \
                                        uint32_t sad[8])                    \
{                                                                           \
    for (int i = 0; i < 8; i += 4) {                                        \
        const uint8_t *pairs[8];                                            \
                                                                            \
        for (int j = 0; j < 8; j++)                                         \
            pairs[j] = five[around[i + j / 2][j & 1]];                      \
        sad_means_##bits##_##width(cur, cur_linesize, pairs, linesize, h,   \
                                   sad + i);                                \
    }                                                                       \
}

#define SAD_ALL(bits, width)                                                \
SAD_WIDTH(bits, width)                                                      \
SAD_MEANS(bits, width, means, 4)                                            \
SAD_MEANS(bits, width, means_x2, 2)                                         \
SAD_AROUND(bits, width)

#define SAD_DEPTH(bits)                                                     \
SAD_ALL(bits, 1)                                                            \
SAD_ALL(bits, 2)                                                            \
SAD_ALL(bits, 3)                                                            \
SAD_ALL(bits, 4)                                                            \
SAD_ALL(bits, 8)                                                            \
SAD_ALL(bits, 16)                                                           \
SAD_ALL(bits, 32)                                                           \
SAD_ALL(bits, 64)                                                           \
SAD_ALL(bits, 128)                                                          \
                                                                            \
static const GpumeCost sad_##bits = {                                       \
    .one   = GPUME_COST_WIDTHS(sad, bits),                                  \
    .four  = GPUME_COST_WIDTHS(sad_x4, bits),                               \
    .means = GPUME_COST_WIDTHS(sad_means, bits),                            \
    .means_of_two = GPUME_COST_WIDTHS(sad_means_x2, bits),                  \
    .around = GPUME_COST_WIDTHS(sad_around, bits),                          \
    .least_of_four = 2,                                                     \
};

SAD_DEPTH(8)
SAD_DEPTH(16)

av_cold void ff_gpume_sad_init(GpumeCost *cost, int depth)
{
    *cost = depth > 8 ? sad_16 : sad_8;

    GPUME_INIT_ASSEMBLY(ff_gpume_sad_init, cost, depth);
}
