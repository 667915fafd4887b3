/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>
#include <stddef.h>

#include "libavutil/attributes.h"
#include "libavutil/cpu.h"
#include "libavutil/x86/cpu.h"

#include "libavfilter/gpume/mvfps/dsp.h"

int ff_mvfps_sad_8_avx2(const uint8_t *a, const uint8_t *b, ptrdiff_t stride, int at_a, int at_b);
int ff_mvfps_match_8_avx2(uint16_t (*dst)[MVFPS_TILE_SAMPLES], const uint8_t *a, const uint8_t *b, ptrdiff_t stride,
                          const int *at, int w, int h, int max);
void ff_mvfps_mean_8_avx2(uint16_t *dst, const uint16_t *a, const uint16_t *b, int share, int nb);
void ff_mvfps_add_8_avx2(uint32_t *sum, uint32_t *weights, const uint16_t (*matches)[MVFPS_TILE_SAMPLES],
                         const uint16_t (*windows)[MVFPS_TILE_SAMPLES], unsigned cells, int share, int difference,
                         int nb, int first, int depth);
void ff_mvfps_divide_8_avx2(uint16_t *dst, const uint32_t *sum, const uint32_t *weights, int nb, int depth);
void ff_mvfps_store_8_avx2(uint8_t *dst, ptrdiff_t stride, const uint16_t *src, int w, int h);
int ff_mvfps_distinct_avx2(MvfpsVector *dst, const MvfpsVector *src, int nb);
int ff_mvfps_distinct_from_avx2(MvfpsVector *dst, const MvfpsVector *src, const MvfpsVector *others, int nb);
void ff_mvfps_sum_distances_avx2(int *sums, const MvfpsVector *v, int nb, const MvfpsVector *others);
void ff_mvfps_field_penalties_avx2(int *penalties, const MvfpsVector *v, int nb, const MvfpsFields *fields, int x,
                                   int y, int part);

static_assert(MVFPS_MOST_TRUST == 3584 && MVFPS_VALUE_BITS == 2, "dsp.asm has them so");
static_assert(offsetof(MvfpsFields, rows) == 4 && offsetof(MvfpsFields, before_future) == 8 &&
              offsetof(MvfpsFields, after_past) == 16 && offsetof(MvfpsFields, before_past) == 24 &&
              offsetof(MvfpsFields, after_future) == 32 && MVFPS_FAR == 128 && MVFPS_FIELD_WEIGHT == 8 &&
              MVFPS_CELL == 8 && MVFPS_PARTS == 4096 && MVFPS_LIST == 24 &&
              MVFPS_NONE == INT16_MIN, "dsp.asm has them so");

/* Usually all fields exist. */
static void field_penalties(int *penalties, const MvfpsVector *v, int nb, const MvfpsFields *f, int x, int y, int part)
{
    if (f->before_future && f->after_past && f->before_past && f->after_future)
        ff_mvfps_field_penalties_avx2(penalties, v, nb, f, x, y, part);
    else
        mvfps_field_penalties(penalties, v, nb, f, x, y, part);
}

av_cold void ff_mvfps_dsp_init_x86(MvfpsDsp *dsp, int bytes)
{
    const int cpu_flags = av_get_cpu_flags();

    if (!EXTERNAL_AVX2_FAST(cpu_flags))
        return;
    dsp->distinct        = ff_mvfps_distinct_avx2;
    dsp->distinct_from   = ff_mvfps_distinct_from_avx2;
    dsp->sum_distances   = ff_mvfps_sum_distances_avx2;
    dsp->field_penalties = field_penalties;
    if (bytes > 1)
        return;
    dsp->sad             = ff_mvfps_sad_8_avx2;
    dsp->match           = ff_mvfps_match_8_avx2;
    dsp->mean            = ff_mvfps_mean_8_avx2;
    dsp->add             = ff_mvfps_add_8_avx2;
    dsp->divide          = ff_mvfps_divide_8_avx2;
    dsp->store           = ff_mvfps_store_8_avx2;
}
