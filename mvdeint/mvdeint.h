/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Makes frames of the fields of an interlaced sequence along motion vectors. Does not depend on
 * libavfilter; the result does not depend on the number of threads or on the backend.
 * doc/mvdeint-definition.md defines the results.
 */

#ifndef AVFILTER_GPUME_MVDEINT_MVDEINT_H
#define AVFILTER_GPUME_MVDEINT_MVDEINT_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/mvdeint/arithmetic.h"
#include "libavfilter/gpume/picture/sequence.h"
#include "libavfilter/gpume/util/executor.h"

typedef struct MvdeintConfig {
    GpumeExecutor executor;
    int passes;                 ///< 1 to MVDEINT_MAX_PASSES; 0: only the estimates from three fields
    int refs;                   ///< fields on each side, 1 to MVDEINT_MAX_REFS
    int only_first;             ///< whether no frames are made of second fields
    int max_in_flight;          ///< number of searches of a pass; 0: as many as are best
    const AVBufferRef *hw_frames;   ///< AVHWFramesContext of frames on a device; NULL: frames in system memory
    void *log_ctx;
} MvdeintConfig;

/** How an input frame is treated. */
typedef struct MvdeintInput {
    int bottom_first;           ///< whether its first field has the lines 1, 3, 5, ...
    int is_progressive;         ///< whether all its lines are of one time
    int passes;                 ///< whether the frame passes unchanged; progressive frames only if this is set
    int is_discarded;           ///< whether no frame is made of it: it only helps to make those after it
} MvdeintInput;

/** The field from which the next frame is made. */
typedef struct MvdeintNext {
    const AVFrame *frame;       ///< its input frame
    const AVFrame *after;       ///< the next input frame; NULL: the sequence ends
    int is_second;
    int passes;                 ///< whether the input frame passes unchanged
    int is_skipped;             ///< whether no frame is made of it
} MvdeintNext;

typedef struct Mvdeint Mvdeint;

extern const GpumeSequenceKind ff_mvdeint_kind;

/** @return 0 or an AVERROR code; on error *mvdeint is NULL */
int ff_mvdeint_open(Mvdeint **mvdeint, const MvdeintConfig *cfg);
void ff_mvdeint_close(Mvdeint **mvdeint);

/** Returns the sequence, which tells whether a frame can be added. Set its field flushed when no more frames follow. */
GpumeSequence *ff_mvdeint_sequence(Mvdeint *mvdeint);

/**
 * Adds a frame to the sequence, or begins another sequence after the end of the last. All frames
 * that can be made must have been made before. The samples are read in this call only.
 * @param samples a frame that has the samples; if *frame passes unchanged, they are copied to it,
 *                else *frame needs no samples. NULL: *frame has the samples
 * @return 0, in which case the frame was taken over and *frame is NULL, or an AVERROR code
 */
int ff_mvdeint_push(Mvdeint *mvdeint, AVFrame **frame, const MvdeintInput *input, const AVFrame *samples);

/** Corrects the field order of the frame that was added last, before the next frame is added. */
void ff_mvdeint_set_order(Mvdeint *mvdeint, int bottom_first);

/** Returns a new frame with the properties of a frame, without samples; or NULL. */
AVFrame *ff_mvdeint_properties(const AVFrame *frame);

/** Returns a new frame with the properties of a frame and, if it has any, its samples; or NULL. */
AVFrame *ff_mvdeint_clone(const AVFrame *frame);

/**
 * Finds the next field from which a frame can be made.
 * @return 1; 0 if there is none or more input is needed; or an AVERROR code
 */
int ff_mvdeint_next(Mvdeint *mvdeint, MvdeintNext *next);

/**
 * Makes the frame of this field, once after ff_mvdeint_next() has returned 1.
 * @param out writable frame of the same size and format; NULL if the field is skipped or passes
 * @return 0 or an AVERROR code
 */
int ff_mvdeint_make(Mvdeint *mvdeint, AVFrame *out);

#endif /* AVFILTER_GPUME_MVDEINT_MVDEINT_H */
