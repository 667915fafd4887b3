/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of one block of any size, for blocks that have no other kernel and for blocks that
 * the edges of the picture cut.
 */

#ifndef AVFILTER_GPUME_CUDA_ANY_CUH
#define AVFILTER_GPUME_CUDA_ANY_CUH

#include "libavfilter/gpume/cuda/window.cuh"

/** A rectangle of a plane that begins at (x, y) inside the picture. */
typedef struct GpumePiece {
    int x, y;
    int rows, words;            ///< size of the rectangle
    int columns, lines;         ///< size of the part whose samples count; the other samples are 0
} GpumePiece;

/** Loads a rectangle into shared memory, samples without padding bits. */
template<typename Sample>
static __device__ __forceinline__ void
gpume_load_piece(GpumeU32 *dst, int pitch, const GpumeCudaPlane &plane, const GpumeParams &params,
                 const GpumePiece &piece)
{
    const int bytes    = GpumeSample<Sample>::bytes;
    const GpumeU8 *row = (const GpumeU8 *)plane.data + piece.y * plane.linesize;
    const GpumeU8 *p   = row + piece.x * bytes;
    const GpumeU8 *end = row + params.width * bytes;

    for (int i = threadIdx.x; i < piece.rows * piece.words; i += blockDim.x) {
        const int y = i / piece.words;
        const int x = i - y * piece.words;
        GpumeU32 word = 0;

        if (y < piece.lines)
            word = gpume_load<Sample>(p + y * plane.linesize + 4 * x,
                                      piece.columns - x * GpumeSample<Sample>::per_word,
                                      end + y * plane.linesize);
        dst[y * pitch + x] = GpumeSample<Sample>::right_justify(word, params.shift);
    }
}

/**
 * Stores the result of block (bx, by), which is b: the smallest key of all threads, with the orders
 * of gpume_order().
 * @param shared a key of two words for each warp, no longer in use
 */
static __device__ __forceinline__ void
gpume_store_least(const GpumeCudaArgs &a, GpumeU32 *shared, const GpumeBox &b, int z, int bx, int by, GpumeU64 best)
{
    const GpumeU64 least = gpume_least_of_all(shared, best);
    const GpumeVector v  = gpume_vector_of_order(a.params.range, (int)(GpumeU32)least);

    if (!threadIdx.x)
        gpume_store(a, b, z, bx, by, v.dx, v.dy, (GpumeU32)(least >> 32));
}

/**
 * Searches one block of the picture, of any size, with all threads. Each pass tests the candidates
 * of across x down threads. A thread has GPUME_CUDA_ANY_DX x GPUME_CUDA_ANY_DY candidates and keeps
 * their sums in registers, while strips of the block and the matching window of the reference pass
 * through shared memory.
 */
template<class Cost>
static __device__ __forceinline__ void
gpume_search_any(const GpumeCudaArgs &a, GpumeU32 *shared, int bx, int by, int z)
{
    typedef typename Cost::Sample Sample;
    const int nb_dx = GPUME_CUDA_ANY_DX, nb_dy = GPUME_CUDA_ANY_DY;
    const int per_word  = GpumeSample<Sample>::per_word;
    const int bytes     = GpumeSample<Sample>::bytes;
    const int across    = a.full.across;
    const int down      = a.full.down;
    const int pitch     = a.full.pitch;
    const int dx_words  = nb_dx / per_word;     // words from a thread's columns to those of the next thread
    const GpumeBox b    = gpume_box(&a.params, a.params.block, bx, by);
    const int words     = (b.w + per_word - 1) / per_word;
    const int cur_pitch = a.params.block / per_word;
    GpumeU32 *cur       = shared;
    GpumeU32 *window    = shared + GPUME_CUDA_ANY_STRIP * cur_pitch;
    const int column    = threadIdx.x % across;
    const int line      = threadIdx.x / across;
    const GpumeCudaPlane ref = gpume_field(a, z).plane;
    GpumeU64 best       = ~0ull;

    static_assert(Cost::LANES == 1, "a thread has candidates of its own");
    for (int cy = b.min_dy; cy <= b.max_dy; cy += down * nb_dy)
        for (int cx = b.min_dx; cx <= b.max_dx; cx += across * nb_dx) {
            GpumeU32 sum[nb_dy][nb_dx];

            GPUME_UNROLL for (int j = 0; j < nb_dy; j++)
                GPUME_UNROLL for (int k = 0; k < nb_dx; k++)
                    sum[j][k] = 0;

            for (int strip = 0; strip < b.h; strip += GPUME_CUDA_ANY_STRIP) {
                const int rows  = gpume_min(GPUME_CUDA_ANY_STRIP, b.h - strip);
                const int cur_y = b.y0 + strip;
                const int win_x = b.x0 + cx;
                const int win_y = cur_y + cy;

                __syncthreads();
                gpume_load_piece<Sample>(cur, cur_pitch, a.cur, a.params,
                                         { b.x0, cur_y, rows, words, b.w, rows });
                gpume_load_piece<Sample>(window, pitch, ref, a.params,
                                         { win_x, win_y, down * nb_dy + rows - 1,
                                           across * dx_words + words,
                                           a.params.width - win_x, a.params.height - win_y });
                __syncthreads();

                if (line >= down)
                    continue;
                for (int r = 0; r < nb_dy + rows - 1; r++) {
                    const GpumeU32 *win = window + (line * nb_dy + r) * pitch +
                                          column * dx_words;

                    for (int c = 0; c < words; c++) {
                        const GpumeU32 mask = gpume_mask<Sample>(b.w - c * per_word);
                        GpumeU32 w[nb_dx];

                        GPUME_UNROLL for (int k = 0; k < nb_dx; k++)
                            w[k] = gpume_funnel(win[c + k / per_word],
                                                win[c + k / per_word + 1],
                                                k % per_word * 8 * bytes) & mask;
                        GPUME_UNROLL for (int j = 0; j < nb_dy; j++) {
                            const int y = r - j;

                            if (y < 0 || y >= rows)
                                continue;
                            const GpumeU32 v = cur[y * cur_pitch + c];
                            GPUME_UNROLL for (int k = 0; k < nb_dx; k++)
                                sum[j][k] = Cost::word(v, w[k], sum[j][k]);
                        }
                    }
                }
            }

            if (line >= down)
                continue;
            GPUME_UNROLL for (int j = 0; j < nb_dy; j++)
                GPUME_UNROLL for (int k = 0; k < nb_dx; k++) {
                    const int dx = cx + column * nb_dx + k;
                    const int dy = cy + line * nb_dy + j;

                    const GpumeU64 key = gpume_key(sum[j][k], gpume_order(a.params.range, dx, dy));

                    if (dx <= b.max_dx && dy <= b.max_dy && key < best)
                        best = key;
                }
        }

    gpume_store_least(a, shared, b, z, bx, by, best);
}

#endif /* AVFILTER_GPUME_CUDA_ANY_CUH */
