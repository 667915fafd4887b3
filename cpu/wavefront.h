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
 * What searches that predict know of other blocks, and the order in which rows of
 * blocks are searched so that they know it.
 *
 * A row follows the row above by two blocks, for what a block predicts from lies
 * to its left and above it as far as the next column. Directions have nothing to
 * do with each other.
 */

#ifndef AVFILTER_GPUME_CPU_PREDICT_H
#define AVFILTER_GPUME_CPU_PREDICT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "libavutil/thread.h"

#include "libavfilter/gpume/gpume_params.h"
#include "libavfilter/gpume/gpume_searches.h"

/** How far a row of blocks is; a cache line, for threads write to rows side by side. */
typedef struct GpumeProgress {
    atomic_int nb_found;        ///< blocks, from the left
    uint8_t padding[64 - sizeof(atomic_int)];
} GpumeProgress;

typedef struct GpumePredict {
    int algo;
    int bw, bh;
    int linesize;               ///< of a field, vectors
    /**
     * Vectors by direction, the field that is searched first. A field is bw x bh
     * with zero vectors around it.
     */
    GpumeVector *fields[GPUME_NB_DIRECTIONS][GPUME_NB_FIELDS];
    GpumeVector *buffer;        ///< of all fields

    atomic_int next_row;        ///< the next that a thread takes
    GpumeProgress *progress;    ///< of each row of the past, then of the future
    atomic_int nb_waiting;      ///< threads that sleep
    AVMutex mutex;
    AVCond cond;
    int has_mutex, has_cond;
} GpumePredict;

/** @return 0 or an AVERROR code; uninit may follow either */
int ff_gpume_predict_init(GpumePredict *s, const GpumeParams *params);

/** Before the rows of a picture: the fields of these directions grow older. */
void ff_gpume_predict_begin(GpumePredict *s, const int *directions, int nb_directions);

/**
 * Take a row to search: 0, 1, 2, ... whoever calls. Rows that wait for each other
 * have to come in that order: then the first that is not done never waits, with
 * any number of threads.
 */
int ff_gpume_predict_take_row(GpumePredict *s);

/** What a block is predicted from; waits until the row above has got there. */
void ff_gpume_predict_neighbours(GpumePredict *s, GpumeNeighbours *n,
                                 int direction, int bx, int by);

/** Keep what was found for a block. */
void ff_gpume_predict_found(GpumePredict *s, int direction, int bx, int by,
                            int dx, int dy);

void ff_gpume_predict_uninit(GpumePredict *s);

#endif /* AVFILTER_GPUME_CPU_PREDICT_H */
