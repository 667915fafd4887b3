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
 * Searches that predict, of blocks of any size and at any range.
 */

#include "libavfilter/gpume/cuda/gpume_predict.cuh"

GPUME_PREDICT_KERNEL(epzs_8,  GPUME_ALGO_EPZS, GpumeU64,
                     GPUME_CUDA_EPZS_WARPS, GpumeFarEvaluator<GpumeU8, GPUME_CUDA_EPZS_WARPS>)
GPUME_PREDICT_KERNEL(epzs_16, GPUME_ALGO_EPZS, GpumeU64,
                     GPUME_CUDA_EPZS_WARPS, GpumeFarEvaluator<GpumeU16, GPUME_CUDA_EPZS_WARPS>)
GPUME_PREDICT_KERNEL(umh_8,   GPUME_ALGO_UMH, GpumeU64,
                     GPUME_CUDA_UMH_WARPS, GpumeFarEvaluator<GpumeU8, GPUME_CUDA_UMH_WARPS>)
GPUME_PREDICT_KERNEL(umh_16,  GPUME_ALGO_UMH, GpumeU64,
                     GPUME_CUDA_UMH_WARPS, GpumeFarEvaluator<GpumeU16, GPUME_CUDA_UMH_WARPS>)
