/*
 * Missing lines of a field
 *
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/aarch64/asm.S"

// MvdeintRow, MvdeintCandidate, and the part of MvdeintModel for interpolations
#define ROW_CANDIDATES  16
#define ROW_FIRST       144
#define ROW_INTRA       152
#define ROW_ACTIVITY    160
#define ROW_STEP        168
#define ROW_MODEL       176
#define CANDIDATE       32
#define CANDIDATE_REAL  8
#define CANDIDATE_ERROR 16
#define CANDIDATE_PAIR  24
#define MODEL_INTRA     56

// of each candidate, on the stack
#define EXPECTED        0
#define HALF_LOG2       64
#define POWER           128
#define DIFFERENCE      192
#define STACK           256

// the six taps of eighths of a sample
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

// Adds a line of sums times a tap
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
1:      // across
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
2:      // down
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

// The address in a row's array, whose entries have 2^shift bytes
.macro array dst, offset, shift
        ldr             \dst, [x1, #\offset]
        add             \dst, \dst, x8, lsl #\shift
.endm

// Four samples, of bytes
.macro load_bytes dst, offset
        ldr             x9, [x1, #\offset]
        ldr             s\dst, [x9, x8]
        uxtl            v\dst\().8h, v\dst\().8b
        uxtl            v\dst\().4s, v\dst\().4h
.endm

// The integer part of a logarithm
.macro log2 dst, src
        movi            v7.4s, #31
        clz             v\dst\().4s, v\src\().4s
        eor             v\dst\().16b, v\dst\().16b, v7.16b
.endm

// Entries of a table of words at four indices
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

// dst = a / b, without signs. Overwrites v0 to v3
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

// Expected error of a candidate. v4: what its partner adds; v24, v25: coefficients
.macro expected i, error, real
        load_bytes      6, \real
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

// Expected errors of two partners, of which i is the first
.macro partners i, model
        ldr             q24, [x10, #\model]
        ldur            q25, [x10, #\model + 12]
        array           x9, ROW_CANDIDATES + CANDIDATE * \i, 1
        array           x11, ROW_CANDIDATES + CANDIDATE * (\i + 1), 1
        ldr             d2, [x9]
        ldr             d3, [x11]
        array           x9, ROW_CANDIDATES + CANDIDATE * \i + CANDIDATE_PAIR, 2
        uxtl            v2.4s, v2.4h
        uxtl            v3.4s, v3.4h
        ld1             {v5.4s}, [x9]
        uabd            v4.4s, v2.4s, v3.4s
        sub             v2.4s, v2.4s, v18.4s
        sub             v3.4s, v3.4s, v18.4s
        urshr           v4.4s, v4.4s, #1
        stp             q2, q3, [sp, #DIFFERENCE + 16 * \i]
        umin            v4.4s, v4.4s, v31.4s
        mul             v4.4s, v4.4s, v4.4s
        mul             v4.4s, v4.4s, v25.s[3]
        mla             v4.4s, v5.4s, v25.s[0]
        expected        \i, ROW_CANDIDATES + CANDIDATE * \i + CANDIDATE_ERROR, \
                        ROW_CANDIDATES + CANDIDATE * \i + CANDIDATE_REAL
        expected        (\i + 1), ROW_CANDIDATES + CANDIDATE * (\i + 1) + CANDIDATE_ERROR, \
                        ROW_CANDIDATES + CANDIDATE * (\i + 1) + CANDIDATE_REAL
.endm

// Index of a power in v\index of the error v\error, whose logarithm is set in v\log2; the first 7 bits in v\bits
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

// v\power >>= 3 * (v\half - v\least)
.macro weight power, half, least
        sub             v7.4s, v\least\().4s, v\half\().4s
        add             v\half\().4s, v7.4s, v7.4s
        add             v\half\().4s, v\half\().4s, v7.4s
        ushl            v\power\().4s, v\power\().4s, v\half\().4s
.endm

// Adds a candidate to the mean of all of them. v4, v5, v6: sums of weights, inverses and differences; v29: the
// logarithm of the least error, v8: its half
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

// Expected error of an interpolation in v\dst. v\off: its difference from the candidates; v5: its share; v3: the
// squared difference of both interpolations
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

// Adds the weight of an interpolation, which is left in v26, to v10
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
        partners        2, 28

        // the mean of the candidates in v9, the share of an interpolation in v5
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

        // interpolations
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

        // all weights in v10, and weighted differences in v11
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
