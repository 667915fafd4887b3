/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvstereo/arithmetic.h"
#include "libavfilter/gpume/mvstereo/plane.h"

int ff_mvstereo_plane_alloc(MvstereoPlane *p, int w, int h, int bytes)
{
    const ptrdiff_t stride = FFALIGN(w + 4 * MVSTEREO_MARGIN, 32);

    ff_mvstereo_plane_free(p);
    p->memory = av_calloc(stride * bytes, h + 2 * MVSTEREO_MARGIN);
    if (!p->memory)
        return AVERROR(ENOMEM);
    p->first  = p->memory + (MVSTEREO_MARGIN * stride + MVSTEREO_MARGIN) * bytes;
    p->stride = stride;
    p->w      = w;
    p->h      = h;
    p->bytes  = bytes;
    return 0;
}

void ff_mvstereo_plane_free(MvstereoPlane *p)
{
    av_freep(&p->memory);
    memset(p, 0, sizeof(*p));
}

void ff_mvstereo_plane_extend(const MvstereoPlane *p, int start, int end)
{
    const ptrdiff_t stride = p->stride * p->bytes, width = (p->w + 2 * MVSTEREO_MARGIN) * (ptrdiff_t)p->bytes;

    for (int y = start; y < end; y++) {
        uint8_t *row = p->first + y * stride, *last = row + (p->w - 1) * p->bytes;

        for (int i = 1; i <= MVSTEREO_MARGIN; i++) {
            memcpy(row - i * p->bytes, row, p->bytes);
            memcpy(last + i * p->bytes, last, p->bytes);
        }
    }
    for (int i = 1; i <= MVSTEREO_MARGIN; i++) {
        uint8_t *first = p->first - MVSTEREO_MARGIN * p->bytes, *last = first + (p->h - 1) * stride;

        if (!start)
            memcpy(first - i * stride, first, width);
        if (end == p->h)
            memcpy(last + i * stride, last, width);
    }
}

void ff_mvstereo_halve(const MvstereoPlane *dst, const MvstereoPlane *src, int start, int end)
{
    for (int y = start; y < end; y++) {
        const uint8_t *above = mvstereo_row8(src, 2 * y), *below = mvstereo_row8(src, FFMIN(2 * y + 1, src->h - 1));
        uint8_t *row = mvstereo_row8(dst, y);

        /* a plane repeats its last column */
        for (int x = 0; x < dst->w; x++)
            row[x] = (above[2 * x] + above[2 * x + 1] + below[2 * x] + below[2 * x + 1] + 2) >> 2;
    }
    ff_mvstereo_plane_extend(dst, start, end);
}

void ff_mvstereo_smooth(const MvstereoPlane *to, const MvstereoPlane *p, int start, int end)
{
    for (int y = start; y < end; y++) {
        const uint8_t *a = mvstereo_row8(p, y - 1), *b = a + p->stride, *c = b + p->stride;
        uint8_t *dst = mvstereo_row8(to, y);

        for (int x = 0; x < p->w; x++)
            dst[x] = (a[x - 1] + a[x + 1] + c[x - 1] + c[x + 1] + 2 * (a[x] + b[x - 1] + b[x + 1] + c[x]) +
                      4 * b[x] + 8) >> 4;
    }
}

void ff_mvstereo_count(MvstereoCounts *counts, const MvstereoPlane *p, int start, int end)
{
    for (int y = start; y < end; y++) {
        const uint8_t *a = mvstereo_row8(p, y - 1), *b = a + p->stride, *c = b + p->stride;

        for (int x = 0; x < p->w; x++)
            counts->luma[b[x]]++;
        for (int x = 1; x < p->w - 1 && y > 0 && y < p->h - 1; x++) {
            const int noise = FFABS(a[x - 1] + a[x + 1] + c[x - 1] + c[x + 1] -
                                    2 * (a[x] + b[x - 1] + b[x + 1] + c[x]) + 4 * b[x]);

            counts->noise[FFMIN(noise, MVSTEREO_NOISES - 1)]++;
        }
    }
}

void ff_mvstereo_brightness(uint8_t table[256], const MvstereoCounts *left_counts, const MvstereoCounts *right_counts)
{
    const uint32_t *left = left_counts->luma, *right = right_counts->luma;
    int64_t difference = 0, nb = 0, left_below = 0, right_below = 0;
    int match = 0;

    for (int i = 0; i < 256; i++) {
        difference += i * ((int64_t)left[i] - right[i]);
        nb         += left[i];
    }
    for (int i = 0; i < 256; i++) {
        const int64_t middle = 2 * right_below + right[i];

        for (; match < 255 && 2 * (left_below + left[match]) <= middle; match++)
            left_below += left[match];
        table[i]     = FFABS(difference) < MVSTEREO_DARKER * nb ? i : match;
        right_below += right[i];
    }
}
