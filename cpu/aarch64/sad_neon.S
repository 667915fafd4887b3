/*
 * Sums of absolute differences
 *
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/aarch64/asm.S"

/*
 * In all functions, cur is in x0, its linesize in x1, the candidates' linesize in x3, and the number of
 * rows in w4. Rows of 128 and 256 bytes are processed in parts of 64. Registers v0 to v3 have samples of
 * the block, v4 to v7 samples of a candidate. Sums are in v16 to v19; with bytes, the sums of high halves
 * are in v20 to v23. With 16 rows of 128 samples, the sums of both still fit into words.
 */

// Loads a row, or a part of 64 bytes, to register first and those behind it, and adds linesize to the pointer.
.macro load_part bytes, first, pointer, linesize
.if \bytes == 4
        ldr             s\first, [\pointer]
        add             \pointer, \pointer, \linesize
.elseif \bytes == 8
        ld1             {v\first\().8b}, [\pointer], \linesize
.elseif \bytes == 16
        ld1             {v\first\().16b}, [\pointer], \linesize
.elseif \bytes == 32
  .if \first == 0
        ld1             {v0.16b, v1.16b}, [\pointer], \linesize
  .elseif \first == 4
        ld1             {v4.16b, v5.16b}, [\pointer], \linesize
  .else
        ld1             {v24.16b, v25.16b}, [\pointer], \linesize
  .endif
.else
  .if \first == 0
        ld1             {v0.16b, v1.16b, v2.16b, v3.16b}, [\pointer], \linesize
  .elseif \first == 4
        ld1             {v4.16b, v5.16b, v6.16b, v7.16b}, [\pointer], \linesize
  .else
        ld1             {v24.16b, v25.16b, v26.16b, v27.16b}, [\pointer], \linesize
  .endif
.endif
.endm

// Adds the absolute differences of a and b to sum; high: the sum of the high halves. May clobber b.
.macro accumulate kind, bytes, sum, high, a, b
.ifc \kind, dotprod
        uabd            v\b\().16b, v\a\().16b, v\b\().16b
        udot            v\sum\().4s, v\b\().16b, v31.16b
.else
  .ifc \kind, words
        uabd            v\b\().8h, v\a\().8h, v\b\().8h
        uadalp          v\sum\().4s, v\b\().8h
  .else
        uabal           v\sum\().8h, v\a\().8b, v\b\().8b
    .if \bytes >= 16
        uabal2          v\high\().8h, v\a\().16b, v\b\().16b
    .endif
  .endif
.endif
.endm

// Adds the absolute differences of v0 to v3 and v4 to v7, as many as the row has.
.macro accumulate_part kind, bytes, sum, high
        accumulate      \kind, \bytes, \sum, \high, 0, 4
.if \bytes >= 32
        accumulate      \kind, \bytes, \sum, \high, 1, 5
.endif
.if \bytes >= 64
        accumulate      \kind, \bytes, \sum, \high, 2, 6
        accumulate      \kind, \bytes, \sum, \high, 3, 7
.endif
.endm

// Adds the absolute differences of a part of a row, for one candidate.
.macro part_one kind, bytes, linesize_cur, linesize_ref
        load_part       \bytes, 0, x0, \linesize_cur
        load_part       \bytes, 4, x2, \linesize_ref
        accumulate_part \kind, \bytes, 16, 20
.endm

// Does the same for four candidates.
.macro part_four kind, bytes, linesize_cur, linesize_ref
        load_part       \bytes, 0, x0, \linesize_cur
        load_part       \bytes, 4, x10, \linesize_ref
        accumulate_part \kind, \bytes, 16, 20
        load_part       \bytes, 4, x11, \linesize_ref
        accumulate_part \kind, \bytes, 17, 21
        load_part       \bytes, 4, x12, \linesize_ref
        accumulate_part \kind, \bytes, 18, 22
        load_part       \bytes, 4, x13, \linesize_ref
        accumulate_part \kind, \bytes, 19, 23
.endm

// Adds the absolute differences of the block and the mean of two candidates. Clobbers v4 to v7 and v24 to v27.
.macro mean_part kind, bytes, one, other, linesize, sum, high
        load_part       \bytes, 4, \one, \linesize
        load_part       \bytes, 24, \other, \linesize
        urhadd          v4.16b, v4.16b, v24.16b
.if \bytes >= 32
        urhadd          v5.16b, v5.16b, v25.16b
.endif
.if \bytes >= 64
        urhadd          v6.16b, v6.16b, v26.16b
        urhadd          v7.16b, v7.16b, v27.16b
.endif
        accumulate_part \kind, \bytes, \sum, \high
.endm

// Adds the absolute differences of a part of a row, for four candidates, each of which is the mean of two.
.macro part_means kind, bytes, linesize_cur, linesize_ref
        load_part       \bytes, 0, x0, \linesize_cur
        mean_part       \kind, \bytes, x6,  x9,  \linesize_ref, 16, 20
        mean_part       \kind, \bytes, x10, x11, \linesize_ref, 17, 21
        mean_part       \kind, \bytes, x12, x13, \linesize_ref, 18, 22
        mean_part       \kind, \bytes, x14, x15, \linesize_ref, 19, 23
.endm

// Processes a row, in parts of 64 bytes if it has more. x7, x8: bytes from the last part to the next row
.macro row part, kind, bytes
.if \bytes <= 64
        part_\part      \kind, \bytes, x1, x3
.else
  .rept \bytes / 64 - 1
        part_\part      \kind, 64, #64, #64
  .endr
        part_\part      \kind, 64, x7, x8
.endif
.endm

// Processes all rows, narrow ones two at a time.
.macro rows part, kind, bytes
.ifc \kind, dotprod
        movi            v31.16b, #1
.endif
.if \bytes > 64
        sub             x7, x1, #\bytes - 64
        sub             x8, x3, #\bytes - 64
.endif
.if \bytes <= 16
        lsr             w5, w4, #1
        tbz             w4, #0, 1f
        row             \part, \kind, \bytes
        cbz             w5, 2f
1:      row             \part, \kind, \bytes
        row             \part, \kind, \bytes
        subs            w5, w5, #1
        b.ne            1b
2:
.else
1:      row             \part, \kind, \bytes
        subs            w4, w4, #1
        b.ne            1b
.endif
.endm

.macro clear sums:vararg
.irp sum, \sums
        movi            \sum, #0
.endr
.endm

// uint32_t sad(const uint8_t *cur, ptrdiff_t cur_linesize, const uint8_t *ref, ptrdiff_t ref_linesize,
//              int h, uint32_t limit)
.macro sad_one kind, bits, width, bytes, name
function ff_gpume_sad_\bits\()_\width\()_\name, export=1
        clear           v16.4s
.ifc \kind, bytes
        clear           v20.4s
.endif
        rows            one, \kind, \bytes
.ifc \kind, bytes
        add             v16.8h, v16.8h, v20.8h
        uaddlv          s0, v16.8h
.else
        addv            s0, v16.4s
.endif
        fmov            w0, s0
        ret
endfunc
.endm

.macro clear_four kind
        clear           v16.4s, v17.4s, v18.4s, v19.4s
.ifc \kind, bytes
        clear           v20.4s, v21.4s, v22.4s, v23.4s
.endif
.endm

// Stores the totals of the four sums in v16 to v19 at the address in x16.
.macro store_four kind
.ifc \kind, bytes
        add             v16.8h, v16.8h, v20.8h
        add             v17.8h, v17.8h, v21.8h
        add             v18.8h, v18.8h, v22.8h
        add             v19.8h, v19.8h, v23.8h
        uaddlp          v16.4s, v16.8h
        uaddlp          v17.4s, v17.8h
        uaddlp          v18.4s, v18.8h
        uaddlp          v19.4s, v19.8h
.endif
        addp            v16.4s, v16.4s, v17.4s
        addp            v18.4s, v18.4s, v19.4s
        addp            v16.4s, v16.4s, v18.4s
        st1             {v16.4s}, [x16]
        ret
.endm

// void sad_x4(const uint8_t *cur, ptrdiff_t cur_linesize, const uint8_t *const ref[4], ptrdiff_t ref_linesize,
//             int h, uint32_t sad[4], uint32_t limit)
.macro sad_four kind, bits, width, bytes, name
function ff_gpume_sad_x4_\bits\()_\width\()_\name, export=1
        mov             x16, x5
        ldp             x10, x11, [x2]
        ldp             x12, x13, [x2, #16]
        clear_four      \kind
        rows            four, \kind, \bytes
        store_four      \kind
endfunc
.endm

// void sad_means(const uint8_t *cur, ptrdiff_t cur_linesize, const uint8_t *const pairs[8],
//                ptrdiff_t linesize, int h, uint32_t cost[4])
.macro sad_means kind, width, name
function ff_gpume_sad_means_8_\width\()_\name, export=1
        mov             x16, x5
        ldp             x6,  x9,  [x2]
        ldp             x10, x11, [x2, #16]
        ldp             x12, x13, [x2, #32]
        ldp             x14, x15, [x2, #48]
        clear_four      \kind
        rows            means, \kind, \width
        store_four      \kind
endfunc
.endm

.macro sad_bytes kind, width, name
        sad_one         \kind, 8, \width, \width, \name
        sad_four        \kind, 8, \width, \width, \name
        sad_means       \kind, \width, \name
.endm

.macro sad_words width, bytes
        sad_one         words, 16, \width, \bytes, neon
        sad_four        words, 16, \width, \bytes, neon
.endm

        sad_bytes       bytes,   4, neon
        sad_bytes       bytes,   8, neon
        sad_bytes       bytes,  16, neon
        sad_bytes       bytes,  32, neon
        sad_bytes       bytes,  64, neon
        sad_bytes       bytes, 128, neon

        sad_words         4,   8
        sad_words         8,  16
        sad_words        16,  32
        sad_words        32,  64
        sad_words        64, 128
        sad_words       128, 256

#if HAVE_DOTPROD
ENABLE_DOTPROD
        sad_bytes       dotprod,  16, dotprod
        sad_bytes       dotprod,  32, dotprod
        sad_bytes       dotprod,  64, dotprod
        sad_bytes       dotprod, 128, dotprod
DISABLE_DOTPROD
#endif
