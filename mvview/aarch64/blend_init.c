/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/aarch64/cpu.h"
#include "libavutil/attributes.h"
#include "libavutil/cpu.h"

#include "libavfilter/gpume/mvview/canvas.h"

void ff_mvview_blend_8_neon(uint8_t *dst, const uint8_t *src, const uint16_t *mul, const uint16_t *add, ptrdiff_t n);
void ff_mvview_blend_16_neon(uint8_t *dst, const uint8_t *src, const uint16_t *mul, const uint32_t *add, ptrdiff_t n,
                             int shift);
void ff_mvview_blend_rect_8_neon(uint8_t *dst, ptrdiff_t linesize, const uint8_t *weights, ptrdiff_t n, int h);

av_cold void ff_mvview_canvas_init_aarch64(MvviewCanvas *c)
{
    if (!have_neon(av_get_cpu_flags()))
        return;
    c->blend_8  = ff_mvview_blend_8_neon;
    c->blend_16 = ff_mvview_blend_16_neon;
    if (c->bytes == 1)
        c->blend_rect_8 = ff_mvview_blend_rect_8_neon;
}
