/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>

#include "libavutil/aarch64/cpu.h"
#include "libavutil/attributes.h"
#include "libavutil/cpu.h"

#include "libavfilter/gpume/mvdenoise/over_time.h"
#include "libavfilter/gpume/mvdenoise/transform.h"

void ff_mvdenoise_over_space_8_neon(void *coefs, const MvdenoisePatch *patches, ptrdiff_t stride, int nb, int base,
                                    int fraction);
void ff_mvdenoise_over_space_10_neon(void *coefs, const MvdenoisePatch *patches, ptrdiff_t stride, int nb, int base,
                                     int fraction);
void ff_mvdenoise_over_space_16_neon(void *coefs, const MvdenoisePatch *patches, ptrdiff_t stride, int nb, int base,
                                     int fraction);
unsigned ff_mvdenoise_threshold_10_neon(void *dst, const void *coefs, int nb, const int16_t *back, int mean, int other);
unsigned ff_mvdenoise_wiener_10_neon(void *dst, const void *coefs, int nb, const int16_t *back, int most,
                                     int reciprocal);
void ff_mvdenoise_back_10_neon(uint16_t *dst, const void *coefs, int base, int max);

/* the factors of the inverse transform are a column of the matrix */
static unsigned threshold(void *dst, const void *coefs, int nb, int own, int mean, int other)
{
    return ff_mvdenoise_threshold_10_neon(dst, coefs, nb, &mvdenoise_over_time[nb - 1][0][own], mean, other);
}

static unsigned wiener(void *dst, const void *coefs, int nb, int own, int most, int reciprocal)
{
    return ff_mvdenoise_wiener_10_neon(dst, coefs, nb, &mvdenoise_over_time[nb - 1][0][own], most, reciprocal);
}

static_assert(sizeof(mvdenoise_over_time[0][0]) == 18 && MVDENOISE_LOG2_TIME == 10, "transform_neon.S has them so");

av_cold void ff_mvdenoise_transform_init_aarch64(MvdenoiseTransform *t, int depth)
{
    if (!have_neon(av_get_cpu_flags()))
        return;
    if (depth > 10) {
        t->over_space = ff_mvdenoise_over_space_16_neon;
        return;
    }
    t->over_space = depth > 8 ? ff_mvdenoise_over_space_10_neon : ff_mvdenoise_over_space_8_neon;
    t->threshold  = threshold;
    t->wiener     = wiener;
    t->back       = ff_mvdenoise_back_10_neon;
}
