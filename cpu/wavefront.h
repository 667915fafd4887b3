/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What predictive searches know of other blocks, and in which order blocks that are
 * searched at the same time are taken so that they know it.
 *
 * A row follows the row above by two blocks, for the predictors of a block lie to its
 * left and above it as far as the next column. Fields have nothing to do with each other,
 * but epzs needs those that were found of the same reference before.
 */

#ifndef AVFILTER_GPUME_CPU_WAVEFRONT_H
#define AVFILTER_GPUME_CPU_WAVEFRONT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/core/searches.h"

/** Blocks of a row that are searched one after the other: a unit of work. */
#define GPUME_RUN 8

/** A field of vectors, bw x bh with zero vectors around it. */
typedef struct GpumeFoundField {
    GpumeVector *vectors;
    atomic_int *taken;          ///< rows: blocks that somebody has begun
    atomic_int *found;          ///< rows: and those that are finished
    atomic_int first;           ///< rows before it are finished
} GpumeFoundField;

/** The fields of all references; those of searches in flight and those that they need. */
typedef struct GpumeWavefront {
    int algo;
    int bw, bh;
    int linesize;               ///< of a field, vectors
    int nb_kept;                ///< fields of a reference
    GpumeFoundField *fields[GPUME_MAX_REFERENCES];
    int newest[GPUME_MAX_REFERENCES];
    GpumeVector *vectors;       ///< of all fields
    atomic_int *rows;
} GpumeWavefront;

/** A field that is searched. */
typedef struct GpumeFront {
    const GpumeWavefront *w;
    GpumeFoundField *ages[GPUME_NB_AGES];   ///< of its reference, the one that is searched first
} GpumeFront;

/**
 * @param nb_searches that are in flight at most
 * @return 0 or an AVERROR code; uninit may follow either
 */
int ff_gpume_wavefront_init(GpumeWavefront *w, const GpumeParams *params, int nb_searches);

/** Gets a field of a reference ready: what was found before grows older. */
void ff_gpume_wavefront_begin(GpumeWavefront *w, GpumeFront *front, int reference);

/** Returns the number of runs in a field. */
int ff_gpume_wavefront_runs(const GpumeWavefront *w);

/**
 * Takes a run of blocks, all of whose predictors have been found.
 * @return its number in the field, in raster order; -1: there is none now
 */
int ff_gpume_wavefront_take(GpumeFront *front);

/** Finds what a block's predictors are made of. */
void ff_gpume_wavefront_neighbours(const GpumeFront *front, GpumeNeighbours *n, int bx, int by);

/** Keeps what was found for a block. */
void ff_gpume_wavefront_found(GpumeFront *front, int bx, int by, GpumeVector v);

/** Lets those run that need a run that was taken. */
void ff_gpume_wavefront_finish(GpumeFront *front, int by, int end);

void ff_gpume_wavefront_uninit(GpumeWavefront *w);

#endif /* AVFILTER_GPUME_CPU_WAVEFRONT_H */
