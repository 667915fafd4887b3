/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Reads a motion field of a frame cell by cell: either a field of gpume that travels with the
 * frame, or vectors of any filter's side data. Both give the same cells.
 */

#ifndef AVFILTER_GPUME_FIELD_CELLS_H
#define AVFILTER_GPUME_FIELD_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "libavutil/common.h"
#include "libavutil/frame.h"

#include "libavfilter/gpume/field/cells_args.h"
#include "libavfilter/gpume/field/field_args.h"

/** Returns the source of the cells of a field that travels with a frame. */
static inline GpumeCellSource gpume_cell_source(const GpumeMotionField *f)
{
    return (GpumeCellSource) { .mvs = f->mvs, .log2_block = av_log2(f->block), .bw = f->bw };
}

/** Must be zeroed before the first use. */
typedef struct GpumeCellField {
    GpumeCells cells;
    int distance;
    GpumeCellSource source;     ///< in memory; source.map is set by ff_gpume_cells_alloc()
    int is_list;                ///< whether the field is a list, in which blocks can be anywhere, and which may
                                ///< contain vectors of other fields
    size_t nb;                  ///< number of vectors from source.mvs on; 0: there is no such field
    uint32_t *map;
    unsigned allocated;         ///< allocated size of the map
} GpumeCellField;

/**
 * Finds the field of a distance, in pictures. Its vectors stay in the frame.
 * @return whether there is a field with a block in the picture
 */
int ff_gpume_cells_find(GpumeCellField *f, const GpumeCells *cells, const AVFrame *frame, int distance);

/** Allocates the map that ff_gpume_cells_map() fills. @return 0 or AVERROR(ENOMEM) */
int ff_gpume_cells_alloc(GpumeCellField *f);

/** Maps each cell to a vector of the list. If several vectors cover a cell, the last of them is taken. */
void ff_gpume_cells_map(GpumeCellField *f);

/** Writes the vectors of rows first to end - 1 of cells. A list needs ff_gpume_cells_map() before. */
void ff_gpume_cells_fill(const GpumeCellField *f, GpumeCellVector *cells, int first, int end);

/** Reads vector i of the field. @return 0 if it belongs to another field, or has no block in the picture */
int ff_gpume_cells_read(GpumeBlockVector *v, const GpumeCellField *f, size_t i);

void ff_gpume_cells_free(GpumeCellField *f);

#endif /* AVFILTER_GPUME_FIELD_CELLS_H */
