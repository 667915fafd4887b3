/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Draws the motion vectors of frames. Free of libavfilter; the result does not depend on the
 * number of threads.
 */

#ifndef AVFILTER_GPUME_MVVIEW_MVVIEW_H
#define AVFILTER_GPUME_MVVIEW_MVVIEW_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/util/executor.h"
#include "libavfilter/gpume/mvview/shape.h"

enum MvviewSource {
    MVVIEW_PAST   = 1,
    MVVIEW_FUTURE = 2,
};

typedef struct MvviewConfig {
    int mode;                   ///< MVVIEW_ARROWS, MVVIEW_FLOW, MVVIEW_BLOCKS, any of them
    int sources;                ///< MVVIEW_PAST, MVVIEW_FUTURE or both
    int distance;               ///< of the other frame; 0: the nearest that there is on each side
    int background;             ///< enum MvviewBackground
    int scale;                  ///< factor of arrows times 256
    int max;                    ///< length of full saturation in units of 1/16 sample; 0: the longest
    int step;                   ///< 0: as many arrows as can be read
    int opacity;                ///< of the flow, 0 to 256
    int legend;

    GpumeExecutor executor;

    AVBufferRef *hw_frames;     ///< AVHWFramesContext of the input; NULL: system memory
    void *log_ctx;
} MvviewConfig;

typedef struct MvviewView MvviewView;

/** The i-th format of hardware frames that can be drawn into; AV_PIX_FMT_NONE: there are no more. */
enum AVPixelFormat ff_mvview_hw_format(int i);

/** @return 0 or an AVERROR code, and then *view is NULL */
int ff_mvview_open(MvviewView **view, const MvviewConfig *cfg);
void ff_mvview_close(MvviewView **view);

/**
 * Read the vectors of the next frame. NULL: there are none.
 * @return how many are to be drawn, or an error
 */
int ff_mvview_read(MvviewView *view, const AVFrame *frame);

/**
 * Draw what was read; with hardware frames this is queued on their device's stream. Where
 * nothing was read, out becomes a copy of in: only hardware frames.
 * @param out has all properties of the frame that was read
 * @param in  its samples, of the same format and size; in system memory also out itself, which
 *            must then be writable
 */
int ff_mvview_draw(MvviewView *view, AVFrame *out, const AVFrame *in);

#endif /* AVFILTER_GPUME_MVVIEW_MVVIEW_H */
