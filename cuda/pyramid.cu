/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Makes levels of a pyramid: a thread block reads a square of the first level and computes its part
 * of the other levels.
 */

#include "libavfilter/gpume/cuda/module.cuh"
#include "libavfilter/gpume/cuda/motion_args.h"

/** Returns the mean of 2x2 samples at (x, y) of a tile of side x side; (last_x, last_y) is the last sample. */
static __device__ __forceinline__ int
gpume_mean4(const GpumeModuleSample *tile, int side, int x, int y, int last_x, int last_y)
{
    const int right = gpume_min(x + 1, last_x);
    const int below = gpume_min(y + 1, last_y);

    return (tile[y * side + x] + tile[y * side + right] +
            tile[below * side + x] + tile[below * side + right] + 2) >> 2;
}

static __device__ __forceinline__ GpumeModuleSample *
gpume_sample_at(const GpumeCudaPlane &plane, int x, int y)
{
    return (GpumeModuleSample *)(plane.data + plane.linesize * y) + x;
}

/**
 * grid:   tiles across and down
 * block:  GPUME_CUDA_PYRAMID_THREADS
 * shared: samples of a tile, and of a tile of half its side
 */
GPUME_KERNEL_OF(GpumeCudaPyramidArgs, GPUME_CUDA_PYRAMID_THREADS)
{
    typedef GpumeModuleSample Sample;
    const int bytes    = GpumeSample<Sample>::bytes;
    const int per_word = GpumeSample<Sample>::per_word;
    const int words    = GPUME_CUDA_PYRAMID_TILE / per_word;

    GPUME_SHARED(GpumeU32, shared);

    Sample *tile = (Sample *)shared;
    Sample *next = tile + GPUME_CUDA_PYRAMID_TILE * GPUME_CUDA_PYRAMID_TILE;
    int side   = GPUME_CUDA_PYRAMID_TILE;
    int x0     = blockIdx.x * side;
    int y0     = blockIdx.y * side;
    int width  = args.width;
    int height = args.height;
    int level  = 0;

    GPUME_NO_UNROLL for (int i = threadIdx.x; i < words * side; i += GPUME_CUDA_PYRAMID_THREADS) {
        const int x = x0 + i % words * per_word;
        const int y = y0 + i / words;
        GpumeU32 word = 0;

        if (x < width && y < height) {
            gpume_load_global(&word, (const GpumeU8 *)(args.src.data + args.src.linesize * y + x * bytes));
            word = GpumeSample<Sample>::right_justify(word & gpume_mask<Sample>(width - x), args.shift);
            if (args.copy)
                *(GpumeU32 *)gpume_sample_at(args.dst[0], x, y) = word;
        }
        shared[i] = word;
    }
    level = args.copy ? 1 : 0;
    GPUME_UNROLL for (int k = 0; k < GPUME_CUDA_PYRAMID_LEVELS; k++) {
        /* the kernel's parameter is read only at constant indices */
        if (k < level)
            continue;
        if (k >= args.nb_levels)
            break;

        const int half   = side / 2;
        const int last_x = gpume_min(side, width  - x0) - 1;
        const int last_y = gpume_min(side, height - y0) - 1;
        Sample *swap = tile;

        __syncthreads();
        GPUME_NO_UNROLL for (int i = threadIdx.x; i < half * half; i += GPUME_CUDA_PYRAMID_THREADS) {
            const int x = i % half, y = i / half;
            int v = 0;

            if (2 * x <= last_x && 2 * y <= last_y) {
                v = gpume_mean4(tile, side, 2 * x, 2 * y, last_x, last_y);
                *gpume_sample_at(args.dst[k], x0 / 2 + x, y0 / 2 + y) = (Sample)v;
            }
            next[i] = (Sample)v;
        }
        tile   = next;
        next   = swap;
        side   = half;
        x0    /= 2;
        y0    /= 2;
        width  = (width  + 1) / 2;
        height = (height + 1) / 2;
    }
}
