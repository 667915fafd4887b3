/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Pattern search. The variant is the search; GPUME_CUDA_ANY supports all pattern searches.
 */

#include "libavfilter/gpume/cuda/module.cuh"
#include "libavfilter/gpume/cuda/pattern.cuh"

/** Nonzero: all points of the search are near, and windows are tuned for that. */
#define GPUME_NEAR (GPUME_CUDA_VARIANT != GPUME_CUDA_ANY)

static __device__ constexpr int gpume_first_step(int algo, int range)
{
#define GPUME_STEP(ID, name, kind, title, paper, first, first_step, next) \
    algo == GPUME_ALGO_##ID ? first_step :
    return GPUME_SEARCHES(GPUME_STEP) 0;
#undef GPUME_STEP
}

static __device__ constexpr int gpume_first_pattern(int algo)
{
#define GPUME_FIRST(ID, name, kind, title, paper, first, first_step, next) \
    algo == GPUME_ALGO_##ID ? GPUME_PATTERN_##first :
    return GPUME_SEARCHES(GPUME_FIRST) -1;
#undef GPUME_FIRST
}
static_assert(!GPUME_NEAR || gpume_first_step(GPUME_CUDA_VARIANT, GPUME_MAX_RANGE) == 1,
              "points are up to GPUME_MAX_REACH away");

/** Results of the blocks of a warp, and the state of their searches. */
template<class Evaluator>
struct GpumeBlocks {
    typedef typename Evaluator::Key Key;

    Evaluator &e;
    int algo, range;
    int x0, y0;                 ///< origin of vectors
    GpumeU32 cost;
    int dx, dy;
    int active;                 ///< this block's search continues
    GpumePatternState s;

    /** Tests a pattern; then sets active and s for the next step. */
    __device__ __forceinline__ void step(const GpumePattern &p)
    {
        e.prepare(x0 + s.x, y0 + s.y, p.reach * s.step);

        const Key key = gpume_try_pattern(e, p, x0 + s.x, y0 + s.y, active, s.step);

        // not less for an equal cost, nor in an inactive group
        if (key < (Key)cost * GPUME_POINTS) {
            const int i = (unsigned)key % GPUME_POINTS;

            cost = key / GPUME_POINTS;
            dx   = s.x + gpume_point_x(p, i) * s.step;
            dy   = s.y + gpume_point_y(p, i) * s.step;
        }
        active = active && cost && gpume_pattern_next(&s, algo, dx, dy, range);
        /* a near search continues from the best point, so one pair of registers holds both */
        if (GPUME_NEAR) {
            s.x = dx;
            s.y = dy;
        }
    }

    /** Tests a constant pattern; the warp has one block, so all lanes take the same branches. */
    template<int ID>
    __device__ __forceinline__ void steps()
    {
        const GpumePattern p = gpume_pattern<GPUME_CUDA_VARIANT>(ID);

        while (active && s.pattern == ID) {
            s.pattern = ID;
            step(p);
        }
    }
};

/** Searches with all groups of a warp; each group has a block. */
template<class Evaluator>
static __device__ __forceinline__ void gpume_search_blocks(Evaluator e)
{
    GpumeBlocks<Evaluator> b = { e };

    b.algo  = GPUME_CUDA_VARIANT == GPUME_CUDA_ANY ? e.a.params.algo : GPUME_CUDA_VARIANT;
    b.range = e.a.params.range;
    /*
     * No step of near searches depends on the position of the zero vector, so their vectors are
     * relative to the picture's corner. These are the positions that evaluators need.
     */
    b.x0 = GPUME_NEAR ? 0 : e.g.x0;
    b.y0 = GPUME_NEAR ? 0 : e.g.y0;
    b.dx = e.g.x0 - b.x0;
    b.dy = e.g.y0 - b.y0;
    b.cost   = e.zero();
    b.active = e.g.exists && b.cost;
    gpume_pattern_begin(&b.s, b.algo, b.dx, b.dy, b.range);
    if (GPUME_NEAR && Evaluator::LANES == 32) {
        /* near searches have only these patterns, in this order: see gpume_has_pattern() */
        b.template steps<gpume_first_pattern(GPUME_CUDA_VARIANT)>();
        b.template steps<GPUME_PATTERN_SMALL_DIAMOND>();
    } else {
        while (__any_sync(GPUME_WHOLE_WARP, b.active))
            b.step(gpume_pattern<GPUME_CUDA_VARIANT>(b.s.pattern));
    }
    if (Evaluator::writes())
        gpume_store_group(e, b.x0 + b.dx, b.y0 + b.dy, b.cost);
}

/** Sets the arguments that evaluators need. */
static __device__ __forceinline__ void
gpume_copy_args(GpumeCudaArgs *dst, const GpumeCudaArgs &a)
{
    dst->params.algo   = a.params.algo;
    dst->params.range  = a.params.range;
    dst->params.width  = a.params.width;
    dst->params.height = a.params.height;
    dst->params.shift  = a.params.shift;
    dst->params.bw     = a.params.bw;
    dst->params.bh     = a.params.bh;
    dst->cur           = a.cur;
    dst->mvs           = a.mvs;
    dst->vectors       = a.vectors;
    dst->costs         = a.costs;
    GPUME_UNROLL for (int i = 0; i < GPUME_CUDA_FIELDS; i++) {
        dst->fields[i].plane  = a.fields[i].plane;
        dst->fields[i].source = a.fields[i].source;
    }
}

/** Returns the window of the thread's warp. */
template<class Cost, int SIDE>
static __device__ __forceinline__ GpumeU32 *gpume_window()
{
    GPUME_SHARED(GpumeU32, windows);

    return windows + threadIdx.x / 32 *
           GPUME_CUDA_PATTERN_WINDOW_WORDS(SIDE, GpumeSample<typename Cost::Sample>::bytes);
}

/*
 * Searches blocks that the window evaluator cannot take. Few warps have such blocks, so this is a
 * separate function that needs none of their registers. The arguments are passed in the window,
 * which is not yet in use: passed by value they would need stack, and a pointer to the kernel's
 * arguments would move these into local memory.
 */
template<class Cost, int SIDE, int LANES>
static __device__ __attribute__((noinline)) void gpume_search_cut(int bx, int by)
{
    const GpumeCudaArgs &a = *(const GpumeCudaArgs *)gpume_window<Cost, SIDE>();
    const GpumeCudaPlane ref = gpume_field(a, blockIdx.z).plane;

    gpume_search_blocks(GpumePlaneEvaluator<Cost, LANES, GpumeU32>(a, ref,
                            gpume_group(a.params, SIDE, LANES, bx, by)));
}

/*
 * Searches blocks of 16x16 that only the lower edge of the picture cuts, as in pictures of 1080
 * lines. They are also few, but they come last, and their searches take as long as others.
 */
template<class Cost>
static __device__ __attribute__((noinline)) void gpume_search_bottom(int bx, int by)
{
    const int side = 16;
    GpumeU32 *const window = gpume_window<Cost, side>();
    GpumeCudaArgs a;

    gpume_copy_args(&a, *(const GpumeCudaArgs *)window);
    __syncwarp();

    const GpumeCudaPlane ref = gpume_field(a, blockIdx.z).plane;

    gpume_search_blocks(GpumeWindowEvaluator<Cost, side, 32, GPUME_NEAR, 1>(a, ref,
        gpume_group(a.params, side, 32, bx, by), window,
        bx * side - GPUME_CUDA_PATTERN_MARGIN_X, by * side - GPUME_CUDA_PATTERN_MARGIN_Y(side)));
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
        /* a window can be loaded if the tile is not cut on the right and rows are aligned to 16 bytes */
        const int loads = x + GPUME_CUDA_PATTERN_TILE_WIDTH <= a.params.width &&
                          !((a.cur.data | ref.data | a.cur.linesize | ref.linesize) & 15);

        static_assert(sizeof(GpumeCudaArgs) <= 4 * GPUME_CUDA_PATTERN_WINDOW_WORDS(SIDE, 1), "it fits");
        GpumeU32 *const window = gpume_window<Cost, SIDE>();

        if (x >= a.params.width)
            return;
        if (loads && y + GPUME_CUDA_PATTERN_TILE_HEIGHT(SIDE) <= a.params.height) {
            gpume_search_blocks(GpumeWindowEvaluator<Cost, SIDE, lanes, GPUME_NEAR>(a, ref, g, window,
                x - GPUME_CUDA_PATTERN_MARGIN_X, y - GPUME_CUDA_PATTERN_MARGIN_Y(SIDE)));
        } else {
            if (threadIdx.x % 32 == 0)
                gpume_copy_args((GpumeCudaArgs *)window, a);
            __syncwarp();
            if (SIDE == 16 && GPUME_NEAR && loads)
                gpume_search_bottom<Cost>(g.bx, g.by);
            else
                gpume_search_cut<Cost, SIDE, lanes>(g.bx, g.by);
        }
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
        typedef typename GpumeKeyOf<typename Cost::Sample>::Key Key;
        const GpumeCudaPlane ref = gpume_field(a, blockIdx.z).plane;

        gpume_search_blocks(GpumePlaneEvaluator<Cost, 32, Key, 1>(a, ref,
            gpume_group(a.params, a.params.block, 32, blockIdx.x, blockIdx.y)));
    }
};

/** Returns the number of thread blocks on a multiprocessor for which registers are limited; 0: no limit. */
static constexpr int gpume_pattern_ctas(int side, int depth)
{
    return !side ? 0 :
           side == 16 ? depth == 10 ? 4 : (depth == 8 ? 6 : 4) - !GPUME_NEAR :
           depth > 8 ? 5 + (depth < 16 && side == 4) : GPUME_NEAR ? 8 : 6;
}

GPUME_KERNEL(32 * (GPUME_CUDA_SIDE ? GPUME_CUDA_PATTERN_WARPS : GPUME_CUDA_PATTERN_TEAM),
             gpume_pattern_ctas(GPUME_CUDA_SIDE, GPUME_CUDA_DEPTH))
{
    GpumePatternSearch<GpumeModuleCost, GPUME_CUDA_SIDE>::search(args);
}
