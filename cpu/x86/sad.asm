;*****************************************************************************
;* Sums of absolute differences
;*****************************************************************************
; This file is part of gpume.
; SPDX-License-Identifier: LGPL-2.1-or-later
;*****************************************************************************

%include "libavutil/x86/x86util.asm"

SECTION_RODATA 32

ones:  times 16 dw 1
signs: times 16 dw 0x8000

SECTION .text

; LOAD_TWO dst, tmp, pointer, stride: loads two rows, each narrower than a register
%macro LOAD_TWO 4
%if BYTES == 4
    movd        xm%1, [%3]
    movd        xm%2, [%3+%4]
    punpckldq   xm%1, xm%2
%elif BYTES == 8
    movq        xm%1, [%3]
    movhps      xm%1, [%3+%4]
%else
    movu        xm%1, [%3]
    vinserti128  m%1, m%1, [%3+%4], 1
%endif
%endmacro

; LOAD_ONE dst, pointer: loads the last of an odd number of rows, and zeroes the rest of the register
%macro LOAD_ONE 2
%if BYTES == 4
    movd        xm%1, [%2]
%elif BYTES == 8
    movq        xm%1, [%2]
%else
    movu        xm%1, [%2]
%endif
%endmacro

; ACCUMULATE sum, cur, ref: adds the absolute differences of cur and ref to the sum. Clobbers ref and, with 16 bits, m2.
; Differences of 16 bits are made signed for pmaddwd by subtracting a bias; the biases are added to the sum at the end.
%macro ACCUMULATE 3
%if BITS == 8
    psadbw      m%3, m%2
%else
    psubusw      m2, m%2, m%3
    psubusw     m%3, m%2
    por         m%3, m2
    pxor        m%3, m9
    pmaddwd     m%3, m8
%endif
    paddd       m%1, m%3
%endmacro

; SAD_ROWS number of candidates, number of rows (1 or 2): adds the absolute differences of the rows to the sums in m4 to
; m7. Clobbers m0 to m3.
%macro SAD_ROWS 2
%assign OFFSET 0
%rep (BYTES + mmsize - 1) / mmsize
%if %2 == 2
    LOAD_TWO      0, 3, curq, curstrideq
%elif PAIRS
    LOAD_ONE      0, curq
%else
    movu         m0, [curq+OFFSET]
%endif
%assign CANDIDATE 0
%assign SUM 4
%rep %1
%if %2 == 2
    LOAD_TWO      1, 3, ref%[CANDIDATE]q, refstrideq
%elif PAIRS
    LOAD_ONE      1, ref%[CANDIDATE]q
%else
    movu         m1, [ref%[CANDIDATE]q+OFFSET]
%endif
    ACCUMULATE %[SUM], 0, 1
%assign CANDIDATE CANDIDATE + 1
%assign SUM SUM + 1
%endrep
%assign OFFSET OFFSET + mmsize
%endrep
%endmacro

; ADVANCE number of candidates, number of rows: advances the pointers to the block and to the candidates
%macro ADVANCE 2
    lea         curq, [curq+%2*curstrideq]
%assign CANDIDATE 0
%rep %1
    lea  ref%[CANDIDATE]q, [ref%[CANDIDATE]q+%2*refstrideq]
%assign CANDIDATE CANDIDATE + 1
%endrep
%endmacro

; SAD_BODY number of candidates: adds the absolute differences of all rows up in m4, m5, m6 and m7, one for each
; candidate
%macro SAD_BODY 1
%assign SUM 4
%rep %1
    pxor     m%[SUM], m%[SUM]
%assign SUM SUM + 1
%endrep
%if BITS == 16
    mova         m8, [ones]
    mova         m9, [signs]
%if PAIRS
    lea       biasd, [hd+1]
    shr       biasd, 1
    imul      biasd, mmsize / 2 * 0x8000
%else
    imul      biasd, hd, BYTES / 2 * 0x8000
%endif
%endif
%if PAIRS
    sub          hd, 2
    jl .last
.loop:
    SAD_ROWS     %1, 2
    ADVANCE      %1, 2
    sub          hd, 2
    jge .loop
.last:
    cmp          hd, -1
    jne .sum
    SAD_ROWS     %1, 1
.sum:
%else
.loop:
    SAD_ROWS     %1, 1
    ADVANCE      %1, 1
    dec          hd
    jg .loop
%endif
%endmacro

; SUM_OF_FOUR: adds up the dwords of each of m4 to m7, and leaves the four totals in xm4. Clobbers m0, m1 and m6.
%macro SUM_OF_FOUR 0
    punpckhdq    m0, m4, m5
    punpckldq    m4, m5
    punpckhdq    m1, m6, m7
    punpckldq    m6, m7
    paddd        m4, m0
    paddd        m6, m1
    punpckhqdq   m0, m4, m6
    punpcklqdq   m4, m6
    paddd        m4, m0
%if mmsize == 32
    vextracti128 xm0, m4, 1
    paddd       xm4, xm0
%endif
%endmacro

%macro SAD 2 ; bits, width
%assign BITS  %1
%assign BYTES %2 * %1 / 8
%assign PAIRS BYTES < mmsize

cglobal gpume_sad_%1_%2, 5, 6, 10, cur, curstride, ref0, refstride, h, bias
    SAD_BODY      1
%if mmsize == 32
    vextracti128 xm0, m4, 1
    paddd       xm4, xm0
%endif
    pshufd      xm0, xm4, q1032
    paddd       xm4, xm0
%if BITS == 16
    pshufd      xm0, xm4, q2301
    paddd       xm4, xm0
%endif
    movd        eax, xm4
%if BITS == 16
    add         eax, biasd
%endif
    RET

cglobal gpume_sad_x4_%1_%2, 6, 10, 10, cur, curstride, ref0, refstride, h, sad, ref1, ref2, ref3, bias
    mov       ref1q, [ref0q+gprsize]
    mov       ref2q, [ref0q+gprsize*2]
    mov       ref3q, [ref0q+gprsize*3]
    mov       ref0q, [ref0q]
    SAD_BODY      4
    SUM_OF_FOUR
%if BITS == 16
    movd        xm0, biasd
    pshufd      xm0, xm0, 0
    paddd       xm4, xm0
%endif
    movu     [sadq], xm4
    RET
%endmacro

; SUM_OF_TWO: adds up the sums of psadbw in each of m4 and m5, and leaves the two totals in xm4. Clobbers m0 and m5.
%macro SUM_OF_TWO 0
    psllq        m5, 32
    por          m4, m5
%if mmsize == 32
    vextracti128 xm0, m4, 1
    paddd       xm4, xm0
%endif
    pshufd      xm0, xm4, q1032
    paddd       xm4, xm0
%endmacro

; NEXT_ROWS: advances by one row or, with PAIRS, by two, and repeats .loop until no rows are left
%macro NEXT_ROWS 0
    add        rowq, strideq
%if PAIRS
    lea        curq, [curq+2*curstrideq]
    add      belowq, strideq
    sub          hd, 2
%else
    add        curq, curstrideq
    dec          hd
%endif
    jg .loop
%endmacro

; MEANS_LOOP number of candidates, each of which is the mean of two blocks: adds the absolute differences of all rows up
; in m4, m5, m6 and m7, one for each candidate. Clobbers m0 to m3.
%macro MEANS_LOOP 1
    xor        rowd, rowd
%if PAIRS
    mov      belowq, strideq
    add     strideq, strideq
%endif
%assign SUM 4
%rep %1
    pxor     m%[SUM], m%[SUM]
%assign SUM SUM + 1
%endrep
.loop:
%assign OFFSET 0
%rep (BYTES + mmsize - 1) / mmsize
%if PAIRS
    LOAD_TWO      0, 3, curq, curstrideq
%else
    movu         m0, [curq+OFFSET]
%endif
%assign I 0
%assign J 1
%assign SUM 4
%rep %1
%if BYTES == 4
    movd        xm1, [pair%[I]q+rowq]
    pinsrd      xm1, [pair%[I]q+belowq], 1
    movd        xm2, [pair%[J]q+rowq]
    pinsrd      xm2, [pair%[J]q+belowq], 1
%elif BYTES == 8
    movq        xm1, [pair%[I]q+rowq]
    movhps      xm1, [pair%[I]q+belowq]
    movq        xm2, [pair%[J]q+rowq]
    movhps      xm2, [pair%[J]q+belowq]
%elif PAIRS
    movu        xm1, [pair%[I]q+rowq]
    vinserti128  m1, m1, [pair%[I]q+belowq], 1
    movu        xm2, [pair%[J]q+rowq]
    vinserti128  m2, m2, [pair%[J]q+belowq], 1
%else
    movu         m1, [pair%[I]q+rowq+OFFSET]
    movu         m2, [pair%[J]q+rowq+OFFSET]
%endif
    pavgb        m1, m2
    psadbw       m1, m0
    paddd    m%[SUM], m1
%assign I I + 2
%assign J J + 2
%assign SUM SUM + 1
%endrep
%assign OFFSET OFFSET + mmsize
%endrep
    NEXT_ROWS
%endmacro

; SAD_MEANS width: defines the functions for samples of 8 bits; rows narrower than a register are loaded two at a time
%macro SAD_MEANS 1
%assign BYTES %1
%assign PAIRS BYTES < mmsize

; void sad_means(const uint8_t *cur, ptrdiff_t cur_linesize, const uint8_t *const pairs[8],
;                ptrdiff_t linesize, int h, uint32_t cost[4]), h is even
cglobal gpume_sad_means_8_%1, 6, 15, 8, cur, curstride, pair0, stride, h, sad, \
                                        pair1, pair2, pair3, pair4, pair5, pair6, pair7, row, below
%assign I 7
%rep 8
    mov   pair%[I]q, [pair0q+I*gprsize]
%assign I I - 1
%endrep
    MEANS_LOOP    4
    SUM_OF_FOUR
    movu     [sadq], xm4
    RET

; does the same for two candidates
cglobal gpume_sad_means_x2_8_%1, 6, 11, 6, cur, curstride, pair0, stride, h, sad, pair1, pair2, pair3, row, below
%assign I 3
%rep 4
    mov   pair%[I]q, [pair0q+I*gprsize]
%assign I I - 1
%endrep
    MEANS_LOOP    2
    SUM_OF_TWO
    movq     [sadq], xm4
    RET
%endmacro

; LOAD_ROWS dst, pointer: loads a row or, with PAIRS, two rows
%macro LOAD_ROWS 2
%if BYTES == 4
    movd       xm%1, [%2+rowq]
    pinsrd     xm%1, [%2+belowq], 1
%elif BYTES == 8
    movq       xm%1, [%2+rowq]
    movhps     xm%1, [%2+belowq]
%elif PAIRS
    movu       xm%1, [%2+rowq]
    vinserti128 m%1, m%1, [%2+belowq], 1
%else
    movu        m%1, [%2+rowq+OFFSET]
%endif
%endmacro

; AROUND_ONE sum, a, b: adds the absolute differences of m0 and the mean of a and b to the sum. Clobbers m6.
%macro AROUND_ONE 3
    pavgb        m6, m%2, m%3
    psadbw       m6, m0
    paddd       m%1, m6
%endmacro

; SUM_FOUR_QWORDS address, four registers with sums of psadbw: adds up the sums of each register, and stores the four
; totals. Clobbers the registers.
%macro SUM_FOUR_QWORDS 5
    psllq       m%3, 32
    psllq       m%5, 32
    por         m%2, m%3
    por         m%4, m%5
    punpckhqdq  m%3, m%2, m%4
    punpcklqdq  m%2, m%4
    paddd       m%2, m%3
%if mmsize == 32
    vextracti128 xm%3, m%2, 1
    paddd      xm%2, xm%3
%endif
    movu       [%1], xm%2
%endmacro

; SAD_AROUND width: defines the function for samples of 8 bits; rows narrower than a register are loaded two at a time
%macro SAD_AROUND 1
%assign BYTES %1
%assign PAIRS BYTES < mmsize

; void sad_around(const uint8_t *cur, ptrdiff_t cur_linesize, const uint8_t *const five[5],
;                 ptrdiff_t linesize, int h, uint32_t cost[8]), h is even
cglobal gpume_sad_around_8_%1, 6, 12, 16, cur, curstride, centre, stride, h, sad, left, right, above, under, row, below
    mov       leftq, [centreq+gprsize]
    mov      rightq, [centreq+gprsize*2]
    mov      aboveq, [centreq+gprsize*3]
    mov      underq, [centreq+gprsize*4]
    mov     centreq, [centreq]
    xor        rowd, rowd
%if PAIRS
    mov      belowq, strideq
    add     strideq, strideq
%endif
%assign SUM 8
%rep 8
    pxor     m%[SUM], m%[SUM]
%assign SUM SUM + 1
%endrep
.loop:
%assign OFFSET 0
%rep (BYTES + mmsize - 1) / mmsize
%if PAIRS
    LOAD_TWO      0, 6, curq, curstrideq
%else
    movu         m0, [curq+OFFSET]
%endif
    LOAD_ROWS     1, centreq
    LOAD_ROWS     2, leftq
    LOAD_ROWS     3, rightq
    LOAD_ROWS     4, aboveq
    LOAD_ROWS     5, underq
    AROUND_ONE    8, 2, 4
    AROUND_ONE    9, 1, 4
    AROUND_ONE   10, 3, 4
    AROUND_ONE   11, 1, 2
    AROUND_ONE   12, 1, 3
    AROUND_ONE   13, 2, 5
    AROUND_ONE   14, 1, 5
    AROUND_ONE   15, 3, 5
%assign OFFSET OFFSET + mmsize
%endrep
    NEXT_ROWS
    SUM_FOUR_QWORDS sadq,     8,  9, 10, 11
    SUM_FOUR_QWORDS sadq+16, 12, 13, 14, 15
    RET
%endmacro

; SAD_NARROW bits: defines the functions for rows of at most 8 bytes
%macro SAD_NARROW 1
    SAD %1,   4
%if %1 == 8
    SAD %1,   8
%endif
%endmacro

; SAD_WIDE bits: defines the functions for wider rows
%macro SAD_WIDE 1
%if %1 == 16
    SAD %1,   8
%endif
    SAD %1,  16
    SAD %1,  32
    SAD %1,  64
    SAD %1, 128
%endmacro

INIT_XMM sse2
SAD_NARROW  8
SAD_WIDE    8
SAD_NARROW 16
SAD_WIDE   16

%if HAVE_AVX2_EXTERNAL
INIT_XMM avx2
SAD_NARROW  8
SAD_NARROW 16
SAD_MEANS   4
SAD_AROUND   4
SAD_MEANS   8
SAD_AROUND   8
INIT_YMM avx2
SAD_WIDE    8
SAD_WIDE   16
SAD_MEANS  16
SAD_AROUND  16
SAD_MEANS  32
SAD_AROUND  32
SAD_MEANS  64
SAD_AROUND  64
SAD_MEANS 128
SAD_AROUND 128
%endif
