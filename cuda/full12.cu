/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of 4x4 samples of more than 10 bits. Samples are kept with 11 bits as well,
 * q(x) = clamp((x >> scale) - base, 0, 2047), scale and base being those that suit the tile's samples.
 *
 * Every candidate's sum of |q(a) - q(b)| is computed like costs of 10 bits, two samples at a time as half-precision
 * numbers. The sum of two differences may be 2048 or more: then the bits of the number are less than itself. As
 * clamping makes nothing but less, either, a candidate's cost is not below the sum * 2^scale less what the
 * block's samples may lack (limit_of()). A lane keeps the least sum of the group of candidates that it has at a time.
 * Then the candidate with the least one of all is evaluated, and after it all groups that have another whose bound is
 * not above the least cost so far: of a clip, or of noise, about one row of blocks in five has such a group.
 */

#include "libavfilter/gpume/cuda/full10.cuh"

#define SIDE GPUME_CUDA_SIDE
#define GPUME_NB_DX GPUME_CUDA_FULL10_DX
#define GPUME_NB_DY GPUME_CUDA_VARIANT
static_assert(GPUME_CUDA_COST == GPUME_COST_SAD && SIDE == 4, "its sums are made for that");

/** Candidates of a group. */
#define GPUME_GROUP (GPUME_NB_DX * GPUME_NB_DY)
/** Samples as numbers have this range, to leave some room around it. */
#define GPUME_Q_RANGE 1792
#define GPUME_Q_BITS  11
/** The sum of a candidate that is not admissible: above all others, which have 8 * 3071 at most. */
#define GPUME_INADMISSIBLE 0xffff0000u

/** A sample as a number, and what that is worth. */
struct GpumeScale {
    int scale, base;
    int shift;                  ///< of samples in the picture
    int clamps;                 ///< numbers may be out of range

    /** Returns two samples, below which there are so many bits, as numbers. */
    __device__ __forceinline__ GpumeU32 numbers(GpumeU32 two, int padding) const
    {
        return clamps ? number((two & 0xffff) >> (padding + scale)) | number(two >> (16 + padding + scale)) << 16 :
                        GpumeSample<GpumeU16>::right_justify(two, padding + scale);
    }

    __device__ __forceinline__ GpumeU32 number(GpumeU32 scaled) const
    {
        return gpume_max(0, gpume_min((int)scaled - base, (1 << GPUME_Q_BITS) - 1));
    }

    /** Of the picture. */
    __device__ __forceinline__ GpumeU32 operator()(GpumeU32 word) const
    {
        return numbers(word, shift);
    }
};

/** What a warp knows of its row of blocks, in shared memory: registers are for what every candidate needs. */
struct GpumeRowState {
    GpumeU64 best[GPUME_CUDA_FULL_TILE_WIDTH / SIDE];       ///< costs and orders, by block
    GpumeU64 data;              ///< device address of the reference's first sample
    long long linesize;
    GpumeU32 lacking[GPUME_CUDA_FULL_TILE_WIDTH / SIDE];    ///< what costs may lack to sums
    int x0, y0;                 ///< of its first sample
    int top, bottom;            ///< displacements that are admissible
    int inner;                  ///< below 0: not all of all columns are
    GpumeScale scale;
    int whole_words;            ///< samples of the reference can be read as such
    /* of the window that is there */
    int cy;                     ///< its first displacement
    int wide;                   ///< rounds of groups of GPUME_GROUP candidates
    int nb;                     ///< and of all
    int runs;                   ///< such groups lie in these
    int step_runs, step_places; ///< from round to round a member goes on by so many of them, and places in them
    int pairs;                  ///< groups of a single column
    int last_row;               ///< of the latter
    GpumeU32 reciprocal;        ///< of groups in a run
    GpumeU32 list[32];          ///< groups to be evaluated
    /** Least sums of a chunk: of so many rounds of every lane those of two blocks, then of the others. */
    GpumeU32 kept[GPUME_CUDA_FULL12_ROUNDS][GPUME_CUDA_FULL_TILE_WIDTH / SIDE / 2][32];
};
static_assert(sizeof(GpumeRowState) == 4 * GPUME_CUDA_FULL12_WARP_WORDS, "its room");

/** A group of candidates: side by side, a word from each other, and on top of each other; or only the latter. */
struct GpumeGroup {
    int dx, dy;                 ///< of the first one
    int single;
};

/** A group's least sums: of each block. */
struct GpumeLeast {
    GpumeU32 sum[GPUME_CUDA_FULL_TILE_WIDTH / SIDE];    ///< in the upper half
};

/**
 * A row of blocks, FULL_TILE_WIDTH samples wide, which is searched by a warp or by several. Lanes have a group of
 * candidates at a time. Of a chunk of as many rounds of that as there is room for, every group's least sums are kept.
 */
struct GpumeRow : GpumeHalfRow<SIDE> {
    const GpumeParams &p;
    const GpumeU32 *window;
    const GpumeU32 *samples;    ///< the row of blocks as it is
    GpumeRowState *state;
    int copy;                   ///< words from copy to copy of the window
    int lane, member, members;  ///< of the warp; and of all that have the row of blocks

    /** @param warps that have the row of blocks, this being one of them */
    __device__ __forceinline__
    GpumeRow(const GpumeCudaArgs &a, const GpumeU32 *of_window, const GpumeU32 *of_tile, const GpumeU32 *of_samples,
             GpumeRowState *own, int warp, int warps)
        : GpumeHalfRow<SIDE>(a, of_tile), p(a.params), window(of_window), samples(of_samples), state(own)
    {
        copy    = a.full.copy_words;
        lane    = threadIdx.x & 31;
        member  = warp * 32 + lane;
        members = warps * 32;
    }

    /**
     * Begins a row of blocks at (x, y) with the zero vector: from a lane's two samples of it, of the columns from
     * 2 * (lane % 8) on and line lane / 8, and of the reference.
     */
    __device__ __forceinline__ void
    begin(const GpumeCudaPlane &ref, const GpumeScale &scale, int x, int y, GpumeU32 two, GpumeU32 zero)
    {
        const int most  = (1 << scale.scale) - 1;
        const int first = two & most, second = two >> 16 & most, block = lane % 8 / (SIDE / 2);
        GpumeU32 cost = gpume_sad2(two, zero, 0);
        /* where the other one is greater, its lower bits may be 0, and ones where it is less */
        GpumeU32 lack = gpume_max(first, most - first) + gpume_max(second, most - second);

        static_assert(SIDE == 4, "a block is that of lanes which differ in these bits");
        GPUME_UNROLL for (int bit = 1; bit < 32; bit = bit == 1 ? 8 : 2 * bit) {
            cost += gpume_xor_lane(cost, bit);
            lack += gpume_xor_lane(lack, bit);
        }
        if (!(lane & 25)) {
            state->best[block]    = gpume_key(cost, 0);
            state->lacking[block] = lack;
        }
        if (!lane) {
            state->data        = ref.data;
            state->linesize    = ref.linesize;
            state->x0          = x;
            state->y0          = y;
            state->top         = gpume_min_displacement(p.range, y);
            state->bottom      = gpume_max_displacement(p.range, p.height, y + SIDE);
            state->scale       = scale;
            state->inner       = (x - p.range) | (p.width - GPUME_CUDA_FULL_TILE_WIDTH - x - p.range) |
                                 (p.range % GPUME_NB_DX ? -1 : 0);
            state->whole_words = !((ref.data | ref.linesize) & 3);
        }
        __syncwarp();
    }

    /** The block of a lane where eight evaluate one. */
    __device__ __forceinline__ int own_block() const
    {
        return lane / (32 / BLOCKS);
    }

    __device__ __forceinline__ GpumeU32 justified(GpumeU32 two) const
    {
        return GpumeSample<GpumeU16>::right_justify(two, p.shift);
    }

    /** Returns the sum below which that of a candidate of a block is which may be the best. */
    __device__ __forceinline__ GpumeU32 limit_of(int block) const
    {
        const GpumeU64 key = state->best[block];
        const GpumeU32 sum = ((GpumeU32)(key >> 32) + state->lacking[block]) >> state->scale.scale;

        /* nothing comes before the zero vector that costs nothing */
        return !key ? 0 : gpume_umin(0xffff, sum + 1);
    }

    /** Which group a member has in a round. */
    __device__ __forceinline__ GpumeGroup group(int round, int its) const
    {
        const int range = p.range;
        GpumeGroup g;

        g.single = round >= state->wide;
        if (g.single) {
            /* the last two again where there is one more */
            g.dx = range;
            g.dy = state->cy + gpume_min(2 * ((round - state->wide) * members + its), state->last_row);
        } else {
            const int i     = round * members + its;
            const int run   = GPUME_DIVIDE_LARGE(i, state->reciprocal);
            const int place = i - run * 2 * GPUME_CUDA_FULL10_COLUMNS(range);

            g.dx = GPUME_CUDA_FULL10_LEFT(range) + GPUME_NB_DX * (place & ~1) + (place & 1);
            g.dy = state->cy + run * GPUME_NB_DY;
        }
        return g;
    }

    /** The least sums of a group's candidates: of those that are admissible, if any may not be. */
    template<int EDGES, int NB_DX, int NB_DY>
    __device__ __forceinline__ void
    take_least(GpumeLeast *least, const GpumeU32 (&sum)[BLOCKS][NB_DX][NB_DY], const GpumeGroup &g) const
    {
        const int x0 = state->x0, top = state->top, bottom = state->bottom;

        GPUME_UNROLL for (int c = 0; c < BLOCKS; c++) {
            GpumeU32 its = ~0u;

            GPUME_UNROLL for (int k = 0; k < NB_DX; k++) {
                const int dx = g.dx + 2 * k;
                /* one condition: the compiler makes branches of several */
                const int across = (dx + p.range) | (p.range - dx) | (x0 + c * SIDE + dx) |
                                   (p.width - SIDE - x0 - c * SIDE - dx);
                const GpumeU32 out = EDGES && across < 0 ? GPUME_INADMISSIBLE : 0;

                GPUME_UNROLL for (int j = 0; j < NB_DY; j++) {
                    const int down = (g.dy + j - top) | (bottom - g.dy - j);
                    const GpumeU32 both = (sum[c][k][j] << 16) + sum[c][k][j];

                    its = gpume_umin(its, !EDGES ? both : both | out | (down < 0 ? GPUME_INADMISSIBLE : 0));
                }
            }
            least->sum[c] = its;
        }
    }

    /**
     * The least sums of the member's group in a round.
     * @param word that of the window at which the group begins; edges: some candidates may not be admissible
     */
    template<int NB_DX, int NB_DY>
    __device__ __forceinline__ void try_group(GpumeLeast *least, int word, int edges, int round) const
    {
        GpumeU32 sum[BLOCKS][NB_DX][NB_DY];

        this->template add_up<SIDE>(sum, window + word);
        if (edges)
            take_least<1>(least, sum, group(round, member));
        else
            take_least<0>(least, sum, GpumeGroup());
    }

    /** The cost and the order of a candidate of a block; ~0 if it is not admissible. */
    __device__ __forceinline__ GpumeU64 evaluate(int block, const GpumeVector &v) const
    {
        const int may = inside(block, v), dy = may ? v.dy : 0, x = state->x0 + block * SIDE + (may ? v.dx : 0);
        const long long linesize = state->linesize;
        const GpumeU8 *row  = (const GpumeU8 *)state->data + (state->y0 + dy) * linesize;
        const GpumeU32 *two = samples + block * (SIDE / 2);
        GpumeU32 cost = 0;

        if (state->whole_words && x + SIDE + 2 <= p.width) {
            GpumeU32 w[SIDE][SIDE / 2 + 1];

            /* together: they take their time */
            GPUME_UNROLL for (int y = 0; y < SIDE; y++)
                GPUME_UNROLL for (int c = 0; c <= SIDE / 2; c++)
                    gpume_load_global(&w[y][c], row + y * linesize + 2 * ((x & ~1) + 2 * c));
            GPUME_UNROLL for (int y = 0; y < SIDE; y++)
                GPUME_UNROLL for (int c = 0; c < SIDE / 2; c++)
                    cost = gpume_sad2(two[y * GPUME_CUDA_FULL_TILE_WIDTH / 2 + c],
                                      justified(gpume_funnel(w[y][c], w[y][c + 1], 16 * (x & 1))), cost);
        } else {
            GPUME_NO_UNROLL for (int i = 0; i < SIDE * SIDE / 2; i++) {
                const int y = i / (SIDE / 2), c = i % (SIDE / 2);

                cost = gpume_sad2(two[y * GPUME_CUDA_FULL_TILE_WIDTH / 2 + c],
                                  justified(gpume_load_two(state->whole_words, row + y * linesize, x + 2 * c, 2,
                                                           p.width)), cost);
            }
        }
        return may ? gpume_key(cost, gpume_order(p.range, v.dx, v.dy)) : ~0ull;
    }

    /** A group's candidate. */
    static __device__ __forceinline__ GpumeVector candidate_of(const GpumeGroup &g, int candidate)
    {
        GpumeVector v;

        v.dx = (short)(g.single ? g.dx : g.dx + 2 * (candidate % GPUME_NB_DX));
        v.dy = (short)(g.single ? g.dy + (candidate & 1) : g.dy + candidate / GPUME_NB_DX);
        return v;
    }

    /**
     * Evaluates the first groups of the list: of each which lane had it, from bit 5 on, in which round of the chunk,
     * from bit 2 on, and of which block.
     */
    __device__ __forceinline__ void evaluate_list(int first_round, int nb)
    {
        const GpumeU32 reciprocal = GPUME_RECIPROCAL(GPUME_GROUP);

        __syncwarp();
        GPUME_NO_UNROLL for (int at = 0; at < nb * GPUME_GROUP; at += 32) {
            /* the last one again where there are no more */
            const int i = gpume_min(at + lane, nb * GPUME_GROUP - 1);
            const int entry = GPUME_DIVIDE(i, reciprocal);
            const GpumeU32 which = state->list[entry];
            const int block = which & 3;
            const GpumeGroup g = group(first_round + (which >> 2 & 7), member - lane + (int)(which >> 5));
            const GpumeU64 key = evaluate(block, candidate_of(g, i - entry * GPUME_GROUP));
            GpumeU32 better = __ballot_sync(GPUME_WHOLE_WARP, key < state->best[block]);

            /* all have read what it was; one after the other: there are few */
            __syncwarp();
            for (; better; better &= better - 1) {
                if (lane == gpume_first_bit(better) && key < state->best[block])
                    state->best[block] = key;
                __syncwarp();
            }
        }
        __syncwarp();
    }

    /** Whether a candidate of a block is admissible. */
    __device__ __forceinline__ int inside(int block, const GpumeVector &v) const
    {
        const int x = state->x0 + block * SIDE + v.dx;

        return ((v.dx + p.range) | (p.range - v.dx) | (v.dy - state->top) | (state->bottom - v.dy) | x |
                (p.width - SIDE - x)) >= 0;
    }

    /** The sum of a candidate of a block, whose displacement is dx samples and dy rows from the window's first one. */
    __device__ __forceinline__ GpumeU32 sum_of(int block, int dx, int dy) const
    {
        const GpumeU32 *win = window + dy * pitch + (dx & 1) * copy + dx / 2 + block * (SIDE / 2);
        const GpumeU32 *its = tile + block * (SIDE / 2);
        GpumeU32 sum = 0;

        GPUME_UNROLL for (int y = 0; y < SIDE; y++)
            sum += gpume_add_absolute_halves(
                gpume_subtract_halves(win[y * pitch],     its[y * GPUME_CUDA_FULL_TILE_WIDTH / 2]),
                gpume_subtract_halves(win[y * pitch + 1], its[y * GPUME_CUDA_FULL_TILE_WIDTH / 2 + 1]));
        return (sum & 0xffff) + (sum >> 16);
    }

    /**
     * Evaluates the candidate with the least sum of all of each block, by its lanes.
     * @param key that of the lane's block: the sum, the lane that had it, the round
     * @return lanes for whose block its group has more to be evaluated
     */
    __device__ __forceinline__ GpumeU32 evaluate_likeliest(int first_round, GpumeU32 key, int have)
    {
        const int block = own_block(), own = lane % (32 / BLOCKS);
        const GpumeGroup g = group(first_round + (int)(key & 7), member - lane + (int)(key >> 3 & 31));
        GpumeU32 sum[2], least, cost;

        static_assert(SIDE * SIDE / 2 == 32 / BLOCKS && GPUME_GROUP <= 2 * 32 / BLOCKS, "lanes of a block");
        GPUME_UNROLL for (int i = 0; i < 2; i++) {
            const int candidate = own + i * (32 / BLOCKS);
            const GpumeVector v = candidate_of(g, candidate);

            sum[i] = have && candidate < GPUME_GROUP && inside(block, v) ?
                     sum_of(block, v.dx - GPUME_CUDA_FULL10_LEFT(p.range), v.dy - state->cy) << 16 | candidate : ~0u;
        }
        least = gpume_least<1, 32 / BLOCKS>(gpume_umin(sum[0], sum[1]));

        const GpumeVector v = candidate_of(g, least & 15);
        const int dx = have ? v.dx : 0, dy = have ? v.dy : 0, x = 2 * (own % 2), y = own / 2;
        const GpumeU8 *row = (const GpumeU8 *)state->data + (state->y0 + dy + y) * state->linesize;

        cost = gpume_sad2(samples[(y * GPUME_CUDA_FULL_TILE_WIDTH + block * SIDE + x) / 2],
                          justified(gpume_load_two(state->whole_words, row, state->x0 + block * SIDE + dx + x, 2,
                                                   p.width)), 0);
        GPUME_UNROLL for (int bit = 1; bit < 32 / BLOCKS; bit <<= 1)
            cost += gpume_xor_lane(cost, bit);
        /* all have read what it was */
        __syncwarp();
        if (have && !own) {
            const GpumeU64 its = gpume_key(cost, gpume_order(p.range, dx, dy));

            if (its < state->best[block])
                state->best[block] = its;
        }
        __syncwarp();

        const GpumeU32 limit = limit_of(block) << 16;

        return __ballot_sync(GPUME_WHOLE_WARP, (sum[0] < limit && sum[0] != least) ||
                                               (sum[1] < limit && sum[1] != least));
    }

    /** Evaluates what may be the best of a chunk. */
    __device__ __forceinline__ void evaluate_chunk(int first_round, int rounds)
    {
        GpumeU32 limit = limit_of(own_block()), its[GPUME_CUDA_FULL12_ROUNDS][BLOCKS / 2];
        GpumeU32 key[BLOCKS], have, mask = 0;

        GPUME_UNROLL for (int k = 0; k < BLOCKS; k++)
            key[k] = ~0u;
        GPUME_UNROLL for (int r = 0; r < GPUME_CUDA_FULL12_ROUNDS; r++)
            GPUME_UNROLL for (int k = 0; k < BLOCKS; k += 2)
                its[r][k / 2] = r < rounds ? state->kept[r][k / 2][lane] : ~0u;
        /* not all of them, where there are few */
        GPUME_UNROLL for (int first = 0; first < GPUME_CUDA_FULL12_ROUNDS; first += 4)
            if (first < rounds)
                GPUME_UNROLL for (int r = first; r < first + 4 && r < GPUME_CUDA_FULL12_ROUNDS; r++)
                    GPUME_UNROLL for (int k = 0; k < BLOCKS; k += 2) {
                        key[k]     = gpume_umin(key[k],     its[r][k / 2] << 16 | r);
                        key[k + 1] = gpume_umin(key[k + 1], (its[r][k / 2] & 0xffff0000) | r);
                    }
        GPUME_UNROLL for (int k = 0; k < BLOCKS; k++)
            key[k] |= lane << 3;
        /* to the lanes of its block each */
        gpume_share_out_least<BLOCKS, 16>(key, lane);
        key[0] = gpume_least<1, 32 / BLOCKS>(key[0]);
        have = __ballot_sync(GPUME_WHOLE_WARP, key[0] >> 16 < limit);
        if (!have)
            return;
        have = evaluate_likeliest(first_round, key[0], have >> lane & 1);

        /* what is left, but for groups that had only these */
        limit = limit_of(own_block());
        GPUME_UNROLL for (int k = 0; k < BLOCKS; k++) {
            const GpumeU32 most = gpume_of_lane(limit, 32 / BLOCKS * k);
            const GpumeU32 likeliest = gpume_of_lane(key[0], 32 / BLOCKS * k);

            GPUME_UNROLL for (int first = 0; first < GPUME_CUDA_FULL12_ROUNDS; first += 4)
                if (first < rounds)
                    GPUME_UNROLL for (int r = first; r < first + 4 && r < GPUME_CUDA_FULL12_ROUNDS; r++)
                        mask |= (k % 2 ? its[r][k / 2] : its[r][k / 2] << 16) < most << 16 ?
                                1u << (BLOCKS * r + k) : 0;
            if ((int)(likeliest >> 3 & 31) == lane && !(have >> 32 / BLOCKS * k & ((1u << 32 / BLOCKS) - 1)))
                mask &= ~(1u << (BLOCKS * (likeliest & 7) + k));
        }
        while ((have = __ballot_sync(GPUME_WHOLE_WARP, mask != 0))) {
            if (mask)
                state->list[gpume_popcount(have & ((1u << lane) - 1))] = lane << 5 | gpume_first_bit(mask);
            mask &= mask - 1;
            evaluate_list(first_round, gpume_popcount(have));
        }
    }

    /** Try the candidates of so many runs from displacement cy on, whose window is there. */
    __device__ __forceinline__ void try_runs(int cy, int runs)
    {
        const int in_run = 2 * GPUME_CUDA_FULL10_COLUMNS(p.range);
        const int rows  = runs * GPUME_NB_DY, units = in_run * runs;
        const int pairs = GPUME_CUDA_FULL10_SINGLE(p.range) ? (rows + 1) / 2 : 0;
        const int wide  = (units + members - 1) / members;

        if (!lane) {
            state->runs       = runs;
            state->pairs      = pairs;
            state->cy         = cy;
            state->step_runs  = members / in_run;
            state->step_places = members % in_run;
            state->wide       = wide;
            state->nb         = wide + (pairs + members - 1) / members;
            state->last_row   = rows - 2;
            state->reciprocal = GPUME_RECIPROCAL_LARGE(in_run);
        }
        __syncwarp();
        /* where the member's group is: in which run, and at which place of it */
        int run   = GPUME_DIVIDE_LARGE(member, state->reciprocal);
        int place = member - run * in_run;

        this->template load_piece<SIDE>(0);
        GPUME_NO_UNROLL for (int round = 0; round < state->nb; round++) {
            const int in_chunk = round % GPUME_CUDA_FULL12_ROUNDS;
            int have;
            GpumeLeast its;

            if (round >= state->wide) {
                const int pair = (round - state->wide) * members + member;

                have = pair < state->pairs;
                try_group<1, 2>(&its, gpume_min(2 * pair, state->last_row) * pitch + in_run / 2 * GPUME_NB_DX, 1,
                                round);
            } else {
                const int dy = state->cy + run * GPUME_NB_DY;
                const int edges = (dy - state->top) | (state->bottom - GPUME_NB_DY + 1 - dy) | state->inner;
                const int word  = run * GPUME_NB_DY * pitch + (place & 1) * copy + place / 2 * GPUME_NB_DX;

                have   = run < state->runs;
                run   += state->step_runs;
                place += state->step_places;
                if (place >= in_run) {
                    place -= in_run;
                    run++;
                }
                try_group<GPUME_NB_DX, GPUME_NB_DY>(&its, have ? word : 0, edges < 0, round);
            }
            GPUME_UNROLL for (int k = 0; k < BLOCKS; k += 2)
                state->kept[in_chunk][k / 2][lane] =
                    have ? its.sum[k] >> 16 | (its.sum[k + 1] & 0xffff0000) : ~0u;
            if (in_chunk == GPUME_CUDA_FULL12_ROUNDS - 1 || round + 1 == state->nb) {
                __syncwarp();
                evaluate_chunk(round - in_chunk, in_chunk + 1);
                /* again: it takes many registers to be filled */
                this->template load_piece<SIDE>(0);
            }
        }
    }
};

/** Returns how samples between these are made numbers. */
static __device__ __forceinline__ GpumeScale gpume_scale_of(const GpumeParams &p, GpumeU32 least, GpumeU32 most)
{
    GpumeScale to;

    gpume_fit_numbers<GPUME_Q_BITS>(p.depth, GPUME_Q_RANGE, least, most, &to.scale, &to.base);
    to.shift  = p.shift;
    to.clamps = p.depth - to.scale > GPUME_Q_BITS;
    return to;
}

/** Loads a lane's two samples of rows of blocks from (x0, y0) on; the last one again where there are no more. */
template<int N>
static __device__ __forceinline__ void
gpume_load_lane(GpumeU32 (&two)[N], const GpumeCudaPlane &plane, const GpumeParams &p, int x0, int y0, int rows)
{
    const int lane = threadIdx.x & 31;
    const GpumeU8 *at = (const GpumeU8 *)plane.data + (y0 + lane / 8) * plane.linesize + 2 * (x0 + 2 * (lane % 8));

    /* together: they take their time */
    if (!((plane.data | plane.linesize) & 3)) {
        GPUME_UNROLL for (int i = 0; i < N; i++)
            gpume_load_global(&two[i], at + gpume_min(i, rows - 1) * SIDE * plane.linesize);
    } else {
        GPUME_UNROLL for (int i = 0; i < N; i++) {
            const GpumeU8 *its = at + gpume_min(i, rows - 1) * SIDE * plane.linesize;

            two[i] = gpume_load<GpumeU16>(its, 2, its + 4);
        }
    }
    GPUME_UNROLL for (int i = 0; i < N; i++)
        two[i] = GpumeSample<GpumeU16>::right_justify(two[i], p.shift);
}

/** Every warp begins with its row of blocks, if it has one. All know how samples of the tile are made numbers. */
static __device__ __forceinline__ void
gpume_begin(const GpumeCudaArgs &a, const GpumeCudaPlane &ref, GpumeRow *its, GpumeU32 *samples, GpumeU32 *tile,
            int x0, int y0, int row, int rows)
{
    static_assert(GPUME_CUDA_FULL_TILE_WIDTH / 2 * SIDE == 32, "a row of blocks is a warp's");
    const GpumeParams &p = a.params;
    GpumeU32 two[GPUME_CUDA_FULL10_WARPS], zero[1], least = ~0u, most = 0, own = 0;

    /* by each warp on its own: they need not wait for each other */
    gpume_load_lane(two, a.cur, p, x0, y0, rows);
    gpume_load_lane(zero, ref, p, x0, y0 + gpume_min(row, rows - 1) * SIDE, 1);
    GPUME_UNROLL for (int i = 0; i < GPUME_CUDA_FULL10_WARPS; i++) {
        least = gpume_umin(least, gpume_umin(two[i] & 0xffff, two[i] >> 16));
        most  = gpume_umax(most,  gpume_umax(two[i] & 0xffff, two[i] >> 16));
        own   = i == row ? two[i] : own;
    }
    least =  gpume_least<1, 32>(least);
    most  = ~gpume_least<1, 32>(~most);
    if (row >= rows)
        return;

    const GpumeScale scale = gpume_scale_of(p, least, most);

    if (its->member < 32) {
        samples[its->lane] = own;
        tile[its->lane]    = scale.numbers(own, 0);
    }
    its->begin(ref, scale, x0, y0 + row * SIDE, own, zero[0]);
}

/** All threads search so many rows of blocks. */
static __device__ __forceinline__ void
gpume_search_rows(const GpumeCudaArgs &a, GpumeU32 *shared, int x0, int y0, int rows)
{
    const GpumeParams &p = a.params;
    const GpumeCudaPlane ref = gpume_field(a, blockIdx.z).plane;
    const int split = a.full.split;             // warps with a row of blocks
    const int warp  = threadIdx.x / 32, row = warp / split;
    const int words = GPUME_CUDA_FULL_TILE_WIDTH / 2 * SIDE;    // of a row of blocks
    GpumeRowState *states = (GpumeRowState *)(shared + a.full.shared_words +
                                              2 * words * GPUME_CUDA_FULL10_WARPS / split);
    GpumeU32 *samples = shared + a.full.shared_words + row * 2 * words, *tile = samples + words;
    const int lines   = rows * SIDE;
    const int min_dy  = gpume_min_displacement(p.range, y0 + lines - SIDE);
    const int max_dy  = gpume_max_displacement(p.range, p.height, y0 + SIDE);
    GpumeRow its(a, shared + row * SIDE * GPUME_CUDA_FULL10_PITCH(a.full.copy_words), tile, samples, states + warp,
                 warp - row * split, split);

    gpume_begin(a, ref, &its, samples, tile, x0, y0, row, rows);
    GPUME_NO_UNROLL for (int cy = min_dy; cy <= max_dy; cy += a.full.runs * GPUME_NB_DY) {
        const int runs = gpume_min(a.full.runs, (max_dy - cy) / GPUME_NB_DY + 1);

        __syncthreads();

        const GpumeScale numbers = states->scale;

        gpume_load_window<GpumeU16>(a, ref, shared, its.pitch, x0 + GPUME_CUDA_FULL10_LEFT(p.range), y0 + cy,
                                    GPUME_CUDA_FULL10_WORDS(p.range), runs * GPUME_NB_DY + lines - 1, numbers);
        __syncthreads();
        if (row < rows)
            its.try_runs(cy, runs);
    }

    __syncthreads();
    if (threadIdx.x >= rows * GpumeRow::BLOCKS)
        return;

    const int k = threadIdx.x % GpumeRow::BLOCKS, by = threadIdx.x / GpumeRow::BLOCKS;
    const int x = x0 / SIDE + k, y = y0 / SIDE + by;
    GpumeU64 key = ~0ull;

    /* the least of all its warps' */
    for (int i = by * split; i < (by + 1) * split; i++)
        key = states[i].best[k] < key ? states[i].best[k] : key;

    const GpumeVector v = gpume_vector_of_order(p.range, (int)(GpumeU32)key);

    gpume_store(a, gpume_box(&p, SIDE, x, y), blockIdx.z, x, y, v.dx, v.dy, (GpumeU32)(key >> 32));
}

/**
 * Range up to GPUME_CUDA_FULL_MAX_RANGE. A block of threads has rows of blocks, FULL_TILE_WIDTH samples wide, each of
 * which has split warps.
 *
 * grid:   tiles side by side, on top of each other, fields
 * block:  GPUME_CUDA_FULL10_WARPS
 * shared: as full10 has it, but that the tile is there twice; then GPUME_CUDA_FULL12_WARP_WORDS of each warp
 */
GPUME_KERNEL(32 * GPUME_CUDA_FULL10_WARPS, 4)
{
    GPUME_SHARED(GpumeU32, shared);

    const GpumeCudaArgs &a = args;
    const int down = blockDim.x / 32 / a.full.split;
    const int x0   = blockIdx.x * GPUME_CUDA_FULL_TILE_WIDTH, by = blockIdx.y * down, y0 = by * SIDE;
    const int rows = x0 + GPUME_CUDA_FULL_TILE_WIDTH > a.params.width ? 0 :
                     gpume_min(a.params.height - y0, down * SIDE) / SIDE;

    if (rows > 0)
        gpume_search_rows(a, shared, x0, y0, rows);
    /* the right and the bottom edge cut blocks and tiles */
    for (int y = by + rows; y < by + down && y < a.params.bh; y++)
        for (int x = x0 / SIDE; x < (x0 + GPUME_CUDA_FULL_TILE_WIDTH) / SIDE && x < a.params.bw; x++)
            gpume_search_any<GpumeModuleCost>(a, shared, x, y, blockIdx.z);
}
