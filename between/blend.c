/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdint.h>

#include "libavfilter/gpume/between/arithmetic.h"
#include "libavfilter/gpume/between/blend.h"

void ff_mvfps_blend(const MvfpsLayout *l, const MvfpsComponent *c, AVFrame *out, const AVFrame *before,
                    const AVFrame *after, int part, int y0, int y1)
{
    for (int y = y0; y < y1; y++) {
        const uint8_t *a = mvfps_row(l, c, before, y), *b = mvfps_row(l, c, after, y);
        uint8_t *dst = mvfps_row(l, c, out, y);

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
