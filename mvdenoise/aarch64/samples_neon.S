/*
 * Matches of patches, and patches that overlap
 *
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/aarch64/asm.S"

// offsets in MvdenoiseSpot, MvdenoiseSource and MvdenoiseSearch
#define SPOT_X          64
#define SPOT_HSUB       84
#define SPOT_STRIDE     92
#define SPOT_CELL       100
#define SOURCE_STRIDE   256
#define SEARCH_SOURCES  64
#define SEARCH_OFFSETS  128
#define SEARCH_PARTS    160
#define SEARCH_BEST     640
#define SEARCH_MASK     704
#define SEARCH_PENALTIES 712

// the bits of candidates
const bits
        .hword          1, 2, 4, 8, 16, 32, 64, 128
endconst

// Loads two rows of a patch as bytes, or one row as words; a row is the mean of two rows in memory. a, b: pointers to
// these
.macro load_rows kind, dst, other, a, b, stride
.ifc \kind, words
        ld1             {v\dst\().8h}, [\a], \stride
        ld1             {v\other\().8h}, [\b], \stride
        urhadd          v\dst\().8h, v\dst\().8h, v\other\().8h
.else
        ld1             {v\dst\().8b}, [\a], \stride
        ld1             {v\other\().8b}, [\b], \stride
        ld1             {v\dst\().d}[1], [\a], \stride
        ld1             {v\other\().d}[1], [\b], \stride
        urhadd          v\dst\().16b, v\dst\().16b, v\other\().16b
.endif
.endm

// unsigned read_8(uint16_t *dst, const MvdenoisePatch *patch, ptrdiff_t stride)
function ff_mvdenoise_read_8_neon, export=1
        ldp             x3, x4, [x1]
        load_rows       bytes, 16, 0, x3, x4, x2
        load_rows       bytes, 18, 1, x3, x4, x2
        load_rows       bytes, 20, 2, x3, x4, x2
        load_rows       bytes, 22, 3, x3, x4, x2
        uaddlp          v0.8h, v16.16b
        uadalp          v0.8h, v18.16b
        uxtl2           v17.8h, v16.16b
        uxtl            v16.8h, v16.8b
        uadalp          v0.8h, v20.16b
        uxtl2           v19.8h, v18.16b
        uxtl            v18.8h, v18.8b
        uadalp          v0.8h, v22.16b
        uxtl2           v21.8h, v20.16b
        uxtl            v20.8h, v20.8b
        addv            h0, v0.8h
        uxtl2           v23.8h, v22.16b
        uxtl            v22.8h, v22.8b
        st1             {v16.8h, v17.8h, v18.8h, v19.8h}, [x0], #64
        st1             {v20.8h, v21.8h, v22.8h, v23.8h}, [x0]
        umov            w0, v0.h[0]
        ret
endfunc

// unsigned read_16(uint16_t *dst, const MvdenoisePatch *patch, ptrdiff_t stride)
function ff_mvdenoise_read_16_neon, export=1
        ldp             x3, x4, [x1]
        load_rows       words, 16, 0, x3, x4, x2
        load_rows       words, 17, 1, x3, x4, x2
        load_rows       words, 18, 2, x3, x4, x2
        load_rows       words, 19, 3, x3, x4, x2
        load_rows       words, 20, 4, x3, x4, x2
        load_rows       words, 21, 5, x3, x4, x2
        load_rows       words, 22, 6, x3, x4, x2
        load_rows       words, 23, 7, x3, x4, x2
        uaddlp          v0.4s, v16.8h
        uaddlp          v1.4s, v17.8h
.irp row, 18, 20, 22
        uadalp          v0.4s, v\row\().8h
.endr
.irp row, 19, 21, 23
        uadalp          v1.4s, v\row\().8h
.endr
        st1             {v16.8h, v17.8h, v18.8h, v19.8h}, [x0], #64
        add             v0.4s, v0.4s, v1.4s
        st1             {v20.8h, v21.8h, v22.8h, v23.8h}, [x0]
        addv            s0, v0.4s
        fmov            w0, s0
        ret
endfunc

// Adds vectors, rounded down to whole samples, to the position in at. v26: least position; most: register of the
// greatest position
.macro place dst, vectors, at, most
        sshr            v\dst\().4s, v\vectors\().4s, #2
        add             v\dst\().4s, v\dst\().4s, v\at\().4s
        smax            v\dst\().4s, v\dst\().4s, v26.4s
        smin            v\dst\().4s, v\dst\().4s, v\most\().4s
.endm

// Loads the first three of four vectors of a field, whose indices are in a register. Leaves the upper two indices in
// x7. Clobbers x5 and x6.
.macro gather dst, indices
        fmov            x6, d\indices
        umov            x7, v\indices\().d[1]
        ldr             s\dst, [x1, w6, uxtw #2]
        lsr             x6, x6, #32
        add             x5, x1, w7, uxtw #2
        add             x6, x1, x6, lsl #2
        ld1             {v\dst\().s}[2], [x5]
        ld1             {v\dst\().s}[1], [x6]
.endm

// unsigned candidates(MvdenoiseCandidates *dst, const GpumeCellVector *field, const MvdenoiseSpot *spot)
function ff_mvdenoise_candidates_neon, export=1
        ldp             w5, w6, [x2, #SPOT_HSUB]        // hsub, vsub
        ldp             w7, w8, [x2, #SPOT_CELL]        // cell, last column
        ldp             q0, q1, [x2]                    // offsets to the right
        ldp             q2, q3, [x2, #32]               // rows
        add             x9, x2, #SPOT_X
        add             x2, x2, #SPOT_STRIDE
        ld2r            {v24.4s, v25.4s}, [x9], #8
        ld3r            {v26.4s, v27.4s, v28.4s}, [x9]  // least position, greatest x, greatest y
        dup             v16.4s, w5
        neg             w5, w5
        neg             w6, w6
        neg             w7, w7
        dup             v17.4s, w5
        dup             v18.4s, w6
        dup             v19.4s, w7
        dup             v20.4s, w8
        movi            v21.4s, #0
        ld2r            {v30.4s, v31.4s}, [x2]          // stride, shift of samples
.irp i, 0, 1
        add             v\i\().4s, v\i\().4s, v24.4s
        sshl            v\i\().4s, v\i\().4s, v16.4s
        sshl            v\i\().4s, v\i\().4s, v19.4s
        smax            v\i\().4s, v\i\().4s, v21.4s
        smin            v\i\().4s, v\i\().4s, v20.4s
.endr
        add             v2.4s, v2.4s, v0.4s
        add             v3.4s, v3.4s, v1.4s
        gather          0, 2
        lsr             x7, x7, #32
        add             x7, x1, x7, lsl #2
        ld1             {v0.s}[3], [x7]
        gather          1, 3                            // the last candidate is the zero vector
        movi            v29.4s, #0x80, lsl #8           // -32768 in words
        mvni            v23.4s, #0x7f, msl #8           // -32768
        shl             v2.4s, v0.4s, #16
        shl             v3.4s, v1.4s, #16
        sshr            v4.4s, v0.4s, #16
        sshr            v5.4s, v1.4s, #16
        sshr            v2.4s, v2.4s, #16
        sshr            v3.4s, v3.4s, #16
        // v6, v7: -1 where there is no vector, or where it equals an earlier one
        cmeq            v6.4s, v2.4s, v23.4s
        cmeq            v7.4s, v3.4s, v23.4s
        srshl           v2.4s, v2.4s, v17.4s
        srshl           v3.4s, v3.4s, v17.4s
        srshl           v4.4s, v4.4s, v18.4s
        srshl           v5.4s, v5.4s, v18.4s
        mov             v0.16b, v2.16b
        mov             v1.16b, v3.16b
        sli             v0.4s, v4.4s, #16
        sli             v1.4s, v5.4s, #16
.irp bytes, 12, 8, 4
        ext             v16.16b, v29.16b, v0.16b, #\bytes
        ext             v17.16b, v0.16b, v1.16b, #\bytes
        cmeq            v18.4s, v0.4s, v16.4s
        cmeq            v17.4s, v1.4s, v17.4s
        cmeq            v16.4s, v1.4s, v16.4s
        orr             v6.16b, v6.16b, v18.16b
        orr             v7.16b, v7.16b, v17.16b
        orr             v7.16b, v7.16b, v16.16b
.endr
        cmeq            v16.4s, v1.4s, v0.4s
        movrel          x4, bits
        orr             v7.16b, v7.16b, v16.16b
        ldr             q20, [x4]
        uzp1            v6.8h, v6.8h, v7.8h
        // the first sample of each patch, limited to the picture
        place           16, 2, 24, 27
        place           17, 3, 24, 27
        place           18, 4, 25, 28
        place           19, 5, 25, 28
        bic             v6.16b, v20.16b, v6.16b
        sshl            v16.4s, v16.4s, v31.4s
        sshl            v17.4s, v17.4s, v31.4s
        addv            h6, v6.8h
        mla             v16.4s, v18.4s, v30.4s
        mla             v17.4s, v19.4s, v30.4s
        // the part of the source, by the fractions of the vector
        sli             v2.4s, v4.4s, #2
        sli             v3.4s, v5.4s, #2
        movi            v20.4s, #15
        and             v18.16b, v2.16b, v20.16b
        and             v19.16b, v3.16b, v20.16b
        stp             q16, q17, [x0]
        stp             q18, q19, [x0, #32]
        umov            w0, v6.h[0]
        ret
endfunc

// Adds the squared differences of two rows of bytes, or one row of words, from rows of the own patch to v24 and v25.
// rows, other: clobbered
.macro add_squares kind, rows, other, own
.ifc \kind, dotprod
        uabd            v\rows\().16b, v\rows\().16b, v\own\().16b
        udot            v24.4s, v\rows\().16b, v\rows\().16b
.endif
.ifc \kind, 8
        uabd            v\rows\().16b, v\rows\().16b, v\own\().16b
        umull           v\other\().8h, v\rows\().8b, v\rows\().8b
        umull2          v\rows\().8h, v\rows\().16b, v\rows\().16b
        uadalp          v24.4s, v\other\().8h
        uadalp          v25.4s, v\rows\().8h
.endif
.ifc \kind, 12
        uabd            v\rows\().8h, v\rows\().8h, v\own\().8h
        umlal           v24.4s, v\rows\().4h, v\rows\().4h
        umlal2          v25.4s, v\rows\().8h, v\rows\().8h
.endif
.ifc \kind, 16
        uabd            v\rows\().8h, v\rows\().8h, v\own\().8h
        umull           v\other\().4s, v\rows\().4h, v\rows\().4h
        umull2          v\rows\().4s, v\rows\().8h, v\rows\().8h
        uadalp          v24.2d, v\other\().4s
        uadalp          v25.2d, v\rows\().4s
.endif
.endm

// void best(MvdenoiseSearch *search, const uint16_t *own)
// kind: bits of samples, or dotprod; size: bytes or words
.macro best kind, size
        ld1             {v16.8h, v17.8h, v18.8h, v19.8h}, [x1], #64
        ldr             x2, [x0, #SEARCH_MASK]
        ldr             x3, [x0, #SEARCH_PENALTIES]
        ld1             {v20.8h, v21.8h, v22.8h, v23.8h}, [x1]
        ldr             x4, [x0, #SEARCH_SOURCES]
        ldr             x4, [x4, #SOURCE_STRIDE]
.ifc \size, bytes
        uzp1            v16.16b, v16.16b, v17.16b
        uzp1            v17.16b, v18.16b, v19.16b
        uzp1            v18.16b, v20.16b, v21.16b
        uzp1            v19.16b, v22.16b, v23.16b
.endif
1:      rbit            x5, x2
        sub             x6, x2, #1
        clz             x5, x5                          // 8 times the number of the picture, plus the candidate
        and             x2, x2, x6
        and             x7, x5, #0x38
        and             x8, x5, #7
        add             x9, x0, x7, lsl #3
        add             x7, x0, x7
        add             x9, x9, x8, lsl #2
        ldr             x10, [x7, #SEARCH_SOURCES]
        ldr             w8, [x9, #SEARCH_PARTS]
        ldrsw           x9, [x9, #SEARCH_OFFSETS]
        add             x10, x10, x8, lsl #4
        ldr             x11, [x3, x8, lsl #3]
        ldp             x12, x13, [x10]
        movi            v24.4s, #0
        movi            v25.4s, #0
        add             x12, x12, x9
        add             x13, x13, x9
        load_rows       \size, 0, 1, x12, x13, x4
        load_rows       \size, 2, 3, x12, x13, x4
        load_rows       \size, 4, 5, x12, x13, x4
        load_rows       \size, 6, 7, x12, x13, x4
        add_squares     \kind, 0, 1, 16
        add_squares     \kind, 2, 3, 17
        add_squares     \kind, 4, 5, 18
        add_squares     \kind, 6, 7, 19
.ifc \size, words
        load_rows       words, 0, 1, x12, x13, x4
        load_rows       words, 2, 3, x12, x13, x4
        load_rows       words, 4, 5, x12, x13, x4
        load_rows       words, 6, 7, x12, x13, x4
        add_squares     \kind, 0, 1, 20
        add_squares     \kind, 2, 3, 21
        add_squares     \kind, 4, 5, 22
        add_squares     \kind, 6, 7, 23
.endif
        ldr             x8, [x7]                        // the least sum, its candidate
        ldr             x9, [x7, #SEARCH_BEST]
.ifc \kind, 16
        add             v24.2d, v24.2d, v25.2d
        addp            d24, v24.2d
        fmov            x10, d24
.else
        add             v24.4s, v24.4s, v25.4s
        addv            s24, v24.4s
        fmov            w10, s24
.endif
        add             x10, x10, x11
        cmp             x10, x8
        csel            x8, x10, x8, lo
        csel            x9, x5, x9, lo
        str             x8, [x7]
        str             x9, [x7, #SEARCH_BEST]
        cbnz            x2, 1b
        ret
.endm

function ff_mvdenoise_best_8_neon, export=1
        best            8, bytes
endfunc

function ff_mvdenoise_best_12_neon, export=1
        best            12, words
endfunc

function ff_mvdenoise_best_16_neon, export=1
        best            16, words
endfunc

#if HAVE_DOTPROD
ENABLE_DOTPROD
function ff_mvdenoise_best_8_dotprod, export=1
        best            dotprod, bytes
endfunc
DISABLE_DOTPROD
#endif

// Adds a row of a patch to the sums and weights of eight samples: of four that are in registers, which are then stored,
// and of the next four, which are loaded
.macro add_row sums, weights, next_sums, next_weights
        ld1r            {v0.8h}, [x3], #2
        ld1             {v1.8h}, [x2], x6
        ldr             q\next_sums, [x0, #16]
        ldr             q\next_weights, [x1, #16]
        umull           v2.4s, v16.4h, v0.4h
        umull2          v3.4s, v16.8h, v0.8h
        uxtl            v4.4s, v1.4h
        uxtl2           v5.4s, v1.8h
        subs            w4, w4, #1
        mla             v\sums\().4s, v4.4s, v2.4s
        mla             v\next_sums\().4s, v5.4s, v3.4s
        add             v\weights\().4s, v\weights\().4s, v2.4s
        add             v\next_weights\().4s, v\next_weights\().4s, v3.4s
        str             q\sums, [x0], #16
        str             q\weights, [x1], #16
.endm

// void add_10(void *sums, uint32_t *weights, const uint16_t *samples, const uint16_t *patch_weights, int nb,
//             const uint8_t *window)
function ff_mvdenoise_add_10_neon, export=1
        cmp             w4, #0
        b.le            3f
        ld1             {v16.8b}, [x5]
        ldr             q20, [x0]
        ldr             q21, [x1]
        mov             x6, #128
        uxtl            v16.8h, v16.8b
1:      add_row         20, 21, 22, 23
        b.le            2f
        add_row         22, 23, 20, 21
        b.gt            1b
        str             q20, [x0]
        str             q21, [x1]
        ret
2:      str             q22, [x0]
        str             q23, [x1]
3:      ret
endfunc
