/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Stabilises maps over time, in system memory. doc/mvstereo-definition.md, "Time", defines the results.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_TEMPORAL_H
#define AVFILTER_GPUME_MVSTEREO_TEMPORAL_H

#include "libavfilter/gpume/mvstereo/match.h"
#include "libavfilter/gpume/mvstereo/motion.h"
#include "libavfilter/gpume/util/tasks.h"

/** What is kept of the previous pairs of a view. Zeroed before the first pair. */
typedef struct MvstereoTemporal {
    MvstereoMotion motion;
    MvstereoPlane disparity[2]; ///< disparities of the pair before and of this pair, in 1/16, from 0
    MvstereoPlane age[2];       ///< ages of these; 0: the disparity is not known, or has not been confirmed
    uint8_t *scratch;           ///< scratch memory of all threads
    size_t scratch_size;        ///< bytes for one thread

    /* the current work */
    AVFrame *frame;             ///< luma for the search
    const MvstereoPlane *luma;
    const MvstereoMatcher *matcher;
    const MvstereoPlane *map;
    const GpumeMotionField *field;
    int first;
    int nb_groups;              ///< groups of parts side by side
} MvstereoTemporal;

/**
 * Finds the motion of a view since the pair before.
 * @param luma  of the left view
 * @param chain empty
 * @return 0 or an AVERROR code
 */
int ff_mvstereo_temporal_search(MvstereoTemporal *t, const MvstereoConfig *cfg, const MvstereoPlane *luma,
                                GpumeTaskChain *chain, GpumeScheduler *scheduler);

/**
 * Adds a task that stabilises the map of the view that was searched.
 * @param map     disparities in 1/16, from the least one of the matcher, without holes
 * @param matcher that has matched the view
 */
void ff_mvstereo_temporal_stabilise(MvstereoTemporal *t, const MvstereoPlane *map, const MvstereoMatcher *matcher,
                                    GpumeTaskChain *chain);

void ff_mvstereo_temporal_close(MvstereoTemporal *t);

#endif /* AVFILTER_GPUME_MVSTEREO_TEMPORAL_H */
