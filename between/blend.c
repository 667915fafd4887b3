/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdint.h>

#include "libavfilter/gpume/between/between.h"
#include "libavfilter/gpume/between/blend.h"

static inline unsigned mean(unsigned a, unsigned b, unsigned part)
{
    return (a * (MVFPS_PARTS - part) + b * part + MVFPS_PARTS / 2) / MVFPS_PARTS;
}

void ff_mvfps_blend(const MvfpsLayout *l, int plane, AVFrame *out, const AVFrame *before,
                    const AVFrame *after, int part, int y0, int y1)
{
    const int n = l->planes[plane].w * l->planes[plane].step;

    for (int y = y0; y < y1; y++) {
        const uint8_t *a = before->data[plane] + y * (ptrdiff_t)before->linesize[plane];
        const uint8_t *b = after->data[plane]  + y * (ptrdiff_t)after->linesize[plane];
        uint8_t *dst     = out->data[plane]    + y * (ptrdiff_t)out->linesize[plane];

        if (l->bytes == 1) {
            for (int x = 0; x < n; x++)
                dst[x] = mean(a[x], b[x], part);
        } else {
            const uint16_t *a16 = (const uint16_t *)a, *b16 = (const uint16_t *)b;
            uint16_t *dst16 = (uint16_t *)dst;

            for (int x = 0; x < n; x++)
                dst16[x] = mean(a16[x] >> l->shift, b16[x] >> l->shift, part) << l->shift;
        }
    }
}
