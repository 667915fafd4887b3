/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/aarch64/cpu.h"
#include "libavutil/attributes.h"
#include "libavutil/cpu.h"

#include "libavfilter/gpume/mvdenoise/transform.h"

void ff_mvdenoise_over_space_8_neon(void *coefs, const MvdenoisePatch *patches, ptrdiff_t stride, int nb, int base,
                                    int fraction);
void ff_mvdenoise_over_space_10_neon(void *coefs, const MvdenoisePatch *patches, ptrdiff_t stride, int nb, int base,
                                     int fraction);
void ff_mvdenoise_over_space_16_neon(void *coefs, const MvdenoisePatch *patches, ptrdiff_t stride, int nb, int base,
                                     int fraction);
void ff_mvdenoise_back_10_neon(uint16_t *dst, const void *coefs, int base, int max);

av_cold void ff_mvdenoise_transform_init_aarch64(MvdenoiseTransform *t, int depth)
{
    if (!have_neon(av_get_cpu_flags()))
        return;
    if (depth > 10) {
        t->over_space = ff_mvdenoise_over_space_16_neon;
        return;
    }
    t->over_space = depth > 8 ? ff_mvdenoise_over_space_10_neon : ff_mvdenoise_over_space_8_neon;
    t->back       = ff_mvdenoise_back_10_neon;
}
