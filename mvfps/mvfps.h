/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Interpolates pictures between two others. Does not depend on libavfilter; the result does not
 * depend on the number of threads or on the backend. doc/mvfps-definition.md defines the results.
 */

#ifndef AVFILTER_GPUME_MVFPS_MVFPS_H
#define AVFILTER_GPUME_MVFPS_MVFPS_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/core/scene.h"
#include "libavfilter/gpume/mvfps/arithmetic.h"
#include "libavfilter/gpume/picture/sequence.h"
#include "libavfilter/gpume/util/executor.h"

enum MvfpsMode {
    MVFPS_MCI,                  ///< along motion vectors
    MVFPS_BLEND,                ///< mean of both pictures, weighted by distance
    MVFPS_DUP,                  ///< copy of the nearer picture
    MVFPS_NB_MODES
};

typedef struct MvfpsConfig {
    GpumeExecutor executor;

    AVBufferRef *hw_frames;     ///< AVHWFramesContext of frames on a device; NULL: frames in system memory
    void *log_ctx;
} MvfpsConfig;

typedef struct Mvfps Mvfps;

extern const GpumeSequenceKind ff_mvfps_kind;

/** @return 0 or an AVERROR code; on error *mvfps is NULL */
int ff_mvfps_open(Mvfps **mvfps, const MvfpsConfig *cfg);
void ff_mvfps_close(Mvfps **mvfps);

/**
 * Compares two pictures of any size. On a device, waits for the result.
 * @return whether the second picture repeats the first except for noise and coding errors; or an
 *         AVERROR code
 */
int ff_mvfps_is_repeat(Mvfps *mvfps, const AVFrame *first, const AVFrame *frame);

/**
 * Begins another pair of pictures of the same size and format, and tells whether it has vectors. The
 * pictures must stay unchanged until the next pair.
 * @param distances from the frame before the pair to the earlier frame, and from the later frame to
 *                  the frame after the pair, in units of the time between the two / MVFPS_DISTANCE.
 *                  If one of them is below MVFPS_MIN_DISTANCE or above MVFPS_MAX_DISTANCE, speeds
 *                  are assumed to be constant.
 * @param mode mode of the pictures between them; with MVFPS_MCI the vectors are read
 * @return 1 if a vector leads from one of them to the other, 0 if none does or mode is not MVFPS_MCI; or
 *         an AVERROR code
 */
int ff_mvfps_begin(Mvfps *mvfps, const AVFrame *before, const AVFrame *after, const int distances[2],
                   enum MvfpsMode mode);

/**
 * Looks for a cut between the two: the detail of the later picture is not in the earlier one, and
 * the two are not of a fade. The result depends only on the pictures.
 * @param scene threshold, above 0: cost of the best matches of the detail, relative to the detail
 * @param mode mode of pictures if there is no cut, as in ff_mvfps_begin()
 * @param cut  mode of pictures if there is a cut
 * @return the mode to use, or an AVERROR code. If the device has not decided yet, returns mode; the
 *         device then uses the right mode itself.
 */
int ff_mvfps_find_cut(Mvfps *mvfps, enum MvfpsMode mode, enum MvfpsMode cut, double scene);

/**
 * Makes the picture at a phase; on a device this is queued on its stream.
 * @param out  writable frame of the same format and size
 * @param part position in time, 0 to MVFPS_PARTS
 * @param mode MVFPS_MCI if the pair has vectors, or MVFPS_BLEND; on a device also MVFPS_DUP
 */
int ff_mvfps_make(Mvfps *mvfps, AVFrame *out, int part, enum MvfpsMode mode);

/** Copies a picture to another of the same size and format; only on a device. */
int ff_mvfps_copy(Mvfps *mvfps, AVFrame *out, const AVFrame *in);

#endif /* AVFILTER_GPUME_MVFPS_MVFPS_H */
