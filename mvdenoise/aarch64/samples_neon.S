/*
 * Matches of patches, and patches that overlap
 *
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/aarch64/asm.S"

// MvdenoiseSpot, MvdenoiseSource, MvdenoiseSearch
#define SPOT_X          64
#define SPOT_LEAST      72
#define SPOT_HSUB       84
#define SPOT_STRIDE     92
#define SPOT_CELL       100
#define SOURCE_STRIDE   256
#define SEARCH_SOURCES  64
#define SEARCH_OFFSETS  128
#define SEARCH_PARTS    160
#define SEARCH_BEST     640
#define SEARCH_MASK     704

// the bits of candidates
const bits
        .hword          1, 2, 4, 8, 16, 32, 64, 128
endconst

// Rows of a patch, two of bytes or one of words. a, b: addresses of their two parts
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
