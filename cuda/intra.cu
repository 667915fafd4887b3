/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * How much samples differ from the rounded mean of their block, all blocks together.
 */

#include "libavfilter/gpume/cuda/motion.cuh"

/** Sums a block by a warp: its samples, or their differences from a mean. */
static __device__ __forceinline__ GpumeU32
gpume_add_up(const GpumeCudaPlane &plane, int shift, const GpumeBox &b, int mean)
{
    GpumeU32 sum = 0;

    GPUME_NO_UNROLL for (int i = threadIdx.x % 32; i < b.w * b.h; i += 32) {
        const GpumeU64 row = plane.data + plane.linesize * (b.y0 + i / b.w);
        const int v = (((const GpumeModuleSample *)row)[b.x0 + i % b.w] >> shift) - mean;

        sum += v < 0 ? -v : v;
    }
    GPUME_UNROLL for (int bit = 1; bit < 32; bit <<= 1)
        sum += __shfl_xor_sync(GPUME_WHOLE_WARP, sum, bit);
    return sum;
}

/**
 * grid:   GPUME_CUDA_INTRA_BLOCKS of each warp across all blocks, fields
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

        sum += gpume_add_up(plane, p.shift, b, (int)((gpume_add_up(plane, p.shift, b, 0) + size / 2) / size));
    }
    if (threadIdx.x % 32 == 0 && first < end)
        atomicAdd((GpumeU64 *)args.sums + z, sum);
}
