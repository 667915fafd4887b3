/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Packs what is compared of both views into a word for each sample: census, luma and gradient. For the left view, also
 * computes the penalties of steps.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

#define R      MVSTEREO_CENSUS_R
#define SIDE   (2 * R + 1)
/** Number of pairs of a thread's samples, one above the other. */
#define PAIRS  (MVSTEREO_CUDA_THREAD_ROWS / 2)
/** Number of pairs that have all rows of a thread's samples and of those that these are compared with. */
#define EVEN_PAIRS (R + PAIRS)
/** Number of samples that a sample is compared with, and of those whose bits are in a word. */
#define OTHERS (SIDE * SIDE - 1)
#define BITS   8

/** Loads luma of the thread block's neighbourhood, as pairs of a sample and that below it. */
static __device__ __forceinline__ void load_tile(MvstereoCudaLuma *tile, const MvstereoCudaArgs &args, GpumeU64 src)
{
    enum { NB = MVSTEREO_CUDA_LUMA_ROWS / MVSTEREO_CUDA_ROWS };
    const int x0   = (int)blockIdx.x * MVSTEREO_CUDA_COLS - R, y0 = (int)blockIdx.y * MVSTEREO_CUDA_SIDE - R;
    const int col  = (int)(threadIdx.x % MVSTEREO_CUDA_COLS), row = (int)(threadIdx.x / MVSTEREO_CUDA_COLS) * NB;
    const int more = MVSTEREO_CUDA_COLS + (int)(threadIdx.x % (2 * R)), more_row = (int)(threadIdx.x / (2 * R));
    int luma[NB + 1], beside[2];

    /* all at once, as loads do not pass stores: a part of a column, and a pair of the columns on the right */
    GPUME_UNROLL for (int i = 0; i < NB + 1; i++)
        luma[i] = mvstereo_byte(src, args, x0 + col, y0 + row + i);
    GPUME_UNROLL for (int i = 0; i < 2; i++)
        beside[i] = mvstereo_byte(src, args, x0 + more, y0 + more_row + i);
    GPUME_UNROLL for (int i = 0; i < NB; i++)
        tile->pairs[row + i][col] = (GpumeU32)(luma[i] | luma[i + 1] << 16);
    if (more_row < MVSTEREO_CUDA_LUMA_ROWS)
        tile->pairs[more_row][more] = (GpumeU32)(beside[0] | beside[1] << 16);
}

/** Sets the features of a sample, whose luma or that of a pair is in a half of words. */
static __device__ __forceinline__ void set_features(const MvstereoCudaArgs &args, const GpumeU32 bits[], GpumeU32 luma,
                                                    int gradient, int is_lower, long long q)
{
    const GpumeU64 dst   = blockIdx.z ? args.features[1] : args.features[0];
    const GpumeU32 which = is_lower ? 0x7632 : 0x5410;
    GpumeU32 last;

    /* bytes of two words, of the upper sample and of the lower one */
    luma = (is_lower ? luma >> 16 : luma & 0xffff);
    if (blockIdx.z)
        luma = ((const MvstereoCudaStats *)args.stats)->table[luma];
    last = mvstereo_bytes(mvstereo_bytes(bits[4], bits[5], 0x7351), 0, which);
    ((GpumeU64 *)dst)[q] = (GpumeU64)((last & 0xffff) | luma << 16 | (GpumeU32)gradient << 24) << 32 |
                           mvstereo_bytes(mvstereo_bytes(bits[0], bits[1], 0x7351),
                                          mvstereo_bytes(bits[2], bits[3], 0x7351), which);
}

/**
 * Computes the features of samples of a column, two at once in halves of words.
 * grid:   MVSTEREO_CUDA_COLS x MVSTEREO_CUDA_SIDE samples, views
 * block:  MVSTEREO_CUDA_THREADS
 * shared: MvstereoCudaLuma
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, MVSTEREO_CUDA_THREADS, 3)
{
    GPUME_SHARED(MvstereoCudaLuma, tile);
    const GpumeU32 rough = MVSTEREO_PAIR(((const MvstereoCudaStats *)args.stats)->is_rough);
    const int tx = (int)(threadIdx.x % MVSTEREO_CUDA_COLS), x = (int)blockIdx.x * MVSTEREO_CUDA_COLS + tx;
    const int ty = (int)(threadIdx.x / MVSTEREO_CUDA_COLS) * 2 * PAIRS, y = (int)blockIdx.y * MVSTEREO_CUDA_SIDE + ty;
    GpumeU32 centre[PAIRS], add[PAIRS][BITS], bits[PAIRS][OTHERS / BITS] = { { 0 } };
    GpumeU32 left[PAIRS], above[PAIRS], before[PAIRS], after[PAIRS], first[EVEN_PAIRS], differ[EVEN_PAIRS] = { 0 };
    GpumeU32 uneven = 0;

    load_tile(tile, args, blockIdx.z ? args.luma[1] : args.luma[0]);
    __syncthreads();
    if (x >= args.w)
        return;
    GPUME_UNROLL for (int p = 0; p < PAIRS; p++) {
        centre[p] = tile->pairs[ty + R + 2 * p][tx + R];
        /* a sum has bit 8 if the other sample is not less than the limit, which need not be below 0 */
        GPUME_UNROLL for (int i = 0; i < BITS; i++)
            add[p][i] = (MVSTEREO_PAIR(256) - mvstereo_max2(centre[p], rough) + rough) << i;
    }
    GPUME_UNROLL for (int i = 0; i < SIDE; i++) {
        GpumeU32 column[SIDE + 2 * PAIRS - 2];

        GPUME_UNROLL for (int j = 0; j < SIDE + 2 * PAIRS - 2; j++)
            column[j] = tile->pairs[ty + j][tx + i];
        GPUME_UNROLL for (int j = 0; j < EVEN_PAIRS; j++) {
            first[j]   = i ? first[j] : column[2 * j];
            differ[j] |= first[j] ^ column[2 * j];
        }
        GPUME_UNROLL for (int p = 0; p < PAIRS; p++) {
            const GpumeU32 sum = column[2 * p + R - 1] + 2 * column[2 * p + R] + column[2 * p + R + 1];

            GPUME_UNROLL for (int j = 0; j < SIDE; j++) {
                const int number = SIDE * i + j - (SIDE * i + j > OTHERS / 2), bit = number % BITS;

                if (i != R || j != R)
                    bits[p][number / BITS] |= ((column[2 * p + j] << bit) + add[p][bit]) & MVSTEREO_PAIR(256) << bit;
            }
            if (i == R - 1) {
                before[p] = sum;
                left[p]   = column[2 * p + R];
            } else if (i == R) {
                above[p] = column[2 * p + R - 1];
            } else if (i == R + 1) {
                after[p] = sum;
            }
        }
    }
    GPUME_UNROLL for (int j = 0; j < EVEN_PAIRS; j++)
        uneven |= (GpumeU32)((differ[j] & 0xffff ? 1 : 0) | (differ[j] >> 16 ? 2 : 0)) << 2 * j;
    GPUME_UNROLL for (int i = 0; i < 2 * PAIRS; i++) {
        const int p = i / 2, shift = 16 * (i % 2);
        const int sobel   = (int)(after[p] >> shift & 0xffff) - (int)(before[p] >> shift & 0xffff);
        const int luma    = (int)(centre[p] >> shift & 0xffff);
        const int across  = luma - (int)(left[p] >> shift & 0xffff), down = luma - (int)(above[p] >> shift & 0xffff);
        const long long q = (y + i) * (long long)args.w + x;

        if (y + i >= args.h)
            return;
        set_features(args, bits[p], centre[p], mvstereo_gradient(sobel), i % 2, q);
        if (!blockIdx.z) {
            ((GpumeU8 *)args.even)[q]  = !(uneven >> i & ((1 << SIDE) - 1));
            ((GpumeU8 *)args.p2[0])[q] = (GpumeU8)mvstereo_p2(FFABS(across));
            ((GpumeU8 *)args.p2[1])[q] = (GpumeU8)mvstereo_p2(FFABS(down));
        }
    }
}
