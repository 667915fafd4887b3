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
#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/cuda/full_search_args.h"

/** Maximum number of fields in a launch; kernels select a field by comparisons. */
#define GPUME_CUDA_FIELDS 2

/** Bytes of the largest loads. */
#define GPUME_CUDA_UNIT 16

/**
 * Luma in device memory. Kernels load whole units, so a search needs data and linesize that are multiples of
 * GPUME_CUDA_UNIT, and a readable unit at the end of each row.
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
    unsigned long long mvs;     ///< AVMotionVector[nb_fields][bh][bw]; not used if vectors is set
    unsigned long long vectors; ///< GpumeVector[nb_fields][bh][bw], for later stages; or 0
    unsigned long long costs;   ///< uint32_t[nb_fields][bh][bw]
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

#endif /* AVFILTER_GPUME_CUDA_SEARCH_ARGS_H */
