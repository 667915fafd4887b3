/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What the CUDA painter's host side and its kernels share. Addresses are the device's.
 */

#ifndef AVFILTER_GPUME_MVVIEW_CUDA_ARGS_H
#define AVFILTER_GPUME_MVVIEW_CUDA_ARGS_H

#include "libavfilter/gpume/field/field_args.h"
#include "libavfilter/gpume/mvview/shape.h"

/** Side of a cell of the flow, in samples. */
#define MVVIEW_CUDA_CELL   4

/** A tile: bytes of a row of the first plane, and rows of it. */
#define MVVIEW_CUDA_TILE_BYTES 128
#define MVVIEW_CUDA_TILE_ROWS   16
/** Threads that paint a tile of a plane, and words of four bytes that each has at a time. */
#define MVVIEW_CUDA_THREADS    128
#define MVVIEW_CUDA_WORDS        4
/** Thread blocks that a multiprocessor has at once, at least. */
#define MVVIEW_CUDA_CTAS         8
/** Shapes that are prepared at a time. */
#define MVVIEW_CUDA_SHAPES      64
/** Threads of a block that maps vectors. */
#define MVVIEW_CUDA_MAP_THREADS 128
#define MVVIEW_CUDA_PLANES       4

/** Bit of a vector that points into the future; a picture has fewer cells. */
#define MVVIEW_CUDA_FUTURE 0x8000

/** A vector of a list: its colour is that of (dx, dy), its cells are those from x0 to before x1, and so on. */
typedef struct MvviewCudaVector {
    unsigned short x0, y0, x1;
    unsigned short y1;          ///< with MVVIEW_CUDA_FUTURE
    int dx, dy;
} MvviewCudaVector;

/** A vector's colour, by component. */
typedef struct MvviewCudaColour {
    unsigned short comp[4];
} MvviewCudaColour;

typedef struct MvviewCudaPlane {
    int w, h;                   ///< samples
    int hsub, vsub;
    int log2_step;              ///< of the words of a sample
    unsigned comps;             ///< a byte for each word of a sample: which component, 255: left alone
    int painted;
    int background;             ///< enum MvviewBackground, as it concerns this plane
} MvviewCudaPlane;

/** What follows from a canvas. */
typedef struct MvviewCudaCanvas {
    MvviewCudaPlane planes[MVVIEW_CUDA_PLANES];
    long long matrix[3][3], offset[3];
    MvviewCudaColour inks[MVVIEW_NB_INKS];  ///< by enum MvviewInk
    unsigned long long font[MVVIEW_NB_GLYPHS];
} MvviewCudaCanvas;

/** A shape that begins at the sample (x, y). */
typedef struct MvviewCudaOp {
    int x, y;
    int a, b;                   ///< of MvviewShape, as the others
    int unit;
    unsigned char kind, variant;
} MvviewCudaOp;

/** In shared memory: a shape of the tile, ready to be drawn. */
typedef struct MvviewCudaShape {
    int x, y;
    int left, right, top, bottom;       ///< samples of the picture that it can touch
    int kind, a, b, variant, unit;
    MvviewArrow arrow;
    int below[4], above[4];             ///< colours by component
} MvviewCudaShape;

/** Shared memory of a tile. */
typedef struct MvviewCudaShared {
    MvviewCudaShape shapes[MVVIEW_CUDA_SHAPES];
    unsigned found[MVVIEW_CUDA_SHAPES + MVVIEW_CUDA_THREADS];   ///< shapes that touch the tile
    int counts[MVVIEW_CUDA_THREADS / 32];                       ///< of them each warp's
    MvviewText text;                    ///< of a shape of kind MVVIEW_NUMBER
} MvviewCudaShared;

/** The motion fields of a frame, and which shapes they become. */
typedef struct MvviewCudaFields {
    int nb;                     ///< 0: vectors and shapes are in lists
    GpumeMotionField fields[2]; ///< of one grid, past first
    int mode;                   ///< enum MvviewMode
    int per_square;             ///< blocks each way that have one arrow
    int side;                   ///< of such a square, samples
    int scale;                  ///< of MvviewConfig
    int unit, arrow_unit;       ///< of the legend, and of arrows
    int legend;
    unsigned max;               ///< length of full saturation; 0: the longest
    unsigned long long longest; ///< unsigned: length of the longest vector
} MvviewCudaFields;

/** Parameters of the kernel that measures vectors, or gives them their colours and cells their vectors. */
typedef struct MvviewCudaMapArgs {
    MvviewCudaFields fields;
    unsigned long long vectors; ///< MvviewCudaVector[nb]
    unsigned long long canvas;  ///< MvviewCudaCanvas
    unsigned long long next;    ///< unsigned: becomes 0; the kernel makes fields.longest. 0: it makes colours
    unsigned long long colours; ///< MvviewCudaColour[nb]: written
    /** For each cell, the greatest of its vectors' 1 + index, plus nb for one into the past. 0 before. */
    unsigned long long cells;
    int nb;                     ///< vectors, or blocks of a field
    int cells_w;
    int nb_comps, depth;
} MvviewCudaMapArgs;

/** Where a plane's samples are. */
typedef struct MvviewCudaSamples {
    unsigned long long src, dst;
    long long src_linesize, dst_linesize;
} MvviewCudaSamples;

/** Parameters of the kernel that paints; blocks of threads are tiles across, down, and planes. */
typedef struct MvviewCudaPaintArgs {
    MvviewCudaFields fields;
    MvviewCudaSamples samples[MVVIEW_CUDA_PLANES];
    unsigned long long canvas;  ///< MvviewCudaCanvas
    unsigned long long ops;     ///< MvviewCudaOp
    unsigned long long first;   ///< unsigned for each tile and one more: where in the list its shapes begin; 0: none
    unsigned long long list;    ///< unsigned: indices of ops, each tile's in the order of drawing
    unsigned long long colours; ///< MvviewCudaColour; 0: there is no flow
    unsigned long long cells;   ///< as MvviewCudaMapArgs.cells; 0: they follow from the fields
    int has_background;         ///< 0: the samples stay
    int nb_vectors;
    int cells_w;
    int tiles_x;
    int tile_width;             ///< samples
    int opacity;                ///< 0 to MVVIEW_FULL
    int depth, shift;           ///< of samples; shift: bits below them
    int gray[3];                ///< parts of red, green and blue in luma; their sum is 1 << 16
    int nb_comps;
} MvviewCudaPaintArgs;

#endif /* AVFILTER_GPUME_MVVIEW_CUDA_ARGS_H */
