/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What predictive searches know of other blocks, and how rows of blocks that are
 * searched at the same time wait for each other so that they know it.
 *
 * A row follows the row above by two blocks, for the predictors of a block lie to its
 * left and above it as far as the next column. Fields have nothing to do with each other.
 */

#ifndef AVFILTER_GPUME_CPU_WAVEFRONT_H
#define AVFILTER_GPUME_CPU_WAVEFRONT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/cpu/task.h"

/** A vector in 32 bits, for one thread writes it and another waits for it. */
typedef atomic_uint GpumeFoundVector;

typedef struct GpumeWavefront {
    int algo;
    int bw, bh;
    int linesize;               ///< of a field, vectors
    /**
     * Vectors by reference, the field that is searched first. A field is bw x bh
     * with zero vectors around it.
     */
    GpumeFoundVector *fields[GPUME_MAX_REFERENCES][GPUME_NB_AGES];
    GpumeFoundVector *buffer;   ///< of all fields
} GpumeWavefront;

/** Vectors of the row above that a thread keeps, a power of two. */
#define GPUME_NB_ABOVE 32

/** Where a thread is in a field. */
typedef struct GpumePlace {
    int reference;              ///< the field's
    int bx, by;
    int nb_above;               ///< vectors of the row above that were read; 0 at a row's start
    GpumeVector above[GPUME_NB_ABOVE];  ///< the last of them, block i's at i % GPUME_NB_ABOVE
} GpumePlace;

/** @return 0 or an AVERROR code; uninit may follow either */
int ff_gpume_wavefront_init(GpumeWavefront *w, const GpumeParams *params);

/** How many rows of a field can be searched at the same time, about. */
int ff_gpume_wavefront_width(const GpumeWavefront *w);

/** Before the rows of a picture: what was found before grows older. */
void ff_gpume_wavefront_begin(GpumeWavefront *w, const GpumeSearch *search);

/** What a block's predictors are made of; waits until the row above has got there. */
void ff_gpume_wavefront_neighbours(const GpumeWavefront *w, GpumeNeighbours *n,
                                   GpumePlace *place);

/** Keep what was found for a block. */
void ff_gpume_wavefront_found(GpumeWavefront *w, const GpumePlace *place, int dx, int dy);

void ff_gpume_wavefront_uninit(GpumeWavefront *w);

#endif /* AVFILTER_GPUME_CPU_WAVEFRONT_H */
