/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Types of a module. It is made from its family's source: gpume.mak defines GPUME_CUDA_NAME,
 * _DEPTH, _SIDE, _COST and _VARIANT as the row in modules.h has them.
 */

#ifndef AVFILTER_GPUME_CUDA_MODULE_CUH
#define AVFILTER_GPUME_CUDA_MODULE_CUH

#include "libavfilter/gpume/cuda/sad.cuh"
#include "libavfilter/gpume/cuda/satd.cuh"
#include "libavfilter/gpume/cuda/modules.h"

/** The class that a cost is, by enum GpumeCostId; or that of a kernel that computes none. */
template<int ID, typename Sample> struct GpumeCostOf { typedef void Cost; };

template<typename Sample> struct GpumeCostOf<GPUME_COST_SAD, Sample> {
    typedef GpumeSad<Sample> Cost;
};

template<typename Sample> struct GpumeCostOf<GPUME_COST_SATD, Sample> {
    typedef GpumeSatd<Sample> Cost;
};

/** What holds a block's cost and an order: with more than 8 bits, it can take more than 32. */
template<typename Sample> struct GpumeKeyOf { typedef GpumeU64 Key; };
template<> struct GpumeKeyOf<GpumeU8>       { typedef GpumeU32 Key; };
template<> struct GpumeKeyOf<GpumeU10>      { typedef GpumeU32 Key; };  ///< up to blocks of 16x16

/** The module's. */
typedef GpumeSampleOf<GPUME_CUDA_DEPTH>::Sample GpumeModuleSample;
typedef GpumeCostOf<GPUME_CUDA_COST, GpumeModuleSample>::Cost GpumeModuleCost;

/** The module's kernel, with the arguments of __launch_bounds__. */
#define GPUME_KERNEL(...) GPUME_KERNEL_OF(GpumeCudaArgs, __VA_ARGS__)

#endif /* AVFILTER_GPUME_CUDA_MODULE_CUH */
