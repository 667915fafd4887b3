/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The fields of a frame, from its side data. Variant 0 finds which vector each cell has, variant 1
 * which motion that is.
 */

#include "libavfilter/gpume/mvfps/vectors.cuh"

/**
 * grid:   variant 0: vectors; 1: cells of both fields
 * block:  MVFPS_CUDA_MAP_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvfpsCudaMapArgs, MVFPS_CUDA_MAP_THREADS)
{
    const int i = blockIdx.x * MVFPS_CUDA_MAP_THREADS + threadIdx.x;
    const int nb_cells = args.cols * args.rows;
    GpumeU32 *keys = (GpumeU32 *)args.keys;
    GpumeBlockVector v;

    if (!GPUME_CUDA_VARIANT) {
        int left, top, x0, x1, y1;

        if (i >= args.nb || !mvfps_read_vector(&v, args.vectors, i, args.w, args.h))
            return;
        if ((v.distance > 0))
            keys += nb_cells;
        left = gpume_block_left(&v);
        top  = gpume_block_top(&v);
        x0   = mvfps_cell_from(left, args.w, args.cols);
        x1   = mvfps_cell_from(left + v.w, args.w, args.cols);
        y1   = mvfps_cell_from(top  + v.h, args.h, args.rows);
        for (int y = mvfps_cell_from(top, args.h, args.rows); y < y1; y++)
            for (int x = x0; x < x1; x++)
                atomicMax(keys + y * args.cols + x, (GpumeU32)i + 1);
    } else {
        GpumeU32 key, word = MVFPS_NONE & 0xffff;

        if (i >= 2 * nb_cells)
            return;
        key = keys[i];
        if (key && mvfps_read_vector(&v, args.vectors, key - 1, args.w, args.h)) {
            MvfpsVector cell;

            cell.x  = (short)mvfps_quarters(v.dx);
            cell.y  = (short)mvfps_quarters(v.dy);
            word    = mvfps_word(cell);
            keys[i] = 0;
        }
        ((GpumeU32 *)args.fields)[i] = word;
    }
}
