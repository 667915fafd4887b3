/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The integer functions that the host and device code share, so that both compute the same result.
 */

#ifndef AVFILTER_GPUME_UTIL_INTEGER_H
#define AVFILTER_GPUME_UTIL_INTEGER_H

#ifdef GPUME_DEVICE_CODE
#define FFABS(a)         ((a) >= 0 ? (a) : -(a))
#define FFMIN(a, b)      ((a) < (b) ? (a) : (b))
#define FFMAX(a, b)      ((a) > (b) ? (a) : (b))
#define FFMIN3(a, b, c)  FFMIN(FFMIN(a, b), c)
#define av_clip(a, l, h) FFMIN(FFMAX(a, l), h)
#else
#include "libavutil/common.h"

#ifndef GPUME_INLINE
/** The qualifiers of every function in a header that device code includes. */
#define GPUME_INLINE static inline
#endif
#endif

/** Returns the number of the highest bit that is set: the integer part of the logarithm. v is not 0. */
GPUME_INLINE int gpume_log2(unsigned v)
{
#ifdef __NVCC__
    return 31 - __clz((int)v);
#else
    return 31 - __builtin_clz(v);
#endif
}

/**
 * Returns the value that n of nb values are before in ascending order, or 2 * highest - 1 if that is lower.
 * @param highest the highest bit that the result can have
 */
GPUME_INLINE unsigned gpume_order_statistic(const unsigned *values, int nb, int n, unsigned highest)
{
    unsigned low = 0;

    for (unsigned bit = highest; bit; bit >>= 1) {
        int below = 0;

        for (int i = 0; i < nb; i++)
            below += values[i] < low + bit;
        if (below <= n)
            low += bit;
    }
    return low;
}

#endif /* AVFILTER_GPUME_UTIL_INTEGER_H */
