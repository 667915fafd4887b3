/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/cpu/wavefront.h"

av_cold int ff_gpume_wavefront_init(GpumeWavefront *w, const GpumeParams *params, int nb_searches)
{
    const int nb_kept   = nb_searches + GPUME_NB_AGES - 1;
    const int nb_fields = params->nb_distances * nb_kept;
    size_t size;

    w->algo     = params->algo;
    w->bw       = params->bw;
    w->bh       = params->bh;
    w->linesize = params->bw + 2;
    w->nb_kept  = nb_kept;
    size        = (size_t)w->linesize * (params->bh + 2);

    w->vectors   = av_calloc(nb_fields, size * sizeof(*w->vectors));
    w->rows      = av_calloc(nb_fields, 2 * w->bh * sizeof(*w->rows));
    w->fields[0] = av_calloc(nb_fields, sizeof(**w->fields));
    if (!w->vectors || !w->rows || !w->fields[0])
        return AVERROR(ENOMEM);
    for (int i = 0; i < nb_fields; i++) {
        GpumeFoundField *f = &w->fields[0][i];

        f->vectors = w->vectors + i * size + w->linesize + 1;
        f->taken   = w->rows + (size_t)i * 2 * w->bh;
        f->found   = f->taken + w->bh;
        /* before the first search, all vectors are zero and count as found */
        for (int by = 0; by < w->bh; by++)
            atomic_init(&f->found[by], w->bw);
        w->fields[i / nb_kept] = w->fields[0] + i / nb_kept * nb_kept;
    }
    return 0;
}

void ff_gpume_wavefront_begin(GpumeWavefront *w, GpumeFront *front, int reference)
{
    const int newest = w->newest[reference] = (w->newest[reference] + 1) % w->nb_kept;

    front->w = w;
    for (int i = 0; i < GPUME_NB_AGES; i++)
        front->ages[i] = &w->fields[reference][(newest + w->nb_kept - i) % w->nb_kept];
    for (int by = 0; by < w->bh; by++) {
        atomic_store_explicit(&front->ages[0]->taken[by], 0, memory_order_relaxed);
        atomic_store_explicit(&front->ages[0]->found[by], 0, memory_order_relaxed);
    }
    atomic_store_explicit(&front->ages[0]->first, 0, memory_order_relaxed);
}

static int runs_of_row(const GpumeWavefront *w)
{
    return (w->bw - 1) / GPUME_RUN + 1;
}

int ff_gpume_wavefront_runs(const GpumeWavefront *w)
{
    return w->bh * runs_of_row(w);
}

static int has_found(const GpumeFoundField *f, int by, int nb)
{
    return atomic_load_explicit(&f->found[by], memory_order_acquire) >= nb;
}

/* Returns whether everything is known that blocks of a row before end need, except the blocks to the left. */
static int can_begin(const GpumeFront *front, int by, int end)
{
    const GpumeWavefront *w = front->w;
    const int needed = gpume_needs_above(end - 1, w->bw);

    /* the row above must be finished up to there, and so must the row below in the previous field */
    return (!by || has_found(front->ages[0], by - 1, needed)) &&
           (!gpume_has_memory(w->algo) || has_found(front->ages[1], FFMIN(by + 1, w->bh - 1), needed));
}

int ff_gpume_wavefront_take(GpumeFront *front)
{
    const GpumeWavefront *w = front->w;
    GpumeFoundField *f = front->ages[0];

    for (int by = atomic_load_explicit(&f->first, memory_order_relaxed); by < w->bh; by++) {
        int start     = atomic_load_explicit(&f->taken[by], memory_order_relaxed);
        const int end = FFMIN(start + GPUME_RUN, w->bw);

        if (start == w->bw || !has_found(f, by, start))
            continue;
        if (!can_begin(front, by, end)) {
            if (!start)
                return -1;
            continue;
        }
        if (atomic_compare_exchange_strong_explicit(&f->taken[by], &start, end, memory_order_relaxed,
                                                    memory_order_relaxed))
            return by * runs_of_row(w) + start / GPUME_RUN;
    }
    return -1;
}

void ff_gpume_wavefront_neighbours(const GpumeFront *front, GpumeNeighbours *n, int bx, int by)
{
    const GpumeWavefront *w = front->w;
    const int corner     = gpume_corner(w->algo, bx, w->bw);
    const ptrdiff_t row  = (ptrdiff_t)by * w->linesize;
    const GpumeVector *v = front->ages[0]->vectors + row + bx;

    n->left   = v[-1];
    n->top    = v[-w->linesize];
    n->corner = corner >= 0 ? v[corner - bx - w->linesize] : (GpumeVector) { 0 };
    n->alone  = gpume_alone(by, w->bw);
    if (gpume_has_memory(w->algo)) {
        const GpumeVector *last = front->ages[1]->vectors + row + bx;

        n->last        = last[0];
        n->last_left   = last[-1];
        n->last_top    = last[-w->linesize];
        n->last_right  = last[1];
        n->last_bottom = last[w->linesize];
        n->before_last = front->ages[2]->vectors[row + bx];
    }
}

void ff_gpume_wavefront_found(GpumeFront *front, int bx, int by, GpumeVector v)
{
    front->ages[0]->vectors[(ptrdiff_t)by * front->w->linesize + bx] = v;
}

void ff_gpume_wavefront_finish(GpumeFront *front, int by, int end)
{
    GpumeFoundField *f = front->ages[0];

    atomic_store_explicit(&f->found[by], end, memory_order_release);
    /* rows are finished in order */
    if (end == front->w->bw)
        atomic_store_explicit(&f->first, by + 1, memory_order_relaxed);
}

av_cold void ff_gpume_wavefront_uninit(GpumeWavefront *w)
{
    av_freep(&w->vectors);
    av_freep(&w->rows);
    av_freep(&w->fields[0]);
}
