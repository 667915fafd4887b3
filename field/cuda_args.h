/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Declarations that the host and the kernels that read motion fields share. Addresses are device
 * addresses.
 */

#ifndef AVFILTER_GPUME_FIELD_CUDA_ARGS_H
#define AVFILTER_GPUME_FIELD_CUDA_ARGS_H

#include "libavfilter/gpume/field/cells_args.h"

/** Number of threads of a thread block; each thread handles a vector or a cell. */
#define GPUME_CUDA_CELL_THREADS 128
/** Maximum number of fields that are read at once. */
#define GPUME_CUDA_CELL_FIELDS  8

/** Parameters of both kernels: variant 0 maps a list of vectors, variant 1 reads fields. */
typedef struct GpumeCudaCellsArgs {
    GpumeCells cells;
    /**
     * The fields. If mvs is 0, there is no such field, and its cells are not written. The maps of
     * lists are 0 before variant 0 runs; variant 1 resets them to 0.
     */
    GpumeCellSource fields[GPUME_CUDA_CELL_FIELDS];
    int distances[GPUME_CUDA_CELL_FIELDS];  ///< distance of each field; 0: there is no such field
    unsigned long long to;      ///< GpumeCellVector of each cell, field after field
    unsigned long long vectors; ///< variant 0: AVMotionVector[nb], the list that is mapped
    int nb;                     ///< variant 0: number of vectors
} GpumeCudaCellsArgs;

#endif /* AVFILTER_GPUME_FIELD_CUDA_ARGS_H */
