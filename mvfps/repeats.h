/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Drops frames that repeat the previous one, unless many follow each other, so that the motion
 * between the others can be interpolated. doc/mvfps-definition.md defines what a repeat is.
 */

#ifndef AVFILTER_GPUME_MVFPS_REPEATS_H
#define AVFILTER_GPUME_MVFPS_REPEATS_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/mvfps/mvfps.h"

/** Frames in order. Zeroed, or with frames. */
typedef struct MvfpsRepeats {
    AVFrame *first;             ///< the last frame that became ready
    AVFrame *waiting[MVFPS_MAX_REPEATS];    ///< its repeats, the oldest first
    int nb_waiting;
    AVFrame *ready[MVFPS_MAX_REPEATS + 1];  ///< frames to be pulled, the oldest first
    int nb_ready;
    int is_still;               ///< whether more than MVFPS_MAX_REPEATS frames repeat each other
} MvfpsRepeats;

/**
 * Adds the next frame. All available frames must have been pulled before.
 * @param frame taken over and set to NULL, unless there is an error
 * @return 0 or an AVERROR code
 */
int ff_mvfps_repeats_push(MvfpsRepeats *s, Mvfps *mvfps, AVFrame **frame);

/** Returns the next frame, which the caller frees; NULL: no frame is ready. */
AVFrame *ff_mvfps_repeats_pull(MvfpsRepeats *s);

void ff_mvfps_repeats_close(MvfpsRepeats *s);

#endif /* AVFILTER_GPUME_MVFPS_REPEATS_H */
