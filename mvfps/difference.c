/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdlib.h>

#include "libavutil/common.h"

#include "libavfilter/gpume/mvfps/arithmetic.h"
#include "libavfilter/gpume/mvfps/difference.h"

/** Number of parts of the work. */
#define NB_PARTS 64

#define SIDE  GPUME_SCENE_SIDE
#define BLOCK MVFPS_REPEAT_BLOCK

typedef struct Difference {
    const GpumeLayout *l;
    const AVFrame *first, *frame;
    int across, nb;             ///< number of squares in a row, and in total
    unsigned bins[NB_PARTS][MVFPS_REPEAT_BINS];     ///< for each part, the number of squares by difference
} Difference;

static int sample(const GpumeLayout *l, const uint8_t *row, int x)
{
    x *= l->components[0].step;
    return l->bytes == 1 ? row[x] : ((const uint16_t *)row)[x] >> l->shift;
}

/* Returns the sum of the absolute differences between the sums of a square's blocks. */
static unsigned compare_square(const Difference *d, int x0, int y0, int w, int h)
{
    const GpumeLayout *l = d->l;
    unsigned total = 0;

    for (int y = 0; y < h; y += BLOCK) {
        int sums[SIDE / BLOCK] = { 0 };

        for (int i = y; i < FFMIN(y + BLOCK, h); i++) {
            const uint8_t *a = gpume_layout_row(l, l->components, d->first, y0 + i);
            const uint8_t *c = gpume_layout_row(l, l->components, d->frame, y0 + i);

            for (int x = 0; x < w; x++)
                sums[x / BLOCK] += sample(l, a, x0 + x) - sample(l, c, x0 + x);
        }
        for (int i = 0; i < SIDE / BLOCK; i++)
            total += abs(sums[i]);
    }
    return total;
}

static void compare_parts(void *opaque, int worker, int start, int end)
{
    Difference *d = opaque;
    const GpumeLayout *l = d->l;

    for (; start < end; start++) {
        const int64_t nb = d->nb, last = nb * (start + 1) / NB_PARTS;

        for (int64_t i = nb * start / NB_PARTS; i < last; i++) {
            const int x = i % d->across * SIDE, y = i / d->across * SIDE;
            const int w = FFMIN(SIDE, l->w - x), h = FFMIN(SIDE, l->h - y);
            const int bin = mvfps_repeat_bin(compare_square(d, x, y, w, h), w * h, l->depth);

            d->bins[start][bin]++;
            /* the exact difference does not matter */
            if (bin > MVFPS_REPEAT_MOST)
                break;
        }
    }
}

int ff_mvfps_pictures_repeat(const GpumeLayout *l, const AVFrame *first, const AVFrame *frame,
                             GpumeScheduler *scheduler)
{
    Difference d = { .l = l, .first = first, .frame = frame, .across = (l->w + SIDE - 1) / SIDE };
    GpumeTask task = { compare_parts, .arg = &d, .nb_units = NB_PARTS };
    GpumeTaskList list = { (GpumeTask *[]) { &task }, 1 };

    d.nb = d.across * ((l->h + SIDE - 1) / SIDE);
    ff_gpume_tasks_run(scheduler, (GpumeTaskList *[]) { &list }, 1);
    for (int i = 1; i < NB_PARTS; i++)
        for (int k = 0; k < MVFPS_REPEAT_BINS; k++)
            d.bins[0][k] += d.bins[i][k];
    return mvfps_is_repeat(d.bins[0], d.nb);
}
