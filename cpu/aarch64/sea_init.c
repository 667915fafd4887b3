/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>
#include <stddef.h>

#include "libavutil/aarch64/cpu.h"
#include "libavutil/attributes.h"
#include "libavutil/cpu.h"

#include "libavfilter/gpume/cpu/sea.h"

GpumeSeaColumns ff_gpume_sea_columns_8_neon, ff_gpume_sea_columns_16_neon;
GpumeSeaAdd ff_gpume_sea_add_neon;
GpumeSeaBound ff_gpume_sea_bound_neon, ff_gpume_sea_bound_and_store_neon;
GpumeSeaJoin ff_gpume_sea_join_neon;

static_assert(GPUME_SEA_LAYOUT_IS_KNOWN, "sea_neon.S knows the layout");

av_cold void ff_gpume_sea_init_aarch64(GpumeSea *s, int depth)
{
    if (!have_neon(av_get_cpu_flags()))
        return;
    s->columns = depth > 8 ? ff_gpume_sea_columns_16_neon : ff_gpume_sea_columns_8_neon;
    s->add     = ff_gpume_sea_add_neon;
    s->bound   = ff_gpume_sea_bound_neon;
    s->bound_and_store = ff_gpume_sea_bound_and_store_neon;
    s->join    = ff_gpume_sea_join_neon;
}
