/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds the cells of a picture that equal those of its reference in every plane.
 */

#include "libavfilter/gpume/cuda/module.cuh"
#include "libavfilter/gpume/cuda/search_args.h"
#include "libavfilter/gpume/field/field_args.h"

/** Returns whether the lane's block of a cell differs from the reference's block at the same position. */
static __device__ __forceinline__ int
gpume_block_differs(const GpumeCudaSameArgs &args, int cx, int cy, int lane)
{
    const GpumeParams &p = args.params;
    const GpumeBlockRange across = gpume_blocks_of_cell(p.block, p.width,  cx);
    const GpumeBlockRange down   = gpume_blocks_of_cell(p.block, p.height, cy);
    const int nx = across.last - across.first + 1;
    const int ny = down.last   - down.first   + 1;
    const GpumeU32 *mv;
    GpumeU64 block;

    /* a cell has 16 blocks at most */
    if (lane >= nx * ny)
        return 0;
    block = (GpumeU64)(down.first + lane / nx) * p.bw + across.first + lane % nx;
    mv    = (const GpumeU32 *)args.mvs + block * GPUME_VECTOR_WORDS;
    return (((const GpumeU32 *)args.costs)[block] | mv[6] | mv[7]) != 0;
}

/** Compares every 32nd byte of a cell in a plane. Returns whether one of this lane's bytes differs. */
static __device__ __forceinline__ int
gpume_bytes_differ(const GpumeCudaPlane &cur, const GpumeCudaPlane &ref, const GpumeBytes &b, int lane)
{
    int differs = 0;

    GPUME_NO_UNROLL for (int i = lane; i < b.w * b.h; i += 32) {
        const int x = b.x + i % b.w, y = b.y + i / b.w;

        differs |= ((const GpumeU8 *)(cur.data + cur.linesize * y))[x] ^
                   ((const GpumeU8 *)(ref.data + ref.linesize * y))[x];
    }
    return differs;
}

/**
 * grid:   cells, each a warp's
 * block:  GPUME_CUDA_SAME_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(GpumeCudaSameArgs, GPUME_CUDA_SAME_THREADS)
{
    const GpumeParams &p = args.params;
    const int lane = threadIdx.x % 32;
    const int cell = blockIdx.x * (GPUME_CUDA_SAME_THREADS / 32) + threadIdx.x / 32;
    const int nb_columns = gpume_blocks(p.width, GPUME_CELL);
    const int cx = cell % nb_columns, cy = cell / nb_columns;
    int differs;

    if (cy >= gpume_blocks(p.height, GPUME_CELL))
        return;
    differs = __any_sync(GPUME_WHOLE_WARP, gpume_block_differs(args, cx, cy, lane));
    GPUME_UNROLL for (int i = 0; i < GPUME_MAX_OTHER_PLANES; i++)
        if (i < args.nb_planes && !differs)
            differs = __any_sync(GPUME_WHOLE_WARP,
                                 gpume_bytes_differ(args.cur[i], args.ref[i],
                                                    gpume_cell_bytes(&p, &args.planes[i], cx, cy), lane));
    if (!lane)
        ((GpumeU8 *)args.same)[cell] = !differs;
}
