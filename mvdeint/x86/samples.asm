;*****************************************************************************
;* Missing lines of a field
;*****************************************************************************
; This file is part of gpume.
; SPDX-License-Identifier: LGPL-2.1-or-later
;*****************************************************************************

%include "libavutil/x86/x86util.asm"

SECTION_RODATA 32

d_1:     times 8 dd 1
d_7:     times 8 dd 7
d_8:     times 8 dd 8
d_10:    times 8 dd 10
d_13:    times 8 dd 13
d_16:    times 8 dd 16
d_19:    times 8 dd 19
d_102:   times 8 dd 102
d_273:   times 8 dd 273
d_256:   times 4 dd 256
d_10240: times 4 dd 10240
d_11:    times 8 dd 11
q_192:   times 4 dq 192.0
d_127:   times 8 dd 127
d_1023:  times 8 dd 1023
d_n1023: times 8 dd -1023
d_2048:  times 8 dd 2048
d_ffff:  times 8 dd 0xffff
; limits of the cost of a direction (9, 39) and of activity (5, 29), less 1
w_9:     times 16 dw 9
w_39:    times 16 dw 39
w_5:     times 16 dw 5
w_29:    times 16 dw 29
w_7:     times 16 dw 7
w_3:     times 16 dw 3
%assign D 0
%rep 7
%if D < 3
%assign COST 2 * (3 - D)
%else
%assign COST 2 * (D - 3)
%endif
w_start_ %+ D: times 16 dw 8 * COST + D
%assign D D + 1
%endrep

; shuffles: pairs of neighbouring samples in both halves, from the first, third and fifth sample on
pairs_0: times 2 db 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8
pairs_2: times 2 db 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10
pairs_4: times 2 db 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12
; the first byte as words in the lower half, the second in the upper half
first_second: times 8 db 0, -1
         times 8 db 1, -1
d_64:    times 8 dd 64
d_128:   times 8 dd 128
q_256:   times 4 dq 256.0
q_most:  times 4 dq 4294967295.0
; factors of the estimate from three fields: of pairs of lines of the fields around, and of the field itself
w_near:  times 8 dw 5570, -3801
w_far:   times 8 dw 1016, 0
w_own:   times 8 dw 4309, -213
w_alone: times 8 dw 5077, -981
w_4080:  times 16 dw 4080
w_1023:  times 16 dw 1023
w_1:     times 16 dw 1
w_77:    times 16 dw 77 << 8
w_mask:  times 8 dw -1
         times 8 dw 0
w_180:   times 8 dw 180

; the six taps for each eighth of a sample, as bytes and as words
%macro TAPS 1
    %1 0,   0, 64,  0,   0, 0, 0, 0
    %1 0,  -2, 58, 10,  -2, 0, 0, 0
    %1 1,  -5, 52, 20,  -5, 1, 0, 0
    %1 1,  -7, 46, 30,  -8, 2, 0, 0
    %1 2, -10, 40, 40, -10, 2, 0, 0
    %1 2,  -8, 30, 46,  -7, 1, 0, 0
    %1 1,  -5, 20, 52,  -5, 1, 0, 0
    %1 0,  -2, 10, 58,  -2, 0, 0, 0
%endmacro
taps_b: TAPS db
taps_w: TAPS dw

SECTION .text

; offsets in MvdeintRow
%define ROW_CANDIDATE(i, field) rowq + 16 + 24 * (i) + field
%define ROW_DEPTH    4
%define ROW_PRESENT  8
%define ROW_FIRST    112
%define ROW_INTRA    120
%define ROW_ACTIVITY 128
%define ROW_STEP     136
%define ROW_MODEL    144

; values on the stack
%define EXPECTED(i)   [rsp + 32 * (i)]
%define HALF_LOG2(i)  [rsp + 32 * (4 + (i))]
%define POWER(i)      [rsp + 32 * (8 + (i))]
%define DIFFERENCE(i) [rsp + 32 * (12 + (i))]
%define ROUNDING      [rsp + 32 * 16]
%define SHIFT         [rsp + 32 * 17]
%define SHIFT_SAMPLE  [rsp + 32 * 17 + 16]
%define MISSING(i)    [rsp + 32 * (18 + (i))]
%define COUNT         [rsp + 32 * 22]

; Computes the integer part of the binary logarithms of dwords below 2^31. dst, src, temporary
%macro LOG2 3
    psrld           %3, %2, 1
    pandn           %1, %3, %2
    cvtdq2ps        %1, %1
    psrld           %1, 23
    psubd           %1, [d_127]
%endmacro

; Scales absolute differences of compensated samples to units of 1/8 level, at most 1023.
%macro SCALE 1
%if BITS == 8
    paddd           %1, [d_1]
    psrld           %1, 1
%else
    paddd           %1, ROUNDING
    psrld           %1, SHIFT
%endif
    pminsd          %1, [d_1023]
%endmacro

; Loads eight samples as dwords. dst, address
%macro LOAD_SAMPLES 2
%if BITS == 8
    vpmovzxbd       %1, [%2 + xq]
%else
    vpmovzxwd       %1, [%2 + 2 * xq]
%endif
%endmacro

; m%1 = (c * m1 + 8) >> 4 with the model's coefficient c
%macro FACTOR 2
    vpbroadcastd    m%1, [%2]
    pmullw          m%1, m1
    paddd           m%1, [d_8]
    psrld           m%1, 4
%endmacro

; Computes the expected errors of two partners, and the least error of all in m10. first candidate, model
%macro PAIR 2
    mov           tmpq, [ROW_CANDIDATE(%1, 0)]
    vpmovzxwd       m0, [tmpq + 2 * xq]
    mov           tmpq, [ROW_CANDIDATE(%1 + 1, 0)]
    vpmovzxwd       m1, [tmpq + 2 * xq]
    psubd           m2, m0, m1
    pabsd           m2, m2
    SCALE           m2
    pmaddwd         m2, m2
    vpbroadcastd    m3, [%2 + 20]
    pmulld          m2, m3
    pslld           m4, m15, 4
    psubd           m0, m4
    psubd           m1, m4
    mova  DIFFERENCE(%1), m0
    mova  DIFFERENCE(%1 + 1), m1
    vpbroadcastd    m5, [%2 + 8]
    vpbroadcastd    m6, [%2 + 4]
    pslld           m5, 16
    por             m5, m6
%assign I %1
%rep 2
    mov           tmpq, [ROW_CANDIDATE(I, 8)]
    vpmovzxbd       m0, [tmpq + xq]
    mova            m1, [d_16]
    psubd           m1, m0
    pslld           m3, m1, 16
    por             m3, m0
    pmaddwd         m3, m5
    paddd           m3, [d_8]
    psrld           m3, 4
    mov           tmpq, [ROW_CANDIDATE(I, 16)]
    pmulld          m3, [tmpq + 4 * xq]
    paddd           m3, m2
    FACTOR           4, %2 + 12
    pmulld          m4, m12
    paddd           m3, m4
    FACTOR           4, %2 + 16
    pmulld          m4, m11
    paddd           m3, m4
    psrld           m3, 1
    vpbroadcastd    m4, [%2]
    paddd           m3, m4
    por             m3, MISSING(I)
    mova   EXPECTED(I), m3
%if I
    pminud         m10, m3
%else
    mova           m10, m3
%endif
%assign I I + 1
%endrep
%endmacro

; Replaces errors m%1, whose logarithms are in m%2, by their indices in the table of powers. If m%4 is given, adds the
; inverses of the errors, relative to m9, to m%4. m%3: temporary; m4: clobbered if m%4 is given
%macro INDEX 3-4
    psubd           m%3, m%2, [d_7]
    vpsrlvd         m%1, m%1, m%3
    pand            m%1, [d_127]
%if %0 == 4
    pcmpeqd         m4, m4
    vpgatherdd      m%3, [inverseq + 2 * m%1], m4
    pand            m%3, [d_ffff]
    psubd           m4, m%2, m9
    vpsrlvd         m%3, m%3, m4
    paddd           m%4, m%3
%endif
    pslld           m%3, m%2, 31
    psrld           m%3, 24
    por             m%1, m%3
%endmacro

; m%1 >>= 3 * (m%2 - m8)
%macro WEIGHT 3
    psubd           m%3, m%2, m8
    paddd           m%2, m%3, m%3
    paddd           m%2, m%3
    vpsrlvd         m%1, m%1, m%2
%endmacro

; m3 = m1 / m2; both must not be negative. m1, m2 and m4 are overwritten
%macro DIVIDE 0
    cvtdq2pd        m3, xm1
    cvtdq2pd        m4, xm2
    divpd           m3, m4
    cvttpd2dq      xm3, m3
    vextracti128   xm1, m1, 1
    vextracti128   xm2, m2, 1
    cvtdq2pd        m1, xm1
    cvtdq2pd        m2, xm2
    divpd           m1, m2
    cvttpd2dq      xm1, m1
    vinserti128     m3, m3, xm1, 1
%endmacro

; m%1 = the expected error of an interpolation. m%2: its difference from the candidates' mean; %3: address of its model;
; m%4: temporary; m3: its share in the difference; m4: squared difference of both interpolations
%macro INTRA 4
    pabsd           m%1, m%2
    pmaddwd         m%1, m%1
    pmulld          m%1, m3
    psrld           m%1, 10
    vpbroadcastd    m%4, [%3 + 12]
    pmulld          m%1, m%4
    vpbroadcastd    m%4, [%3 + 4]
    pmulld          m%4, m12
    paddd           m%1, m%4
    vpbroadcastd    m%4, [%3 + 8]
    pmulld          m%4, m11
    paddd           m%1, m%4
    vpbroadcastd    m%4, [%3 + 16]
    pmulld          m%4, m4
    paddd           m%1, m%4
    psrld           m%1, 1
    vpbroadcastd    m%4, [%3]
    paddd           m%1, m%4
%endmacro

; Replaces the expected error in m%1 by the weight, and adds the weight to m5. m%2, m%3: temporary; m4: clobbered
%macro INTRA_WEIGHT 3
    LOG2            m%2, m%1, m%3
    INDEX           %1, %2, %3
    pcmpeqd         m4, m4
    vpgatherdd      m%3, [powerq + 2 * m%1], m4
    pand            m%1, m%3, [d_ffff]
    psrld           m%2, 1
    WEIGHT          %1, %2, %3
    paddd           m5, m%1
%endmacro

; void ff_mvdeint_combine_8_avx2(uint8_t *dst, const MvdeintRow *row, const uint16_t *power, const uint16_t *inverse)
; The row has at least one candidate. Those that do not exist get the greatest error, which makes their weights 0.
; Writes whole multiples of 8 samples. combine_16 is for samples of up to 10 bits.
%macro COMBINE 1
%assign BITS %1
cglobal mvdeint_combine_%1, 4, 9, 16, 23 * 32, dst, row, power, inverse, x, tmp, model, w
%if BITS > 8
    mov           tmpd, [rowq + ROW_DEPTH]
    mov             wd, 11
    sub             wd, tmpd
    movd           xm0, wd
    mova  SHIFT_SAMPLE, xm0
    sub           tmpd, 7
    movd           xm0, tmpd
    mova         SHIFT, xm0
    dec           tmpd
    movd           xm0, tmpd
    mova            m1, [d_1]
    pslld           m1, xm0
    mova      ROUNDING, m1
%endif
    mov           tmpd, [rowq + ROW_PRESENT]
    popcnt          wd, tmpd
    shl             wd, 21
    movd           xm0, wd
    vpbroadcastd    m0, xm0
    cvtdq2ps        m0, m0
    mova         COUNT, m0
    not           tmpd
    movd           xm0, tmpd
    vpbroadcastd    m0, xm0
%assign I 0
%rep 4
    pslld           m1, m0, 31 - I
    psrad           m1, 31
    mova    MISSING(I), m1
%assign I I + 1
%endrep
    mov             wd, [rowq]
    mov         modelq, [rowq + ROW_MODEL]
    xor             xd, xd
.loop:
    mov           tmpq, [rowq + ROW_FIRST]
    LOAD_SAMPLES   m15, tmpq
    mov           tmpq, [rowq + ROW_ACTIVITY]
    movu           m14, [tmpq + 4 * xq]
    mov           tmpq, [rowq + ROW_STEP]
    movu           m13, [tmpq + 4 * xq]
    psrld          m12, m14, 4
    psrld          m11, m13, 4
    PAIR             0, modelq
    PAIR             2, modelq + 24

    ; the mean of the candidates
    LOG2            m9, m10, m2
    psrld           m8, m9, 1
    pxor            m7, m7
    pxor            m6, m6
    pxor            m5, m5
%assign I 0
%rep 4
    mova            m0, EXPECTED(I)
    LOG2            m1, m0, m2
    INDEX            0, 1, 2, 6
    pcmpeqd         m4, m4
    vpgatherdd      m3, [powerq + 2 * m0], m4
    pand            m3, [d_ffff]
    mova      POWER(I), m3
    psrld           m1, 1
    mova  HALF_LOG2(I), m1
    WEIGHT           3, 1, 2
    paddd           m7, m3
    mova            m0, DIFFERENCE(I)
    pabsd           m1, m0
    SCALE           m1
    psignd          m1, m0
    pmaddwd         m1, m3
    paddd           m5, m1
%assign I I + 1
%endrep
    ; the quotient is exact because both numbers have at most 24 bits
    cvtdq2ps        m0, m5
    cvtdq2ps        m1, m7
    divps           m0, m1
    cvttps2dq       m5, m0

    ; the share of an interpolation in its difference from the candidates
    mova            m2, COUNT
    cvtdq2ps        m3, m6
    divps           m2, m3
    cvttps2dq       m2, m2
    psubd           m3, m9, [d_19]
    vpsllvd         m4, m2, m3
    pxor            m6, m6
    psubd           m6, m3
    vpsrlvd         m2, m2, m6
    por             m2, m4
    pmulld          m1, m14, [d_102]
    pmulld          m0, m13, [d_10]
    paddd           m1, m0
    psrld           m1, 10
    paddd           m1, [d_13]
    paddd           m2, m1
    pslld           m1, 10
    DIVIDE

    mov           tmpq, [rowq + ROW_INTRA]
    LOAD_SAMPLES    m0, tmpq
    psubd           m1, m15, m0
    pabsd           m2, m1
%if BITS == 8
    pslld           m2, 3
%else
    pslld           m2, SHIFT_SAMPLE
%endif
    pminsd          m2, [d_1023]
    pmaddwd         m4, m2, m2
    psignd          m2, m1
    paddd           m2, m5
    pminsd          m2, [d_1023]
    pmaxsd          m2, [d_n1023]
    INTRA            6, 5, modelq + 48, 8
    INTRA            7, 2, modelq + 68, 8
    pminud         m10, m6
    pminud         m10, m7

    ; the result
    LOG2            m9, m10, m2
    psrld           m8, m9, 1
    pxor            m9, m9
    pxor            m5, m5
%assign I 0
%rep 4
    mova            m1, HALF_LOG2(I)
    mova            m3, POWER(I)
    WEIGHT           3, 1, 2
    paddd           m5, m3
    pmaddwd         m3, DIFFERENCE(I)
    paddd           m9, m3
%assign I I + 1
%endrep
    INTRA_WEIGHT     6, 1, 2
    INTRA_WEIGHT     7, 1, 2
    psubd           m0, m15
    pslld           m0, 4
    pmaddwd         m0, m7
    paddd           m9, m0
    pabsd           m1, m9
    paddd           m1, m1
    pslld           m2, m5, 4
    paddd           m1, m2
    paddd           m2, m2
    DIVIDE
    psignd          m3, m9
    paddd           m3, m15
    vextracti128   xm1, m3, 1
    packusdw       xm3, xm1
%if BITS == 8
    packuswb       xm3, xm3
    movq   [dstq + xq], xm3
%else
    movu [dstq + 2 * xq], xm3
%endif
    add             xd, 8
    cmp             xd, wd
    jl .loop
    RET
%endmacro

INIT_YMM avx2
COMBINE 8
COMBINE 16

; Loads samples of a line at x as words. %1: dst; %2: the line
%macro SAMPLE_WORDS 2
%if BITS == 8
    vpmovzxbw       %1, [%2 + xq]
%else
    movu            %1, [%2 + 2 * xq]
%endif
%endmacro

; Multiplies samples of a line by taps. %1: the line; %2: number of the sample around which the samples are; %3: number
; of the line; %4: dst
%macro TAP_PRODUCTS 4
%if BITS == 8
    vpmovzxbw       %4, [%1 + tmpq + %2 - 4]
    pmaddwd         %4, [tapsq + classq + 32 * %3]
%else
    movu            %4, [tapsq + classq + 32 * %3]
    pmaddwd         %4, [%1 + 2 * tmpq + 2 * (%2 - 4)]
%endif
%endmacro

; void ff_mvdeint_intra_8_avx2(uint8_t *dst, const uint8_t *const *lines, const int16_t (*taps)[4][16], int w)
; void ff_mvdeint_intra_16_avx2(uint8_t *dst, const uint8_t *const *lines, const int16_t (*taps)[4][16], int w,
;                               const uint16_t *limits, int max)
; intra_16 is for samples of up to 10 bits. limits: costs of directions, and limits of levels. Both write whole
; multiples of 16 samples.
%macro INTRA_LINE 1
%assign BITS %1
%if BITS == 8
cglobal mvdeint_intra_8, 4, 13, 12, 32, dst, lines, taps, w, x, a, b, far_a, far_b, i, class, tmp
%else
cglobal mvdeint_intra_16, 6, 14, 12, 32, dst, lines, taps, w, limits, max, x, a, b, far_a, far_b, i, class, tmp
%endif
    mov         far_aq, [linesq]
    mov             aq, [linesq + 8]
    mov             bq, [linesq + 16]
    mov         far_bq, [linesq + 24]
    xor             xd, xd
.loop:
    ; cost of each direction, times 8, plus the number of the direction
%assign D 0
%rep 7
%if BITS == 8
    mova            m2, [w_start_ %+ D]
%else
    vpbroadcastw    m2, [limitsq + 2 * D]
%endif
%assign E -2
%rep 5
%if BITS == 8
    movu           xm0, [aq + xq + (D - 3) + E]
    movu           xm1, [bq + xq - (D - 3) + E]
    pmaxub         xm3, xm0, xm1
    pminub         xm0, xm0, xm1
    psubb          xm3, xm0
    vpmovzxbw       m3, xm3
    psllw           m3, 3
    paddw           m2, m3
%else
    movu            m0, [aq + 2 * xq + 2 * ((D - 3) + E)]
    psubw           m0, [bq + 2 * xq + 2 * (E - (D - 3))]
    pabsw           m0, m0
    psllw           m0, 3
    paddw           m2, m0
%endif
%assign E E + 1
%endrep
%if D
    pminuw          m4, m2
%else
    mova            m4, m2
%endif
%assign D D + 1
%endrep
    psrlw           m5, m4, 3
    pand            m4, [w_7]
%if BITS == 8
    pcmpgtw         m6, m5, [w_9]
    pcmpgtw         m7, m5, [w_39]
%else
    vpbroadcastw    m6, [limitsq + 14]
    vpbroadcastw    m7, [limitsq + 16]
    pcmpgtw         m6, m5, m6
    pcmpgtw         m7, m5, m7
%endif
    paddw           m6, m7                      ; -fit
    SAMPLE_WORDS    m0, far_aq
    SAMPLE_WORDS    m1, aq
    SAMPLE_WORDS    m2, bq
    SAMPLE_WORDS    m3, far_bq
    psubw           m0, m1
    pabsw           m0, m0
    psubw           m1, m2
    pabsw           m1, m1
    psubw           m3, m2
    pabsw           m3, m3
    paddw           m0, m1
    paddw           m0, m3
%if BITS == 8
    pcmpgtw         m1, m0, [w_5]
    pcmpgtw         m2, m0, [w_29]
%else
    vpbroadcastw    m1, [limitsq + 18]
    vpbroadcastw    m2, [limitsq + 20]
    pcmpgtw         m1, m0, m1
    pcmpgtw         m2, m0, m2
%endif
    paddw           m1, m2
    pmullw          m4, [w_3]
    psubw           m4, m6
    pmullw          m4, [w_3]
    psubw           m4, m1
    mova         [rsp], m4
%if BITS > 8
    movd           xm5, maxd
    vpbroadcastw   xm5, xm5
%endif
    xor             id, id
.eight:
    ; eight samples
%assign N 0
%rep 8
    movzx       classd, word [rsp + 2 * iq + 2 * N]
    shl         classd, 7
    lea           tmpq, [xq + iq]
    TAP_PRODUCTS far_aq, N, 0, m8
    TAP_PRODUCTS aq, N, 1, m9
    paddd           m8, m9
    TAP_PRODUCTS bq, N, 2, m9
    paddd           m8, m9
    TAP_PRODUCTS far_bq, N, 3, m9
%if N & 1
    paddd           m9, m8
    phaddd         m10, m9
%if N & 2
    phaddd         m11, m10
%if N & 4
    mova            m7, m11
%else
    mova            m6, m11
%endif
%else
    mova           m11, m10
%endif
%else
    paddd          m10, m8, m9
%endif
%assign N N + 1
%endrep
    vextracti128   xm8, m6, 1
    paddd          xm6, xm8
    vextracti128   xm8, m7, 1
    paddd          xm7, xm8
    paddd          xm6, [d_2048]
    paddd          xm7, [d_2048]
    psrad          xm6, 12
    psrad          xm7, 12
%if BITS == 8
    packssdw       xm6, xm7
    packuswb       xm6, xm6
    lea           tmpq, [xq + iq]
    movq [dstq + tmpq], xm6
%else
    packusdw       xm6, xm7
    pminuw         xm6, xm5
    lea           tmpq, [xq + iq]
    movu [dstq + 2 * tmpq], xm6
%endif
    add             id, 8
    cmp             id, 16
    jl .eight
    add             xd, 16
    cmp             xd, wd
    jl .loop
    RET
%endmacro

INTRA_LINE 8
INTRA_LINE 16

; void ff_mvdeint_match_8_avx2(uint16_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t stride, int fx,
;                              int fy, int h)
; The area is 8 samples wide; h is even. dst_stride is in bytes.
cglobal mvdeint_match_8, 7, 9, 13, 16 * 16, dst, dst_stride, src, stride, fx, fy, h, rows, base
    movsxdifnidn   fxq, fxd
    movsxdifnidn   fyq, fyd
    lea          baseq, [taps_b]
    vpbroadcastw    m8, [baseq + 8 * fxq]
    vpbroadcastw    m9, [baseq + 8 * fxq + 2]
    vpbroadcastw   m10, [baseq + 8 * fxq + 4]
    mova            m5, [pairs_0]
    mova            m6, [pairs_2]
    mova            m7, [pairs_4]
    ; filters horizontally, two rows at a time
    sub           srcq, 2
    sub           srcq, strideq
    sub           srcq, strideq
    xor          rowsd, rowsd
    mov          baseq, rsp
    add             hd, 6
.across:
    movu           xm0, [srcq]
    vinserti128     m0, m0, [srcq + strideq], 1
    lea           srcq, [srcq + 2 * strideq]
    pshufb          m1, m0, m5
    pshufb          m2, m0, m6
    pshufb          m3, m0, m7
    pmaddubsw       m1, m8
    pmaddubsw       m2, m9
    pmaddubsw       m3, m10
    paddw           m1, m2
    paddw           m1, m3
    movu       [baseq], m1
    add          baseq, 32
    add          rowsd, 2
    cmp          rowsd, hd
    jl .across
    ; filters vertically, two rows at a time
    sub             hd, 6
    lea          baseq, [taps_w]
    shl            fyd, 4
    vpbroadcastd   m10, [baseq + fyq]
    vpbroadcastd   m11, [baseq + fyq + 4]
    vpbroadcastd   m12, [baseq + fyq + 8]
    mova            m8, [d_128]
    mova            m9, [w_4080]
    pxor            m7, m7
    mov          baseq, rsp
.down:
    movu            m0, [baseq]
    movu            m1, [baseq + 16]
    punpckhwd       m2, m0, m1
    punpcklwd       m0, m1
    pmaddwd         m0, m10
    pmaddwd         m2, m10
    movu            m1, [baseq + 32]
    movu            m3, [baseq + 48]
    punpckhwd       m4, m1, m3
    punpcklwd       m1, m3
    pmaddwd         m1, m11
    pmaddwd         m4, m11
    paddd           m0, m1
    paddd           m2, m4
    movu            m1, [baseq + 64]
    movu            m3, [baseq + 80]
    punpckhwd       m4, m1, m3
    punpcklwd       m1, m3
    pmaddwd         m1, m12
    pmaddwd         m4, m12
    paddd           m0, m1
    paddd           m2, m4
    paddd           m0, m8
    paddd           m2, m8
    psrad           m0, 8
    psrad           m2, 8
    packssdw        m0, m2
    pmaxsw          m0, m7
    pminsw          m0, m9
    movu        [dstq], xm0
    vextracti128 [dstq + dst_strideq], m0, 1
    lea           dstq, [dstq + 2 * dst_strideq]
    add          baseq, 32
    sub             hd, 2
    jg .down
    RET

; void ff_mvdeint_copy_8_avx2(uint16_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t stride, int h)
cglobal mvdeint_copy_8, 5, 5, 2, dst, dst_stride, src, stride, h
.loop:
    pmovzxbw       xm0, [srcq]
    pmovzxbw       xm1, [srcq + strideq]
    psllw          xm0, 4
    psllw          xm1, 4
    movu        [dstq], xm0
    movu [dstq + dst_strideq], xm1
    lea           srcq, [srcq + 2 * strideq]
    lea           dstq, [dstq + 2 * dst_strideq]
    sub             hd, 2
    jg .loop
    RET

; m%1 = scaled differences of 16 samples, m%2 = their weights. Number of the line
%macro WEIGHED 3
%if BITS == 8
    vpmovzxbw      m%1, [line%3q + xq]
%else
    movu           m%1, [line%3q + 2 * xq]
%endif
    psllw          m%1, 4
    psubw          m%1, [samples%3q + 2 * xq]
    pabsw          m%1, m%1
%if BITS == 8
    pavgw          m%1, m8
%else
    paddw          m%1, m8
    psrlw          m%1, xm9
%endif
    pminsw         m%1, m6
    vpmovzxbw      m%2, [known%3q + xq]
    paddw          m%2, m7
%endmacro

; void ff_mvdeint_errors_8_avx2(const MvdeintSums *sums, const uint8_t *const *lines, const uint16_t *const *samples,
;                               const uint8_t *const *known, int w, int depth)
; errors_16 is for samples of up to 10 bits.
%macro ERRORS 1
%assign BITS %1
cglobal mvdeint_errors_%1, 6, 10, 10, sums, line0, samples0, known0, w, x, line1, samples1, known1, weights
    mova            m6, [w_1023]
    mova            m8, [w_1]
    paddw           m7, m8, m8
%if BITS == 8
    pxor            m8, m8
%else
    sub             xd, 8
    movd           xm9, xd
    psllw           m8, xm9
    inc             xd
    movd           xm9, xd
%endif
    mov         line1q, [line0q + 8]
    mov         line0q, [line0q]
    mov      samples1q, [samples0q + 8]
    mov      samples0q, [samples0q]
    mov        known1q, [known0q + 8]
    mov        known0q, [known0q]
    mov       weightsq, [sumsq + 8]
    mov          sumsq, [sumsq]
    xor             xd, xd
.loop:
    WEIGHED          0, 1, 0
    WEIGHED          2, 3, 1
    pmullw          m4, m0, m1
    pmullw          m5, m2, m3
    paddw           m1, m3
    movu [weightsq + 2 * xq], m1
    punpcklwd       m1, m0, m2
    punpckhwd       m0, m2
    punpcklwd       m3, m4, m5
    punpckhwd       m4, m5
    pmaddwd         m1, m3
    pmaddwd         m0, m4
    movu  [sumsq + 4 * xq], xm1
    movu  [sumsq + 4 * xq + 16], xm0
    vextracti128 [sumsq + 4 * xq + 32], m1, 1
    vextracti128 [sumsq + 4 * xq + 48], m0, 1
    add             xd, 16
    cmp             xd, wd
    jl .loop
    RET
%endmacro

ERRORS 8
ERRORS 16

; void ff_mvdeint_mean_avx2(uint32_t *dst, const MvdeintSums *sums, const uint16_t *reciprocals, int w)
cglobal mvdeint_mean, 4, 6, 5, dst, squares, reciprocals, w, weights, x
    mov       weightsq, [squaresq + 8]
    mov       squaresq, [squaresq]
    xor             xd, xd
.loop:
    movu            m0, [squaresq + 4 * xq - 8]
    movu           xm1, [weightsq + 2 * xq - 4]
    paddd           m0, [squaresq + 4 * xq - 4]
    paddw          xm1, [weightsq + 2 * xq - 2]
    paddd           m0, [squaresq + 4 * xq]
    paddw          xm1, [weightsq + 2 * xq]
    paddd           m0, [squaresq + 4 * xq + 4]
    paddw          xm1, [weightsq + 2 * xq + 2]
    paddd           m0, [squaresq + 4 * xq + 8]
    paddw          xm1, [weightsq + 2 * xq + 4]
    ; weights beyond the row are not set: limits them to the table
    pminuw         xm1, [w_180]
    pmovzxwd        m1, xm1
    pcmpeqd         m3, m3
    vpgatherdd      m2, [reciprocalsq + 2 * m1], m3
    pand            m2, [d_ffff]
    psrld           m0, 6
    pmulld          m0, m2
    psrld           m0, 10
    movu [dstq + 4 * xq], m0
    add             xd, 8
    cmp             xd, wd
    jl .loop
    RET

; void ff_mvdeint_compare_8_avx2(int *error, int *activity, const uint8_t *line, const uint8_t *above,
;                                const uint8_t *below, const uint16_t *samples, int w, int depth)
cglobal mvdeint_compare_8, 7, 8, 4, error, activity, line, above, below, samples, w, mask
    lea          maskq, [w_mask + 16]
    movsxdifnidn    wq, wd
    add             wq, wq
    sub          maskq, wq
    pmovzxbw       xm0, [lineq]
    pmovzxbw       xm1, [aboveq]
    pmovzxbw       xm2, [belowq]
    paddw          xm1, xm2
    paddw          xm2, xm0, xm0
    psubw          xm1, xm2
    psllw          xm0, 4
    psubw          xm0, [samplesq]
    pabsw          xm1, xm1
    pabsw          xm0, xm0
    movu           xm2, [maskq]
    mova           xm3, [w_1]
    pand           xm0, xm2
    pand           xm1, xm2
    pmaddwd        xm0, xm3
    pmaddwd        xm1, xm3
    phaddd         xm0, xm1
    pshufd         xm1, xm0, q2301
    paddd          xm0, xm1
    movd            wd, xm0
    add       [errorq], wd
    pextrd          wd, xm0, 2
    add    [activityq], wd
    RET

; void ff_mvdeint_residual_8_avx2(uint16_t *dst, const uint16_t *above, const uint16_t *below,
;                                 const uint8_t *line_above, const uint8_t *line_below, int w, int depth)
cglobal mvdeint_residual_8, 6, 7, 6, dst, above, below, line_above, line_below, w, x
    mova            m4, [w_77]
    mova            m5, [w_4080]
    xor             xd, xd
.loop:
    vpmovzxbw       m0, [line_aboveq + xq]
    vpmovzxbw       m1, [line_belowq + xq]
    psllw           m0, 4
    psllw           m1, 4
    psubw           m0, [aboveq + 2 * xq]
    psubw           m1, [belowq + 2 * xq]
    ; the residual with the smaller absolute value, or 0 if their signs differ
    pabsw           m2, m0
    pabsw           m3, m1
    pminsw          m2, m3
    pmulhrsw        m2, m4
    psignw          m2, m0
    pxor            m0, m1
    psraw           m0, 15
    pandn           m0, m2
    paddw           m0, [dstq + 2 * xq]
    pxor            m1, m1
    pmaxsw          m0, m1
    pminsw          m0, m5
    movu [dstq + 2 * xq], m0
    add             xd, 16
    cmp             xd, wd
    jl .loop
    RET

; void ff_mvdeint_fits_8_avx2(unsigned (*fits)[4], const uint8_t *line, ptrdiff_t stride,
;                             const uint16_t *const *areas, int w, int nb, int second, int depth)
; Sums of squares are on the stack, with the first and the last ones repeated.
cglobal mvdeint_fits_8, 7, 11, 8, 6 * 16, fits, line, stride, areas, w, nb, second, right, below, corner, sums
    lea       rightq, [w_mask + 16]
    movsxdifnidn    wq, wd
    add             wq, wq
    sub       rightq, wq
    movu           xm5, [rightq]
    mova           xm6, [w_1023]
    pxor           xm7, xm7
    shl        secondd, 4
    mov       rightq, [areasq + 8]
    mov       belowq, [areasq + 16]
    mov      cornerq, [areasq + 24]
    mov         areasq, [areasq]
    add         areasq, secondq
    add         rightq, secondq
    add         belowq, secondq
    add        cornerq, secondq
    mov          sumsq, rsp
    mov             wd, nbd
.loop:
    pmovzxbw       xm4, [lineq]
    psllw          xm4, 4
    psubw          xm0, xm4, [areasq]
    psubw          xm1, xm4, [rightq]
    psubw          xm2, xm4, [belowq]
    psubw          xm3, xm4, [cornerq]
%assign i 0
%rep 4
    pabsw      xm %+ i, xm %+ i
    pavgw      xm %+ i, xm7
    pminsw     xm %+ i, xm6
    pand       xm %+ i, xm5
    pmaddwd    xm %+ i, xm %+ i
%assign i i + 1
%endrep
    phaddd         xm0, xm1
    phaddd         xm2, xm3
    phaddd         xm0, xm2
    add          sumsq, 16
    mova       [sumsq], xm0
    add          lineq, strideq
    add         areasq, 32
    add       rightq, 32
    add       belowq, 32
    add      cornerq, 32
    dec             wd
    jg .loop
    mova  [sumsq + 16], xm0
    mova           xm0, [rsp + 16]
    mova         [rsp], xm0
    ; the other pair is the next one, or that before if the known lines are the second ones
    neg        secondq
    lea          sumsq, [rsp + 16]
    lea        secondq, [sumsq + 2 * secondq + 16]
    mova           xm6, [d_10240]
    mova           xm5, [d_127]
    mova           xm4, [d_256]
.pair:
    ; sums are exact as floats; their exponents are the logarithms, the highest bits of their mantissas follow these
    mova           xm0, [sumsq]
    paddd          xm0, xm6
    paddd          xm0, [secondq]
    cvtdq2ps       xm0, xm0
    psrld          xm1, xm0, 23
    psrld          xm0, 16
    pand           xm0, xm5
    psubd          xm0, xm4, xm0
    pshufd         xm2, xm1, q1032
    pminsd         xm2, xm1
    pshufd         xm3, xm2, q2301
    pminsd         xm2, xm3
    psubd          xm1, xm2
    vpsrlvd        xm0, xm1
    movu       [fitsq], xm0
    add          fitsq, 16
    add          sumsq, 16
    add        secondq, 16
    dec            nbd
    jg .pair
    RET

; m%1 = four samples of two lines of an area, as dwords. Address
%macro TWO_LINES 2
    movq          xm%1, [%2]
    movhps        xm%1, [%2 + 16]
    vpmovzxwd      m%1, xm%1
%endmacro

; void ff_mvdeint_blend_avx2(uint16_t *dst, ptrdiff_t dst_stride, const uint16_t *const *areas,
;                            const unsigned (*fits)[4], const uint8_t *wx, const uint8_t *wy, int w, int h)
; Computes four columns of two lines at a time.
cglobal mvdeint_blend, 8, 14, 15, dst, stride, areas, fits, wx, wy, w, h, right, below, corner, to, y, at
    mov       rightq, [areasq + 8]
    mov       belowq, [areasq + 16]
    mov      cornerq, [areasq + 24]
    mov         areasq, [areasq]
    add        strideq, strideq
    mova           m11, [q_most]
    mova           m12, [d_2048]
    mova           m13, [d_64]
    packssdw       m14, m13, m13
.columns:
    ; weights of the areas on the left (m9), on the right (m8), and both in turn (m10)
    vpbroadcastd   xm8, [wxq]
    vpmovzxbd       m8, xm8
    psubd           m9, m13, m8
    pslld           m8, 16
    por            m10, m8, m9
    mov            toq, dstq
    xor             yd, yd
.lines:
    ; weights of the areas below (m2) and above (m1) of both lines
    vpbroadcastw    m2, [wyq + yq]
    pshufb          m2, [first_second]
    psubw           m1, m14, m2
    movu           xm0, [fitsq + 8 * yq]
    packssdw       xm0, xm0
    pshufd         xm3, xm0, q1111
    vpbroadcastd    m0, xm0
    vpbroadcastd    m3, xm3
    pmullw          m1, m0
    pmullw          m2, m3
    ; the weights of the last three areas are in m1, m4, m2
    pmaddwd         m3, m10, m1
    pmaddwd         m1, m8
    pmaddwd         m4, m9, m2
    pmaddwd         m2, m8
    paddd           m3, m4
    paddd           m3, m2
    cvtdq2pd        m5, xm3
    vextracti128   xm3, m3, 1
    cvtdq2pd        m3, xm3
    divpd           m5, m11, m5
    divpd           m3, m11, m3
    cvttpd2dq      xm5, m5
    cvttpd2dq      xm3, m3
    vinserti128     m5, m5, xm3, 1
    pmulld          m1, m5
    pmulld          m4, m5
    pmulld          m2, m5
    psrld           m1, 20
    psrld           m4, 20
    psrld           m2, 20
    lea            atd, [2 * yq]
    TWO_LINES        3, areasq + 8 * atq
    TWO_LINES        0, rightq + 8 * atq
    TWO_LINES        5, belowq + 8 * atq
    TWO_LINES        6, cornerq + 8 * atq
    psubd           m0, m3
    psubd           m5, m3
    psubd           m6, m3
    pmulld          m0, m1
    pmulld          m5, m4
    pmulld          m6, m2
    pslld           m3, 12
    paddd           m3, m12
    paddd           m3, m0
    paddd           m3, m5
    paddd           m3, m6
    psrad           m3, 12
    vextracti128   xm0, m3, 1
    packusdw       xm3, xm0
    movq         [toq], xm3
    movhps [toq + strideq], xm3
    lea            toq, [toq + 2 * strideq]
    add             yd, 2
    cmp             yd, hd
    jl .lines
    add           dstq, 8
    add            wxq, 4
    add         areasq, 8
    add         rightq, 8
    add         belowq, 8
    add        cornerq, 8
    sub             wd, 4
    jg .columns
    RET

; void ff_mvdeint_known_avx2(uint8_t *dst, ptrdiff_t stride, const int *halves, const uint8_t *wx, const uint8_t *wy,
;                            int w, int h)
; Computes two lines at a time, the second one from 8 less the shares.
cglobal mvdeint_known, 7, 7, 8, dst, stride, halves, wx, wy, w, h
    vpmovzxbw      xm0, [wxq]
    mova            m5, [d_64]
    packssdw        m5, m5
    psubw          xm1, xm5, xm0
    vpbroadcastw   xm2, [halvesq]
    vpbroadcastw   xm3, [halvesq + 8]
    vpbroadcastw   xm4, [halvesq + 4]
    vpbroadcastw   xm7, [halvesq + 12]
    pmullw         xm2, xm1
    pmullw         xm3, xm1
    pmullw         xm4, xm0
    pmullw         xm7, xm0
    paddw          xm2, xm4
    paddw          xm3, xm7
    psllw          xm4, xm5, 3
    psubw          xm0, xm4, xm2
    psubw          xm1, xm4, xm3
    vinserti128     m2, m2, xm0, 1
    vinserti128     m3, m3, xm1, 1
    psllw           m4, m5, 4
    mova            m6, [first_second]
.loop:
    vpbroadcastw    m1, [wyq]
    pshufb          m1, m6
    psubw           m0, m5, m1
    pmullw          m0, m2
    pmullw          m1, m3
    paddw           m0, m4
    paddw           m0, m1
    psrlw           m0, 11
    packuswb        m0, m0
    vextracti128   xm1, m0, 1
    movq        [dstq], xm0
    movq [dstq + strideq], xm1
    lea           dstq, [dstq + 2 * strideq]
    add            wyq, 2
    sub             hd, 2
    jg .loop
    RET

; offsets in MvdeintLines
%define LINE_ABOVE        0
%define LINE_BELOW        8
%define LINE_ABOVE3       16
%define LINE_BELOW3       24
%define LINE_BEFORE_ABOVE 32
%define LINE_BEFORE_BELOW 40
%define LINE_AFTER_ABOVE  48
%define LINE_AFTER_BELOW  56
%define LINE_EARLIER      64
%define LINE_LATER        104

; m%1 = eight samples of a line as words. offset in MvdeintLines
%macro LOAD_LINE 2
    mov           tmpq, [linesq + %2]
    pmovzxbw      xm%1, [tmpq + xq]
%endmacro

; m%1 = differences, m%2 = sums of line %3 of both fields. xm7: clobbered
%macro FIELDS 3
    mov           tmpq, [linesq + LINE_EARLIER + 8 * %3]
    pmovzxbw      xm%1, [tmpq + xq]
    mov           tmpq, [linesq + LINE_LATER + 8 * %3]
    pmovzxbw       xm7, [tmpq + xq]
    paddw         xm%2, xm%1, xm7
    psubw         xm%1, xm7
%endmacro

; Shifts differences in m%1 left to units of 1/8 level, at most 1023. shift; xm7: clobbered
%macro SCALE_WORDS 2
    pabsw          xm7, xm%1
    psllw          xm7, %2
    pminsw         xm7, [w_1023]
    psignw        xm%1, xm7, xm%1
%endmacro

; m%1 = 2 m%2 - m%1 - m%3, scaled: twice the sums of the middle line less those of the outer lines. xm7: clobbered
%macro DETAIL 3
    paddw          xm7, xm%2, xm%2
    psubw          xm7, xm%1
    psubw         xm%1, xm7, xm%3
    SCALE_WORDS     %1, 1
%endmacro

; Stores sums of squares of the words in m%1, m%2 and m%3, three lines of eight columns, at an address. xm7, xm9:
; clobbered
%macro SQUARES 4
    punpckhwd      xm7, xm%1, xm%2
    punpcklwd      xm%1, xm%2
    pmaddwd        xm7, xm7
    pmaddwd       xm%1, xm%1
    pxor          xm%2, xm%2
    punpckhwd      xm9, xm%3, xm%2
    punpcklwd     xm%3, xm%2
    pmaddwd        xm9, xm9
    pmaddwd       xm%3, xm%3
    paddd         xm%1, xm%3
    paddd          xm7, xm9
    movu          [%4], xm%1
    movu     [%4 + 16], xm7
%endmacro

; m%1 = sums of five adjacent columns, of which the first is at the address %2
%macro ADD_COLUMNS 2
    movu           m%1, [%2]
    paddd          m%1, [%2 + 4]
    paddd          m%1, [%2 + 8]
    paddd          m%1, [%2 + 12]
    paddd          m%1, [%2 + 16]
%endmacro

; m3 = share of the squares of m1 in the squares of m1 and m2, times a scale in doubles. m0, m1, m2, m4, m5: clobbered
%macro SHARE 1
    ; shifts both sums right by the same number of bits, to at most 12 bits
    por             m0, m1, m2
    por             m0, [d_1]
    LOG2            m3, m0, m4
    psubd           m3, [d_11]
    pxor            m4, m4
    pmaxsd          m3, m4
    vpsrlvd         m1, m1, m3
    vpsrlvd         m2, m2, m3
    pmaddwd         m1, m1
    pmaddwd         m2, m2
    paddd           m2, m1
    pmaxsd          m2, [d_1]
    mova            m5, [%1]
    cvtdq2pd        m3, xm1
    cvtdq2pd        m0, xm2
    mulpd           m3, m5
    divpd           m3, m0
    cvttpd2dq      xm3, m3
    vextracti128   xm1, m1, 1
    vextracti128   xm2, m2, 1
    cvtdq2pd        m1, xm1
    cvtdq2pd        m2, xm2
    mulpd           m1, m5
    divpd           m1, m2
    cvttpd2dq      xm1, m1
    vinserti128     m3, m3, xm1, 1
%endmacro

; void ff_mvdeint_mix_8_avx2(uint8_t *dst, const uint8_t *intra, const uint8_t *reach, const MvdeintLines *l,
;                            uint32_t *columns, int w, int depth)
; The buffer has the sums of squares of differences of w + 16 columns, then the sums of differences, then the sums of
; squares of details.
cglobal mvdeint_mix_8, 6, 10, 10, dst, intra, reach, lines, columns, w, x, tmp, sums, details
    movsxdifnidn    wq, wd
    lea          sumsq, [columnsq + 4 * wq + 64]
    lea       detailsq, [sumsq + 4 * wq + 64]
    mov             xq, -2
.columns:
    FIELDS           5, 0, 0
    FIELDS           4, 1, 1
    FIELDS           5, 2, 2
    FIELDS           6, 3, 3
    FIELDS           9, 8, 4
    DETAIL           0, 1, 2
    DETAIL           1, 2, 3
    DETAIL           2, 3, 8
    SCALE_WORDS      4, 3
    SCALE_WORDS      5, 3
    SCALE_WORDS      6, 3
    paddw          xm3, xm4, xm5
    paddw          xm3, xm6
    pmovsxwd        m3, xm3
    movu [sumsq + 4 * xq + 8], m3
    SQUARES          0, 1, 2, detailsq + 4 * xq + 8
    SQUARES          4, 5, 6, columnsq + 4 * xq + 8
    add             xq, 8
    lea           tmpq, [wq + 2]
    cmp             xq, tmpq
    jl .columns
    xor             xd, xd
.loop:
    ; sum of squares less 15 times the square of the mean of 15 differences
    ADD_COLUMNS      0, sumsq + 4 * xq
    pabsd           m0, m0
    pmulld          m0, [d_273]
    psrld           m0, 12
    pmaddwd         m0, m0
    ADD_COLUMNS      1, columnsq + 4 * xq
    paddd           m1, m0
    pslld           m0, 4
    psubd           m1, m0
    ADD_COLUMNS      2, detailsq + 4 * xq
    paddd           m0, m2, m2
    pslld           m2, 2
    paddd           m2, m0
    SHARE        q_192
    vpmovzxbd       m0, [reachq + xq]
    pxor            m4, m4
    pcmpeqd         m0, m4
    pandn           m3, m0, m3
    vpmovzxbd       m0, [dstq + xq]
    vpmovzxbd       m1, [intraq + xq]
    psubd           m1, m0
    pmaddwd         m1, m3
    paddd           m1, [d_128]
    psrad           m1, 8
    paddd           m0, m1
    vextracti128   xm1, m0, 1
    packusdw       xm0, xm1
    packuswb       xm0, xm0
    movq   [dstq + xq], xm0
    add             xd, 8
    cmp             xd, wd
    jl .loop
    RET

; m%1 = half of the sum of the absolute differences of m8 and m9 from two lines; clobbers xm%2. offsets
%macro CHANGE 4
    LOAD_LINE       %1, %3
    LOAD_LINE       %2, %4
    psubw         xm%1, xm8
    psubw         xm%2, xm9
    pabsw         xm%1, xm%1
    pabsw         xm%2, xm%2
    paddw         xm%1, xm%2
    psrlw         xm%1, 1
%endmacro

; void ff_mvdeint_estimate_8_avx2(uint8_t *dst, uint8_t *reach, const MvdeintLines *l, int w)
cglobal mvdeint_estimate_8, 4, 6, 13, dst, reach, lines, w, x, tmp
    xor             xd, xd
.loop:
    ; sums of both fields, from four lines above to four below, in m0 ... m4; how much the middle line changes in m5
    FIELDS           6, 0, 0
    FIELDS           6, 1, 1
    FIELDS           5, 2, 2
    FIELDS           6, 3, 3
    FIELDS           6, 4, 4
    pabsw          xm5, xm5
    paddw          xm0, xm4
    psrlw          xm4, xm2, 1
    LOAD_LINE        8, LINE_ABOVE
    LOAD_LINE        9, LINE_BELOW
    CHANGE          10, 7, LINE_BEFORE_ABOVE, LINE_BEFORE_BELOW
    CHANGE          11, 7, LINE_AFTER_ABOVE, LINE_AFTER_BELOW
    pmaxsw        xm10, xm11
    psrlw         xm11, xm5, 1
    pmaxsw        xm10, xm11
    pxor          xm11, xm11
    pcmpeqw       xm12, xm10, xm11
    ; extends the reach
    paddw          xm6, xm1, xm3
    psrlw          xm1, 1
    psrlw          xm3, 1
    psubw          xm1, xm8
    psubw          xm3, xm9
    pminsw         xm7, xm1, xm3
    pmaxsw         xm1, xm3
    psubw          xm3, xm4, xm8
    psubw         xm11, xm4, xm9
    pmaxsw         xm7, xm3
    pminsw         xm1, xm3
    pmaxsw         xm7, xm11
    pminsw         xm1, xm11
    pmaxsw        xm10, xm1
    pxor           xm3, xm3
    psubw          xm1, xm3, xm7
    pmaxsw        xm10, xm1
    pandn         xm10, xm12, xm10
    packuswb       xm1, xm10, xm10
    movq  [reachq + xq], xm1
    ; interpolates within the field (m5), and with both fields around (m2) where m12 is set
    psubw         xm12, xm8, xm9
    pabsw         xm12, xm12
    pcmpgtw       xm12, xm5
    LOAD_LINE        1, LINE_ABOVE3
    LOAD_LINE        7, LINE_BELOW3
    paddw          xm8, xm9
    paddw          xm1, xm7
    punpckhwd      xm9, xm8, xm1
    punpcklwd      xm8, xm1
    pmaddwd        xm5, xm8, [w_alone]
    pmaddwd        xm1, xm9, [w_alone]
    psrad          xm5, 13
    psrad          xm1, 13
    packssdw       xm5, xm1
    punpckhwd      xm1, xm2, xm6
    punpcklwd      xm2, xm6
    punpckhwd      xm6, xm0, xm3
    punpcklwd      xm0, xm3
    pmaddwd        xm1, [w_near]
    pmaddwd        xm2, [w_near]
    pmaddwd        xm6, [w_far]
    pmaddwd        xm0, [w_far]
    pmaddwd        xm8, [w_own]
    pmaddwd        xm9, [w_own]
    paddd          xm1, xm6
    paddd          xm2, xm0
    psrad          xm1, 2
    psrad          xm2, 2
    paddd          xm1, xm9
    paddd          xm2, xm8
    psrad          xm1, 13
    psrad          xm2, 13
    packssdw       xm2, xm1
    vpblendvb      xm5, xm5, xm2, xm12
    paddw          xm0, xm4, xm10
    psubw          xm4, xm10
    pminsw         xm5, xm0
    pmaxsw         xm5, xm4
    packuswb       xm5, xm5
    movq   [dstq + xq], xm5
    add             xd, 8
    cmp             xd, wd
    jl .loop
    RET

; Adds squares of words of m%1 and m%2 to dwords of m9 and m10. xm7: clobbered
%macro ADD_SQUARES 2
    punpckhwd      xm7, xm%1, xm%2
    punpcklwd     xm%1, xm%2
    pmaddwd        xm7, xm7
    pmaddwd       xm%1, xm%1
    paddd          xm9, xm%1
    paddd         xm10, xm7
%endmacro

; void ff_mvdeint_weave_8_avx2(uint8_t *dst, const MvdeintLines *l, uint32_t *columns, int w)
cglobal mvdeint_weave_8, 4, 6, 11, dst, lines, columns, w, x, tmp
    movsxdifnidn    wq, wd
    add             wq, 2
    mov             xq, -2
.columns:
    FIELDS           0, 8, 1
    FIELDS           1, 8, 2
    FIELDS           2, 8, 3
    LOAD_LINE        8, LINE_ABOVE
    LOAD_LINE        3, LINE_BEFORE_ABOVE
    LOAD_LINE        4, LINE_AFTER_ABOVE
    psubw          xm3, xm8
    psubw          xm4, xm8
    LOAD_LINE        8, LINE_BELOW
    LOAD_LINE        5, LINE_BEFORE_BELOW
    LOAD_LINE        6, LINE_AFTER_BELOW
    psubw          xm5, xm8
    psubw          xm6, xm8
%assign i 0
%rep 7
    SCALE_WORDS      i, 3
%assign i i + 1
%endrep
    pxor           xm8, xm8
    pxor           xm9, xm9
    pxor          xm10, xm10
    ADD_SQUARES      0, 1
    ADD_SQUARES      2, 3
    ADD_SQUARES      4, 5
    ADD_SQUARES      6, 8
    movu [columnsq + 4 * xq + 8], xm9
    movu [columnsq + 4 * xq + 24], xm10
    add             xq, 8
    cmp             xq, wq
    jl .columns
    sub             wq, 2
    xor             xd, xd
.loop:
    FIELDS           0, 6, 2
    psrlw          xm6, 1
    vpmovzxwd       m6, xm6
    vpmovzxbd       m8, [dstq + xq]
    psubd           m6, m8
    pabsd           m1, m6
    pslld           m1, 3
    pminsd          m1, [d_1023]
    pmaddwd         m1, m1
    ADD_COLUMNS      2, columnsq + 4 * xq
    SHARE        q_256
    pmaddwd         m6, m3
    paddd           m6, [d_128]
    psrad           m6, 8
    paddd           m6, m8
    vextracti128   xm0, m6, 1
    packusdw       xm6, xm0
    packuswb       xm6, xm6
    movq   [dstq + xq], xm6
    add             xd, 8
    cmp             xd, wd
    jl .loop
    RET

; void ff_mvdeint_match_16_avx2(uint16_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t stride, int fx,
;                               int fy, int h, int max)
; Samples have up to 12 bits; the area is 8 samples wide. dst_stride is in bytes; max is the largest result.
cglobal mvdeint_match_16, 8, 9, 14, 13 * 32, dst, dst_stride, src, stride, fx, fy, h, max, base
    movsxdifnidn   fxq, fxd
    movsxdifnidn   fyq, fyd
    lea          baseq, [taps_w]
    shl            fxd, 4
    shl            fyd, 4
    vpbroadcastd    m8, [baseq + fxq]
    vpbroadcastd    m9, [baseq + fxq + 4]
    vpbroadcastd   m10, [baseq + fxq + 8]
    vpmovsxwd      m13, [baseq + fyq]
    sub           srcq, 4
    sub           srcq, strideq
    sub           srcq, strideq
    mov          baseq, rsp
    lea            fxd, [hq + 5]
.across:
%assign K 0
%assign KTAPS 8
%rep 3
    movu           xm0, [srcq + 4 * K]
    movu           xm1, [srcq + 4 * K + 2]
    punpckhwd      xm2, xm0, xm1
    punpcklwd      xm0, xm1
%if K
    pmaddwd        xm2, xm %+ KTAPS
    pmaddwd        xm0, xm %+ KTAPS
    paddd          xm4, xm2
    paddd          xm3, xm0
%else
    pmaddwd        xm4, xm2, xm8
    pmaddwd        xm3, xm0, xm8
%endif
%assign K K + 1
%assign KTAPS 8 + K
%endrep
    mova       [baseq], xm3
    mova  [baseq + 16], xm4
    add           srcq, strideq
    add          baseq, 32
    dec            fxd
    jg .across
    ; broadcasts the vertical taps
    vextracti128   xm5, m13, 1
    vpbroadcastd    m8, xm13
    pshufd        xm10, xm13, q2222
    pshufd         xm9, xm13, q1111
    pshufd        xm11, xm13, q3333
    pshufd        xm12, xm5, q1111
    vpbroadcastd   m13, xm5
    vpbroadcastd    m9, xm9
    vpbroadcastd   m10, xm10
    vpbroadcastd   m11, xm11
    vpbroadcastd   m12, xm12
    movd           xm7, maxd
    vpbroadcastw   xm7, xm7
    mova            m6, [d_128]
    mov          baseq, rsp
.down:
    pmulld          m0, m8, [baseq]
    pmulld          m1, m9, [baseq + 32]
    pmulld          m2, m10, [baseq + 64]
    pmulld          m3, m11, [baseq + 96]
    pmulld          m4, m13, [baseq + 128]
    pmulld          m5, m12, [baseq + 160]
    paddd           m0, m6
    paddd           m1, m2
    paddd           m3, m4
    paddd           m0, m5
    paddd           m1, m3
    paddd           m0, m1
    psrad           m0, 8
    vextracti128   xm1, m0, 1
    packusdw       xm0, xm1
    pminuw         xm0, xm7
    movu        [dstq], xm0
    add           dstq, dst_strideq
    add          baseq, 32
    dec             hd
    jg .down
    RET
