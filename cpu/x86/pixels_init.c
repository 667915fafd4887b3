/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>

#include "libavutil/attributes.h"
#include "libavutil/cpu.h"
#include "libavutil/x86/cpu.h"

#include "libavfilter/gpume/cpu/pixels.h"

static_assert(GPUME_PIXELS_SLACK >= 31, "pixels.asm reads and writes 32 samples at a time");

void ff_gpume_right_8_avx2(uint8_t *dst, const uint8_t *src, int n, int max);
void ff_gpume_below_8_avx2(uint8_t *dst, void *sums, const uint8_t *const rows[6], int n, int max);
void ff_gpume_centre_8_avx2(uint8_t *dst, const void *sums, int n, int max);
unsigned ff_gpume_candidates_at_avx2(GpumeChoice *choice, const GpumeVector *v, ptrdiff_t bw,
                                     uint32_t bounds[16], unsigned forgotten);

av_cold void ff_gpume_pixels_init_x86(GpumePixels *pixels, int depth)
{
    const int cpu_flags = av_get_cpu_flags();

    if (!EXTERNAL_AVX2_FAST(cpu_flags))
        return;
    pixels->candidates_at = ff_gpume_candidates_at_avx2;
    if (depth > 8)
        return;
    pixels->right  = ff_gpume_right_8_avx2;
    pixels->below  = ff_gpume_below_8_avx2;
    pixels->centre = ff_gpume_centre_8_avx2;
}
