/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Keeps the vectors of other blocks that predictive searches need, and decides in which order threads
 * take blocks, so that these vectors are known when a block is searched.
 *
 * A row follows the row above at a distance of two blocks, because the predictors of a block are to
 * its left, and above it up to the next column. Fields are independent, but epzs needs the previous
 * fields of the same reference.
 */

#ifndef AVFILTER_GPUME_CPU_WAVEFRONT_H
#define AVFILTER_GPUME_CPU_WAVEFRONT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/core/searches.h"

/** Number of blocks of a row that are searched in sequence: a unit of work. */
#define GPUME_RUN 8

/** A field of vectors, bw x bh with zero vectors around it. */
typedef struct GpumeFoundField {
    GpumeVector *vectors;
    atomic_int *taken;          ///< for each row, the number of blocks that a thread has begun
    atomic_int *found;          ///< for each row, the number of blocks that are finished
    atomic_int first;           ///< all rows before this one are finished
} GpumeFoundField;

/** The fields of all references: those of searches in flight, and those that these searches need. */
typedef struct GpumeWavefront {
    int algo;
    int bw, bh;
    int linesize;               ///< number of vectors between rows of a field
    int nb_kept;                ///< number of fields of a reference
    GpumeFoundField *fields[GPUME_MAX_REFERENCES];
    int newest[GPUME_MAX_REFERENCES];
    GpumeVector *vectors;       ///< vectors of all fields
    atomic_int *rows;
} GpumeWavefront;

/** A field that is searched. */
typedef struct GpumeFront {
    const GpumeWavefront *w;
    GpumeFoundField *ages[GPUME_NB_AGES];   ///< fields of its reference, the current one first
} GpumeFront;

/**
 * @param nb_searches maximum number of searches in flight
 * @return 0 or an AVERROR code; the caller calls uninit in both cases
 */
int ff_gpume_wavefront_init(GpumeWavefront *w, const GpumeParams *params, int nb_searches);

/** Prepares a field of a reference; the previous fields become one age older. */
void ff_gpume_wavefront_begin(GpumeWavefront *w, GpumeFront *front, int reference);

/** Returns the number of runs in a field. */
int ff_gpume_wavefront_runs(const GpumeWavefront *w);

/**
 * Takes a run of blocks whose predictors are all known.
 * @return its index in the field, in raster order; -1: none is available now
 */
int ff_gpume_wavefront_take(GpumeFront *front);

/** Gets the vectors from which a block's predictors are computed. */
void ff_gpume_wavefront_neighbours(const GpumeFront *front, GpumeNeighbours *n, int bx, int by);

/** Stores the vector of a block. */
void ff_gpume_wavefront_found(GpumeFront *front, int bx, int by, GpumeVector v);

/** Marks a run as finished, so that runs that need it can be taken. */
void ff_gpume_wavefront_finish(GpumeFront *front, int by, int end);

void ff_gpume_wavefront_uninit(GpumeWavefront *w);

#endif /* AVFILTER_GPUME_CPU_WAVEFRONT_H */
