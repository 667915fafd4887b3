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

void ff_gpume_sea_columns_8_neon(uint16_t *dst, uint32_t *sums, const uint8_t *add, const uint8_t *sub,
                                 ptrdiff_t n, int shift);
void ff_gpume_sea_columns_16_neon(uint16_t *dst, uint32_t *sums, const uint8_t *add, const uint8_t *sub,
                                  ptrdiff_t n, int shift);
void ff_gpume_sea_add_neon(uint16_t *dst, const uint16_t *a, const uint16_t *b, ptrdiff_t n);
int ff_gpume_sea_bound_neon(const GpumeSeaBounds *b, const uint8_t *sums, int nb_rows, uint64_t *kept);
int ff_gpume_sea_bound_and_store_neon(const GpumeSeaBounds *b, const uint8_t *sums, int nb_rows, uint64_t *kept);
int ff_gpume_sea_join_neon(const GpumeSeaParts *p, int first, uint32_t *kept);

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
