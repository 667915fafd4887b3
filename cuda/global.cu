/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The full search for global candidates: blocks of 4x4 on a level of the pyramid, the cells, with 8
 * bits of each sample. A warp searches a cell; each lane tests a column of candidates.
 */

#include "libavfilter/gpume/cuda/motion.cuh"

/** Rows of candidates that a lane loads before it compares them. */
#define GPUME_GLOBAL_ROWS 8

/** Number of orders of candidates: zero first, then raster order. */
#define GPUME_GLOBAL_ORDERS 1024

/** Returns the best vector of a cell. A warp calls it. */
static __device__ __forceinline__ GpumeVector
gpume_search_cell(const GpumeCudaGlobalArgs &args, int search, const GpumeBox &b)
{
    const int lane = threadIdx.x % 32;
    const GpumeSmallBlock<GpumeModuleSample> small(args, search, b);
    /* lanes without an admissible candidate load the data of another lane */
    const int dx = gpume_max(b.min_dx, gpume_min(lane - GPUME_GLOBAL_RANGE, b.max_dx));
    const int admissible = dx == lane - GPUME_GLOBAL_RANGE;
    GpumeU32 row[GPUME_GLOBAL_ROWS + GPUME_GLOBAL_BLOCK - 1], key = ~0u;

    GPUME_UNROLL for (int r = 1; r < GPUME_GLOBAL_BLOCK; r++)
        row[GPUME_GLOBAL_ROWS + r - 1] = small.ref(dx, b.min_dy + r - 1);
    GPUME_NO_UNROLL for (int dy = b.min_dy; dy <= b.max_dy; dy += GPUME_GLOBAL_ROWS) {
        GPUME_UNROLL for (int r = 0; r < GPUME_GLOBAL_BLOCK - 1; r++)
            row[r] = row[GPUME_GLOBAL_ROWS + r];
        GPUME_UNROLL for (int r = GPUME_GLOBAL_BLOCK - 1; r < GPUME_GLOBAL_ROWS + GPUME_GLOBAL_BLOCK - 1; r++)
            row[r] = small.ref(dx, dy + r);
        GPUME_UNROLL for (int j = 0; j < GPUME_GLOBAL_ROWS; j++) {
            const GpumeU32 order = dx | (dy + j) ? 1 + (dy + j + GPUME_GLOBAL_RANGE) * 32 + lane : 0;
            GpumeU32 cost = 0;

            GPUME_UNROLL for (int r = 0; r < GPUME_GLOBAL_BLOCK; r++)
                cost = gpume_sad4(small.cur[r], row[j + r] & small.mask(r), cost);
            if (admissible && dy + j <= b.max_dy)
                key = gpume_umin(key, cost * GPUME_GLOBAL_ORDERS + order);
        }
    }
    key = gpume_least<1, 32>(key);

    const int order = (int)(key % GPUME_GLOBAL_ORDERS) - 1;
    GpumeVector v = { 0, 0 };

    if (order >= 0) {
        v.dx = (short)(order % 32 - GPUME_GLOBAL_RANGE);
        v.dy = (short)(order / 32 - GPUME_GLOBAL_RANGE);
    }
    return v;
}

/**
 * grid:   at most GPUME_CUDA_GLOBAL_GRID
 * block:  GPUME_CUDA_GLOBAL_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(GpumeCudaGlobalArgs, GPUME_CUDA_GLOBAL_THREADS)
{
    const GpumeParams &p = args.params;
    const GpumeU32 warps = GPUME_CUDA_GLOBAL_THREADS / 32, count = *(const GpumeU32 *)args.count;
    const GpumeU32 nb_cells = p.bw * p.bh;
    const int lane = threadIdx.x % 32;

    GPUME_NO_UNROLL for (GpumeU32 i = blockIdx.x * warps + threadIdx.x / 32; i < count;
                         i += GPUME_CUDA_GLOBAL_GRID * warps) {
        const GpumeU32 cell = ((const GpumeU32 *)args.cells)[i];
        const int search = (int)(cell / nb_cells), place = (int)(cell % nb_cells);
        const GpumeBox b = gpume_box(&p, GPUME_GLOBAL_BLOCK, place % p.bw, place / p.bw);
        const GpumeVector v = gpume_search_cell(args, search, b);

        if (lane == 0)
            ((GpumeU32 *)args.vectors)[cell] = gpume_vector_of(v.dx, v.dy);
        if (args.to_cells) {
            const int opposite = gpume_opposite_cell(args, search, b, v, lane);

            if (opposite >= 0)
                gpume_append_cell(args, opposite);
        }
    }
}
