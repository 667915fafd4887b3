/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Computes the colour of a vector as in Baker et al., "A Database and Evaluation Methodology for
 * Optical Flow", IJCV 92, 2011: direction becomes hue, length becomes saturation. Uses integers
 * only. The host and device code include this file.
 */

#ifndef AVFILTER_GPUME_MVVIEW_WHEEL_H
#define AVFILTER_GPUME_MVVIEW_WHEEL_H

#include "libavfilter/gpume/mvview/integer.h"

/** Returns the direction of (x, y), from the x axis towards the y axis; a full turn is 1 << 16. */
GPUME_INLINE int mvview_angle(int x, int y)
{
    const long long ax = FFABS(x), ay = FFABS(y);
    const long long t = FFMAX(ax, ay) ? (FFMIN(ax, ay) << 14) / FFMAX(ax, ay) : 0;
    /* atan(t) = t (pi / 4 + 0.273 (1 - t)), exact to a quarter of a degree */
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
 * The colour wheel has six steps: red to yellow to green to cyan to blue to magenta to red. Each step
 * is a hexadecimal digit, the first step the rightmost one, because device code has no tables.
 * MVVIEW_STEP is the length of a step, which is longer where the eye tells more colours apart.
 * MVVIEW_REDS, MVVIEW_GREENS and MVVIEW_BLUES say how the primary colour changes in each step.
 */
#define MVVIEW_STEP(i) ((0x6db46f >> 4 * (i)) & 15)
/** 0: none, 1: full, 2: rising, 3: falling. */
#define MVVIEW_REDS    0x120031
#define MVVIEW_GREENS  0x003112
#define MVVIEW_BLUES   0x311200

/**
 * Computes the colour of the vector (x, y), 8 bits each of red, green and blue.
 * @param length length of the vector
 * @param full   length of full saturation; longer vectors are darker
 */
GPUME_INLINE void mvview_wheel(unsigned char rgb[3], int x, int y, unsigned length, unsigned full)
{
    /* 54, not 55, as in the authors' code */
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
