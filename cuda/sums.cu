/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of 8 and 16 bytes at once, or of 16, whose costs are kept: those of larger
 * blocks are sums of them. The variant is how many displacements on top of each other a thread has.
 */

#include "libavfilter/gpume/cuda/sums.cuh"
#include "libavfilter/gpume/cuda/tile.cuh"

#define TILE GPUME_CUDA_SUMS_TILE

static_assert(TILE == GPUME_CUDA_FULL_TILE_WIDTH, "tiles are squares");

/**
 * grid:   tiles in a row, rows of them in a strip
 * block:  whole warps
 * shared: as for full search of tiles, or GPUME_CUDA_TILE_RESULTS() keys of two words for each warp
 */
GPUME_KERNEL_OF(GpumeCudaSumsArgs, GPUME_CUDA_FULL_THREADS, 2)
{
    GPUME_SHARED(GpumeU32, shared);
    const GpumeCudaArgs &a = args.search;
    const GpumePlace at = { (int)blockIdx.x * TILE, (args.first_row + (int)blockIdx.y) * TILE, 0 };
    const GpumeTileSums sums = { args, at };
    const int whole = at.x + TILE <= a.params.width;
    const int h     = a.params.height - at.y;

    if (whole && h >= TILE)
        GpumeTile<GPUME_CUDA_SIDE, TILE, GPUME_CUDA_VARIANT, GpumeTileSums>(a, sums, shared, at).search();
    else if (whole && h == TILE / 2)
        /* as in 1080 lines */
        GpumeTile<GPUME_CUDA_SIDE, TILE / 2, GPUME_CUDA_VARIANT, GpumeTileSums>(a, sums, shared, at).search();
    else
        gpume_search_cut<GpumeU8, GPUME_CUDA_SIDE>(args, shared, at, sums);
}
