/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Blocks of several sizes by rate and distortion: each root is a leaf or is split into four nodes,
 * down to the smallest blocks. Each size has a field: size 0 has the smallest blocks, and each next
 * size has twice the side. doc/gpume-definition.md defines the results.
 */

#ifndef AVFILTER_GPUME_CORE_TREE_H
#define AVFILTER_GPUME_CORE_TREE_H

#include "libavfilter/gpume/core/params_args.h"
#include "libavfilter/gpume/core/tree_args.h"

/** Returns the number of sizes of blocks: 1 without a tree. */
int ff_gpume_nb_sizes(const GpumeParams *params);

/** Returns the parameters of the field of a size, without a tree. */
GpumeParams ff_gpume_size_params(const GpumeParams *params, int size);

/** Returns the cost of a bit for samples of the parameters' depth, in 1/256 of a cost. */
uint32_t ff_gpume_bit_cost(const GpumeParams *params);

#endif /* AVFILTER_GPUME_CORE_TREE_H */
