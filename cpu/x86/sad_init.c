/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/cpu.h"
#include "libavutil/x86/cpu.h"

#include "libavfilter/gpume/cpu/cost.h"

#define SAD(bits, width, opt)                                               \
uint32_t ff_gpume_sad_##bits##_##width##_##opt(const uint8_t *cur,          \
                                               ptrdiff_t cur_linesize,      \
                                               const uint8_t *ref,          \
                                               ptrdiff_t ref_linesize,      \
                                               int h, uint32_t limit);      \
void ff_gpume_sad_x4_##bits##_##width##_##opt(const uint8_t *cur,           \
                                              ptrdiff_t cur_linesize,       \
                                              const uint8_t *const ref[4],  \
                                              ptrdiff_t ref_linesize,       \
                                              int h, uint32_t sad[4],       \
                                              uint32_t limit);

#define SAD_ALL(bits, opt)                                                  \
SAD(bits,   4, opt)                                                         \
SAD(bits,   8, opt)                                                         \
SAD(bits,  16, opt)                                                         \
SAD(bits,  32, opt)                                                         \
SAD(bits,  64, opt)                                                         \
SAD(bits, 128, opt)

SAD_ALL(8,  sse2)
SAD_ALL(16, sse2)
SAD_ALL(8,  avx2)
SAD_ALL(16, avx2)

#define MEANS(width)                                                        \
void ff_gpume_sad_means_8_##width##_avx2(const uint8_t *cur,                \
                                         ptrdiff_t cur_linesize,            \
                                         const uint8_t *const pairs[8],     \
                                         ptrdiff_t linesize, int h,         \
                                         uint32_t cost[4]);                 \
void ff_gpume_sad_means_x2_8_##width##_avx2(const uint8_t *cur,             \
                                            ptrdiff_t cur_linesize,         \
                                            const uint8_t *const pairs[4],  \
                                            ptrdiff_t linesize, int h,      \
                                            uint32_t cost[2]);              \
void ff_gpume_sad_around_8_##width##_avx2(const uint8_t *cur,               \
                                          ptrdiff_t cur_linesize,           \
                                          const uint8_t *const five[5],     \
                                          ptrdiff_t linesize, int h,        \
                                          uint32_t cost[8]);
MEANS(  4)
MEANS(  8)
MEANS( 16)
MEANS( 32)
MEANS( 64)
MEANS(128)

#define SET(i, bits, width, opt)                                            \
    cost->one[i]  = ff_gpume_sad_##bits##_##width##_##opt;                  \
    cost->four[i] = ff_gpume_sad_x4_##bits##_##width##_##opt;

#define SET_ALL(bits, opt)                                                  \
    SET(3, bits,   4, opt)                                                  \
    SET(4, bits,   8, opt)                                                  \
    SET(5, bits,  16, opt)                                                  \
    SET(6, bits,  32, opt)                                                  \
    SET(7, bits,  64, opt)                                                  \
    SET(8, bits, 128, opt)

#define SET_MEANS(i, width)                                                 \
    cost->means[i]  = ff_gpume_sad_means_8_##width##_avx2;                  \
    cost->means_of_two[i] = ff_gpume_sad_means_x2_8_##width##_avx2;         \
    cost->around[i] = ff_gpume_sad_around_8_##width##_avx2;

av_cold void ff_gpume_sad_init_x86(GpumeCost *cost, int depth)
{
    const int cpu_flags = av_get_cpu_flags();

    if (EXTERNAL_SSE2(cpu_flags)) {
        if (depth > 8) {
            SET_ALL(16, sse2)
        } else {
            SET_ALL(8, sse2)
        }
    }
    if (EXTERNAL_AVX2_FAST(cpu_flags)) {
        if (depth > 8) {
            SET_ALL(16, avx2)
            /* computing the means first is faster than plain C */
            memset(cost->means, 0, sizeof(cost->means));
            memset(cost->means_of_two, 0, sizeof(cost->means_of_two));
            memset(cost->around, 0, sizeof(cost->around));
        } else {
            SET_ALL(8, avx2)
            SET_MEANS(3,   4)
            SET_MEANS(4,   8)
            SET_MEANS(5,  16)
            SET_MEANS(6,  32)
            SET_MEANS(7,  64)
            SET_MEANS(8, 128)
        }
    }
}
