/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Defines what the host code and the kernels of the CUDA painter share. Addresses are device
 * addresses.
 */

#ifndef AVFILTER_GPUME_MVVIEW_CUDA_ARGS_H
#define AVFILTER_GPUME_MVVIEW_CUDA_ARGS_H

#include "libavfilter/gpume/field/field_args.h"
#include "libavfilter/gpume/mvview/shape.h"

/** Side of a cell of the flow, in samples. */
#define MVVIEW_CUDA_CELL   4

/** Size of a tile: bytes in a row of the first plane, and number of rows. */
#define MVVIEW_CUDA_TILE_BYTES 128
#define MVVIEW_CUDA_TILE_ROWS   16
/** Number of threads that paint a tile of a plane, and words of four bytes that a thread paints at a time. */
#define MVVIEW_CUDA_THREADS    128
#define MVVIEW_CUDA_WORDS        4
/** Minimum number of thread blocks that a multiprocessor runs at once. */
#define MVVIEW_CUDA_CTAS         8
/** Number of shapes that are prepared at a time. */
#define MVVIEW_CUDA_SHAPES      64
/** Number of threads in a thread block that maps vectors. */
#define MVVIEW_CUDA_MAP_THREADS 128
#define MVVIEW_CUDA_PLANES       4

/** Bit of MvviewCudaVector.y1 that marks vectors into the future; a picture has fewer cells. */
#define MVVIEW_CUDA_FUTURE 0x8000

/** A vector (dx, dy) of a list. It covers the cells from (x0, y0) inclusive to (x1, y1) exclusive. */
typedef struct MvviewCudaVector {
    unsigned short x0, y0, x1;
    unsigned short y1;          ///< combined with MVVIEW_CUDA_FUTURE
    int dx, dy;
} MvviewCudaVector;

/** A vector's colour, by component. */
typedef struct MvviewCudaColour {
    unsigned short comp[4];
} MvviewCudaColour;

typedef struct MvviewCudaPlane {
    int w, h;                   ///< samples
    int hsub, vsub;
    int log2_step;              ///< log2 of the number of words of a sample
    unsigned comps;             ///< a byte for each word of a sample: its component; 255: the word is not painted
    int painted;
    int background;             ///< enum MvviewBackground, as it applies to this plane
} MvviewCudaPlane;

/** The parts of a canvas that the kernels read. */
typedef struct MvviewCudaCanvas {
    MvviewCudaPlane planes[MVVIEW_CUDA_PLANES];
    long long matrix[3][3], offset[3];
    MvviewCudaColour colours[MVVIEW_NB_COLOURS];  ///< by enum MvviewColourName
    unsigned long long font[MVVIEW_NB_GLYPHS];
} MvviewCudaCanvas;

/** A shape that begins at the sample (x, y). */
typedef struct MvviewCudaOp {
    int x, y;
    int a, b;                   ///< MvviewShape.a and b, as the fields below
    int unit;
    unsigned char kind, variant;
} MvviewCudaOp;

/** A shape of the tile, prepared for drawing; lies in shared memory. */
typedef struct MvviewCudaShape {
    int x, y;
    int left, right, top, bottom;       ///< samples of the picture that the shape can touch
    int kind, a, b, variant, unit;
    MvviewArrow arrow;
    int below[4], above[4];             ///< colours, by component
} MvviewCudaShape;

/** Shared memory of a thread block. */
typedef struct MvviewCudaShared {
    MvviewCudaShape shapes[MVVIEW_CUDA_SHAPES];
    unsigned found[MVVIEW_CUDA_SHAPES + MVVIEW_CUDA_THREADS];   ///< shapes that touch the tile
    int counts[MVVIEW_CUDA_THREADS / 32];                       ///< number of shapes that each warp found
    MvviewText text;                    ///< text of a shape of kind MVVIEW_NUMBER
} MvviewCudaShared;

/** The motion fields of a frame, and the parameters of the shapes that are derived from them. */
typedef struct MvviewCudaFields {
    int nb;                     ///< 0: vectors and shapes are in lists
    GpumeMotionField fields[2]; ///< the past field first; both have the same grid of blocks
    int mode;                   ///< enum MvviewMode
    int per_square;             ///< number of blocks in each direction that share one arrow
    int side;                   ///< side of the square that these blocks form, in samples
    int scale;                  ///< MvviewConfig.scale
    int unit, arrow_unit;       ///< line widths of the legend and of arrows
    int legend;
    unsigned max;               ///< length of full saturation; 0: the length of the longest vector
    unsigned long long longest; ///< unsigned: length of the longest vector
} MvviewCudaFields;

/** Parameters of the kernel that finds the longest vector, or the colour of each vector and the vector of each cell. */
typedef struct MvviewCudaMapArgs {
    MvviewCudaFields fields;
    unsigned long long vectors; ///< MvviewCudaVector[nb]
    unsigned long long canvas;  ///< MvviewCudaCanvas
    unsigned long long next;    ///< unsigned: set to 0 while the kernel computes fields.longest; 0: the kernel
                                ///< computes colours
    unsigned long long colours; ///< MvviewCudaColour[nb]: output
    /**
     * For each cell, the maximum of 1 + index over its vectors; nb is added for vectors into the
     * past. Starts at 0.
     */
    unsigned long long cells;
    int nb;                     ///< number of vectors, or of blocks of a field
    int cells_w;
    int nb_comps, depth;
} MvviewCudaMapArgs;

/** The addresses of a plane's samples. */
typedef struct MvviewCudaSamples {
    unsigned long long src, dst;
    long long src_linesize, dst_linesize;
} MvviewCudaSamples;

/** Parameters of the kernel that paints; the grid is tiles across, tiles down, planes. */
typedef struct MvviewCudaPaintArgs {
    MvviewCudaFields fields;
    MvviewCudaSamples samples[MVVIEW_CUDA_PLANES];
    unsigned long long canvas;  ///< MvviewCudaCanvas
    unsigned long long ops;     ///< MvviewCudaOp
    unsigned long long first;   ///< unsigned for each tile and one more: index in the list of the tile's first shape;
                                ///< 0: no list
    unsigned long long list;    ///< unsigned: indices into ops; those of a tile are in the order of drawing
    unsigned long long colours; ///< MvviewCudaColour; 0: there is no flow
    unsigned long long cells;   ///< MvviewCudaMapArgs.cells; 0: cells follow from the fields
    int has_background;         ///< 0: the background is not painted
    int nb_vectors;
    int cells_w;
    int tiles_x;
    int tile_width;             ///< samples
    int opacity;                ///< 0 to MVVIEW_FULL
    int depth, shift;           ///< depth of samples, and number of bits below them
    int gray[3];                ///< weights of red, green and blue in luma; their sum is 1 << 16
    int nb_comps;
} MvviewCudaPaintArgs;

#endif /* AVFILTER_GPUME_MVVIEW_CUDA_ARGS_H */
