/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Computes the half samples of a copy, including the margins from which patches are read.
 */

#include "libavfilter/gpume/mvdenoise/device.cuh"

/** Number of samples of a row from which a word of half samples is computed; the first is 2 before it. */
#define TAPS (MVDENOISE_PER_WORD + 5)

/** Reads samples x - 2 to x + TAPS - 3. */
static __device__ __forceinline__ void read_row(int v[TAPS], GpumeU64 at)
{
    GPUME_UNROLL for (int i = 0; i < (TAPS + 2 + MVDENOISE_PER_WORD - 1) / MVDENOISE_PER_WORD; i++) {
        /* a word has 4 or 2 samples; the first word begins 4 or 2 samples before x */
        const GpumeU32 word = mvdenoise_word(at + 4 * i - 4);

        GPUME_UNROLL for (int j = 0; j < MVDENOISE_PER_WORD; j++) {
            const int tap = MVDENOISE_PER_WORD * (i - 1) + j + 2;

            if (tap >= 0 && tap < TAPS)
                v[tap] = word >> 8 * MVDENOISE_BYTES * j & ((1u << 8 * MVDENOISE_BYTES) - 1);
        }
    }
}

/**
 * Writes a word of each plane of half samples.
 * @param rows the rows from two above to three below
 */
static __device__ __forceinline__ void write_halves(const MvdenoiseCudaHalvesArgs &args, GpumeU64 at,
                                                    const int (*rows)[TAPS])
{
    const int max = (1 << args.depth) - 1;
    GpumeU32 right = 0, below = 0, centre = 0;
    int sums[TAPS];

    GPUME_UNROLL for (int i = 0; i < TAPS; i++)
        sums[i] = gpume_taps(rows[0][i], rows[1][i], rows[2][i], rows[3][i], rows[4][i], rows[5][i]);
    GPUME_UNROLL for (int i = 0; i < MVDENOISE_PER_WORD; i++) {
        const int *p = rows[2] + i, *s = sums + i, bit = 8 * MVDENOISE_BYTES * i;

        right  |= (GpumeU32)av_clip((gpume_taps(p[0], p[1], p[2], p[3], p[4], p[5]) + 16) >> 5, 0, max) << bit;
        below  |= (GpumeU32)av_clip((s[2] + 16) >> 5, 0, max) << bit;
        centre |= (GpumeU32)av_clip((gpume_taps(s[0], s[1], s[2], s[3], s[4], s[5]) + 512) >> 10, 0, max) << bit;
    }
    *(GpumeU32 *)(at + GPUME_PLANE_RIGHT  * args.plane) = right;
    *(GpumeU32 *)(at + GPUME_PLANE_BELOW  * args.plane) = below;
    *(GpumeU32 *)(at + GPUME_PLANE_CENTRE * args.plane) = centre;
}

/**
 * grid:   words of a row, MVDENOISE_CUDA_HALVED rows for each warp, components
 * block:  MVDENOISE_CUDA_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvdenoiseCudaHalvesArgs, MVDENOISE_CUDA_THREADS)
{
    const MvdenoiseCudaComponent c = mvdenoise_component(args.components, blockIdx.z);
    const int x = (int)(blockIdx.x * 32 + threadIdx.x % 32) * MVDENOISE_PER_WORD - MVDENOISE_CUDA_BEFORE;
    const int y = (int)(blockIdx.y * MVDENOISE_CUDA_WARPS + threadIdx.x / 32) * MVDENOISE_CUDA_HALVED -
                  MVDENOISE_CUDA_BEFORE;
    const GpumeU64 at = args.copy + c.first + (long long)c.stride * y + x * MVDENOISE_BYTES;
    int rows[MVDENOISE_CUDA_HALVED + 5][TAPS];

    if (x >= c.w + MVDENOISE_CUDA_BEHIND || y >= c.h + MVDENOISE_CUDA_BEHIND)
        return;
    GPUME_UNROLL for (int i = 0; i < MVDENOISE_CUDA_HALVED + 5; i++)
        read_row(rows[i], at + (long long)(i - 2) * c.stride);
    GPUME_UNROLL for (int i = 0; i < MVDENOISE_CUDA_HALVED; i++)
        if (y + i < c.h + MVDENOISE_CUDA_BEHIND)
            write_halves(args, at + (long long)i * c.stride, rows + i);
}
