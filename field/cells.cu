/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Makes the cells of a frame's motion fields. Variant 0 maps each cell to a vector of a list;
 * variant 1 reads the vectors of cells.
 */

#include "libavfilter/gpume/field/cells.cuh"
#include "libavfilter/gpume/field/cuda_args.h"

/**
 * grid:   variant 0: x one thread per vector; variant 1: x one thread per cell, y fields
 * block:  GPUME_CUDA_CELL_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(GpumeCudaCellsArgs, GPUME_CUDA_CELL_THREADS)
{
    const int i    = blockIdx.x * GPUME_CUDA_CELL_THREADS + threadIdx.x;
    const int cols = args.cells.cols, nb_cells = cols * args.cells.rows;
    GpumeCellSource field = { 0, 0, 0, 0 };
    GpumeBlockVector v;

    if (!GPUME_CUDA_VARIANT && (i >= args.nb || !gpume_read_vector(&v, args.vectors, i, args.cells.w, args.cells.h)))
        return;
    /* comparisons instead of an index, because an index makes the compiler copy the arguments to local memory */
    GPUME_UNROLL for (int n = 0; n < GPUME_CUDA_CELL_FIELDS; n++) {
        const bool is_wanted = GPUME_CUDA_VARIANT ? blockIdx.y == n : v.distance == args.distances[n];

        field.mvs        = is_wanted ? args.fields[n].mvs        : field.mvs;
        field.map        = is_wanted ? args.fields[n].map        : field.map;
        field.log2_block = is_wanted ? args.fields[n].log2_block : field.log2_block;
        field.bw         = is_wanted ? args.fields[n].bw         : field.bw;
    }
    if (!GPUME_CUDA_VARIANT) {
        if (field.map)
            gpume_map_vector(args.cells, field.map, v, i);
    } else if (i < nb_cells && field.mvs) {
        const GpumeCellVector cell = gpume_take_cell(args.cells, field, i % cols, i / cols);

        ((GpumeU32 *)args.to)[(GpumeU64)blockIdx.y * nb_cells + i] =
            ((GpumeU32)cell.x & 0xffff) | (GpumeU32)cell.y << 16;
    }
}
