/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of samples of 9 and 10 bits, two at a time as half-precision numbers: the costs of several candidates.
 */

#ifndef AVFILTER_GPUME_CUDA_FULL10_CUH
#define AVFILTER_GPUME_CUDA_FULL10_CUH

#include "libavfilter/gpume/cuda/full.cuh"

/** Rows of samples in registers. */
template<int HEIGHT_, int WORDS_>
struct GpumePiece10 {
    static const int WORDS = WORDS_;

    GpumeU32 row[HEIGHT_][WORDS_];

    /** Make a row available, in order. */
    __device__ __forceinline__ void need(int y) { }
};

/**
 * The costs of NB_DX x NB_DY candidates of a row of blocks: sums of each half of words.
 * @param cur GpumePiece10, or what has the same
 * @param win the window's words of the first of them; they are a word from each other across
 */
template<int SIDE, int HEIGHT, int BLOCKS, int NB_DX, int NB_DY, class Piece>
static __device__ __forceinline__ void
gpume_add_halves(GpumeU32 (&sum)[BLOCKS][NB_DX][NB_DY], Piece &cur, const GpumeU32 *win, int pitch)
{
    /* rows whose differences are added up at once: the sums of a word of each of a block's halves take no more */
    const int step = SIDE == 4 ? 2 : 1;
    const GpumeSharedWords words(win);

    GPUME_UNROLL for (int c = 0; c < BLOCKS; c++)
        GPUME_UNROLL for (int k = 0; k < NB_DX; k++)
            GPUME_UNROLL for (int j = 0; j < NB_DY; j++)
                sum[c][k][j] = 0;
    GPUME_UNROLL for (int r = 0; r < HEIGHT + NB_DY - 1; r += step) {
        GpumeU32 w[step][12];

        GPUME_UNROLL for (int t = 0; t < step && r + t < HEIGHT + NB_DY - 1; t++) {
            if (r + t < HEIGHT)
                cur.need(r + t);
            /* one displacement may begin at any word */
            GPUME_UNROLL for (int c = 0; c < Piece::WORDS && NB_DX == 1; c++)
                w[t][c] = win[(r + t) * pitch + c];
            if (NB_DX > 1) {
                words.load4<0>(w[t],     (r + t) * pitch);
                words.load4<4>(w[t] + 4, (r + t) * pitch);
            }
            if (NB_DX > 1 && Piece::WORDS + NB_DX - 1 > 8)
                words.load4<8>(w[t] + 8, (r + t) * pitch);
        }
        GPUME_UNROLL for (int j = 0; j < NB_DY; j++)
            GPUME_UNROLL for (int k = 0; k < NB_DX; k++)
                GPUME_UNROLL for (int c = 0; c < Piece::WORDS; c += 2)
                    GPUME_UNROLL for (int t = 0; t < step; t++) {
                        const int y = r + t - j, its = y < 0 || y >= HEIGHT ? 0 : y;

                        if (y >= 0 && y < HEIGHT)
                            sum[2 * c / SIDE][k][j] += gpume_add_absolute_halves(
                                gpume_subtract_halves(w[t][c + k],     cur.row[its][c]),
                                gpume_subtract_halves(w[t][c + k + 1], cur.row[its][c + 1]));
                    }
    }
}

#endif /* AVFILTER_GPUME_CUDA_FULL10_CUH */
