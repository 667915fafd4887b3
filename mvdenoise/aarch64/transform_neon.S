/*
 * Transforms of stacks of patches
 *
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/aarch64/asm.S"

// of the transform over space: of its odd rows, of rows 2 and 6
const space
        .hword          89, 75, 50, 18, 83, 36, 0, 0
endconst

const space_32
        .word           89, 75, 50, 18, 83, 36, 0, 0
endconst

// A product with factor i of the transform over space, in 32 bits. op: ul: it alone, la: added, ls: subtracted;
// type: h: of words, which also have a high half, s: of doublewords, whose factors from 4 on are in v1
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

// Sums of products, divided. low, high: clobbered, of words only
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

// Transforms the columns of r0 to r7, of which sums and differences of the same distance from either end are in r0 to
// r3 and in o0 to o3. lanes: 8h or 4s; v4 to v7: clobbered, of words. Sums of all are multiplied by 64.
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
.if \shift == 5
        shl             v\r4\().\lanes, v\r4\().\lanes, #1
        shl             v\r0\().\lanes, v\r0\().\lanes, #1
.else
        srshr           v\r4\().\lanes, v\r4\().\lanes, #\shift - 6
        srshr           v\r0\().\lanes, v\r0\().\lanes, #\shift - 6
.endif
.endm

// Differences of rows in o0 to o3, sums in r0 to r3
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

// What is beside each other in lanes of a and b
.macro exchange lanes, first, second, a, b
        trn1            v\first\().\lanes, v\a\().\lanes, v\b\().\lanes
        trn2            v\second\().\lanes, v\a\().\lanes, v\b\().\lanes
.endm

// Exchanges rows and columns of words, from a0 to a7, which are clobbered, to b0 to b7
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

// Rows of words in v24 to v31, transformed, become coefficients; what the base adds to the first one is in v1
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
// What base adds to samples it adds to the first coefficient only. The two bits of fraction are in the shift.
function ff_mvdenoise_over_space_8_neon, export=1
        movrel          x6, space
        lsl             w4, w4, #5
        ldr             q0, [x6]
        fmov            s1, w4
1:      ldp             x6, x7, [x1], #16
.irp row, 16, 17, 18, 19, 20, 21, 22, 23
        ld1             {v\row\().8b}, [x6], x2
        ld1             {v24.8b}, [x7], x2
        urhadd          v\row\().8b, v\row\().8b, v24.8b
.endr
        usubl           v24.8h, v16.8b, v23.8b
        usubl           v25.8h, v17.8b, v22.8b
        usubl           v26.8h, v18.8b, v21.8b
        usubl           v27.8h, v19.8b, v20.8b
        uaddl           v16.8h, v16.8b, v23.8b
        uaddl           v17.8h, v17.8b, v22.8b
        uaddl           v18.8h, v18.8b, v21.8b
        uaddl           v19.8h, v19.8b, v20.8b
        forward         h, 8h, 5, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
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

// Four columns of doublewords
.macro forward_32 shift, r0, r1, r2, r3, r4, r5, r6, r7
        butterflies     4s, \r0, \r1, \r2, \r3, \r4, \r5, \r6, \r7, 2, 3, 4, 5
        forward         s, 4s, \shift, \r0, \r1, \r2, \r3, \r4, \r5, \r6, \r7, 2, 3, 4, 5
.endm

// Exchanges rows and columns of 4x4 doublewords; v2 to v5: clobbered
.macro transpose_32 r0, r1, r2, r3
        exchange        4s, 2, 3, \r0, \r1
        exchange        4s, 4, 5, \r2, \r3
        exchange        2d, \r0, \r2, 2, 4
        exchange        2d, \r1, \r3, 3, 5
.endm

// Two halves of a row
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
        // of the right half, what was above is now on the left
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

// Two rows of half of the columns. h: nothing, or 2 for the other half; even: their even part, op: l to add the
// products, s to subtract them; narrow: makes words; v1, v2: clobbered
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

.macro inverse_half h, src, dst, narrow, shift
        sshll\h         v1.4s, v16.\src, #6
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

// Transforms the columns of v16 to v23 back, to v24 to v31; v1 to v6: clobbered
.macro inverse narrow, shift
        inverse_half    "", 4h, 4h, \narrow, \shift
        inverse_half    2, 8h, 8h, \narrow, \shift
.endm

// void back_10(uint16_t *dst, const void *coefs, int base, int max)
// What is added to all samples is added to the first coefficient instead.
function ff_mvdenoise_back_10_neon, export=1
        movrel          x4, space
        ldp             q16, q17, [x1]
        ldr             q0, [x4]
        lsl             w2, w2, #3
        ldp             q18, q19, [x1, #32]
        fmov            s1, w2
        ldp             q20, q21, [x1, #64]
        dup             v7.8h, w3
        ldp             q22, q23, [x1, #96]
        add             v16.8h, v16.8h, v1.8h
        inverse         rshrn, 8
        transpose       24, 25, 26, 27, 28, 29, 30, 31, 16, 17, 18, 19, 20, 21, 22, 23
        inverse         sqrshrun, 7
.irp row, 24, 25, 26, 27, 28, 29, 30, 31
        umin            v\row\().8h, v\row\().8h, v7.8h
.endr
        stp             q24, q25, [x0]
        stp             q26, q27, [x0, #32]
        stp             q28, q29, [x0, #64]
        stp             q30, q31, [x0, #96]
        ret
endfunc
