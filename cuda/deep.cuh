/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of samples of more than 8 bits. Samples are kept as bytes as well,
 * q(x) = clamp((x >> scale) - base, 0, 255), scale and base being those that suit the tile's samples.
 * |a - b| >= |q(a) - q(b)| * 2^scale - (2^scale - 1), as clamping makes nothing but less of it. So the sums of
 * absolute differences of bytes, which take one instruction for four samples, bound the cost of every candidate, and
 * only those whose bound is not above the least cost so far are evaluated: first the one with the least bound.
 * Where a tile's samples are much alike, and all bounds are small, the scale is small as well.
 */

#ifndef AVFILTER_GPUME_CUDA_DEEP_CUH
#define AVFILTER_GPUME_CUDA_DEEP_CUH

#include "libavfilter/gpume/cuda/full.cuh"

/** Samples may have this range as bytes, to leave room around it. */
#define GPUME_DEEP_Q_RANGE 208

/**
 * Adds up over lanes that differ in some bits, of which there are as many values as of their combinations: in the end a
 * lane has one of them, value[0]; lanes keep a half of the values each time.
 */
template<int NB, int BIT>
static __device__ __forceinline__ void gpume_share_out(GpumeU32 (&value)[NB], int lane)
{
    GPUME_UNROLL for (int nb = NB / 2, bit = BIT; nb; nb /= 2, bit /= 2)
        GPUME_UNROLL for (int i = 0; i < nb; i++) {
            const GpumeU32 kept = lane & bit ? value[i + nb] : value[i];

            value[i] = kept + gpume_xor_lane(lane & bit ? value[i] : value[i + nb], bit);
        }
}

/**
 * A tile of the picture, FULL_TILE_WIDTH samples wide, which holds PARTS rows of blocks of SIDE x
 * HEIGHT samples. Warps share the candidates and the rows among themselves. A thread has
 * one horizontal and NB_ROWS consecutive vertical displacements, as in GpumeTile; bounds are
 * summed up from below zero on, so that a negative one is that of a candidate to be evaluated.
 */
template<int SIDE, int HEIGHT, int NB_ROWS>
struct GpumeDeepTile {
    static const int WORDS  = GPUME_CUDA_FULL_TILE_WIDTH / 4;
    static const int BLOCKS = GPUME_CUDA_FULL_TILE_WIDTH / SIDE;    ///< in a row
    static const int PARTS  = GPUME_CUDA_DEEP_PARTS(SIDE);
    /** Lanes that evaluate a candidate: a word of two samples of a row each, of so many rows at a time. */
    static const int LANES  = SIDE == 4 ? 8 : 32;
    static const int ROWS   = LANES / (SIDE / 2);
    /** Times that the likeliest candidates of a warp are evaluated; then it is quicker to evaluate all (measured). */
    static const int LIKELIEST = SIDE == 4 ? 2 : SIDE == 8 ? 6 : 4;

    const GpumeCudaArgs &a;
    const GpumeParams &p;
    const GpumeCudaPlane ref;
    GpumeU32 *const shared;
    GpumeU32 *samples;          ///< the tile's, two a word
    GpumeU32 *tile;             ///< and as bytes, four a word
    GpumeU32 *limits;           ///< the least cost so far, by block
    GpumeU32 *scratch;          ///< the warp's
    GpumeU64 *best;             ///< the warp's keys, by block of its row
    int x0, y0, z;
    int range;
    int copy, pitch;            ///< words from copy to copy, and from row to row
    int left;                   ///< displacement at which the window begins: at a word
    int columns;                ///< of candidates, four to a word
    int lane, part;             ///< the latter is which row of blocks the warp has
    int min_dy, max_dy;         ///< of that row
    int scale, base;            ///< of samples as bytes
    int whole_words;            ///< samples of the reference can be read as such
    GpumeU32 done;              ///< bits of blocks that need no search, as their zero vector costs nothing
    GpumeU32 cur[HEIGHT][WORDS];

    __device__ __forceinline__
    GpumeDeepTile(const GpumeCudaArgs &args, GpumeU32 *words, const GpumePlace &at)
        : a(args), p(args.params), ref(gpume_field(args, at.z).plane), shared(words),
          x0(at.x), y0(at.y), z(at.z)
    {
        const int warp = threadIdx.x / 32;

        lane       = threadIdx.x & 31;
        samples    = shared + a.full.shared_words;
        tile       = samples + PARTS * SIDE * GPUME_CUDA_FULL_TILE_WIDTH / 2;
        scratch    = scratch_of(warp);
        limits     = scratch_of(blockDim.x / 32);
        range      = p.range;
        copy       = a.full.copy_words;
        pitch      = GPUME_CUDA_FULL_PITCH(copy);
        done       = 0;
        whole_words = !((ref.data | ref.linesize) & 3);
        part       = warp % PARTS;
        best       = best_of(warp);
        min_dy     = gpume_min_displacement(range, y0 + part * SIDE);
        max_dy     = gpume_max_displacement(range, p.height, y0 + part * SIDE + HEIGHT);
    }

    /** Load the bytes of the row of blocks. */
    __device__ __forceinline__ void load_part()
    {
        static_assert(WORDS == 4, "a row is loaded at once");
        GPUME_UNROLL for (int y = 0; y < HEIGHT; y++)
            gpume_load4(cur[y], tile + (part * SIDE + y) * WORDS);
    }

    /** Returns what a warp shows to others; behind the last one's are the limits. */
    __device__ __forceinline__ GpumeU32 *scratch_of(int warp) const
    {
        return tile + PARTS * SIDE * WORDS + GPUME_CUDA_DEEP_WARP_WORDS * warp;
    }

    /** Returns a warp's keys. */
    __device__ __forceinline__ GpumeU64 *best_of(int warp) const
    {
        return (GpumeU64 *)(scratch_of(warp) + 2);
    }

    /** Returns the block of a lane where several are evaluated at a time. */
    static __device__ __forceinline__ int block_of(int lane)
    {
        return lane / (32 / BLOCKS);
    }

    /** Returns two samples of the picture as numbers. */
    __device__ __forceinline__ GpumeU32 justified(GpumeU32 two) const
    {
        return GpumeSample<GpumeU16>::right_justify(two, p.shift);
    }

    /** Returns a sample as a byte. */
    __device__ __forceinline__ GpumeU32 byte(GpumeU32 sample) const
    {
        return gpume_max(0, gpume_min((int)sample - base, 255));
    }

    /** Returns four samples as bytes, shift being the scale and what samples are to be shifted by in any case. */
    __device__ __forceinline__ GpumeU32 bytes(GpumeU32 lo, GpumeU32 hi, int shift) const
    {
        return byte((lo & 0xffff) >> shift)       | byte(lo >> (16 + shift)) << 8 |
               byte((hi & 0xffff) >> shift) << 16 | byte(hi >> (16 + shift)) << 24;
    }

    /** Set scale and base from the least and the greatest sample that a thread has seen. */
    __device__ __forceinline__ void set_scale(GpumeU32 least, GpumeU32 most)
    {
        least =  gpume_least<1, 32>(least);
        most  = ~gpume_least<1, 32>(~most);
        if (!lane) {
            scratch[0] = least;
            scratch[1] = most;
        }
        __syncthreads();
        for (int i = 0; i < blockDim.x / 32; i++) {
            least = gpume_umin(least, scratch_of(i)[0]);
            most  = gpume_umax(most, scratch_of(i)[1]);
        }
        gpume_fit_numbers<8>(p.depth, GPUME_DEEP_Q_RANGE, least, most, &scale, &base);
    }

    /** The lesser and the greater one of two samples. */
    static __device__ __forceinline__ GpumeU32 lesser(GpumeU32 two)
    {
        return gpume_umin(two & 0xffff, two >> 16);
    }

    static __device__ __forceinline__ GpumeU32 greater(GpumeU32 two)
    {
        return gpume_umax(two & 0xffff, two >> 16);
    }

    /** Load the tile: all of its rows of blocks, or the first ones. */
    __device__ __forceinline__ void load_tile(int parts)
    {
        const int words = GPUME_CUDA_FULL_TILE_WIDTH / 2, rows = PARTS == 1 ? HEIGHT : parts * SIDE;
        GpumeU32 least = ~0u, most = 0;

        for (int i = threadIdx.x; i < rows * words; i += blockDim.x) {
            const int y = y0 + i / words, x = x0 + 2 * (i % words);
            const GpumeU8 *row = (const GpumeU8 *)a.cur.data + y * a.cur.linesize;
            const GpumeU32 two = justified(gpume_load<GpumeU16>(row + 2 * x, 2, row + 2 * p.width));

            samples[i] = two;
            least = gpume_umin(least, lesser(two));
            most  = gpume_umax(most,  greater(two));
        }
        /* what elimination has found before it gave up */
        if (threadIdx.x < parts * BLOCKS)
            limits[threadIdx.x] = a.full.only_remaining ?
                ((const GpumeU32 *)a.costs)[gpume_place(a, z, x0 / SIDE + threadIdx.x % BLOCKS,
                                                        y0 / SIDE + threadIdx.x / BLOCKS)] : ~0u;
        set_scale(least, most);
        for (int i = threadIdx.x; i < rows * WORDS; i += blockDim.x)
            tile[i] = bytes(samples[2 * i], samples[2 * i + 1], scale);
        __syncthreads();
    }

    /** Returns four samples from column x of a row of the reference as bytes, as gpume_load_any() loads them. */
    __device__ __forceinline__ GpumeU32 load_bytes(const GpumeU8 *row, int x) const
    {
        return bytes(gpume_load_any<GpumeU16>(0, row, x,     p.width),
                     gpume_load_any<GpumeU16>(0, row, x + 2, p.width), p.shift + scale);
    }

    /** Loads the window, as gpume_load_window() does: the reference as bytes from (left, top) on. */
    __device__ __forceinline__ void load_window(int top, int row_words, int rows)
    {
        const int whole = !((ref.data | ref.linesize) & 7 || p.width & 3);
        const int units = (row_words + 3) / 4;      // of four words
        const GpumeU32 reciprocal = GPUME_RECIPROCAL(units);

        for (int i = threadIdx.x; i < rows * units; i += blockDim.x) {
            const int y = GPUME_DIVIDE(i, reciprocal);
            const int x = 4 * (i - y * units);
            const GpumeU8 *row = gpume_row_inside(p, ref, top + y);
            GpumeU32 word[5];

            if (whole) {
                int2 v[5];

                /* together: they take their time */
                GPUME_UNROLL for (int j = 0; j < 5; j++)
                    gpume_load_global(&v[j], row + 2 * gpume_max(0, gpume_min(left + 4 * (x + j), p.width - 4)));
                GPUME_UNROLL for (int j = 0; j < 5; j++)
                    word[j] = bytes(v[j].x, v[j].y, p.shift + scale);
            } else {
                GPUME_UNROLL for (int j = 0; j < 5; j++)
                    word[j] = load_bytes(row, left + 4 * (x + j));
            }
            GPUME_UNROLL for (int shift = 0; shift < 4; shift++) {
                int4 v;

                v.x = gpume_shifted<GpumeU8>(word[0], word[1], shift);
                v.y = gpume_shifted<GpumeU8>(word[1], word[2], shift);
                v.z = gpume_shifted<GpumeU8>(word[2], word[3], shift);
                v.w = gpume_shifted<GpumeU8>(word[3], word[4], shift);
                *(int4 *)(shared + y * pitch + x + shift * copy) = v;
            }
        }
    }

    /** Returns two samples of the reference, the first in column x. */
    __device__ __forceinline__ GpumeU32 load_two(const GpumeU8 *row, int x) const
    {
        return gpume_load_two(whole_words, row, x, 2, p.width);
    }

    /** Adds up this lane's differences of the blocks of N candidates and the reference displaced by their vectors. */
    template<int N>
    __device__ __forceinline__ void add_lane(const GpumeVector (&v)[N], GpumeU32 (&cost)[N]) const
    {
        const int column = 2 * (lane % (SIDE / 2)), first = part * SIDE + lane % LANES / (SIDE / 2);

        GPUME_UNROLL for (int i = 0; i < N; i++)
            cost[i] = 0;
        GPUME_NO_UNROLL for (int y = first; y < part * SIDE + HEIGHT; y += ROWS) {
            GpumeU32 w[N];

            /* together: they take their time */
            GPUME_UNROLL for (int i = 0; i < N; i++)
                w[i] = load_two((const GpumeU8 *)ref.data + (y0 + y + v[i].dy) * ref.linesize,
                                x0 + block_of(N == 1 ? lane : i * LANES / N) * SIDE + column + v[i].dx);
            GPUME_UNROLL for (int i = 0; i < N; i++)
                cost[i] = gpume_sad2(samples[(y * GPUME_CUDA_FULL_TILE_WIDTH +
                                              block_of(N == 1 ? lane : i * LANES / N) * SIDE + column) / 2],
                                     justified(w[i]), cost[i]);
        }
    }

    /** Evaluates a candidate for each eight lanes, of their block; they get its cost. */
    __device__ __forceinline__ GpumeU32 evaluate(const GpumeVector &its) const
    {
        GpumeVector v[LANES / 8];
        GpumeU32 cost[LANES / 8];

        if (LANES == 8) {
            v[0] = its;
            add_lane(v, cost);
        } else {
            GPUME_UNROLL for (int i = 0; i < LANES / 8; i++) {
                v[i].dx = (short)gpume_of_lane((GpumeU32)its.dx, 8 * i);
                v[i].dy = (short)gpume_of_lane((GpumeU32)its.dy, 8 * i);
            }
            add_lane(v, cost);
            gpume_share_out<LANES / 8, 16>(cost, lane);
        }
        GPUME_UNROLL for (int bit = 1; bit < 8; bit <<= 1)
            cost[0] += gpume_xor_lane(cost[0], bit);
        return cost[0];
    }

    /** Lets candidates become the best ones of their blocks: one for each eight lanes. */
    __device__ __forceinline__ void evaluate_and_take(const GpumeVector &v)
    {
        const GpumeU64 key = gpume_least<8, 32 / BLOCKS>(gpume_key(evaluate(v), gpume_order(range, v.dx, v.dy)));

        /* all have read what it was */
        __syncwarp();
        if (lane % (32 / BLOCKS) == 0)
            take(block_of(lane), key);
        __syncwarp();
    }

    /** By one lane: lets a candidate become a block's best one. */
    __device__ __forceinline__ void take(int block, GpumeU64 key)
    {
        if (key < best[block]) {
            best[block] = key;
            atomicMin(&limits[part * BLOCKS + block], (GpumeU32)(key >> 32));
        }
    }

    /** Evaluates a candidate of this lane's own. */
    __device__ __forceinline__ GpumeU32 evaluate_alone(int block, int dx, int dy) const
    {
        const int x = x0 + block * SIDE + dx, odd = x & 1;
        const int words = whole_words && x + SIDE + 2 <= p.width;
        const GpumeU8 *row  = (const GpumeU8 *)ref.data + (y0 + part * SIDE + dy) * ref.linesize;
        const GpumeU32 *two = samples + (part * SIDE * GPUME_CUDA_FULL_TILE_WIDTH + block * SIDE) / 2;
        GpumeU32 cost = 0;

        GPUME_NO_UNROLL for (int y = 0; y < HEIGHT; y++) {
            if (words) {
                const GpumeU32 *w = (const GpumeU32 *)(row + 2 * (x - odd));
                GpumeU32 v[SIDE / 2 + 1];

                GPUME_UNROLL for (int c = 0; c <= SIDE / 2; c++)
                    v[c] = w[c];
                GPUME_UNROLL for (int c = 0; c < SIDE / 2; c++)
                    cost = gpume_sad2(two[c], justified(gpume_funnel(v[c], v[c + 1], 16 * odd)), cost);
            } else {
                GPUME_NO_UNROLL for (int c = 0; c < SIDE / 2; c++)
                    cost = gpume_sad2(two[c], justified(load_two(row, x + 2 * c)), cost);
            }
            row += ref.linesize;
            two += GPUME_CUDA_FULL_TILE_WIDTH / 2;
        }
        return cost;
    }

    /** Returns whether the block at x may be displaced by dx. */
    __device__ __forceinline__ int inside(int block, int dx) const
    {
        const int x = x0 + block * SIDE;

        return dx >= -range && dx <= range && x + dx >= 0 && x + dx + SIDE <= p.width;
    }

    /** Returns the bits of those of NB_ROWS rows from dy on that are admissible, the first being bit 0. */
    __device__ __forceinline__ GpumeU32 inside_rows(int dy) const
    {
        const int first = gpume_max(0, gpume_min(min_dy - dy, NB_ROWS));
        const int end   = gpume_max(0, gpume_min(max_dy - dy + 1, NB_ROWS));

        return ((1u << end) - 1) & ~((1u << first) - 1);
    }

    /** Returns the greatest bound of a candidate that may be better than any so far. */
    __device__ __forceinline__ GpumeU32 greatest_bound(GpumeU32 limit) const
    {
        return (limit + (SIDE * HEIGHT) * ((1u << scale) - 1)) >> scale;
    }

    /** Returns the same as the warp knows it now. @param greatest that with which sums began */
    __device__ __forceinline__ GpumeU32 bound_now(int block, GpumeU32 greatest) const
    {
        return gpume_umin(greatest, greatest_bound((GpumeU32)(best[block] >> 32)));
    }

    /**
     * Evaluates the candidates with the least bounds: of each block as many as there are eight lanes for.
     * @param sum   NB_ROWS for each block, as in evaluate_sums(); 0 once it has been evaluated
     * @param limit that of block i, in lane i, when sums began with it
     * @return 0 if no candidate of the warp may be the best
     */
    __device__ __forceinline__ int evaluate_likeliest(GpumeU32 *sum, GpumeU32 limit, int dx, int dy)
    {
        /* what other warps have found pays where a candidate takes longest (measured) */
        const GpumeU32 latest = SIDE == 16 ? limit_now() : 0;
        GpumeU32 key[BLOCKS];
        GpumeVector v;

        GPUME_UNROLL for (int k = 0; k < BLOCKS; k++) {
            const GpumeU32 greatest = greatest_bound(gpume_of_lane(limit, k));
            const GpumeU32 now = SIDE == 16 ? gpume_umin(greatest, greatest_bound(gpume_of_lane(latest, k))) :
                                 bound_now(k, greatest);

            key[k] = ~0u;
            GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++) {
                const GpumeU32 bound = sum[k * NB_ROWS + j] + greatest + 1;

                key[k] = bound <= now ? gpume_umin(key[k], bound << 4 | j) : key[k];
            }
            key[k] = key[k] == ~0u ? key[k] : key[k] << 5 | lane;
        }
        /* to the lanes of its block each */
        GPUME_UNROLL for (int nb = BLOCKS / 2, bit = 16; nb; nb /= 2, bit /= 2)
            GPUME_UNROLL for (int k = 0; k < nb; k++) {
                const GpumeU32 kept = lane & bit ? key[(k + nb) % BLOCKS] : key[k];

                key[k] = gpume_umin(kept, gpume_xor_lane(lane & bit ? key[k] : key[(k + nb) % BLOCKS], bit));
            }
        key[0] = gpume_least<1, 8>(key[0]);
        if (!__ballot_sync(GPUME_WHOLE_WARP, key[0] != ~0u))
            return 0;
        v.dx = (short)gpume_of_lane((GpumeU32)dx, key[0] & 31);
        v.dy = (short)(gpume_of_lane((GpumeU32)dy, key[0] & 31) + (key[0] >> 5 & 15));
        if (key[0] == ~0u)
            v.dx = v.dy = 0;
        GPUME_UNROLL for (int i = 0; i < 32; i += 8) {
            const GpumeU32 its = gpume_of_lane(key[0], i);

            if (its != ~0u && (its & 31) == lane)
                sum[block_of(i) * NB_ROWS + (its >> 5 & 15)] = 0;
        }
        evaluate_and_take(v);
        return 1;
    }

    /** Evaluates those that may be the best, a candidate a lane. */
    __device__ __forceinline__ void evaluate_rest(const GpumeU32 *sum, GpumeU32 limit, int dx, int dy)
    {
        GPUME_NO_UNROLL for (int i = 0; i < BLOCKS * NB_ROWS; i++) {
            const int k = i / NB_ROWS, j = i - k * NB_ROWS;
            const GpumeU32 greatest = greatest_bound(gpume_of_lane(limit, k));
            const int have = sum[i] + greatest + 1 <= bound_now(k, greatest);
            GpumeU64 key = ~0ull;

            if (!__ballot_sync(GPUME_WHOLE_WARP, have))
                continue;
            if (have)
                key = gpume_key(evaluate_alone(k, dx, dy + j), gpume_order(range, dx, dy + j));
            key = gpume_least<1, 32>(key);
            /* all have read what it was */
            __syncwarp();
            if (!lane)
                take(k, key);
            __syncwarp();
        }
    }

    /** Returns what sums begin with: above the greatest bound that is of use, they are not negative. */
    __device__ __forceinline__ GpumeU32 start_of(int k, GpumeU32 limit) const
    {
        return done >> k & 1 ? 0 : ~greatest_bound(gpume_of_lane(limit, k));
    }

    /** Returns the limit of block i in lane i as it is now: other warps make it less. */
    __device__ __forceinline__ GpumeU32 limit_now() const
    {
        return lane < BLOCKS ? atomicMin(&limits[part * BLOCKS + lane], ~0u) : 0;
    }

    /**
     * Evaluates those of NB_ROWS candidates of each block, from (dx, dy) on down, that may be the best: first the
     * likeliest, and where many are left, all at once. Hardly unrolled: it is rarely called, and instructions have to
     * be fetched.
     * @param sum   NB_ROWS for each block: less greatest_bound() of the limit with which they began, plus one; or 0
     * @param limit that of block i, in lane i
     */
    __device__ __forceinline__ void evaluate_sums(GpumeU32 *sum, GpumeU32 limit, int dx, int dy)
    {
        int i = 0;

        while (i < LIKELIEST && evaluate_likeliest(sum, limit, dx, dy))
            i++;
        if (i == LIKELIEST)
            evaluate_rest(sum, limit, dx, dy);
    }

    /**
     * Try 32 candidates of the row of blocks and those below them.
     * @param win the lane's words of the window, of the first of them
     * @param its nonzero: of its own: others repeat another lane's
     */
    __device__ __forceinline__ void try_row(const GpumeU32 *win, int its, int dx, int dy)
    {
        const GpumeU32 limit = limit_now();
        GpumeU32 sum[BLOCKS][NB_ROWS], signs = 0;

        GPUME_UNROLL for (int k = 0; k < BLOCKS; k++) {
            const GpumeU32 start = start_of(k, limit);

            GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++)
                sum[k][j] = start;
        }
        gpume_add_differences<SIDE>(sum, cur, win, pitch);
        GPUME_UNROLL for (int k = 0; k < BLOCKS; k++)
            GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++)
                signs |= sum[k][j];
        if (__ballot_sync(GPUME_WHOLE_WARP, its && signs >> 31)) {
            const GpumeU32 rows = its ? inside_rows(dy) : 0;
            GpumeU32 kept[BLOCKS * NB_ROWS];

            GPUME_UNROLL for (int k = 0; k < BLOCKS; k++) {
                const GpumeU32 may = inside(k, dx) ? rows : 0;

                GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++)
                    kept[k * NB_ROWS + j] = may >> j & 1 ? sum[k][j] : 0;
            }
            evaluate_sums(kept, limit, dx, dy);
        }
    }

    /** Try the candidates of so many runs from displacement cy on: from the middle run outwards. */
    __device__ __forceinline__ void try_runs(int cy, int runs)
    {
        const GpumeU32 reciprocal = GPUME_RECIPROCAL_LARGE(columns);
        const int total = 4 * columns * runs;

        for (int at = threadIdx.x / 32 / PARTS * 32; at < total; at += blockDim.x / PARTS) {
            /* the last one again where there are no more */
            const int i     = gpume_min(at + lane, total - 1);
            const int line  = GPUME_DIVIDE_LARGE(i, reciprocal);    // of a copy
            const int run   = (runs - 1) / 2 + (line & 4 ? line / 4 + 1 : -(line / 4)) / 2;
            const int shift = line & 3;
            const int word  = i - line * columns;
            const int dx    = left + 4 * word + shift - x0, dy = cy + run * NB_ROWS;
            const GpumeU32 *win = shared + (run * NB_ROWS + part * SIDE) * pitch + shift * copy + word;

            try_row(win, at + lane < total, dx, dy);
        }
    }

    /** Begins with the zero vector. */
    __device__ __forceinline__ void try_zero()
    {
        GpumeVector zero;

        zero.dx = zero.dy = 0;
        if (!lane) {
            GPUME_UNROLL for (int k = 0; k < BLOCKS; k++)
                best[k] = ~0ull;
        }
        __syncwarp();
        evaluate_and_take(zero);
        GPUME_UNROLL for (int k = 0; k < BLOCKS; k++)
            done |= best[k] ? 0 : 1u << k;
    }

    /** @param parts rows of blocks that are whole, 1 to PARTS */
    __device__ __forceinline__ void search(int parts)
    {
        const int has_part = part < parts;
        /* what is admissible for any of the blocks */
        const int min_dx = gpume_min_displacement(range, x0 + GPUME_CUDA_FULL_TILE_WIDTH - SIDE);
        const int max_dx = gpume_max_displacement(range, p.width, x0 + SIDE);
        const int first  = gpume_min_displacement(range, y0 + (parts - 1) * SIDE);
        const int last   = gpume_max_displacement(range, p.height, y0 + HEIGHT);

        left    = (x0 + min_dx) & ~3;
        columns = (x0 + max_dx - left) / 4 + 1;
        load_tile(parts);
        for (int cy = first; cy <= last; cy += a.full.runs * NB_ROWS) {
            const int runs = gpume_min(a.full.runs, (last - cy) / NB_ROWS + 1);

            __syncthreads();
            load_window(y0 + cy, columns + WORDS - 1, runs * NB_ROWS + (parts - 1) * SIDE + HEIGHT - 1);
            __syncthreads();
            if (!has_part)
                continue;
            /* again for every piece of the window: it takes many registers to be filled */
            load_part();
            if (cy == first)
                try_zero();
            try_runs(cy, runs);
        }
        store(parts);
    }

    /** Stores the best of all warps' candidates. */
    __device__ __forceinline__ void store(int parts)
    {
        GpumeU64 key = ~0ull;

        __syncthreads();
        if (threadIdx.x >= parts * BLOCKS)
            return;
        /* warps with a row of blocks are PARTS from each other */
        for (int i = threadIdx.x / BLOCKS; i < blockDim.x / 32; i += PARTS) {
            const GpumeU64 its = best_of(i)[threadIdx.x % BLOCKS];

            key = its < key ? its : key;
        }

        const int bx = x0 / SIDE + threadIdx.x % BLOCKS, by = y0 / SIDE + threadIdx.x / BLOCKS;
        const GpumeVector v = gpume_vector_of_order(range, (int)(GpumeU32)key);

        gpume_store(a, gpume_box(&p, SIDE, bx, by), z, bx, by, v.dx, v.dy, (GpumeU32)(key >> 32));
    }
};

#endif /* AVFILTER_GPUME_CUDA_DEEP_CUH */
