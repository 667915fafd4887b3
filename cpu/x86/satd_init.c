/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/cpu.h"
#include "libavutil/x86/cpu.h"

#include "libavfilter/gpume/cpu/satd_tiles.h"

TILES(8, 4, sse2)
TILES(8, 8, sse2)
BOTH(8, 4, sse2, sse2, sse2)
BOTH(8, 8, sse2, sse2, sse2)
WIDE(8, sse2, sse2, sse2)

TILES(8, 4, avx)
TILES(8, 8, avx)
TILES(8, 8, avx2)
ONE(8, 4, avx2, avx, avx)
ONE(8, 8, avx2, avx, avx)
FOUR_IN_PAIRS(4, avx2)
FOUR_IN_PAIRS(8, avx2)
WIDE(8, avx2, avx, avx2)

TILES(16, 4, avx)
TILES(16, 8, avx2)
BOTH(16, 4, avx2, avx, avx2)
BOTH(16, 8, avx2, avx, avx2)
WIDE(16, avx2, avx, avx2)

av_cold void ff_gpume_satd_init_x86(GpumeCost *cost, int depth)
{
    const int cpu_flags = av_get_cpu_flags();

    if (EXTERNAL_SSE2(cpu_flags) && depth == 8) {
        GPUME_COST_ALL(SET, 8, sse2)
    }
    if (EXTERNAL_AVX2_FAST(cpu_flags)) {
        if (depth > 8) {
            GPUME_COST_ALL(SET, 16, avx2)
        } else {
            GPUME_COST_ALL(SET, 8, avx2)
        }
    }
}
