/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * All pattern searches.
 */

#include "libavfilter/gpume/cuda/module.cuh"
#include "libavfilter/gpume/cuda/pattern.cuh"

/** Results of the blocks of a warp, and the state of their searches. */
template<class Evaluator>
struct GpumeBlocks {
    typedef typename Evaluator::Key Key;

    Evaluator &e;
    GpumeU32 cost;
    int dx, dy;
    int active;                 ///< this block's search continues
    GpumePatternState s;

    /** Tests a pattern; then sets active and s for the next step. */
    __device__ __forceinline__ void step(const GpumePattern &p)
    {
        e.prepare(e.g.x0 + s.x, e.g.y0 + s.y, p.reach * s.step);

        const Key key = gpume_try_pattern(e, p, e.g.x0 + s.x, e.g.y0 + s.y, active, s.step);

        // not less for an equal cost, nor in an inactive group
        if (key < (Key)cost * GPUME_POINTS) {
            const int i = (unsigned)key % GPUME_POINTS;

            cost = key / GPUME_POINTS;
            dx   = s.x + gpume_point_x(p, i) * s.step;
            dy   = s.y + gpume_point_y(p, i) * s.step;
        }
        active = active && cost && gpume_pattern_next(&s, e.a.params.algo, dx, dy, e.a.params.range);
    }
};

/** Searches with all groups of a warp; each group has a block. */
template<class Evaluator>
static __device__ __forceinline__ void gpume_search_blocks(Evaluator e)
{
    GpumeBlocks<Evaluator> b = { e };

    b.dx     = b.dy = 0;
    b.cost   = e.zero();
    b.active = e.g.exists && b.cost;
    gpume_pattern_begin(&b.s, e.a.params.algo, 0, 0, e.a.params.range);
    while (__any_sync(GPUME_WHOLE_WARP, b.active))
        b.step(gpume_pattern<GPUME_ANY_PATTERN>(b.s.pattern));
    if (Evaluator::writes() && e.g.exists && !e.g.lane)
        gpume_store(e.a, e.g, blockIdx.z, e.g.bx, e.g.by, b.dx, b.dy, b.cost);
}

/**
 * Searches blocks of SIDE x SIDE samples, with LANES lanes for each. A warp has a tile of the
 * picture that is 16 samples wide.
 *
 * grid:   tiles over warps in a thread block, tiles in a column, fields
 * block:  32 * GPUME_CUDA_PATTERN_WARPS
 * shared: a window for every warp, GPUME_CUDA_PATTERN_WINDOW_WORDS
 */
template<class Cost, int SIDE>
struct GpumePatternSearch {
    static __device__ __forceinline__ void search(const GpumeCudaArgs &a)
    {
        const int lanes  = GPUME_CUDA_PATTERN_LANES(SIDE);
        const int across = GPUME_CUDA_PATTERN_TILE_WIDTH / SIDE;
        const GpumeCudaPlane ref = gpume_field(a, blockIdx.z).plane;
        const int warp   = threadIdx.x / 32;
        const int number = threadIdx.x % 32 / lanes;    // index of the group in its warp
        const int x = (blockIdx.x * GPUME_CUDA_PATTERN_WARPS + warp) * GPUME_CUDA_PATTERN_TILE_WIDTH;
        const int y = blockIdx.y * GPUME_CUDA_PATTERN_TILE_HEIGHT(SIDE);
        const GpumeGroup g = gpume_group(a.params, SIDE, lanes, (unsigned)x / SIDE + number % across,
                                                                (unsigned)y / SIDE + number / across);
        const int whole = x + GPUME_CUDA_PATTERN_TILE_WIDTH <= a.params.width;  // the tile is not cut on the right
        const int left   = x - GPUME_CUDA_PATTERN_MARGIN_X, top = y - GPUME_CUDA_PATTERN_MARGIN_Y(SIDE);

        GPUME_SHARED(GpumeU32, shared);
        GpumeU32 *const window = shared + warp *
            GPUME_CUDA_PATTERN_WINDOW_WORDS(SIDE, GpumeSample<typename Cost::Sample>::bytes);

        if (x >= a.params.width)
            return;
        if (whole && y + GPUME_CUDA_PATTERN_TILE_HEIGHT(SIDE) <= a.params.height)
            gpume_search_blocks(GpumeWindowEvaluator<Cost, SIDE, lanes>(a, ref, g, window, left, top));
        else if (whole && SIDE == 16)
            gpume_search_blocks(GpumeWindowEvaluator<Cost, SIDE, lanes, SIDE == 16>(a, ref, g, window, left, top));
        else
            gpume_search_blocks(GpumePlaneEvaluator<Cost, lanes, GpumeU32>(a, ref, g));
    }
};

/**
 * Searches blocks of any size, with a thread block for each.
 *
 * grid:   blocks of the picture in a row, in a column, fields
 * block:  up to 32 * GPUME_CUDA_PATTERN_TEAM
 * shared: GPUME_CUDA_PATTERN_TEAM_WORDS for each warp
 */
template<class Cost>
struct GpumePatternSearch<Cost, 0> {
    static __device__ __forceinline__ void search(const GpumeCudaArgs &a)
    {
        typedef GpumeKeyOf<GPUME_CUDA_DEPTH>::Key Key;
        const GpumeCudaPlane ref = gpume_field(a, blockIdx.z).plane;

        gpume_search_blocks(GpumePlaneEvaluator<Cost, 32, Key, 1>(a, ref,
            gpume_group(a.params, a.params.block, 32, blockIdx.x, blockIdx.y)));
    }
};

/** Returns the number of thread blocks on a multiprocessor for which registers are limited; 0: no limit. */
static constexpr int gpume_pattern_ctas(int side, int depth)
{
    return !side ? 0 : side == 16 ? (depth == 8 ? 5 : 3) : depth == 8 ? 6 : 5;
}

GPUME_KERNEL(32 * (GPUME_CUDA_SIDE ? GPUME_CUDA_PATTERN_WARPS : GPUME_CUDA_PATTERN_TEAM),
             gpume_pattern_ctas(GPUME_CUDA_SIDE, GPUME_CUDA_DEPTH))
{
    GpumePatternSearch<GpumeModuleCost, GPUME_CUDA_SIDE>::search(args);
}
