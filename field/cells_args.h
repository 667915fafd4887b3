/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * From blocks to cells: what reads a motion field has cells of a size of its own, squares in rows
 * from the picture's first sample on, each of which has the vector of the block that one of its
 * samples is in. Read by the host and by device code.
 */

#ifndef AVFILTER_GPUME_FIELD_CELLS_ARGS_H
#define AVFILTER_GPUME_FIELD_CELLS_ARGS_H

#include "libavfilter/gpume/field/blockvector.h"

/** The cells of a picture. */
typedef struct GpumeCells {
    int w, h;                   ///< of the picture, samples
    int log2_side;
    /** Which of a cell's samples counts, from 0 on, both ways; the picture's last where that is nearer. */
    int sample;
    int cols, rows;
} GpumeCells;

/** A cell's vector, in quarter samples. */
typedef struct GpumeCellVector {
    short x, y;                 ///< x = GPUME_NO_VECTOR: there is none
} GpumeCellVector;

#define GPUME_NO_VECTOR (-32768)
/** Longest component of a cell's vector. */
#define GPUME_LONGEST 32000

/** Where the cells' vectors of one motion field are. Addresses are the host's or a device's. */
typedef struct GpumeCellSource {
    unsigned long long mvs;     ///< AVMotionVector[], on the host not aligned; 0: there are none
    /** If not 0 a list of blocks: unsigned[rows][cols], of each cell 1 + its vector's index, 0 without any. */
    unsigned long long map;
    int log2_block, bw;         ///< else blocks of one size in raster order: their side, and how many are in a row
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

/** Returns the place of a column, or row, of cells: its sample that counts, of length. */
GPUME_INLINE int gpume_cell_place(const GpumeCells *c, int cell, int length)
{
    return FFMIN((cell << c->log2_side) + c->sample, length - 1);
}

/** Returns the first column, or row, whose place is at or behind a sample; all nb of length samples if none is. */
GPUME_INLINE int gpume_cell_from(const GpumeCells *c, int sample, int length, int nb)
{
    return sample > gpume_cell_place(c, nb - 1, length) ? nb :
           av_clip((sample - c->sample + (1 << c->log2_side) - 1) >> c->log2_side, 0, nb - 1);
}

/** Some of the cells. */
typedef struct GpumeCellBox {
    int x0, y0, x1, y1;         ///< the first ones, and those behind the last ones
} GpumeCellBox;

/** Returns the cells whose place is in a block. */
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

/** Returns the number, in raster order, of the block that a cell's place is in, of blocks of one size. */
GPUME_INLINE int gpume_block_of_cell(const GpumeCells *c, const GpumeCellSource *s, int x, int y)
{
    return (gpume_cell_place(c, y, c->h) >> s->log2_block) * s->bw +
           (gpume_cell_place(c, x, c->w) >> s->log2_block);
}

/** Returns the vector of a cell in this block. */
GPUME_INLINE GpumeCellVector gpume_cell_vector(const GpumeBlockVector *v)
{
    GpumeCellVector cell;

    cell.x = (short)av_clip((v->dx + GPUME_UNITS / 8) >> 2, -GPUME_LONGEST, GPUME_LONGEST);
    cell.y = (short)av_clip((v->dy + GPUME_UNITS / 8) >> 2, -GPUME_LONGEST, GPUME_LONGEST);
    return cell;
}

#endif /* AVFILTER_GPUME_FIELD_CELLS_ARGS_H */
