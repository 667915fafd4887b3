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
 * - each lane loads what is on the lines above and below its missing sample, corrects the compensated samples there,
 *   and measures its column of the neighbourhood, into shared memory; one warp also measures the columns at both sides
 * - each lane adds the columns around its missing sample, and computes the sample
 */

#include "libavfilter/gpume/mvdeint/device.cuh"
#include "libavfilter/gpume/picture/component.cuh"

#define AROUND  MVDEINT_CUDA_COLUMNS_AROUND
#define COLUMNS MVDEINT_CUDA_MEASURED_COLUMNS

static_assert(2 * AROUND * MVDEINT_CUDA_WARPS == 32, "one warp measures the columns at both sides");

/**
 * Measures of each column of each missing line, in shared memory: for candidates a sum of weighted squares, plus the
 * sum of weights << 32; for the field a sum of squares.
 */
struct MvdeintMeasures {
    GpumeU64 errors[MVDEINT_MAX_CANDIDATES][MVDEINT_CUDA_WARPS][COLUMNS];
    GpumeU32 activity[MVDEINT_CUDA_WARPS][COLUMNS];
};

/** Returns the compensated sample number i of a candidate; 0: there is no such candidate. */
static __device__ __forceinline__ int sample_of(const MvdeintCudaCombineArgs &args, int n, GpumeU32 i)
{
    return args.present >> n & 1 ? ((const GpumeU16 *)(args.samples + 2 * n * (GpumeU64)args.size))[i] : 0;
}

/** Returns the share of known lines in that sample. */
static __device__ __forceinline__ int known_of(const MvdeintCudaCombineArgs &args, int n, GpumeU32 i)
{
    return args.present >> n & 1 ? ((const GpumeU8 *)(args.known + n * (GpumeU64)args.size))[i] : 0;
}

/** A column on the lines above and below a missing sample. */
struct Column {
    int own[2], far[2];         ///< samples of the field there, and on its next lines further away
    int samples[MVDEINT_MAX_CANDIDATES][2], known[MVDEINT_MAX_CANDIDATES][2];
    int is_edge;                ///< whether both lines are the same
};

/** Loads a column. All loads come first, so that their latency overlaps. */
static __device__ __forceinline__ Column load(const MvdeintCudaCombineArgs &args, const MvdeintCudaComponent &c, int x,
                                              int y)
{
    const int lines[2] = { mvdeint_above(y), mvdeint_below(y, c.h) };
    Column v;

    v.is_edge = lines[0] == lines[1];
    v.far[0]  = *mvdeint_at(args.own, c, x, mvdeint_two_above(lines[0], lines[0] + 2));
    v.far[1]  = *mvdeint_at(args.own, c, x, mvdeint_two_below(lines[1], c.h, lines[1] - 2));
    GPUME_UNROLL for (int i = 0; i < 2; i++) {
        const GpumeU32 number = c.match + (GpumeU32)(lines[i] * c.w + x);

        v.own[i] = *mvdeint_at(args.own, c, x, lines[i]);
        GPUME_UNROLL for (int n = 0; n < MVDEINT_MAX_CANDIDATES; n++) {
            v.samples[n][i] = sample_of(args, n, number);
            v.known[n][i]   = known_of(args, n, number);
        }
    }
    return v;
}

/**
 * Measures a column.
 * @param line, column position in shared memory
 * @param residuals    set to what is added to the compensated samples of the missing sample
 */
static __device__ __forceinline__ void measure(const MvdeintCudaCombineArgs &args, const Column &v, MvdeintMeasures &m,
                                               int line, int column, int *residuals)
{
    const int depth = mvdeint_depth(args), fraction = mvdeint_fraction(depth);
    GpumeU32 activity = 0;

    GPUME_UNROLL for (int i = 0; i < 2; i++) {
        const int deviation  = 2 * v.own[i] - v.far[i] - (v.is_edge ? v.far[i] : v.own[!i]);
        const int difference = mvdeint_scaled(FFABS(deviation), depth + 1);

        activity += difference * difference;
    }
    m.activity[line][column] = activity;
    GPUME_UNROLL for (int n = 0; n < MVDEINT_MAX_CANDIDATES; n++) {
        GpumeU32 sum = 0, weights = 0;
        int differences[2];

        GPUME_UNROLL for (int i = 0; i < 2; i++) {
            const int weight = v.known[n][i] + MVDEINT_LEAST_KNOWN;
            int scaled;

            differences[i] = (v.own[i] << fraction) - v.samples[n][i];
            scaled   = mvdeint_scaled(FFABS(differences[i]), depth + fraction);
            sum     += weight * scaled * scaled;
            weights += weight;
        }
        m.errors[n][line][column] = sum | (GpumeU64)weights << 32;
        residuals[n] = mvdeint_residual(differences[0], differences[1]);
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

/** Loads the candidates' compensated samples at a missing sample, and corrects them. */
static __device__ __forceinline__ void load_candidates(const MvdeintCudaCombineArgs &args,
                                                       const MvdeintCudaComponent &c, int x, int y,
                                                       const int *residuals, MvdeintKnown *k)
{
    const int depth = mvdeint_depth(args), most = ((1 << depth) - 1) << mvdeint_fraction(depth);
    const GpumeU32 number = c.match + (GpumeU32)(y * c.w + x);

    GPUME_UNROLL for (int n = 0; n < MVDEINT_MAX_CANDIDATES; n++) {
        k->samples[n] = av_clip(sample_of(args, n, number) + residuals[n], 0, most);
        k->known[n]   = known_of(args, n, number);
    }
}

/**
 * Computes a missing sample.
 * @param k    has the candidates' samples and shares of known lines
 * @param step difference of the field's lines above and below
 */
static __device__ __forceinline__ int make(const MvdeintCudaCombineArgs &args, const MvdeintCudaComponent &c,
                                           const MvdeintMeasures &m, MvdeintKnown *k, int step, int x, int y)
{
    const GpumeU16 *table = (const GpumeU16 *)args.table;
    const MvdeintTables tables = { table + MVDEINT_CUDA_POWER, table + MVDEINT_CUDA_INVERSE };
    const int line = threadIdx.x / 32, column = threadIdx.x % 32 + AROUND;
    const GpumeU32 *activity = &m.activity[line][column];
    const GpumeU32 matching = args.present ? find_matching(args, c, x, y) : 0;
    int reach = 0;

    GPUME_UNROLL for (int i = -1; i <= 1; i++)
        reach = gpume_max(reach, *mvdeint_at(args.intra, c, av_clip(x + i, 0, c.w - 1), y ^ 1));
    k->first = *mvdeint_at(args.first, c, x, y);
    if ((args.present && !matching) || !reach || is_still(args, c, x, y))
        return k->first;
    step = mvdeint_scaled(FFABS(step), mvdeint_depth(args));
    k->around.activity = mvdeint_sixth(activity[-1] + activity[0] + activity[1]);
    k->around.step     = step * step;
    k->present = args.present;
    k->nb      = gpume_popcount(args.present);
    k->intra   = *mvdeint_at(args.intra, c, x, y);
    GPUME_UNROLL for (int n = 0; n < MVDEINT_MAX_CANDIDATES; n++) {
        k->errors[n] = 0;
        if (args.present >> n & 1) {
            k->errors[n] = mean(args, &m.errors[n][line][column]);
            if (!(matching >> n & 1))
                k->errors[n] = k->errors[n] > MVDEINT_NO_MATCH ? k->errors[n] : MVDEINT_NO_MATCH;
        }
    }
    GPUME_UNROLL for (int n = 0; n < 2; n++)
        if ((args.present >> n & 5) == 5)
            k->errors[n] = gpume_min(k->errors[n], k->errors[n + 2]);
    return mvdeint_limit(mvdeint_combine(&args.model, &tables, k, mvdeint_depth(args)), k->first, reach,
                         (args.present & 3) == 3 ? FFABS(k->samples[0] - k->samples[1]) : 0, mvdeint_depth(args));
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
 * shared: MVDEINT_CUDA_MEASURES_SHARED
 */
GPUME_KERNEL_OF(MvdeintCudaCombineArgs, MVDEINT_CUDA_THREADS, 5)
{
    GPUME_SHARED(MvdeintMeasures, measures);
    const MvdeintCudaComponent c = mvdeint_component(args.components, blockIdx.z);
    const int first_x = blockIdx.x * 32, first_y = blockIdx.y * MVDEINT_CUDA_LINES, last = c.w - 1;
    const int lane = threadIdx.x % 32, line = threadIdx.x / 32, x = gpume_min(first_x + lane, last);
    const int known = first_y + 2 * line + args.parity, missing = known ^ 1;
    MvdeintKnown k;
    int step = 0;

    if (first_x >= c.w || first_y >= c.h)
        return;
    if (!args.copies && missing < c.h) {
        const Column v = load(args, c, x, missing);
        int residuals[MVDEINT_MAX_CANDIDATES];

        measure(args, v, *measures, line, lane + AROUND, residuals);
        load_candidates(args, c, x, missing, residuals, &k);
        step = v.own[0] - v.own[1];
    }
    if (!args.copies && !line) {
        /* a lane for each column at the sides of each line */
        const int side_line = lane / (2 * AROUND), side = lane % (2 * AROUND);
        const int column = side < AROUND ? side : side + 32, y = first_y + 2 * side_line + !args.parity;
        int residuals[MVDEINT_MAX_CANDIDATES];

        if (y < c.h)
            measure(args, load(args, c, av_clip(first_x - AROUND + column, 0, last), y), *measures, side_line, column,
                    residuals);
    }
    __syncthreads();
    if (first_x + lane > last)
        return;
    if (known < c.h)
        store(args, c, blockIdx.z, x, known, *mvdeint_at(args.own, c, x, known));
    if (missing < c.h)
        store(args, c, blockIdx.z, x, missing, args.copies ? *mvdeint_at(args.own, c, x, missing) :
                                               make(args, c, *measures, &k, step, x, missing));
}
