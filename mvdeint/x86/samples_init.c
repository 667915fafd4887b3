/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/cpu.h"
#include "libavutil/x86/cpu.h"

#include "libavfilter/gpume/mvdeint/samples.h"

void ff_mvdeint_combine_8_avx2(uint8_t *dst, const MvdeintRow *row, const uint16_t *power, const uint16_t *inverse);
void ff_mvdeint_combine_16_avx2(uint8_t *dst, const MvdeintRow *row, const uint16_t *power, const uint16_t *inverse);
void ff_mvdeint_intra_8_avx2(uint8_t *dst, const uint8_t *const *lines, const int16_t (*taps)[4][16], int w);
void ff_mvdeint_match_8_avx2(uint16_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t stride, int fx, int fy,
                             int h);
void ff_mvdeint_copy_8_avx2(uint16_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t stride, int h);
void ff_mvdeint_errors_8_avx2(const MvdeintSums *sums, const uint8_t *const *lines, const uint16_t *const *samples,
                               const uint8_t *const *known, int w, int depth);
void ff_mvdeint_errors_16_avx2(const MvdeintSums *sums, const uint8_t *const *lines, const uint16_t *const *samples,
                                const uint8_t *const *known, int w, int depth);
void ff_mvdeint_compare_8_avx2(int *error, int *activity, const uint8_t *line, const uint8_t *above,
                               const uint8_t *below, const uint16_t *samples, int w, int depth);
void ff_mvdeint_residual_8_avx2(uint16_t *dst, const uint16_t *above, const uint16_t *below, const uint8_t *line_above,
                                const uint8_t *line_below, int w, int depth);
void ff_mvdeint_fits_8_avx2(unsigned (*fits)[4], const uint8_t *line, ptrdiff_t stride, const uint16_t *const *areas,
                            int w, int nb, int second, int depth);
void ff_mvdeint_blend_avx2(uint16_t *dst, ptrdiff_t dst_stride, const uint16_t *const *areas, const unsigned (*fits)[4],
                           const uint8_t *wx, const uint8_t *wy, int w, int h);
void ff_mvdeint_known_avx2(uint8_t *dst, ptrdiff_t stride, const int *halves, const uint8_t *wx, const uint8_t *wy,
                           int w, int h);
void ff_mvdeint_estimate_8_avx2(uint8_t *dst, uint8_t *reach, const MvdeintLines *l, int w);
void ff_mvdeint_weave_8_avx2(uint8_t *dst, const MvdeintLines *l, uint32_t *columns, int w);
void ff_mvdeint_mix_8_avx2(uint8_t *dst, const uint8_t *intra, const uint8_t *reach, const MvdeintLines *l,
                           MvdeintChange *columns, int w, int depth);
void ff_mvdeint_match_16_avx2(uint16_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t stride, int fx,
                              int fy, int h, int max);
void ff_mvdeint_intra_16_avx2(uint8_t *dst, const uint8_t *const *lines, const int16_t (*taps)[4][16], int w,
                              const uint16_t *limits, int max);
void ff_mvdeint_mean_avx2(uint32_t *dst, const MvdeintSums *sums, const uint16_t *reciprocals, int w);

static void intra(uint8_t *dst, const uint8_t *const *lines, int w, int depth)
{
    ff_mvdeint_intra_8_avx2(dst, lines, ff_mvdeint_line_taps, w);
}

static void combine(uint8_t *dst, const MvdeintRow *row)
{
    if (row->present)
        ff_mvdeint_combine_8_avx2(dst, row, ff_mvdeint_power, ff_mvdeint_inverse);
    else
        ff_mvdeint_combine_8(dst, row);
}

static void estimate(uint8_t *dst, uint8_t *reach, const MvdeintLines *l, int w, enum MvdeintKind kind, int max)
{
    if (kind == MVDEINT_ALL)
        ff_mvdeint_estimate_8_avx2(dst, reach, l, w);
    else
        ff_mvdeint_estimate_8(dst, reach, l, w, kind, max);
}

static void weave(uint8_t *dst, const MvdeintLines *l, uint32_t *columns, int w, int depth)
{
    ff_mvdeint_weave_8_avx2(dst, l, columns, w);
}

static void mean(uint32_t *dst, const MvdeintSums *sums, int w)
{
    mvdeint_repeat_sums(sums, w);
    ff_mvdeint_mean_avx2(dst, sums, ff_mvdeint_reciprocals, w);
}

/* Narrower areas have the same distance between rows. */
static void match(uint16_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t stride, int fx, int fy, int w,
                  int h, int depth)
{
    if (fx || fy)
        ff_mvdeint_match_8_avx2(dst, 2 * dst_stride, src, stride, fx, fy, h);
    else
        ff_mvdeint_copy_8_avx2(dst, 2 * dst_stride, src, stride, h);
}

/* Does MvdeintSamples.combine for samples of up to 10 bits. */
static void combine_16(uint8_t *dst, const MvdeintRow *row)
{
    if (row->present)
        ff_mvdeint_combine_16_avx2(dst, row, ff_mvdeint_power, ff_mvdeint_inverse);
    else
        ff_mvdeint_combine_16(dst, row);
}

/* Does MvdeintSamples.intra for samples of up to 10 bits. */
static void intra_16(uint8_t *dst, const uint8_t *const *lines, int w, int depth)
{
    const int v = 1 << (depth - 8);
    /* costs of directions, times 8, and their numbers; limits, less 1, of how well a direction fits, and of activity */
    const uint16_t limits[] = {
        48 * v, 32 * v + 1, 16 * v + 2, 3, 16 * v + 4, 32 * v + 5, 48 * v + 6,
        10 * v - 1, 40 * v - 1, 6 * v - 1, 30 * v - 1,
    };

    ff_mvdeint_intra_16_avx2(dst, lines, ff_mvdeint_line_taps, w, limits, (1 << depth) - 1);
}

/* Does MvdeintSamples.match for samples of up to 12 bits. */
static void match_16(uint16_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t stride, int fx, int fy, int w,
                     int h, int depth)
{
    ff_mvdeint_match_16_avx2(dst, 2 * dst_stride, src, stride, fx, fy, h, ((1 << depth) - 1) << 4);
}

av_cold void ff_mvdeint_samples_init_x86(MvdeintSamples *s, int depth)
{
    if (!EXTERNAL_AVX2_FAST(av_get_cpu_flags()))
        return;
    s->mean  = mean;
    s->blend = ff_mvdeint_blend_avx2;
    s->known = ff_mvdeint_known_avx2;
    if (depth > 8) {
        if (depth <= 12)
            s->match = match_16;
        if (depth <= 10) {
            s->intra      = intra_16;
            s->combine    = combine_16;
            s->errors     = ff_mvdeint_errors_16_avx2;
        }
        return;
    }
    s->estimate   = estimate;
    s->intra      = intra;
    s->combine    = combine;
    s->fits       = ff_mvdeint_fits_8_avx2;
    s->weave      = weave;
    s->match      = match;
    s->errors     = ff_mvdeint_errors_8_avx2;
    s->compare    = ff_mvdeint_compare_8_avx2;
    s->residual   = ff_mvdeint_residual_8_avx2;
    s->mix        = ff_mvdeint_mix_8_avx2;
}
