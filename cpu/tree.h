/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Blocks of several sizes on the CPU: decides leaves from the fields of all sizes; see core/tree.h.
 */

#ifndef AVFILTER_GPUME_CPU_TREE_H
#define AVFILTER_GPUME_CPU_TREE_H

#include <stdint.h>

#include "libavutil/motion_vector.h"

#include "libavfilter/gpume/core/tree.h"

/** The field of a size. Arrays of bh x bw. */
typedef struct GpumeTreeField {
    GpumeParams params;             ///< parameters of the size
    const GpumeVector *vectors;
    const uint32_t *costs;
    const uint16_t *rings;          ///< GpumeCheck.rings, or NULL
} GpumeTreeField;

typedef struct GpumeTree {
    const GpumeParams *params;
    int nb_sizes;
    GpumeTreeField fields[GPUME_MAX_SIZES];
    uint32_t bit_cost;              ///< ff_gpume_bit_cost()
    int source;                     ///< AVMotionVector.source
} GpumeTree;

/** Leaves of a row of roots. */
typedef struct GpumeTreeRow {
    int nb;                         ///< number of leaves
    uint64_t bits, rd;              ///< contributions to GpumeField.bits and rd
} GpumeTreeRow;

/**
 * Decides the leaves of a row of roots.
 * @param mvs, costs, sizes output, with room for the smallest blocks of the row
 */
void ff_gpume_tree_row(const GpumeTree *t, int by, AVMotionVector *mvs, uint32_t *costs, uint8_t *sizes,
                       GpumeTreeRow *row);

#endif /* AVFILTER_GPUME_CPU_TREE_H */
