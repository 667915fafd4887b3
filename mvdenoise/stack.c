/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <limits.h>

#include "libavutil/common.h"
#include "libavutil/macros.h"
#include "libavutil/mem_internal.h"

#include "libavfilter/gpume/mvdenoise/stack.h"
#include "libavfilter/gpume/picture/interpolation.h"

/** Samples of a patch, or beside it, whose cells have vectors that are tried: its corners, then on three sides. */
static const int8_t places[MVDENOISE_PLACES][2] = {
    { 0, 0 }, { 7, 0 }, { 0, 7 }, { 7, 7 }, { -8, 3 }, { 15, 3 }, { 3, -8 },
};

/** Penalties of the second pass: pilots have little noise. */
static const unsigned long long no_penalties[16];

void ff_mvdenoise_sources(MvdenoiseSource *sources, const GpumePadded *copies, const GpumeLayout *l)
{
    for (int i = 0; i < l->nb_components; i++) {
        sources[i].stride = copies[0].components[i].stride;
        for (int j = 0; j < FF_ARRAY_ELEMS(sources[i].parts); j++)
            for (int k = 0; k < 2; k++) {
                const int sample = gpume_subpel_pair(j & 3, j >> 2) >> 4 * k;

                sources[i].parts[j].from[k] = copies[sample & 3].components[i].first +
                                              (sample >> 3 & 1) * sources[i].stride + (sample >> 2 & 1) * l->bytes;
            }
    }
}

static MvdenoisePatch patch_at(const MvdenoiseSource *source, int part, ptrdiff_t offset)
{
    const MvdenoisePatch *from = &source->parts[part];

    return (MvdenoisePatch) { { from->from[0] + offset, from->from[1] + offset } };
}

MvdenoiseSpot ff_mvdenoise_spot(const MvdenoiseWindow *w, int component, int y)
{
    const GpumeLayout *l    = w->layout;
    const GpumeComponent *c = &l->components[component];
    const GpumeCells *g     = &w->cells;
    MvdenoiseSpot s = {
        .y = y, .hsub = c->hsub, .vsub = c->vsub, .log2_cell = g->log2_side, .last_column = g->cols - 1,
        .least  = mvdenoise_inside(INT_MIN, 0),
        .most_x = mvdenoise_inside(INT_MAX, c->w),
        .most_y = mvdenoise_inside(INT_MAX, c->h),
        .stride = w->members[w->radius].noisy[component].stride, .log2_bytes = l->bytes >> 1,
    };

    for (int i = 0; i < MVDENOISE_PLACES; i++) {
        s.beside[i] = places[i][0];
        s.rows[i]   = av_clip((y + places[i][1]) * (1 << c->vsub) >> g->log2_side, 0, g->rows - 1) * g->cols;
    }
    return s;
}

void ff_mvdenoise_stack(MvdenoiseStack *s, const MvdenoiseWindow *w, int component, const MvdenoiseSpot *spot,
                        const MvdenoiseNoise *noise)
{
    const MvdenoiseMember *current = &w->members[w->radius];
    const ptrdiff_t at = spot->y * (ptrdiff_t)spot->stride + spot->x * (1 << spot->log2_bytes);
    const MvdenoisePatch noisy = patch_at(&current->noisy[component], 0, at);
    const int second = w->second;
    MvdenoisePatch pilot = noisy;
    LOCAL_ALIGNED_32(uint16_t, own, [MVDENOISE_SAMPLES]);
    MvdenoisePatch *next = s->patches;

    s->stride = spot->stride;
    s->base   = (w->samples->read(own, &noisy, spot->stride) + MVDENOISE_SAMPLES / 2) / MVDENOISE_SAMPLES;
    if (second) {
        pilot = patch_at(&current->pilot[component], 0, at);
        w->samples->read(own, &pilot, spot->stride);
    }
    s->nb = 0;
    for (int i = 0; i < 2 * w->radius + 1; i++) {
        const MvdenoiseMember *m = &w->members[i];
        MvdenoiseCandidates candidates;
        unsigned mask;
        int best;

        if (!m->noisy)
            continue;
        if (m == current) {
            s->own  = s->nb++;
            *next++ = noisy;
            if (second)
                *next++ = pilot;
            continue;
        }
        mask = w->samples->candidates(&candidates, m->cells, spot);
        best = w->samples->best(own, &(second ? m->pilot : m->noisy)[component], &candidates, mask,
                                second ? no_penalties : noise->penalty, noise->accept[second] + 1);
        if (best < 0)
            continue;
        *next++ = patch_at(&m->noisy[component], candidates.parts[best], candidates.offsets[best]);
        if (second)
            *next++ = patch_at(&m->pilot[component], candidates.parts[best], candidates.offsets[best]);
        s->nb++;
    }
}
