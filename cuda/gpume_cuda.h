/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

/**
 * @file
 * What the CUDA backend's host side and its kernels share.
 */

#ifndef AVFILTER_GPUME_CUDA_GPUME_CUDA_H
#define AVFILTER_GPUME_CUDA_GPUME_CUDA_H

#include "libavfilter/gpume/gpume_params.h"

/** Luma in device memory. */
typedef struct GpumeCudaPlane {
    unsigned long long data;    ///< device address of the first sample
    long long linesize;         ///< bytes from row to row
} GpumeCudaPlane;

/**
 * An AVMotionVector as the words that lie in memory; the host checks that
 * they are the same.
 */
#define GPUME_CUDA_VECTOR_WORDS 10

/**
 * Rows of candidates that a thread of the full search keeps in registers; and
 * candidates in a row.
 */
#define GPUME_CUDA_FS_TILE_ROWS 8
#define GPUME_CUDA_FS_TILE_COLS 4

/** Most threads of a block of the full search. */
#define GPUME_CUDA_FS_THREADS 256

/** Warps of a block of threads of the diamond search, and of all that walk. */
#define GPUME_CUDA_DS_WARPS 4
/** Lanes of a warp that search a block of 4, 8 or 16. */
#define GPUME_CUDA_DS_LANES(side) ((side) == 4 ? 4 : (side) == 8 ? 16 : 32)
/** Samples of a row of the blocks of a warp; and of a column. */
#define GPUME_CUDA_DS_TILE_WIDTH 16
#define GPUME_CUDA_DS_TILE_HEIGHT(side) \
    (32 / GPUME_CUDA_DS_LANES(side) * (side) * (side) / GPUME_CUDA_DS_TILE_WIDTH)
/**
 * Samples to each side of those that are in shared memory, and above and below; the
 * rows are loaded 8 at a time.
 */
#define GPUME_CUDA_DS_MARGIN_X 16
#define GPUME_CUDA_DS_MARGIN_Y(side) ((side) == 4 ? 16 : 12)
#define GPUME_CUDA_DS_WINDOW_WIDTH (GPUME_CUDA_DS_TILE_WIDTH + 2 * GPUME_CUDA_DS_MARGIN_X)
#define GPUME_CUDA_DS_WINDOW_ROWS(side) \
    (GPUME_CUDA_DS_TILE_HEIGHT(side) + 2 * GPUME_CUDA_DS_MARGIN_Y(side))
/** Words from row to row of the window: eight rows begin in banks four apart. */
#define GPUME_CUDA_DS_PITCH(bytes) ((bytes) == 1 ? 12 : 28)
#define GPUME_CUDA_DS_WINDOW_WORDS(side, bytes) \
    (GPUME_CUDA_DS_WINDOW_ROWS(side) * GPUME_CUDA_DS_PITCH(bytes))

/** Most threads of the full search of blocks of 4, 8 or 16 bytes. */
#define GPUME_CUDA_FS_FAST_THREADS 256

/** Samples of a row of blocks of 4, 8 or 16 that the full search does together. */
#define GPUME_CUDA_FS_TILE_WIDTH 16
/** Largest range for which those kernels' keys of 16 bits of cost and 16 of order do. */
#define GPUME_CUDA_FS_FAST_RANGE 127

/**
 * Words from row to row of a window of four copies: rows that follow each other lie in
 * different banks, four words at a time.
 */
#define GPUME_CUDA_FS_PITCH(copy_words) (4 * (copy_words) + 4)

/** Full search of 4x4 bytes: blocks side by side and on top of each other, */
#define GPUME_CUDA_FS4_ACROSS 4
#define GPUME_CUDA_FS4_DOWN   8
/** and displacements that a lane has at a time, across and down. */
#define GPUME_CUDA_FS4_DX     4
#define GPUME_CUDA_FS4_DY     4

/** Rows of a video block that the full search has in shared memory at a time. */
#define GPUME_CUDA_FS_STRIP 16

/** Full search by elimination: threads, and samples that they search. */
#define GPUME_CUDA_SEA_THREADS     256
#define GPUME_CUDA_SEA_TILE_WIDTH   64
#define GPUME_CUDA_SEA_TILE_HEIGHT  32
/** Side of the square of them that a warp searches. */
#define GPUME_CUDA_SEA_SQUARE       16
/** Places where a warp notes candidates, before it evaluates them. */
#define GPUME_CUDA_SEA_HITS         64
/** Words of every fourth column's sums of a chunk of so many displacements. */
#define GPUME_CUDA_SEA_PHASE(width) (((width) + GPUME_CUDA_SEA_TILE_WIDTH) / 16)
/** Words of shared memory; the last word of sums is read with the one behind it. */
#define GPUME_CUDA_SEA_SHARED(width, height, bytes)                                 \
    (GPUME_CUDA_SEA_TILE_WIDTH * GPUME_CUDA_SEA_TILE_HEIGHT * (bytes) / 4 +         \
     GPUME_CUDA_SEA_TILE_WIDTH * GPUME_CUDA_SEA_TILE_HEIGHT / 64 +                  \
     GPUME_CUDA_SEA_THREADS / 32 * (GPUME_CUDA_SEA_HITS + 32) +                     \
     ((height) + GPUME_CUDA_SEA_TILE_HEIGHT - 4) * 4 * GPUME_CUDA_SEA_PHASE(width) + 1)

/** Warps of a block of threads of the searches that predict; it has a row of blocks. */
#define GPUME_CUDA_EPZS_WARPS 4
#define GPUME_CUDA_UMH_WARPS  8
#define GPUME_CUDA_PREDICT_MAX_WARPS 8
/** Lanes that evaluate a candidate. */
#define GPUME_CUDA_PREDICT_LANES(side) ((side) == 4 ? 4 : 8)
/**
 * Words of shared memory before the window: each warp's best key, twice, keys of umh's
 * square, and which row it is.
 */
#define GPUME_CUDA_PREDICT_KEYS   0
#define GPUME_CUDA_PREDICT_SQUARE (GPUME_CUDA_PREDICT_KEYS + 2 * 2 * GPUME_CUDA_PREDICT_MAX_WARPS)
#define GPUME_CUDA_PREDICT_TICKET (GPUME_CUDA_PREDICT_SQUARE + 5 * 16 * 2)
#define GPUME_CUDA_PREDICT_WINDOW (GPUME_CUDA_PREDICT_TICKET + 4)
/** Rows of the window, at most, that a thread loads of a column of 16 bytes. */
#define GPUME_CUDA_PREDICT_LOADS  2
/**
 * The window is a ring of columns of 16 bytes: those of a block, of the one before and
 * of the next one. The first are there again behind the last, so that a row of a block
 * is always in one piece.
 */
#define GPUME_CUDA_PREDICT_COLUMNS(side, bytes, range) \
    (((2 * (range) + 3 * (side)) * (bytes) + 18) / 16 + 1)
#define GPUME_CUDA_PREDICT_REPEATED(side, bytes) (((side) * (bytes) + 4 + 15) / 16)
/** Columns of a picture of bw blocks in a row, with a word behind the last. */
#define GPUME_CUDA_PREDICT_PICTURE_COLUMNS(side, bytes, bw) \
    (((bw) * (side) * (bytes) + 4 + 15) / 16)

/**
 * What searches that predict keep of a block: 12 bits of dx, 12 of dy, 8 that tell
 * this search of its direction from those before. It is one word so that whoever waits
 * for a vector sees all of it when he sees that it is there.
 */
#define GPUME_CUDA_VECTOR(dx, dy, epoch) \
    (((unsigned)(dx) & 0xfff) | ((unsigned)(dy) & 0xfff) << 12 | (unsigned)(epoch) << 24)
#define GPUME_CUDA_EPOCH(vector) ((vector) >> 24)
/** Epochs of searches, from 1 on; 0 is of what was never searched. */
#define GPUME_CUDA_NB_EPOCHS 255

/** Squares of the picture that elimination has left to the next launch. */
typedef struct GpumeCudaLeft {
    /** How many; in turns, as the launch that searches them zeroes the other. */
    unsigned nb[2];
    /** GPUME_CUDA_LEFT_SQUARE() of each; as many as pictures have, in any order. */
    unsigned squares[1];
} GpumeCudaLeft;

/** Which square of the picture, by column and row, and of which direction. */
#define GPUME_CUDA_LEFT_SQUARE(x, y, z) ((unsigned)(x) | (unsigned)(y) << 12 | (unsigned)(z) << 24)

/** Candidates that a block of threads of the full search tries at a time. */
typedef struct GpumeCudaTiles {
    int x;                      ///< register tiles side by side
    int y;                      ///< register tiles on top of each other
    int pitch;                  ///< words from row to row of the window in shared memory
} GpumeCudaTiles;

/** The only parameter of every kernel. */
typedef struct GpumeCudaArgs {
    GpumeParams params;         ///< big_endian is 0; shift is that of the planes
    GpumeCudaPlane cur;
    /** gridDim.z of them. */
    GpumeCudaPlane ref[GPUME_NB_DIRECTIONS];
    int source[GPUME_NB_DIRECTIONS];    ///< AVMotionVector.source of vectors to it
    unsigned long long mvs;     ///< AVMotionVector[gridDim.z][bh][bw]
    unsigned long long costs;   ///< uint32_t[gridDim.z][bh][bw]

    /* fs */
    GpumeCudaTiles tiles;       ///< of blocks of any size
    /** Of a thread's displacements, one below the other, whose window is loaded at a time. */
    int groups;
    int copy_words;             ///< words of a row of each of the window's four copies
    int shared_words;           ///< before the words that have a place of their own
    int only_left;              ///< nonzero: search what left has
    int grid;                   ///< gridDim.x, which FFmpeg's headers for clang lack
    /* fs by elimination */
    unsigned long long left;    ///< GpumeCudaLeft
    int turn;                   ///< which of left's counts
    int chunk_width;            ///< displacements whose sums are there at a time, of 16
    int chunk_height;           ///< and those on top of each other, of 4
    int max_evaluated;          ///< candidates that a warp evaluates before it gives up
    /* searches that predict */
    int nb_directions;          ///< how many fields are searched
    /** GPUME_CUDA_VECTOR[bh][bw]: of this search, of the last, of the one before that. */
    unsigned long long fields[GPUME_NB_DIRECTIONS][GPUME_NB_FIELDS];
    unsigned epoch[GPUME_NB_DIRECTIONS];
    unsigned long long ticket;  ///< unsigned: how many blocks of threads there ever were
    unsigned first_ticket;      ///< this launch's
    int ring_columns;           ///< of 16 bytes, in the window, without those repeated
    int ring_pitch;             ///< words from row to row
} GpumeCudaArgs;

#endif /* AVFILTER_GPUME_CUDA_GPUME_CUDA_H */
