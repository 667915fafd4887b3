/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of any size and depth, with any cost.
 */

#include "libavfilter/gpume/cuda/any.cuh"

/**
 * grid:   bw, bh, fields; or any number
 * block:  GPUME_CUDA_FULL_THREADS
 * shared: a key of two words for each warp
 */
GPUME_KERNEL(GPUME_CUDA_FULL_THREADS, 2)
{
    GPUME_SHARED(GpumeU32, shared);

    GpumePlaces places(args, args.params.block, args.params.block);
    GpumePlace at;

    while (places.next(&at))
        if (at.x < args.params.width && at.y < args.params.height)
            gpume_search_any<GpumeModuleCost>(args, shared, at.x / args.params.block, at.y / args.params.block, at.z);
}
