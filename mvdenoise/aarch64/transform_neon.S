/*
 * Transforms of stacks of patches
 *
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/aarch64/asm.S"

// factors of the spatial transform: those of odd rows, then those of rows 2 and 6
const space
        .hword          89, 75, 50, 18, 83, 36, 0, 0
endconst

const space_32
        .word           89, 75, 50, 18, 83, 36, 0, 0
endconst

// Multiplies values by factor i of the spatial transform, in 32 bits. op: ul to replace dst by the product, la to add
// it, ls to subtract it; type: h for words, whose products fill dst and high, s for dwords, whose factors from 4 on are
// in v1
.macro term type, op, dst, high, src, i
.ifc \type, h
        sm\op\()l       v\dst\().4s, v\src\().4h, v0.h[\i]
        sm\op\()l2      v\high\().4s, v\src\().8h, v0.h[\i]
.elseif \i < 4
        m\op            v\dst\().4s, v\src\().4s, v0.s[\i]
.else
        m\op            v\dst\().4s, v\src\().4s, v1.s[\i - 4]
.endif
.endm

// Computes sums of two products, and shifts them right with rounding. low, high: clobbered with words only
.macro two_terms type, shift, dst, low, high, a, fa, op, b, fb
.ifc \type, h
        term            h, ul, \low, \high, \a, \fa
        term            h, \op, \low, \high, \b, \fb
        rshrn           v\dst\().4h, v\low\().4s, #\shift
        rshrn2          v\dst\().8h, v\high\().4s, #\shift
.else
        term            s, ul, \dst, 0, \a, \fa
        term            s, \op, \dst, 0, \b, \fb
        srshr           v\dst\().4s, v\dst\().4s, #\shift
.endif
.endm

// Does the same with four products.
.macro four_terms type, shift, dst, low, high, a, fa, op_b, b, fb, op_c, c, fc, op_d, d, fd
.ifc \type, h
        term            h, ul, \low, \high, \a, \fa
        term            h, \op_b, \low, \high, \b, \fb
        term            h, \op_c, \low, \high, \c, \fc
        term            h, \op_d, \low, \high, \d, \fd
        rshrn           v\dst\().4h, v\low\().4s, #\shift
        rshrn2          v\dst\().8h, v\high\().4s, #\shift
.else
        term            s, ul, \dst, 0, \a, \fa
        term            s, \op_b, \dst, 0, \b, \fb
        term            s, \op_c, \dst, 0, \c, \fc
        term            s, \op_d, \dst, 0, \d, \fd
        srshr           v\dst\().4s, v\dst\().4s, #\shift
.endif
.endm

// Transforms columns of eight values to r0 to r7. r0 to r3: sums of the values at the same distance from either end; o0
// to o3: their differences; lanes: 8h or 4s; v4 to v7: clobbered with words. The factor of rows 0 and 4 is 64.
.macro forward type, lanes, shift, r0, r1, r2, r3, r4, r5, r6, r7, o0, o1, o2, o3
        sub             v\r4\().\lanes, v\r0\().\lanes, v\r3\().\lanes
        add             v\r0\().\lanes, v\r0\().\lanes, v\r3\().\lanes
        sub             v\r5\().\lanes, v\r1\().\lanes, v\r2\().\lanes
        add             v\r1\().\lanes, v\r1\().\lanes, v\r2\().\lanes
        two_terms       \type, \shift, \r2, 4, 5, \r4, 4, la, \r5, 5
        two_terms       \type, \shift, \r6, 6, 7, \r4, 5, ls, \r5, 4
        sub             v\r4\().\lanes, v\r0\().\lanes, v\r1\().\lanes
        add             v\r0\().\lanes, v\r0\().\lanes, v\r1\().\lanes
        four_terms      \type, \shift, \r1, 4, 5, \o0, 0, la, \o1, 1, la, \o2, 2, la, \o3, 3
        four_terms      \type, \shift, \r3, 6, 7, \o0, 1, ls, \o1, 3, ls, \o2, 0, ls, \o3, 2
        four_terms      \type, \shift, \r5, 4, 5, \o0, 2, ls, \o1, 0, la, \o2, 3, la, \o3, 1
        four_terms      \type, \shift, \r7, 6, 7, \o0, 3, ls, \o1, 2, la, \o2, 1, ls, \o3, 0
.if \shift > 6
        srshr           v\r4\().\lanes, v\r4\().\lanes, #\shift - 6
        srshr           v\r0\().\lanes, v\r0\().\lanes, #\shift - 6
.endif
.endm

// Computes the differences of rows at the same distance from either end in o0 to o3, and their sums in r0 to r3.
.macro butterflies lanes, r0, r1, r2, r3, r4, r5, r6, r7, o0, o1, o2, o3
        sub             v\o0\().\lanes, v\r0\().\lanes, v\r7\().\lanes
        sub             v\o1\().\lanes, v\r1\().\lanes, v\r6\().\lanes
        sub             v\o2\().\lanes, v\r2\().\lanes, v\r5\().\lanes
        sub             v\o3\().\lanes, v\r3\().\lanes, v\r4\().\lanes
        add             v\r0\().\lanes, v\r0\().\lanes, v\r7\().\lanes
        add             v\r1\().\lanes, v\r1\().\lanes, v\r6\().\lanes
        add             v\r2\().\lanes, v\r2\().\lanes, v\r5\().\lanes
        add             v\r3\().\lanes, v\r3\().\lanes, v\r4\().\lanes
.endm

// Interleaves the even lanes of a and b into first, and the odd lanes into second.
.macro exchange lanes, first, second, a, b
        trn1            v\first\().\lanes, v\a\().\lanes, v\b\().\lanes
        trn2            v\second\().\lanes, v\a\().\lanes, v\b\().\lanes
.endm

// Transposes words from a0 to a7, which are clobbered, to b0 to b7.
.macro transpose a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, b4, b5, b6, b7
        exchange        8h, \b0, \b1, \a0, \a1
        exchange        8h, \b2, \b3, \a2, \a3
        exchange        8h, \b4, \b5, \a4, \a5
        exchange        8h, \b6, \b7, \a6, \a7
        exchange        4s, \a0, \a2, \b0, \b2
        exchange        4s, \a1, \a3, \b1, \b3
        exchange        4s, \a4, \a6, \b4, \b6
        exchange        4s, \a5, \a7, \b5, \b7
        exchange        2d, \b0, \b4, \a0, \a4
        exchange        2d, \b1, \b5, \a1, \a5
        exchange        2d, \b2, \b6, \a2, \a6
        exchange        2d, \b3, \b7, \a3, \a7
.endm

// Transforms the columns of words in v24 to v31, and stores the coefficients. v1: the multiple of base that is
// subtracted from the first one; v4 to v7, v16 to v19: clobbered
.macro store_coefs
        butterflies     8h, 24, 25, 26, 27, 28, 29, 30, 31, 16, 17, 18, 19
        forward         h, 8h, 8, 24, 25, 26, 27, 28, 29, 30, 31, 16, 17, 18, 19
        sub             v24.8h, v24.8h, v1.8h
        subs            w3, w3, #1
        stp             q24, q25, [x0]
        stp             q26, q27, [x0, #32]
        stp             q28, q29, [x0, #64]
        stp             q30, q31, [x0, #96]
        add             x0, x0, #128
.endm

// void over_space_8(void *coefs, const MvdenoisePatch *patches, ptrdiff_t stride, int nb, int base, int fraction)
// Subtracts a multiple of base from the first coefficient, which equals subtracting base from all samples. The sum of
// two samples, and a smaller shift, provide the two bits of fraction.
function ff_mvdenoise_over_space_8_neon, export=1
        movrel          x6, space
        lsl             w4, w4, #5
        ldr             q0, [x6]
        fmov            s1, w4
1:      ldp             x6, x7, [x1], #16
.irp row, 16, 17, 18, 19, 20, 21, 22, 23
        ld1             {v\row\().8b}, [x6], x2
        ld1             {v24.8b}, [x7], x2
        uaddl           v\row\().8h, v\row\().8b, v24.8b
.endr
        butterflies     8h, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
        forward         h, 8h, 6, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
        transpose       16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        store_coefs
        b.gt            1b
        ret
endfunc

// void over_space_10(void *coefs, const MvdenoisePatch *patches, ptrdiff_t stride, int nb, int base, int fraction)
function ff_mvdenoise_over_space_10_neon, export=1
        movrel          x6, space
        lsl             w4, w4, #3
        ldr             q0, [x6]
        lsl             w4, w4, w5
        dup             v2.8h, w5
        fmov            s1, w4
1:      ldp             x6, x7, [x1], #16
.irp row, 16, 17, 18, 19, 20, 21, 22, 23
        ld1             {v\row\().8h}, [x6], x2
        ld1             {v24.8h}, [x7], x2
        urhadd          v\row\().8h, v\row\().8h, v24.8h
        ushl            v\row\().8h, v\row\().8h, v2.8h
.endr
        butterflies     8h, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
        forward         h, 8h, 7, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
        transpose       16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        store_coefs
        b.gt            1b
        ret
endfunc

// Transforms four columns of dwords. v2 to v5: clobbered
.macro forward_32 shift, r0, r1, r2, r3, r4, r5, r6, r7
        butterflies     4s, \r0, \r1, \r2, \r3, \r4, \r5, \r6, \r7, 2, 3, 4, 5
        forward         s, 4s, \shift, \r0, \r1, \r2, \r3, \r4, \r5, \r6, \r7, 2, 3, 4, 5
.endm

// Transposes 4x4 dwords. v2 to v5: clobbered
.macro transpose_32 r0, r1, r2, r3
        exchange        4s, 2, 3, \r0, \r1
        exchange        4s, 4, 5, \r2, \r3
        exchange        2d, \r0, \r2, 2, 4
        exchange        2d, \r1, \r3, 3, 5
.endm

// Loads a row, which is the mean of two rows in memory, to two registers. v2, v3: clobbered
.macro load_row_32 left, right
        ld1             {v2.8h}, [x6], x2
        ld1             {v3.8h}, [x7], x2
        urhadd          v2.8h, v2.8h, v3.8h
        uxtl            v\left\().4s, v2.4h
        uxtl2           v\right\().4s, v2.8h
.endm

// void over_space_16(void *coefs, const MvdenoisePatch *patches, ptrdiff_t stride, int nb, int base, int fraction)
// Coefficients have 32 bits, and there is no fraction.
function ff_mvdenoise_over_space_16_neon, export=1
        movrel          x6, space_32
        lsl             w4, w4, #3
        ldp             q0, q1, [x6]
        fmov            s6, w4
1:      ldp             x6, x7, [x1], #16
        load_row_32     16, 24
        load_row_32     17, 25
        load_row_32     18, 26
        load_row_32     19, 27
        load_row_32     20, 28
        load_row_32     21, 29
        load_row_32     22, 30
        load_row_32     23, 31
        forward_32      7, 16, 17, 18, 19, 20, 21, 22, 23
        forward_32      7, 24, 25, 26, 27, 28, 29, 30, 31
        transpose_32    16, 17, 18, 19
        transpose_32    20, 21, 22, 23
        transpose_32    24, 25, 26, 27
        transpose_32    28, 29, 30, 31
        // v16 to v19 and v24 to v27 now have columns 0 to 7 of rows 0 to 3, the others those of rows 4 to 7
        forward_32      8, 16, 17, 18, 19, 24, 25, 26, 27
        forward_32      8, 20, 21, 22, 23, 28, 29, 30, 31
        sub             v16.4s, v16.4s, v6.4s
        subs            w3, w3, #1
        stp             q16, q20, [x0]
        stp             q17, q21, [x0, #32]
        stp             q18, q22, [x0, #64]
        stp             q19, q23, [x0, #96]
        stp             q24, q28, [x0, #128]
        stp             q25, q29, [x0, #160]
        stp             q26, q30, [x0, #192]
        stp             q27, q31, [x0, #224]
        add             x0, x0, #256
        b.gt            1b
        ret
endfunc

// Computes two rows of the inverse transform, first and last, for half of the columns. h: nothing, or 2 for the high
// half; even: register of the sum over even rows; f1 to f7: factors of odd rows; op3 to op7: a to add the products, s
// to subtract them; narrow: instruction that makes words; v1, v2: clobbered
.macro inverse_rows h, src, dst, narrow, shift, even, first, last, f1, op3, f3, op5, f5, op7, f7
        smull\h         v1.4s, v17.\src, v0.h[\f1]
        sml\op3\()l\h   v1.4s, v19.\src, v0.h[\f3]
        sml\op5\()l\h   v1.4s, v21.\src, v0.h[\f5]
        sml\op7\()l\h   v1.4s, v23.\src, v0.h[\f7]
        add             v2.4s, v\even\().4s, v1.4s
        sub             v1.4s, v\even\().4s, v1.4s
        \narrow\()\h    v\first\().\dst, v2.4s, #\shift
        \narrow\()\h    v\last\().\dst, v1.4s, #\shift
.endm

// Transforms half of the columns back. less: nothing, or a register whose values are added to the sums of the columns
.macro inverse_half h, src, dst, narrow, shift, less
        sshll\h         v1.4s, v16.\src, #6
.ifnb \less
        add             v1.4s, v1.4s, v\less\().4s
.endif
        sshll\h         v2.4s, v20.\src, #6
        add             v3.4s, v1.4s, v2.4s
        sub             v4.4s, v1.4s, v2.4s
        smull\h         v1.4s, v18.\src, v0.h[4]
        smull\h         v2.4s, v18.\src, v0.h[5]
        smlal\h         v1.4s, v22.\src, v0.h[5]
        smlsl\h         v2.4s, v22.\src, v0.h[4]
        add             v5.4s, v3.4s, v1.4s
        sub             v3.4s, v3.4s, v1.4s
        add             v6.4s, v4.4s, v2.4s
        sub             v4.4s, v4.4s, v2.4s
        inverse_rows    "\h", \src, \dst, \narrow, \shift, 5, 24, 31, 0, a, 1, a, 2, a, 3
        inverse_rows    "\h", \src, \dst, \narrow, \shift, 6, 25, 30, 1, s, 3, s, 0, s, 2
        inverse_rows    "\h", \src, \dst, \narrow, \shift, 4, 26, 29, 2, s, 0, a, 3, a, 1
        inverse_rows    "\h", \src, \dst, \narrow, \shift, 3, 27, 28, 3, s, 2, a, 1, s, 0
.endm

// Transforms the columns of v16 to v23 back, to v24 to v31. v1 to v6: clobbered
.macro inverse narrow, shift, less
        inverse_half    "", 4h, 4h, \narrow, \shift, \less
        inverse_half    2, 8h, 8h, \narrow, \shift, \less
.endm

// void back_10(uint16_t *dst, const void *coefs, int base, int max)
// Adds a multiple of base to the first coefficient, which equals adding base to all samples.
function ff_mvdenoise_back_10_neon, export=1
        movrel          x4, space
        ldp             q16, q17, [x1]
        ldr             q0, [x4]
        lsl             w2, w2, #3
        ldp             q18, q19, [x1, #32]
        fmov            s1, w2
        ldp             q20, q21, [x1, #64]
        // halves are rounded up in every other column only
        movi            v7.2d, #0xffffffff00000000
        ldp             q22, q23, [x1, #96]
        add             v16.8h, v16.8h, v1.8h
        inverse         rshrn, 8
        transpose       24, 25, 26, 27, 28, 29, 30, 31, 16, 17, 18, 19, 20, 21, 22, 23
        inverse         sqrshrun, 7, 7
        dup             v7.8h, w3
.irp row, 24, 25, 26, 27, 28, 29, 30, 31
        umin            v\row\().8h, v\row\().8h, v7.8h
.endr
        stp             q24, q25, [x0]
        stp             q26, q27, [x0, #32]
        stp             q28, q29, [x0, #64]
        stp             q30, q31, [x0, #96]
        ret
endfunc

// Factors of the DCTs over time of 2 to 9 values, each factor once. The DCT of 9 values has two more
const time
        .hword          724, 0, 0, 0, 0, 0, 0, 0
        .hword          591, 724, 418, 836, 0, 0, 0, 0
        .hword          512, 669, 277, 0, 0, 0, 0, 0
        .hword          458, 616, 381, 524, 200, 648, 0, 0
        .hword          418, 571, 153, 512, 296, 591, 0, 0
        .hword          387, 534, 428, 237, 493, 122, 341, 547
        .hword          362, 502, 426, 284, 100, 473, 196, 0
        .hword          341, 475, 418, 310, 165, 454, 241, 84
        .hword          370, 483, 0, 0, 0, 0, 0, 0
endconst

// Loads value j of k values, which are step bytes apart, and the value at the same distance from the end, and computes
// the sum and the difference of both.
.macro load_value k, at, step, j, sum, difference
.if 2 * \j + 1 == \k
        ldr             q\sum, [x1, #\at + \j * \step]
.elseif 2 * \j + 1 < \k
        ldr             q25, [x1, #\at + \j * \step]
        ldr             q26, [x1, #\at + (\k - 1 - \j) * \step]
        add             v\sum\().8h, v25.8h, v26.8h
        sub             v\difference\().8h, v25.8h, v26.8h
.endif
.endm

// Multiplies a value by factor |f|, counted from 1. f < 0 subtracts the product; f = 0 does nothing.
.macro time_term op, src, f
.if \f > 8
        \op             v25.4s, v\src\().4h, v1.h[\f - 9]
        \op\()2         v26.4s, v\src\().8h, v1.h[\f - 9]
.elseif \f > 0
        \op             v25.4s, v\src\().4h, v0.h[\f - 1]
        \op\()2         v26.4s, v\src\().8h, v0.h[\f - 1]
.elseif \f < -8
        smlsl           v25.4s, v\src\().4h, v1.h[-(\f) - 9]
        smlsl2          v26.4s, v\src\().8h, v1.h[-(\f) - 9]
.elseif \f < 0
        smlsl           v25.4s, v\src\().4h, v0.h[-(\f) - 1]
        smlsl2          v26.4s, v\src\().8h, v0.h[-(\f) - 1]
.endif
.endm

// Computes row n of the transform of k values in v25, and passes it to the macro what_row with k and n. f0 to f4:
// factors of the sums in an even row, or of the differences in an odd row, as in time_term; v26: clobbered
.macro time_row what, k, n, f0, f1=0, f2=0, f3=0, f4=0
.if \n & 1
        time_term       smull, 21, \f0
        time_term       smlal, 22, \f1
        time_term       smlal, 23, \f2
        time_term       smlal, 24, \f3
.else
        time_term       smull, 16, \f0
        time_term       smlal, 17, \f1
        time_term       smlal, 18, \f2
        time_term       smlal, 19, \f3
        time_term       smlal, 20, \f4
.endif
        rshrn           v25.4h, v25.4s, #10
        rshrn2          v25.8h, v26.4s, #10
        \what\()_row    \k, \n
.endm

// Computes all rows. at: offset of the first value from x1; step: bytes between values
.macro over_time what, k, at, step
.if \k == 1
        ldr             q25, [x1, #\at]
        \what\()_row    1, 0
.else
        load_value      \k, \at, \step, 0, 16, 21
        load_value      \k, \at, \step, 1, 17, 22
        load_value      \k, \at, \step, 2, 18, 23
        load_value      \k, \at, \step, 3, 19, 24
        load_value      \k, \at, \step, 4, 20, 0
.endif
.if \k == 2
        time_row        \what, 2, 0, 1
        time_row        \what, 2, 1, 1
.elseif \k == 3
        time_row        \what, 3, 0, 1, 1
        time_row        \what, 3, 1, 2
        time_row        \what, 3, 2, 3, -4
.elseif \k == 4
        time_row        \what, 4, 0, 1, 1
        time_row        \what, 4, 1, 2, 3
        time_row        \what, 4, 2, 1, -1
        time_row        \what, 4, 3, 3, -2
.elseif \k == 5
        time_row        \what, 5, 0, 1, 1, 1
        time_row        \what, 5, 1, 2, 3
        time_row        \what, 5, 2, 4, -5, -6
        time_row        \what, 5, 3, 3, -2
        time_row        \what, 5, 4, 5, -4, 6
.elseif \k == 6
        time_row        \what, 6, 0, 1, 1, 1
        time_row        \what, 6, 1, 2, 1, 3
        time_row        \what, 6, 2, 4, 0, -4
        time_row        \what, 6, 3, 1, -1, -1
        time_row        \what, 6, 4, 5, -6, 5
        time_row        \what, 6, 5, 3, -1, 2
.elseif \k == 7
        time_row        \what, 7, 0, 1, 1, 1, 1
        time_row        \what, 7, 1, 2, 3, 4
        time_row        \what, 7, 2, 5, 6, -7, -8
        time_row        \what, 7, 3, 3, -4, -2
        time_row        \what, 7, 4, 7, -5, -6, 8
        time_row        \what, 7, 5, 4, -2, 3
        time_row        \what, 7, 6, 6, -7, 5, -8
.elseif \k == 8
        time_row        \what, 8, 0, 1, 1, 1, 1
        time_row        \what, 8, 1, 2, 3, 4, 5
        time_row        \what, 8, 2, 6, 7, -7, -6
        time_row        \what, 8, 3, 3, -5, -2, -4
        time_row        \what, 8, 4, 1, -1, -1, 1
        time_row        \what, 8, 5, 4, -2, 5, 3
        time_row        \what, 8, 6, 7, -6, 6, -7
        time_row        \what, 8, 7, 5, -4, 3, -2
.elseif \k == 9
        time_row        \what, 9, 0, 1, 1, 1, 1, 1
        time_row        \what, 9, 1, 2, 3, 4, 5
        time_row        \what, 9, 2, 6, 7, -8, -9, -10
        time_row        \what, 9, 3, 3, 0, -3, -3
        time_row        \what, 9, 4, 9, -7, -6, 8, 10
        time_row        \what, 9, 5, 4, -3, -5, 2
        time_row        \what, 9, 6, 7, -10, 7, 7, -10
        time_row        \what, 9, 7, 5, -3, 2, -4
        time_row        \what, 9, 8, 8, -7, 9, -6, 10
.endif
.endm

// Adds row n, in v25, to the inverse transform of one value, in v27 and v28.
.macro back_row k, n
.if \k > 1
  .if \n == 0
        smull           v27.4s, v25.4h, v2.h[0]
        smull2          v28.4s, v25.8h, v2.h[0]
  .elseif \n < 8
        smlal           v27.4s, v25.4h, v2.h[\n]
        smlal2          v28.4s, v25.8h, v2.h[\n]
  .else
        smlal           v27.4s, v25.4h, v3.h[0]
        smlal2          v28.4s, v25.8h, v3.h[0]
  .endif
.endif
.endm

// Stores the result of the inverse transform.
.macro store_value k
.if \k == 1
        str             q25, [x0], #16
.else
        rshrn           v27.4h, v27.4s, #10
        rshrn2          v27.8h, v28.4s, #10
        str             q27, [x0], #16
.endif
.endm

.macro dispatch_to k, label
        cmp             w2, #\k
        b.eq            \label
.endm

// Jumps to the code for w2 values, at the label of 10 more.
.macro dispatch
        dispatch_to     9, 19f
        dispatch_to     8, 18f
        dispatch_to     7, 17f
        dispatch_to     6, 16f
        dispatch_to     5, 15f
        dispatch_to     4, 14f
        dispatch_to     3, 13f
        dispatch_to     2, 12f
.endm

// Loads the factors of the transform of k values, and those of the inverse transform, which are 9 words apart from x3
// on. Sets w2 to 8.
.macro load_factors k
        mov             w2, #8
.if \k > 1
        movrel          x6, time
        mov             x7, #18
        ldr             q0, [x6, #16 * (\k - 2)]
  .if \k == 9
        ldr             s1, [x6, #128]
  .endif
  .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    .if \n < \k
        ld1             {v2.h}[\n], [x3], x7
    .endif
  .endr
  .if \k == 9
        ld1             {v3.h}[0], [x3]
  .endif
.endif
.endm

// Zeroes coefficients below v30 in row 0, or below v31 in other rows, counts the others in v29, and adds the row to the
// inverse transform.
.macro threshold_row k, n
        abs             v26.8h, v25.8h
.if \n == 0
        cmge            v26.8h, v26.8h, v30.8h
.else
        cmge            v26.8h, v26.8h, v31.8h
.endif
        sub             v29.8h, v29.8h, v26.8h
        and             v25.16b, v25.16b, v26.16b
        back_row        \k, \n
.endm

// unsigned threshold(void *dst, const void *coefs, int nb, const int16_t *back, int mean, int other)
function ff_mvdenoise_threshold_10_neon, export=1
        dup             v30.8h, w4
        dup             v31.8h, w5
        movi            v29.4s, #0
        mov             v30.h[0], wzr                   // keeps the first coefficient
        dispatch
.irp k, 1, 2, 3, 4, 5, 6, 7, 8, 9
1\k:     load_factors    \k
1:      over_time       threshold, \k, 0, 128
        subs            w2, w2, #1
        store_value     \k
        dup             v30.8h, w4
        add             x1, x1, #16
        b.gt            1b
  .if \k < 9
        b               2f
  .endif
.endr
2:      addv            h29, v29.8h
        umov            w0, v29.h[0]
        sub             w0, w0, #1                      // does not count the first coefficient
        ret
endfunc

// Computes the gains of the Wiener filter from coefficients of the pilot, stores them on the stack, and adds the
// squares of their upper bits to v29 and v30. The gain of ratio i is 32768 n / (n + 4096) with n = (2 i + 1)^2,
// computed as 32768 - 2^25 / (i (i + 1) + 1024.25), rounded.
.macro gain_row k, n
.if \n == 0
        bic             v25.16b, v25.16b, v12.16b
.endif
        abs             v25.8h, v25.8h
        smin            v25.8h, v25.8h, v4.8h
        umull           v26.4s, v25.4h, v5.4h
        umull2          v27.4s, v25.8h, v5.8h
        uzp2            v26.8h, v26.8h, v27.8h
        mla             v26.8h, v25.8h, v6.8h
        umin            v26.8h, v26.8h, v7.8h
        add             v28.8h, v26.8h, v8.8h
        umull           v27.4s, v26.4h, v28.4h
        umull2          v28.4s, v26.8h, v28.8h
        ucvtf           v27.4s, v27.4s
        ucvtf           v28.4s, v28.4s
        fadd            v27.4s, v27.4s, v9.4s
        fadd            v28.4s, v28.4s, v9.4s
        fdiv            v27.4s, v10.4s, v27.4s
        fdiv            v28.4s, v10.4s, v28.4s
        fcvtnu          v27.4s, v27.4s
        fcvtnu          v28.4s, v28.4s
        uzp1            v27.8h, v27.8h, v28.8h
        sub             v27.8h, v11.8h, v27.8h
        str             q27, [sp, #16 * \n]
        ushr            v27.8h, v27.8h, #7
        umlal           v29.4s, v27.4h, v27.4h
        umlal2          v30.4s, v27.8h, v27.8h
.endm

// Multiplies coefficients except for the first one by their gains, and adds the row to the inverse transform.
.macro wiener_row k, n
        ldr             q26, [sp, #16 * \n]
.if \n == 0
        sqrdmulh        v26.8h, v25.8h, v26.8h
        bif             v25.16b, v26.16b, v12.16b
.else
        sqrdmulh        v25.8h, v25.8h, v26.8h
.endif
        back_row        \k, \n
.endm

// unsigned wiener(void *dst, const void *coefs, int nb, const int16_t *back, int most, int reciprocal)
// The stack has the gains of 8 coefficients of each patch.
function ff_mvdenoise_wiener_10_neon, export=1
        sub             sp, sp, #192
        stp             d8, d9, [sp, #144]
        stp             d10, d11, [sp, #160]
        str             d12, [sp, #176]
        lsr             w6, w5, #16
        mov             w7, #0x0800
        movk            w7, #0x4480, lsl #16            // 1024.25
        dup             v4.8h, w4
        dup             v5.8h, w5
        dup             v6.8h, w6
        mvni            v7.8h, #0xfe, lsl #8            // 511
        movi            v8.8h, #1
        dup             v9.4s, w7
        movi            v10.4s, #0x4c, lsl #24          // 2^25
        movi            v11.8h, #0x80, lsl #8           // 32768
        movi            d12, #0xffff                    // the first coefficient
        movi            v29.4s, #0
        movi            v30.4s, #0
        dispatch
.irp k, 1, 2, 3, 4, 5, 6, 7, 8, 9
1\k:     load_factors    \k
1:      over_time       gain, \k, 128, 256
        over_time       wiener, \k, 0, 256
        subs            w2, w2, #1
        store_value     \k
        movi            v12.4s, #0
        add             x1, x1, #16
        b.gt            1b
  .if \k < 9
        b               2f
  .endif
.endr
2:      add             v29.4s, v29.4s, v30.4s
        ldp             d8, d9, [sp, #144]
        ldp             d10, d11, [sp, #160]
        addv            s29, v29.4s
        ldr             d12, [sp, #176]
        add             sp, sp, #192
        fmov            w0, s29
        ret
endfunc
