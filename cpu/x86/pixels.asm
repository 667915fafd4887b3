;*****************************************************************************
;* Samples and vectors of true motion
;*****************************************************************************
; This file is part of gpume.
; SPDX-License-Identifier: LGPL-2.1-or-later
;*****************************************************************************

%include "libavutil/x86/x86util.asm"

SECTION_RODATA 32

; pairs of the six taps, as bytes and as words
outer_b:  times 16 db 1, -5
middle_b: times 16 db 20, 20
inner_b:  times 16 db -5, 1
outer_w:  times 8 dw 1, -5
middle_w: times 8 dw 20, 20
inner_w:  times 8 dw -5, 1
round_16: times 16 dw 16
round_512: times 8 dd 512
; offsets of the eight vectors around a vector, in raster order
around:   dw -1, -1,  0, -1,  1, -1,  -1, 0,  1, 0,  -1, 1,  0, 1,  1, 1
; masks of the neighbours after neighbour R
later:
%assign R 0
%rep 8
%assign I 0
%rep 8
          dd -(I > R)
%assign I I + 1
%endrep
%assign R R + 1
%endrep
bit_of:   dd 1, 2, 4, 8, 16, 32, 64, 128

SECTION .text

; TAPS_B: applies the six taps to the bytes in m0 to m5. The sums of the low eight bytes of each lane are in m6, those
; of the high eight bytes in m0. Clobbers m1 to m4.
%macro TAPS_B 0
    punpcklbw   m6, m0, m1
    punpckhbw   m0, m1
    punpcklbw   m1, m2, m3
    punpckhbw   m2, m3
    punpcklbw   m3, m4, m5
    punpckhbw   m4, m5
    pmaddubsw   m6, [outer_b]
    pmaddubsw   m0, [outer_b]
    pmaddubsw   m1, [middle_b]
    pmaddubsw   m2, [middle_b]
    pmaddubsw   m3, [inner_b]
    pmaddubsw   m4, [inner_b]
    paddw       m6, m1
    paddw       m0, m2
    paddw       m6, m3
    paddw       m0, m4
%endmacro

; ROUND_B: rounds the sums in m6 and m0 to half samples in m1; m7: rounding; clobbers m2
%macro ROUND_B 0
    paddw       m1, m6, m7
    paddw       m2, m0, m7
    psraw       m1, 5
    psraw       m2, 5
    packuswb    m1, m2
%endmacro

INIT_YMM avx2
; void right_8(uint8_t *dst, const uint8_t *src, int n, int max)
cglobal gpume_right_8, 3, 3, 8, dst, src, n
    movsxdifnidn nq, nd
    mova        m7, [round_16]
.loop:
    movu        m0, [srcq]
    movu        m1, [srcq+1]
    movu        m2, [srcq+2]
    movu        m3, [srcq+3]
    movu        m4, [srcq+4]
    movu        m5, [srcq+5]
    TAPS_B
    ROUND_B
    movu    [dstq], m1
    add       srcq, mmsize
    add       dstq, mmsize
    sub         nq, mmsize
    jg .loop
    RET

; void below_8(uint8_t *dst, void *sums, const uint8_t *const rows[6], int n, int max)
cglobal gpume_below_8, 4, 10, 8, dst, sums, rows, n, row1, row2, row3, row4, row5, col
    movsxdifnidn nq, nd
    mov        row1q, [rowsq+8]
    mov        row2q, [rowsq+16]
    mov        row3q, [rowsq+24]
    mov        row4q, [rowsq+32]
    mov        row5q, [rowsq+40]
    mov      rowsq, [rowsq]
    mova        m7, [round_16]
    xor       cold, cold
.loop:
    movu        m0, [rowsq+colq]
    movu        m1, [row1q+colq]
    movu        m2, [row2q+colq]
    movu        m3, [row3q+colq]
    movu        m4, [row4q+colq]
    movu        m5, [row5q+colq]
    TAPS_B
    ROUND_B
    movu [dstq+colq], m1
    vperm2i128  m1, m6, m0, 0x20
    vperm2i128  m2, m6, m0, 0x31
    movu [sumsq+2*colq], m1
    movu [sumsq+2*colq+mmsize], m2
    add         colq, mmsize
    cmp         colq, nq
    jl .loop
    RET

; CENTRE dst, offset in sums: computes sixteen half samples as words; m7: rounding; clobbers m0 to m6
%macro CENTRE 2
    movu        m0, [sumsq+%2]
    movu        m1, [sumsq+%2+2]
    movu        m2, [sumsq+%2+4]
    movu        m3, [sumsq+%2+6]
    movu        m4, [sumsq+%2+8]
    movu        m5, [sumsq+%2+10]
    punpcklwd   m6, m0, m1
    punpckhwd   m0, m1
    punpcklwd   m1, m2, m3
    punpckhwd   m2, m3
    punpcklwd   m3, m4, m5
    punpckhwd   m4, m5
    pmaddwd     m6, [outer_w]
    pmaddwd     m0, [outer_w]
    pmaddwd     m1, [middle_w]
    pmaddwd     m2, [middle_w]
    pmaddwd     m3, [inner_w]
    pmaddwd     m4, [inner_w]
    paddd       m6, m1
    paddd       m0, m2
    paddd       m6, m3
    paddd       m0, m4
    paddd       m6, m7
    paddd       m0, m7
    psrad       m6, 10
    psrad       m0, 10
    packssdw    %1, m6, m0
%endmacro

; void centre_8(uint8_t *dst, const void *sums, int n, int max)
cglobal gpume_centre_8, 3, 3, 9, dst, sums, n
    movsxdifnidn nq, nd
    mova        m7, [round_512]
.loop:
    CENTRE      m8, 0
    CENTRE      m1, mmsize
    packuswb    m8, m1
    vpermq      m8, m8, q3120
    movu    [dstq], m8
    add      sumsq, 2*mmsize
    add       dstq, mmsize
    sub         nq, mmsize
    jg .loop
    RET

; Offsets in GpumeChoice.
%define PENALTIES   68
%define NEIGHBOURS   0
%define AROUND      32
%define OWN         64
%define MIN        136
%define MAX        140
%define THRESHOLD  144
%define FACTOR     148
%define SHIFT      152
%define DEPTH      156
%define COST       160
%define SUM        164

; DIFFERENCE vectors, sum: adds the differences of vectors from the neighbour in m9, each at most m4; m3: ones;
; clobbers m10
%macro DIFFERENCE 2
    psubw       m10, m%1, m9
    pabsw       m10, m10
    pmaddwd     m10, m3
    pminsd      m10, m4
    paddd       m%2, m10
%endmacro

; NEIGHBOUR number, address: adds the differences of all candidates from a neighbour's vector to m5 and m6, and marks
; the candidates that equal this vector: later neighbours in m7, vectors around the own one in m8. Clobbers m9 and m10.
%macro NEIGHBOUR 2
    vpbroadcastd m9, [%2]
    pcmpeqd     m10, m1, m9
    pand        m10, [later+32*%1]
    por          m7, m10
    pcmpeqd     m10, m2, m9
    por          m8, m10
    DIFFERENCE    1, 5
    DIFFERENCE    2, 6
%endmacro

INIT_YMM avx2
; unsigned candidates_at(GpumeChoice *choice, const GpumeVector *v, ptrdiff_t bw, uint32_t bounds[16],
;                        unsigned forgotten)
cglobal gpume_candidates_at, 5, 6, 14, choice, v, bw, bounds, forgotten, below
    lea     belowq, [vq+4*bwq]
    neg        bwq
    vpbroadcastd m0, [vq]
    ; loads vectors of the block's own row one by one, because their stores may still be in flight
    movu       xm1, [vq+4*bwq-4]
    movu       xm2, [belowq-8]
    pinsrd     xm1, [vq-4], 3
    pinsrd     xm2, [vq+4], 0
    vinserti128 m1, m1, xm2, 1
    paddw       m2, m0, [around]
    movd [choiceq+OWN], xm0
    movu [choiceq+NEIGHBOURS], m1
    movu [choiceq+AROUND], m2

    ; bounds of the neighbours, raised to the bounds of equal vectors around the own one
    movd       xm9, forgottend
    vpbroadcastd m9, xm9
    mova       m10, [bit_of]
    pand        m9, m10
    pxor       m11, m11
    pcmpeqd     m9, m11
    pand       m11, m9, [boundsq]
%assign I 0
%rep 8
    vpbroadcastd m9, [choiceq+AROUND+4*I]
    vpbroadcastd m10, [boundsq+32+4*I]
    pcmpeqd     m9, m1
    pand        m9, m10
    pmaxud     m11, m9
%assign I I + 1
%endrep
    movu [boundsq], m11

    ; penalties, and which candidates equal the own vector or an earlier neighbour
    pcmpeqw     m3, m3
    psrlw       m3, 15
    vpbroadcastd m4, [choiceq+THRESHOLD]
    pxor        m5, m5
    pxor        m6, m6
    pcmpeqd     m7, m1, m0
    pxor        m8, m8
    NEIGHBOUR    0, vq+4*bwq-4
    NEIGHBOUR    1, vq+4*bwq
    NEIGHBOUR    2, vq+4*bwq+4
    NEIGHBOUR    3, vq-4
    NEIGHBOUR    4, vq+4
    NEIGHBOUR    5, belowq-4
    NEIGHBOUR    6, belowq
    NEIGHBOUR    7, belowq+4
    psubw       m0, m1
    pabsw       m0, m0
    pmaddwd     m0, m3
    pminsd      m0, m4
    vextracti128 xm9, m0, 1
    paddd      xm0, xm9
    pshufd     xm9, xm0, q1032
    paddd      xm0, xm9
    pshufd     xm9, xm0, q2301
    paddd      xm0, xm9
    vpbroadcastd m4, [choiceq+FACTOR]
    movd       xm9, [choiceq+SHIFT]
    movd      xm10, [choiceq+DEPTH]
    pmulld     xm0, xm4
    pmulld      m5, m4
    pmulld      m6, m4
    psrld      xm0, xm9
    psrld       m5, xm9
    psrld       m6, xm9
    pslld      xm0, xm10
    pslld       m5, xm10
    pslld       m6, xm10
    movu [choiceq+PENALTIES], m5
    movu [choiceq+PENALTIES+32], m6
    movd       xm4, [choiceq+COST]
    paddd      xm0, xm4
    movd [choiceq+SUM], xm0
    vpbroadcastd m0, xm0

    ; removes candidates that are not admissible
    vpbroadcastd m3, [choiceq+MIN]
    vpbroadcastd m4, [choiceq+MAX]
    pmaxsw      m9, m1, m3
    pmaxsw     m10, m2, m3
    pminsw      m9, m4
    pminsw     m10, m4
    pcmpeqd     m9, m1
    pcmpeqd    m10, m2
    pandn       m7, m7, m9
    pandn       m8, m8, m10

    ; candidates that may be better than the own vector; sums are unsigned
    paddd       m5, m11
    paddd       m6, [boundsq+32]
    pmaxud      m1, m0, m5
    pmaxud      m2, m0, m6
    pcmpeqd     m1, m5
    pcmpeqd     m2, m6
    pandn       m7, m1, m7
    pandn       m8, m2, m8
    movmskps   eax, m7
    movmskps choiced, m8
    shl    choiced, 8
    or         eax, choiced
    RET
