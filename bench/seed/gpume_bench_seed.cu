/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full and diamond search of A. Monteiro's thesis (UFRGS, 2012) in CUDA: the baseline of the
 * benchmark, written as in the thesis and not as in gpume.
 */

#include "libavfilter/gpume/cuda/device.cuh"
#include "libavfilter/tests/gpume_bench_seed.h"

/** Larger than the cost of any candidate: 16 differences of 255 are less. */
#define NOT_ADMISSIBLE 0x7fffffff

static __device__ __forceinline__ int seed_sad(const GpumeSeedArgs &a, int x0, int y0,
                                               int dx, int dy)
{
    const GpumeU8 *cur = (const GpumeU8 *)a.cur + (long long)y0 * a.width + x0;
    const GpumeU8 *ref = (const GpumeU8 *)a.ref + (long long)(y0 + dy) * a.width + x0 + dx;
    int sad = 0;

    if (x0 + dx < 0 || x0 + dx > a.width  - GPUME_SEED_BLOCK ||
        y0 + dy < 0 || y0 + dy > a.height - GPUME_SEED_BLOCK)
        return NOT_ADMISSIBLE;
    for (int y = 0; y < GPUME_SEED_BLOCK; y++)
        for (int x = 0; x < GPUME_SEED_BLOCK; x++) {
            const int d = cur[y * a.width + x] - ref[y * a.width + x];

            sad += d < 0 ? -d : d;
        }
    return sad;
}

/**
 * The costs of all candidates of a video block, into global memory.
 * Launch: grid of bw x bh blocks, a thread a candidate: side in a row, rows as many as
 * fit; where they do not all fit, a thread has several. No shared memory.
 */
extern "C" __global__ void gpume_seed_fs(GpumeSeedArgs a)
{
    const int side = a.side;
    int *sads = (int *)a.sads + ((long long)blockIdx.y * a.bw + blockIdx.x) * side * side;

    for (int y = threadIdx.y; y < side; y += blockDim.y)
        sads[y * side + threadIdx.x] =
            seed_sad(a, blockIdx.x * GPUME_SEED_BLOCK, blockIdx.y * GPUME_SEED_BLOCK,
                     (int)threadIdx.x - a.range, y - a.range);
}

/**
 * The least of a video block's costs, the first of equals.
 * Launch: grid of bw x bh blocks of GPUME_SEED_MIN_THREADS, 8 bytes of shared memory
 * a thread.
 */
extern "C" __global__ void gpume_seed_min(GpumeSeedArgs a)
{
    GPUME_SHARED(int, shared);
    int *best = shared, *where = shared + GPUME_SEED_MIN_THREADS;
    const int side = a.side;
    const int nb   = side * side;
    const long long block = (long long)blockIdx.y * a.bw + blockIdx.x;
    const int *sads = (const int *)a.sads + block * nb;
    const int t = threadIdx.x;
    int least = NOT_ADMISSIBLE, at = 0;

    for (int i = t; i < nb; i += GPUME_SEED_MIN_THREADS) {
        const int sad = sads[i];

        if (sad < least) {
            least = sad;
            at    = i;
        }
    }
    best[t]  = least;
    where[t] = at;
    for (int n = GPUME_SEED_MIN_THREADS / 2; n; n /= 2) {
        __syncthreads();
        if (t < n && (best[t + n] < best[t] ||
                      (best[t + n] == best[t] && where[t + n] < where[t]))) {
            best[t]  = best[t + n];
            where[t] = where[t + n];
        }
    }
    if (!t) {
        GpumeSeedVector *v = (GpumeSeedVector *)a.vectors + block;

        v->x   = where[0] % side - a.range;
        v->y   = where[0] / side - a.range;
        v->sad = best[0];
    }
}

static __device__ __forceinline__ void seed_try(const GpumeSeedArgs &a, int x0, int y0,
                                                int x, int y, int *bx, int *by, int *best)
{
    int sad;

    if (x < -a.range || x > a.range || y < -a.range || y > a.range)
        return;
    sad = seed_sad(a, x0, y0, x, y);
    if (sad < *best) {
        *best = sad;
        *bx   = x;
        *by   = y;
    }
}

/**
 * Diamond search of a video block by one thread, in global memory.
 * Launch: one-dimensional, a thread a video block. No shared memory.
 */
extern "C" __global__ void gpume_seed_ds(GpumeSeedArgs a)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int x0 = i % a.bw * GPUME_SEED_BLOCK, y0 = i / a.bw * GPUME_SEED_BLOCK;
    GpumeSeedVector *v = (GpumeSeedVector *)a.vectors + i;
    int bx = 0, by = 0, best, x, y;

    if (i >= a.bw * a.bh)
        return;
    best = seed_sad(a, x0, y0, 0, 0);
    for (int step = 0; step < GPUME_SEED_STEPS; step++) {
        x = bx;
        y = by;
        seed_try(a, x0, y0, x - 2, y,     &bx, &by, &best);
        seed_try(a, x0, y0, x - 1, y - 1, &bx, &by, &best);
        seed_try(a, x0, y0, x,     y - 2, &bx, &by, &best);
        seed_try(a, x0, y0, x + 1, y - 1, &bx, &by, &best);
        seed_try(a, x0, y0, x + 2, y,     &bx, &by, &best);
        seed_try(a, x0, y0, x + 1, y + 1, &bx, &by, &best);
        seed_try(a, x0, y0, x,     y + 2, &bx, &by, &best);
        seed_try(a, x0, y0, x - 1, y + 1, &bx, &by, &best);
        if (x == bx && y == by)
            break;
    }
    x = bx;
    y = by;
    seed_try(a, x0, y0, x - 1, y,     &bx, &by, &best);
    seed_try(a, x0, y0, x,     y - 1, &bx, &by, &best);
    seed_try(a, x0, y0, x + 1, y,     &bx, &by, &best);
    seed_try(a, x0, y0, x,     y + 1, &bx, &by, &best);
    v->x   = bx;
    v->y   = by;
    v->sad = best;
}
