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

#include "libavfilter/gpume/device/common.cuh"

typedef GpumeU32 uint32_t;
typedef long long int64_t;
typedef GpumeU8 uint8_t;

#include "libavfilter/gpume/mvstereo/cuda_args.h"

/** Returns the sample at (x, y) of a plane of bytes, or the nearest one. */
static __device__ __forceinline__ int mvstereo_byte(GpumeU64 plane, const MvstereoCudaArgs &a, int x, int y)
{
    const int cx = av_clip(x, 0, a.w - 1), cy = av_clip(y, 0, a.h - 1);

    return ((const GpumeU8 *)plane)[(long long)cy * a.w + cx];
}

/** Returns the value at (x, y) of a map, or the nearest one. */
static __device__ __forceinline__ int mvstereo_short(GpumeU64 map, const MvstereoCudaArgs &a, int x, int y)
{
    const int cx = av_clip(x, 0, a.w - 1), cy = av_clip(y, 0, a.h - 1);

    return ((const short *)map)[(long long)cy * a.w + cx];
}

static __device__ __forceinline__ void mvstereo_sort(int &a, int &b)
{
    const int least = gpume_min(a, b);

    b = gpume_max(a, b);
    a = least;
}

/** Returns the median of the 3x3 values around (x, y). */
static __device__ __forceinline__ int mvstereo_median(GpumeU64 map, const MvstereoCudaArgs &a, int x, int y)
{
    int v[3][3];

    GPUME_UNROLL for (int i = 0; i < 3; i++) {
        GPUME_UNROLL for (int j = 0; j < 3; j++)
            v[i][j] = mvstereo_short(map, a, x + i - 1, y + j - 1);
        mvstereo_sort(v[i][0], v[i][1]);
        mvstereo_sort(v[i][1], v[i][2]);
        mvstereo_sort(v[i][0], v[i][1]);
    }
    v[0][0] = gpume_max(gpume_max(v[0][0], v[1][0]), v[2][0]);
    v[0][2] = gpume_min(gpume_min(v[0][2], v[1][2]), v[2][2]);
    mvstereo_sort(v[0][1], v[1][1]);
    v[0][1] = gpume_max(v[0][1], gpume_min(v[1][1], v[2][1]));
    mvstereo_sort(v[0][0], v[0][1]);
    return gpume_max(v[0][0], gpume_min(v[0][1], v[0][2]));
}

/** The sample of a thread, where blocks of threads have MVSTEREO_CUDA_COLS x MVSTEREO_CUDA_ROWS samples. */
#define MVSTEREO_PLACE()                                                                            \
    const int x = (int)(blockIdx.x * MVSTEREO_CUDA_COLS + threadIdx.x % MVSTEREO_CUDA_COLS);        \
    const int y = (int)(blockIdx.y * MVSTEREO_CUDA_ROWS + threadIdx.x / MVSTEREO_CUDA_COLS);        \
    const int is_inside = x < args.w && y < args.h;                                                 \
    const long long q = (long long)y * args.w + x

#endif /* AVFILTER_GPUME_MVSTEREO_DEVICE_CUH */
