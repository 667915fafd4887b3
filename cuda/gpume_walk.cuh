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
 * Walks: searches that are patterns of points one after another, as GPUME_SEARCHES
 * lists them. One kernel has them all.
 */

#ifndef AVFILTER_GPUME_CUDA_GPUME_WALK_CUH
#define AVFILTER_GPUME_CUDA_GPUME_WALK_CUH

#include "libavfilter/gpume/cuda/gpume_pattern.cuh"

#define GPUME_INLINE static __device__ __forceinline__
#include "libavfilter/gpume/gpume_searches.h"

static_assert(GPUME_MAX_PATTERN_POINTS <= GPUME_POINTS, "a pattern's points have lanes");

#define GPUME_POINT_LIST(name)                                                      \
static constexpr signed char gpume_points_##name[GPUME_##name##_POINTS][2] = {      \
    GPUME_##name                                                                    \
};
GPUME_PATTERNS(GPUME_POINT_LIST)
#undef GPUME_POINT_LIST

/** A pattern by its number, enum GpumePatternId: constants, no memory. */
static __device__ __forceinline__ GpumePattern gpume_pattern(int id)
{
    GpumePattern p = { 0, 0, 0 };

#define GPUME_TAKE_PATTERN(name)                                                    \
    {                                                                               \
        constexpr GpumeU32 x = gpume_pack(gpume_points_##name, 0);                  \
        constexpr GpumeU32 y = gpume_pack(gpume_points_##name, 1);                  \
                                                                                    \
        p.x      = id == GPUME_PATTERN_##name ? x : p.x;                            \
        p.y      = id == GPUME_PATTERN_##name ? y : p.y;                            \
        p.points = id == GPUME_PATTERN_##name ? GPUME_##name##_POINTS : p.points;   \
    }
    GPUME_PATTERNS(GPUME_TAKE_PATTERN)
#undef GPUME_TAKE_PATTERN
    return p;
}

/**
 * The window evaluator for points at any distance: where a warp has one block, the
 * window follows as far as it holds the whole pattern, else what lies outside is read
 * from the plane.
 */
template<typename Sample, int SIDE, int LANES_>
struct GpumeWalkEvaluator : GpumeWindowEvaluator<Sample, SIDE, LANES_> {
    typedef GpumeWindowEvaluator<Sample, SIDE, LANES_> Base;

    /* of the places where a candidate is in the window: see Base::sad() */
    static const int COLUMNS = Base::WINDOW_WIDTH - SIDE;
    static const int LINES   = Base::WINDOW_ROWS  - SIDE + 1;

    __device__ __forceinline__ GpumeWalkEvaluator(const GpumeCudaArgs &args,
                                                  const GpumeCudaPlane &ref,
                                                  const GpumeGroup &group,
                                                  GpumeU32 *shared, int x, int y)
        : Base(args, ref, group, shared, x, y)
    {
    }

    __device__ __forceinline__ void sad(GpumeU32 sum[], const int x[], const int y[]) const
    {
        int far = 0;

#pragma unroll
        for (int i = 0; i < Base::ROUNDS; i++)
            far |= (unsigned)(x[i] - Base::window_x) >= COLUMNS ||
                   (unsigned)(y[i] - Base::window_y) >= LINES;
        // all in the same way, so that all loads are on their way at the same time
        if (far)
#pragma unroll
            for (int i = 0; i < Base::ROUNDS; i++)
                sum[i] = Base::sad_plane(x[i], y[i]);
        else
#pragma unroll
            for (int i = 0; i < Base::ROUNDS; i++)
                sum[i] = Base::sad_window(x[i] - Base::window_x, y[i] - Base::window_y);
    }

    /** Before candidates up to reach samples from (x, y). */
    __device__ __forceinline__ void prepare(int x, int y, int reach)
    {
        const int column = x - Base::window_x;
        const int line   = y - Base::window_y;

        if (LANES_ < 32 || (column >= reach && column + reach < COLUMNS &&
                            line   >= reach && line   + reach < LINES))
            return;
        // columns of a window are multiples of 16
        if (2 * reach + 15 < COLUMNS && 2 * reach < LINES) {
            __syncwarp();
            Base::load_window((x - (COLUMNS - 15) / 2) & ~15, y - LINES / 2);
            __syncwarp();
        }
    }
};

/** Any block: there is no window. */
template<typename Sample, int LANES_, typename Key_>
struct GpumeFarWalkEvaluator : GpumePlaneEvaluator<Sample, LANES_, Key_> {
    __device__ __forceinline__ GpumeFarWalkEvaluator(const GpumeCudaArgs &args,
                                                     const GpumeCudaPlane &ref,
                                                     const GpumeGroup &group)
        : GpumePlaneEvaluator<Sample, LANES_, Key_>(args, ref, group)
    {
    }

    __device__ __forceinline__ void prepare(int x, int y, int reach)
    {
    }
};

/** All groups of a warp, each its block. */
template<class Evaluator>
static __device__ __forceinline__ void gpume_walk(Evaluator e)
{
    typedef typename Evaluator::Key Key;
    const int algo  = e.a.params.algo;
    const int range = e.a.params.range;
    GpumeU32 cost = e.zero();
    int active = e.g.exists && cost;
    int dx = 0, dy = 0;
    GpumeWalk w;

    gpume_walk_begin(&w, algo, 0, 0, range);
    while (__any_sync(GPUME_WHOLE_WARP, active)) {
        const GpumePattern p = gpume_pattern(w.pattern);
        const int near = w.pattern == GPUME_PATTERN_SMALL_DIAMOND ||
                         w.pattern == GPUME_PATTERN_SQUARE;
        Key key;

        e.prepare(e.g.x0 + w.x, e.g.y0 + w.y, near ? w.step : 2 * w.step);
        key = gpume_try_pattern(e, p, e.g.x0 + w.x, e.g.y0 + w.y, active, w.step);
        // a key of an equal cost is not less than that; none of an inactive group is
        if (key < (Key)cost * GPUME_POINTS) {
            const int i = (unsigned)key % GPUME_POINTS;

            cost = key / GPUME_POINTS;
            dx   = w.x + gpume_point_x(p, i) * w.step;
            dy   = w.y + gpume_point_y(p, i) * w.step;
        }
        active = active && cost && gpume_walk_next(&w, algo, dx, dy, range);
    }
    gpume_store_group(e, e.g.x0 + dx, e.g.y0 + dy, cost);
}

/*
 * A warp whose blocks the other evaluator cannot take: few, so they are kept out of
 * its registers. Numbers as parameters: a struct would go through memory for all.
 */
template<typename Sample, int SIDE, int LANES>
static __device__ __attribute__((noinline)) void
gpume_walk_cut(int algo, GpumeU64 cur, long long cur_linesize, GpumeU64 ref,
               long long ref_linesize, int width, int height, int range, int shift, int bw,
               int bh, int source, GpumeU64 mvs, GpumeU64 costs, int bx, int by)
{
    const GpumeCudaArgs a = gpume_args(algo, cur, cur_linesize, ref, ref_linesize, width,
                                       height, range, shift, bw, bh, source, mvs, costs);

    gpume_walk(GpumeFarWalkEvaluator<Sample, LANES, GpumeU32>(a, a.ref[0],
                   gpume_group(a.params, SIDE, LANES, bx, by)));
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
static __device__ __forceinline__ void gpume_walk_small(const GpumeCudaArgs &a)
{
    GPUME_SHARED(GpumeU32, windows);

    const int lanes = GPUME_CUDA_DS_LANES(SIDE);
    const GpumeTile<Sample, SIDE> t(a);

    if (t.x >= a.params.width)
        return;
    if (t.loads && t.whole_below(a))
        gpume_walk(t.template evaluator<GpumeWalkEvaluator<Sample, SIDE, lanes> >(a, windows));
    else
        gpume_walk_cut<Sample, SIDE, lanes>(a.params.algo, GPUME_NUMBERS(a, t.ref, t.g));
}

/** The kernel of a block's side; ctas: blocks of threads a multiprocessor, as registers allow. */
#define GPUME_WALK_KERNEL(side, depth, ctas)                                    \
extern "C" __global__ void __launch_bounds__(32 * GPUME_CUDA_DS_WARPS, ctas)    \
gpume_walk##side##_##depth(const GpumeCudaArgs args)                            \
{                                                                               \
    gpume_walk_small<GpumeU##depth, side>(args);                                \
}

#endif /* AVFILTER_GPUME_CUDA_GPUME_WALK_CUH */
