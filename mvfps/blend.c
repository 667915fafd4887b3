/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdint.h>

#include "libavfilter/gpume/mvfps/arithmetic.h"
#include "libavfilter/gpume/mvfps/blend.h"

void ff_mvfps_blend(const GpumeLayout *l, const GpumeComponent *c, AVFrame *out, const AVFrame *before,
                    const AVFrame *after, int part, int y0, int y1)
{
    for (int y = y0; y < y1; y++) {
        const uint8_t *a = gpume_layout_row(l, c, before, y), *b = gpume_layout_row(l, c, after, y);
        uint8_t *dst = gpume_layout_row(l, c, out, y);

        if (l->bytes == 1) {
            for (int x = 0; x < c->w; x++)
                dst[x * c->step] = mvfps_mean(a[x * c->step], b[x * c->step], part);
        } else {
            const uint16_t *a16 = (const uint16_t *)a, *b16 = (const uint16_t *)b;
            uint16_t *dst16 = (uint16_t *)dst;

            for (int x = 0; x < c->w; x++)
                dst16[x * c->step] = mvfps_mean(a16[x * c->step] >> l->shift,
                                                b16[x * c->step] >> l->shift, part) << l->shift;
        }
    }
}
