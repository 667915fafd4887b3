/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of 4x4, 8x8 and 16x16 samples of more than 8 bits, with lower bounds. Each
 * sample is also stored as a byte, q(x) = clamp((x >> scale) - base, 0, 255), with a scale and a
 * base that suit the tile's samples. |a - b| >= |q(a) - q(b)| * 2^scale - (2^scale - 1), because
 * clamping never increases a difference. So sums of absolute differences of bytes, which take one
 * instruction for four samples, are lower bounds of the costs. Only candidates whose bound is not
 * above the least cost so far are evaluated, first the candidate with the least bound. If the
 * samples of a tile are similar, all bounds are small, but then the scale is small as well.
 */

#include "libavfilter/gpume/cuda/any.cuh"

#define SIDE   GPUME_CUDA_SIDE
#define ROWS   GPUME_CUDA_BOUNDED_ROWS
/** Size of a tile: words of a row of bytes, blocks in a row, rows of blocks. */
#define WORDS  (GPUME_CUDA_TILE_WIDTH / 4)
#define BLOCKS (GPUME_CUDA_TILE_WIDTH / SIDE)
#define PARTS  GPUME_CUDA_BOUNDED_PARTS(SIDE)
/**
 * Number of lanes that evaluate a candidate, each a word of two samples of a row; number of rows
 * that they load at a time.
 */
#define LANES  (SIDE == 4 ? 8 : 32)
#define STEP   (LANES / (SIDE / 2))
/**
 * Number of times that a warp evaluates the candidates with the least bounds; after that it is
 * faster to evaluate all remaining candidates (measured).
 */
#define TRIALS (SIDE == 4 ? 2 : SIDE == 8 ? 6 : 4)
/** Keys of a warp. */
#define KEYS   ((GPUME_CUDA_BOUNDED_WARP_WORDS - 2) / 2)
/** Largest range of samples as bytes; leaves space above and below it. */
#define BYTE_RANGE 208

/** Returns the smaller sample of a word in both halves; the next function the larger. */
static __device__ __forceinline__ GpumeU32 gpume_lesser_sample(GpumeU32 two)
{
    return gpume_umin(two & 0xffff, two >> 16);
}

static __device__ __forceinline__ GpumeU32 gpume_greater_sample(GpumeU32 two)
{
    return gpume_umax(two & 0xffff, two >> 16);
}

/**
 * Adds NB values over all lanes whose numbers differ in the upper bits. At the end each lane has
 * one sum, value[0]. In each step a lane keeps half of the values.
 */
template<int NB>
static __device__ __forceinline__ void gpume_share_out(GpumeU32 (&value)[NB], int lane)
{
    GPUME_UNROLL for (int nb = NB / 2, bit = 16; nb; nb /= 2, bit /= 2)
        GPUME_UNROLL for (int i = 0; i < nb; i++) {
            const GpumeU32 kept = lane & bit ? value[i + nb] : value[i];

            value[i] = kept + gpume_xor_lane(lane & bit ? value[i] : value[i + nb], bit);
        }
}

/**
 * A tile of the picture with PARTS rows of blocks, in shared memory: its samples, its samples as
 * bytes, and a window of the reference as bytes. The warps share the candidates and the rows of
 * blocks.
 */
struct Tile {
    const GpumeCudaArgs &a;
    const GpumeParams &p;
    const GpumeCudaPlane ref;
    GpumeU32 *const shared;
    GpumeU32 *samples;          ///< samples of the tile, two a word
    GpumeU32 *tile;             ///< samples of the tile as bytes, four a word
    GpumeU32 *limits;           ///< least cost so far of each block
    GpumeU32 *scratch;          ///< words of all warps: two each, and their keys
    GpumeU64 *best;             ///< keys of this warp, for each block of its row
    int x0, y0, z;
    int height;                 ///< rows of a block: SIDE, or half of it
    int range;
    int copy, pitch;            ///< number of words between copies, and between rows
    int left;                   ///< column of the picture at which the window begins: at a word
    int lane, part;             ///< part: the row of blocks of this warp
    int min_dy, max_dy;         ///< vertical displacements that are admissible for this row of blocks
    int scale, base;            ///< scale and base of samples as bytes
    int whole_words;            ///< samples of the reference can be read as words

    __device__ __forceinline__
    Tile(const GpumeCudaArgs &args, GpumeU32 *words, const GpumePlace &at, int h)
        : a(args), p(args.params), ref(gpume_field(args, at.z).plane), shared(words),
          x0(at.x), y0(at.y), z(at.z), height(h)
    {
        const int warp = threadIdx.x / 32;

        lane       = threadIdx.x & 31;
        samples    = shared + a.full.shared_words;
        tile       = samples + PARTS * SIDE * GPUME_CUDA_TILE_WIDTH / 2;
        scratch    = tile + PARTS * SIDE * WORDS;
        limits     = scratch + GPUME_CUDA_BOUNDED_WARP_WORDS * (blockDim.x / 32);
        range      = p.range;
        copy       = a.full.copy_words;
        pitch      = GPUME_CUDA_BOUNDED_PITCH(copy);
        whole_words = !((ref.data | ref.linesize) & 3);
        part       = warp % PARTS;
        best       = best_of(warp);
        min_dy     = gpume_min_displacement(range, y0 + part * SIDE);
        max_dy     = gpume_max_displacement(range, p.height, y0 + part * SIDE + height);
    }

    /** Returns a warp's keys. */
    __device__ __forceinline__ GpumeU64 *best_of(int warp) const
    {
        return (GpumeU64 *)(scratch + 2 * (blockDim.x / 32)) + KEYS * warp;
    }

    /** Returns the block of a lane when several blocks are evaluated at a time. */
    static __device__ __forceinline__ int block_of(int lane)
    {
        return lane / (32 / BLOCKS);
    }

    /** Returns two samples of the picture without padding bits. */
    __device__ __forceinline__ GpumeU32 justified(GpumeU32 two) const
    {
        return GpumeSample<GpumeU16>::right_justify(two, p.shift);
    }

    /** Returns a sample as a byte. */
    __device__ __forceinline__ GpumeU32 byte(GpumeU32 sample) const
    {
        return gpume_max(0, gpume_min((int)sample - base, 255));
    }

    /** Returns four samples as bytes; shift is the sum of the scale and the number of padding bits. */
    __device__ __forceinline__ GpumeU32 bytes(GpumeU32 lo, GpumeU32 hi, int shift) const
    {
        return byte((lo & 0xffff) >> shift)       | byte(lo >> (16 + shift)) << 8 |
               byte((hi & 0xffff) >> shift) << 16 | byte(hi >> (16 + shift)) << 24;
    }

    /**
     * Sets scale and base from the smallest and the largest sample that a thread has seen: the
     * smallest scale for which the samples fit into BYTE_RANGE, and the base that centres them.
     */
    __device__ __forceinline__ void set_scale(GpumeU32 least, GpumeU32 most)
    {
        gpume_least_and_greatest(scratch, &least, &most);
        scale = 0;
        while (scale < p.depth - 8 && (most - least) >> scale > BYTE_RANGE)
            scale++;
        base = gpume_max(0, gpume_min((int)((least + most) >> 1 >> scale) - 128, (1 << (p.depth - scale)) - 256));
    }

    /** Loads the samples of the first rows of blocks of the tile. */
    __device__ __forceinline__ void load_tile(int parts)
    {
        const int words = GPUME_CUDA_TILE_WIDTH / 2, rows = PARTS == 1 ? height : parts * SIDE;
        GpumeU32 least = ~0u, most = 0;

        for (int i = threadIdx.x; i < rows * words; i += blockDim.x) {
            const int y = y0 + i / words, x = x0 + 2 * (i % words);
            const GpumeU8 *row = (const GpumeU8 *)a.cur.data + y * a.cur.linesize;
            const GpumeU32 two = justified(gpume_load<GpumeU16>(row + 2 * x, 2, row + 2 * p.width));

            samples[i] = two;
            least = gpume_umin(least, gpume_lesser_sample(two));
            most  = gpume_umax(most,  gpume_greater_sample(two));
        }
        /* costs that elimination has found before it gave up the block */
        if (threadIdx.x < parts * BLOCKS)
            limits[threadIdx.x] = a.full.only_remaining ?
                ((const GpumeU32 *)a.costs)[gpume_place(a, z, x0 / SIDE + threadIdx.x % BLOCKS,
                                                        y0 / SIDE + threadIdx.x / BLOCKS)] : ~0u;
        set_scale(least, most);
        for (int i = threadIdx.x; i < rows * WORDS; i += blockDim.x)
            tile[i] = bytes(samples[2 * i], samples[2 * i + 1], scale);
        __syncthreads();
    }

    /** Loads the window, as gpume_load_window() does: the reference as bytes from row top on. */
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

                /* loads are issued together to overlap their latency */
                GPUME_UNROLL for (int j = 0; j < 5; j++)
                    gpume_load_global(&v[j], row + 2 * gpume_max(0, gpume_min(left + 4 * (x + j), p.width - 4)));
                GPUME_UNROLL for (int j = 0; j < 5; j++)
                    word[j] = bytes(v[j].x, v[j].y, p.shift + scale);
            } else {
                GPUME_UNROLL for (int j = 0; j < 5; j++) {
                    const int column = left + 4 * (x + j);

                    word[j] = bytes(gpume_load_any<GpumeU16>(0, row, column,     p.width),
                                    gpume_load_any<GpumeU16>(0, row, column + 2, p.width), p.shift + scale);
                }
            }
            gpume_store_copies<GpumeU8>(shared + y * pitch + x, copy, word);
        }
    }
};

/** Evaluates candidates of a tile. */
struct Evaluator : Tile {
    GpumeU32 done;              ///< bit mask of blocks that need no search, because the cost of their zero vector is
                                ///< 0

    __device__ __forceinline__ Evaluator(const GpumeCudaArgs &args, GpumeU32 *words, const GpumePlace &at, int h)
        : Tile(args, words, at, h), done(0) { }

    /** Returns two samples of the reference, the first in column x. */
    __device__ __forceinline__ GpumeU32 load_two(const GpumeU8 *row, int x) const
    {
        const int odd = x & 1;

        if (whole_words && (!odd || x + 3 <= p.width)) {
            const GpumeU32 *w = (const GpumeU32 *)(row + 2 * (x - odd));

            return odd ? gpume_funnel_shift(w[0], w[1], 16) : w[0];
        }
        return gpume_load<GpumeU16>(row + 2 * x, 2, row + 2 * p.width);
    }

    /** Adds up this lane's differences between the blocks of N candidates and the reference. */
    template<int N>
    __device__ __forceinline__ void add_lane(const GpumeVector (&v)[N], GpumeU32 (&cost)[N]) const
    {
        const int column = 2 * (lane % (SIDE / 2)), first = part * SIDE + lane % LANES / (SIDE / 2);

        GPUME_UNROLL for (int i = 0; i < N; i++)
            cost[i] = 0;
        GPUME_NO_UNROLL for (int y = first; y < part * SIDE + height; y += STEP) {
            GpumeU32 w[N];

            /* loads are issued together to overlap their latency */
            GPUME_UNROLL for (int i = 0; i < N; i++)
                w[i] = load_two((const GpumeU8 *)ref.data + (y0 + y + v[i].dy) * ref.linesize,
                                x0 + block_of(N == 1 ? lane : i * LANES / N) * SIDE + column + v[i].dx);
            GPUME_UNROLL for (int i = 0; i < N; i++)
                cost[i] = gpume_sad2(samples[(y * GPUME_CUDA_TILE_WIDTH +
                                              block_of(N == 1 ? lane : i * LANES / N) * SIDE + column) / 2],
                                     justified(w[i]), cost[i]);
        }
    }

    /**
     * Evaluates a candidate in each group of eight lanes, for the block of the group. Returns its
     * cost in all lanes of the group.
     */
    __device__ __forceinline__ GpumeU32 evaluate(const GpumeVector &candidate) const
    {
        GpumeVector v[LANES / 8];
        GpumeU32 cost[LANES / 8];

        if (LANES == 8) {
            v[0] = candidate;
            add_lane(v, cost);
        } else {
            GPUME_UNROLL for (int i = 0; i < LANES / 8; i++) {
                v[i].dx = (short)gpume_of_lane((GpumeU32)candidate.dx, 8 * i);
                v[i].dy = (short)gpume_of_lane((GpumeU32)candidate.dy, 8 * i);
            }
            add_lane(v, cost);
            gpume_share_out<LANES / 8>(cost, lane);
        }
        GPUME_UNROLL for (int bit = 1; bit < 8; bit <<= 1)
            cost[0] += gpume_xor_lane(cost[0], bit);
        return cost[0];
    }

    /**
     * Evaluates a candidate in each group of eight lanes, and keeps it if it is better than the
     * best candidate of its block.
     */
    __device__ __forceinline__ void evaluate_and_take(const GpumeVector &v)
    {
        const GpumeU64 key = gpume_least<8, 32 / BLOCKS>(gpume_key(evaluate(v), gpume_order(range, v.dx, v.dy)));

        /* all lanes have read the old value */
        __syncwarp();
        if (lane % (32 / BLOCKS) == 0)
            take(block_of(lane), key);
        __syncwarp();
    }

    /** Keeps a candidate if it is better than the best candidate of its block. Only one lane calls it. */
    __device__ __forceinline__ void take(int block, GpumeU64 key)
    {
        if (key < best[block]) {
            best[block] = key;
            atomicMin(&limits[part * BLOCKS + block], (GpumeU32)(key >> 32));
        }
    }

    /** Returns the cost of a candidate that this lane evaluates alone. */
    __device__ __forceinline__ GpumeU32 evaluate_alone(int block, int dx, int dy) const
    {
        const int x = x0 + block * SIDE + dx, odd = x & 1;
        const int words = whole_words && x + SIDE + 2 <= p.width;
        const GpumeU8 *row  = (const GpumeU8 *)ref.data + (y0 + part * SIDE + dy) * ref.linesize;
        const GpumeU32 *two = samples + (part * SIDE * GPUME_CUDA_TILE_WIDTH + block * SIDE) / 2;
        GpumeU32 cost = 0;

        GPUME_NO_UNROLL for (int y = 0; y < height; y++) {
            if (words) {
                const GpumeU32 *w = (const GpumeU32 *)(row + 2 * (x - odd));
                GpumeU32 v[SIDE / 2 + 1];

                GPUME_UNROLL for (int c = 0; c <= SIDE / 2; c++)
                    v[c] = w[c];
                GPUME_UNROLL for (int c = 0; c < SIDE / 2; c++)
                    cost = gpume_sad2(two[c], justified(gpume_funnel_shift(v[c], v[c + 1], 16 * odd)), cost);
            } else {
                GPUME_NO_UNROLL for (int c = 0; c < SIDE / 2; c++)
                    cost = gpume_sad2(two[c], justified(load_two(row, x + 2 * c)), cost);
            }
            row += ref.linesize;
            two += GPUME_CUDA_TILE_WIDTH / 2;
        }
        return cost;
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

    /** Stores the best of all warps' candidates. */
    __device__ __forceinline__ void store(int parts) const
    {
        GpumeU64 key = ~0ull;

        __syncthreads();
        if (threadIdx.x >= parts * BLOCKS)
            return;
        /* warps with the same row of blocks are PARTS warps apart */
        for (int i = threadIdx.x / BLOCKS; i < blockDim.x / 32; i += PARTS)
            key = gpume_lesser_key(key, best_of(i)[threadIdx.x % BLOCKS]);

        const int bx = x0 / SIDE + threadIdx.x % BLOCKS, by = y0 / SIDE + threadIdx.x / BLOCKS;
        const GpumeVector v = gpume_vector_of_order(range, (int)(GpumeU32)key);

        gpume_store(a, gpume_box(&p, SIDE, bx, by), z, bx, by, v.dx, v.dy, (GpumeU32)(key >> 32));
    }
};

/**
 * Tries candidates whose bounds are in sums, ROWS for each block. A sum is the bound of a candidate
 * minus greatest_bound() of the limit at the beginning minus one. So the sum is negative if the
 * candidate must be evaluated. It is set to 0 after the evaluation.
 */
struct BoundedCandidates : Evaluator {
    __device__ __forceinline__
    BoundedCandidates(const GpumeCudaArgs &args, GpumeU32 *words, const GpumePlace &at, int h)
        : Evaluator(args, words, at, h) { }

    /** Returns the largest bound that a candidate better than the best one so far can have. */
    __device__ __forceinline__ GpumeU32 greatest_bound(GpumeU32 limit) const
    {
        return (limit + SIDE * height * ((1u << scale) - 1)) >> scale;
    }

    /**
     * Returns greatest_bound() of the warp's current limit, relative to the initial one.
     * @param greatest the value with which sums began
     */
    __device__ __forceinline__ GpumeU32 bound_now(int block, GpumeU32 greatest) const
    {
        return gpume_umin(greatest, greatest_bound((GpumeU32)(best[block] >> 32)));
    }

    /** Returns the initial value of sums: they become non-negative above the largest useful bound. */
    __device__ __forceinline__ GpumeU32 start_of(int k, GpumeU32 limit) const
    {
        return done >> k & 1 ? 0 : ~greatest_bound(gpume_of_lane(limit, k));
    }

    /** Returns the current limit of block i in lane i; other warps decrease it. */
    __device__ __forceinline__ GpumeU32 limit_now() const
    {
        return lane < BLOCKS ? atomicMin(&limits[part * BLOCKS + lane], ~0u) : 0;
    }

    /** Returns keys of the least bound of each block in the lanes of that block: bound, row, lane. */
    __device__ __forceinline__ GpumeU32 least_bounds(const GpumeU32 *sum, GpumeU32 limit) const
    {
        /* reading the results of other warps only pays for 16x16, where a candidate takes longest (measured) */
        const GpumeU32 latest = SIDE == 16 ? limit_now() : 0;
        GpumeU32 key[BLOCKS];

        GPUME_UNROLL for (int k = 0; k < BLOCKS; k++) {
            const GpumeU32 greatest = greatest_bound(gpume_of_lane(limit, k));
            const GpumeU32 now = SIDE == 16 ? gpume_umin(greatest, greatest_bound(gpume_of_lane(latest, k))) :
                                 bound_now(k, greatest);

            key[k] = ~0u;
            GPUME_UNROLL for (int j = 0; j < ROWS; j++) {
                const GpumeU32 bound = sum[k * ROWS + j] + greatest + 1;

                key[k] = bound <= now ? gpume_umin(key[k], bound << 4 | j) : key[k];
            }
            key[k] = key[k] == ~0u ? key[k] : key[k] << 5 | lane;
        }
        gpume_share_out_least<BLOCKS, 8>(key, lane);
        return key[0];
    }

    /**
     * Evaluates the candidates with the least bounds: in each block one for each group of eight
     * lanes.
     * @param limit limit of block i, in lane i, when sums began
     * @return 0 if no candidate of the warp can be the best
     */
    __device__ __forceinline__ int evaluate_least(GpumeU32 *sum, GpumeU32 limit, int dx, int dy)
    {
        const GpumeU32 key = least_bounds(sum, limit);
        GpumeVector v;

        if (!__ballot_sync(GPUME_WHOLE_WARP, key != ~0u))
            return 0;
        v.dx = (short)gpume_of_lane((GpumeU32)dx, key & 31);
        v.dy = (short)(gpume_of_lane((GpumeU32)dy, key & 31) + (key >> 5 & 15));
        if (key == ~0u)
            v.dx = v.dy = 0;
        GPUME_UNROLL for (int i = 0; i < 32; i += 8) {
            const GpumeU32 taken = gpume_of_lane(key, i);

            if (taken != ~0u && (taken & 31) == lane)
                sum[block_of(i) * ROWS + (taken >> 5 & 15)] = 0;
        }
        evaluate_and_take(v);
        return 1;
    }

    /** Evaluates all candidates that can still be the best, one in each lane. */
    __device__ __forceinline__ void evaluate_rest(const GpumeU32 *sum, GpumeU32 limit, int dx, int dy)
    {
        GPUME_NO_UNROLL for (int i = 0; i < BLOCKS * ROWS; i++) {
            const int k = i / ROWS, j = i - k * ROWS;
            const GpumeU32 greatest = greatest_bound(gpume_of_lane(limit, k));
            const int has = sum[i] + greatest + 1 <= bound_now(k, greatest);
            GpumeU64 key = ~0ull;

            if (!__ballot_sync(GPUME_WHOLE_WARP, has))
                continue;
            if (has)
                key = gpume_key(evaluate_alone(k, dx, dy + j), gpume_order(range, dx, dy + j));
            key = gpume_least<1, 32>(key);
            /* all have read what it was */
            __syncwarp();
            if (!lane)
                take(k, key);
            __syncwarp();
        }
    }

    /**
     * Evaluates the candidates from (dx, dy) on down that can be the best: first those with the
     * least bounds and, if many remain, all at once. Hardly unrolled, because it is called rarely
     * and loading instructions takes time.
     */
    __device__ __forceinline__ void evaluate_sums(GpumeU32 *sum, GpumeU32 limit, int dx, int dy)
    {
        int i = 0;

        while (i < TRIALS && evaluate_least(sum, limit, dx, dy))
            i++;
        if (i == TRIALS)
            evaluate_rest(sum, limit, dx, dy);
    }
};

/**
 * Searches a tile. A thread has one horizontal and ROWS consecutive vertical displacements. Their
 * sums of differences and the bytes of a row of blocks stay in registers.
 */
template<int HEIGHT>
struct BoundedSearch : BoundedCandidates {
    GpumeU32 cur[HEIGHT][WORDS];

    __device__ __forceinline__ BoundedSearch(const GpumeCudaArgs &args, GpumeU32 *words, const GpumePlace &at)
        : BoundedCandidates(args, words, at, HEIGHT) { }

    /**
     * Adds up differences of bytes.
     * @param win words of the window for this lane's first displacement
     */
    __device__ __forceinline__ void add_differences(GpumeU32 (&sum)[BLOCKS][ROWS], const GpumeU32 *win) const
    {
        GPUME_UNROLL for (int r = 0; r < HEIGHT + ROWS - 1; r++) {
            GpumeU32 w[WORDS];

            GPUME_UNROLL for (int c = 0; c < WORDS; c++)
                w[c] = win[r * pitch + c];
            GPUME_UNROLL for (int j = 0; j < ROWS; j++)
                GPUME_UNROLL for (int c = 0; c < WORDS; c++)
                    if (r - j >= 0 && r - j < HEIGHT)
                        sum[4 * c / SIDE][j] = gpume_sad4(cur[r - j < 0 || r - j >= HEIGHT ? 0 : r - j][c],
                                                          w[c], sum[4 * c / SIDE][j]);
        }
    }

    /** Returns whether displacement dx is admissible for a block. */
    __device__ __forceinline__ int inside(int block, int dx) const
    {
        const int x = x0 + block * SIDE;

        return dx >= -range && dx <= range && x + dx >= 0 && x + dx + SIDE <= p.width;
    }

    /** Returns a bit mask of the admissible rows of ROWS rows from dy on; bit 0 is the first row. */
    __device__ __forceinline__ GpumeU32 inside_rows(int dy) const
    {
        const int first = gpume_max(0, gpume_min(min_dy - dy, ROWS));
        const int end   = gpume_max(0, gpume_min(max_dy - dy + 1, ROWS));

        return ((1u << end) - 1) & ~((1u << first) - 1);
    }

    /**
     * Tries 32 candidates of the row of blocks, and those below them.
     * @param own zero if the lane only repeats the candidates of another lane
     */
    __device__ __forceinline__ void try_row(const GpumeU32 *win, int own, int dx, int dy)
    {
        const GpumeU32 limit = limit_now();
        GpumeU32 sum[BLOCKS][ROWS], signs = 0;

        GPUME_UNROLL for (int k = 0; k < BLOCKS; k++) {
            const GpumeU32 start = start_of(k, limit);

            GPUME_UNROLL for (int j = 0; j < ROWS; j++)
                sum[k][j] = start;
        }
        add_differences(sum, win);
        GPUME_UNROLL for (int k = 0; k < BLOCKS; k++)
            GPUME_UNROLL for (int j = 0; j < ROWS; j++)
                signs |= sum[k][j];
        if (__ballot_sync(GPUME_WHOLE_WARP, own && signs >> 31)) {
            const GpumeU32 rows = own ? inside_rows(dy) : 0;
            GpumeU32 kept[BLOCKS * ROWS];

            GPUME_UNROLL for (int k = 0; k < BLOCKS; k++) {
                const GpumeU32 admissible = inside(k, dx) ? rows : 0;

                GPUME_UNROLL for (int j = 0; j < ROWS; j++)
                    kept[k * ROWS + j] = admissible >> j & 1 ? sum[k][j] : 0;
            }
            evaluate_sums(kept, limit, dx, dy);
        }
    }

    /** Tries the candidates of some runs from displacement cy on, from the middle run outwards. */
    __device__ __forceinline__ void try_runs(int cy, int runs, int columns)
    {
        const GpumeU32 reciprocal = GPUME_RECIPROCAL_LARGE(columns);
        const int total = 4 * columns * runs;

        for (int at = threadIdx.x / 32 / PARTS * 32; at < total; at += blockDim.x / PARTS) {
            /* lanes without a candidate repeat the last one */
            const int i     = gpume_min(at + lane, total - 1);
            const int line  = GPUME_DIVIDE_LARGE(i, reciprocal);    // of a copy
            const int run   = (runs - 1) / 2 + (line & 4 ? line / 4 + 1 : -(line / 4)) / 2;
            const int shift = line & 3;
            const int word  = i - line * columns;
            const GpumeU32 *win = shared + (run * ROWS + part * SIDE) * pitch + shift * copy + word;

            try_row(win, at + lane < total, left + 4 * word + shift - x0, cy + run * ROWS);
        }
    }

    /** @param parts rows of blocks that are whole, 1 to PARTS */
    __device__ __forceinline__ void search(int parts)
    {
        /* displacements that are admissible for any of the blocks */
        const int min_dx = gpume_min_displacement(range, x0 + GPUME_CUDA_TILE_WIDTH - SIDE);
        const int max_dx = gpume_max_displacement(range, p.width, x0 + SIDE);
        const int first  = gpume_min_displacement(range, y0 + (parts - 1) * SIDE);
        const int last   = gpume_max_displacement(range, p.height, y0 + HEIGHT);
        int columns;                // words of a row of candidates, four candidates to a word

        left    = (x0 + min_dx) & ~3;
        columns = (x0 + max_dx - left) / 4 + 1;
        load_tile(parts);
        for (int cy = first; cy <= last; cy += a.full.runs * ROWS) {
            const int runs = gpume_min(a.full.runs, (last - cy) / ROWS + 1);

            __syncthreads();
            load_window(y0 + cy, columns + WORDS - 1, runs * ROWS + (parts - 1) * SIDE + HEIGHT - 1);
            __syncthreads();
            if (part >= parts)
                continue;
            /* loaded again for every piece of the window, because filling the window needs many registers */
            GPUME_UNROLL for (int y = 0; y < HEIGHT; y++)
                gpume_load4(cur[y], tile + (part * SIDE + y) * WORDS);
            if (cy == first)
                try_zero();
            try_runs(cy, runs, columns);
        }
        store(parts);
    }
};

/**
 * Range up to GPUME_CUDA_FULL_MAX_RANGE. A thread block has a tile of GPUME_CUDA_TILE_WIDTH x PARTS * SIDE samples.
 *
 * grid:   tiles side by side, on top of each other, fields; or any number
 * block:  whole warps, as many for each row of blocks
 * shared: runs * ROWS + rows of a tile - 1 rows of GPUME_CUDA_BOUNDED_PITCH() words, which are
 *         shared_words; then GPUME_CUDA_BOUNDED_FIXED() words
 */
GPUME_KERNEL(GPUME_CUDA_FULL_THREADS, 2)
{
    GPUME_SHARED(GpumeU32, shared);

    const GpumeCudaArgs &a = args;
    GpumePlaces places(a, GPUME_CUDA_TILE_WIDTH, PARTS * SIDE);
    GpumePlace at;

    while (places.next(&at)) {
        const int h = gpume_min(a.params.height - at.y, PARTS * SIDE);
        int done = 0;

        if (at.x + GPUME_CUDA_TILE_WIDTH <= a.params.width) {
            if (h >= SIDE) {
                done = h / SIDE * SIDE;
                BoundedSearch<SIDE>(a, shared, at).search(done / SIDE);
            } else if (PARTS == 1 && h == SIDE / 2) {
                /* half a block is left, as with 1080 lines */
                done = h;
                BoundedSearch<SIDE / 2>(a, shared, at).search(1);
            }
        }
        /* the right and the bottom edge cut blocks and tiles */
        for (int y = at.y + done; y < at.y + h; y += SIDE)
            for (int x = at.x; x < at.x + GPUME_CUDA_TILE_WIDTH && x < a.params.width; x += SIDE)
                gpume_search_any<GpumeModuleCost>(a, shared, x / SIDE, y / SIDE, at.z);
    }
}
