/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/intreadwrite.h"

#include "libavfilter/gpume/mvfps/dsp.h"
#include "libavfilter/gpume/util/assembly.h"

/* sinc with a window of three lobes (Duchon 1979), and Catmull-Rom spline, at sixteenths of a sample; the sum is 64 */
const int8_t ff_mvfps_long_taps[16][6] = {
    {  0,  0, 64,  0,  0,  0 }, {  1, -3, 63,  4, -1,  0 },
    {  1, -5, 62,  8, -2,  0 }, {  2, -7, 60, 12, -3,  0 },
    {  2, -9, 58, 17, -4,  0 }, {  2, -9, 53, 23, -6,  1 },
    {  2, -9, 49, 28, -7,  1 }, {  2, -9, 44, 34, -8,  1 },
    {  2, -9, 39, 39, -9,  2 }, {  1, -8, 34, 44, -9,  2 },
    {  1, -7, 28, 49, -9,  2 }, {  1, -6, 23, 53, -9,  2 },
    {  0, -4, 17, 58, -9,  2 }, {  0, -3, 12, 60, -7,  2 },
    {  0, -2,  8, 62, -5,  1 }, {  0, -1,  4, 63, -3,  1 },
};
const int8_t ff_mvfps_taps[16][4] = {
    {  0, 64,  0,  0 }, { -2, 63,  3,  0 }, { -3, 62,  6, -1 }, { -4, 59, 10, -1 },
    { -4, 56, 14, -2 }, { -5, 51, 20, -2 }, { -5, 47, 25, -3 }, { -4, 41, 30, -3 },
    { -4, 36, 36, -4 }, { -3, 30, 41, -4 }, { -3, 25, 47, -5 }, { -2, 20, 51, -5 },
    { -2, 14, 56, -4 }, { -1, 10, 59, -4 }, { -1,  6, 62, -3 }, {  0,  3, 63, -2 },
};

#define FUNC(name)   name ## _8
#define SAMPLE       uint8_t
#define INTERMEDIATE int16_t
#include "libavfilter/gpume/mvfps/samples_template.c"
#undef FUNC
#undef SAMPLE
#undef INTERMEDIATE

#define FUNC(name)   name ## _16
#define SAMPLE       uint16_t
#define INTERMEDIATE int
#include "libavfilter/gpume/mvfps/samples_template.c"

static void mean(uint16_t *dst, const uint16_t *a, const uint16_t *b, int share, int nb)
{
    for (int i = 0; i < nb; i++)
        dst[i] = (a[i] * share + b[i] * (64 - share) + 32) >> 6;
}

static void add_weighted(uint32_t *sum, uint32_t *weights, const uint16_t (*matches)[MVFPS_TILE_SAMPLES],
                         const uint16_t (*windows)[MVFPS_TILE_SAMPLES], unsigned cells, int share, int difference,
                         int nb, int first, int depth)
{
    uint16_t window[MVFPS_TILE_SAMPLES] = { 0 };

    for (int cell = 0; cell < MVFPS_TILE_CELLS; cell++)
        if (cells >> cell & 1)
            for (int i = 0; i < nb; i++)
                window[i] += windows[cell][i];
    for (int i = 0; i < nb; i++) {
        const int before = matches[0][i], after = matches[1][i];
        const uint32_t weight = window[i] * mvfps_trust(difference, abs(before - after) >> (depth - 8), depth);

        sum[i]     = (first ? 0 : sum[i]) + weight * mvfps_value(before, after, share, mvfps_value_bits(depth));
        weights[i] = (first ? 0 : weights[i]) + weight;
    }
}

static void divide(uint16_t *dst, const uint32_t *sum, const uint32_t *weights, int nb, int depth)
{
    for (int i = 0; i < nb; i++)
        if (weights[i]) {
            const uint32_t whole = weights[i] << mvfps_value_bits(depth);

            dst[i] = (sum[i] + whole / 2) / whole;
        }
}

/* Sums a cell of w x h samples. The compiler unrolls the loops if w, h and depth are constants. */
static av_always_inline MvfpsCellSums sum_cell(const uint8_t *before, const uint8_t *after, ptrdiff_t stride,
                                               int w, int h, int depth)
{
    MvfpsCellSums sums = { 0 };

    for (int y = 0; y < h; y++, before += stride, after += stride)
        for (int x = 0; x < w; x++)
            if (depth == 8)
                mvfps_add_sample(&sums, before[x], before[x + 1], before[x + stride], after[x], 8);
            else
                mvfps_add_sample(&sums, AV_RN16(before + 2 * x), AV_RN16(before + 2 * x + 2),
                                 AV_RN16(before + 2 * x + stride), AV_RN16(after + 2 * x), depth);
    return sums;
}

MvfpsCellSums ff_mvfps_sum_cell(const uint8_t *before, const uint8_t *after, ptrdiff_t stride, int w, int h, int depth)
{
    return depth == 8 && w == MVFPS_CELL && h == MVFPS_CELL ?
           sum_cell(before, after, stride, MVFPS_CELL, MVFPS_CELL, 8) : sum_cell(before, after, stride, w, h, depth);
}

/* Adds a vector to a list unless it is missing, or equal to one of those from first to end. @return the new length */
static av_always_inline int add(MvfpsVector *list, int nb, MvfpsVector v, const MvfpsVector *first,
                                const MvfpsVector *end)
{
    if (v.x == MVFPS_NONE)
        return nb;
    for (; first < end; first++)
        if (AV_RN32(first) == AV_RN32(&v))
            return nb;
    list[nb] = v;
    return nb + 1;
}

static int distinct(MvfpsVector *dst, const MvfpsVector *src, int nb)
{
    int nb_found = 0;

    for (int i = 0; i < nb; i++)
        nb_found = add(dst, nb_found, src[i], dst, dst + nb_found);
    return nb_found;
}

static int distinct_from(MvfpsVector *dst, const MvfpsVector *src, const MvfpsVector *others, int nb)
{
    int nb_found = 0;

    for (int i = 0; i < 8; i++)
        nb_found = add(dst, nb_found, src[i], others, others + nb);
    return nb_found;
}

static void sum_distances(int *sums, const MvfpsVector *v, int nb, const MvfpsVector *others)
{
    for (int i = 0; i < nb; i++)
        sums[i] = mvfps_sum_distance(v[i], others, 8);
}

av_cold void ff_mvfps_dsp_init(MvfpsDsp *dsp, int bytes)
{
    *dsp = (MvfpsDsp) {
        .sad             = bytes == 1 ? sad_8   : sad_16,
        .match           = bytes == 1 ? match_8 : match_16,
        .mean            = mean,
        .add             = add_weighted,
        .divide          = divide,
        .distinct        = distinct,
        .distinct_from   = distinct_from,
        .sum_distances   = sum_distances,
        .field_penalties = mvfps_field_penalties,
    };
    GPUME_INIT_ASSEMBLY(ff_mvfps_dsp_init, dsp, bytes);
}
