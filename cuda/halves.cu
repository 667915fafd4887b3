/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Computes the samples half-way between those of a picture: to the right, below, and diagonally.
 */

#include "libavfilter/gpume/cuda/module.cuh"
#include "libavfilter/gpume/cuda/motion_args.h"

/** Rows that a thread computes. */
#define GPUME_HALVES_ROWS \
    (GPUME_CUDA_HALVES_WIDTH * GPUME_CUDA_HALVES_HEIGHT / GPUME_CUDA_HALVES_THREADS)

static __device__ __forceinline__ GpumeModuleSample gpume_clip_sample(int v, int max)
{
    return (GpumeModuleSample)gpume_max(0, gpume_min(v, max));
}

/**
 * grid:   tiles across and down
 * block:  GPUME_CUDA_HALVES_THREADS
 * shared: GPUME_CUDA_HALVES_SHARED words: samples with a margin of 2 before and 3 behind, and
 *         horizontal sums of taps of the same rows
 */
GPUME_KERNEL_OF(GpumeCudaHalvesArgs, GPUME_CUDA_HALVES_THREADS)
{
    const int W = GPUME_CUDA_HALVES_WIDTH, H = GPUME_CUDA_HALVES_HEIGHT;
    const int pitch = W + 5;
    const int x0    = blockIdx.x * W, y0 = blockIdx.y * H;
    const int max_value = (1 << args.depth) - 1;
    const int x     = threadIdx.x % W;
    const int y     = threadIdx.x / W * GPUME_HALVES_ROWS;
    int column[GPUME_HALVES_ROWS + 5], sums[GPUME_HALVES_ROWS + 5];

    GPUME_SHARED(int, shared);

    int *across = shared + pitch * (H + 5);

    GPUME_NO_UNROLL for (int i = threadIdx.x; i < pitch * (H + 5); i += GPUME_CUDA_HALVES_THREADS) {
        const int from_x = gpume_max(0, gpume_min(x0 + i % pitch - 2, args.width  - 1));
        const int from_y = gpume_max(0, gpume_min(y0 + i / pitch - 2, args.height - 1));

        shared[i] = ((const GpumeModuleSample *)(args.plane.data + args.plane.linesize * from_y))[from_x];
    }
    __syncthreads();
    GPUME_NO_UNROLL for (int i = threadIdx.x; i < W * (H + 5); i += GPUME_CUDA_HALVES_THREADS) {
        const int *p = shared + i / W * pitch + i % W;

        across[i] = gpume_taps(p[0], p[1], p[2], p[3], p[4], p[5]);
    }
    __syncthreads();
    GPUME_UNROLL for (int i = 0; i < GPUME_HALVES_ROWS + 5; i++) {
        column[i] = shared[(y + i) * pitch + x + 2];
        sums[i]   = across[(y + i) * W + x];
    }
    GPUME_UNROLL for (int i = 0; i < GPUME_HALVES_ROWS; i++) {
        const int byte = (x0 + x) * sizeof(GpumeModuleSample), linesize = (int)args.parts.linesize;
        GpumeU64 row;

        if (x0 + x >= args.width || y0 + y + i >= args.height)
            continue;
        row = args.parts.data + args.parts.linesize * (y0 + y + i) + byte;
        *(GpumeModuleSample *)(row + GPUME_CUDA_PARTS_PLANE(linesize, GPUME_PLANE_WHOLE)) =
            (GpumeModuleSample)column[i + 2];
        *(GpumeModuleSample *)(row + GPUME_CUDA_PARTS_PLANE(linesize, GPUME_PLANE_RIGHT)) =
            gpume_clip_sample((sums[i + 2] + 16) >> 5, max_value);
        *(GpumeModuleSample *)(row + GPUME_CUDA_PARTS_PLANE(linesize, GPUME_PLANE_BELOW)) =
            gpume_clip_sample((gpume_taps(column[i], column[i + 1], column[i + 2], column[i + 3],
                                          column[i + 4], column[i + 5]) + 16) >> 5, max_value);
        *(GpumeModuleSample *)(row + GPUME_CUDA_PARTS_PLANE(linesize, GPUME_PLANE_CENTRE)) =
            gpume_clip_sample((gpume_taps(sums[i], sums[i + 1], sums[i + 2], sums[i + 3],
                                          sums[i + 4], sums[i + 5]) + 512) >> 10, max_value);
    }
}
