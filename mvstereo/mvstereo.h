/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds the disparity of two rectified views and paints it. Does not depend on libavfilter; the
 * result does not depend on the number of threads or on the backend. doc/mvstereo-definition.md
 * defines the results.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_MVSTEREO_H
#define AVFILTER_GPUME_MVSTEREO_MVSTEREO_H

#include "libavutil/dict.h"
#include "libavutil/frame.h"

#include "libavfilter/gpume/mvstereo/arithmetic.h"
#include "libavfilter/gpume/picture/sequence.h"
#include "libavfilter/gpume/util/executor.h"

/** Contents of the output. */
enum MvstereoOutput {
    MVSTEREO_DISPARITY,         ///< 16 bits: 1/16 sample, plus 16 * -min if min is negative; 65535: hole
    MVSTEREO_GRAY,              ///< 8 bits: 1 to 255 from min to max; 0: hole
    MVSTEREO_COLOR,             ///< RGB; holes are black
    MVSTEREO_DEPTH,             ///< 16 bits: focal * baseline / disparity; 65535: larger; 0: hole
    MVSTEREO_CONFIDENCE,        ///< 8 bits; 0: no disparity was found
    MVSTEREO_FLOAT,             ///< in samples; holes are infinite. Not supported on a device
    MVSTEREO_LEFT_GRAY,         ///< MVSTEREO_GRAY in frames of the input's format, see picture/layout.h
    MVSTEREO_NB_OUTPUTS
};

/** Disparity of a hole, in 1/16 sample. */
#define MVSTEREO_HOLE INT16_MIN

typedef struct MvstereoConfig {
    GpumeExecutor executor;
    int min, max;               ///< disparities min to max - 1; equal: the range is determined
    int rows;                   ///< number of rows above and below that matches may lie in
    int fast;                   ///< halved views are matched first; then only disparities near the results are tried
    int temporal;               ///< disparities are stabilised along the motion of the view; with fill only
    int fill;                   ///< whether to fill holes
    enum MvstereoOutput output;
    int legend;                 ///< whether to paint the scale of colours
    int64_t depth_one;          ///< depth at a disparity of 1/16, in units of the output
    const AVBufferRef *hw_frames;   ///< AVHWFramesContext of frames on a device; NULL: frames in system memory
    /** Where views in system memory are matched: an enum GpumeBackendId, or -1: on a GPU if one can be opened. */
    int backend;
    AVBufferRef *hw_device;     ///< AVHWDeviceContext of the filter graph, for backend, or NULL; as hw_frames
    const char *alternative;    ///< what a user whose device fails can do; NULL: frames are on a device
    void *log_ctx;
} MvstereoConfig;

/** The samples of a frame that form a view. */
typedef struct MvstereoView {
    const AVFrame *frame;
    int x, y;                   ///< position of the first sample
    int step_x, step_y;         ///< distance to the next sample in each direction
} MvstereoView;

/** Two views of the same size. Their frames have the same format. */
typedef struct MvstereoPair {
    MvstereoView views[2];      ///< left, right
    int w, h;
    int right;                  ///< whether to make the map of the right view
    int same_range;             ///< if the range is determined: keep that of the previous pair
    int column;                 ///< column of the output at which the map begins
} MvstereoPair;

typedef struct Mvstereo Mvstereo;

extern const GpumeSequenceKind ff_mvstereo_kind;

/** Returns the pixel format of the output, or AV_PIX_FMT_NONE if it is the input's or not supported on a device. */
enum AVPixelFormat ff_mvstereo_output_format(enum MvstereoOutput output, int is_hw);

/** Returns the size in bytes of a sample of the output's first plane. */
int ff_mvstereo_bytes(enum MvstereoOutput output, int is_hw);

/** @return 0 or an AVERROR code; on error *mvstereo is NULL */
int ff_mvstereo_open(Mvstereo **mvstereo, const MvstereoConfig *cfg);
void ff_mvstereo_close(Mvstereo **mvstereo);

/**
 * Paints the disparity of the left or right view.
 * @param out writable frame of ff_mvstereo_output_format(); the map has the size of the views
 * @return 0 or an AVERROR code
 */
int ff_mvstereo_make(Mvstereo *mvstereo, const MvstereoPair *pair, AVFrame *out);

/** Returns whether an output has the scale from the least to the greatest disparity. */
static inline int mvstereo_has_scale(enum MvstereoOutput output)
{
    return output == MVSTEREO_GRAY || output == MVSTEREO_COLOR || output == MVSTEREO_LEFT_GRAY;
}

/**
 * Adds the scale of the last map to metadata. Logs a scale that was determined and has changed.
 * @return 0 or an AVERROR code
 */
int ff_mvstereo_tell_scale(Mvstereo *mvstereo, AVDictionary **metadata);

/** Gets how the views of the last map agree, as enum MvstereoCount. @return 1, 0 if it is not known, or an error */
int ff_mvstereo_judge(Mvstereo *mvstereo, int counts[MVSTEREO_NB_COUNTS]);

/** Gets the disparities of the last pair, in 1/16 sample; holes are MVSTEREO_HOLE. @return 0 or an AVERROR code */
int ff_mvstereo_read(Mvstereo *mvstereo, int16_t *disparity);

#endif /* AVFILTER_GPUME_MVSTEREO_MVSTEREO_H */
