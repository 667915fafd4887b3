/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Interpolates pictures between two others. Free of libavfilter; the result depends neither on the
 * number of threads nor on where it is made. doc/mvfps-definition.md defines what is computed.
 */

#ifndef AVFILTER_GPUME_MVFPS_MVFPS_H
#define AVFILTER_GPUME_MVFPS_MVFPS_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/mvfps/arithmetic.h"
#include "libavfilter/gpume/util/executor.h"

enum MvfpsMode {
    MVFPS_MCI,                  ///< along the motion vectors
    MVFPS_BLEND,                ///< the mean of both pictures, by distance
    MVFPS_DUP,                  ///< the nearest of both pictures
    MVFPS_NB_MODES
};

/** The default of ff_mvfps_look()'s threshold. */
#define MVFPS_DEFAULT_SCENE 0.6

typedef struct MvfpsConfig {
    GpumeExecutor executor;

    AVBufferRef *hw_frames;     ///< AVHWFramesContext of frames on a device; NULL: system memory
    void *log_ctx;
} MvfpsConfig;

typedef struct Mvfps Mvfps;

/** The i-th format of hardware frames between which pictures are made; AV_PIX_FMT_NONE: there are no more. */
enum AVPixelFormat ff_mvfps_hw_format(int i);

/** @return 0 or an AVERROR code, and then *mvfps is NULL */
int ff_mvfps_open(Mvfps **mvfps, const MvfpsConfig *cfg);
void ff_mvfps_close(Mvfps **mvfps);

/**
 * Compares two pictures, which may have any size. On a device this waits for the result.
 * @return whether the second one repeats the first one, but for noise and what a codec changes; or an error
 */
int ff_mvfps_is_repeat(Mvfps *mvfps, const AVFrame *first, const AVFrame *frame);

/**
 * Begin with another pair of pictures, both of the same size and format. They stay as they are
 * until the next pair.
 * @param distances from the frame in front of both to the one before, and from the one after to the
 *        frame behind both, in MVFPS_DISTANCE-ths of the time between the two. If one of them is less than
 *        MVFPS_MIN_DISTANCE or more than MVFPS_MAX_DISTANCE, all speeds are taken as constant.
 * @param mode of the pictures between them. MVFPS_MCI: the vectors are read
 * @return MVFPS_MCI: whether a vector points from one of them into the other; or an error
 */
int ff_mvfps_begin(Mvfps *mvfps, const AVFrame *before, const AVFrame *after, const int distances[2],
                   enum MvfpsMode mode);

/**
 * Looks for a cut between the two: the detail of the picture after is not in the one before, and the
 * two are not of a fade. It depends on the pictures alone.
 * @param scene threshold, above 0: the cost of the best matches of the detail over the detail itself
 * @param mode of pictures where there is no cut, as the pair began
 * @param cut  where there is one
 * @return the mode of which pictures are to be made, or an error. A device that has not looked yet
 *         returns the mode, and makes pictures as it finds.
 */
int ff_mvfps_look(Mvfps *mvfps, enum MvfpsMode mode, enum MvfpsMode cut, double scene);

/**
 * Makes the picture at a phase; on a device this is queued on its stream.
 * @param out  of the format and size of the others, and writable
 * @param part of the time between them, 0 to MVFPS_PARTS
 * @param mode MVFPS_MCI, after a pair that has vectors, or MVFPS_BLEND; on a device also MVFPS_DUP
 */
int ff_mvfps_make(Mvfps *mvfps, AVFrame *out, int part, enum MvfpsMode mode);

/** On a device: copy a picture to one of the same size and format. */
int ff_mvfps_copy(Mvfps *mvfps, AVFrame *out, const AVFrame *in);

#endif /* AVFILTER_GPUME_MVFPS_MVFPS_H */
