/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/aarch64/cpu.h"
#include "libavutil/attributes.h"
#include "libavutil/cpu.h"

#include "libavfilter/gpume/cpu/cost.h"

#define SAD(i, bits, width, opt)                                            \
    GpumeCostOneFunction   ff_gpume_sad_##bits##_##width##_##opt;           \
    GpumeCostFourFunction  ff_gpume_sad_x4_##bits##_##width##_##opt;        \
    GpumeCostMeansFunction ff_gpume_sad_means_##bits##_##width##_##opt;

GPUME_COST_ALL(SAD, 8,  neon)
GPUME_COST_ALL(SAD, 16, neon)
GPUME_COST_WIDE(SAD, 8, dotprod)

#define SET(i, bits, width, opt)                                            \
    cost->one[i]  = ff_gpume_sad_##bits##_##width##_##opt;                  \
    cost->four[i] = ff_gpume_sad_x4_##bits##_##width##_##opt;

#define SET_MEANS(i, bits, width, opt)                                      \
    SET(i, bits, width, opt)                                                \
    cost->means[i] = ff_gpume_sad_means_##bits##_##width##_##opt;

av_cold void ff_gpume_sad_init_aarch64(GpumeCost *cost, int depth)
{
    const int cpu_flags = av_get_cpu_flags();

    if (have_neon(cpu_flags)) {
        /* means() of four candidates is faster than these functions in plain C */
        memset(cost->around, 0, sizeof(cost->around));
        memset(cost->means_of_two, 0, sizeof(cost->means_of_two));
        if (depth > 8) {
            GPUME_COST_ALL(SET, 16, neon)
            /* computing the means first is faster than plain C */
            memset(cost->means, 0, sizeof(cost->means));
        } else {
            GPUME_COST_ALL(SET_MEANS, 8, neon)
        }
    }
#if HAVE_DOTPROD
    /* narrow rows gain nothing */
    if (have_dotprod(cpu_flags) && depth == 8) {
        GPUME_COST_WIDE(SET_MEANS, 8, dotprod)
    }
#endif
}
