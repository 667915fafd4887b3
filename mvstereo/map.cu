/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Computes the weighted median, and paints the map.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

#define WMEDIAN 0

#define SIDE    (2 * MVSTEREO_WMED_R + 1)
#define TILE_H  MVSTEREO_CUDA_TILE_H
/** Number of pairs of a row, and of all rows. */
#define PAIRS   ((SIDE + 1) / 2)
#define NB      (SIDE * PAIRS)

/** Returns a pair of the next row above, or else below, that has valid disparities, as holes. */
static __device__ __forceinline__ GpumeU32 get_filled(const MvstereoCudaArgs &args, int x0, int x1, int y)
{
    const GpumeU16 *filled = (const GpumeU16 *)args.filled;

    for (int i = 0, step = -1, row = y; i < args.h; i++, row += step) {
        GpumeU32 before, v;

        if (row < 0) {
            row  = y + 1;
            step = 1;
        }
        if (row >= args.h)
            break;
        before = (GpumeU32)(row * args.w);
        v      = filled[before + x0];
        if (v != (GpumeU16)MVSTEREO_INVALID)
            return v | (GpumeU32)filled[before + x1] << 16 | MVSTEREO_PAIR(MVSTEREO_CUDA_HOLE);
    }
    return MVSTEREO_PAIR(mvstereo_zero(args.min, args.range) | MVSTEREO_CUDA_HOLE);
}

/** Loads the neighbourhood of a thread block's samples: a warp two rows, and what is left on the right. */
static __device__ __forceinline__ void load_tile(MvstereoCudaTile *tile, const MvstereoCudaArgs &args)
{
    enum { PARTS = TILE_H / MVSTEREO_CUDA_ROWS + 1, MORE = MVSTEREO_CUDA_TILE_PAIRS - MVSTEREO_CUDA_COLS };
    const int thread = (int)threadIdx.x, row = thread / MVSTEREO_CUDA_COLS;
    GpumeU32 values[PARTS], luma[PARTS];
    int rows[PARTS], pairs[PARTS], x[PARTS][2], y[PARTS];

    /* all at once, as loads do not pass stores or branches */
    GPUME_UNROLL for (int n = 0; n < PARTS; n++) {
        rows[n]   = n < PARTS - 1 ? n * MVSTEREO_CUDA_ROWS + row : thread / MORE;
        pairs[n]  = n < PARTS - 1 ? thread % MVSTEREO_CUDA_COLS : MVSTEREO_CUDA_COLS + thread % MORE;
        y[n]      = av_clip((int)blockIdx.y * MVSTEREO_CUDA_ROWS + rows[n] - MVSTEREO_WMED_R, 0, args.h - 1);
        values[n] = luma[n] = 0;
        GPUME_UNROLL for (int i = 0; i < 2; i++) {
            x[n][i] = av_clip(2 * ((int)blockIdx.x * MVSTEREO_CUDA_COLS + pairs[n]) - MVSTEREO_WMED_R + i, 0,
                              args.w - 1);
            values[n] |= (GpumeU32)((const GpumeU16 *)args.filled)[(GpumeU32)(y[n] * args.w + x[n][i])] << 16 * i;
            luma[n]   |= (GpumeU32)((const GpumeU8 *)args.luma[0])[(GpumeU32)(y[n] * args.w + x[n][i])] << 16 * i;
        }
    }
    GPUME_UNROLL for (int n = 0; n < PARTS; n++) {
        if (n == PARTS - 1 && thread >= MORE * TILE_H)
            break;
        /* a row without valid disparities */
        if (values[n] == (GpumeU32)MVSTEREO_INVALID)
            values[n] = get_filled(args, x[n][0], x[n][1], y[n]);
        tile->values[rows[n]][pairs[n]] = values[n] & ~MVSTEREO_PAIR(MVSTEREO_CUDA_HOLE);
        tile->luma[rows[n]][pairs[n]]   = luma[n] + MVSTEREO_LUMA +
                                          ((GpumeU64)((values[n] >> 14 & MVSTEREO_PAIR(2)) + MVSTEREO_SHIFTS) << 32);
    }
}

/** Returns minus the sums of the weights of both samples that belong to values below a limit of each sample. */
static __device__ __forceinline__ void add_below(int *less, const GpumeU32 *values,
                                                 const GpumeU32 (*weights)[(NB + 1) / 2], const GpumeU32 *limits,
                                                 int is_one)
{
    less[0] = less[1] = 0;
    GPUME_UNROLL for (int n = 0; n < NB; n++) {
        const GpumeU32 below = mvstereo_below2(values[n], MVSTEREO_PAIR(limits[0]));

        less[0] = mvstereo_subtract2(less[0], below, weights[0][n / 2], n % 2);
        less[1] = mvstereo_subtract2(less[1], is_one ? below : mvstereo_below2(values[n], MVSTEREO_PAIR(limits[1])),
                                     weights[1][n / 2], n % 2);
    }
}

/**
 * Computes the weighted medians of the 9x9 disparities around two samples side by side. A row is five pairs, the last
 * value of which has no weight for the first sample, and the first value no weight for the second one.
 */
static __device__ __forceinline__ void weighted_median(const MvstereoCudaArgs &args)
{
    GPUME_SHARED(MvstereoCudaTile, tile);
    const int tx = (int)(threadIdx.x % MVSTEREO_CUDA_COLS), ty = (int)(threadIdx.x / MVSTEREO_CUDA_COLS);
    const int x  = 2 * ((int)blockIdx.x * MVSTEREO_CUDA_COLS + tx), y = (int)blockIdx.y * MVSTEREO_CUDA_ROWS + ty;
    GpumeU32 values[NB], weights[2][(NB + 1) / 2], centre[2], shifts[2], total[2] = { 0 }, result[2];
    GpumeU32 least, greatest = 0;
    int less[2];

    load_tile(tile, args);
    __syncthreads();
    if (x >= args.w || y >= args.h)
        return;
    least     = (GpumeU32)tile->luma[ty + MVSTEREO_WMED_R][tx + MVSTEREO_WMED_R / 2];
    centre[0] = mvstereo_bytes(least, 0, 0x1010);
    centre[1] = mvstereo_bytes(least, 0, 0x3232);
    least     = tile->values[ty][tx];
    GPUME_UNROLL for (int n = 0; n < NB; n++) {
        const int row = ty + n / PAIRS, pair = n % PAIRS;
        const GpumeU64 luma = tile->luma[row][tx + pair];

        values[n] = tile->values[row][tx + pair];
        least     = mvstereo_min2(least, values[n]);
        greatest  = mvstereo_max2(greatest, values[n]);
        GPUME_UNROLL for (int i = 0; i < 2; i++) {
            /* far from any luma where there is no weight */
            const GpumeU32 c   = i ? pair ? centre[1] : centre[1] & 0xffff0000
                                   : pair < PAIRS - 1 ? centre[0] : centre[0] & 0xffff;
            const GpumeU32 two = mvstereo_shifts2((GpumeU32)luma, c, (GpumeU32)(luma >> 32));

            if (n % 2 || n == NB - 1) {
                /* four shifts, in bytes, then in the digits that select a weight, or nothing */
                const GpumeU32 four = n % 2 ? mvstereo_bytes(shifts[i], two, 0x6240)
                                            : mvstereo_bytes(two, 0x80008, 0x6240);

                weights[i][n / 2] = mvstereo_bytes(0x08102040, 0x00010204, four + (four >> 12));
                total[i]          = gpume_sad4(weights[i][n / 2], 0, total[i]);
            }
            shifts[i] = two;
        }
    }
    least    = gpume_umin(least & 0xffff, least >> 16);
    greatest = gpume_umax(greatest & 0xffff, greatest >> 16);
    /* the largest values below which the weights are too small; the first limit is that of both samples */
    result[0] = result[1] = least;
    if (greatest > least) {
        GpumeU32 bit = 1u << gpume_log2(greatest - least), limits[2] = { least + bit };

        add_below(less, values, weights, limits, 1);
        for (;;) {
            GPUME_UNROLL for (int i = 0; i < 2; i++) {
                result[i] += -2 * less[i] < (int)total[i] ? bit : 0;
                limits[i]  = result[i] + bit / 2;
            }
            bit /= 2;
            if (!bit)
                break;
            add_below(less, values, weights, limits, 0);
        }
    }
    GPUME_UNROLL for (int i = 0; i < 2; i++)
        if (x + i < args.w)
            ((short *)args.smoothed)[(long long)y * args.w + x + i] = (short)result[i];
}

/** Paints a sample of the map. */
static __device__ __forceinline__ void paint(const MvstereoCudaArgs &args, int v, int x, int y)
{
    const MvstereoPaint *p = &args.paint;
    const long long q = y * (long long)args.w + x;
    const int to = mvstereo_paint_column(p, x);
    const GpumeU64 row = args.out + y * args.out_linesize;

    ((short *)args.disparity)[q] = (short)v;
    if (!args.out)
        return;
    if (args.output == 0)
        ((GpumeU16 *)row)[to] = (GpumeU16)mvstereo_paint_disparity(p, v);
    else if (args.output == 3)
        ((GpumeU16 *)row)[to] = (GpumeU16)mvstereo_paint_depth(p, v);
    else if (args.output == 1)
        ((GpumeU8 *)row)[to] = (GpumeU8)mvstereo_paint_gray(p, v);
    else if (args.output == 4)
        ((GpumeU8 *)row)[to] = ((const GpumeU8 *)args.confidence)[q];
    else {
        const int rgb = mvstereo_paint_color(p, v, to, y);

        ((GpumeU32 *)row)[to] = (GpumeU32)(rgb >> 16 | (rgb & 0xff00) | (rgb & 0xff) << 16);
    }
    if (args.chroma && !(x & 1) && !(y & 1)) {
        const GpumeU64 chroma = args.chroma + y / 2 * args.chroma_linesize;

        GPUME_UNROLL for (int i = 0; i < 2; i++)
            if (args.output == 0 || args.output == 3)
                ((GpumeU16 *)chroma)[x + i] = 32768;
            else
                ((GpumeU8 *)chroma)[x + i] = 128;
    }
}

/** Computes the last medians, unless the map has been stabilised, and paints the samples. */
static __device__ __forceinline__ void paint_column(const MvstereoCudaArgs &args)
{
    const int x = (int)(blockIdx.x * MVSTEREO_CUDA_COLS + threadIdx.x % MVSTEREO_CUDA_COLS);
    const int y = (int)(blockIdx.y * MVSTEREO_CUDA_ROWS + threadIdx.x / MVSTEREO_CUDA_COLS) * MVSTEREO_CUDA_THREAD_ROWS;
    const short *map = (const short *)(args.temporal ? args.disparity : args.filled);
    int v[MVSTEREO_CUDA_THREAD_ROWS];

    if (x >= args.w || y >= args.h)
        return;
    if (args.fill && !args.temporal)
        mvstereo_medians(v, args.smoothed, args, x, y);
    GPUME_UNROLL for (int i = 0; i < MVSTEREO_CUDA_THREAD_ROWS; i++)
        if (y + i < args.h)
            paint(args, args.fill && !args.temporal ? v[i] : map[(y + i) * (long long)args.w + x], x, y + i);
}

/**
 * grid:   of the weighted median MVSTEREO_CUDA_COLS pairs of samples x MVSTEREO_CUDA_ROWS, and of the other step
 *         MVSTEREO_CUDA_COLS x MVSTEREO_CUDA_SIDE samples
 * block:  MVSTEREO_CUDA_THREADS
 * shared: of the weighted median MvstereoCudaTile
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, MVSTEREO_CUDA_THREADS, 2)
{
    if ((GPUME_CUDA_VARIANT & ~MVSTEREO_CUDA_AMPERE) == WMEDIAN)
        weighted_median(args);
    else
        paint_column(args);
}
