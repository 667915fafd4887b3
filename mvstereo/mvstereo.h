/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds the disparity of two rectified views, and paints it. Free of libavfilter; the result
 * depends neither on the number of threads nor on where it is made.
 * doc/mvstereo-definition.md defines what is computed.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_MVSTEREO_H
#define AVFILTER_GPUME_MVSTEREO_MVSTEREO_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/mvstereo/arithmetic.h"
#include "libavfilter/gpume/util/executor.h"

/** What is painted. */
enum MvstereoOutput {
    MVSTEREO_DISPARITY,         ///< 16 bits: 1/16 sample, plus 16 * -min where min is negative; 65535: a hole
    MVSTEREO_GRAY,              ///< 8 bits: 1 to 255 from min to max, 0: a hole
    MVSTEREO_COLOR,             ///< RGB; holes are black
    MVSTEREO_DEPTH,             ///< 16 bits: focal * baseline / disparity; 65535: farther than that, 0: a hole
    MVSTEREO_CONFIDENCE,        ///< 8 bits; 0 where nothing was found
    MVSTEREO_FLOAT,             ///< samples; holes are infinite. Not on a device
    MVSTEREO_LEFT_GRAY,         ///< MVSTEREO_GRAY in frames of the input's format, for which see picture/layout.h
    MVSTEREO_NB_OUTPUTS
};

/** A disparity that is a hole, in 1/16. */
#define MVSTEREO_HOLE INT16_MIN

typedef struct MvstereoConfig {
    GpumeExecutor executor;
    int min, max;               ///< disparities, as many as from min to max - 1; equal: they are found
    int rows;                   ///< how far above and below matches are, too
    int fast;                   ///< halved views are matched first, then a part of the range
    int temporal;               ///< disparities of what does not move are stabilised; with fill only
    int fill;                   ///< whether holes are filled
    enum MvstereoOutput output;
    int legend;                 ///< whether a scale is painted beside colours
    int64_t depth_one;          ///< depth at a disparity of 1/16, in units of the output
    /** AVHWFramesContext of the frames, or NULL: they are in memory. It can go after ff_mvstereo_open(). */
    const AVBufferRef *hw_frames;
    void *log_ctx;
} MvstereoConfig;

/** Which samples of a frame are a view. */
typedef struct MvstereoView {
    const AVFrame *frame;
    int x, y;                   ///< the first one
    int step_x, step_y;         ///< from each to the next
} MvstereoView;

/** Two views of a size. Their frames have the same format. */
typedef struct MvstereoPair {
    MvstereoView views[2];      ///< left, right
    int w, h;
    int right;                  ///< whether the map is of the right view
    int same_range;             ///< where the range is found: that of the pair before is kept
    int column;                 ///< of the output, where the map begins
} MvstereoPair;

typedef struct Mvstereo Mvstereo;

/** Returns format i of hardware frames that can be views; AV_PIX_FMT_NONE: there are no more. */
enum AVPixelFormat ff_mvstereo_hw_format(int i);

/** Returns the format of samples that are painted; AV_PIX_FMT_NONE: that of the input, or not on a device. */
enum AVPixelFormat ff_mvstereo_output_format(enum MvstereoOutput output, int is_hw);

/** Returns bytes of a sample of such a format's first plane. */
int ff_mvstereo_bytes(enum MvstereoOutput output, int is_hw);

/** @return 0 or an AVERROR code, and then *mvstereo is NULL */
int ff_mvstereo_open(Mvstereo **mvstereo, const MvstereoConfig *cfg);
void ff_mvstereo_close(Mvstereo **mvstereo);

/**
 * Paints the disparity of the left view, or of the right one.
 * @param out of ff_mvstereo_output_format(), and writable; the map has the size of the views
 * @return 0 or an AVERROR code
 */
int ff_mvstereo_make(Mvstereo *mvstereo, const MvstereoPair *pair, AVFrame *out);

/** Sets the disparities of the last pair, in 1/16, MVSTEREO_HOLE where there is none. @return 0 or an AVERROR code */
int ff_mvstereo_read(Mvstereo *mvstereo, int16_t *disparity);

#endif /* AVFILTER_GPUME_MVSTEREO_MVSTEREO_H */
