/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The arguments of the kernels of trees. Read by the host and by device code.
 */

#ifndef AVFILTER_GPUME_CUDA_TREE_ARGS_H
#define AVFILTER_GPUME_CUDA_TREE_ARGS_H

#include "libavfilter/gpume/core/tree_args.h"
#include "libavfilter/gpume/cuda/search_args.h"

/** Largest number of nodes of a root, of all sizes, the smallest blocks first. */
#define GPUME_CUDA_TREE_NODES 341
/** Largest number of the smallest blocks of a root. */
#define GPUME_CUDA_TREE_BLOCKS 256

/** Threads of the kernels, at most: one for each node, or smallest block, of a root. */
#define GPUME_CUDA_TREE_DECIDE_THREADS 352
#define GPUME_CUDA_TREE_WRITE_THREADS  GPUME_CUDA_TREE_BLOCKS
/** Words of shared memory: two for each node; one for each warp, and a vector for each of the smallest blocks. */
#define GPUME_CUDA_TREE_DECIDE_SHARED (2 * GPUME_CUDA_TREE_NODES)
#define GPUME_CUDA_TREE_WRITE_SHARED                                                            \
    (GPUME_CUDA_TREE_WRITE_THREADS / 32 + GPUME_CUDA_TREE_BLOCKS * (int)sizeof(AVMotionVector) / 4)

/** Words that hold which nodes of a root, but for the smallest blocks, are split. */
#define GPUME_CUDA_TREE_SPLITS 3

/** Sums over a field. */
typedef struct GpumeCudaTreeSums {
    unsigned long long nb;          ///< leaves
    unsigned long long bits, rd;    ///< GpumeField.bits, rd
} GpumeCudaTreeSums;

/** A root that has been decided. */
typedef struct GpumeCudaRoot {
    unsigned nb;                    ///< leaves
    unsigned splits[GPUME_CUDA_TREE_SPLITS];    ///< a bit for each node, those of size 1 first
} GpumeCudaRoot;

/** Blocks of one size: what has been found for them. */
typedef struct GpumeCudaTreeSize {
    int bw, bh;
    unsigned long long mvs;         ///< AVMotionVector[nb_fields][bh][bw]
    unsigned long long costs;       ///< uint32_t[nb_fields][bh][bw]
} GpumeCudaTreeSize;

/** Decide which nodes are split, and write the leaves. */
typedef struct GpumeCudaTreeArgs {
    int width, height;              ///< of the picture
    int block;                      ///< side of the smallest blocks
    int pel;
    int nb_sizes;
    unsigned bit_cost;              ///< in 1/256
    GpumeCudaTreeSize sizes[GPUME_MAX_SIZES];
    unsigned long long roots;       ///< GpumeCudaRoot[nb_fields][bh][bw] of the largest size
    unsigned long long rows[GPUME_CUDA_FIELDS]; ///< unsigned[bh] of that size: leaves of each row; 0 at first
    unsigned long long sums[GPUME_CUDA_FIELDS]; ///< GpumeCudaTreeSums; 0 at first
    unsigned long long mvs[GPUME_CUDA_FIELDS];  ///< AVMotionVector: the leaves
    unsigned long long costs[GPUME_CUDA_FIELDS];    ///< uint32_t
    unsigned long long leaf_sizes[GPUME_CUDA_FIELDS];   ///< uint8_t: GpumeField.sizes
    unsigned long long blocks[GPUME_CUDA_FIELDS];   ///< AVMotionVector[bh][bw]: smallest blocks with vectors of leaves
} GpumeCudaTreeArgs;

#endif /* AVFILTER_GPUME_CUDA_TREE_ARGS_H */
