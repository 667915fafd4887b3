/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Maps blocks to cells. Users of a motion field have cells of their own size: squares in rows from
 * the picture's first sample on. One sample of each cell is its position; the cell has the vector
 * of the block that contains this position. The host and device code include this file.
 */

#ifndef AVFILTER_GPUME_FIELD_CELLS_ARGS_H
#define AVFILTER_GPUME_FIELD_CELLS_ARGS_H

#include "libavfilter/gpume/field/blockvector.h"

/** The cells of a picture. */
typedef struct GpumeCells {
    int w, h;                   ///< size of the picture, samples
    int log2_side;
    /** Offset of a cell's position from its first sample, in both directions; limited to the picture. */
    int sample;
    int cols, rows;
} GpumeCells;

/** A cell's vector, in quarter samples. */
typedef struct GpumeCellVector {
    short x, y;                 ///< x = GPUME_NO_VECTOR: the cell has no vector
} GpumeCellVector;

#define GPUME_NO_VECTOR (-32768)
/** Largest magnitude of a component of a cell's vector. */
#define GPUME_LONGEST 32000

/** The vectors of one motion field, from which cells are read. Addresses are host or device addresses. */
typedef struct GpumeCellSource {
    unsigned long long mvs;     ///< AVMotionVector[], on the host not aligned; 0: none
    /** If not 0, the field is a list of blocks: unsigned[rows][cols], for each cell 1 + its vector's index, or 0. */
    unsigned long long map;
    int log2_block, bw;         ///< if map is 0: log2 of the side of a block, and number of blocks in a row; blocks
                                ///< are in raster order
} GpumeCellSource;

/** Returns the cells of a picture. @param sample GpumeCells.sample */
GPUME_INLINE GpumeCells gpume_cells(int w, int h, int log2_side, int sample)
{
    GpumeCells c;

    c.w         = w;
    c.h         = h;
    c.log2_side = log2_side;
    c.sample    = sample;
    c.cols      = (w + (1 << log2_side) - 1) >> log2_side;
    c.rows      = (h + (1 << log2_side) - 1) >> log2_side;
    return c;
}

/** Returns the position of a column, or row, of cells in a picture of this length. */
GPUME_INLINE int gpume_cell_place(const GpumeCells *c, int cell, int length)
{
    return FFMIN((cell << c->log2_side) + c->sample, length - 1);
}

/** Returns the first column, or row, of cells whose position is at or after a sample, or nb if there is none. */
GPUME_INLINE int gpume_cell_from(const GpumeCells *c, int sample, int length, int nb)
{
    return sample > gpume_cell_place(c, nb - 1, length) ? nb :
           av_clip((sample - c->sample + (1 << c->log2_side) - 1) >> c->log2_side, 0, nb - 1);
}

/** A rectangle of cells. */
typedef struct GpumeCellBox {
    int x0, y0, x1, y1;         ///< x0 and y0 are inclusive, x1 and y1 exclusive
} GpumeCellBox;

/** Returns the cells whose position is in a block. */
GPUME_INLINE GpumeCellBox gpume_cells_of_block(const GpumeCells *c, const GpumeBlockVector *v)
{
    const int left = gpume_block_left(v), top = gpume_block_top(v);
    GpumeCellBox b;

    b.x0 = gpume_cell_from(c, left,        c->w, c->cols);
    b.x1 = gpume_cell_from(c, left + v->w, c->w, c->cols);
    b.y0 = gpume_cell_from(c, top,         c->h, c->rows);
    b.y1 = gpume_cell_from(c, top + v->h,  c->h, c->rows);
    return b;
}

/** Returns the index of the block that contains a cell's position, for blocks of one size in raster order. */
GPUME_INLINE int gpume_block_of_cell(const GpumeCells *c, const GpumeCellSource *s, int x, int y)
{
    return (gpume_cell_place(c, y, c->h) >> s->log2_block) * s->bw +
           (gpume_cell_place(c, x, c->w) >> s->log2_block);
}

/** Returns the vector of a cell of this block. */
GPUME_INLINE GpumeCellVector gpume_cell_vector(const GpumeBlockVector *v)
{
    GpumeCellVector cell;

    cell.x = (short)av_clip((v->dx + GPUME_UNITS / 8) >> 2, -GPUME_LONGEST, GPUME_LONGEST);
    cell.y = (short)av_clip((v->dy + GPUME_UNITS / 8) >> 2, -GPUME_LONGEST, GPUME_LONGEST);
    return cell;
}

#endif /* AVFILTER_GPUME_FIELD_CELLS_ARGS_H */
