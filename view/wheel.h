/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The colour of a vector: Baker et al., "A Database and Evaluation Methodology for Optical
 * Flow", IJCV 92, 2011. The hue is the direction, the saturation the length. Integers only.
 */

#ifndef AVFILTER_GPUME_VIEW_WHEEL_H
#define AVFILTER_GPUME_VIEW_WHEEL_H

#include <stdint.h>

#include "libavutil/common.h"

/** Direction of (x, y) from the x axis towards the y axis; 1 << 16 is a full turn. */
static inline int mvview_angle(int x, int y)
{
    const int64_t ax = FFABS(x), ay = FFABS(y);
    const int64_t t = FFMAX(ax, ay) ? (FFMIN(ax, ay) << 14) / FFMAX(ax, ay) : 0;
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

/**
 * The colour of the vector (x, y), 8 bits each of red, green and blue.
 * @param length its length
 * @param full   the length of full saturation; longer vectors are darker
 */
static inline void mvview_wheel(uint8_t rgb[3], int x, int y, uint32_t length, uint32_t full)
{
    /* red to yellow to green to cyan to blue to magenta to red, as the eye tells them apart */
    static const uint8_t steps[6] = { 15, 6, 4, 11, 13, 6 };
    static const int8_t hues[6][3] = {      // 0, 1: none, all of it; 2: rises, 3: falls
        { 1, 2, 0 }, { 3, 1, 0 }, { 0, 1, 2 }, { 0, 3, 1 }, { 2, 0, 1 }, { 1, 0, 3 },
    };
    /* 54, not 55, as theirs */
    int at = mvview_angle(x, y) * 54, i = 0;
    const int saturation = length >= full ? 256 : (int)(length * UINT64_C(256) / full);

    while (at >= steps[i] << 16)
        at -= steps[i++] << 16;
    at = (at >> 8) * 255 / (steps[i] << 8);
    for (int c = 0; c < 3; c++) {
        const int hue = hues[i][c] == 2 ? at : hues[i][c] == 3 ? 255 - at : 255 * hues[i][c];
        const int v   = 255 - ((saturation * (255 - hue) + 128) >> 8);

        rgb[c] = length > full ? v * 3 / 4 : v;
    }
}

#endif /* AVFILTER_GPUME_VIEW_WHEEL_H */
