/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The option fps: the output's frame rate.
 */

#ifndef AVFILTER_GPUME_MVFPS_RATE_H
#define AVFILTER_GPUME_MVFPS_RATE_H

#include "libavutil/rational.h"

/**
 * Reads a frame rate, or a factor of the input's, such as 2x.
 * @return 0, or an AVERROR code with a message
 */
int ff_mvfps_parse_rate(AVRational *rate, const char *fps, AVRational in_rate, void *log_ctx);

#endif /* AVFILTER_GPUME_MVFPS_RATE_H */
