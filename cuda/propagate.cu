/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * A step of a plan: what its vectors begin with, and its passes. The variant is whether
 * vectors are in parts of a sample.
 *
 * A block of threads has an item: a segment of a row of the picture's blocks, in one pass,
 * even columns and then odd ones. Items are taken by tickets in an order in which each
 * comes after those that it waits for: first all rows begin, then each pass has the even
 * rows of all fields and then the odd ones, segments from right to left. For each segment
 * the number of phases that are done is kept. An item waits for the rows next to its own to
 * have done what comes before; and before its odd columns for the even ones of the segment
 * on its right. So nothing that it reads is written meanwhile.
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

/** The place of neighbour i, 0 to 7, in raster order; and that of the vectors around one. */
static __device__ __forceinline__ void gpume_around(int i, int *x, int *y)
{
    const int place = i + (i >= 4);

    *x = place % 3 - 1;
    *y = place / 3 - 1;
}

template<class Cost, int SIDE, int PARTS>
struct GpumeStepItem {
    typedef GpumeMatcher<Cost, SIDE, PARTS> Matcher;
    typedef typename GpumeStepKey<SIDE>::Key Key;
    static const int LANES  = GPUME_CUDA_STEP_LANES(SIDE);
    static const int GROUPS = GPUME_CUDA_STEP_THREADS / LANES;
    static_assert(Cost::ROWS == 1 && Cost::WORDS == 1, "a lane has rows of words");

    const GpumeCudaStepArgs &a;
    GpumeCudaPair pair;
    int z, by, segment;
    int x0, n;                  ///< first block of the segment, and how many
    int pitch;
    const GpumeU32 *between;
    /* of three rows, with one block before the segment and one behind it; at the first of the row itself */
    GpumeU32 *vectors, *stamps;
    GpumeU32 *costs;

    __device__ __forceinline__ GpumeStepItem(const GpumeCudaStepArgs &args, GpumeU32 *shared)
        : a(args)
    {
        pitch   = a.segment + 2;
        between = shared;
        vectors = shared + 32 + pitch + 1;
        stamps  = vectors + 3 * pitch;
        costs   = shared + 32 + 6 * pitch;
    }

    /** Of all blocks of a field, before row y. */
    __device__ __forceinline__ GpumeU64 row_at(int y) const
    {
        return ((GpumeU64)z * a.params.bh + y) * a.params.bw;
    }

    __device__ __forceinline__ GpumeU32 *progress_of(int y, int s) const
    {
        return (GpumeU32 *)a.progress + ((GpumeU64)z * a.params.bh + y) * a.nb_segments + s;
    }

    /** Say that phases of the item are done. */
    __device__ __forceinline__ void finish(int phases)
    {
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(progress_of(by, segment), phases);
        }
    }

    /** Wait for segments around this one. @param above, beside phases that those have done */
    __device__ __forceinline__ void wait(GpumeU32 above, GpumeU32 beside)
    {
        if (threadIdx.x < 9) {
            const int y = by + (int)threadIdx.x / 3 - 1;
            const int s = segment + (int)threadIdx.x % 3 - 1;

            if (y >= 0 && y < a.params.bh && s >= 0 && s < a.nb_segments) {
                const GpumeU32 needed = y == by ? beside : above;

                while (gpume_load_progress(progress_of(y, s)) < needed)
                    ;
                __threadfence();
            }
        }
        __syncthreads();
    }

    /** Write what becomes of block i of the segment. */
    __device__ __forceinline__ void store(int i, GpumeU32 vector, GpumeU32 cost, GpumeU32 stamp)
    {
        const GpumeU64 at = row_at(by) + x0 + i;

        ((GpumeU32 *)a.vectors)[at] = vector;
        ((GpumeU32 *)a.costs)[at]   = cost;
        ((GpumeU32 *)a.stamps)[at]  = stamp;
    }

    /** The vectors that there are. */
    __device__ __forceinline__ void keep()
    {
        GPUME_NO_UNROLL for (int i = threadIdx.x; i < n; i += GPUME_CUDA_STEP_THREADS) {
            const GpumeU64 at = row_at(by) + x0 + i;
            int dx, dy;

            if (a.from_search) {
                const int *mv = (const int *)a.from_vectors + at * GPUME_VECTOR_WORDS;

                dx = mv[6];
                dy = mv[7];
            } else {
                const GpumeVector v = gpume_of_word(((const GpumeU32 *)a.from_vectors)[at]);

                dx = v.dx;
                dy = v.dy;
            }
            store(i, gpume_vector_of(dx * a.factor, dy * a.factor),
                  ((const GpumeU32 *)a.from_costs)[at], 0);
        }
    }

    /** The best of all that are admissible, zero first. Every lane has its own, or a half of it. */
    __device__ __forceinline__ GpumeU64 try_all(const Matcher &m, const GpumeBox &b)
    {
        const int nx = b.max_dx - b.min_dx + 1;
        const int nb = nx * (b.max_dy - b.min_dy + 1);
        GpumeU64 best = ~(GpumeU64)0;

        /* as many times in all lanes; 0 is the zero vector, then all in raster order */
        GPUME_NO_UNROLL for (int first = 0; __any_sync(GPUME_WHOLE_WARP, first <= nb); first += 16) {
            const int k  = first + threadIdx.x % 16;
            const int dx = k ? b.min_dx + (k - 1) % nx : 0;
            const int dy = k ? b.min_dy + (k - 1) / nx : 0;
            const GpumeU32 cost = m.cost(dx, dy, k <= nb, (GpumeU32)(best >> 32));
            const GpumeU64 key = k <= nb ? gpume_key(cost, k) : ~(GpumeU64)0;

            if (key < best)
                best = key;
        }
        return gpume_least<1, 16>(best);
    }

    /** The vector of a block of the field before at one of gpume_parent()'s places, or zero. */
    __device__ __forceinline__ int of_parent(int i, int bx, const GpumeBox &b, GpumeU32 *word)
    {
        int x = bx, y = by, valid = i == 4;
        GpumeVector v = { 0, 0 };

        if (i < 4 && gpume_parent(i, &x, &y, a.from_bw, a.from_bh)) {
            v = gpume_of_word(((const GpumeU32 *)a.from_vectors)
                              [((GpumeU64)z * a.from_bh + y) * a.from_bw + x]);
            valid = gpume_admissible(&b, v.dx * a.factor, v.dy * a.factor);
        }
        *word = gpume_vector_of(v.dx * a.factor, v.dy * a.factor);
        return valid;
    }

    /** The vectors of a search on this level, or of parents. */
    __device__ __forceinline__ void begin()
    {
        const int lane = threadIdx.x % LANES;

        if (a.begin == GPUME_BEGIN_KEEP) {
            keep();
            return;
        }
        GPUME_NO_UNROLL for (int first = threadIdx.x / 32 * (32 / LANES); first < n; first += GROUPS) {
            const int i  = first + threadIdx.x % 32 / LANES;
            const int bx = x0 + gpume_min(i, n - 1);
            const GpumeBox b = gpume_box(&a.params, a.params.block, bx, by);
            const Matcher m = gpume_matcher<Matcher>(a, pair, b, between);
            GpumeU64 key;
            GpumeU32 word;

            if (a.begin == GPUME_BEGIN_FULL) {
                const int nx = b.max_dx - b.min_dx + 1;
                int order;

                key   = try_all(m, b);
                order = (int)(GpumeU32)key - 1;
                word  = order < 0 ? 0 : gpume_vector_of(b.min_dx + order % nx, b.min_dy + order / nx);
            } else {
                int valid = of_parent(lane % 16, bx, b, &word);
                const GpumeU32 others = __ballot_sync(GPUME_WHOLE_WARP, valid && lane % 16 < 4);
                GpumeU32 cost;

                /* of larger blocks zero is no candidate if there is another */
                if (a.begin == GPUME_BEGIN_LARGER && lane % 16 == 4 &&
                    others >> (threadIdx.x % 32 / 16 * 16) & 15)
                    valid = 0;
                const GpumeVector v = gpume_of_word(word);

                cost = m.cost(v.dx, v.dy, valid, ~0u);
                key  = gpume_least<1, 16>(valid ? gpume_key(cost, lane % 16) : ~(GpumeU64)0);
                word = gpume_of_lane(word, (threadIdx.x & ~15 & 31) + (int)((GpumeU32)key & 15));
            }
            if (lane == 0 && i < n)
                store(i, word, (GpumeU32)(key >> 32), 0);
        }
    }

    /** Load the segment and what is around it. */
    __device__ __forceinline__ void load()
    {
        GPUME_NO_UNROLL for (int i = threadIdx.x; i < 3 * (n + 2); i += GPUME_CUDA_STEP_THREADS) {
            const int row = i / (n + 2) - 1, column = i % (n + 2) - 1;
            const int y = by + row, x = x0 + column;

            if (y >= 0 && y < a.params.bh && x >= 0 && x < a.params.bw) {
                vectors[row * pitch + column] = gpume_load_volatile((GpumeU32 *)a.vectors + row_at(y) + x);
                stamps [row * pitch + column] = gpume_load_volatile((GpumeU32 *)a.stamps  + row_at(y) + x);
            }
        }
        GPUME_NO_UNROLL for (int i = threadIdx.x; i < n; i += GPUME_CUDA_STEP_THREADS)
            costs[i] = gpume_load_volatile((GpumeU32 *)a.costs + row_at(by) + x0 + i);
        __syncthreads();
    }

    /** Visit block i of the segment, one of each group of lanes. @param now number of the phase, from 1 on */
    __device__ __forceinline__ void visit(int i, int active, GpumeU32 now)
    {
        const int c  = threadIdx.x % 16;        // the lane's candidate
        const int bx = x0 + i;
        const GpumeU32 own_word = vectors[i];
        const GpumeVector own = gpume_of_word(own_word);
        GpumeU32 exists = 0;                    // which neighbours
        int x, y, changed;

        GPUME_UNROLL for (int j = 0; j < 8; j++) {
            gpume_around(j, &x, &y);
            exists |= (GpumeU32)(bx + x >= 0 && bx + x < a.params.bw &&
                                 by + y >= 0 && by + y < a.params.bh) << j;
        }
        gpume_around(c & 7, &x, &y);
        const int has = exists >> (c & 7) & 1;
        const int at  = i + y * pitch + x;

        changed = now <= GPUME_NB_PHASES || stamps[i] + GPUME_NB_PHASES >= now ||
                  (has && stamps[at] + GPUME_NB_PHASES >= now);
        const GpumeU32 changes = __ballot_sync(GPUME_WHOLE_WARP, active && changed);

        if (!changes)
            return;
        active &= (changes >> (LANES == 32 ? 0 : threadIdx.x & 16) & (LANES == 32 ? ~0u : 0xffff)) != 0;

        const GpumeBox b = gpume_box(&a.params, a.params.block, bx, by);
        const Matcher m = gpume_matcher<Matcher>(a, pair, b, between);
        const unsigned factor = gpume_penalty_factor(a.params.smooth, a.params.block);
        const GpumeU32 reciprocal = between[GPUME_RECIPROCALS + gpume_popcount(exists)];
        const int pel = a.params.pel;
        GpumeVector v = own;
        unsigned sum = 0, own_sum = 0;
        GpumeU32 word, penalty, own_j, cost;
        int wanted = active;

        if (c < 8) {
            if (has) {
                v = gpume_of_word(vectors[at]);
                own_sum = gpume_umin(gpume_distance(own, v), a.threshold);
            }
            wanted &= has;
        } else {
            v.dx = (short)(v.dx + x);
            v.dy = (short)(v.dy + y);
        }
        word = gpume_vector_of(v.dx, v.dy);
        GPUME_UNROLL for (int j = 0; j < 8; j++) {
            gpume_around(j, &x, &y);
            if (exists >> j & 1)
                sum += gpume_umin(gpume_distance(v, gpume_of_word(vectors[i + y * pitch + x])), a.threshold);
        }
        GPUME_UNROLL for (int bit = 1; bit < 16; bit <<= 1)
            own_sum += __shfl_xor_sync(GPUME_WHOLE_WARP, own_sum, bit);
        /* gpume_penalty() */
        penalty = GPUME_DIVIDE_LARGE(factor * sum, reciprocal) << (a.params.depth - 8);
        own_j   = costs[i] + (GPUME_DIVIDE_LARGE(factor * own_sum, reciprocal) << (a.params.depth - 8));
        wanted &= penalty < own_j && word != own_word &&
                  v.dx >= b.min_dx * pel && v.dx <= b.max_dx * pel &&
                  v.dy >= b.min_dy * pel && v.dy <= b.max_dy * pel;

        cost = m.cost(v.dx, v.dy, wanted, own_j - penalty);
        const Key own_key = (Key)own_j * GPUME_STEP_ORDERS;
        const Key key = gpume_least<1, 16>(wanted ? (Key)(cost + penalty) * GPUME_STEP_ORDERS + c : ~(Key)0);

        word = gpume_of_lane(word, (threadIdx.x & 16) + (int)(key & 15));
        cost = gpume_of_lane(cost, (threadIdx.x & 16) + (int)(key & 15));
        __syncwarp();
        if (threadIdx.x % LANES == 0 && active && key < own_key) {
            vectors[i] = word;
            costs[i]   = cost;
            stamps[i]  = now;
            store(i, word, cost, now);
        }
    }

    /** A pass over the segment. */
    __device__ __forceinline__ void pass(int number)
    {
        const int odd = by & 1;
        const GpumeU32 done = 1 + 2 * number;

        wait(done + (odd ? 2 : 0), done);
        load();
        GPUME_NO_UNROLL for (int phase = 0; phase < 2; phase++) {
            const int blocks = (n + 1 - phase) / 2;

            if (phase) {
                if (a.nb_segments > 1)
                    finish(1);
                if (segment + 1 < a.nb_segments) {
                    if (threadIdx.x == 0) {
                        while (gpume_load_progress(progress_of(by, segment + 1)) < done + 1)
                            ;
                        __threadfence();
                        vectors[n] = gpume_load_volatile((GpumeU32 *)a.vectors + row_at(by) + x0 + n);
                        stamps[n]  = gpume_load_volatile((GpumeU32 *)a.stamps  + row_at(by) + x0 + n);
                    }
                }
                __syncthreads();
            }
            GPUME_NO_UNROLL for (int first = threadIdx.x / 32 * (32 / LANES); first < blocks; first += GROUPS) {
                const int k = first + threadIdx.x % 32 / LANES;

                visit(2 * gpume_min(k, blocks - 1) + phase, k < blocks,
                      GPUME_NB_PHASES * number + 2 * odd + phase + 1);
            }
        }
        finish(a.nb_segments > 1 ? 1 : 2);
    }

    /** Do the item of a ticket. */
    __device__ __forceinline__ void run(int ticket)
    {
        const int fields = a.nb_fields * a.nb_segments;     // items of a row
        const int items  = fields * a.params.bh;            // of a pass
        const int number = ticket / items - 1;
        int rest = ticket % items;

        by = rest / fields;
        if (number >= 0) {
            const int even = (a.params.bh + 1) / 2;

            by = by < even ? 2 * by : 2 * (by - even) + 1;
        }
        rest   %= fields;
        z       = rest / a.nb_segments;
        segment = a.nb_segments - 1 - rest % a.nb_segments;
        x0      = segment * a.segment;
        n       = gpume_min(a.segment, a.params.bw - x0);
        pair    = gpume_pair(a.pairs, z);
        if (number < 0) {
            begin();
            finish(1);
        } else {
            pass(number);
        }
    }
};

/**
 * grid:   items: segments of a row, fields, rows, 1 + passes
 * block:  GPUME_CUDA_STEP_THREADS
 * shared: GPUME_CUDA_STEP_SHARED words
 */
GPUME_KERNEL_OF(GpumeCudaStepArgs, GPUME_CUDA_STEP_THREADS)
{
    GPUME_SHARED(GpumeU32, shared);

    gpume_make_tables(shared, args.params.pel);
    if (threadIdx.x == 0)
        shared[GPUME_TABLES] = atomicAdd((GpumeU32 *)args.ticket, 1);
    __syncthreads();

    GpumeStepItem<GpumeModuleCost, GPUME_CUDA_SIDE, GPUME_CUDA_VARIANT> item(args, shared);

    item.run(shared[GPUME_TABLES]);
}
