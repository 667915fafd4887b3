/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The input of a filter: its frames, and warnings about filters that come before a filter that uses motion vectors;
 * and its end after an error.
 */

#ifndef AVFILTER_GPUME_UTIL_UPSTREAM_H
#define AVFILTER_GPUME_UTIL_UPSTREAM_H

#include <stdint.h>

#include "libavutil/frame.h"

#include "libavfilter/avfilter.h"

/**
 * Warns if filters before this filter make vectors useless: because they move the picture but not its
 * vectors, or because they remove the vectors that an earlier filter has searched.
 * @param searched whether this filter searches because no vectors arrived
 */
void ff_gpume_check_upstream(AVFilterContext *ctx, int searched);

/**
 * Checks that a frame has the format of the first input. Sizes may change in mid-stream, formats may not.
 * @return 0, or AVERROR(EINVAL) with a message
 */
int ff_gpume_check_format(AVFilterContext *ctx, const AVFrame *frame);

/**
 * Takes the next frame of the input, or notices its end. If there is neither, requests a frame if the output wants one.
 * @param frame       set to the frame
 * @param status, pts set at the end of the input
 * @return 1: a frame, of the format of the input; 0: the end; FFERROR_NOT_READY: neither; or another negative error
 *         code
 */
int ff_gpume_take_input(AVFilterContext *ctx, AVFrame **frame, int *status, int64_t *pts);

/**
 * Ends the output if this is the error code of a filter's step, so that the step is the last one: after an error most
 * objects can only be closed. The step itself begins with FF_FILTER_FORWARD_STATUS_BACK.
 * @return ret
 */
int ff_gpume_end_if_failed(AVFilterContext *ctx, int ret);

#endif /* AVFILTER_GPUME_UTIL_UPSTREAM_H */
