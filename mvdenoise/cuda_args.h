/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What the CUDA backend's host side and its kernels share. Addresses are the device's.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_CUDA_ARGS_H
#define AVFILTER_GPUME_MVDENOISE_CUDA_ARGS_H

#include "libavfilter/gpume/mvdenoise/levels.h"
#include "libavfilter/gpume/picture/cuda_args.h"

/** Threads of all blocks but those that transform stacks, or estimate. */
#define MVDENOISE_CUDA_THREADS          256
#define MVDENOISE_CUDA_STACK_THREADS    128
#define MVDENOISE_CUDA_STACK_ROWS       2
#define MVDENOISE_CUDA_WARPS            (MVDENOISE_CUDA_THREADS / 32)
#define MVDENOISE_CUDA_ESTIMATE_THREADS 1024
/** Bytes of shared memory with which noise is estimated: bins, sums of some of them, and some more. */
#define MVDENOISE_CUDA_ESTIMATE_SHARED  (sizeof(MvdenoiseBins) + 2 * MVDENOISE_BINS * 4 + 1024)
/** Lanes of what is 8 samples wide: a patch, or a block whose noise is measured. */
#define MVDENOISE_CUDA_LANES            8
/** So many patches, or measured blocks, of a row a block of threads has. */
#define MVDENOISE_CUDA_ROW              (MVDENOISE_CUDA_THREADS / MVDENOISE_CUDA_LANES)
/** Fields of a picture. */
#define MVDENOISE_CUDA_FIELDS           (MVDENOISE_MAX_STACK - 1)

/** Words of shared memory in which 8 lanes transpose 8x8 values; rows begin in different banks, and so do tiles. */
#define MVDENOISE_CUDA_TILE_ROW         12
#define MVDENOISE_CUDA_TILE             (8 * MVDENOISE_CUDA_TILE_ROW + 8)
/** The same of a patch that is sought. */
#define MVDENOISE_CUDA_PATCH            (MVDENOISE_SAMPLES / 2 + 4)
/** Bits of samples up to which the squares of a patch's differences and a penalty add up to 32 bits. */
#define MVDENOISE_CUDA_NARROW           12
/** Rows of samples that a warp combines, of which it makes half samples. */
#define MVDENOISE_CUDA_COMBINED         8
#define MVDENOISE_CUDA_HALVED           2
/** Bins in which candidates of a picture are sorted. */
#define MVDENOISE_CUDA_MATCH_BINS       64
/** Bytes of shared memory in which patches are sought in nb pictures, whose sums of squares have so many bytes. */
#define MVDENOISE_CUDA_MATCH_SHARED(nb, bytes) \
    (4 * (MVDENOISE_CUDA_ROW * MVDENOISE_CUDA_PATCH + MVDENOISE_CUDA_FIELDS * (6 + MVDENOISE_CUDA_MATCH_BINS + 2) + \
          16 * 2 + MVDENOISE_CUDA_ROW) + MVDENOISE_CUDA_THREADS * (nb) * ((bytes) + 4 + 2))

/** Half samples are made from so far before a component to so far behind it, both ways; words more are read. */
#define MVDENOISE_CUDA_BEFORE           16
#define MVDENOISE_CUDA_BEHIND           20

/** Rows that a thread of the kernel that compares frames has. */
#define MVDENOISE_CUDA_COMPARED         4

/** Planes of two frames. */
typedef struct MvdenoiseCudaBytes {
    unsigned long long a, b;
    long long linesize[2];
    int w, h;                   ///< bytes, rows
} MvdenoiseCudaBytes;

/** Parameters of the kernel that compares frames. Blocks z: planes. */
typedef struct MvdenoiseCudaRepeatsArgs {
    MvdenoiseCudaBytes planes[GPUME_CUDA_COMPONENTS];
    unsigned long long differ;  ///< unsigned, which becomes 1 where bytes differ
} MvdenoiseCudaRepeatsArgs;

/** A component, in all other kernels. What is done in rows, is done by blocks of threads from block on. */
typedef struct MvdenoiseCudaComponent {
    unsigned first;             ///< bytes from the beginning of a copy to sample (0, 0)
    int stride;                 ///< bytes
    int w, h;                   ///< samples
    int hsub, vsub;
    int cols, rows;             ///< patches, or measured blocks
    int number;                 ///< of the first of these
    int block;                  ///< of threads, the first
} MvdenoiseCudaComponent;

typedef struct MvdenoiseCudaComponents {
    MvdenoiseCudaComponent c[GPUME_CUDA_COMPONENTS];
    int nb;
} MvdenoiseCudaComponents;

/**
 * Parameters of the kernel that makes half samples. The planes of a copy follow each other, plane bytes apart;
 * offsets into it have 32 bits.
 */
typedef struct MvdenoiseCudaHalvesArgs {
    MvdenoiseCudaComponents components;
    unsigned long long copy;
    unsigned plane;
    int depth;
} MvdenoiseCudaHalvesArgs;

/** Parameters of the kernel that measures blocks, of the components as they are or of half the size. */
typedef struct MvdenoiseCudaMeasureArgs {
    MvdenoiseCudaComponents components;
    GpumeCells cells;
    unsigned long long copy;
    unsigned long long before;  ///< copy of the picture before; 0: there are no vectors into it
    unsigned long long vectors; ///< cells, into the picture before
    unsigned long long bins;    ///< MvdenoiseBins of each component
    unsigned long long means;   ///< unsigned short, of component 0; unless halved
    int halved;
    int depth;
} MvdenoiseCudaMeasureArgs;

/** What is known of the noise of a sequence. 0 at first. */
typedef struct MvdenoiseCudaEstimate {
    MvdenoiseFound found[GPUME_CUDA_COMPONENTS];
    MvdenoiseKnown known[GPUME_CUDA_COMPONENTS];
    unsigned is_cut;
    unsigned nb_done;                   ///< blocks of threads
} MvdenoiseCudaEstimate;

/** Parameters of the kernel that estimates the noise. */
typedef struct MvdenoiseCudaEstimateArgs {
    unsigned long long bins;            ///< MvdenoiseBins of each component, which become 0
    unsigned long long means;           ///< of component 0
    unsigned long long means_before;    ///< of the picture before; 0: there is none
    unsigned long long estimate;        ///< MvdenoiseCudaEstimate
    unsigned long long noise;           ///< MvdenoiseNoise of each component, by tones
    unsigned long long noise_before;    ///< of the picture before
    unsigned long long curves, curves_before;   ///< MvdenoiseCurve of each component; may be 0
    int nb_means;
    unsigned nb_blocks[GPUME_CUDA_COMPONENTS];
    int has_field;                      ///< matches in the picture before were measured
    int sigma, single, strength;        ///< of MvdenoiseConfig
    int nb;                             ///< components
    int chosen;                         ///< bits of components
    int depth;
    int grid;                           ///< blocks of threads
} MvdenoiseCudaEstimateArgs;

/** Parameters of the kernel that finds matches, in nb pictures. */
typedef struct MvdenoiseCudaMatchArgs {
    MvdenoiseCudaComponents components; ///< with patches
    GpumeCells cells;
    unsigned long long own;             ///< copies of the picture itself, and of those that are searched
    unsigned long long pictures[MVDENOISE_CUDA_FIELDS];
    unsigned long long vectors[MVDENOISE_CUDA_FIELDS];  ///< cells
    unsigned long long matches[MVDENOISE_CUDA_FIELDS];  ///< GpumeCellVector of each patch
    unsigned plane;
    unsigned long long noise;           ///< MvdenoiseNoise of each component, by tones
    int nb;
    int second;                         ///< pass
    int depth;
} MvdenoiseCudaMatchArgs;

/**
 * Words of the table that the kernel of stacks reads: matrices over time of 1 to n patches, n * n each; gains, of which
 * the last one is there twice, as MvdenoiseNoise.most may have the ratio MVDENOISE_RATIOS.
 */
#define MVDENOISE_CUDA_TABLE(n) ((n) * (n) * (n) + MVDENOISE_RATIOS + 1)
/** Words of gains that a block of threads keeps in the second pass. */
#define MVDENOISE_CUDA_GAINS(n) (MVDENOISE_CUDA_STACK_THREADS * 4 * (n))
/** Bytes of shared memory in which stacks of n patches at most are transformed: tiles, gains, the table. */
#define MVDENOISE_CUDA_STACK_SHARED(n, second) \
    (4 * (MVDENOISE_CUDA_STACK_THREADS / MVDENOISE_CUDA_LANES * MVDENOISE_CUDA_TILE + \
          ((second) ? MVDENOISE_CUDA_GAINS(n) : 0) + MVDENOISE_CUDA_TABLE(n)))

/** Parameters of the kernel that transforms stacks. */
typedef struct MvdenoiseCudaStacksArgs {
    MvdenoiseCudaComponents components; ///< with patches
    /** Copies of pictures of a window, the current one in the middle; 0: there is none. */
    unsigned long long noisy[MVDENOISE_MAX_STACK], pilot[MVDENOISE_MAX_STACK];
    unsigned long long matches[MVDENOISE_CUDA_FIELDS];  ///< 0: there are none
    unsigned plane;
    unsigned long long noise;           ///< MvdenoiseNoise of each component, by tones
    unsigned long long table;           ///< int[MVDENOISE_CUDA_TABLE()]
    unsigned long long results;         ///< unsigned short[8][8] of each patch, column by column
    unsigned long long weights;         ///< unsigned short of each patch
    int depth;
} MvdenoiseCudaStacksArgs;

/** Parameters of the kernel that makes a picture of patches. Blocks z: components. */
typedef struct MvdenoiseCudaCombineArgs {
    MvdenoiseCudaComponents components; ///< with patches
    GpumeCudaComponent planes[GPUME_CUDA_COMPONENTS];   ///< of a frame; unless copy is set
    unsigned long long copy;            ///< that is made, the pilot; edges are repeated
    unsigned long long noisy;           ///< copy of the picture itself
    unsigned long long noise;           ///< MvdenoiseNoise of each component, by tones
    unsigned long long results, weights;
    int depth, shift;
} MvdenoiseCudaCombineArgs;

#endif /* AVFILTER_GPUME_MVDENOISE_CUDA_ARGS_H */
