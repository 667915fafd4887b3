/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Makes a histogram of the differences between the squares of two pictures.
 */

#include "libavfilter/gpume/mvfps/device.cuh"

#define SIDE  GPUME_SCENE_SIDE
#define BLOCK MVFPS_REPEAT_BLOCK
#define WARPS (MVFPS_CUDA_SCENE_THREADS / 32)

/** Returns the difference of the sums of two rows of a block; (x, y) is the first sample. */
static __device__ __forceinline__ int mvfps_difference(const MvfpsCudaRepeatArgs &a, int x, int y)
{
    int sum = 0;

    GPUME_UNROLL for (int i = 0; i < BLOCK / 2; i++)
        GPUME_UNROLL for (int k = 0; k < BLOCK; k++)
            if (x + k < a.w && y + i < a.h) {
                const long long at = (x + k) * MVFPS_BYTES;

                sum += (mvfps_load_sample<MvfpsSample>(a.first + a.first_linesize * (y + i) + at) >> a.shift) -
                       (mvfps_load_sample<MvfpsSample>(a.frame + a.frame_linesize * (y + i) + at) >> a.shift);
            }
    return sum;
}

/**
 * grid:   squares, one for each warp; two lanes handle a block
 * block:  MVFPS_CUDA_SCENE_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvfpsCudaRepeatArgs, MVFPS_CUDA_SCENE_THREADS)
{
    const int square = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32, block = lane / 2;
    const int across = (args.w + SIDE - 1) / SIDE;
    const int x0 = square % across * SIDE, y0 = square / across * SIDE;
    int sum;
    GpumeU32 total;

    if (square >= args.nb)
        return;
    sum   = mvfps_difference(args, x0 + block % (SIDE / BLOCK) * BLOCK,
                             y0 + block / (SIDE / BLOCK) * BLOCK + lane % 2 * (BLOCK / 2));
    sum  += __shfl_xor_sync(GPUME_WHOLE_WARP, sum, 1);
    total = mvfps_add_lanes((GpumeU32)FFABS(sum), 2, 32);
    if (lane)
        return;
    atomicAdd((unsigned *)args.bins + mvfps_repeat_bin(total, gpume_min(SIDE, args.w - x0) *
                                                              gpume_min(SIDE, args.h - y0), args.depth), 1u);
}
