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
; order of dwords in each half that becomes 0, 1, 2, ... when gpume_locate_pairs interleaves qwords
unpacked: dd 0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15

struc Places
    .base:      resq 32
    .linesize:  resq 1
    .size:      resd 1
    .log2_pel:  resd 1
    .low:       resd 1
    .high:      resd 1
endstruc

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

; AVERAGE bits, width: defines the function for the mean of two blocks, whose rows are stored 256 bytes apart (see
; GPUME_AVERAGE_LINESIZE)
%macro AVERAGE 2
%assign BYTES %2 * %1 / 8
%if BYTES >= 32
INIT_YMM avx2
%else
INIT_XMM avx2
%endif
; void average(uint8_t *dst, const uint8_t *a, const uint8_t *b, ptrdiff_t linesize, int h)
cglobal gpume_average_%1_%2, 5, 5, 2, dst, one, other, linesize, h
.loop:
%assign OFFSET 0
%rep (BYTES + mmsize - 1) / mmsize
%if BYTES == 4
    movd        m0, [oneq]
    movd        m1, [otherq]
%elif BYTES == 8
    movq        m0, [oneq]
    movq        m1, [otherq]
%else
    movu        m0, [oneq+OFFSET]
    movu        m1, [otherq+OFFSET]
%endif
%if %1 == 8
    pavgb       m0, m1
%else
    pavgw       m0, m1
%endif
%if BYTES == 4
    movd    [dstq], m0
%elif BYTES == 8
    movq    [dstq], m0
%else
    mova [dstq+OFFSET], m0
%endif
%assign OFFSET OFFSET + mmsize
%endrep
    add       oneq, linesizeq
    add     otherq, linesizeq
    add       dstq, 256
    dec         hd
    jg .loop
    RET
%endmacro

%assign WIDTH 4
%rep 6
AVERAGE 8,  WIDTH
AVERAGE 16, WIDTH
%assign WIDTH 2 * WIDTH
%endrep

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
%define BOUNDS     168

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

%if HAVE_AVX512_EXTERNAL
; SPREAD dst, address: broadcasts a dword
%macro SPREAD 2
    vpbroadcastd %1, [%2]
%endmacro

; DIFFERENCES sum, tmp, address of a neighbour's vector: adds the differences of the candidates in m3 from this vector,
; each at most m17; m16: ones
%macro DIFFERENCES 3
    SPREAD      %2, %3
    psubw       %2, m3, %2
    pabsw       %2, %2
    pmaddwd     %2, m16
    pminsd      %2, m17
    paddd       %1, %2
%endmacro

INIT_ZMM avx512
; unsigned candidates_at(GpumeChoice *choice, const GpumeVector *v, ptrdiff_t bw, uint32_t bounds[16],
;                        unsigned forgotten)
cglobal gpume_candidates_at, 5, 7, 24, choice, v, bw, bounds, forgotten, below, tmp
    lea     belowq, [vq+4*bwq]
    neg        bwq
    not forgottend
    kmovw       k1, forgottend
    ; loads vectors of the block's own row one by one, because their stores may still be in flight
    SPREAD      m0, vq
    movu       xm1, [vq+4*bwq-4]
    movu       xm2, [belowq-8]
    pinsrd     xm1, xm1, [vq-4], 3
    pinsrd     xm2, xm2, [vq+4], 0
    vinserti128 ym1, ym1, xm2, 1
    paddw      ym3, ym0, [around]
    movd [choiceq+OWN], xm0
    movu [choiceq+NEIGHBOURS], ym1
    movu [choiceq+AROUND], ym3
    ; the vectors around the own one, then the neighbours' vectors
    vinserti64x4 m3, m3, ym1, 1

    ; vectors that equal earlier ones; the neighbours are in the upper half
    vpconflictd m4, m3
    vextracti64x4 ym4, m4, 1
    mov       tmpd, 0xff
    vpbroadcastd ym5, tmpd
    vptestnmd   k2, ym5, ym4        ; neighbours that equal no vector around the own one
    pand       ym6, ym4, ym5
    pandn      ym7, ym5, ym4
    vptestnmd   k3, ym7, ym7        ; neighbours that equal no earlier neighbour
    vpcmpd      k3{k3}, ym1, ym0, 4 ; nor the own vector
    vextracti128 xm7, ym6, 1
    por        xm7, xm6
    pshufd     xm8, xm7, q1032
    por        xm7, xm8
    pshufd     xm8, xm7, q2301
    por        xm7, xm8             ; vectors around the own one that equal a neighbour

    ; bounds of the neighbours, raised to the bounds of equal vectors around the own one
    vmovdqu32  ym9{k1}{z}, [boundsq]
    movu      ym10, [boundsq+32]
    vplzcntd   ym6, ym6
    vpternlogd ym6, ym6, ym6, 0x55  ; the low bits are the index of the only set bit
    vpermd     ym6, ym6, ym10
    knotw       k2, k2
    vpmaxud    ym9{k2}, ym9, ym6
    movu  [boundsq], ym9
    vinserti64x4 m10, m10, ym9, 1

    ; penalties
    vpternlogd m16, m16, m16, 0xff
    psrlw      m16, 15
    SPREAD     m17, choiceq+THRESHOLD
    pxor       m18, m18
    pxor       m19, m19
    DIFFERENCES m18, m20, vq+4*bwq-4
    DIFFERENCES m19, m21, vq+4*bwq
    DIFFERENCES m18, m20, vq+4*bwq+4
    DIFFERENCES m19, m21, belowq-4
    DIFFERENCES m18, m20, belowq
    DIFFERENCES m19, m21, belowq+4
    DIFFERENCES m18, m20, vq-4
    DIFFERENCES m19, m21, vq+4
    paddd      m18, m19
    psubw      ym0, ym1
    pabsw      ym0, ym0
    pmaddwd    ym0, ym16
    pminsd     ym0, ym17
    vextracti128 xm1, ym0, 1
    paddd      xm0, xm1
    pshufd     xm1, xm0, q1032
    paddd      xm0, xm1
    pshufd     xm1, xm0, q2301
    paddd      xm0, xm1
    SPREAD     m16, choiceq+FACTOR
    movd       xm1, [choiceq+SHIFT]
    movd       xm2, [choiceq+DEPTH]
    pmulld     m18, m16
    pmulld     xm0, xm16
    psrld      m18, xm1
    psrld      xm0, xm1
    pslld      m18, xm2
    pslld      xm0, xm2
    movd       xm1, [choiceq+COST]
    paddd      xm0, xm1
    vpbroadcastd m0, xm0
    movd [choiceq+SUM], xm0
    vextracti64x4 [choiceq+PENALTIES], m18, 1
    movu [choiceq+PENALTIES+32], ym18

    ; candidates that are admissible and may be better than the own vector
    SPREAD      m1, choiceq+MIN
    SPREAD      m2, choiceq+MAX
    pmaxsw      m1, m3, m1
    pminsw      m1, m1, m2
    paddd      m18, m10
    vpcmpeqd    k1, m1, m3
    vpcmpud     k1{k1}, m18, m0, 1
    kmovw  choiced, k1
    movd      tmpd, xm7
    andn      tmpd, tmpd, choiced
    movzx      eax, tmpb
    shl        eax, 8
    shr    choiced, 8
    kmovb forgottend, k3
    and    choiced, forgottend
    or         eax, choiced
    RET

; COMPRESS: moves the vectors whose bits are set in maskd to the beginning of m1, and fills m1 with the first of them.
; nd becomes their number, maskd the number of those beyond eight. Clobbers m0, k1 and tmpd.
%macro COMPRESS 0
    movu       ym0, [vectorsq]
    vinserti64x4 m0, m0, [vectorsq+32], 1
    kmovw       k1, maskd
    popcnt   maskd, maskd
    mov         nd, maskd
    vpcompressd m0{k1}{z}, m0
    mov       tmpd, -1
    bzhi      tmpd, tmpd, maskd
    kmovw       k1, tmpd
    vpbroadcastd m1, xm0
    vmovdqa32   m1{k1}, m0
    sub      maskd, 8
%endmacro

; OFFSETS dst: converts the vectors in m0, rounded down to whole samples, to offsets in bytes. Clobbers m2 and m3.
%macro OFFSETS 1
    movd       xm2, [placesq+Places.log2_pel]
    psraw       m3, m0, xm2
    pslld      m%1, m3, 16
    psrad       m3, 16
    psrad      m%1, 16
    pmulld      m3, m3, [placesq+Places.linesize] {1to16}
    pmulld     m%1, m%1, [placesq+Places.size] {1to16}
    paddd      m%1, m3
%endmacro

; int locate_whole(const uint8_t **ref, const GpumeVector vectors[16], unsigned mask,
;                   const GpumePlaces *places, ptrdiff_t offset)
cglobal gpume_locate_whole, 5, 7, 8, ref, vectors, mask, places, offset, tmp, n
    COMPRESS
    mova        m0, m1
    OFFSETS      1
    add    offsetq, [placesq+Places.base]
    vpbroadcastq m2, offsetq
    vpmovsxdq   m3, ym1
    paddq       m3, m2
    movu    [refq], m3
    test     maskd, maskd
    jle .end
    vextracti64x4 ym1, m1, 1
    vpmovsxdq   m3, ym1
    paddq       m3, m2
    movu [refq+64], m3
.end:
    RET

; PAIRS_OF half, register of its offsets, register of its indices: stores two pointers for each of eight vectors; m2:
; the offset of the block; m16 to m19: the base pointers; clobbers m3 to m5
%macro PAIRS_OF 3
    vpmovsxdq   m3, ym%2
    vpmovzxdq   m4, ym%3
    paddq       m3, m2
    mova        m5, m4
    vpermi2q    m4, m16, m17
    vpermi2q    m5, m18, m19
    paddq       m4, m3
    paddq       m5, m3
    punpcklqdq  m3, m4, m5
    punpckhqdq  m4, m4, m5
    movu [refq+128*%1], m3
    movu [refq+128*%1+64], m4
%endmacro

; int locate_pairs(const uint8_t **ref, const GpumeVector vectors[16], unsigned mask,
;                   const GpumePlaces *places, ptrdiff_t offset)
cglobal gpume_locate_pairs, 5, 7, 20, ref, vectors, mask, places, offset, tmp, n
    COMPRESS
    movu        m0, [unpacked]
    vpermd      m0, m0, m1
    OFFSETS      1
    ; the fractional part of each vector, as an index
    mov       tmpd, 16
    sub       tmpd, [placesq+Places.log2_pel]
    movd       xm2, tmpd
    psrld       m6, m0, xm2
    vpandd      m6, m6, [placesq+Places.high] {1to16}
    vpandd      m0, m0, [placesq+Places.low] {1to16}
    vpord       m6, m6, m0
    vpbroadcastq m2, offsetq
    movu       m16, [placesq]
    movu       m17, [placesq+64]
    movu       m18, [placesq+128]
    movu       m19, [placesq+192]
    PAIRS_OF     0, 1, 6
    test     maskd, maskd
    jle .end
    vextracti64x4 ym1, m1, 1
    vextracti64x4 ym6, m6, 1
    PAIRS_OF     1, 1, 6
.end:
    RET

; uint64_t least_sum(const GpumeChoice *choice, uint32_t bounds[16], const uint32_t *cost,
;                    unsigned evaluated, unsigned mask)
cglobal gpume_least_sum, 5, 5, 6, choice, bounds, cost, evaluated, mask
    ; loads costs and bounds in the parts in which they were just written
    movu       xm0, [costq]
    movu       xm1, [costq+32]
    vinserti128 ym0, ym0, [costq+16], 1
    vinserti128 ym1, ym1, [costq+48], 1
    vinserti64x4 m0, m0, ym1, 1
    movu       xm2, [boundsq+32]
    movu       ym1, [boundsq]
    vinserti128 ym2, ym2, [boundsq+48], 1
    vinserti64x4 m1, m1, ym2, 1
    kmovw       k1, evaluatedd
    kmovw       k2, maskd
    vpexpandd   m1{k1}, m0
    movu [boundsq], m1
    movu       ym2, [choiceq+PENALTIES]
    vinserti64x4 m2, m2, [choiceq+PENALTIES+32], 1
    vpternlogd  m0, m0, m0, 0xff
    vpaddd      m0{k2}, m1, m2
    vextracti64x4 ym1, m0, 1
    pminud     ym1, ym0
    vextracti128 xm2, ym1, 1
    pminud     xm1, xm2
    pshufd     xm2, xm1, q1032
    pminud     xm1, xm2
    pshufd     xm2, xm1, q2301
    pminud     xm1, xm2
    vpbroadcastd m2, xm1
    vpcmpeqd    k1{k2}, m0, m2
    movd       eax, xm1
    kmovw    maskd, k1
    shl        rax, 4
    tzcnt    maskd, maskd
    or         rax, maskq
    RET
%endif
