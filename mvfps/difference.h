/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Compares two pictures in system memory.
 */

#ifndef AVFILTER_GPUME_MVFPS_DIFFERENCE_H
#define AVFILTER_GPUME_MVFPS_DIFFERENCE_H

#include "libavfilter/gpume/picture/layout.h"
#include "libavfilter/gpume/util/tasks.h"

/** Returns whether one picture repeats the other except for noise. Both pictures have the layout. */
int ff_mvfps_pictures_repeat(const GpumeLayout *l, const AVFrame *first, const AVFrame *frame,
                             GpumeScheduler *scheduler);

#endif /* AVFILTER_GPUME_MVFPS_DIFFERENCE_H */
