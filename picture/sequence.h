/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * A sequence of frames of one layout, which a backend of a filter works on. The frames are in system memory or on a
 * device, and the backend is chosen by that.
 */

#ifndef AVFILTER_GPUME_PICTURE_SEQUENCE_H
#define AVFILTER_GPUME_PICTURE_SEQUENCE_H

#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "libavutil/buffer.h"
#include "libavutil/frame.h"
#include "libavutil/pixfmt.h"

#include "libavfilter/gpume/picture/layout.h"

/** Whether CUDA backends are in the build: NVIDIA's headers and either compiler of kernels were found. */
#define GPUME_HAS_CUDA (CONFIG_FFNVCODEC && (CONFIG_CUDA_LLVM || CONFIG_CUDA_NVCC))

/**
 * The functions that all backends have, as the first member of the table of each filter's backends. priv points to
 * priv_size bytes, which are zero before init().
 */
typedef struct GpumeFrameBackend {
    /** Format of the frames on the backend's device; AV_PIX_FMT_NONE: frames in system memory. */
    enum AVPixelFormat hw_format;
    size_t priv_size;
    /** Whether the backend works on frames with samples of this format, which the filter supports. */
    int  (*supports)(enum AVPixelFormat sw_format);      // optional
    /**
     * @param cfg    the configuration of the filter, which stays valid until uninit()
     * @param layout the layout of hardware frames, whose format does not change later
     */
    int  (*init)(void *priv, const void *cfg, const GpumeLayout *layout);
    /** Forgets all pictures, and sets the layout of the following ones, which stays valid. */
    int  (*set_layout)(void *priv, const GpumeLayout *layout);     // optional
    /** Is also called after init() has failed. */
    void (*uninit)(void *priv);
} GpumeFrameBackend;

/** What all sequences of a filter have in common. */
typedef struct GpumeSequenceKind {
    const char *filter;                                 ///< the filter's name, for messages
    int (*supports)(enum AVPixelFormat sw_format);      ///< whether the filter works on samples of a format
    const GpumeFrameBackend *backends[3];               ///< ends with NULL
} GpumeSequenceKind;

/** Lists the backends PREFIX_cpu and, if CUDA backends are in the build, PREFIX_cuda. */
#if GPUME_HAS_CUDA
#define GPUME_FRAME_BACKENDS(prefix) { &prefix##_cpu.common, &prefix##_cuda.common }
#else
#define GPUME_FRAME_BACKENDS(prefix) { &prefix##_cpu.common }
#endif

/** A sequence. Zeroed before ff_gpume_sequence_open(). */
typedef struct GpumeSequence {
    const GpumeFrameBackend *backend;
    void *priv;                         ///< state of the backend
    const void *device_ctx;             ///< AVHWDeviceContext of the frames; NULL: frames in system memory
    enum AVPixelFormat sw_format;       ///< pixel format of hardware frames
    GpumeLayout layout;
    int64_t nb_in;                      ///< number of frames that have been added
    int flushed;                        ///< whether no more frames follow
} GpumeSequence;

/** Returns format i of hardware frames among those of the backends; AV_PIX_FMT_NONE: there are no more. */
enum AVPixelFormat ff_gpume_sequence_hw_format(const GpumeSequenceKind *kind, int i);

/**
 * Opens the backend for frames in system memory, or for frames like some hardware frames.
 * @param hw_frames AVHWFramesContext, which need not stay valid; NULL: frames are in system memory
 * @param cfg       for GpumeFrameBackend.init()
 * @return 0, AVERROR(ENOSYS) with a message if there is no backend for such frames, or another AVERROR code; close the
 *         sequence in all cases
 */
int ff_gpume_sequence_open(GpumeSequence *s, const GpumeSequenceKind *kind, const AVBufferRef *hw_frames,
                           const void *cfg, void *log_ctx);

void ff_gpume_sequence_close(GpumeSequence *s);

/**
 * Returns whether a frame can be added: it continues the sequence, or begins one after the last has been flushed. If
 * not, flush the sequence. If the frame cannot be added even then, it is on another device, or has another pixel format
 * on a device, and needs a sequence that is opened anew.
 */
int ff_gpume_sequence_continues(const GpumeSequence *s, const AVFrame *frame);

/** Sets the layout to that of a frame. @return whether the layout has changed, or an AVERROR code */
int ff_gpume_sequence_set_layout(GpumeSequence *s, const AVFrame *frame);

#endif /* AVFILTER_GPUME_PICTURE_SEQUENCE_H */
