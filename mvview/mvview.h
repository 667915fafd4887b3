/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Draws the motion vectors of frames. Does not depend on libavfilter; the result does not depend on
 * the number of threads.
 */

#ifndef AVFILTER_GPUME_MVVIEW_MVVIEW_H
#define AVFILTER_GPUME_MVVIEW_MVVIEW_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/picture/sequence.h"
#include "libavfilter/gpume/util/executor.h"
#include "libavfilter/gpume/mvview/shape.h"

/** Pictures with shorter sides have no space for a legend. */
#define MVVIEW_MIN_LEGEND_SIDE 64

enum MvviewSource {
    MVVIEW_PAST   = 1,
    MVVIEW_FUTURE = 2,
};

typedef struct MvviewConfig {
    int mode;                   ///< combination of MVVIEW_ARROWS, MVVIEW_FLOW and MVVIEW_BLOCKS
    int sources;                ///< MVVIEW_PAST, MVVIEW_FUTURE or both
    int distance;               ///< distance of the reference frame; 0: the nearest with vectors on each side
    int background;             ///< enum MvviewBackground
    int scale;                  ///< scale factor of arrows times 256
    int max;                    ///< length of full saturation in units of 1/16 sample; 0: the length of the longest
                                ///< vector
    int step;                   ///< draw the arrow of every step-th block; 0: as many arrows as can be told apart
    int opacity;                ///< opacity of the flow, 0 to 256
    int legend;

    GpumeExecutor executor;

    AVBufferRef *hw_frames;     ///< AVHWFramesContext of the input; NULL: frames in system memory
    void *log_ctx;
} MvviewConfig;

typedef struct MvviewView MvviewView;

extern const GpumeSequenceKind ff_mvview_kind;

/** @return 0 or an AVERROR code; on error *view is NULL */
int ff_mvview_open(MvviewView **view, const MvviewConfig *cfg);
void ff_mvview_close(MvviewView **view);

/**
 * Reads the vectors of the next frame.
 * @param frame NULL: there are no vectors
 * @return the number of vectors to draw, or an AVERROR code
 */
int ff_mvview_read(MvviewView *view, const AVFrame *frame);

/**
 * Draws the vectors that were read. For hardware frames, drawing is queued on the stream of their
 * device. If there are no vectors, out becomes a copy of in; then the frames must be hardware frames.
 * @param out has all properties of the frame that was read
 * @param in  samples to draw on, of the same format and size; in system memory this may be out, if
 *            out is writable
 */
int ff_mvview_draw(MvviewView *view, AVFrame *out, const AVFrame *in);

#endif /* AVFILTER_GPUME_MVVIEW_MVVIEW_H */
