/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Decides whether a scene begins between two pictures, as defined in doc/mvfps-definition.md. Their vectors must not
 * agree on a motion, and the pictures must show other things. mvfps and the statistics of gpume use this.
 */

#ifndef AVFILTER_GPUME_CORE_SCENE_H
#define AVFILTER_GPUME_CORE_SCENE_H

#include "libavfilter/gpume/picture/layout.h"
#include "libavfilter/gpume/util/tasks.h"

/** Default of the threshold: least share of the moved detail that is new. */
#define GPUME_DEFAULT_SCENE 0.6

/** The detail of a picture, small enough for a search of the whole. Zeroed, or allocated. */
typedef struct GpumeDetail {
    uint8_t *memory;
    const uint8_t *first;       ///< address of sample (0, 0); the margins are as wide as the search range
    uint16_t *means;            ///< means of the squares that the samples represent, in quarter levels of 8 bits
    int cols, rows, stride;
} GpumeDetail;

/** @return 0 or AVERROR(ENOMEM) */
int ff_gpume_detail_alloc(GpumeDetail *d, const GpumeLayout *l);
void ff_gpume_detail_free(GpumeDetail *d);
/** Computes the detail of a picture with this layout from its first component. */
void ff_gpume_detail_make(GpumeDetail *d, const GpumeLayout *l, const AVFrame *frame, GpumeScheduler *scheduler);

/**
 * Returns whether vectors show a motion, so that no scene begins: for ten that are inconsistent, at least one is
 * consistent, not near zero, and nearly that of the block before it, or at least one has a motion that all of these
 * share; of fewer than 900 vectors, for each of them one.
 * If no vector is inconsistent, they are not known to have been checked.
 * @param mvs      nb AVMotionVectors, which need not be aligned
 * @param distance -1: only vectors into the past count; 1: only those into the future
 */
int ff_gpume_scene_is_moving(const uint8_t *mvs, size_t nb, int distance);

/**
 * Returns whether a scene begins between two pictures of the same size and format, which may be hardware frames.
 * @param threshold as for ff_gpume_scene_is_new()
 * @return 0 or 1, or an AVERROR code
 */
int ff_gpume_scene_begins(const AVFrame *before, const AVFrame *after, double threshold, const GpumeExecutor *executor);

/**
 * Returns whether a good part of the pictures does not stand still, and most of its detail is not in the other picture.
 * @param threshold cost of the best matches of this part of both, relative to its detail
 */
int ff_gpume_scene_is_new(const GpumeDetail *before, const GpumeDetail *after, double threshold);

/** Returns whether a picture is the previous one with another brightness, as in a fade. */
int ff_gpume_scene_is_fade(const GpumeLayout *l, const AVFrame *before, const AVFrame *after,
                           GpumeScheduler *scheduler);

#endif /* AVFILTER_GPUME_CORE_SCENE_H */
