/*
 * Costs, paths, sums and weighted medians of mvstereo
 *
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/aarch64/asm.S"

// numbers of bits in which a nibble differs from each of the 16 nibbles: a row for each nibble
const distances, align=4
.set pair, 0
.rept 256
.set differ, (pair >> 4) ^ (pair & 15)
        .byte           (differ & 1) + ((differ >> 1) & 1) + ((differ >> 2) & 1) + (differ >> 3)
.set pair, pair + 1
.endr
endconst

const weights, align=4
        .byte           64, 32, 16, 8, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0
endconst

const order, align=4
        .hword          0, 1, 2, 3, 4, 5, 6, 7
endconst

// void costs(const MvstereoCosts *c)
function ff_mvstereo_costs_neon, export=1
        ldp             x1, x2, [x0]            // costs, left
        ldp             x3, x4, [x0, #16]       // right, bytes between features of the left view
        ldp             x5, x6, [x0, #32]       // bytes between features of the right view, number of samples
        ldr             x7, [x0, #48]
        movrel          x8, distances
        movi            v30.16b, #12
        movi            v31.16b, #20
1:
        mov             x9, x2
.irp nibble, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
        ldrb            w10, [x9]
        add             x9, x9, x4
        ldr             q\nibble, [x8, x10, lsl #4]
.endr
        ld1r            {v28.16b}, [x9], x4
        ld1r            {v29.16b}, [x9]
        mov             x11, x3
        mov             x12, x7
2:
        mov             x9, x11
        ld1             {v0.16b, v1.16b}, [x9], x5
        tbl             v2.16b, {v16.16b}, v0.16b
        tbl             v3.16b, {v16.16b}, v1.16b
.irp nibble, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
        ld1             {v0.16b, v1.16b}, [x9], x5
        tbl             v0.16b, {v\nibble\().16b}, v0.16b
        tbl             v1.16b, {v\nibble\().16b}, v1.16b
        add             v2.16b, v2.16b, v0.16b
        add             v3.16b, v3.16b, v1.16b
.endr
        ld1             {v0.16b, v1.16b}, [x9], x5
        ld1             {v4.16b, v5.16b}, [x9]
        uabd            v0.16b, v0.16b, v28.16b
        uabd            v1.16b, v1.16b, v28.16b
        uabd            v4.16b, v4.16b, v29.16b
        uabd            v5.16b, v5.16b, v29.16b
        umin            v0.16b, v0.16b, v30.16b
        umin            v1.16b, v1.16b, v30.16b
        umin            v4.16b, v4.16b, v31.16b
        umin            v5.16b, v5.16b, v31.16b
        usra            v2.16b, v0.16b, #1
        usra            v3.16b, v1.16b, #1
        add             v2.16b, v2.16b, v4.16b
        add             v3.16b, v3.16b, v5.16b
        st1             {v2.16b, v3.16b}, [x1], #32
        add             x11, x11, #32
        subs            x12, x12, #32
        b.gt            2b
        add             x2, x2, #1
        sub             x3, x3, #1
        subs            x6, x6, #1
        b.gt            1b
        ret
endfunc

// The largest least cost whose sum with any penalty fits a byte, and so is not above the padding
#define MAX_LEAST 115

// void path(const MvstereoPath *p)
function ff_mvstereo_path_neon, export=1
        ldp             x1, x2, [x0]            // path, before
        ldp             x3, x4, [x0, #16]       // costs, p2
        ldp             x5, x6, [x0, #32]       // least, least before
        ldp             x7, x8, [x0, #48]       // steps of paths and of costs
        ldp             x9, x10, [x0, #64]      // step, number of samples
        ldr             x11, [x0, #80]
        movi            v31.16b, #24
        movi            v27.16b, #255
1:
        ldrb            w16, [x6]
        ld1r            {v28.16b}, [x6], x9
        ld1r            {v29.16b}, [x4], x9
        movi            v30.16b, #255
        mov             x12, #0
        cmp             w16, #MAX_LEAST
        b.hi            4f
        add             v29.16b, v29.16b, v28.16b
2:
        add             x13, x2, x12
        ldur            q0, [x13, #-1]
        ldur            q1, [x13, #15]
        ldur            q2, [x13, #1]
        ldur            q3, [x13, #17]
        ldp             q4, q5, [x13]
        add             x14, x3, x12
        umin            v0.16b, v0.16b, v2.16b
        umin            v1.16b, v1.16b, v3.16b
        ldp             q6, q7, [x14]
        umin            v4.16b, v4.16b, v29.16b
        umin            v5.16b, v5.16b, v29.16b
        uqadd           v0.16b, v0.16b, v31.16b
        uqadd           v1.16b, v1.16b, v31.16b
        sub             v6.16b, v6.16b, v28.16b
        sub             v7.16b, v7.16b, v28.16b
        umin            v0.16b, v0.16b, v4.16b
        umin            v1.16b, v1.16b, v5.16b
        add             x15, x1, x12
        add             v0.16b, v0.16b, v6.16b
        add             v1.16b, v1.16b, v7.16b
        add             x12, x12, #32
        umin            v2.16b, v0.16b, v1.16b
        stp             q0, q1, [x15]
        umin            v30.16b, v30.16b, v2.16b
        cmp             x12, x11
        b.lt            2b
3:
        uminv           b30, v30.16b
        add             x1, x1, x7
        add             x2, x2, x7
        add             x3, x3, x8
        st1             {v30.b}[0], [x5], x9
        subs            x10, x10, #1
        b.gt            1b
        ret
        // the sum of the least cost and the penalty may not fit a byte: compares the penalty with differences from the
        // least cost
4:
        add             x13, x2, x12
        ldur            q0, [x13, #-1]
        ldr             q1, [x13]
        ldur            q2, [x13, #1]
        ldr             q6, [x3, x12]
        umin            v0.16b, v0.16b, v2.16b
        uqadd           v0.16b, v0.16b, v31.16b
        umin            v0.16b, v0.16b, v1.16b
        cmhs            v1.16b, v0.16b, v27.16b
        sub             v0.16b, v0.16b, v28.16b
        orr             v0.16b, v0.16b, v1.16b
        umin            v0.16b, v0.16b, v29.16b
        add             v0.16b, v0.16b, v6.16b
        str             q0, [x1, x12]
        add             x12, x12, #16
        umin            v30.16b, v30.16b, v0.16b
        cmp             x12, x11
        b.lt            4b
        b               3b
endfunc

// int sum(const MvstereoSums *s)
function ff_mvstereo_sum_neon, export=1
        ldp             x1, x2, [x0]            // paths
        ldp             x3, x4, [x0, #16]
        ldp             x5, x6, [x0, #32]       // sums, least sums of the right view
        ldp             x7, x8, [x0, #48]       // indices of the least sums, range
        ldrh            w9, [x0, #64]           // first index
        movrel          x10, order
        ld1             {v16.8h}, [x10]
        dup             v17.8h, w9
        movi            v18.8h, #8
        movi            v19.16b, #255
        add             v16.8h, v16.8h, v17.8h
1:
        ld1             {v0.16b}, [x1], #16
        ld1             {v1.16b}, [x2], #16
        ld1             {v2.16b}, [x3], #16
        ld1             {v3.16b}, [x4], #16
        ldp             q20, q21, [x6]
        ldp             q22, q23, [x7]
        uaddl           v4.8h, v0.8b, v1.8b
        uaddl2          v5.8h, v0.16b, v1.16b
        uaddl           v6.8h, v2.8b, v3.8b
        uaddl2          v7.8h, v2.16b, v3.16b
        add             v17.8h, v16.8h, v18.8h
        add             v4.8h, v4.8h, v6.8h
        add             v5.8h, v5.8h, v7.8h
        cmhi            v6.8h, v20.8h, v4.8h
        cmhi            v7.8h, v21.8h, v5.8h
        umin            v20.8h, v20.8h, v4.8h
        umin            v21.8h, v21.8h, v5.8h
        umin            v0.8h, v4.8h, v5.8h
        bit             v22.16b, v16.16b, v6.16b
        bit             v23.16b, v17.16b, v7.16b
        add             v16.8h, v17.8h, v18.8h
        umin            v19.8h, v19.8h, v0.8h
        stp             q4, q5, [x5], #32
        stp             q20, q21, [x6], #32
        stp             q22, q23, [x7], #32
        subs            x8, x8, #16
        b.gt            1b
        uminv           h19, v19.8h
        umov            w0, v19.h[0]
        ret
endfunc

// void weighted_median(const MvstereoMedian *m)
// Computes 16 medians at a time. The stack has the weights, 81 rows of 16 words.
function ff_mvstereo_weighted_median_neon, export=1
        ldp             x1, x2, [x0]            // result, disparities
        ldp             x3, x4, [x0, #16]       // luma, valid
        ldp             x5, x6, [x0, #32]       // stride, number of samples
        sub             sp, sp, #2592
        movrel          x8, weights
        ld1             {v31.16b}, [x8]
        lsl             x7, x5, #1
        neg             x8, x5, lsl #2
        sub             x8, x8, #4              // the first row and column of the windows
1:
        add             x10, x3, x8
        add             x11, x4, x8
        add             x12, x2, x8, lsl #1
        mov             x13, sp
        ld1             {v30.16b}, [x3]
        movi            v16.16b, #0             // sums of weights
        movi            v17.16b, #0
        mvni            v18.8h, #0x80, lsl #8   // least and greatest disparities
        mvni            v19.8h, #0x80, lsl #8
        movi            v20.16b, #0
        movi            v21.16b, #0
        mov             w14, #9
2:
.irp column, 0, 1, 2, 3, 4, 5, 6, 7, 8
        ldur            q0, [x10, #\column]
        ldur            q1, [x11, #\column]
        ldur            q4, [x12, #2 * \column]
        ldur            q5, [x12, #2 * \column + 16]
        uabd            v0.16b, v0.16b, v30.16b
        ushr            v0.16b, v0.16b, #2
        tbl             v0.16b, {v31.16b}, v0.16b
        ushr            v2.16b, v0.16b, #2
        bif             v0.16b, v2.16b, v1.16b
        uxtl            v2.8h, v0.8b
        uxtl2           v3.8h, v0.16b
        stp             q2, q3, [x13], #32
        add             v16.8h, v16.8h, v2.8h
        add             v17.8h, v17.8h, v3.8h
        umin            v18.8h, v18.8h, v4.8h
        umin            v19.8h, v19.8h, v5.8h
        umax            v20.8h, v20.8h, v4.8h
        umax            v21.8h, v21.8h, v5.8h
.endr
        add             x10, x10, x5
        add             x11, x11, x5
        add             x12, x12, x7
        subs            w14, w14, #1
        b.gt            2b
        // half of the sum of all weights, rounded up, less one: the median is the greatest value such that the weights
        // of all disparities below it add up to no more than this
        movi            v0.8h, #1
        urshr           v16.8h, v16.8h, #1
        urshr           v17.8h, v17.8h, #1
        sub             v16.8h, v16.8h, v0.8h
        sub             v17.8h, v17.8h, v0.8h
        // the result so far is the least disparity; w15: the greatest difference from it
        umin            v18.8h, v18.8h, v19.8h
        umax            v20.8h, v20.8h, v21.8h
        uminv           h18, v18.8h
        umaxv           h20, v20.8h
        dup             v19.8h, v18.h[0]
        umov            w9, v18.h[0]
        umov            w15, v20.h[0]
        mov             v18.16b, v19.16b
        subs            w15, w15, w9
        b.eq            5f
        clz             w9, w15
        mov             w15, #0x80000000
        lsr             w15, w15, w9
3:
        dup             v0.8h, w15
        add             v1.8h, v18.8h, v0.8h
        add             v2.8h, v19.8h, v0.8h
        movi            v3.16b, #0
        movi            v4.16b, #0
        add             x12, x2, x8, lsl #1
        mov             x13, sp
        mov             w14, #9
4:
.irp column, 0, 1, 2, 3, 4, 5, 6, 7, 8
        ldur            q5, [x12, #2 * \column]
        ldur            q6, [x12, #2 * \column + 16]
        ldp             q7, q22, [x13], #32
        cmhi            v5.8h, v1.8h, v5.8h
        cmhi            v6.8h, v2.8h, v6.8h
        mls             v3.8h, v5.8h, v7.8h     // a disparity that is less has a mask of -1
        mls             v4.8h, v6.8h, v22.8h
.endr
        add             x12, x12, x7
        subs            w14, w14, #1
        b.gt            4b
        // keeps the bit where the weights of the disparities below add up to at most v16 and v17
        cmhs            v3.8h, v16.8h, v3.8h
        cmhs            v4.8h, v17.8h, v4.8h
        and             v3.16b, v3.16b, v0.16b
        and             v4.16b, v4.16b, v0.16b
        add             v18.8h, v18.8h, v3.8h
        add             v19.8h, v19.8h, v4.8h
        lsr             w15, w15, #1
        cbnz            w15, 3b
5:
        stp             q18, q19, [x1], #32
        add             x2, x2, #32
        add             x3, x3, #16
        add             x4, x4, #16
        subs            x6, x6, #16
        b.gt            1b
        add             sp, sp, #2592
        ret
endfunc
