/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Paints disparities, for C and device code.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_PAINT_H
#define AVFILTER_GPUME_MVSTEREO_PAINT_H

#include "libavfilter/gpume/mvstereo/arithmetic.h"

/** Width of the scale of colours, which is painted if the picture is at least four times as wide. */
#define MVSTEREO_LEGEND_W   16

/** Parameters for painting the disparities of a picture. */
typedef struct MvstereoPaint {
    int first;                  ///< disparity of value 0 of a map, in 1/16 sample
    int least, greatest;        ///< ends of the scale, in 1/16 sample; none of a map is below least
    int legend;
    int mirrored;               ///< whether the map is painted from right to left
    int w, h;
    int64_t depth_one;
} MvstereoPaint;

/** Returns the column of the output for column x of a map, or the reverse. */
GPUME_INLINE int mvstereo_paint_column(const MvstereoPaint *p, int x)
{
    return p->mirrored ? p->w - 1 - x : x;
}

/**
 * Returns the value of output=disparity.
 * @param v value relative to first, in 1/16 sample, or MVSTEREO_INVALID
 */
GPUME_INLINE int mvstereo_paint_disparity(const MvstereoPaint *p, int v)
{
    return v < 0 ? 65535 : v + p->first - FFMIN(p->least, 0);
}

GPUME_INLINE int mvstereo_paint_depth(const MvstereoPaint *p, int v)
{
    const int d = v + p->first;

    if (v < 0)
        return 0;
    if (d <= 0 || p->depth_one >= (int64_t)d * 65535)
        return 65535;
    return (p->depth_one + d / 2) / d;
}

/** Returns the value of output=float. */
GPUME_INLINE float mvstereo_paint_float(const MvstereoPaint *p, int v)
{
    return v < 0 ? __builtin_inff() : (v + p->first) * (1.f / MVSTEREO_ONE);
}

/** Returns the position of a value on the scale, from 0 to steps, which is at most 1024. */
GPUME_INLINE int mvstereo_paint_level(const MvstereoPaint *p, int v, int steps)
{
    const unsigned level = (unsigned)((v + p->first - p->least) * steps) / (unsigned)(p->greatest - p->least);

    return FFMIN((int)level, steps);
}

GPUME_INLINE int mvstereo_paint_gray(const MvstereoPaint *p, int v)
{
    return v < 0 ? 0 : 1 + mvstereo_paint_level(p, v, 254);
}

/** Returns the colour 0xRRGGBB of a position on the scale, in 1/1024; linear between nine colours. */
GPUME_INLINE int mvstereo_paint_rgb(int level)
{
    const unsigned colors[9] = {
        0x28145a, 0x3c50d2, 0x2896f0, 0x28d2b4, 0x6eeb5a, 0xc8dc32, 0xfaaa28, 0xeb5014, 0x960a0a,
    };
    const int i = FFMIN(level >> 7, 7), part = level - (i << 7);
    int rgb = 0;

    for (int shift = 0; shift < 24; shift += 8) {
        const int a = colors[i] >> shift & 255, b = colors[i + 1] >> shift & 255;

        rgb |= (a + (((b - a) * part + 64) >> 7)) << shift;
    }
    return rgb;
}

/** Returns the colour 0xRRGGBB of a value. */
GPUME_INLINE int mvstereo_paint_value(const MvstereoPaint *p, int v)
{
    return v < 0 ? 0 : mvstereo_paint_rgb(mvstereo_paint_level(p, v, 1024));
}

/** Returns the first column of the output in which the scale is painted; the width if it is not painted. */
GPUME_INLINE int mvstereo_paint_legend_column(const MvstereoPaint *p)
{
    return p->legend && p->w >= 4 * MVSTEREO_LEGEND_W ? p->w - MVSTEREO_LEGEND_W : p->w;
}

/** Returns the colour 0xRRGGBB of the scale. */
GPUME_INLINE int mvstereo_paint_legend(const MvstereoPaint *p, int x, int y)
{
    const int level = (p->h - 1 - y) * 1024 / FFMAX(p->h - 1, 1);

    /* a mark at each eighth, and a line at the edge of the scale */
    if (x == p->w - MVSTEREO_LEGEND_W)
        return 0;
    if (x < p->w - MVSTEREO_LEGEND_W / 2 && ((level + 4) & 127) < 8)
        return 0xffffff;
    return mvstereo_paint_rgb(level);
}

/** Returns the colour 0xRRGGBB of a sample of output=color. */
GPUME_INLINE int mvstereo_paint_color(const MvstereoPaint *p, int v, int x, int y)
{
    return x >= mvstereo_paint_legend_column(p) ? mvstereo_paint_legend(p, x, y) : mvstereo_paint_value(p, v);
}

#endif /* AVFILTER_GPUME_MVSTEREO_PAINT_H */
