/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Side data and metadata of output frames.
 */

#ifndef AVFILTER_GPUME_MVFPS_PROPERTIES_H
#define AVFILTER_GPUME_MVFPS_PROPERTIES_H

#include "libavutil/frame.h"

/**
 * Removes properties that relate a frame to other input frames: motion vectors, hints about
 * unchanged rectangles, and statistics of motion. In the output, the frame has other neighbours.
 * @return 0 or an AVERROR code
 */
int ff_mvfps_remove_relations(AVFrame *frame);

/**
 * Turns the properties of an input frame into those of an interpolated or repeated frame at another
 * time. Also removes properties of that single picture, and those that occur once, such as
 * timecodes, messages and detected events.
 * @return 0 or an AVERROR code
 */
int ff_mvfps_remove_own(AVFrame *frame);

#endif /* AVFILTER_GPUME_MVFPS_PROPERTIES_H */
