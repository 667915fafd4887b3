/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Blocks of several sizes on the CPU: from the fields of all sizes to leaves; see core/tree.h.
 */

#ifndef AVFILTER_GPUME_CPU_TREE_H
#define AVFILTER_GPUME_CPU_TREE_H

#include <stdint.h>

#include "libavutil/motion_vector.h"

#include "libavfilter/gpume/core/tree.h"

/** The field of a size. Arrays of bh x bw. */
typedef struct GpumeTreeField {
    GpumeParams params;             ///< of the size
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

/** What a row of roots has become. */
typedef struct GpumeTreeRow {
    int nb;                         ///< leaves
    uint64_t bits, rd;              ///< their shares of GpumeField.bits, rd
} GpumeTreeRow;

/**
 * Makes leaves of a row of roots.
 * @param mvs, costs, sizes room for as many as there are smallest blocks in the row
 */
void ff_gpume_tree_row(const GpumeTree *t, int by, AVMotionVector *mvs, uint32_t *costs, uint8_t *sizes,
                       GpumeTreeRow *row);

#endif /* AVFILTER_GPUME_CPU_TREE_H */
