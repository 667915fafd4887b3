/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Candidates of a search on the CPU are tried in order; several at once, since that is faster.
 */

#ifndef AVFILTER_GPUME_CPU_CANDIDATES_H
#define AVFILTER_GPUME_CPU_CANDIDATES_H

#include <stdint.h>

#include "libavutil/attributes.h"
#include "libavutil/macros.h"

#include "libavfilter/gpume/cpu/search.h"

/** Returns the cost from which on a cost need not be completed. */
static av_always_inline uint32_t gpume_limit_of(const GpumeBlock *b)
{
    return b->exhaustive ? UINT32_MAX : b->cost;
}

/**
 * Evaluates candidates, given by their first samples, in order.
 * @param ref has room for nb + 1
 * @return the index of the new best candidate: among those cheaper than the best so far, the first
 *         with the least cost; -1: none
 */
static av_always_inline int gpume_try_candidates(GpumeBlock *b, const uint8_t **ref, int nb)
{
    int best = -1;

    for (int i = 0; i < nb;) {
        uint32_t cost[4];
        int n = 1;

        if (nb - i >= 3) {
            ref[nb] = ref[nb - 1];
            n = 4;
        }
        if (!b->one)
            ff_gpume_cpu_cost_of_parts(b, ref + i, n, cost, gpume_limit_of(b));
        else if (n == 4)
            b->four(b->cur, b->cur_linesize, ref + i, b->ref_linesize, b->box.h,
                    cost, gpume_limit_of(b));
        else
            *cost = b->one(b->cur, b->cur_linesize, ref[i], b->ref_linesize, b->box.h,
                           gpume_limit_of(b));
        for (int j = 0; j < n; j++) {
            if (cost[j] < b->cost) {
                b->cost = cost[j];
                best    = i + j;
            }
        }
        i += n;
    }
    return best;
}

static inline const uint8_t *gpume_ref_at(const GpumeBlock *b, int dx, int dy)
{
    return b->ref + dy * b->ref_linesize + dx * b->sample_size;
}

static inline void gpume_try_vector(GpumeBlock *b, int dx, int dy)
{
    const uint8_t *ref[2] = { gpume_ref_at(b, dx, dy) };

    if (!gpume_try_candidates(b, ref, 1)) {
        b->dx = dx;
        b->dy = dy;
    }
}

/** Returns whether another vector may be better, or all must be tried. */
static inline int gpume_try_zero_vector(GpumeBlock *b)
{
    gpume_try_vector(b, 0, 0);
    return b->cost || b->exhaustive;
}

/** Candidates that wait to be tried. */
typedef struct GpumeQueue {
    const uint8_t *ref[16 + 1];
    GpumeVector vectors[16];
    int nb;
} GpumeQueue;

static inline void gpume_try_queue(GpumeBlock *b, GpumeQueue *q)
{
    const int best = gpume_try_candidates(b, q->ref, q->nb);

    if (best >= 0) {
        b->dx = q->vectors[best].dx;
        b->dy = q->vectors[best].dy;
    }
    q->nb = 0;
}

static av_always_inline void gpume_enqueue(GpumeBlock *b, GpumeQueue *q, int dx, int dy)
{
    if (!gpume_admissible(&b->box, dx, dy))
        return;
    q->ref[q->nb]     = gpume_ref_at(b, dx, dy);
    q->vectors[q->nb] = (GpumeVector) { dx, dy };
    if (++q->nb == FF_ARRAY_ELEMS(q->vectors))
        gpume_try_queue(b, q);
}

#endif /* AVFILTER_GPUME_CPU_CANDIDATES_H */
