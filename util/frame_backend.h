/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Chooses the backend of a filter by its input frames, which are in system memory or on a device.
 */

#ifndef AVFILTER_GPUME_UTIL_FRAME_BACKEND_H
#define AVFILTER_GPUME_UTIL_FRAME_BACKEND_H

#include <stddef.h>

#include "libavutil/buffer.h"
#include "libavutil/frame.h"
#include "libavutil/pixfmt.h"

/** What the backends of a filter have in common: the first member of each backend's table of functions. */
typedef struct GpumeFrameBackend {
    /** Format of the frames on the backend's device; AV_PIX_FMT_NONE: frames in system memory. */
    enum AVPixelFormat hw_format;
    size_t priv_size;           ///< bytes of the backend's own state
    /** Whether the backend works on frames with samples of this format, which the filter supports. */
    int (*supports)(enum AVPixelFormat sw_format);      // optional
} GpumeFrameBackend;

/**
 * Returns the i-th format of hardware frames among those of the backends.
 * @param backends ends with NULL
 * @return AV_PIX_FMT_NONE if there are no more
 */
enum AVPixelFormat ff_gpume_backend_hw_format(const GpumeFrameBackend *const *backends, int i);

/**
 * Chooses the backend for frames and allocates its state, cleared.
 * @param backend   set to the backend, or NULL
 * @param priv      set to the state, for av_free(); or NULL
 * @param backends  ends with NULL
 * @param hw_frames AVHWFramesContext, or NULL: frames are in system memory
 * @param supports  whether the filter works on samples of a format
 * @param filter    the filter's name, for the message
 * @return 0, AVERROR(ENOSYS) with a message, or AVERROR(ENOMEM)
 */
int ff_gpume_open_backend(const GpumeFrameBackend **backend, void **priv, const GpumeFrameBackend *const *backends,
                          const AVBufferRef *hw_frames, int (*supports)(enum AVPixelFormat sw_format),
                          const char *filter, void *log_ctx);

/** Returns the pixel format of a frame's samples, in system memory or on a device. */
enum AVPixelFormat ff_gpume_frame_format(const AVFrame *frame);

/** Returns the AVHWDeviceContext of a frame's samples, or NULL: system memory. */
const void *ff_gpume_frame_device(const AVFrame *frame);

/** Returns whether two frames have the same size, format of samples and device. */
int ff_gpume_are_alike(const AVFrame *a, const AVFrame *b);

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

#endif /* AVFILTER_GPUME_UTIL_FRAME_BACKEND_H */
