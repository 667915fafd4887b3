;*****************************************************************************
;* Matches of patches, and patches that overlap
;*****************************************************************************
; This file is part of gpume.
; SPDX-License-Identifier: LGPL-2.1-or-later
;*****************************************************************************

%include "libavutil/x86/x86util.asm"

SECTION_RODATA 32

; for vpermd: indices of the vectors that are 1 to 7 places before each of eight vectors
earlier:
%assign I 1
%rep 7
%assign J 0
%rep 8
    dd (J - I) & 7
%assign J J + 1
%endrep
%assign I I + 1
%endrep

no_vector:  times 8 dd -32768
never:      times 16 dw -32768
threes:     times 8 dd 3
low_words:  times 8 dd 0xffff

; offsets in MvdenoiseSpot, MvdenoiseSource and MvdenoiseSearch
%define SPOT_X      64
%define SPOT_Y      68
%define SPOT_LEAST  72
%define SPOT_MOST_X 76
%define SPOT_MOST_Y 80
%define SPOT_HSUB   84
%define SPOT_VSUB   88
%define SPOT_STRIDE 92
%define SPOT_BYTES  96
%define SPOT_CELL   100
%define SPOT_COLUMN 104
%define SOURCE_STRIDE 256
%define SEARCH_SOURCES      64
%define SEARCH_OFFSETS      128
%define SEARCH_PARTS        160
%define SEARCH_BEST         640
%define SEARCH_MASK         704
%define SEARCH_PENALTIES    712

SECTION .text

INIT_YMM avx2
; unsigned mvdenoise_candidates(MvdenoiseCandidates *dst, const GpumeCellVector *field, const MvdenoiseSpot *spot)
cglobal mvdenoise_candidates, 3, 3, 10, dst, field, spot
    vpbroadcastd m1, [spotq + SPOT_X]
    movd        xm5, [spotq + SPOT_HSUB]
    movd        xm6, [spotq + SPOT_CELL]
    vpbroadcastd m3, [spotq + SPOT_COLUMN]
    pxor        m4, m4
    pcmpeqd     m2, m2
    paddd       m1, [spotq]
    pslld       m1, xm5
    psrad       m1, xm6
    pmaxsd      m1, m4
    pminsd      m1, m3
    paddd       m1, [spotq + 32]
    vpgatherdd  m0, [fieldq + 4 * m1], m2
    ; the last candidate is the zero vector
    vpblendd    m0, m0, m4, 0x80
    pslld       m1, m0, 16
    psrad       m1, 16
    psrad       m2, m0, 16
    pcmpeqd     m3, m1, [no_vector]
    mov         eax, [spotq + SPOT_HSUB]
    or          eax, [spotq + SPOT_VSUB]
    jz .whole
    movd        xm6, [spotq + SPOT_VSUB]
    ; shifts with rounding: adds half of the divisors first
    pcmpeqd     m7, m7
    psrld       m7, 31
    pslld       m8, m7, xm5
    pslld       m9, m7, xm6
    psrld       m8, 1
    psrld       m9, 1
    paddd       m1, m8
    paddd       m2, m9
    psrad       m1, xm5
    psrad       m2, xm6
    pslld       m0, m2, 16
    pblendw     m0, m0, m1, 0x55
.whole:
    mova        m7, [never]
%assign I 1
%rep 7
    mova        m4, [earlier + 32 * (I - 1)]
    vpermd      m4, m4, m0
    vpblendd    m4, m4, m7, (1 << I) - 1
    pcmpeqd     m4, m0
    por         m3, m4
%assign I I + 1
%endrep
    ; the part of the source, by the fractions of the vector
    mova        m7, [threes]
    pand        m4, m1, m7
    pand        m5, m2, m7
    pslld       m5, 2
    por         m4, m5
    movu        [dstq + 32], m4
    ; the first sample of the patch, limited to the picture
    vpbroadcastd m6, [spotq + SPOT_LEAST]
    vpbroadcastd m4, [spotq + SPOT_X]
    vpbroadcastd m5, [spotq + SPOT_Y]
    psrad       m1, 2
    psrad       m2, 2
    paddd       m1, m4
    paddd       m2, m5
    vpbroadcastd m4, [spotq + SPOT_MOST_X]
    vpbroadcastd m5, [spotq + SPOT_MOST_Y]
    pmaxsd      m1, m6
    pmaxsd      m2, m6
    pminsd      m1, m4
    pminsd      m2, m5
    vpbroadcastd m4, [spotq + SPOT_STRIDE]
    movd        xm5, [spotq + SPOT_BYTES]
    pmulld      m2, m4
    pslld       m1, xm5
    paddd       m1, m2
    movu        [dstq], m1
    movmskps    eax, m3
    xor         eax, 0xff
    RET

; Loads two rows of a patch as words; a row is the mean of two rows in memory. %1: dst; %2: 8 or 16; %3, %4: addresses
; for the first row; %5, %6: addresses for the second row; m7: clobbered
%macro LOAD_ROWS 6
%if %2 == 8
    movq        xm%1, [%3]
    movq        xm7, [%4]
    movhps      xm%1, [%5]
    movhps      xm7, [%6]
    pavgb       xm%1, xm7
    pmovzxbw    m%1, xm%1
%else
    movu        xm%1, [%3]
    movu        xm7, [%4]
    vinserti128 m%1, m%1, [%5], 1
    vinserti128 m7, m7, [%6], 1
    pavgw       m%1, m7
%endif
%endmacro

; Loads four rows of a patch. %1, %2: dst; %3: 8 or 16; m7: clobbered
%macro LOAD_FOUR 3
    LOAD_ROWS   %1, %3, aq, bq, aq + strideq, bq + strideq
    LOAD_ROWS   %2, %3, aq + 2 * strideq, bq + 2 * strideq, aq + stride3q, bq + stride3q
%endmacro

; unsigned mvdenoise_read(uint16_t *dst, const MvdenoisePatch *patch, ptrdiff_t stride)
%macro READ 1
cglobal mvdenoise_read_%1, 3, 5, 8, dst, a, stride, b, stride3
    mov         bq, [aq + 8]
    mov         aq, [aq]
    lea         stride3q, [3 * strideq]
    LOAD_FOUR   0, 1, %1
    lea         aq, [aq + 4 * strideq]
    lea         bq, [bq + 4 * strideq]
    LOAD_FOUR   2, 3, %1
    mova        [dstq], m0
    mova        [dstq + 32], m1
    mova        [dstq + 64], m2
    mova        [dstq + 96], m3
%if %1 == 8
    paddw       m0, m1
    paddw       m2, m3
    paddw       m0, m2
%else
%assign I 0
%rep 4
    ; words are unsigned
    psrld       m4, m%[I], 16
    pand        m%[I], [low_words]
    paddd       m%[I], m4
%assign I I + 1
%endrep
    paddd       m0, m1
    paddd       m2, m3
    paddd       m0, m2
%endif
    vextracti128 xm1, m0, 1
%if %1 == 8
    paddw       xm0, xm1
    psrld       xm1, xm0, 16
    pand        xm0, [low_words]
%endif
    paddd       xm0, xm1
    pshufd      xm1, xm0, q1032
    paddd       xm0, xm1
    pshufd      xm1, xm0, q2301
    paddd       xm0, xm1
    movd        eax, xm0
    RET
%endmacro

READ 8
READ 16

; Squares the differences of two rows from rows of the own patch. %1: the rows, and dst; %2: rows of the own patch;
; %3: bits of samples. Squares of 16-bit samples are in words: the lower halves in m%1, the upper halves in m7
%macro SQUARE 3
%if %3 < 16
    psubw       m%1, m%2
    pmaddwd     m%1, m%1
%else
    psubusw     m7, m%1, m%2
    psubusw     m%1, m%2, m%1
    por         m%1, m7
    pmulhuw     m7, m%1, m%1
    pmullw      m%1, m%1
%endif
%endmacro

; void mvdenoise_best(MvdenoiseSearch *search, const uint16_t *own)
; %1: bits of a sample in memory; %2: significant bits of a sample
%macro BEST 2
cglobal mvdenoise_best_%2, 2, 13, 12, search, own, mask, penalties, other, i, a, b, stride, stride3, sum, least, \
                                     candidate
    mova        m8,  [ownq]
    mova        m9,  [ownq + 32]
    mova        m10, [ownq + 64]
    mova        m11, [ownq + 96]
    mov         maskq, [searchq + SEARCH_MASK]
    mov         penaltiesq, [searchq + SEARCH_PENALTIES]
    mov         aq, [searchq + SEARCH_SOURCES]
    mov         strideq, [aq + SOURCE_STRIDE]
    lea         stride3q, [3 * strideq]
.loop:
    bsf         iq, maskq
    btr         maskq, iq
    mov         candidated, id
    mov         otherd, id
    and         candidated, 7
    and         otherd, 0xf8
    lea         aq, [searchq + 8 * otherq]
    lea         aq, [aq + 4 * candidateq]
    mov         bd, [aq + SEARCH_PARTS]
    movsxd      ownq, dword [aq + SEARCH_OFFSETS]
    mov         aq, [searchq + SEARCH_SOURCES + otherq]
    mov         sumq, [penaltiesq + 8 * bq]
    shl         bd, 4
    add         bq, aq
    mov         aq, [bq]
    mov         bq, [bq + 8]
    add         aq, ownq
    add         bq, ownq
    LOAD_FOUR   0, 1, %1
    lea         aq, [aq + 4 * strideq]
    lea         bq, [bq + 4 * strideq]
    LOAD_FOUR   2, 3, %1
%if %2 < 16
    SQUARE      0, 8, %2
    SQUARE      1, 9, %2
    SQUARE      2, 10, %2
    SQUARE      3, 11, %2
    paddd       m0, m1
    paddd       m2, m3
    paddd       m0, m2
    vextracti128 xm1, m0, 1
    paddd       xm0, xm1
    pshufd      xm1, xm0, q1032
    paddd       xm0, xm1
    pshufd      xm1, xm0, q2301
    paddd       xm0, xm1
    movd        ownd, xm0
    add         sumq, ownq
%else
    pxor        m5, m5
    pxor        m6, m6
%assign I 0
%assign J 8
%rep 4
    SQUARE      I, J, %2
    psrld       m4, m%[I], 16
    pand        m%[I], [low_words]
    paddd       m5, m4
    paddd       m5, m%[I]
    psrld       m4, m7, 16
    pand        m7, [low_words]
    paddd       m6, m4
    paddd       m6, m7
%assign I I + 1
%assign J J + 1
%endrep
    ; sums of both halves are below 1 << 22
    phaddd      m5, m6
    vextracti128 xm6, m5, 1
    paddd       xm5, xm6
    pshufd      xm6, xm5, q2301
    paddd       xm5, xm6
    movd        ownd, xm5
    pextrd      ad, xm5, 2
    shl         aq, 16
    add         sumq, ownq
    add         sumq, aq
%endif
    ; the least sum and its candidate
    mov         leastq, [searchq + otherq]
    mov         candidateq, [searchq + SEARCH_BEST + otherq]
    cmp         sumq, leastq
    cmovb       leastq, sumq
    cmovb       candidateq, iq
    mov         [searchq + otherq], leastq
    mov         [searchq + SEARCH_BEST + otherq], candidateq
    test        maskq, maskq
    jnz .loop
    RET
%endmacro

BEST 8,  8
BEST 16, 12
BEST 16, 16

; void mvdenoise_add(void *sums, uint32_t *weights, const uint16_t *samples, const uint16_t *patch_weights, int nb,
;                    const uint8_t *window)
; Adds patches 0, 2, ..., then patches 1, 3, ...: no sum is loaded right after it was stored.
cglobal mvdenoise_add_10, 6, 8, 4, sums, weights, samples, patch_weights, nb, window, at, weight
    pmovzxbd    m3, [windowq]
    shl         nbd, 4
    DEFINE_ARGS sums, weights, samples, patch_weights, nb, start, at, weight
    xor         startd, startd
.half:
    mov         atd, startd
    mov         weightq, patch_weightsq
    cmp         atd, nbd
    jge .end
.loop:
    ; the weight in every dword
    vpbroadcastw m0, [weightq]
    psrld       m0, 16
    pmaddwd     m0, m3
    pmovzxwd    m1, [samplesq + 8 * atq]
    pmulld      m1, m0
    paddd       m0, [weightsq + atq]
    paddd       m1, [sumsq + atq]
    movu        [weightsq + atq], m0
    movu        [sumsq + atq], m1
    add         weightq, 4
    add         atd, 32
    cmp         atd, nbd
    jl .loop
    add         patch_weightsq, 2
    add         startd, 16
    cmp         startd, 16
    je .half
.end:
    RET
