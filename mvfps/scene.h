/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * How unlike two pictures are.
 */

#ifndef AVFILTER_GPUME_MVFPS_SCENE_H
#define AVFILTER_GPUME_MVFPS_SCENE_H

#include "libavfilter/gpume/field/cells.h"
#include "libavfilter/gpume/picture/layout.h"
#include "libavfilter/gpume/util/tasks.h"

/**
 * What a picture's blocks cost by their vectors into the one before, over what they would cost
 * if each were flat, but no less than 1: 0 where the vectors tell everything, 2 or more across most cuts. Without such
 * vectors it is blocks of 16x16 and vectors of zero. In the first plane, to whole samples.
 * @param past the field of the picture after into the one before, if there is one
 */
double ff_mvfps_scene_figure(const GpumeLayout *l, const AVFrame *before, const AVFrame *after,
                             const GpumeCellField *past, GpumeScheduler *scheduler);

/** Whether a picture is the one before in another light, as from frame to frame of a fade. In the first plane. */
int ff_mvfps_scene_is_fade(const GpumeLayout *l, const AVFrame *before, const AVFrame *after,
                           GpumeScheduler *scheduler);

#endif /* AVFILTER_GPUME_MVFPS_SCENE_H */
