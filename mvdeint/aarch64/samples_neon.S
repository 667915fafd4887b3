/*
 * Missing lines of a field
 *
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/aarch64/asm.S"

// offsets in MvdeintRow and MvdeintCandidate, and of the part of MvdeintModel for interpolations
#define ROW_CANDIDATES  16
#define ROW_FIRST       112
#define ROW_INTRA       120
#define ROW_ACTIVITY    128
#define ROW_STEP        136
#define ROW_MODEL       144
#define CANDIDATE       24
#define CANDIDATE_KNOWN  8
#define CANDIDATE_ERROR 16
#define MODEL_INTRA     48

// offsets on the stack of arrays with values for each candidate
#define EXPECTED        0
#define HALF_LOG2       64
#define POWER           128
#define DIFFERENCE      192
#define STACK           256

// the six taps for each eighth of a sample
const taps, align=4
        .hword          0,   0, 64,  0,   0, 0, 0, 0
        .hword          0,  -2, 58, 10,  -2, 0, 0, 0
        .hword          1,  -5, 52, 20,  -5, 1, 0, 0
        .hword          1,  -7, 46, 30,  -8, 2, 0, 0
        .hword          2, -10, 40, 40, -10, 2, 0, 0
        .hword          2,  -8, 30, 46,  -7, 1, 0, 0
        .hword          1,  -5, 20, 52,  -5, 1, 0, 0
        .hword          0,  -2, 10, 58,  -2, 0, 0, 0
endconst

// Adds a line of sums times tap i to v16 and v17.
.macro add_line line, i
        smlal           v16.4s, v\line\().4h, v1.h[\i]
        smlal2          v17.4s, v\line\().8h, v1.h[\i]
.endm

// void match_8(uint16_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t stride, int fx, int fy, int w,
//              int h, int depth)
function ff_mvdeint_match_8_neon, export=1
        orr             w8, w4, w5
        lsl             x1, x1, #1
        cbz             w8, 3f
        movrel          x9, taps
        add             x10, x9, w4, uxtw #4
        add             x11, x9, w5, uxtw #4
        sub             x2, x2, x3, lsl #1
        ld1             {v0.8h}, [x10]
        ld1             {v1.8h}, [x11]
        sub             x2, x2, #2
        sub             sp, sp, #208
        mov             x12, sp
        add             w13, w7, #5
        mov             w14, #4080
        dup             v31.8h, w14
1:      // filters horizontally
        ld1             {v2.16b}, [x2], x3
        uxtl            v3.8h, v2.8b
        uxtl2           v4.8h, v2.16b
        ext             v5.16b, v3.16b, v4.16b, #2
        ext             v6.16b, v3.16b, v4.16b, #4
        ext             v7.16b, v3.16b, v4.16b, #6
        ext             v16.16b, v3.16b, v4.16b, #8
        ext             v17.16b, v3.16b, v4.16b, #10
        mul             v18.8h, v3.8h, v0.h[0]
        mul             v19.8h, v5.8h, v0.h[1]
        mla             v18.8h, v6.8h, v0.h[2]
        mla             v19.8h, v7.8h, v0.h[3]
        mla             v18.8h, v16.8h, v0.h[4]
        mla             v19.8h, v17.8h, v0.h[5]
        subs            w13, w13, #1
        add             v18.8h, v18.8h, v19.8h
        st1             {v18.8h}, [x12], #16
        b.gt            1b
        mov             x12, sp
2:      // filters vertically
        ldp             q2, q3, [x12]
        ldp             q4, q5, [x12, #32]
        ldp             q6, q7, [x12, #64]
        add             x12, x12, #16
        smull           v16.4s, v2.4h, v1.h[0]
        smull2          v17.4s, v2.8h, v1.h[0]
        add_line        3, 1
        add_line        4, 2
        add_line        5, 3
        add_line        6, 4
        add_line        7, 5
        subs            w7, w7, #1
        sqrshrun        v16.4h, v16.4s, #8
        sqrshrun2       v16.8h, v17.4s, #8
        umin            v16.8h, v16.8h, v31.8h
        st1             {v16.8h}, [x0], x1
        b.gt            2b
        add             sp, sp, #208
        ret
3:      // no fraction
        ld1             {v0.8b}, [x2], x3
        subs            w7, w7, #1
        ushll           v0.8h, v0.8b, #4
        st1             {v0.8h}, [x0], x1
        b.gt            3b
        ret
endfunc

// Sets dst to the address of entry x8 in an array of a row, whose entries have 2^shift bytes.
.macro array dst, offset, shift
        ldr             \dst, [x1, #\offset]
        add             \dst, \dst, x8, lsl #\shift
.endm

// Loads four bytes as dwords. x9: clobbered
.macro load_bytes dst, offset
        ldr             x9, [x1, #\offset]
        ldr             s\dst, [x9, x8]
        uxtl            v\dst\().8h, v\dst\().8b
        uxtl            v\dst\().4s, v\dst\().4h
.endm

// Computes the integer part of binary logarithms. v7: clobbered
.macro log2 dst, src
        movi            v7.4s, #31
        clz             v\dst\().4s, v\src\().4s
        eor             v\dst\().16b, v\dst\().16b, v7.16b
.endm

// Loads entries of a table of words at four indices. x9, x11 to x13: clobbered
.macro gather dst, indices, table
        fmov            x9, d\indices
        umov            x12, v\indices\().d[1]
        movi            v\dst\().4s, #0
        lsr             x11, x9, #32
        lsr             x13, x12, #32
        add             x9, \table, w9, uxtw #1
        add             x11, \table, x11, lsl #1
        add             x12, \table, w12, uxtw #1
        add             x13, \table, x13, lsl #1
        ld1             {v\dst\().h}[0], [x9]
        ld1             {v\dst\().h}[2], [x11]
        ld1             {v\dst\().h}[4], [x12]
        ld1             {v\dst\().h}[6], [x13]
.endm

// dst = a / b, unsigned. v0 to v3: clobbered
.macro divide dst, a, b
        uxtl            v0.2d, v\a\().2s
        uxtl            v1.2d, v\b\().2s
        uxtl2           v2.2d, v\a\().4s
        uxtl2           v3.2d, v\b\().4s
        ucvtf           v0.2d, v0.2d
        ucvtf           v1.2d, v1.2d
        ucvtf           v2.2d, v2.2d
        ucvtf           v3.2d, v3.2d
        fdiv            v0.2d, v0.2d, v1.2d
        fdiv            v2.2d, v2.2d, v3.2d
        fcvtzu          v0.2d, v0.2d
        fcvtzu          v2.2d, v2.2d
        xtn             v\dst\().2s, v0.2d
        xtn2            v\dst\().4s, v2.2d
.endm

// Computes the expected error of candidate i. v4: the terms of its partner; v24, v25: coefficients; v28: least error
.macro expected i, error, known
        load_bytes      6, \known
        array           x9, \error, 2
        movi            v7.4s, #16
        ld1             {v27.4s}, [x9]
        sub             v7.4s, v7.4s, v6.4s
        mul             v26.4s, v6.4s, v24.s[1]
        mla             v26.4s, v7.4s, v24.s[2]
        mul             v5.4s, v7.4s, v25.s[1]
        mul             v6.4s, v7.4s, v25.s[2]
        urshr           v26.4s, v26.4s, #4
        urshr           v5.4s, v5.4s, #4
        urshr           v6.4s, v6.4s, #4
        mul             v26.4s, v26.4s, v27.4s
        mla             v26.4s, v5.4s, v22.4s
        mla             v26.4s, v6.4s, v23.4s
        add             v26.4s, v26.4s, v4.4s
        dup             v27.4s, v24.s[0]
        usra            v27.4s, v26.4s, #1
        str             q27, [sp, #EXPECTED + 16 * \i]
        umin            v28.4s, v28.4s, v27.4s
.endm

// Computes the expected errors of two partners, of which i is the first.
.macro partners i, model
        ldr             q24, [x10, #\model]
        ldur            q25, [x10, #\model + 8]
        array           x9, ROW_CANDIDATES + CANDIDATE * \i, 1
        array           x11, ROW_CANDIDATES + CANDIDATE * (\i + 1), 1
        ldr             d2, [x9]
        ldr             d3, [x11]
        uxtl            v2.4s, v2.4h
        uxtl            v3.4s, v3.4h
        uabd            v4.4s, v2.4s, v3.4s
        sub             v2.4s, v2.4s, v18.4s
        sub             v3.4s, v3.4s, v18.4s
        urshr           v4.4s, v4.4s, #1
        stp             q2, q3, [sp, #DIFFERENCE + 16 * \i]
        umin            v4.4s, v4.4s, v31.4s
        mul             v4.4s, v4.4s, v4.4s
        mul             v4.4s, v4.4s, v25.s[3]
        expected        \i, ROW_CANDIDATES + CANDIDATE * \i + CANDIDATE_ERROR, \
                        ROW_CANDIDATES + CANDIDATE * \i + CANDIDATE_KNOWN
        expected        (\i + 1), ROW_CANDIDATES + CANDIDATE * (\i + 1) + CANDIDATE_ERROR, \
                        ROW_CANDIDATES + CANDIDATE * (\i + 1) + CANDIDATE_KNOWN
.endm

// Computes the logarithm of an error, its first 7 bits, and its index in the table of powers. v7: clobbered
.macro index index, bits, log2, error
        log2            \log2, \error
        movi            v7.4s, #7
        sub             v7.4s, v7.4s, v\log2\().4s
        ushl            v\bits\().4s, v\error\().4s, v7.4s
        and             v\bits\().16b, v\bits\().16b, v30.16b
        shl             v\index\().4s, v\log2\().4s, #31
        ushr            v\index\().4s, v\index\().4s, #24
        orr             v\index\().16b, v\index\().16b, v\bits\().16b
.endm

// v\power >>= 3 * (v\half - v\least). half, v7: clobbered
.macro weight power, half, least
        sub             v7.4s, v\least\().4s, v\half\().4s
        add             v\half\().4s, v7.4s, v7.4s
        add             v\half\().4s, v\half\().4s, v7.4s
        ushl            v\power\().4s, v\power\().4s, v\half\().4s
.endm

// Adds a candidate to the weighted mean. v4, v5, v6: sums of weights, of inverses and of weighted differences; v29:
// logarithm of the least error; v8: half of this logarithm
.macro add_candidate i
        ldr             q24, [sp, #EXPECTED + 16 * \i]
        ldr             q2, [sp, #DIFFERENCE + 16 * \i]
        index           25, 26, 27, 24
        gather          24, 26, x3
        gather          26, 25, x2
        sub             v7.4s, v29.4s, v27.4s
        ushr            v27.4s, v27.4s, #1
        ushl            v24.4s, v24.4s, v7.4s
        str             q26, [sp, #POWER + 16 * \i]
        str             q27, [sp, #HALF_LOG2 + 16 * \i]
        add             v5.4s, v5.4s, v24.4s
        weight          26, 27, 8
        abs             v3.4s, v2.4s
        cmlt            v2.4s, v2.4s, #0
        urshr           v3.4s, v3.4s, #1
        umin            v3.4s, v3.4s, v31.4s
        add             v4.4s, v4.4s, v26.4s
        mul             v3.4s, v3.4s, v26.4s
        eor             v3.16b, v3.16b, v2.16b
        sub             v3.4s, v3.4s, v2.4s
        add             v6.4s, v6.4s, v3.4s
.endm

// Computes the expected error of an interpolation. off: register of its difference from the candidates' mean; v5: its
// share in this difference; v3: squared difference of both interpolations
.macro interpolation dst, off, model
        ldr             q24, [x10, #\model]
        ldr             s25, [x10, #\model + 16]
        neg             v2.4s, v31.4s
        smin            v0.4s, v\off\().4s, v31.4s
        smax            v0.4s, v0.4s, v2.4s
        mul             v0.4s, v0.4s, v0.4s
        mul             v0.4s, v0.4s, v5.4s
        ushr            v0.4s, v0.4s, #10
        mul             v1.4s, v22.4s, v24.s[1]
        mla             v1.4s, v23.4s, v24.s[2]
        mla             v1.4s, v0.4s, v24.s[3]
        mla             v1.4s, v3.4s, v25.s[0]
        dup             v\dst\().4s, v24.s[0]
        usra            v\dst\().4s, v1.4s, #1
.endm

// Sets v26 to the weight of an interpolation, and adds the weight to v10.
.macro add_interpolation error
        index           25, 26, 27, \error
        gather          26, 25, x2
        ushr            v27.4s, v27.4s, #1
        weight          26, 27, 8
        add             v10.4s, v10.4s, v26.4s
.endm

// void combine_8(uint8_t *dst, const MvdeintRow *row, const uint16_t *power, const uint16_t *inverse)
function ff_mvdeint_combine_8_neon, export=1
        ldr             w4, [x1]
        ldr             x10, [x1, #ROW_MODEL]
        sub             sp, sp, #STACK + 32
        mov             w9, #1023
        stp             d8, d9, [sp, #STACK]
        stp             d10, d11, [sp, #STACK + 16]
        mov             x8, #0
        movi            v30.4s, #127
        dup             v31.4s, w9
1:
        load_bytes      16, ROW_FIRST
        load_bytes      17, ROW_INTRA
        array           x9, ROW_ACTIVITY, 2
        array           x11, ROW_STEP, 2
        ld1             {v20.4s}, [x9]
        ld1             {v21.4s}, [x11]
        shl             v18.4s, v16.4s, #4
        uabd            v19.4s, v16.4s, v17.4s
        ushr            v22.4s, v20.4s, #4
        ushr            v23.4s, v21.4s, #4
        shl             v19.4s, v19.4s, #3
        movi            v28.16b, #255
        umin            v19.4s, v19.4s, v31.4s
        partners        0, 0
        partners        2, 24

        // v9: the mean of the candidates; v5: the share of an interpolation in its difference from the candidates
        log2            29, 28
        movi            v4.4s, #0
        movi            v5.4s, #0
        movi            v6.4s, #0
        ushr            v8.4s, v29.4s, #1
        add_candidate   0
        add_candidate   1
        add_candidate   2
        add_candidate   3
        abs             v25.4s, v6.4s
        divide          9, 25, 4
        cmlt            v6.4s, v6.4s, #0
        eor             v9.16b, v9.16b, v6.16b
        sub             v9.4s, v9.4s, v6.4s
        movi            v24.4s, #102
        movi            v25.4s, #10
        movi            v26.4s, #13
        mul             v24.4s, v24.4s, v20.4s
        mla             v24.4s, v25.4s, v21.4s
        movi            v25.4s, #128, lsl #16           // 4 << 21
        usra            v26.4s, v24.4s, #10
        divide          24, 25, 5
        movi            v25.4s, #19
        sub             v25.4s, v29.4s, v25.4s
        ushl            v24.4s, v24.4s, v25.4s
        add             v24.4s, v24.4s, v26.4s
        shl             v26.4s, v26.4s, #10
        divide          5, 26, 24

        // expected errors of the interpolations
        cmhi            v25.4s, v17.4s, v16.4s
        mul             v3.4s, v19.4s, v19.4s
        eor             v6.16b, v19.16b, v25.16b
        sub             v6.4s, v6.4s, v25.4s
        add             v6.4s, v6.4s, v9.4s
        interpolation   20, 9, MODEL_INTRA
        interpolation   21, 6, MODEL_INTRA + 20
        umin            v28.4s, v28.4s, v20.4s
        umin            v28.4s, v28.4s, v21.4s
        log2            29, 28
        movi            v10.4s, #0
        movi            v11.4s, #0
        ushr            v8.4s, v29.4s, #1

        // v10: sum of all weights; v11: sum of weighted differences
.irp i, 0, 1, 2, 3
        ldr             q26, [sp, #POWER + 16 * \i]
        ldr             q27, [sp, #HALF_LOG2 + 16 * \i]
        ldr             q25, [sp, #DIFFERENCE + 16 * \i]
        weight          26, 27, 8
        add             v10.4s, v10.4s, v26.4s
        mla             v11.4s, v25.4s, v26.4s
.endr
        add_interpolation 20
        add_interpolation 21
        sub             v17.4s, v17.4s, v16.4s
        shl             v17.4s, v17.4s, #4
        mla             v11.4s, v17.4s, v26.4s

        abs             v25.4s, v11.4s
        cmlt            v11.4s, v11.4s, #0
        add             v25.4s, v25.4s, v25.4s
        shl             v26.4s, v10.4s, #4
        shl             v24.4s, v10.4s, #5
        add             v25.4s, v25.4s, v26.4s
        divide          4, 25, 24
        eor             v4.16b, v4.16b, v11.16b
        sub             v4.4s, v4.4s, v11.4s
        add             v4.4s, v4.4s, v16.4s
        xtn             v4.4h, v4.4s
        xtn             v4.8b, v4.8h
        str             s4, [x0, x8]
        add             x8, x8, #4
        cmp             w8, w4
        b.lt            1b
        ldp             d10, d11, [sp, #STACK + 16]
        ldp             d8, d9, [sp, #STACK]
        add             sp, sp, #STACK + 32
        ret
endfunc

// Updates the least costs of eight samples in v4 by the cost of direction i, times 8, plus the number of the direction.
// x9, x10: the lines above and below; v0 to v3: clobbered
.macro direction i, cost
.irp e, -2, -1, 0, 1, 2
        ldur            d0, [x9, #(\i + \e)]
        ldur            d1, [x10, #(\e - \i)]
.if \e == -2
        uabdl           v2.8h, v0.8b, v1.8b
.else
        uabal           v2.8h, v0.8b, v1.8b
.endif
.endr
        movi            v3.8h, #(16 * \cost + 3 + \i)
        shl             v2.8h, v2.8h, #3
        add             v2.8h, v2.8h, v3.8h
.if \i == -3
        mov             v4.16b, v2.16b
.else
        umin            v4.8h, v4.8h, v2.8h
.endif
.endm

// v\dst = 3 v\dst, plus one for each limit that v\v exceeds
.macro add_level dst, v, low, high
        movi            v1.8h, #3
        movi            v2.8h, #\low
        movi            v3.8h, #\high
        mul             v\dst\().8h, v\dst\().8h, v1.8h
        cmhi            v2.8h, v\v\().8h, v2.8h
        cmhi            v3.8h, v\v\().8h, v3.8h
        sub             v\dst\().8h, v\dst\().8h, v2.8h
        sub             v\dst\().8h, v\dst\().8h, v3.8h
.endm

// Adds nine samples from sample n - 4 on, times taps, to v24. first: smull or smlal
.macro add_taps line, n, taps, taps2, first=smlal
        ldur            q0, [\line, #(\n - 4)]
        uxtl            v1.8h, v0.8b
        uxtl2           v0.8h, v0.16b
        \first          v24.4s, v1.4h, v\taps\().4h
        smlal2          v24.4s, v1.8h, v\taps\().8h
        smlal           v24.4s, v0.4h, v\taps2\().4h
.endm

// void intra_8(uint8_t *dst, const uint8_t *const *lines, const int16_t (*taps)[4][16], int w)
// Writes whole multiples of 8 samples.
function ff_mvdeint_intra_8_neon, export=1
        ldp             x8, x9, [x1]
        ldp             x10, x11, [x1, #16]
1:      direction       -3, 3
        direction       -2, 2
        direction       -1, 1
        direction       0, 0
        direction       1, 1
        direction       2, 2
        direction       3, 3
        ushr            v5.8h, v4.8h, #3
        movi            v0.8h, #7
        and             v4.16b, v4.16b, v0.16b
        add_level       4, 5, 9, 39
        ldr             d0, [x8]
        ldr             d1, [x9]
        ldr             d2, [x10]
        ldr             d3, [x11]
        uabdl           v5.8h, v0.8b, v1.8b
        uabal           v5.8h, v1.8b, v2.8b
        uabal           v5.8h, v2.8b, v3.8b
        add_level       4, 5, 5, 29
        shl             v4.8h, v4.8h, #7
.irp n, 0, 1, 2, 3, 4, 5, 6, 7
        umov            w12, v4.h[\n]
        add             x12, x2, x12
        ld1             {v16.8h, v17.8h, v18.8h, v19.8h}, [x12], #64
        ld1             {v20.8h, v21.8h, v22.8h, v23.8h}, [x12]
        add_taps        x8,  \n, 16, 17, smull
        add_taps        x9,  \n, 18, 19
        add_taps        x10, \n, 20, 21
        add_taps        x11, \n, 22, 23
        addv            s24, v24.4s
.if \n < 4
        mov             v6.s[\n], v24.s[0]
.else
        mov             v7.s[\n - 4], v24.s[0]
.endif
.endr
        sqrshrun        v6.4h, v6.4s, #12
        sqrshrun2       v6.8h, v7.4s, #12
        uqxtn           v6.8b, v6.8h
        subs            w3, w3, #8
        add             x8, x8, #8
        add             x9, x9, #8
        add             x10, x10, #8
        add             x11, x11, #8
        st1             {v6.8b}, [x0], #8
        b.gt            1b
        ret
endfunc

// v0 = scaled differences of eight samples, v\weights = their weights, v2 = differences times weights
.macro weighed weights, line, samples, known
        ld1             {v0.8b}, [\line], #8
        ld1             {v2.8h}, [\samples], #16
        ld1             {v\weights\().8b}, [\known], #8
        ushll           v0.8h, v0.8b, #4
        uabd            v0.8h, v0.8h, v2.8h
        uaddw           v\weights\().8h, v7.8h, v\weights\().8b
        urshr           v0.8h, v0.8h, #1
        umin            v0.8h, v0.8h, v6.8h
        mul             v2.8h, v0.8h, v\weights\().8h
.endm

// void errors_8(const MvdeintSums *sums, const uint8_t *const *lines, const uint16_t *const *samples,
//               const uint8_t *const *known, int w, int depth)
function ff_mvdeint_errors_8_neon, export=1
        ldp             x8, x9, [x0]
        ldp             x10, x11, [x1]
        ldp             x12, x13, [x2]
        ldp             x14, x15, [x3]
        mov             w5, #1023
        movi            v7.8h, #2
        dup             v6.8h, w5
1:      weighed         1, x10, x12, x14
        umull           v16.4s, v2.4h, v0.4h
        umull2          v17.4s, v2.8h, v0.8h
        weighed         3, x11, x13, x15
        umlal           v16.4s, v2.4h, v0.4h
        umlal2          v17.4s, v2.8h, v0.8h
        add             v1.8h, v1.8h, v3.8h
        subs            w4, w4, #8
        st1             {v16.4s, v17.4s}, [x8], #32
        st1             {v1.8h}, [x9], #16
        b.gt            1b
        ret
endfunc

// v\dst = sums of five adjacent columns, for four or eight results. address: that of the third column
.macro add_columns dst, address, type, bytes
        ldur            q\dst, [\address, #(-2 * \bytes)]
        ldur            q2, [\address, #-\bytes]
        ldr             q3, [\address]
        add             v\dst\().\type, v\dst\().\type, v2.\type
        ldur            q2, [\address, #\bytes]
        add             v\dst\().\type, v\dst\().\type, v3.\type
        ldur            q3, [\address, #(2 * \bytes)]
        add             v\dst\().\type, v\dst\().\type, v2.\type
        add             v\dst\().\type, v\dst\().\type, v3.\type
.endm

// void mean(uint32_t *dst, const MvdeintSums *sums, const uint16_t *reciprocals, int w)
function ff_mvdeint_mean_neon, export=1
        ldp             x6, x7, [x1]
        mov             w8, #180
        dup             v7.8h, w8
1:      add_columns     0, x7, 8h, 2
        // weights beyond the row are not set: limits them to the table
        umin            v0.8h, v0.8h, v7.8h
        uxtl            v4.4s, v0.4h
        uxtl2           v5.4s, v0.8h
        gather          16, 4, x2
        gather          17, 5, x2
        add_columns     0, x6, 4s, 4
        add             x6, x6, #16
        add_columns     1, x6, 4s, 4
        add             x6, x6, #16
        add             x7, x7, #16
        ushr            v0.4s, v0.4s, #6
        ushr            v1.4s, v1.4s, #6
        mul             v0.4s, v0.4s, v16.4s
        mul             v1.4s, v1.4s, v17.4s
        ushr            v0.4s, v0.4s, #10
        ushr            v1.4s, v1.4s, #10
        subs            w3, w3, #8
        st1             {v0.4s, v1.4s}, [x0], #32
        b.gt            1b
        ret
endfunc

const compared, align=4
        .hword          -1, -1, -1, -1, -1, -1, -1, -1
        .hword          0, 0, 0, 0, 0, 0, 0, 0
endconst

// void compare_8(int *error, int *activity, const uint8_t *line, const uint8_t *above, const uint8_t *below,
//                const uint16_t *samples, int w, int depth)
function ff_mvdeint_compare_8_neon, export=1
        movrel          x8, compared, 16
        sub             x8, x8, w6, uxtw #1
        ld1             {v0.8b}, [x2]
        ld1             {v1.8b}, [x3]
        ld1             {v2.8b}, [x4]
        ld1             {v3.8h}, [x5]
        ld1             {v4.8h}, [x8]
        uaddl           v1.8h, v1.8b, v2.8b
        ushll           v2.8h, v0.8b, #1
        ushll           v0.8h, v0.8b, #4
        uabd            v1.8h, v1.8h, v2.8h
        uabd            v0.8h, v0.8h, v3.8h
        and             v1.16b, v1.16b, v4.16b
        and             v0.16b, v0.16b, v4.16b
        uaddlv          s1, v1.8h
        uaddlv          s0, v0.8h
        ldr             w9, [x0]
        ldr             w10, [x1]
        fmov            w11, s0
        fmov            w12, s1
        add             w9, w9, w11
        add             w10, w10, w12
        str             w9, [x0]
        str             w10, [x1]
        ret
endfunc

// void residual_8(uint16_t *dst, const uint16_t *above, const uint16_t *below, const uint8_t *line_above,
//                 const uint8_t *line_below, int w, int depth)
function ff_mvdeint_residual_8_neon, export=1
        mov             w8, #4080
        mov             w9, #(77 << 8)
        dup             v6.8h, w8
        dup             v7.8h, w9
        movi            v5.8h, #0
1:      ld1             {v0.8b}, [x3], #8
        ld1             {v1.8b}, [x4], #8
        ld1             {v2.8h}, [x1], #16
        ld1             {v3.8h}, [x2], #16
        ld1             {v4.8h}, [x0]
        ushll           v0.8h, v0.8b, #4
        ushll           v1.8h, v1.8b, #4
        sub             v0.8h, v0.8h, v2.8h
        sub             v1.8h, v1.8h, v3.8h
        // the residual with the smaller absolute value, or 0 if their signs differ
        abs             v2.8h, v0.8h
        abs             v3.8h, v1.8h
        eor             v1.16b, v1.16b, v0.16b
        smin            v2.8h, v2.8h, v3.8h
        cmlt            v0.8h, v0.8h, #0
        cmlt            v1.8h, v1.8h, #0
        sqrdmulh        v2.8h, v2.8h, v7.8h
        eor             v2.16b, v2.16b, v0.16b
        sub             v2.8h, v2.8h, v0.8h
        bic             v2.16b, v2.16b, v1.16b
        add             v4.8h, v4.8h, v2.8h
        smax            v4.8h, v4.8h, v5.8h
        smin            v4.8h, v4.8h, v6.8h
        subs            w5, w5, #8
        st1             {v4.8h}, [x0], #16
        b.gt            1b
        ret
endfunc

// offsets in MvdeintLines
#define LINE_EARLIER    64
#define LINE_LATER      104

// v\off = differences, v\sum = sums of line i of both fields
.macro fields off, sum, i
        ldr             x9, [x3, #(LINE_EARLIER + 8 * \i)]
        ldr             x10, [x3, #(LINE_LATER + 8 * \i)]
        ldr             d\off, [x9, x8]
        ldr             d7, [x10, x8]
        uaddl           v\sum\().8h, v\off\().8b, v7.8b
        usubl           v\off\().8h, v\off\().8b, v7.8b
.endm

// Scales absolute values of differences to units of 1/8 level, at most 1023.
.macro scale_words v, shift
        abs             v\v\().8h, v\v\().8h
        shl             v\v\().8h, v\v\().8h, #\shift
        umin            v\v\().8h, v\v\().8h, v31.8h
.endm

// Scales differences likewise, and restores their signs in v\dst.
.macro scale_signed dst, v, shift
        cmlt            v7.8h, v\v\().8h, #0
        scale_words     \v, \shift
        eor             v\dst\().16b, v\v\().16b, v7.16b
        sub             v\dst\().8h, v\dst\().8h, v7.8h
.endm

// v\a = |2 v\b - v\a - v\c|, scaled: twice the sums of the middle line less those of the outer lines
.macro detail a, b, c
        shl             v7.8h, v\b\().8h, #1
        sub             v7.8h, v7.8h, v\a\().8h
        sub             v\a\().8h, v7.8h, v\c\().8h
        scale_words     \a, 1
.endm

// Stores sums of the squares of three lines of words in an array of columns.
.macro squares a, b, c, array
        umull           v16.4s, v\a\().4h, v\a\().4h
        umull2          v17.4s, v\a\().8h, v\a\().8h
        add             x9, \array, x8, lsl #2
        umlal           v16.4s, v\b\().4h, v\b\().4h
        umlal2          v17.4s, v\b\().8h, v\b\().8h
        umlal           v16.4s, v\c\().4h, v\c\().4h
        umlal2          v17.4s, v\c\().8h, v\c\().8h
        st1             {v16.4s, v17.4s}, [x9]
.endm

// void mix_8(uint8_t *dst, const uint8_t *intra, const uint8_t *reach, const MvdeintLines *l, MvdeintChange *columns,
//            int w, int depth)
// The buffer has the sums of squares of differences of w + 16 columns, then the sums of differences, then the sums of
// squares of details.
function ff_mvdeint_mix_8_neon, export=1
        // x4, x6, x7: column 0 of the arrays; two columns precede it
        add             x4, x4, #8
        add             x6, x4, w5, uxtw #2
        add             x6, x6, #64
        add             x7, x6, w5, uxtw #2
        add             x7, x7, #64
        mov             w9, #1023
        dup             v31.8h, w9
        add             w11, w5, #2
        mov             x8, #-2
1:      fields          20, 0, 0
        fields          21, 1, 1
        fields          22, 2, 2
        fields          23, 3, 3
        fields          20, 4, 4
        detail          0, 1, 2
        detail          1, 2, 3
        detail          2, 3, 4
        squares         0, 1, 2, x7
        scale_signed    24, 21, 3
        scale_signed    25, 22, 3
        scale_signed    26, 23, 3
        squares         21, 22, 23, x4
        add             v24.8h, v24.8h, v25.8h
        add             v24.8h, v24.8h, v26.8h
        sxtl            v16.4s, v24.4h
        sxtl2           v17.4s, v24.8h
        add             x9, x6, x8, lsl #2
        st1             {v16.4s, v17.4s}, [x9]
        add             x8, x8, #8
        cmp             w8, w11
        b.lt            1b
        mov             w9, #273
        mov             w10, #192
        dup             v28.4s, w9
        dup             v29.4s, w10
        movi            v30.4s, #15
        movi            v31.4s, #11
        movi            v27.4s, #6
        movi            v26.4s, #1
        movi            v25.4s, #0
        mov             x8, #0
2:      // sum of squares less 15 times the square of the mean of 15 differences
        add_columns     0, x6, 4s, 4
        add_columns     20, x4, 4s, 4
        add_columns     21, x7, 4s, 4
        add             x6, x6, #16
        add             x4, x4, #16
        add             x7, x7, #16
        abs             v0.4s, v0.4s
        mul             v0.4s, v0.4s, v28.4s
        ushr            v0.4s, v0.4s, #12
        mul             v0.4s, v0.4s, v0.4s
        mls             v20.4s, v0.4s, v30.4s
        mul             v21.4s, v21.4s, v27.4s
        // shifts both sums right by the same number of bits, to at most 12 bits
        orr             v1.16b, v20.16b, v21.16b
        orr             v1.16b, v1.16b, v26.16b
        log2            2, 1
        sub             v2.4s, v31.4s, v2.4s
        smin            v2.4s, v2.4s, v25.4s
        ushl            v20.4s, v20.4s, v2.4s
        ushl            v21.4s, v21.4s, v2.4s
        mul             v20.4s, v20.4s, v20.4s
        mul             v21.4s, v21.4s, v21.4s
        add             v21.4s, v21.4s, v20.4s
        mul             v20.4s, v20.4s, v29.4s
        umax            v21.4s, v21.4s, v26.4s
        divide          20, 20, 21
        ldr             s16, [x2, x8]
        ldr             s17, [x0, x8]
        ldr             s18, [x1, x8]
        uxtl            v16.8h, v16.8b
        usubl           v18.8h, v18.8b, v17.8b
        uxtl            v17.8h, v17.8b
        uxtl            v16.4s, v16.4h
        sxtl            v18.4s, v18.4h
        uxtl            v17.4s, v17.4h
        cmtst           v16.4s, v16.4s, v16.4s
        and             v20.16b, v20.16b, v16.16b
        mul             v18.4s, v18.4s, v20.4s
        srshr           v18.4s, v18.4s, #8
        add             v17.4s, v17.4s, v18.4s
        xtn             v17.4h, v17.4s
        xtn             v17.8b, v17.8h
        str             s17, [x0, x8]
        add             x8, x8, #4
        cmp             w8, w5
        b.lt            2b
        ret
endfunc
