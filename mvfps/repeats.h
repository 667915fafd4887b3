/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Leaves out frames that repeat the one before them, as long as few follow each other: what moves on in
 * between can then be interpolated. doc/mvfps-definition.md defines what a repeat is.
 */

#ifndef AVFILTER_GPUME_MVFPS_REPEATS_H
#define AVFILTER_GPUME_MVFPS_REPEATS_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/mvfps/mvfps.h"

/** Frames in order: blank, or with frames. */
typedef struct MvfpsRepeats {
    AVFrame *first;             ///< the last frame that was ready
    AVFrame *waiting[MVFPS_MAX_REPEATS];    ///< frames that repeat it, the oldest first
    int nb_waiting;
    AVFrame *ready[MVFPS_MAX_REPEATS + 1];  ///< frames to be pulled, the oldest first
    int nb_ready;
    int is_still;               ///< more frames than that repeat each other
} MvfpsRepeats;

/**
 * Adds the next frame. All frames that are ready must have been pulled before.
 * @param frame taken over, and set to NULL, unless there is an error
 * @return 0 or an AVERROR code
 */
int ff_mvfps_repeats_push(MvfpsRepeats *s, Mvfps *mvfps, AVFrame **frame);

/** Returns the next frame, which the caller has to free, or NULL: none is ready. */
AVFrame *ff_mvfps_repeats_pull(MvfpsRepeats *s);

void ff_mvfps_repeats_close(MvfpsRepeats *s);

#endif /* AVFILTER_GPUME_MVFPS_REPEATS_H */
