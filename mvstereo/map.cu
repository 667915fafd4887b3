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

/** Computes the weighted median of 9x9 disparities. */
static __device__ __forceinline__ void weighted_median(const MvstereoCudaArgs &args)
{
    GPUME_SHARED(MvstereoCudaTile, tile);
    const int tx = (int)(threadIdx.x % MVSTEREO_CUDA_COLS), ty = (int)(threadIdx.x / MVSTEREO_CUDA_COLS);
    int total = 0, least = 32767, greatest = 0, result;
    MVSTEREO_PLACE();

    for (int i = (int)threadIdx.x; i < TILE_W * TILE_H; i += MVSTEREO_CUDA_THREADS) {
        const int px = (int)blockIdx.x * MVSTEREO_CUDA_COLS + i % TILE_W - MVSTEREO_WMED_R;
        const int py = (int)blockIdx.y * MVSTEREO_CUDA_ROWS + i / TILE_W - MVSTEREO_WMED_R;

        tile->values[i / TILE_W][i % TILE_W] = (short)mvstereo_short(args.filled, args, px, py);
        tile->luma[i / TILE_W][i % TILE_W]   = (GpumeU8)mvstereo_byte(args.luma[0], args, px, py);
        tile->valid[i / TILE_W][i % TILE_W]  = (GpumeU8)mvstereo_byte(args.valid, args, px, py);
    }
    __syncthreads();
    if (!is_inside)
        return;
    for (int row = 0; row < SIDE; row++)
        GPUME_UNROLL for (int col = 0; col < SIDE; col++) {
            const int difference = tile->luma[ty + row][tx + col] -
                                   tile->luma[ty + MVSTEREO_WMED_R][tx + MVSTEREO_WMED_R];
            const int weight = mvstereo_weight(FFABS(difference), tile->valid[ty + row][tx + col]);

            tile->weights[SIDE * row + col][threadIdx.x] = (GpumeU8)weight;
            total    += weight;
            least     = gpume_min(least, tile->values[ty + row][tx + col]);
            greatest  = gpume_max(greatest, tile->values[ty + row][tx + col]);
        }
    /* the largest value below which the weights are too small */
    result = least;
    for (int bit = MVSTEREO_MAX_RANGE * MVSTEREO_ONE / 2; bit; bit >>= 1) {
        int below = 0;

        if (bit > greatest - least)
            continue;
        for (int row = 0; row < SIDE; row++)
            GPUME_UNROLL for (int col = 0; col < SIDE; col++)
                below += tile->values[ty + row][tx + col] < result + bit ? tile->weights[SIDE * row + col][threadIdx.x]
                                                                         : 0;
        if (2 * below < total)
            result += bit;
    }
    ((short *)args.smoothed)[q] = (short)result;
}

/** Returns the disparity of a sample, by what it was before. */
static __device__ __forceinline__ int stabilise(const MvstereoCudaArgs &args, int v, int x, int y, long long q)
{
    const int first = args.paint.first;
    int age = 0, difference = 0;

    if (args.is_known) {
        for (int j = -MVSTEREO_STILL_R; j <= MVSTEREO_STILL_R; j++)
            GPUME_UNROLL for (int i = -MVSTEREO_STILL_R; i <= MVSTEREO_STILL_R; i++) {
                const int d = mvstereo_byte(args.luma[0], args, x + i, y + j) -
                              mvstereo_byte(args.luma_before, args, x + i, y + j);

                difference += FFABS(d);
            }
        if (difference <= MVSTEREO_STILL) {
            age = ((const GpumeU8 *)args.age)[q];
            v   = mvstereo_stabilise(v, gpume_max(((const short *)args.disparity_before)[q] - first, 0), &age);
        }
    }
    ((GpumeU8 *)args.age)[q] = (GpumeU8)age;
    ((short *)args.disparity_before)[q] = (short)(v + first);
    return v;
}

/** Computes the last median, and paints the sample. */
static __device__ __forceinline__ void paint(const MvstereoCudaArgs &args, int x, int y, long long q)
{
    const MvstereoPaint *p = &args.paint;
    int v = args.fill ? mvstereo_median(args.smoothed, args, x, y) : ((const short *)args.kept)[q];
    const int to = mvstereo_paint_column(p, x);
    const GpumeU64 row = args.out + y * args.out_linesize;

    if (args.temporal)
        v = stabilise(args, v, x, y, q);
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
GPUME_KERNEL_OF(MvstereoCudaArgs, MVSTEREO_CUDA_THREADS, 2)
{
    if (GPUME_CUDA_VARIANT == WMEDIAN) {
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
