;*****************************************************************************
;* The full search for global candidates
;*****************************************************************************
; This file is part of gpume.
; SPDX-License-Identifier: LGPL-2.1-or-later
;*****************************************************************************

%include "libavutil/x86/x86util.asm"

SECTION .text

; COSTS group: stores the costs of eight adjacent candidates, and updates the least costs in m4; m5: samples of the
; block; clobbers m0 to m3
%macro COSTS 1
    movu         m0, [refq + 8 * %1]
    movu         m1, [refq + linesizeq + 8 * %1]
    movu         m2, [refq + 2 * linesizeq + 8 * %1]
    movu         m3, [thirdq + 8 * %1]
    mpsadbw      m0, m5, 0
    mpsadbw      m1, m5, 1
    mpsadbw      m2, m5, 2
    mpsadbw      m3, m5, 3
    paddw        m0, m1
    paddw        m2, m3
    paddw        m0, m2
    movu         [costq + 16 * %1], m0
%if %1
    pminuw       m4, m0
%else
    mova         m4, m0
%endif
%endmacro

;-----------------------------------------------------------------------------
; unsigned gpume_global_row(uint16_t *cost, const uint8_t *cur, const uint8_t *ref, ptrdiff_t linesize)
;-----------------------------------------------------------------------------
INIT_XMM sse4
cglobal gpume_global_row, 4, 5, 6, cost, cur, ref, linesize, third
    movu         m5, [curq]
    lea      thirdq, [linesizeq + 2 * linesizeq]
    add      thirdq, refq
    COSTS         0
    COSTS         1
    COSTS         2
    COSTS         3
    phminposuw   m4, m4
    movd        eax, m4
    movzx       eax, ax
    RET
