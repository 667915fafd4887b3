/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds the motion between the left views of consecutive pairs. doc/mvstereo-definition.md, "Time", says
 * by which search.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_MOTION_H
#define AVFILTER_GPUME_MVSTEREO_MOTION_H

#include "libavfilter/gpume/core/engine.h"
#include "libavfilter/gpume/mvstereo/mvstereo.h"

/** Zeroed before the first view. */
typedef struct MvstereoMotion {
    GpumeEngine *engine;
    GpumeResult result;         ///< result for the last view, with its luma
    AVFrame *before;            ///< luma of the view before
} MvstereoMotion;

/**
 * Begins to search the next view. All views have the same size.
 * @param luma gray samples of 8 bits, or a frame on a device of which only the luma is read; is taken over
 * @return 0, or an AVERROR code with a message, and then the next view is the first one
 */
int ff_mvstereo_motion_begin(MvstereoMotion *m, const MvstereoConfig *cfg, AVFrame *luma);

/**
 * Ends the search.
 * @param field set to the vectors into the view before, in the memory of the frames; NULL for the first view.
 *              Valid until the next search begins
 * @return as ff_mvstereo_motion_begin()
 */
int ff_mvstereo_motion_end(MvstereoMotion *m, const GpumeMotionField **field);
void ff_mvstereo_motion_close(MvstereoMotion *m);

#endif /* AVFILTER_GPUME_MVSTEREO_MOTION_H */
