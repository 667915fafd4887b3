/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What the host tells mvstereo's kernels. Addresses are the device's.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_CUDA_ARGS_H
#define AVFILTER_GPUME_MVSTEREO_CUDA_ARGS_H

#include "libavfilter/gpume/mvstereo/arithmetic.h"
#include "libavfilter/gpume/mvstereo/paint.h"
#include "libavfilter/gpume/mvstereo/range.h"

/** Threads of a block: MVSTEREO_CUDA_COLS x MVSTEREO_CUDA_ROWS samples, unless a kernel says otherwise. */
#define MVSTEREO_CUDA_COLS      32
#define MVSTEREO_CUDA_ROWS      8
#define MVSTEREO_CUDA_THREADS   (MVSTEREO_CUDA_COLS * MVSTEREO_CUDA_ROWS)
/** Rows of a block of threads that reads views, a column a thread. */
#define MVSTEREO_CUDA_VIEW_ROWS 16
/** Samples of a row whose costs a block of threads has, and what of the other view they can be compared with. */
#define MVSTEREO_CUDA_COST_COLS 64
#define MVSTEREO_CUDA_COST_ROW  (MVSTEREO_MAX_RANGE + MVSTEREO_CUDA_COST_COLS)
/** Paths of a block of threads, a warp each. */
#define MVSTEREO_CUDA_PATHS     4
/** Views are at most so wide: a row of the other view, and as much as the range on its sides, is in shared memory. */
#define MVSTEREO_CUDA_MAX_W     (12288 - MVSTEREO_MAX_RANGE)

/** Variants with this bit are for compute capability 8.0 and later; clang has to be told so (gpume.mak). */
#define MVSTEREO_CUDA_AMPERE    16

/** Bytes of shared memory of the kernel that copies luma: a histogram. */
#define MVSTEREO_CUDA_LUMA_SHARED   (256 * 4)
/** Shared memory of the weighted median: what is around the samples of a block of threads, and weights of each. */
#define MVSTEREO_CUDA_TILE_W    (MVSTEREO_CUDA_COLS + 2 * MVSTEREO_WMED_R)
#define MVSTEREO_CUDA_TILE_H    (MVSTEREO_CUDA_ROWS + 2 * MVSTEREO_WMED_R)
#define MVSTEREO_CUDA_WEIGHTS   ((2 * MVSTEREO_WMED_R + 1) * (2 * MVSTEREO_WMED_R + 1))
typedef struct MvstereoCudaTile {
    short values[MVSTEREO_CUDA_TILE_H][MVSTEREO_CUDA_TILE_W];
    unsigned char luma[MVSTEREO_CUDA_TILE_H][MVSTEREO_CUDA_TILE_W];
    unsigned char valid[MVSTEREO_CUDA_TILE_H][MVSTEREO_CUDA_TILE_W];
    unsigned char weights[MVSTEREO_CUDA_WEIGHTS][MVSTEREO_CUDA_THREADS];
} MvstereoCudaTile;

/** What is known of a pair. 0 at first. */
typedef struct MvstereoCudaStats {
    unsigned histograms[2][256];        ///< of luma
    unsigned calm[2];                   ///< samples whose noise is below MVSTEREO_NOISY
    int is_noisy;
    unsigned counts[2 * MVSTEREO_COARSE_W];     ///< of whole disparities
    unsigned char table[256];           ///< luma of the left view that corresponds to luma of the right one
} MvstereoCudaStats;

/** The only parameter of all kernels. Planes have w samples a row. */
typedef struct MvstereoCudaArgs {
    int w, h;
    int min, range, rows;
    unsigned long long stats;

    /* views in frames: the first sample, and bytes from it to the next one, and to that below */
    unsigned long long views[2];
    long long steps[2], linesizes[2];
    int shift;                          ///< of a word, until it has 8 bits

    unsigned long long raw[2], luma[2]; ///< of 8 bits, before and after they are smoothed
    unsigned long long halved[2];       ///< of half the size
    unsigned long long features[2];     ///< words of 64 bits: census, luma << 48, gradient << 56
    unsigned long long p2[2];           ///< bytes: penalties of steps from the sample on the left, and from that above
    /* where halved views are matched first: their disparities from the least one, half_min, and bases made of them */
    unsigned long long half, base;      ///< 16 bits
    int half_min;
    unsigned long long costs;           ///< range bytes a sample, or MVSTEREO_WINDOW with base
    unsigned long long paths[4];        ///< likewise, from left, right, above, below
    unsigned long long matched, checked, kept, filled, smoothed, disparity;     ///< maps of 16 bits, by step
    unsigned long long right;           ///< of the right view, 16 bits
    unsigned long long valid, confidence;       ///< bytes
    unsigned long long parents, sizes;  ///< of pieces, 32 bits
    unsigned long long row_valid;       ///< whether anything in a row is, 32 bits

    /* where disparities are stabilised: what was before of the view's luma, and of its map in 1/16 from 0 */
    int temporal, is_known;
    unsigned long long luma_before, disparity_before, age;
    int fill, output, counts;           ///< counts: whether to count disparities
    unsigned long long out, chroma;     ///< planes of the output; 0: it has no chroma
    long long out_linesize, chroma_linesize;
    MvstereoPaint paint;
} MvstereoCudaArgs;

#endif /* AVFILTER_GPUME_MVSTEREO_CUDA_ARGS_H */
