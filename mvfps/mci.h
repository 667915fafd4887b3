/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Motion-compensated interpolation: the vectors at a phase, and the picture along them.
 */

#ifndef AVFILTER_GPUME_MVFPS_MCI_H
#define AVFILTER_GPUME_MVFPS_MCI_H

#include "libavfilter/gpume/mvfps/dsp.h"
#include "libavfilter/gpume/picture/padded.h"

/** A group of nearly equal vectors around a tile. */
typedef struct MvfpsHypothesis {
    MvfpsVector v, offset;
    int share;              ///< share of the earlier picture, in 1/64
    int difference;         ///< the sum of the tile's differences of luma along it, in levels of 8 bits
    unsigned cells;         ///< bit mask of the cells around the tile that have it
} MvfpsHypothesis;

typedef struct MvfpsTile {
    int nb;
    MvfpsHypothesis hypotheses[MVFPS_TILE_CELLS];
} MvfpsTile;

/** Returns the window of cell 0 to 3 of a row, or column, at a tile's sample of a component. */
int ff_mvfps_slope(int cell, int i, int sub);

/** A phase: a position in time between two pictures. */
typedef struct MvfpsPhase {
    const GpumeLayout *layout;
    const GpumePadded *before, *after;
    MvfpsFields fields;
    const MvfpsCellSums *sums;  ///< sums for each cell
    MvfpsRates rates;
    int part;               ///< 1 to MVFPS_PARTS - 1
    MvfpsDsp dsp;
} MvfpsPhase;

/** Sums samples of some rows of cells, for MvfpsPhase.sums. */
void ff_mvfps_sums(const MvfpsPhase *s, MvfpsCellSums *sums, int first, int end);

/**
 * Chooses the initial vectors of some rows of cells.
 * @param sads output: their sums of absolute differences
 */
void ff_mvfps_first(const MvfpsPhase *s, MvfpsVector *vectors, unsigned *sads, int first, int end);

/** Runs a pass over some rows of cells, from one field with known sums to another field. */
void ff_mvfps_pass(const MvfpsPhase *s, const MvfpsVector *from, const unsigned *sads, MvfpsVector *to,
                   int first, int end);

/** Returns whether the motion beyond the pair is known, so that the speed may change. */
static inline int mvfps_is_accelerated(const MvfpsPhase *s)
{
    return s->rates.before.own && s->fields.before_past && s->fields.after_future;
}

/** Computes the changes of velocity of some rows of cells. */
void ff_mvfps_changes(const MvfpsPhase *s, const MvfpsVector *vectors, MvfpsChange *changes, int first, int end);

/** Computes the offsets of some rows of cells, from the changes of rows up to two rows away. */
void ff_mvfps_offsets(const MvfpsPhase *s, const MvfpsVector *vectors, const MvfpsChange *changes,
                      MvfpsVector *offsets, int first, int end);

/** Returns the number of rows of tiles of a picture. */
static inline int mvfps_tile_rows(const GpumeLayout *l)
{
    return (l->h + MVFPS_CELL + MVFPS_CELL / 2 - 1) / MVFPS_CELL;
}

/**
 * Makes some rows of tiles of the picture.
 * @param offsets offsets of the cells, in 1/16 sample; NULL: all are 0
 */
void ff_mvfps_compensate(const MvfpsPhase *s, const MvfpsVector *vectors, const MvfpsVector *offsets,
                         AVFrame *out, int first, int end);

#endif /* AVFILTER_GPUME_MVFPS_MCI_H */
