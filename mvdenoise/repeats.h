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

/** Returns whether two frames in system memory, of the same format and size, have the same samples. */
int ff_mvdenoise_has_same(const AVFrame *a, const AVFrame *b);

/** Compares CUDA frames on the stream of their device. */
typedef struct MvdenoiseCudaRepeats MvdenoiseCudaRepeats;

/**
 * Queues the comparison of two CUDA frames. The previous comparison must have been completed with
 * ff_mvdenoise_cuda_compared().
 * @param s opened if *s is NULL or the device has changed
 * @return 0 or an AVERROR code with a message
 */
int ff_mvdenoise_cuda_compare(MvdenoiseCudaRepeats **s, const AVFrame *a, const AVFrame *b, void *log_ctx);

/** Waits for the comparison. @return whether the frames have the same samples, or an AVERROR code with a message */
int ff_mvdenoise_cuda_compared(MvdenoiseCudaRepeats *s);

void ff_mvdenoise_cuda_repeats_close(MvdenoiseCudaRepeats **s);

#endif /* AVFILTER_GPUME_MVDENOISE_REPEATS_H */
