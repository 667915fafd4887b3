/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Computes the detail of a small picture (variant 0), or searches the detail of each of two
 * pictures in the other (variant 1). The last thread block of variant 1 decides whether there is
 * new detail.
 */

#include "libavfilter/gpume/mvfps/device.cuh"

#define BLOCK   GPUME_DETAIL_BLOCK
#define RANGE_X GPUME_DETAIL_RANGE_X
#define RANGE_Y GPUME_DETAIL_RANGE_Y
#define WARPS   (MVFPS_CUDA_SCENE_THREADS / 32)

/** Returns a sample of a small picture, whose edges are repeated. */
template<typename Sample>
static __device__ __forceinline__ int mvfps_small_sample(GpumeU64 picture, int cols, int rows, int x, int y)
{
    x = gpume_max(0, gpume_min(x, cols - 1));
    y = gpume_max(0, gpume_min(y, rows - 1));
    return mvfps_load_sample<Sample>(picture + (y * cols + x) * sizeof(Sample));
}

#if !GPUME_CUDA_VARIANT
/**
 * grid:   samples of the small picture
 * block:  MVFPS_CUDA_SCENE_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvfpsCudaDetailArgs, MVFPS_CUDA_SCENE_THREADS)
{
    const int i = blockIdx.x * MVFPS_CUDA_SCENE_THREADS + threadIdx.x;
    const int x = i % args.cols, y = i / args.cols;
    int box = 0;

    if (i >= args.cols * args.rows)
        return;
    GPUME_NO_UNROLL for (int dy = -GPUME_DETAIL_RADIUS; dy <= GPUME_DETAIL_RADIUS; dy++)
        GPUME_UNROLL for (int dx = -GPUME_DETAIL_RADIUS; dx <= GPUME_DETAIL_RADIUS; dx++)
            box += mvfps_small_sample<unsigned short>(args.means, args.cols, args.rows, x + dx, y + dy);
    ((unsigned char *)args.detail)[i] =
        (unsigned char)gpume_detail(mvfps_small_sample<unsigned short>(args.means, args.cols, args.rows, x, y), box);
}
#else
/** Loads w x h samples of a small picture from (x0, y0) on into shared memory, with all threads. */
static __device__ __forceinline__ void mvfps_load_area(GpumeU32 *area, GpumeU64 picture, const MvfpsCudaMatchArgs &args,
                                                       int x0, int y0, int w, int h)
{
    GPUME_NO_UNROLL for (int i = threadIdx.x; i < w * h; i += MVFPS_CUDA_SCENE_THREADS)
        ((unsigned char *)area)[i] = (unsigned char)mvfps_small_sample<unsigned char>(picture, args.cols, args.rows,
                                                                                      x0 + i % w, y0 + i / w);
}

/** Returns the cost of a candidate from a window and a block in shared memory, four samples at a time. */
static __device__ __forceinline__ int mvfps_candidate_cost(const GpumeU32 *window, const GpumeU32 *block, int candidate)
{
    const int x = candidate % (2 * RANGE_X + 1), y = candidate / (2 * RANGE_X + 1), shift = 8 * (x & 3);
    const GpumeU32 *row = window + y * (MVFPS_CUDA_WINDOW_W / 4) + x / 4;
    GpumeU32 cost = 0;

    GPUME_UNROLL for (int i = 0; i < BLOCK; i++, row += MVFPS_CUDA_WINDOW_W / 4) {
        cost = gpume_sad4(block[2 * i],     gpume_funnel_shift(row[0], row[1], shift), cost);
        cost = gpume_sad4(block[2 * i + 1], gpume_funnel_shift(row[1], row[2], shift), cost);
    }
    return (int)cost;
}

/** Returns the minimum over the lanes of a warp. */
static __device__ __forceinline__ int mvfps_least(int v)
{
    GPUME_UNROLL for (int bit = 1; bit < 32; bit <<= 1)
        v = gpume_min(v, __shfl_xor_sync(GPUME_WHOLE_WARP, v, bit));
    return v;
}

/** Adds the cost and detail of a block that moved to the sums; the last block decides. Only one thread calls it. */
static __device__ __forceinline__ void mvfps_add_match(const MvfpsCudaMatchArgs &args, GpumeU32 cost, GpumeU32 detail,
                                                       int is_still)
{
    MvfpsCudaScene *scene = (MvfpsCudaScene *)args.scene;

    if (!is_still) {
        atomicAdd(&scene->cost, (GpumeU64)cost);
        atomicAdd(&scene->detail, (GpumeU64)detail + GPUME_DETAIL_FLOOR);
        atomicAdd(&scene->moved, (GpumeU64)1);
    }
    if (mvfps_is_last(args.grid, &scene->nb_done[0]))
        scene->is_new = gpume_is_new(mvfps_sum(&scene->cost), mvfps_sum(&scene->detail),
                                     (unsigned)mvfps_sum(&scene->moved), args.grid, args.threshold);
}

/**
 * grid:   blocks of the small picture; y: those of the later picture, then those of the earlier
 * picture
 * block:  MVFPS_CUDA_SCENE_THREADS
 * shared: the window, the block, a word for each warp
 */
GPUME_KERNEL_OF(MvfpsCudaMatchArgs, MVFPS_CUDA_SCENE_THREADS)
{
    const int across = (args.cols + BLOCK - 1) / BLOCK, warp = threadIdx.x / 32;
    const int x0 = blockIdx.x % across * BLOCK, y0 = blockIdx.x / across * BLOCK;
    const GpumeU64 picture = blockIdx.y ? args.before : args.after, other = blockIdx.y ? args.after : args.before;
    int cost = 255 * BLOCK * BLOCK;
    GpumeU32 detail = 0;

    GPUME_SHARED(GpumeU32, shared);
    GpumeU32 *block  = shared + WARPS;
    GpumeU32 *window = block + BLOCK * BLOCK / 4;

    mvfps_load_area(block, picture, args, x0, y0, BLOCK, BLOCK);
    mvfps_load_area(window, other, args, x0 - RANGE_X, y0 - RANGE_Y, MVFPS_CUDA_WINDOW_W, MVFPS_CUDA_WINDOW_H);
    __syncthreads();
    GPUME_NO_UNROLL for (int i = threadIdx.x; i < (2 * RANGE_X + 1) * (2 * RANGE_Y + 1); i += MVFPS_CUDA_SCENE_THREADS)
        cost = gpume_min(cost, mvfps_candidate_cost(window, block, i));
    cost = mvfps_least(cost);
    if (threadIdx.x % 32 == 0)
        shared[warp] = cost;
    __syncthreads();
    if (threadIdx.x)
        return;
    for (int i = 1; i < WARPS; i++)
        cost = gpume_min(cost, (int)shared[i]);
    for (int i = 0; i < BLOCK * BLOCK / 4; i++)
        detail = gpume_sad4(block[i], 0x80808080, detail);
    mvfps_add_match(args, cost, detail, gpume_block_is_still(
        mvfps_candidate_cost(window, block, RANGE_Y * (2 * RANGE_X + 1) + RANGE_X), detail));
}
#endif
