/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Packs what is compared of both views into a word for each sample: census, luma and gradient. For the left view, also
 * computes the penalties of steps.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

#define TILE_W (MVSTEREO_CUDA_COLS + 2 * MVSTEREO_CENSUS_R)
#define TILE_H (MVSTEREO_CUDA_ROWS + 2 * MVSTEREO_CENSUS_R)

/** Luma of a thread block's samples and of the samples around them. */
typedef struct Tile {
    GpumeU8 luma[TILE_H][TILE_W + 2];
} Tile;

static __device__ __forceinline__ void load_tile(Tile *tile, const MvstereoCudaArgs &args, GpumeU64 src)
{
    const int x0 = (int)blockIdx.x * MVSTEREO_CUDA_COLS - MVSTEREO_CENSUS_R;
    const int y0 = (int)blockIdx.y * MVSTEREO_CUDA_ROWS - MVSTEREO_CENSUS_R;

    for (int i = (int)threadIdx.x; i < TILE_W * TILE_H; i += MVSTEREO_CUDA_THREADS)
        tile->luma[i / TILE_W][i % TILE_W] = (GpumeU8)mvstereo_byte(src, args, x0 + i % TILE_W, y0 + i / TILE_W);
}

/**
 * grid:   MVSTEREO_CUDA_COLS x MVSTEREO_CUDA_ROWS samples, views
 * block:  MVSTEREO_CUDA_THREADS
 * shared: MVSTEREO_CUDA_FEATURES_SHARED
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, MVSTEREO_CUDA_THREADS, 4)
{
    GPUME_SHARED(Tile, tile);
    const MvstereoCudaStats *stats = (const MvstereoCudaStats *)args.stats;
    const GpumeU64 src = blockIdx.z ? args.luma[1] : args.luma[0];
    const GpumeU64 dst = blockIdx.z ? args.features[1] : args.features[0];
    const int tx = (int)(threadIdx.x % MVSTEREO_CUDA_COLS), ty = (int)(threadIdx.x / MVSTEREO_CUDA_COLS);
    MVSTEREO_PLACE();
    GpumeU32 low = 0, high = 0;
    int sobel = 0, steps[2], centre, limit;

    load_tile(tile, args, src);
    __syncthreads();
    if (!is_inside)
        return;
    centre = tile->luma[ty + MVSTEREO_CENSUS_R][tx + MVSTEREO_CENSUS_R];
    limit  = centre - stats->is_rough;
    GPUME_UNROLL for (int j = -MVSTEREO_CENSUS_R; j <= MVSTEREO_CENSUS_R; j++)
        GPUME_UNROLL for (int i = -MVSTEREO_CENSUS_R; i <= MVSTEREO_CENSUS_R; i++) {
            const int v = tile->luma[ty + MVSTEREO_CENSUS_R + j][tx + MVSTEREO_CENSUS_R + i];
            /* the first 16 of 48 bits are the upper ones */
            const int number = (2 * MVSTEREO_CENSUS_R + 1) * (j + MVSTEREO_CENSUS_R) + i + MVSTEREO_CENSUS_R;

            if (number < 16)
                high = 2 * high + (((GpumeU32)v - (GpumeU32)limit) >> 31);
            else if (i || j)
                low = 2 * low + (((GpumeU32)v - (GpumeU32)limit) >> 31);
            if (j >= -1 && j <= 1 && (i == 1 || i == -1))
                sobel += i * (j ? 1 : 2) * v;
            if (i + j == -1 && i * j == 0)
                steps[j ? 1 : 0] = centre - v;
        }
    if (blockIdx.z) {
        centre = stats->table[centre];
    } else {
        ((GpumeU8 *)args.p2[0])[q] = (GpumeU8)mvstereo_p2(FFABS(steps[0]));
        ((GpumeU8 *)args.p2[1])[q] = (GpumeU8)mvstereo_p2(FFABS(steps[1]));
    }
    high |= (GpumeU32)centre << 16 | (GpumeU32)mvstereo_gradient(sobel) << 24;
    ((GpumeU64 *)dst)[q] = (GpumeU64)high << 32 | low;
}
