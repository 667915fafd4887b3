/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Checks the parameters of a search and fills in what follows from them.
 */

#ifndef AVFILTER_GPUME_CORE_PARAMS_H
#define AVFILTER_GPUME_CORE_PARAMS_H

#include "libavutil/pixfmt.h"

#include "libavfilter/gpume/core/params_args.h"

/**
 * Whether luma of this format can be searched: planar or semi-planar YUV or
 * gray of 8 to 16 bits in whole bytes.
 */
int ff_gpume_format_supported(enum AVPixelFormat format);

/**
 * Check the parameters that are chosen, so that a mistake is found before there is a picture.
 * @return 0, or AVERROR(EINVAL) with a message that names the limit
 */
int ff_gpume_params_check(const GpumeParams *params, void *log_ctx);

/**
 * The same; then check the picture and fill in what follows from it. Nothing else
 * validates parameters, and nothing is opened before.
 * @param format of the samples: of hardware frames, their sw_format
 */
int ff_gpume_params_init(GpumeParams *params, int width, int height,
                         enum AVPixelFormat format, void *log_ctx);

#endif /* AVFILTER_GPUME_CORE_PARAMS_H */
