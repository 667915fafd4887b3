/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of 4x4 blocks of bytes, alone or with larger ones: a row of GPUME_ACROSS blocks, of which a lane has
 * GPUME_NB_DX x GPUME_NB_DY candidates at a time. Their displacements are 4 from each other across, so that they
 * share words.
 */

#ifndef AVFILTER_GPUME_CUDA_FULL4_CUH
#define AVFILTER_GPUME_CUDA_FULL4_CUH

#include "libavfilter/gpume/cuda/runs.cuh"

#define GPUME_SIDE   4
#define GPUME_ACROSS GPUME_CUDA_FULL4_ACROSS
#define GPUME_DOWN   GPUME_CUDA_FULL4_DOWN
static_assert(GPUME_CUDA_COST == GPUME_COST_SAD, "its sums are made for that");

/**
 * Added to the order of a candidate that is not admissible: above a cost of up to 14 bits << 16, and three of
 * them with one do not overflow.
 */
#define GPUME_INADMISSIBLE 0x40000000u

typedef GpumeRuns<GPUME_CUDA_FULL4_COPIES, GPUME_INADMISSIBLE> GpumeRunsOf4;

/** Keys of 4x4 bytes, as gpume_take_best() has them made. */
struct GpumeKeysOf4 {
    static __device__ __forceinline__ GpumeU32 mark(GpumeU32 order, GpumeU32 marks)
    {
        return order + marks;
    }

    static __device__ __forceinline__ GpumeU32 key(GpumeU32 cost, GpumeU32 order)
    {
        return (cost << 16) + order;
    }
};

/** A row of blocks in registers. */
struct GpumeFours {
    GpumeU32 row[GPUME_SIDE][GPUME_ACROSS];

    /** Make a row of samples available, in order. */
    __device__ __forceinline__ void need(int y) { }
};

/**
 * The costs of a lane's candidates, of a row of blocks: of a window's words from win on.
 * @param cur GpumeFours, or what has the same
 */
template<class Fours>
static __device__ __forceinline__ void
gpume_add_up(GpumeU32 (&sum)[GPUME_ACROSS][GPUME_NB_DX][GPUME_NB_DY], Fours &cur, const GpumeU32 *win, int pitch)
{
    const GpumeSharedWords words(win);

    GPUME_UNROLL for (int c = 0; c < GPUME_ACROSS; c++)
        GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
            GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY; j++)
                sum[c][k][j] = 0;
    GPUME_UNROLL for (int r = 0; r < GPUME_SIDE + GPUME_NB_DY - 1; r++) {
        GpumeU32 w[8];

        if (r < GPUME_SIDE)
            cur.need(r);
        words.load4<0>(w,     r * pitch);
        words.load4<4>(w + 4, r * pitch);

        GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY; j++)
            GPUME_UNROLL for (int c = 0; c < GPUME_ACROSS; c++)
                GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
                    if (r - j >= 0 && r - j < GPUME_SIDE)
                        sum[c][k][j] = gpume_sad4(cur.row[r - j < 0 || r - j >= GPUME_SIDE ? 0 : r - j][c],
                                                  w[c + k], sum[c][k][j]);
    }
}

#endif /* AVFILTER_GPUME_CUDA_FULL4_CUH */
