/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Device code common to mvfps's kernels.
 */

#ifndef AVFILTER_GPUME_MVFPS_DEVICE_CUH
#define AVFILTER_GPUME_MVFPS_DEVICE_CUH

#include "libavfilter/gpume/cuda_common/common.cuh"
#include "libavfilter/gpume/mvfps/cuda_args.h"

typedef GpumeSampleOf<GPUME_CUDA_DEPTH>::Sample MvfpsSample;

#define MVFPS_BYTES ((int)sizeof(MvfpsSample))

static __device__ __forceinline__ GpumeU32 mvfps_word(MvfpsVector v)
{
    return ((GpumeU32)v.x & 0xffff) | (GpumeU32)v.y << 16;
}

static __device__ __forceinline__ MvfpsVector mvfps_of_word(GpumeU32 word)
{
    MvfpsVector v;

    v.x = (short)(word & 0xffff);
    v.y = (short)(word >> 16);
    return v;
}

static __device__ __forceinline__ MvfpsVector mvfps_load_vector(GpumeU64 p)
{
    GpumeU32 word;

    gpume_load_global(&word, (const void *)p);
    return mvfps_of_word(word);
}

static __device__ __forceinline__ MvfpsFields mvfps_fields(const MvfpsCudaFields &f)
{
    MvfpsFields fields;

    fields.cols          = f.cols;
    fields.rows          = f.rows;
    fields.before_future = (const MvfpsVector *)f.before_future;
    fields.after_past    = (const MvfpsVector *)f.after_past;
    fields.before_past   = (const MvfpsVector *)f.before_past;
    fields.after_future  = (const MvfpsVector *)f.after_future;
    return fields;
}

/** Loads a sample that the kernel does not write. */
template<typename Sample>
static __device__ __forceinline__ int mvfps_load_sample(GpumeU64 p)
{
#ifdef GPUME_HOST
    return *(const Sample *)p;
#else
    GpumeU32 v;

    if (sizeof(Sample) == 1)
        asm("ld.global.u8 %0, [%1];" : "=r"(v) : "l"(p));
    else
        asm("ld.global.u16 %0, [%1];" : "=r"(v) : "l"(p));
    return (int)v;
#endif
}

/** Returns whether there is a cut, in which case another kernel makes the picture. */
static __device__ __forceinline__ int mvfps_is_cut(GpumeU64 is_cut)
{
    GpumeU32 word;

    if (!is_cut)
        return 0;
    gpume_load_global(&word, (const void *)is_cut);
    return word != 0;
}

/** Returns the sum over the lanes whose numbers differ only in bits first to end - 1. */
static __device__ __forceinline__ GpumeU32 mvfps_add_lanes(GpumeU32 v, int first, int end)
{
    GPUME_UNROLL for (int bit = first; bit < end; bit <<= 1)
        v += __shfl_xor_sync(GPUME_WHOLE_WARP, v, bit);
    return v;
}

static __device__ __forceinline__ GpumeU64 mvfps_add_lanes(GpumeU64 v, int first, int end)
{
    GPUME_UNROLL for (int bit = first; bit < end; bit <<= 1) {
        const GpumeU32 low  = __shfl_xor_sync(GPUME_WHOLE_WARP, (GpumeU32)v, bit);
        const GpumeU32 high = __shfl_xor_sync(GPUME_WHOLE_WARP, (GpumeU32)(v >> 32), bit);

        v += (GpumeU64)high << 32 | low;
    }
    return v;
}

/** Returns a sum to which all thread blocks have added. */
static __device__ __forceinline__ GpumeU64 mvfps_sum(const GpumeU64 *sum)
{
    const GpumeU32 *words = (const GpumeU32 *)sum;

    return (GpumeU64)gpume_load_volatile(words + 1) << 32 | gpume_load_volatile(words);
}

/** Returns whether all other thread blocks are done; then their results can be read. Only one thread calls it. */
static __device__ __forceinline__ int mvfps_is_last(int grid, unsigned *nb_done)
{
    int is_last;

    __threadfence();
    is_last = atomicAdd(nb_done, 1u) + 1 == (GpumeU32)grid;
    if (is_last)
        __threadfence();
    return is_last;
}

#endif /* AVFILTER_GPUME_MVFPS_DEVICE_CUH */
