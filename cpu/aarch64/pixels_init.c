/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>

#include "libavutil/aarch64/cpu.h"
#include "libavutil/attributes.h"
#include "libavutil/cpu.h"

#include "libavfilter/gpume/cpu/pixels.h"

static_assert(GPUME_PIXELS_SLACK >= 26, "pixels_neon.S reads 16 samples further than it writes, of which 5 are needed");

void ff_gpume_right_8_neon(uint8_t *dst, const uint8_t *src, int n, int max);
void ff_gpume_below_8_neon(uint8_t *dst, void *sums, const uint8_t *const rows[6], int n, int max);
void ff_gpume_centre_8_neon(uint8_t *dst, const void *sums, int n, int max);
unsigned ff_gpume_candidates_neon(GpumeChoice *choice);

static unsigned candidates_at_neon(GpumeChoice *choice, const GpumeVector *v, ptrdiff_t bw, uint32_t bounds[16],
                                   unsigned forgotten)
{
    gpume_gather_choice(choice, v, bw, bounds, forgotten);
    return ff_gpume_candidates_neon(choice);
}

av_cold void ff_gpume_pixels_init_aarch64(GpumePixels *pixels, int depth)
{
    if (!have_neon(av_get_cpu_flags()))
        return;
    pixels->candidates = ff_gpume_candidates_neon;
    pixels->candidates_at = candidates_at_neon;
    if (depth > 8)
        return;
    pixels->right  = ff_gpume_right_8_neon;
    pixels->below  = ff_gpume_below_8_neon;
    pixels->centre = ff_gpume_centre_8_neon;
}
