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

/** Positions in a patch or next to it whose cells have vectors that are tried: its corners, then on three sides. */
static const int8_t places[MVDENOISE_PLACES][2] = {
    { 0, 0 }, { 7, 0 }, { 0, 7 }, { 7, 7 }, { -8, 3 }, { 15, 3 }, { 3, -8 },
};

/** The same for the second pass: positions of patches whose matches are tried. */
static const int8_t near[MVDENOISE_NEAR][2] = {
    { 0, 0 }, { -12, -8 }, { 12, 8 }, { -8, 12 }, { 8, -12 },
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

MvdenoiseSpot ff_mvdenoise_spot(const MvdenoiseWindow *w, int component, int y)
{
    const GpumeLayout *l    = w->layout;
    const GpumeComponent *c = &l->components[component];
    const GpumeCells *g     = &w->cells;
    const int cols = w->second ? mvdenoise_cols(c->w) : g->cols;
    const int rows = w->second ? mvdenoise_rows(c->h, w->log2_step) : g->rows;
    const int log2_row = w->second ? w->log2_step : g->log2_side;
    const int first = w->second ? w->first[component] : 0;
    MvdenoiseSpot s = {
        .y = y, .log2_cell = w->second ? MVDENOISE_LOG2_STEP : g->log2_side, .last_column = cols - 1,
        .hsub   = w->second ? 0 : c->hsub, .vsub = w->second ? 0 : c->vsub,
        .least  = mvdenoise_inside(INT_MIN, 0),
        .most_x = mvdenoise_inside(INT_MAX, c->w),
        .most_y = mvdenoise_inside(INT_MAX, c->h),
        .stride = w->members[w->radius].noisy[component].stride, .log2_bytes = l->bytes >> 1,
    };

    for (int i = 0; i < MVDENOISE_PLACES; i++) {
        const int8_t *place = w->second ? near[i % MVDENOISE_NEAR] : places[i];
        const int row       = av_clip((y + place[1]) * (1 << s.vsub) >> log2_row, 0, rows - 1);

        s.beside[i] = place[0] + (w->second ? mvdenoise_left(row) : 0);
        s.rows[i]   = first + row * cols;
    }
    return s;
}

/* Returns the patch at the position itself. */
static MvdenoisePatch patch_at(const MvdenoiseSource *source, const MvdenoiseSpot *spot)
{
    const uint8_t *from = source->parts[0].from[0] + spot->y * source->stride + spot->x * (1 << spot->log2_bytes);

    return (MvdenoisePatch) { { from, from } };
}

/* Returns the vector of a candidate, in quarters of the component's samples. */
static GpumeCellVector vector_of(const GpumeCellVector *field, const MvdenoiseSpot *spot, int i)
{
    const GpumeCellVector v = mvdenoise_cell(field, spot, i);

    return (GpumeCellVector) { mvdenoise_subsampled(v.x, spot->hsub), mvdenoise_subsampled(v.y, spot->vsub) };
}

void ff_mvdenoise_stack(MvdenoiseStack *s, const MvdenoiseWindow *w, int component, const MvdenoiseSpot *spot,
                        const MvdenoiseNoise *noise)
{
    const MvdenoiseMember *current = &w->members[w->radius];
    const MvdenoisePatch noisy     = patch_at(&current->noisy[component], spot);
    const int second = w->second;
    LOCAL_ALIGNED_32(uint16_t, own, [MVDENOISE_SAMPLES]);
    MvdenoisePatch *next = s->patches;
    MvdenoiseSearch search;
    int nb = 0, mean;

    s->stride   = spot->stride;
    s->textured = w->textured >> component & 1;
    s->base   = mean = (w->samples->read(own, &noisy, spot->stride) + MVDENOISE_SAMPLES / 2) / MVDENOISE_SAMPLES;
    if (second) {
        const MvdenoisePatch pilot = patch_at(&current->pilot[component], spot);

        mean = (w->samples->read(own, &pilot, spot->stride) + MVDENOISE_SAMPLES / 2) / MVDENOISE_SAMPLES;
    }
    noise += mvdenoise_tone(mean, w->layout->depth);
    search.penalties = second ? no_penalties : noise->penalty;
    search.mask      = 0;
    for (int i = 0; i < 2 * w->radius + 1; i++) {
        const MvdenoiseMember *m = &w->members[i];

        if (!m->noisy || m == current)
            continue;
        search.mask |= (uint64_t)w->samples->candidates(&search.candidates[nb], m->vectors, spot) << 8 * nb;
        search.sources[nb] = &(second ? m->pilot : m->noisy)[component];
        search.limits[nb]  = noise->accept[second] + 1;
        search.best[nb++]  = -1;
    }
    if (nb)
        w->samples->best(&search, own);
    s->nb = nb = 0;
    for (int i = 0; i < 2 * w->radius + 1; i++) {
        const MvdenoiseMember *m = &w->members[i];
        int best;

        if (!m->noisy)
            continue;
        if (m == current) {
            s->own  = s->nb++;
            *next++ = noisy;
            if (second)
                *next++ = patch_at(&m->pilot[component], spot);
            continue;
        }
        best = search.best[nb] - 8 * nb;
        if (m->matches)
            m->matches[spot->patch] = search.best[nb] < 0 ? (GpumeCellVector) { GPUME_NO_VECTOR, 0 }
                                                          : vector_of(m->vectors, spot, best);
        if (search.best[nb] >= 0) {
            *next++ = mvdenoise_match(&m->noisy[component], &search.candidates[nb], best);
            if (second)
                *next++ = mvdenoise_match(&m->pilot[component], &search.candidates[nb], best);
            s->nb++;
        }
        nb++;
    }
}
