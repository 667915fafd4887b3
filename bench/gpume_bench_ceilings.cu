/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavfilter/gpume/cuda/device.cuh"
#include "libavfilter/tests/gpume_bench_ceilings.h"

/**
 * Computes as many sums of absolute differences of four bytes as possible: all operands are in
 * registers, in independent chains. Launch: any grid, GPUME_BENCH_ABSDIFF_THREADS threads, no
 * shared memory.
 * @param out a word of device memory, written if the sum has one value of 2^32
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
                /* the sum of a chain is its next operand, so the compiler cannot remove anything */
                acc[i] = gpume_sad4(acc[i], a, acc[i]);
        }
    }
    for (int i = 0; i < GPUME_BENCH_ABSDIFF_CHAINS; i++)
        sum += acc[i];
    if (sum == 0x5eed5eed)
        *out = sum;
}

/** Does nothing. Launch: any. */
extern "C" __global__ void gpume_bench_empty(void)
{
}
