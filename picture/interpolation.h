/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Subpel samples by the luma interpolation of ITU-T H.264, 8.4.2.2.1. Each subpel sample is a sample of one of four
 * planes, or the rounded mean of two such samples. The host and device code include this file.
 */

#ifndef AVFILTER_GPUME_PICTURE_INTERPOLATION_H
#define AVFILTER_GPUME_PICTURE_INTERPOLATION_H

#include "libavfilter/gpume/util/integer.h"

/** The planes: whole samples, and half samples to the right, below, and both. */
enum GpumePlane {
    GPUME_PLANE_WHOLE,      ///< G in the standard
    GPUME_PLANE_RIGHT,      ///< b
    GPUME_PLANE_BELOW,      ///< h
    GPUME_PLANE_CENTRE,     ///< j
    GPUME_NB_PLANES
};

/**
 * A subpel sample is described by a pair of samples of the planes. Each of them is packed into four bits: its plane,
 * a flag for the sample to the right, and a flag for the sample below.
 */
#define GPUME_SUBPEL_SAMPLE(plane, right, below) ((plane) | (right) << 2 | (below) << 3)
#define GPUME_SUBPEL_PAIR(first, second)   ((first) | (second) << 4)

/**
 * Returns the two samples whose mean is the sample at (fx, fy) quarters. If both are the same, the result is
 * that sample. The first is in the lower four bits.
 */
GPUME_INLINE int gpume_subpel_pair(int fx, int fy)
{
    const int G = GPUME_SUBPEL_SAMPLE(GPUME_PLANE_WHOLE, 0, 0), b = GPUME_SUBPEL_SAMPLE(GPUME_PLANE_RIGHT, 0, 0);
    const int h = GPUME_SUBPEL_SAMPLE(GPUME_PLANE_BELOW, 0, 0), j = GPUME_SUBPEL_SAMPLE(GPUME_PLANE_CENTRE, 0, 0);
    /* samples to the right of these, or below them */
    const int H = GPUME_SUBPEL_SAMPLE(GPUME_PLANE_WHOLE, 1, 0), M = GPUME_SUBPEL_SAMPLE(GPUME_PLANE_WHOLE, 0, 1);
    const int m = GPUME_SUBPEL_SAMPLE(GPUME_PLANE_BELOW, 1, 0), s = GPUME_SUBPEL_SAMPLE(GPUME_PLANE_RIGHT, 0, 1);

    switch (fy * 4 + fx) {
    case  0: return GPUME_SUBPEL_PAIR(G, G);
    case  1: return GPUME_SUBPEL_PAIR(G, b);
    case  2: return GPUME_SUBPEL_PAIR(b, b);
    case  3: return GPUME_SUBPEL_PAIR(b, H);
    case  4: return GPUME_SUBPEL_PAIR(G, h);
    case  5: return GPUME_SUBPEL_PAIR(b, h);
    case  6: return GPUME_SUBPEL_PAIR(b, j);
    case  7: return GPUME_SUBPEL_PAIR(b, m);
    case  8: return GPUME_SUBPEL_PAIR(h, h);
    case  9: return GPUME_SUBPEL_PAIR(h, j);
    case 10: return GPUME_SUBPEL_PAIR(j, j);
    case 11: return GPUME_SUBPEL_PAIR(j, m);
    case 12: return GPUME_SUBPEL_PAIR(h, M);
    case 13: return GPUME_SUBPEL_PAIR(h, s);
    case 14: return GPUME_SUBPEL_PAIR(j, s);
    default: return GPUME_SUBPEL_PAIR(s, m);
    }
}

/** Returns 32 times the half sample between c and d, by the filter with six taps. */
GPUME_INLINE int gpume_taps(int a, int b, int c, int d, int e, int f)
{
    return a + f - 5 * (b + e) + 20 * (c + d);
}

#endif /* AVFILTER_GPUME_PICTURE_INTERPOLATION_H */
