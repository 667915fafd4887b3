/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Decides whether there is a scene cut between two pictures, as defined in doc/mvfps-definition.md.
 */

#ifndef AVFILTER_GPUME_MVFPS_SCENE_H
#define AVFILTER_GPUME_MVFPS_SCENE_H

#include "libavfilter/gpume/picture/layout.h"
#include "libavfilter/gpume/util/tasks.h"

/** The detail of a picture, small enough for a search of the whole. Zeroed, or allocated. */
typedef struct MvfpsDetail {
    uint8_t *memory;
    const uint8_t *first;       ///< address of sample (0, 0); the margins are as wide as the search range
    uint16_t *means;            ///< means of the squares that the samples represent, in quarter levels of 8 bits
    int cols, rows, stride;
} MvfpsDetail;

/** @return 0 or AVERROR(ENOMEM) */
int ff_mvfps_detail_alloc(MvfpsDetail *d, const GpumeLayout *l);
void ff_mvfps_detail_free(MvfpsDetail *d);
/** Computes the detail of a picture with this layout from its first component. */
void ff_mvfps_detail_make(MvfpsDetail *d, const GpumeLayout *l, const AVFrame *frame, GpumeScheduler *scheduler);

/**
 * Returns whether most of the detail of the two pictures is not in the other picture.
 * @param threshold cost of the best matches of both, relative to their detail
 */
int ff_mvfps_scene_is_new(const MvfpsDetail *before, const MvfpsDetail *after, double threshold);

/** Returns whether a picture is the previous one with another brightness, as in a fade. */
int ff_mvfps_scene_is_fade(const GpumeLayout *l, const AVFrame *before, const AVFrame *after,
                           GpumeScheduler *scheduler);

#endif /* AVFILTER_GPUME_MVFPS_SCENE_H */
