/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What the CUDA backend's host side and its kernels share.
 */

#ifndef AVFILTER_GPUME_CUDA_SEARCH_ARGS_H
#define AVFILTER_GPUME_CUDA_SEARCH_ARGS_H

#include "libavfilter/gpume/core/searches.h"

/** Fields that a launch searches at most: kernels choose theirs by comparisons. */
#define GPUME_CUDA_FIELDS 2

/** Luma in device memory. */
typedef struct GpumeCudaPlane {
    unsigned long long data;    ///< device address of the first sample
    long long linesize;         ///< bytes from row to row
} GpumeCudaPlane;

/**
 * n / d as a multiplication: GPUME_DIVIDE(n, GPUME_RECIPROCAL(d)), exact for n
 * below 4096 and d from 1 to 256.
 */
#define GPUME_RECIPROCAL(d) (((1u << 20) + (d) - 1) / (d))
#define GPUME_DIVIDE(n, r)  ((int)((unsigned)(n) * (r) >> 20))

/*
 * Full search.
 */

/** Candidates that a thread keeps in registers, blocks of any size: across and down. */
#define GPUME_CUDA_FULL_DX 4
#define GPUME_CUDA_FULL_DY 8
/** Rows of such a block that are in shared memory at a time. */
#define GPUME_CUDA_FULL_STRIP 16

/** Most threads of a block of threads; but for blocks of 4. */
#define GPUME_CUDA_FULL_THREADS 256
/** Samples side by side that are searched together: of blocks of 4 to 16 bytes, of up to 16 samples of two. */
#define GPUME_CUDA_FULL_TILE_WIDTH 16
/** Samples of more than 8 bits: rows of blocks of a side in a tile, */
#define GPUME_CUDA_DEEP_PARTS(side) (GPUME_CUDA_FULL_TILE_WIDTH / (side))
/** words of each warp: two that it shows to others, keys of its blocks, at eight bytes; */
#define GPUME_CUDA_DEEP_WARP_WORDS 10
/**
 * and all words that have a place of their own: the tile's samples, the same as bytes, those of warps, the
 * least cost of each of its blocks.
 */
#define GPUME_CUDA_DEEP_FIXED(side, threads)                                                    \
    (GPUME_CUDA_DEEP_PARTS(side) * (side) * GPUME_CUDA_FULL_TILE_WIDTH * 3 / 4 +                \
     GPUME_CUDA_DEEP_PARTS(side) * GPUME_CUDA_FULL_TILE_WIDTH / (side) +                        \
     GPUME_CUDA_DEEP_WARP_WORDS * (threads) / 32)
/** Largest range for which keys of 16 bits of cost and 16 of order do: of 4, 8 and 16 bytes. */
#define GPUME_CUDA_FULL_MAX_RANGE 127

/**
 * Words from row to row of a window of four copies: rows that follow each other lie in
 * different banks, four words at a time.
 */
#define GPUME_CUDA_FULL_PITCH(copy_words) (4 * (copy_words) + 4)

/** 4x4 bytes: blocks side by side and on top of each other. */
#define GPUME_CUDA_FULL4_ACROSS 4
#define GPUME_CUDA_FULL4_DOWN   8
/** Copies of its window, each of which begins a sample later. */
#define GPUME_CUDA_FULL4_COPIES 4

/**
 * A window of as many copies as a word has samples: the displacement at which it begins: at a word; displacements in
 * a row from there on;
 */
#define GPUME_CUDA_RUNS_LEFT(range, copies) \
    ((copies) == 2 ? GPUME_CUDA_FULL10_LEFT(range) : -(((range) + (copies) - 1) & ~((copies) - 1)))
#define GPUME_CUDA_RUNS_SPAN(range, copies) ((range) - GPUME_CUDA_RUNS_LEFT(range, copies) + 1)
/** columns of RUNS_DX words of each copy, which a lane has at a time, in so many rows; */
#define GPUME_CUDA_RUNS_DX 4
#define GPUME_CUDA_RUNS_DY 2
#define GPUME_CUDA_RUNS_COLUMNS(range, copies) \
    ((GPUME_CUDA_RUNS_SPAN(range, copies) + (copies) * GPUME_CUDA_RUNS_DX - 1) / ((copies) * GPUME_CUDA_RUNS_DX))
/** those of all copies: only the first copies may have the last column, too. */
#define GPUME_CUDA_RUNS_BUT_LAST(range, copies) ((copies) * (GPUME_CUDA_RUNS_COLUMNS(range, copies) - 1))
#define GPUME_CUDA_RUNS_IN_LAST(range, copies) \
    (GPUME_CUDA_RUNS_SPAN(range, copies) - GPUME_CUDA_RUNS_DX * GPUME_CUDA_RUNS_BUT_LAST(range, copies))
#define GPUME_CUDA_RUNS_PLACES(range, copies) \
    (GPUME_CUDA_RUNS_BUT_LAST(range, copies) + (GPUME_CUDA_RUNS_IN_LAST(range, copies) < (copies) ? \
                                                GPUME_CUDA_RUNS_IN_LAST(range, copies) : (copies)))
/** Words from row to row of the window: of two copies, rows that follow each other lie in different banks. */
#define GPUME_CUDA_RUNS_PITCH(copy_words, copies) \
    ((copies) == 2 ? GPUME_CUDA_FULL10_PITCH(copy_words) : (copies) * (copy_words))

/** 9 and 10 bits: warps of a block of threads, so few as they wait for each other when there is a window to load; */
#define GPUME_CUDA_FULL10_WARPS 4
/** displacements that a lane has at a time side by side, a word of samples from each other; */
#define GPUME_CUDA_FULL10_DX 4
/** the displacement at which a window begins: at a word, or at 16 bytes where that makes no more columns; */
#define GPUME_CUDA_FULL10_LEFT(range) \
    ((range) % 8 > 4 ? -(((range) + 7) & ~7) : -(((range) + 1) & ~1))
/** displacements in a row from there on; the last one is tried alone if it would be alone in its column; */
#define GPUME_CUDA_FULL10_SPAN(range) ((range) - GPUME_CUDA_FULL10_LEFT(range) + 1)
#define GPUME_CUDA_FULL10_SINGLE(range) (GPUME_CUDA_FULL10_SPAN(range) % (2 * GPUME_CUDA_FULL10_DX) == 1)
#define GPUME_CUDA_FULL10_COLUMNS(range) \
    ((GPUME_CUDA_FULL10_SPAN(range) + 2 * GPUME_CUDA_FULL10_DX - 2) / (2 * GPUME_CUDA_FULL10_DX))
/** words of a row of each of the window's two copies, for columns or the single one, and from row to row. */
#define GPUME_CUDA_FULL10_WORDS(range) \
    (GPUME_CUDA_FULL10_DX * GPUME_CUDA_FULL10_COLUMNS(range) + GPUME_CUDA_FULL_TILE_WIDTH / 2)
#define GPUME_CUDA_FULL10_PITCH(copy_words) (2 * (copy_words) + 4)

/*
 * Successive elimination.
 */

/** Threads of a block of threads, and samples that they search. */
#define GPUME_CUDA_SEA_THREADS     256
#define GPUME_CUDA_SEA_TILE_WIDTH   64
#define GPUME_CUDA_SEA_TILE_HEIGHT  32
/** Side of the square of them that a warp searches. */
#define GPUME_CUDA_SEA_SQUARE       16
/** Places where a warp notes candidates, before it evaluates them. */
#define GPUME_CUDA_SEA_HITS         64
/** Words of every fourth column's sums of a chunk of so many displacements. */
#define GPUME_CUDA_SEA_PHASE(width) (((width) + GPUME_CUDA_SEA_TILE_WIDTH) / 16)
/** Rows that are read behind a chunk's sums: for three rows of pieces, whose sums may be anything. */
#define GPUME_CUDA_SEA_ROWS_BEHIND  12
/** Words of shared memory; the last word of sums is read with the one behind it. */
#define GPUME_CUDA_SEA_SHARED(width, height, bytes)                                 \
    (GPUME_CUDA_SEA_TILE_WIDTH * GPUME_CUDA_SEA_TILE_HEIGHT * (bytes) / 4 +         \
     GPUME_CUDA_SEA_TILE_WIDTH * GPUME_CUDA_SEA_TILE_HEIGHT / 64 +                  \
     GPUME_CUDA_SEA_THREADS / 32 * (GPUME_CUDA_SEA_HITS + 32) +                     \
     ((height) + GPUME_CUDA_SEA_TILE_HEIGHT - 4 + GPUME_CUDA_SEA_ROWS_BEHIND) *     \
     4 * GPUME_CUDA_SEA_PHASE(width) + 1)

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

/*
 * Pattern search.
 */

/** Warps of a block of threads. */
#define GPUME_CUDA_PATTERN_WARPS 4
/** Of one that has a block of any size, at most; and words of shared memory for each: costs, by parity. */
#define GPUME_CUDA_PATTERN_TEAM       8
#define GPUME_CUDA_PATTERN_TEAM_WORDS (2 * GPUME_MAX_PATTERN_POINTS)
/** Lanes of a warp that search a block of 4, 8 or 16. */
#define GPUME_CUDA_PATTERN_LANES(side) ((side) == 4 ? 4 : (side) == 8 ? 16 : 32)
/** Samples of a row of the blocks of a warp; and of a column. */
#define GPUME_CUDA_PATTERN_TILE_WIDTH 16
#define GPUME_CUDA_PATTERN_TILE_HEIGHT(side) \
    (32 / GPUME_CUDA_PATTERN_LANES(side) * (side) * (side) / GPUME_CUDA_PATTERN_TILE_WIDTH)
/** Samples of the window to each side of them, and above and below; rows are loaded 8 at a time. */
#define GPUME_CUDA_PATTERN_MARGIN_X 16
#define GPUME_CUDA_PATTERN_MARGIN_Y(side) ((side) == 4 ? 16 : 12)
#define GPUME_CUDA_PATTERN_WINDOW_WIDTH \
    (GPUME_CUDA_PATTERN_TILE_WIDTH + 2 * GPUME_CUDA_PATTERN_MARGIN_X)
#define GPUME_CUDA_PATTERN_WINDOW_ROWS(side) \
    (GPUME_CUDA_PATTERN_TILE_HEIGHT(side) + 2 * GPUME_CUDA_PATTERN_MARGIN_Y(side))
/** Words from row to row of the window: eight rows begin in banks four apart. */
#define GPUME_CUDA_PATTERN_PITCH(bytes) ((bytes) == 1 ? 12 : 28)
#define GPUME_CUDA_PATTERN_WINDOW_WORDS(side, bytes) \
    (GPUME_CUDA_PATTERN_WINDOW_ROWS(side) * GPUME_CUDA_PATTERN_PITCH(bytes))

/*
 * Predictive search.
 */

/** Warps of a block of threads, which has a row of blocks. */
#define GPUME_CUDA_WAVEFRONT_WARPS(algo) ((algo) == GPUME_ALGO_UMH ? 8 : 4)
#define GPUME_CUDA_WAVEFRONT_MAX_WARPS 8
/** Lanes that evaluate a candidate. */
#define GPUME_CUDA_WAVEFRONT_LANES(side) ((side) == 4 ? 4 : 8)
/**
 * Words of shared memory before the window: each warp's best key, by parity, keys of umh's
 * square, 16 a row, and which row of blocks it is.
 */
#define GPUME_CUDA_WAVEFRONT_KEYS   0
#define GPUME_CUDA_WAVEFRONT_SQUARE \
    (GPUME_CUDA_WAVEFRONT_KEYS + 2 * 2 * GPUME_CUDA_WAVEFRONT_MAX_WARPS)
#define GPUME_CUDA_WAVEFRONT_TICKET (GPUME_CUDA_WAVEFRONT_SQUARE + GPUME_UMH_ROWS * 16 * 2)
#define GPUME_CUDA_WAVEFRONT_WINDOW (GPUME_CUDA_WAVEFRONT_TICKET + 4)
/** Rows of the window, at most, that a thread loads of a column of 16 bytes. */
#define GPUME_CUDA_WAVEFRONT_LOADS  2
/**
 * The window is a ring of columns of 16 bytes: those of a block, of the one before and
 * of the next one. The first are there again behind the last, so that a row of a block
 * is always in one piece.
 */
#define GPUME_CUDA_WAVEFRONT_COLUMNS(side, bytes, range) \
    (((2 * (range) + 3 * (side)) * (bytes) + 18) / 16 + 1)
#define GPUME_CUDA_WAVEFRONT_REPEATED(side, bytes) (((side) * (bytes) + 4 + 15) / 16)
/** Columns of a picture of bw blocks in a row, with a word behind the last. */
#define GPUME_CUDA_WAVEFRONT_PICTURE_COLUMNS(side, bytes, bw) \
    (((bw) * (side) * (bytes) + 4 + 15) / 16)

/**
 * What is kept of a block: 12 bits of dx, 12 of dy, 8 that tell this search in its
 * reference from those before. It is one word so that whoever waits for a vector sees
 * all of it when he sees that it is there.
 */
#define GPUME_CUDA_VECTOR(dx, dy, epoch) \
    (((unsigned)(dx) & 0xfff) | ((unsigned)(dy) & 0xfff) << 12 | (unsigned)(epoch) << 24)
#define GPUME_CUDA_EPOCH(vector) ((vector) >> 24)
/** Epochs of searches, from 1 on; 0 is of what was never searched. */
#define GPUME_CUDA_NB_EPOCHS 255

/** A field: the reference, and what is written of it. */
typedef struct GpumeCudaField {
    GpumeCudaPlane plane;       ///< the reference
    int reference;              ///< which of GpumeParams.distance
    int source;                 ///< AVMotionVector.source: that distance
    /* predictive search */
    unsigned epoch;             ///< of this search
    unsigned last_epoch;        ///< of the one before, which may still be running
    /** GPUME_CUDA_VECTOR[bh][bw]: of this search, of the last, of the one before that. */
    unsigned long long vectors[GPUME_NB_AGES];
} GpumeCudaField;

/** The only parameter of every kernel. */
typedef struct GpumeCudaArgs {
    GpumeParams params;         ///< big_endian is 0; shift is that of the planes
    GpumeCudaPlane cur;
    int nb_fields;
    GpumeCudaField fields[GPUME_CUDA_FIELDS];
    unsigned long long mvs;     ///< AVMotionVector[nb_fields][bh][bw]; with vectors nothing
    unsigned long long vectors; ///< GpumeVector[nb_fields][bh][bw], for stages that follow; or 0
    unsigned long long costs;   ///< uint32_t[nb_fields][bh][bw]
    unsigned long long remaining;   ///< GpumeCudaRemaining of sea, and of full behind it
    int parity;                 ///< which of its counts is this search's

    struct {
        /* blocks of any size; of other sides those at the edges */
        int across;             ///< threads side by side
        int down;               ///< threads on top of each other
        int pitch;              ///< words from row to row of the window
        /* blocks of 4, 8 and 16 bytes */
        /** Runs of displacements, each a thread's, whose window is loaded at a time. */
        int runs;
        int copy_words;         ///< words of a row of each of the window's copies
        int shared_words;       ///< before the words that have a place of their own
        int only_remaining;     ///< nonzero: search the squares that remain
        int split;              ///< of samples as half-precision numbers: warps with a row of blocks
        int grid;               ///< gridDim.x, which FFmpeg's headers for clang lack
    } full;
    struct {
        int chunk_width;        ///< displacements whose sums are there at a time, of 16
        int chunk_height;       ///< and those on top of each other, of 4
        int columns;            ///< threads that make its sums, four each, side by side
        unsigned reciprocal;    ///< of them
        int rows;               ///< of sums, of 4, that a thread makes
        int max_evaluated;      ///< candidates that a warp evaluates before it gives up
    } sea;
    struct {
        unsigned long long ticket;  ///< unsigned: how many blocks of threads there ever were
        unsigned first_ticket;      ///< this launch's
        int ring_columns;           ///< of 16 bytes, in the window, without those repeated
        int ring_pitch;             ///< words from row to row
    } wavefront;
} GpumeCudaArgs;

#endif /* AVFILTER_GPUME_CUDA_SEARCH_ARGS_H */
