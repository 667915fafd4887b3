/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The sum of absolute differences; and what a cost is to kernels.
 *
 * A cost is a class with a Sample and these:
 *
 * LANES                    lanes of a warp, at least, that evaluate a candidate together
 * result(cost, shift)      the cost of samples from that of samples with bits below them
 * by_warp(w, h, at)        the lane's share of the cost of a block, at(x, y) being differences:
 *                          all lanes of a warp call it
 * word(cur, ref, sum)      if LANES is 1: sum, and the cost of a word of samples; what lies
 *                          outside the block is 0 in both pictures
 *
 * One whose LANES is not 1 has a GpumePlaneEvaluator, a GpumeRowPlaneEvaluator, a GpumeMatcher
 * and a GpumeFullSearch of its own.
 */

#ifndef AVFILTER_GPUME_CUDA_SAD_CUH
#define AVFILTER_GPUME_CUDA_SAD_CUH

#include "libavfilter/gpume/cuda/device.cuh"

template<typename Sample_> struct GpumeSad {
    typedef Sample_ Sample;
    static const int LANES = 1;

    static __device__ __forceinline__ GpumeU32 word(GpumeU32 cur, GpumeU32 ref, GpumeU32 sum)
    {
        return sizeof(Sample) == 1 ? gpume_sad4(cur, ref, sum) : gpume_sad2(cur, ref, sum);
    }

    static __device__ __forceinline__ GpumeU32 result(GpumeU32 cost, int shift)
    {
        return cost >> shift;
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
