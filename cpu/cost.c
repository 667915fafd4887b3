/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/macros.h"

#include "libavfilter/gpume/cpu/cost.h"

void ff_gpume_cost_of_parts(const GpumeCostArea *a, const uint8_t *const *ref, int nb,
                            uint32_t *cost, uint32_t limit)
{
    uint32_t least = 0;

    memset(cost, 0, nb * sizeof(*cost));
    for (int y = 0; y < a->h && least < limit; y += GPUME_COST_ROWS) {
        const int rows = FFMIN(a->h - y, GPUME_COST_ROWS);

        for (int x = 0, i; x < a->w; x += gpume_width_of(i)) {
            const ptrdiff_t offset = y * a->ref_linesize + x * a->sample_size;
            const uint8_t *cur = a->cur + y * a->cur_linesize + x * a->sample_size;

            i = gpume_width_index(a->w - x);
            if (nb == 4) {
                const uint8_t *const part[4] = { ref[0] + offset, ref[1] + offset,
                                                 ref[2] + offset, ref[3] + offset };
                uint32_t sum[4];

                a->functions->four[i](cur, a->cur_linesize, part, a->ref_linesize,
                                      rows, sum, limit);
                for (int j = 0; j < 4; j++)
                    cost[j] += sum[j];
            } else {
                *cost += a->functions->one[i](cur, a->cur_linesize, *ref + offset,
                                              a->ref_linesize, rows, limit);
            }
        }
        least = *cost;
        for (int j = 1; j < nb; j++)
            least = FFMIN(least, cost[j]);
    }
}
