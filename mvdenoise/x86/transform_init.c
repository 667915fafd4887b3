/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/cpu.h"
#include "libavutil/x86/cpu.h"

#include "libavfilter/gpume/mvdenoise/transform.h"

void ff_mvdenoise_over_space_8_avx2(void *coefs, const MvdenoisePatch *patches, ptrdiff_t stride, int nb, int base,
                                    int fraction);
void ff_mvdenoise_over_space_10_avx2(void *coefs, const MvdenoisePatch *patches, ptrdiff_t stride, int nb, int base,
                                     int fraction);
void ff_mvdenoise_over_space_16_avx2(void *coefs, const MvdenoisePatch *patches, ptrdiff_t stride, int nb, int base,
                                     int fraction);
unsigned ff_mvdenoise_threshold_10_avx2(void *dst, const void *coefs, int nb, int own, int mean, int other);
unsigned ff_mvdenoise_wiener_10_avx2(void *dst, const void *coefs, int nb, int own, int most, int reciprocal);
void ff_mvdenoise_back_10_avx2(uint16_t *dst, const void *coefs, int base, int max);

av_cold void ff_mvdenoise_transform_init_x86(MvdenoiseTransform *t, int depth)
{
    const int cpu_flags = av_get_cpu_flags();

    if (!EXTERNAL_AVX2_FAST(cpu_flags))
        return;
    if (depth > 10) {
        t->over_space = ff_mvdenoise_over_space_16_avx2;
        return;
    }
    t->over_space = depth > 8 ? ff_mvdenoise_over_space_10_avx2 : ff_mvdenoise_over_space_8_avx2;
    t->threshold  = ff_mvdenoise_threshold_10_avx2;
    t->wiener     = ff_mvdenoise_wiener_10_avx2;
    t->back       = ff_mvdenoise_back_10_avx2;
}
