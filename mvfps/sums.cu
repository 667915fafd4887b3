/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Sums samples of both pictures in each cell, for places that stand still.
 */

#include "libavfilter/gpume/mvfps/device.cuh"

/** Cells of a warp; eight lanes have a row of a cell each. */
#define CELLS (32 / MVFPS_CELL)

/**
 * grid:  warps with CELLS cells of a row of cells each, rows of cells
 * block: MVFPS_CUDA_MAP_THREADS
 */
GPUME_KERNEL_OF(MvfpsCudaVectorsArgs, MVFPS_CUDA_MAP_THREADS)
{
    const int lane = threadIdx.x % 32, warp = blockIdx.x * (MVFPS_CUDA_MAP_THREADS / 32) + threadIdx.x / 32;
    const int cx = warp * CELLS + lane % CELLS, cy = blockIdx.y, y = cy * MVFPS_CELL + lane / CELLS;
    MvfpsCellSums sums = { 0, 0, 0 };

    if (warp * CELLS >= args.fields.cols || mvfps_is_cut(args.is_cut))
        return;
    if (y < args.h)
        GPUME_UNROLL for (int i = 0; i < MVFPS_CELL; i++) {
            const int x = cx * MVFPS_CELL + i;
            const long long at = (long long)y * args.stride + x * MVFPS_BYTES;

            if (x < args.w)
                mvfps_add_sample(&sums, mvfps_load_sample<MvfpsSample>(args.before + at),
                                 mvfps_load_sample<MvfpsSample>(args.before + at + MVFPS_BYTES),
                                 mvfps_load_sample<MvfpsSample>(args.before + at + args.stride),
                                 mvfps_load_sample<MvfpsSample>(args.after + at), args.depth);
        }
    sums.nb       = mvfps_add_lanes(sums.nb,       CELLS, 32);
    sums.contrast = mvfps_add_lanes(sums.contrast, CELLS, 32);
    sums.change   = mvfps_add_lanes(sums.change,   CELLS, 32);
    if (lane < CELLS && cx < args.fields.cols)
        ((MvfpsCellSums *)args.sums)[(long long)cy * args.fields.cols + cx] = sums;
}
