/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

#include <stdlib.h>

#include "libavutil/attributes.h"
#include "libavutil/intreadwrite.h"

#include "libavfilter/gpume/cpu/cost.h"

#define PIXEL_8(p, x)  (p)[x]
#define PIXEL_16(p, x) AV_RN16((p) + 2 * (x))

/* A row at a time: the sum is compared with limit where it is cheap to. */
#define SAD_BODY(bits, width)                                               \
    uint32_t sum = 0;                                                       \
                                                                            \
    for (int y = 0; y < h && sum < limit; y++) {                            \
        for (int x = 0; x < (width); x++)                                   \
            sum += abs(PIXEL_##bits(cur, x) - PIXEL_##bits(ref, x));        \
        cur += cur_linesize;                                                \
        ref += ref_linesize;                                                \
    }                                                                       \
    return sum;

#define SAD_ARGS const uint8_t *cur, ptrdiff_t cur_linesize,                \
                 const uint8_t *ref, ptrdiff_t ref_linesize,                \
                 int w, int h, uint32_t limit

#define SAD_WIDTH(bits, width)                                              \
static uint32_t sad_##bits##_##width(SAD_ARGS)                              \
{                                                                           \
    SAD_BODY(bits, width)                                                   \
}

#define SAD_DEPTH(bits)                                                     \
SAD_WIDTH(bits, 4)                                                          \
SAD_WIDTH(bits, 8)                                                          \
SAD_WIDTH(bits, 16)                                                         \
SAD_WIDTH(bits, 32)                                                         \
SAD_WIDTH(bits, 64)                                                         \
SAD_WIDTH(bits, 128)                                                        \
                                                                            \
static uint32_t sad_##bits##_any(SAD_ARGS)                                  \
{                                                                           \
    SAD_BODY(bits, w)                                                       \
}                                                                           \
                                                                            \
static const GpumeCostContext cost_##bits = {                               \
    .sad     = { sad_##bits##_4,  sad_##bits##_8,  sad_##bits##_16,         \
                 sad_##bits##_32, sad_##bits##_64, sad_##bits##_128 },      \
    .sad_any = sad_##bits##_any,                                            \
};

SAD_DEPTH(8)
SAD_DEPTH(16)

av_cold void ff_gpume_cost_init(GpumeCostContext *cost, int depth)
{
    *cost = depth > 8 ? cost_16 : cost_8;
}

GpumeSad ff_gpume_cost_get(const GpumeCostContext *cost, int w)
{
    for (int i = 0; i < GPUME_NB_WIDTHS; i++)
        if (w == 4 << i)
            return cost->sad[i];
    return cost->sad_any;
}
