/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Arguments of the kernels of trees, for the host and for device code.
 */

#ifndef AVFILTER_GPUME_CUDA_TREE_ARGS_H
#define AVFILTER_GPUME_CUDA_TREE_ARGS_H

#include "libavfilter/gpume/core/tree_args.h"
#include "libavfilter/gpume/cuda/search_args.h"

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

#endif /* AVFILTER_GPUME_CUDA_TREE_ARGS_H */
