;*****************************************************************************
;* Functions of motion-compensated interpolation
;*****************************************************************************
; This file is part of gpume.
; SPDX-License-Identifier: LGPL-2.1-or-later
;*****************************************************************************

%include "libavutil/x86/x86util.asm"

SECTION_RODATA 32

; bilinear weights of four samples, by the position between them in eighths of a sample: 8 y + x
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

; taps of a Catmull-Rom spline for each sixteenth of a sample
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

; six taps of a sinc with a window
%macro LONG_TAPS 1
    %1  0,  0, 64,  0,  0,  0
    %1  1, -3, 63,  4, -1,  0
    %1  1, -5, 62,  8, -2,  0
    %1  2, -7, 60, 12, -3,  0
    %1  2, -9, 58, 17, -4,  0
    %1  2, -9, 53, 23, -6,  1
    %1  2, -9, 49, 28, -7,  1
    %1  2, -9, 44, 34, -8,  1
    %1  2, -9, 39, 39, -9,  2
    %1  1, -8, 34, 44, -9,  2
    %1  1, -7, 28, 49, -9,  2
    %1  1, -6, 23, 53, -9,  2
    %1  0, -4, 17, 58, -9,  2
    %1  0, -3, 12, 60, -7,  2
    %1  0, -2,  8, 62, -5,  1
    %1  0, -1,  4, 63, -3,  1
%endmacro
; a row of the spline between zeros, so that it has six taps, too
%macro BETWEEN_ZEROS_B 4
    db 0, %1, %2, %3, %4, 0
%endmacro
%macro BETWEEN_ZEROS_W 4
    dw 0, %1, %2, %3, %4, 0
%endmacro
; first those for eight columns, then those for fewer
long_taps_b:
    LONG_TAPS db
    TAPS BETWEEN_ZEROS_B
long_taps_w:
    LONG_TAPS dw
    TAPS BETWEEN_ZEROS_W

; dividend of the trust in a match: (3584 >> 2) * 4096
most_trust: times 8 dd 3670016.0
ones_w:     times 16 dw 1
words_8:    times 16 dw 8
words_32:   times 16 dw 32
words_255:  times 16 dw 255
words_128:  times 16 dw 128
dwords_32:  times 8 dd 32
dwords_128: times 8 dd 128
round_2048: times 8 dd 2048
; shuffles: pairs of adjacent samples, from the first sample on, from the third and from the fifth
pairs_0:    times 2 db 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8
pairs_2:    times 2 db 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10
pairs_4:    times 2 db 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12
; the least horizontal component, shifted to the upper word, stands for no vector
no_vector:  times 8 dd 1 << 31

SECTION .text

; Sums the words of an xmm register. %1: dst, a general register; %2: src, clobbered; %3: clobbered
%macro SUM_WORDS 3
    pmaddwd     %2, [ones_w]
    pshufd      %3, %2, q1032
    paddd       %2, %3
    pshufd      %3, %2, q2301
    paddd       %2, %3
    movd        %1, %2
%endmacro

; Loads four rows of both pictures, a to the low lanes and b to the high lanes, and advances the pointers by four rows.
; %1 to %4: dst
%macro LOAD_FOUR 4
    movu        xm%1, [aq]
    movu        xm%2, [aq + strideq]
    movu        xm%3, [aq + 2 * strideq]
    movu        xm%4, [aq + stride3q]
    vinserti128 m%1, m%1, [bq], 1
    vinserti128 m%2, m%2, [bq + strideq], 1
    vinserti128 m%3, m%3, [bq + 2 * strideq], 1
    vinserti128 m%4, m%4, [bq + stride3q], 1
    lea         aq, [aq + 4 * strideq]
    lea         bq, [bq + 4 * strideq]
%endmacro

; Interpolates a row from pairs of adjacent samples in two rows. %1: dst, which may be %2; %2: pairs of the upper row,
; %3: pairs of the lower row; m8, m9: weights of the two rows; m12: rounding; m10: clobbered
%macro BILINEAR_ROW 3
    pmaddubsw   m%1, m%2, m8
    pmaddubsw   m10, m%3, m9
    paddw       m%1, m12
    paddw       m%1, m10
    psrlw       m%1, 6
%endmacro

; Interpolates a row from pairs of samples. %1: the pairs, and dst; m8: weights; m12: rounding
%macro LINEAR_ROW 1
    pmaddubsw   m%1, m8
    paddw       m%1, m12
    psrlw       m%1, 6
%endmacro

; Adds the absolute differences of two rows of both pictures to m7. %1, %2: the rows, a picture in each lane;
; m10, m11: clobbered
%macro ADD_DIFFERENCES 2
    ; both rows of a, and both rows of b
    vperm2i128  m10, m%1, m%2, q0200
    vperm2i128  m11, m%1, m%2, q0301
    psubw       m10, m11
    pabsw       m10, m10
    paddw       m7, m10
%endmacro

; Broadcasts the weights of two adjacent samples to each lane. %1: dst; %2, %3: positions between the samples of a and
; of b, in eighths of a sample, clobbered; xm10: clobbered
%macro LINEAR_WEIGHTS 3
    imul        %2, %2, 256 * 8 - 8
    imul        %3, %3, 256 * 8 - 8
    add         %2, 64
    add         %3, 64
    movd        xm%1, %2
    movd        xm10, %3
    vpbroadcastw xm%1, xm%1
    vpbroadcastw xm10, xm10
    vinserti128 m%1, m%1, xm10, 1
%endmacro

; Broadcasts a word or a dword to each lane. %1: dst; %2: w or d; %3, %4: addresses for the low and the high lane;
; xm10: clobbered
%macro BROADCAST_BOTH 4
    vpbroadcast%2 xm%1, [%3]
    vpbroadcast%2 xm10, [%4]
    vinserti128 m%1, m%1, xm10, 1
%endmacro

INIT_YMM avx2
; int mvfps_sad_8(const uint8_t *a, const uint8_t *b, ptrdiff_t stride, int at_a, int at_b)
cglobal mvfps_sad_8, 5, 7, 14, a, b, stride, at_a, at_b, table, stride3
    mov         tabled, at_ad
    or          tabled, at_bd
    jz .whole
    lea         stride3q, [3 * strideq]
    mova        m12, [words_32]
    mova        m13, [pairs_0]
    pxor        m7, m7
    cmp         tabled, 8
    jb .level
    test        tabled, 7
    jz .upright
    lea         tableq, [bilinear]
    movsxdifnidn at_aq, at_ad
    movsxdifnidn at_bq, at_bd
    BROADCAST_BOTH 8, w, tableq + 4 * at_aq,     tableq + 4 * at_bq
    BROADCAST_BOTH 9, w, tableq + 4 * at_aq + 2, tableq + 4 * at_bq + 2
    movu        xm0, [aq]
    vinserti128 m0, m0, [bq], 1
    add         aq, strideq
    add         bq, strideq
    pshufb      m0, m13
%rep 2
    LOAD_FOUR   1, 2, 3, 4
    pshufb      m1, m13
    pshufb      m2, m13
    pshufb      m3, m13
    pshufb      m4, m13
    BILINEAR_ROW 0, 0, 1
    BILINEAR_ROW 1, 1, 2
    BILINEAR_ROW 2, 2, 3
    BILINEAR_ROW 3, 3, 4
    ADD_DIFFERENCES 0, 1
    ADD_DIFFERENCES 2, 3
    mova        m0, m4
%endrep
.end:
    vextracti128 xm0, m7, 1
    paddw       xm7, xm0
    SUM_WORDS   eax, xm7, xm0
    RET
    ; both blocks are between columns, but not between rows
.level:
    LINEAR_WEIGHTS 8, at_ad, at_bd
%rep 2
    LOAD_FOUR   0, 1, 2, 3
%assign I 0
%rep 4
    pshufb      m %+ I, m13
    LINEAR_ROW  I
%assign I I + 1
%endrep
    ADD_DIFFERENCES 0, 1
    ADD_DIFFERENCES 2, 3
%endrep
    jmp .end
    ; both blocks are between rows, but not between columns
.upright:
    shr         at_ad, 3
    shr         at_bd, 3
    LINEAR_WEIGHTS 8, at_ad, at_bd
    movu        xm0, [aq]
    vinserti128 m0, m0, [bq], 1
    add         aq, strideq
    add         bq, strideq
%rep 2
    LOAD_FOUR   1, 2, 3, 4
    punpcklbw   m0, m1
    punpcklbw   m1, m2
    punpcklbw   m2, m3
    punpcklbw   m3, m4
%assign I 0
%rep 4
    LINEAR_ROW  I
%assign I I + 1
%endrep
    ADD_DIFFERENCES 0, 1
    ADD_DIFFERENCES 2, 3
    mova        m0, m4
%endrep
    jmp .end
    ; both blocks are at whole samples, as where nothing moves
.whole:
    pxor        xm2, xm2
%rep 4
    movq        xm0, [aq]
    movq        xm1, [bq]
    movhps      xm0, [aq + strideq]
    movhps      xm1, [bq + strideq]
    psadbw      xm0, xm1
    paddd       xm2, xm0
    lea         aq, [aq + 2 * strideq]
    lea         bq, [bq + 2 * strideq]
%endrep
    pshufd      xm0, xm2, q1032
    paddd       xm2, xm0
    movd        eax, xm2
    RET

; Filters the next row of both pictures horizontally, and advances the pointers. %1: dst, a picture in each lane; m9, m10:
; clobbered. The stack has the taps.
%macro FILTER_ROW 1
    movu        xm%1, [aq - 2]
    vinserti128 m%1, m%1, [bq - 2], 1
    add         aq, strideq
    add         bq, strideq
    pshufb      m9, m%1, [pairs_0]
    pshufb      m10, m%1, [pairs_2]
    pshufb      m%1, [pairs_4]
    pmaddubsw   m9, [rsp]
    pmaddubsw   m10, [rsp + 32]
    pmaddubsw   m%1, [rsp + 64]
    paddw       m9, m10
    paddw       m%1, m9
%endmacro

; Loads the next row of both pictures, and advances the pointers. %1: dst, a picture in each lane
%macro LOAD_LANES 1
    movu        xm%1, [aq]
    vinserti128 m%1, m%1, [bq], 1
    add         aq, strideq
    add         bq, strideq
%endmacro

; Stores a row of both matches, and adds their absolute differences to xm15. %1, %2: xmm registers with the rows;
; %2: clobbered
%macro STORE_ROW 2
    movu        [dstq], %1
    movu        [dstq + 128], %2
    psubw       %2, %1
    pabsw       %2, %2
    paddw       xm15, %2
    add         dstq, 16
%endmacro

; Loads the constants of ROUND_ROW to m6, m7 and m11.
%macro LOAD_ROUND 0
    mova        m6, [words_255]
    pxor        m7, m7
    mova        m11, [words_32]
%endmacro

; Rounds, clips and stores a row of both matches in m8, whose words are 64 times a sample. m9: clobbered
%macro ROUND_ROW 0
    paddw       m8, m11
    psraw       m8, 6
    pmaxsw      m8, m7
    pminsw      m8, m6
    vextracti128 xm9, m8, 1
    STORE_ROW   xm8, xm9
%endmacro

; Moves each of the rows in m0 to m5 to the register before its own, so that the first one is forgotten.
%macro NEXT_ROWS 0
%assign I 0
%rep 5
%assign J I + 1
    mova        m %+ I, m %+ J
%assign I J
%endrep
%endmacro

; Adds products of taps with two rows of sums to m8 and m9. %1, %2: registers of the rows; %3: taps; m10, m11: clobbered
%macro ADD_ROWS 3
    punpcklwd   m10, m%1, m%2
    punpckhwd   m11, m%1, m%2
    pmaddwd     m10, m%3
    pmaddwd     m11, m%3
    paddd       m8, m10
    paddd       m9, m11
%endmacro

; int mvfps_match_8(uint16_t (*dst)[64], const uint8_t *a, const uint8_t *b, ptrdiff_t stride,
;                   const int *at, int w, int h, int max)
cglobal mvfps_match_8, 7, 11, 16, 3 * 32, dst, a, b, stride, at_a, w, h, at_b, table, y_a, y_b
    mov         at_bd, [at_aq + 4]
    mov         at_ad, [at_aq]
    pxor        m15, m15
    ; the distance of the taps for fewer than eight columns
    cmp         wd, 8
    sbb         wd, wd
    and         wd, 16 * 6
    mov         y_ad, at_ad
    or          y_ad, at_bd
    jz .whole
    mov         y_bd, y_ad
    and         y_bd, 15
    jz .upright
    mov         y_ad, at_ad
    mov         y_bd, at_bd
    and         at_ad, 15
    and         at_bd, 15
    shr         y_ad, 4
    shr         y_bd, 4
    lea         tableq, [long_taps_b]
    add         tableq, wq
    lea         at_aq, [at_aq + 2 * at_aq]
    lea         at_bq, [at_bq + 2 * at_bq]
%assign I 0
%rep 3
    BROADCAST_BOTH 8, w, tableq + 2 * at_aq + 2 * I, tableq + 2 * at_bq + 2 * I
    mova        [rsp + 32 * I], m8
%assign I I + 1
%endrep
    mov         at_ad, y_ad
    or          at_ad, y_bd
    jz .level
    lea         tableq, [long_taps_w]
    lea         tableq, [tableq + 2 * wq]
    lea         y_aq, [y_aq + 2 * y_aq]
    lea         y_bq, [y_bq + 2 * y_bq]
    BROADCAST_BOTH 6,  d, tableq + 4 * y_aq,     tableq + 4 * y_bq
    BROADCAST_BOTH 7,  d, tableq + 4 * y_aq + 4, tableq + 4 * y_bq + 4
    BROADCAST_BOTH 13, d, tableq + 4 * y_aq + 8, tableq + 4 * y_bq + 8
    sub         aq, strideq
    sub         bq, strideq
    mova        m12, [round_2048]
    sub         aq, strideq
    sub         bq, strideq
%assign I 0
%rep 5
    FILTER_ROW  I
%assign I I + 1
%endrep
.row:
    FILTER_ROW  5
    mova        m8, m12
    mova        m9, m12
    ADD_ROWS    0, 1, 6
    ADD_ROWS    2, 3, 7
    ADD_ROWS    4, 5, 13
    psrad       m8, 12
    psrad       m9, 12
    packssdw    m8, m9
    pxor        m9, m9
    pmaxsw      m8, m9
    pminsw      m8, [words_255]
    vextracti128 xm9, m8, 1
    STORE_ROW   xm8, xm9
    NEXT_ROWS
    dec         hd
    jg .row
    jmp .end
    ; both blocks are between columns, but not between rows
.level:
    LOAD_ROUND
.level_row:
    FILTER_ROW  8
    ROUND_ROW
    dec         hd
    jg .level_row
    jmp .end
    ; both blocks are between rows, but not between columns
.upright:
    shr         at_ad, 4
    shr         at_bd, 4
    lea         tableq, [long_taps_b]
    add         tableq, wq
    lea         at_aq, [at_aq + 2 * at_aq]
    lea         at_bq, [at_bq + 2 * at_bq]
    BROADCAST_BOTH 12, w, tableq + 2 * at_aq,     tableq + 2 * at_bq
    BROADCAST_BOTH 13, w, tableq + 2 * at_aq + 2, tableq + 2 * at_bq + 2
    BROADCAST_BOTH 14, w, tableq + 2 * at_aq + 4, tableq + 2 * at_bq + 4
    sub         aq, strideq
    sub         bq, strideq
    LOAD_ROUND
    sub         aq, strideq
    sub         bq, strideq
%assign I 0
%rep 5
    LOAD_LANES  I
%assign I I + 1
%endrep
    ; pairs of samples one above the other
%assign I 0
%rep 4
%assign J I + 1
    punpcklbw   m %+ I, m %+ J
%assign I J
%endrep
.upright_row:
    LOAD_LANES  5
    punpcklbw   m4, m5
    pmaddubsw   m9, m4, m14
    pmaddubsw   m8, m0, m12
    paddw       m8, m9
    pmaddubsw   m9, m2, m13
    paddw       m8, m9
    ROUND_ROW
    NEXT_ROWS
    dec         hd
    jg .upright_row
    jmp .end
    ; both blocks are at whole samples
.whole:
    movq        xm0, [aq]
    movq        xm1, [bq]
    add         aq, strideq
    add         bq, strideq
    pmovzxbw    xm0, xm0
    pmovzxbw    xm1, xm1
    STORE_ROW   xm0, xm1
    dec         hd
    jg .whole
.end:
    SUM_WORDS   eax, xm15, xm0
    RET

; void mvfps_mean_8(uint16_t *dst, const uint16_t *a, const uint16_t *b, int share, int nb)
cglobal mvfps_mean_8, 5, 5, 5, dst, a, b, share, nb
    movd        xm2, shared
    vpbroadcastw m2, xm2
    mova        m4, [words_32]
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

; Weights 16 values of two matches by trust and window. %1: register of the window; %2: 1 to add to the sums and weights
; in memory, 0 to replace them; %1, m4 to m7, m13, m14: clobbered
%macro ADD_WEIGHTED 2
    movu        m13, [matchesq]
    movu        m14, [matchesq + 128]
    psubw       m4, m13, m14
    pabsw       m4, m4
    psllw       m4, 3
    paddw       m4, m8
    pmullw      m13, m11
    pmullw      m14, m12
    paddw       m13, m14
    paddw       m13, [words_8]
    psrlw       m13, 4
%assign HALF 0
%rep 2
    pmovzxwd    m5, xm4
    pmaddwd     m5, m5
    cvtdq2ps    m5, m5
    divps       m5, m9, m5
    cvttps2dq   m5, m5
    pmaxsd      m5, m10
    pmovzxwd    m6, xm%1
    pmaddwd     m5, m6
    pmovzxwd    m7, xm13
    pmulld      m7, m5
%if %2
    paddd       m5, [weightsq + 32 * HALF]
    paddd       m7, [sumq + 32 * HALF]
%endif
    movu        [weightsq + 32 * HALF], m5
    movu        [sumq + 32 * HALF], m7
%if HALF == 0
    vextracti128 xm4, m4, 1
    vextracti128 xm%1, m%1, 1
    vextracti128 xm13, m13, 1
%endif
%assign HALF HALF + 1
%endrep
%endmacro

; void mvfps_add_8(uint32_t *sum, uint32_t *weights, const uint16_t (*matches)[64], const uint16_t (*windows)[64],
;                  unsigned cells, int share, int difference, int nb, int first, int depth)
; Dividends and divisors are below 1 << 24, so quotients of floats, rounded down, are exact.
cglobal mvfps_add_8, 9, 10, 15, sum, weights, matches, windows, cells, share, difference, nb, first, cell
    movd        xm11, shared
    neg         shared
    add         shared, 64
    movd        xm12, shared
    vpbroadcastw m11, xm11
    vpbroadcastw m12, xm12
    shr         differenced, 3
    add         differenced, 64
    movd        xm8, differenced
    vpbroadcastw m8, xm8
    movu        m9, [most_trust]
    pcmpeqd     m10, m10
    psrld       m10, 31
    pxor        m0, m0
    pxor        m1, m1
    pxor        m2, m2
    pxor        m3, m3
.window:
    bsf         celld, cellsd
    btr         cellsd, celld
    shl         celld, 7
    paddw       m0, [windowsq + cellq]
    paddw       m1, [windowsq + cellq + 32]
    paddw       m2, [windowsq + cellq + 64]
    paddw       m3, [windowsq + cellq + 96]
    test        cellsd, cellsd
    jnz .window
    test        firstd, firstd
    jnz .first
%assign ADDING 1
%rep 2
%if ADDING == 0
.first:
%endif
%assign I 0
%rep 4
    ADD_WEIGHTED I, ADDING
%if I < 3
    sub         nbd, 16
    jle .end
    add         sumq, 64
    add         weightsq, 64
    add         matchesq, 32
%endif
%assign I I + 1
%endrep
%if ADDING
    RET
%endif
%assign ADDING ADDING - 1
%endrep
.end:
    RET

; void mvfps_divide_8(uint16_t *dst, const uint32_t *sum, const uint32_t *weights, int nb, int depth)
; Dividends are below 1 << 31.
cglobal mvfps_divide_8, 4, 4, 4, dst, sum, weights, nb
.loop:
    movu        m0, [weightsq]
    paddd       m1, m0, m0
    pslld       m0, 2
    paddd       m1, [sumq]
    cvtdq2pd    m2, xm0
    cvtdq2pd    m3, xm1
    divpd       m3, m2
    vextracti128 xm0, m0, 1
    vextracti128 xm1, m1, 1
    cvtdq2pd    m0, xm0
    cvtdq2pd    m1, xm1
    divpd       m1, m0
    cvttpd2dq   xm3, m3
    cvttpd2dq   xm1, m1
    packusdw    xm3, xm1
    movu        [dstq], xm3
    add         dstq, 16
    add         sumq, 32
    add         weightsq, 32
    sub         nbd, 8
    jg .loop
    RET

; void mvfps_store_8(uint8_t *dst, ptrdiff_t stride, const uint16_t *src, int w, int h)
; Rows have 8 or 4 samples; h is even.
cglobal mvfps_store_8, 5, 5, 2, dst, stride, src, w, h
    cmp         wd, 8
    jl .four
.eight:
    movu        xm0, [srcq]
    packuswb    xm0, [srcq + 16]
    movq        [dstq], xm0
    movhps      [dstq + strideq], xm0
    lea         dstq, [dstq + 2 * strideq]
    add         srcq, 32
    sub         hd, 2
    jg .eight
    RET
.four:
    movq        xm0, [srcq]
    movhps      xm0, [srcq + 16]
    packuswb    xm0, xm0
    movd        [dstq], xm0
    pextrd      [dstq + strideq], xm0, 1
    lea         dstq, [dstq + 2 * strideq]
    add         srcq, 32
    sub         hd, 2
    jg .four
    RET

; Finds which of 24 dwords equal the dword that is broadcast in a register. %1: dst, a bit for each dword; %2: the
; register, clobbered; %3 to %5: registers with the 24 dwords; %6, m7: clobbered
%macro EQUAL_BITS 6
    pcmpeqd     m7, m%2, m%3
    movmskps    %1, m7
    pcmpeqd     m7, m%2, m%4
    pcmpeqd     m%2, m%5
    movmskps    %6, m7
    shl         %6, 8
    or          %1, %6
    movmskps    %6, m%2
    shl         %6, 16
    or          %1, %6
%endmacro

; int mvfps_distinct(MvfpsVector *dst, const MvfpsVector *src, int nb)
cglobal mvfps_distinct, 3, 6, 8, dst, src, nb, left, equal, tmp
    movu        m0, [srcq]
    movu        m1, [srcq + 32]
    movu        m2, [srcq + 64]
    ; where there is no vector, the horizontal component is the least word
    mova        m3, [no_vector]
    pslld       m4, m0, 16
    pslld       m5, m1, 16
    pslld       m6, m2, 16
    EQUAL_BITS  equald, 3, 4, 5, 6, tmpd
    xor         leftd, leftd
    bts         leftd, nbd
    dec         leftd
    xor         nbd, nbd
    not         equald
    and         leftd, equald
    jz .end
.next:
    tzcnt       tmpd, leftd
    vpbroadcastd m3, [srcq + 4 * tmpq]
    movd        [dstq + 4 * nbq], xm3
    inc         nbd
    EQUAL_BITS  equald, 3, 0, 1, 2, tmpd
    not         equald
    and         leftd, equald
    jnz .next
.end:
    mov         eax, nbd
    RET

; int mvfps_distinct_from(MvfpsVector *dst, const MvfpsVector *src, const MvfpsVector *others, int nb)
cglobal mvfps_distinct_from, 4, 6, 3, dst, src, others, nb, left, tmp
    movu        m0, [srcq]
    pslld       m1, m0, 16
    pcmpeqd     m1, [no_vector]
    test        nbd, nbd
    jz .compared
.other:
    vpbroadcastd m2, [othersq]
    add         othersq, 4
    pcmpeqd     m2, m0
    por         m1, m2
    dec         nbd
    jg .other
.compared:
    movmskps    leftd, m1
    xor         nbd, nbd
    xor         leftd, 0xff
    jz .end
.next:
    tzcnt       tmpd, leftd
    btr         leftd, tmpd
    mov         tmpd, [srcq + 4 * tmpq]
    mov         [dstq + 4 * nbq], tmpd
    inc         nbd
    test        leftd, leftd
    jnz .next
.end:
    mov         eax, nbd
    RET

; void mvfps_sum_distances(int *sums, const MvfpsVector *v, int nb, const MvfpsVector *others)
cglobal mvfps_sum_distances, 4, 4, 6, sums, v, nb, others
    movu        m2, [othersq]
    mova        m3, [words_32]
    mova        m4, [ones_w]
    mova        m5, [dwords_32]
.loop:
    vpbroadcastd m0, [vq]
    psubsw      m0, m2
    pabsw       m0, m0
    ; unsigned, because the absolute value of -32768 is 32768
    pminuw      m0, m3
    pmaddwd     m0, m4
    pminsd      m0, m5
    vextracti128 xm1, m0, 1
    paddd       xm0, xm1
    pshufd      xm1, xm0, q1032
    paddd       xm0, xm1
    pshufd      xm1, xm0, q2301
    paddd       xm0, xm1
    movd        [sumsq], xm0
    add         sumsq, 4
    add         vq, 4
    dec         nbd
    jg .loop
    RET

; Finds the columns, or rows, of cells that displacements lead to. %1: displacements in eighths of a sample, and dst;
; %2: centre of the cell from which they begin; %3: last column or row; m14: 0
%macro PLACE 3
    psrad       m%1, 3
    paddd       m%1, m%2
    psrad       m%1, 3
    pmaxsd      m%1, m14
    pminsd      m%1, m%3
%endmacro

; Computes the distances between vectors of a field and other vectors. %1: dst; %2: offset of the field in MvfpsFields;
; %3: indices of cells; %4: the other vectors; m7: clobbered
%macro AWAY 4
    mov         fieldq, [fieldsq + %2]
    pcmpeqd     m7, m7
    vpgatherdd  m%1, [fieldq + 4 * m%3], m7
    psubsw      m%1, m%4
    pabsw       m%1, m%1
    ; unsigned, because the absolute value of -32768, as where there is no vector, is 32768
    pminuw      m%1, [words_128]
    pmaddwd     m%1, [ones_w]
    pminsd      m%1, [dwords_128]
%endmacro

; void mvfps_field_penalties(int *penalties, const MvfpsVector *v, int nb, const MvfpsFields *fields,
;                       int x, int y, int part)
cglobal mvfps_field_penalties, 7, 8, 16, penalties, v, nb, fields, x, y, part, field
    add         xd, 4
    add         yd, 4
    add         partd, partd
    movd        xm8, xd
    movd        xm9, yd
    movd        xm13, partd
    vpbroadcastd m8, xm8
    vpbroadcastd m9, xm9
    vpbroadcastd m12, [fieldsq]
    vpbroadcastd m11, [fieldsq + 4]
    vpbroadcastd m13, xm13
    pxor        m14, m14
    pcmpeqd     m7, m7
    paddd       m10, m12, m7
    paddd       m11, m7
.loop:
    movu        m0, [vq]
    psubw       m15, m14, m0
    pslld       m1, m0, 16
    psrad       m1, 16
    pmulld      m2, m1, m13
    paddd       m2, [round_2048]
    psrad       m2, 12
    psubd       m3, m14, m2
    paddd       m1, m1
    psubd       m1, m2
    PLACE       3, 8, 10
    PLACE       1, 8, 10
    psrad       m4, m0, 16
    pmulld      m2, m4, m13
    paddd       m2, [round_2048]
    psrad       m2, 12
    psubd       m5, m14, m2
    paddd       m4, m4
    psubd       m4, m2
    PLACE       5, 9, 11
    PLACE       4, 9, 11
    pmulld      m5, m12
    pmulld      m4, m12
    paddd       m3, m5
    paddd       m1, m4
    AWAY        2,  8, 3, 0
    AWAY        4, 24, 3, 15
    AWAY        5, 16, 1, 15
    AWAY        6, 32, 1, 0
    paddd       m2, m4
    paddd       m5, m6
    pminsd      m2, m5
    pslld       m2, 3
    movu        [penaltiesq], m2
    add         vq, 32
    add         penaltiesq, 32
    sub         nbd, 8
    jg .loop
    RET
