/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Declarations that the host code and the kernels of the CUDA backend share. Addresses are device
 * addresses.
 */

#ifndef AVFILTER_GPUME_MVFPS_CUDA_ARGS_H
#define AVFILTER_GPUME_MVFPS_CUDA_ARGS_H

#include "libavfilter/gpume/mvfps/arithmetic.h"
#include "libavfilter/gpume/picture/cuda_args.h"

/** Number of threads of a thread block; a thread has a cell. */
#define MVFPS_CUDA_MAP_THREADS  128
/** Number of threads of a thread block of the scene cut detection. */
#define MVFPS_CUDA_SCENE_THREADS 256
/** Maximum number of thread blocks that decide between a cut and a fade. */
#define MVFPS_CUDA_SCENE_GRID   512
/**
 * Size of the window in which a block of a small picture is searched; rows have an additional word,
 * which is read, too.
 */
#define MVFPS_CUDA_WINDOW_W (GPUME_DETAIL_BLOCK + 2 * GPUME_DETAIL_RANGE_X + 4)
#define MVFPS_CUDA_WINDOW_H (GPUME_DETAIL_BLOCK + 2 * GPUME_DETAIL_RANGE_Y)
/** Number of warps of a thread block that chooses vectors; a warp has a cell. */
#define MVFPS_CUDA_VECTOR_WARPS   8
/** Words of shared memory of such a warp: two for each candidate. */
#define MVFPS_CUDA_VECTOR_WORDS  64
/** Number of warps of a thread block that makes the picture; a warp has a tile. */
#define MVFPS_CUDA_TILE_WARPS     4
/** Words of shared memory of such a warp: the columns of both matches. */
#define MVFPS_CUDA_TILE_WORDS   352

/** State of the scene cut detection of a pair; zeroed before. */
typedef struct MvfpsCudaScene {
    unsigned long long cost, detail;    ///< sums over the blocks of the small pictures that do not stand still
    unsigned long long moved;   ///< number of these blocks
    GpumeLights lights;
    unsigned nb_done[2];        ///< number of finished thread blocks of each step
    unsigned is_new;            ///< whether there is a cut or a fade
    unsigned is_cut;
} MvfpsCudaScene;

/** Parameters of the kernels that compute the detail of a picture. */
typedef struct MvfpsCudaDetailArgs {
    unsigned long long picture; ///< address of sample (0, 0)
    unsigned long long means;   ///< unsigned short[rows][cols]
    unsigned long long detail;  ///< unsigned char[rows][cols]
    int stride;
    int w, h;
    int step;                   ///< side of the squares that are averaged
    int cols, rows;
    int depth;
} MvfpsCudaDetailArgs;

/** Parameters of the kernel that searches the detail of each picture in the other. */
typedef struct MvfpsCudaMatchArgs {
    unsigned long long scene;   ///< MvfpsCudaScene
    unsigned long long before, after;   ///< unsigned char[rows][cols]
    int cols, rows;
    int grid;                   ///< number of thread blocks
    double threshold;
} MvfpsCudaMatchArgs;

/** Parameters of the kernel that counts squares of two pictures by their difference. */
typedef struct MvfpsCudaRepeatArgs {
    unsigned long long first, frame;    ///< sample (0, 0)
    long long first_linesize, frame_linesize;
    unsigned long long bins;    ///< unsigned[MVFPS_REPEAT_BINS]
    int w, h;
    int nb;                     ///< number of squares
    int depth, shift;
} MvfpsCudaRepeatArgs;

/** Parameters of the kernel that decides between a cut and a fade. */
typedef struct MvfpsCudaSceneArgs {
    unsigned long long scene;   ///< MvfpsCudaScene
    unsigned long long before, after;   ///< addresses of their samples (0, 0)
    int stride;
    int w, h;
    int nb;                     ///< number of squares
    int grid;                   ///< number of thread blocks
    int depth;
} MvfpsCudaSceneArgs;

/** The fields of a pair, see MvfpsFields. */
typedef struct MvfpsCudaFields {
    unsigned long long before_future, after_past, before_past, after_future;
    int cols, rows;
} MvfpsCudaFields;

/** Parameters of the kernels that choose the vectors at a phase, and of the one that sums samples for them. */
typedef struct MvfpsCudaVectorsArgs {
    MvfpsCudaFields fields;
    unsigned long long is_cut;  ///< unsigned: if it is not 0, the kernel does nothing; 0: no such word
    unsigned long long before, after;   ///< addresses of their samples (0, 0)
    unsigned long long from, to;        ///< MvfpsVector of each cell
    unsigned long long sums;            ///< MvfpsCellSums of each cell
    int stride;
    int w, h;
    int part;
    int depth;
} MvfpsCudaVectorsArgs;

/** Parameters of the kernel that finds the offsets of cells. */
typedef struct MvfpsCudaOffsetsArgs {
    MvfpsCudaFields fields;
    unsigned long long is_cut;  ///< see MvfpsCudaVectorsArgs
    unsigned long long vectors, offsets;    ///< MvfpsVector of each cell
    MvfpsRates rates;
    int part;
} MvfpsCudaOffsetsArgs;

/** Layout of the table that the kernel of tiles reads, in words. */
enum {
    MVFPS_CUDA_TAPS   = 0,      ///< four taps for each sixteenth of a sample, as bytes
    MVFPS_CUDA_WINDOW = 16,     ///< for each position in a tile's row or column, the windows of four cells, as bytes
    MVFPS_CUDA_CHROMA_X = 24,   ///< the windows for chroma
    MVFPS_CUDA_CHROMA_Y = 32,
    MVFPS_CUDA_LONG_TAPS = 40,  ///< six taps for each sixteenth of a sample, as bytes: four of each, then two of each
    MVFPS_CUDA_TABLE  = 72
};

/** Parameters of the kernel that makes the picture. */
typedef struct MvfpsCudaTilesArgs {
    MvfpsCudaFields fields;
    unsigned long long is_cut;  ///< see MvfpsCudaVectorsArgs
    unsigned long long vectors; ///< MvfpsVector of each cell
    unsigned long long offsets; ///< MvfpsVector of each cell, in 1/16 sample; 0: all are 0
    unsigned long long table;   ///< unsigned[MVFPS_CUDA_TABLE]
    /** The output's planes; first is the address in the copy of the earlier picture. */
    GpumeCudaComponent components[GPUME_CUDA_COMPONENTS];
    long long behind;           ///< bytes from the copy of the earlier picture to that of the later one
    int nb_components;
    int part;
    int depth, shift;
} MvfpsCudaTilesArgs;

typedef struct MvfpsCudaPlane {
    unsigned long long before, after, dst;
    long long before_linesize, after_linesize, dst_linesize;
    int bytes, h;               ///< bytes of a row, and number of rows
} MvfpsCudaPlane;

/** Operations on both pictures, sample by sample. */
enum MvfpsCudaMean {
    MVFPS_CUDA_NOTHING,
    MVFPS_CUDA_MEAN,
    MVFPS_CUDA_BEFORE,
    MVFPS_CUDA_AFTER
};

/** Parameters of the kernel that makes means and copies; dimension z of the grid: planes. */
typedef struct MvfpsCudaMeanArgs {
    MvfpsCudaPlane planes[GPUME_CUDA_COMPONENTS];
    unsigned long long is_cut;  ///< 0: no such word
    int made, made_at_cut;      ///< enum MvfpsCudaMean
    int part;
    int shift;
} MvfpsCudaMeanArgs;

#endif /* AVFILTER_GPUME_MVFPS_CUDA_ARGS_H */
