/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of samples as half-precision numbers, two at a time: what its kernels have in common. That is a matter of
 * how few instructions there are beside, so a lane has displacements side by side, which share words, and on top of
 * each other.
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
    __device__ __forceinline__ void need(int y) const { }
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

/**
 * The samples of a row of blocks, FULL_TILE_WIDTH samples wide. The window lies in shared memory twice, shifted by a
 * sample, so that every candidate's words can be read as they are. Blocks of 16x16 samples are searched half by
 * half: more does not fit into registers, nor do sums into 16 bits.
 */
template<int SIDE>
struct GpumeHalfRow {
    static const int BLOCKS = GPUME_CUDA_FULL_TILE_WIDTH / SIDE;
    static const int PIECES = SIDE == 16 ? 2 : 1;                           ///< of a block
    static const int WORDS  = GPUME_CUDA_FULL_TILE_WIDTH / 2 / PIECES;      ///< of a row of what is in registers

    const GpumeU32 *tile;
    int pitch;                  ///< words from row to row of the window
    GpumePiece10<SIDE, WORDS> cur;

    __device__ __forceinline__ GpumeHalfRow(const GpumeCudaArgs &a, const GpumeU32 *of_tile)
        : tile(of_tile), pitch(GPUME_CUDA_FULL10_PITCH(a.full.copy_words))
    {
    }

    /** Load the samples of a piece. */
    template<int HEIGHT>
    __device__ __forceinline__ void load_piece(int piece)
    {
        const GpumeSharedWords words(tile + piece * WORDS);

        GPUME_UNROLL for (int y = 0; y < HEIGHT; y++) {
            words.load4<0>(cur.row[y], y * GPUME_CUDA_FULL_TILE_WIDTH / 2);
            if (WORDS > 4)
                words.load4<WORDS - 4>(cur.row[y] + WORDS - 4, y * GPUME_CUDA_FULL_TILE_WIDTH / 2);
        }
    }

    /** The costs of candidates of a piece, as gpume_add_halves() has it. */
    template<int HEIGHT, int NB_DX, int NB_DY>
    __device__ __forceinline__ void add_up(GpumeU32 (&sum)[BLOCKS][NB_DX][NB_DY], const GpumeU32 *win) const
    {
        gpume_add_halves<SIDE, HEIGHT>(sum, cur, win, pitch);
    }
};

#endif /* AVFILTER_GPUME_CUDA_FULL10_CUH */
