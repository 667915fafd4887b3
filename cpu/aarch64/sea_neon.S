/*
 * Successive elimination: sums over parts of blocks, and bounds
 *
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/aarch64/asm.S"

// Offsets in GpumeSeaBounds
#define PREFETCH         8
#define HALF_OFFSET     24
#define QUARTER_OFFSET  56
#define HALF           184
#define QUARTER        200
#define HALF_LIMIT     264
#define NB_QUARTERS    272
#define NB_CANDIDATES  276
#define MAP            288
#define MAP_LINESIZE   296

// Offsets in GpumeSeaParts
#define PARTS_DST        32
#define PARTS_LEAST      40
#define PARTS_SHIFT      60
#define PARTS_CANDIDATES 64

const bits
        .byte           1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128
endconst

// void columns(uint16_t *dst, uint32_t *sums, const uint8_t *add, const uint8_t *sub, ptrdiff_t n, int shift)
.macro columns bits
function ff_gpume_sea_columns_\bits\()_neon, export=1
        cbz             x4, 2f
        neg             w5, w5
        dup             v31.4s, w5
1:      ld1             {v4.4s, v5.4s, v6.4s, v7.4s}, [x1]
.if \bits == 8
        ld1             {v0.16b}, [x2], #16
        ld1             {v1.16b}, [x3], #16
        usubl           v2.8h, v0.8b, v1.8b
        usubl2          v3.8h, v0.16b, v1.16b
        saddw           v4.4s, v4.4s, v2.4h
        saddw2          v5.4s, v5.4s, v2.8h
        saddw           v6.4s, v6.4s, v3.4h
        saddw2          v7.4s, v7.4s, v3.8h
.else
        ld1             {v0.8h, v1.8h}, [x2], #32
        ld1             {v2.8h, v3.8h}, [x3], #32
        uaddw           v4.4s, v4.4s, v0.4h
        uaddw2          v5.4s, v5.4s, v0.8h
        uaddw           v6.4s, v6.4s, v1.4h
        uaddw2          v7.4s, v7.4s, v1.8h
        usubw           v4.4s, v4.4s, v2.4h
        usubw2          v5.4s, v5.4s, v2.8h
        usubw           v6.4s, v6.4s, v3.4h
        usubw2          v7.4s, v7.4s, v3.8h
.endif
        st1             {v4.4s, v5.4s, v6.4s, v7.4s}, [x1], #64
        ushl            v4.4s, v4.4s, v31.4s
        ushl            v5.4s, v5.4s, v31.4s
        ushl            v6.4s, v6.4s, v31.4s
        ushl            v7.4s, v7.4s, v31.4s
        uzp1            v0.8h, v4.8h, v5.8h
        uzp1            v1.8h, v6.8h, v7.8h
        st1             {v0.8h, v1.8h}, [x0], #32
        subs            x4, x4, #16
        b.gt            1b
2:      ret
endfunc
.endm

        columns         8
        columns         16

// void add(uint16_t *dst, const uint16_t *a, const uint16_t *b, ptrdiff_t n)
function ff_gpume_sea_add_neon, export=1
1:      ld1             {v0.8h, v1.8h, v2.8h, v3.8h}, [x1], #64
        ld1             {v4.8h, v5.8h, v6.8h, v7.8h}, [x2], #64
        subs            x3, x3, #32
        add             v0.8h, v0.8h, v4.8h
        add             v1.8h, v1.8h, v5.8h
        add             v2.8h, v2.8h, v6.8h
        add             v3.8h, v3.8h, v7.8h
        st1             {v0.8h, v1.8h, v2.8h, v3.8h}, [x0], #64
        b.gt            1b
        ret
endfunc

// int bound(const GpumeSeaBounds *b, const uint8_t *sums, int nb_rows, uint64_t *kept)
// int bound_and_store(the same)
// Checks 16 candidates at a time. Sums have 15 bits: the sum of two differences fits a word.
.macro bound name, stores
function ff_gpume_sea_\name\()_neon, export=1
        stp             x19, x20, [sp, #-32]!
        stp             x21, x22, [sp, #16]
.if \stores
        ldr             x22, [x0, #MAP]
.endif
        add             x4, x0, #HALF
        ld1r            {v24.4s}, [x4], #4
        ld1r            {v25.4s}, [x4], #4
        ld1r            {v26.4s}, [x4], #4
        ld1r            {v27.4s}, [x4]
        add             x4, x0, #HALF_LIMIT
        ld1r            {v28.4s}, [x4], #4
        ld1r            {v29.4s}, [x4]
        movrel          x4, bits
        ld1             {v30.16b}, [x4]
        ldr             x5, [x0]                        // linesize
        ldr             x9, [x0, #HALF_OFFSET + 8]
        ldp             x10, x11, [x0, #HALF_OFFSET + 16]
        mov             w4, #0                          // row
1:      ldp             x6, x7, [x0, #PREFETCH]
        mov             x8, x1
        add             x12, x1, x9
        add             x13, x1, x10
        add             x14, x1, x11
        mov             x15, x3
.if \stores
        mov             x21, x22
.endif
        mov             w16, #0                         // any
        ldr             w17, [x0, #NB_CANDIDATES]
        prfm            pldl1keep, [x1, x6]
        prfm            pldl1keep, [x1, x7]
2:      ld1             {v0.8h, v1.8h}, [x8], #32
        ld1             {v2.8h, v3.8h}, [x12], #32
        ld1             {v4.8h, v5.8h}, [x13], #32
        ld1             {v6.8h, v7.8h}, [x14], #32
        uabd            v0.8h, v0.8h, v24.8h
        uabd            v1.8h, v1.8h, v24.8h
        uabd            v4.8h, v4.8h, v26.8h
        uabd            v5.8h, v5.8h, v26.8h
        uaba            v0.8h, v2.8h, v25.8h
        uaba            v1.8h, v3.8h, v25.8h
        uaba            v4.8h, v6.8h, v27.8h
        uaba            v5.8h, v7.8h, v27.8h
        uqadd           v0.8h, v0.8h, v4.8h
        uqadd           v1.8h, v1.8h, v5.8h
.if \stores
        st1             {v0.8h, v1.8h}, [x21], #32
.endif
        cmhs            v0.8h, v28.8h, v0.8h
        cmhs            v1.8h, v28.8h, v1.8h
        uzp1            v16.16b, v0.16b, v1.16b
        shrn            v0.8b, v16.8h, #4
        fmov            x7, d0
        cbnz            x7, 5f
        strh            wzr, [x15], #2
3:      subs            w17, w17, #16
        b.gt            2b
        cbnz            w16, 4f
        add             x1, x1, x5
.if \stores
        ldr             x7, [x0, #MAP_LINESIZE]
        add             x22, x22, x7
.endif
        add             w4, w4, #1
        cmp             w4, w2
        b.lt            1b
4:      mov             w0, w4
        ldp             x21, x22, [sp, #16]
        ldp             x19, x20, [sp], #32
        ret

        // bounds by quarters for the remaining candidates
5:      ldr             w19, [x0, #NB_QUARTERS]
        movi            v0.8h, #0
        movi            v1.8h, #0
        cbz             w19, 7f
        add             x6, x0, #QUARTER_OFFSET
        add             x7, x0, #QUARTER
        sub             x8, x8, #32
6:      ldr             x20, [x6], #8
        ld1r            {v4.4s}, [x7], #4
        add             x20, x20, x8
        ld1             {v2.8h, v3.8h}, [x20]
        subs            w19, w19, #1
        uabd            v2.8h, v2.8h, v4.8h
        uabd            v3.8h, v3.8h, v4.8h
        uqadd           v0.8h, v0.8h, v2.8h
        uqadd           v1.8h, v1.8h, v3.8h
        b.gt            6b
        add             x8, x8, #32
7:
.if \stores
        sub             x21, x21, #32
        st1             {v0.8h, v1.8h}, [x21], #32
.endif
        cmhs            v0.8h, v29.8h, v0.8h
        cmhs            v1.8h, v29.8h, v1.8h
        uzp1            v0.16b, v0.16b, v1.16b
        and             v0.16b, v0.16b, v16.16b
        and             v0.16b, v0.16b, v30.16b
        addp            v0.16b, v0.16b, v0.16b
        addp            v0.16b, v0.16b, v0.16b
        addp            v0.16b, v0.16b, v0.16b
        umov            w7, v0.h[0]
        orr             w16, w16, w7
        strh            w7, [x15], #2
        b               3b
endfunc
.endm

        bound           bound, 0
        bound           bound_and_store, 1

// Computes and stores the bounds of 16 candidates, and sets a byte of kept to -1 for each one to be kept. Clobbers v0
// to v7.
.macro join_16 kept
        ld1             {v0.8h, v1.8h}, [x4], #32
        ld1             {v2.8h, v3.8h}, [x5], #32
        ld1             {v4.8h, v5.8h}, [x6], #32
        ld1             {v6.8h, v7.8h}, [x7], #32
        umax            v0.8h, v0.8h, v24.8h
        umax            v1.8h, v1.8h, v24.8h
        umax            v2.8h, v2.8h, v25.8h
        umax            v3.8h, v3.8h, v25.8h
        umax            v4.8h, v4.8h, v26.8h
        umax            v5.8h, v5.8h, v26.8h
        umax            v6.8h, v6.8h, v27.8h
        umax            v7.8h, v7.8h, v27.8h
        uqadd           v0.8h, v0.8h, v2.8h
        uqadd           v1.8h, v1.8h, v3.8h
        uqadd           v4.8h, v4.8h, v6.8h
        uqadd           v5.8h, v5.8h, v7.8h
        ushl            v0.8h, v0.8h, v29.8h
        ushl            v1.8h, v1.8h, v29.8h
        ushl            v4.8h, v4.8h, v29.8h
        ushl            v5.8h, v5.8h, v29.8h
        uqadd           v0.8h, v0.8h, v4.8h
        uqadd           v1.8h, v1.8h, v5.8h
        st1             {v0.8h, v1.8h}, [x8], #32
        cmhs            v0.8h, v28.8h, v0.8h
        cmhs            v1.8h, v28.8h, v1.8h
        uzp1            \kept\().16b, v0.16b, v1.16b
.endm

// int join(const GpumeSeaParts *p, int first, uint32_t *kept)
function ff_gpume_sea_join_neon, export=1
        add             x9, x0, #PARTS_LEAST
        ld1r            {v24.4s}, [x9], #4
        ld1r            {v25.4s}, [x9], #4
        ld1r            {v26.4s}, [x9], #4
        ld1r            {v27.4s}, [x9], #4
        ld1r            {v28.4s}, [x9]                  // limit
        ldr             w9, [x0, #PARTS_SHIFT]
        neg             w9, w9
        dup             v29.8h, w9
        movrel          x9, bits
        ld1             {v30.16b}, [x9]
        ldp             x4, x5, [x0]
        ldp             x6, x7, [x0, #16]
        ldr             x8, [x0, #PARTS_DST]
        ldr             w9, [x0, #PARTS_CANDIDATES]
        sxtw            x1, w1
        add             x4, x4, x1, lsl #1
        add             x5, x5, x1, lsl #1
        add             x6, x6, x1, lsl #1
        add             x7, x7, x1, lsl #1
        add             x8, x8, x1, lsl #1
        mov             w0, w1
1:      cmp             w0, w9
        b.ge            2f
        join_16         v16
        join_16         v17
        orr             v18.16b, v16.16b, v17.16b
        shrn            v18.8b, v18.8h, #4
        fmov            x10, d18
        cbnz            x10, 3f
        add             w0, w0, #32
        b               1b
2:      ret

        // makes a bit for each candidate of the group
3:      and             v16.16b, v16.16b, v30.16b
        and             v17.16b, v17.16b, v30.16b
        addp            v16.16b, v16.16b, v17.16b
        addp            v16.16b, v16.16b, v16.16b
        addp            v16.16b, v16.16b, v16.16b
        str             s16, [x2]
        ret
endfunc
