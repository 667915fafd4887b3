/*
 * Sums of absolute transformed differences
 *
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/aarch64/asm.S"

/*
 * Differences of bytes have 16 bits: a register holds a row of 8 samples, either of two tiles of 4x4 or of one
 * of 8x8. Differences of larger samples have 32 bits: a register holds 4 samples.
 *
 * The last step of a transform replaces two values by their sum and their difference. Because
 * |a + b| + |a - b| = 2 * max(|a|, |b|), half of S is the sum of these maxima.
 */

// Computes the sum and the difference of a and b.
.macro butterfly type, sum, difference, a, b
        add             v\sum\().\type, v\a\().\type, v\b\().\type
        sub             v\difference\().\type, v\a\().\type, v\b\().\type
.endm

// Adds neighbouring values of a and b into a, and subtracts them into b. Clobbers s and t.
.macro along_rows type, lanes, a, b, s, t
        trn1            v\s\().\lanes, v\a\().\lanes, v\b\().\lanes
        trn2            v\t\().\lanes, v\a\().\lanes, v\b\().\lanes
        butterfly       \type, \a, \b, \s, \t
.endm

// Sets a to the larger absolute value of each two neighbouring values of a and b. Clobbers s and t.
.macro larger type, lanes, a, b, s, t
        trn1            v\s\().\lanes, v\a\().\lanes, v\b\().\lanes
        trn2            v\t\().\lanes, v\a\().\lanes, v\b\().\lanes
        abs             v\s\().\type, v\s\().\type
        abs             v\t\().\type, v\t\().\type
        umax            v\a\().\type, v\s\().\type, v\t\().\type
.endm

// Does one step of the transform of columns, from registers i0 to i7 into o0 to o7.
.macro step_8 type, far, o0, o1, o2, o3, o4, o5, o6, o7, i0, i1, i2, i3, i4, i5, i6, i7
.if \far == 4
        butterfly       \type, \o0, \o4, \i0, \i4
        butterfly       \type, \o1, \o5, \i1, \i5
        butterfly       \type, \o2, \o6, \i2, \i6
        butterfly       \type, \o3, \o7, \i3, \i7
.elseif \far == 2
        butterfly       \type, \o0, \o2, \i0, \i2
        butterfly       \type, \o1, \o3, \i1, \i3
        butterfly       \type, \o4, \o6, \i4, \i6
        butterfly       \type, \o5, \o7, \i5, \i7
.else
        butterfly       \type, \o0, \o1, \i0, \i1
        butterfly       \type, \o2, \o3, \i2, \i3
        butterfly       \type, \o4, \o5, \i4, \i5
        butterfly       \type, \o6, \o7, \i6, \i7
.endif
.endm

// Transforms the columns of 4 rows in v16 to v19. Clobbers v0 to v3.
.macro down_4 type
        butterfly       \type, 0, 2, 16, 18
        butterfly       \type, 1, 3, 17, 19
        butterfly       \type, 16, 17, 0, 1
        butterfly       \type, 18, 19, 2, 3
.endm

// Loads a row of 8 bytes of both pictures and sets v\dst to their difference.
.macro difference_8 dst, cur, ref
        ld1             {v0.8b}, [\cur], x1
        ld1             {v1.8b}, [\ref], x3
        usubl           v\dst\().8h, v0.8b, v1.8b
.endm

// Does the same for a row of 4 bytes.
.macro difference_4 dst, cur, ref
        ldr             s0, [\cur]
        ldr             s1, [\ref]
        add             \cur, \cur, x1
        add             \ref, \ref, x3
        usubl           v\dst\().8h, v0.8b, v1.8b
.endm

// Sums the maxima of two tiles of 4x4, whose differences are in v16 to v19, into v16.
.macro transform_4_bytes
        down_4          8h
        along_rows      8h, 8h, 16, 17, 0, 1
        along_rows      8h, 8h, 18, 19, 2, 3
        larger          8h, 4s, 16, 17, 0, 1
        larger          8h, 4s, 18, 19, 2, 3
        add             v16.8h, v16.8h, v18.8h
.endm

// uint32_t satd(const uint8_t *cur, ptrdiff_t cur_linesize, const uint8_t *ref, ptrdiff_t ref_linesize,
//               int w)
// Returns half of S of a row of tiles that is w samples wide.
function ff_gpume_satd_8_4_neon, export=1
        movi            v20.8h, #0
        cmp             w4, #8
        b.lt            2f
1:      mov             x5, x0
        mov             x6, x2
        difference_8    16, x5, x6
        difference_8    17, x5, x6
        difference_8    18, x5, x6
        difference_8    19, x5, x6
        transform_4_bytes
        add             x0, x0, #8
        add             x2, x2, #8
        add             v20.8h, v20.8h, v16.8h
        subs            w4, w4, #8
        b.gt            1b
        uaddlv          s0, v20.8h
        fmov            w0, s0
        ret
2:      difference_4    16, x0, x2
        difference_4    17, x0, x2
        difference_4    18, x0, x2
        difference_4    19, x0, x2
        transform_4_bytes
        uaddlv          s0, v16.8h
        fmov            w0, s0
        ret
endfunc

// void satd_pair(const uint8_t *cur, ptrdiff_t cur_linesize, const uint8_t *const ref[2], ptrdiff_t ref_linesize,
//                uint32_t cost[2])
// Adds the costs of a tile for two candidates to cost.
function ff_gpume_satd_pair_4_neon, export=1
        ldp             x5, x6, [x2]
.irp row, 16, 17, 18, 19
        ld1r            {v0.2s}, [x0], x1
        ld1             {v1.s}[0], [x5], x3
        ld1             {v1.s}[1], [x6], x3
        usubl           v\row\().8h, v0.8b, v1.8b
.endr
        transform_4_bytes
        ldr             d0, [x4]
        uaddlp          v16.4s, v16.8h
        addp            v16.4s, v16.4s, v16.4s
        add             v0.2s, v0.2s, v16.2s
        str             d0, [x4]
        ret
endfunc

function ff_gpume_satd_8_8_neon, export=1
        movi            v7.2s, #0
1:      mov             x5, x0
        mov             x6, x2
.irp row, 16, 17, 18, 19, 20, 21, 22, 23
        difference_8    \row, x5, x6
.endr
        step_8          8h, 4, 24, 25, 26, 27, 28, 29, 30, 31, 16, 17, 18, 19, 20, 21, 22, 23
        step_8          8h, 2, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        step_8          8h, 1, 24, 25, 26, 27, 28, 29, 30, 31, 16, 17, 18, 19, 20, 21, 22, 23
        along_rows      8h, 8h, 24, 25, 16, 17
        along_rows      8h, 8h, 26, 27, 18, 19
        along_rows      8h, 8h, 28, 29, 20, 21
        along_rows      8h, 8h, 30, 31, 22, 23
        along_rows      8h, 4s, 24, 25, 16, 17
        along_rows      8h, 4s, 26, 27, 18, 19
        along_rows      8h, 4s, 28, 29, 20, 21
        along_rows      8h, 4s, 30, 31, 22, 23
        larger          8h, 2d, 24, 25, 16, 17
        larger          8h, 2d, 26, 27, 18, 19
        larger          8h, 2d, 28, 29, 20, 21
        larger          8h, 2d, 30, 31, 22, 23
        add             v24.8h, v24.8h, v26.8h
        add             v28.8h, v28.8h, v30.8h
        add             v24.8h, v24.8h, v28.8h
        uaddlv          s0, v24.8h
        add             x0, x0, #8
        add             x2, x2, #8
        ursra           v7.2s, v0.2s, #1
        subs            w4, w4, #8
        b.gt            1b
        fmov            w0, s7
        ret
endfunc

function ff_gpume_satd_16_4_neon, export=1
        movi            v20.4s, #0
1:      mov             x5, x0
        mov             x6, x2
.irp row, 16, 17, 18, 19
        ld1             {v0.4h}, [x5], x1
        ld1             {v1.4h}, [x6], x3
        usubl           v\row\().4s, v0.4h, v1.4h
.endr
        down_4          4s
        along_rows      4s, 4s, 16, 17, 0, 1
        along_rows      4s, 4s, 18, 19, 2, 3
        larger          4s, 2d, 16, 17, 0, 1
        larger          4s, 2d, 18, 19, 2, 3
        add             v20.4s, v20.4s, v16.4s
        add             x0, x0, #8
        add             x2, x2, #8
        add             v20.4s, v20.4s, v18.4s
        subs            w4, w4, #4
        b.gt            1b
        addv            s0, v20.4s
        fmov            w0, s0
        ret
endfunc

// Sets v\left and v\right to the differences of the two halves of a row of 8 samples.
.macro difference_16 left, right
        ld1             {v0.8h}, [x5], x1
        ld1             {v1.8h}, [x6], x3
        usubl           v\left\().4s, v0.4h, v1.4h
        usubl2          v\right\().4s, v0.8h, v1.8h
.endm

// Transforms two rows up to the last step, and sets a to the maxima.
.macro end_of_rows a, b
        along_rows      4s, 4s, \a, \b, 0, 1
        larger          4s, 2d, \a, \b, 0, 1
.endm

function ff_gpume_satd_16_8_neon, export=1
        mov             w7, #0
1:      mov             x5, x0
        mov             x6, x2
        difference_16   16, 24
        difference_16   17, 25
        difference_16   18, 26
        difference_16   19, 27
        difference_16   20, 28
        difference_16   21, 29
        difference_16   22, 30
        difference_16   23, 31
        step_8          4s, 4,  0,  1,  2,  3,  4,  5,  6,  7, 16, 17, 18, 19, 20, 21, 22, 23
        step_8          4s, 2, 16, 17, 18, 19, 20, 21, 22, 23,  0,  1,  2,  3,  4,  5,  6,  7
        step_8          4s, 1,  0,  1,  2,  3,  4,  5,  6,  7, 16, 17, 18, 19, 20, 21, 22, 23
        step_8          4s, 4, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        step_8          4s, 2, 24, 25, 26, 27, 28, 29, 30, 31, 16, 17, 18, 19, 20, 21, 22, 23
        step_8          4s, 1, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        butterfly       4s, 24, 16, 0, 16
        butterfly       4s, 25, 17, 1, 17
        butterfly       4s, 26, 18, 2, 18
        butterfly       4s, 27, 19, 3, 19
        butterfly       4s, 28, 20, 4, 20
        butterfly       4s, 29, 21, 5, 21
        butterfly       4s, 30, 22, 6, 22
        butterfly       4s, 31, 23, 7, 23
        end_of_rows     24, 25
        end_of_rows     26, 27
        end_of_rows     28, 29
        end_of_rows     30, 31
        end_of_rows     16, 17
        end_of_rows     18, 19
        end_of_rows     20, 21
        end_of_rows     22, 23
        add             v24.4s, v24.4s, v26.4s
        add             v28.4s, v28.4s, v30.4s
        add             v16.4s, v16.4s, v18.4s
        add             v20.4s, v20.4s, v22.4s
        add             v24.4s, v24.4s, v28.4s
        add             v16.4s, v16.4s, v20.4s
        add             v24.4s, v24.4s, v16.4s
        addv            s0, v24.4s
        add             x0, x0, #16
        add             x2, x2, #16
        fmov            w5, s0
        add             w5, w5, #1
        add             w7, w7, w5, lsr #1
        subs            w4, w4, #8
        b.gt            1b
        mov             w0, w7
        ret
endfunc
