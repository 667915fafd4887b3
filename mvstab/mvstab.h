/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Stabilises a sequence of pictures. Does not depend on libavfilter; the result does not depend on the number of
 * threads or on the backend. doc/mvstab-definition.md defines the results.
 */

#ifndef AVFILTER_GPUME_MVSTAB_MVSTAB_H
#define AVFILTER_GPUME_MVSTAB_MVSTAB_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/mvstab/path.h"
#include "libavfilter/gpume/picture/sequence.h"
#include "libavfilter/gpume/util/executor.h"

enum MvstabMode {
    MVSTAB_SMOOTH,              ///< the path of the camera is smoothed
    MVSTAB_TRIPOD,              ///< the camera stands still
    MVSTAB_FOLLOW,              ///< the camera moves with least acceleration
};

/** Largest zoom that is found. */
#define MVSTAB_MAX_ZOOM 1.5

typedef struct MvstabConfig {
    GpumeExecutor executor;
    enum MvstabMode mode;
    enum MvstabModel model;
    enum MvstabBorder border;
    int smoothing;              ///< 1 to MVSTAB_MAX_RADIUS
    MvstabLimits limits;
    double zoom;                ///< 0: found
    const AVBufferRef *hw_frames;   ///< AVHWFramesContext of frames on a device; NULL: frames in system memory
    void *log_ctx;
} MvstabConfig;

typedef struct Mvstab Mvstab;

extern const GpumeSequenceKind ff_mvstab_kind;

/** @return 0 or an AVERROR code; on error *mvstab is NULL */
int ff_mvstab_open(Mvstab **mvstab, const MvstabConfig *cfg);
void ff_mvstab_close(Mvstab **mvstab);

/** Returns whether a frame can be added, as ff_gpume_sequence_continues() does. */
int ff_mvstab_continues(const Mvstab *mvstab, const AVFrame *frame);

/** What is known of a frame when it is added. */
typedef struct MvstabInput {
    double time;                ///< in frames
    int passes;                 ///< whether the frame passes unchanged
    const MvstabStep *step;     ///< its place on the path; NULL: it is searched
} MvstabInput;

/**
 * Adds a frame to the sequence, or begins another sequence after the end of the last. All frames that can be made must
 * have been made before.
 * @return 0, in which case the frame was taken over without its samples and *frame is NULL, or an AVERROR code
 */
int ff_mvstab_push(Mvstab *mvstab, AVFrame **frame, const MvstabInput *input);

/** Ends the sequence: no more frames follow. */
void ff_mvstab_flush(Mvstab *mvstab);

/** A frame that can be made. */
typedef struct MvstabNext {
    const MvstabStep *step;     ///< its place on the path
    MvstabMatrix matrix;        ///< maps positions of the output frame to those of the input frame
} MvstabNext;

/** Gets the frame that can be made next. @return 1; 0: there is none, or more input is needed; or an AVERROR code */
int ff_mvstab_next(Mvstab *mvstab, MvstabNext *next);

/** Returns the frame that ff_mvstab_next() returned, without samples. The caller takes it over. */
AVFrame *ff_mvstab_take(Mvstab *mvstab);

/**
 * Makes the frame that ff_mvstab_next() returned.
 * @param out writable frame of the same size and format
 * @return 0 or an AVERROR code
 */
int ff_mvstab_make(Mvstab *mvstab, AVFrame *out);

#endif /* AVFILTER_GPUME_MVSTAB_MVSTAB_H */
