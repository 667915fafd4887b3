/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Decides from the times of input frames which output frame is made next, and how; doc/mvfps-definition.md defines it.
 * Knows times only: the caller keeps the frames, in the same order.
 */

#ifndef AVFILTER_GPUME_MVFPS_TIMELINE_H
#define AVFILTER_GPUME_MVFPS_TIMELINE_H

#include <stdint.h>

#include "libavutil/rational.h"

/** Latest time, so that sums and differences of times fit into 64 bits. */
#define MVFPS_MAX_TIME (INT64_MAX / 4)
/** Maximum number of frames that wait. Where times are made even, the second one gets its time when all are known. */
#define MVFPS_MAX_FRAMES 11

typedef struct MvfpsTimelineConfig {
    AVRational rate;            ///< of the output
    AVRational time_base;       ///< of all times
    AVRational in_rate;         ///< of the input; 0/1: unknown
    AVRational in_time_base;    ///< time base in which the input's times have been rounded
    int64_t gap;                ///< longest time that is interpolated, in microseconds
    /** Whether repeats have been left out: times that the grid of the input's rate made uneven become even. */
    int is_sparse;
} MvfpsTimelineConfig;

/** Times are in units of time_base; AV_NOPTS_VALUE: unknown. */
typedef struct MvfpsTimeline {
    MvfpsTimelineConfig cfg;
    int64_t rounding;           ///< maximum distance of an output time from an input frame whose time it stands for
    int64_t longest_gap, longest_fill;
    int64_t start;              ///< time of output frame 0
    int64_t index;              ///< number of the next output frame

    int nb;                     ///< number of frames that wait
    int64_t pts[MVFPS_MAX_FRAMES];          ///< their times
    int64_t durations[MVFPS_MAX_FRAMES];    ///< their durations; 0: unknown
    int is_even;                ///< whether the second one has its final time
    int64_t front;              ///< time of the frame before the first one
    int64_t own[2 * MVFPS_MAX_FRAMES];      ///< with is_sparse, the times that frames had: first those that have left
    int nb_left;                ///< number of those that have left
    int has_ended;
    int64_t end_of_repeats, end_of_stream;
} MvfpsTimeline;

/** What to do next. */
enum MvfpsAction {
    MVFPS_WAIT,                 ///< take another frame; after the end: nothing is left
    MVFPS_NEXT,                 ///< remove the first frame
    MVFPS_JUMP,                 ///< remove the first frame: the second one is too late to fill the gap
    MVFPS_DAMAGED,              ///< remove the second frame, whose time is wrong
    MVFPS_ORIGINAL,             ///< output the first frame
    MVFPS_AGAIN,                ///< output the first frame, the last of all, which lasts longer
    MVFPS_BETWEEN,              ///< output a frame between the first two
};

void ff_mvfps_timeline_init(MvfpsTimeline *t, const MvfpsTimelineConfig *cfg);

/** Returns the time of an output frame. Times that do not fit are later than all frames. */
int64_t ff_mvfps_timeline_at(const MvfpsTimeline *t, int64_t index);

/** Returns whether this time is so long that it would be filled with too many frames. */
int ff_mvfps_timeline_is_jump(const MvfpsTimeline *t, int64_t time);

/** Adds a frame, after MVFPS_WAIT. @return 0: it is not later than the frame before it, and was not added */
int ff_mvfps_timeline_take(MvfpsTimeline *t, int64_t pts, int64_t duration);

/** Tells that no more frames follow. The ends, if they are known, are those of the last frame. */
void ff_mvfps_timeline_end(MvfpsTimeline *t, int64_t end_of_repeats, int64_t end_of_stream);

/**
 * Decides what to do next. Frames to be removed are no longer counted afterwards. After output, the caller increments
 * index.
 * @param part set to the position of MVFPS_BETWEEN, 0 to parts
 */
enum MvfpsAction ff_mvfps_timeline_decide(MvfpsTimeline *t, int *part, int parts);

/** Returns whether an output frame lies between the frame that waits and one of this time, or this is not known. */
int ff_mvfps_timeline_has_between(const MvfpsTimeline *t, int64_t pts);

/**
 * Sets the distances of the frames beyond the first two, as ff_mvfps_begin() takes them. The frame after them has not
 * arrived yet. Its time follows from the duration of the frame before it, if durations can be trusted: filters that
 * drop frames do not change durations.
 */
void ff_mvfps_timeline_distances(const MvfpsTimeline *t, int distances[2]);

#endif /* AVFILTER_GPUME_MVFPS_TIMELINE_H */
