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

#include "config.h"
#if HAVE_PTHREADS
#include <sched.h>
#endif

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"
#include "libavutil/time.h"

#include "libavfilter/gpume/cpu/wavefront.h"

/**
 * Blocks after which a row says how far it is. What one core has written takes another
 * almost as long to read as a block to be searched.
 */
#define BLOCKS_TOLD 4

/** How often a thread that waits looks before it lets others run. */
#define PATIENCE 1000

av_cold int ff_gpume_wavefront_init(GpumeWavefront *w, const GpumeParams *params)
{
    const int nb_rows = params->nb_references * params->bh;
    size_t size;

    w->algo     = params->algo;
    w->bw       = params->bw;
    w->bh       = params->bh;
    w->linesize = params->bw + 2;
    size        = (size_t)w->linesize * (params->bh + 2);

    w->buffer   = av_calloc(params->nb_references * GPUME_NB_AGES * size, sizeof(*w->buffer));
    w->progress = av_calloc(nb_rows, sizeof(*w->progress));
    if (!w->buffer || !w->progress)
        return AVERROR(ENOMEM);
    for (int i = 0; i < params->nb_references; i++)
        for (int j = 0; j < GPUME_NB_AGES; j++)
            w->fields[i][j] = w->buffer + (i * GPUME_NB_AGES + j) * size + w->linesize + 1;
    for (int i = 0; i < nb_rows; i++)
        atomic_init(&w->progress[i].nb_found, 0);
    return 0;
}

int ff_gpume_wavefront_width(const GpumeWavefront *w)
{
    /* a row begins that much later than the row above */
    const int delay = BLOCKS_TOLD + 2;

    return (w->bw * w->bh - 1) / (w->bw + delay * (w->bh - 1)) + 1;
}

void ff_gpume_wavefront_begin(GpumeWavefront *w, const GpumeSearch *search)
{
    for (int i = 0; i < search->nb_fields; i++) {
        const int reference  = search->fields[i].reference;
        GpumeVector **fields = w->fields[reference];
        GpumeVector *oldest  = fields[GPUME_NB_AGES - 1];

        memmove(fields + 1, fields, (GPUME_NB_AGES - 1) * sizeof(*fields));
        fields[0] = oldest;
        for (int by = 0; by < w->bh; by++)
            atomic_store_explicit(&w->progress[reference * w->bh + by].nb_found, 0,
                                  memory_order_relaxed);
    }
}

/* Returns how many blocks a row has, nb or more. */
static av_noinline int wait_for(const atomic_int *nb_found, int nb, GpumeWorker *worker)
{
    int found = atomic_load_explicit(nb_found, memory_order_acquire);
    int64_t begin;

    if (found >= nb)
        return found;
    begin = av_gettime_relative();
    for (int i = 0; (found = atomic_load_explicit(nb_found, memory_order_acquire)) < nb; i++) {
        if (i < PATIENCE) {
#if ARCH_X86 && HAVE_INLINE_ASM
            __asm__ volatile ("pause");
#endif
        } else {
#if HAVE_PTHREADS
            sched_yield();
#else
            av_usleep(1);
#endif
        }
    }
    worker->waited += av_gettime_relative() - begin;
    return found;
}

void ff_gpume_wavefront_neighbours(const GpumeWavefront *w, GpumeNeighbours *n,
                                   GpumePlace *place, GpumeWorker *worker)
{
    GpumeVector *const *fields = w->fields[place->reference];
    const int bx = place->bx, by = place->by;
    const int linesize = w->linesize;
    const ptrdiff_t i  = (ptrdiff_t)by * linesize + bx;
    const int corner   = gpume_corner(w->algo, bx, w->bw);
    const GpumeVector *field = fields[0] + i;

    if (by && place->nb_above < gpume_needs_above(bx, w->bw))
        place->nb_above = wait_for(&w->progress[place->reference * w->bh + by - 1].nb_found,
                                   gpume_needs_above(bx, w->bw), worker);

    n->alone  = gpume_alone(by, w->bw);
    n->left   = field[-1];
    n->top    = field[-linesize];
    n->corner = corner >= 0 ? field[corner - bx - linesize] : (GpumeVector) { 0 };
    if (w->algo == GPUME_ALGO_EPZS) {
        const GpumeVector *last = fields[1] + i;

        n->last        = last[0];
        n->last_left   = last[-1];
        n->last_top    = last[-linesize];
        n->last_right  = last[1];
        n->last_bottom = last[linesize];
        n->before_last = fields[2][i];
    }
}

void ff_gpume_wavefront_found(GpumeWavefront *w, const GpumePlace *place, int dx, int dy)
{
    const int nb_found = place->bx + 1;

    w->fields[place->reference][0][(ptrdiff_t)place->by * w->linesize + place->bx] =
        (GpumeVector) { dx, dy };
    if (nb_found % BLOCKS_TOLD == 0 || nb_found == w->bw)
        atomic_store_explicit(&w->progress[place->reference * w->bh + place->by].nb_found,
                              nb_found, memory_order_release);
}

av_cold void ff_gpume_wavefront_uninit(GpumeWavefront *w)
{
    av_freep(&w->progress);
    av_freep(&w->buffer);
}
