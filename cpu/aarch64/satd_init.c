/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/aarch64/cpu.h"
#include "libavutil/attributes.h"
#include "libavutil/cpu.h"

#include "libavfilter/gpume/cpu/satd_tiles.h"

TILES(8, 4, neon)
TILES(8, 8, neon)
ONE(8, 4, neon, neon, neon)
FOUR_IN_PAIRS(4, neon)
BOTH(8, 8, neon, neon, neon)
WIDE(8, neon, neon, neon)

TILES(16, 4, neon)
TILES(16, 8, neon)
BOTH(16, 4, neon, neon, neon)
BOTH(16, 8, neon, neon, neon)
WIDE(16, neon, neon, neon)

av_cold void ff_gpume_satd_init_aarch64(GpumeCost *cost, int depth)
{
    if (!have_neon(av_get_cpu_flags()))
        return;
    if (depth > 8) {
        GPUME_COST_ALL(SET, 16, neon)
    } else {
        GPUME_COST_ALL(SET, 8, neon)
    }
}
