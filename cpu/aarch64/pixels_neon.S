/*
 * Samples and vectors of true motion
 *
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/aarch64/asm.S"

// Sets b to f to the samples of two adjacent registers from sample 1, 2, 3, 4 or 5 on.
.macro beside size, last, behind, b, c, d, e, f
        ext             v\b\().16b, v\last\().16b, v\behind\().16b, #1 * \size
        ext             v\c\().16b, v\last\().16b, v\behind\().16b, #2 * \size
        ext             v\d\().16b, v\last\().16b, v\behind\().16b, #3 * \size
        ext             v\e\().16b, v\last\().16b, v\behind\().16b, #4 * \size
        ext             v\f\().16b, v\last\().16b, v\behind\().16b, #5 * \size
.endm

// Applies the taps 1, -5, 20, 20, -5, 1 to eight samples of v0 and v3 to v7: the sums are in dst. half: 2 for the
// high halves of registers; v30, v31: 20 and 5; clobbers v18 and v19
.macro taps_bytes dst, lanes, half
        uaddl\half      v\dst\().8h, v0.\lanes, v7.\lanes
        uaddl\half      v18.8h, v3.\lanes, v6.\lanes
        uaddl\half      v19.8h, v4.\lanes, v5.\lanes
        mls             v\dst\().8h, v18.8h, v31.8h
        mla             v\dst\().8h, v19.8h, v30.8h
.endm

// Applies the taps to all samples of these registers: the sums are in v16 and v17, half samples in v18.
.macro taps_16
        taps_bytes      16, 8b
        taps_bytes      17, 16b, 2
        sqrshrun        v18.8b, v16.8h, #5
        sqrshrun2       v18.16b, v17.8h, #5
.endm

// void right_8(uint8_t *dst, const uint8_t *src, int n, int max)
function ff_gpume_right_8_neon, export=1
        movi            v30.8h, #20
        movi            v31.8h, #5
        ld1             {v0.16b}, [x1], #16
1:      ld1             {v1.16b}, [x1], #16
        beside          1, 0, 1, 3, 4, 5, 6, 7
        subs            w2, w2, #16
        taps_16
        mov             v0.16b, v1.16b
        st1             {v18.16b}, [x0], #16
        b.gt            1b
        ret
endfunc

// void below_8(uint8_t *dst, void *sums, const uint8_t *const rows[6], int n, int max)
function ff_gpume_below_8_neon, export=1
        movi            v30.8h, #20
        movi            v31.8h, #5
        ldp             x5, x6,  [x2]
        ldp             x7, x8,  [x2, #16]
        ldp             x9, x10, [x2, #32]
1:      ld1             {v0.16b}, [x5],  #16
        ld1             {v3.16b}, [x6],  #16
        ld1             {v4.16b}, [x7],  #16
        ld1             {v5.16b}, [x8],  #16
        ld1             {v6.16b}, [x9],  #16
        ld1             {v7.16b}, [x10], #16
        subs            w3, w3, #16
        taps_16
        st1             {v16.8h, v17.8h}, [x1], #32
        st1             {v18.16b}, [x0], #16
        b.gt            1b
        ret
endfunc

// Computes eight half samples from the sums in registers a and b, to a half of v18.
.macro centre lanes, a, b, half
        beside          2, \a, \b, 3, 4, 5, 6, 7
        add             v7.8h, v7.8h, v\a\().8h
        add             v3.8h, v3.8h, v6.8h
        add             v4.8h, v4.8h, v5.8h
        sshll           v16.4s, v7.4h, #0
        sshll2          v17.4s, v7.8h, #0
        smlal           v16.4s, v4.4h, v30.4h
        smlal2          v17.4s, v4.8h, v30.8h
        smlsl           v16.4s, v3.4h, v31.4h
        smlsl2          v17.4s, v3.8h, v31.8h
        sqrshrun        v16.4h, v16.4s, #10
        sqrshrun2       v16.8h, v17.4s, #10
        uqxtn\half      v18.\lanes, v16.8h
.endm

// void centre_8(uint8_t *dst, const void *sums, int n, int max)
function ff_gpume_centre_8_neon, export=1
        movi            v30.8h, #20
        movi            v31.8h, #5
        ld1             {v0.8h}, [x1], #16
1:      ld1             {v1.8h, v2.8h}, [x1], #32
        subs            w2, w2, #16
        centre          8b, 0, 1
        centre          16b, 1, 2, 2
        mov             v0.16b, v2.16b
        st1             {v18.16b}, [x0], #16
        b.gt            1b
        ret
endfunc

// Offsets in GpumeChoice
#define AROUND      32
#define OWN         64
#define PENALTIES   68
#define MIN        136
#define THRESHOLD  144
#define SHIFT      152
#define COST       160
#define SUM        164
#define BOUNDS     168

const around
        // offsets of the eight vectors around a vector, in raster order
        .hword          -1, -1,  0, -1,  1, -1,  -1, 0,  1, 0,  -1, 1,  0, 1,  1, 1
        .byte           1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128
endconst

// Marks the neighbours in v20 and v21 that equal the vectors in low and high, which are shifted by some places.
.macro same_before low, high
        cmeq            v5.4s, v\low\().4s, v0.4s
        cmeq            v6.4s, v\high\().4s, v1.4s
        orr             v20.16b, v20.16b, v5.16b
        orr             v21.16b, v21.16b, v6.16b
.endm

// Adds the differences of four vectors from the neighbour's vector in v4, each at most v30. Clobbers v5.
.macro add_difference sum, vectors
        sabd            v5.8h, v\vectors\().8h, v4.8h
        uaddlp          v5.4s, v5.8h
        umin            v5.4s, v5.4s, v30.4s
        add             v\sum\().4s, v\sum\().4s, v5.4s
.endm

// Replaces marks of duplicates by marks of vectors that are admissible and no duplicates. v28: min; v29: max; clobbers
// v5 and v6
.macro admissible found, vectors
        cmgt            v5.8h, v28.8h, v\vectors\().8h
        cmgt            v6.8h, v\vectors\().8h, v29.8h
        orr             v5.16b, v5.16b, v6.16b
        cmeq            v5.4s, v5.4s, #0
        bic             v\found\().16b, v5.16b, v\found\().16b
.endm

// unsigned candidates(GpumeChoice *choice)
function ff_gpume_candidates_neon, export=1
        movrel          x1, around
        ld1             {v2.8h, v3.8h}, [x1], #32
        ld1             {v27.16b}, [x1]
        add             x2, x0, #OWN
        ld1r            {v31.4s}, [x2]
        ld1             {v0.8h, v1.8h}, [x0]
        add             x3, x0, #AROUND
        add             v2.8h, v2.8h, v31.8h
        add             v3.8h, v3.8h, v31.8h
        st1             {v2.8h, v3.8h}, [x3]
        add             x4, x0, #THRESHOLD
        ld1r            {v30.4s}, [x4], #4
        ld1r            {v26.4s}, [x4]                  // factor

        // marks duplicates: neighbours that equal the own vector or an earlier neighbour; before the first neighbour,
        // the own vector is repeated
        cmeq            v20.4s, v0.4s, v31.4s
        cmeq            v21.4s, v1.4s, v31.4s
        ext             v16.16b, v31.16b, v0.16b, #12
        ext             v17.16b, v0.16b,  v1.16b, #12
        ext             v18.16b, v31.16b, v0.16b, #8
        ext             v19.16b, v0.16b,  v1.16b, #8
        ext             v22.16b, v31.16b, v0.16b, #4
        ext             v23.16b, v0.16b,  v1.16b, #4
        same_before     16, 17
        same_before     18, 19
        same_before     22, 23
.irp before, 0, 16, 18, 22
        cmeq            v6.4s, v\before\().4s, v1.4s
        orr             v21.16b, v21.16b, v6.16b
.endr
        movi            v22.4s, #0
        movi            v23.4s, #0

        // penalties: of the own vector in v24
        sabd            v24.8h, v0.8h, v31.8h
        sabd            v25.8h, v1.8h, v31.8h
        uaddlp          v24.4s, v24.8h
        uaddlp          v25.4s, v25.8h
        umin            v24.4s, v24.4s, v30.4s
        umin            v25.4s, v25.4s, v30.4s
        add             v24.4s, v24.4s, v25.4s
        addv            s24, v24.4s
        movi            v16.4s, #0
        movi            v17.4s, #0
        movi            v18.4s, #0
        movi            v19.4s, #0
.irp of, 0, 1
  .irp lane, 0, 1, 2, 3
        dup             v4.4s, v\of\().s[\lane]
        cmeq            v5.4s, v2.4s, v4.4s
        cmeq            v6.4s, v3.4s, v4.4s
        orr             v22.16b, v22.16b, v5.16b
        orr             v23.16b, v23.16b, v6.16b
        add_difference  16, 0
        add_difference  17, 1
        add_difference  18, 2
        add_difference  19, 3
  .endr
.endr
        add             x4, x0, #MIN
        ld1r            {v28.4s}, [x4], #4
        ld1r            {v29.4s}, [x4]
        admissible      20, 0
        admissible      21, 1
        admissible      22, 2
        admissible      23, 3

        ldp             w5, w6, [x0, #SHIFT]
        ldr             w7, [x0, #COST]
        neg             w5, w5
        dup             v28.4s, w5
        dup             v29.4s, w6
        dup             v24.4s, v24.s[0]
        dup             v25.4s, w7
.irp sum, 16, 17, 18, 19, 24
        mul             v\sum\().4s, v\sum\().4s, v26.4s
        ushl            v\sum\().4s, v\sum\().4s, v28.4s
        ushl            v\sum\().4s, v\sum\().4s, v29.4s
.endr
        add             x4, x0, #PENALTIES
        st1             {v16.4s, v17.4s, v18.4s, v19.4s}, [x4]
        add             v24.4s, v24.4s, v25.4s
        str             s24, [x0, #SUM]

        // candidates that may be better than the own vector
        add             x4, x0, #BOUNDS
        ld1             {v4.4s, v5.4s, v6.4s, v7.4s}, [x4]
        add             v4.4s, v4.4s, v16.4s
        add             v5.4s, v5.4s, v17.4s
        add             v6.4s, v6.4s, v18.4s
        add             v7.4s, v7.4s, v19.4s
        cmhi            v4.4s, v24.4s, v4.4s
        cmhi            v5.4s, v24.4s, v5.4s
        cmhi            v6.4s, v24.4s, v6.4s
        cmhi            v7.4s, v24.4s, v7.4s
        and             v4.16b, v4.16b, v20.16b
        and             v5.16b, v5.16b, v21.16b
        and             v6.16b, v6.16b, v22.16b
        and             v7.16b, v7.16b, v23.16b
        uzp1            v4.8h, v4.8h, v5.8h
        uzp1            v6.8h, v6.8h, v7.8h
        uzp1            v4.16b, v4.16b, v6.16b
        and             v4.16b, v4.16b, v27.16b
        addp            v4.16b, v4.16b, v4.16b
        addp            v4.16b, v4.16b, v4.16b
        addp            v4.16b, v4.16b, v4.16b
        umov            w0, v4.h[0]
        ret
endfunc
