/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>
#include <stddef.h>

#include "libavutil/attributes.h"
#include "libavutil/cpu.h"
#include "libavutil/x86/cpu.h"

#include "libavfilter/gpume/cpu/sea.h"

GpumeSeaColumns ff_gpume_sea_columns_8_sse2, ff_gpume_sea_columns_16_sse2, ff_gpume_sea_columns_8_avx2;
GpumeSeaAdd ff_gpume_sea_add_sse2;
GpumeSeaBound ff_gpume_sea_bound_sse2, ff_gpume_sea_bound_ssse3, ff_gpume_sea_bound_avx2;
GpumeSeaBound ff_gpume_sea_bound_and_store_sse2, ff_gpume_sea_bound_and_store_ssse3, ff_gpume_sea_bound_and_store_avx2;
GpumeSeaJoin ff_gpume_sea_join_sse2, ff_gpume_sea_join_avx2;

#define SET_BOUND(opt)                                          \
    s->bound           = ff_gpume_sea_bound_##opt;              \
    s->bound_and_store = ff_gpume_sea_bound_and_store_##opt;

av_cold void ff_gpume_sea_init_x86(GpumeSea *s, int depth)
{
    const int cpu_flags = av_get_cpu_flags();

    /* sea.asm depends on this layout */
    static_assert(GPUME_SEA_LAYOUT_IS_KNOWN, "layout");

    if (EXTERNAL_SSE2(cpu_flags)) {
        s->columns = depth > 8 ? ff_gpume_sea_columns_16_sse2 : ff_gpume_sea_columns_8_sse2;
        s->add     = ff_gpume_sea_add_sse2;
        SET_BOUND(sse2)
        s->join = ff_gpume_sea_join_sse2;
    }
    if (EXTERNAL_SSSE3(cpu_flags)) {
        SET_BOUND(ssse3)
    }
    if (EXTERNAL_AVX2_FAST(cpu_flags)) {
        if (depth == 8)
            s->columns = ff_gpume_sea_columns_8_avx2;
        SET_BOUND(avx2)
        s->join = ff_gpume_sea_join_avx2;
    }
}
