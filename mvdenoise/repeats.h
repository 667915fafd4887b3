/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds frames that have the samples of another frame.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_REPEATS_H
#define AVFILTER_GPUME_MVDENOISE_REPEATS_H

#include "libavutil/frame.h"
#include "libavutil/pixfmt.h"

/** The bytes of a frame's samples. */
typedef struct MvdenoiseBytes {
    int nb;                     ///< planes
    int w[4], h[4];             ///< bytes of a row of each plane, and rows
} MvdenoiseBytes;

/** Returns the bytes of two frames; nb is 0 if their formats or sizes differ. */
MvdenoiseBytes ff_mvdenoise_bytes(const AVFrame *a, const AVFrame *b);

/** Compares frames. Comparisons of frames on a device are queued there, so that the host need not wait. */
typedef struct MvdenoiseRepeats MvdenoiseRepeats;

/**
 * Compares the samples of two frames. A queued comparison must be completed with ff_mvdenoise_compared() before the
 * next one.
 * @param s opened on a device if *s is NULL or the device has changed; stays NULL for frames in system memory
 * @return whether they are equal; AVERROR(EAGAIN): the comparison is queued; or another AVERROR code with a message
 */
int ff_mvdenoise_compare(MvdenoiseRepeats **s, const AVFrame *a, const AVFrame *b, void *log_ctx);

/** Waits for a queued comparison. @return whether the samples are equal, or an AVERROR code with a message */
int ff_mvdenoise_compared(MvdenoiseRepeats *s);

void ff_mvdenoise_repeats_close(MvdenoiseRepeats **s);

/** The same functions for frames on a CUDA device. */
int ff_mvdenoise_cuda_compare(MvdenoiseRepeats **s, const AVFrame *a, const AVFrame *b, void *log_ctx);
int ff_mvdenoise_cuda_compared(MvdenoiseRepeats *s);
void ff_mvdenoise_cuda_repeats_close(MvdenoiseRepeats **s);

#endif /* AVFILTER_GPUME_MVDENOISE_REPEATS_H */
