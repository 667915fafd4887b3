/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What filters that take hardware frames, too, have in common: formats, and frames of their own.
 */

#ifndef AVFILTER_GPUME_UTIL_HWFRAMES_H
#define AVFILTER_GPUME_UTIL_HWFRAMES_H

#include "libavutil/buffer.h"
#include "libavutil/frame.h"

#include "libavfilter/avfilter.h"
#include "libavfilter/formats.h"

/** The frames of a filter. Blank, or opened. */
typedef struct GpumeHwFrames {
    AVBufferRef *in;            ///< AVHWFramesContext of the input, or NULL: system memory
    AVBufferRef *out;           ///< of the output, so that all its frames are of one
} GpumeHwFrames;

/**
 * Sets the same formats in and out.
 * @param supported whether a format of samples is taken
 * @param hw_format format i of hardware frames; AV_PIX_FMT_NONE: there are no more
 * @return 0 or an AVERROR code
 */
int ff_gpume_set_formats(const AVFilterContext *ctx, AVFilterFormatsConfig **cfg_in,
                         AVFilterFormatsConfig **cfg_out, int (*supported)(enum AVPixelFormat),
                         enum AVPixelFormat (*hw_format)(const AVFilterContext *ctx, int i));

/**
 * Makes frames like those of the input: of their device, format and size.
 * @param in an AVHWFramesContext, or NULL: frames are in system memory
 * @return 0 or an AVERROR code, and then it is blank
 */
int ff_gpume_hwframes_open(GpumeHwFrames *s, AVBufferRef *in);
void ff_gpume_hwframes_close(GpumeHwFrames *s);

/** Tells the next filter which frames come. @return 0 or AVERROR(ENOMEM) */
int ff_gpume_hwframes_config(const GpumeHwFrames *s, AVFilterLink *outlink);

/**
 * Compares a frame with what was opened.
 * @return 1; 0 if it is a hardware frame for which others have to be opened; or AVERROR(EINVAL)
 *         with a message
 */
int ff_gpume_hwframes_fit(const GpumeHwFrames *s, const AVFilterLink *inlink, const AVFrame *frame);

/**
 * Gives a frame samples that nobody else has, of any value. All its other properties stay.
 * @param old set to a frame of those that it had; NULL: they are let go
 * @return 0 or an AVERROR code
 */
int ff_gpume_new_samples(const GpumeHwFrames *s, AVFilterLink *outlink, AVFrame *frame, AVFrame **old);

#endif /* AVFILTER_GPUME_UTIL_HWFRAMES_H */
