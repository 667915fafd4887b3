/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Makes pictures between two others. Free of libavfilter; the result does not depend on the
 * number of threads. doc/mvfps.texi defines what is computed.
 */

#ifndef AVFILTER_GPUME_BETWEEN_BETWEEN_H
#define AVFILTER_GPUME_BETWEEN_BETWEEN_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/between/arithmetic.h"
#include "libavfilter/gpume/job.h"

enum MvfpsMode {
    MVFPS_MCI,                  ///< along the motion vectors
    MVFPS_BLEND,                ///< the mean of both pictures, by distance
    MVFPS_DUP,                  ///< nothing is made
    MVFPS_NB_MODES
};

typedef struct MvfpsConfig {
    /** Runs all parts of a job and returns when they are done. */
    void (*execute)(void *opaque, GpumeJob job, void *arg, int nb_jobs);
    void *opaque;
    int nb_threads;
} MvfpsConfig;

typedef struct MvfpsBetween MvfpsBetween;


MvfpsBetween *ff_mvfps_open(const MvfpsConfig *cfg);
void ff_mvfps_close(MvfpsBetween **between);

/**
 * Begin with another pair of pictures, both of the same size and format: read the vectors between
 * them, of either or of both.
 * @return how many valid vectors point from one of them into the other, or an error
 */
int ff_mvfps_read(MvfpsBetween *between, const AVFrame *before, const AVFrame *after);

/**
 * How unlike the two are: the cost of the picture after by its vectors into the one before, or
 * without any, over what it would be if each block were flat, as gpume's scene.
 */
double ff_mvfps_scene(MvfpsBetween *between, const AVFrame *before, const AVFrame *after);

/**
 * Make the picture at an instant, of the pair that was read last.
 * @param out  of the format and size of the others, and writable
 * @param part of the time between them, 0 to MVFPS_PARTS
 * @param mode MVFPS_MCI, after a pair that has vectors, or MVFPS_BLEND
 */
int ff_mvfps_make(MvfpsBetween *between, AVFrame *out, const AVFrame *before, const AVFrame *after,
                  int part, enum MvfpsMode mode);

#endif /* AVFILTER_GPUME_BETWEEN_BETWEEN_H */
