/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

/**
 * @file
 * Diamond search: what its kernels have in common.
 */

#ifndef AVFILTER_GPUME_CUDA_GPUME_DS_CUH
#define AVFILTER_GPUME_CUDA_GPUME_DS_CUH

#include "libavfilter/gpume/cuda/gpume_pattern.cuh"
#include "libavfilter/gpume/gpume_searches.h"

static constexpr signed char large_diamond[GPUME_LARGE_DIAMOND_POINTS][2] = {
    GPUME_LARGE_DIAMOND
};
static constexpr signed char small_diamond[GPUME_SMALL_DIAMOND_POINTS][2] = {
    GPUME_SMALL_DIAMOND
};

/* Move to the best point around (x, y) if it is better; returns whether it was. */
template<class Evaluator>
static __device__ __forceinline__ int
try_diamond(Evaluator &e, const GpumePattern &p, int *x, int *y, GpumeU32 *cost,
            int active = 1)
{
    typedef typename Evaluator::Key Key;
    Key key;
    int i;

    e.prepare(*x, *y);
    key = gpume_try_pattern(e, p, *x, *y, active);
    // a key of an equal cost is not less than that; none of an inactive group is
    if (key >= (Key)*cost * GPUME_POINTS)
        return 0;
    i     = (unsigned)key % GPUME_POINTS;
    *cost = key / GPUME_POINTS;
    *x   += gpume_point_x(p, i);
    *y   += gpume_point_y(p, i);
    return 1;
}

/** All groups of a warp, each its block. */
template<class Evaluator>
static __device__ __forceinline__ void search(Evaluator e)
{
    constexpr GpumePattern large = { gpume_pack(large_diamond, 0),
                                     gpume_pack(large_diamond, 1),
                                     GPUME_LARGE_DIAMOND_POINTS };
    constexpr GpumePattern small = { gpume_pack(small_diamond, 0),
                                     gpume_pack(small_diamond, 1),
                                     GPUME_SMALL_DIAMOND_POINTS };
    GpumeU32 cost = e.zero();
    int active = e.g.exists && cost;
    int x = e.g.x0, y = e.g.y0;

    if (Evaluator::LANES == 32) {
        // one block in the warp: patterns that are constants
        while (active)
            active = try_diamond(e, large, &x, &y, &cost) && cost;
        if (e.g.exists && cost)
            try_diamond(e, small, &x, &y, &cost);
    } else {
        int is_large = 1;

        while (__any_sync(GPUME_WHOLE_WARP, active)) {
            const GpumePattern p = { is_large ? large.x : small.x,
                                     is_large ? large.y : small.y,
                                     is_large ? large.points : small.points };
            const int moved = try_diamond(e, p, &x, &y, &cost, active);

            active    = active && is_large && cost;
            is_large &= moved;
        }
    }
    gpume_store_group(e, x, y, cost);
}

/*
 * A warp whose blocks the other evaluator cannot take: few, so they are kept out of
 * its registers.
 */
template<typename Sample, int SIDE, int LANES>
static __device__ __attribute__((noinline)) void
search_cut(GpumeU64 cur, long long cur_linesize, GpumeU64 ref, long long ref_linesize,
           int width, int height, int range, int shift, int bw, int bh, int source,
           GpumeU64 mvs, GpumeU64 costs, int bx, int by)
{
    const GpumeCudaArgs a = gpume_args(GPUME_ALGO_DS, cur, cur_linesize, ref, ref_linesize, width,
                                       height, range, shift, bw, bh, source, mvs, costs);

    search(GpumePlaneEvaluator<Sample, LANES, GpumeU32>(a, a.ref[0],
               gpume_group(a.params, SIDE, LANES, bx, by)));
}

/*
 * A warp whose block the picture's lower edge cuts, as that of 1080 lines does.
 * Few, too, but they take a walk as long as the others.
 */
template<typename Sample, int SIDE>
static __device__ __attribute__((noinline)) void
search_bottom(GpumeU64 cur, int cur_linesize, GpumeU64 ref, int ref_linesize,
              int width, int height, int range, int shift, int bw, int bh, int source,
              GpumeU64 mvs, GpumeU64 costs, int bx, int by)
{
    GPUME_SHARED(GpumeU32, windows);

    const int bytes = GpumeSample<Sample>::bytes;
    const GpumeCudaArgs a = gpume_args(GPUME_ALGO_DS, cur, cur_linesize, ref, ref_linesize, width,
                                       height, range, shift, bw, bh, source, mvs, costs);

    search(GpumeWindowEvaluator<Sample, SIDE, 32, 1>(a, a.ref[0],
               gpume_group(a.params, SIDE, 32, bx, by),
               windows + threadIdx.x / 32 * GPUME_CUDA_DS_WINDOW_WORDS(SIDE, bytes),
               bx * SIDE - GPUME_CUDA_DS_MARGIN_X, by * SIDE - GPUME_CUDA_DS_MARGIN_Y(SIDE)));
}

/**
 * Blocks of SIDE x SIDE samples, LANES lanes for each: a warp has as many as fit into
 * a tile of 16 samples width.
 *
 * grid:   tiles over warps in a block of threads, tiles in a column, directions
 * block:  32 * GPUME_CUDA_DS_WARPS
 * shared: a window for every warp, GPUME_CUDA_DS_WINDOW_WORDS
 */
template<typename Sample, int SIDE>
static __device__ __forceinline__ void search_small(const GpumeCudaArgs &a)
{
    GPUME_SHARED(GpumeU32, windows);

    const int lanes = GPUME_CUDA_DS_LANES(SIDE);
    const GpumeTile<Sample, SIDE> t(a);

    if (t.x >= a.params.width)
        return;
    if (t.loads && t.whole_below(a))
        search(t.template evaluator<GpumeWindowEvaluator<Sample, SIDE, lanes> >(a, windows));
    else if (lanes == 32 && t.loads)
        search_bottom<Sample, SIDE>(GPUME_NUMBERS(a, t.ref, t.g));
    else
        search_cut<Sample, SIDE, lanes>(GPUME_NUMBERS(a, t.ref, t.g));
}

/** The kernel of a block's side; ctas: blocks of threads a multiprocessor, as registers allow. */
#define GPUME_DS_KERNEL(side, depth, ctas)                                      \
extern "C" __global__ void __launch_bounds__(32 * GPUME_CUDA_DS_WARPS, ctas)    \
gpume_ds##side##_##depth(const GpumeCudaArgs args)                              \
{                                                                               \
    search_small<GpumeU##depth, side>(args);                                    \
}

#endif /* AVFILTER_GPUME_CUDA_GPUME_DS_CUH */
