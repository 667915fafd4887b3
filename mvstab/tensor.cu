/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Computes tensors of blocks. Each lane of a warp has a column of half a block.
 */

#include "libavfilter/gpume/cuda_common/common.cuh"
#include "libavfilter/gpume/mvstab/cuda_args.h"

typedef GpumeSampleOf<GPUME_CUDA_DEPTH>::Sample MvstabSample;

#define ROWS (MVSTAB_BLOCK / 2)

/**
 * grid:   MVSTAB_CUDA_WARPS blocks each
 * block:  MVSTAB_CUDA_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvstabCudaTensorArgs, MVSTAB_CUDA_THREADS)
{
    const int block = blockIdx.x * MVSTAB_CUDA_WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    const int x = block % args.cols * MVSTAB_BLOCK + lane % MVSTAB_BLOCK;
    const int y0 = block / args.cols * MVSTAB_BLOCK + lane / MVSTAB_BLOCK * ROWS;
    int sums[3] = { 0, 0, 0 };

    if (block >= args.nb)
        return;
    GPUME_UNROLL for (int i = 0; i < ROWS; i++) {
        const int y = y0 + i;
        const GpumeU64 at = args.first + (long long)args.stride * y + x * (int)sizeof(MvstabSample);
        int dx = 0, dy = 0;

        if (x < args.w && y < args.h) {
            dx = (GpumeU8)(((const MvstabSample *)at)[1] >> args.shift) -
                 (GpumeU8)(((const MvstabSample *)at)[-1] >> args.shift);
            dy = (GpumeU8)(*(const MvstabSample *)(at + args.stride) >> args.shift) -
                 (GpumeU8)(*(const MvstabSample *)(at - args.stride) >> args.shift);
        }
        sums[0] += dx * dx;
        sums[1] += dx * dy;
        sums[2] += dy * dy;
    }
    GPUME_UNROLL for (int i = 0; i < 3; i++)
        GPUME_UNROLL for (int mask = 16; mask; mask >>= 1)
            sums[i] += (int)__shfl_xor_sync(~0u, sums[i], mask);
    if (lane < 3)
        ((int *)args.tensors)[3 * block + lane] = lane == 0 ? sums[0] : lane == 1 ? sums[1] : sums[2];
}
