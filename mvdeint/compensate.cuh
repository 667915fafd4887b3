/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Device code that compensates samples, common to two kernels. A lane has two columns, two samples apart: for samples
 * of bytes it filters both at once, in the halves of a word.
 */

#ifndef AVFILTER_GPUME_MVDEINT_COMPENSATE_CUH
#define AVFILTER_GPUME_MVDEINT_COMPENSATE_CUH

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
 * Compensates the samples of a lane along a vector, on LINES lines of an area that are STEP lines apart.
 * @tparam EXACT whether the vector leads to whole lines
 * @param first  the first line
 */
template<int LINES, int STEP, int EXACT>
static __device__ __forceinline__ void compensate(const MvdeintCudaMatchArgs &args, const GpumeU64 *all_taps,
                                                  const MvdeintCudaComponent &c, const Columns &at, GpumeU64 picture,
                                                  GpumeU32 v, int first, GpumeU32 (*samples)[COLUMNS])
{
    const int ex = mvdeint_eighths((short)(GpumeU16)v, c.hsub);
    const int ey = mvdeint_eighths((short)(GpumeU16)(v >> 16), c.vsub);
    const int depth = mvdeint_depth(args), fraction = mvdeint_fraction(depth), shift = 12 - fraction;
    const int most = ((1 << depth) - 1) << fraction, rounding = (1 << shift >> 1) - 64 * BIAS;
    const Taps across = taps_at(all_taps, ex), down = taps_at(all_taps, ey);
    GpumeU64 p = (GpumeU64)mvdeint_at(picture, c, gpume_inside(at.x - at.first + (ex >> 3), c.w) + at.first - 2,
                                      gpume_inside(at.y + (ey >> 3), c.h) + first - 2);
    int lines[6][COLUMNS];

    GPUME_UNROLL for (int y = EXACT ? 0 : -5; y < STEP * (LINES - 1) + 1; y++) {
        const int is_made = y >= 0 && y % STEP == 0;

        /* clang 19 does not unroll a loop that ends here, and keeps arrays in local memory then */
        if (STEP == 1 && y >= FEW_LINES && at.h <= FEW_LINES)
            continue;
        if (!EXACT || is_made) {
            GPUME_UNROLL for (int k = 0; k < 5; k++)
                GPUME_UNROLL for (int i = 0; i < COLUMNS; i++)
                    lines[k][i] = lines[k + 1][i];
            /* five lines before the last that the taps need, or the line itself */
            filter_across(p + (GpumeU64)(EXACT ? 2 * c.stride : 0), across, lines[5]);
        }
        p += c.stride;
        GPUME_UNROLL for (int i = 0; i < COLUMNS && is_made; i++) {
            int sum = rounding;

            GPUME_UNROLL for (int k = 0; k < 6; k++)
                sum += EXACT ? (k == 5 ? 64 * lines[k][i] : 0) : down.t[k] * lines[k][i];
            samples[y / STEP][i] = (GpumeU32)av_clip(sum >> shift, 0, most);
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

#endif /* AVFILTER_GPUME_MVDEINT_COMPENSATE_CUH */
