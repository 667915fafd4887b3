/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Smooths rough views, and halves views.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

#define SMOOTH 0

#define ROWS   MVSTEREO_CUDA_THREAD_ROWS

/** Returns luma at (x, y), smoothed if the view is rough, or the nearest one. */
static __device__ __forceinline__ int get_luma(const MvstereoCudaArgs &args, int x, int y, int is_rough)
{
    const GpumeU64 raw = blockIdx.z ? args.raw[1] : args.raw[0], luma = blockIdx.z ? args.luma[1] : args.luma[0];
    int sum = 8;

    if (!is_rough)
        return mvstereo_byte(luma, args, x, y);
    x = gpume_min(x, args.w - 1);
    y = gpume_min(y, args.h - 1);
    GPUME_UNROLL for (int j = -1; j <= 1; j++)
        GPUME_UNROLL for (int i = -1; i <= 1; i++)
            sum += (i ? 1 : 2) * (j ? 1 : 2) * mvstereo_byte(raw, args, x + i, y + j);
    return sum >> 4;
}

/** Smooths 2x2 samples if the view is rough. Returns their mean. */
static __device__ __forceinline__ GpumeU8 process(const MvstereoCudaArgs &args, int x, int y, int is_rough)
{
    GpumeU8 *luma = (GpumeU8 *)(blockIdx.z ? args.luma[1] : args.luma[0]);
    int sum = 2;

    GPUME_UNROLL for (int i = 0; i < 4; i++) {
        const int px = x + i % 2, py = y + i / 2, v = get_luma(args, px, py, is_rough);

        sum += v;
        if (is_rough && px < args.w && py < args.h) {
            luma[py * (long long)args.w + px] = (GpumeU8)v;
            if (args.search && !blockIdx.z)
                ((GpumeU8 *)(args.search + py * args.search_linesize))[px] = (GpumeU8)v;
        }
    }
    return (GpumeU8)(sum >> 2);
}

/**
 * A thread has several rows, so that there are few where there is nothing to do.
 * grid:   MVSTEREO_CUDA_COLS x MVSTEREO_CUDA_SIDE samples of halved views, views
 * block:  MVSTEREO_CUDA_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, MVSTEREO_CUDA_THREADS, 4)
{
    const int is_rough = GPUME_CUDA_VARIANT == SMOOTH && ((const MvstereoCudaStats *)args.stats)->is_rough;
    const int x        = (int)(blockIdx.x * MVSTEREO_CUDA_COLS + threadIdx.x % MVSTEREO_CUDA_COLS);
    const int y        = (int)(blockIdx.y * MVSTEREO_CUDA_ROWS + threadIdx.x / MVSTEREO_CUDA_COLS) * ROWS;
    const int w        = (args.w + 1) / 2, h = (args.h + 1) / 2;
    GpumeU8 *halved    = (GpumeU8 *)(blockIdx.z ? args.halved[1] : args.halved[0]);
    GpumeU8 means[ROWS];

    if (x >= w || y >= h || !(is_rough || halved))
        return;
    /* all at once, as loads do not pass stores */
    if (is_rough)
        GPUME_UNROLL for (int i = 0; i < ROWS; i++)
            means[i] = process(args, 2 * x, 2 * (y + i), 1);
    else
        GPUME_UNROLL for (int i = 0; i < ROWS; i++)
            means[i] = process(args, 2 * x, 2 * (y + i), 0);
    GPUME_UNROLL for (int i = 0; i < ROWS; i++)
        if (halved && y + i < h)
            halved[(y + i) * (long long)w + x] = means[i];
}
