/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Compares the features of both views.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

/** Number of samples for which a thread computes costs at a time, each for a word of disparities. */
#define COLS 4

/**
 * Features of samples of the other view; the two halves of a feature are in separate arrays. Every
 * fourth sample is adjacent to the next.
 */
typedef struct Row {
    GpumeU32 low[MVSTEREO_CUDA_COST_ROW], high[MVSTEREO_CUDA_COST_ROW];
} Row;

static __device__ __forceinline__ int place_of(int i)
{
    return (i & 3) * (MVSTEREO_CUDA_COST_ROW / 4) + (i >> 2);
}

/**
 * Loads the features of samples first to first + nb - 1 of a row; outside the picture, those of the
 * nearest sample.
 */
static __device__ __forceinline__ void load_row(Row *to, const MvstereoCudaArgs &args, int first, int nb, int y)
{
    const GpumeU64 *from = (const GpumeU64 *)args.features[1] + (long long)av_clip(y, 0, args.h - 1) * args.w;

    for (int i = (int)threadIdx.x; i < nb; i += MVSTEREO_CUDA_THREADS) {
        const GpumeU64 features = from[av_clip(first + i, 0, args.w - 1)];

        to->low[place_of(i)]  = (GpumeU32)features;
        to->high[place_of(i)] = (GpumeU32)(features >> 32);
    }
}

/**
 * grid:   MVSTEREO_CUDA_COST_COLS samples of a row, rows
 * block:  MVSTEREO_CUDA_THREADS; a thread has a word of disparities for each of COLS samples
 * shared: Row
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, MVSTEREO_CUDA_THREADS, 4)
{
    GPUME_SHARED(Row, right);
    const int x0 = (int)blockIdx.x * MVSTEREO_CUDA_COST_COLS, y = (int)blockIdx.y, words = args.range / 4;
    /* disparities descend while samples of the other view ascend */
    const int z0 = x0 - args.min - (args.range - 1), nb = MVSTEREO_CUDA_COST_COLS + args.range - 1;
    const GpumeU64 *left = (const GpumeU64 *)args.features[0] + (long long)y * args.w;
    GpumeU8 *dst = (GpumeU8 *)args.costs + (long long)y * args.w * args.range;

    for (int j = -args.rows; j <= args.rows; j++) {
        if (j > -args.rows)
            __syncthreads();
        load_row(right, args, z0, nb, y + j);
        __syncthreads();
        for (int i = (int)threadIdx.x; i < words * (MVSTEREO_CUDA_COST_COLS / COLS); i += MVSTEREO_CUDA_THREADS) {
            const int column = i / words * COLS, k = i % words * 4, at = column + args.range - 4 - k;
            GpumeU32 low[COLS + 3], high[COLS + 3];

            GPUME_UNROLL for (int c = 0; c < COLS + 3; c++) {
                low[c]  = right->low[place_of(at + c)];
                high[c] = right->high[place_of(at + c)];
            }
            GPUME_UNROLL for (int c = 0; c < COLS; c++)
                if (x0 + column + c < args.w) {
                    const GpumeU64 features = left[x0 + column + c];
                    GpumeU32 *to   = (GpumeU32 *)(dst + (long long)(x0 + column + c) * args.range + k);
                    GpumeU32 costs = 0;

                    GPUME_UNROLL for (int d = 0; d < 4; d++) {
                        GpumeU32 v = mvstereo_cost((GpumeU32)features, (GpumeU32)(features >> 32), low[c + 3 - d],
                                                   high[c + 3 - d]);

                        if (j > -args.rows)
                            v = gpume_umin(v, *to >> 8 * d & 0xff);
                        costs |= v << 8 * d;
                    }
                    *to = costs;
                }
        }
    }
}
