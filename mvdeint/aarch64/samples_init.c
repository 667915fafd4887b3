/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/aarch64/cpu.h"
#include "libavutil/attributes.h"
#include "libavutil/cpu.h"

#include "libavfilter/gpume/mvdeint/samples.h"

void ff_mvdeint_combine_8_neon(uint8_t *dst, const MvdeintRow *row, const uint16_t *power, const uint16_t *inverse);
void ff_mvdeint_match_8_neon(uint16_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t stride, int fx, int fy,
                             int w, int h, int depth);
void ff_mvdeint_intra_8_neon(uint8_t *dst, const uint8_t *const *lines, const int16_t (*taps)[4][16], int w);
void ff_mvdeint_errors_8_neon(const MvdeintSums *sums, const uint8_t *const *lines, const uint16_t *const *samples,
                              const uint8_t *const *known, int w, int depth);
void ff_mvdeint_mean_neon(uint32_t *dst, const MvdeintSums *sums, const uint16_t *reciprocals, int w);
void ff_mvdeint_compare_8_neon(int *error, int *activity, const uint8_t *line, const uint8_t *above,
                               const uint8_t *below, const uint16_t *samples, int w, int depth);
void ff_mvdeint_residual_8_neon(uint16_t *dst, const uint16_t *above, const uint16_t *below, const uint8_t *line_above,
                                const uint8_t *line_below, int w, int depth);
void ff_mvdeint_mix_8_neon(uint8_t *dst, const uint8_t *intra, const uint8_t *reach, const MvdeintLines *l,
                           MvdeintChange *columns, int w, int depth);

static void combine(uint8_t *dst, const MvdeintRow *row)
{
    if (row->present == (1 << MVDEINT_MAX_CANDIDATES) - 1)
        ff_mvdeint_combine_8_neon(dst, row, ff_mvdeint_power, ff_mvdeint_inverse);
    else
        ff_mvdeint_combine_8(dst, row);
}

static void intra(uint8_t *dst, const uint8_t *const *lines, int w, int depth)
{
    ff_mvdeint_intra_8_neon(dst, lines, ff_mvdeint_line_taps, w);
}

static void mean(uint32_t *dst, const MvdeintSums *sums, int w)
{
    mvdeint_repeat_sums(sums, w);
    ff_mvdeint_mean_neon(dst, sums, ff_mvdeint_reciprocals, w);
}

av_cold void ff_mvdeint_samples_init_aarch64(MvdeintSamples *s, int depth)
{
    if (depth > 8 || !have_neon(av_get_cpu_flags()))
        return;
    s->intra      = intra;
    s->combine    = combine;
    s->match      = ff_mvdeint_match_8_neon;
    s->mean       = mean;
    s->errors     = ff_mvdeint_errors_8_neon;
    s->compare    = ff_mvdeint_compare_8_neon;
    s->residual   = ff_mvdeint_residual_8_neon;
    s->mix        = ff_mvdeint_mix_8_neon;
}
