/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The sum of absolute differences, and the interface of a cost for kernels.
 *
 * A cost is a class with a Sample and these members:
 *
 * LANES                    minimum number of lanes of a warp that evaluate a candidate together
 * by_warp(w, h, at)        the lane's share of the cost of a block, where at(x, y) are differences;
 *                          all lanes of a warp call it
 * word(cur, ref, sum)      if LANES is 1: sum plus the cost of a word of samples; samples outside
 *                          the block are 0 in both pictures
 *
 * Sum<SUBPEL>              if LANES is 1: adds up costs of words, like GpumeSadSum
 *
 * A cost whose LANES is not 1 has its own functions in GpumePlaneEvaluator and GpumeMatcher.
 */

#ifndef AVFILTER_GPUME_CUDA_SAD_CUH
#define AVFILTER_GPUME_CUDA_SAD_CUH

#include "libavfilter/gpume/cuda/device.cuh"

/** Returns the means of corresponding samples of two words, rounded up. */
template<typename Sample>
static __device__ __forceinline__ GpumeU32 gpume_mean2(GpumeU32 a, GpumeU32 b)
{
    const GpumeU32 low = sizeof(Sample) == 1 ? 0x7f7f7f7f : 0x7fff7fff;

    return (a | b) - (((a ^ b) >> 1) & low);
}

/** Returns sum plus the absolute differences of the samples of two words. */
template<typename Sample>
static __device__ __forceinline__ GpumeU32 gpume_sad_word(GpumeU32 cur, GpumeU32 ref, GpumeU32 sum)
{
    return sizeof(Sample) == 1 ? gpume_sad4(cur, ref, sum) : gpume_sad2(cur, ref, sum);
}

/**
 * Computes the sum of the absolute differences of up to WORDS words.
 * @tparam SUBPEL the words of the reference are results of mean()
 */
template<typename Sample, int SUBPEL> struct GpumeSadSum {
    static const int WORDS  = 1 << 16;
    static const int CHAINS = 4;    ///< independent sums; with a single one, each word would wait for the previous

    GpumeU32 sum;

    static __device__ __forceinline__ GpumeU32 mean(GpumeU32 a, GpumeU32 b)
    {
        return gpume_mean2<Sample>(a, b);
    }

    __device__ __forceinline__ void begin()
    {
        sum = 0;
    }

    __device__ __forceinline__ void add(GpumeU32 cur, GpumeU32 ref)
    {
        sum = gpume_sad_word<Sample>(cur, ref, sum);
    }

    /** Returns the result after this many words. */
    __device__ __forceinline__ GpumeU32 get(int words) const
    {
        return sum;
    }
};

/*
 * One instruction subtracts both samples of a word as half-precision numbers, and another adds up
 * the absolute differences of two words. Larger sums are integers of 16 bits. In subpel searches,
 * all samples are doubled: a mean is then the sum of two samples without its lowest bit.
 */
template<int SUBPEL> struct GpumeSadSum<GpumeU10, SUBPEL> {
    static const int WORDS  = 64;
    static const int CHAINS = 1;

    GpumeU32 sum, odd;          ///< the sum of pairs of words; the sum of a word that is not paired yet
    int nb;                     ///< words added so far

    static __device__ __forceinline__ GpumeU32 mean(GpumeU32 a, GpumeU32 b)
    {
        return SUBPEL ? (a + b + 0x10001) & 0xfffefffe : gpume_mean2<GpumeU10>(a, b);
    }

    __device__ __forceinline__ void begin()
    {
        sum = 0;
        nb  = 0;
    }

    __device__ __forceinline__ void add(GpumeU32 cur, GpumeU32 ref)
    {
        const GpumeU32 d = SUBPEL ? gpume_halve_and_subtract_halves(ref, cur) :
                                    gpume_subtract_halves(ref, cur);

        if (nb++ & 1)
            sum += gpume_add_absolute_halves(odd, d);
        else
            odd = d;
    }

    __device__ __forceinline__ GpumeU32 get(int words) const
    {
        const GpumeU32 both = sum + (nb & 1 ? odd & 0x7fff7fff : 0);

        return (both & 0xffff) + (both >> 16);
    }
};

template<typename Sample_> struct GpumeSad {
    typedef Sample_ Sample;
    static const int LANES = 1;

    static __device__ __forceinline__ GpumeU32 word(GpumeU32 cur, GpumeU32 ref, GpumeU32 sum)
    {
        return gpume_sad_word<Sample>(cur, ref, sum);
    }

    template<int SUBPEL> struct Sum : GpumeSadSum<Sample, SUBPEL> {};

    template<class Difference>
    static __device__ __forceinline__ GpumeU32 by_warp(int w, int h, const Difference &at)
    {
        GpumeU32 sum = 0;

        _Pragma("unroll 4") for (int i = threadIdx.x % 32; i < w * h; i += 32) {
            const int v = at(i % w, i / w);

            sum += v < 0 ? -v : v;
        }
        return sum;
    }
};

#endif /* AVFILTER_GPUME_CUDA_SAD_CUH */
