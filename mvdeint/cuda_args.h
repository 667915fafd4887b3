/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Declarations that the host code and the kernels of the CUDA backend share. Addresses are device
 * addresses.
 */

#ifndef AVFILTER_GPUME_MVDEINT_CUDA_ARGS_H
#define AVFILTER_GPUME_MVDEINT_CUDA_ARGS_H

#include "libavfilter/gpume/mvdeint/arithmetic.h"
#include "libavfilter/gpume/picture/cuda_args.h"

/** Number of threads of a thread block: a warp has 32 samples of a line, or an area of compensated samples. */
#define MVDEINT_CUDA_THREADS 256
#define MVDEINT_CUDA_WARPS   (MVDEINT_CUDA_THREADS / 32)
/** Number of lines of the picture that a thread block combines: a warp has a known line and a missing line. */
#define MVDEINT_CUDA_LINES   (2 * MVDEINT_CUDA_WARPS)
/** Number of additional columns that are measured on each side. */
#define MVDEINT_CUDA_COLUMNS_AROUND 2

/** Columns of a warp's line in the kernel that makes the first estimate, and its size in shared memory, bytes. */
#define MVDEINT_CUDA_FIRST_COLUMNS (32 + 4)
#define MVDEINT_CUDA_FIRST_SHARED  (MVDEINT_CUDA_WARPS * MVDEINT_CUDA_FIRST_COLUMNS * 4 * 4)
/** Columns that a thread block measures for each missing line, and the size of the measures in bytes. */
#define MVDEINT_CUDA_MEASURED_COLUMNS (32 + 2 * MVDEINT_CUDA_COLUMNS_AROUND)
#define MVDEINT_CUDA_MEASURES_SHARED  \
    (MVDEINT_CUDA_WARPS * MVDEINT_CUDA_MEASURED_COLUMNS * (8 * MVDEINT_MAX_CANDIDATES + 4))
/**
 * Size of the taps in shared memory; of the taps and the samples of four blocks; and threads for a block or an area of
 * luma.
 */
#define MVDEINT_CUDA_ROUND_SHARED   (8 * 8)
#define MVDEINT_CUDA_MATCH_SHARED   (8 * 8 + 4 * MVDEINT_BLOCK * MVDEINT_CUDA_THREADS * 4)
#define MVDEINT_CUDA_MATCH_LANES    4

/** A component, in all pictures and in the compensated pictures. */
typedef struct MvdeintCudaComponent {
    unsigned first;             ///< offset of sample (0, 0) in a picture, bytes
    int stride;                 ///< bytes
    int w, h;                   ///< samples
    int hsub, vsub;
    unsigned match;             ///< number of compensated samples before it
} MvdeintCudaComponent;

/** Indexed by component; missing components have no samples. */
typedef struct MvdeintCudaComponents {
    MvdeintCudaComponent c[GPUME_CUDA_COMPONENTS];
    int nb;
} MvdeintCudaComponents;

/** Tables of 16-bit words in sequence: their offsets, and the total number of words. */
#define MVDEINT_CUDA_POWER       0
#define MVDEINT_CUDA_INVERSE     256
#define MVDEINT_CUDA_RECIPROCALS (256 + 128)
#define MVDEINT_CUDA_TAPS        (MVDEINT_CUDA_RECIPROCALS + MVDEINT_MAX_WEIGHTS + 1)
#define MVDEINT_CUDA_TABLE       (MVDEINT_CUDA_TAPS + MVDEINT_CLASSES * MVDEINT_INTRA_LINES * MVDEINT_INTRA_COLUMNS)

/** Parameters of the kernel that makes the first estimate. */
typedef struct MvdeintCudaFirstArgs {
    MvdeintCudaComponents components;
    unsigned long long before, frame, after;    ///< copies of input frames
    unsigned long long out, intra;              ///< pictures
    unsigned long long table;
    int parity, is_second, is_alone, is_progressive, depth;
} MvdeintCudaFirstArgs;

/** Parameters of the kernel that repeats the edges of a picture. */
typedef struct MvdeintCudaEdgesArgs {
    MvdeintCudaComponents components;
    unsigned long long picture;
} MvdeintCudaEdgesArgs;

/** Parameters of the kernels that read vectors and compensate pictures. */
typedef struct MvdeintCudaMatchArgs {
    MvdeintCudaComponents components;
    GpumeCells cells;
    GpumeCellSource fields[MVDEINT_MAX_CANDIDATES];     ///< fields of the current picture
    unsigned long long pictures[MVDEINT_MAX_CANDIDATES];///< 0: the candidate does not exist
    int parities[MVDEINT_MAX_CANDIDATES];
    unsigned long long costs[2];        ///< costs of the first two fields
    unsigned long long vectors;         ///< of all blocks, candidate by candidate: y << 16 | x
    unsigned long long samples, known;  ///< samples and shares of all candidates, one after the other
    unsigned size;                      ///< samples of one candidate
    unsigned long long own;             ///< the picture of the field
    unsigned long long votes;           ///< votes of all areas of luma, candidate by candidate
    unsigned long long nb_poor;         ///< set to 0
    int parity, depth;
} MvdeintCudaMatchArgs;

/** Parameters of the kernel that finds the candidates that match. */
typedef struct MvdeintCudaMatchingArgs {
    unsigned long long votes;           ///< MvdeintCudaMatchArgs.votes
    unsigned long long matching;        ///< a byte for each area: bit mask of the candidates that match
    unsigned long long nb_poor;         ///< number of areas where fewer than two candidates match
    int cols, rows;                     ///< number of areas
    unsigned present;
} MvdeintCudaMatchingArgs;

/** Parameters of the kernel that combines a picture. */
typedef struct MvdeintCudaCombineArgs {
    MvdeintCudaComponents components;
    MvdeintModel model;
    unsigned long long own, first, intra;       ///< pictures
    unsigned long long samples, known;          ///< MvdeintCudaMatchArgs.samples and known
    unsigned size, present;
    unsigned long long matching, nb_poor;       ///< MvdeintCudaMatchingArgs.matching and nb_poor
    int area_cols, area_rows;
    unsigned long long table;
    unsigned long long out;                     ///< a picture; 0: writes a frame
    GpumeCudaComponent planes[GPUME_CUDA_COMPONENTS];
    int shift;                                  ///< bits below a sample in a word of the frame
    int parity, depth;
    int copies;                                 ///< whether all lines are known
} MvdeintCudaCombineArgs;

#endif /* AVFILTER_GPUME_MVDEINT_CUDA_ARGS_H */
