/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Compensates the pictures around a field along its vectors. A warp computes neighbouring areas of
 * luma, or of both components of chroma, from one picture. An area lies between the centres of four
 * blocks, and is computed once for each different vector of these. A lane has two of its columns,
 * two samples apart: for samples of bytes it filters both at once, in the halves of a word.
 *
 * Data flow, all in registers:
 * - a lane loads the samples that the taps need line by line, and filters them across
 * - filters six of these lines down, and adds the result to the weighted sums of its columns
 * - decides with the other lanes of an area of luma whether the picture fits there
 * - stores its columns
 */

#include "libavfilter/gpume/field/cells.cuh"
#include "libavfilter/gpume/mvdeint/device.cuh"

/** Number of columns of a lane. */
#define COLUMNS   2
/** Number of lines of the smaller areas. */
#define FEW_LINES 4
/** Keeps both sums in the halves of a word from becoming negative. */
#define BIAS      (MVDEINT_BYTES == 1 ? 1 << 13 : 0)

/** The six taps of a position between samples. */
struct Taps {
    int t[6];
};

/** Returns the six taps, a byte each, at a position in eighths of a sample. */
static __device__ __forceinline__ GpumeU64 bytes_of_taps(int eighths)
{
    return eighths == 0 ? 0x000000400000ull : eighths == 1 ? 0x00fe0a3afe00ull : eighths == 2 ? 0x01fb1434fb01ull :
           eighths == 3 ? 0x02f81e2ef901ull : eighths == 4 ? 0x02f62828f602ull : eighths == 5 ? 0x01f92e1ef802ull :
           eighths == 6 ? 0x01fb3414fb01ull : 0x00fe3a0afe00ull;
}

static __device__ __forceinline__ Taps taps_at(const GpumeU64 *all, int eighths)
{
    const GpumeU64 bytes = all[eighths & 7];
    Taps taps;

    GPUME_UNROLL for (int i = 0; i < 6; i++)
        taps.t[i] = (signed char)(GpumeU8)(bytes >> 8 * i);
    return taps;
}

/** Returns the weight, in 1/64, of the later of two blocks. */
static __device__ __forceinline__ int window(int sub, int i)
{
    const GpumeU64 w = sub == 0 ? 0x3f3b32261a0e0501ull : sub == 1 ? 0x3e2c1402ull : 0x3709ull;

    return (int)(w >> 8 * i & 255);
}

/** The columns of a lane. */
struct Columns {
    int x, y;                   ///< the first sample; the other column is two samples to the right
    int w, h;                   ///< size of the area that they are in, which can be smaller than the columns
    int first;                  ///< number of the first column in this area
};

/**
 * Filters a line across.
 * @param p    the first sample that the taps need for the first column
 * @param sums sums of both columns plus BIAS
 */
static __device__ __forceinline__ void filter_across(GpumeU64 p, const Taps &taps, int *sums)
{
    if (MVDEINT_BYTES == 1) {
        const int shift = 8 * (int)(p & 3);
        GpumeU32 w[3], pairs[6], both = BIAS | BIAS << 16;

        /* eight samples are in three words if they are not aligned, else in two */
        gpume_load_global(&w[0], (const void *)(p & ~3ull));
        gpume_load_global(&w[1], (const void *)((p & ~3ull) + 4));
        gpume_load_global(&w[2], (const void *)((p + 7) & ~3ull));
        w[0] = gpume_funnel_shift(w[0], w[1], shift);
        w[1] = gpume_funnel_shift(w[1], w[2], shift);
        pairs[0] = w[0] & 0xff00ff;
        pairs[1] = w[0] >> 8 & 0xff00ff;
        pairs[4] = w[1] & 0xff00ff;
        pairs[5] = w[1] >> 8 & 0xff00ff;
        pairs[2] = gpume_funnel_shift(pairs[0], pairs[4], 16);
        pairs[3] = gpume_funnel_shift(pairs[1], pairs[5], 16);
        GPUME_UNROLL for (int i = 0; i < 6; i++)
            both += (GpumeU32)taps.t[i] * pairs[i];
        sums[0] = (int)(both & 0xffff);
        sums[1] = (int)(both >> 16);
    } else {
        const MvdeintSample *samples = (const MvdeintSample *)p;

        GPUME_UNROLL for (int i = 0; i < COLUMNS; i++) {
            sums[i] = 0;
            GPUME_UNROLL for (int k = 0; k < 6; k++)
                sums[i] += taps.t[k] * samples[k + 2 * i];
        }
    }
}

/**
 * Adds the samples that a vector leads to.
 * @param same bit mask of the blocks that have this vector
 */
static __device__ __forceinline__ void add_vector(const MvdeintCudaMatchArgs &args, const GpumeU64 *all_taps,
                                                  const MvdeintCudaComponent &c, const Columns &at, GpumeU64 picture,
                                                  int ex, int ey, GpumeU32 same, GpumeU32 (*sums)[COLUMNS])
{
    const int depth = mvdeint_depth(args), fraction = mvdeint_fraction(depth), shift = 12 - fraction;
    const int most = ((1 << depth) - 1) << fraction, rounding = (1 << shift >> 1) - 64 * BIAS;
    const Taps across = taps_at(all_taps, ex), down = taps_at(all_taps, ey);
    const int x0 = at.x - at.first, y0 = at.y;
    GpumeU64 p = (GpumeU64)mvdeint_at(picture, c, gpume_inside(x0 + (ex >> 3), c.w) + at.first - 2,
                                      gpume_inside(y0 + (ey >> 3), c.h) - 2);
    int lines[6][COLUMNS], above[COLUMNS], below[COLUMNS];

    GPUME_UNROLL for (int i = 0; i < COLUMNS; i++) {
        const int later = window(c.hsub, at.first + 2 * i);

        above[i] = (same & 1 ? 64 - later : 0) + (same & 2 ? later : 0);
        below[i] = (same & 4 ? 64 - later : 0) + (same & 8 ? later : 0);
    }
    GPUME_UNROLL for (int y = -5; y < MVDEINT_BLOCK; y++) {
        if (y == FEW_LINES && at.h <= FEW_LINES)
            break;
        GPUME_UNROLL for (int k = 0; k < 5; k++)
            GPUME_UNROLL for (int i = 0; i < COLUMNS; i++)
                lines[k][i] = lines[k + 1][i];
        filter_across(p, across, lines[5]);
        p += c.stride;
        if (y < 0)
            continue;
        GPUME_UNROLL for (int i = 0; i < COLUMNS; i++) {
            int sum = rounding;

            GPUME_UNROLL for (int k = 0; k < 6; k++)
                sum += down.t[k] * lines[k][i];
            sums[y][i] += (GpumeU32)((64 * above[i] + window(c.vsub, y) * (below[i] - above[i])) *
                                     av_clip(sum >> shift, 0, most));
        }
    }
}

/** Returns the address of a candidate's picture, or 0. Sets its field and the parity of its lines. */
static __device__ __forceinline__ GpumeU64 candidate_of(const MvdeintCudaMatchArgs &args, int n, GpumeCellSource *field,
                                                        int *parity)
{
    GpumeU64 picture = args.pictures[0];

    *field  = args.fields[0];
    *parity = args.parities[0];
    GPUME_UNROLL for (int i = 1; i < MVDEINT_MAX_CANDIDATES; i++) {
        picture           = n == i ? args.pictures[i] : picture;
        *parity           = n == i ? args.parities[i] : *parity;
        field->mvs        = n == i ? args.fields[i].mvs        : field->mvs;
        field->map        = n == i ? args.fields[i].map        : field->map;
        field->log2_block = n == i ? args.fields[i].log2_block : field->log2_block;
        field->bw         = n == i ? args.fields[i].bw         : field->bw;
    }
    return picture;
}

/**
 * Computes the shares of known lines.
 * @param vectors those of the four blocks
 */
static __device__ __forceinline__ void find_known(const MvdeintCudaComponent &c, const Columns &at, int parity,
                                                  const GpumeU32 *vectors, int (*shares)[COLUMNS])
{
    /* lines 0, 2, ... have equal shares before weighting, and so have lines 1, 3, ... */
    GPUME_UNROLL for (int odd = 0; odd < 2; odd++) {
        int known[4];

        GPUME_UNROLL for (int j = 0; j < 4; j++)
            known[j] = mvdeint_known(mvdeint_eighths((short)(vectors[j] >> 16), c.vsub), at.y + odd, parity);
        GPUME_UNROLL for (int i = 0; i < COLUMNS; i++) {
            const int later = window(c.hsub, at.first + 2 * i);
            const int above = (64 - later) * known[0] + later * known[1];
            const int below = (64 - later) * known[2] + later * known[3];

            GPUME_UNROLL for (int y = odd; y < MVDEINT_BLOCK; y += 2)
                shares[y][i] = (64 * above + window(c.vsub, y) * (below - above) + 2048) >> 12;
        }
    }
}

/**
 * Decides whether a candidate fits the field in an area of luma. All lanes of the warp call this.
 * @param votes the area's vote; 0: none is stored
 */
static __device__ __forceinline__ void vote(const MvdeintCudaMatchArgs &args, const Columns &at,
                                            const GpumeU32 (*samples)[COLUMNS], int lane, signed char *votes)
{
    const MvdeintCudaComponent c = args.components.c[0];
    const int depth = mvdeint_depth(args), fraction = mvdeint_fraction(depth), first = at.y + args.parity;
    int error = 0, activity = 0, nb = 0;

    GPUME_UNROLL for (int i = 0; i < COLUMNS; i++) {
        const int x = at.x + 2 * i, is_inside = x >= 0 && x < c.w;
        GpumeU32 lines[MVDEINT_BLOCK / 2 + 2];

        GPUME_UNROLL for (int k = 0; k < MVDEINT_BLOCK / 2 + 2; k++)
            lines[k] = *mvdeint_at(args.own, c, gpume_min(x, c.w), gpume_inside(first + 2 * k - 2, c.h));
        GPUME_UNROLL for (int k = 1; k <= MVDEINT_BLOCK / 2; k++) {
            const int y = first + 2 * k - 2;
            const GpumeU32 up   = gpume_select(y >= 2, lines[k - 1], lines[k + 1]);
            const GpumeU32 down = gpume_select(y + 2 < c.h, lines[k + 1], lines[k - 1]);
            const GpumeU32 sample = gpume_select(args.parity, samples[2 * k - 1][i], samples[2 * k - 2][i]);

            if (!is_inside || y < 0 || y >= c.h)
                continue;
            error    += FFABS((int)((lines[k] << fraction) - sample));
            activity += FFABS((int)(2 * lines[k] - up - down));
            nb++;
        }
    }
    GPUME_UNROLL for (int bit = 1; bit < MVDEINT_CUDA_MATCH_LANES; bit <<= 1) {
        error    += (int)__shfl_xor_sync(GPUME_WHOLE_WARP, (GpumeU32)error, bit);
        activity += (int)__shfl_xor_sync(GPUME_WHOLE_WARP, (GpumeU32)activity, bit);
        nb       += (int)__shfl_xor_sync(GPUME_WHOLE_WARP, (GpumeU32)nb, bit);
    }
    if (votes && lane % MVDEINT_CUDA_MATCH_LANES == 0)
        *votes = (signed char)mvdeint_vote(error, activity, nb, depth);
}

/** Stores the samples that are in the area and in the picture. */
static __device__ __forceinline__ void store(const MvdeintCudaMatchArgs &args, const MvdeintCudaComponent &c,
                                             const Columns &at, int candidate, const GpumeU32 (*samples)[COLUMNS],
                                             const int (*shares)[COLUMNS])
{
    GPUME_UNROLL for (int i = 0; i < COLUMNS; i++) {
        const int x = at.x + 2 * i;

        if (x < 0 || x >= c.w || at.first + 2 * i >= at.w)
            continue;
        GPUME_UNROLL for (int y = 0; y < MVDEINT_BLOCK; y++) {
            const GpumeU64 to = (GpumeU64)candidate * args.size + c.match + (GpumeU64)(at.y + y) * c.w + x;

            if (y < at.h && at.y + y >= 0 && at.y + y < c.h) {
                ((GpumeU16 *)args.samples)[to] = (GpumeU16)samples[y][i];
                ((GpumeU8 *)args.known)[to]    = (GpumeU8)shares[y][i];
            }
        }
    }
}

/**
 * Loads the vectors of the four blocks around an area. All lanes of the area get the same vectors.
 * @param lane the lane's number in the area, which has at least four
 */
static __device__ __forceinline__ void load_vectors(const MvdeintCudaMatchArgs &args, const GpumeCellSource &field,
                                                    int tx, int ty, int lane, GpumeU32 *vectors)
{
    const int x = av_clip(tx - 1 + (lane & 1), 0, args.cells.cols - 1);
    const int y = av_clip(ty - 1 + (lane >> 1 & 1), 0, args.cells.rows - 1);
    const GpumeCellVector cell = gpume_take_cell(args.cells, field, x, y);
    const GpumeU32 own = ((GpumeU32)cell.x & 0xffff) | (GpumeU32)cell.y << 16;

    GPUME_UNROLL for (int j = 0; j < 4; j++)
        vectors[j] = __shfl_sync(GPUME_WHOLE_WARP, own, threadIdx.x % 32 - lane + j);
}

/**
 * grid:   areas of a row; rows; candidates of luma, of chroma, of alpha
 * block:  MVDEINT_CUDA_THREADS
 * shared: MVDEINT_CUDA_MATCH_SHARED
 */
GPUME_KERNEL_OF(MvdeintCudaMatchArgs, MVDEINT_CUDA_THREADS)
{
    GPUME_SHARED(GpumeU64, taps);
    const int candidate = blockIdx.z % MVDEINT_MAX_CANDIDATES, group = blockIdx.z / MVDEINT_MAX_CANDIDATES;
    const int component = group == 2 ? 3 : group, nb = group == 1 && args.components.nb > 2 ? 2 : 1;
    /* number of lanes of an area in one component, and in all components of the group */
    const int log2_part = mvdeint_component(args.components, component).hsub ? 1 : 2;
    const int log2_lanes = log2_part + nb - 1;
    const int lane = threadIdx.x & ((1 << log2_lanes) - 1), number = lane & ((1 << log2_part) - 1);
    const int area = (blockIdx.x * MVDEINT_CUDA_THREADS + threadIdx.x) >> log2_lanes, ty = blockIdx.y;
    const int tx = gpume_min(area, args.cells.cols), is_used = area <= args.cells.cols;
    const MvdeintCudaComponent c = mvdeint_component(args.components, component + (lane >> log2_part));
    GpumeU32 sums[MVDEINT_BLOCK][COLUMNS] = { { 0 } }, vectors[4], left = 15;
    int shares[MVDEINT_BLOCK][COLUMNS], parity;
    GpumeCellSource field;
    const GpumeU64 picture = candidate_of(args, candidate, &field, &parity);
    Columns at;

    if (!threadIdx.x && !blockIdx.x && !blockIdx.y && !blockIdx.z)
        *(GpumeU32 *)args.nb_poor = 0;
    if (!picture)
        return;
    if (threadIdx.x < 8)
        taps[threadIdx.x] = bytes_of_taps(threadIdx.x);
    __syncthreads();
    at.w     = MVDEINT_BLOCK >> c.hsub;
    at.h     = MVDEINT_BLOCK >> c.vsub;
    at.first = (number >> 1) * 4 + (number & 1);
    at.x     = ((MVDEINT_BLOCK * tx - MVDEINT_BLOCK / 2) >> c.hsub) + at.first;
    at.y     = (MVDEINT_BLOCK * ty - MVDEINT_BLOCK / 2) >> c.vsub;
    load_vectors(args, field, tx, ty, lane, vectors);

    /* adds the samples of each different vector once */
    GPUME_NO_UNROLL while (left) {
        const GpumeU32 v = left & 1 ? vectors[0] : left & 2 ? vectors[1] : left & 4 ? vectors[2] : vectors[3];
        GpumeU32 same = 0;

        GPUME_UNROLL for (int j = 0; j < 4; j++)
            same |= (GpumeU32)(vectors[j] == v) << j;
        left &= ~same;
        add_vector(args, taps, c, at, picture, mvdeint_eighths((short)(GpumeU16)v, c.hsub),
                   mvdeint_eighths((short)(GpumeU16)(v >> 16), c.vsub), same, sums);
    }
    GPUME_UNROLL for (int y = 0; y < MVDEINT_BLOCK; y++)
        GPUME_UNROLL for (int i = 0; i < COLUMNS; i++)
            sums[y][i] = (sums[y][i] + 2048) >> 12;
    if (!group)
        vote(args, at, sums, lane, is_used ? (signed char *)args.votes +
             (candidate * (args.cells.rows + 1) + ty) * (args.cells.cols + 1) + tx : 0);
    find_known(c, at, parity, vectors, shares);
    if (is_used)
        store(args, c, at, candidate, sums, shares);
}
