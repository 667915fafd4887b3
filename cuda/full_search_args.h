/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search: constants and structs that the host and its kernels share.
 */

#ifndef AVFILTER_GPUME_CUDA_FULL_SEARCH_ARGS_H
#define AVFILTER_GPUME_CUDA_FULL_SEARCH_ARGS_H

/** Threads of a thread block of any kernel of full search, at most. */
#define GPUME_CUDA_FULL_THREADS 256
/** Largest range for which the order of a candidate has 16 bits. */
#define GPUME_CUDA_FULL_MAX_RANGE 127
/** Samples side by side that are searched together, where blocks have up to 16. */
#define GPUME_CUDA_TILE_WIDTH 16

/*
 * Blocks of any size (any.cuh).
 */

/** Candidates that a thread keeps in registers, across and down. */
#define GPUME_CUDA_ANY_DX 4
#define GPUME_CUDA_ANY_DY 8
/** Rows of a block that are in shared memory at a time. */
#define GPUME_CUDA_ANY_STRIP 16

/*
 * Every candidate of blocks of up to 16 samples of up to 10 bits, and of larger ones as sums (scan.cu, merge64.cu). The
 * window is in shared memory as often as a word has samples, each copy beginning a sample later than the one before.
 */

/** Warps of a thread block, and its threads. */
#define GPUME_CUDA_SCAN_WARPS   4
#define GPUME_CUDA_SCAN_THREADS (32 * GPUME_CUDA_SCAN_WARPS)
/** Rows of a warp's tile, from the side of the largest blocks. */
#define GPUME_CUDA_SCAN_TILE_HEIGHT(largest) ((largest) > 8 ? 16 : 8)
/** Candidates that a lane has at a time: side by side, a word from each other, and on top of each other. */
#define GPUME_CUDA_SCAN_DX 4
#define GPUME_CUDA_SCAN_DY 2
/**
 * The displacement at which a window begins: at a word; of two copies at 16 bytes where that takes no more columns.
 */
#define GPUME_CUDA_SCAN_LEFT(range, copies)                                                             \
    ((copies) == 4 ? -(((range) + 3) & ~3) : (range) % 8 > 4 ? -(((range) + 7) & ~7) : -(((range) + 1) & ~1))
/** Displacements in a row from there on. */
#define GPUME_CUDA_SCAN_SPAN(range, copies) ((range) - GPUME_CUDA_SCAN_LEFT(range, copies) + 1)
/** Columns of SCAN_DX words that it takes. */
#define GPUME_CUDA_SCAN_COLUMNS(range, copies) \
    ((GPUME_CUDA_SCAN_SPAN(range, copies) + (copies) * GPUME_CUDA_SCAN_DX - 1) / ((copies) * GPUME_CUDA_SCAN_DX))
/** Places in a row that lanes have: of all copies in all columns but the last, where only some copies have one. */
#define GPUME_CUDA_SCAN_BUT_LAST(range, copies) ((copies) * (GPUME_CUDA_SCAN_COLUMNS(range, copies) - 1))
#define GPUME_CUDA_SCAN_IN_LAST(range, copies) \
    (GPUME_CUDA_SCAN_SPAN(range, copies) - GPUME_CUDA_SCAN_DX * GPUME_CUDA_SCAN_BUT_LAST(range, copies))
#define GPUME_CUDA_SCAN_PLACES(range, copies) \
    (GPUME_CUDA_SCAN_BUT_LAST(range, copies) + (GPUME_CUDA_SCAN_IN_LAST(range, copies) < (copies) ? \
                                                GPUME_CUDA_SCAN_IN_LAST(range, copies) : (copies)))
/** Words from row to row of the window: rows that follow each other are in different banks. */
#define GPUME_CUDA_SCAN_PITCH(copy_words, copies) ((copies) * (copy_words) + 4)

/** Side of the largest blocks of a scan, whose area has a tile for each warp; and of those merged from them. */
#define GPUME_CUDA_SCAN_SQUARE  32
#define GPUME_CUDA_MERGE_SQUARE 64
/** Words in which warps exchange costs of tiles: those of bytes are halves of words. */
#define GPUME_CUDA_SCAN_SHOWN(copies) (GPUME_CUDA_SCAN_THREADS * GPUME_CUDA_SCAN_DX * ((copies) == 4 ? 1 : 2))
/** Threads that merge a square, at most; costs that each loads at once. */
#define GPUME_CUDA_MERGE_THREADS  256
#define GPUME_CUDA_MERGE_TOGETHER 4

/** Sizes of blocks that scans have: 4, 8, 16, 32 and 64; and which of them a side is. */
#define GPUME_CUDA_NB_SIZES 5
#define GPUME_CUDA_SIZE(side) ((side) == 4 ? 0 : (side) == 8 ? 1 : (side) == 16 ? 2 : (side) == 32 ? 3 : 4)

/** Where vectors of blocks of a size are stored, as in GpumeCudaArgs; costs 0: they are not wanted. */
typedef struct GpumeCudaStored {
    unsigned long long mvs, vectors, costs;
} GpumeCudaStored;

/** Several sizes of blocks at once: what is stored of a strip of the picture. */
typedef struct GpumeCudaTreeSearch {
    GpumeCudaStored sizes[GPUME_CUDA_NB_SIZES];
    /**
     * uint32_t[squares][2 * range + 1][pitch]: the costs of displacement (dx, dy) of a square of the strip, by
     * dy + range and place of dx. 0: they are not kept.
     */
    unsigned long long sums;
    int pitch;                  ///< a multiple of GPUME_CUDA_MERGE_TOGETHER
    int across;                 ///< squares in a row
    int first_row;              ///< of squares, of the strip; it begins with a row of the largest blocks
} GpumeCudaTreeSearch;

/*
 * Blocks of up to 16 samples of more than 8 bits, by bounds (bounded.cu). The window is in shared memory four times.
 */

/** Rows of displacements that a thread has. */
#define GPUME_CUDA_BOUNDED_ROWS 11
/** Rows of blocks of a side in a tile. */
#define GPUME_CUDA_BOUNDED_PARTS(side) (GPUME_CUDA_TILE_WIDTH / (side))
/** Words of each warp: two that it shows to others, keys of its blocks, at eight bytes. */
#define GPUME_CUDA_BOUNDED_WARP_WORDS 10
/**
 * All words that have a place of their own: the tile's samples, the same as bytes, those of warps, the least cost of
 * each of its blocks.
 */
#define GPUME_CUDA_BOUNDED_FIXED(side, threads)                                                 \
    (GPUME_CUDA_BOUNDED_PARTS(side) * (side) * GPUME_CUDA_TILE_WIDTH * 3 / 4 +                  \
     GPUME_CUDA_BOUNDED_PARTS(side) * GPUME_CUDA_TILE_WIDTH / (side) +                          \
     GPUME_CUDA_BOUNDED_WARP_WORDS * (threads) / 32)
/** Words from row to row of its window: rows that follow each other are in different banks, four words at a time. */
#define GPUME_CUDA_BOUNDED_PITCH(copy_words) (4 * (copy_words) + 4)

/** How these kernels divide a picture. */
typedef struct GpumeCudaFullShape {
    /* blocks of any size, and blocks that the picture's edges cut: threads; a scan: tiles */
    int across;                 ///< side by side
    int down;                   ///< on top of each other
    int pitch;                  ///< blocks of any size: words from row to row of the window
    /* a scan, or bounded */
    int runs;                   ///< rows of candidates whose window is loaded at a time, in units of a lane's
    int copy_words;             ///< words of a row of each of the window's copies
    int shared_words;           ///< before the words that have a place of their own
    int split;                  ///< a scan: warps that share a tile
    int only_remaining;         ///< nonzero: search the squares that remain
    int grid;                   ///< gridDim.x, which FFmpeg's headers for clang lack
} GpumeCudaFullShape;

/*
 * Successive elimination (eliminate.cu).
 */

/** Threads of a thread block, and samples that they search. */
#define GPUME_CUDA_SEA_THREADS     256
#define GPUME_CUDA_SEA_TILE_WIDTH   64
#define GPUME_CUDA_SEA_TILE_HEIGHT  32
/** Side of the square that a warp searches. */
#define GPUME_CUDA_SEA_SQUARE       16
/** Places where a warp notes candidates, before it evaluates them. */
#define GPUME_CUDA_SEA_HITS         64
/** Words of every fourth column's sums of a chunk of so many displacements. */
#define GPUME_CUDA_SEA_PHASE(width) (((width) + GPUME_CUDA_SEA_TILE_WIDTH) / 16)
/** Rows that are read behind a chunk's sums: for three rows of pieces, whose sums may have any value. */
#define GPUME_CUDA_SEA_ROWS_BEHIND  12
/** Words of shared memory; the last word of sums is read with the one behind it. */
#define GPUME_CUDA_SEA_SHARED(width, height, bytes)                                 \
    (GPUME_CUDA_SEA_TILE_WIDTH * GPUME_CUDA_SEA_TILE_HEIGHT * (bytes) / 4 +         \
     GPUME_CUDA_SEA_TILE_WIDTH * GPUME_CUDA_SEA_TILE_HEIGHT / 64 +                  \
     GPUME_CUDA_SEA_THREADS / 32 * (GPUME_CUDA_SEA_HITS + 32) +                     \
     ((height) + GPUME_CUDA_SEA_TILE_HEIGHT - 4 + GPUME_CUDA_SEA_ROWS_BEHIND) *     \
     4 * GPUME_CUDA_SEA_PHASE(width) + 1)

/** How elimination divides the displacements. */
typedef struct GpumeCudaSeaShape {
    int chunk_width;            ///< displacements whose sums are there at a time, a multiple of 16
    int chunk_height;           ///< and those on top of each other, a multiple of 4
    int columns;                ///< threads that make its sums, four each, side by side
    unsigned reciprocal;        ///< GPUME_RECIPROCAL(columns)
    int rows;                   ///< of sums that a thread makes, a multiple of 4
    int max_evaluated;          ///< candidates that a warp evaluates before it gives up
} GpumeCudaSeaShape;

/** Squares of the picture that are still to be searched, and by the next launch will be. */
typedef struct GpumeCudaRemaining {
    /** How many, by parity: the launch that searches them zeroes the other. */
    unsigned nb[2];
    /** GPUME_CUDA_SQUARE() of each, in any order; room for as many as pictures have. */
    unsigned squares[1];
} GpumeCudaRemaining;

/** Which square of the picture, by column and row, and of which field. */
#define GPUME_CUDA_SQUARE(x, y, z)  ((unsigned)(x) | (unsigned)(y) << 12 | (unsigned)(z) << 24)
#define GPUME_CUDA_SQUARE_X(square) ((int)((square) & 4095))
#define GPUME_CUDA_SQUARE_Y(square) ((int)((square) >> 12 & 4095))
#define GPUME_CUDA_SQUARE_Z(square) ((int)((square) >> 24))

#endif /* AVFILTER_GPUME_CUDA_FULL_SEARCH_ARGS_H */
