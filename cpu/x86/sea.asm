;*****************************************************************************
;* Successive elimination: sums over parts of blocks, and bounds
;*****************************************************************************
; This file is part of gpume.
; SPDX-License-Identifier: LGPL-2.1-or-later
;*****************************************************************************

%include "libavutil/x86/x86util.asm"

struc Bounds
    .linesize:       resq 1
    .prefetch:       resq 2
    .half_offset:    resq 4
    .quarter_offset: resq 16
    .half:           resd 4
    .quarter:        resd 16
    .half_limit:     resd 1
    .quarter_limit:  resd 1
    .nb_quarters:    resd 1
    .nb_candidates:  resd 1
    .nb_halves:      resd 2
    .map:            resq 1
    .map_linesize:   resq 1
endstruc

struc Parts
    .map:            resq 4
    .dst:            resq 1
    .least:          resd 4
    .limit:          resd 1
    .shift:          resd 1
    .nb_candidates:  resd 1
endstruc

SECTION .text

; LOAD_DWORDS dst, address, register of zeros, bits: loads a sample to every dword
%macro LOAD_DWORDS 4
%if cpuflag(avx2)
    pmovzxbd    %1, %2
%else
%if %4 == 8
    movd        %1, %2
    punpcklbw   %1, %3
%else
    movq        %1, %2
%endif
    punpcklwd   %1, %3
%endif
%endmacro

; void gpume_sea_columns(uint16_t *dst, uint32_t *sums, const uint8_t *add,
;                    const uint8_t *sub, ptrdiff_t n, int shift)
%macro COLUMNS 1 ; bits
cglobal gpume_sea_columns_%1, 6, 6, 7, dst, sums, add, sub, n, shift
    movd       xm5, shiftd
    pxor        m6, m6
    test        nq, nq
    jz .end
.loop:
%assign OFFSET 0
%rep 2
    LOAD_DWORDS m2, [addq+OFFSET * %1 / 32], m6, %1
    LOAD_DWORDS m3, [subq+OFFSET * %1 / 32], m6, %1
    movu        m4, [sumsq+OFFSET]
    paddd       m4, m2
    psubd       m4, m3
    movu [sumsq+OFFSET], m4
%if OFFSET
    psrld       m1, m4, xm5
%else
    psrld       m0, m4, xm5
%endif
%assign OFFSET OFFSET + mmsize
%endrep
    packssdw    m0, m1
%if mmsize == 32
    vpermq      m0, m0, q3120
%endif
    movu    [dstq], m0
    add       addq, mmsize / 2 * %1 / 8
    add       subq, mmsize / 2 * %1 / 8
    add      sumsq, mmsize * 2
    add       dstq, mmsize
    sub         nq, mmsize / 2
    jg .loop
.end:
    RET
%endmacro

INIT_XMM sse2
; void gpume_sea_add(uint16_t *dst, const uint16_t *a, const uint16_t *b, ptrdiff_t n)
cglobal gpume_sea_add, 4, 4, 2, dst, a, b, n
    add         nq, nq
    add       dstq, nq
    add         aq, nq
    add         bq, nq
    neg         nq
.loop:
%assign OFFSET 0
%rep 2
    movu        m0, [aq+nq+OFFSET]
    movu        m1, [bq+nq+OFFSET]
    paddw       m0, m1
    movu [dstq+nq+OFFSET], m0
%assign OFFSET OFFSET + mmsize
%endrep
    add         nq, 32
    jl .loop
    RET

; BROADCAST dst, address: broadcasts a dword
%macro BROADCAST 2
%if cpuflag(avx2)
    vpbroadcastd %1, %2
%else
    movd        %1, %2
    pshufd      %1, %1, 0
%endif
%endmacro

; DIFFERENCE sums, own: replaces sums by their absolute differences from own. Clobbers m1.
%macro DIFFERENCE 2
    psubw       %1, %2
%if cpuflag(ssse3)
    pabsw       %1, %1
%else
    pxor        m1, m1
    psubw       m1, %1
    pmaxsw      %1, m1
%endif
%endmacro

; KEPT bounds, limit: sets a bit in maskd for each candidate whose bound is not above the limit, and the flags by maskd;
; m11: 0; clobbers bounds and m1
%macro KEPT 2
    psubusw     m%1, m%2
    pcmpeqw     m%1, m11
%if mmsize == 32
    vextracti128 xm1, m%1, 1
    packsswb  xm%1, xm1
%else
    packsswb    m%1, m11
%endif
    pmovmskb maskd, xm%1
    test     maskd, maskd
%endmacro

; SET_MASK: defines MASK as the part of maskd that has a bit for each candidate of a register
%macro SET_MASK 0
%if mmsize == 32
    %define MASK maskw
%else
    %define MASK maskb
%endif
%endmacro

; int gpume_sea_bound(const GpumeSeaBounds *b, const uint8_t *sums, int nb_rows, uint64_t *kept)
; int gpume_sea_bound_and_store(the same)
; gpume_sea_bound_and_store() computes half_offset[3] as half_offset[1] + half_offset[2] to save a register.
%macro BOUND 1 ; whether it stores bounds
    SET_MASK
%if %1
cglobal gpume_sea_bound_and_store, 4, 15, 12, b, sums, rows, kept, right, below, map, p, end, out, mask, any, i, \
                                              offset, row
%else
cglobal gpume_sea_bound, 4, 15, 12, b, sums, rows, kept, right, below, both, p, end, out, mask, any, i, offset, row
%endif
    BROADCAST   m4, [bq+Bounds.half]
    BROADCAST   m5, [bq+Bounds.half+4]
    BROADCAST   m6, [bq+Bounds.half+8]
    BROADCAST   m7, [bq+Bounds.half+12]
    BROADCAST   m8, [bq+Bounds.half_limit]
    BROADCAST   m9, [bq+Bounds.quarter_limit]
    pxor       m11, m11
    mov     rightq, [bq+Bounds.half_offset+8]
    mov     belowq, [bq+Bounds.half_offset+16]
%if %1 == 0
    mov      bothq, [bq+Bounds.half_offset+24]
%endif
    movsxd    endq, dword [bq+Bounds.nb_candidates]
    lea       endq, [sumsq+2*endq]
    xor       rowd, rowd
.row:
    mov         pq, sumsq
    mov       outq, keptq
    xor       anyd, anyd
%if %1
    mov       mapd, rowd
    imul      mapq, [bq+Bounds.map_linesize]
    add       mapq, [bq+Bounds.map]
%endif
    mov    offsetq, [bq+Bounds.prefetch]
    prefetcht0 [pq+offsetq]
    mov    offsetq, [bq+Bounds.prefetch+8]
    prefetcht0 [pq+offsetq]
.candidates:
    movu        m0, [pq]
    DIFFERENCE  m0, m4
    movu        m2, [pq+rightq]
    DIFFERENCE  m2, m5
    paddusw     m0, m2
    movu        m2, [pq+belowq]
    DIFFERENCE  m2, m6
%if %1
    lea    offsetq, [pq+belowq]
    movu        m3, [offsetq+rightq]
%else
    movu        m3, [pq+bothq]
%endif
    DIFFERENCE  m3, m7
    paddusw     m2, m3
    paddusw     m0, m2
%if %1
    movu    [mapq], m0
%endif
    KEPT         0, 8
    mov     [outq], MASK
    jnz .quarters
.next:
    add       outq, mmsize / 16
    add         pq, mmsize
%if %1
    add       mapq, mmsize
%endif
    cmp         pq, endq
    jb .candidates
    test      anyd, anyd
    jnz .done
    add      sumsq, [bq+Bounds.linesize]
    add       endq, [bq+Bounds.linesize]
    inc       rowd
    cmp       rowd, rowsd
    jl .row
.done:
    mov        eax, rowd
    RET
.quarters:
    pxor        m0, m0
    mov         id, [bq+Bounds.nb_quarters]
    test        id, id
    jz .keep
.quarter:
    mov    offsetq, [bq+Bounds.quarter_offset+8*iq-8]
    BROADCAST   m3, [bq+Bounds.quarter+4*iq-4]
    movu        m2, [pq+offsetq]
    DIFFERENCE  m2, m3
    paddusw     m0, m2
    dec         id
    jg .quarter
.keep:
%if %1
    movu    [mapq], m0
%endif
    KEPT         0, 9
    and     [outq], MASK
    or        anyd, maskd
    jmp .next
%endmacro

; LOAD_MAX dst, address, other: loads unsigned words, and takes the greater one of each word and the word in other
%macro LOAD_MAX 3
%if cpuflag(avx)
    pmaxuw      %1, %3, [%2]
%else
    movu        %1, [%2]
    psubusw     %1, %3
    paddw       %1, %3
%endif
%endmacro

; JOIN_VECTOR dst, offset in a group in bytes, whether sums are shifted: computes and stores the bounds of as many
; candidates as fit a register. Clobbers m1 to m3.
%macro JOIN_VECTOR 3
    LOAD_MAX    %1, nwq+iq+%2, m4
    LOAD_MAX    m1, neq+iq+%2, m5
    LOAD_MAX    m2, swq+iq+%2, m6
    LOAD_MAX    m3, seq+iq+%2, m7
    paddusw     %1, m1
    paddusw     m2, m3
%if %3
    psrlw       %1, xm9
    psrlw       m2, xm9
%endif
    paddusw     %1, m2
    movu [dstq+iq+%2], %1
%endmacro

; WITHIN bounds: sets words to -1 where the bound is not above the limit in m8, to 0 elsewhere; m11: 0
%macro WITHIN 1
    psubusw     %1, m8
    pcmpeqw     %1, m11
%endmacro

; JOIN_GROUPS whether sums are shifted: joins groups up to the first that has candidates to be kept, and sets their bits
; in maskd
%macro JOIN_GROUPS 1
%%group:
    JOIN_VECTOR m0, 0, %1
    WITHIN      m0
    JOIN_VECTOR m10, mmsize, %1
    WITHIN      m10
    packsswb    m0, m10
%if mmsize == 32
    vpermq      m0, m0, q3120
    pmovmskb maskd, m0
    test     maskd, maskd
%else
    pmovmskb maskd, m0
    JOIN_VECTOR m0, 32, %1
    WITHIN      m0
    JOIN_VECTOR m10, 48, %1
    WITHIN      m10
    packsswb    m0, m10
    pmovmskb mored, m0
    shl       mored, 16
    or        maskd, mored
%endif
    jnz .done
    add          iq, 64
    jl %%group
    jmp .done
%endmacro

; int gpume_sea_join(const GpumeSeaParts *p, int first, uint32_t *kept)
%macro JOIN 0
cglobal gpume_sea_join, 3, 11, 12, p, i, kept, nw, ne, sw, se, dst, end, mask, more
    BROADCAST   m4, [pq+Parts.least]
    BROADCAST   m5, [pq+Parts.least+4]
    BROADCAST   m6, [pq+Parts.least+8]
    BROADCAST   m7, [pq+Parts.least+12]
    BROADCAST   m8, [pq+Parts.limit]
    movd       xm9, [pq+Parts.shift]
    pxor       m11, m11
    xor      maskd, maskd
    movsxd      iq, id
    movsxd    endq, dword [pq+Parts.nb_candidates]
    sub         iq, endq
    jge .done
    add         iq, iq
    lea       nwq, [2*endq]
    mov       neq, nwq
    mov       swq, nwq
    mov       seq, nwq
    mov      dstq, nwq
    add       nwq, [pq+Parts.map]
    add       neq, [pq+Parts.map+8]
    add       swq, [pq+Parts.map+16]
    add       seq, [pq+Parts.map+24]
    add      dstq, [pq+Parts.dst]
    cmp dword [pq+Parts.shift], 0
    jne .shifted
    JOIN_GROUPS 0
.shifted:
    JOIN_GROUPS 1
.done:
    mov   [keptq], maskd
    sar         iq, 1
    lea        eax, [iq+endq]
    RET
%endmacro

INIT_XMM sse2
COLUMNS 8
COLUMNS 16
BOUND 0
BOUND 1
JOIN

INIT_XMM ssse3
BOUND 0
BOUND 1

%if HAVE_AVX2_EXTERNAL
INIT_YMM avx2
COLUMNS 8
BOUND 0
BOUND 1
JOIN
%endif
