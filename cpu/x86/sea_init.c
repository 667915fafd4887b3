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

#define FUNCTIONS(opt)                                                          \
void ff_gpume_sea_columns_8_##opt(uint16_t *dst, uint32_t *sums,                \
                                  const uint8_t *add, const uint8_t *sub,       \
                                  ptrdiff_t n, int shift);                      \
void ff_gpume_sea_columns_16_##opt(uint16_t *dst, uint32_t *sums,               \
                                   const uint8_t *add, const uint8_t *sub,      \
                                   ptrdiff_t n, int shift);                     \
void ff_gpume_sea_add_##opt(uint16_t *dst, const uint16_t *a,                   \
                            const uint16_t *b, ptrdiff_t n);

FUNCTIONS(sse2)
FUNCTIONS(avx2)

#define BOUND(opt)                                                              \
int ff_gpume_sea_bound_##opt(const GpumeSeaBounds *b, const uint8_t *sums,      \
                             int nb_rows, uint64_t *kept);                      \
int ff_gpume_sea_bound_and_store_##opt(const GpumeSeaBounds *b, const uint8_t *sums, \
                                       int nb_rows, uint64_t *kept);

BOUND(sse2)
BOUND(ssse3)
BOUND(avx2)

#define JOIN(opt)                                                               \
int ff_gpume_sea_join_##opt(const GpumeSeaParts *p, int first, uint32_t *kept);

JOIN(sse2)
JOIN(avx2)

#define SET_BOUND(opt)                                          \
    s->bound           = ff_gpume_sea_bound_##opt;              \
    s->bound_and_store = ff_gpume_sea_bound_and_store_##opt;

#define SET(opt)                                                            \
    s->columns = depth > 8 ? ff_gpume_sea_columns_16_##opt : ff_gpume_sea_columns_8_##opt; \
    s->add     = ff_gpume_sea_add_##opt;

av_cold void ff_gpume_sea_init_x86(GpumeSea *s, int depth)
{
    const int cpu_flags = av_get_cpu_flags();

    /* sea.asm depends on this layout */
    static_assert(GPUME_SEA_LAYOUT_IS_KNOWN, "layout");

    if (EXTERNAL_SSE2(cpu_flags)) {
        SET(sse2)
        SET_BOUND(sse2)
        s->join = ff_gpume_sea_join_sse2;
    }
    if (EXTERNAL_SSSE3(cpu_flags)) {
        SET_BOUND(ssse3)
    }
    if (EXTERNAL_AVX2_FAST(cpu_flags)) {
        SET(avx2)
        SET_BOUND(avx2)
        s->join = ff_gpume_sea_join_avx2;
    }
}
