/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Sums of squares of 4x4 samples as bytes, for successive elimination.
 *
 * The difference between the sums of two squares of 4x4 samples is at most their SAD. Therefore the
 * differences of a block's 4x4 squares add up to a lower bound of its cost. Sums are stored as
 * bytes, q = clamp((sum - base) >> scale, 0, 255), where base and scale suit the current picture at
 * this position. Clamping can only reduce the bound, and the shift can increase it by at most
 * (1 << scale) - 1 for each 4x4 square, which is taken into account. So one instruction computes the
 * bounds of four 4x4 squares.
 */

#ifndef AVFILTER_GPUME_CUDA_SQUARE_SUMS_CUH
#define AVFILTER_GPUME_CUDA_SQUARE_SUMS_CUH

#include "libavfilter/gpume/cuda/window.cuh"

typedef GpumeModuleCost::Sample Sample;

/** Sums of the current picture are scaled to this range of a byte, with a margin on both sides. */
#define GPUME_SEA_Q_RANGE     208

/** Returns row y of a plane whose row 0 is at p. */
static __device__ __forceinline__ const GpumeU8 *gpume_row(const GpumeU8 *p, int y, int linesize)
{
#ifdef GPUME_HOST
    return p + (long long)y * linesize;
#else
    const GpumeU8 *ret;

    /* clang sign-extends linesize once and then multiplies 64 bits */
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(ret) : "r"(y), "r"(linesize), "l"(p));
    return ret;
#endif
}

/** State that all threads of a thread block share. */
struct GpumeSeaTile {
    const GpumeU8 *ref;
    int linesize;
    int x, y;                   ///< the tile's first sample
    int base, scale;            ///< base and scale of sums as bytes

    /* in shared memory */
    GpumeU32 *cur;              ///< the tile's samples, GPUME_SEA_TILE_WORDS a row
    GpumeU32 *cur_sums;         ///< sums of the tile, as bytes: GPUME_CUDA_SEA_SQUARE / 4 in a word
    GpumeU32 *sums;             ///< sums at every displacement of a chunk, as bytes
    /**
     * Number of words in a phase, which has the sums at every fourth column of a row. Because these
     * are adjacent, a word has the sums of a row of 4x4 squares of a square.
     */
    int phase;
    int pitch;                  ///< words between rows: four phases
    int cx, cy;                 ///< first displacement of the chunk
};

#define GPUME_SEA_TILE_WORDS (GPUME_CUDA_SEA_TILE_WIDTH * GpumeSample<Sample>::bytes / 4)

static __device__ __forceinline__ int gpume_clamp_sum(const GpumeSeaTile &t, int sum)
{
    const int q = sum >> t.scale;

    return gpume_max(0, gpume_min(q, 255));
}

/** Sets the sums of four samples that begin at the first, second, third and fourth sample in words. */
static __device__ __forceinline__ void gpume_row_sums(const GpumeU32 *words, int shift, int *sums)
{
    GpumeU32 w[4];

    if (sizeof(Sample) == 1) {
        GPUME_UNROLL for (int i = 0; i < 4; i++)
            sums[i] = gpume_sad4(i ? gpume_funnel_shift(words[0], words[1], 8 * i) : words[0], 0, 0);
        return;
    }
    GPUME_UNROLL for (int i = 0; i < 4; i++)
        w[i] = GpumeSample<Sample>::right_justify(words[i], shift);
    sums[0] = gpume_sad2(w[1], 0, gpume_sad2(w[0], 0, 0));
    sums[1] = sums[0] - (int)(w[0] & 0xffff) + (int)(w[2] & 0xffff);
    sums[2] = sums[1] - (int)(w[0] >> 16)    + (int)(w[2] >> 16);
    sums[3] = sums[2] - (int)(w[1] & 0xffff) + (int)(w[3] & 0xffff);
}

/** Zeroes sums that are read but never computed: columns in the last word of each phase, and rows behind the last. */
static __device__ __forceinline__ void
gpume_zero_behind(const GpumeCudaArgs &a, const GpumeSeaTile &t)
{
    const int rows = a.sea.chunk_height + GPUME_CUDA_SEA_TILE_HEIGHT - 4;

    for (int i = threadIdx.x; i < 4 * rows; i += GPUME_CUDA_SEA_THREADS)
        t.sums[(i + 1) * t.phase - 1] = 0;
    /* clears what is read beyond the last row, too */
    for (int i = threadIdx.x; i <= GPUME_CUDA_SEA_ROWS_BEHIND * t.pitch; i += GPUME_CUDA_SEA_THREADS)
        t.sums[rows * t.pitch + i] = 0;
}

/**
 * Computes the sums of the reference that the candidates of a chunk read. A thread processes four
 * columns of 4x4 squares from top to bottom. No admissible candidate reads the sums of squares that
 * are outside the picture or behind the last column, so these sums may have any value.
 */
static __device__ __forceinline__ void
gpume_fill_sums(const GpumeCudaArgs &a, const GpumeSeaTile &t)
{
    const int per_word = GpumeSample<Sample>::per_word;
    const int words    = 8 / per_word;  // words with the samples of four adjacent sums
    const int loads    = 2;             // loads of four samples each
    const int rows     = a.sea.chunk_height + GPUME_CUDA_SEA_TILE_HEIGHT - 4;
    const int segment  = GPUME_DIVIDE(threadIdx.x, a.sea.reciprocal);
    const int column   = threadIdx.x - segment * a.sea.columns;
    const int first    = segment * a.sea.rows;
    const int last     = gpume_min(first + a.sea.rows, rows);
    const int x        = t.x + t.cx + 4 * column;
    const int y        = t.y + t.cy + 3;
    GpumeU8 *dst       = (GpumeU8 *)t.sums;
    int at             = first * 4 * t.pitch + column;
    int sum[4], old[4][4];
    const GpumeU8 *from[loads];

    if (first >= rows)
        return;
    GPUME_UNROLL for (int i = 0; i < 4; i++) {
        sum[i] = -t.base;
        old[0][i] = old[1][i] = old[2][i] = old[3][i] = 0;
    }
    GPUME_UNROLL for (int i = 0; i < loads; i++)
        from[i] = gpume_inside<Sample, 4 * sizeof(Sample)>(t.ref, x + 4 * i, a.params.width);
    /* the first four rows are above all sums but those of the next row */
    for (int row = first - 4; row < last; row += 4) {
        GpumeU32 w[4][words];
        int pieces[4][4];

        /* loads are issued together to overlap their latency */
        GPUME_UNROLL for (int j = 0; j < 4; j++) {
            const int line = gpume_max(0, gpume_min(y + row + j, a.params.height - 1));

            GPUME_UNROLL for (int i = 0; i < loads; i++)
                gpume_load_row<words / loads>(&w[j][i * words / loads], gpume_row(from[i], line, t.linesize));
        }
        GPUME_UNROLL for (int j = 0; j < 4; j++) {
            int now[4];

            gpume_row_sums(w[j], a.params.shift, now);
            GPUME_UNROLL for (int i = 0; i < 4; i++) {
                sum[i]      += now[i] - old[j][i];
                old[j][i]    = now[i];
                pieces[j][i] = sum[i];
            }
        }
        if (row < first)
            continue;
        GPUME_UNROLL for (int j = 0; j < 4; j++)
            GPUME_UNROLL for (int i = 0; i < 4; i++)
                dst[at + (4 * j + i) * 4 * t.phase] = gpume_clamp_sum(t, pieces[j][i]);
        at += 16 * t.pitch;
    }
}

/** Words of the tile that a thread loads. */
#define GPUME_SEA_TILE_LOADS (GPUME_CUDA_SEA_TILE_HEIGHT * GPUME_SEA_TILE_WORDS / GPUME_CUDA_SEA_THREADS)

/**
 * Sets base and scale, and computes the sums of the tile as bytes.
 * @return 0 if no 4x4 square is whole
 */
static __device__ __forceinline__ int
gpume_sum_tile(const GpumeCudaArgs &a, GpumeSeaTile &t, GpumeU32 *limits)
{
    const int bytes = GpumeSample<Sample>::bytes;
    const GpumeParams &p = a.params;
    const int column = threadIdx.x % (GPUME_CUDA_SEA_TILE_WIDTH / 4);
    const int line   = threadIdx.x / (GPUME_CUDA_SEA_TILE_WIDTH / 4);
    const int whole  = line < GPUME_CUDA_SEA_TILE_HEIGHT / 4 &&
                       t.x + 4 * column + 4 <= p.width && t.y + 4 * line + 4 <= p.height;
    GpumeU32 sum = 0, least, most;

    if (line < GPUME_CUDA_SEA_TILE_HEIGHT / 4)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < bytes; j++)
                sum = GpumeSad<Sample>::word(t.cur[(4 * line + i) * GPUME_SEA_TILE_WORDS +
                                                     column * bytes + j], 0, sum);
    least = whole ? sum : ~0u;
    most  = whole ? sum : 0;
    gpume_least_and_greatest(limits, &least, &most);
    if (least > most)
        return 0;

    for (t.scale = 0; (most - least) >> t.scale > GPUME_SEA_Q_RANGE; t.scale++)
        ;
    t.base = (int)((least + most) / 2) - (128 << t.scale);
    if (line < GPUME_CUDA_SEA_TILE_HEIGHT / 4)
        ((GpumeU8 *)t.cur_sums)[line * (GPUME_CUDA_SEA_TILE_WIDTH / 4) + column] =
            gpume_clamp_sum(t, (int)sum - t.base);
    return 1;
}

#endif /* AVFILTER_GPUME_CUDA_SQUARE_SUMS_CUH */
