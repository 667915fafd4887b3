/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search: constants and structs that the host and the kernels share.
 */

#ifndef AVFILTER_GPUME_CUDA_FULL_SEARCH_ARGS_H
#define AVFILTER_GPUME_CUDA_FULL_SEARCH_ARGS_H

/** Maximum number of threads of a thread block in any kernel of full search. */
#define GPUME_CUDA_FULL_THREADS 256
/** Largest range for which the order of a candidate fits into 16 bits. */
#define GPUME_CUDA_FULL_MAX_RANGE 127
/** Width of the samples that are searched together, for blocks of up to 16. */
#define GPUME_CUDA_TILE_WIDTH 16

/*
 * Every candidate of blocks of up to 16 samples, and of larger blocks as sums (scan.cu).
 * Shared memory has as many copies of the window as a word has samples; each copy begins a sample
 * later than the previous one. With more than 10 bits, a word has one sample.
 */

/** Number of warps and of threads of a thread block. */
#define GPUME_CUDA_SCAN_WARPS   4
#define GPUME_CUDA_SCAN_THREADS (32 * GPUME_CUDA_SCAN_WARPS)
/** Rows of a warp's tile, for this side of the largest blocks. */
#define GPUME_CUDA_SCAN_TILE_HEIGHT(largest) ((largest) > 8 ? 16 : 8)
/** Number of candidates that a lane tests at a time, in a row (one word apart) and in a column. */
#define GPUME_CUDA_SCAN_DX 4
#define GPUME_CUDA_SCAN_DY 2
/**
 * The displacement at which a window begins: aligned to a word of bytes; with two copies, to a word
 * or, where that needs no more columns, to 16 bytes.
 */
#define GPUME_CUDA_SCAN_LEFT(range, copies)                                                             \
    ((copies) != 2 ? -(((range) + 3) & ~3) : (range) % 8 > 4 ? -(((range) + 7) & ~7) : -(((range) + 1) & ~1))
/** Displacements in a row of the window. */
#define GPUME_CUDA_SCAN_SPAN(range, copies) ((range) - GPUME_CUDA_SCAN_LEFT(range, copies) + 1)
/** Columns of SCAN_DX words in a row of the window. */
#define GPUME_CUDA_SCAN_COLUMNS(range, copies) \
    ((GPUME_CUDA_SCAN_SPAN(range, copies) + (copies) * GPUME_CUDA_SCAN_DX - 1) / ((copies) * GPUME_CUDA_SCAN_DX))
/** Positions of lanes in a row: all copies in all columns but the last, where only some copies have a position. */
#define GPUME_CUDA_SCAN_BUT_LAST(range, copies) ((copies) * (GPUME_CUDA_SCAN_COLUMNS(range, copies) - 1))
#define GPUME_CUDA_SCAN_IN_LAST(range, copies) \
    (GPUME_CUDA_SCAN_SPAN(range, copies) - GPUME_CUDA_SCAN_DX * GPUME_CUDA_SCAN_BUT_LAST(range, copies))
#define GPUME_CUDA_SCAN_PLACES(range, copies) \
    (GPUME_CUDA_SCAN_BUT_LAST(range, copies) + (GPUME_CUDA_SCAN_IN_LAST(range, copies) < (copies) ? \
                                                GPUME_CUDA_SCAN_IN_LAST(range, copies) : (copies)))
/** Words between rows of the window: consecutive rows are in different banks. */
#define GPUME_CUDA_SCAN_PITCH(copy_words, copies) ((copies) * (copy_words) + 4)

/** Sides of the largest blocks of a scan, whose area has a tile for each warp, and of blocks merged from them. */
#define GPUME_CUDA_SCAN_SQUARE  32
#define GPUME_CUDA_MERGE_SQUARE 64
/** Words in which warps exchange costs of tiles; with one byte for each sample, costs are halves of words. */
#define GPUME_CUDA_SCAN_EXCHANGED(copies) (GPUME_CUDA_SCAN_THREADS * GPUME_CUDA_SCAN_DX * ((copies) == 4 ? 1 : 2))

/** Number of block sizes of scans, which are 4, 8, 16, 32 and 64, and the index of a size. */
#define GPUME_CUDA_NB_SIZES 5
#define GPUME_CUDA_SIZE(side) ((side) == 4 ? 0 : (side) == 8 ? 1 : (side) == 16 ? 2 : (side) == 32 ? 3 : 4)

/** Where vectors of blocks of a size are stored, as in GpumeCudaArgs; costs is 0 if costs are not wanted. */
typedef struct GpumeCudaStored {
    unsigned long long mvs, vectors, costs;
} GpumeCudaStored;

/** Search of several block sizes at once: what is stored for a strip of the picture. */
typedef struct GpumeCudaTreeSearch {
    GpumeCudaStored sizes[GPUME_CUDA_NB_SIZES];
    /**
     * uint32_t[squares][2 * range + 1][pitch]: costs of displacement (dx, dy) of a square of the
     * strip, by dy + range and the position of dx. 0: costs are not kept, because there are no
     * blocks of 64.
     */
    unsigned long long sums;
    unsigned long long counts;  ///< unsigned: for each block of 64 the number of squares that are stored; 0 at first
    int pitch;                  ///< a multiple of GPUME_CUDA_SCAN_DX
    int across;                 ///< squares in a row
    int first_row;              ///< first row of squares of the strip; the strip begins with a row of the largest
                                ///< blocks
} GpumeCudaTreeSearch;

/** How these kernels divide a picture. */
typedef struct GpumeCudaFullShape {
    int across, down;           ///< a scan: tiles in a row and in a column
    int runs;                   ///< rows of candidates whose window is loaded at a time, in units of a lane's rows
    int copy_words;             ///< words in a row of each copy of the window
    int shared_words;           ///< words before those at fixed positions
    int split;                  ///< a scan: warps that share a tile
    int only_remaining;         ///< nonzero: search only the remaining squares
    int grid;                   ///< gridDim.x, which FFmpeg's headers for clang lack
} GpumeCudaFullShape;

/* Successive elimination (eliminate.cu). */

/** Number of threads of a thread block, and size of the area that it searches. */
#define GPUME_CUDA_SEA_THREADS     256
#define GPUME_CUDA_SEA_TILE_WIDTH   64
#define GPUME_CUDA_SEA_TILE_HEIGHT  32
/** Side of the square that a warp searches. */
#define GPUME_CUDA_SEA_SQUARE       16
/** Entries of a warp's list of candidates to be evaluated. */
#define GPUME_CUDA_SEA_HITS         64
/** Words of the sums of every fourth column, in a chunk of this many displacements. */
#define GPUME_CUDA_SEA_PHASE(width) (((width) + GPUME_CUDA_SEA_TILE_WIDTH) / 16)
/** Rows that are read behind the sums of a chunk: three rows of four, whose sums may have any value. */
#define GPUME_CUDA_SEA_ROWS_BEHIND  12
/** Words of shared memory; the last word of sums is read with the next word. */
#define GPUME_CUDA_SEA_SHARED(width, height, bytes)                                 \
    (GPUME_CUDA_SEA_TILE_WIDTH * GPUME_CUDA_SEA_TILE_HEIGHT * (bytes) / 4 +         \
     GPUME_CUDA_SEA_TILE_WIDTH * GPUME_CUDA_SEA_TILE_HEIGHT / 64 +                  \
     GPUME_CUDA_SEA_THREADS / 32 * (GPUME_CUDA_SEA_HITS + 32) +                     \
     ((height) + GPUME_CUDA_SEA_TILE_HEIGHT - 4 + GPUME_CUDA_SEA_ROWS_BEHIND) *     \
     4 * GPUME_CUDA_SEA_PHASE(width) + 1)

/** How elimination divides the displacements. */
typedef struct GpumeCudaSeaShape {
    int chunk_width;            ///< displacements in a row whose sums are stored at a time, a multiple of 16
    int chunk_height;           ///< displacements in a column, a multiple of 4
    int columns;                ///< threads in a row that compute sums of a chunk, four each
    unsigned reciprocal;        ///< GPUME_RECIPROCAL(columns)
    int rows;                   ///< rows of sums that a thread computes, a multiple of 4
    int max_evaluated;          ///< maximum number of candidates that a warp evaluates; with more, the square remains
} GpumeCudaSeaShape;

/** Squares of the picture that remain after this launch; the next launch searches them. */
typedef struct GpumeCudaRemaining {
    /** Number of squares, by parity: the launch that searches them zeroes the other count. */
    unsigned nb[2];
    /** GPUME_CUDA_SQUARE() of each square, in any order; allocated for all squares of the fields. */
    unsigned squares[1];
} GpumeCudaRemaining;

/** A square: column and row in the picture, and field. */
#define GPUME_CUDA_SQUARE(x, y, z)  ((unsigned)(x) | (unsigned)(y) << 12 | (unsigned)(z) << 24)
#define GPUME_CUDA_SQUARE_X(square) ((int)((square) & 4095))
#define GPUME_CUDA_SQUARE_Y(square) ((int)((square) >> 12 & 4095))
#define GPUME_CUDA_SQUARE_Z(square) ((int)((square) >> 24))

#endif /* AVFILTER_GPUME_CUDA_FULL_SEARCH_ARGS_H */
