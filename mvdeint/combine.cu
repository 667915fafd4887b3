/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Makes a picture from the lines of a field, compensated pictures, and the interpolation within the
 * field. A warp handles 32 columns of a known line and of the missing line next to it.
 *
 * Data flow:
 * - loads lines of the field, compensated samples and their confidence, with their neighbours, from
 *   global to shared memory
 * - adds the residual to the compensated samples of missing lines in shared memory
 * - measures each column of the neighbourhoods of missing lines, into shared memory
 * - each lane adds the columns around its missing sample, and computes the sample
 */

#include "libavfilter/gpume/mvdeint/device.cuh"
#include "libavfilter/gpume/picture/component.cuh"

#define LINES   MVDEINT_CUDA_WINDOW_LINES
#define COLUMNS MVDEINT_CUDA_WINDOW_COLUMNS

/** Shared memory of a thread block; begins at line y0 and column x0. */
struct MvdeintWindow {
    /* Each column of each missing line has sums of weighted squares, plus sums of weights << 32, in errors, and
       a sum of squares in activity. */
    GpumeU64 errors[MVDEINT_MAX_CANDIDATES][MVDEINT_CUDA_WARPS][COLUMNS];
    GpumeU32 activity[MVDEINT_CUDA_WARPS][COLUMNS];
    GpumeU16 own[LINES][COLUMNS];
    GpumeU16 samples[MVDEINT_MAX_CANDIDATES][LINES][COLUMNS];
    GpumeU8 known[MVDEINT_MAX_CANDIDATES][LINES][COLUMNS];
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
                w.known[n][line][column]   = ((const GpumeU8 *)args.known)[at];
            }
        }
    }
}

/** Adds the residual to the missing lines that are measured. */
static __device__ __forceinline__ void add_residual(const MvdeintCudaCombineArgs &args, const MvdeintCudaComponent &c,
                                                    MvdeintWindow &w, int y0)
{
    const int fraction = mvdeint_fraction(mvdeint_depth(args)), most = ((1 << mvdeint_depth(args)) - 1) << fraction;
    const int first = 1 + !args.parity;     // y0 is odd

    GPUME_NO_UNROLL for (int i = threadIdx.x; i < (LINES - 2) / 2 * COLUMNS; i += MVDEINT_CUDA_THREADS) {
        const int line = first + 2 * (i / COLUMNS), column = i % COLUMNS, y = y0 + line;

        if (y < 0 || y >= c.h)
            continue;
        const int above = mvdeint_above(y) - y0, below = mvdeint_below(y, c.h) - y0;

        GPUME_UNROLL for (int n = 0; n < MVDEINT_MAX_CANDIDATES; n++)
            if (args.present >> n & 1)
                w.samples[n][line][column] = (GpumeU16)av_clip(w.samples[n][line][column] +
                    mvdeint_residual((w.own[above][column] << fraction) - w.samples[n][above][column],
                                     (w.own[below][column] << fraction) - w.samples[n][below][column]), 0, most);
    }
}

/** Returns the sum of squares of a column of the field's own lines. Lines and columns are those of the window. */
static __device__ __forceinline__ GpumeU32 measure_own(const MvdeintCudaCombineArgs &args, const MvdeintWindow &w,
                                                       int column, int y0, int missing, int h)
{
    GpumeU32 sum = 0;

    GPUME_UNROLL for (int i = 0; i < 2; i++) {
        const int y  = i ? mvdeint_below(missing, h) : mvdeint_above(missing);
        const int up = mvdeint_two_above(y, y + 2) - y0, down = mvdeint_two_below(y, h, y - 2) - y0;
        const int deviation  = 2 * w.own[y - y0][column] - w.own[up][column] - w.own[down][column];
        const int difference = mvdeint_scaled(FFABS(deviation), mvdeint_depth(args) + 1);

        sum += difference * difference;
    }
    return sum;
}

/** Measures a column of a candidate on the lines above and below a missing line. */
static __device__ __forceinline__ GpumeU64 measure_error(const MvdeintCudaCombineArgs &args, const MvdeintWindow &w,
                                                         int n, int column, int y0, int missing, int h)
{
    const int fraction = mvdeint_fraction(mvdeint_depth(args));
    GpumeU32 sum = 0, weights = 0;

    GPUME_UNROLL for (int i = 0; i < 2; i++) {
        const int line = (i ? mvdeint_below(missing, h) : mvdeint_above(missing)) - y0;
        const int weight = w.known[n][line][column] + MVDEINT_LEAST_KNOWN;
        const int difference = mvdeint_scaled(FFABS((w.own[line][column] << fraction) - w.samples[n][line][column]),
                                              mvdeint_depth(args) + fraction);

        sum     += weight * difference * difference;
        weights += weight;
    }
    return sum | (GpumeU64)weights << 32;
}

/** Measures all columns around the missing lines of a thread block. A warp computes one measure at a time. */
static __device__ __forceinline__ void measure(const MvdeintCudaCombineArgs &args, MvdeintWindow &w, int first_y,
                                               int y0, int h)
{
    const int per_measure = MVDEINT_CUDA_WARPS * COLUMNS, nb = MVDEINT_MAX_CANDIDATES + 1;

    GPUME_NO_UNROLL for (int i = threadIdx.x; i < nb * per_measure; i += MVDEINT_CUDA_THREADS) {
        const int n = i / per_measure, line = i % per_measure / COLUMNS, column = i % COLUMNS;
        const int missing = first_y + 2 * line + !args.parity;

        if (missing >= h)
            continue;
        if (n == nb - 1)
            w.activity[line][column] = measure_own(args, w, column, y0, missing, h);
        else if (args.present >> n & 1)
            w.errors[n][line][column] = measure_error(args, w, n, column, y0, missing, h);
    }
}

/** Returns the weighted mean of five columns, of which p is the middle one. */
static __device__ __forceinline__ GpumeU32 mean(const MvdeintCudaCombineArgs &args, const GpumeU64 *p)
{
    const GpumeU64 sum = p[-2] + p[-1] + p[0] + p[1] + p[2];

    return mvdeint_mean((GpumeU32)sum, ((const GpumeU16 *)args.table)[MVDEINT_CUDA_RECIPROCALS + (sum >> 32)]);
}

/** Returns whether a sample and enough of its neighbours in the row do not change. */
static __device__ __forceinline__ int is_still(const MvdeintCudaCombineArgs &args, const MvdeintCudaComponent &c, int x,
                                               int y)
{
    const MvdeintSample *reach = mvdeint_at(args.intra, c, 0, y ^ 1);
    int first = x, end = x + 1;

    if (reach[x])
        return 0;
    GPUME_NO_UNROLL while (first > 0 && first > x - MVDEINT_STILL && !reach[first - 1])
        first--;
    GPUME_NO_UNROLL while (end < c.w && end < x + MVDEINT_STILL && !reach[end])
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
    const int is_poor   = 2 * *(const GpumeU32 *)args.nb_poor > (GpumeU32)(args.area_cols * args.area_rows);

    return gpume_popcount(bits) < mvdeint_least_matches(is_poor, gpume_popcount(args.present)) ? 0 : bits;
}

/** Computes a missing sample. */
static __device__ __forceinline__ int make(const MvdeintCudaCombineArgs &args, const MvdeintCudaComponent &c,
                                           const MvdeintWindow &w, int column, int x, int y, int y0)
{
    const GpumeU16 *table = (const GpumeU16 *)args.table;
    const MvdeintTables tables = { table + MVDEINT_CUDA_POWER, table + MVDEINT_CUDA_INVERSE };
    const int line = threadIdx.x / 32;
    const GpumeU32 *activity = &w.activity[line][column];
    const GpumeU32 matching = args.present ? find_matching(args, c, x, y) : 0;
    MvdeintKnown k;
    int step, reach = 0;

    GPUME_UNROLL for (int i = -1; i <= 1; i++)
        reach = gpume_max(reach, *mvdeint_at(args.intra, c, av_clip(x + i, 0, c.w - 1), y ^ 1));
    if ((args.present && !matching) || !reach || is_still(args, c, x, y))
        return *mvdeint_at(args.first, c, x, y);
    step = mvdeint_scaled(FFABS(w.own[mvdeint_above(y) - y0][column] - w.own[mvdeint_below(y, c.h) - y0][column]),
                          mvdeint_depth(args));
    k.around.activity = mvdeint_sixth(activity[-1] + activity[0] + activity[1]);
    k.around.step     = step * step;
    k.present = args.present;
    k.nb      = gpume_popcount(args.present);
    k.first   = *mvdeint_at(args.first, c, x, y);
    k.intra   = *mvdeint_at(args.intra, c, x, y);
    GPUME_UNROLL for (int n = 0; n < MVDEINT_MAX_CANDIDATES; n++) {
        k.samples[n] = k.known[n] = k.errors[n] = 0;
        if (args.present >> n & 1) {
            k.samples[n] = w.samples[n][y - y0][column];
            k.known[n]   = w.known[n][y - y0][column];
            k.errors[n]  = mean(args, &w.errors[n][line][column]);
            if (!(matching >> n & 1))
                k.errors[n] = k.errors[n] > MVDEINT_NO_MATCH ? k.errors[n] : MVDEINT_NO_MATCH;
        }
    }
    GPUME_UNROLL for (int n = 0; n < 2; n++)
        if ((args.present >> n & 5) == 5)
            k.errors[n] = gpume_min(k.errors[n], k.errors[n + 2]);
    return mvdeint_limit(mvdeint_combine(&args.model, &tables, &k, mvdeint_depth(args)), k.first, reach,
                         (args.present & 3) == 3 ? FFABS(k.samples[0] - k.samples[1]) : 0, mvdeint_depth(args));
}

/** Stores a sample, in a picture or in a frame. */
static __device__ __forceinline__ void store(const MvdeintCudaCombineArgs &args, const MvdeintCudaComponent &c,
                                             int component, int x, int y, int v)
{
    const GpumeCudaComponent p = gpume_component(args.planes, component);

    if (args.out) {
        *mvdeint_at(args.out, c, x, y) = (MvdeintSample)v;
        return;
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
    if (!args.copies)
        measure(args, w, first_y, y0, c.h);
    __syncthreads();
    if (x >= c.w)
        return;
    if (known < c.h)
        store(args, c, blockIdx.z, x, known, w.own[known - y0][column]);
    if (missing < c.h)
        store(args, c, blockIdx.z, x, missing,
              args.copies ? w.own[missing - y0][column] : make(args, c, w, column, x, missing, y0));
}
