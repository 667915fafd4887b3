/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"
#include "libavutil/attributes.h"
#include "libavutil/common.h"

#include "libavfilter/gpume/mvstab/dsp.h"

const int8_t ff_mvstab_taps[64][MVSTAB_NB_TAPS] = { MVSTAB_TAPS };

#define DEFINE_WARP(bits)                                                                                       \
static void warp_##bits(void *dst, const MvstabSource *src, ptrdiff_t stride,                                   \
                        const int8_t (*taps)[MVSTAB_NB_TAPS], int n, int max)                                   \
{                                                                                                               \
    uint##bits##_t *out = dst;                                                                                  \
                                                                                                                \
    for (int i = 0; i < n; i++) {                                                                               \
        const int8_t *x = taps[src[i].x], *y = taps[src[i].y];                                                  \
        int sum = 0;                                                                                            \
                                                                                                                \
        for (int j = 0; j < MVSTAB_NB_TAPS; j++) {                                                              \
            const uint##bits##_t *row = (const uint##bits##_t *)(src[i].first + j * stride);                    \
            int part = 0;                                                                                       \
                                                                                                                \
            for (int k = 0; k < MVSTAB_NB_TAPS; k++)                                                            \
                part += x[k] * row[k];                                                                          \
            sum += y[j] * part;                                                                                 \
        }                                                                                                       \
        out[i] = av_clip((sum + (1 << 11)) >> 12, 0, max);                                                      \
    }                                                                                                           \
}

DEFINE_WARP(8)
DEFINE_WARP(16)

av_cold void ff_mvstab_dsp_init(MvstabDSP *dsp, int depth)
{
    dsp->warp = depth > 8 ? warp_16 : warp_8;
#if ARCH_X86 && HAVE_X86ASM
    ff_mvstab_dsp_init_x86(dsp, depth);
#elif ARCH_AARCH64 && HAVE_NEON
    ff_mvstab_dsp_init_aarch64(dsp, depth);
#endif
}
