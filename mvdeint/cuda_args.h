/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What the CUDA backend's host side and its kernels share. Addresses are the device's.
 */

#ifndef AVFILTER_GPUME_MVDEINT_CUDA_ARGS_H
#define AVFILTER_GPUME_MVDEINT_CUDA_ARGS_H

#include "libavfilter/gpume/mvdeint/arithmetic.h"
#include "libavfilter/gpume/picture/cuda_args.h"

/** Threads of a block: a warp has 32 samples of a line, or an area of compensated samples. */
#define MVDEINT_CUDA_THREADS 256
#define MVDEINT_CUDA_WARPS   (MVDEINT_CUDA_THREADS / 32)
/** Lines of the picture that a block of threads combines: a warp has a known one and a missing one. */
#define MVDEINT_CUDA_LINES   (2 * MVDEINT_CUDA_WARPS)
/** Around these lines others are read, and columns around the 32. */
#define MVDEINT_CUDA_LINES_AROUND   3
#define MVDEINT_CUDA_COLUMNS_AROUND 2

/** Lines and columns of what a block of threads has in shared memory, and bytes of that. */
#define MVDEINT_CUDA_WINDOW_LINES   (MVDEINT_CUDA_LINES + 2 * MVDEINT_CUDA_LINES_AROUND)
#define MVDEINT_CUDA_WINDOW_COLUMNS (32 + 2 * MVDEINT_CUDA_COLUMNS_AROUND)
#define MVDEINT_CUDA_WINDOW_SHARED  \
    (MVDEINT_CUDA_WINDOW_LINES * MVDEINT_CUDA_WINDOW_COLUMNS * (2 + 3 * MVDEINT_MAX_CANDIDATES))
/** Sums of a warp between the directions of the filter, for two components; bytes of those of a block of threads. */
#define MVDEINT_CUDA_MATCH_SUMS     (2 * (MVDEINT_BLOCK + 5) * MVDEINT_BLOCK)
#define MVDEINT_CUDA_MATCH_SHARED   (MVDEINT_CUDA_WARPS * MVDEINT_CUDA_MATCH_SUMS * 4)

/** A component, in all pictures and in the compensated ones. */
typedef struct MvdeintCudaComponent {
    unsigned first;             ///< bytes from the beginning of a picture to sample (0, 0)
    int stride;                 ///< bytes
    int w, h;                   ///< samples
    int hsub, vsub;
    unsigned match;             ///< compensated samples before it
} MvdeintCudaComponent;

/** By number; what is not there has no samples. */
typedef struct MvdeintCudaComponents {
    MvdeintCudaComponent c[GPUME_CUDA_COMPONENTS];
    int nb;
} MvdeintCudaComponents;

/** Tables of 16-bit words, one after the other: where each begins, and how many words there are. */
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

/** Parameters of the kernel that compensates pictures. */
typedef struct MvdeintCudaMatchArgs {
    MvdeintCudaComponents components;
    GpumeCells cells;
    GpumeCellSource fields[MVDEINT_MAX_CANDIDATES];     ///< of the current picture
    unsigned long long pictures[MVDEINT_MAX_CANDIDATES];///< 0: there is none
    int parities[MVDEINT_MAX_CANDIDATES];
    unsigned long long samples, real;   ///< of all candidates, one after the other
    unsigned size;                      ///< of one of them, in samples
    unsigned long long own;             ///< the picture of the field
    unsigned long long votes;           ///< of all areas of luma, of one candidate after the other
    unsigned long long lonely;          ///< is set to 0
    int parity, depth;
} MvdeintCudaMatchArgs;

/** Parameters of the kernel that finds the candidates that match. */
typedef struct MvdeintCudaMatchingArgs {
    unsigned long long votes;           ///< as MvdeintCudaMatchArgs has them
    unsigned long long matching;        ///< bits of the candidates that match, a byte for each area
    unsigned long long lonely;          ///< number of areas where fewer than two match
    int cols, rows;                     ///< of areas
    unsigned present;
} MvdeintCudaMatchingArgs;

/** Parameters of the kernel that makes a picture of all that is known. */
typedef struct MvdeintCudaCombineArgs {
    MvdeintCudaComponents components;
    MvdeintModel model;
    unsigned long long own, first, intra;       ///< pictures
    unsigned long long samples, real;           ///< as MvdeintCudaMatchArgs has them
    unsigned size, present;
    unsigned long long matching, lonely;        ///< as MvdeintCudaMatchingArgs has them
    int area_cols, area_rows;
    unsigned long long table;
    unsigned long long out;                     ///< a picture; 0: a frame
    GpumeCudaComponent planes[GPUME_CUDA_COMPONENTS];
    int shift;                                  ///< bits below a sample in a word of the frame
    int parity, depth;
    int copies;                                 ///< all lines are known
} MvdeintCudaCombineArgs;

#endif /* AVFILTER_GPUME_MVDEINT_CUDA_ARGS_H */
