/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Adds costs along paths: from left, right, above and below. A warp has a path, and each lane has
 * GPUME_CUDA_VARIANT words of four disparities, 32 words apart.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

#define WORDS GPUME_CUDA_VARIANT
/** Costs are loaded so many samples before they are needed. */
#define AHEAD (WORDS == 1 ? 8 : WORDS == 2 ? 4 : 1)
/** More than any cost, where there is no disparity. */
#define FAR (1 << 20)

/** Loads the words of a lane. Words behind the range are not there. */
static __device__ __forceinline__ void load(GpumeU32 v[WORDS], const GpumeU32 *src, int words, int lane)
{
    GPUME_UNROLL for (int j = 0; j < WORDS; j++)
        v[j] = 32 * j + lane < words ? src[32 * j + lane] : 0;
}

static __device__ __forceinline__ GpumeU32 pack(const int v[4])
{
    return (GpumeU32)v[0] | (GpumeU32)v[1] << 8 | (GpumeU32)v[2] << 16 | (GpumeU32)v[3] << 24;
}

/** Takes one step. least: of the costs, before and after. */
static __device__ __forceinline__ void step(int v[WORDS][4], int *least, const GpumeU32 costs[WORDS], int p2, int words,
                                            int lane)
{
    const int far = *least + p2;
    int before[WORDS], after[WORDS + 1], new_least = FAR;

    /* costs beside the words of the lane */
    GPUME_UNROLL for (int j = 0; j < WORDS; j++) {
        before[j] = (int)__shfl_sync(GPUME_WHOLE_WARP, (GpumeU32)v[j][3], (lane + 31) & 31);
        after[j]  = (int)__shfl_sync(GPUME_WHOLE_WARP, (GpumeU32)v[j][0], (lane + 1) & 31);
    }
    after[WORDS] = FAR;
    GPUME_UNROLL for (int j = WORDS - 1; j >= 0; j--) {
        const int previous = lane ? before[j] : j ? before[j - (j > 0)] : FAR;
        const int next     = lane < 31 ? after[j] : after[j + 1];
        const int old[4]   = { v[j][0], v[j][1], v[j][2], v[j][3] };

        GPUME_UNROLL for (int i = 0; i < 4; i++) {
            const int low  = i ? old[i - (i > 0)] : previous, high = i < 3 ? old[i + (i < 3)] : next;
            const int best = gpume_min(gpume_min(old[i], gpume_min(low, high) + MVSTEREO_P1), far);

            v[j][i] = 32 * j + lane < words ? best - *least + (int)(costs[j] >> 8 * i & 0xff) : FAR;
            new_least = gpume_min(new_least, v[j][i]);
        }
    }
    GPUME_UNROLL for (int i = 1; i < 32; i *= 2)
        new_least = gpume_min(new_least, (int)__shfl_xor_sync(GPUME_WHOLE_WARP, (GpumeU32)new_least, i));
    *least = new_least;
}

/**
 * grid:   paths in MVSTEREO_CUDA_PATHS, of the longer side; directions
 * block:  32 * MVSTEREO_CUDA_PATHS
 * shared: none
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, 32 * MVSTEREO_CUDA_PATHS, 4)
{
    const int lane = (int)(threadIdx.x % 32), line = (int)(blockIdx.x * MVSTEREO_CUDA_PATHS + threadIdx.x / 32);
    const int direction = (int)blockIdx.y, is_column = direction >= 2, back = direction & 1;
    const int nb = is_column ? args.h : args.w, words = args.range / 4;
    const long long pixel_step = (is_column ? (long long)args.w : 1ll) * (back ? -1 : 1);
    long long q = is_column ? (back ? (long long)(args.h - 1) * args.w : 0) + line
                            : (long long)line * args.w + (back ? args.w - 1 : 0);
    const GpumeU8 *luma = (const GpumeU8 *)args.luma[0];
    GpumeU64 dst = args.paths[0];
    GpumeU32 costs[WORDS], next[AHEAD][WORDS];
    int v[WORDS][4], least = 0, luma_before, luma_next[AHEAD];

    GPUME_UNROLL for (int i = 1; i < 4; i++)
        dst = direction == i ? args.paths[i] : dst;
    if (line >= (is_column ? args.w : args.h))
        return;
    GPUME_UNROLL for (int j = 0; j < WORDS; j++)
        GPUME_UNROLL for (int i = 0; i < 4; i++)
            v[j][i] = 32 * j + lane < words ? 0 : FAR;
    GPUME_UNROLL for (int k = 0; k < AHEAD; k++) {
        const long long from = q + gpume_min(k, nb - 1) * pixel_step;

        load(next[k], (const GpumeU32 *)args.costs + from * words, words, lane);
        luma_next[k] = luma[from];
    }
    luma_before = luma_next[0];
    for (int n = 0; n < nb; n += AHEAD) {
        GPUME_UNROLL for (int k = 0; k < AHEAD; k++) {
            const int luma_here  = luma_next[k];
            const long long from = q + AHEAD * pixel_step;

            /* the end is the same for all lanes; a loop that is left is not unrolled */
            if (n + k < nb) {
                GPUME_UNROLL for (int j = 0; j < WORDS; j++)
                    costs[j] = next[k][j];
                if (n + k + AHEAD < nb) {
                    load(next[k], (const GpumeU32 *)args.costs + from * words, words, lane);
                    luma_next[k] = luma[from];
                }
                step(v, &least, costs, mvstereo_p2(FFABS(luma_here - luma_before)), words, lane);
                GPUME_UNROLL for (int j = 0; j < WORDS; j++)
                    if (32 * j + lane < words)
                        ((GpumeU32 *)dst)[q * words + 32 * j + lane] = pack(v[j]);
                luma_before = luma_here;
                q += pixel_step;
            }
        }
    }
}
