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

/**
 * @file
 * The searches on the CPU.
 */

#ifndef AVFILTER_GPUME_CPU_SEARCH_H
#define AVFILTER_GPUME_CPU_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/cpu/cost.h"

/** A block to search, and the best candidate so far. */
typedef struct GpumeBlock {
    const uint8_t *cur;         ///< the block's first sample
    ptrdiff_t cur_linesize;     ///< bytes
    const uint8_t *ref;         ///< the sample at the same place in the reference
    ptrdiff_t ref_linesize;     ///< bytes
    int sample_size;            ///< bytes
    int w, h;                   ///< true size, samples
    int min_dx, max_dx;         ///< admissible vectors, samples
    int min_dy, max_dy;
    GpumeSad sad;

    int dx, dy;                 ///< best candidate
    uint32_t cost;              ///< its SAD
} GpumeBlock;

/**
 * Search one block. The block comes with the zero vector and its cost, which
 * is not 0, as best candidate.
 */
typedef void (*GpumeBlockSearch)(GpumeBlock *b);

/** Indexed by enum GpumeAlgo. */
extern const GpumeBlockSearch ff_gpume_cpu_searches[];

#endif /* AVFILTER_GPUME_CPU_SEARCH_H */
