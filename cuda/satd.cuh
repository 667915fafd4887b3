/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The sum of absolute transformed differences.
 *
 * Eight lanes process an area of 8x8 samples, one row each: a tile of 8x8 or, where the block ends
 * or for blocks of 4x4, four tiles of 4x4. A Hadamard transform of 8x8 consists of the transforms
 * of its four quarters and one more step in each direction, so all lanes take the same branches. A
 * row is transformed in registers. For the columns, lanes exchange half of their values before each
 * step, so that both values of a pair are in one lane. The last step needs only |a + b| + |a - b| =
 * 2 max(|a|, |b|): with M the sum of these maxima, a tile of 8x8 costs (2 M + 2) >> 2 = (M + 1) >>
 * 1, and a tile of 4x4 costs M.
 */

#ifndef AVFILTER_GPUME_CUDA_SATD_CUH
#define AVFILTER_GPUME_CUDA_SATD_CUH

#include "libavfilter/gpume/cuda/device.cuh"

template<typename Sample_> struct GpumeSatd {
    typedef Sample_ Sample;
    static const int LANES = 8;
    static const int WORDS = 8 / GpumeSample<Sample>::per_word;     ///< words in a row of an area

    /** Adds and subtracts the values of each pair, whose indexes differ by STEP; or leaves them unchanged. */
    template<int STEP>
    static __device__ __forceinline__ void add_pairs(int (&v)[8], int wanted)
    {
        GPUME_UNROLL for (int k = 0; k < 8; k++)
            if (!(k & STEP)) {
                const int a = v[k], b = v[k + STEP];

                v[k]        = wanted ? a + b : a;
                v[k + STEP] = wanted ? a - b : b;
            }
    }

    /** Exchanges values between two lanes: one keeps the first four values of both, the other (upper) the last four. */
    static __device__ __forceinline__ void exchange(int (&v)[8], int upper, int bit)
    {
        GPUME_UNROLL for (int k = 0; k < 4; k++) {
            const GpumeU32 other = __shfl_xor_sync(GPUME_WHOLE_WARP, gpume_select(upper, v[k], v[k + 4]), bit);

            v[k]     = (int)gpume_select(upper, v[k + 4], v[k]);
            v[k + 4] = (int)other;
        }
    }

    /**
     * Returns the cost of an area in the lane of its first row, and 0 in other lanes. All lanes of
     * a warp call it.
     * @param d      differences of the lane's row; 0 outside the block
     * @param stride lanes between rows, a power of two
     * @param whole  nonzero: the area is one tile
     */
    static __device__ __forceinline__ GpumeU32 area(int (&d)[8], int row, int stride, int whole)
    {
        GpumeU32 sum = 0;

        add_pairs<4>(d, whole);
        add_pairs<2>(d, 1);
        add_pairs<1>(d, 1);
        exchange(d, row & 4, 4 * stride);
        add_pairs<4>(d, whole);
        exchange(d, row & 1, stride);
        add_pairs<4>(d, 1);
        exchange(d, row & 2, 2 * stride);
        GPUME_UNROLL for (int k = 0; k < 4; k++)
            sum += gpume_max(d[k] < 0 ? -d[k] : d[k], d[k + 4] < 0 ? -d[k + 4] : d[k + 4]);
        GPUME_UNROLL for (int bit = 1; bit < 8; bit <<= 1)
            sum += __shfl_xor_sync(GPUME_WHOLE_WARP, sum, bit * stride);
        return row ? 0 : whole ? (sum + 1) >> 1 : sum;
    }

    /** Returns the cost of an area like area(), from words of samples without padding bits. */
    static __device__ __forceinline__ GpumeU32
    area(const GpumeU32 (&cur)[WORDS], const GpumeU32 (&ref)[WORDS], int row, int stride, int whole)
    {
        const int per_word = GpumeSample<Sample>::per_word, bits = 32 / per_word;
        int d[8];

        GPUME_UNROLL for (int k = 0; k < 8; k++)
            d[k] = (int)(Sample)(cur[k / per_word] >> k % per_word * bits) -
                   (int)(Sample)(ref[k / per_word] >> k % per_word * bits);
        return area(d, row, stride, whole);
    }

    template<class Difference>
    static __device__ __forceinline__ GpumeU32 by_warp(int w, int h, const Difference &at)
    {
        const int row = threadIdx.x % 8, across = (w + 7) / 8, nb = across * ((h + 7) / 8);
        GpumeU32 sum  = 0;

        GPUME_NO_UNROLL for (int first = 0; first < nb; first += 4) {
            const int i = first + threadIdx.x % 32 / 8;
            const int x = i % across * 8, y = i / across * 8;
            int d[8];

            GPUME_UNROLL for (int k = 0; k < 8; k++)
                d[k] = x + k < w && y + row < h ? at(x + k, y + row) : 0;
            sum += area(d, row, 1, w - x >= 8 && h - y >= 8);
        }
        return sum;
    }
};

#endif /* AVFILTER_GPUME_CUDA_SATD_CUH */
