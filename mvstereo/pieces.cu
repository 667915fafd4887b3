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

/** Each so many columns, a thread has a row of its thread block. */
#define STEP  (MVSTEREO_CUDA_COLS / MVSTEREO_CUDA_ROWS)

static __device__ __forceinline__ int are_joined(int a, int b)
{
    const int difference = a - b;

    return a >= 0 && b >= 0 && FFABS(difference) <= MVSTEREO_ONE;
}

/**
 * Returns the root of a sample, while others may join it. Parents are those of all samples, or of a thread block's in
 * shared memory, where atomics read them.
 */
static __device__ __forceinline__ GpumeU32 find_root(GpumeU32 *parents, GpumeU32 i, int is_shared)
{
    for (;;) {
        /* no parent has a greater index */
        const GpumeU32 parent = is_shared ? atomicMin(&parents[i], i) : gpume_load_volatile(&parents[i]);

        if (parent == i)
            return i;
        i = parent;
    }
}

/** Joins two pieces. Other threads may have changed the roots since they were read, so atomics decide. */
static __device__ __forceinline__ void join(GpumeU32 *parents, GpumeU32 a, GpumeU32 b, int is_shared)
{
    for (;;) {
        GpumeU32 greater, less, old;

        a = find_root(parents, a, is_shared);
        b = find_root(parents, b, is_shared);
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

/** Returns whether a sample must be joined with that above: the fourth side of a square of joined ones adds nothing. */
static __device__ __forceinline__ int needs_above(int v, int left, int above, int above_left, int has_left)
{
    return are_joined(v, above) &&
           !(has_left && are_joined(v, left) && are_joined(left, above_left) && are_joined(above_left, above));
}

/** Computes the first median, sets holes where the views do not agree, and joins samples of the block to pieces. */
static __device__ __forceinline__ void check(const MvstereoCudaArgs &args, int is_inside, int x, int y, long long q)
{
    GPUME_SHARED(MvstereoCudaPieces, part);
    const int lane = (int)(threadIdx.x % 32), row = (int)(threadIdx.x / 32);
    int v = is_inside ? mvstereo_median(args.matched, args, x, y) : MVSTEREO_INVALID, left;
    GpumeU32 begins, root;

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
    /* the last lane up to this one at which a piece begins */
    for (begins &= ~0u >> (31 - lane); begins & (begins - 1);)
        begins &= begins - 1;
    part->values[row][lane]    = (short)v;
    part->parents[threadIdx.x] = threadIdx.x - (GpumeU32)lane + (GpumeU32)gpume_first_bit(begins);
    __syncthreads();
    if (row && needs_above(v, left, part->values[row - 1][lane], part->values[row - 1][gpume_max(lane - 1, 0)], lane))
        join(part->parents, threadIdx.x, threadIdx.x - 32, 1);
    __syncthreads();
    if (!is_inside)
        return;
    for (root = threadIdx.x; part->parents[root] != root;)
        root = part->parents[root];
    ((short *)args.checked)[q]    = (short)v;
    ((GpumeU32 *)args.parents)[q] = (GpumeU32)(q - lane + (int)(root % 32)) -
                                    (GpumeU32)((row - (int)(root / 32)) * args.w);
    ((GpumeU32 *)args.sizes)[q]   = 0;
    if (!x)
        ((GpumeU32 *)args.row_valid)[y] = 0;
}

/** Joins a sample with that above, and one in a column of thread blocks' first samples with that on its left. */
static __device__ __forceinline__ void join_blocks(const MvstereoCudaArgs &args)
{
    const int x = (int)(blockIdx.x * MVSTEREO_CUDA_COLS + threadIdx.x % MVSTEREO_CUDA_COLS), w = args.w;
    const int y = (int)(blockIdx.y * MVSTEREO_CUDA_ROWS + threadIdx.x / MVSTEREO_CUDA_COLS) * MVSTEREO_CUDA_ROWS;
    const int column = x - x % MVSTEREO_CUDA_COLS, row = y + x % MVSTEREO_CUDA_COLS / STEP;
    const short *checked = (const short *)args.checked;
    GpumeU32 *parents    = (GpumeU32 *)args.parents;
    long long q = (long long)y * w + x;

    if (x < w && y < args.h && y) {
        const int has_left = x > 0;

        if (needs_above(checked[q], checked[q - has_left], checked[q - w], checked[q - w - has_left], has_left))
            join(parents, (GpumeU32)q, (GpumeU32)(q - w), 0);
    }
    if (column && column < w && row < args.h && x % STEP == 0) {
        const int has_above = row % MVSTEREO_CUDA_ROWS;

        q = (long long)row * w + column;
        if (needs_above(checked[q], checked[q - (has_above ? w : 0)], checked[q - 1],
                        checked[q - 1 - (has_above ? w : 0)], has_above))
            join(parents, (GpumeU32)q, (GpumeU32)(q - 1), 0);
    }
}

/** Counts the samples of pieces. Samples of a warp that belong to one piece are counted at once. */
static __device__ __forceinline__ void count(const MvstereoCudaArgs &args, int is_inside, long long q)
{
    const int is_valid  = is_inside && ((const short *)args.checked)[is_inside ? q : 0] >= 0;
    const GpumeU32 root = is_valid ? find_root((GpumeU32 *)args.parents, (GpumeU32)q, 0) : ~0u;
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

    /* the parent of a sample that was counted is its root */
    if (is_valid)
        is_valid = ((const GpumeU32 *)args.sizes)[((const GpumeU32 *)args.parents)[q]] >= MVSTEREO_PIECE;
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
 * grid:   MVSTEREO_CUDA_COLS x MVSTEREO_CUDA_ROWS samples; of blocks that are joined, as many columns x blocks
 * block:  MVSTEREO_CUDA_THREADS
 * shared: of the first step MvstereoCudaPieces
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
    else
        join_blocks(args);
}
