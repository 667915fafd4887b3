/*
 * Interpolation of samples, each at a position of its own
 *
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/aarch64/asm.S"

// x6: the first sample of a source, v16: taps across, v0: taps down, both as words. Advances x1. Clobbers x7 and x8.
.macro source
        ldr             x6, [x1], #8
        ldp             w7, w8, [x1], #8
        ldr             d16, [x3, w7, uxtw #3]
        ldr             d0, [x3, w8, uxtw #3]
        sxtl            v16.8h, v16.8b
        sxtl            v0.8h, v0.8b
.endm

.macro load row, lanes
        ld1             {v\row\().\lanes}, [x6], x2
.endm

.macro widen row
        uxtl            v\row\().8h, v\row\().8b
.endm

// The words of \dst become terms of a sample. The sums of eight rows fit into words: positive taps sum up to 88.
.macro terms_8 dst
        source
.irp row, 24, 25, 26, 27, 28, 29, 30, 31
        load            \row, 8b
.endr
.irp row, 24, 25, 26, 27, 28, 29, 30, 31
        widen           \row
.endr
        mul             v18.8h, v24.8h, v0.h[0]
        mul             v19.8h, v25.8h, v0.h[1]
        mla             v18.8h, v26.8h, v0.h[2]
        mla             v19.8h, v27.8h, v0.h[3]
        mla             v18.8h, v28.8h, v0.h[4]
        mla             v19.8h, v29.8h, v0.h[5]
        mla             v18.8h, v30.8h, v0.h[6]
        mla             v19.8h, v31.8h, v0.h[7]
        add             v18.8h, v18.8h, v19.8h
        smull           v\dst\().4s, v18.4h, v16.4h
        smlal2          v\dst\().4s, v18.8h, v16.8h
.endm

// Adds row \row, times its tap \tap of four in \taps, to v18 and v19.
.macro add_row row, taps, tap
        uxtl            v4.4s, v\row\().4h
        uxtl2           v5.4s, v\row\().8h
        mla             v18.4s, v4.4s, v\taps\().s[\tap]
        mla             v19.4s, v5.4s, v\taps\().s[\tap]
.endm

.macro terms_16 dst
        source
.irp row, 24, 25, 26, 27, 28, 29, 30, 31
        load            \row, 8h
.endr
        sxtl            v2.4s, v0.4h
        sxtl2           v3.4s, v0.8h
        movi            v18.4s, #0
        movi            v19.4s, #0
        add_row         24, 2, 0
        add_row         25, 2, 1
        add_row         26, 2, 2
        add_row         27, 2, 3
        add_row         28, 3, 0
        add_row         29, 3, 1
        add_row         30, 3, 2
        add_row         31, 3, 3
        sxtl            v17.4s, v16.4h
        sxtl2           v16.4s, v16.8h
        mul             v\dst\().4s, v18.4s, v17.4s
        mla             v\dst\().4s, v19.4s, v16.4s
.endm

// void warp(void *dst, const MvstabSource *src, ptrdiff_t stride, const int8_t (*taps)[8], int n, int max)
.macro warp bits
function ff_mvstab_warp_\bits\()_neon, export=1
        dup             v1.4h, w5
1:
        terms_\bits     20
        terms_\bits     21
        terms_\bits     22
        terms_\bits     23
        addp            v20.4s, v20.4s, v21.4s
        addp            v22.4s, v22.4s, v23.4s
        addp            v20.4s, v20.4s, v22.4s
        sqrshrun        v20.4h, v20.4s, #12
.if \bits == 8
        uqxtn           v20.8b, v20.8h
        str             s20, [x0], #4
.else
        umin            v20.4h, v20.4h, v1.4h
        str             d20, [x0], #8
.endif
        subs            w4, w4, #4
        b.gt            1b
        ret
endfunc
.endm

        warp            8
        warp            16
