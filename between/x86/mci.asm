;*****************************************************************************
;* Pictures between others
;*****************************************************************************
; This file is part of gpume.
; SPDX-License-Identifier: LGPL-2.1-or-later
;*****************************************************************************

%include "libavutil/x86/x86util.asm"

SECTION_RODATA 32

; of the four samples around a place, by its eighths
%assign Y 0
bilinear:
%rep 8
%assign X 0
%rep 8
    db (8 - X) * (8 - Y), X * (8 - Y), (8 - X) * Y, X * Y
%assign X X + 1
%endrep
%assign Y Y + 1
%endrep

; Catmull and Rom's spline, by sixteenths: as bytes and as words
%macro TAPS 1
    %1  0, 64,  0,  0
    %1 -2, 63,  3,  0
    %1 -3, 62,  6, -1
    %1 -4, 59, 10, -1
    %1 -4, 56, 14, -2
    %1 -5, 51, 20, -2
    %1 -5, 47, 25, -3
    %1 -4, 41, 30, -3
    %1 -4, 36, 36, -4
    %1 -3, 30, 41, -4
    %1 -3, 25, 47, -5
    %1 -2, 20, 51, -5
    %1 -2, 14, 56, -4
    %1 -1, 10, 59, -4
    %1 -1,  6, 62, -3
    %1  0,  3, 63, -2
%endmacro
taps_b: TAPS db
taps_w: TAPS dw

ones_w:     times 16 dw 1
round_32:   times 16 dw 32
round_2048: times 4 dd 2048

SECTION .text

%if ARCH_X86_64

; SUM_WORDS dst, src, tmp: the sum of the words of an xmm register
%macro SUM_WORDS 3
    pmaddwd     %2, [ones_w]
    pshufd      %3, %2, q1032
    paddd       %2, %3
    pshufd      %3, %2, q2301
    paddd       %2, %3
    movd        %1, %2
%endmacro

; Samples beside each other of a row. %1: dst, %2: address, m12: clobbered
%macro LOAD_PAIRS 2
    movq        %1, [%2]
    movq        m12, [%2 + 1]
    punpcklbw   %1, m12
%endmacro

INIT_XMM avx2
; int mvfps_sad_8(const uint8_t *a, ptrdiff_t a_stride, int ax, int ay,
;                 const uint8_t *b, ptrdiff_t b_stride, int bx, int by)
cglobal mvfps_sad_8, 8, 9, 13, a, a_stride, ax, ay, b, b_stride, bx, by, table
    lea         tableq, [bilinear]
    lea         ayd, [axd + 8 * ayd]
    lea         byd, [bxd + 8 * byd]
    vpbroadcastw m8,  [tableq + 4 * ayq]
    vpbroadcastw m9,  [tableq + 4 * ayq + 2]
    vpbroadcastw m10, [tableq + 4 * byq]
    vpbroadcastw m11, [tableq + 4 * byq + 2]
    mova        m6, [round_32]
    pxor        m7, m7
    LOAD_PAIRS  m0, aq
    LOAD_PAIRS  m1, bq
%rep 8
    add         aq, a_strideq
    add         bq, b_strideq
    LOAD_PAIRS  m2, aq
    LOAD_PAIRS  m3, bq
    pmaddubsw   m4, m0, m8
    pmaddubsw   m0, m2, m9
    pmaddubsw   m5, m1, m10
    pmaddubsw   m1, m3, m11
    paddw       m4, m0
    paddw       m5, m1
    paddw       m4, m6
    paddw       m5, m6
    psrlw       m4, 6
    psrlw       m5, 6
    psubw       m4, m5
    pabsw       m4, m4
    paddw       m7, m4
    SWAP        0, 2
    SWAP        1, 3
%endrep
    SUM_WORDS   eax, m7, m0
    RET

; A row, filtered horizontally. %1: dst; m10 and m11: clobbered
%macro FILTER_ROW 1
    movq        %1, [srcq - 1]
    movq        m10, [srcq]
    punpcklbw   %1, m10
    movq        m10, [srcq + 1]
    movq        m11, [srcq + 2]
    punpcklbw   m10, m11
    pmaddubsw   %1, m4
    pmaddubsw   m10, m5
    paddw       %1, m10
    add         srcq, strideq
%endmacro

; void mvfps_sharp_8(uint16_t *dst, const uint8_t *src, ptrdiff_t stride, int fx, int fy,
;                    int w, int h, int max)
cglobal mvfps_sharp_8, 7, 8, 13, dst, src, stride, fx, fy, w, h, table
    lea         tableq, [taps_b]
    movsxdifnidn fxq, fxd
    movsxdifnidn fyq, fyd
    vpbroadcastw m4, [tableq + 4 * fxq]
    vpbroadcastw m5, [tableq + 4 * fxq + 2]
    lea         tableq, [taps_w]
    vpbroadcastd m6, [tableq + 8 * fyq]
    vpbroadcastd m7, [tableq + 8 * fyq + 4]
    mova        m12, [round_2048]
    sub         srcq, strideq
    FILTER_ROW  m0
    FILTER_ROW  m1
    FILTER_ROW  m2
.row:
    FILTER_ROW  m3
    punpcklwd   m8, m0, m1
    punpckhwd   m9, m0, m1
    punpcklwd   m10, m2, m3
    punpckhwd   m11, m2, m3
    pmaddwd     m8, m6
    pmaddwd     m9, m6
    pmaddwd     m10, m7
    pmaddwd     m11, m7
    paddd       m8, m10
    paddd       m9, m11
    paddd       m8, m12
    paddd       m9, m12
    psrad       m8, 12
    psrad       m9, 12
    packssdw    m8, m9
    packuswb    m8, m8
    pmovzxbw    m8, m8
    movu        [dstq], m8
    add         dstq, 16
    mova        m0, m1
    mova        m1, m2
    mova        m2, m3
    dec         hd
    jg .row
    RET

INIT_YMM avx2
; int mvfps_difference_8(const uint16_t *a, const uint16_t *b)
cglobal mvfps_difference_8, 2, 2, 3, a, b
    pxor        m0, m0
%assign I 0
%rep 4
    movu        m1, [aq + 32 * I]
    psubw       m1, [bq + 32 * I]
    pabsw       m1, m1
    paddw       m0, m1
%assign I I + 1
%endrep
    vextracti128 xm1, m0, 1
    paddw       xm0, xm1
    SUM_WORDS   eax, xm0, xm1
    RET

; void mvfps_mean_8(uint16_t *dst, const uint16_t *a, const uint16_t *b, int share, int nb)
cglobal mvfps_mean_8, 5, 5, 5, dst, a, b, share, nb
    movd        xm2, shared
    vpbroadcastw m2, xm2
    mova        m4, [round_32]
    paddw       m3, m4, m4
    psubw       m3, m2
.loop:
    pmullw      m0, m2, [aq]
    pmullw      m1, m3, [bq]
    paddw       m0, m1
    paddw       m0, m4
    psrlw       m0, 6
    movu        [dstq], m0
    add         aq, 32
    add         bq, 32
    add         dstq, 32
    sub         nbd, 16
    jg .loop
    RET

; void mvfps_window(uint16_t *dst, const uint16_t (*windows)[64], unsigned cells)
cglobal mvfps_window, 3, 4, 4, dst, windows, cells, cell
    pxor        m0, m0
    pxor        m1, m1
    pxor        m2, m2
    pxor        m3, m3
.loop:
    bsf         celld, cellsd
    btr         cellsd, celld
    shl         celld, 7
    paddw       m0, [windowsq + cellq]
    paddw       m1, [windowsq + cellq + 32]
    paddw       m2, [windowsq + cellq + 64]
    paddw       m3, [windowsq + cellq + 96]
    test        cellsd, cellsd
    jnz .loop
    movu        [dstq],      m0
    movu        [dstq + 32], m1
    movu        [dstq + 64], m2
    movu        [dstq + 96], m3
    RET

; void mvfps_add_8(uint32_t *sum, uint16_t *weights, const uint16_t *values, const uint16_t *window,
;                  int trust, int nb)
; The sums of 16 values: 0 to 3, 8 to 11, 4 to 7, 12 to 15.
cglobal mvfps_add_8, 6, 6, 6, sum, weights, values, window, trust, nb
    movd        xm5, trustd
    vpbroadcastw m5, xm5
.loop:
    pmullw      m0, m5, [windowq]
    movu        m1, [valuesq]
    paddw       m2, m0, [weightsq]
    movu        [weightsq], m2
    pmullw      m2, m0, m1
    pmulhuw     m0, m1
    punpcklwd   m3, m2, m0
    punpckhwd   m2, m0
    paddd       m3, [sumq]
    paddd       m2, [sumq + 32]
    movu        [sumq], m3
    movu        [sumq + 32], m2
    add         sumq, 64
    add         weightsq, 32
    add         valuesq, 32
    add         windowq, 32
    sub         nbd, 16
    jg .loop
    RET

; void mvfps_divide_8(uint16_t *dst, const uint32_t *sum, const uint16_t *weights, int nb)
; Sums are below 1 << 24 and quotients below 1 << 8, so that what is rounded down is exact.
cglobal mvfps_divide_8, 4, 4, 6, dst, sum, weights, nb
    pxor        m5, m5
.loop:
    movu        m0, [weightsq]
    psrlw       m4, m0, 1
    punpckhwd   m1, m0, m5
    punpcklwd   m0, m5
    punpckhwd   m3, m4, m5
    punpcklwd   m2, m4, m5
    paddd       m2, [sumq]
    paddd       m3, [sumq + 32]
    cvtdq2ps    m0, m0
    cvtdq2ps    m1, m1
    cvtdq2ps    m2, m2
    cvtdq2ps    m3, m3
    divps       m2, m0
    divps       m3, m1
    cvttps2dq   m2, m2
    cvttps2dq   m3, m3
    packusdw    m2, m3
    movu        [dstq], m2
    add         dstq, 32
    add         sumq, 64
    add         weightsq, 32
    sub         nbd, 16
    jg .loop
    RET

; void mvfps_store_8(uint8_t *dst, ptrdiff_t stride, const uint16_t *src, int h), h even
cglobal mvfps_store_8, 4, 4, 2, dst, stride, src, h
.loop:
    movu        xm0, [srcq]
    packuswb    xm0, [srcq + 16]
    movq        [dstq], xm0
    movhps      [dstq + strideq], xm0
    lea         dstq, [dstq + 2 * strideq]
    add         srcq, 32
    sub         hd, 2
    jg .loop
    RET

%endif
