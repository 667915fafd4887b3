;*****************************************************************************
;* Sums of absolute transformed differences
;*****************************************************************************
; This file is part of gpume.
; SPDX-License-Identifier: LGPL-2.1-or-later
;*****************************************************************************

; Differences of bytes are words: a tile of 8x8 takes 8 registers, a tile of 4x4 takes 2 registers with two rows each,
; and registers of 32 bytes hold two tiles. Differences of larger samples are dwords: a register holds one row.
;
; The last step of a transform replaces two values by their sum and their difference. Because
; |a + b| + |a - b| = 2 * max(|a|, |b|), half of S is the sum of these maxima.

%include "libavutil/x86/x86util.asm"

SECTION .text

; BUTTERFLY a, b: replaces a by the sum, and b by the difference of a and b. Clobbers m8.
%macro BUTTERFLY 2
%if BITS == 8
    psubw        m8, m%1, m%2
    paddw       m%1, m%2
%else
    psubd        m8, m%1, m%2
    paddd       m%1, m%2
%endif
    SWAP         %2, 8
%endmacro

; SPLIT a, b: interleaves the left halves of both lanes into a, and the right halves into b. Clobbers m8.
%macro SPLIT 2
%if BITS == 8
    punpckhwd    m8, m%1, m%2
    punpcklwd   m%1, m%2
%else
    punpckhdq    m8, m%1, m%2
    punpckldq   m%1, m%2
%endif
    SWAP         %2, 8
%endmacro

; SPLIT_LANES a, b: puts the low lanes of both into a, and the high lanes into b. Clobbers m8.
%macro SPLIT_LANES 2
    vperm2i128   m8, m%1, m%2, q0301
    vinserti128 m%1, m%1, xm%2, 1
    SWAP         %2, 8
%endmacro

; ABSOLUTE register: replaces values by their absolute values. Clobbers m8 without SSSE3.
%macro ABSOLUTE 1
%if BITS == 16
    pabsd       m%1, m%1
%elif cpuflag(ssse3)
    pabsw       m%1, m%1
%else
    pxor         m8, m8
    psubw        m8, m%1
    pmaxsw      m%1, m8
%endif
%endmacro

; ALONG_ROWS a, b: transforms rows up to the last step, and leaves the maxima in a. Clobbers b and m8.
%macro ALONG_ROWS 2
    SPLIT        %1, %2
    BUTTERFLY    %1, %2
%if BITS == 8
    SPLIT        %1, %2
    BUTTERFLY    %1, %2
%elif TILE == 8
    SPLIT_LANES  %1, %2
    BUTTERFLY    %1, %2
%endif
    SPLIT        %1, %2
    ABSOLUTE     %1
    ABSOLUTE     %2
%if BITS == 8
    pmaxsw      m%1, m%2
%else
    pmaxsd      m%1, m%2
%endif
%endmacro

; TRANSFORM: transforms the differences in m0 and the registers behind it, and leaves the sums of the maxima in m0
%macro TRANSFORM 0
%assign HALF REGISTERS / 2
%rep 3
%assign I 0
%rep REGISTERS
%if HALF && (I & HALF) == 0
%assign J I + HALF
    BUTTERFLY  %[I], %[J]
%endif
%assign I I + 1
%endrep
%assign HALF HALF / 2
%endrep
%assign I 0
%rep REGISTERS / 2
%assign J I + 1
    ALONG_ROWS %[I], %[J]
%if I && BITS == 8
    paddw        m0, m%[I]
%elif I
    paddd        m0, m%[I]
%endif
%assign I I + 2
%endrep
%endmacro

; FOLD: sums the cost of a tile into the lowest dword of m0 or, for bytes, of each half of m0. The
; sum of a tile of 8x8 bytes is below 2^16. The caller has to halve the sum of larger samples. Clobbers m1.
%macro FOLD 0
%if BITS == 8
    psrldq       m1, m0, 8
    paddw        m0, m1
    psrldq       m1, m0, 4
    paddw        m0, m1
    psrldq       m1, m0, 2
    paddw        m0, m1
%if TILE == 8
    pxor         m1, m1
    pavgw        m0, m1
%endif
%else
%if mmsize == 32
    vextracti128 xm1, m0, 1
    paddd       xm0, xm1
%endif
    pshufd      xm1, xm0, q1032
    paddd       xm0, xm1
    pshufd      xm1, xm0, q2301
    paddd       xm0, xm1
%endif
%endmacro

; WIDEN register: widens bytes to words
%macro WIDEN 1
%if cpuflag(avx2)
    pmovzxbw    m%1, xm%1
%else
    punpcklbw   m%1, m9
%endif
%endmacro

; EIGHT dst, 0 or 4 for the upper or the lower half of the tile, offsets of a row in this half of cur and of ref:
; computes the differences of the row. Clobbers m8.
%macro EIGHT 4
%if BITS == 16
    pmovzxwd    m%1, [cur%2q+%3]
    pmovzxwd     m8, [ref%2q+%4]
    psubd       m%1, m8
%else
%if PAIR
    vpbroadcastq xm%1, [cur%2q+%3]
    movq        xm8, [ref%2q+%4]
    movhps      xm8, [other%2q+%4]
    WIDEN        %1
    WIDEN         8
%elif mmsize == 32
    pmovzxbw    m%1, [cur%2q+%3]
    pmovzxbw     m8, [ref%2q+%4]
%else
    movq        m%1, [cur%2q+%3]
    movq         m8, [ref%2q+%4]
    WIDEN        %1
    WIDEN         8
%endif
    psubw       m%1, m8
%endif
%endmacro

; FOUR dst, offsets of two rows in cur, offsets of two rows in ref: computes the differences of two rows of 4 bytes.
; Clobbers m8 and m10.
%macro FOUR 5
    movd       xm%1, [cur0q+%2]
    movd       xm10, [cur0q+%3]
    punpckldq  xm%1, xm10
    movd        xm8, [ref0q+%4]
    movd       xm10, [ref0q+%5]
    punpckldq   xm8, xm10
%if PAIR
    punpcklqdq xm%1, xm%1
    pinsrd      xm8, [other0q+%4], 2
    pinsrd      xm8, [other0q+%5], 3
%endif
    WIDEN        %1
    WIDEN         8
    psubw       m%1, m8
%endmacro

; DIFFERENCES: computes the differences of all rows of a tile or, in registers of 32 bytes, of two tiles
%macro DIFFERENCES 0
%if TILE == 4 && BITS == 8
    FOUR  0, 0, curstrideq, 0, refstrideq
    FOUR  1, 2*curstrideq, cur3q, 2*refstrideq, ref3q
%else
    EIGHT 0, 0, 0, 0
    EIGHT 1, 0, curstrideq, refstrideq
    EIGHT 2, 0, 2*curstrideq, 2*refstrideq
    EIGHT 3, 0, cur3q, ref3q
%if TILE == 8
    EIGHT 4, 4, 0, 0
    EIGHT 5, 4, curstrideq, refstrideq
    EIGHT 6, 4, 2*curstrideq, 2*refstrideq
    EIGHT 7, 4, cur3q, ref3q
%endif
%endif
%endmacro

; BEGIN: sets the pointers and, without AVX2, m9 to 0
%macro BEGIN 0
    lea       cur3q, [3*curstrideq]
    lea       ref3q, [3*refstrideq]
%if TILE == 8
    lea       cur4q, [cur0q+4*curstrideq]
    lea       ref4q, [ref0q+4*refstrideq]
%endif
%if notcpuflag(avx2)
    pxor         m9, m9
%endif
%endmacro

; COST dst: returns the cost of the tile whose sum is at the beginning of m0
%macro COST 1
    movd      %1d, xm0
%if BITS == 8
    movzx     %1d, %1w
%elif TILE == 8
    inc       %1d
    shr       %1d, 1
%endif
%endmacro

; SATD bits, side of a tile: defines the function for a row of tiles
%macro SATD 2
%assign BITS %1
%assign TILE %2
%assign PAIR 0
%assign REGISTERS TILE
%assign STEP TILE
%if BITS == 8
%assign REGISTERS TILE * TILE / 8
%assign STEP TILE * mmsize / 16
%endif

; uint32_t satd(const uint8_t *cur, ptrdiff_t cur_linesize, const uint8_t *ref, ptrdiff_t ref_linesize,
;               int w)
; Returns half of S of a row of tiles that is w samples wide.
cglobal gpume_satd_%1_%2, 5, 11, 11, cur0, curstride, ref0, refstride, w, cur3, ref3, sum, tmp, cur4, ref4
    BEGIN
    xor        sumd, sumd
.loop:
    DIFFERENCES
    TRANSFORM
    FOLD
    COST        tmp
    add        sumd, tmpd
%if BITS == 8 && mmsize == 32
    vextracti128 xm0, m0, 1
    COST        tmp
    add        sumd, tmpd
%endif
    add       cur0q, STEP * BITS / 8
    add       ref0q, STEP * BITS / 8
%if TILE == 8
    add       cur4q, STEP * BITS / 8
    add       ref4q, STEP * BITS / 8
%endif
    sub          wd, STEP
    jg .loop
    mov         eax, sumd
    RET
%endmacro

; SATD_PAIR side of a tile: defines the function for samples of 8 bits
%macro SATD_PAIR 1
%assign BITS 8
%assign TILE %1
%assign PAIR 1
%assign REGISTERS TILE * TILE / 8

; void satd_pair(const uint8_t *cur, ptrdiff_t cur_linesize, const uint8_t *const ref[2],
;                ptrdiff_t ref_linesize, uint32_t cost[2])
; Adds the costs of a tile for two candidates to cost.
cglobal gpume_satd_pair_%1, 5, 12, 11, cur0, curstride, ref0, refstride, cost, \
                                       cur3, ref3, other0, tmp, cur4, ref4, other4
    mov     other0q, [ref0q+gprsize]
    mov       ref0q, [ref0q]
%if TILE == 8
    lea     other4q, [other0q+4*refstrideq]
%endif
    BEGIN
    DIFFERENCES
    TRANSFORM
    FOLD
    COST        tmp
    add     [costq], tmpd
    vextracti128 xm0, m0, 1
    COST        tmp
    add   [costq+4], tmpd
    RET
%endmacro

INIT_XMM sse2
SATD  8, 4
SATD  8, 8

%if HAVE_AVX2_EXTERNAL
INIT_XMM avx
SATD  8, 4
SATD  8, 8
SATD 16, 4
INIT_YMM avx2
SATD  8, 8
SATD 16, 8
SATD_PAIR 4
SATD_PAIR 8
%endif
