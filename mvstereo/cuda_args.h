/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Arguments of mvstereo's kernels. Addresses are device addresses.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_CUDA_ARGS_H
#define AVFILTER_GPUME_MVSTEREO_CUDA_ARGS_H

#include "libavfilter/gpume/mvstereo/arithmetic.h"
#include "libavfilter/gpume/mvstereo/paint.h"
#include "libavfilter/gpume/mvstereo/range.h"

/** Size of a thread block, in samples, except in kernels that state another size. */
#define MVSTEREO_CUDA_COLS      32
#define MVSTEREO_CUDA_ROWS      8
#define MVSTEREO_CUDA_THREADS   (MVSTEREO_CUDA_COLS * MVSTEREO_CUDA_ROWS)
/** Size of a thread block that finds least sums, small so that all blocks of a picture run at once. */
#define MVSTEREO_CUDA_WINNER_THREADS 128
/** Number of rows of a thread block that reads views; a thread has a column. */
#define MVSTEREO_CUDA_VIEW_ROWS 16
/** Number of these rows that are read at once. */
#define MVSTEREO_CUDA_VIEW_BATCH 8
/** Number of samples of a row for which a thread block computes costs; a thread has a sample. */
#define MVSTEREO_CUDA_COST_COLS 128
/** Costs of the samples of a warp, four to a word. Rows are so long that lanes access different banks both ways. */
#define MVSTEREO_CUDA_WORDS_ROW 36
typedef struct MvstereoCudaWords {
    unsigned words[MVSTEREO_WINDOW / 4][MVSTEREO_CUDA_WORDS_ROW];
} MvstereoCudaWords;
/** Size of a thread block that adds costs along paths: a warp for each scheduler. */
#define MVSTEREO_CUDA_PATH_THREADS 128
/**
 * Maximum width of views: a row of the other view, with margins as wide as the range, must fit into
 * shared memory.
 */
#define MVSTEREO_CUDA_MAX_W     (12288 - MVSTEREO_MAX_RANGE)

/** Bit of variants for compute capability 8.0 and later; gpume.mak passes it to clang. */
#define MVSTEREO_CUDA_AMPERE    16

/** What a thread block that copies luma shares: first its histograms, those of the first view. */
typedef struct MvstereoCudaDecision {
    long long differ[256];
    unsigned up_to[2][256];             ///< samples of both views up to a luma
    unsigned noises[2][MVSTEREO_NOISES], is_rough[2];
} MvstereoCudaDecision;
/**
 * Shared memory of the weighted median: the neighbourhood of a thread block's pairs of samples, in pairs of halves of
 * words.
 */
#define MVSTEREO_CUDA_TILE_PAIRS (MVSTEREO_CUDA_COLS + MVSTEREO_WMED_R)
#define MVSTEREO_CUDA_TILE_H    (MVSTEREO_CUDA_ROWS + 2 * MVSTEREO_WMED_R)
typedef struct MvstereoCudaTile {
    unsigned values[MVSTEREO_CUDA_TILE_H][MVSTEREO_CUDA_TILE_PAIRS];
    /* luma plus MVSTEREO_LUMA; in the upper word MVSTEREO_SHIFTS, plus 2 where there is a hole */
    unsigned long long luma[MVSTEREO_CUDA_TILE_H][MVSTEREO_CUDA_TILE_PAIRS];
} MvstereoCudaTile;

/**
 * Costs of the eight paths of a warp, two to a word, in order to move them. Words before and behind them have no costs.
 * Words of a path are so far apart that lanes access different banks.
 */
#define MVSTEREO_CUDA_PITCH     10
#define MVSTEREO_CUDA_AHEAD     (MVSTEREO_WINDOW / 2 + 1)
typedef struct MvstereoCudaMoved {
    unsigned words[2 * MVSTEREO_CUDA_AHEAD + MVSTEREO_WINDOW / 2][MVSTEREO_CUDA_PITCH];
} MvstereoCudaMoved;

/** Bit of disparities that were holes. */
#define MVSTEREO_CUDA_HOLE      0x8000

/** Number of rows of a thread where rows share work, such as those of medians of 3x3 values. */
#define MVSTEREO_CUDA_THREAD_ROWS   4
/** Side of a thread block's part of a map whose samples are joined. */
#define MVSTEREO_CUDA_SIDE      (MVSTEREO_CUDA_ROWS * MVSTEREO_CUDA_THREAD_ROWS)
/** Luma of a thread block's neighbourhood: pairs of samples, one above the other. All warps load as many rows. */
#define MVSTEREO_CUDA_LUMA_ROWS (MVSTEREO_CUDA_SIDE + 8)
typedef struct MvstereoCudaLuma {
    unsigned pairs[MVSTEREO_CUDA_LUMA_ROWS][MVSTEREO_CUDA_COLS + 2 * MVSTEREO_CENSUS_R];
} MvstereoCudaLuma;

/** What a thread block that joins its samples shares. */
typedef struct MvstereoCudaPieces {
    unsigned parents[MVSTEREO_CUDA_SIDE * MVSTEREO_CUDA_COLS], sizes[MVSTEREO_CUDA_SIDE * MVSTEREO_CUDA_COLS];
    /* of the last rows of warps: the values, and bits of those that are not joined with that on their left */
    short values[MVSTEREO_CUDA_ROWS][MVSTEREO_CUDA_COLS];
    unsigned begins[MVSTEREO_CUDA_ROWS];
} MvstereoCudaPieces;
/** Size of a thread block that drops pieces of a row, and fills holes. */
#define MVSTEREO_CUDA_DROP_THREADS 512

/** Size of a thread block that stabilises a part of the map, and what it shares. */
#define MVSTEREO_CUDA_STEADY_THREADS 512
typedef struct MvstereoCudaPart {
    unsigned changes[2 * MVSTEREO_CHANGES + 1];         ///< how many disparities have changed by how much
    int change;                                         ///< the median
    unsigned char differences[MVSTEREO_PART + 2 * MVSTEREO_STILL_R][MVSTEREO_PART + 2 * MVSTEREO_STILL_R];
} MvstereoCudaPart;

/** Statistics of a pair. Zeroed at first. */
typedef struct MvstereoCudaStats {
    unsigned histograms[2][256];        ///< histograms of luma
    unsigned noises[2][MVSTEREO_NOISES];        ///< histograms of noise
    unsigned blocks;                    ///< number of thread blocks that have copied luma
    int is_rough;                       ///< both views are smoothed, and matched with tolerance
    unsigned counts[2 * MVSTEREO_COARSE_W];     ///< histogram of whole disparities
    unsigned char table[256];           ///< luma of the left view that corresponds to luma of the right one
    int agreement[MVSTEREO_NB_COUNTS];  ///< enum MvstereoCount; the last member, as it is read later than the others
} MvstereoCudaStats;

/** What is counted of a map. */
enum MvstereoCudaCounts {
    MVSTEREO_CUDA_NOTHING,
    MVSTEREO_CUDA_DISPARITIES,          ///< MvstereoCudaStats.counts
    MVSTEREO_CUDA_AGREEMENT,            ///< MvstereoCudaStats.agreement
};

/** The only parameter of all kernels. Planes have rows of w samples. */
typedef struct MvstereoCudaArgs {
    int w, h;
    int min, range, rows;
    int first_row, last_row;            ///< of a kernel that compares features: rows from that of the sample
    unsigned long long stats;

    /* views in frames: address of the first sample, and distances in bytes to the next sample and to the next row */
    unsigned long long views[2];
    long long steps[2], linesizes[2];
    int shift;                          ///< shift of a word to 8 bits

    unsigned long long raw[2], luma[2]; ///< luma of 8 bits, before and after smoothing
    unsigned long long halved[2];       ///< luma of half the size; 0: not needed
    unsigned long long features[2];     ///< words of 64 bits: census, luma << 48, gradient << 56
    unsigned long long even;            ///< bytes: whether what a census compares has no texture
    unsigned long long p2[2];           ///< bytes: penalties of steps from the sample on the left, and from the
                                        ///< sample above
    /* where halved views are matched first: their disparities from the least one, half_min, and bases made of them */
    unsigned long long half, base;      ///< 16 bits
    int half_min;
    unsigned long long costs;           ///< range bytes a sample, or MVSTEREO_WINDOW with base
    unsigned long long paths[4];        ///< range bytes for each sample; from left, right, above, below
    unsigned long long matched;         ///< map of 16 bits, as are those after the next steps
    unsigned long long checked;         ///< words: the value, MVSTEREO_EVEN or MVSTEREO_INVALID; whether the piece is
                                        ///< large; the root in the part
    unsigned long long filled;          ///< with MVSTEREO_CUDA_HOLE where there was a hole, or MVSTEREO_INVALID
    unsigned long long smoothed, disparity;
    unsigned long long right;           ///< map of the right view, 16 bits
    unsigned long long confidence;      ///< bytes
    unsigned long long parents, sizes;  ///< of roots of parts, 32 bits for each sample

    /* where disparities are stabilised: the left view in the frame that is searched, and that before */
    unsigned long long search, search_before;
    long long search_linesize, before_linesize;
    unsigned long long vectors;         ///< AVMotionVector[][vectors_w] into the view before; 0: there was none
    int temporal, vectors_w;
    /* arrays of the pair before and of this pair; disparities in 1/16, from 0 */
    unsigned long long disparities[2], ages[2];
    int fill, output, counts;           ///< counts: enum MvstereoCudaCounts
    unsigned long long out, chroma;     ///< planes of the output; 0: the output has no chroma
    long long out_linesize, chroma_linesize;
    MvstereoPaint paint;
} MvstereoCudaArgs;

#endif /* AVFILTER_GPUME_MVSTEREO_CUDA_ARGS_H */
