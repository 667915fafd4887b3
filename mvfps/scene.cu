/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Whether there is a cut between two pictures. Variant 0 finds whether they are unlike, variant 1 whether unlike
 * ones are of a fade. The block of threads that is done last decides, so that the host need not know.
 */

#include "libavfilter/gpume/field/cells.cuh"
#include "libavfilter/gpume/mvfps/device.cuh"

/** Lanes of a block of the picture. */
#define LANES MVFPS_CUDA_SCENE_LANES
#define WARPS (MVFPS_CUDA_SCENE_THREADS / 32)

/** A block of a picture. */
struct MvfpsBlock {
    int x0, y0, x1, y1;             ///< its part in the picture
    int dx, dy;                     ///< its match, in whole samples
};

static __device__ __forceinline__ int mvfps_get(GpumeU64 first, int stride, int x, int y)
{
    return mvfps_load_sample<MvfpsSample>(first + (long long)stride * y + x * MVFPS_BYTES);
}

/** Block i; one that does not count is empty. */
static __device__ __forceinline__ void mvfps_block(const MvfpsCudaSceneArgs &a, int i, MvfpsBlock *b)
{
    GpumeBlockVector v;

    b->x0 = b->y0 = b->x1 = b->y1 = b->dx = b->dy = 0;
    if (i >= a.nb)
        return;
    if (a.vectors) {
        if (!gpume_read_vector(&v, a.vectors, i, a.w, a.h) || v.distance != -1)
            return;
        b->x0 = gpume_block_left(&v);
        b->y0 = gpume_block_top(&v);
        b->x1 = gpume_min(b->x0 + v.w, a.w);
        b->y1 = gpume_min(b->y0 + v.h, a.h);
        b->x0 = gpume_max(b->x0, 0);
        b->y0 = gpume_max(b->y0, 0);
        b->dx = (v.dx + GPUME_UNITS / 2) >> 4;
        b->dy = (v.dy + GPUME_UNITS / 2) >> 4;
    } else {
        const int across = (a.w + MVFPS_SCENE_SIDE - 1) / MVFPS_SCENE_SIDE;

        b->x0 = i % across * MVFPS_SCENE_SIDE;
        b->y0 = i / across * MVFPS_SCENE_SIDE;
        b->x1 = gpume_min(b->x0 + MVFPS_SCENE_SIDE, a.w);
        b->y1 = gpume_min(b->y0 + MVFPS_SCENE_SIDE, a.h);
    }
}

/** Add what blocks cost, one for each LANES lanes, and what they would cost if they were flat. */
static __device__ __forceinline__ void mvfps_add_block(const MvfpsCudaSceneArgs &a, const MvfpsBlock &b,
                                                       GpumeU64 *cost, GpumeU64 *flat)
{
    const int w    = b.x1 - b.x0;
    const int log2 = w > 4 ? 3 : 2;     // of the lanes of a row
    const int lane = threadIdx.x % LANES;
    const int x0   = b.x0 + (lane & ((1 << log2) - 1)), y0 = b.y0 + (lane >> log2);
    const GpumeU32 nb = gpume_max(1, w * (b.y1 - b.y0));
    GpumeU32 sum = 0, costs = 0, flats = 0;
    int mean;

    /* the sums of 255x255 samples of 16 bits have 32 bits */
    GPUME_NO_UNROLL for (int y = y0; y < b.y1; y += LANES >> log2) {
        const int from_y = gpume_max(0, gpume_min(y + b.dy, a.h - 1));

        GPUME_NO_UNROLL for (int x = x0; x < b.x1; x += 1 << log2) {
            const int from_x = gpume_max(0, gpume_min(x + b.dx, a.w - 1));
            const int v = mvfps_get(a.after, a.stride, x, y);

            sum   += v;
            costs += FFABS(v - mvfps_get(a.before, a.stride, from_x, from_y));
        }
    }
    sum  = mvfps_add_lanes(sum, 1, LANES);
    mean = MVFPS_BYTES == 1 ? (int)((2 * sum + nb) / (2 * nb)) : (int)((2ull * sum + nb) / (2 * nb));
    GPUME_NO_UNROLL for (int y = y0; y < b.y1; y += LANES >> log2) {
        GPUME_NO_UNROLL for (int x = x0; x < b.x1; x += 1 << log2)
            flats += FFABS(mvfps_get(a.after, a.stride, x, y) - mean);
    }
    *cost += costs;
    *flat += flats;
}

/** What all blocks of threads have added up. */
static __device__ __forceinline__ GpumeU64 mvfps_sum(const GpumeU64 *sum)
{
    const GpumeU32 *words = (const GpumeU32 *)sum;

    return (GpumeU64)gpume_load_volatile(words + 1) << 32 | gpume_load_volatile(words);
}

/** Whether all other blocks of threads are done; what they have written can be read then. One thread calls it. */
static __device__ __forceinline__ int mvfps_is_last(const MvfpsCudaSceneArgs &args, unsigned *nb_done)
{
    int is_last;

    __threadfence();
    is_last = atomicAdd(nb_done, 1u) + 1 == (GpumeU32)args.grid;
    if (is_last)
        __threadfence();
    return is_last;
}

/** Adds up what blocks cost, and decides whether the pictures are unlike. */
static __device__ __forceinline__ void mvfps_compare(const MvfpsCudaSceneArgs &args, MvfpsCudaScene *scene,
                                                     GpumeU64 *shared)
{
    const int warp = threadIdx.x / 32;
    GpumeU64 cost = 0, flat = 0;

    GPUME_NO_UNROLL for (int first = (blockIdx.x * WARPS + warp) * (32 / LANES); first < args.nb;
                         first += args.grid * WARPS * (32 / LANES)) {
        MvfpsBlock b;

        mvfps_block(args, first + threadIdx.x % 32 / LANES, &b);
        mvfps_add_block(args, b, &cost, &flat);
    }
    cost = mvfps_add_lanes(cost, 1, 32);
    flat = mvfps_add_lanes(flat, 1, 32);
    if (threadIdx.x % 32 == 0) {
        shared[2 * warp]     = cost;
        shared[2 * warp + 1] = flat;
    }
    __syncthreads();
    if (threadIdx.x)
        return;
    for (int i = 1; i < WARPS; i++) {
        cost += shared[2 * i];
        flat += shared[2 * i + 1];
    }
    atomicAdd(&scene->cost, cost);
    atomicAdd(&scene->flat, flat);
    if (mvfps_is_last(args, &scene->nb_done[0])) {
        cost = mvfps_sum(&scene->cost);
        flat = mvfps_sum(&scene->flat);
        scene->is_unlike = (double)cost / (double)(flat ? flat : 1) >= args.threshold;
    }
}

/** The brightness of square i in both pictures: a warp sums it up, two rows at a time. */
static __device__ __forceinline__ void mvfps_add_square(const MvfpsCudaSceneArgs &a, int i, MvfpsLights *sums)
{
    const int lane = threadIdx.x % 32, across = (a.w + MVFPS_SCENE_SIDE - 1) / MVFPS_SCENE_SIDE;
    const int x0 = i % across * MVFPS_SCENE_SIDE, y0 = i / across * MVFPS_SCENE_SIDE;
    const int w  = gpume_min(MVFPS_SCENE_SIDE, a.w - x0), h = gpume_min(MVFPS_SCENE_SIDE, a.h - y0);
    const int x  = lane % MVFPS_SCENE_SIDE;
    GpumeU32 before = 0, after = 0;

    GPUME_NO_UNROLL for (int y = lane / MVFPS_SCENE_SIDE; y < h; y += 32 / MVFPS_SCENE_SIDE) {
        if (x < w) {
            before += mvfps_get(a.before, a.stride, x0 + x, y0 + y);
            after  += mvfps_get(a.after,  a.stride, x0 + x, y0 + y);
        }
    }
    before = mvfps_add_lanes(before, 1, 32);
    after  = mvfps_add_lanes(after,  1, 32);
    mvfps_add_lights(sums, mvfps_light(before, w * h, a.depth), mvfps_light(after, w * h, a.depth));
}

/** Adds up the brightness of squares of unlike pictures, and decides whether there is a cut. */
static __device__ __forceinline__ void mvfps_tell_fade(const MvfpsCudaSceneArgs &args, MvfpsCudaScene *scene)
{
    MvfpsLights sums = { 0, 0, 0, 0, 0 };

    if (!scene->is_unlike)
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
    if (!threadIdx.x && mvfps_is_last(args, &scene->nb_done[1])) {
        sums.before  = mvfps_sum(&scene->lights.before);
        sums.after   = mvfps_sum(&scene->lights.after);
        sums.before2 = mvfps_sum(&scene->lights.before2);
        sums.after2  = mvfps_sum(&scene->lights.after2);
        sums.both    = mvfps_sum(&scene->lights.both);
        scene->is_cut = !mvfps_is_fade(sums, (args.w + MVFPS_SCENE_SIDE - 1) / MVFPS_SCENE_SIDE *
                                             ((args.h + MVFPS_SCENE_SIDE - 1) / MVFPS_SCENE_SIDE));
    }
}

/**
 * grid:   blocks or squares of the picture, up to MVFPS_CUDA_SCENE_GRID
 * block:  MVFPS_CUDA_SCENE_THREADS
 * shared: variant 0: two GpumeU64 for each warp; 1: none
 */
GPUME_KERNEL_OF(MvfpsCudaSceneArgs, MVFPS_CUDA_SCENE_THREADS)
{
    MvfpsCudaScene *scene = (MvfpsCudaScene *)args.scene;

    GPUME_SHARED(GpumeU64, shared);

    if (GPUME_CUDA_VARIANT)
        mvfps_tell_fade(args, scene);
    else
        mvfps_compare(args, scene, shared);
}
