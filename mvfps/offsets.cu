/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Computes the offsets of cells from their positions at constant speed, with a thread for each
 * cell.
 */

#include "libavfilter/gpume/mvfps/device.cuh"

/**
 * grid:  MVFPS_CUDA_MAP_THREADS cells each
 * block: MVFPS_CUDA_MAP_THREADS threads
 */
GPUME_KERNEL_OF(MvfpsCudaOffsetsArgs, MVFPS_CUDA_MAP_THREADS)
{
    const int cell = blockIdx.x * MVFPS_CUDA_MAP_THREADS + threadIdx.x;
    const int cols = args.fields.cols, rows = args.fields.rows;
    const MvfpsFields fields = mvfps_fields(args.fields);
    MvfpsChanges sum;
    MvfpsVector own;

    if (cell >= cols * rows || mvfps_is_cut(args.is_cut))
        return;
    sum.nb = sum.x = sum.y = sum.difference_x = sum.difference_y = sum.squares = 0;
    own    = mvfps_load_vector(args.vectors + 4ll * cell);
    /* unrolled, because each turn waits for a vector and then for two vectors of the fields */
    GPUME_UNROLL for (int y = -2; y <= 2; y += 2) {
        GPUME_UNROLL for (int x = -2; x <= 2; x += 2) {
            const int cx = gpume_max(0, gpume_min(cell % cols + x, cols - 1));
            const int cy = gpume_max(0, gpume_min(cell / cols + y, rows - 1));
            const MvfpsVector v = mvfps_load_vector(args.vectors + 4ll * (cy * cols + cx));

            mvfps_add_change(&sum, mvfps_change(&fields, v, cx * MVFPS_CELL, cy * MVFPS_CELL, args.part, args.rates),
                             v, own);
        }
    }
    ((GpumeU32 *)args.offsets)[cell] = mvfps_word(mvfps_offset(&sum, args.part));
}
