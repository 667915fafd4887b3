/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Differences of two pictures along a vector: rows of eight samples at eighths of a sample, from
 * copies with repeated edges.
 */

#ifndef AVFILTER_GPUME_MVFPS_MATCH_CUH
#define AVFILTER_GPUME_MVFPS_MATCH_CUH

#include "libavfilter/gpume/mvfps/device.cuh"

/** A position in a copy. */
struct MvfpsPlace {
    GpumeU64 row;                   ///< address of the position in its row, rounded down to a multiple of 8 bytes
    int byte;                       ///< offset of the position from there
    int fx, fy;                     ///< fraction in eighths
};

/** Returns the position that is a number of eighths away from a cell's sample (x, y). */
static __device__ __forceinline__ MvfpsPlace
mvfps_place(GpumeU64 first, int stride, int w, int h, int x, int y, int dx, int dy)
{
    const GpumeU64 p = first + (long long)gpume_inside(y + (dy >> 3), h) * stride +
                       gpume_inside(x + (dx >> 3), w) * MVFPS_BYTES;
    MvfpsPlace place;

    place.row  = p & ~7ull;
    place.byte = (int)p & 7;
    place.fx   = dx & 7;
    place.fy   = dy & 7;
    return place;
}

/** Interpolation, horizontal then vertical, for a type of samples. */
template<typename Sample> struct MvfpsEighths;

/** Bytes: a word holds samples 0 and 2, 1 and 3, 4 and 6, or 5 and 7, in 16 bits each. */
template<> struct MvfpsEighths<GpumeU8> {
    GpumeU32 v[4];

    __device__ __forceinline__ void across(const MvfpsPlace &p, GpumeU64 row)
    {
        const int f = p.fx, g = 8 - p.fx, shift = 8 * (p.byte & 3);
        GpumeU32 a, b, c, even[2], odd[2];
        int2 w[2];

        gpume_load_global(&w[0], (const void *)row);
        gpume_load_global(&w[1], (const void *)(row + 8));
        a = p.byte & 4 ? w[0].y : w[0].x;
        b = p.byte & 4 ? w[1].x : w[0].y;
        c = p.byte & 4 ? w[1].y : w[1].x;
        a = gpume_funnel_shift(a, b, shift);
        b = gpume_funnel_shift(b, c, shift);
        c >>= shift;
        even[0] = a & 0xff00ff;
        even[1] = b & 0xff00ff;
        odd[0]  = a >> 8 & 0xff00ff;
        odd[1]  = b >> 8 & 0xff00ff;
        v[0] = even[0] * g + odd[0] * f;
        v[1] = odd[0]  * g + (even[0] >> 16 | even[1] << 16) * f;
        v[2] = even[1] * g + odd[1] * f;
        v[3] = odd[1]  * g + (even[1] >> 16 | (c & 0xff) << 16) * f;
    }

    /** Returns four vertically interpolated samples of the row from 4 i on, in the order of this struct. */
    __device__ __forceinline__ GpumeU32 down(const MvfpsEighths &below, int fy, int i) const
    {
        const GpumeU32 even = v[2 * i]     * (8 - fy) + below.v[2 * i]     * fy + 0x200020;
        const GpumeU32 odd  = v[2 * i + 1] * (8 - fy) + below.v[2 * i + 1] * fy + 0x200020;

        return (even >> 6 & 0xff00ff) | (odd << 2 & 0xff00ff00);
    }

    static __device__ __forceinline__ GpumeU32
    sad(const MvfpsEighths &a, const MvfpsEighths &a_below, int a_fy,
        const MvfpsEighths &c, const MvfpsEighths &c_below, int c_fy, GpumeU32 sum)
    {
        GPUME_UNROLL for (int i = 0; i < 2; i++)
            sum = gpume_sad4(a.down(a_below, a_fy, i), c.down(c_below, c_fy, i), sum);
        return sum;
    }
};

template<> struct MvfpsEighths<GpumeU16> {
    GpumeU32 v[8];

    __device__ __forceinline__ void across(const MvfpsPlace &p, GpumeU64 row)
    {
        GpumeU32 words[6], samples[9];

        GPUME_UNROLL for (int i = 0; i < 3; i++) {
            int2 w;

            gpume_load_global(&w, (const void *)(row + 8 * i));
            words[2 * i]     = w.x;
            words[2 * i + 1] = w.y;
        }
        GPUME_UNROLL for (int i = 0; i < 5; i++)
            words[i] = gpume_select(p.byte & 4, words[i + 1], words[i]);
        GPUME_UNROLL for (int i = 0; i < 5; i++)
            words[i] = gpume_funnel_shift(words[i], i < 4 ? words[i + 1] : 0, 8 * (p.byte & 2));
        GPUME_UNROLL for (int i = 0; i < 9; i++)
            samples[i] = i & 1 ? words[i / 2] >> 16 : words[i / 2] & 0xffff;
        GPUME_UNROLL for (int i = 0; i < 8; i++)
            v[i] = samples[i] * (8 - p.fx) + samples[i + 1] * p.fx;
    }

    __device__ __forceinline__ int down(const MvfpsEighths &below, int fy, int i) const
    {
        return (int)((v[i] * (8 - fy) + below.v[i] * fy + 32) >> 6);
    }

    static __device__ __forceinline__ GpumeU32
    sad(const MvfpsEighths &a, const MvfpsEighths &a_below, int a_fy,
        const MvfpsEighths &c, const MvfpsEighths &c_below, int c_fy, GpumeU32 sum)
    {
        GPUME_UNROLL for (int i = 0; i < 8; i++) {
            const int difference = a.down(a_below, a_fy, i) - c.down(c_below, c_fy, i);

            sum += FFABS(difference);
        }
        return sum;
    }
};

/** Returns the sum of absolute differences of ROWS rows. */
template<typename Sample, int ROWS>
static __device__ __forceinline__ GpumeU32 mvfps_sad_rows(const MvfpsPlace &a, const MvfpsPlace &c, int stride, int row)
{
    MvfpsEighths<Sample> in_a[ROWS + 1], in_c[ROWS + 1];
    GpumeU32 sum = 0;

    GPUME_UNROLL for (int i = 0; i <= ROWS; i++) {
        in_a[i].across(a, a.row + (long long)(row + i) * stride);
        in_c[i].across(c, c.row + (long long)(row + i) * stride);
    }
    GPUME_UNROLL for (int i = 0; i < ROWS; i++)
        sum = MvfpsEighths<Sample>::sad(in_a[i], in_a[i + 1], a.fy, in_c[i], in_c[i + 1], c.fy, sum);
    return sum;
}

#endif /* AVFILTER_GPUME_MVFPS_MATCH_CUH */
