/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/cpu/wavefront.h"

/** No vector; in fields that are being searched. */
#define NOT_FOUND 0x80008000u

/**
 * Vectors of the row above that are read at once, a divisor of GPUME_NB_ABOVE. It takes
 * almost as long to get some from another core as to search a block.
 */
#define READ_AT_ONCE 16

static_assert(sizeof(GpumeVector) == sizeof(unsigned), "a vector in an atomic word");

static unsigned pack(GpumeVector v)
{
    unsigned word;

    memcpy(&word, &v, sizeof(word));
    return word;
}

static GpumeVector unpack(unsigned word)
{
    GpumeVector v;

    memcpy(&v, &word, sizeof(v));
    return v;
}

/* The vector is all that one thread tells another, so nothing has to be in order. */
static unsigned load(const GpumeFoundVector *v)
{
    return atomic_load_explicit(v, memory_order_relaxed);
}

av_cold int ff_gpume_wavefront_init(GpumeWavefront *w, const GpumeParams *params)
{
    const int nb_fields = params->nb_distances * GPUME_NB_AGES;
    size_t size;

    w->algo     = params->algo;
    w->bw       = params->bw;
    w->bh       = params->bh;
    w->linesize = params->bw + 2;
    size        = (size_t)w->linesize * (params->bh + 2);

    w->buffer = av_malloc_array(nb_fields * size, sizeof(*w->buffer));
    if (!w->buffer)
        return AVERROR(ENOMEM);
    for (size_t i = 0; i < nb_fields * size; i++)
        atomic_init(&w->buffer[i], 0);
    for (int i = 0; i < nb_fields; i++)
        w->fields[i / GPUME_NB_AGES][i % GPUME_NB_AGES] = w->buffer + i * size +
                                                          w->linesize + 1;
    return 0;
}

int ff_gpume_wavefront_width(const GpumeWavefront *w)
{
    /* a row begins about that many blocks later than the row above */
    const int delay = 4;

    return (w->bw * w->bh - 1) / (w->bw + delay * (w->bh - 1)) + 1;
}

void ff_gpume_wavefront_begin(GpumeWavefront *w, const GpumeSearch *search)
{
    for (int i = 0; i < search->nb_fields; i++) {
        GpumeFoundVector **fields = w->fields[search->fields[i].reference];
        GpumeFoundVector *oldest  = fields[GPUME_NB_AGES - 1];

        memmove(fields + 1, fields, (GPUME_NB_AGES - 1) * sizeof(*fields));
        fields[0] = oldest;
        for (int by = 0; by < w->bh; by++)
            for (int bx = 0; bx < w->bw; bx++)
                atomic_store_explicit(&oldest[(ptrdiff_t)by * w->linesize + bx], NOT_FOUND,
                                      memory_order_relaxed);
    }
}

static av_noinline void wait_for(const GpumeFoundVector *v)
{
    for (int i = 0; load(v) == NOT_FOUND; i++)
        ff_gpume_pause(i);
}

/* Read what there is of the row above, at least what is needed for a block. */
static void read_above(const GpumeWavefront *w, GpumePlace *place)
{
    const GpumeFoundVector *above = w->fields[place->reference][0] +
                                    (ptrdiff_t)(place->by - 1) * w->linesize;
    const int needed = gpume_needs_above(place->bx, w->bw);
    const int end    = FFMIN(place->bx + READ_AT_ONCE, w->bw);
    int i;

    for (i = place->nb_above; i < FFMAX(needed, end); i++) {
        unsigned v = load(&above[i]);

        if (v == NOT_FOUND) {
            if (i >= needed)
                break;
            wait_for(&above[i]);
            v = load(&above[i]);
        }
        place->above[i % GPUME_NB_ABOVE] = unpack(v);
    }
    place->nb_above = i;
}

void ff_gpume_wavefront_neighbours(const GpumeWavefront *w, GpumeNeighbours *n,
                                   GpumePlace *place)
{
    const int bx = place->bx, by = place->by;
    const int linesize = w->linesize;
    const ptrdiff_t i  = (ptrdiff_t)by * linesize + bx;
    const int corner   = gpume_corner(w->algo, bx, w->bw);

    n->top = n->corner = (GpumeVector) { 0 };
    if (by) {
        if (place->nb_above < gpume_needs_above(bx, w->bw))
            read_above(w, place);
        n->top = place->above[bx % GPUME_NB_ABOVE];
        if (corner >= 0)
            n->corner = place->above[corner % GPUME_NB_ABOVE];
    }
    n->alone = gpume_alone(by, w->bw);
    n->left  = unpack(load(&w->fields[place->reference][0][i - 1]));
    if (gpume_has_memory(w->algo)) {
        const GpumeFoundVector *last = w->fields[place->reference][1] + i;

        n->last        = unpack(load(last));
        n->last_left   = unpack(load(last - 1));
        n->last_top    = unpack(load(last - linesize));
        n->last_right  = unpack(load(last + 1));
        n->last_bottom = unpack(load(last + linesize));
        n->before_last = unpack(load(&w->fields[place->reference][2][i]));
    }
}

void ff_gpume_wavefront_found(GpumeWavefront *w, const GpumePlace *place, int dx, int dy)
{
    atomic_store_explicit(&w->fields[place->reference][0][(ptrdiff_t)place->by * w->linesize +
                                                          place->bx],
                          pack((GpumeVector) { dx, dy }), memory_order_relaxed);
}

av_cold void ff_gpume_wavefront_uninit(GpumeWavefront *w)
{
    av_freep(&w->buffer);
}
