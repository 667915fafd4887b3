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
#include "libavfilter/gpume/mvfps/device.cuh"

/**
 * grid:   variant 0: vectors; 1: cells, both fields
 * block:  MVFPS_CUDA_MAP_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvfpsCudaMapArgs, MVFPS_CUDA_MAP_THREADS)
{
    const int i = blockIdx.x * MVFPS_CUDA_MAP_THREADS + threadIdx.x;
    const int cols = args.cells.cols, nb_cells = cols * args.cells.rows;

    if (!GPUME_CUDA_VARIANT) {
        GpumeBlockVector v;
        GpumeU64 map;

        if (i >= args.nb || !gpume_read_vector(&v, args.vectors, i, args.cells.w, args.cells.h))
            return;
        map = v.distance == -1 ? args.fields[0].map : v.distance == 1 ? args.fields[1].map : 0;
        if (map)
            gpume_map_vector(args.cells, map, v, i);
    } else if (i < nb_cells) {
        GpumeU32 *to = (GpumeU32 *)args.to + i;
        GpumeCellSource field = args.fields[0];

        if (blockIdx.y) {
            field = args.fields[1];
            to   += nb_cells;
        }
        *to = mvfps_word(gpume_take_cell(args.cells, field, i % cols, i / cols));
    }
}
