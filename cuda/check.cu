/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The consistency check: variant 0 judges the vectors of both directions; variant 1 replaces
 * inconsistent vectors, ring by ring.
 */

#include "libavfilter/gpume/cuda/motion.cuh"

/** Returns whether the vector of block (bx, by) of field z is consistent with its partner's vector. */
static __device__ __forceinline__ int
gpume_agrees(const GpumeCudaCheckArgs &a, int z, int bx, int by)
{
    const GpumeParams &p = a.params;
    const GpumeU64 nb_blocks = (GpumeU64)p.bw * p.bh;
    const GpumeU32 *vectors = (const GpumeU32 *)a.vectors;
    const GpumeVector v = gpume_of_word(vectors[nb_blocks * z + (GpumeU64)by * p.bw + bx]);
    const GpumeBox b = gpume_box(&p, p.block, bx, by);
    const int x = gpume_partner(b.x0, b.w, v.dx, p.pel, p.block, p.bw);
    const int y = gpume_partner(b.y0, b.h, v.dy, p.pel, p.block, p.bh);

    return gpume_consistent(v, gpume_of_word(vectors[nb_blocks * (1 - z) + (GpumeU64)y * p.bw + x]), p.pel);
}

/** Returns the median of the nb smallest values of v; the other values are 32767. */
static __device__ __forceinline__ int gpume_median_of_8(int (&v)[8], int nb)
{
    int below = 0, above = 0;

    /* odd-even sort */
    GPUME_UNROLL for (int i = 0; i < 8; i++)
        GPUME_UNROLL for (int j = i & 1; j < 7; j += 2) {
            const int lesser = gpume_min(v[j], v[j + 1]);

            v[j + 1] = gpume_max(v[j], v[j + 1]);
            v[j]     = lesser;
        }
    GPUME_UNROLL for (int i = 0; i < 8; i++) {
        below = i == (nb - 1) / 2 ? v[i] : below;
        above = i == nb / 2 ? v[i] : above;
    }
    return (below + above) >> 1;
}

/** Returns the median of the vectors of earlier rings around a block, in found; or 0. */
static __device__ __forceinline__ int
gpume_median(const GpumeCudaCheckArgs &a, GpumeU64 field, int block, GpumeU32 ring, GpumeU32 *found)
{
    const int bw = a.params.bw, bh = a.params.bh;
    const int bx = block % bw, by = block / bw;
    GpumeU32 rings[8], words[8];
    int dx[8], dy[8], nb = 0;

    /* independent loads */
    GPUME_UNROLL for (int i = 0; i < 8; i++) {
        int x, y;

        gpume_around(i, &x, &y);
        x += bx;
        y += by;

        const GpumeU64 at = field + (GpumeU64)y * bw + x;

        rings[i] = GPUME_CUDA_RING_LEFT;
        words[i] = 0;
        if (x >= 0 && x < bw && y >= 0 && y < bh) {
            rings[i] = ((const GpumeU32 *)a.rings)[at];
            words[i] = ((const GpumeU32 *)a.vectors)[at];
        }
    }
    GPUME_UNROLL for (int i = 0; i < 8; i++) {
        const GpumeVector v = gpume_of_word(words[i]);
        const int counts = rings[i] < ring;

        dx[i] = counts ? v.dx : 32767;
        dy[i] = counts ? v.dy : 32767;
        nb   += counts;
    }
    if (nb)
        *found = gpume_vector_of(gpume_median_of_8(dx, nb), gpume_median_of_8(dy, nb));
    return nb;
}

/** Judges a block of the field. */
static __device__ __forceinline__ void gpume_judge_block(const GpumeCudaCheckArgs &a, int z)
{
    const int nb_blocks = a.params.bw * a.params.bh;
    const int block = blockIdx.x * GPUME_CUDA_JUDGE_THREADS + threadIdx.x;
    const GpumeU64 field = (GpumeU64)nb_blocks * z;

    if (block >= nb_blocks)
        return;

    const int agrees = gpume_agrees(a, z, block % a.params.bw, block / a.params.bw);

    ((GpumeU32 *)a.rings)[field + block] = agrees ? 0 : GPUME_CUDA_RING_LEFT;
    if (!agrees)
        ((GpumeU32 *)a.lists[0])[field + atomicAdd((GpumeU32 *)a.counts + z, 1)] = block;
}

/** Replaces all vectors of a field that can be replaced. @param count word of shared memory */
static __device__ __forceinline__ void
gpume_replace_all(const GpumeCudaCheckArgs &a, int z, GpumeU32 *count)
{
    const GpumeU64 field = (GpumeU64)a.params.bw * a.params.bh * z;
    GpumeU32 *medians = (GpumeU32 *)a.medians + field;
    GpumeU32 *rings   = (GpumeU32 *)a.rings   + field;
    GpumeU32 *list = (GpumeU32 *)a.lists[0] + field, *next = (GpumeU32 *)a.lists[1] + field;
    GpumeU32 nb = ((const GpumeU32 *)a.counts)[z], left;

    /* reset for the next search */
    __syncthreads();
    if (threadIdx.x == 0)
        ((GpumeU32 *)a.counts)[z] = 0;

    GPUME_NO_UNROLL for (GpumeU32 ring = 1; nb; ring++) {
        GpumeU32 *swap = list;

        if (threadIdx.x == 0)
            *count = 0;
        GPUME_NO_UNROLL for (GpumeU32 i = threadIdx.x; i < nb; i += GPUME_CUDA_FILL_THREADS) {
            GpumeU32 found = 0;

            if (gpume_median(a, field, list[i], ring, &found))
                medians[i] = found;
            else
                list[i] |= 1u << 31;
        }
        __syncthreads();
        GPUME_NO_UNROLL for (GpumeU32 i = threadIdx.x; i < nb; i += GPUME_CUDA_FILL_THREADS) {
            const GpumeU32 block = list[i] & ~(1u << 31);

            if (list[i] >> 31) {
                next[atomicAdd(count, 1)] = block;
            } else {
                ((GpumeU32 *)a.vectors)[field + block] = medians[i];
                rings[block] = ring;
            }
        }
        __syncthreads();
        left = *count;
        __syncthreads();
        if (left == nb)
            break;
        nb   = left;
        list = next;
        next = swap;
    }
}

/**
 * grid:   variant 0: blocks by GPUME_CUDA_JUDGE_THREADS, fields; 1: fields that are wanted
 * block:  GPUME_CUDA_JUDGE_THREADS, GPUME_CUDA_FILL_THREADS
 * shared: a word
 */
GPUME_KERNEL_OF(GpumeCudaCheckArgs, GPUME_CUDA_VARIANT ? GPUME_CUDA_FILL_THREADS : GPUME_CUDA_JUDGE_THREADS)
{
    GPUME_SHARED(GpumeU32, shared);

    if (GPUME_CUDA_VARIANT)
        gpume_replace_all(args, blockIdx.x, shared);
    else
        gpume_judge_block(args, blockIdx.y);
}
