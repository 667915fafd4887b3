/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * A step of a plan: its initial vectors and its passes. The variant is whether vectors are subpel.
 *
 * A launch computes a whole step. Warps take their work by tickets, phase after phase, so every
 * block that is waited for has begun, or its ticket belongs to a warp that does not wait for later
 * tickets. A block waits for its neighbours. It needs the vector
 * of each neighbour, which is in one word with the phase of that neighbour's last visit. A thread
 * that sees the phase also sees the vector, so no fence is needed. A neighbour's next visit waits
 * for the visit of this block, so no word is overwritten before it has been read.
 *
 * A block whose vector has not changed since its last visit, and whose neighbours' vectors have not
 * changed, would choose the same vector again, so it is skipped.
 */

#include "libavfilter/gpume/cuda/motion.cuh"
#include "libavfilter/gpume/core/plan.h"

/** J, reduced to fit, and an order in 32 bits, for blocks of up to 16. */
template<int SIDE> struct GpumeStepKey    { typedef GpumeU32 Key; };
template<>         struct GpumeStepKey<0> { typedef GpumeU64 Key; };

/** Orders of candidates. */
#define GPUME_STEP_ORDERS 32

/** A field of a step, and what is stored for its blocks. */
struct GpumeStepField {
    const GpumeCudaStepArgs &a;
    GpumeCudaPair pair;
    GpumeU32 base;                          ///< index of the field's first block

    __device__ __forceinline__ GpumeStepField(const GpumeCudaStepArgs &args, int z)
        : a(args), pair(gpume_pair(args.pairs, z)), base((GpumeU32)z * args.params.bh * args.params.bw)
    {
    }

    /** Stores the result of a block after its last visit. @param at index of the block in all fields */
    __device__ __forceinline__ void store(GpumeU32 at, GpumeU32 vector, GpumeU32 cost)
    {
        ((GpumeU32 *)a.vectors)[at] = vector;
        ((GpumeU32 *)a.costs)[at]   = cost;
    }

    /** Stores a block's state. @param visited, changed phases of the last visit and of the last change */
    __device__ __forceinline__ void store_state(GpumeU32 at, GpumeU32 vector, GpumeU32 visited, GpumeU32 changed)
    {
        gpume_store_volatile((GpumeU64 *)a.states + at, gpume_key(visited | changed << 16, vector));
    }

    __device__ __forceinline__ void store_cost(GpumeU32 at, GpumeU32 cost, GpumeU32 changed)
    {
        gpume_store_volatile((GpumeU64 *)a.known + at, gpume_key(changed, cost));
    }

    /** Stores the initial vector of a block. */
    __device__ __forceinline__ void store_first(GpumeU32 at, GpumeU32 vector, GpumeU32 cost)
    {
        if (a.nb_passes) {
            store_state(at, vector, a.first, a.first);
            store_cost(at, cost, a.first);
        } else {
            store(at, vector, cost);
        }
    }

    /** Keeps the vector of a block. */
    __device__ __forceinline__ void keep(GpumeU32 at)
    {
        const GpumeVector v = gpume_of_word(((const GpumeU32 *)a.from_vectors)[at]);

        store_first(at, gpume_vector_of(v.dx * a.factor, v.dy * a.factor), ((const GpumeU32 *)a.from_costs)[at]);
    }
};

/** The initial vectors of blocks: several lanes of a warp have candidates of a block. */
template<class Cost, int SIDE, int PARTS>
struct GpumeStepBeginning : GpumeStepField {
    typedef GpumeMatcher<Cost, SIDE, PARTS> Matcher;
    /** Number of candidates of a block that are tested at a time, and of blocks of a warp. */
    static const int BEGINNERS = GPUME_CUDA_STEP_BEGINNERS;
    static const int BEGINNING = 32 / GPUME_CUDA_STEP_BEGIN_LANES(SIDE, GPUME_CUDA_COST);

    const GpumeU32 from_base;               ///< index of the first block of the field with which the step begins

    __device__ __forceinline__ GpumeStepBeginning(const GpumeCudaStepArgs &args, int z)
        : GpumeStepField(args, z), from_base((GpumeU32)z * args.from_bh * args.from_bw)
    {
    }

    /**
     * Finds the best of all admissible candidates, zero first, for blocks that want it. A lane has a candidate or a
     * part of one.
     */
    __device__ __forceinline__ GpumeU64 try_all(const Matcher &m, const GpumeBox &b, int wanted)
    {
        const int nx = b.max_dx - b.min_dx + 1;
        const int nb = wanted ? nx * (b.max_dy - b.min_dy + 1) : -1;
        GpumeU64 best = ~(GpumeU64)0;

        /* all lanes repeat equally often; 0 is the zero vector, the others follow in raster order */
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

    /** Sets the position of block i of the previous field from which a block begins. Returns whether it exists. */
    __device__ __forceinline__ int from_place(int i, int *x, int *y) const
    {
        if (a.begin != GPUME_BEGIN_SMALLER)
            return gpume_parent(i, x, y, a.from_bw, a.from_bh);
        *x = 2 * *x + (i & 1);
        *y = 2 * *y + (i >> 1);
        return *x < a.from_bw && *y < a.from_bh;
    }

    /** Sets the vector of such a block, or zero. Returns whether it is admissible. */
    __device__ __forceinline__ int from_block(int i, int x, int y, const GpumeBox &b, GpumeU32 *word)
    {
        const int pel = a.params.pel;
        int valid = i == 4;
        GpumeVector v = { 0, 0 };

        if (i < 4 && from_place(i, &x, &y)) {
            v = gpume_of_word(((const GpumeU32 *)a.from_vectors)
                              [from_base + y * a.from_bw + x]);
            valid = v.dx * a.factor >= b.min_dx * pel && v.dx * a.factor <= b.max_dx * pel &&
                    v.dy * a.factor >= b.min_dy * pel && v.dy * a.factor <= b.max_dy * pel;
        }
        *word = gpume_vector_of(v.dx * a.factor, v.dy * a.factor);
        return valid;
    }

    /**
     * Finds the initial vector of a block, except for GPUME_BEGIN_KEEP. All lanes call it, also
     * those without a block.
     */
    __device__ __forceinline__ void begin(int bx, int by, int active)
    {
        const int c = threadIdx.x % BEGINNERS;
        const GpumeBox b = gpume_box(&a.params, a.params.block, bx, by);
        const Matcher m = gpume_matcher<Matcher>(a, pair, b);
        GpumeU64 key = ~(GpumeU64)0;
        GpumeU32 word = 0;
        int all = a.begin == GPUME_BEGIN_FULL;

        if (!all) {
            const int lane = threadIdx.x & (32 - BEGINNERS);
            int valid = from_block(c, bx, by, b, &word) && active;
            const GpumeU32 others = __ballot_sync(GPUME_WHOLE_WARP, valid && c < 4);

            /* zero is no candidate if there are vectors of the same picture */
            if (!gpume_doubles(a.begin) && c == 4 && others >> lane & 15)
                valid = 0;

            const GpumeVector v = gpume_of_word(word);
            const GpumeU32 cost = m.cost(v.dx, v.dy, valid, ~0u);

            key  = gpume_least<1, BEGINNERS>(valid ? gpume_key(cost, c) : ~(GpumeU64)0);
            word = gpume_of_lane(word, lane + (int)((GpumeU32)key & (BEGINNERS - 1)));
            all  = a.begin == GPUME_BEGIN_WIDE && active &&
                   gpume_global_doubtful((unsigned)(key >> 32), b.w, b.h, a.params.depth);
        }
        if (__any_sync(GPUME_WHOLE_WARP, all)) {
            const GpumeBox near = gpume_box_within(b, a.begin == GPUME_BEGIN_FULL ? a.params.range : GPUME_WIDE_RANGE);
            const int nx = near.max_dx - near.min_dx + 1;
            const GpumeU64 found = try_all(m, near, all);
            const int order = (int)(GpumeU32)found - 1;

            if (a.begin == GPUME_BEGIN_FULL || (all && found >> 32 < gpume_wide_limit((unsigned)(key >> 32)))) {
                key  = found;
                word = order < 0 ? 0 : gpume_vector_of(near.min_dx + order % nx, near.min_dy + order / nx);
            }
        }
        if (c == 0 && active && threadIdx.x % 32 < BEGINNERS * BEGINNING)
            store_first(base + by * a.params.bw + bx, word, (GpumeU32)(key >> 32));
    }

    /** Runs a warp's share of a row of blocks. @param i index of the warp in this row */
    __device__ __forceinline__ void run(int row, int i)
    {
        const int last = a.params.bw - 1;

        if (a.begin == GPUME_BEGIN_KEEP) {
            if ((int)(i * 32 + threadIdx.x % 32) <= last)
                keep(base + row * a.params.bw + i * 32 + threadIdx.x % 32);
        } else {
            const int bx = i * BEGINNING + threadIdx.x / BEGINNERS % BEGINNING;

            begin(gpume_min(bx, last), row, bx <= last);
        }
    }
};

/** A visit of blocks in a phase of a pass. */
template<class Cost, int SIDE, int PARTS>
struct GpumeStepVisit : GpumeStepField {
    typedef GpumeMatcher<Cost, SIDE, PARTS> Matcher;
    typedef typename GpumeStepKey<SIDE>::Key Key;
    static const int LANES = GPUME_CUDA_STEP_LANES(SIDE);
    static const int REMEMBERS = GPUME_CUDA_STEP_REMEMBERS(SIDE, PARTS);

    using GpumeStepField::GpumeStepField;

    /**
     * Converts bounds for the vectors around the current vector into bounds for those around the
     * next vector.
     * @param bound bound of the lane's candidate
     * @param cost  cost of the current vector
     * @param x, y  the lane's offset
     */
    static __device__ __forceinline__ GpumeU32
    move_bound(GpumeU32 bound, GpumeU32 cost, GpumeVector own, GpumeVector next, int x, int y)
    {
        const int dx = x + next.dx - own.dx + 1, dy = y + next.dy - own.dy + 1;
        const int near = (unsigned)dx < 3 && (unsigned)dy < 3, place = near ? 3 * dy + dx : 0;
        const GpumeU32 other = gpume_of_lane(bound, (threadIdx.x & 16) + 8 + place - (place > 4));

        return !near ? 0 : place == 4 ? cost : other;
    }

    /**
     * Searches a block. All lanes of a group call it, also groups without a block.
     * @param exists     bit mask of the neighbours that exist
     * @param x, y       offset of the lane's neighbour, or of its vector around the current one
     * @param other_word vector of the neighbour, or the current vector
     * @param best, best_cost current vector and its cost; set to the new vector and cost
     * @param bound lower bound of the cost of the lane's candidate; is updated
     * @return whether the vector has changed
     */
    __device__ __forceinline__ int choose(int bx, int by, int active, GpumeU32 exists, int x, int y,
                                          GpumeU32 other_word, GpumeU32 *best, GpumeU32 *best_cost, GpumeU32 *bound)
    {
        const GpumeBox b = gpume_box(&a.params, a.params.block, bx, by);
        Matcher m = gpume_matcher<Matcher>(a, pair, b);
        const unsigned factor = gpume_penalty_factor(a.params.smooth, a.params.block);
        const int nb  = gpume_popcount(exists);
        const int pel = a.params.pel;
        const int c   = threadIdx.x % GPUME_CUDA_STEP_CANDIDATES;
        const GpumeU32 reciprocal = gpume_penalty_reciprocal(nb);
        const GpumeU32 own_word = *best, own_cost = *best_cost;
        const GpumeVector own = gpume_of_word(own_word);
        GpumeVector v = gpume_of_word(other_word);
        GpumeU32 word, penalty, own_j, cost, distance;
        unsigned sum, own_sum;
        int wanted = active && (c > 7 || exists >> c & 1), same = 0;

        m.is_visit = 1;
        if (c > 7) {
            v.dx = (short)(own.dx + x);
            v.dy = (short)(own.dy + y);
        }
        word     = gpume_vector_of(v.dx, v.dy);
        distance = gpume_umin(gpume_distance(v, own), a.threshold);
        /* lanes of missing neighbours have the block's own vector */
        own_sum  = c > 7 ? 0 : distance;
        sum      = (nb - 8) * distance;
        GPUME_UNROLL for (int j = 0; j < 8; j++) {
            const GpumeU32 neighbour = gpume_of_lane(other_word, (threadIdx.x & 16) + j);

            sum += gpume_umin(gpume_distance(v, gpume_of_word(neighbour)), a.threshold);
            if (SIDE != 4)          // for blocks of 4, evaluating duplicates is cheaper than finding them
                same |= neighbour == word && j < c;
        }
        GPUME_UNROLL for (int bit = 1; bit < 16; bit <<= 1)
            own_sum += __shfl_xor_sync(GPUME_WHOLE_WARP, own_sum, bit);
        penalty = gpume_penalty_of(factor, sum, reciprocal, pel, a.params.depth);
        own_j   = own_cost + gpume_penalty_of(factor, own_sum, reciprocal, pel, a.params.depth);
        wanted &= penalty + *bound < own_j && word != own_word && !same &&
                  v.dx >= b.min_dx * pel && v.dx <= b.max_dx * pel &&
                  v.dy >= b.min_dy * pel && v.dy <= b.max_dy * pel;

        cost = m.cost(v.dx, v.dy, wanted, own_j - penalty);
        const Key own_key = (Key)own_j * GPUME_STEP_ORDERS;
        const Key key = gpume_least<1, 16>(wanted ? (Key)(cost + penalty) * GPUME_STEP_ORDERS + c : ~(Key)0);

        const int changed = active && key < own_key;

        *bound = wanted ? cost : *bound;
        word = gpume_of_lane(word, (threadIdx.x & 16) + (int)(key & 15));
        cost = gpume_of_lane(cost, (threadIdx.x & 16) + (int)(key & 15));
        *best      = changed ? word : own_word;
        *best_cost = changed ? cost : own_cost;
        if (REMEMBERS && __any_sync(GPUME_WHOLE_WARP, changed)) {
            const GpumeU32 moved = move_bound(*bound, own_cost, own, gpume_of_word(word), x, y);

            *bound = changed && c >= 8 ? moved : *bound;
        }
        return changed;
    }

    /** Returns the phase of the last visit of a block that is visited this many phases later in a pass. */
    __device__ __forceinline__ GpumeU32 visited(int now, int later) const
    {
        return a.first + gpume_max(now + later - (later < 0 ? 0 : GPUME_NB_PHASES), 0);
    }

    /**
     * Visits a block. All lanes of a group call it, also groups without a block.
     * @param now number of the phase, from 1 on
     */
    __device__ __forceinline__ void visit(int bx, int by, int active, int now)
    {
        const int bw = a.params.bw, bh = a.params.bh;
        const int c  = threadIdx.x % GPUME_CUDA_STEP_CANDIDATES;    // the lane's candidate
        const int own_lane = (threadIdx.x & 16) + 8;
        const GpumeU32 at = base + by * bw + bx, phase = a.first + now;
        int x, y, there = !active;

        gpume_around(c & 7, &x, &y);
        const int has = (unsigned)(bx + x) < (unsigned)bw && (unsigned)(by + y) < (unsigned)bh;
        const int is_other = c < 8 && has;
        /* state: that of the neighbour, or of the block itself; later: how many phases later in a pass
         * (earlier, if negative) the neighbour is visited */
        const GpumeU64 *const state = (const GpumeU64 *)a.states + (at + (is_other ? y * bw + x : 0));
        const GpumeU64 *const own_cost_at = (const GpumeU64 *)a.known + at;
        const int mine  = (now - 1) % GPUME_NB_PHASES;
        const int later = is_other ? (mine ^ ((x & 1) | (y & 1) << 1)) - mine : 0;
        GpumeU32 *const bound_at = (GpumeU32 *)a.bounds + (at * GPUME_CUDA_STEP_CANDIDATES + c);
        GpumeU64 known = there ? 0 : gpume_load_volatile(own_cost_at), seen = 0;
        GpumeU32 bound = REMEMBERS && now > GPUME_NB_PHASES && active ? gpume_load_volatile(bound_at) : 0;

        GPUME_NO_UNROLL do {
            if (!there) {
                seen  = gpume_load_volatile(state);
                there = ((GpumeU32)(seen >> 32) & 0xffff) == visited(now, later);
            }
        } while (__any_sync(GPUME_WHOLE_WARP, !there));

        const GpumeU32 other_word = (GpumeU32)seen, stamp = (GpumeU32)(seen >> 48);
        const GpumeU32 own_word   = gpume_of_lane(other_word, own_lane);
        const GpumeU32 own_stamp  = gpume_of_lane(stamp, own_lane);
        const GpumeU32 changes = __ballot_sync(GPUME_WHOLE_WARP, active && stamp + GPUME_NB_PHASES >= phase);
        const GpumeU32 exists  = __ballot_sync(GPUME_WHOLE_WARP, has) >> (threadIdx.x & 16) & 0xff;
        GpumeU32 word = own_word, cost = 0;
        int changed = 0;

        GPUME_NO_UNROLL while (__any_sync(GPUME_WHOLE_WARP, active && (GpumeU32)(known >> 32) != own_stamp))
            known = gpume_load_volatile(own_cost_at);
        cost = (GpumeU32)known;
        if (changes) {
            const int searched = active && (changes >> (threadIdx.x & 16) & 0xffff);

            /* bound of the neighbour's vector, or of a vector around the block's own */
            bound   = bound >> 16 >= stamp ? (bound & 0xffff) << a.bound_shift : 0;
            changed = choose(bx, by, searched, exists, x, y, other_word, &word, &cost, &bound);
            if (REMEMBERS && searched && threadIdx.x % LANES < GPUME_CUDA_STEP_CANDIDATES &&
                now <= GPUME_NB_PHASES * (a.nb_passes - 1))
                gpume_store_volatile(bound_at, gpume_umin(bound >> a.bound_shift, 0xffff) | phase << 16);
        }
        if (threadIdx.x % LANES == 0 && active) {
            store_state(at, word, phase, changed ? phase : own_stamp);
            if (changed)
                store_cost(at, cost, phase);
            if (now > GPUME_NB_PHASES * (a.nb_passes - 1))
                store(at, word, cost);
        }
    }

    /**
     * Decides whether a block must be searched; each lane has one. If not, ends the visit of the block: a block around
     * which nothing has changed keeps its vector.
     */
    __device__ __forceinline__ int decide(int bx, int by, int active, int now)
    {
        const int bw = a.params.bw, bh = a.params.bh, mine = (now - 1) % GPUME_NB_PHASES;
        const GpumeU32 at = base + by * bw + bx, phase = a.first + now;
        const GpumeU64 *const state = (const GpumeU64 *)a.states + at;
        GpumeU64 own = 0, known;
        int there, changes;

        GPUME_NO_UNROLL do {
            there   = 1;
            changes = 0;
            GPUME_UNROLL for (int i = 0; i < 9; i++) {
                const int x = i % 3 - 1, y = i / 3 - 1;
                const int has = (unsigned)(bx + x) < (unsigned)bw && (unsigned)(by + y) < (unsigned)bh;
                const int later = (mine ^ ((x & 1) | (y & 1) << 1)) - mine;
                const GpumeU64 seen = gpume_load_volatile(state + (has ? y * bw + x : 0));

                own      = i == 4 ? seen : own;
                there   &= !has || ((GpumeU32)(seen >> 32) & 0xffff) == visited(now, later);
                changes |= has && (GpumeU32)(seen >> 48) + GPUME_NB_PHASES >= phase;
            }
        } while (__any_sync(GPUME_WHOLE_WARP, active && !there));
        if (changes || !active)
            return active;
        store_state(at, (GpumeU32)own, phase, (GpumeU32)(own >> 48));
        if (now > GPUME_NB_PHASES * (a.nb_passes - 1)) {
            do
                known = gpume_load_volatile((const GpumeU64 *)a.known + at);
            while (known >> 32 != own >> 48);
            store(at, (GpumeU32)own, (GpumeU32)known);
        }
        return 0;
    }

    /**
     * Runs a warp's share of a phase.
     * @param row row of blocks in the phase
     * @param i   index of the warp in this row
     */
    __device__ __forceinline__ void run(int now, int row, int i)
    {
        /* gpume_phase_column() and gpume_phase_row(), in a form that needs fewer registers */
        const int last = a.params.bw - 1, column = (now - 1) & 1;
        const int by = 2 * row + ((now - 1) >> 1 & 1), end = (last - column) / 2 * 2 + column;
        const int group = threadIdx.x % 32 / LANES;

        if (!GPUME_CUDA_STEP_DECIDES(SIDE) || !a.decides) {
            const int bx = (i * (32 / LANES) + group) * 2 + column;

            visit(gpume_min(bx, end), by, bx <= last, now);
            return;
        }

        const int first = 32 * i, bx = (first + (int)(threadIdx.x % 32)) * 2 + column;
        GpumeU32 left = __ballot_sync(GPUME_WHOLE_WARP, decide(gpume_min(bx, end), by, bx <= last, now));

        GPUME_NO_UNROLL while (left) {
            const GpumeU32 others = left & (left - 1);
            const int which = gpume_first_bit(group && others ? others : left);

            visit((first + which) * 2 + column, by, !group || others, now);
            left = others & (others - 1);
        }
    }
};

/** Takes a ticket. Lane 0 gets it. */
static __device__ __forceinline__ GpumeU32 gpume_take_ticket(const GpumeCudaStepArgs &args)
{
#ifdef GPUME_HOST
    return threadIdx.x % 32 ? 0 : atomicAdd((unsigned *)args.ticket, 1);
#else
    GpumeU32 ticket;

    /* 1 for lane 0. With a constant, the driver's compiler would add up all lanes, and would wait for the result. */
    asm volatile("{\n"
                 ".reg .pred first;\n"
                 ".reg .u32 lane, one;\n"
                 "mov.u32 lane, %%laneid;\n"
                 "add.u32 one, lane, 1;\n"
                 "setp.eq.u32 first, lane, 0;\n"
                 "@first atom.global.add.u32 %0, [%1], one;\n"
                 "}"
                 : "=r"(ticket) : "l"(args.ticket) : "memory");
    return ticket;
#endif
}

/**
 * grid:   thread blocks whose warps take all tickets, GpumeCudaStepArgs.nb_of_warp each
 * block:  GPUME_CUDA_STEP_THREADS
 * shared: a byte for each thread
 */
GPUME_KERNEL_OF(GpumeCudaStepArgs, GPUME_CUDA_STEP_THREADS,
                GPUME_CUDA_STEP_CTAS(GPUME_CUDA_SIDE, GPUME_CUDA_VARIANT, GPUME_CUDA_DEPTH))
{
    GpumeU32 next = gpume_take_ticket(args), first = 0, end = 0;
    int now = -1, rows = 0;

    GPUME_NO_UNROLL for (int n = args.nb_of_warp; n; n--) {
        const GpumeU32 ticket = gpume_of_lane(next, 0);

        if (ticket >= args.nb_tickets)
            return;
        GPUME_NO_UNROLL while (ticket >= end) {
            now++;
            first = end;
            end  += args.tickets[now ? (now - 1) % GPUME_NB_PHASES + 1 : 0];
            rows  = now ? gpume_phase_size(args.params.bh, gpume_phase_row(now)) : args.params.bh;
        }
        /* takes the next ticket before this one is done, because that takes as long as a load */
        if (n > 1)
            next = gpume_take_ticket(args);

        const int kind   = now ? 1 + gpume_phase_column(now) : 0;
        const int warps  = args.warps[kind];
        const int rounds = args.rounds[now ? 1 : 0];
        const GpumeU32 unit = (ticket - first) * rounds;
        /* the quotient may be too small by 1 */
        int row  = (int)gpume_multiply_high(unit, args.reciprocals[kind]), z = 0;
        int warp = (int)unit - row * warps;

        GPUME_NO_UNROLL for (int i = 0; i < rounds; i++, warp++) {
            if (warp >= warps) {
                warp -= warps;
                row++;
            }
            if (row >= rows) {
                row -= rows;
                z++;
            }
            /* a phase's last ticket may have fewer units */
            if (z >= args.nb_fields)
                break;
            if (now)
                GpumeStepVisit<GpumeModuleCost, GPUME_CUDA_SIDE, GPUME_CUDA_VARIANT>(args, z).run(now, row, warp);
            else
                GpumeStepBeginning<GpumeModuleCost, GPUME_CUDA_SIDE, GPUME_CUDA_VARIANT>(args, z).run(row, warp);
        }
    }
}
