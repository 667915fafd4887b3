/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Makes frames of the fields of an interlaced sequence, along their motion. Free of libavfilter; the
 * result depends neither on the number of threads nor on where it is made.
 * doc/mvdeint-definition.md defines what is computed.
 */

#ifndef AVFILTER_GPUME_MVDEINT_MVDEINT_H
#define AVFILTER_GPUME_MVDEINT_MVDEINT_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/mvdeint/arithmetic.h"
#include "libavfilter/gpume/util/executor.h"

typedef struct MvdeintConfig {
    GpumeExecutor executor;
    int passes;                 ///< 1 to MVDEINT_MAX_PASSES; 0: only the estimates of three fields
    int refs;                   ///< fields on each side, 1 to MVDEINT_MAX_REFS
    /** AVHWFramesContext of the frames, or NULL: they are in memory. It can go after ff_mvdeint_open(). */
    AVBufferRef *hw_frames;
    void *log_ctx;
} MvdeintConfig;

/** How an input frame is treated. */
typedef struct MvdeintInput {
    int bottom_first;           ///< its first field has the lines 1, 3, 5, ...
    int is_progressive;         ///< all its lines are of one time
    int passes;                 ///< it leaves as it is; always so if it is progressive
} MvdeintInput;

/** The field of which the next frame is made. */
typedef struct MvdeintNext {
    const AVFrame *frame;       ///< its input frame
    const AVFrame *after;       ///< the input frame behind that; NULL: the sequence ends
    int is_second;
    int passes;                 ///< the input frame leaves as it is
} MvdeintNext;

typedef struct Mvdeint Mvdeint;

/** Returns format i of hardware frames that can be deinterlaced; AV_PIX_FMT_NONE: there are no more. */
enum AVPixelFormat ff_mvdeint_hw_format(int i);

/** @return 0 or an AVERROR code, and then *mvdeint is NULL */
int ff_mvdeint_open(Mvdeint **mvdeint, const MvdeintConfig *cfg);
void ff_mvdeint_close(Mvdeint **mvdeint);

/**
 * Returns whether a frame continues the sequence: else flush it, make what is left, and begin another.
 * One with samples of another format on a device, or on another device, has to have another Mvdeint.
 */
int ff_mvdeint_continues(const Mvdeint *mvdeint, const AVFrame *frame);

/**
 * Adds a frame to the sequence, or begins another one after the end of the last. Fields that can be
 * made must have been made before. The samples are read now, and not later.
 * @param samples a frame that has them; what *frame then has, of the same size and format, becomes a copy of them if
 *                it leaves as it is, and otherwise it needs none. NULL: *frame
 * @return 0, in which case the frame was taken over and *frame is NULL, or an AVERROR code
 */
int ff_mvdeint_push(Mvdeint *mvdeint, AVFrame **frame, const MvdeintInput *input, const AVFrame *samples);

/** Returns a frame with the properties of this one, and its samples if it has some, or NULL. */
AVFrame *ff_mvdeint_clone(const AVFrame *frame);

/** Ends the sequence: no more frames follow. */
void ff_mvdeint_flush(Mvdeint *mvdeint);

/**
 * Finds the next field of which a frame can be made.
 * @return 1, 0: there is none, or others have to follow first, or an AVERROR code
 */
int ff_mvdeint_next(Mvdeint *mvdeint, MvdeintNext *next);

/**
 * Makes the frame of that field, once after ff_mvdeint_next() returned 1.
 * @param out of its size and format, and writable; NULL: it is left out
 * @return 0 or an AVERROR code
 */
int ff_mvdeint_make(Mvdeint *mvdeint, AVFrame *out);

#endif /* AVFILTER_GPUME_MVDEINT_MVDEINT_H */
