/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/cpu.h"
#include "libavutil/x86/cpu.h"

#include "libavfilter/gpume/cpu/cost.h"

#define SAD(i, bits, width, opt)                                            \
    GpumeCostOneFunction  ff_gpume_sad_##bits##_##width##_##opt;            \
    GpumeCostFourFunction ff_gpume_sad_x4_##bits##_##width##_##opt;

GPUME_COST_ALL(SAD, 8,  sse2)
GPUME_COST_ALL(SAD, 16, sse2)
GPUME_COST_ALL(SAD, 8,  avx2)
GPUME_COST_ALL(SAD, 16, avx2)

#define MEANS(i, bits, width, opt)                                          \
    GpumeCostMeansFunction  ff_gpume_sad_means_##bits##_##width##_##opt;    \
    GpumeCostMeansFunction  ff_gpume_sad_means_x2_##bits##_##width##_##opt; \
    GpumeCostAroundFunction ff_gpume_sad_around_##bits##_##width##_##opt;

GPUME_COST_ALL(MEANS, 8, avx2)

#define SET(i, bits, width, opt)                                            \
    cost->one[i]  = ff_gpume_sad_##bits##_##width##_##opt;                  \
    cost->four[i] = ff_gpume_sad_x4_##bits##_##width##_##opt;

#define SET_MEANS(i, bits, width, opt)                                      \
    cost->means[i]  = ff_gpume_sad_means_##bits##_##width##_##opt;          \
    cost->means_of_two[i] = ff_gpume_sad_means_x2_##bits##_##width##_##opt; \
    cost->around[i] = ff_gpume_sad_around_##bits##_##width##_##opt;

av_cold void ff_gpume_sad_init_x86(GpumeCost *cost, int depth)
{
    const int cpu_flags = av_get_cpu_flags();

    if (EXTERNAL_SSE2(cpu_flags)) {
        if (depth > 8) {
            GPUME_COST_ALL(SET, 16, sse2)
        } else {
            GPUME_COST_ALL(SET, 8, sse2)
        }
    }
    if (EXTERNAL_AVX2_FAST(cpu_flags)) {
        if (depth > 8) {
            GPUME_COST_ALL(SET, 16, avx2)
            /* computing the means first is faster than plain C */
            memset(cost->means, 0, sizeof(cost->means));
            memset(cost->means_of_two, 0, sizeof(cost->means_of_two));
            memset(cost->around, 0, sizeof(cost->around));
        } else {
            GPUME_COST_ALL(SET, 8, avx2)
            GPUME_COST_ALL(SET_MEANS, 8, avx2)
        }
    }
}
