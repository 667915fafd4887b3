/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/cpu.h"
#include "libavutil/x86/cpu.h"

#include "libavfilter/gpume/mvview/canvas.h"

void ff_mvview_blend_8_sse2(uint8_t *dst, const uint8_t *src, const uint16_t *mul,
                            const uint16_t *add, ptrdiff_t n);
void ff_mvview_blend_8_avx2(uint8_t *dst, const uint8_t *src, const uint16_t *mul,
                            const uint16_t *add, ptrdiff_t n);
void ff_mvview_blend_16_avx2(uint8_t *dst, const uint8_t *src, const uint16_t *mul,
                             const uint32_t *add, ptrdiff_t n, int shift);
void ff_mvview_blend_rect_8_avx(uint8_t *dst, ptrdiff_t linesize, const uint8_t *weights,
                                ptrdiff_t n, int h);

av_cold void ff_mvview_canvas_init_x86(MvviewCanvas *c)
{
    const int cpu_flags = av_get_cpu_flags();

    if (EXTERNAL_SSE2(cpu_flags))
        c->blend_8 = ff_mvview_blend_8_sse2;
    if (EXTERNAL_AVX(cpu_flags) && c->bytes == 1)
        c->blend_rect_8 = ff_mvview_blend_rect_8_avx;
    if (EXTERNAL_AVX2_FAST(cpu_flags)) {
        c->blend_8  = ff_mvview_blend_8_avx2;
        c->blend_16 = ff_mvview_blend_16_avx2;
    }
}
