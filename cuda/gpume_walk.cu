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
 * Walks over blocks of any size.
 */

#include "libavfilter/gpume/cuda/gpume_walk.cuh"

/**
 * Blocks of any size, a warp for each.
 *
 * grid:   blocks of the picture in a row over warps in a block of threads, blocks in
 *         a column, directions
 * block:  32 * GPUME_CUDA_DS_WARPS
 * shared: none
 */
template<typename Sample, typename Key>
static __device__ __forceinline__ void walk_large(const GpumeCudaArgs &a)
{
    const GpumeCudaPlane ref = blockIdx.z ? a.ref[1] : a.ref[0];
    const int bx = blockIdx.x * GPUME_CUDA_DS_WARPS + threadIdx.x / 32;

    if (bx < a.params.bw)
        gpume_walk(GpumeFarWalkEvaluator<Sample, 32, Key>(a, ref,
                       gpume_group(a.params, a.params.block, 32, bx, blockIdx.y)));
}

extern "C" __global__ void __launch_bounds__(32 * GPUME_CUDA_DS_WARPS)
gpume_walk_8(const GpumeCudaArgs args)
{
    walk_large<GpumeU8, GpumeU32>(args);
}

extern "C" __global__ void __launch_bounds__(32 * GPUME_CUDA_DS_WARPS)
gpume_walk_16(const GpumeCudaArgs args)
{
    walk_large<GpumeU16, GpumeU64>(args);
}
