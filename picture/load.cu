/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Copies the components of a picture without padding bits and repeats their edges. Code that reads the copy needs
 * no check of positions and does not depend on the pixel format.
 */

#include "libavfilter/gpume/picture/component.cuh"

typedef GpumeSampleOf<GPUME_CUDA_DEPTH>::Sample Sample;

#define BYTES ((int)sizeof(Sample))
#define PER_WORD (4 / BYTES)

/** Returns samples x to x + PER_WORD - 1 of a row as a word, including padding bits. */
static __device__ __forceinline__ GpumeU32 gpume_load_word(const GpumeCudaComponent &c, GpumeU64 row, int x,
                                                           int whole)
{
    GpumeU32 word = 0;

    if (whole && x >= 0 && x + PER_WORD <= c.w) {
        const void *p = (const void *)(row + ((long long)x << c.log2_step) * BYTES);

        if (!c.log2_step) {
            gpume_load_global(&word, p);
        } else {
            int2 two;
            GpumeU32 a, b;

            gpume_load_global(&two, p);
            a = (GpumeU32)two.x >> 8 * BYTES * c.offset;
            b = (GpumeU32)two.y >> 8 * BYTES * c.offset;
            if (BYTES == 1)
                word = (a & 0xff) | (a >> 8 & 0xff00) | (b & 0xff) << 16 | (b >> 16 & 0xff) << 24;
            else
                word = (a & 0xffff) | b << 16;
        }
    } else {
        GPUME_UNROLL for (int i = 0; i < PER_WORD; i++) {
            const int at = gpume_max(0, gpume_min(x + i, c.w - 1));

            word |= (GpumeU32)((const Sample *)row)[((long long)at << c.log2_step) + c.offset] <<
                    8 * BYTES * i;
        }
    }
    return word;
}

/**
 * grid:   words of a row of the copy, GPUME_CUDA_COPY_ROWS rows of it for each warp, components
 * block:  GPUME_CUDA_COPY_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(GpumeCudaLoadArgs, GPUME_CUDA_COPY_THREADS)
{
    const GpumeCudaComponent c = gpume_component(args.components, blockIdx.z);
    const int word  = blockIdx.x * 32 + threadIdx.x % 32;
    const int y0    = (blockIdx.y * (GPUME_CUDA_COPY_THREADS / 32) + threadIdx.x / 32) * GPUME_CUDA_COPY_ROWS -
                      GPUME_PAD;
    const int x     = word * PER_WORD - GPUME_PAD;
    const int whole = !((c.plane | (GpumeU64)c.linesize) & ((4 << c.log2_step) - 1)) && c.log2_step <= 1;
    GpumeU32 words[GPUME_CUDA_COPY_ROWS];

    if (word * 4 >= c.stride)
        return;
    GPUME_UNROLL for (int i = 0; i < GPUME_CUDA_COPY_ROWS; i++) {
        const int y = gpume_max(0, gpume_min(y0 + i, c.h - 1));

        words[i] = gpume_load_word(c, c.plane + c.linesize * y, x, whole);
        if (BYTES == 2)
            words[i] = (words[i] >> args.shift & (0xffffu >> args.shift) << 16) |
                       (words[i] & 0xffff) >> args.shift;
    }
    GPUME_UNROLL for (int i = 0; i < GPUME_CUDA_COPY_ROWS; i++) {
        if (y0 + i < c.h + GPUME_PAD)
            *(GpumeU32 *)(c.first + (long long)c.stride * (y0 + i) + 4 * word - GPUME_PAD * BYTES) = words[i];
    }
}
