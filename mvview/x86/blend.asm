;*****************************************************************************
;* Rows of samples blended with weights
;*****************************************************************************
; This file is part of gpume.
; SPDX-License-Identifier: LGPL-2.1-or-later
;*****************************************************************************

%include "libavutil/x86/x86util.asm"

SECTION .text

; void blend_8(uint8_t *dst, const uint8_t *src, const uint16_t *mul,
;              const uint16_t *add, ptrdiff_t n): n is a multiple of 8
INIT_XMM sse2
cglobal mvview_blend_8, 5, 5, 3, dst, src, mul, add, n
    pxor        m1, m1
    add       dstq, nq
    add       srcq, nq
    lea       mulq, [mulq + 2 * nq]
    lea       addq, [addq + 2 * nq]
    neg         nq
.loop:
    movq        m0, [srcq + nq]
    punpcklbw   m0, m1
    movu        m2, [mulq + 2 * nq]
    pmullw      m0, m2
    movu        m2, [addq + 2 * nq]
    paddw       m0, m2
    psrlw       m0, 8
    packuswb    m0, m0
    movq [dstq + nq], m0
    add         nq, 8
    jl .loop
    RET

INIT_YMM avx2
cglobal mvview_blend_8, 5, 5, 2, dst, src, mul, add, n
    test        nq, 8
    jz .even
    pmovzxbw   xm0, [srcq]
    pmullw     xm0, [mulq]
    paddw      xm0, [addq]
    psrlw      xm0, 8
    packuswb   xm0, xm0
    movq    [dstq], xm0
    add       dstq, 8
    add       srcq, 8
    add       mulq, 16
    add       addq, 16
    sub         nq, 8
    jz .end
.even:
    add       dstq, nq
    add       srcq, nq
    lea       mulq, [mulq + 2 * nq]
    lea       addq, [addq + 2 * nq]
    neg         nq
.loop:
    pmovzxbw    m0, [srcq + nq]
    pmullw      m0, [mulq + 2 * nq]
    paddw       m0, [addq + 2 * nq]
    psrlw       m0, 8
    vextracti128 xm1, m0, 1
    packuswb   xm0, xm1
    movu [dstq + nq], xm0
    add         nq, 16
    jl .loop
.end:
    RET

; void blend_16(uint8_t *dst, const uint8_t *src, const uint16_t *mul,
;               const uint32_t *add, ptrdiff_t n, int shift): n is a multiple of 8
INIT_YMM avx2
cglobal mvview_blend_16, 6, 6, 6, dst, src, mul, add, n, shift
    movd       xm4, shiftd
    pcmpeqw    xm5, xm5
    psllw      xm5, xm4            ; the bits of samples, without the bits below them
    pcmpeqd     m3, m3
    psrld       m3, 16
    lea       dstq, [dstq + 2 * nq]
    lea       srcq, [srcq + 2 * nq]
    lea       mulq, [mulq + 2 * nq]
    lea       addq, [addq + 4 * nq]
    neg         nq
.loop:
    movu       xm2, [srcq + 2 * nq]
    psrlw      xm0, xm2, xm4
    pandn      xm2, xm5, xm2
    pmovzxwd    m0, xm0
    pmovzxwd    m1, [mulq + 2 * nq]
    pmulld      m0, m1
    paddd       m0, [addq + 4 * nq]
    psrld       m0, 8
    pand        m0, m3             ; keeps the low 16 bits, without saturation
    vextracti128 xm1, m0, 1
    packusdw   xm0, xm1
    psllw      xm0, xm4
    por        xm0, xm2
    movu [dstq + 2 * nq], xm0
    add         nq, 8
    jl .loop
    RET

; void blend_rect_8(uint8_t *dst, ptrdiff_t linesize, const uint8_t *weights,
;                   ptrdiff_t n, int h): n is a multiple of 8
INIT_XMM avx
cglobal mvview_blend_rect_8, 5, 7, 1, dst, linesize, weights, n, h, x, add
    lea       addq, [weightsq + 2 * nq]
    cmp         nq, 8
    jne .row
.narrow:
    pmovzxbw    m0, [dstq]
    pmullw      m0, [weightsq]
    paddw       m0, [weightsq + 16]
    psrlw       m0, 8
    packuswb    m0, m0
    movq    [dstq], m0
    add       dstq, linesizeq
    add   weightsq, 32
    dec         hd
    jg .narrow
    RET
.row:
    xor         xd, xd
.words:
    pmovzxbw    m0, [dstq + xq]
    pmullw      m0, [weightsq + 2 * xq]
    paddw       m0, [addq + 2 * xq]
    psrlw       m0, 8
    packuswb    m0, m0
    movq [dstq + xq], m0
    add         xq, 8
    cmp         xq, nq
    jl .words
    lea   weightsq, [weightsq + 4 * nq]
    lea       addq, [addq + 4 * nq]
    add       dstq, linesizeq
    dec         hd
    jg .row
    RET
