/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * A step of a plan: what its vectors begin with, and its passes. The variant is whether
 * vectors are subpel.
 *
 * A launch has one phase of a pass, whose blocks read what none of them writes; or, of
 * rows that a block of threads has whole, both phases of every second row; or, of a level so
 * small that a block of threads for each field is enough, the whole step.
 *
 * Vectors that have not changed, and whose neighbours have not, since a block was last
 * visited would be chosen again: such blocks are passed over.
 */

#include "libavfilter/gpume/cuda/motion.cuh"
#include "libavfilter/gpume/core/plan.h"

/** What is left of J and an order in 32 bits, for blocks of up to 16. */
template<int SIDE> struct GpumeStepKey    { typedef GpumeU32 Key; };
template<>         struct GpumeStepKey<0> { typedef GpumeU64 Key; };

/** Orders of candidates. */
#define GPUME_STEP_ORDERS 32

template<class Cost, int SIDE, int PARTS>
struct GpumeStepField {
    typedef GpumeMatcher<Cost, SIDE, PARTS> Matcher;
    typedef typename GpumeStepKey<SIDE>::Key Key;
    static const int LANES = GPUME_CUDA_STEP_LANES(SIDE);
    /** Candidates of a block at a time when it begins, and blocks of a warp. */
    static const int BEGINNERS = GPUME_CUDA_STEP_BEGINNERS;
    static const int BEGINNING = 32 / GPUME_CUDA_STEP_BEGIN_LANES(SIDE, GPUME_CUDA_COST);

    const GpumeCudaStepArgs &a;
    GpumeCudaPair pair;
    int z;
    GpumeU32 *vectors, *stamps, *costs;     // of the field

    __device__ __forceinline__ GpumeStepField(const GpumeCudaStepArgs &args, int field)
        : a(args), z(field)
    {
        const GpumeU64 first = (GpumeU64)z * a.params.bh * a.params.bw;

        pair    = gpume_pair(a.pairs, z);
        vectors = (GpumeU32 *)a.vectors + first;
        stamps  = (GpumeU32 *)a.stamps  + first;
        costs   = (GpumeU32 *)a.costs   + first;
    }

    __device__ __forceinline__ void store(int at, GpumeU32 vector, GpumeU32 cost, GpumeU32 stamp)
    {
        vectors[at] = vector;
        costs[at]   = cost;
        stamps[at]  = stamp;
    }

    /** The vector that a block has. */
    __device__ __forceinline__ void keep(int at)
    {
        const GpumeU64 from = (GpumeU64)z * a.params.bh * a.params.bw + at;
        const GpumeVector v = gpume_of_word(((const GpumeU32 *)a.from_vectors)[from]);

        store(at, gpume_vector_of(v.dx * a.factor, v.dy * a.factor), ((const GpumeU32 *)a.from_costs)[from], 0);
    }

    /** The best of all that are admissible, zero first. Lanes have their own, or a part of it. */
    __device__ __forceinline__ GpumeU64 try_all(const Matcher &m, const GpumeBox &b)
    {
        const int nx = b.max_dx - b.min_dx + 1;
        const int nb = nx * (b.max_dy - b.min_dy + 1);
        GpumeU64 best = ~(GpumeU64)0;

        /* as many times in all lanes; 0 is the zero vector, then all in raster order */
        GPUME_NO_UNROLL for (int first = 0; __any_sync(GPUME_WHOLE_WARP, first <= nb); first += BEGINNERS) {
            const int k  = first + threadIdx.x % BEGINNERS;
            const int dx = k ? b.min_dx + (k - 1) % nx : 0;
            const int dy = k ? b.min_dy + (k - 1) / nx : 0;
            const GpumeU32 cost = m.cost(dx, dy, k <= nb, (GpumeU32)(best >> 32));
            const GpumeU64 key = k <= nb ? gpume_key(cost, k) : ~(GpumeU64)0;

            if (key < best)
                best = key;
        }
        return gpume_least<1, BEGINNERS>(best);
    }

    /** The place of block i of the field before that one begins with. Returns whether it exists. */
    __device__ __forceinline__ int from_place(int i, int *x, int *y) const
    {
        if (a.begin != GPUME_BEGIN_SMALLER)
            return gpume_parent(i, x, y, a.from_bw, a.from_bh);
        *x = 2 * *x + (i & 1);
        *y = 2 * *y + (i >> 1);
        return *x < a.from_bw && *y < a.from_bh;
    }

    /** The vector of such a block, or zero. */
    __device__ __forceinline__ int from_block(int i, int x, int y, const GpumeBox &b, GpumeU32 *word)
    {
        const int pel = a.params.pel;
        int valid = i == 4;
        GpumeVector v = { 0, 0 };

        if (i < 4 && from_place(i, &x, &y)) {
            v = gpume_of_word(((const GpumeU32 *)a.from_vectors)
                              [((GpumeU64)z * a.from_bh + y) * a.from_bw + x]);
            valid = v.dx * a.factor >= b.min_dx * pel && v.dx * a.factor <= b.max_dx * pel &&
                    v.dy * a.factor >= b.min_dy * pel && v.dy * a.factor <= b.max_dy * pel;
        }
        *word = gpume_vector_of(v.dx * a.factor, v.dy * a.factor);
        return valid;
    }

    /** What a block begins with, but for GPUME_BEGIN_KEEP. All lanes call it, and those that have none. */
    __device__ __forceinline__ void begin(int bx, int by, int active)
    {
        const int c = threadIdx.x % BEGINNERS;
        const GpumeBox b = gpume_box(&a.params, a.params.block, bx, by);
        const Matcher m = gpume_matcher<Matcher>(a, pair, b);
        GpumeU64 key;
        GpumeU32 word;

        if (a.begin == GPUME_BEGIN_FULL) {
            const int nx = b.max_dx - b.min_dx + 1;
            int order;

            key   = try_all(m, b);
            order = (int)(GpumeU32)key - 1;
            word  = order < 0 ? 0 : gpume_vector_of(b.min_dx + order % nx, b.min_dy + order / nx);
        } else {
            const int lane = threadIdx.x & (32 - BEGINNERS);
            int valid = from_block(c, bx, by, b, &word) && active;
            const GpumeU32 others = __ballot_sync(GPUME_WHOLE_WARP, valid && c < 4);

            /* zero is no candidate beside vectors of the same picture */
            if (a.begin != GPUME_BEGIN_PARENTS && c == 4 && others >> lane & 15)
                valid = 0;

            const GpumeVector v = gpume_of_word(word);
            const GpumeU32 cost = m.cost(v.dx, v.dy, valid, ~0u);

            key  = gpume_least<1, BEGINNERS>(valid ? gpume_key(cost, c) : ~(GpumeU64)0);
            word = gpume_of_lane(word, lane + (int)((GpumeU32)key & (BEGINNERS - 1)));
        }
        if (c == 0 && active && threadIdx.x % 32 < BEGINNERS * BEGINNING)
            store(by * a.params.bw + bx, word, (GpumeU32)(key >> 32), 0);
    }

    /**
     * Visit a block. All lanes of a group call it, and groups that have none.
     * @param now number of the phase, from 1 on
     */
    __device__ __forceinline__ void visit(int bx, int by, int active, GpumeU32 now)
    {
        const int bw = a.params.bw, bh = a.params.bh;
        const int c  = threadIdx.x % 16;        // the lane's candidate
        const int at = by * bw + bx;
        int x, y;

        gpume_around(c & 7, &x, &y);
        const int has = bx + x >= 0 && bx + x < bw && by + y >= 0 && by + y < bh;
        const int other = at + (c < 8 && has ? y * bw + x : 0);
        GpumeU32 own_word = 0, own_cost = 0, stamp = now;
        GpumeU32 other_word = 0;                // of the neighbour, or the own

        if (active) {
            own_word   = vectors[at];
            own_cost   = costs[at];
            other_word = vectors[other];
            if (now > GPUME_NB_PHASES)
                stamp = stamps[other];
        }
        const GpumeU32 changes = __ballot_sync(GPUME_WHOLE_WARP, active && stamp + GPUME_NB_PHASES >= now);
        const GpumeU32 exists  = __ballot_sync(GPUME_WHOLE_WARP, has) >> (threadIdx.x & 16) & 0xff;

        if (!changes)
            return;
        active &= (changes >> (threadIdx.x & 16) & 0xffff) != 0;

        const GpumeBox b = gpume_box(&a.params, a.params.block, bx, by);
        const Matcher m = gpume_matcher<Matcher>(a, pair, b);
        const unsigned factor = gpume_penalty_factor(a.params.smooth, a.params.block);
        const int nb  = gpume_popcount(exists);
        const int pel = a.params.pel;
        const GpumeVector own = gpume_of_word(own_word);
        GpumeVector v = gpume_of_word(other_word);
        unsigned sum = 0, own_sum = 0;
        GpumeU32 word, penalty, own_j, cost;
        int wanted = active;

        if (c < 8) {
            own_sum = has ? gpume_umin(gpume_distance(own, v), a.threshold) : 0;
            wanted &= has;
        } else {
            v.dx = (short)(own.dx + x);
            v.dy = (short)(own.dy + y);
        }
        word = gpume_vector_of(v.dx, v.dy);
        GPUME_UNROLL for (int j = 0; j < 8; j++) {
            const GpumeVector n = gpume_of_word(gpume_of_lane(other_word, (threadIdx.x & 16) + j));
            const GpumeU32 distance = gpume_umin(gpume_distance(v, n), a.threshold);

            sum += exists >> j & 1 ? distance : 0;
        }
        GPUME_UNROLL for (int bit = 1; bit < 16; bit <<= 1)
            own_sum += __shfl_xor_sync(GPUME_WHOLE_WARP, own_sum, bit);
        penalty = gpume_penalty_of(factor, sum, nb, pel, a.params.depth);
        own_j   = own_cost + gpume_penalty_of(factor, own_sum, nb, pel, a.params.depth);
        wanted &= penalty < own_j && word != own_word &&
                  v.dx >= b.min_dx * pel && v.dx <= b.max_dx * pel &&
                  v.dy >= b.min_dy * pel && v.dy <= b.max_dy * pel;

        cost = m.cost(v.dx, v.dy, wanted, own_j - penalty);
        const Key own_key = (Key)own_j * GPUME_STEP_ORDERS;
        const Key key = gpume_least<1, 16>(wanted ? (Key)(cost + penalty) * GPUME_STEP_ORDERS + c : ~(Key)0);

        word = gpume_of_lane(word, (threadIdx.x & 16) + (int)(key & 15));
        cost = gpume_of_lane(cost, (threadIdx.x & 16) + (int)(key & 15));
        if (threadIdx.x % LANES == 0 && active && key < own_key)
            store(at, word, cost, now);
    }

    /** Which block of its warp a thread has when they begin. */
    static __device__ __forceinline__ int beginning()
    {
        return threadIdx.x / BEGINNERS % BEGINNING;
    }

    /** The whole step, by a block of threads. */
    __device__ __forceinline__ void run_alone()
    {
        const int nb_blocks = a.params.bw * a.params.bh;
        const int warp = threadIdx.x / 32, warps = blockDim.x / 32;

        if (a.begin == GPUME_BEGIN_KEEP) {
            GPUME_NO_UNROLL for (int i = threadIdx.x; i < nb_blocks; i += blockDim.x)
                keep(i);
        } else {
            GPUME_NO_UNROLL for (int first = warp * BEGINNING; first < nb_blocks; first += warps * BEGINNING) {
                const int k = first + beginning();
                const int i = gpume_min(k, nb_blocks - 1);

                begin(i % a.params.bw, i / a.params.bw, k < nb_blocks);
            }
        }
        GPUME_NO_UNROLL for (int now = 1; now <= GPUME_NB_PHASES * a.nb_passes; now++) {
            const int column = (now - 1) & 1, row = (now - 1) >> 1 & 1;
            const int across = (a.params.bw - column + 1) / 2;
            const int nb     = across * ((a.params.bh - row + 1) / 2);

            __syncthreads();
            GPUME_NO_UNROLL for (int first = warp * (32 / LANES); first < nb; first += warps * (32 / LANES)) {
                const int k = first + threadIdx.x % 32 / LANES;
                const int i = gpume_min(k, nb - 1);

                visit(i % across * 2 + column, i / across * 2 + row, k < nb, now);
            }
        }
    }

    /** One phase or two, or what the step begins with: the blocks that a block of threads has. */
    __device__ __forceinline__ void run()
    {
        const int thread = blockIdx.x * blockDim.x + threadIdx.x;
        const int last   = a.params.bw - 1;

        if (a.phase) {
            const int row = (a.phase - 1) >> 1 & 1;

            GPUME_NO_UNROLL for (int now = a.phase; now < a.phase + a.nb_phases; now++) {
                const int column = (now - 1) & 1;
                const int bx = thread / LANES * 2 + column;

                if (now > a.phase)
                    __syncthreads();
                visit(gpume_min(bx, (last - column) / 2 * 2 + column), 2 * blockIdx.y + row, bx <= last, now);
            }
        } else if (a.begin == GPUME_BEGIN_KEEP) {
            if (thread <= last)
                keep(blockIdx.y * a.params.bw + thread);
        } else {
            const int bx = thread / 32 * BEGINNING + beginning();

            begin(gpume_min(bx, last), blockIdx.y, bx <= last);
        }
    }
};

/**
 * grid:   lanes of a row's blocks, as motion.c has them, such rows, fields; alone: 1, 1, fields
 * block:  whole warps, up to GPUME_CUDA_STEP_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(GpumeCudaStepArgs, GPUME_CUDA_STEP_THREADS, GPUME_CUDA_STEP_CTAS(GPUME_CUDA_SIDE))
{
    GpumeStepField<GpumeModuleCost, GPUME_CUDA_SIDE, GPUME_CUDA_VARIANT> field(args, blockIdx.z);

    if (args.alone)
        field.run_alone();
    else
        field.run();
}
