/*
 * Rows of samples blended with weights
 *
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/aarch64/asm.S"

// void blend_8(uint8_t *dst, const uint8_t *src, const uint16_t *mul, const uint16_t *add, ptrdiff_t n):
// n is a multiple of 8
function ff_mvview_blend_8_neon, export=1
        tbz             w4, #3, 1f
        ld1             {v0.8b}, [x1], #8
        ld1             {v1.8h}, [x2], #16
        ld1             {v2.8h}, [x3], #16
        uxtl            v0.8h, v0.8b
        mla             v2.8h, v0.8h, v1.8h
        subs            x4, x4, #8
        shrn            v2.8b, v2.8h, #8
        st1             {v2.8b}, [x0], #8
        b.eq            2f
1:      ld1             {v0.16b}, [x1], #16
        ld1             {v2.8h, v3.8h}, [x2], #32
        ld1             {v4.8h, v5.8h}, [x3], #32
        uxtl2           v1.8h, v0.16b
        uxtl            v0.8h, v0.8b
        subs            x4, x4, #16
        mla             v5.8h, v1.8h, v3.8h
        mla             v4.8h, v0.8h, v2.8h
        uzp2            v4.16b, v4.16b, v5.16b
        st1             {v4.16b}, [x0], #16
        b.gt            1b
2:      ret
endfunc

// void blend_16(uint8_t *dst, const uint8_t *src, const uint16_t *mul, const uint32_t *add, ptrdiff_t n,
//               int shift): n is a multiple of 8
function ff_mvview_blend_16_neon, export=1
        movi            v7.16b, #255
        dup             v16.8h, w5
        neg             w5, w5
        dup             v17.8h, w5
        ushl            v7.8h, v7.8h, v16.8h            // the bits of samples, without the bits below them
1:      ld1             {v0.8h}, [x1], #16
        ld1             {v1.8h}, [x2], #16
        ld1             {v2.4s, v3.4s}, [x3], #32
        subs            x4, x4, #8
        ushl            v4.8h, v0.8h, v17.8h
        bic             v0.16b, v0.16b, v7.16b
        umlal           v2.4s, v4.4h, v1.4h
        umlal2          v3.4s, v4.8h, v1.8h
        shrn            v2.4h, v2.4s, #8
        shrn2           v2.8h, v3.4s, #8
        ushl            v2.8h, v2.8h, v16.8h
        orr             v0.16b, v0.16b, v2.16b
        st1             {v0.8h}, [x0], #16
        b.gt            1b
        ret
endfunc

// void blend_rect_8(uint8_t *dst, ptrdiff_t linesize, const uint8_t *weights, ptrdiff_t n, int h):
// n is a multiple of 8
function ff_mvview_blend_rect_8_neon, export=1
        sub             x1, x1, x3
1:      mov             x5, x3
        add             x6, x2, x3, lsl #1
2:      ld1             {v0.8b}, [x0]
        ld1             {v1.8h}, [x2], #16
        ld1             {v2.8h}, [x6], #16
        subs            x5, x5, #8
        uxtl            v0.8h, v0.8b
        mla             v2.8h, v0.8h, v1.8h
        shrn            v2.8b, v2.8h, #8
        st1             {v2.8b}, [x0], #8
        b.gt            2b
        mov             x2, x6
        add             x0, x0, x1
        subs            w4, w4, #1
        b.gt            1b
        ret
endfunc
