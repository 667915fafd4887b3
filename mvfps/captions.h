/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Carries closed captions from input frames to output frames. Every caption is output once, in
 * order, even if its frame is dropped.
 */

#ifndef AVFILTER_GPUME_MVFPS_CAPTIONS_H
#define AVFILTER_GPUME_MVFPS_CAPTIONS_H

#include <stdint.h>

#include "libavutil/fifo.h"
#include "libavutil/frame.h"
#include "libavutil/rational.h"

#include "libavfilter/ccfifo.h"

/** Zeroed, or opened. */
typedef struct MvfpsCaptions {
    CCFifo standard;            ///< distributes captions at output rates that CTA-708 names
    AVFifo *others;             ///< captions with their times, at all other output rates
    int64_t last_pts;           ///< time of the last frame whose captions were added to these
    void *log_ctx;
    int has_any;                ///< whether captions have arrived
    int warned;
} MvfpsCaptions;

/** @return 0 or AVERROR(ENOMEM); on error s is zeroed */
int ff_mvfps_captions_open(MvfpsCaptions *s, AVRational output_rate, void *log_ctx);
void ff_mvfps_captions_close(MvfpsCaptions *s);

/** Inserts the captions of a dropped frame before those of the next frame. @return 0 or AVERROR(ENOMEM) */
int ff_mvfps_captions_prepend(AVFrame *frame, const AVFrame *dropped);

/** Moves the captions of an input frame into the queue. @return 0 or AVERROR(ENOMEM) */
int ff_mvfps_captions_take(MvfpsCaptions *s, AVFrame *frame, int64_t pts);

/**
 * Attaches captions to an output frame.
 * @param end time up to which captions are attached, in the units of pts; INT64_MAX: all that are left
 * @return 0 or AVERROR(ENOMEM)
 */
int ff_mvfps_captions_give(MvfpsCaptions *s, AVFrame *frame, int64_t end);

#endif /* AVFILTER_GPUME_MVFPS_CAPTIONS_H */
