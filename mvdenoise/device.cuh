/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Device code common to mvdenoise's kernels.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_DEVICE_CUH
#define AVFILTER_GPUME_MVDENOISE_DEVICE_CUH

#include "libavfilter/gpume/cuda_common/common.cuh"
#include "libavfilter/gpume/mvdenoise/cuda_args.h"
#include "libavfilter/gpume/picture/interpolation.h"

typedef GpumeSampleOf<GPUME_CUDA_DEPTH>::Sample MvdenoiseSample;

#define MVDENOISE_BYTES    ((int)sizeof(MvdenoiseSample))
#define MVDENOISE_PER_WORD (4 / MVDENOISE_BYTES)

/** Loads a sample that the kernel does not write. */
static __device__ __forceinline__ int mvdenoise_sample(GpumeU64 p)
{
#ifdef GPUME_HOST
    return *(const MvdenoiseSample *)p;
#else
    GpumeU32 v;

    if (MVDENOISE_BYTES == 1)
        asm("ld.global.u8 %0, [%1];" : "=r"(v) : "l"(p));
    else
        asm("ld.global.u16 %0, [%1];" : "=r"(v) : "l"(p));
    return (int)v;
#endif
}

/** Loads a half word that the kernel does not write. */
static __device__ __forceinline__ GpumeU32 mvdenoise_half(GpumeU64 p)
{
#ifdef GPUME_HOST
    return *(const GpumeU16 *)p;
#else
    GpumeU32 v;

    asm("ld.global.u16 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
#endif
}

static __device__ __forceinline__ GpumeU32 mvdenoise_word(GpumeU64 p)
{
    GpumeU32 word;

    gpume_load_global(&word, (const void *)p);
    return word;
}

/**
 * Returns component i. Uses comparisons, because an index would make the compiler copy the
 * arguments to local memory.
 */
static __device__ __forceinline__ MvdenoiseCudaComponent mvdenoise_component(const MvdenoiseCudaComponents &a, int n)
{
    MvdenoiseCudaComponent c = a.c[0];

    GPUME_UNROLL for (int i = 1; i < GPUME_CUDA_COMPONENTS; i++) {
        c.first  = n == i ? a.c[i].first  : c.first;
        c.stride = n == i ? a.c[i].stride : c.stride;
        c.w      = n == i ? a.c[i].w      : c.w;
        c.h      = n == i ? a.c[i].h      : c.h;
        c.hsub   = n == i ? a.c[i].hsub   : c.hsub;
        c.vsub   = n == i ? a.c[i].vsub   : c.vsub;
        c.cols   = n == i ? a.c[i].cols   : c.cols;
        c.rows   = n == i ? a.c[i].rows   : c.rows;
        c.number = n == i ? a.c[i].number : c.number;
        c.block  = n == i ? a.c[i].block  : c.block;
    }
    return c;
}

/** The patch, or measured block, of a group of lanes. */
struct MvdenoiseUnit {
    int component;
    int col, row;
    int first_col;          ///< first column of the thread block
    int is_there;           ///< whether the unit exists; else the lanes repeat the last one of the row
};

/** @param ACROSS, DOWN numbers of patches, or measured blocks, of a thread block */
template<int ACROSS, int DOWN>
static __device__ __forceinline__ MvdenoiseUnit mvdenoise_unit(const MvdenoiseCudaComponents &a,
                                                               MvdenoiseCudaComponent *c)
{
    const int block = blockIdx.x;
    MvdenoiseUnit u;
    int across, i;

    u.component = 0;
    GPUME_UNROLL for (i = 1; i < GPUME_CUDA_COMPONENTS; i++)
        u.component += i < a.nb && block >= a.c[i].block;
    *c = mvdenoise_component(a, u.component);
    across     = (c->cols + ACROSS - 1) / ACROSS;
    u.row      = (block - c->block) / across;
    u.first_col = (block - c->block - u.row * across) * ACROSS;
    u.row     *= DOWN;
    u.col      = u.first_col + threadIdx.x / MVDENOISE_CUDA_LANES;
    u.is_there = u.col < c->cols;
    u.col      = gpume_min(u.col, c->cols - 1);
    return u;
}

/** Returns the sum over the lanes whose numbers differ only in bits first to end - 1. */
static __device__ __forceinline__ GpumeU32 mvdenoise_add_lanes(GpumeU32 v, int first, int end)
{
    GPUME_UNROLL for (int bit = first; bit < end; bit <<= 1)
        v += __shfl_xor_sync(GPUME_WHOLE_WARP, v, bit);
    return v;
}

static __device__ __forceinline__ GpumeU64 mvdenoise_of_lane(GpumeU64 v, int xor_bit)
{
    const GpumeU32 low  = __shfl_xor_sync(GPUME_WHOLE_WARP, (GpumeU32)v, xor_bit);
    const GpumeU32 high = __shfl_xor_sync(GPUME_WHOLE_WARP, (GpumeU32)(v >> 32), xor_bit);

    return (GpumeU64)high << 32 | low;
}

static __device__ __forceinline__ GpumeU64 mvdenoise_add_lanes(GpumeU64 v, int first, int end)
{
    GPUME_UNROLL for (int bit = first; bit < end; bit <<= 1)
        v += mvdenoise_of_lane(v, bit);
    return v;
}

/** Positions in a copy of the two samples whose mean is the sample at a vector's end; they may be equal. */
struct MvdenoisePair {
    GpumeU32 a, b;          ///< offsets in bytes from the beginning of the copy
};

/**
 * Returns the pair of a fraction, relative to the end of the whole vector.
 * @param fraction quarters: y, x
 */
static __device__ __forceinline__ MvdenoisePair mvdenoise_pair_of(const MvdenoiseCudaComponent &c, GpumeU32 plane,
                                                                  int fraction)
{
    GpumeU32 pair = 0;
    MvdenoisePair p;

    GPUME_UNROLL for (int i = 0; i < 4; i++) {
        const GpumeU32 word = (GpumeU32)gpume_subpel_pair(0, i)       | (GpumeU32)gpume_subpel_pair(1, i) << 8 |
                              (GpumeU32)gpume_subpel_pair(2, i) << 16 | (GpumeU32)gpume_subpel_pair(3, i) << 24;

        pair = fraction >> 2 == i ? word : pair;
    }
    pair = pair >> 8 * (fraction & 3);
    p.a  = (pair & 3) * plane + (pair >> 3 & 1) * c.stride + (pair >> 2 & 1) * MVDENOISE_BYTES;
    pair = pair >> 4;
    p.b  = (pair & 3) * plane + (pair >> 3 & 1) * c.stride + (pair >> 2 & 1) * MVDENOISE_BYTES;
    return p;
}

static __device__ __forceinline__ int mvdenoise_fraction_of(GpumeU32 vector)
{
    return (vector >> 16 & 3) << 2 | (vector & 3);
}

/**
 * Returns the offset in a copy at which the whole vector ends.
 * @param x, y   position of the patch
 * @param vector in quarter samples
 */
static __device__ __forceinline__ GpumeU32 mvdenoise_end_of(const MvdenoiseCudaComponent &c, int x, int y,
                                                            GpumeU32 vector)
{
    const int dx = (short)(vector & 0xffff), dy = (short)(vector >> 16);
    const int px = mvdenoise_inside(x + (dx >> 2), c.w), py = mvdenoise_inside(y + (dy >> 2), c.h);

    return c.first + (GpumeU32)(py * c.stride + px * MVDENOISE_BYTES);
}

/** Packs a vector into a word. */
static __device__ __forceinline__ GpumeU32 mvdenoise_of_vector(int x, int y)
{
    return ((GpumeU32)x & 0xffff) | (GpumeU32)y << 16;
}

#define MVDENOISE_NO_VECTOR ((GpumeU32)GPUME_NO_VECTOR & 0xffff)

static __device__ __forceinline__ int mvdenoise_is_vector(GpumeU32 word)
{
    return (word & 0xffff) != MVDENOISE_NO_VECTOR;
}

#endif /* AVFILTER_GPUME_MVDENOISE_DEVICE_CUH */
