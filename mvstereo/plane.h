/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Planes with repeated edges: luma of 8 bits, and maps of disparities.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_PLANE_H
#define AVFILTER_GPUME_MVSTEREO_PLANE_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/mvstereo/arithmetic.h"

/** Number of samples by which each edge can be repeated; to the right, twice as many can be read and written. */
#define MVSTEREO_MARGIN 16

/** Samples of 1 or 2 bytes. Planes of a size have the same stride. */
typedef struct MvstereoPlane {
    uint8_t *memory;
    uint8_t *first;             ///< the sample (0, 0)
    ptrdiff_t stride;           ///< samples
    int w, h, bytes;
} MvstereoPlane;

/** @return 0 or AVERROR(ENOMEM); on error the plane is zeroed */
int ff_mvstereo_plane_alloc(MvstereoPlane *p, int w, int h, int bytes);
void ff_mvstereo_plane_free(MvstereoPlane *p);

/** Repeats the edges of rows start to end - 1. Also repeats the first and the last row above and below the plane. */
void ff_mvstereo_plane_extend(const MvstereoPlane *p, int start, int end);

static inline uint8_t *mvstereo_row8(const MvstereoPlane *p, int y)
{
    return p->first + y * p->stride;
}

static inline int16_t *mvstereo_row16(const MvstereoPlane *p, int y)
{
    return (int16_t *)p->first + y * p->stride;
}

/**
 * Makes rows start to end - 1 of a plane of half the size: rounded means of 2x2 samples, an odd last row or column
 * repeated.
 */
void ff_mvstereo_halve(const MvstereoPlane *dst, const MvstereoPlane *src, int start, int end);

/** Smooths rows start to end - 1 with weights 1, 2, 1 in both directions. dst is of the same size and gets no edges. */
void ff_mvstereo_smooth(const MvstereoPlane *dst, const MvstereoPlane *src, int start, int end);

/** What is counted of a view. */
typedef struct MvstereoCounts {
    uint32_t luma[256];
    uint32_t noise[MVSTEREO_NOISES];
} MvstereoCounts;

/** Counts rows start to end - 1 of a plane. */
void ff_mvstereo_count(MvstereoCounts *c, const MvstereoPlane *p, int start, int end);

/**
 * Sets, for each luma of the right view, the corresponding luma of the left view: the same, unless
 * one view is darker than the other. doc/mvstereo-definition.md, "Brightness".
 */
void ff_mvstereo_brightness(uint8_t table[256], const MvstereoCounts *left, const MvstereoCounts *right);

#endif /* AVFILTER_GPUME_MVSTEREO_PLANE_H */
