/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Sums the costs of all blocks of a picture against flat blocks of their rounded means.
 */

#include "libavfilter/gpume/cuda/motion.cuh"

/** Returns the cost of a block against a flat block, by a warp; with GpumeSad and 0, the sum of its samples. */
template<class Cost>
static __device__ __forceinline__ GpumeU32
gpume_flat_cost(const GpumeCudaPlane &plane, const GpumeParams &p, const GpumeBox &b, int flat)
{
    GpumeU32 sum = Cost::by_warp(b.w, b.h, [&](int x, int y) {
        const GpumeU64 row = plane.data + plane.linesize * (b.y0 + y);

        return (p.depth > 8 ? ((const GpumeU16 *)row)[b.x0 + x] >> p.shift : ((const GpumeU8 *)row)[b.x0 + x]) - flat;
    });

    GPUME_UNROLL for (int bit = 1; bit < 32; bit <<= 1)
        sum += __shfl_xor_sync(GPUME_WHOLE_WARP, sum, bit);
    return sum;
}

/**
 * grid:   GPUME_CUDA_INTRA_BLOCKS of all blocks for each warp, fields
 * block:  GPUME_CUDA_INTRA_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(GpumeCudaIntraArgs, GPUME_CUDA_INTRA_THREADS)
{
    const GpumeParams &p = args.params;
    const int z = blockIdx.y;
    const GpumeCudaPlane plane = { z ? args.cur[1].data : args.cur[0].data,
                                   z ? args.cur[1].linesize : args.cur[0].linesize };
    const int first = (blockIdx.x * (GPUME_CUDA_INTRA_THREADS / 32) + threadIdx.x / 32) *
                      GPUME_CUDA_INTRA_BLOCKS;
    const int end = gpume_min(first + GPUME_CUDA_INTRA_BLOCKS, p.bw * p.bh);
    GpumeU64 sum = 0;

    GPUME_NO_UNROLL for (int i = first; i < end; i++) {
        const GpumeBox b = gpume_box(&p, p.block, i % p.bw, i / p.bw);
        const GpumeU32 size = b.w * b.h;
        const GpumeU32 all  = gpume_flat_cost<GpumeSad<GpumeModuleSample> >(plane, p, b, 0);

        sum += gpume_flat_cost<GpumeModuleCost>(plane, p, b, (int)((all + size / 2) / size));
    }
    if (threadIdx.x % 32 == 0 && first < end)
        atomicAdd((GpumeU64 *)args.sums + z, sum);
}
