/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Sums over squares of pictures. Variant 0 computes the means that form the small picture. Variant
 * 1 decides from the brightness of both pictures whether new detail is a fade; its last thread
 * block decides, so the host need not know.
 */

#include "libavfilter/gpume/mvfps/device.cuh"

#define WARPS (MVFPS_CUDA_SCENE_THREADS / 32)

static __device__ __forceinline__ int mvfps_get(GpumeU64 first, int stride, int x, int y)
{
    return mvfps_load_sample<MvfpsSample>(first + (long long)stride * y + x * MVFPS_BYTES);
}

/** Computes the mean of square i with a warp. */
static __device__ __forceinline__ void mvfps_mean_square(const MvfpsCudaDetailArgs &a, int i)
{
    const int x0 = i % a.cols * a.step, y0 = i / a.cols * a.step;
    const int w  = gpume_min(a.step, a.w - x0), h = gpume_min(a.step, a.h - y0);
    GpumeU64 sum = 0;

    /* two rows at a time */
    GPUME_NO_UNROLL for (int y = threadIdx.x % 32 / 16; y < h; y += 2)
        GPUME_NO_UNROLL for (int x = threadIdx.x % 16; x < w; x += 16)
            sum += mvfps_get(a.picture, a.stride, x0 + x, y0 + y);
    sum = mvfps_add_lanes(sum, 1, 32);
    if (threadIdx.x % 32 == 0)
        ((unsigned short *)a.means)[i] = (unsigned short)gpume_detail_mean(sum, w * h, a.depth);
}

/** Adds the brightness of square i of both pictures; a warp sums two rows at a time. */
static __device__ __forceinline__ void mvfps_add_square(const MvfpsCudaSceneArgs &a, int i, GpumeLights *sums)
{
    const int lane = threadIdx.x % 32, across = (a.w + GPUME_SCENE_SIDE - 1) / GPUME_SCENE_SIDE;
    const int x0 = i % across * GPUME_SCENE_SIDE, y0 = i / across * GPUME_SCENE_SIDE;
    const int w  = gpume_min(GPUME_SCENE_SIDE, a.w - x0), h = gpume_min(GPUME_SCENE_SIDE, a.h - y0);
    const int x  = lane % GPUME_SCENE_SIDE;
    GpumeU32 before = 0, after = 0;

    GPUME_NO_UNROLL for (int y = lane / GPUME_SCENE_SIDE; y < h; y += 32 / GPUME_SCENE_SIDE) {
        if (x < w) {
            before += mvfps_get(a.before, a.stride, x0 + x, y0 + y);
            after  += mvfps_get(a.after,  a.stride, x0 + x, y0 + y);
        }
    }
    before = mvfps_add_lanes(before, 1, 32);
    after  = mvfps_add_lanes(after,  1, 32);
    gpume_add_lights(sums, gpume_light(before, w * h, a.depth), gpume_light(after, w * h, a.depth));
}

/** Adds the brightness of squares of pictures with new detail, and decides whether there is a cut. */
static __device__ __forceinline__ void mvfps_tell_fade(const MvfpsCudaSceneArgs &args, MvfpsCudaScene *scene)
{
    GpumeLights sums = { 0, 0, 0, 0, 0 };

    if (!scene->is_new)
        return;
    GPUME_NO_UNROLL for (int i = blockIdx.x * WARPS + threadIdx.x / 32; i < args.nb; i += args.grid * WARPS)
        mvfps_add_square(args, i, &sums);
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&scene->lights.before,  sums.before);
        atomicAdd(&scene->lights.after,   sums.after);
        atomicAdd(&scene->lights.before2, sums.before2);
        atomicAdd(&scene->lights.after2,  sums.after2);
        atomicAdd(&scene->lights.both,    sums.both);
        __threadfence();
    }
    __syncthreads();
    if (!threadIdx.x && mvfps_is_last(args.grid, &scene->nb_done[1])) {
        sums.before  = mvfps_sum(&scene->lights.before);
        sums.after   = mvfps_sum(&scene->lights.after);
        sums.before2 = mvfps_sum(&scene->lights.before2);
        sums.after2  = mvfps_sum(&scene->lights.after2);
        sums.both    = mvfps_sum(&scene->lights.both);
        scene->is_cut = !gpume_is_fade(sums, (args.w + GPUME_SCENE_SIDE - 1) / GPUME_SCENE_SIDE *
                                             ((args.h + GPUME_SCENE_SIDE - 1) / GPUME_SCENE_SIDE));
    }
}

#if GPUME_CUDA_VARIANT
/**
 * grid:   squares, up to MVFPS_CUDA_SCENE_GRID
 * block:  MVFPS_CUDA_SCENE_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvfpsCudaSceneArgs, MVFPS_CUDA_SCENE_THREADS)
{
    mvfps_tell_fade(args, (MvfpsCudaScene *)args.scene);
}
#else
/**
 * grid:   squares, one for each warp
 * block:  MVFPS_CUDA_SCENE_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvfpsCudaDetailArgs, MVFPS_CUDA_SCENE_THREADS)
{
    const int i = blockIdx.x * WARPS + threadIdx.x / 32;

    if (i < args.cols * args.rows)
        mvfps_mean_square(args, i);
}
#endif
