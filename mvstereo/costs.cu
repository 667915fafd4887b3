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

/** Returns the absolute differences of four bytes. */
static __device__ __forceinline__ GpumeU32 absolute_differences(GpumeU32 a, GpumeU32 b)
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
static __device__ __forceinline__ GpumeU32 hamming(GpumeU64 a, GpumeU64 b)
{
    return (GpumeU32)(gpume_popcount((GpumeU32)a ^ (GpumeU32)b) +
                      gpume_popcount(((GpumeU32)(a >> 32) ^ (GpumeU32)(b >> 32)) & 0xffff));
}

/** Returns the costs of a sample and of two of the other view, a and b, in the halves of a word. */
static __device__ __forceinline__ GpumeU32 costs_of(GpumeU64 sample, GpumeU64 a, GpumeU64 b)
{
    const GpumeU32 mine   = mvstereo_bytes((GpumeU32)(sample >> 32), 0, 0x3232);
    const GpumeU32 others = mvstereo_bytes((GpumeU32)(a >> 32), (GpumeU32)(b >> 32), 0x7632);
    /* the bytes are luma, gradient, luma, gradient; this is mvstereo_difference() of two samples */
    const GpumeU32 differences = absolute_differences(mine, others);
    const GpumeU32 luma     = mvstereo_min2(differences & 0x00fe00fe, MVSTEREO_PAIR(MVSTEREO_AD_CAP)) >> 1;
    const GpumeU32 gradient = mvstereo_min2(mvstereo_bytes(differences, 0, 0x4341), MVSTEREO_PAIR(MVSTEREO_GRAD_CAP));

    return luma + gradient + hamming(sample, a) + (hamming(sample, b) << 16);
}

/** Sets and returns the base of the sample at (x, y). */
static __device__ __forceinline__ int find_base(const MvstereoCudaArgs &args, int x, int y)
{
    const int half = ((const short *)args.half)[(long long)(y / 2) * ((args.w + 1) / 2) + x / 2];
    const int base = mvstereo_base(half, args.half_min, args.min, args.range);

    ((short *)args.base)[(long long)y * args.w + x] = (short)base;
    return base;
}

/**
 * Sets costs of a warp's samples. Lanes exchange words, so that they write whole lines.
 * @param row   costs of the first sample
 * @param pitch bytes from a sample to the next
 * @param nb    number of samples up to the end of the row
 */
static __device__ __forceinline__ void store(GpumeU32 *row, int pitch, int nb, const GpumeU32 costs[NB / 2],
                                             GpumeU32 words[NB / 4][MVSTEREO_CUDA_WORDS_ROW])
{
    const int lane = (int)(threadIdx.x % 32);

    __syncwarp();
    GPUME_UNROLL for (int i = 0; i < NB / 4; i++)
        words[i][lane] = mvstereo_bytes(costs[2 * i], costs[2 * i + 1], 0x6420);
    __syncwarp();
    GPUME_UNROLL for (int i = 0; i < NB / 4; i++) {
        const int n = 4 * i + lane / 8;

        if (n < nb)
            row[(long long)n * (pitch / 4) + lane % 8] = words[lane % 8][n];
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

    for (int j = -args.rows; j <= args.rows; j++) {
        const GpumeU64 *row = (const GpumeU64 *)args.features[1] + (long long)av_clip(y + j, 0, args.h - 1) * args.w;

        for (int i = (int)threadIdx.x; i < row_nb; i += COLS)
            right[(j + args.rows) * row_nb + i] = row[av_clip(x0 - args.min - args.range + i, 0, args.w - 1)];
    }
    __syncthreads();
    for (int first = 0; first < pitch; first += NB) {
        GpumeU32 costs[NB / 2];

        GPUME_UNROLL for (int i = 0; i < NB / 2; i++)
            costs[i] = MVSTEREO_PAIR(255);
        for (int j = 0; j <= 2 * args.rows; j++) {
            const GpumeU64 *from = at + j * row_nb - first;

            GPUME_UNROLL for (int i = 0; i < NB / 2; i++)
                costs[i] = mvstereo_min2(costs[i], costs_of(left, from[-2 * i], from[-2 * i - 1]));
        }
        store((GpumeU32 *)(args.costs + first_q * pitch + first), pitch, args.w - x0 - 32 * warp, costs,
              words[warp].words);
    }
}
