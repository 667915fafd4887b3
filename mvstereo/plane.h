/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Planes whose edges are repeated: luma of 8 bits, and maps of disparities.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_PLANE_H
#define AVFILTER_GPUME_MVSTEREO_PLANE_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/util/executor.h"

/** So far each edge can be repeated. To the right twice as much can be read and written. */
#define MVSTEREO_MARGIN 16

/** Samples of 1 or 2 bytes. Planes of a size have the same stride. */
typedef struct MvstereoPlane {
    uint8_t *memory;
    uint8_t *first;             ///< the sample (0, 0)
    ptrdiff_t stride;           ///< samples
    int w, h, bytes;
} MvstereoPlane;

/** @return 0 or AVERROR(ENOMEM), and then the plane is blank */
int ff_mvstereo_plane_alloc(MvstereoPlane *p, int w, int h, int bytes);
void ff_mvstereo_plane_free(MvstereoPlane *p);

/** Repeats the edges of rows start to end - 1; of those at the top and the bottom above and below, too. */
void ff_mvstereo_plane_extend(const MvstereoPlane *p, int start, int end);

static inline uint8_t *mvstereo_row8(const MvstereoPlane *p, int y)
{
    return p->first + y * p->stride;
}

static inline int16_t *mvstereo_row16(const MvstereoPlane *p, int y)
{
    return (int16_t *)p->first + y * p->stride;
}

/** Makes a plane of half the size: rounded means of 2x2 samples, an odd last row or column repeated. */
void ff_mvstereo_halve(const MvstereoPlane *dst, const MvstereoPlane *src);

/** Smooths a plane by weights of 1, 2, 1 in both directions. scratch is a plane like it. */
void ff_mvstereo_smooth(const MvstereoPlane *p, const MvstereoPlane *scratch, const GpumeExecutor *executor);

/** Returns how strong the noise of a plane is: doc/mvstereo-definition.md, "Noise". */
int ff_mvstereo_noise(const MvstereoPlane *p);

/**
 * Sets which luma of the left view corresponds to each of the right one: the same, unless one view is
 * darker than the other. doc/mvstereo-definition.md, "Brightness".
 */
void ff_mvstereo_brightness(uint8_t table[256], const MvstereoPlane *left, const MvstereoPlane *right);

#endif /* AVFILTER_GPUME_MVSTEREO_PLANE_H */
