/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds the candidates that match in and around each area of luma, from the votes of these areas.
 * Counts the areas where fewer than two candidates match. A thread has an area.
 */

#include "libavfilter/gpume/mvdeint/device.cuh"

/**
 * grid:   areas
 * block:  MVDEINT_CUDA_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvdeintCudaMatchingArgs, MVDEINT_CUDA_THREADS)
{
    const int nb = args.cols * args.rows, area = blockIdx.x * MVDEINT_CUDA_THREADS + threadIdx.x;
    const int x = area % args.cols, y = area / args.cols, around = MVDEINT_AREAS_AROUND;
    GpumeU32 bits = 0, poor;
    int best = -1;

    GPUME_NO_UNROLL for (int n = 0; n < MVDEINT_MAX_CANDIDATES && area < nb; n++) {
        const signed char *votes = (const signed char *)args.votes + n * nb;
        int sum = 0;

        if (!(args.present >> n & 1))
            continue;
        GPUME_NO_UNROLL for (int j = gpume_max(y - around, 0); j <= gpume_min(y + around, args.rows - 1); j++)
            GPUME_NO_UNROLL for (int k = gpume_max(x - around, 0); k <= gpume_min(x + around, args.cols - 1); k++)
                sum += votes[j * args.cols + k];
        bits |= (GpumeU32)(sum >= 0) << n;
        best  = gpume_max(best, (int)votes[area]);
    }
    if (best < 0)
        bits = 0;
    if (area < nb)
        ((GpumeU8 *)args.matching)[area] = (GpumeU8)bits;
    poor = __ballot_sync(GPUME_WHOLE_WARP, area < nb && gpume_popcount(bits) < 2);
    if (poor && threadIdx.x % 32 == 0)
        atomicAdd((GpumeU32 *)args.nb_poor, (GpumeU32)gpume_popcount(poor));
}
