/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What the CUDA backend's host side and its kernels share. Addresses are the device's.
 */

#ifndef AVFILTER_GPUME_MVFPS_CUDA_ARGS_H
#define AVFILTER_GPUME_MVFPS_CUDA_ARGS_H

#include "libavfilter/gpume/mvfps/arithmetic.h"
#include "libavfilter/gpume/picture/cuda_args.h"

/** Threads of a thread block; a thread has a cell. */
#define MVFPS_CUDA_MAP_THREADS  128
/** Threads of a thread block that looks for a cut. */
#define MVFPS_CUDA_SCENE_THREADS 256
/** The most thread blocks that tell a cut from a fade. */
#define MVFPS_CUDA_SCENE_GRID   512
/** Sides of the window that a block of a small picture is searched in; rows have a word more, which is read, too. */
#define MVFPS_CUDA_WINDOW_W (MVFPS_DETAIL_BLOCK + 2 * MVFPS_DETAIL_RANGE_X + 4)
#define MVFPS_CUDA_WINDOW_H (MVFPS_DETAIL_BLOCK + 2 * MVFPS_DETAIL_RANGE_Y)
/** Warps of a block that chooses vectors, each of which has a cell. */
#define MVFPS_CUDA_VECTOR_WARPS   8
/** Words of shared memory of such a warp: for each candidate two. */
#define MVFPS_CUDA_VECTOR_WORDS  64
/** Warps of a block that makes the picture, each of which has a tile. */
#define MVFPS_CUDA_TILE_WARPS     4
/** Words of shared memory of such a warp: columns of both matches. */
#define MVFPS_CUDA_TILE_WORDS   320

/** The state of the search for a cut in a pair; all 0 before. */
typedef struct MvfpsCudaScene {
    unsigned long long cost, detail;    ///< of the small pictures' blocks
    MvfpsLights lights;
    unsigned nb_done[2];        ///< thread blocks of each step
    unsigned is_new;            ///< there is a cut or a fade
    unsigned is_cut;
} MvfpsCudaScene;

/** Parameters of the kernels that make the detail of a picture. */
typedef struct MvfpsCudaDetailArgs {
    unsigned long long picture; ///< its sample (0, 0)
    unsigned long long means;   ///< unsigned short[rows][cols]
    unsigned long long detail;  ///< unsigned char[rows][cols]
    int stride;
    int w, h;
    int step;                   ///< side of the squares that the means are of
    int cols, rows;
    int depth;
} MvfpsCudaDetailArgs;

/** Parameters of the kernel that looks for the detail of each picture in the other. */
typedef struct MvfpsCudaMatchArgs {
    unsigned long long scene;   ///< MvfpsCudaScene
    unsigned long long before, after;   ///< unsigned char[rows][cols]
    int cols, rows;
    int grid;                   ///< thread blocks
    double threshold;
} MvfpsCudaMatchArgs;

/** Parameters of the kernel that counts squares of two pictures by their difference. */
typedef struct MvfpsCudaRepeatArgs {
    unsigned long long first, frame;    ///< sample (0, 0)
    long long first_linesize, frame_linesize;
    unsigned long long bins;    ///< unsigned[MVFPS_REPEAT_BINS]
    int w, h;
    int nb;                     ///< squares
    int depth, shift;
} MvfpsCudaRepeatArgs;

/** Parameters of the kernel that tells a cut from a fade. */
typedef struct MvfpsCudaSceneArgs {
    unsigned long long scene;   ///< MvfpsCudaScene
    unsigned long long before, after;   ///< their samples (0, 0)
    int stride;
    int w, h;
    int nb;                     ///< squares
    int grid;                   ///< thread blocks
    int depth;
} MvfpsCudaSceneArgs;

/** The fields of a pair, as MvfpsFields has them. */
typedef struct MvfpsCudaFields {
    unsigned long long before_future, after_past, before_past, after_future;
    int cols, rows;
} MvfpsCudaFields;

/** Parameters of the kernels that choose the vectors at a phase. */
typedef struct MvfpsCudaVectorsArgs {
    MvfpsCudaFields fields;
    unsigned long long is_cut;  ///< unsigned: nothing is to be done if it is not 0; may be missing
    unsigned long long before, after;   ///< their samples (0, 0)
    unsigned long long from, to;        ///< MvfpsVector of each cell
    int stride;
    int w, h;
    int part;
    int depth;
} MvfpsCudaVectorsArgs;

/** Parameters of the kernel that finds the offsets of cells. */
typedef struct MvfpsCudaOffsetsArgs {
    MvfpsCudaFields fields;
    unsigned long long is_cut;  ///< as above
    unsigned long long vectors, offsets;    ///< MvfpsVector of each cell
    MvfpsRates rates;
    int part;
} MvfpsCudaOffsetsArgs;

/** Words of the table that the kernel of tiles reads. */
enum {
    MVFPS_CUDA_TAPS   = 0,      ///< for each sixteenth four taps, as bytes
    MVFPS_CUDA_WINDOW = 16,     ///< for each place in a tile's row, or column, the windows of four cells, as bytes
    MVFPS_CUDA_CHROMA_X = 24,   ///< the same of chroma
    MVFPS_CUDA_CHROMA_Y = 32,
    MVFPS_CUDA_TABLE  = 40
};

/** Parameters of the kernel that makes the picture. */
typedef struct MvfpsCudaTilesArgs {
    MvfpsCudaFields fields;
    unsigned long long is_cut;  ///< as above
    unsigned long long vectors; ///< MvfpsVector of each cell
    unsigned long long offsets; ///< the same, in 1/16 sample; 0: all are 0
    unsigned long long table;   ///< unsigned[MVFPS_CUDA_TABLE]
    /** The output's planes; first is that of the picture before. */
    GpumeCudaComponent components[GPUME_CUDA_COMPONENTS];
    long long behind;           ///< bytes from the copy of the picture before to that of the one after
    int nb_components;
    int part;
    int depth, shift;
} MvfpsCudaTilesArgs;

typedef struct MvfpsCudaPlane {
    unsigned long long before, after, dst;
    long long before_linesize, after_linesize, dst_linesize;
    int bytes, h;               ///< of a row, and rows
} MvfpsCudaPlane;

/** Operations on both pictures, sample by sample. */
enum MvfpsCudaMean {
    MVFPS_CUDA_NOTHING,
    MVFPS_CUDA_MEAN,
    MVFPS_CUDA_BEFORE,
    MVFPS_CUDA_AFTER
};

/** Parameters of the kernel that makes means and copies; blocks z: planes. */
typedef struct MvfpsCudaMeanArgs {
    MvfpsCudaPlane planes[GPUME_CUDA_COMPONENTS];
    unsigned long long is_cut;  ///< may be missing
    int made, made_at_cut;      ///< enum MvfpsCudaMean
    int part;
    int shift;
} MvfpsCudaMeanArgs;

#endif /* AVFILTER_GPUME_MVFPS_CUDA_ARGS_H */
