/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Reads AVMotionVectors in device memory, and the cells of a motion field there.
 */

#ifndef AVFILTER_GPUME_FIELD_CELLS_CUH
#define AVFILTER_GPUME_FIELD_CELLS_CUH

#include "libavfilter/gpume/cuda_common/common.cuh"
#include "libavfilter/gpume/field/cells_args.h"
#include "libavfilter/gpume/field/field_args.h"

/** Reads vector i. @return 0 if it has no block inside a picture of w x h samples */
static __device__ __forceinline__ int gpume_read_vector(GpumeBlockVector *v, GpumeU64 mvs, GpumeU32 i, int w, int h)
{
    const GpumeU64 p = mvs + 4ull * GPUME_VECTOR_WORDS * i;
    int2 a, b, c, d, flags;

    gpume_load_global(&a, (const void *)p);
    gpume_load_global(&b, (const void *)(p + 8));
    gpume_load_global(&flags, (const void *)(p + 16));
    gpume_load_global(&c, (const void *)(p + 24));
    gpume_load_global(&d, (const void *)(p + 32));

    const GpumeVectorFields f = { a.x, a.y & 255, a.y >> 8 & 255, (short)(a.y >> 16), (short)b.x,
                                  (short)(b.x >> 16), (short)b.y, flags.x & GPUME_FLAG_INCONSISTENT, c.x, c.y,
                                  d.x & 0xffff };

    return gpume_block_vector(v, &f, w, h);
}

/** Enters vector i of a list into a map. If several vectors cover a cell, the map keeps the last. */
static __device__ __forceinline__ void gpume_map_vector(const GpumeCells &c, GpumeU64 map, const GpumeBlockVector &v,
                                                        GpumeU32 i)
{
    const GpumeCellBox b = gpume_cells_of_block(&c, &v);

    for (int y = b.y0; y < b.y1; y++)
        for (int x = b.x0; x < b.x1; x++)
            atomicMax((GpumeU32 *)map + y * c.cols + x, i + 1);
}

/** Returns a cell's vector. Sets the cell's word of the map to 0. */
static __device__ __forceinline__ GpumeCellVector gpume_take_cell(const GpumeCells &c, const GpumeCellSource &s, int x,
                                                                  int y)
{
    GpumeCellVector cell = { GPUME_NO_VECTOR, 0 };
    GpumeU32 i = 0;
    GpumeBlockVector v;

    if (s.map) {
        GpumeU32 *word = (GpumeU32 *)s.map + y * c.cols + x;

        i     = *word;
        *word = 0;
    } else if (s.mvs) {
        i = gpume_block_of_cell(&c, &s, x, y) + 1;
    }
    if (i && gpume_read_vector(&v, s.mvs, i - 1, c.w, c.h))
        cell = gpume_cell_vector(&v);
    return cell;
}

#endif /* AVFILTER_GPUME_FIELD_CELLS_CUH */
