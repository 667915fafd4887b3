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
 * Removes from a frame what describes its relation to other input frames: motion vectors, hints about
 * unchanged rectangles and statistics of motion. The frames beside it are others in the output.
 * @return 0 or an AVERROR code
 */
int ff_mvfps_remove_relations(AVFrame *frame);

/**
 * Makes the properties of an input frame those of an interpolated or repeated one at another time: also
 * removes what belongs to that one picture or occurs once, such as timecodes, messages and detected events.
 * @return 0 or an AVERROR code
 */
int ff_mvfps_remove_own(AVFrame *frame);

#endif /* AVFILTER_GPUME_MVFPS_PROPERTIES_H */
