/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Compares samples in a scan: four bytes at a time, or two samples of 9 or 10 bits at a time as
 * half-precision numbers.
 *
 * Sample                 the type of a sample
 * COPIES                 copies of the window in shared memory: number of samples in a word
 * INADMISSIBLE           is set in orders of inadmissible candidates; orders have 16 more bits
 * add_up<SIDE>(sums, rows, window, pitch)
 *                        adds the differences of adjacent blocks to sums, for a lane's candidates
 * cost(sum)              the cost for a sum
 * key(sum, order)        the better of two candidates has the smaller key; blocks of 4 or 8
 * Pair                   the costs of two candidates of a tile, one below the other
 * add(pair, sums), cost(pair, j)
 *                        add two sums to a Pair, and return a cost of it
 * Key, key(pair, j, order), cost_of(key)
 *                        the same for a tile of 16x16 samples
 */

#ifndef AVFILTER_GPUME_CUDA_SAMPLES_CUH
#define AVFILTER_GPUME_CUDA_SAMPLES_CUH

#include "libavfilter/gpume/cuda/window.cuh"

#define GPUME_NB_DX GPUME_CUDA_SCAN_DX
#define GPUME_NB_DY GPUME_CUDA_SCAN_DY
static_assert(GPUME_NB_DY == 2, "candidates are taken in pairs");

template<typename Sample> struct GpumeSamples;

/** Bytes: an instruction adds up four differences. Costs of blocks of 4 and 8 have 14 bits, costs of tiles 16. */
template<> struct GpumeSamples<GpumeU8> {
    typedef GpumeU8 Sample;
    typedef GpumeU32 Key;
    static const int COPIES = 4;
    /** Above any cost << 16, to which it may be added if blocks are smaller than a tile. */
    static const GpumeU32 INADMISSIBLE = GPUME_CUDA_SIDE == 16 ? 0xffff0000 : 0xc0000000;
    struct Pair { GpumeU32 both; };

    template<int SIDE, int BLOCKS, class Rows>
    static __device__ __forceinline__ void
    add_up(GpumeU32 (&sum)[BLOCKS][GPUME_NB_DX][GPUME_NB_DY], Rows &cur, const GpumeSharedWords &words, int pitch)
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
                            sum[4 * c / SIDE][k][j] = gpume_sad4(cur.get(r - j, c), cur.masked(w[c + k], r - j, c),
                                                                 sum[4 * c / SIDE][k][j]);
        }
    }

    static __device__ __forceinline__ GpumeU32 key(GpumeU32 sum, GpumeU32 order)
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

    static __device__ __forceinline__ GpumeU32 cost_of(Key key)
    {
        return key >> 16;
    }
};

/**
 * Half-precision numbers: an instruction subtracts both samples of a word, and another adds up the
 * absolute values of two words. A sum has two parts of 16 bits. Costs of blocks of 8 have 16 bits,
 * costs of tiles 18.
 */
template<> struct GpumeSamples<GpumeU10> {
    typedef GpumeU10 Sample;
    typedef GpumeU64 Key;
    static const int COPIES = 2;
    static const GpumeU32 INADMISSIBLE = 0xffff0000;    // above cost << 16, which is 64 * 1023 << 16 at most
    struct Pair { GpumeU32 cost[2]; };

    template<int SIDE, int BLOCKS, class Rows>
    static __device__ __forceinline__ void
    add_up(GpumeU32 (&sum)[BLOCKS][GPUME_NB_DX][GPUME_NB_DY], Rows &cur, const GpumeSharedWords &words, int pitch)
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

    static __device__ __forceinline__ GpumeU32 key(GpumeU32 sum, GpumeU32 order)
    {
        return (((sum << 16) + sum) & 0xffff0000) | order;
    }

    static __device__ __forceinline__ void add(Pair &pair, const GpumeU32 (&sum)[2])
    {
        GPUME_UNROLL for (int j = 0; j < 2; j++)
            pair.cost[j] += (sum[j] & 0xffff) + (sum[j] >> 16);
    }

    static __device__ __forceinline__ GpumeU32 cost(const Pair &pair, int j)
    {
        return pair.cost[j];
    }

    static __device__ __forceinline__ Key key(const Pair &pair, int j, GpumeU32 order)
    {
        return gpume_key(order >> 16 ? ~0u : pair.cost[j], order);
    }

    static __device__ __forceinline__ GpumeU32 cost_of(Key key)
    {
        return (GpumeU32)(key >> 32);
    }
};

#endif /* AVFILTER_GPUME_CUDA_SAMPLES_CUH */
