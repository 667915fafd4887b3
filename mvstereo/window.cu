/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What costs.cu, paths.cu and winners.cu do, where samples have MVSTEREO_WINDOW disparities each, around that of halved
 * views. A sample's are in eight lanes, so a warp has four samples.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

#define COSTS 0
#define PATHS 1

/** Lanes of a sample, and samples of a warp. */
#define LANES (MVSTEREO_WINDOW / 4)
#define LINES (32 / LANES)
/** Costs are loaded so many samples before they are needed. */
#define AHEAD 8
#define NONE  (~0u)

static __device__ __forceinline__ GpumeU32 exchange(GpumeU32 v, int lane)
{
    return __shfl_sync(GPUME_WHOLE_WARP, v, lane);
}

static __device__ __forceinline__ GpumeU32 least_of_sample(GpumeU32 v)
{
    GPUME_UNROLL for (int i = 1; i < LANES; i *= 2)
        v = gpume_umin(v, __shfl_xor_sync(GPUME_WHOLE_WARP, v, i));
    return v;
}

static __device__ __forceinline__ int base_of(const MvstereoCudaArgs &args, long long q)
{
    return ((const short *)args.base)[q];
}

/** A word of costs a thread. */
static __device__ __forceinline__ void set_costs(const MvstereoCudaArgs &args)
{
    const int number = (int)(blockIdx.x * MVSTEREO_CUDA_THREADS + threadIdx.x), y = (int)blockIdx.y;
    const int x = number / LANES;
    const long long q = (long long)y * args.w + x;
    GpumeU32 costs = 0;
    GpumeU64 left;
    int z;

    if (x >= args.w)
        return;
    left = ((const GpumeU64 *)args.features[0])[q];
    z    = x - args.min - base_of(args, q) - number % LANES * 4;
    GPUME_UNROLL for (int i = 0; i < 4; i++) {
        GpumeU32 least = 255;

        for (int j = -args.rows; j <= args.rows; j++) {
            const GpumeU64 right = ((const GpumeU64 *)args.features[1])
                [(long long)av_clip(y + j, 0, args.h - 1) * args.w + av_clip(z - i, 0, args.w - 1)];

            least = gpume_umin(least, mvstereo_cost((GpumeU32)left, (GpumeU32)(left >> 32), (GpumeU32)right,
                                                    (GpumeU32)(right >> 32)));
        }
        costs |= least << 8 * i;
    }
    ((GpumeU32 *)args.costs)[q * LANES + number % LANES] = costs;
}

/**
 * Takes one step. v: costs of the path, four a lane.
 * shift: from the first disparity of the sample before to that of this one
 */
static __device__ __forceinline__ void step(int v[4], int *least, GpumeU32 costs, int p2, int shift, int lane)
{
    const int number = lane % LANES, group = lane - number;
    const int before = (int)exchange((GpumeU32)v[3], (lane + 31) & 31);
    const int after  = (int)exchange((GpumeU32)v[0], (lane + 1) & 31);
    const int old[4] = { v[0], v[1], v[2], v[3] };
    const int at     = 4 * number + shift, word = at >> 2;
    const int far    = *least + p2;
    GpumeU32 best = 0, parts[2], new_least;
    /* what a step by one disparity leads to, beside the window */
    const GpumeU32 below = (exchange((GpumeU32)v[0], group) + MVSTEREO_P1) << 24 | 0xffffff;
    const GpumeU32 above = (exchange((GpumeU32)v[3], group + LANES - 1) + MVSTEREO_P1) | 0xffffff00;

    GPUME_UNROLL for (int i = 0; i < 4; i++) {
        const int low  = i ? old[i - (i > 0)] : number ? before : 255;
        const int high = i < 3 ? old[i + (i < 3)] : number < LANES - 1 ? after : 255;

        best |= (GpumeU32)gpume_min(old[i], gpume_min(low, high) + MVSTEREO_P1) << 8 * i;
    }
    GPUME_UNROLL for (int i = 0; i < 2; i++) {
        const int from = word + i;
        const GpumeU32 inside = exchange(best, group + (from & (LANES - 1)));

        parts[i] = from == -1 ? below : from == LANES ? above : from < 0 || from > LANES ? NONE : inside;
    }
    best      = mvstereo_bytes(parts[0], parts[1], 0x3210 + 0x1111 * (GpumeU32)(at & 3));
    new_least = NONE;
    GPUME_UNROLL for (int i = 0; i < 4; i++) {
        v[i]      = gpume_min((int)(best >> 8 * i & 0xff), far) - *least + (int)(costs >> 8 * i & 0xff);
        new_least = gpume_umin(new_least, (GpumeU32)v[i]);
    }
    *least = (int)least_of_sample(new_least);
}

/** A path of each sample of a warp; those that are not there are the last one again. */
static __device__ __forceinline__ void add_along_paths(const MvstereoCudaArgs &args)
{
    const int lane = (int)(threadIdx.x % 32);
    const int line = (int)(blockIdx.x * (MVSTEREO_CUDA_THREADS / LANES) + threadIdx.x / LANES);
    const int direction = (int)blockIdx.y, is_column = direction >= 2, back = direction & 1;
    const int nb = is_column ? args.h : args.w, nb_lines = is_column ? args.w : args.h;
    const int is_there = line < nb_lines, number = is_there ? line : nb_lines - 1;
    const long long q0 = is_column ? (back ? (long long)(args.h - 1) * args.w : 0) + number
                                   : (long long)number * args.w + (back ? args.w - 1 : 0);
    const long long stride = (is_column ? (long long)args.w : 1ll) * (back ? -1 : 1);
    const GpumeU8 *p2s = (const GpumeU8 *)(is_column ? args.p2[1] : args.p2[0]);
    GpumeU64 dst = args.paths[0];
    GpumeU32 next[AHEAD];
    int v[4], least = 0, p2_next[AHEAD], base_next[AHEAD], base = base_of(args, q0);

    GPUME_UNROLL for (int i = 1; i < 4; i++)
        dst = direction == i ? args.paths[i] : dst;
    GPUME_UNROLL for (int k = 0; k < AHEAD; k++) {
        const long long q = q0 + gpume_min(k, nb - 1) * stride;

        next[k]      = ((const GpumeU32 *)args.costs)[q * LANES + lane % LANES];
        p2_next[k]   = p2s[back && k && k < nb ? q - stride : q];
        base_next[k] = base_of(args, q);
    }
    v[0] = v[1] = v[2] = v[3] = 0;
    for (int n = 0; n < nb; n += AHEAD) {
        GPUME_UNROLL for (int k = 0; k < AHEAD; k++)
            /* the end is the same for all lanes; a loop that is left is not unrolled */
            if (n + k < nb) {
                const long long q = q0 + (n + k) * stride, from = q + AHEAD * stride;
                const GpumeU32 costs = next[k];
                const int p2 = p2_next[k], shift = base_next[k] - base;

                base = base_next[k];
                if (n + k + AHEAD < nb) {
                    next[k]      = ((const GpumeU32 *)args.costs)[from * LANES + lane % LANES];
                    p2_next[k]   = p2s[back ? from - stride : from];
                    base_next[k] = base_of(args, from);
                }
                step(v, &least, costs, p2, shift, lane);
                if (is_there)
                    ((GpumeU32 *)dst)[q * LANES + lane % LANES] = (GpumeU32)v[0] | (GpumeU32)v[1] << 8 |
                                                                  (GpumeU32)v[2] << 16 | (GpumeU32)v[3] << 24;
            }
    }
}

/** Returns the sum of one of a sample's disparities. */
static __device__ __forceinline__ int sum_of(const GpumeU32 sums[4], int k, int group)
{
    const GpumeU32 mine = gpume_select(k & 2, gpume_select(k & 1, sums[3], sums[2]),
                                       gpume_select(k & 1, sums[1], sums[0]));

    return (int)exchange(mine, group + (k >> 2));
}

/** The least sums of a row. A key is sum << 16 | disparity from args.min. */
static __device__ __forceinline__ void find_winners(const MvstereoCudaArgs &args)
{
    GPUME_SHARED(GpumeU32, right);
    const int lane = (int)(threadIdx.x % 32), number = lane % LANES, group = lane - number;
    const int nb   = args.w + args.range;
    const long long row = (long long)blockIdx.y * args.w;

    for (int i = (int)threadIdx.x; i < nb; i += MVSTEREO_CUDA_THREADS)
        right[i] = NONE;
    __syncthreads();
    for (int first = (int)(threadIdx.x / 32) * LINES; first < args.w; first += MVSTEREO_CUDA_THREADS / LANES) {
        const int is_there = first + lane / LANES < args.w, x = is_there ? first + lane / LANES : args.w - 1;
        const int base = base_of(args, row + x);
        GpumeU32 best = NONE, second = NONE, sums[4] = { 0 };
        int k, least, before, after;

        GPUME_UNROLL for (int p = 0; p < 4; p++) {
            const GpumeU32 word = ((const GpumeU32 *)args.paths[p])[(row + x) * LANES + number];

            GPUME_UNROLL for (int i = 0; i < 4; i++)
                sums[i] += word >> 8 * i & 0xff;
        }
        GPUME_UNROLL for (int i = 0; i < 4; i++) {
            const int d = base + 4 * number + i;
            const GpumeU32 key = sums[i] << 16 | (GpumeU32)d;

            best = gpume_umin(best, key);
            /* the sample z of the other view is number z + args.min + args.range - 1 */
            atomicMin(&right[x - d + args.range - 1], key);
        }
        best   = least_of_sample(best);
        least  = (int)(best >> 16);
        k      = (int)(best & 0xffff) - base;
        before = sum_of(sums, gpume_max(k - 1, 0), group);
        after  = sum_of(sums, gpume_min(k + 1, MVSTEREO_WINDOW - 1), group);
        GPUME_UNROLL for (int i = 0; i < 4; i++)
            if ((GpumeU32)(4 * number + i - k + 1) > 2)
                second = gpume_umin(second, sums[i]);
        second = least_of_sample(second);
        if (is_there && !number) {
            ((short *)args.matched)[row + x] = (short)(k > 0 && k < MVSTEREO_WINDOW - 1
                ? mvstereo_subpel(base + k, before, least, after) : (base + k) * MVSTEREO_ONE);
            ((GpumeU8 *)args.confidence)[row + x] = (GpumeU8)gpume_umin(second - (GpumeU32)least, 255u);
        }
    }
    __syncthreads();
    for (int z = (int)threadIdx.x; z < args.w; z += MVSTEREO_CUDA_THREADS) {
        const int i = z + args.min + args.range - 1;
        const GpumeU32 key = i >= 0 && i < nb ? right[i] : NONE;

        ((short *)args.right)[row + z] = (short)(key == NONE ? -2 : (int)(key & 0xffff));
    }
}

/**
 * grid:   of costs words of a row in MVSTEREO_CUDA_THREADS, rows; of paths those of the longer side in
 *         MVSTEREO_CUDA_THREADS / LANES, directions; of winners 1, rows
 * block:  MVSTEREO_CUDA_THREADS
 * shared: of winners a word for each sample of a row, and for as many before and behind as there are disparities
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, MVSTEREO_CUDA_THREADS, GPUME_CUDA_VARIANT == PATHS ? 2 : 4)
{
    if (GPUME_CUDA_VARIANT == COSTS)
        set_costs(args);
    else if (GPUME_CUDA_VARIANT == PATHS)
        add_along_paths(args);
    else
        find_winners(args);
}
