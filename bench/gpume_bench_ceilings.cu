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


#include "libavfilter/gpume/cuda/device.cuh"
#include "libavfilter/tests/gpume_bench_ceilings.h"

/**
 * Absolute differences of four bytes and their sum, as many as there can be: all in
 * registers, in chains that do not depend on each other.
 * Launch: any grid, GPUME_BENCH_ABSDIFF_THREADS threads, no shared memory.
 * @param out a word of device memory, written when the sum has one value of 2^32
 */
extern "C" __global__ void gpume_bench_absdiff(GpumeU32 *out)
{
    const GpumeU32 a = threadIdx.x * 0x01030507u + blockIdx.x;
    GpumeU32 acc[GPUME_BENCH_ABSDIFF_CHAINS], sum = 0;

    for (int i = 0; i < GPUME_BENCH_ABSDIFF_CHAINS; i++)
        acc[i] = a + i;
#pragma unroll 1
    for (int n = 0; n < GPUME_BENCH_ABSDIFF_LOOPS; n++) {
#pragma unroll
        for (int j = 0; j < GPUME_BENCH_ABSDIFF_UNROLL; j++) {
#pragma unroll
            for (int i = 0; i < GPUME_BENCH_ABSDIFF_CHAINS; i++)
                /* a chain's sum is its next operand: nothing can be left out */
                acc[i] = gpume_sad4(acc[i], a, acc[i]);
        }
    }
    for (int i = 0; i < GPUME_BENCH_ABSDIFF_CHAINS; i++)
        sum += acc[i];
    if (sum == 0x5eed5eed)
        *out = sum;
}

/** Launch: anything. */
extern "C" __global__ void gpume_bench_empty(void)
{
}
