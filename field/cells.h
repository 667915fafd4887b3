/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * A motion field of a frame, cell by cell: one that travels with the frame, or the vectors of
 * its side data whoever made them. Both give the same cells.
 */

#ifndef AVFILTER_GPUME_FIELD_CELLS_H
#define AVFILTER_GPUME_FIELD_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "libavutil/common.h"
#include "libavutil/frame.h"

#include "libavfilter/gpume/field/cells_args.h"
#include "libavfilter/gpume/field/field_args.h"

/** Returns where the cells' vectors of a field are, which travels with a frame. */
static inline GpumeCellSource gpume_cell_source(const GpumeMotionField *f)
{
    return (GpumeCellSource) { .mvs = f->mvs, .log2_block = av_log2(f->block), .bw = f->bw };
}

/** Blank before the first use. */
typedef struct GpumeCellField {
    GpumeCells cells;
    int distance;
    GpumeCellSource source;     ///< in memory; source.map is set by ff_gpume_cells_alloc()
    int is_list;                ///< blocks can be anywhere, and vectors may be of other fields
    size_t nb;                  ///< vectors from source.mvs on; 0: there is no such field
    uint32_t *map;
    unsigned allocated;         ///< of it
} GpumeCellField;

/**
 * Finds the field of a distance, in pictures, whose vectors stay with the frame.
 * @return whether there is one with a block in the picture
 */
int ff_gpume_cells_find(GpumeCellField *f, const GpumeCells *cells, const AVFrame *frame, int distance);

/** Gets room for what ff_gpume_cells_map() makes. @return 0 or AVERROR(ENOMEM) */
int ff_gpume_cells_alloc(GpumeCellField *f);

/** Finds out which vector of a list each cell has: of several the last one. */
void ff_gpume_cells_map(GpumeCellField *f);

/** Writes the vectors of some rows of cells, after ff_gpume_cells_map() if it is a list. */
void ff_gpume_cells_fill(const GpumeCellField *f, GpumeCellVector *cells, int first, int end);

/** Reads vector i of the field's nb. @return 0 if it is of another field, or without a block in the picture */
int ff_gpume_cells_read(GpumeBlockVector *v, const GpumeCellField *f, size_t i);

void ff_gpume_cells_free(GpumeCellField *f);

#endif /* AVFILTER_GPUME_FIELD_CELLS_H */
