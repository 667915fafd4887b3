/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Compares samples in a scan: four bytes at a time, two samples of 9 or 10 bits at a time as
 * half-precision numbers, or one sample of up to 16 bits at a time.
 *
 * COPIES                 copies of the window in shared memory: number of samples in a word there
 * WORDS                  words of a row that are compared at a time, if blocks are larger than 4
 * INADMISSIBLE           is set in orders of inadmissible candidates; orders have 16 more bits
 * add_up<SIDE>(sums, rows, window, pitch)
 *                        adds the differences of adjacent blocks to sums, for a lane's candidates
 * BlockKey, key(sum, order)
 *                        the better of two candidates has the smaller key; blocks of 4 or 8
 * Pair                   the costs of two candidates of a tile, one below the other
 * add(pair, sums), cost(pair, j)
 *                        add two sums to a Pair, and return a cost of it
 * Key, key(pair, j, order)
 *                        the same for a tile of 16x16 samples
 */

#ifndef AVFILTER_GPUME_CUDA_SAMPLES_CUH
#define AVFILTER_GPUME_CUDA_SAMPLES_CUH

#include "libavfilter/gpume/cuda/window.cuh"

#define GPUME_NB_DX GPUME_CUDA_SCAN_DX
#define GPUME_NB_DY GPUME_CUDA_SCAN_DY
static_assert(GPUME_NB_DY == 2, "candidates are taken in pairs");

template<typename Sample> struct GpumeSamples;

/** Returns the cost in a key of either type. */
static __device__ __forceinline__ GpumeU32 gpume_cost_of(GpumeU32 key)
{
    return key >> 16;
}

static __device__ __forceinline__ GpumeU32 gpume_cost_of(GpumeU64 key)
{
    return (GpumeU32)(key >> 32);
}

/** Sums or orders of a lane's candidates. */
typedef GpumeU32 GpumeSums[GPUME_NB_DX][GPUME_NB_DY];

/**
 * Adds up the differences of four words of each row.
 * @tparam Samples has add_word(cur, ref, sum): sum plus the differences of a word
 * @tparam SPAN    words of a row of a block
 */
template<class Samples, int SPAN, class Rows>
static __device__ __forceinline__ void
gpume_add_up_words(GpumeSums *sum, Rows &cur, const GpumeSharedWords &words, int pitch)
{
    GPUME_UNROLL for (int r = 0; r < Rows::LINES + GPUME_NB_DY - 1; r++) {
        GpumeU32 w[8];

        if (r < Rows::LINES)
            cur.load(r);
        words.load4<0>(w,     r * pitch);
        words.load4<4>(w + 4, r * pitch);
        GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY; j++)
            GPUME_UNROLL for (int c = 0; c < 4; c++)
                GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
                    if (r - j >= 0 && r - j < Rows::LINES)
                        sum[c / SPAN][k][j] = Samples::add_word(cur.get(r - j, c), cur.masked(w[c + k], r - j, c),
                                                                sum[c / SPAN][k][j]);
    }
}

/** Bytes: an instruction adds up four differences. Costs of blocks of 4 and 8 have 14 bits, costs of tiles 16. */
template<> struct GpumeSamples<GpumeU8> {
    typedef GpumeU32 Key;
    typedef GpumeU32 BlockKey;
    static const int COPIES = 4;
    static const int WORDS  = 4;
    /** Above any cost << 16, to which it may be added if blocks are smaller than a tile. */
    static const GpumeU32 INADMISSIBLE = GPUME_CUDA_SIDE == 16 ? 0xffff0000 : 0xc0000000;
    struct Pair { GpumeU32 both; };

    template<int SIDE, class Rows>
    static __device__ __forceinline__ void
    add_up(GpumeSums *sum, Rows &cur, const GpumeSharedWords &words, int pitch)
    {
        gpume_add_up_words<GpumeSamples, SIDE / 4>(sum, cur, words, pitch);
    }

    static __device__ __forceinline__ GpumeU32 add_word(GpumeU32 cur, GpumeU32 ref, GpumeU32 sum)
    {
        return gpume_sad4(cur, ref, sum);
    }

    static __device__ __forceinline__ BlockKey key(GpumeU32 sum, GpumeU32 order)
    {
        return (sum << 16) + order;
    }

    static __device__ __forceinline__ void add(Pair &pair, const GpumeU32 (&sum)[2])
    {
        pair.both += sum[0] + (sum[1] << 16);
    }

    static __device__ __forceinline__ GpumeU32 cost(const Pair &pair, int j)
    {
        return j ? pair.both >> 16 : pair.both & 0xffff;
    }

    static __device__ __forceinline__ Key key(const Pair &pair, int j, GpumeU32 order)
    {
        return (j ? pair.both & 0xffff0000 : pair.both << 16) |
               (GPUME_CUDA_SIDE < 16 && order >> 16 ? 0xffff0000 : order);
    }
};

/** Samples of two bytes: the cost of a tile has more than 16 bits. */
struct GpumeWideSamples {
    typedef GpumeU64 Key;
    static const GpumeU32 INADMISSIBLE = 0xffff0000;
    struct Pair { GpumeU32 cost[2]; };

    static __device__ __forceinline__ GpumeU32 cost(const Pair &pair, int j)
    {
        return pair.cost[j];
    }

    /** Returns a key whose cost is above all others if the candidate is inadmissible. */
    static __device__ __forceinline__ Key key(GpumeU32 sum, GpumeU32 order)
    {
        return gpume_key(sum | (GpumeU32)((int)order >> 31), order);
    }

    static __device__ __forceinline__ Key key(const Pair &pair, int j, GpumeU32 order)
    {
        return key(pair.cost[j], order);
    }
};

/**
 * Half-precision numbers: an instruction subtracts both samples of a word, and another adds up the
 * absolute values of two words. A sum has two parts of 16 bits. Costs of blocks of 8 have 16 bits,
 * costs of tiles 18.
 */
template<> struct GpumeSamples<GpumeU10> : GpumeWideSamples {
    typedef GpumeU32 BlockKey;
    static const int COPIES = 2;
    static const int WORDS  = 8;

    template<int SIDE, class Rows>
    static __device__ __forceinline__ void
    add_up(GpumeSums *sum, Rows &cur, const GpumeSharedWords &words, int pitch)
    {
        /* rows whose differences are added up at once: parts of sums have at most 16 bits */
        const int step = SIDE == 4 ? 2 : 1, last = Rows::LINES + GPUME_NB_DY - 1;

        GPUME_UNROLL for (int r = 0; r < last; r += step) {
            GpumeU32 w[step][12];

            GPUME_UNROLL for (int t = 0; t < step && r + t < last; t++) {
                if (r + t < Rows::LINES)
                    cur.load(r + t);
                words.load4<0>(w[t],     (r + t) * pitch);
                words.load4<4>(w[t] + 4, (r + t) * pitch);
                if (Rows::WORDS > 4)
                    words.load4<8>(w[t] + 8, (r + t) * pitch);
            }
            GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY; j++)
                GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
                    GPUME_UNROLL for (int c = 0; c < Rows::WORDS; c += 2)
                        GPUME_UNROLL for (int t = 0; t < step; t++) {
                            const int y = r + t - j;

                            if (y >= 0 && y < Rows::LINES)
                                sum[2 * c / SIDE][k][j] += gpume_add_absolute_halves(
                                    gpume_subtract_halves(cur.masked(w[t][c + k],     y, c),     cur.get(y, c)),
                                    gpume_subtract_halves(cur.masked(w[t][c + k + 1], y, c + 1), cur.get(y, c + 1)));
                        }
        }
    }

    /** INADMISSIBLE is above cost << 16, which is 64 * 1023 << 16 at most. */
    static __device__ __forceinline__ BlockKey key(GpumeU32 sum, GpumeU32 order)
    {
        return (((sum << 16) + sum) & 0xffff0000) | order;
    }

    using GpumeWideSamples::key;

    static __device__ __forceinline__ void add(Pair &pair, const GpumeU32 (&sum)[2])
    {
        GPUME_UNROLL for (int j = 0; j < 2; j++)
            pair.cost[j] += (sum[j] & 0xffff) + (sum[j] >> 16);
    }
};

/** Samples of up to 16 bits, each in a word of its own: an instruction adds up a difference. */
template<> struct GpumeSamples<GpumeU16> : GpumeWideSamples {
    typedef GpumeU64 BlockKey;
    static const int COPIES = 1;
    static const int WORDS  = 4;

    template<int SIDE, class Rows>
    static __device__ __forceinline__ void
    add_up(GpumeSums *sum, Rows &cur, const GpumeSharedWords &words, int pitch)
    {
        gpume_add_up_words<GpumeSamples, SIDE>(sum, cur, words, pitch);
    }

    static __device__ __forceinline__ GpumeU32 add_word(GpumeU32 cur, GpumeU32 ref, GpumeU32 sum)
    {
#ifdef GPUME_HOST
        return sum + (cur < ref ? ref - cur : cur - ref);
#else
        GpumeU32 ret;

        asm("sad.u32 %0, %1, %2, %3;" : "=r"(ret) : "r"(cur), "r"(ref), "r"(sum));
        return ret;
#endif
    }

    static __device__ __forceinline__ void add(Pair &pair, const GpumeU32 (&sum)[2])
    {
        GPUME_UNROLL for (int j = 0; j < 2; j++)
            pair.cost[j] += sum[j];
    }
};

#endif /* AVFILTER_GPUME_CUDA_SAMPLES_CUH */
