/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of any size and depth, with any cost.
 */

#include "libavfilter/gpume/cuda/any.cuh"
#include "libavfilter/gpume/cuda/evaluators.cuh"

/**
 * Searches blocks of any size and depth.
 *
 * grid:   bw, bh, fields; or any number
 * block:  across * down threads, rounded up to warps, at most GPUME_CUDA_FULL_THREADS
 * shared: GPUME_CUDA_ANY_STRIP rows of block / per_word words, then
 *         down * GPUME_CUDA_ANY_DY + GPUME_CUDA_ANY_STRIP rows of pitch words;
 *         at least a key for each warp
 */
template<class Cost>
struct GpumeFullSearch {
    static __device__ __forceinline__ void search(const GpumeCudaArgs &a)
    {
        GPUME_SHARED(GpumeU32, shared);

        GpumePlaces places(a, a.params.block, a.params.block);
        GpumePlace at;

        while (places.next(&at))
            if (at.x < a.params.width && at.y < a.params.height)
                gpume_search_any<Cost>(a, shared, at.x / a.params.block, at.y / a.params.block, at.z);
    }
};

/**
 * Searches blocks of any size; several lanes share a candidate.
 *
 * grid:   bw, bh, fields
 * block:  GPUME_CUDA_FULL_THREADS
 * shared: a key for each warp
 */
template<typename Sample>
struct GpumeFullSearch<GpumeSatd<Sample>> {
    static __device__ __forceinline__ void search(const GpumeCudaArgs &a)
    {
        typedef GpumePlaneEvaluator<GpumeSatd<Sample>, GpumeSatd<Sample>::LANES, GpumeU64> Evaluator;
        const int lanes = Evaluator::LANES;
        const GpumeCudaPlane ref = gpume_field(a, blockIdx.z).plane;
        const GpumeBox b = gpume_box(&a.params, a.params.block, blockIdx.x, blockIdx.y);
        const Evaluator e(a, ref, gpume_group(a.params, a.params.block, lanes, blockIdx.x, blockIdx.y));
        const int nx = b.max_dx - b.min_dx + 1, nb = nx * (b.max_dy - b.min_dy + 1);
        GpumeU64 best = ~0ull;

        GPUME_SHARED(GpumeU32, shared);

        GPUME_NO_UNROLL for (int first = threadIdx.x / 32 * (32 / lanes); first < nb; first += blockDim.x / lanes) {
            /* lanes without a candidate repeat the last one */
            const int k  = gpume_min(first + threadIdx.x % 32 / lanes, nb - 1);
            const int dx = b.min_dx + k % nx, dy = b.min_dy + k / nx;
            const GpumeU64 key = gpume_key(Evaluator::sum_of_parts(e.share(b.x0 + dx, b.y0 + dy)),
                                           gpume_order(a.params.range, dx, dy));

            best = key < best ? key : best;
        }
        gpume_store_least(a, shared, b, blockIdx.z, blockIdx.x, blockIdx.y, best);
    }
};

GPUME_KERNEL(GPUME_CUDA_FULL_THREADS, 2)
{
    GpumeFullSearch<GpumeModuleCost>::search(args);
}
