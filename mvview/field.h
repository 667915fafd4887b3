/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Reads the vectors of a frame that are to be drawn from any filter's side data. If the painter
 * reads motion fields itself, they stay on its device.
 */

#ifndef AVFILTER_GPUME_MVVIEW_FIELD_H
#define AVFILTER_GPUME_MVVIEW_FIELD_H

#include <stdint.h>

#include "libavutil/frame.h"

#include "libavfilter/gpume/field/cells_args.h"
#include "libavfilter/gpume/field/fields.h"
#include "libavfilter/gpume/field/sidedata.h"
#include "libavfilter/gpume/mvview/mvview.h"

/** Units of displacements in a sample. */
#define MVVIEW_UNITS GPUME_UNITS
/** Side of a cell of the flow, in samples. */
#define MVVIEW_LOG2_CELL 2
#define MVVIEW_CELL (1 << MVVIEW_LOG2_CELL)

typedef GpumeBlockVector MvviewVector;

typedef struct MvviewField {
    GpumeCells cells;           ///< cells of the flow in the picture
    int nb;                     ///< number of vectors
    int nb_future;
    int side;                   ///< side of the largest block

    /**
     * Fields on the painter's device, the past field first; both have the same grid of blocks. The
     * vectors are then not in this structure.
     */
    GpumeMotionField fields[2];
    int nb_fields;              ///< 0: the vectors are in this structure

    MvviewVector *vectors;
    uint32_t longest;           ///< length of the longest vector, in units of 1/MVVIEW_UNITS sample
    unsigned allocated, map_allocated, squares_allocated;

    uint32_t *map;              ///< for each cell 1 + the index of its vector, or 0 if it has none
    struct MvviewSquare *squares;
} MvviewField;

/**
 * Reads the vectors of a frame.
 * @param device_ctx AVHWDeviceContext of a painter that reads motion fields on its device; or NULL
 * @return the number of vectors or an AVERROR code
 */
int ff_mvview_field_read(MvviewField *f, const AVFrame *frame, const MvviewConfig *cfg, const void *device_ctx);

/** Runs a job for nb vectors, on several threads if there are enough vectors to make waking them worthwhile. */
void ff_mvview_execute(const MvviewConfig *cfg, int nb, GpumeJob job, void *arg);

/**
 * Makes the map of cells. A cell belongs to the block that contains its first sample. If several
 * blocks contain it, the last block with a past vector wins, else the last block.
 */
int ff_mvview_field_map(MvviewField *f);

/**
 * Chooses the vectors that are drawn as arrows, and calls add() for each of them, past vectors first.
 * The picture is divided into squares of the given side. In each square and for each direction, the
 * vector that begins nearest to the middle is chosen, or the first of them if distances are equal. If
 * side is 0, all vectors are chosen.
 */
int ff_mvview_field_choose(MvviewField *f, int side,
                           int (*add)(void *opaque, const MvviewVector *v), void *opaque);

/** Returns the length of a vector, in units of 1/MVVIEW_UNITS sample. */
uint32_t ff_mvview_length(const MvviewVector *v);

void ff_mvview_field_free(MvviewField *f);

#endif /* AVFILTER_GPUME_MVVIEW_FIELD_H */
