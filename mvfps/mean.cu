/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Computes the mean of two pictures, weighted by distance, or copies one of them.
 */

#include "libavfilter/gpume/mvfps/device.cuh"

/** Returns plane z. Uses comparisons, because an index would make the compiler copy the arguments to local memory. */
static __device__ __forceinline__ MvfpsCudaPlane mvfps_plane(const MvfpsCudaMeanArgs &a, int z)
{
    MvfpsCudaPlane p = a.planes[0];

    GPUME_UNROLL for (int i = 1; i < GPUME_CUDA_COMPONENTS; i++) {
        p.before          = z == i ? a.planes[i].before          : p.before;
        p.after           = z == i ? a.planes[i].after           : p.after;
        p.dst             = z == i ? a.planes[i].dst             : p.dst;
        p.before_linesize = z == i ? a.planes[i].before_linesize : p.before_linesize;
        p.after_linesize  = z == i ? a.planes[i].after_linesize  : p.after_linesize;
        p.dst_linesize    = z == i ? a.planes[i].dst_linesize    : p.dst_linesize;
        p.bytes           = z == i ? a.planes[i].bytes           : p.bytes;
        p.h               = z == i ? a.planes[i].h               : p.h;
    }
    return p;
}

/** Loads up to four bytes. */
static __device__ __forceinline__ GpumeU32 mvfps_load_bytes(GpumeU64 p, int nb, int whole)
{
    GpumeU32 word = 0;

    if (whole && nb == 4) {
        gpume_load_global(&word, (const void *)p);
        return word;
    }
    for (int i = 0; i < nb; i++)
        word |= (GpumeU32)((const GpumeU8 *)p)[i] << 8 * i;
    return word;
}

static __device__ __forceinline__ GpumeU32 mvfps_mean_word(const MvfpsCudaMeanArgs &a, GpumeU32 before, GpumeU32 after)
{
    const int bits = 8 * MVFPS_BYTES;
    const GpumeU32 mask = (1u << bits) - 1;
    GpumeU32 word = 0;

    GPUME_UNROLL for (int i = 0; i < 32; i += bits)
        word |= mvfps_mean((before >> i & mask) >> a.shift, (after >> i & mask) >> a.shift, a.part) << a.shift << i;
    return word;
}

/**
 * grid:   words of a row, GPUME_CUDA_COPY_ROWS rows for each warp, planes
 * block:  GPUME_CUDA_COPY_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvfpsCudaMeanArgs, GPUME_CUDA_COPY_THREADS)
{
    const MvfpsCudaPlane p = mvfps_plane(args, blockIdx.z);
    const int made  = mvfps_is_cut(args.is_cut) ? args.made_at_cut : args.made;
    const int byte  = 4 * (blockIdx.x * 32 + threadIdx.x % 32);
    const int y0    = (blockIdx.y * (GPUME_CUDA_COPY_THREADS / 32) + threadIdx.x / 32) * GPUME_CUDA_COPY_ROWS;
    const int nb    = gpume_min(4, p.bytes - byte);
    const int whole = !((p.before | p.after | p.dst | (GpumeU64)p.before_linesize |
                         (GpumeU64)p.after_linesize | (GpumeU64)p.dst_linesize) & 3);
    GpumeU32 before[GPUME_CUDA_COPY_ROWS], after[GPUME_CUDA_COPY_ROWS];

    if (made == MVFPS_CUDA_NOTHING || nb <= 0)
        return;
    GPUME_UNROLL for (int i = 0; i < GPUME_CUDA_COPY_ROWS; i++) {
        const int y = gpume_min(y0 + i, p.h - 1);

        before[i] = after[i] = 0;
        if (made != MVFPS_CUDA_AFTER)
            before[i] = mvfps_load_bytes(p.before + p.before_linesize * y + byte, nb, whole);
        if (made != MVFPS_CUDA_BEFORE)
            after[i]  = mvfps_load_bytes(p.after  + p.after_linesize  * y + byte, nb, whole);
    }
    GPUME_UNROLL for (int i = 0; i < GPUME_CUDA_COPY_ROWS; i++) {
        const GpumeU64 dst  = p.dst + p.dst_linesize * (y0 + i) + byte;
        const GpumeU32 word = made == MVFPS_CUDA_BEFORE ? before[i] : made == MVFPS_CUDA_AFTER ? after[i] :
                              mvfps_mean_word(args, before[i], after[i]);

        if (y0 + i >= p.h)
            break;
        if (whole && nb == 4) {
            *(GpumeU32 *)dst = word;
        } else {
            for (int j = 0; j < nb; j++)
                ((GpumeU8 *)dst)[j] = (GpumeU8)(word >> 8 * j);
        }
    }
}
