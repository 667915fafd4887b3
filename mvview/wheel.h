/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The colour of a vector: Baker et al., "A Database and Evaluation Methodology for Optical
 * Flow", IJCV 92, 2011. The hue is the direction, the saturation the length. Integers only; read
 * by the host and by device code.
 */

#ifndef AVFILTER_GPUME_MVVIEW_WHEEL_H
#define AVFILTER_GPUME_MVVIEW_WHEEL_H

#include "libavfilter/gpume/mvview/integer.h"

/** Direction of (x, y) from the x axis towards the y axis; 1 << 16 is a full turn. */
GPUME_INLINE int mvview_angle(int x, int y)
{
    const long long ax = FFABS(x), ay = FFABS(y);
    const long long t = FFMAX(ax, ay) ? (FFMIN(ax, ay) << 14) / FFMAX(ax, ay) : 0;
    /* atan(t) = t (pi / 4 + 0.273 (1 - t)), to a quarter of a degree */
    int angle = (t * (8192 + ((2848 * ((1 << 14) - t)) >> 14))) >> 14;

    if (ay > ax)
        angle = (1 << 14) - angle;
    if (x < 0)
        angle = (1 << 15) - angle;
    if (y < 0)
        angle = (1 << 16) - angle;
    return angle & 0xffff;
}

/*
 * Hex digits from the right: red to yellow to green to cyan to blue to magenta to red. How long
 * each step is, as the eye tells them apart, and what becomes of red, green and blue.
 * Digits, as device code has no tables.
 */
#define MVVIEW_STEP(i) ((0x6db46f >> 4 * (i)) & 15)
/** 0, 1: none, all of it; 2: rises, 3: falls. */
#define MVVIEW_REDS    0x120031
#define MVVIEW_GREENS  0x003112
#define MVVIEW_BLUES   0x311200

/**
 * The colour of the vector (x, y), 8 bits each of red, green and blue.
 * @param length its length
 * @param full   the length of full saturation; longer vectors are darker
 */
GPUME_INLINE void mvview_wheel(unsigned char rgb[3], int x, int y, unsigned length, unsigned full)
{
    /* 54, not 55, as theirs */
    int at = mvview_angle(x, y) * 54, i = 0;
    const int saturation = length >= full ? 256 : (int)(length * 256ULL / full);

    while (at >= MVVIEW_STEP(i) << 16)
        at -= MVVIEW_STEP(i++) << 16;
    at = (at >> 8) * 255 / (MVVIEW_STEP(i) << 8);
    for (int c = 0; c < 3; c++) {
        const int change = (int)((c == 0 ? MVVIEW_REDS : c == 1 ? MVVIEW_GREENS : MVVIEW_BLUES) >> 4 * i) & 3;
        const int hue = change == 2 ? at : change == 3 ? 255 - at : 255 * change;
        const int v   = 255 - ((saturation * (255 - hue) + 128) >> 8);

        rgb[c] = length > full ? v * 3 / 4 : v;
    }
}

#endif /* AVFILTER_GPUME_MVVIEW_WHEEL_H */
