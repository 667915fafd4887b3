;*****************************************************************************
;* Interpolation of samples, each at a position of its own
;*****************************************************************************
; This file is part of gpume.
; SPDX-License-Identifier: LGPL-2.1-or-later
;*****************************************************************************

%include "libavutil/x86/x86util.asm"

SECTION_RODATA 32

; bytes become the high bytes of words, four words for each of the rows 0 to 3 and 4 to 7
high_0: db -1, 0, -1, 0, -1, 0, -1, 0, -1, 1, -1, 1, -1, 1, -1, 1
        db -1, 2, -1, 2, -1, 2, -1, 2, -1, 3, -1, 3, -1, 3, -1, 3
high_4: db -1, 4, -1, 4, -1, 4, -1, 4, -1, 5, -1, 5, -1, 5, -1, 5
        db -1, 6, -1, 6, -1, 6, -1, 6, -1, 7, -1, 7, -1, 7, -1, 7
; a dword of taps for each half of a register
row_01: dd 0, 0, 0, 0, 1, 1, 1, 1
row_23: dd 2, 2, 2, 2, 3, 3, 3, 3
row_45: dd 4, 4, 4, 4, 5, 5, 5, 5
row_67: dd 6, 6, 6, 6, 7, 7, 7, 7
w_sign: times 16 dw 0x8000
d_round_20: times 4 dd 1 << 19
; the sum of all taps is 64 in both directions
d_round_12: times 4 dd (0x8000 << 12) + (1 << 11)

SECTION .text

INIT_YMM avx2

; The eight dwords of m%1 become terms of sample number %2 from src on. Clobbers m5 to m9.
%macro TERMS_8 2
    mov           pq, [srcq + 16 * %2]
    mov           xd, [srcq + 16 * %2 + 8]
    mov           yd, [srcq + 16 * %2 + 12]
    movq         xm5, [pq]
    movhps       xm5, [pq + strideq]
    movq         xm6, [pq + 2 * strideq]
    movhps       xm6, [pq + stride3q]
    lea           pq, [pq + 4 * strideq]
    vinserti128   m5, m5, xm6, 1
    movq         xm6, [pq]
    movhps       xm6, [pq + strideq]
    movq         xm7, [pq + 2 * strideq]
    movhps       xm7, [pq + stride3q]
    vinserti128   m6, m6, xm7, 1
    vpbroadcastq  m7, [tapsq + 8 * xq]
    vpbroadcastq  m8, [tapsq + 8 * yq]
    pmaddubsw     m5, m7
    pmaddubsw     m6, m7
    pshufb        m9, m8, m10
    pshufb        m8, m11
    pmaddwd       m5, m9
    pmaddwd       m6, m8
    paddd        m%1, m5, m6
%endmacro

; Adds the words of taps times samples of two rows at %2 and %3, times their taps in y. %1: row_%1
%macro ADD_ROWS_16 3
    movu         xm6, %2
    vinserti128   m6, m6, %3, 1
    pxor          m6, m10
    pmaddwd       m6, m7
    mova          m9, [row_%1]
    vpermd        m9, m9, m8
    pmulld        m6, m9
%endmacro

%macro TERMS_16 2
    mov           pq, [srcq + 16 * %2]
    mov           xd, [srcq + 16 * %2 + 8]
    mov           yd, [srcq + 16 * %2 + 12]
    vpmovsxbw    xm7, [tapsq + 8 * xq]
    vinserti128   m7, m7, xm7, 1
    vpmovsxbd     m8, [tapsq + 8 * yq]
    ADD_ROWS_16   01, [pq], [pq + strideq]
    mova         m%1, m6
    ADD_ROWS_16   23, [pq + 2 * strideq], [pq + stride3q]
    paddd        m%1, m6
    lea           pq, [pq + 4 * strideq]
    ADD_ROWS_16   45, [pq], [pq + strideq]
    paddd        m%1, m6
    ADD_ROWS_16   67, [pq + 2 * strideq], [pq + stride3q]
    paddd        m%1, m6
%endmacro

; void ff_mvstab_warp_8(void *dst, const MvstabSource *src, ptrdiff_t stride, const int8_t (*taps)[8], int n, int max)
; %1: bits of a sample's word
%macro WARP 1
cglobal mvstab_warp_%1, 6, 10, 13, dst, src, stride, taps, n, max, p, x, y, stride3
    lea     stride3q, [3 * strideq]
%if %1 == 8
    mova         m10, [high_0]
    mova         m11, [high_4]
%else
    mova         m10, [w_sign]
    movd        xm11, maxd
    vpbroadcastd xm11, xm11
    pxor        xm12, xm12
%endif
.four:
    TERMS_%1       0, 0
    TERMS_%1       1, 1
    TERMS_%1       2, 2
    TERMS_%1       3, 3
    phaddd        m0, m1
    phaddd        m2, m3
    phaddd        m0, m2
    vextracti128 xm1, m0, 1
    paddd        xm0, xm1
%if %1 == 8
    paddd        xm0, [d_round_20]
    psrad        xm0, 20
    packssdw     xm0, xm0
    packuswb     xm0, xm0
    movd      [dstq], xm0
%else
    paddd        xm0, [d_round_12]
    psrad        xm0, 12
    pmaxsd       xm0, xm12
    pminsd       xm0, xm11
    packusdw     xm0, xm0
    movq      [dstq], xm0
%endif
    add         dstq, 4 * %1 / 8
    add         srcq, 4 * 16
    sub           nd, 4
    jg .four
    RET
%endmacro

WARP 8
WARP 16
