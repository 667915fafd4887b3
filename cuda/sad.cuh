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

template<typename Sample_> struct GpumeSad {
    typedef Sample_ Sample;
    static const int LANES = 1;

    static __device__ __forceinline__ GpumeU32 word(GpumeU32 cur, GpumeU32 ref, GpumeU32 sum)
    {
        return sizeof(Sample) == 1 ? gpume_sad4(cur, ref, sum) : gpume_sad2(cur, ref, sum);
    }

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
