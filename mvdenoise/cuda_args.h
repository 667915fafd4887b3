/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Declarations that the host code and the kernels of the CUDA backend share. Addresses are device
 * addresses.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_CUDA_ARGS_H
#define AVFILTER_GPUME_MVDENOISE_CUDA_ARGS_H

#include "libavfilter/gpume/mvdenoise/levels.h"
#include "libavfilter/gpume/picture/cuda_args.h"

/** Number of threads of a thread block, except of kernels that transform stacks or estimate noise. */
#define MVDENOISE_CUDA_THREADS          256
#define MVDENOISE_CUDA_STACK_THREADS    128
#define MVDENOISE_CUDA_STACK_ROWS       2
#define MVDENOISE_CUDA_WARPS            (MVDENOISE_CUDA_THREADS / 32)
#define MVDENOISE_CUDA_ESTIMATE_THREADS 1024
/** Size of the shared memory of noise estimates: bins, sums of some of them, and other data. */
#define MVDENOISE_CUDA_ESTIMATE_SHARED  (sizeof(MvdenoiseBins) + 2 * MVDENOISE_BINS * 4 + 1024)
/** Number of lanes for 8 columns of samples: a patch, or a block whose noise is measured. */
#define MVDENOISE_CUDA_LANES            8
/** Number of patches, or measured blocks, of a row in a thread block. */
#define MVDENOISE_CUDA_ROW              (MVDENOISE_CUDA_THREADS / MVDENOISE_CUDA_LANES)
/** Maximum number of fields of a picture. */
#define MVDENOISE_CUDA_FIELDS           (MVDENOISE_MAX_STACK - 1)

/** Words of shared memory in which 8 lanes transpose 8x8 values; rows and tiles begin in different banks. */
#define MVDENOISE_CUDA_TILE_ROW         12
#define MVDENOISE_CUDA_TILE             (8 * MVDENOISE_CUDA_TILE_ROW + 8)
/** Words of shared memory of a patch that is searched. */
#define MVDENOISE_CUDA_PATCH            (MVDENOISE_SAMPLES / 2 + 4)
/** Maximum depth for which the squared differences of a patch plus a penalty fit into 32 bits. */
#define MVDENOISE_CUDA_NARROW           12
/** Number of rows of samples that a warp combines, and of those that it makes half samples of. */
#define MVDENOISE_CUDA_COMBINED         8
#define MVDENOISE_CUDA_HALVED           2
/** Number of bins in which the candidates of a picture are sorted. */
#define MVDENOISE_CUDA_MATCH_BINS       64
/** Size of the shared memory for searching patches in nb pictures; a sum of squares has this many bytes. */
#define MVDENOISE_CUDA_MATCH_SHARED(nb, bytes) \
    (4 * (MVDENOISE_CUDA_ROW * MVDENOISE_CUDA_PATCH + MVDENOISE_CUDA_FIELDS * (6 + MVDENOISE_CUDA_MATCH_BINS + 2) + \
          16 * 2 + MVDENOISE_CUDA_ROW) + MVDENOISE_CUDA_THREADS * (nb) * ((bytes) + 4 + 2))

/**
 * Margins before and after a component in which half samples are made, in both directions; some
 * more words are read.
 */
#define MVDENOISE_CUDA_BEFORE           16
#define MVDENOISE_CUDA_BEHIND           20

/** Number of rows for each thread of the kernel that compares frames. */
#define MVDENOISE_CUDA_COMPARED         4

/** Planes of two frames. */
typedef struct MvdenoiseCudaBytes {
    unsigned long long a, b;
    long long linesize[2];
    int w, h;                   ///< bytes, rows
} MvdenoiseCudaBytes;

/** Parameters of the kernel that compares frames; dimension z of the grid: planes. */
typedef struct MvdenoiseCudaRepeatsArgs {
    MvdenoiseCudaBytes planes[GPUME_CUDA_COMPONENTS];
    unsigned long long differ;  ///< unsigned: set to 1 if bytes differ
} MvdenoiseCudaRepeatsArgs;

/** A component, in the other kernels. Its rows are processed by the thread blocks from 'block' on. */
typedef struct MvdenoiseCudaComponent {
    unsigned first;             ///< offset of sample (0, 0) in a copy, bytes
    int stride;                 ///< bytes
    int w, h;                   ///< samples
    int hsub, vsub;
    int cols, rows;             ///< number of patches, or of measured blocks
    int number;                 ///< index of the first of them
    int block;                  ///< index of the first thread block
} MvdenoiseCudaComponent;

typedef struct MvdenoiseCudaComponents {
    MvdenoiseCudaComponent c[GPUME_CUDA_COMPONENTS];
    int nb;
    int log2_step;              ///< logarithm of the distance between rows of patches
} MvdenoiseCudaComponents;

/**
 * Parameters of the kernel that makes half samples. The planes of a copy are plane bytes apart;
 * offsets into a copy have 32 bits.
 */
typedef struct MvdenoiseCudaHalvesArgs {
    MvdenoiseCudaComponents components;
    unsigned long long copy;
    unsigned plane;
    int depth;
} MvdenoiseCudaHalvesArgs;

/** Parameters of the kernel that measures blocks, of the components at full or half size. */
typedef struct MvdenoiseCudaMeasureArgs {
    MvdenoiseCudaComponents components;
    GpumeCells cells;
    unsigned long long copy;
    unsigned long long before;  ///< copy of the previous picture; 0: there are no vectors into it
    unsigned long long vectors; ///< cells with vectors into the previous picture
    unsigned long long bins;    ///< MvdenoiseBins of each component
    unsigned long long blocks;  ///< MvdenoiseBlock of each block; only if there are vectors
    unsigned long long means;   ///< unsigned short, of component 0; not at half size
    int halved;
    int depth;
} MvdenoiseCudaMeasureArgs;

/** State of the noise estimate of a sequence. Zeroed at first. */
typedef struct MvdenoiseCudaEstimate {
    MvdenoiseFound found[GPUME_CUDA_COMPONENTS];
    MvdenoiseKnown known[GPUME_CUDA_COMPONENTS];
    unsigned is_cut;
    unsigned nb_done;                   ///< number of finished thread blocks
} MvdenoiseCudaEstimate;

/** Parameters of the kernel that estimates the noise. */
typedef struct MvdenoiseCudaEstimateArgs {
    unsigned long long bins;            ///< MvdenoiseBins of each component; reset to 0
    unsigned long long blocks;          ///< MvdenoiseBlock of each block; only if matches were measured
    unsigned long long means;           ///< means of component 0
    unsigned long long means_before;    ///< means of the previous picture; 0: there is none
    unsigned long long estimate;        ///< MvdenoiseCudaEstimate
    unsigned long long noise;           ///< MvdenoiseNoise of each component, by tones
    unsigned long long noise_before;    ///< noise of the previous picture
    unsigned long long curves, curves_before;   ///< MvdenoiseCurve of each component; may be 0
    int nb_means;
    unsigned nb_blocks[GPUME_CUDA_COMPONENTS];
    int has_field;                      ///< whether matches in the previous picture were measured
    int sigma, single;                  ///< MvdenoiseConfig.sigma and single
    int strength, strength_before;      ///< MvdenoiseConfig.strength of the picture and of the previous one
    int nb;                             ///< number of components
    int chosen;                         ///< bit mask of the components that are denoised
    int depth;
    int grid;                           ///< number of thread blocks
} MvdenoiseCudaEstimateArgs;

/** Parameters of the kernel that finds matches in nb pictures. */
typedef struct MvdenoiseCudaMatchArgs {
    MvdenoiseCudaComponents components; ///< rows are those of patches
    GpumeCells cells;
    unsigned long long own;             ///< copies of the current picture, and of the pictures that are searched
    unsigned long long pictures[MVDENOISE_CUDA_FIELDS];
    unsigned long long vectors[MVDENOISE_CUDA_FIELDS];  ///< cells; second pass: matches of the first
    unsigned long long matches[MVDENOISE_CUDA_FIELDS];  ///< GpumeCellVector of each patch
    unsigned plane;
    unsigned long long noise;           ///< MvdenoiseNoise of each component, by tones
    int nb;
    int second;                         ///< whether this is the second pass
    int depth;
} MvdenoiseCudaMatchArgs;

/**
 * Words of the table that the kernel of stacks reads: the matrices over time of 1 to n patches, n *
 * n each, and the gains. The last gain is stored twice, because MvdenoiseNoise.most may have the
 * ratio MVDENOISE_RATIOS.
 */
#define MVDENOISE_CUDA_TABLE(n) ((n) * (n) * (n) + MVDENOISE_RATIOS + 1)
/** Words of gains that a thread block stores in the second pass. */
#define MVDENOISE_CUDA_GAINS(n) (MVDENOISE_CUDA_STACK_THREADS * 4 * (n))
/** Size of the shared memory for transforming stacks of up to n patches: tiles, gains, the table. */
#define MVDENOISE_CUDA_STACK_SHARED(n, second) \
    (4 * (MVDENOISE_CUDA_STACK_THREADS / MVDENOISE_CUDA_LANES * MVDENOISE_CUDA_TILE + \
          ((second) ? MVDENOISE_CUDA_GAINS(n) : 0) + MVDENOISE_CUDA_TABLE(n)))

/** Parameters of the kernel that transforms stacks. */
typedef struct MvdenoiseCudaStacksArgs {
    MvdenoiseCudaComponents components; ///< rows are those of patches
    /** Copies of the pictures of a window, with the current one in the middle; 0: none. */
    unsigned long long noisy[MVDENOISE_MAX_STACK], pilot[MVDENOISE_MAX_STACK];
    unsigned long long matches[MVDENOISE_CUDA_FIELDS];  ///< 0: none
    unsigned plane;
    unsigned textured;                  ///< bit mask of components that may have texture
    unsigned long long noise;           ///< MvdenoiseNoise of each component, by tones
    unsigned long long table;           ///< int[MVDENOISE_CUDA_TABLE()]
    unsigned long long results;         ///< unsigned short[8][8] of each patch, column by column
    unsigned long long weights;         ///< unsigned short of each patch
    int depth;
} MvdenoiseCudaStacksArgs;

/** Parameters of the kernel that combines patches; dimension z of the grid: components. */
typedef struct MvdenoiseCudaCombineArgs {
    MvdenoiseCudaComponents components; ///< rows are those of patches
    GpumeCudaComponent planes[GPUME_CUDA_COMPONENTS];   ///< planes of a frame; not used if copy is set
    unsigned long long copy;            ///< output as the pilot, with repeated edges
    unsigned long long noisy;           ///< copy of the current picture
    unsigned long long noise;           ///< MvdenoiseNoise of each component, by tones
    unsigned long long results, weights;
    int depth, shift;
    unsigned short shifts[MVDENOISE_SHIFTS];            ///< ff_mvdenoise_shifts
} MvdenoiseCudaCombineArgs;

#endif /* AVFILTER_GPUME_MVDENOISE_CUDA_ARGS_H */
