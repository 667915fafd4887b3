/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"
#include "libavutil/attributes.h"
#include "libavutil/cpu.h"
#include "libavutil/x86/cpu.h"

#include "libavfilter/gpume/mvstab/dsp.h"

#define DECLARE(bits) \
    void ff_mvstab_warp_##bits##_avx2(void *dst, const MvstabSource *src, ptrdiff_t stride, \
                                      const int8_t (*taps)[MVSTAB_NB_TAPS], int n, int max);
DECLARE(8)
DECLARE(16)

av_cold void ff_mvstab_dsp_init_x86(MvstabDSP *dsp, int depth)
{
#if ARCH_X86_64
    if (EXTERNAL_AVX2_FAST(av_get_cpu_flags()))
        dsp->warp = depth > 8 ? ff_mvstab_warp_16_avx2 : ff_mvstab_warp_8_avx2;
#endif
}
