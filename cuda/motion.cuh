/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Device code that the kernels of true motion share: vectors as words, and the costs of matches of
 * a block.
 */

#ifndef AVFILTER_GPUME_CUDA_MOTION_CUH
#define AVFILTER_GPUME_CUDA_MOTION_CUH

#include "libavfilter/gpume/cuda/module.cuh"
#include "libavfilter/gpume/cuda/motion_args.h"

/** Returns the high word of a product. */
static __device__ __forceinline__ GpumeU32 gpume_multiply_high(GpumeU32 a, GpumeU32 b)
{
#ifdef GPUME_HOST
    return (GpumeU32)((GpumeU64)a * b >> 32);
#else
    GpumeU32 high;

    /* from other code, the compiler may make a product of 64-bit factors */
    asm("mul.hi.u32 %0, %1, %2;" : "=r"(high) : "r"(a), "r"(b));
    return high;
#endif
}

static __device__ __forceinline__ GpumeVector gpume_of_word(GpumeU32 word)
{
    GpumeVector v;

    v.dx = (short)(word & 0xffff);
    v.dy = (short)(word >> 16);
    return v;
}

/** Returns the difference between vectors, before gpume_difference() limits it. */
static __device__ __forceinline__ GpumeU32 gpume_distance(GpumeVector a, GpumeVector b)
{
#ifdef GPUME_HOST
    return gpume_difference(a, b, ~0u);
#else
    GpumeU32 sum;

    asm("sad.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"((int)a.dx), "r"((int)b.dx), "r"(0));
    asm("sad.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"((int)a.dy), "r"((int)b.dy), "r"(sum));
    return sum;
#endif
}

/** Returns the pictures of field z by comparisons; with an index, the compiler would copy the arguments to memory. */
static __device__ __forceinline__ GpumeCudaPair
gpume_pair(const GpumeCudaPair (&pairs)[GPUME_CUDA_FIELDS], int z)
{
    GpumeCudaPair pair = pairs[0];

    GPUME_UNROLL for (int i = 1; i < GPUME_CUDA_FIELDS; i++) {
        pair.cur = z == i ? pairs[i].cur : pair.cur;
        pair.ref = z == i ? pairs[i].ref : pair.ref;
    }
    return pair;
}

/** Returns gpume_subpel_pair() of quarters of a sample, from a table of constants with a word for each row. */
static __device__ __forceinline__ int gpume_subpel_pair_of(int fx, int fy)
{
    GpumeU32 row = 0;

    GPUME_UNROLL for (int y = 0; y < 4; y++) {
        const GpumeU32 word = (GpumeU32)gpume_subpel_pair(0, y)       | (GpumeU32)gpume_subpel_pair(1, y) << 8 |
                              (GpumeU32)gpume_subpel_pair(2, y) << 16 | (GpumeU32)gpume_subpel_pair(3, y) << 24;

        row = fy == y ? word : row;
    }
    return (int)(row >> 8 * fx & 0xff);
}

/** Returns the factor for gpume_penalty_of(): blocks have 0, 1, 2, 3, 5 or 8 neighbours. */
static __device__ __forceinline__ GpumeU32 gpume_penalty_reciprocal(int nb)
{
    GpumeU32 reciprocal = GPUME_RECIPROCAL_LARGE(8);

    if (nb < 8)
        reciprocal = nb == 5 ? GPUME_RECIPROCAL_LARGE(5) : nb == 3 ? GPUME_RECIPROCAL_LARGE(3) :
                     nb == 2 ? GPUME_RECIPROCAL_LARGE(2) : GPUME_RECIPROCAL_LARGE(1);
    return reciprocal;
}

/** Returns gpume_penalty(). The dividend has 22 bits, so the multiplication is exact. */
static __device__ __forceinline__ GpumeU32
gpume_penalty_of(unsigned factor, unsigned sum, GpumeU32 reciprocal, int pel, int depth)
{
    return gpume_multiply_high((factor * sum >> gpume_log2_pel(pel)) * 2, reciprocal) << (depth - 8);
}

/**
 * A block, and where in planes its matches are.
 * @tparam SIDE  side of blocks, 0: any
 * @tparam PARTS vectors are subpel
 */
template<class Cost, int SIDE, int PARTS>
struct GpumeMatches {
    typedef typename Cost::Sample Sample;
    static const int BYTES    = GpumeSample<Sample>::bytes;
    static const int PER_WORD = GpumeSample<Sample>::per_word;
    static const int WORDS    = SIDE ? SIDE * BYTES / 4 : 1;
    /** Rows that are loaded at a time. */
    static const int ROWS     = WORDS > 4 ? (PARTS ? 1 : 2) : PARTS && WORDS > 1 ? 2 : WORDS == 2 && SIDE == 8 ? 8 : 4;

    /** Number of words that are loaded at once, and of loads that a row of a match needs at any position. */
    static const int UNIT   = !PARTS || SIDE < 16 ? 1 : WORDS > 4 ? 4 : 2;
    static const int UNITS  = (WORDS * 4 + 2 * (UNIT * 4) - 2) / (UNIT * 4);

    const GpumeU8 *cur;         ///< the block's first sample
    GpumeU64 ref;               ///< the reference's row of the block's position, from the first column on
    int byte;                   ///< byte offset of the block in that row
    int linesize, ref_linesize;
    int plane;                  ///< bytes between rows of consecutive planes
    int pel;
    int w, h;                   ///< size of the block, 1 or more

    /** Where a row of a match is loaded, and the offset of its first byte. */
    typedef struct Start {
        GpumeU64 unit;
        int byte;
    } Start;

    /** Returns the start of a match. @param which a sample of gpume_subpel_pair() */
    __device__ __forceinline__ Start start(int which, int dx, int dy) const
    {
        const GpumeU32 x = byte + (dx + (which >> 2 & 1)) * BYTES;
        /* fits into 32 bits, because rows are within the block's range */
        const int offset = (dy + (which >> 3 & 1)) * ref_linesize + (int)(x / (UNIT * 4) * (UNIT * 4)) +
                           (PARTS ? (which & 3) * plane : 0);
        Start s;

        s.unit = ref + (long long)offset;
        s.byte = x % (UNIT * 4);
        return s;
    }

    /** Sets where the match begins, in each of the two planes of which it is the mean. */
    __device__ __forceinline__ void place(int dx, int dy, Start *first, Start *second) const
    {
        if (PARTS) {
            const int log2 = gpume_log2_pel(pel);
            const int fx = (dx & (pel - 1)) << (2 - log2), fy = (dy & (pel - 1)) << (2 - log2);
            const int two = gpume_subpel_pair_of(fx, fy);

            *first  = start(two & 15, dx >> log2, dy >> log2);
            *second = start(two >> 4, dx >> log2, dy >> log2);
        } else {
            *first = *second = start(0, dx, dy);
        }
    }

    /** Loads the words of a row. */
    static __device__ __forceinline__ void load_words(GpumeU32 *words, const Start &s, long long row)
    {
        GpumeU32 raw[UNITS * UNIT];

        GPUME_UNROLL for (int i = 0; i < UNITS; i++)
            gpume_load_row<UNIT>(raw + UNIT * i, (const GpumeU8 *)s.unit + row + 4 * UNIT * i);
        if (UNIT > 2)
            GPUME_UNROLL for (int j = 0; j < WORDS + 2; j++)
                raw[j] = gpume_select(s.byte & 8, raw[j + 2], raw[j]);
        if (UNIT > 1)
            GPUME_UNROLL for (int j = 0; j < WORDS + 1; j++)
                raw[j] = gpume_select(s.byte & 4, raw[j + 1], raw[j]);
        GPUME_UNROLL for (int j = 0; j < WORDS; j++)
            words[j] = gpume_funnel_shift(raw[j], raw[j + 1], 8 * (s.byte & 3));
    }

    /** Adds the cost of some rows. */
    template<int PARTIAL>
    __device__ __forceinline__ GpumeU32 rows(int from, const Start &first, const Start &second, GpumeU32 sum) const
    {
        GPUME_UNROLL for (int r = 0; r < ROWS; r++) {
            const long long row = PARTIAL ? gpume_min(from + r, h - 1) : from + r;
            GpumeU32 c[WORDS], m[WORDS], n[WORDS];

            gpume_load_row<WORDS>(c, cur + row * linesize);
            load_words(m, first, row * ref_linesize);
            if (PARTS) {
                load_words(n, second, row * ref_linesize);
                GPUME_UNROLL for (int j = 0; j < WORDS; j++)
                    m[j] = gpume_mean2<Sample>(m[j], n[j]);
            }
            GPUME_UNROLL for (int j = 0; j < WORDS; j++) {
                const GpumeU32 mask = !PARTIAL ? ~0u : from + r < h ?
                                      gpume_mask<Sample>(w - j * PER_WORD) : 0;

                sum = Cost::word(c[j] & mask, m[j] & mask, sum);
            }
        }
        return sum;
    }

    /**
     * Returns the sum of some rows of a candidate.
     * @param nb    number of the lane's rows
     * @param limit the lane may stop once its sum reaches this
     */
    __device__ __forceinline__ GpumeU32
    sum_rows(int dx, int dy, int wanted, int from, int nb, int partial, GpumeU32 limit) const
    {
        Start first, second;
        GpumeU32 sum = 0;

        place(dx, dy, &first, &second);
        GPUME_NO_UNROLL for (int r = 0; r < nb; r += ROWS) {
            if (wanted)
                sum = partial ? rows<1>(from + r, first, second, sum) : rows<0>(from + r, first, second, sum);
            if (r + ROWS < nb) {
                wanted &= sum < limit;
                if (!__any_sync(GPUME_WHOLE_WARP, wanted))
                    break;
            }
        }
        return sum;
    }

    /** Returns the cost of a part of a match: every across-th word from left on, in every down-th row from top on. */
    __device__ __forceinline__ GpumeU32 part_of_any(int dx, int dy, int left, int across, int top, int down) const
    {
        const int together = 4, words = (w + PER_WORD - 1) / PER_WORD;
        Start first, second;
        GpumeU32 sum = 0;

        GPUME_NO_UNROLL for (int x = left; x < words; x += across) {
            GpumeMatches at = *this;

            at.byte += 4 * x;
            at.place(dx, dy, &first, &second);
            GPUME_NO_UNROLL for (int y = top; y < h; y += together * down) {
                GpumeU32 c[together][1], m[together][1], n[together][1];

                GPUME_UNROLL for (int j = 0; j < together; j++) {
                    const long long r = gpume_min(y + j * down, h - 1);

                    gpume_load_row<1>(c[j], cur + r * linesize + 4 * x);
                    load_words(m[j], first, r * ref_linesize);
                    if (PARTS)
                        load_words(n[j], second, r * ref_linesize);
                }
                GPUME_UNROLL for (int j = 0; j < together; j++) {
                    const GpumeU32 mask = y + j * down < h ? gpume_mask<Sample>(w - x * PER_WORD) : 0;

                    if (PARTS)
                        m[j][0] = gpume_mean2<Sample>(m[j][0], n[j][0]);
                    sum = Cost::word(c[j][0] & mask, m[j][0] & mask, sum);
                }
            }
        }
        return sum;
    }

    /** Returns a lane's share of the cost of a match that so many lanes compute together. */
    __device__ __forceinline__ GpumeU32 share_of_any(int dx, int dy, int lane, int lanes) const
    {
        const int words = (w + PER_WORD - 1) / PER_WORD, down = words < lanes ? lanes / words : 1;
        const int top   = lane / words < down ? lane / words : h;

        return part_of_any(dx, dy, lane % words, lanes, top, down);
    }

    /** Returns the block of another lane. */
    __device__ __forceinline__ GpumeMatches of_lane(int lane) const
    {
        GpumeMatches m = *this;

        m.cur  = (const GpumeU8 *)gpume_of_lane((GpumeU64)cur, lane);
        m.ref  = gpume_of_lane(ref, lane);
        m.byte = (int)gpume_of_lane((GpumeU32)byte, lane);
        m.w    = (int)gpume_of_lane((GpumeU32)w, lane);
        m.h    = (int)gpume_of_lane((GpumeU32)h, lane);
        return m;
    }
};

/** Computes costs of matches. All lanes of a warp call cost(). */
template<class Cost, int SIDE, int PARTS>
struct GpumeMatcher : GpumeMatches<Cost, SIDE, PARTS> {
    typedef GpumeMatches<Cost, SIDE, PARTS> Matches;
    typedef typename Matches::Sample Sample;
    typedef typename Matches::Start Start;
    /** Lanes that share a candidate. */
    static const int SHARES   = GPUME_CUDA_STEP_LANES(SIDE) / 16;
    /** Nonzero: the fewer candidates a warp has, the more lanes share each of them. */
    static const int SPREADS  = GPUME_CUDA_STEP_REMEMBERS(SIDE, PARTS);
    /**
     * Nonzero: the lower half of the warp has a block; that of the upper half, if there is one, is
     * two blocks behind it in the same row.
     */
    int is_visit;
    using Matches::ROWS;
    using Matches::cur;
    using Matches::w;
    using Matches::h;

    /**
     * Returns D for blocks of any size: the whole warp computes one match after the other, and
     * equal matches only once.
     */
    __device__ __forceinline__ GpumeU32 cost_of_any(int dx, int dy, int wanted) const
    {
        const GpumeU32 word = gpume_vector_of(dx, dy);
        GpumeU32 left = __ballot_sync(GPUME_WHOLE_WARP, wanted), own = 0;

        GPUME_NO_UNROLL while (left) {
            const int whose = gpume_first_bit(left);
            const GpumeU32 vector = gpume_of_lane(word, whose);
            const GpumeVector v   = gpume_of_word(vector);
            const Matches m = this->of_lane(whose);
            const int same = vector == word && m.cur == cur;
            GpumeU32 sum = m.share_of_any(v.dx, v.dy, threadIdx.x % 32, 32);

            GPUME_UNROLL for (int bit = 1; bit < 32; bit <<= 1)
                sum += __shfl_xor_sync(GPUME_WHOLE_WARP, sum, bit);
            own   = same ? sum : own;
            left &= ~__ballot_sync(GPUME_WHOLE_WARP, same);
        }
        return own;
    }

    /**
     * Returns D if all lanes have the same block, and both halves of the warp the same candidates.
     * In small blocks a lane sums every second row of its candidate.
     */
    __device__ __forceinline__ GpumeU32 cost_of_same(GpumeSad<Sample>, int dx, int dy, int wanted) const
    {
        if (w * h * (int)sizeof(Sample) > GPUME_CUDA_SMALL_BLOCK)
            return cost_of_any(dx, dy, wanted);

        const GpumeU32 sum = wanted ? this->part_of_any(dx, dy, 0, 1, threadIdx.x % 32 / 16, 2) : 0;

        return sum + __shfl_xor_sync(GPUME_WHOLE_WARP, sum, 16);
    }

    __device__ __forceinline__ GpumeU32 cost_of_same(GpumeSatd<Sample> cost, int dx, int dy, int wanted) const
    {
        return cost_of(cost, dx, dy, wanted, ~0u);
    }

    /**
     * Returns D of a vector.
     * @param wanted 0: the lane loads nothing
     * @param limit  if D is not less than limit, the result may be any value from limit to D
     */
    __device__ __forceinline__ GpumeU32 cost(int dx, int dy, int wanted, GpumeU32 limit) const
    {
        return __any_sync(GPUME_WHOLE_WARP, wanted) ? cost_of(Cost(), dx, dy, wanted, limit) : 0;
    }

    /** Returns D; the lanes of a candidate compute it. */
    __device__ __forceinline__ GpumeU32
    cost_of(GpumeSad<Sample>, int dx, int dy, int wanted, GpumeU32 limit) const
    {
        if (!SIDE)
            return cost_of_any(dx, dy, wanted);

        const int partial = __any_sync(GPUME_WHOLE_WARP, w < SIDE || h < SIDE);

        return SPREADS ? spread_cost(dx, dy, wanted, partial, limit) :
                         this->sum_rows(dx, dy, wanted, 0, SIDE, partial, limit);
    }

    /** Returns the block of a lane that has one, like of_lane(). */
    __device__ __forceinline__ Matches of_any_lane(int whose, int partial) const
    {
        Matches m = *this;

        if (!is_visit)
            return this->of_lane(whose);
        m.byte = (int)gpume_of_lane((GpumeU32)this->byte, 0) + (whose >> 4) * 2 * SIDE * Matches::BYTES;
        m.cur += m.byte - this->byte;
        if (partial)
            m.w = (int)gpume_of_lane((GpumeU32)w, whose);
        return m;
    }

    /**
     * Returns D. The fewer candidates a warp has, the more lanes share each, and each lane sums some
     * rows. A warp has a byte of shared memory for each of its lanes.
     */
    __device__ __forceinline__ GpumeU32 spread_cost(int dx, int dy, int wanted, int partial, GpumeU32 limit) const
    {
        GPUME_SHARED(GpumeU8, shared);
        GpumeU8 *const lanes = shared + (threadIdx.x & ~31u);   // those of candidates, in order
        const int lane = threadIdx.x % 32;
        const GpumeU32 mask = __ballot_sync(GPUME_WHOLE_WARP, wanted);
        const int nb    = gpume_popcount(mask), rank = gpume_popcount(mask & ~(~0u << lane));
        const int slots = nb > 16 || SIDE * 16 / 32 < ROWS ? 32 : nb > 8 || SIDE * 8 / 32 < ROWS ? 16 :
                          nb > 4 || SIDE * 4 / 32 < ROWS ? 8 : 4;
        const int nb_rows = SIDE * slots / 32;
        Matches m = *this;
        GpumeU32 sum;

        if (slots < 32) {
            const int k = lane & (slots - 1);
            int whose = 31;

            if (wanted)
                lanes[rank] = (GpumeU8)lane;
            __syncwarp();
            if (k < nb)
                whose = lanes[k];
            /* the next call writes there */
            __syncwarp();

            const GpumeVector v = gpume_of_word(gpume_of_lane(gpume_vector_of(dx, dy), whose));

            m      = of_any_lane(whose, partial);
            dx     = v.dx;
            dy     = v.dy;
            limit  = gpume_of_lane(limit, whose);
            wanted = k < nb;
        }
        sum = m.sum_rows(dx, dy, wanted, lane / slots * nb_rows, nb_rows, partial, limit);
        if (slots == 32)
            return sum;
        GPUME_NO_UNROLL for (int bit = slots; bit < 32; bit <<= 1)
            sum += __shfl_xor_sync(GPUME_WHOLE_WARP, sum, bit);
        return gpume_of_lane(sum, rank);
    }

    /** Returns the costs of areas of a match whose first row the lane loads. Each group of eight lanes has a match. */
    __device__ __forceinline__ GpumeU32 areas(int dx, int dy, int wanted) const
    {
        const int row = threadIdx.x % 8;
        Start first, second;
        GpumeU32 sum = 0;

        this->place(dx, dy, &first, &second);
        /* blocks of a warp may differ in size */
        GPUME_NO_UNROLL for (int y = 0; __any_sync(GPUME_WHOLE_WARP, wanted && y < h); y += 8) {
            const long long r = gpume_min(y + row, h - 1);
            Start s = first, t = second;

            GPUME_NO_UNROLL for (int x = 0; __any_sync(GPUME_WHOLE_WARP, wanted && x < w); x += 8) {
                GpumeU32 c[Cost::WORDS], m[Cost::WORDS], n[1];

                GPUME_UNROLL for (int j = 0; j < Cost::WORDS; j++) {
                    const int at = x + j * Matches::PER_WORD;
                    const GpumeU32 mask = y + row < h ? gpume_mask<Sample>(w - at) : 0;
                    GpumeU32 match[1];

                    c[j] = m[j] = 0;
                    if (wanted && mask) {
                        gpume_load_global(&c[j], cur + r * this->linesize + at * Matches::BYTES);
                        Matches::load_words(match, s, r * this->ref_linesize);
                        if (PARTS) {
                            Matches::load_words(n, t, r * this->ref_linesize);
                            match[0] = gpume_mean2<Sample>(match[0], n[0]);
                        }
                        c[j] &= mask;
                        m[j]  = match[0] & mask;
                    }
                    s.unit += 4;
                    t.unit += 4;
                }
                sum += Cost::area(c, m, row, 1, w - x >= 8 && h - y >= 8);
            }
        }
        return sum;
    }

    /**
     * Returns D. Groups of eight lanes have the same block and compute one candidate after the
     * other. Both halves of the warp have the same candidates, and each half computes some of them.
     */
    __device__ __forceinline__ GpumeU32
    cost_of(GpumeSatd<Sample>, int dx, int dy, int wanted, GpumeU32 limit) const
    {
        const int lane = threadIdx.x % 32;
        GpumeU32 own = 0;

        static_assert(!SIDE && SHARES == 2, "both halves of a warp have the same candidates");
        GPUME_NO_UNROLL for (int i = 0; i < 4; i++) {
            const int whose = (lane & 24) + lane / 16 * 4 + i;
            const int has   = gpume_of_lane((GpumeU32)wanted, whose) != 0;
            const int x = (int)gpume_of_lane((GpumeU32)dx, whose), y = (int)gpume_of_lane((GpumeU32)dy, whose);
            GpumeU32 sum;

            if (!__any_sync(GPUME_WHOLE_WARP, has))
                continue;
            sum = areas(x, y, has);
            GPUME_UNROLL for (int bit = 1; bit < 8; bit <<= 1)
                sum += __shfl_xor_sync(GPUME_WHOLE_WARP, sum, bit);
            own = lane == whose ? sum : own;
        }
        return own + __shfl_xor_sync(GPUME_WHOLE_WARP, own, 16);
    }
};

/** Returns the matcher of a block on the level of a step. */
template<class Matcher>
static __device__ __forceinline__ Matcher
gpume_matcher(const GpumeCudaStepArgs &a, const GpumeCudaPair &pair, const GpumeBox &b)
{
    Matcher m;

    m.byte         = b.x0 * Matcher::BYTES;
    m.cur          = (const GpumeU8 *)pair.cur + (long long)a.linesize * b.y0 + m.byte;
    m.ref          = pair.ref + (long long)a.ref_linesize * b.y0;
    m.linesize     = a.linesize;
    m.ref_linesize = a.ref_linesize;
    m.plane        = GPUME_CUDA_PARTS_PLANE(a.ref_linesize, 1);
    m.pel          = a.params.pel;
    m.w            = b.w;
    m.h            = b.h;
    m.is_visit     = 0;
    return m;
}

/** Returns four samples of a row from any position on, 8 bits of each. Reads up to a word behind them. */
static __device__ __forceinline__ GpumeU32 gpume_load_8_bits(GpumeU8, GpumeU64 row, int x, int depth)
{
    const GpumeU32 *words = (const GpumeU32 *)(row + (x & ~3));

    return gpume_funnel_shift(words[0], words[1], 8 * (x & 3));
}

static __device__ __forceinline__ GpumeU32 gpume_load_8_bits(GpumeU16, GpumeU64 row, int x, int depth)
{
    const GpumeU32 *words = (const GpumeU32 *)(row + 2 * (x & ~1));
    const GpumeU32 low  = gpume_funnel_shift(words[0], words[1], 16 * (x & 1)) >> (depth - 8);
    const GpumeU32 high = gpume_funnel_shift(words[1], words[2], 16 * (x & 1)) >> (depth - 8);

    return (low & 0xff) | (low >> 8 & 0xff00) | (high & 0xff) << 16 | (high << 8 & 0xff000000);
}

/** A block of the search for global candidates. */
template<typename Sample>
struct GpumeSmallBlock {
    const GpumeCudaGlobalArgs &a;
    GpumeU64 place;                         ///< plane in which matches are
    int x0, y0, w, h;
    GpumeU32 cur[GPUME_GLOBAL_BLOCK];       ///< 0 outside the block

    __device__ __forceinline__ GpumeSmallBlock(const GpumeCudaGlobalArgs &args, int search, const GpumeBox &b)
        : a(args), x0(b.x0), y0(b.y0), w(b.w), h(b.h)
    {
        /* searches in the opposite directions follow those of the fields */
        const int opposite = search >= a.nb_fields;
        const GpumeCudaPair pair = gpume_pair(a.pairs, opposite ? search - a.nb_fields : search);

        place = opposite ? pair.cur : pair.ref;
        GPUME_UNROLL for (int r = 0; r < GPUME_GLOBAL_BLOCK; r++)
            cur[r] = load(opposite ? pair.ref : pair.cur, x0, y0 + r) & mask(r);
    }

    __device__ __forceinline__ GpumeU32 load(GpumeU64 plane, int x, int y) const
    {
        return gpume_load_8_bits(Sample(), plane + (long long)a.linesize * gpume_min(y, a.params.height - 1), x,
                                 a.params.depth);
    }

    /** Returns a row of a match. The row may be below the picture. */
    __device__ __forceinline__ GpumeU32 ref(int dx, int dy) const
    {
        return load(place, x0 + dx, y0 + dy);
    }

    /** Returns a mask of the samples of a row that belong to the block. */
    __device__ __forceinline__ GpumeU32 mask(int row) const
    {
        return row < h ? gpume_mask<GpumeU8>(w) : 0;
    }
};

/** Appends an entry to a list. */
static __device__ __forceinline__ void gpume_append(GpumeU64 list, GpumeU64 count, GpumeU32 entry)
{
    ((GpumeU32 *)list)[atomicAdd((GpumeU32 *)count, 1)] = entry;
}

/** Appends a cell to the list of further cells unless it is on a list. */
static __device__ __forceinline__ void gpume_append_cell(const GpumeCudaGlobalArgs &a, GpumeU32 cell)
{
    if (atomicExch((GpumeU32 *)a.marks + cell, a.epoch) != a.epoch)
        gpume_append(a.to_cells, a.to_count, cell);
}

/**
 * Returns the index of one of the nine cells of the opposite search to which the vector v of a cell of field z
 * leads, or -1.
 * @param b the cell
 */
static __device__ __forceinline__ int
gpume_opposite_cell(const GpumeCudaGlobalArgs &a, int z, const GpumeBox &b, GpumeVector v, int i)
{
    const GpumeParams &p = a.params;
    const int x = gpume_partner(b.x0, b.w, v.dx, 1, GPUME_GLOBAL_BLOCK, p.bw) + i % 3 - 1;
    const int y = gpume_partner(b.y0, b.h, v.dy, 1, GPUME_GLOBAL_BLOCK, p.bh) + i / 3 - 1;
    const int back = a.nb_searches > a.nb_fields ? a.nb_fields + z : a.nb_fields - 1 - z;

    return i < 9 && x >= 0 && x < p.bw && y >= 0 && y < p.bh ? (back * p.bh + y) * p.bw + x : -1;
}

#endif /* AVFILTER_GPUME_CUDA_MOTION_CUH */
