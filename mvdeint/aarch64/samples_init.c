/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>
#include <stddef.h>

#include "libavutil/aarch64/cpu.h"
#include "libavutil/attributes.h"
#include "libavutil/cpu.h"

#include "libavfilter/gpume/mvdeint/samples.h"

void ff_mvdeint_combine_8_neon(uint8_t *dst, const MvdeintRow *row, const uint16_t *power, const uint16_t *inverse);
void ff_mvdeint_match_8_neon(uint16_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t stride, int fx, int fy,
                             int w, int h, int depth);

static_assert(offsetof(MvdeintRow, candidates) == 16 && sizeof(MvdeintCandidate) == 32 &&
              offsetof(MvdeintCandidate, real) == 8 && offsetof(MvdeintCandidate, error) == 16 &&
              offsetof(MvdeintCandidate, pair) == 24 && offsetof(MvdeintRow, first) == 144 &&
              offsetof(MvdeintRow, intra) == 152 && offsetof(MvdeintRow, activity) == 160 &&
              offsetof(MvdeintRow, step) == 168 && offsetof(MvdeintRow, model) == 176 &&
              sizeof(MvdeintCompensated) == 28 && offsetof(MvdeintModel, intra) == 56 &&
              sizeof(MvdeintIntra) == 20 && MVDEINT_REAL == 16 && MVDEINT_MAX_DIFFERENCE == 1023,
              "samples_neon.S has them so");

static void combine(uint8_t *dst, const MvdeintRow *row)
{
    if (row->present == (1 << MVDEINT_MAX_CANDIDATES) - 1)
        ff_mvdeint_combine_8_neon(dst, row, ff_mvdeint_power, ff_mvdeint_inverse);
    else
        ff_mvdeint_combine_8(dst, row);
}

av_cold void ff_mvdeint_samples_init_aarch64(MvdeintSamples *s, int depth)
{
    if (depth > 8 || !have_neon(av_get_cpu_flags()))
        return;
    s->combine = combine;
    s->match   = ff_mvdeint_match_8_neon;
}
