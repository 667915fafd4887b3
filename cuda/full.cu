/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of any size and depth and, where there is a variant, of 8x8 and
 * 16x16 bytes. The variant is how many displacements on top of each other a thread has.
 */

#include "libavfilter/gpume/cuda/evaluators.cuh"
#include "libavfilter/gpume/cuda/tile.cuh"

static_assert(GPUME_CUDA_COST == GPUME_COST_SAD || !GPUME_CUDA_SIDE, "of others keys of 16 bits do not do");

/**
 * Blocks of 8 or 16 bytes, range up to GPUME_CUDA_FULL_MAX_RANGE. A block of
 * threads has a tile of GPUME_CUDA_FULL_TILE_WIDTH x SIDE samples.
 *
 * grid:   tiles side by side, bh, fields; or any number
 * block:  whole warps
 * shared: runs * NB_ROWS + SIDE - 1 rows of GPUME_CUDA_FULL_PITCH() words, or what
 *         gpume_search_any() needs, or threads / 32 keys for each block of the tile,
 *         whichever is most: that is shared_words; then a word for each block
 *         of the tile, and the tile
 */
template<class Cost, int SIDE, int NB_ROWS>
struct GpumeFullSearch {
    static __device__ __forceinline__ void search(const GpumeCudaArgs &a)
    {
        GPUME_SHARED(GpumeU32, shared);

        GpumePlaces places(a, GPUME_CUDA_FULL_TILE_WIDTH, SIDE);
        GpumePlace at;

        while (places.next(&at)) {
            const int x0 = at.x, y0 = at.y;
            const int whole = x0 + GPUME_CUDA_FULL_TILE_WIDTH <= a.params.width;
            const int h     = a.params.height - y0;

            if (whole && h >= SIDE) {
                GpumeTile<SIDE, SIDE, NB_ROWS>(a, shared, at).search();
            } else if (whole && h == SIDE / 2) {
                /* as in 1080 lines */
                GpumeTile<SIDE, SIDE / 2, NB_ROWS>(a, shared, at).search();
            } else if (h > 0) {
                /* the right and the bottom edge cut blocks and tiles */
                for (int x = x0; x < x0 + GPUME_CUDA_FULL_TILE_WIDTH && x < a.params.width; x += SIDE)
                    gpume_search_any<Cost>(a, shared, x / SIDE, y0 / SIDE, at.z);
            }
        }
    }
};

/**
 * Blocks of any size and depth.
 *
 * grid:   bw, bh, fields; or any number
 * block:  across * down threads, rounded up to warps, at most GPUME_CUDA_FULL_THREADS
 * shared: GPUME_CUDA_FULL_STRIP rows of block / per_word words, then
 *         down * GPUME_CUDA_FULL_DY + GPUME_CUDA_FULL_STRIP rows of pitch words;
 *         at least a key for each warp
 */
template<class Cost>
struct GpumeFullSearch<Cost, 0, 0> {
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
 * Blocks of any size, of a cost for which lanes share a candidate.
 *
 * grid:   bw, bh, fields
 * block:  GPUME_CUDA_FULL_THREADS
 * shared: a key for each warp
 */
template<typename Sample>
struct GpumeFullSearch<GpumeSatd<Sample>, 0, 0> {
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
            /* the last one again where there are no more */
            const int k  = gpume_min(first + threadIdx.x % 32 / lanes, nb - 1);
            const int dx = b.min_dx + k % nx, dy = b.min_dy + k / nx;
            const GpumeU64 key = gpume_key(Evaluator::sum_of_parts(e.share(b.x0 + dx, b.y0 + dy)),
                                           gpume_order(a.params.range, dx, dy));

            best = key < best ? key : best;
        }
        gpume_store_least(a, shared, b, { (int)blockIdx.x, (int)blockIdx.y, (int)blockIdx.z }, best);
    }
};

GPUME_KERNEL(GPUME_CUDA_FULL_THREADS, 2)
{
    GpumeFullSearch<GpumeModuleCost, GPUME_CUDA_SIDE, GPUME_CUDA_VARIANT>::search(args);
}
