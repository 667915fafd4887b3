/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Device code that the kernels of searches share.
 */

#ifndef AVFILTER_GPUME_CUDA_DEVICE_CUH
#define AVFILTER_GPUME_CUDA_DEVICE_CUH

#include "libavfilter/gpume/cuda_common/common.cuh"
#include "libavfilter/gpume/cuda/search_args.h"
#include "libavfilter/gpume/core/geometry.h"
#include "libavfilter/gpume/field/field_args.h"

/** Loads WORDS words of a plane, one, two or a multiple of four, from an aligned address. */
template<int WORDS>
static __device__ __forceinline__ void gpume_load_row(GpumeU32 *words, const GpumeU8 *p)
{
    if (WORDS == 1) {
        gpume_load_global(words, p);
    } else if (WORDS == 2) {
        int2 v;

        gpume_load_global(&v, p);
        words[0] = v.x;
        words[1] = v.y;
    } else {
        GPUME_UNROLL for (int i = 0; i < WORDS; i += 4) {
            int4 v;

            gpume_load_global(&v, p + 4 * i);
            words[i]     = v.x;
            words[i + 1] = v.y;
            words[i + 2] = v.z;
            words[i + 3] = v.w;
        }
    }
}

/** n / d like GPUME_DIVIDE() with GPUME_RECIPROCAL(), for n below 65536 and d below 32768. */
#define GPUME_RECIPROCAL_LARGE(d) (((1u << 31) + (d) - 1) / (d))
#define GPUME_DIVIDE_LARGE(n, r)  ((int)((GpumeU64)(GpumeU32)(n) * (r) >> 31))

/** A sample of 9 or 10 bits, on which half-precision arithmetic works directly. */
typedef struct GpumeU10 {
    GpumeU16 value;
} GpumeU10;

template<> struct GpumeSampleOf<10> { typedef GpumeU10 Sample; };

/** Properties of a sample's type. */
template<typename Sample> struct GpumeSample;

template<> struct GpumeSample<GpumeU8> {
    static const int per_word = 4;
    static const int bytes    = 1;

    /** Returns samples without the bits below them. */
    static __device__ __forceinline__ GpumeU32 right_justify(GpumeU32 word, int shift)
    {
        return word;
    }
};

template<> struct GpumeSample<GpumeU16> {
    static const int per_word = 2;
    static const int bytes    = 2;

    static __device__ __forceinline__ GpumeU32 right_justify(GpumeU32 word, int shift)
    {
        return (word >> shift) & (0xffffu >> shift) * 0x10001;
    }
};

template<> struct GpumeSample<GpumeU10> : GpumeSample<GpumeU16> { };

/** Returns ones in the first n samples of a word; n may be negative or larger than the word. */
template<typename Sample>
static __device__ __forceinline__ GpumeU32 gpume_mask(int n)
{
    return n >= GpumeSample<Sample>::per_word ? ~0u :
           n <= 0 ? 0 : ~(~0u << (n * 8 * GpumeSample<Sample>::bytes));
}

/**
 * Returns the address of column x of a row of width samples or, if no sample of the unit of UNIT
 * bytes that begins there is inside the row, of the nearest unit. x is a multiple of a unit.
 */
template<typename Sample, int UNIT>
static __device__ __forceinline__ const GpumeU8 *gpume_inside(const GpumeU8 *row, int x, int width)
{
    const int bytes = GpumeSample<Sample>::bytes;

    return row + gpume_max(0, gpume_min(x * bytes, (width * bytes - 1) & ~(UNIT - 1)));
}

/**
 * Loads NB words of the current picture, the first at (x, y), each a given number of rows below the
 * previous one. The loads are issued together to overlap their latency. Samples outside the picture
 * are 0.
 */
template<typename Sample, int NB>
static __device__ __forceinline__ void
gpume_load_column(const GpumeCudaArgs &a, GpumeU32 (&words)[NB], int x, int y, int rows)
{
    const GpumeParams &p = a.params;
    const GpumeU8 *row   = (const GpumeU8 *)a.cur.data + y * a.cur.linesize + x * GpumeSample<Sample>::bytes;
    const GpumeU32 mask  = gpume_mask<Sample>(p.width - x);

    GPUME_UNROLL for (int i = 0; i < NB; i++)
        words[i] = 0;
    GPUME_UNROLL for (int i = 0; i < NB; i++)
        if (x < p.width && y + i * rows < p.height)
            gpume_load_global(&words[i], row + i * rows * a.cur.linesize);
    GPUME_UNROLL for (int i = 0; i < NB; i++)
        words[i] = GpumeSample<Sample>::right_justify(words[i] & mask, p.shift);
}

/**
 * Returns the key of a candidate. The better candidate has the smaller key. For equal costs, the
 * order in which candidates are tested decides.
 */
static __device__ __forceinline__ GpumeU64 gpume_key(GpumeU32 cost, GpumeU32 order)
{
    return ((GpumeU64)cost << 32) | order;
}

/**
 * Returns the key of the lane whose number differs in the given bits; the function below takes the
 * number of the lane.
 */
static __device__ __forceinline__ GpumeU32 gpume_xor_lane(GpumeU32 key, int bits)
{
    return __shfl_xor_sync(GPUME_WHOLE_WARP, key, bits);
}

static __device__ __forceinline__ GpumeU64 gpume_xor_lane(GpumeU64 key, int bits)
{
    return gpume_key(gpume_xor_lane((GpumeU32)(key >> 32), bits), gpume_xor_lane((GpumeU32)key, bits));
}

static __device__ __forceinline__ GpumeU32 gpume_of_lane(GpumeU32 key, int lane)
{
    return __shfl_sync(GPUME_WHOLE_WARP, key, lane);
}

static __device__ __forceinline__ GpumeU64 gpume_of_lane(GpumeU64 key, int lane)
{
    return gpume_key(gpume_of_lane((GpumeU32)(key >> 32), lane), gpume_of_lane((GpumeU32)key, lane));
}

/** Returns the smallest key of the lanes whose numbers differ only in bits FIRST to END - 1. */
template<int FIRST, int END, typename Key>
static __device__ __forceinline__ Key gpume_least(Key key)
{
    GPUME_UNROLL for (int bit = FIRST; bit < END; bit <<= 1) {
        const Key other = gpume_xor_lane(key, bit);

        key = other < key ? other : key;
    }
    return key;
}

/**
 * Returns a field by a comparison. With an index, even one that is constant after unrolling, the
 * compiler would copy the arguments to memory.
 */
static __device__ __forceinline__ GpumeCudaField gpume_field(const GpumeCudaArgs &a, int z)
{
    static_assert(GPUME_CUDA_FIELDS == 2, "a comparison");
    return z ? a.fields[1] : a.fields[0];
}

/** Returns where field z stores block (bx, by). */
static __device__ __forceinline__ GpumeU64
gpume_place(const GpumeCudaArgs &a, int z, int bx, int by)
{
    return ((GpumeU64)z * a.params.bh + by) * a.params.bw + bx;
}

/** Returns a GpumeVector as a word. */
static __device__ __forceinline__ GpumeU32 gpume_vector_of(int dx, int dy)
{
    return ((GpumeU32)dx & 0xffff) | (GpumeU32)dy << 16;
}

/** Stores the result of a block, which is b: its vector and its cost. @param i index of the block in the arrays */
static __device__ __forceinline__ void
gpume_store_at(const GpumeCudaStored &to, GpumeU64 i, int source, const GpumeBox &b, int dx, int dy, GpumeU32 cost)
{
    GpumeU32 *mv = (GpumeU32 *)to.mvs + i * GPUME_VECTOR_WORDS;

    ((GpumeU32 *)to.costs)[i] = cost;
    if (to.vectors) {
        ((GpumeU32 *)to.vectors)[i] = gpume_vector_of(dx, dy);
        return;
    }
    GPUME_UNROLL for (int j = 0; j < GPUME_VECTOR_WORDS; j++)
        mv[j] = gpume_vector_word(j, source, b.x0, b.y0, b.w, b.h, dx, dy);
}

/** Stores the result of block (bx, by) of field z. */
static __device__ __forceinline__ void
gpume_store(const GpumeCudaArgs &a, const GpumeBox &b, int z, int bx, int by,
            int dx, int dy, GpumeU32 cost)
{
    gpume_store_at(a.to, gpume_place(a, z, bx, by), gpume_field(a, z).source, b, dx, dy, cost);
}

#endif /* AVFILTER_GPUME_CUDA_DEVICE_CUH */
