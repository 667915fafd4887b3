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

#include "libavutil/buffer.h"
#include "libavutil/frame.h"

#include "libavfilter/avfilter.h"
#include "libavfilter/formats.h"

/** The frames of a filter: blank, or opened. */
typedef struct GpumeHwFrames {
    AVBufferRef *in;            ///< AVHWFramesContext of the input, or NULL: system memory
    AVBufferRef *out;           ///< AVHWFramesContext of all output frames, or NULL
} GpumeHwFrames;

/**
 * Sets the same formats for the input and the output.
 * @param supported whether the filter works on samples of a format
 * @param hw_format returns hardware format i that the filter supports; AV_PIX_FMT_NONE: there are no more
 * @return 0 or an AVERROR code
 */
int ff_gpume_set_formats(const AVFilterContext *ctx, AVFilterFormatsConfig **cfg_in,
                         AVFilterFormatsConfig **cfg_out, int (*supported)(enum AVPixelFormat),
                         enum AVPixelFormat (*hw_format)(const AVFilterContext *ctx, int i));

/**
 * Opens a pool of output frames with the device, format and size of the input frames.
 * @param in an AVHWFramesContext, or NULL: frames are in system memory
 * @return 0, or an AVERROR code, and then s is blank
 */
int ff_gpume_hwframes_open(GpumeHwFrames *s, AVBufferRef *in);
void ff_gpume_hwframes_close(GpumeHwFrames *s);

/** Sets the frames context of the output link. @return 0 or AVERROR(ENOMEM) */
int ff_gpume_hwframes_config(const GpumeHwFrames *s, AVFilterLink *outlink);

/**
 * Compares an input frame with the frames that were opened.
 * @return 1 if the frame fits; 0 if it is a hardware frame of another pool, which ff_gpume_hwframes_open()
 *         must open; or AVERROR(EINVAL) with a message
 */
int ff_gpume_hwframes_fit(const GpumeHwFrames *s, const AVFilterLink *inlink, const AVFrame *frame);

/**
 * Replaces the samples of a frame by a new buffer of undefined content. All other properties stay.
 * @param old set to a frame with the previous samples; NULL: the previous samples are released
 * @return 0 or an AVERROR code
 */
int ff_gpume_new_samples(const GpumeHwFrames *s, AVFilterLink *outlink, AVFrame *frame, AVFrame **old);

#endif /* AVFILTER_GPUME_UTIL_HWFRAMES_H */
