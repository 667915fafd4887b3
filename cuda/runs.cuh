/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search whose lanes have several candidates at a time, that share words of the window: GPUME_NB_DX
 * displacements side by side, a word from each other, and GPUME_NB_DY on top of each other.
 */

#ifndef AVFILTER_GPUME_CUDA_RUNS_CUH
#define AVFILTER_GPUME_CUDA_RUNS_CUH

#include "libavfilter/gpume/cuda/full.cuh"

#define GPUME_NB_DX  GPUME_CUDA_RUNS_DX
#define GPUME_NB_DY  GPUME_CUDA_RUNS_DY

/** n / d as a multiplication, exact for n below 65536 and d from 2 to 32768. */
#define GPUME_RECIPROCAL_HIGH(d)  (~0u / (d) + 1)
#define GPUME_DIVIDE_HIGH(n, r)   ((int)((GpumeU64)(GpumeU32)(n) * (r) >> 32))

/**
 * Where a lane's candidates are in a window of COPIES copies: in runs of GPUME_NB_DY rows, that are places of
 * GPUME_NB_DX columns each.
 * @tparam INADMISSIBLE is in the order of a candidate that is not; orders, with one or two of it, have no more than
 *         16 bits beside
 */
template<int COPIES, GpumeU32 INADMISSIBLE>
struct GpumeRuns {
    const int range;
    const int copy, pitch;          ///< words from copy to copy, and from row to row
    const int left;                 ///< displacement at which the window begins: at a word
    const int columns;              ///< of GPUME_NB_DX words
    const int in_run;               ///< places
    const GpumeU32 reciprocal;
    GpumeU32 *const table;          ///< NB_DX words for each place: see make(); at 16 bytes
    const GpumeSharedWords orders;  ///< the same

    __device__ __forceinline__ GpumeRuns(const GpumeCudaArgs &a, GpumeU32 *words)
        : range(a.params.range), copy(a.full.copy_words), pitch(GPUME_CUDA_RUNS_PITCH(copy, COPIES)),
          left(GPUME_CUDA_RUNS_LEFT(range, COPIES)), columns(GPUME_CUDA_RUNS_COLUMNS(range, COPIES)),
          in_run(GPUME_CUDA_RUNS_PLACES(range, COPIES)),
          reciprocal(GPUME_RECIPROCAL_HIGH(in_run)), table(words), orders(words) { }

    __device__ __forceinline__ int word(unsigned place) const
    {
        /* as many places as there are copies, one of each, have the same words */
        return place / COPIES * GPUME_NB_DX;
    }

    /** The displacement of a place's first column. */
    __device__ __forceinline__ int dx(unsigned place) const
    {
        return left + COPIES * word(place) + place % COPIES;
    }

    /**
     * Fill in the table: of each place the orders of its columns from the window's left, with INADMISSIBLE
     * where they are out of range. By all threads, which have to wait for each other then.
     */
    __device__ __forceinline__ void make() const
    {
        GPUME_NO_UNROLL for (int i = threadIdx.x; i < in_run; i += blockDim.x) {
            GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++) {
                const int d = dx(i) + COPIES * k;

                table[GPUME_NB_DX * i + k] = d - left + ((unsigned)(d + range) <= (unsigned)(2 * range) ? 0 :
                                                                                                   INADMISSIBLE);
            }
        }
    }

    /**
     * Make the keys of a place's candidates from displacement dy on, but for costs and edges of the picture.
     * @param words those of the window from the rows on that the blocks meet in the first run
     * @return where they meet those of the place and the run
     */
    __device__ __forceinline__ const GpumeU32 *
    get(GpumeU32 (&key)[GPUME_NB_DX][GPUME_NB_DY], const GpumeU32 *words, unsigned place, int run, int dy) const
    {
        const int side       = 2 * range + 1;
        const GpumeU32 order = (dy + range) * side, next = dy < range ? side : INADMISSIBLE;
        GpumeU32 right[GPUME_NB_DX];

        orders.load4<0>(right, GPUME_NB_DX * place);
        GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++) {
            key[k][0] = order + right[k];
            key[k][1] = key[k][0] + next;
        }
        return words + run * GPUME_NB_DY * pitch + place % COPIES * copy + word(place);
    }
};

/** An order's mark if so many samples from x on are not inside a picture of that size. */
template<GpumeU32 INADMISSIBLE>
static __device__ __forceinline__ GpumeU32 gpume_outside(int x, int samples, int size)
{
    return (unsigned)x <= (unsigned)(size - samples) ? 0 : INADMISSIBLE;
}

/**
 * Keep the smallest key of each of blocks side by side.
 * @tparam INNER the picture's edges are out of reach
 * @tparam Keys  mark(order, marks) puts marks on an order, which may have one; key(cost, order) makes a key
 * @tparam WORDS from block to block
 * @param across marks by column, in words from the first block's first
 * @param down   and by row of candidates
 */
template<int INNER, class Keys, int WORDS, int BLOCKS>
static __device__ __forceinline__ void
gpume_take_best(GpumeU32 *best, const GpumeU32 (&sum)[BLOCKS][GPUME_NB_DX][GPUME_NB_DY],
                const GpumeU32 (&order)[GPUME_NB_DX][GPUME_NB_DY], const GpumeU32 *across, const GpumeU32 *down)
{
    GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY; j++)
        GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
            GPUME_UNROLL for (int c = 0; c < BLOCKS; c++)
                best[c] = gpume_umin(best[c], Keys::key(sum[c][k][j], INNER ? order[k][j] :
                                     Keys::mark(order[k][j], across[WORDS * c + k] | down[j])));
}

#endif /* AVFILTER_GPUME_CUDA_RUNS_CUH */
