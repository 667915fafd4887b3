;*****************************************************************************
;* Costs, paths, sums and weighted medians of mvstereo
;*****************************************************************************
; This file is part of gpume.
; SPDX-License-Identifier: LGPL-2.1-or-later
;*****************************************************************************

%include "libavutil/x86/x86util.asm"

SECTION_RODATA 32

; numbers of bits in which a nibble differs from each of the 16 nibbles: a row for each nibble
%macro DISTANCES 1 ; nibble
%assign %%i 0
%rep 16
%assign %%b %%i ^ %1
    db (%%b & 1) + (%%b >> 1 & 1) + (%%b >> 2 & 1) + (%%b >> 3)
%assign %%i %%i + 1
%endrep
%endmacro

distances:
%assign N 0
%rep 16
    DISTANCES N
%assign N N + 1
%endrep

ad_cap:     times 32 db 12
grad_cap:   times 32 db 20
low_7:      times 32 db 0x7f
p1:         times 32 db 24
order:      dw 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
sixteen:    times 16 dw 16
most:       times 16 dw 0x7fff
ones:       times 16 dw 1
weights:    db 64, 32, 16, 8, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0
fifteen:    times 16 db 15
low_6:      times 16 db 0x3f

SECTION .text

INIT_YMM avx2
; Loads the row of distances of a nibble of the left view, and advances lq to the next nibble. Clobbers c.
%macro NIBBLE 1 ; dst
    movzx           cd, byte [lq]
    add             lq, lpq
    shl             cd, 4
    vbroadcasti128  %1, [tableq + cq]
%endmacro

; Adds the distances of a nibble of 32 samples of the right view to m12. Clobbers m15.
%macro DISTANCE 2 ; row of distances, address of the nibbles
    vpshufb        m15, %1, [%2]
    paddb          m12, m15
%endmacro

; void mvstereo_costs(const MvstereoCosts *c)
cglobal mvstereo_costs, 1, 14, 16, 64, c, costs, left, right, lp, p, nb, l, table, p3, p5, r, r7, k
    mov         costsq, [cq]
    mov          leftq, [cq + 8]
    mov         rightq, [cq + 16]
    mov            lpq, [cq + 24]
    mov             pq, [cq + 32]
    mov            nbq, [cq + 40]
    mov             cq, [cq + 48]
    mov     [rsp + 32], cq
    lea         tableq, [distances]
    lea            p3q, [pq + 2 * pq]
    lea            p5q, [pq + 4 * pq]
.sample:
    mov             lq, leftq
    NIBBLE          m0
    NIBBLE          m1
    NIBBLE          m2
    NIBBLE          m3
    NIBBLE          m4
    NIBBLE          m5
    NIBBLE          m6
    NIBBLE          m7
    NIBBLE          m8
    NIBBLE          m9
    NIBBLE         m10
    NIBBLE         m11
    mova        [rsp], m11
    vpbroadcastb   m11, [lq]
    vpbroadcastb   m13, [lq + lpq]
    mov             rq, rightq
    lea            r7q, [rightq + 2 * p3q]
    add            r7q, pq
    mov             kq, [rsp + 32]
.lanes:
    mova           m15, [rsp]
    vpshufb        m12, m0, [rq]
    vpshufb        m15, m15, [r7q + 4 * pq]
    paddb          m12, m15
    DISTANCE        m1, rq + pq
    DISTANCE        m2, rq + 2 * pq
    DISTANCE        m3, rq + p3q
    DISTANCE        m4, rq + 4 * pq
    DISTANCE        m5, rq + p5q
    DISTANCE        m6, rq + 2 * p3q
    DISTANCE        m7, r7q
    DISTANCE        m8, r7q + pq
    DISTANCE        m9, r7q + 2 * pq
    DISTANCE       m10, r7q + p3q
    movu           m15, [r7q + p5q]
    psubusb        m14, m11, m15
    psubusb        m15, m11
    por            m14, m15
    pminub         m14, [ad_cap]
    psrlw          m14, 1
    pand           m14, [low_7]
    paddb          m12, m14
    movu           m15, [r7q + 2 * p3q]
    psubusb        m14, m13, m15
    psubusb        m15, m13
    por            m14, m15
    pminub         m14, [grad_cap]
    paddb          m12, m14
    movu      [costsq], m12
    add         costsq, 32
    add             rq, 32
    add            r7q, 32
    sub             kq, 32
    jg .lanes
    inc          leftq
    dec         rightq
    dec            nbq
    jg .sample
    RET

; the largest least cost whose sum with any penalty fits a byte, and so is not above the padding
%define MAX_LEAST 255 - 140

; void mvstereo_path(const MvstereoPath *p)
cglobal mvstereo_path, 1, 14, 8, p, path, before, costs, p2, least, leastb, pstep, cstep, step, nb, range, k, tmp
    mov          pathq, [pq]
    mov        beforeq, [pq + 8]
    mov         costsq, [pq + 16]
    mov            p2q, [pq + 24]
    mov         leastq, [pq + 32]
    mov        leastbq, [pq + 40]
    mov         pstepq, [pq + 48]
    mov         cstepq, [pq + 56]
    mov          stepq, [pq + 64]
    mov            nbq, [pq + 72]
    mov         rangeq, [pq + 80]
    add          pathq, rangeq
    add        beforeq, rangeq
    add         costsq, rangeq
    neg         rangeq
    mova            m2, [p1]
    pcmpeqb         m6, m6
.sample:
    vpbroadcastb    m0, [leastbq]
    vpbroadcastb    m1, [p2q]
    pcmpeqb         m3, m3
    mov             kq, rangeq
    cmp byte [leastbq], MAX_LEAST
    ja .far
    paddb           m1, m0
.lanes:
    movu            m4, [beforeq + kq - 1]
    pminub          m4, [beforeq + kq + 1]
    paddusb         m4, m2
    pminub          m5, m1, [beforeq + kq]
    pminub          m4, m5
    psubb           m4, m0
    paddb           m4, [costsq + kq]
    movu  [pathq + kq], m4
    pminub          m3, m4
    add             kq, 32
    jl .lanes
.least:
    vextracti128   xm4, m3, 1
    pminub         xm3, xm4
    psrlw          xm4, xm3, 8
    pminub         xm3, xm4
    phminposuw     xm3, xm3
    movd          tmpd, xm3
    mov       [leastq], tmpb
    add          pathq, pstepq
    add        beforeq, pstepq
    add         costsq, cstepq
    add            p2q, stepq
    add         leastq, stepq
    add        leastbq, stepq
    dec            nbq
    jg .sample
    RET
    ; the sum of the least cost and the penalty may not fit a byte: compares the penalty with differences from the
    ; least cost
.far:
    movu            m4, [beforeq + kq - 1]
    pminub          m4, [beforeq + kq + 1]
    paddusb         m4, m2
    pminub          m4, [beforeq + kq]
    pcmpeqb         m5, m4, m6
    psubb           m4, m0
    por             m4, m5
    pminub          m4, m1
    paddb           m4, [costsq + kq]
    movu  [pathq + kq], m4
    pminub          m3, m4
    add             kq, 32
    jl .far
    jmp .least

; Returns the least word of a register in eax.
%macro LEAST_WORD 2 ; numbers of the register and of a temporary one, both clobbered
    vextracti128  xm%2, m%1, 1
    pminuw        xm%1, xm%2
    phminposuw    xm%1, xm%1
    movd           eax, xm%1
    movzx          eax, ax
%endmacro

; int mvstereo_sum(const MvstereoSums *s)
cglobal mvstereo_sum, 1, 9, 8, s, from0, from1, from2, from3, sums, least, index, k
    mov             from0q, [sq]
    mov             from1q, [sq + 8]
    mov             from2q, [sq + 16]
    mov             from3q, [sq + 24]
    mov          sumsq, [sq + 32]
    mov         leastq, [sq + 40]
    mov         indexq, [sq + 48]
    mov             kq, [sq + 56]
    add             from0q, kq
    add             from1q, kq
    add             from2q, kq
    add             from3q, kq
    lea          sumsq, [sumsq + 2 * kq]
    lea         leastq, [leastq + 2 * kq]
    lea         indexq, [indexq + 2 * kq]
    neg             kq
    vpbroadcastw    m0, [sq + 64]
    paddw           m0, [order]
    mova            m1, [most]
    mova            m7, [sixteen]
.lanes:
    pmovzxbw        m2, [from0q + kq]
    pmovzxbw        m3, [from1q + kq]
    paddw           m2, m3
    pmovzxbw        m3, [from2q + kq]
    pmovzxbw        m4, [from3q + kq]
    paddw           m3, m4
    paddw           m2, m3
    movu [sumsq + 2 * kq], m2
    pminsw          m1, m2
    movu            m4, [leastq + 2 * kq]
    pcmpgtw         m5, m4, m2
    pminsw          m4, m2
    movu [leastq + 2 * kq], m4
    movu            m6, [indexq + 2 * kq]
    vpblendvb       m6, m6, m0, m5
    movu [indexq + 2 * kq], m6
    paddw           m0, m7
    add             kq, 16
    jl .lanes
    LEAST_WORD       1, 2
    RET

; Adds to m1 the weights of the disparities that are below m0 in a row of 9. Clobbers m2.
%macro ROW_BELOW 0
%assign %%i 0
%rep 9
    pcmpgtw         m2, m0, [rowq + 2 * %%i]
    pand            m2, [weightq + 32 * %%i]
    paddw           m1, m2
%assign %%i %%i + 1
%endrep
%endmacro

; Stores the weights of a row of 9 disparities, adds them to m4, and updates the least and the greatest disparities in
; m5 and m6. Clobbers m0 to m3.
%macro ROW_WEIGHTS 0
%assign %%i 0
%rep 9
    movu           xm0, [lumaq + %%i]
    psubusb        xm1, xm0, xm7
    psubusb        xm2, xm7, xm0
    por            xm1, xm2
    psrlw          xm1, 2
    pand           xm1, xm8
    pminub         xm1, xm9
    pshufb         xm1, xm10, xm1
    psrlw          xm2, xm1, 2
    pand           xm2, xm8
    movu           xm3, [validq + %%i]
    pblendvb       xm1, xm2, xm1, xm3
    pmovzxbw        m1, xm1
    mova [weightq + 32 * %%i], m1
    paddw           m4, m1
    movu            m2, [rowq + 2 * %%i]
    pminsw          m5, m2
    pmaxsw          m6, m2
%assign %%i %%i + 1
%endrep
%endmacro

; void mvstereo_weighted_median(const MvstereoMedian *m)
; The stack has the weights, 81 rows of 16 words.
cglobal mvstereo_weighted_median, 1, 13, 12, 2592, arg, dst, disp, lum, val, stride, nb, row, luma, valid, weight, \
                                                   count, bit
    mov           dstq, [argq]
    mov          dispq, [argq + 8]
    mov           lumq, [argq + 16]
    mov           valq, [argq + 24]
    mov        strideq, [argq + 32]
    mov            nbq, [argq + 40]
    mova           xm8, [low_6]
    mova           xm9, [fifteen]
    mova          xm10, [weights]
.samples:
    ; the first row and column of the windows
    imul          rowq, strideq, -4
    lea          lumaq, [lumq + rowq - 4]
    lea         validq, [valq + rowq - 4]
    lea           rowq, [dispq + 2 * rowq - 8]
    mov        weightq, rsp
    movu           xm7, [lumq]
    pxor            m4, m4
    mova            m5, [most]
    pxor            m6, m6
    mov             countd, 9
.weights:
    ROW_WEIGHTS
    add          lumaq, strideq
    add         validq, strideq
    lea           rowq, [rowq + 2 * strideq]
    add        weightq, 9 * 32
    dec             countd
    jg .weights
    ; half of the sum of all weights, rounded up, less one: the median is the greatest value such that the weights of
    ; all disparities below it add up to no more than this
    paddw           m4, [ones]
    psrlw           m4, 1
    psubw           m4, [ones]
    ; the least disparity, and the greatest difference from it
    vextracti128   xm0, m5, 1
    pminuw         xm5, xm0
    phminposuw     xm5, xm5
    vpbroadcastw    m5, xm5
    psubw           m6, m5
    vextracti128   xm0, m6, 1
    pmaxuw         xm6, xm0
    pcmpeqw        xm0, xm0
    pxor           xm6, xm0
    phminposuw     xm6, xm6
    pxor           xm6, xm0
    movd          bitd, xm6
    movzx         bitd, bitw
    ; m5 is the result so far: the weights of the disparities below it add up to at most m4
    test          bitd, bitd
    jz .store
    bsr             countd, bitd
    mov           bitd, 1
    shlx          bitd, bitd, countd
.bits:
    movd           xm3, bitd
    vpbroadcastw    m3, xm3
    paddw           m0, m5, m3
    pxor            m1, m1
    imul          rowq, strideq, -4
    lea           rowq, [dispq + 2 * rowq - 8]
    mov        weightq, rsp
    mov             countd, 9
.rows:
    ROW_BELOW
    lea           rowq, [rowq + 2 * strideq]
    add        weightq, 9 * 32
    dec             countd
    jg .rows
    ; keeps the bit where the weights of the disparities below m0 add up to at most m4
    pcmpgtw         m1, m4
    pandn           m1, m1, m3
    paddw           m5, m1
    shr           bitd, 1
    jnz .bits
.store:
    movu        [dstq], m5
    add           dstq, 32
    add          dispq, 32
    add           lumq, 16
    add           valq, 16
    sub            nbq, 16
    jg .samples
    RET
