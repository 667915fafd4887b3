/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/cpu/predict.h"

/**
 * Blocks that a thread that has to sleep sleeps for, beyond the one that it
 * needs: waking up takes as long as searching some.
 */
#define EXTRA_BLOCKS 8

av_cold int ff_gpume_predict_init(GpumePredict *s, const GpumeParams *params)
{
    const int nb_rows = GPUME_NB_DIRECTIONS * params->bh;
    size_t size;
    int ret;

    s->algo     = params->algo;
    s->bw       = params->bw;
    s->bh       = params->bh;
    s->linesize = params->bw + 2;
    size        = (size_t)s->linesize * (params->bh + 2);

    s->buffer   = av_calloc(GPUME_NB_DIRECTIONS * GPUME_NB_FIELDS * size, sizeof(*s->buffer));
    s->progress = av_calloc(nb_rows, sizeof(*s->progress));
    if (!s->buffer || !s->progress)
        return AVERROR(ENOMEM);
    for (int i = 0; i < GPUME_NB_DIRECTIONS; i++)
        for (int j = 0; j < GPUME_NB_FIELDS; j++)
            s->fields[i][j] = s->buffer + (i * GPUME_NB_FIELDS + j) * size +
                              s->linesize + 1;
    for (int i = 0; i < nb_rows; i++)
        atomic_init(&s->progress[i].nb_found, 0);
    atomic_init(&s->next_row,   0);
    atomic_init(&s->nb_waiting, 0);

    ret = ff_mutex_init(&s->mutex, NULL);
    if (ret)
        return AVERROR(ret);
    s->has_mutex = 1;
    ret = ff_cond_init(&s->cond, NULL);
    if (ret)
        return AVERROR(ret);
    s->has_cond = 1;
    return 0;
}

void ff_gpume_predict_begin(GpumePredict *s, const int *directions, int nb_directions)
{
    for (int i = 0; i < nb_directions; i++) {
        GpumeVector **fields = s->fields[directions[i]];
        GpumeVector *oldest  = fields[GPUME_NB_FIELDS - 1];

        memmove(fields + 1, fields, (GPUME_NB_FIELDS - 1) * sizeof(*fields));
        fields[0] = oldest;
    }
    for (int i = 0; i < GPUME_NB_DIRECTIONS * s->bh; i++)
        atomic_store_explicit(&s->progress[i].nb_found, 0, memory_order_relaxed);
    atomic_store_explicit(&s->next_row, 0, memory_order_relaxed);
}

int ff_gpume_predict_take_row(GpumePredict *s)
{
    return atomic_fetch_add_explicit(&s->next_row, 1, memory_order_relaxed);
}

static av_noinline void sleep_for(GpumePredict *s, atomic_int *progress, int nb)
{
    ff_mutex_lock(&s->mutex);
    /* who reports looks for this after its progress, and this thread the other way round */
    atomic_fetch_add(&s->nb_waiting, 1);
    while (atomic_load(progress) < nb)
        ff_cond_wait(&s->cond, &s->mutex);
    atomic_fetch_sub(&s->nb_waiting, 1);
    ff_mutex_unlock(&s->mutex);
}

void ff_gpume_predict_neighbours(GpumePredict *s, GpumeNeighbours *n,
                                 int direction, int bx, int by)
{
    const int linesize = s->linesize;
    const ptrdiff_t i  = (ptrdiff_t)by * linesize + bx;
    const int corner   = gpume_corner(s->algo, bx, s->bw);
    const GpumeVector *field = s->fields[direction][0] + i;

    if (by) {
        atomic_int *progress = &s->progress[direction * s->bh + by - 1].nb_found;
        const int nb = gpume_needs_above(bx, s->bw);

        if (atomic_load_explicit(progress, memory_order_acquire) < nb)
            sleep_for(s, progress, FFMIN(nb + EXTRA_BLOCKS, s->bw));
    }

    n->alone  = gpume_alone(by, s->bw);
    n->left   = field[-1];
    n->top    = field[-linesize];
    n->corner = corner >= 0 ? field[corner - bx - linesize] : (GpumeVector) { 0 };
    if (s->algo == GPUME_ALGO_EPZS) {
        const GpumeVector *last = s->fields[direction][1] + i;

        n->last        = last[0];
        n->last_left   = last[-1];
        n->last_top    = last[-linesize];
        n->last_right  = last[1];
        n->last_bottom = last[linesize];
        n->before_last = s->fields[direction][2][i];
    }
}

void ff_gpume_predict_found(GpumePredict *s, int direction, int bx, int by,
                            int dx, int dy)
{
    s->fields[direction][0][(ptrdiff_t)by * s->linesize + bx] = (GpumeVector) { dx, dy };

    atomic_store(&s->progress[direction * s->bh + by].nb_found, bx + 1);
    if (atomic_load(&s->nb_waiting)) {
        ff_mutex_lock(&s->mutex);
        ff_cond_broadcast(&s->cond);
        ff_mutex_unlock(&s->mutex);
    }
}

av_cold void ff_gpume_predict_uninit(GpumePredict *s)
{
    if (s->has_cond)
        ff_cond_destroy(&s->cond);
    if (s->has_mutex)
        ff_mutex_destroy(&s->mutex);
    av_freep(&s->progress);
    av_freep(&s->buffer);
}
