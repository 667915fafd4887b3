/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Fills holes, computes the weighted median, and paints the map.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

#define FILL    0
#define WMEDIAN 1

#define SIDE    (2 * MVSTEREO_WMED_R + 1)
#define TILE_W  MVSTEREO_CUDA_TILE_W
#define TILE_H  MVSTEREO_CUDA_TILE_H

/**
 * Fills a hole with the smaller of the next valid values in the row, or in the next row above that
 * has valid values.
 */
static __device__ __forceinline__ void fill(const MvstereoCudaArgs &args, int x, int y, long long q)
{
    const GpumeU32 *row_valid = (const GpumeU32 *)args.row_valid;
    int from = y, v = ((const short *)args.kept)[q];

    if (v < 0) {
        const short *row;
        int before = -1, after = -1;

        while (from >= 0 && !row_valid[from])
            from--;
        row = (const short *)args.kept + (long long)gpume_max(from, 0) * args.w;
        for (int i = x; i >= 0 && before < 0 && from >= 0; i--)
            before = row[i];
        for (int i = x; i < args.w && after < 0 && from >= 0; i++)
            after = row[i];
        v = before < 0 ? after : after < 0 ? before : gpume_min(before, after);
        v = gpume_max(v, 0);
    }
    ((short *)args.filled)[q] = (short)v;
}

/** Sets a value of the tile: it is in two pairs. */
static __device__ __forceinline__ void set_value(GpumeU32 rows[MVSTEREO_CUDA_TILE_H][MVSTEREO_CUDA_PAIRS_ROW], int row,
                                                 int col, int v)
{
    GpumeU16 *values = (GpumeU16 *)rows[row];

    values[col] = (GpumeU16)v;
    if (col)
        values[2 * MVSTEREO_CUDA_PAIRS_ODD + col - 1] = (GpumeU16)v;
}

/** Loads the neighbourhood of a thread block's samples. */
static __device__ __forceinline__ void load_tile(MvstereoCudaTile *tile, const MvstereoCudaArgs &args)
{
    for (int i = (int)threadIdx.x; i < (TILE_W + 1) * TILE_H; i += MVSTEREO_CUDA_THREADS) {
        const int row = i / (TILE_W + 1), col = i % (TILE_W + 1);
        const int px  = (int)blockIdx.x * MVSTEREO_CUDA_COLS + col - MVSTEREO_WMED_R;
        const int py  = (int)blockIdx.y * MVSTEREO_CUDA_ROWS + row - MVSTEREO_WMED_R;

        set_value(tile->values, row, col, mvstereo_short(args.filled, args, px, py));
        set_value(tile->luma, row, col, mvstereo_byte(args.luma[0], args, px, py));
        /* as good as a quarter of the weight */
        set_value(tile->more, row, col, mvstereo_byte(args.valid, args, px, py) ? 0 : 8);
    }
}

/**
 * Computes the weighted median of 9x9 disparities. A row is five pairs, of which the last has the ninth value twice,
 * once without a weight. Four weights are in a word.
 */
static __device__ __forceinline__ void weighted_median(const MvstereoCudaArgs &args)
{
    enum { PAIRS = (SIDE + 1) / 2, NB = SIDE * PAIRS };
    GPUME_SHARED(MvstereoCudaTile, tile);
    const int tx = (int)(threadIdx.x % MVSTEREO_CUDA_COLS), ty = (int)(threadIdx.x / MVSTEREO_CUDA_COLS);
    const int first = tx / 2 + (tx & 1 ? MVSTEREO_CUDA_PAIRS_ODD : 0);
    GpumeU32 values[NB], weights[(NB + 1) / 2], centre, total = 0, least, greatest = 0, result, steps = 0;
    MVSTEREO_PLACE();

    load_tile(tile, args);
    __syncthreads();
    if (!is_inside)
        return;
    centre = MVSTEREO_PAIR(tile->luma[ty + MVSTEREO_WMED_R][first + MVSTEREO_WMED_R / 2] & 0xffff);
    least  = tile->values[ty][first];
    GPUME_UNROLL for (int n = 0; n < NB; n++) {
        const int row = ty + n / PAIRS, col = first + n % PAIRS, is_last = n % PAIRS == PAIRS - 1;
        const GpumeU32 d = mvstereo_min2(mvstereo_distance2(tile->luma[row][col], centre, tile->more[row][col]),
                                         MVSTEREO_PAIR(31));
        GpumeU32 v = tile->values[row][col];

        v         = is_last ? mvstereo_bytes(v, 0, 0x1010) : v;
        values[n] = v;
        least     = mvstereo_min2(least, v);
        greatest  = mvstereo_max2(greatest, v);
        /* four distances; one that is 31 has no weight */
        steps     = n % 2 ? steps + (d << 8) : n == NB - 1 ? d | 0x1f001f00 : d;
        steps     = is_last ? steps | (n % 2 ? 0x1f000000 : 0x1f0000) : steps;
        if (n % 2 || n == NB - 1) {
            /* shifts of the weights by up to 7, after which nothing is left */
            steps          = steps >> 2 & 0x07070707;
            weights[n / 2] = mvstereo_bytes(0x08102040, 0x00010204, steps + (steps >> 12));
            total          = gpume_sad4(weights[n / 2], 0, total);
        }
    }
    least    = gpume_umin(least & 0xffff, least >> 16);
    greatest = gpume_umax(greatest & 0xffff, greatest >> 16);
    /* the largest value below which the weights are too small */
    result = least;
    for (GpumeU32 bit = MVSTEREO_MAX_RANGE * MVSTEREO_ONE / 2; bit; bit >>= 1) {
        const GpumeU32 limit = MVSTEREO_PAIR(result + bit);
        int less_below = 0;

        if (bit > greatest - least)
            continue;
        GPUME_UNROLL for (int n = 0; n < NB; n++)
            less_below = mvstereo_subtract_below(less_below, values[n], limit, weights[n / 2], n % 2);
        if (-2 * less_below < (int)total)
            result += bit;
    }
    ((short *)args.smoothed)[q] = (short)result;
}

/** Computes the last median, unless the map has been stabilised, and paints the sample. */
static __device__ __forceinline__ void paint(const MvstereoCudaArgs &args, int x, int y, long long q)
{
    const MvstereoPaint *p = &args.paint;
    const int v = args.temporal ? ((const short *)args.disparity)[q]
                : args.fill     ? mvstereo_median(args.smoothed, args, x, y) : ((const short *)args.kept)[q];
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

/**
 * grid:   MVSTEREO_CUDA_COLS x MVSTEREO_CUDA_ROWS samples
 * block:  MVSTEREO_CUDA_THREADS
 * shared: of the weighted median MvstereoCudaTile
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, MVSTEREO_CUDA_THREADS, 3)
{
    if ((GPUME_CUDA_VARIANT & ~MVSTEREO_CUDA_AMPERE) == WMEDIAN) {
        weighted_median(args);
    } else {
        MVSTEREO_PLACE();

        if (!is_inside)
            return;
        if (GPUME_CUDA_VARIANT == FILL)
            fill(args, x, y, q);
        else
            paint(args, x, y, q);
    }
}
