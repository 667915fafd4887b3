/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Adds costs along paths from left, right, above and below. A warp has a path, and each lane has
 * WORDS words of four consecutive disparities. While they are added, costs are stored two to a
 * word.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

#define WORDS (GPUME_CUDA_VARIANT & ~MVSTEREO_CUDA_AMPERE)
/** Steps whose costs and penalties are loaded at once. */
#define BATCH (WORDS == 8 ? 1 : WORDS == 2 ? 4 : 8)
/** Cost of lanes beyond the range; larger than any cost of a path. */
#define FAR   0x800

/** Values that are constant along a path. */
typedef struct Lane {
    int number;
    GpumeU32 before, after;     ///< costs before the first disparity and after the last one, in halves
    GpumeU32 far;               ///< added where there is no disparity
} Lane;

static __device__ __forceinline__ void load(GpumeU32 v[WORDS], GpumeU64 src)
{
    if (WORDS == 1) {
        gpume_load_global(&v[0], (const void *)src);
    } else if (WORDS == 2) {
        int2 two;

        gpume_load_global(&two, (const void *)src);
        v[0] = (GpumeU32)two.x;
        v[1] = (GpumeU32)two.y;
    } else {
        GPUME_UNROLL for (int j = 0; j < WORDS; j += 4) {
            int4 four;

            gpume_load_global(&four, (const void *)(src + 4 * j));
            v[j] = (GpumeU32)four.x;
            GPUME_UNROLL for (int i = 1; i < 4 && j + i < WORDS; i++)
                v[j + i] = (GpumeU32)(i == 1 ? four.y : i == 2 ? four.z : four.w);
        }
    }
}

static __device__ __forceinline__ void store(GpumeU64 dst, const GpumeU32 v[WORDS][2])
{
    GpumeU32 words[WORDS];

    GPUME_UNROLL for (int j = 0; j < WORDS; j++)
        words[j] = mvstereo_bytes(v[j][0], v[j][1], 0x6420);
    if (WORDS == 1)
        *(GpumeU32 *)dst = words[0];
    GPUME_UNROLL for (int j = 0; j + 1 < WORDS; j += 2)
        *(GpumeU64 *)(dst + 4 * j) = words[j] | (GpumeU64)words[j + (WORDS > 1)] << 32;
}

/**
 * Takes one step.
 * @param least least cost, before and after, in both halves
 * @param p2    penalty, in both halves
 */
static __device__ __forceinline__ void step(GpumeU32 v[WORDS][2], GpumeU32 *least, const GpumeU32 costs[WORDS],
                                            GpumeU32 p2, const Lane *lane)
{
    const GpumeU32 far    = *least + p2, change = lane->far - *least;
    const GpumeU32 before = __shfl_sync(GPUME_WHOLE_WARP, v[WORDS - 1][1], (lane->number + 31) & 31);
    const GpumeU32 after  = __shfl_sync(GPUME_WHOLE_WARP, v[0][0], (lane->number + 1) & 31);
    GpumeU32 low = mvstereo_bytes(before, v[0][0], lane->before), new_least = MVSTEREO_PAIR(2 * FAR);

    GPUME_UNROLL for (int j = 0; j < WORDS; j++) {
        const GpumeU32 middle = mvstereo_bytes(v[j][0], v[j][1], MVSTEREO_ACROSS);
        const GpumeU32 high   = j == WORDS - 1 ? mvstereo_bytes(v[j][1], after, lane->after)
                                               : mvstereo_bytes(v[j][1], v[j + (j < WORDS - 1)][0], MVSTEREO_ACROSS);
        const GpumeU32 first  = mvstereo_min2(low, middle) + MVSTEREO_PAIR(MVSTEREO_P1);
        const GpumeU32 second = mvstereo_min2(middle, high) + MVSTEREO_PAIR(MVSTEREO_P1);

        v[j][0]   = mvstereo_min2(mvstereo_min2(v[j][0], first), far) + change +
                    mvstereo_bytes(costs[j], 0, 0x4140);
        v[j][1]   = mvstereo_min2(mvstereo_min2(v[j][1], second), far) + change +
                    mvstereo_bytes(costs[j], 0, 0x4342);
        new_least = mvstereo_min2(new_least, mvstereo_min2(v[j][0], v[j][1]));
        low       = high;
    }
    new_least = mvstereo_min2(new_least, mvstereo_bytes(new_least, 0, 0x1032));
    *least    = mvstereo_least_of_warp(new_least);
}

/** What the next steps need: costs, and the penalty of the step that is the lane's number. */
typedef struct Ahead {
    GpumeU32 costs[BATCH][WORDS], p2;
} Ahead;

/**
 * Loads what BATCH steps need. All loads are issued at once, and waited for when the steps begin, because a warp cannot
 * wait for one of many loads in flight.
 * @param nb number of steps that are left
 */
static __device__ __forceinline__ void load_ahead(Ahead *a, GpumeU64 costs, GpumeU64 p2, long long stride,
                                                  long long step_p2, int nb, const Lane *lane)
{
    GPUME_UNROLL for (int k = 0; k < BATCH; k++)
        if (k < nb)
            load(a->costs[k], costs + k * stride);
    if (lane->number < gpume_min(BATCH, nb))
        a->p2 = *(const GpumeU8 *)(p2 + lane->number * step_p2);
}

/**
 * grid:   paths in MVSTEREO_CUDA_PATHS, of the longer side; directions
 * block:  32 * MVSTEREO_CUDA_PATHS
 * shared: none
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, 32 * MVSTEREO_CUDA_PATHS, WORDS == 1 ? 10 : WORDS == 2 ? 9 : 6)
{
    const int number = (int)(threadIdx.x % 32), line = (int)(blockIdx.x * MVSTEREO_CUDA_PATHS + threadIdx.x / 32);
    const int direction = (int)blockIdx.y, is_column = direction >= 2, back = direction & 1;
    const int nb = is_column ? args.h : args.w, is_there = 4 * WORDS * number < args.range;
    const long long q = is_column ? (back ? (long long)(args.h - 1) * args.w : 0) + line
                                  : (long long)line * args.w + (back ? args.w - 1 : 0);
    const long long step_p2 = (is_column ? (long long)args.w : 1ll) * (back ? -1 : 1);
    const long long stride  = step_p2 * args.range;
    const int is_last = 4 * WORDS * (number + 1) >= args.range;
    const Lane lane   = { number, number ? MVSTEREO_ACROSS : MVSTEREO_FIRST_OF_B,
                          is_last ? MVSTEREO_LAST_OF_A : MVSTEREO_ACROSS, is_there ? 0 : MVSTEREO_PAIR(FAR) };
    /* lanes beyond the range load the data of the last lane, and do not use it */
    GpumeU64 src = args.costs + q * args.range + (is_there ? 4 * WORDS * number : args.range - 4 * WORDS);
    /* the penalty of a step back is that of the sample where the step begins; that of the first step has no effect */
    GpumeU64 dst = args.paths[0], p2 = (is_column ? args.p2[1] : args.p2[0]) + q - (back ? step_p2 : 0);
    GpumeU32 v[WORDS][2], least = 0;
    Ahead next = { { { 0 } }, 0 };

    GPUME_UNROLL for (int i = 1; i < 4; i++)
        dst = direction == i ? args.paths[i] : dst;
    if (line >= (is_column ? args.w : args.h))
        return;
    dst += q * args.range + 4 * WORDS * number;
    GPUME_UNROLL for (int j = 0; j < WORDS; j++)
        v[j][0] = v[j][1] = lane.far;
    /* before the first sample of a path back there is nothing */
    load_ahead(&next, src, back && !number ? p2 + step_p2 : p2, stride, step_p2, nb, &lane);
    for (int n = 0; n < nb; n += BATCH) {
        const Ahead now = next;

        src += BATCH * stride;
        p2  += BATCH * step_p2;
        load_ahead(&next, src, p2, stride, step_p2, nb - n - BATCH, &lane);
        GPUME_UNROLL for (int k = 0; k < BATCH; k++)
            /* the end of the loop is the same for all lanes; a loop with a break would not be unrolled */
            if (n + k < nb) {
                step(v, &least, now.costs[k], MVSTEREO_PAIR(__shfl_sync(GPUME_WHOLE_WARP, now.p2, k)), &lane);
                if (is_there)
                    store(dst, v);
                dst += stride;
            }
    }
}
