/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"
#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/cpu.h"
#if ARCH_X86
#include "libavutil/x86/cpu.h"
#elif ARCH_AARCH64
#include "libavutil/aarch64/cpu.h"
#endif

#include "libavfilter/gpume/mvstab/dsp.h"

/* Row f is for a position f/64 sample after sample 3. doc/mvstab-definition.md has the formula of these rows. */
const int8_t ff_mvstab_taps[64][MVSTAB_NB_TAPS] = {
    { 0, 0, 0, 64, 0, 0, 0, 0 }, { 0, 0, -1, 64, 1, 0, 0, 0 }, { 0, 1, -2, 64, 2, -1, 0, 0 },
    { 0, 1, -3, 64, 3, -1, 0, 0 }, { 0, 1, -3, 63, 4, -1, 0, 0 }, { 0, 1, -4, 63, 5, -2, 1, 0 },
    { -1, 2, -5, 63, 6, -2, 1, 0 }, { -1, 2, -5, 63, 7, -3, 1, 0 }, { 0, 2, -6, 62, 8, -3, 1, 0 },
    { -1, 3, -7, 62, 9, -3, 1, 0 }, { -1, 3, -7, 61, 11, -4, 1, 0 }, { -1, 3, -8, 61, 12, -4, 1, 0 },
    { -1, 3, -8, 60, 13, -4, 1, 0 }, { -1, 3, -9, 60, 14, -5, 2, 0 }, { -1, 3, -9, 59, 15, -5, 2, 0 },
    { -1, 3, -9, 58, 17, -6, 2, 0 }, { -1, 4, -10, 57, 18, -6, 2, 0 }, { -1, 4, -10, 56, 19, -6, 2, 0 },
    { -1, 4, -10, 55, 21, -7, 2, 0 }, { -1, 4, -11, 55, 22, -7, 2, 0 }, { -1, 4, -11, 54, 23, -7, 2, 0 },
    { -1, 4, -11, 52, 25, -8, 3, 0 }, { -1, 4, -11, 51, 26, -8, 3, 0 }, { -1, 4, -11, 50, 27, -8, 3, 0 },
    { -1, 4, -11, 49, 29, -9, 3, 0 }, { -1, 4, -11, 48, 30, -9, 3, 0 }, { -1, 4, -11, 47, 32, -9, 3, -1 },
    { -1, 4, -11, 46, 33, -9, 3, -1 }, { -1, 4, -11, 45, 34, -10, 4, -1 }, { -1, 4, -11, 43, 36, -10, 4, -1 },
    { -1, 4, -11, 42, 37, -10, 4, -1 }, { -1, 4, -11, 41, 38, -10, 4, -1 }, { -1, 4, -11, 40, 40, -11, 4, -1 },
    { -1, 4, -10, 38, 41, -11, 4, -1 }, { -1, 4, -10, 37, 42, -11, 4, -1 }, { -1, 4, -10, 36, 43, -11, 4, -1 },
    { -1, 4, -10, 34, 45, -11, 4, -1 }, { -1, 3, -9, 33, 46, -11, 4, -1 }, { -1, 3, -9, 32, 47, -11, 4, -1 },
    { 0, 3, -9, 30, 48, -11, 4, -1 }, { 0, 3, -9, 29, 49, -11, 4, -1 }, { 0, 3, -8, 27, 50, -11, 4, -1 },
    { 0, 3, -8, 26, 51, -11, 4, -1 }, { 0, 3, -8, 25, 52, -11, 4, -1 }, { 0, 2, -7, 23, 54, -11, 4, -1 },
    { 0, 2, -7, 22, 55, -11, 4, -1 }, { 0, 2, -7, 21, 55, -10, 4, -1 }, { 0, 2, -6, 19, 56, -10, 4, -1 },
    { 0, 2, -6, 18, 57, -10, 4, -1 }, { 0, 2, -6, 17, 58, -9, 3, -1 }, { 0, 2, -5, 15, 59, -9, 3, -1 },
    { 0, 2, -5, 14, 60, -9, 3, -1 }, { 0, 1, -4, 13, 60, -8, 3, -1 }, { 0, 1, -4, 12, 61, -8, 3, -1 },
    { 0, 1, -4, 11, 61, -7, 3, -1 }, { 0, 1, -3, 9, 62, -7, 3, -1 }, { 0, 1, -3, 8, 62, -6, 2, 0 },
    { 0, 1, -3, 7, 63, -5, 2, -1 }, { 0, 1, -2, 6, 63, -5, 2, -1 }, { 0, 1, -2, 5, 63, -4, 1, 0 },
    { 0, 0, -1, 4, 63, -3, 1, 0 }, { 0, 0, -1, 3, 64, -3, 1, 0 }, { 0, 0, -1, 2, 64, -2, 1, 0 },
    { 0, 0, 0, 1, 64, -1, 0, 0 },
};

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
#if ARCH_X86_64 && HAVE_X86ASM
    if (EXTERNAL_AVX2_FAST(av_get_cpu_flags()))
        dsp->warp = depth > 8 ? ff_mvstab_warp_16_avx2 : ff_mvstab_warp_8_avx2;
#elif ARCH_AARCH64 && HAVE_NEON
    if (have_neon(av_get_cpu_flags()))
        dsp->warp = depth > 8 ? ff_mvstab_warp_16_neon : ff_mvstab_warp_8_neon;
#endif
}
