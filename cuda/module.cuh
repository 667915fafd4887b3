/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

/**
 * @file
 * What makes a family's source one of its modules: gpume.mak defines GPUME_CUDA_NAME,
 * _DEPTH, _SIDE, _COST and _VARIANT as the row in modules.h has them.
 */

#ifndef AVFILTER_GPUME_CUDA_MODULE_CUH
#define AVFILTER_GPUME_CUDA_MODULE_CUH

#include "libavfilter/gpume/cuda/modules.h"
#include "libavfilter/gpume/cuda/sad.cuh"

/** The class that a cost is, by enum GpumeCostId. */
template<int ID, typename Sample> struct GpumeCostOf;

template<typename Sample> struct GpumeCostOf<GPUME_COST_SAD, Sample> {
    typedef GpumeSad<Sample> Cost;
};

template<int DEPTH> struct GpumeSampleOf { typedef GpumeU16 Sample; };
template<> struct GpumeSampleOf<8>       { typedef GpumeU8  Sample; };

/** What holds a block's cost and an order: of samples of more than 8 bits it may take more than 32. */
template<typename Sample> struct GpumeKeyOf { typedef GpumeU64 Key; };
template<> struct GpumeKeyOf<GpumeU8>       { typedef GpumeU32 Key; };

/** The module's. */
typedef GpumeCostOf<GPUME_CUDA_COST, GpumeSampleOf<GPUME_CUDA_DEPTH>::Sample>::Cost GpumeModuleCost;

/** The module's kernel, with the arguments of __launch_bounds__. */
#define GPUME_KERNEL(...) \
    extern "C" __global__ void __launch_bounds__(__VA_ARGS__) GPUME_CUDA_NAME(const GpumeCudaArgs args)

#endif /* AVFILTER_GPUME_CUDA_MODULE_CUH */
