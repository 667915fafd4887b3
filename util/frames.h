/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Properties of frames, which are in system memory or on a device.
 */

#ifndef AVFILTER_GPUME_UTIL_FRAMES_H
#define AVFILTER_GPUME_UTIL_FRAMES_H

#include "libavutil/buffer.h"
#include "libavutil/frame.h"
#include "libavutil/pixfmt.h"

/** Returns the pixel format of a frame's samples, in system memory or on a device. */
enum AVPixelFormat ff_gpume_frame_format(const AVFrame *frame);

/** Returns the AVHWDeviceContext of a frame's samples, or NULL: system memory. */
const void *ff_gpume_frame_device(const AVFrame *frame);

/** Returns whether two frames have the same size, format of samples and device. */
int ff_gpume_are_alike(const AVFrame *a, const AVFrame *b);

/**
 * Allocates a frame with samples in system memory.
 * @return 0, or an AVERROR code, and then *frame is NULL
 */
int ff_gpume_alloc_frame(AVFrame **frame, enum AVPixelFormat format, int w, int h);

/**
 * Opens a pool of hardware frames.
 * @param frames set to the AVHWFramesContext
 * @param device AVHWDeviceContext
 * @return 0, or an AVERROR code, and then frames is NULL
 */
int ff_gpume_open_hw_frames(AVBufferRef **frames, AVBufferRef *device, enum AVPixelFormat format,
                            enum AVPixelFormat sw_format, int w, int h);

/** Returns the format of the samples of hardware frames; AV_PIX_FMT_NONE without hw_frames. */
enum AVPixelFormat ff_gpume_sw_format(const AVBufferRef *hw_frames);

#endif /* AVFILTER_GPUME_UTIL_FRAMES_H */
