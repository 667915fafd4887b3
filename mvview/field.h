/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The vectors of a frame that are to be drawn: read from its side data, whoever made it, or, where
 * a painter does that itself, the motion fields in which they lie.
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
    GpumeCells cells;           ///< of the flow, in the picture
    int nb;                     ///< vectors
    int nb_future;
    int side;                   ///< of the largest block

    /** Fields of one grid, on the painter's device, past first; their vectors are not here then. */
    GpumeMotionField fields[2];
    int nb_fields;              ///< 0: here are the vectors

    MvviewVector *vectors;
    uint32_t longest;           ///< length, in the same units
    unsigned allocated, map_allocated, squares_allocated;

    uint32_t *map;              ///< of each cell 1 + the index of its vector, or 0: none
    struct MvviewSquare *squares;
} MvviewField;

/**
 * Reads what a frame has.
 * @param device_ctx AVHWDeviceContext of a painter that reads motion fields which lie there; or NULL
 * @return number of vectors or an error
 */
int ff_mvview_field_read(MvviewField *f, const AVFrame *frame, const MvviewConfig *cfg, const void *device_ctx);

/** Run a job in as many parts as so many vectors are worth. */
void ff_mvview_execute(const MvviewConfig *cfg, int nb, GpumeJob job, void *arg);

/**
 * Make the map of cells. A cell belongs to the block that its first sample lies in: to the
 * last of several, but to one with a past vector if there is one.
 */
int ff_mvview_field_map(MvviewField *f);

/**
 * Choose the vectors that become arrows: of each square of the given side and each direction
 * the one that begins nearest to its middle, of equals the first. A side of 0: all of them.
 * Call add() for each of them, past ones first.
 */
int ff_mvview_field_choose(MvviewField *f, int side,
                           int (*add)(void *opaque, const MvviewVector *v), void *opaque);

/** The length of a vector, in units of 1/MVVIEW_UNITS sample. */
uint32_t ff_mvview_length(const MvviewVector *v);

void ff_mvview_field_free(MvviewField *f);

#endif /* AVFILTER_GPUME_MVVIEW_FIELD_H */
