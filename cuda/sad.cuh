/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The sum of absolute differences; and what a cost is to kernels.
 *
 * A cost is a class with a Sample, which adds up over units of ROWS x WORDS words of
 * samples: what lies outside the block is 0 in both pictures. A lane that evaluates has
 * whole units. Costs are linear in samples: those with bits below the shift give a cost
 * that is shifted at the end.
 *
 * unit(cur, ref, sum)   sum, and the cost of a unit
 * word(cur, ref, sum)   the same where a unit is one word: full search asks for that
 */

#ifndef AVFILTER_GPUME_CUDA_SAD_CUH
#define AVFILTER_GPUME_CUDA_SAD_CUH

#include "libavfilter/gpume/cuda/device.cuh"

template<typename Sample_> struct GpumeSad {
    typedef Sample_ Sample;
    static const int ROWS  = 1;
    static const int WORDS = 1;

    static __device__ __forceinline__ GpumeU32 word(GpumeU32 cur, GpumeU32 ref, GpumeU32 sum)
    {
        return sizeof(Sample) == 1 ? gpume_sad4(cur, ref, sum) : gpume_sad2(cur, ref, sum);
    }

    static __device__ __forceinline__ GpumeU32
    unit(const GpumeU32 (&cur)[ROWS][WORDS], const GpumeU32 (&ref)[ROWS][WORDS], GpumeU32 sum)
    {
        return word(cur[0][0], ref[0][0], sum);
    }
};

#endif /* AVFILTER_GPUME_CUDA_SAD_CUH */
