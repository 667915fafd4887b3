/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Integer arithmetic for shapes and colours. The host and device code include this file, so that
 * both give the same picture.
 */

#ifndef AVFILTER_GPUME_MVVIEW_INTEGER_H
#define AVFILTER_GPUME_MVVIEW_INTEGER_H

#include "libavfilter/gpume/util/integer.h"

/** Returns the largest n with n * n <= x. */
GPUME_INLINE unsigned mvview_sqrt(unsigned long long x)
{
    unsigned long long root = 0, bit = 1ULL << 62;

    if (x < 1 << 24)
        bit = 1 << 22;
    while (bit > x)
        bit >>= 2;
    for (; bit; bit >>= 2) {
        if (x >= root + bit) {
            x   -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return (unsigned)root;
}

/** Returns a / b, rounded; b is positive. */
GPUME_INLINE long long mvview_divide(long long a, long long b)
{
    return (a >= 0 ? a + b / 2 : a - b / 2) / b;
}

#endif /* AVFILTER_GPUME_MVVIEW_INTEGER_H */
