/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The words of an AVMotionVector. Read by the host and by device code; core/backend.c
 * checks that the compiler lays the struct out like this.
 */

#ifndef AVFILTER_GPUME_CORE_VECTOR_H
#define AVFILTER_GPUME_CORE_VECTOR_H

#include "libavfilter/gpume/core/geometry.h"

/** 32-bit words of an AVMotionVector. Those without a field are 0, so equal vectors are equal bytes. */
#define GPUME_VECTOR_WORDS 10

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define GPUME_HALVES(first, second) ((unsigned)(first) << 16 | ((unsigned)(second) & 0xffff))
#define GPUME_BYTES(first, second)  ((unsigned)(first) << 8 | (unsigned)(second))
#else
#define GPUME_HALVES(first, second) ((unsigned)(second) << 16 | ((unsigned)(first) & 0xffff))
#define GPUME_BYTES(first, second)  ((unsigned)(second) << 8 | (unsigned)(first))
#endif

/**
 * Word i of the vector (dx, dy) of a block of w x h samples that begins at (x0, y0).
 * @param source distance of the reference, AVMotionVector.source
 */
GPUME_INLINE unsigned gpume_vector_word(int i, int source, int x0, int y0, int w, int h,
                                        int dx, int dy)
{
    const int x = x0 + w / 2, y = y0 + h / 2;   // dst_x, dst_y

    switch (i) {
    case 0:  return source;
    case 1:  return GPUME_HALVES(GPUME_BYTES(w, h), x + dx);
    case 2:  return GPUME_HALVES(y + dy, x);
    case 3:  return GPUME_HALVES(y, 0);
    case 6:  return dx;
    case 7:  return dy;
    case 8:  return GPUME_HALVES(1, 0);         // motion_scale
    default: return 0;
    }
}

#endif /* AVFILTER_GPUME_CORE_VECTOR_H */
