/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What the host and the kernels that read motion fields share. Addresses are the device's.
 */

#ifndef AVFILTER_GPUME_FIELD_CUDA_ARGS_H
#define AVFILTER_GPUME_FIELD_CUDA_ARGS_H

#include "libavfilter/gpume/field/cells_args.h"

/** Threads of a thread block; a thread has a vector or a cell. */
#define GPUME_CUDA_CELL_THREADS 128
/** The most fields that are read at once. */
#define GPUME_CUDA_CELL_FIELDS  8

/** Parameters of both kernels. */
typedef struct GpumeCudaCellsArgs {
    GpumeCells cells;
    /**
     * The fields; mvs = 0: there is no such field, and its cells are not written. The maps of lists are 0
     * before the first kernel, and 0 again when the second has read them.
     */
    GpumeCellSource fields[GPUME_CUDA_CELL_FIELDS];
    int distances[GPUME_CUDA_CELL_FIELDS];  ///< distance of each field; 0: there is no such field
    unsigned long long to;      ///< GpumeCellVector of each cell, field after field
    unsigned long long vectors; ///< the AVMotionVectors of a list
    int nb;                     ///< their number
} GpumeCudaCellsArgs;

#endif /* AVFILTER_GPUME_FIELD_CUDA_ARGS_H */
