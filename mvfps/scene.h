/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Decides whether there is a scene cut between two pictures. doc/mvfps-definition.md defines how.
 */

#ifndef AVFILTER_GPUME_MVFPS_SCENE_H
#define AVFILTER_GPUME_MVFPS_SCENE_H

#include "libavfilter/gpume/picture/layout.h"
#include "libavfilter/gpume/util/tasks.h"

/** The detail of a picture, small enough to be searched as a whole. Blank, or allocated. */
typedef struct MvfpsDetail {
    uint8_t *memory;
    const uint8_t *first;       ///< sample (0, 0) in it; the margins around it are as wide as the search's range
    uint16_t *means;            ///< of the squares that the samples stand for, in quarter levels of 8 bits
    int cols, rows, stride;
} MvfpsDetail;

/** @return 0 or AVERROR(ENOMEM) */
int ff_mvfps_detail_alloc(MvfpsDetail *d, const GpumeLayout *l);
void ff_mvfps_detail_free(MvfpsDetail *d);
/** Makes the detail of a picture, which has the layout, from its first component. */
void ff_mvfps_detail_make(MvfpsDetail *d, const GpumeLayout *l, const AVFrame *frame, GpumeScheduler *scheduler);

/**
 * Returns whether most of the detail of each of two pictures is nowhere in the other.
 * @param threshold of the cost of the best matches of both, over their detail
 */
int ff_mvfps_scene_is_new(const MvfpsDetail *before, const MvfpsDetail *after, double threshold);

/** Returns whether a picture is the one before in another light, as from frame to frame of a fade. */
int ff_mvfps_scene_is_fade(const GpumeLayout *l, const AVFrame *before, const AVFrame *after,
                           GpumeScheduler *scheduler);

#endif /* AVFILTER_GPUME_MVFPS_SCENE_H */
