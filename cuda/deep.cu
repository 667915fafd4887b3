/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of 4x4, 8x8 and 16x16 samples of more than 8 bits. The variant is how
 * many displacements on top of each other a thread has.
 */

#include "libavfilter/gpume/cuda/deep.cuh"

#define SIDE GPUME_CUDA_SIDE

/**
 * Range up to GPUME_CUDA_FULL_MAX_RANGE. A block of threads has a tile of GPUME_CUDA_FULL_TILE_WIDTH x
 * GPUME_CUDA_DEEP_PARTS() * SIDE samples.
 *
 * grid:   tiles side by side, on top of each other, fields; or any number
 * block:  whole warps, as many for each row of blocks
 * shared: runs * NB_ROWS + rows of a tile - 1 rows of GPUME_CUDA_FULL_PITCH() words, or what
 *         gpume_search_any() needs, whichever is more: that is shared_words; then GPUME_CUDA_DEEP_FIXED() words
 */
GPUME_KERNEL(GPUME_CUDA_FULL_THREADS, 2)
{
    GPUME_SHARED(GpumeU32, shared);

    const int parts = GPUME_CUDA_DEEP_PARTS(SIDE);
    const GpumeCudaArgs &a = args;
    GpumePlaces places(a, GPUME_CUDA_FULL_TILE_WIDTH, parts * SIDE);
    GpumePlace at;

    while (places.next(&at)) {
        const int h = gpume_min(a.params.height - at.y, parts * SIDE);
        int done = 0;

        if (at.x + GPUME_CUDA_FULL_TILE_WIDTH <= a.params.width) {
            if (h >= SIDE) {
                done = h / SIDE * SIDE;
                GpumeDeepTile<SIDE, SIDE, GPUME_CUDA_VARIANT>(a, shared, at).search(done / SIDE);
            } else if (parts == 1 && h == SIDE / 2) {
                /* as in 1080 lines */
                done = h;
                GpumeDeepTile<SIDE, SIDE / 2, GPUME_CUDA_VARIANT>(a, shared, at).search(1);
            }
        }
        /* the right and the bottom edge cut blocks and tiles */
        for (int y = at.y + done; y < at.y + h; y += SIDE)
            for (int x = at.x; x < at.x + GPUME_CUDA_FULL_TILE_WIDTH && x < a.params.width; x += SIDE)
                gpume_search_any<GpumeModuleCost>(a, shared, x / SIDE, y / SIDE, at.z);
    }
}
