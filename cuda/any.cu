/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of any size and depth, with any cost.
 */

#include "libavfilter/gpume/cuda/evaluators.cuh"
#include "libavfilter/gpume/cuda/window.cuh"

/**
 * Searches one block of the picture, of any size, with all threads: each candidate is evaluated by
 * as few lanes as the cost allows.
 * @param shared a key of two words for each warp
 */
template<class Cost>
static __device__ __forceinline__ void
gpume_search_any(const GpumeCudaArgs &a, GpumeU32 *shared, int bx, int by, int z)
{
    typedef GpumePlaneEvaluator<Cost, Cost::LANES, GpumeU64> Evaluator;
    const int lanes = Evaluator::LANES;
    const GpumeCudaPlane ref = gpume_field(a, z).plane;
    const Evaluator e(a, ref, gpume_group(a.params, a.params.block, lanes, bx, by));
    const GpumeBox &b = e.g;
    const int nx = b.max_dx - b.min_dx + 1, nb = nx * (b.max_dy - b.min_dy + 1);
    GpumeU64 best = ~0ull;

    GPUME_NO_UNROLL for (int first = threadIdx.x / 32 * (32 / lanes); first < nb; first += blockDim.x / lanes) {
        /* lanes without a candidate repeat the last one */
        const int k  = gpume_min(first + threadIdx.x % 32 / lanes, nb - 1);
        const int dx = b.min_dx + k % nx, dy = b.min_dy + k / nx;
        const GpumeU32 cost = Evaluator::sum_of_parts(e.share(b.x0 + dx, b.y0 + dy));

        best = gpume_lesser_key(best, gpume_key(cost, gpume_order(a.params.range, dx, dy)));
    }

    const GpumeU64 least = gpume_least_of_all(shared, best);
    const GpumeVector v  = gpume_vector_of_order(a.params.range, (int)(GpumeU32)least);

    if (!threadIdx.x)
        gpume_store(a, b, z, bx, by, v.dx, v.dy, (GpumeU32)(least >> 32));
}

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
