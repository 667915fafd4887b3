/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The arguments of the kernels that search blocks of 4 to 64 bytes at once. Read by the host and by device code.
 */

#ifndef AVFILTER_GPUME_CUDA_SUMS_ARGS_H
#define AVFILTER_GPUME_CUDA_SUMS_ARGS_H

#include "libavfilter/gpume/cuda/search_args.h"

/** Side of a tile, whose costs are kept for each of its candidates. */
#define GPUME_CUDA_SUMS_TILE 16
/** Side of a square of tiles, of which a warp each searches one; and their threads. */
#define GPUME_CUDA_SQUARES_SIDE 32
#define GPUME_CUDA_SQUARES_THREADS \
    (32 * GPUME_CUDA_SQUARES_SIDE / GPUME_CUDA_SUMS_TILE * GPUME_CUDA_SQUARES_SIDE / GPUME_CUDA_SUMS_TILE)
/** Words in which they show each other costs: windows of four copies are of bytes, whose costs are halves of words. */
#define GPUME_CUDA_SQUARES_SHOWN(copies) \
    (GPUME_CUDA_SQUARES_THREADS * GPUME_CUDA_RUNS_DX * ((copies) == 4 ? 1 : 2))
/** Side of the largest blocks, and of what a block of threads joins; tiles in a row of it. */
#define GPUME_CUDA_JOIN_SIDE 64
#define GPUME_CUDA_JOIN_TILES (GPUME_CUDA_JOIN_SIDE / GPUME_CUDA_SUMS_TILE)
/** And its threads, at most; at least half of them: a row of costs has no more words of two. */
#define GPUME_CUDA_JOIN_THREADS 256
/** Costs that a thread of it loads at once. */
#define GPUME_CUDA_SUMS_TOGETHER 4

/** Sizes of blocks that there are kernels for: 4, 8, 16, 32 and 64; and which of them a side is. */
#define GPUME_CUDA_NB_SUMMED 5
#define GPUME_CUDA_SUMMED(side) ((side) == 4 ? 0 : (side) == 8 ? 1 : (side) == 16 ? 2 : (side) == 32 ? 3 : 4)

/** Where vectors of blocks of a size go, as in GpumeCudaArgs; costs 0: they are not wanted. */
typedef struct GpumeCudaSumsSize {
    unsigned long long mvs, vectors, costs;
} GpumeCudaSumsSize;

/** A strip of the picture: rows of tiles, and what they join to. */
typedef struct GpumeCudaSumsArgs {
    GpumeCudaArgs search;       ///< of one field, of blocks of 4 or 8
    GpumeCudaSumsSize sizes[GPUME_CUDA_NB_SUMMED];
    /**
     * uint32_t[squares][2 * range + 1][pitch]: the costs of displacement (dx, dy) of a square of the strip, by
     * dy + range and place of dx. 0: they are not kept.
     */
    unsigned long long sums;
    int pitch;                  ///< a multiple of GPUME_CUDA_SUMS_TOGETHER
    int across;                 ///< squares in a row
    int first_row;              ///< of tiles, of the strip; it begins with a row of the largest blocks
} GpumeCudaSumsArgs;

#endif /* AVFILTER_GPUME_CUDA_SUMS_ARGS_H */
