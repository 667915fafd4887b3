;*****************************************************************************
;* Transforms of stacks of patches
;*****************************************************************************
; This file is part of gpume.
; SPDX-License-Identifier: LGPL-2.1-or-later
;*****************************************************************************

%include "libavutil/x86/x86util.asm"

SECTION_RODATA 32

; pairs of factors of the spatial transform
%macro PAIR 3
%1: times 8 dw %2, %3
%endmacro
PAIR f64_64,   64,  64
PAIR f64_m64,  64, -64
PAIR f83_36,   83,  36
PAIR f36_m83,  36, -83
PAIR f89_75,   89,  75
PAIR f50_18,   50,  18
PAIR f75_m18,  75, -18
PAIR fm89_m50, -89, -50
PAIR f50_m89,  50, -89
PAIR f18_75,   18,  75
PAIR f18_m50,  18, -50
PAIR f75_m89,  75, -89

%macro FACTOR 1-*
%rep %0
d%1: times 8 dd %1
%rotate 1
%endrep
%endmacro
; factors of the spatial transform, as dwords
FACTOR 18, 36, 50, 75, 83, 89
dwords_1:   times 8 dd 1
dwords_2:   times 8 dd 2

round_32:   times 8 dd 32
round_64:   times 8 dd 64
; halves are rounded up in every other column only
round_back: times 4 dd 64, 63
round_128:  times 8 dd 128
round_512:  times 8 dd 512
; pmulhrsw by these divides by 2 and by 4, with rounding
half:       times 16 dw 1 << 14
quarter:    times 16 dw 1 << 13
ones:       times 16 dw 1
words_64:   times 16 dw 64
words_511:  times 16 dw 511
; 1 << 15 and 1 << 27, from which gains are computed
full:       times 16 dw 0x8000
full_f:     times 8 dd 134217728.0
; mask of the first coefficient, which is not filtered
first:      dw -1
            times 63 dw 0

; Defines the factors of the DCT of K values over time, as words. %1: K; other arguments: the first half of each row,
; with the middle factor if K is odd. The second half of a row mirrors the first half, and is negated in odd rows.
;
; forward_K has the first halves of the even rows, then those of the odd rows. The factors of even rows multiply the
; sums of the two values at the same distance from either end, those of odd rows multiply the differences. Where a row
; has an odd number of factors, 512 follows: this multiplies 1, and rounds.
;
; inverse_K has the factors of each value: those in even rows, then those in odd rows; 512 follows if K is odd.
%macro DCT 2-*
%assign K %1
%assign I 0
%rep K
%assign J 0
%rep (K + 1) / 2
%rotate 1
%assign OTHER K - 1 - J
%assign M_%[I]_%[J] %1
%if I & 1
%assign M_%[I]_%[OTHER] -(%1)
%else
%assign M_%[I]_%[OTHER] %1
%endif
%assign J J + 1
%endrep
%assign I I + 1
%endrep
forward_ %+ K:
%assign ODD 0
%rep 2
%assign NB (K + 1 - ODD) / 2
%assign I ODD
%rep NB
%assign J 0
%rep NB
    dw M_%[I]_%[J]
%assign J J + 1
%endrep
%if NB & 1
    dw 512
%endif
%assign I I + 2
%endrep
%assign ODD 1
%endrep
inverse_ %+ K:
%assign J 0
%rep K
%assign I 0
%rep K
    dw M_%[I]_%[J]
%assign I I + 2
%if I >= K && I & 1 == 0
%assign I 1
%endif
%endrep
%if K & 1
    dw 512
%endif
%assign J J + 1
%endrep
%endmacro

DCT 2, \
     724, \
     724
DCT 3, \
     591,  591, \
     724,    0, \
     418, -836
DCT 4, \
     512,  512, \
     669,  277, \
     512, -512, \
     277, -669
DCT 5, \
     458,  458,  458, \
     616,  381,    0, \
     524, -200, -648, \
     381, -616,    0, \
     200, -524,  648
DCT 6, \
     418,  418,  418, \
     571,  418,  153, \
     512,    0, -512, \
     418, -418, -418, \
     296, -591,  296, \
     153, -418,  571
DCT 7, \
     387,  387,  387,  387, \
     534,  428,  237,    0, \
     493,  122, -341, -547, \
     428, -237, -534,    0, \
     341, -493, -122,  547, \
     237, -534,  428,    0, \
     122, -341,  493, -547
DCT 8, \
     362,  362,  362,  362, \
     502,  426,  284,  100, \
     473,  196, -196, -473, \
     426, -100, -502, -284, \
     362, -362, -362,  362, \
     284, -502,  100,  426, \
     196, -473,  473, -196, \
     100, -284,  426, -502
DCT 9, \
     341,  341,  341,  341,  341, \
     475,  418,  310,  165,    0, \
     454,  241,  -84, -370, -483, \
     418,    0, -418, -418,    0, \
     370, -241, -454,   84,  483, \
     310, -418, -165,  475,    0, \
     241, -483,  241,  241, -483, \
     165, -418,  475, -310,    0, \
      84, -241,  370, -454,  483

SECTION .text

; Computes sums of two products, and shifts them right. %1: dst; %2: clobbered; %3: factors; %4, %5: pairs of words, low
; and high halves of lanes; %6: shift; %7: rounding
%macro PRODUCTS 7
    pmaddwd     m%2, m%5, [%3]
    pmaddwd     m%1, m%4, [%3]
    paddd       m%2, [%7]
    paddd       m%1, [%7]
    psrad       m%2, %6
    psrad       m%1, %6
    packssdw    m%1, m%2
%endmacro

; Computes sums of four products, and shifts them right. Pairs of words in m12 and m8 are multiplied by %2, pairs in m9
; and m10 by %3. %1: dst; %2, %3: factors; %4: shift; %5: rounding; m11, m14: clobbered
%macro PRODUCTS_OF_FOUR 5
    pmaddwd     m%1, m12, [%2]
    pmaddwd     m14, m9,  [%3]
    paddd       m%1, m14
    pmaddwd     m11, m8,  [%2]
    pmaddwd     m14, m10, [%3]
    paddd       m11, m14
    paddd       m%1, [%5]
    paddd       m11, [%5]
    psrad       m%1, %4
    psrad       m11, %4
    packssdw    m%1, m11
%endmacro

; Transforms the columns of m0 to m7, which have a patch in each lane. %1: shift; %2: rounding; %3: the factor of
; pmulhrsw for rows 0 and 4, or none; m8 to m14: clobbered
%macro FORWARD 3
    psubw       m8, m0, m7
    paddw       m0, m7
    psubw       m9, m1, m6
    paddw       m1, m6
    psubw       m10, m2, m5
    paddw       m2, m5
    psubw       m11, m3, m4
    paddw       m3, m4
    psubw       m4, m0, m3
    paddw       m0, m3
    psubw       m5, m1, m2
    paddw       m1, m2
    psubw       m13, m0, m1
    paddw       m0, m1
%ifnidn %3, none
    pmulhrsw    m13, [%3]
    pmulhrsw    m0, [%3]
%endif
    punpcklwd   m6, m4, m5
    punpckhwd   m4, m5
    PRODUCTS    2, 3, f83_36, 6, 4, %1, %2
    PRODUCTS    6, 4, f36_m83, 6, 4, %1, %2
    punpcklwd   m12, m8, m9
    punpckhwd   m8, m9
    punpcklwd   m9, m10, m11
    punpckhwd   m10, m11
    PRODUCTS_OF_FOUR 1, f89_75, f50_18, %1, %2
    PRODUCTS_OF_FOUR 3, f75_m18, fm89_m50, %1, %2
    PRODUCTS_OF_FOUR 5, f50_m89, f18_75, %1, %2
    PRODUCTS_OF_FOUR 7, f18_m50, f75_m89, %1, %2
    mova        m4, m13
%endmacro

; Loads a row of two patches. A sample is the sum of two samples of 8 bits, or the mean of two larger samples, shifted
; left by xm9. %1: dst; %2: 8 or 10; %3: offset of the row; m8: clobbered
%macro LOAD_ROW 3
%if %2 == 8
    movq        xm%1, [aq + %3]
    movq        xm8,  [bq + %3]
    movhps      xm%1, [a2q + %3]
    movhps      xm8,  [b2q + %3]
    pmovzxbw    m%1, xm%1
    pmovzxbw    m8, xm8
    paddw       m%1, m8
%else
    movu        xm%1, [aq + %3]
    movu        xm8,  [bq + %3]
    vinserti128 m%1, m%1, [a2q + %3], 1
    vinserti128 m8, m8, [b2q + %3], 1
    pavgw       m%1, m8
    psllw       m%1, xm9
%endif
%endmacro

; void mvdenoise_over_space(void *coefs, const MvdenoisePatch *patches, ptrdiff_t stride, int nb, int base,
;                           int fraction)
; Transforms two patches at a time. Subtracts a multiple of base from the first coefficient, which equals subtracting
; base from all samples.
%macro OVER_SPACE 1
INIT_YMM avx2
cglobal mvdenoise_over_space_%1, 6, 11, 16, coefs, patches, stride, nb, base, fraction, a, b, a2, b2, stride3
    lea         stride3q, [3 * strideq]
    movd        xm15, based
%if %1 == 8
    pslld       xm15, 5
%else
    movd        xm9, fractiond
    pslld       xm15, 3
    pslld       xm15, xm9
%endif
    vinserti128 m15, m15, xm15, 1
.loop:
    mov         aq, [patchesq]
    mov         bq, [patchesq + 8]
    ; the last one of an odd number of patches takes both lanes
    xor         a2d, a2d
    cmp         nbd, 1
    setg        a2b
    shl         a2d, 4
    mov         b2q, [patchesq + a2q + 8]
    mov         a2q, [patchesq + a2q]
    add         patchesq, 32
%if %1 == 10
    movd        xm9, fractiond
%endif
    LOAD_ROW    0, %1, 0
    LOAD_ROW    1, %1, strideq
    LOAD_ROW    2, %1, 2 * strideq
    LOAD_ROW    3, %1, stride3q
    lea         aq, [aq + 4 * strideq]
    lea         bq, [bq + 4 * strideq]
    lea         a2q, [a2q + 4 * strideq]
    lea         b2q, [b2q + 4 * strideq]
    LOAD_ROW    4, %1, 0
    LOAD_ROW    5, %1, strideq
    LOAD_ROW    6, %1, 2 * strideq
    LOAD_ROW    7, %1, stride3q
%if %1 == 8
    FORWARD     6, round_32, none
%else
    FORWARD     7, round_64, half
%endif
    TRANSPOSE8x8W 0, 1, 2, 3, 4, 5, 6, 7, 8
    FORWARD     8, round_128, quarter
    psubw       m0, m15
%assign I 0
%rep 8
    mova        [coefsq + 16 * I], xm%[I]
    vextracti128 [coefsq + 128 + 16 * I], m%[I], 1
%assign I I + 1
%endrep
    add         coefsq, 256
    sub         nbd, 2
    jg .loop
    RET
%endmacro

OVER_SPACE 8
OVER_SPACE 10

; Loads the sum or the difference of the two values at the same distance from either end, or the middle value. %1: dst;
; %2: 0: sum, 1: difference; %3: number of values; %4: the distance; %5: bytes between values
%macro LOAD_VALUE 5
    mova        m%1, [coefsq + %4 * %5]
%if 2 * %4 + 1 != %3
%if %2
    psubw       m%1, [coefsq + (%3 - 1 - %4) * %5]
%else
    paddw       m%1, [coefsq + (%3 - 1 - %4) * %5]
%endif
%endif
%endmacro

; Loads all such sums or differences, and interleaves them in pairs in m0 to m5; 1 completes the last pair of an odd
; number. %1: 0: sums, 1: differences; %2: number of values; %3: bytes between values; m12, m13: clobbered
%macro LOAD_VALUES 3
%assign NB (%2 + 1 - %1) / 2
%assign J 0
%rep (NB + 1) / 2
    LOAD_VALUE  12, %1, %2, J, %3
%assign NEXT J + 1
%if NEXT < NB
    LOAD_VALUE  13, %1, %2, NEXT, %3
%else
    mova        m13, [ones]
%endif
    punpcklwd   m%[J], m12, m13
    punpckhwd   m%[NEXT], m12, m13
%assign J J + 2
%endrep
%endmacro

; Computes a row of the transform from the NB sums or differences in m0 to m5. %1: dst; %2: factors of the row;
; m9, m12, m13: clobbered
%macro TRANSFORM_ROW 2
    vpbroadcastd m9, [%2]
    pmaddwd     m%1, m0, m9
    pmaddwd     m12, m1, m9
%assign J 2
%rep (NB + 1) / 2 - 1
%assign NEXT J + 1
    vpbroadcastd m9, [%2 + 2 * J]
    pmaddwd     m13, m%[J], m9
    paddd       m%1, m13
    pmaddwd     m13, m%[NEXT], m9
    paddd       m12, m13
%assign J J + 2
%endrep
%if NB & 1 == 0
    paddd       m%1, [round_512]
    paddd       m12, [round_512]
%endif
    psrad       m%1, 10
    psrad       m12, 10
    packssdw    m%1, m12
%endmacro

; Transforms K values, and passes each row to a macro: even rows first, then odd rows. %1: K; %2: bytes between values;
; %3: the macro; its arguments are the register and the number of the row, its position in this order, and K
%macro TRANSFORM 3
%assign ORDER 0
%assign FACTORS 0
%assign ODD 0
%rep 2 - (%1 == 1)
%if %1 > 1
    LOAD_VALUES ODD, %1, %2
%else
%assign NB 1
%endif
%assign ROW ODD
%rep (%1 + 1 - ODD) / 2
%assign REG 10 - 2 * (ORDER & 1)
%if %1 == 1
    mova        m10, [coefsq]
%else
    TRANSFORM_ROW REG, forward_ %+ %1 + FACTORS
%endif
    %3          REG, ROW, ORDER, %1
%assign FACTORS FACTORS + 4 * ((NB + 1) / 2)
%assign ORDER ORDER + 1
%assign ROW ROW + 2
%endrep
%assign ODD 1
%endrep
%endmacro

; Adds one or two rows to the inverse transform of one value, in m6 and m7. Rows at even positions in the order are in
; m10, the rows after them in m8. %1: position in the order; %2: K; m9, m12, m13: clobbered
%macro BACK_ROW 2
%if %2 > 1 && (%1 & 1 || %1 == %2 - 1)
%if %1 & 1
    punpcklwd   m12, m10, m8
    punpckhwd   m13, m10, m8
%else
    punpcklwd   m12, m10, [ones]
    punpckhwd   m13, m10, [ones]
%endif
    vpbroadcastd m9, [inverseq + 4 * (%1 / 2)]
%if %1 == 1
    pmaddwd     m6, m12, m9
    pmaddwd     m7, m13, m9
%else
    pmaddwd     m12, m9
    pmaddwd     m13, m9
    paddd       m6, m12
    paddd       m7, m13
%endif
%endif
%endmacro

; Stores the result of the inverse transform. %1: K
%macro STORE_VALUE 1
%if %1 == 1
    mova        [dstq], m10
%else
%if %1 & 1 == 0
    paddd       m6, [round_512]
    paddd       m7, [round_512]
%endif
    psrad       m6, 10
    psrad       m7, 10
    packssdw    m6, m7
    mova        [dstq], m6
%endif
%endmacro

; Zeroes coefficients of at most m15 in row 0, or at most m11 in other rows, counts the others in m14, and adds the row
; to the inverse transform. %1: register; %2: row; %3: position in the order; %4: K; m9, m12, m13: clobbered
%macro THRESHOLD_ROW 4
    pabsw       m12, m%1
%if %2 == 0
    pcmpgtw     m12, m15
    mova        m13, [firstq]
    pandn       m9, m13, m12
    psubw       m14, m9
    por         m12, m13
%else
    pcmpgtw     m12, m11
    psubw       m14, m12
%endif
    pand        m%1, m12
    BACK_ROW    %3, %4
%endmacro

; Jumps to the code for nbd patches, at the label .of followed by their number.
%macro DISPATCH 0
%assign K 9
%rep 8
    cmp         nbd, K
    je .of %+ K
%assign K K - 1
%endrep
    jmp .of1
%endmacro

; Sets inverseq to the factors of the inverse transform to the value whose number is in own. %1: K; own: clobbered
%macro FIND_INVERSE 1
%if %1 > 1
    lea         inverseq, [inverse_ %+ %1]
    imul        ownd, ownd, 4 * ((%1 + 1) / 2)
    add         inverseq, ownq
%endif
%endmacro

; Sums the dwords of a register. %1: dst, a general register; %2: src, clobbered; %3: clobbered
%macro SUM_DWORDS 3
    vextracti128 xm%3, m%2, 1
    paddd       xm%2, xm%3
    pshufd      xm%3, xm%2, q1032
    paddd       xm%2, xm%3
    pshufd      xm%3, xm%2, q2301
    paddd       xm%2, xm%3
    movd        %1, xm%2
%endmacro

INIT_YMM avx2
; unsigned mvdenoise_threshold(void *dst, const void *coefs, int nb, int own, int mean, int other)
cglobal mvdenoise_threshold_10, 6, 8, 16, dst, coefs, nb, own, mean, other, inverse, first
    dec         meand
    dec         otherd
    movd        xm15, meand
    movd        xm11, otherd
    vpbroadcastw m15, xm15
    vpbroadcastw m11, xm11
    pxor        m14, m14
    lea         firstq, [first]
    DISPATCH
%assign KS 1
%rep 9
.of %+ KS:
    FIND_INVERSE KS
    mov         nbd, 4
.loop %+ KS:
    TRANSFORM   KS, 128, THRESHOLD_ROW
    STORE_VALUE KS
    add         coefsq, 32
    add         dstq, 32
    add         firstq, 32
    dec         nbd
    jg .loop %+ KS
    jmp .end
%assign KS KS + 1
%endrep
.end:
    pmaddwd     m14, [ones]
    SUM_DWORDS  eax, 14, 12
    RET

; Computes the gains of the Wiener filter from coefficients of the pilot, stores them on the stack, and adds the squares
; of their upper bits to m14. The gain of ratio i is 32768 n / (n + 4096) with n = (2 i + 1)^2, computed as
; 32768 - 2^27 / (n + 4096), rounded. %1: register; %2: row; %3: position in the order; %4: K; m6, m7: reciprocal;
; m11: most; m8, m9, m12, m13: clobbered
%macro GAIN_ROW 4
    pabsw       m8, m%1
%if %2 == 0
    mova        m13, [firstq]
    pandn       m8, m13, m8
%endif
    pminsw      m8, m11
    pmulhuw     m12, m8, m6
    pmullw      m8, m7
    paddw       m8, m12
    pminsw      m8, [words_511]
    paddw       m8, m8
    paddw       m8, [ones]
    punpcklwd   m12, m8, [words_64]
    punpckhwd   m13, m8, [words_64]
    pmaddwd     m12, m12
    pmaddwd     m13, m13
    mova        m9, [full_f]
    cvtdq2ps    m12, m12
    cvtdq2ps    m13, m13
    divps       m12, m9, m12
    divps       m13, m9, m13
    cvtps2dq    m12, m12
    cvtps2dq    m13, m13
    packssdw    m12, m13
    mova        m8, [full]
    psubw       m8, m12
    mova        [rsp + 32 * %2], m8
    psrlw       m8, 7
    pmaddwd     m8, m8
    paddd       m14, m8
%endmacro

; Multiplies coefficients by their gains, and adds the row to the inverse transform. %1: register; %2: row; %3: position
; in the order; %4: K; m9, m12, m13: clobbered
%macro WIENER_ROW 4
%if %2 == 0
    mova        m13, [firstq]
    pand        m12, m%1, m13
    pmulhrsw    m%1, [rsp]
    pandn       m13, m13, m%1
    por         m%1, m12, m13
%else
    pmulhrsw    m%1, [rsp + 32 * %2]
%endif
    BACK_ROW    %3, %4
%endmacro

; unsigned mvdenoise_wiener(void *dst, const void *coefs, int nb, int own, int most, int reciprocal)
; The stack has the gains of 16 coefficients of each patch, then most and reciprocal, from which ratios are computed.
cglobal mvdenoise_wiener_10, 6, 8, 15, 32 * 10, dst, coefs, nb, own, most, reciprocal, inverse, first
    mov         [rsp + 32 * 9], mostd
    mov         [rsp + 32 * 9 + 4], reciprocald
    pxor        m14, m14
    lea         firstq, [first]
    DISPATCH
%assign KS 1
%rep 9
.of %+ KS:
    FIND_INVERSE KS
    mov         nbd, 4
.loop %+ KS:
    vpbroadcastw m11, [rsp + 32 * 9]
    vpbroadcastw m6,  [rsp + 32 * 9 + 4]
    vpbroadcastw m7,  [rsp + 32 * 9 + 6]
    add         coefsq, 128
    TRANSFORM   KS, 256, GAIN_ROW
    sub         coefsq, 128
    TRANSFORM   KS, 256, WIENER_ROW
    STORE_VALUE KS
    add         coefsq, 32
    add         dstq, 32
    add         firstq, 32
    dec         nbd
    jg .loop %+ KS
    jmp .end
%assign KS KS + 1
%endrep
.end:
    SUM_DWORDS  eax, 14, 12
    RET

; Transforms columns back. m0 to m3 have the interleaved rows 0 and 4, 2 and 6, 1 and 3, 5 and 7, four columns in each
; lane. Rows 0 to 7 of the result are packed to words in pairs: in m8, m12, m15 and m11. %1: shift; %2: rounding;
; all other registers are clobbered
%macro INVERSE 2
    pmaddwd     m4, m0, [f64_64]
    pmaddwd     m5, m0, [f64_m64]
    pmaddwd     m6, m1, [f83_36]
    pmaddwd     m7, m1, [f36_m83]
    paddd       m4, [%2]
    paddd       m5, [%2]
    psubd       m14, m4, m6
    paddd       m8, m4, m6
    psubd       m12, m5, m7
    paddd       m10, m5, m7
    pmaddwd     m0, m2, [f89_75]
    pmaddwd     m1, m3, [f50_18]
    pmaddwd     m4, m2, [f75_m18]
    pmaddwd     m5, m3, [fm89_m50]
    paddd       m0, m1
    paddd       m4, m5
    pmaddwd     m1, m2, [f50_m89]
    pmaddwd     m5, m3, [f18_75]
    pmaddwd     m2, [f18_m50]
    pmaddwd     m3, [f75_m89]
    paddd       m1, m5
    paddd       m2, m3
    psubd       m9, m8, m0
    paddd       m8, m0
    psubd       m11, m10, m4
    paddd       m10, m4
    psubd       m13, m12, m1
    paddd       m12, m1
    psubd       m15, m14, m2
    paddd       m14, m2
%assign I 8
%rep 8
    psrad       m%[I], %1
%assign I I + 1
%endrep
    packssdw    m8, m10
    packssdw    m12, m14
    packssdw    m15, m13
    packssdw    m11, m9
%endmacro

; Adds m0 to two rows of samples, limits them to m2 (0) and m1, and stores them. %1: register; %2: offset
%macro PUT_ROWS 2
    vpermq      m%1, m%1, q3120
    paddw       m%1, m0
    pmaxsw      m%1, m2
    pminsw      m%1, m1
    mova        [dstq + %2], m%1
%endmacro

; void mvdenoise_back(uint16_t *dst, const void *coefs, int base, int max)
cglobal mvdenoise_back_10, 4, 4, 16, dst, coefs, base, max
    ; the left half of each row to the low lane, the right half to the high lane
    vpermq      m0, [coefsq], q1100
    vpermq      m4, [coefsq + 64], q1100
    vpermq      m1, [coefsq + 32], q1100
    vpermq      m5, [coefsq + 96], q1100
    vpermq      m2, [coefsq], q3322
    vpermq      m6, [coefsq + 32], q3322
    vpermq      m3, [coefsq + 64], q3322
    vpermq      m7, [coefsq + 96], q3322
    punpcklwd   m0, m4
    punpcklwd   m1, m5
    punpcklwd   m2, m6
    punpcklwd   m3, m7
    INVERSE     8, round_128
    ; rows become columns
    punpcklwd   m0, m8, m12
    punpckhwd   m1, m8, m12
    punpcklwd   m2, m15, m11
    punpckhwd   m3, m15, m11
    punpckhwd   m4, m0, m1
    punpcklwd   m0, m1
    punpckhwd   m5, m2, m3
    punpcklwd   m2, m3
    vperm2i128  m6, m0, m2, q0200
    vperm2i128  m7, m0, m2, q0301
    vperm2i128  m8, m4, m5, q0200
    vperm2i128  m9, m4, m5, q0301
    punpcklwd   m0, m6, m7
    punpcklwd   m1, m8, m9
    punpckhwd   m2, m6, m8
    punpckhwd   m3, m7, m9
    INVERSE     7, round_back
    movd        xm0, based
    movd        xm1, maxd
    vpbroadcastw m0, xm0
    vpbroadcastw m1, xm1
    pxor        m2, m2
    PUT_ROWS    8, 0
    PUT_ROWS    12, 32
    PUT_ROWS    15, 64
    PUT_ROWS    11, 96
    RET

; The transform of samples of 16 bits, in dwords

; Computes an odd row from the differences in m8 to m11. %1: dst; %2 to %5: factors of the four differences; %6 to %8:
; paddd or psubd, for all products but the first; %9: shift; %10: rounding; m12: clobbered
%macro ODD_ROW_32 10
    pmulld      m%1, m8, [%2]
    pmulld      m12, m9, [%3]
    %6          m%1, m12
    pmulld      m12, m10, [%4]
    %7          m%1, m12
    pmulld      m12, m11, [%5]
    %8          m%1, m12
    paddd       m%1, [%10]
    psrad       m%1, %9
%endmacro

; Transforms the columns of m0 to m7. %1: shift; %2: rounding; %3: rounding of rows 0 and 4, which are shifted by
; %1 - 6 because their factor is 64; m8 to m13: clobbered
%macro FORWARD_32 3
    psubd       m8, m0, m7
    paddd       m0, m7
    psubd       m9, m1, m6
    paddd       m1, m6
    psubd       m10, m2, m5
    paddd       m2, m5
    psubd       m11, m3, m4
    paddd       m3, m4
    psubd       m4, m0, m3
    paddd       m0, m3
    psubd       m5, m1, m2
    paddd       m1, m2
    psubd       m13, m0, m1
    paddd       m0, m1
    paddd       m13, [%3]
    paddd       m0, [%3]
    psrad       m13, %1 - 6
    psrad       m0, %1 - 6
    pmulld      m2, m4, [d83]
    pmulld      m12, m5, [d36]
    pmulld      m6, m4, [d36]
    pmulld      m5, [d83]
    paddd       m2, m12
    psubd       m6, m5
    paddd       m2, [%2]
    paddd       m6, [%2]
    psrad       m2, %1
    psrad       m6, %1
    mova        m4, m13
    ODD_ROW_32  1, d89, d75, d50, d18, paddd, paddd, paddd, %1, %2
    ODD_ROW_32  3, d75, d18, d89, d50, psubd, psubd, psubd, %1, %2
    ODD_ROW_32  5, d50, d89, d18, d75, psubd, paddd, paddd, %1, %2
    ODD_ROW_32  7, d18, d50, d75, d89, psubd, paddd, psubd, %1, %2
%endmacro

; Transposes the dwords of m0 to m7. m8 to m15: clobbered
%macro TRANSPOSE_32 0
    punpckldq   m8,  m0, m1
    punpckhdq   m9,  m0, m1
    punpckldq   m10, m2, m3
    punpckhdq   m11, m2, m3
    punpckldq   m12, m4, m5
    punpckhdq   m13, m4, m5
    punpckldq   m14, m6, m7
    punpckhdq   m15, m6, m7
    punpcklqdq  m0, m8, m10
    punpckhqdq  m1, m8, m10
    punpcklqdq  m2, m9, m11
    punpckhqdq  m3, m9, m11
    punpcklqdq  m4, m12, m14
    punpckhqdq  m5, m12, m14
    punpcklqdq  m6, m13, m15
    punpckhqdq  m7, m13, m15
    vperm2i128  m8,  m0, m4, q0200
    vperm2i128  m9,  m1, m5, q0200
    vperm2i128  m10, m2, m6, q0200
    vperm2i128  m11, m3, m7, q0200
    vperm2i128  m4, m0, m4, q0301
    vperm2i128  m5, m1, m5, q0301
    vperm2i128  m6, m2, m6, q0301
    vperm2i128  m7, m3, m7, q0301
    mova        m0, m8
    mova        m1, m9
    mova        m2, m10
    mova        m3, m11
%endmacro

; void mvdenoise_over_space(void *coefs, const MvdenoisePatch *patches, ptrdiff_t stride, int nb, int base,
;                           int fraction)
cglobal mvdenoise_over_space_16, 5, 7, 16, coefs, patches, stride, nb, base, a, b
.loop:
    mov         aq, [patchesq]
    mov         bq, [patchesq + 8]
    add         patchesq, 16
    movd        xm9, based
    vpbroadcastd m9, xm9
%assign I 0
%rep 8
    movu        xm%[I], [aq]
    movu        xm8, [bq]
    pavgw       xm%[I], xm8
    pmovzxwd    m%[I], xm%[I]
    psubd       m%[I], m9
    add         aq, strideq
    add         bq, strideq
%assign I I + 1
%endrep
    FORWARD_32  7, round_64, dwords_1
    TRANSPOSE_32
    FORWARD_32  8, round_128, dwords_2
%assign I 0
%rep 8
    mova        [coefsq + 32 * I], m%[I]
%assign I I + 1
%endrep
    add         coefsq, 256
    dec         nbd
    jg .loop
    RET
