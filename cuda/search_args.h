/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Structs and constants that the CUDA backend's host side and its kernels share.
 */

#ifndef AVFILTER_GPUME_CUDA_SEARCH_ARGS_H
#define AVFILTER_GPUME_CUDA_SEARCH_ARGS_H

#include "libavfilter/gpume/core/same_args.h"
#include "libavfilter/gpume/core/tree_args.h"

/** Maximum number of fields in a launch; kernels select a field by comparisons. */
#define GPUME_CUDA_FIELDS 2

/** Bytes of the largest loads. */
#define GPUME_CUDA_UNIT 16

/**
 * A plane in device memory. Searches load whole units: data and linesize of luma are multiples of GPUME_CUDA_UNIT, and
 * the unit that has a row's last sample can be read.
 */
typedef struct GpumeCudaPlane {
    unsigned long long data;    ///< device address of the first sample
    long long linesize;         ///< bytes between rows
} GpumeCudaPlane;

/**
 * Computes n / d as a multiplication: GPUME_DIVIDE(n, GPUME_RECIPROCAL(d)), exact for n below 4096
 * and d from 1 to 256.
 */
#define GPUME_RECIPROCAL(d) (((1u << 20) + (d) - 1) / (d))
#define GPUME_DIVIDE(n, r)  ((int)((unsigned)(n) * (r) >> 20))

/* Full search. */

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

/** Where blocks of a size are stored, in arrays [nb_fields][bh][bw]; all 0: nowhere. */
typedef struct GpumeCudaStored {
    unsigned long long mvs;     ///< AVMotionVector; not used if vectors is set
    unsigned long long vectors; ///< GpumeVector, for later stages; or 0
    unsigned long long costs;   ///< uint32_t
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

/* Pattern search. */

/** Warps of a thread block. */
#define GPUME_CUDA_PATTERN_WARPS 4
/**
 * Maximum number of warps that share a block of any size, and number of words of shared memory for
 * the costs of each warp, by parity.
 */
#define GPUME_CUDA_PATTERN_TEAM       8
#define GPUME_CUDA_PATTERN_TEAM_WORDS (2 * GPUME_MAX_PATTERN_POINTS)
/** Lanes of a warp that search a block of 4, 8 or 16. */
#define GPUME_CUDA_PATTERN_LANES(side) ((side) == 4 ? 4 : (side) == 8 ? 16 : 32)
/** Width and height of the blocks of a warp, in samples. */
#define GPUME_CUDA_PATTERN_TILE_WIDTH 16
#define GPUME_CUDA_PATTERN_TILE_HEIGHT(side) \
    (32 / GPUME_CUDA_PATTERN_LANES(side) * (side) * (side) / GPUME_CUDA_PATTERN_TILE_WIDTH)
/** Margins of the window in samples: left and right, above and below. Rows are loaded 8 at a time. */
#define GPUME_CUDA_PATTERN_MARGIN_X 16
#define GPUME_CUDA_PATTERN_MARGIN_Y(side) ((side) == 4 ? 16 : 12)
#define GPUME_CUDA_PATTERN_WINDOW_WIDTH \
    (GPUME_CUDA_PATTERN_TILE_WIDTH + 2 * GPUME_CUDA_PATTERN_MARGIN_X)
#define GPUME_CUDA_PATTERN_WINDOW_ROWS(side) \
    (GPUME_CUDA_PATTERN_TILE_HEIGHT(side) + 2 * GPUME_CUDA_PATTERN_MARGIN_Y(side))
/** Words between rows of the window: eight rows begin in banks four apart. */
#define GPUME_CUDA_PATTERN_PITCH(bytes) ((bytes) == 1 ? 12 : 28)
#define GPUME_CUDA_PATTERN_WINDOW_WORDS(side, bytes) \
    (GPUME_CUDA_PATTERN_WINDOW_ROWS(side) * GPUME_CUDA_PATTERN_PITCH(bytes))

/* Predictive search. */

/** Warps of a thread block, which processes a row of blocks. */
#define GPUME_CUDA_WAVEFRONT_WARPS(algo) ((algo) == GPUME_ALGO_UMH ? 8 : 4)
#define GPUME_CUDA_WAVEFRONT_MAX_WARPS 8
/** Lanes that evaluate a candidate. */
#define GPUME_CUDA_WAVEFRONT_LANES(side) ((side) == 4 ? 4 : 8)
/**
 * Words of shared memory before the window: the best key of each warp, by parity; keys of the
 * square of umh, 16 for each row; and the number of the row of blocks.
 */
#define GPUME_CUDA_WAVEFRONT_KEYS   0
#define GPUME_CUDA_WAVEFRONT_SQUARE \
    (GPUME_CUDA_WAVEFRONT_KEYS + 2 * 2 * GPUME_CUDA_WAVEFRONT_MAX_WARPS)
#define GPUME_CUDA_WAVEFRONT_TICKET (GPUME_CUDA_WAVEFRONT_SQUARE + GPUME_UMH_ROWS * 16 * 2)
#define GPUME_CUDA_WAVEFRONT_WINDOW (GPUME_CUDA_WAVEFRONT_TICKET + 4)
/** Maximum number of rows of the window that a thread loads, each from a column of 16 bytes. */
#define GPUME_CUDA_WAVEFRONT_LOADS  2
/**
 * The window is a ring of columns of 16 bytes, for the current block, the previous and the next.
 * The first columns are repeated behind the last, so that a row of a block is always contiguous.
 */
#define GPUME_CUDA_WAVEFRONT_COLUMNS(side, bytes, range) \
    (((2 * (range) + 3 * (side)) * (bytes) + 18) / 16 + 1)
#define GPUME_CUDA_WAVEFRONT_REPEATED(side, bytes) (((side) * (bytes) + 4 + 15) / 16)
/** Columns of a picture with bw blocks in a row, and a word behind the last. */
#define GPUME_CUDA_WAVEFRONT_PICTURE_COLUMNS(side, bytes, bw) \
    (((bw) * (side) * (bytes) + 4 + 15) / 16)

/**
 * The stored result of a block: 12 bits of dx, 12 of dy, and 8 that distinguish this search from
 * earlier searches with the same reference index. It is one word, so that a thread that waits for a
 * vector sees all of it as soon as it sees the epoch.
 */
#define GPUME_CUDA_VECTOR(dx, dy, epoch) \
    (((unsigned)(dx) & 0xfff) | ((unsigned)(dy) & 0xfff) << 12 | (unsigned)(epoch) << 24)
#define GPUME_CUDA_EPOCH(vector) ((vector) >> 24)
/** Epochs of searches are 1 to 255; 0 means never searched. */
#define GPUME_CUDA_NB_EPOCHS 255

/** A field: the reference and the outputs. */
typedef struct GpumeCudaField {
    GpumeCudaPlane plane;       ///< the reference
    int reference;              ///< index in GpumeParams.distance
    int source;                 ///< AVMotionVector.source: the distance of the reference
    /* predictive search */
    unsigned epoch;             ///< epoch of this search
    unsigned last_epoch;        ///< epoch of the previous search, which may still be running
    /** GPUME_CUDA_VECTOR[bh][bw]: of this search, the previous, and the one before the previous. */
    unsigned long long vectors[GPUME_NB_AGES];
} GpumeCudaField;

/** The only parameter of every kernel. */
typedef struct GpumeCudaArgs {
    GpumeParams params;         ///< big_endian is 0; shift is that of the planes
    GpumeCudaPlane cur;
    int nb_fields;
    GpumeCudaField fields[GPUME_CUDA_FIELDS];
    GpumeCudaStored to;
    unsigned long long remaining;   ///< GpumeCudaRemaining of elimination, and of the full search after it
    int parity;                 ///< index of this search's counts

    GpumeCudaFullShape full;
    GpumeCudaTreeSearch tree;
    GpumeCudaSeaShape sea;
    struct {
        unsigned long long ticket;  ///< unsigned: number of thread blocks so far
        unsigned first_ticket;      ///< first ticket of this launch
        int ring_columns;           ///< columns of 16 bytes in the window, without the repeated ones
        int ring_pitch;             ///< words between rows
    } wavefront;
} GpumeCudaArgs;

/* Comparison of cells. */

#define GPUME_CUDA_SAME_THREADS 256

/** Compares a picture with its reference where luma is known to be the same. */
typedef struct GpumeCudaSameArgs {
    GpumeParams params;
    int nb_planes;
    GpumeOtherPlane planes[GPUME_MAX_OTHER_PLANES];
    GpumeCudaPlane cur[GPUME_MAX_OTHER_PLANES];
    GpumeCudaPlane ref[GPUME_MAX_OTHER_PLANES];
    unsigned long long mvs;     ///< AVMotionVector[bh][bw]
    unsigned long long costs;   ///< uint32_t[bh][bw]
    unsigned long long same;    ///< uint8_t: GpumeField.same
} GpumeCudaSameArgs;

/* Blocks of several sizes: the decision which nodes are split, and the leaves. */

/** Maximum number of nodes of a root, of all sizes, the smallest blocks first. */
#define GPUME_CUDA_TREE_NODES 341
/** Maximum number of smallest blocks of a root. */
#define GPUME_CUDA_TREE_BLOCKS 256

/** Maximum number of threads of the kernels: one for each node, or smallest block, of a root. */
#define GPUME_CUDA_TREE_DECIDE_THREADS 352
#define GPUME_CUDA_TREE_WRITE_THREADS  GPUME_CUDA_TREE_BLOCKS
/** Words of shared memory: two for each node; one for each warp, and a vector for each of the smallest blocks. */
#define GPUME_CUDA_TREE_DECIDE_SHARED (2 * GPUME_CUDA_TREE_NODES)
#define GPUME_CUDA_TREE_WRITE_SHARED                                                            \
    (GPUME_CUDA_TREE_WRITE_THREADS / 32 + GPUME_CUDA_TREE_BLOCKS * (int)sizeof(AVMotionVector) / 4)

/** Words of the mask that says which nodes of a root, except the smallest blocks, are split. */
#define GPUME_CUDA_TREE_SPLITS 3

/** Sums over a field. */
typedef struct GpumeCudaTreeSums {
    unsigned long long nb;          ///< leaves
    unsigned long long bits, rd;    ///< GpumeField.bits, rd
} GpumeCudaTreeSums;

/** A root after the decision. */
typedef struct GpumeCudaRoot {
    unsigned nb;                    ///< leaves
    unsigned splits[GPUME_CUDA_TREE_SPLITS];    ///< a bit for each node, beginning with size 1
} GpumeCudaRoot;

/** Results of the search of blocks of one size. */
typedef struct GpumeCudaTreeSize {
    int bw, bh;
    unsigned long long mvs;         ///< AVMotionVector[nb_fields][bh][bw]
    unsigned long long costs;       ///< uint32_t[nb_fields][bh][bw]
} GpumeCudaTreeSize;

/** Arguments for the decision which nodes are split, and for writing the leaves. */
typedef struct GpumeCudaTreeArgs {
    int width, height;              ///< size of the picture
    int block;                      ///< side of the smallest blocks
    int pel;
    int nb_sizes;
    unsigned bit_cost;              ///< in units of 1/256
    GpumeCudaTreeSize sizes[GPUME_MAX_SIZES];
    unsigned long long roots;       ///< GpumeCudaRoot[nb_fields][bh][bw] of the largest size
    unsigned long long rows[GPUME_CUDA_FIELDS]; ///< unsigned[bh] of that size: leaves of each row; 0 at first
    unsigned long long sums[GPUME_CUDA_FIELDS]; ///< GpumeCudaTreeSums; 0 at first
    unsigned long long mvs[GPUME_CUDA_FIELDS];  ///< AVMotionVector: the leaves
    unsigned long long costs[GPUME_CUDA_FIELDS];    ///< uint32_t
    unsigned long long leaf_sizes[GPUME_CUDA_FIELDS];   ///< uint8_t: GpumeField.sizes
    unsigned long long blocks[GPUME_CUDA_FIELDS];   ///< AVMotionVector[bh][bw]: smallest blocks with the vectors of
                                                    ///< their leaves
} GpumeCudaTreeArgs;

#endif /* AVFILTER_GPUME_CUDA_SEARCH_ARGS_H */
