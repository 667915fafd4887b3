/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Replaces vectors by global candidates that are much better. A first launch lists the doubtful
 * blocks and the cells whose candidates they may take. Once these cells have been searched, a second
 * launch tries the candidates; a warp has a block.
 */

#include "libavfilter/gpume/cuda/motion.cuh"

typedef GpumeMatcher<GpumeModuleCost, 0, 0> GpumeChooseMatcher;

/** A block that all lanes of a warp process. */
struct GpumeChoice {
    const GpumeCudaChooseArgs &a;
    const GpumeCudaStepArgs &s;
    int z, lane;
    GpumeBox b;
    GpumeVector own;
    GpumeU32 neighbour, exists;     ///< lanes 0 to 7: a neighbour's vector; bit mask of the neighbours that exist
    GpumeChooseMatcher m;

    __device__ __forceinline__ GpumeChoice(const GpumeCudaChooseArgs &args, int field, int bx, int by)
        : a(args), s(args.step), z(field), lane(threadIdx.x % 32),
          b(gpume_box(&args.step.params, args.step.params.block, bx, by)),
          m(gpume_matcher<GpumeChooseMatcher>(args.step, gpume_pair(args.step.pairs, field), b))
    {
        const int bw = s.params.bw, bh = s.params.bh;
        const GpumeU32 *vectors = (const GpumeU32 *)s.from_vectors + ((GpumeU64)z * bh + by) * bw + bx;
        int x, y;

        gpume_around(lane & 7, &x, &y);
        const int has = lane < 8 && bx + x >= 0 && bx + x < bw && by + y >= 0 && by + y < bh;

        own       = gpume_of_word(vectors[0]);
        neighbour = has ? vectors[y * bw + x] : 0;
        exists    = __ballot_sync(GPUME_WHOLE_WARP, has);
    }

    __device__ __forceinline__ GpumeU32 penalty(GpumeVector v) const
    {
        const int differs = exists >> lane & 1;
        GpumeU32 sum = differs ? gpume_umin(gpume_distance(v, gpume_of_word(neighbour)), s.threshold) : 0;

        GPUME_UNROLL for (int bit = 1; bit < 8; bit <<= 1)
            sum += __shfl_xor_sync(GPUME_WHOLE_WARP, sum, bit);
        sum = gpume_of_lane(sum, 0);
        return gpume_penalty(gpume_penalty_factor(s.params.smooth, s.params.block), sum, gpume_popcount(exists), 1,
                             s.params.depth);
    }

    /** Returns whether the block's vector is a poor match for a block of the coarse level, and that block's vector. */
    __device__ __forceinline__ int is_poor(int x, int y, GpumeU32 *found) const
    {
        const GpumeParams &p = a.global.params;
        const GpumeBox small = gpume_box(&p, GPUME_GLOBAL_BLOCK, x, y);
        const int dx = gpume_global_rounded(own.dx), dy = gpume_global_rounded(own.dy);
        GpumeU32 cost = 0;

        *found = 0;
        if (small.w <= 0 || small.h <= 0 || x < 0 || y < 0)
            return 0;
        *found = ((const GpumeU32 *)a.global.vectors)[((GpumeU64)z * p.bh + y) * p.bw + x];
        if (!gpume_admissible(&small, dx, dy))
            return 1;

        const GpumeSmallBlock<GpumeModuleSample> block(a.global, z, small);

        GPUME_UNROLL for (int r = 0; r < GPUME_GLOBAL_BLOCK; r++)
            cost = gpume_sad4(block.cur[r], block.ref(dx, dy + r) & block.mask(r), cost);
        return gpume_global_doubtful(cost, small.w, small.h, 8);
    }

    /** Returns whether the search in the opposite direction leads back. */
    __device__ __forceinline__ int is_confirmed(int x, int y, GpumeVector v) const
    {
        const GpumeBox small = gpume_box(&a.global.params, GPUME_GLOBAL_BLOCK, x, y);
        const int cell = gpume_opposite_cell(a.global, z, small, v, lane);
        int confirmed = 0;

        if (cell >= 0)
            confirmed = gpume_consistent(v, gpume_of_word(((const GpumeU32 *)a.global.vectors)[cell]), 1);
        return __any_sync(GPUME_WHOLE_WARP, confirmed);
    }

    /** Finds the best vector near v. Returns its cost, or all ones if none is admissible. */
    __device__ __forceinline__ GpumeU32 refine(GpumeVector *v) const
    {
        const int c = lane & 15;
        GpumeU32 cost = ~0u;
        int x, y;

        gpume_around((c - 1) & 7, &x, &y);
        GPUME_NO_UNROLL for (int step = GPUME_GLOBAL_SCALE / 2; step; step >>= 1) {
            const int dx = v->dx + (c ? step * x : 0), dy = v->dy + (c ? step * y : 0);
            const int wanted = c < 9 && gpume_admissible(&b, dx, dy);
            const GpumeU32 its_cost = m.cost_of_same(GpumeModuleCost(), dx, dy, wanted);
            const GpumeU64 key = gpume_least<1, 16>(wanted ? gpume_key(its_cost, c) : ~(GpumeU64)0);

            if (key == ~(GpumeU64)0)
                break;
            cost = (GpumeU32)(key >> 32);
            *v   = gpume_of_word(gpume_of_lane(gpume_vector_of(dx, dy), (int)((GpumeU32)key & 15)));
        }
        return cost;
    }

    /** Finds the best vector of the block and its cost. */
    __device__ __forceinline__ void choose(GpumeU32 *vector, GpumeU32 *cost) const
    {
        GpumeU32 limit = gpume_global_limit(*cost + penalty(own)), given = 0, found;
        const int x = gpume_global_first(b.x0, b.w) + (lane & 1), y = gpume_global_first(b.y0, b.h) + (lane >> 1 & 1);
        const int wanted = is_poor(x, y, &found) && lane < GPUME_GLOBAL_PLACES;
        const GpumeU32 poor = __ballot_sync(GPUME_WHOLE_WARP, wanted);

        GPUME_NO_UNROLL for (int i = 0; i < GPUME_GLOBAL_PLACES; i++) {
            const GpumeU32 word = gpume_of_lane(found, i);
            const GpumeVector g = gpume_of_word(word);
            GpumeVector v = { (short)(g.dx * GPUME_GLOBAL_SCALE), (short)(g.dy * GPUME_GLOBAL_SCALE) };
            const int known = __any_sync(GPUME_WHOLE_WARP, given >> lane & 1 && found == word);

            if (!(poor >> i & 1) || known || gpume_global_near(v, own) ||
                !is_confirmed((int)gpume_of_lane((GpumeU32)x, i), (int)gpume_of_lane((GpumeU32)y, i), g))
                continue;
            given |= 1u << i;

            const GpumeU32 its_cost = refine(&v);
            const GpumeU32 sum = its_cost + penalty(v);

            if (its_cost != ~0u && sum < limit) {
                limit   = sum;
                *vector = gpume_vector_of(v.dx, v.dy);
                *cost   = its_cost;
            }
        }
    }
};

/** Appends the cells whose candidates a block may take to their list. */
static __device__ __forceinline__ void gpume_append_places(const GpumeCudaGlobalArgs &a, int z, const GpumeBox &b)
{
    const GpumeParams &p = a.params;

    GPUME_NO_UNROLL for (int i = 0; i < GPUME_GLOBAL_PLACES; i++) {
        const int x = gpume_global_first(b.x0, b.w) + (i & 1), y = gpume_global_first(b.y0, b.h) + (i >> 1);

        if (x >= 0 && x < p.bw && y >= 0 && y < p.bh)
            gpume_append_cell(a, (z * p.bh + y) * p.bw + x);
    }
}

/** Copies the vector of a block. Appends the block to the list if it is doubtful. */
static __device__ __forceinline__ void gpume_list_block(const GpumeCudaChooseArgs &args, int z, int block)
{
    const GpumeParams &p = args.step.params;
    const GpumeU32 at  = (GpumeU32)z * p.bw * p.bh + block;
    const GpumeU32 cost = ((const GpumeU32 *)args.step.from_costs)[at];
    const GpumeBox b = gpume_box(&p, p.block, block % p.bw, block / p.bw);

    ((GpumeU32 *)args.step.vectors)[at] = ((const GpumeU32 *)args.step.from_vectors)[at];
    ((GpumeU32 *)args.step.costs)[at]   = cost;
    if (gpume_global_doubtful(cost, b.w, b.h, p.depth)) {
        gpume_append(args.blocks, args.count, at);
        gpume_append_places(args.global, z, b);
    }
}

/**
 * grid:   at most GPUME_CUDA_GLOBAL_GRID; with is_listing, threads with a block each, fields
 * block:  GPUME_CUDA_CHOOSE_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(GpumeCudaChooseArgs, GPUME_CUDA_CHOOSE_THREADS)
{
    const GpumeParams &p = args.step.params;
    const GpumeU32 warps = GPUME_CUDA_CHOOSE_THREADS / 32, nb_blocks = p.bw * p.bh;

    if (args.is_listing) {
        const int block = blockIdx.x * GPUME_CUDA_CHOOSE_THREADS + threadIdx.x;

        if (block < (int)nb_blocks)
            gpume_list_block(args, blockIdx.y, block);
        return;
    }
    GPUME_NO_UNROLL for (GpumeU32 i = blockIdx.x * warps + threadIdx.x / 32; i < *(const GpumeU32 *)args.count;
                         i += GPUME_CUDA_GLOBAL_GRID * warps) {
        const GpumeU32 at = ((const GpumeU32 *)args.blocks)[i];
        const int z = (int)(at / nb_blocks), block = (int)(at % nb_blocks);
        GpumeU32 vector = ((const GpumeU32 *)args.step.from_vectors)[at];
        GpumeU32 cost   = ((const GpumeU32 *)args.step.from_costs)[at];

        GpumeChoice(args, z, block % p.bw, block / p.bw).choose(&vector, &cost);
        if (threadIdx.x % 32 == 0) {
            ((GpumeU32 *)args.step.vectors)[at] = vector;
            ((GpumeU32 *)args.step.costs)[at]   = cost;
        }
    }
}
