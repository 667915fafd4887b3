/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search on the CPU, and successive elimination before it.
 */

#include <string.h>

#include "libavutil/common.h"
#include "libavutil/intmath.h"
#include "libavutil/macros.h"

#define GPUME_INLINE static av_always_inline
#include "libavfilter/gpume/cpu/candidates.h"

/* Tries the candidates of a row that kept marks. Returns their number. */
static int try_row(GpumeBlock *b, int dy, const uint64_t *kept, int nb)
{
    const uint8_t *ref[4 + 1];
    int dx[4 + 1];
    int n = 0, nb_tried = 0;

    for (int i = 0; i < nb; i += 64) {
        uint64_t bits = kept[i / 64];

        if (nb - i < 64)
            bits &= (UINT64_C(1) << (nb - i)) - 1;
        while (bits || n && i + 64 >= nb) {
            if (bits) {
                dx[n]  = b->box.min_dx + i + ff_ctzll(bits);
                ref[n] = gpume_ref_at(b, dx[n], dy);
                bits  &= bits - 1;
                n++;
            }
            if (n == 4 || !bits && i + 64 >= nb) {
                const int best = gpume_try_candidates(b, ref, n);

                if (best >= 0) {
                    b->dx = dx[best];
                    b->dy = dy;
                }
                nb_tried += n;
                n = 0;
            }
        }
    }
    return nb_tried;
}

/**
 * Sets a limit: only candidates that cost no more than the best candidate of a short search can
 * win. If several have this cost, the first must still be found.
 * @param dx, dy a vector that may be good, admissible or not
 */
static void find_limit(GpumeBlock *b, int dx, int dy)
{
    const uint32_t zero_cost = b->cost;

    if (gpume_admissible(&b->box, dx, dy))
        gpume_try_vector(b, dx, dy);
    ff_gpume_cpu_patterns[GPUME_ALGO_DS](b);
    b->dx   = b->dy = 0;
    b->cost = FFMIN(b->cost + 1, zero_cost);
}

/* Returns whether a vector differs from those of the first nb parts and from (0, 0). */
static int is_new(const GpumeBlock *b, GpumeVector v, int nb)
{
    int is_new = v.dx || v.dy;

    for (int i = 0; i < nb; i++)
        is_new &= b->parts[i].vector.dx != v.dx || b->parts[i].vector.dy != v.dy;
    return is_new;
}

/**
 * Sets the limit from the vectors of the blocks that this block consists of. Each of them is the
 * first vector of least cost. So if they are equal, no earlier candidate has the sum of their
 * costs, and none has less. Returns whether the best candidate is known.
 */
static int find_limit_of_parts(GpumeBlock *b)
{
    const GpumePart *first = b->parts;
    uint32_t zero_cost = 0;
    int are_same = 1;
    GpumeQueue q;

    for (const GpumePart *p = first; p < first + b->nb_parts; p++) {
        b->least  += p->cost;
        zero_cost += p->zero_cost;
        are_same  &= p->vector.dx == first->vector.dx && p->vector.dy == first->vector.dy;
    }
    b->part->zero_cost = zero_cost;
    b->dx   = b->dy = 0;
    b->cost = zero_cost;
    if (zero_cost == b->least)
        return 1;
    if (are_same) {
        b->dx   = first->vector.dx;
        b->dy   = first->vector.dy;
        b->cost = b->least;
        return 1;
    }
    q.nb = 0;
    for (int i = 0; i < b->nb_parts; i++) {
        const GpumeVector v = b->parts[i].vector;

        if (is_new(b, v, i))
            gpume_enqueue(b, &q, v.dx, v.dy);
    }
    gpume_try_queue(b, &q);
    b->dx   = b->dy = 0;
    b->cost = FFMIN(b->cost + 1, zero_cost);
    return 0;
}

/* Returns whether elimination pays, as opposed to trying all candidates; it does not in noise. */
static int pays(int nb_tried, int nb)
{
    return nb_tried <= 64 || nb_tried <= nb / 2;
}

/* Returns the index of an admissible vector in a block's map. */
static ptrdiff_t in_map(const GpumeBlock *b, int dx, int dy)
{
    return 2 * ((dy + b->range) * (ptrdiff_t)b->sea->map_row + dx + b->range);
}

/*
 * Completes a map in which the bounds of the rows before dy, and some in row dy, are known; the
 * others are set to 0.
 */
static void finish_map(const GpumeBlock *b, int dy, int nb)
{
    const ptrdiff_t start = in_map(b, b->box.min_dx + nb, dy);
    const ptrdiff_t end   = in_map(b, b->box.max_dx, b->box.max_dy) + 2;

    if (start < end)
        memset(b->part->map + start, 0, end - start);
    b->part->has_map = 1;
}

static int eliminate_by_sums(GpumeBlock *b)
{
    const GpumeSea *sea = b->sea;
    const GpumeBox *box = &b->box;
    const ptrdiff_t offset = box->y0 * sea->linesize + box->x0 * sizeof(uint16_t);
    const int nb = box->max_dx - box->min_dx + 1;
    uint64_t kept[GPUME_SEA_KEPT_WORDS(2 * GPUME_MAX_RANGE + 1)];
    GpumeSeaBounds bounds;
    int nb_tried = 0, goes_on = 1, dy, stores;

    ff_gpume_sea_block(sea, &bounds, b->cur_sums + offset, box->w, box->h);
    bounds.nb_candidates = nb;
    bounds.map_linesize  = 2 * sea->map_row;
    stores = b->part && bounds.nb_halves == FF_ARRAY_ELEMS(bounds.half);
    /* roots come one after the other, in an order that the processor cannot predict */
    if (stores)
        ff_gpume_sea_prefetch(sea, b->cur_sums + offset, GPUME_MAX_ROOT);

    for (dy = box->min_dy; dy <= box->max_dy && b->cost > b->least && goes_on; dy++) {
        const uint8_t *sums = b->ref_sums + offset + dy * sea->linesize + box->min_dx * 2;

        ff_gpume_sea_limit(sea, &bounds, b->cost);
        if (stores) {
            bounds.map = b->part->map + in_map(b, box->min_dx, dy);
            dy += sea->bound_and_store(&bounds, sums, box->max_dy - dy + 1, kept);
        } else {
            dy += sea->bound(&bounds, sums, box->max_dy - dy + 1, kept);
        }
        if (dy > box->max_dy)
            break;
        nb_tried += try_row(b, dy, kept, nb);
        goes_on   = pays(nb_tried, nb * (dy - box->min_dy + 1));
    }
    if (stores)
        finish_map(b, dy, 0);
    b->next_dy = dy;
    return goes_on;
}

static void set_parts(const GpumeBlock *b, GpumeSeaParts *p, int dy)
{
    const ptrdiff_t offset = in_map(b, b->box.min_dx, dy);

    for (int i = 0; i < FF_ARRAY_ELEMS(p->map); i++) {
        const GpumePart *part = &b->parts[i];

        p->map[i]   = (i < b->nb_parts && part->has_map ? part->map : b->no_map) + offset;
        p->least[i] = i < b->nb_parts ? ff_gpume_sea_least(b->sea_of_parts, part->cost) : 0;
    }
    p->dst   = b->part->map + offset;
    p->shift = b->sea->join_shift;
}

/* Queues the candidates of a group that kept marks; a group can extend over several rows of a map. */
static int enqueue_group(GpumeBlock *b, GpumeQueue *q, int first, int dy, uint32_t kept)
{
    int nb = 0;

    for (; kept; kept &= kept - 1, nb++) {
        const int i = first + ff_ctz(kept);
        const int y = i / b->sea->map_row;

        gpume_enqueue(b, q, b->box.min_dx + i - y * b->sea->map_row, dy + y);
        if (q->nb == 4)
            gpume_try_queue(b, q);
    }
    return nb;
}

/*
 * Eliminates candidates with the bounds of the parts.
 * @param is_known whether only the map is needed
 */
static int eliminate_by_parts(GpumeBlock *b, int is_known)
{
    const GpumeSea *sea = b->sea;
    const GpumeBox *box = &b->box;
    const int nb = box->max_dx - box->min_dx + 1;
    /* complete rows are contiguous in maps */
    const int nb_rows = nb == sea->map_row ? box->max_dy - box->min_dy + 1 : 1;
    int nb_tried = 0, i = 0, goes_on = 1, dy;
    GpumeSeaParts p;
    GpumeQueue q;

    q.nb = 0;
    p.nb_candidates = nb * nb_rows;
    for (dy = box->min_dy; dy <= box->max_dy && goes_on; dy += nb_rows) {
        set_parts(b, &p, dy);
        for (i = 0; goes_on; i += GPUME_SEA_GROUP) {
            uint32_t kept;

            p.limit = is_known ? 0 : ff_gpume_sea_join_limit(sea, b->cost);
            i = sea->join(&p, i, &kept);
            if (i >= p.nb_candidates)
                break;
            if (is_known)
                continue;
            if (p.nb_candidates - i < GPUME_SEA_GROUP)
                kept &= (1u << (p.nb_candidates - i)) - 1;
            nb_tried += enqueue_group(b, &q, i, dy, kept);
            goes_on   = b->cost > b->least && pays(nb_tried, nb * (dy - box->min_dy) + i + GPUME_SEA_GROUP);
        }
    }
    gpume_try_queue(b, &q);
    if (!goes_on) {
        /* groups extend beyond the last candidate */
        i   = FFMIN(i, p.nb_candidates);
        dy -= nb_rows;
        finish_map(b, dy, i);
        b->next_dy = dy + i / nb;
        return b->cost <= b->least;
    }
    b->part->has_map = 1;
    return 1;
}

int ff_gpume_cpu_stage_sea(GpumeBlock *b)
{
    /* neighbouring blocks often have similar motion */
    const int last_dx = b->dx, last_dy = b->dy;
    int has_maps = 0;

    if (!b->nb_parts) {
        const int is_best = !gpume_try_zero_vector(b);

        if (b->part)
            b->part->zero_cost = b->cost;
        if (is_best)
            return 1;
        find_limit(b, last_dx, last_dy);
        return eliminate_by_sums(b);
    }
    for (int i = 0; i < b->nb_parts; i++)
        has_maps |= b->parts[i].has_map;
    if (!find_limit_of_parts(b))
        return eliminate_by_parts(b, 0);
    if (b->is_part && has_maps)
        eliminate_by_parts(b, 1);
    return 1;
}

/* Computes the costs of all candidates of a row, up to limit; may write up to three more costs. */
static void cost_row(const GpumeBlock *b, int dy, uint32_t *cost, int nb, uint32_t limit)
{
    const uint8_t *first = gpume_ref_at(b, b->box.min_dx, dy);

    for (int i = 0; i < nb; i += 4) {
        const uint8_t *ref[4];

        for (int j = 0; j < 4; j++)
            ref[j] = first + FFMIN(i + j, nb - 1) * b->sample_size;
        if (b->four)
            b->four(b->cur, b->cur_linesize, ref, b->ref_linesize, b->box.h, cost + i, limit);
        else
            ff_gpume_cpu_cost_of_parts(b, ref, 4, cost + i, limit);
    }
}

/* Returns the sums of costs of a row of candidates. */
static uint32_t *sums_at(const GpumeBlock *b, uint32_t *sums, int dy)
{
    return sums + (dy + b->range) * (size_t)(2 * b->range + 1) + b->box.min_dx + b->range;
}

void ff_gpume_cpu_begin_sums(GpumeBlock *b)
{
    const GpumeBox *box = &b->box;

    b->sums_are_bounds = 0;
    for (int dy = box->min_dy; dy <= box->max_dy; dy++)
        memset(sums_at(b, b->sums, dy), 0, (box->max_dx - box->min_dx + 1) * sizeof(*b->sums));
}

/* Finds candidates of a row that are better. */
static void compare_row(GpumeBlock *b, int dy, const uint32_t *cost, int nb)
{
    for (int i = 0; i < nb; i++) {
        if (cost[i] >= b->cost)
            continue;
        if (b->nb_parts && b->sums_are_bounds) {
            gpume_try_vector(b, b->box.min_dx + i, dy);
        } else {
            b->cost = cost[i];
            b->dx   = b->box.min_dx + i;
            b->dy   = dy;
        }
    }
}

/*
 * Searches a block that is a part of a larger block, or has parts. A candidate then costs the sum
 * of the parts' costs, or more if some parts did not evaluate all candidates or computed incomplete
 * costs.
 */
static void search_sums(GpumeBlock *b)
{
    const int nb = b->box.max_dx - b->box.min_dx + 1;
    /* limits do not pay in small blocks */
    const int is_limited = !b->exhaustive && b->box.w > 8;
    uint32_t costs[2 * GPUME_MAX_RANGE + 1 + 3];

    if (!b->nb_parts)
        b->sums_are_bounds = is_limited;
    gpume_try_zero_vector(b);
    for (int dy = b->box.min_dy; dy <= b->box.max_dy; dy++) {
        const uint32_t *row = b->nb_parts ? sums_at(b, b->sums, dy) : costs;

        if (!b->cost && !b->exhaustive) {
            b->sums_are_bounds = 1;
            break;
        }
        if (!b->nb_parts)
            cost_row(b, dy, costs, nb, is_limited ? b->cost : UINT32_MAX);
        compare_row(b, dy, row, nb);
        if (b->whole) {
            uint32_t *sums = sums_at(b, b->whole->sums, dy);

            for (int i = 0; i < nb; i++)
                sums[i] += row[i];
        }
    }
    if (b->whole)
        b->whole->sums_are_bounds |= b->sums_are_bounds;
}

int ff_gpume_cpu_stage_full(GpumeBlock *b)
{
    uint64_t all[GPUME_SEA_KEPT_WORDS(2 * GPUME_MAX_RANGE + 1)];

    if (b->whole || b->sums) {
        search_sums(b);
        return 1;
    }

    memset(all, 0xff, sizeof(all));
    if (b->cost == UINT32_MAX && !gpume_try_zero_vector(b))
        return 1;
    for (int dy = b->next_dy; dy <= b->box.max_dy && (b->cost || b->exhaustive); dy++)
        try_row(b, dy, all, b->box.max_dx - b->box.min_dx + 1);
    return 1;
}
