/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Makes a picture from the lines of a field, compensated pictures, and the interpolation within the
 * field. A warp has 32 columns of a known line and of the missing line next to it.
 *
 * Data flow:
 * - loads lines of the field, compensated samples and their confidence, with their neighbours, from
 *   global to shared memory
 * - adds the residual to the compensated samples of missing lines in shared memory
 * - each lane measures the neighbourhood of its missing sample in shared memory, and computes the
 *   sample
 */

#include "libavfilter/gpume/mvdeint/device.cuh"

#define LINES   MVDEINT_CUDA_WINDOW_LINES
#define COLUMNS MVDEINT_CUDA_WINDOW_COLUMNS

/** Shared memory of a thread block; begins at line y0 and column x0. */
struct MvdeintWindow {
    GpumeU16 own[LINES][COLUMNS];
    GpumeU16 samples[MVDEINT_MAX_CANDIDATES][LINES][COLUMNS];
    GpumeU8 real[MVDEINT_MAX_CANDIDATES][LINES][COLUMNS];
};

/** Loads the part that is inside the picture, with its edges repeated at the sides. */
static __device__ __forceinline__ void load(const MvdeintCudaCombineArgs &args, const MvdeintCudaComponent &c,
                                            MvdeintWindow &w, int x0, int y0)
{
    GPUME_NO_UNROLL for (int i = threadIdx.x; i < LINES * COLUMNS; i += MVDEINT_CUDA_THREADS) {
        const int line = i / COLUMNS, column = i % COLUMNS, x = av_clip(x0 + column, 0, c.w - 1), y = y0 + line;

        if (y < 0 || y >= c.h)
            continue;
        w.own[line][column] = *mvdeint_at(args.own, c, x, y);
        GPUME_UNROLL for (int n = 0; n < MVDEINT_MAX_CANDIDATES; n++) {
            const GpumeU64 at = (GpumeU64)n * args.size + c.match + (GpumeU64)y * c.w + x;

            if (args.present >> n & 1) {
                w.samples[n][line][column] = ((const GpumeU16 *)args.samples)[at];
                w.real[n][line][column]    = ((const GpumeU8 *)args.real)[at];
            }
        }
    }
}

/** Adds the residual to the missing lines that are measured. */
static __device__ __forceinline__ void add_residual(const MvdeintCudaCombineArgs &args, const MvdeintCudaComponent &c,
                                                    MvdeintWindow &w, int y0)
{
    const int fraction = mvdeint_fraction(args.depth), most = ((1 << args.depth) - 1) << fraction;

    GPUME_NO_UNROLL for (int i = threadIdx.x; i < (LINES - 2) * COLUMNS; i += MVDEINT_CUDA_THREADS) {
        const int line = 1 + i / COLUMNS, column = i % COLUMNS, y = y0 + line;

        if (y < 0 || y >= c.h || (y & 1) == args.parity)
            continue;
        const int above = mvdeint_above(y) - y0, below = mvdeint_below(y, c.h) - y0;

        GPUME_UNROLL for (int n = 0; n < MVDEINT_MAX_CANDIDATES; n++)
            if (args.present >> n & 1)
                w.samples[n][line][column] = (GpumeU16)av_clip(w.samples[n][line][column] +
                    mvdeint_residual((w.own[above][column] << fraction) - w.samples[n][above][column],
                                     (w.own[below][column] << fraction) - w.samples[n][below][column]), 0, most);
    }
}

/** Measures the field's own lines. Lines and columns are those of the window. */
static __device__ __forceinline__ MvdeintAround measure_own(const MvdeintCudaCombineArgs &args, const MvdeintWindow &w,
                                                            int column, int y0, int above, int below, int h)
{
    MvdeintAround around;
    GpumeU32 sum = 0;
    int step;

    GPUME_UNROLL for (int i = 0; i < 2; i++) {
        const int y  = i ? below : above;
        const int up = mvdeint_two_above(y, y + 2) - y0, down = mvdeint_two_below(y, h, y - 2) - y0;

        GPUME_UNROLL for (int j = -1; j <= 1; j++) {
            const int off = mvdeint_scaled(FFABS(2 * w.own[y - y0][column + j] - w.own[up][column + j] -
                                                 w.own[down][column + j]), args.depth + 1);

            sum += off * off;
        }
    }
    step = mvdeint_scaled(FFABS(w.own[above - y0][column] - w.own[below - y0][column]), args.depth);
    around.activity = mvdeint_sixth(sum);
    around.step     = step * step;
    return around;
}

static __device__ __forceinline__ GpumeU32 reciprocal(const MvdeintCudaCombineArgs &args, GpumeU32 weights)
{
    return ((const GpumeU16 *)args.table)[MVDEINT_CUDA_RECIPROCALS + weights];
}

/** Measures a candidate on the lines above and below. */
static __device__ __forceinline__ GpumeU32 measure_error(const MvdeintCudaCombineArgs &args, const MvdeintWindow &w,
                                                         int n, int column, int above, int below)
{
    const int fraction = mvdeint_fraction(args.depth);
    GpumeU32 sum = 0, weights = 0;

    GPUME_UNROLL for (int i = 0; i < 2; i++)
        GPUME_UNROLL for (int j = -2; j <= 2; j++) {
            const int line = i ? below : above, x = column + j, weight = w.real[n][line][x] + MVDEINT_LEAST_REAL;
            const int off  = mvdeint_scaled(FFABS((w.own[line][x] << fraction) - w.samples[n][line][x]),
                                            args.depth + fraction);

            sum     += weight * off * off;
            weights += weight;
        }
    return mvdeint_mean(sum, reciprocal(args, weights));
}

/** Measures the difference between a candidate and the next candidate on three missing lines. */
static __device__ __forceinline__ GpumeU32 measure_pair(const MvdeintCudaCombineArgs &args, const MvdeintWindow &w,
                                                        int n, int column, const int *lines)
{
    GpumeU32 sum = 0, weights = 0;

    GPUME_UNROLL for (int i = 0; i < 3; i++)
        GPUME_UNROLL for (int j = -2; j <= 2; j++) {
            const int line = lines[i], x = column + j;
            const int weight = gpume_min(w.real[n][line][x], w.real[n + 1][line][x]) + MVDEINT_LEAST_REAL;
            const int off    = mvdeint_scaled(FFABS(w.samples[n][line][x] - w.samples[n + 1][line][x]),
                                              args.depth + mvdeint_fraction(args.depth));

            sum     += weight * off * off;
            weights += weight;
        }
    return mvdeint_mean(sum, reciprocal(args, weights)) >> 1;
}

/** Returns whether a sample and enough of its neighbours in the row do not change. */
static __device__ __forceinline__ int is_still(const MvdeintCudaCombineArgs &args, const MvdeintCudaComponent &c, int x,
                                               int y)
{
    const MvdeintSample *still = mvdeint_at(args.intra, c, 0, y ^ 1);
    int first = x, end = x + 1;

    if (!still[x])
        return 0;
    GPUME_NO_UNROLL while (first > 0 && first > x - MVDEINT_STILL && still[first - 1])
        first--;
    GPUME_NO_UNROLL while (end < c.w && end < x + MVDEINT_STILL && still[end])
        end++;
    return end - first >= MVDEINT_STILL;
}

/**
 * Returns a bit mask of the candidates that match at a sample; 0: too few match, and the sample is
 * that of the first estimate.
 */
static __device__ __forceinline__ GpumeU32 find_matching(const MvdeintCudaCombineArgs &args,
                                                         const MvdeintCudaComponent &c, int x, int y)
{
    const int column = ((x << c.hsub) + MVDEINT_BLOCK / 2) / MVDEINT_BLOCK;
    const int row    = ((y << c.vsub) + MVDEINT_BLOCK / 2) / MVDEINT_BLOCK;
    const GpumeU32 bits = ((const GpumeU8 *)args.matching)[row * args.area_cols + column];
    const int is_alone  = 2 * *(const GpumeU32 *)args.lonely > (GpumeU32)(args.area_cols * args.area_rows);

    return gpume_popcount(bits) < mvdeint_least_matches(is_alone, gpume_popcount(args.present)) ? 0 : bits;
}

/** Computes a missing sample. */
static __device__ __forceinline__ int make(const MvdeintCudaCombineArgs &args, const MvdeintCudaComponent &c,
                                           const MvdeintWindow &w, int column, int x, int y, int y0)
{
    const GpumeU16 *table = (const GpumeU16 *)args.table;
    const MvdeintTables tables = { table + MVDEINT_CUDA_POWER, table + MVDEINT_CUDA_INVERSE };
    const int above = mvdeint_above(y), below = mvdeint_below(y, c.h);
    const int lines[3] = { mvdeint_two_above(y, y) - y0, y - y0, mvdeint_two_below(y, c.h, y) - y0 };
    const GpumeU32 matching = args.present ? find_matching(args, c, x, y) : 0;
    MvdeintKnown k;

    if ((args.present && !matching) || is_still(args, c, x, y))
        return *mvdeint_at(args.first, c, x, y);
    k.around  = measure_own(args, w, column, y0, above, below, c.h);
    k.present = args.present;
    k.nb      = gpume_popcount(args.present);
    k.first   = *mvdeint_at(args.first, c, x, y);
    k.intra   = *mvdeint_at(args.intra, c, x, y);
    GPUME_UNROLL for (int n = 0; n < MVDEINT_MAX_CANDIDATES; n++) {
        k.samples[n] = k.real[n] = 0;
        k.errors[n]  = k.pairs[n] = 0;
        if (args.present >> n & 1) {
            k.samples[n] = w.samples[n][y - y0][column];
            k.real[n]    = w.real[n][y - y0][column];
            k.errors[n]  = measure_error(args, w, n, column, above - y0, below - y0);
            if (!(matching >> n & 1))
                k.errors[n] = k.errors[n] > MVDEINT_NO_MATCH ? k.errors[n] : MVDEINT_NO_MATCH;
            k.pairs[n] = MVDEINT_NO_PARTNER * k.errors[n];
        }
    }
    GPUME_UNROLL for (int n = 0; n < MVDEINT_MAX_CANDIDATES; n += 2)
        if ((args.present >> n & 3) == 3)
            k.pairs[n] = k.pairs[n + 1] = measure_pair(args, w, n, column, lines);
    return mvdeint_combine(&args.model, &tables, &k, args.depth);
}

/** Stores a sample, in a picture or in a frame. */
static __device__ __forceinline__ void store(const MvdeintCudaCombineArgs &args, const MvdeintCudaComponent &c,
                                             int component, int x, int y, int v)
{
    GpumeCudaComponent p = args.planes[0];

    if (args.out) {
        *mvdeint_at(args.out, c, x, y) = (MvdeintSample)v;
        return;
    }
    GPUME_UNROLL for (int i = 1; i < GPUME_CUDA_COMPONENTS; i++) {
        p.plane     = component == i ? args.planes[i].plane     : p.plane;
        p.linesize  = component == i ? args.planes[i].linesize  : p.linesize;
        p.offset    = component == i ? args.planes[i].offset    : p.offset;
        p.log2_step = component == i ? args.planes[i].log2_step : p.log2_step;
    }
    *(MvdeintSample *)(p.plane + p.linesize * y + ((x << p.log2_step) + p.offset) * MVDEINT_BYTES) =
        (MvdeintSample)(v << args.shift);
}

/**
 * grid:   columns of samples, MVDEINT_CUDA_LINES lines, components
 * block:  MVDEINT_CUDA_THREADS
 * shared: MVDEINT_CUDA_WINDOW_SHARED
 */
GPUME_KERNEL_OF(MvdeintCudaCombineArgs, MVDEINT_CUDA_THREADS)
{
    GPUME_SHARED(MvdeintWindow, shared);
    MvdeintWindow &w = *shared;
    const MvdeintCudaComponent c = mvdeint_component(args.components, blockIdx.z);
    const int first_x = blockIdx.x * 32, first_y = blockIdx.y * MVDEINT_CUDA_LINES;
    const int x0 = first_x - MVDEINT_CUDA_COLUMNS_AROUND, y0 = first_y - MVDEINT_CUDA_LINES_AROUND;
    const int lane = threadIdx.x % 32, x = first_x + lane, column = lane + MVDEINT_CUDA_COLUMNS_AROUND;
    const int known = first_y + 2 * (threadIdx.x / 32) + args.parity, missing = known ^ 1;

    if (first_x >= c.w || first_y >= c.h)
        return;
    load(args, c, w, x0, y0);
    __syncthreads();
    add_residual(args, c, w, y0);
    __syncthreads();
    if (x >= c.w)
        return;
    if (known < c.h)
        store(args, c, blockIdx.z, x, known, w.own[known - y0][column]);
    if (missing < c.h)
        store(args, c, blockIdx.z, x, missing,
              args.copies ? w.own[missing - y0][column] : make(args, c, w, column, x, missing, y0));
}
