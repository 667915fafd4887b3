/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Checks the parameters of a search, and sets those that follow from others.
 */

#ifndef AVFILTER_GPUME_CORE_PARAMS_H
#define AVFILTER_GPUME_CORE_PARAMS_H

#include "libavutil/pixfmt.h"

#include "libavfilter/gpume/core/params_args.h"

/**
 * Returns whether luma of this format can be searched: planar or semi-planar YUV, or gray, of 8 to
 * 16 bits in whole bytes.
 */
int ff_gpume_format_supported(enum AVPixelFormat format);

/**
 * Checks the parameters that the user has chosen, so that a mistake is found before the first
 * picture.
 * @return 0, or AVERROR(EINVAL) with a message that names the limit
 */
int ff_gpume_params_check(const GpumeParams *params, void *log_ctx);

/**
 * Checks the parameters and the picture, and sets the parameters that follow. No other function
 * validates parameters, and nothing is opened before.
 * @param format format of the samples: sw_format for hardware frames
 */
int ff_gpume_params_init(GpumeParams *params, int width, int height,
                         enum AVPixelFormat format, void *log_ctx);

#endif /* AVFILTER_GPUME_CORE_PARAMS_H */
