/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Planes of a picture that steps of a plan read: the levels of its pyramid and, for subpel vectors,
 * its half samples.
 */

#ifndef AVFILTER_GPUME_CPU_PLANES_H
#define AVFILTER_GPUME_CPU_PLANES_H

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/core/propagation.h"
#include "libavfilter/gpume/cpu/pixels.h"

/** Margin of half samples around the picture; those beyond it equal the last ones. */
#define GPUME_HALF_MARGIN 4

/** Layout of planes in a buffer, for pictures of one size. Lengths are in bytes. */
typedef struct GpumePlanesLayout {
    int width, height, depth;
    int nb_levels;
    int halves;                         ///< nonzero: there are planes of half samples
    size_t offset[GPUME_MAX_LEVELS];    ///< offsets of levels from 1 on
    ptrdiff_t linesize[GPUME_MAX_LEVELS];
    size_t half_offset[GPUME_NB_PLANES];///< offset of the sample at (0,0)
    ptrdiff_t half_linesize;
    size_t size;                        ///< size of the buffer
    int band;                           ///< rows of the picture that are processed together
    int nb_bands;
    size_t scratch_size;                ///< size of the scratch memory of a worker
} GpumePlanesLayout;

/** Samples of a level, or half samples. */
typedef struct GpumePlaneData {
    const uint8_t *data;                ///< address of the sample at (0,0)
    ptrdiff_t linesize;
} GpumePlaneData;

void ff_gpume_planes_init(GpumePlanesLayout *layout, const GpumeParams *params,
                          const GpumePlan *plan);

/**
 * Computes bands start to end - 1 of all planes; the bands of a picture may be computed in any
 * order.
 * @param pic     its luma is read, and its planes are written
 * @param scratch layout->scratch_size bytes
 */
void ff_gpume_planes_make(const GpumePlanesLayout *layout, const GpumePixels *pixels,
                          const GpumePicture *pic, uint8_t *scratch, int start, int end);

/** Returns a level; 0 is the picture's luma. */
GpumePlaneData ff_gpume_planes_level(const GpumePlanesLayout *layout, const GpumePicture *pic,
                                     int level);

/**
 * Returns one of enum GpumePlane, with margins; all have the same linesize. Only valid if
 * layout->halves is set.
 */
GpumePlaneData ff_gpume_planes_half(const GpumePlanesLayout *layout, const GpumePicture *pic,
                                    int plane);

#endif /* AVFILTER_GPUME_CPU_PLANES_H */
