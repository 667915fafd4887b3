/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Device code common to mvstereo's kernels.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_DEVICE_CUH
#define AVFILTER_GPUME_MVSTEREO_DEVICE_CUH

#include "libavfilter/gpume/cuda_common/common.cuh"

#ifdef __NVCC__
#include <stdint.h>
#else
typedef GpumeU32 uint32_t;
typedef long long int64_t;
typedef GpumeU8 uint8_t;
#endif

#include "libavfilter/gpume/mvstereo/cuda_args.h"

/** Returns the sample at (x, y) of a plane of bytes, or the nearest one. */
static __device__ __forceinline__ int mvstereo_byte(GpumeU64 plane, const MvstereoCudaArgs &a, int x, int y)
{
    const int cx = av_clip(x, 0, a.w - 1), cy = av_clip(y, 0, a.h - 1);

    return ((const GpumeU8 *)plane)[(GpumeU32)(cy * a.w + cx)];
}

/** Returns the value at (x, y) of a map, or the nearest one. */
static __device__ __forceinline__ int mvstereo_short(GpumeU64 map, const MvstereoCudaArgs &a, int x, int y)
{
    const int cx = av_clip(x, 0, a.w - 1), cy = av_clip(y, 0, a.h - 1);

    return ((const short *)map)[(GpumeU32)(cy * a.w + cx)];
}

static __device__ __forceinline__ void mvstereo_sort(int &a, int &b)
{
    const int least = gpume_min(a, b);

    b = gpume_max(a, b);
    a = least;
}

/** Three values side by side, ascending. */
typedef struct MvstereoRow {
    int least, middle, greatest;
} MvstereoRow;

/** Sorts the values at (x, y) and on both sides of it. */
static __device__ __forceinline__ MvstereoRow mvstereo_row(GpumeU64 map, const MvstereoCudaArgs &a, int x, int y)
{
    MvstereoRow row = { mvstereo_short(map, a, x - 1, y), mvstereo_short(map, a, x, y),
                        mvstereo_short(map, a, x + 1, y) };

    mvstereo_sort(row.least, row.middle);
    mvstereo_sort(row.middle, row.greatest);
    mvstereo_sort(row.least, row.middle);
    return row;
}

static __device__ __forceinline__ int mvstereo_median_of(int a, int b, int c)
{
    mvstereo_sort(a, b);
    return gpume_max(a, gpume_min(b, c));
}

/** Returns the median of three rows, in any order. */
static __device__ __forceinline__ int mvstereo_median_of_rows(const MvstereoRow rows[3])
{
    return mvstereo_median_of(gpume_max(gpume_max(rows[0].least, rows[1].least), rows[2].least),
                              mvstereo_median_of(rows[0].middle, rows[1].middle, rows[2].middle),
                              gpume_min(gpume_min(rows[0].greatest, rows[1].greatest), rows[2].greatest));
}

/** Sets the medians of MVSTEREO_CUDA_THREAD_ROWS samples from (x, y) on downwards. */
static __device__ __forceinline__ void mvstereo_medians(int *medians, GpumeU64 map, const MvstereoCudaArgs &a, int x,
                                                        int y)
{
    MvstereoRow rows[3] = { mvstereo_row(map, a, x, y - 1), mvstereo_row(map, a, x, y) };

    GPUME_UNROLL for (int i = 0; i < MVSTEREO_CUDA_THREAD_ROWS; i++) {
        rows[(i + 2) % 3] = mvstereo_row(map, a, x, y + i + 1);
        medians[i]        = mvstereo_median_of_rows(rows);
    }
}

#define MVSTEREO_PAIR(v) ((GpumeU32)(v) * 0x10001)

/** What is added to pairs of luma and of shifts, see mvstereo_shifts2(). */
#define MVSTEREO_LUMA   MVSTEREO_PAIR(0x5000)
#define MVSTEREO_SHIFTS MVSTEREO_PAIR(0x6400)

/** Selectors for mvstereo_bytes(): the last half of a and the first half of b, or one half twice. */
#define MVSTEREO_ACROSS     0x5432u
#define MVSTEREO_FIRST_OF_B 0x5454u
#define MVSTEREO_LAST_OF_A  0x3232u

#if defined(__clang__) && defined(__CUDA__) && (GPUME_CUDA_VARIANT & MVSTEREO_CUDA_AMPERE)
/** Returns the minima of both halves, which are below 0x7c00; half-precision numbers have the same order. */
static __device__ __forceinline__ GpumeU32 mvstereo_min2(GpumeU32 a, GpumeU32 b)
{
    GpumeU32 least;

    asm("min.f16x2 %0, %1, %2;" : "=r"(least) : "r"(a), "r"(b));
    return least;
}

static __device__ __forceinline__ GpumeU32 mvstereo_max2(GpumeU32 a, GpumeU32 b)
{
    GpumeU32 greatest;

    asm("max.f16x2 %0, %1, %2;" : "=r"(greatest) : "r"(a), "r"(b));
    return greatest;
}

/**
 * Returns by how much weights are shifted for differences of luma, in the low byte of both halves: a quarter of the
 * difference, at most 8, plus more. As half-precision numbers, luma is 32 + luma / 32, and more is 1024 plus that.
 */
static __device__ __forceinline__ GpumeU32 mvstereo_shifts2(GpumeU32 a, GpumeU32 b, GpumeU32 more)
{
    GpumeU32 shifts;

    asm("sub.f16x2 %0, %1, %2;" : "=r"(shifts) : "r"(a), "r"(b));
    asm("abs.f16x2 %0, %0;" : "+r"(shifts));
    /* minus 1.5 / 32, and then times 8 and rounded to the nearest integer: rounded down; at most 1 before that */
    asm("add.sat.f16x2 %0, %0, %1;" : "+r"(shifts) : "r"(MVSTEREO_PAIR(0xaa00)));
    asm("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(shifts) : "r"(MVSTEREO_PAIR(0x4800)), "r"(more));
    return shifts;
}

/** Returns -1 in the halves of a pair that are below the limit, 0 in the others. */
static __device__ __forceinline__ GpumeU32 mvstereo_below2(GpumeU32 pair, GpumeU32 limit)
{
    GpumeU32 are_below;

    asm("set.lt.u32.f16x2 %0, %1, %2;" : "=r"(are_below) : "r"(pair), "r"(limit));
    return are_below;
}

/** Subtracts the weights of chosen halves, which are -1, from sum. Weights are the bytes of a word's half. */
static __device__ __forceinline__ int mvstereo_subtract2(int sum, GpumeU32 chosen, GpumeU32 weights, int is_high)
{
    if (is_high)
        asm("dp2a.hi.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(chosen), "r"(weights));
    else
        asm("dp2a.lo.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(chosen), "r"(weights));
    return sum;
}

static __device__ __forceinline__ GpumeU32 mvstereo_least_of_warp(GpumeU32 v)
{
    GpumeU32 least;

    asm volatile("redux.sync.min.u32 %0, %1, 0xffffffff;" : "=r"(least) : "r"(v));
    return least;
}
#else
static __device__ __forceinline__ GpumeU32 mvstereo_min2(GpumeU32 a, GpumeU32 b)
{
    return gpume_umin(a & 0xffff, b & 0xffff) | gpume_umin(a & 0xffff0000, b & 0xffff0000);
}

static __device__ __forceinline__ GpumeU32 mvstereo_max2(GpumeU32 a, GpumeU32 b)
{
    return gpume_umax(a & 0xffff, b & 0xffff) | gpume_umax(a & 0xffff0000, b & 0xffff0000);
}

static __device__ __forceinline__ GpumeU32 mvstereo_shifts2(GpumeU32 a, GpumeU32 b, GpumeU32 more)
{
    const int low = (int)(a & 0xffff) - (int)(b & 0xffff), high = (int)(a >> 16) - (int)(b >> 16);

    return (GpumeU32)gpume_min(FFABS(low) >> 2, 8) + ((GpumeU32)gpume_min(FFABS(high) >> 2, 8) << 16) + more;
}

static __device__ __forceinline__ GpumeU32 mvstereo_below2(GpumeU32 pair, GpumeU32 limit)
{
    return ((pair & 0xffff) < (limit & 0xffff) ? 0xffff : 0) | (pair >> 16 < limit >> 16 ? 0xffff0000 : 0);
}

static __device__ __forceinline__ int mvstereo_subtract2(int sum, GpumeU32 chosen, GpumeU32 weights, int is_high)
{
    const GpumeU32 two = is_high ? weights >> 16 : weights;

    return sum - (int)(chosen & two & 0xff) - (int)(chosen >> 16 & two >> 8 & 0xff);
}

static __device__ __forceinline__ GpumeU32 mvstereo_least_of_warp(GpumeU32 v)
{
    GPUME_UNROLL for (int i = 1; i < 32; i *= 2)
        v = gpume_umin(v, __shfl_xor_sync(GPUME_WHOLE_WARP, v, i));
    return v;
}
#endif

/**
 * Returns four bytes of a and b. Each hex digit of which selects a byte, from the last: 0 to 3 from a, 4 to 7 from b;
 * greater digits of bytes below 128 select 0.
 */
static __device__ __forceinline__ GpumeU32 mvstereo_bytes(GpumeU32 a, GpumeU32 b, GpumeU32 which)
{
#ifdef GPUME_HOST
    const GpumeU64 both = a | (GpumeU64)b << 32;
    GpumeU32 bytes = 0;

    for (int i = 0; i < 4; i++)
        if (!(which >> 4 * i & 8))
            bytes |= (GpumeU32)(both >> 8 * (which >> 4 * i & 7) & 0xff) << 8 * i;
    return bytes;
#else
    GpumeU32 bytes;

    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(a), "r"(b), "r"(which));
    return bytes;
#endif
}

/** Returns the absolute differences of four bytes. */
static __device__ __forceinline__ GpumeU32 mvstereo_absolute_differences(GpumeU32 a, GpumeU32 b)
{
#ifdef GPUME_HOST
    GpumeU32 bytes = 0;

    for (int i = 0; i < 32; i += 8) {
        const int difference = (int)(a >> i & 0xff) - (int)(b >> i & 0xff);

        bytes |= (GpumeU32)FFABS(difference) << i;
    }
    return bytes;
#else
    GpumeU32 bytes;

    asm("vabsdiff4.u32.u32.u32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(a), "r"(b), "r"(0));
    return bytes;
#endif
}

/** Returns how many bits of a census differ. */
static __device__ __forceinline__ GpumeU32 mvstereo_hamming(GpumeU64 a, GpumeU64 b)
{
    return (GpumeU32)(gpume_popcount((GpumeU32)a ^ (GpumeU32)b) +
                      gpume_popcount(((GpumeU32)(a >> 32) ^ (GpumeU32)(b >> 32)) & 0xffff));
}

/** Returns the costs of a sample and of two of the other view, a and b, in the halves of a word. */
static __device__ __forceinline__ GpumeU32 mvstereo_costs_of(GpumeU64 sample, GpumeU64 a, GpumeU64 b)
{
    const GpumeU32 mine   = mvstereo_bytes((GpumeU32)(sample >> 32), 0, 0x3232);
    const GpumeU32 others = mvstereo_bytes((GpumeU32)(a >> 32), (GpumeU32)(b >> 32), 0x7632);
    /* the bytes are luma, gradient, luma, gradient; this is mvstereo_difference() of two samples */
    const GpumeU32 differences = mvstereo_absolute_differences(mine, others);
    const GpumeU32 luma     = mvstereo_min2(differences & 0x00fe00fe, MVSTEREO_PAIR(MVSTEREO_AD_CAP)) >> 1;
    const GpumeU32 gradient = mvstereo_min2(mvstereo_bytes(differences, 0, 0x4341), MVSTEREO_PAIR(MVSTEREO_GRAD_CAP));

    return luma + gradient + mvstereo_hamming(sample, a) + (mvstereo_hamming(sample, b) << 16);
}

/** The least sum of a sample: sum << 16 | disparity, those beside it, or the same again at an end; the second least. */
typedef struct MvstereoFound {
    GpumeU32 key, sides, second;
} MvstereoFound;

/** Returns the sums beside a disparity in a word. */
static __device__ __forceinline__ GpumeU32 mvstereo_sides(int before, int after, int sum, int is_between)
{
    return gpume_select(is_between, (GpumeU32)before | (GpumeU32)after << 16, MVSTEREO_PAIR(sum));
}

/** Sets the disparity and the confidence of a sample. */
static __device__ __forceinline__ void mvstereo_set_found(const MvstereoCudaArgs &args, const MvstereoFound *f,
                                                          long long q)
{
    const int sum = (int)(f->key >> 16), before = (int)(f->sides & 0xffff), after = (int)(f->sides >> 16);

    ((short *)args.matched)[q]      = (short)mvstereo_subpel((int)(f->key & 0xffff), before, sum, after);
    ((GpumeU8 *)args.confidence)[q] = (GpumeU8)gpume_umin(f->second - (GpumeU32)sum, 255u);
}

#endif /* AVFILTER_GPUME_MVSTEREO_DEVICE_CUH */
