/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds which disparities are valid: both views must agree, and the piece must be large enough.
 * Pieces are trees: the parent of a sample has a smaller index, and a root is its own parent.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

#define CHECK 0
#define JOIN  1
#define COUNT 2
#define DROP  3

static __device__ __forceinline__ int are_joined(int a, int b)
{
    const int difference = a - b;

    return a >= 0 && b >= 0 && FFABS(difference) <= MVSTEREO_ONE;
}

/**
 * Computes the first median, sets holes where the views do not agree, and joins samples of a warp,
 * which are in one row, to pieces.
 */
static __device__ __forceinline__ void check(const MvstereoCudaArgs &args, int is_inside, int x, int y, long long q)
{
    const int lane = (int)(threadIdx.x % 32);
    int v = is_inside ? mvstereo_median(args.matched, args, x, y) : MVSTEREO_INVALID, left;
    GpumeU32 begins;

    if (v >= 0) {
        const int k = (v + MVSTEREO_ONE / 2) / MVSTEREO_ONE, z = x - args.min - k;
        int is_valid = z >= 0 && z < args.w;

        if (is_valid) {
            const int difference = ((const short *)args.right)[q - x + z] - k;

            is_valid = FFABS(difference) <= MVSTEREO_CHECK;
        }
        v = is_valid ? v : MVSTEREO_INVALID;
    }
    left   = (int)__shfl_sync(GPUME_WHOLE_WARP, (GpumeU32)v, (lane + 31) & 31);
    begins = __ballot_sync(GPUME_WHOLE_WARP, !lane || !are_joined(v, left));
    if (!is_inside)
        return;
    /* the last lane up to this one at which a piece begins */
    for (begins &= ~0u >> (31 - lane); begins & (begins - 1);)
        begins &= begins - 1;
    ((short *)args.checked)[q]    = (short)v;
    ((GpumeU32 *)args.parents)[q] = (GpumeU32)(q - lane + gpume_first_bit(begins));
    ((GpumeU32 *)args.sizes)[q]   = 0;
    if (!x)
        ((GpumeU32 *)args.row_valid)[y] = 0;
}

static __device__ __forceinline__ GpumeU32 find_root(const GpumeU32 *parents, GpumeU32 i)
{
    for (;;) {
        const GpumeU32 parent = gpume_load_volatile(&parents[i]);

        if (parent == i)
            return i;
        i = parent;
    }
}

/** Joins two pieces. Other threads may have changed the roots since they were read, so atomics decide. */
static __device__ __forceinline__ void join(GpumeU32 *parents, GpumeU32 a, GpumeU32 b)
{
    for (;;) {
        GpumeU32 greater, less, old;

        a = find_root(parents, a);
        b = find_root(parents, b);
        if (a == b)
            return;
        less    = gpume_umin(a, b);
        greater = gpume_umax(a, b);
        old     = atomicMin(&parents[greater], less);
        if (old == greater)
            return;
        a = old;
        b = less;
    }
}

static __device__ __forceinline__ void join_neighbours(const MvstereoCudaArgs &args, int x, int y, long long q)
{
    const short *v = (const short *)args.checked + q, *above = v - args.w;
    GpumeU32 *parents = (GpumeU32 *)args.parents;

    /* samples within a warp are joined already */
    if (x && !(threadIdx.x % 32) && are_joined(v[0], v[-1]))
        join(parents, (GpumeU32)q, (GpumeU32)(q - 1));
    /* in a square of four joined samples, the fourth side adds nothing */
    if (y && are_joined(v[0], above[0]) &&
        !(x && are_joined(v[0], v[-1]) && are_joined(v[-1], above[-1]) && are_joined(above[-1], above[0])))
        join(parents, (GpumeU32)q, (GpumeU32)(q - args.w));
}

/** Counts the samples of pieces. Samples of a warp that belong to one piece are counted at once. */
static __device__ __forceinline__ void count(const MvstereoCudaArgs &args, int is_inside, long long q)
{
    const int is_valid  = is_inside && ((const short *)args.checked)[is_inside ? q : 0] >= 0;
    const GpumeU32 root = is_valid ? find_root((const GpumeU32 *)args.parents, (GpumeU32)q) : ~0u;
    const GpumeU32 first = __shfl_sync(GPUME_WHOLE_WARP, root, 0);
    const GpumeU32 same  = __ballot_sync(GPUME_WHOLE_WARP, root == first);
    GpumeU32 *sizes = (GpumeU32 *)args.sizes;

    if (!is_valid)
        return;
    /* shortens the path for other threads; they may read the old or the new parent */
    gpume_store_volatile((GpumeU32 *)args.parents + q, root);
    /* most samples are in a few large pieces, of which nobody wants to know more */
    if ((root != first || threadIdx.x % 32 == 0) && gpume_load_volatile(&sizes[root]) < MVSTEREO_PIECE)
        atomicAdd(&sizes[root], root == first ? (GpumeU32)gpume_popcount(same) : 1u);
}

/** Keeps the disparities of large pieces. The samples of a warp are in one row. */
static __device__ __forceinline__ void drop(const MvstereoCudaArgs &args, int is_inside, int y, long long q)
{
    const int v  = is_inside ? ((const short *)args.checked)[q] : MVSTEREO_INVALID;
    int is_valid = v >= 0;
    GpumeU32 valid;

    if (is_valid)
        is_valid = ((const GpumeU32 *)args.sizes)[find_root((const GpumeU32 *)args.parents, (GpumeU32)q)] >=
                   MVSTEREO_PIECE;
    valid = __ballot_sync(GPUME_WHOLE_WARP, is_valid);
    if (!is_inside)
        return;
    ((short *)args.kept)[q]    = (short)(is_valid ? v : MVSTEREO_INVALID);
    ((GpumeU8 *)args.valid)[q] = (GpumeU8)is_valid;
    if (!is_valid)
        ((GpumeU8 *)args.confidence)[q] = 0;
    if (valid && threadIdx.x % 32 == 0)
        atomicMax((GpumeU32 *)args.row_valid + y, 1u);
    if (is_valid && args.counts)
        atomicAdd(&((MvstereoCudaStats *)args.stats)->counts[(v + MVSTEREO_ONE / 2) / MVSTEREO_ONE], 1u);
}

/**
 * grid:   MVSTEREO_CUDA_COLS x MVSTEREO_CUDA_ROWS samples
 * block:  MVSTEREO_CUDA_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, MVSTEREO_CUDA_THREADS, 4)
{
    MVSTEREO_PLACE();

    if (GPUME_CUDA_VARIANT == COUNT)
        count(args, is_inside, q);
    else if (GPUME_CUDA_VARIANT == DROP)
        drop(args, is_inside, y, q);
    else if (GPUME_CUDA_VARIANT == CHECK)
        check(args, is_inside, x, y, q);
    else if (is_inside)
        join_neighbours(args, x, y, q);
}
