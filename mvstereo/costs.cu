/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Compares the features of both views. A thread has MVSTEREO_WINDOW disparities of a sample; with bases, they begin at
 * the sample's base, which it sets.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

#define NB   MVSTEREO_WINDOW
#define COLS MVSTEREO_CUDA_COST_COLS

/** Sets and returns the base of the sample at (x, y). */
static __device__ __forceinline__ int find_base(const MvstereoCudaArgs &args, int x, int y)
{
    const int half = ((const short *)args.half)[(long long)(y / 2) * ((args.w + 1) / 2) + x / 2];
    const int base = mvstereo_base(half, args.half_min, args.min, args.range);

    ((short *)args.base)[(long long)y * args.w + x] = (short)base;
    return base;
}

/** Returns the least bytes of two words. */
static __device__ __forceinline__ GpumeU32 least_bytes(GpumeU32 a, GpumeU32 b)
{
    return mvstereo_min2(a & 0x00ff00ff, b & 0x00ff00ff) |
           mvstereo_min2(a >> 8 & 0x00ff00ff, b >> 8 & 0x00ff00ff) << 8;
}

/**
 * Sets costs of a warp's samples, or lowers those of other rows. Lanes exchange words, so that they write whole lines.
 * @param row   costs of the first sample
 * @param pitch bytes from a sample to the next
 * @param nb    number of samples up to the end of the row
 * @param is_first whether there are no costs of other rows
 */
static __device__ __forceinline__ void store(GpumeU32 *row, int pitch, int nb, int is_first,
                                             const GpumeU32 costs[NB / 2],
                                             GpumeU32 words[NB / 4][MVSTEREO_CUDA_WORDS_ROW])
{
    const int lane = (int)(threadIdx.x % 32);

    __syncwarp();
    GPUME_UNROLL for (int i = 0; i < NB / 4; i++)
        words[i][lane] = mvstereo_bytes(costs[2 * i], costs[2 * i + 1], 0x6420);
    __syncwarp();
    GPUME_UNROLL for (int i = 0; i < NB / 4; i++) {
        const int n = 4 * i + lane / 8;
        GpumeU32 *to = row + (long long)n * (pitch / 4) + lane % 8, word = words[lane % 8][n];

        if (n < nb)
            *to = is_first ? word : least_bytes(word, *to);
    }
}

/**
 * grid:   samples of a row in MVSTEREO_CUDA_COST_COLS, rows
 * block:  MVSTEREO_CUDA_COST_COLS
 * shared: MvstereoCudaWords for each warp; and, for each row that is compared, features of MVSTEREO_CUDA_COST_COLS
 *         samples and of as many more as there are disparities
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, COLS, 8)
{
    GPUME_SHARED(MvstereoCudaWords, words);
    GpumeU64 *right = (GpumeU64 *)(words + COLS / 32);
    const int x0 = (int)blockIdx.x * COLS, y = (int)blockIdx.y, row_nb = COLS + args.range;
    const int is_inside = x0 + (int)threadIdx.x < args.w, column = is_inside ? (int)threadIdx.x : 0;
    const int warp = (int)(threadIdx.x / 32), pitch = args.base ? NB : args.range;
    const long long q = (long long)y * args.w + x0, first_q = q + 32 * warp;
    const GpumeU64 left = ((const GpumeU64 *)args.features[0])[q + column];
    /* disparities descend while samples of the other view ascend; beyond the ends is the nearest sample */
    const GpumeU64 *at = right + column + args.range - (is_inside && args.base ? find_base(args, x0 + column, y) : 0);

    for (int j = args.first_row; j <= args.last_row; j++) {
        const GpumeU64 *row = (const GpumeU64 *)args.features[1] + (long long)av_clip(y + j, 0, args.h - 1) * args.w;

        for (int i = (int)threadIdx.x; i < row_nb; i += COLS)
            right[(j - args.first_row) * row_nb + i] = row[av_clip(x0 - args.min - args.range + i, 0, args.w - 1)];
    }
    __syncthreads();
    for (int first = 0; first < pitch; first += NB) {
        GpumeU32 costs[NB / 2];

        GPUME_UNROLL for (int i = 0; i < NB / 2; i++)
            costs[i] = MVSTEREO_PAIR(255);
        for (int j = 0; j <= args.last_row - args.first_row; j++) {
            const GpumeU64 *from = at + j * row_nb - first;

            GPUME_UNROLL for (int i = 0; i < NB / 2; i++)
                costs[i] = mvstereo_min2(costs[i], mvstereo_costs_of(left, from[-2 * i], from[-2 * i - 1]));
        }
        store((GpumeU32 *)(args.costs + first_q * pitch + first), pitch, args.w - x0 - 32 * warp,
              args.first_row == -args.rows, costs, words[warp].words);
    }
}
