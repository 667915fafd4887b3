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

/**
 * Keep every block's smallest key.
 * @tparam INNER  the picture's edges are out of reach
 * @param across  by column, in blocks: GPUME_INADMISSIBLE outside the picture
 * @param down    by row of candidates: GPUME_INADMISSIBLE outside it
 */
template<int INNER>
static __device__ __forceinline__ void
gpume_take_best(GpumeU32 *best, const GpumeU32 (*sum)[GPUME_NB_DX][GPUME_NB_DY],
                const GpumeU32 (&key)[GPUME_NB_DX][GPUME_NB_DY], const GpumeU32 *across, const GpumeU32 *down)
{
    GPUME_UNROLL for (int j = 0; j < GPUME_NB_DY; j++)
        GPUME_UNROLL for (int k = 0; k < GPUME_NB_DX; k++)
            GPUME_UNROLL for (int c = 0; c < GPUME_ACROSS; c++)
                best[c] = gpume_umin(best[c], (sum[c][k][j] << 16) +
                                              (INNER ? key[k][j] : key[k][j] + (across[c + k] | down[j])));
}

/** The cost of the zero vector of the block at (x, y), which is whole. */
static __device__ __forceinline__ GpumeU32
gpume_zero_cost(const GpumeCudaArgs &a, const GpumeCudaPlane &ref, int x, int y)
{
    const int aligned = !((a.cur.data | a.cur.linesize | ref.data | ref.linesize) & 3);
    GpumeU32 cost = 0;

    GPUME_UNROLL for (int i = 0; i < GPUME_SIDE; i++) {
        const GpumeU8 *cur = (const GpumeU8 *)a.cur.data + (y + i) * a.cur.linesize;
        const GpumeU8 *row = (const GpumeU8 *)ref.data   + (y + i) * ref.linesize;

        cost = aligned ? gpume_sad4(*(const GpumeU32 *)(cur + x), *(const GpumeU32 *)(row + x), cost) :
                         gpume_sad4(gpume_load_edge<GpumeU8>(cur, x, a.params.width),
                                    gpume_load_edge<GpumeU8>(row, x, a.params.width), cost);
    }
    return cost;
}

#endif /* AVFILTER_GPUME_CUDA_FULL4_CUH */
