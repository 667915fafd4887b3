/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/aarch64/cpu.h"
#include "libavutil/attributes.h"
#include "libavutil/cpu.h"

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
                                              uint32_t limit);              \
void ff_gpume_sad_means_##bits##_##width##_##opt(const uint8_t *cur,        \
                                                 ptrdiff_t cur_linesize,    \
                                                 const uint8_t *const pairs[8], \
                                                 ptrdiff_t linesize, int h, \
                                                 uint32_t cost[4]);

#define SET(i, bits, width, opt)                                            \
    cost->one[i]  = ff_gpume_sad_##bits##_##width##_##opt;                  \
    cost->four[i] = ff_gpume_sad_x4_##bits##_##width##_##opt;

#define SET_MEANS(i, bits, width, opt)                                      \
    SET(i, bits, width, opt)                                                \
    cost->means[i] = ff_gpume_sad_means_##bits##_##width##_##opt;

#define NARROW(bits, opt, WHAT)                                             \
    WHAT(3, bits,   4, opt)                                                 \
    WHAT(4, bits,   8, opt)

#define WIDE(bits, opt, WHAT)                                               \
    WHAT(5, bits,  16, opt)                                                 \
    WHAT(6, bits,  32, opt)                                                 \
    WHAT(7, bits,  64, opt)                                                 \
    WHAT(8, bits, 128, opt)

#define DECLARE(i, bits, width, opt) SAD(bits, width, opt)

NARROW(8,  neon, DECLARE)
WIDE(8,    neon, DECLARE)
NARROW(16, neon, DECLARE)
WIDE(16,   neon, DECLARE)
WIDE(8, dotprod, DECLARE)

av_cold void ff_gpume_sad_init_aarch64(GpumeCost *cost, int depth)
{
    const int cpu_flags = av_get_cpu_flags();

    if (have_neon(cpu_flags)) {
        /* means() of four candidates is faster than these functions in plain C */
        memset(cost->around, 0, sizeof(cost->around));
        memset(cost->means_of_two, 0, sizeof(cost->means_of_two));
        if (depth > 8) {
            NARROW(16, neon, SET)
            WIDE(16, neon, SET)
            /* computing the means first is faster than plain C */
            memset(cost->means, 0, sizeof(cost->means));
        } else {
            NARROW(8, neon, SET_MEANS)
            WIDE(8, neon, SET_MEANS)
        }
    }
#if HAVE_DOTPROD
    /* narrow rows gain nothing */
    if (have_dotprod(cpu_flags) && depth == 8) {
        WIDE(8, dotprod, SET_MEANS)
    }
#endif
}
