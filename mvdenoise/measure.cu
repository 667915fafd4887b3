/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What is measured of blocks of a picture: energies of second differences, and means. Each lane has
 * a column of a block.
 */

#include "libavfilter/gpume/mvdenoise/device.cuh"

/** The energy of a block; cut_off: how many of its samples are black or white. */
static __device__ __forceinline__ GpumeU64 mvdenoise_energy(const int p[MVDENOISE_PATCH], int lane)
{
    GpumeU64 sum = 0;

    GPUME_UNROLL for (int y = 0; y < MVDENOISE_PATCH - 2; y++) {
        const int down = p[y] - 2 * p[y + 1] + p[y + 2];
        /* of the columns behind this one, which the last two do not have */
        const int next = __shfl_sync(GPUME_WHOLE_WARP, down, (threadIdx.x + 1) & 31);
        const int last = __shfl_sync(GPUME_WHOLE_WARP, down, (threadIdx.x + 2) & 31);
        const long long both = down - 2 * next + last;

        sum += (GpumeU64)(both * both);
    }
    return mvdenoise_add_lanes(lane < MVDENOISE_PATCH - 2 ? sum : 0, 1, MVDENOISE_CUDA_LANES);
}

/** Row y of the block's column that a lane has. */
static __device__ __forceinline__ int mvdenoise_row(const MvdenoiseCudaMeasureArgs &args, GpumeU64 at, int stride,
                                                    int y)
{
    if (!args.halved)
        return mvdenoise_sample(at + (long long)stride * y);
    at += 2ll * stride * y;
    return (mvdenoise_sample(at) + mvdenoise_sample(at + MVDENOISE_BYTES) + mvdenoise_sample(at + stride) +
            mvdenoise_sample(at + stride + MVDENOISE_BYTES) + 2) >> 2;
}

/**
 * grid:   rows of MVDENOISE_CUDA_ROW blocks of the picture, of all components
 * block:  MVDENOISE_CUDA_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvdenoiseCudaMeasureArgs, MVDENOISE_CUDA_THREADS)
{
    MvdenoiseCudaComponent c;
    const MvdenoiseUnit u = mvdenoise_unit<MVDENOISE_CUDA_ROW, 1>(args.components, &c);
    const int lane = threadIdx.x % MVDENOISE_CUDA_LANES, max = (1 << args.depth) - 1;
    const int scale = 1 << args.halved;
    const GpumeU64 at = args.copy + c.first + (long long)c.stride * u.row * MVDENOISE_PATCH * scale +
                        (u.col * MVDENOISE_PATCH + lane) * MVDENOISE_BYTES * scale;
    const GpumeU64 lively = mvdenoise_element(args.lively, u.component);
    const int number = c.number + u.row * c.cols + u.col;
    int p[MVDENOISE_PATCH];
    GpumeU32 sum = 0, cut_off = 0;
    GpumeU64 energy;

    GPUME_UNROLL for (int y = 0; y < MVDENOISE_PATCH; y++)
        p[y] = mvdenoise_row(args, at, c.stride, y);
    GPUME_UNROLL for (int y = 0; y < MVDENOISE_PATCH; y++) {
        sum     += p[y];
        cut_off += p[y] == 0 || p[y] == max;
    }
    sum     = mvdenoise_add_lanes(sum,     1, MVDENOISE_CUDA_LANES);
    cut_off = mvdenoise_add_lanes(cut_off, 1, MVDENOISE_CUDA_LANES);
    energy  = mvdenoise_energy(p, lane);
    if (lane || !u.is_there)
        return;
    if (cut_off > MVDENOISE_MAX_CUT_OFF)
        energy = ~0ull;
    if (MVDENOISE_BYTES == 1)
        ((GpumeU32 *)args.energies)[number] = (GpumeU32)energy;
    else
        ((GpumeU64 *)args.energies)[number] = energy;
    if (energy) {
        atomicMax((GpumeU32 *)lively + u.col, args.picture);
        atomicMax((GpumeU32 *)lively + c.cols + u.row, args.picture);
    }
    if (!u.component && !args.halved)
        ((GpumeU16 *)args.means)[number] = (GpumeU16)((sum + MVDENOISE_SAMPLES / 2) / MVDENOISE_SAMPLES);
}
