/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Code that filters for frames in system memory and hardware frames share: formats and output frames.
 */

#ifndef AVFILTER_GPUME_UTIL_HWFRAMES_H
#define AVFILTER_GPUME_UTIL_HWFRAMES_H

#include "libavutil/frame.h"

#include "libavfilter/avfilter.h"
#include "libavfilter/formats.h"

/**
 * Sets the same formats for the input and the output.
 * @param supported whether the filter works on samples of a format
 * @param hw_format returns hardware format i that the filter supports; AV_PIX_FMT_NONE: there are no more
 * @param opaque    for hw_format
 * @return 0 or an AVERROR code
 */
int ff_gpume_set_formats(const AVFilterContext *ctx, AVFilterFormatsConfig **cfg_in,
                         AVFilterFormatsConfig **cfg_out, int (*supported)(enum AVPixelFormat),
                         enum AVPixelFormat (*hw_format)(const void *opaque, int i), const void *opaque);

/** If the input has hardware frames, gives the output a pool of frames like those. @return 0 or an AVERROR code */
int ff_gpume_config_pool(AVFilterLink *outlink);

/**
 * Replaces the samples of a frame by a new buffer of undefined content. All other properties stay. The buffer of a
 * hardware frame is from the output's pool, which is replaced if its frames are of another device, format or size.
 * @param old set to a frame with the previous samples; NULL: the previous samples are released
 * @return whether the pool was replaced; or an AVERROR code
 */
int ff_gpume_new_samples(AVFilterLink *outlink, AVFrame *frame, AVFrame **old);

#endif /* AVFILTER_GPUME_UTIL_HWFRAMES_H */
