/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The cells of a frame's fields. Variant 0 finds which vector of a list each cell has, variant 1
 * which motion that is.
 */

#include "libavfilter/gpume/field/cells.cuh"
#include "libavfilter/gpume/mvdenoise/cuda_args.h"

/**
 * grid:   variant 0: vectors; 1: cells, fields
 * block:  MVDENOISE_CUDA_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvdenoiseCudaFieldsArgs, MVDENOISE_CUDA_THREADS)
{
    const int i    = blockIdx.x * MVDENOISE_CUDA_THREADS + threadIdx.x;
    const int cols = args.cells.cols, nb_cells = cols * args.cells.rows;
    GpumeCellSource field = args.fields[0];
    GpumeBlockVector v;
    int wanted;

    if (!GPUME_CUDA_VARIANT) {
        if (i >= args.nb || !gpume_read_vector(&v, args.vectors, i, args.cells.w, args.cells.h) || !v.distance ||
            FFABS(v.distance) > args.radius)
            return;
        wanted = args.radius + v.distance - (v.distance > 0);
    } else {
        wanted = blockIdx.y;
    }
    /* by comparisons, as an index has the compiler keep the arguments in memory */
    GPUME_UNROLL for (int n = 1; n < MVDENOISE_CUDA_FIELDS; n++) {
        field.mvs        = wanted == n ? args.fields[n].mvs        : field.mvs;
        field.map        = wanted == n ? args.fields[n].map        : field.map;
        field.log2_block = wanted == n ? args.fields[n].log2_block : field.log2_block;
        field.bw         = wanted == n ? args.fields[n].bw         : field.bw;
    }
    if (!GPUME_CUDA_VARIANT) {
        if (field.map)
            gpume_map_vector(args.cells, field.map, v, i);
    } else if (i < nb_cells && field.mvs) {
        const GpumeCellVector cell = gpume_take_cell(args.cells, field, i % cols, i / cols);

        ((GpumeU32 *)args.to)[(GpumeU64)wanted * nb_cells + i] = ((GpumeU32)cell.x & 0xffff) | (GpumeU32)cell.y << 16;
    }
}
