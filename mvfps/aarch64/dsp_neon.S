/*
 * Functions of motion-compensated interpolation
 *
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/aarch64/asm.S"

// bilinear weights of four samples, by the position between them in eighths of a sample: 8 y + x
const bilinear, align=2
.irp y, 0, 1, 2, 3, 4, 5, 6, 7
  .irp x, 0, 1, 2, 3, 4, 5, 6, 7
        .byte           (8 - \x) * (8 - \y), \x * (8 - \y), (8 - \x) * \y, \x * \y
  .endr
.endr
endconst

// Writes the taps of a Catmull-Rom spline for each sixteenth of a sample, with the macro row.
.macro spline row
        \row            0, 64,  0,  0
        \row            -2, 63,  3,  0
        \row            -3, 62,  6, -1
        \row            -4, 59, 10, -1
        \row            -4, 56, 14, -2
        \row            -5, 51, 20, -2
        \row            -5, 47, 25, -3
        \row            -4, 41, 30, -3
        \row            -4, 36, 36, -4
        \row            -3, 30, 41, -4
        \row            -3, 25, 47, -5
        \row            -2, 20, 51, -5
        \row            -2, 14, 56, -4
        \row            -1, 10, 59, -4
        \row            -1,  6, 62, -3
        \row            0,  3, 63, -2
.endm

.macro four_of_six_taps t0, t1, t2, t3
        .byte           0, \t0, \t1, \t2, \t3, 0, 0, 0
.endm

// six taps for each sixteenth of a sample, in eight bytes: first those of a sinc with a window, for eight columns, then
// those of the spline between zeros, for fewer
const long_taps, align=3
        .byte            0,  0, 64,  0,  0,  0,  0,  0
        .byte            1, -3, 63,  4, -1,  0,  0,  0
        .byte            1, -5, 62,  8, -2,  0,  0,  0
        .byte            2, -7, 60, 12, -3,  0,  0,  0
        .byte            2, -9, 58, 17, -4,  0,  0,  0
        .byte            2, -9, 53, 23, -6,  1,  0,  0
        .byte            2, -9, 49, 28, -7,  1,  0,  0
        .byte            2, -9, 44, 34, -8,  1,  0,  0
        .byte            2, -9, 39, 39, -9,  2,  0,  0
        .byte            1, -8, 34, 44, -9,  2,  0,  0
        .byte            1, -7, 28, 49, -9,  2,  0,  0
        .byte            1, -6, 23, 53, -9,  2,  0,  0
        .byte            0, -4, 17, 58, -9,  2,  0,  0
        .byte            0, -3, 12, 60, -7,  2,  0,  0
        .byte            0, -2,  8, 62, -5,  1,  0,  0
        .byte            0, -1,  4, 63, -3,  1,  0,  0
        spline          four_of_six_taps
endconst

// Loads a row of samples and, in right, the samples to their right, and advances the pointer.
.macro load_pairs dst, right, pointer
        ld1             {v\dst\().16b}, [\pointer], x2
        ext             v\right\().16b, v\dst\().16b, v\dst\().16b, #1
.endm

// Interpolates a row between two rows with the weights w0 to w3.
.macro between dst, upper, upper_right, lower, lower_right, w0, w1, w2, w3
        umull           v\dst\().8h, v\upper\().8b, v\w0\().8b
        umlal           v\dst\().8h, v\upper_right\().8b, v\w1\().8b
        umlal           v\dst\().8h, v\lower\().8b, v\w2\().8b
        umlal           v\dst\().8h, v\lower_right\().8b, v\w3\().8b
        rshrn           v\dst\().8b, v\dst\().8h, #6
.endm

// int sad_8(const uint8_t *a, const uint8_t *b, ptrdiff_t stride, int at_a, int at_b)
function ff_mvfps_sad_8_neon, export=1
        movrel          x5, bilinear
        add             x6, x5, w3, sxtw #2
        add             x7, x5, w4, sxtw #2
        ld4r            {v20.8b, v21.8b, v22.8b, v23.8b}, [x6]
        ld4r            {v24.8b, v25.8b, v26.8b, v27.8b}, [x7]
        movi            v31.8h, #0
        load_pairs      0, 1, x0
        load_pairs      2, 3, x1
.rept 4
        load_pairs      4, 5, x0
        load_pairs      6, 7, x1
        between         16, 0, 1, 4, 5, 20, 21, 22, 23
        between         17, 2, 3, 6, 7, 24, 25, 26, 27
        uabal           v31.8h, v16.8b, v17.8b
        load_pairs      0, 1, x0
        load_pairs      2, 3, x1
        between         16, 4, 5, 0, 1, 20, 21, 22, 23
        between         17, 6, 7, 2, 3, 24, 25, 26, 27
        uabal           v31.8h, v16.8b, v17.8b
.endr
        uaddlv          s0, v31.8h
        fmov            w0, s0
        ret
endfunc

// Loads a row of eight samples of one component, and widens them.
.macro load_row dst, pointer
        ld1             {v\dst\().8b}, [\pointer], x3
        uxtl            v\dst\().8h, v\dst\().8b
.endm

// Loads a row of one component, and filters it horizontally with six taps; clobbers v0, v1, v28
.macro filter_row dst, pointer, taps
        ld1             {v0.16b}, [\pointer], x3
        uxtl2           v1.8h, v0.16b
        uxtl            v0.8h, v0.8b
        mul             v\dst\().8h, v0.8h, v\taps\().h[0]
.irp tap, 1, 2, 3, 4, 5
        ext             v28.16b, v0.16b, v1.16b, #2 * \tap
        mla             v\dst\().8h, v28.8h, v\taps\().h[\tap]
.endr
.endm

// Filters six rows of sums vertically: the result is in v0. Clobbers v1
.macro filter_column taps, r0, r1, r2, r3, r4, r5
        sum_four        \taps, \r0, \r1, \r2, \r3
        add_row         \r4, \taps, 4
        add_row         \r5, \taps, 5
        round_sums
.endm

// Sums the products of taps with four rows in v0 and v1.
.macro sum_four taps, r0, r1, r2, r3
        smull           v0.4s, v\r0\().4h, v\taps\().h[0]
        smull2          v1.4s, v\r0\().8h, v\taps\().h[0]
        add_row         \r1, \taps, 1
        add_row         \r2, \taps, 2
        add_row         \r3, \taps, 3
.endm

// Rounds and clips the sums in v0 and v1: the result is in v0.
.macro round_sums
        sqrshrun        v0.4h, v0.4s, #12
        sqrshrun2       v0.8h, v1.4s, #12
        umin            v0.8h, v0.8h, v6.8h
.endm

.macro add_row row, taps, tap
        smlal           v0.4s, v\row\().4h, v\taps\().h[\tap]
        smlal2          v1.4s, v\row\().8h, v\taps\().h[\tap]
.endm

// Filters six rows of samples vertically: the result is in v0.
.macro filter_samples taps, r0, r1, r2, r3, r4, r5
        mul             v0.8h, v\r0\().8h, v\taps\().h[0]
        mla             v0.8h, v\r1\().8h, v\taps\().h[1]
        mla             v0.8h, v\r2\().8h, v\taps\().h[2]
        mla             v0.8h, v\r3\().8h, v\taps\().h[3]
        mla             v0.8h, v\r4\().8h, v\taps\().h[4]
        mla             v0.8h, v\r5\().8h, v\taps\().h[5]
        sqrshrun        v0.8b, v0.8h, #6
        uxtl            v0.8h, v0.8b
.endm

// Computes a row of both matches: loads and filters the last of six rows of each picture, then filters the six rows
// vertically. a0 to a5, b0 to b5: registers of the rows
.macro match_row a0, a1, a2, a3, a4, a5, b0, b1, b2, b3, b4, b5
        filter_row      \a5, x1, 2
        filter_row      \b5, x2, 3
        filter_column   4, \a0, \a1, \a2, \a3, \a4, \a5
        mov             v29.16b, v0.16b
        filter_column   5, \b0, \b1, \b2, \b3, \b4, \b5
        store_row       29, 0
.endm

// Does the same where only vertical filtering is needed.
.macro upright_row a0, a1, a2, a3, a4, a5, b0, b1, b2, b3, b4, b5
        load_row        \a5, x1
        load_row        \b5, x2
        filter_samples  4, \a0, \a1, \a2, \a3, \a4, \a5
        mov             v29.16b, v0.16b
        filter_samples  5, \b0, \b1, \b2, \b3, \b4, \b5
        store_row       29, 0
.endm

// Computes all rows with the macro row, and rotates the registers of the six rows.
.macro all_rows row
1:      \row           16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
        b.le            9f
        \row           17, 18, 19, 20, 21, 16, 23, 24, 25, 26, 27, 22
        b.le            9f
        \row           18, 19, 20, 21, 16, 17, 24, 25, 26, 27, 22, 23
        b.le            9f
        \row           19, 20, 21, 16, 17, 18, 25, 26, 27, 22, 23, 24
        b.le            9f
        \row           20, 21, 16, 17, 18, 19, 26, 27, 22, 23, 24, 25
        b.le            9f
        \row           21, 16, 17, 18, 19, 20, 27, 22, 23, 24, 25, 26
        b.gt            1b
        b               9f
.endm

// Loads the taps with an index, as words.
.macro load_taps dst, index
        ldr             d\dst, [x5, \index, lsl #3]
        sxtl            v\dst\().8h, v\dst\().8b
.endm

// Stores a row of both matches, adds their absolute differences to v7, and decrements w6.
.macro store_row a, b
        str             q\a, [x0], #16
        str             q\b, [x0, #128 - 16]
        uaba            v7.8h, v\a\().8h, v\b\().8h
        subs            w6, w6, #1
.endm

// int match_8(uint16_t (*dst)[64], const uint8_t *a, const uint8_t *b, ptrdiff_t stride, const int *at,
//             int w, int h, int max)
function ff_mvfps_match_8_neon, export=1
        ldp             w9, w10, [x4]
        movi            v6.8h, #255
        movi            v7.8h, #0
        cmp             w5, #8
        movrel          x5, long_taps
        b.ge            1f
        add             x5, x5, #16 * 8
1:      orr             w4, w9, w10
        and             w11, w9, #15
        and             w12, w10, #15
        lsr             w9, w9, #4
        lsr             w10, w10, #4
        load_taps       2, x11
        load_taps       3, x12
        load_taps       4, x9
        load_taps       5, x10
        cbz             w4, 2f
        tst             w4, #15
        b.eq            3f
        sub             x1, x1, #2
        sub             x2, x2, #2
        cmp             w4, #16
        b.lo            4f
        sub             x1, x1, x3, lsl #1
        sub             x2, x2, x3, lsl #1
.irp row, 16, 17, 18, 19, 20
        filter_row      \row, x1, 2
.endr
.irp row, 22, 23, 24, 25, 26
        filter_row      \row, x2, 3
.endr
        all_rows        match_row
        // both blocks are at whole samples
2:      load_row        0, x1
        load_row        1, x2
        store_row       0, 1
        b.gt            2b
        b               9f
        // both blocks are between rows, but not between columns
3:      sub             x1, x1, x3, lsl #1
        sub             x2, x2, x3, lsl #1
.irp row, 16, 17, 18, 19, 20
        load_row        \row, x1
.endr
.irp row, 22, 23, 24, 25, 26
        load_row        \row, x2
.endr
        all_rows        upright_row
        // both blocks are between columns, but not between rows
4:      filter_row      16, x1, 2
        filter_row      17, x2, 3
        sqrshrun        v16.8b, v16.8h, #6
        sqrshrun        v17.8b, v17.8h, #6
        uxtl            v16.8h, v16.8b
        uxtl            v17.8h, v17.8b
        store_row       16, 17
        b.gt            4b
9:      uaddlv          s0, v7.8h
        fmov            w0, s0
        ret
endfunc

// void mean_8(uint16_t *dst, const uint16_t *a, const uint16_t *b, int share, int nb)
function ff_mvfps_mean_8_neon, export=1
        mov             w5, #64
        sub             w5, w5, w3
        dup             v4.8h, w3
        dup             v5.8h, w5
1:      ld1             {v0.8h, v1.8h}, [x1], #32
        ld1             {v2.8h, v3.8h}, [x2], #32
        subs            w4, w4, #16
        mul             v0.8h, v0.8h, v4.8h
        mul             v1.8h, v1.8h, v4.8h
        mla             v0.8h, v2.8h, v5.8h
        mla             v1.8h, v3.8h, v5.8h
        urshr           v0.8h, v0.8h, #6
        urshr           v1.8h, v1.8h, #6
        st1             {v0.8h, v1.8h}, [x0], #32
        b.gt            1b
        ret
endfunc

// Computes four weights from doubts and windows, and their products with values. Clobbers doubts.
.macro weigh weights, sums, doubts, windows, values
        mul             \doubts, \doubts, \doubts
        ucvtf           \doubts, \doubts
        fdiv            \doubts, v25.4s, \doubts
        fcvtzu          \doubts, \doubts
        umax            \doubts, \doubts, v26.4s
        mul             \weights, \doubts, \windows
        mul             \sums, \weights, \values
.endm

// Weights 8 values of two matches by trust and window. window: its register; l: l to add to the sums and weights in
// memory, or nothing to replace them
.macro add_weighted window, l
        ld1             {v0.8h}, [x2], #16
        ld1             {v1.8h}, [x11], #16
        mul             v2.8h, v0.8h, v31.8h
        mls             v2.8h, v1.8h, v31.8h
        shl             v3.8h, v1.8h, #6
        uabd            v0.8h, v0.8h, v1.8h
        add             v2.8h, v2.8h, v3.8h
        shl             v0.8h, v0.8h, #3
        urshr           v2.8h, v2.8h, #4
        add             v0.8h, v0.8h, v24.8h
        uxtl            v1.4s, v0.4h
        uxtl2           v3.4s, v0.8h
        uxtl            v4.4s, v\window\().4h
        uxtl2           v5.4s, v\window\().8h
        uxtl            v6.4s, v2.4h
        uxtl2           v7.4s, v2.8h
        weigh           v27.4s, v29.4s, v1.4s, v4.4s, v6.4s
        weigh           v28.4s, v30.4s, v3.4s, v5.4s, v7.4s
.ifc \l, l
        ld1             {v0.4s, v1.4s}, [x1]
        ld1             {v2.4s, v3.4s}, [x0]
        add             v27.4s, v27.4s, v0.4s
        add             v28.4s, v28.4s, v1.4s
        add             v29.4s, v29.4s, v2.4s
        add             v30.4s, v30.4s, v3.4s
.endif
        st1             {v27.4s, v28.4s}, [x1], #32
        st1             {v29.4s, v30.4s}, [x0], #32
.endm

// Weights the values of up to 64 samples, and returns.
.macro add_all l
        add_weighted    16, \l
        add_weighted    17, \l
        subs            w7, w7, #16
        b.le            9f
        add_weighted    18, \l
        add_weighted    19, \l
        subs            w7, w7, #16
        b.le            9f
        add_weighted    20, \l
        add_weighted    21, \l
        subs            w7, w7, #16
        b.le            9f
        add_weighted    22, \l
        add_weighted    23, \l
9:      ret
.endm

// void add_8(uint32_t *sum, uint32_t *weights, const uint16_t (*matches)[64], const uint16_t (*windows)[64],
//            unsigned cells, int share, int difference, int nb, int first, int depth)
// Dividends and divisors are below 1 << 24, so quotients of floats, rounded down, are exact.
function ff_mvfps_add_8_neon, export=1
        ldr             w8, [sp]
        add             x11, x2, #128
        dup             v31.8h, w5
        lsr             w6, w6, #3
        add             w6, w6, #64
        dup             v24.8h, w6
        movz            w9, #0x38, lsl #16      // (3584 >> 2) * 4096
        dup             v25.4s, w9
        ucvtf           v25.4s, v25.4s
        movi            v26.4s, #1
        // adds up the windows of all cells
        rbit            w9, w4
        clz             w9, w9
        sub             w10, w4, #1
        and             w4, w4, w10
        add             x10, x3, x9, lsl #7
        ld1             {v16.8h, v17.8h, v18.8h, v19.8h}, [x10], #64
        ld1             {v20.8h, v21.8h, v22.8h, v23.8h}, [x10]
        cbz             w4, 2f
1:      rbit            w9, w4
        clz             w9, w9
        sub             w10, w4, #1
        ands            w4, w4, w10
        add             x10, x3, x9, lsl #7
        ld1             {v0.8h, v1.8h, v2.8h, v3.8h}, [x10], #64
        ld1             {v4.8h, v5.8h, v6.8h, v7.8h}, [x10]
        add             v16.8h, v16.8h, v0.8h
        add             v17.8h, v17.8h, v1.8h
        add             v18.8h, v18.8h, v2.8h
        add             v19.8h, v19.8h, v3.8h
        add             v20.8h, v20.8h, v4.8h
        add             v21.8h, v21.8h, v5.8h
        add             v22.8h, v22.8h, v6.8h
        add             v23.8h, v23.8h, v7.8h
        b.ne            1b
2:      cbnz            w8, 3f
        add_all         l
3:      add_all
endfunc

// void divide_8(uint16_t *dst, const uint32_t *sum, const uint32_t *weights, int nb, int depth)
function ff_mvfps_divide_8_neon, export=1
1:      ld1             {v0.4s}, [x2], #16
        ld1             {v2.4s}, [x1], #16
        shl             v1.4s, v0.4s, #1
        shl             v0.4s, v0.4s, #2
        add             v2.4s, v2.4s, v1.4s
        uxtl            v4.2d, v0.2s
        uxtl2           v5.2d, v0.4s
        uxtl            v6.2d, v2.2s
        uxtl2           v7.2d, v2.4s
        ucvtf           v4.2d, v4.2d
        ucvtf           v5.2d, v5.2d
        ucvtf           v6.2d, v6.2d
        ucvtf           v7.2d, v7.2d
        subs            w3, w3, #4
        fdiv            v6.2d, v6.2d, v4.2d
        fdiv            v7.2d, v7.2d, v5.2d
        fcvtzu          v6.2d, v6.2d
        fcvtzu          v7.2d, v7.2d
        xtn             v6.2s, v6.2d
        xtn2            v6.4s, v7.2d
        xtn             v6.4h, v6.4s
        st1             {v6.4h}, [x0], #8
        b.gt            1b
        ret
endfunc

// void store_8(uint8_t *dst, ptrdiff_t stride, const uint16_t *src, int w, int h)
// Rows have 8 or 4 samples; h is even.
function ff_mvfps_store_8_neon, export=1
        cmp             w3, #8
        b.lt            2f
1:      ld1             {v0.8h, v1.8h}, [x2], #32
        subs            w4, w4, #2
        xtn             v0.8b, v0.8h
        xtn             v1.8b, v1.8h
        st1             {v0.8b}, [x0], x1
        st1             {v1.8b}, [x0], x1
        b.gt            1b
        ret
2:      ldr             d0, [x2], #16
        ldr             d1, [x2], #16
        subs            w4, w4, #2
        xtn             v0.8b, v0.8h
        xtn             v1.8b, v1.8h
        st1             {v0.s}[0], [x0], x1
        st1             {v1.s}[0], [x0], x1
        b.gt            2b
        ret
endfunc

// void sum_distances(int *sums, const MvfpsVector *v, int nb, const MvfpsVector *others)
function ff_mvfps_sum_distances_neon, export=1
        ld1             {v2.8h, v3.8h}, [x3]
        movi            v4.4s, #32
1:      ld1r            {v0.4s}, [x1], #4
        subs            w2, w2, #1
        sabd            v1.8h, v0.8h, v3.8h
        sabd            v0.8h, v0.8h, v2.8h
        uaddlp          v1.4s, v1.8h
        uaddlp          v0.4s, v0.8h
        umin            v1.4s, v1.4s, v4.4s
        umin            v0.4s, v0.4s, v4.4s
        add             v0.4s, v0.4s, v1.4s
        addv            s0, v0.4s
        str             s0, [x0], #4
        b.gt            1b
        ret
endfunc

// Finds the columns, or rows, of cells that displacements in eighths of a sample lead to. centre: centre of the cell
// from which they begin; last: last column or row; v31: 0
.macro place position, centre, last
        sshr            v\position\().4s, v\position\().4s, #3
        add             v\position\().4s, v\position\().4s, v\centre\().4s
        sshr            v\position\().4s, v\position\().4s, #3
        smax            v\position\().4s, v\position\().4s, v31.4s
        smin            v\position\().4s, v\position\().4s, v\last\().4s
.endm

// Splits components of vectors into displacements to the picture before and to the picture after. v27: part
.macro ends before, after, components
        mul             v\before\().4s, v\components\().4s, v27.4s
        shl             v\after\().4s, v\components\().4s, #1
        srshr           v\before\().4s, v\before\().4s, #12
        sub             v\after\().4s, v\after\().4s, v\before\().4s
        neg             v\before\().4s, v\before\().4s
.endm

// Loads four vectors of a field, whose indices are in w7 and w15 to w17. x8: clobbered
.macro gather dst, field
        ldr             s\dst, [\field, w7, sxtw #2]
        add             x8, \field, w15, sxtw #2
        ld1             {v\dst\().s}[1], [x8]
        add             x8, \field, w16, sxtw #2
        ld1             {v\dst\().s}[2], [x8]
        add             x8, \field, w17, sxtw #2
        ld1             {v\dst\().s}[3], [x8]
.endm

// Computes the sums of the distances between vectors of two fields at the same cells and other vectors. v7, w7, x8 and
// w15 to w17: clobbered
.macro away dst, indices, field, vectors, other_field, other_vectors
        mov             w7, v\indices\().s[0]
        mov             w15, v\indices\().s[1]
        mov             w16, v\indices\().s[2]
        mov             w17, v\indices\().s[3]
        gather          \dst, \field
        gather          7, \other_field
        sabd            v\dst\().8h, v\dst\().8h, v\vectors\().8h
        sabd            v7.8h, v7.8h, v\other_vectors\().8h
        uaddlp          v\dst\().4s, v\dst\().8h
        uaddlp          v7.4s, v7.8h
        umin            v\dst\().4s, v\dst\().4s, v26.4s
        umin            v7.4s, v7.4s, v26.4s
        add             v\dst\().4s, v\dst\().4s, v7.4s
.endm

// void field_penalties(int *penalties, const MvfpsVector *v, int nb, const MvfpsFields *fields, int x, int y, int part)
function ff_mvfps_field_penalties_neon, export=1
        ldp             w9, w10, [x3]                   // columns, rows
        ldp             x11, x12, [x3, #8]              // before_future, after_past
        ldp             x13, x14, [x3, #24]             // before_past, after_future
        add             w4, w4, #4
        add             w5, w5, #4
        lsl             w6, w6, #1
        dup             v29.4s, w9
        dup             v20.4s, w4
        dup             v21.4s, w5
        sub             w9, w9, #1
        sub             w10, w10, #1
        dup             v27.4s, w6
        dup             v22.4s, w9
        dup             v23.4s, w10
        movi            v31.4s, #0
        movi            v26.4s, #128
1:      ld1             {v0.8h}, [x1], #16
        subs            w2, w2, #4
        shl             v2.4s, v0.4s, #16
        sshr            v3.4s, v0.4s, #16
        sshr            v2.4s, v2.4s, #16
        neg             v1.8h, v0.8h
        ends            4, 5, 2
        ends            6, 16, 3
        place           4, 20, 22
        place           5, 20, 22
        place           6, 21, 23
        place           16, 21, 23
        mla             v4.4s, v6.4s, v29.4s
        mla             v5.4s, v16.4s, v29.4s
        away            17, 4, x11, 0, x13, 1
        away            18, 5, x12, 1, x14, 0
        smin            v17.4s, v17.4s, v18.4s
        shl             v17.4s, v17.4s, #3
        st1             {v17.4s}, [x0], #16
        b.gt            1b
        ret
endfunc
