/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Types of a module. A module is compiled from the source of its family; gpume.mak defines
 * GPUME_CUDA_NAME, _DEPTH, _SIDE, _COST and _VARIANT from the row in modules.h.
 */

#ifndef AVFILTER_GPUME_CUDA_MODULE_CUH
#define AVFILTER_GPUME_CUDA_MODULE_CUH

#include "libavfilter/gpume/cuda/sad.cuh"
#include "libavfilter/gpume/cuda/satd.cuh"
#include "libavfilter/gpume/cuda/modules.h"

/** The class of a cost, by enum GpumeCostId; void for a kernel that computes no cost. */
template<int ID, typename Sample> struct GpumeCostOf { typedef void Cost; };

template<typename Sample> struct GpumeCostOf<GPUME_COST_SAD, Sample> {
    typedef GpumeSad<Sample> Cost;
};

template<typename Sample> struct GpumeCostOf<GPUME_COST_SATD, Sample> {
    typedef GpumeSatd<Sample> Cost;
};

/** Type of a key, a block's cost with an order: 12 bits of depth need 32 bits if blocks are not larger than 16. */
template<int DEPTH> struct GpumeKeyOf { typedef GpumeU64 Key; };
template<> struct GpumeKeyOf<8>       { typedef GpumeU32 Key; };
template<> struct GpumeKeyOf<12>      { typedef GpumeU32 Key; };

/** Sample type of the module. */
typedef GpumeSampleOf<GPUME_CUDA_DEPTH>::Sample GpumeModuleSample;
typedef GpumeCostOf<GPUME_CUDA_COST, GpumeModuleSample>::Cost GpumeModuleCost;

/** Defines the module's kernel, with the arguments of __launch_bounds__. */
#define GPUME_KERNEL(...) GPUME_KERNEL_OF(GpumeCudaArgs, __VA_ARGS__)

#endif /* AVFILTER_GPUME_CUDA_MODULE_CUH */
