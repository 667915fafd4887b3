/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Kernels whose divergence is known. "expect VISITS DIVERGENT" states the counts of a line for a
 * launch of two blocks of 64 threads, which are four warps. divergence.sh compares the map with
 * them.
 */

typedef unsigned int u32;

#define NO_UNROLL _Pragma("unroll 1")

/* functions that are called; a select instruction cannot replace them */
static __device__ __attribute__((noinline)) void dv_note(u32 *out, u32 v)
{
    atomicAdd(out, v);
}

static __device__ __attribute__((noinline)) void dv_other(u32 *out, u32 v)
{
    if (v & 1)                                      // expect 12 4
        atomicXor(out, v);
    atomicAdd(out, v + 1);
}

/* longer than a thread's list, which is followed when the warp is together */
static __device__ __attribute__((noinline)) void dv_wait(u32 *out, u32 t, u32 n)
{
    u32 i = 0;

    NO_UNROLL do {
        if (t == (i & 63))                          // expect 160000 80000
            dv_note(out, i);
        __syncwarp();
        if (i % 4 == 3)                             // expect 160000 0
            __syncthreads();
    } while (++i < 20000 * n);                      // expect 160000 0
}

extern "C" {

__global__ void dv_branches(u32 *out, u32 n)
{
    const u32 t = threadIdx.x, warp = t / 32;
    u32 i = 0, v = t;

    /* the direction depends on the block, on the warp, and on the thread */
    if (blockIdx.x)                                 // expect 4 0
        dv_note(out, 1);
    if (warp & n)                                   // expect 4 0
        dv_note(out, 2);
    if (t & n)                                      // expect 4 4
        dv_note(out, 3);
    else
        atomicXor(out, 4);
    /* in the second warp of each block */
    if (t == 36 + n)                                // expect 4 2
        dv_note(out, 5);
    __syncthreads();

    /* lanes leave in four groups: they part three times, and the last group leaves together */
    NO_UNROLL do {
        dv_note(out, i);
    } while (++i <= t % 4);                         // expect 16 12

    /* threads take turns at shuffles; v is the lane's number in two of five rounds, else the warp's */
    i = 0;
    NO_UNROLL do {
        v = __shfl_xor_sync(~0u, v, 1 << i);
        if (v >> i & 4)                             // expect 20 12
            dv_note(out, v);
        __syncwarp();
    } while (++i < 5 * n);                          // expect 20 0

    /* a loop that half of the lanes run */
    if (t & 2 * n) {                                // expect 4 4
        i = 0;
        NO_UNROLL do {
            dv_note(out, i);
        } while (++i < 3 * n);                      // expect 12 0
    }
    __syncwarp();

    /* a function that the whole warp calls, and then two groups of it */
    dv_other(out, n);
    if (t & 4 * n) {                                // expect 4 4
        dv_other(out, 2 * n);
        dv_note(out, 6);
    } else {
        dv_other(out, t);
    }
    /* a path that only ends needs no branch */
    if (t & 8)
        return;
    dv_note(out, 7);
}

__global__ void dv_long(u32 *out, u32 n)
{
    const u32 t = threadIdx.x;

    if (t & n)                                      // expect 4 4
        dv_note(out, 8);
    dv_wait(out, t, n);
    if (t & n)                                      // expect 4 4
        dv_note(out, 9);
    dv_wait(out, t, n);
    if (t & 2 * n)                                  // expect 4 4
        dv_note(out, 10);
    dv_note(out, 11);
}

}
