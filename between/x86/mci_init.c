/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"
#include "libavutil/attributes.h"
#include "libavutil/cpu.h"
#include "libavutil/x86/cpu.h"

#include "libavfilter/gpume/between/mci.h"

int ff_mvfps_sad_8_avx2(const uint8_t *a, ptrdiff_t a_stride, int ax, int ay,
                        const uint8_t *b, ptrdiff_t b_stride, int bx, int by);
void ff_mvfps_sharp_8_avx2(uint16_t *dst, const uint8_t *src, ptrdiff_t stride, int fx, int fy, int w, int h,
                           int max);
int ff_mvfps_difference_8_avx2(const uint16_t *a, const uint16_t *b);
void ff_mvfps_mean_8_avx2(uint16_t *dst, const uint16_t *a, const uint16_t *b, int share, int nb);
void ff_mvfps_window_avx2(uint16_t *dst, const uint16_t (*windows)[64], unsigned cells);
void ff_mvfps_add_8_avx2(uint32_t *sum, uint16_t *weights, const uint16_t *values, const uint16_t *window,
                         int trust, int nb);
void ff_mvfps_divide_8_avx2(uint16_t *dst, const uint32_t *sum, const uint16_t *weights, int nb);
void ff_mvfps_store_8_avx2(uint8_t *dst, ptrdiff_t stride, const uint16_t *src, int h);

av_cold void ff_mvfps_dsp_init_x86(MvfpsDsp *dsp, int bytes)
{
#if ARCH_X86_64
    const int cpu_flags = av_get_cpu_flags();

    if (!EXTERNAL_AVX2_FAST(cpu_flags))
        return;
    dsp->window = ff_mvfps_window_avx2;
    if (bytes > 1)
        return;
    dsp->sad        = ff_mvfps_sad_8_avx2;
    dsp->sharp      = ff_mvfps_sharp_8_avx2;
    dsp->difference = ff_mvfps_difference_8_avx2;
    dsp->mean       = ff_mvfps_mean_8_avx2;
    dsp->add        = ff_mvfps_add_8_avx2;
    dsp->divide     = ff_mvfps_divide_8_avx2;
    dsp->store      = ff_mvfps_store_8_avx2;
#endif
}
