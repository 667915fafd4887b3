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

#include "libavutil/attributes.h"
#include "libavutil/macros.h"

#include "libavfilter/gpume/cpu/search.h"
#include "libavfilter/gpume/gpume_params.h"
#include "libavfilter/gpume/gpume_patterns.h"

static const int8_t large_diamond[][2] = { GPUME_LARGE_DIAMOND };
static const int8_t small_diamond[][2] = { GPUME_SMALL_DIAMOND };

/* Replaces the best candidate only by a cheaper one: of equals the first wins. */
static av_always_inline void try_vector(GpumeBlock *b, int dx, int dy)
{
    uint32_t cost = b->sad(b->cur, b->cur_linesize,
                           b->ref + dy * b->ref_linesize + dx * b->sample_size,
                           b->ref_linesize, b->w, b->h, b->cost);

    if (cost < b->cost) {
        b->cost = cost;
        b->dx   = dx;
        b->dy   = dy;
    }
}

/* The admissible points of a pattern around (x, y), in the pattern's order. */
static void try_pattern(GpumeBlock *b, int x, int y,
                        const int8_t (*pattern)[2], int nb_points)
{
    for (int i = 0; i < nb_points; i++) {
        int dx = x + pattern[i][0];
        int dy = y + pattern[i][1];

        if (dx >= b->min_dx && dx <= b->max_dx &&
            dy >= b->min_dy && dy <= b->max_dy)
            try_vector(b, dx, dy);
    }
}

static void search_fs(GpumeBlock *b)
{
    for (int dy = b->min_dy; dy <= b->max_dy; dy++)
        for (int dx = b->min_dx; dx <= b->max_dx; dx++)
            try_vector(b, dx, dy);
}

static void search_ds(GpumeBlock *b)
{
    int x, y;

    do {
        x = b->dx;
        y = b->dy;
        try_pattern(b, x, y, large_diamond, FF_ARRAY_ELEMS(large_diamond));
    } while (x != b->dx || y != b->dy);

    try_pattern(b, x, y, small_diamond, FF_ARRAY_ELEMS(small_diamond));
}

const GpumeBlockSearch ff_gpume_cpu_searches[GPUME_NB_ALGOS] = {
    [GPUME_ALGO_FS] = search_fs,
    [GPUME_ALGO_DS] = search_ds,
};
