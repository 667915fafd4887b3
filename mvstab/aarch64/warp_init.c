/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/aarch64/cpu.h"
#include "libavutil/attributes.h"
#include "libavutil/cpu.h"

#include "libavfilter/gpume/mvstab/dsp.h"

#define DECLARE(bits) \
    void ff_mvstab_warp_##bits##_neon(void *dst, const MvstabSource *src, ptrdiff_t stride, \
                                      const int8_t (*taps)[MVSTAB_NB_TAPS], int n, int max);
DECLARE(8)
DECLARE(16)

av_cold void ff_mvstab_dsp_init_aarch64(MvstabDSP *dsp, int depth)
{
    if (have_neon(av_get_cpu_flags()))
        dsp->warp = depth > 8 ? ff_mvstab_warp_16_neon : ff_mvstab_warp_8_neon;
}
