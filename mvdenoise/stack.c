/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/common.h"
#include "libavutil/macros.h"
#include "libavutil/mem_internal.h"

#include "libavfilter/gpume/mvdenoise/stack.h"

/* A patch of a component. */
typedef struct Place {
    const MvdenoiseWindow *window;
    int component;
    int x, y;
} Place;

/* Reads the patch to which a vector leads, in quarter samples of the component. */
static void read_patch(uint16_t *dst, const Place *p, const GpumePadded *copies, int dx, int dy)
{
    const GpumeSamples *c = &copies[0].components[p->component];
    const int between     = gpume_subpel_pair(dx & 3, dy & 3), bytes = p->window->layout->bytes;
    const int x = mvdenoise_inside(p->x + (dx >> 2), c->w), y = mvdenoise_inside(p->y + (dy >> 2), c->h);
    const uint8_t *from[2];

    for (int i = 0; i < 2; i++) {
        const int sample = between >> 4 * i;

        from[i] = copies[sample & 3].components[p->component].first + (y + (sample >> 3 & 1)) * c->stride +
                  (x + (sample >> 2 & 1)) * bytes;
    }
    p->window->samples->read(dst, from[0], from[1], c->stride);
}

/** Samples of a patch, or beside it, whose cells have vectors that are tried: its corners, then on three sides. */
static const int8_t places[MVDENOISE_PLACES][2] = {
    { 0, 0 }, { 7, 0 }, { 0, 7 }, { 7, 7 }, { -8, 3 }, { 15, 3 }, { 3, -8 },
};

/* Lists the different vectors of the cells under and beside a patch, and the zero vector. Returns how many there are. */
static int list_vectors(GpumeCellVector *list, const Place *p, const GpumeCellVector *cells)
{
    const GpumeCells *g     = &p->window->cells;
    const GpumeComponent *c = &p->window->layout->components[p->component];
    int nb = 0, has_zero = 0;

    for (int i = 0; i < MVDENOISE_PLACES; i++) {
        const int x = av_clip((p->x + places[i][0]) * (1 << c->hsub) >> g->log2_side, 0, g->cols - 1);
        const int y = av_clip((p->y + places[i][1]) * (1 << c->vsub) >> g->log2_side, 0, g->rows - 1);
        GpumeCellVector v = cells[y * (size_t)g->cols + x];
        int is_new = v.x != GPUME_NO_VECTOR;

        v.x = mvdenoise_subsampled(v.x, c->hsub);
        v.y = mvdenoise_subsampled(v.y, c->vsub);
        for (int j = 0; j < nb; j++)
            is_new &= list[j].x != v.x || list[j].y != v.y;
        if (is_new) {
            list[nb++] = v;
            has_zero  |= !v.x && !v.y;
        }
    }
    if (!has_zero)
        list[nb++] = (GpumeCellVector) { 0, 0 };
    return nb;
}

/* Adds the best match in a picture, if noise explains how it differs. */
static void add_match(MvdenoiseStack *s, const Place *p, const MvdenoiseMember *m, const uint16_t *own,
                      const MvdenoiseNoise *noise)
{
    const int second = p->window->second;
    const GpumePadded *copies = second ? m->pilot : m->noisy;
    uint64_t least = noise->accept[second] + 1;
    LOCAL_ALIGNED_32(uint16_t, patches, [2], [MVDENOISE_SAMPLES]);
    GpumeCellVector vectors[MVDENOISE_CANDIDATES];
    int best = -1, from = 0;
    const int nb = list_vectors(vectors, p, m->cells);

    for (int i = 0; i < nb; i++) {
        uint64_t squares;

        read_patch(patches[!from], p, copies, vectors[i].x, vectors[i].y);
        squares = p->window->samples->squares(own, patches[!from]);
        if (!second)
            squares += noise->penalty[(vectors[i].y & 3) << 2 | (vectors[i].x & 3)];
        if (squares < least) {
            least = squares;
            best  = i;
            from  = !from;
        }
    }
    if (best < 0)
        return;
    if (second) {
        memcpy(s->pilot[s->nb], patches[from], sizeof(*s->pilot));
        read_patch(s->noisy[s->nb], p, m->noisy, vectors[best].x, vectors[best].y);
    } else {
        memcpy(s->noisy[s->nb], patches[from], sizeof(*s->noisy));
    }
    s->nb++;
}

void ff_mvdenoise_stack(MvdenoiseStack *s, const MvdenoiseWindow *w, int component, int x, int y,
                        const MvdenoiseNoise *noise)
{
    const MvdenoiseMember *current = &w->members[w->radius];
    const Place p = { w, component, x, y };
    LOCAL_ALIGNED_32(uint16_t, own, [MVDENOISE_SAMPLES]);

    read_patch(own, &p, w->second ? current->pilot : current->noisy, 0, 0);
    s->nb = 0;
    for (int i = 0; i < 2 * w->radius + 1; i++) {
        const MvdenoiseMember *m = &w->members[i];

        if (m == current) {
            s->own = s->nb;
            read_patch(s->noisy[s->nb], &p, m->noisy, 0, 0);
            if (w->second)
                memcpy(s->pilot[s->nb], own, sizeof(*s->pilot));
            s->nb++;
        } else if (m->noisy) {
            add_match(s, &p, m, own, noise);
        }
    }
}
