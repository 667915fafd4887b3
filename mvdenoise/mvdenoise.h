/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Takes noise out of a sequence of pictures, along their motion vectors. Free of libavfilter; the
 * result depends neither on the number of threads nor on where it is made.
 * doc/mvdenoise-definition.md defines what is computed.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_MVDENOISE_H
#define AVFILTER_GPUME_MVDENOISE_MVDENOISE_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/mvdenoise/arithmetic.h"
#include "libavfilter/gpume/util/executor.h"

typedef struct MvdenoiseConfig {
    GpumeExecutor executor;
    int radius;                 ///< pictures on each side, 0 to MVDENOISE_MAX_RADIUS
    int sigma;                  ///< of the noise, in 1/MVDENOISE_SIGMA_ONE of samples of 8 bits; 0: estimated
    int single;                 ///< an estimated sigma is the same at all tones
    int strength;               ///< factor of it, in 1/256
    int passes;                 ///< 1 or 2
    unsigned planes;            ///< bits of those that are denoised
    /** AVHWFramesContext of the frames, or NULL: they are in memory. It can go after ff_mvdenoise_open(). */
    const AVBufferRef *hw_frames;
    void *log_ctx;
} MvdenoiseConfig;

typedef struct Mvdenoise Mvdenoise;

/** Returns format i of hardware frames that can be denoised; AV_PIX_FMT_NONE: there are no more. */
enum AVPixelFormat ff_mvdenoise_hw_format(int i);

/** @return 0 or an AVERROR code, and then *mvdenoise is NULL */
int ff_mvdenoise_open(Mvdenoise **mvdenoise, const MvdenoiseConfig *cfg);
void ff_mvdenoise_close(Mvdenoise **mvdenoise);

/**
 * Returns whether a frame continues the sequence: else flush it, make what is left, and begin another.
 * One with samples of another format on a device, or on another device, has to have another Mvdenoise.
 */
int ff_mvdenoise_continues(const Mvdenoise *mvdenoise, const AVFrame *frame);

/** The samples of the frame are equal to those of the frame before. */
#define MVDENOISE_IS_REPEAT 1
/** The frame is not denoised. It helps to denoise others. */
#define MVDENOISE_IS_KEPT   2

/**
 * Adds a frame to the sequence, or begins another one after the end of the last. Frames that can be
 * made must have been made before. The samples are read now, and not later.
 * @param samples a frame that has them, of the same size and format; NULL: *frame
 * @param flags   MVDENOISE_IS_*
 * @return 0, in which case the frame was taken over and *frame is NULL, or an AVERROR code
 */
int ff_mvdenoise_push(Mvdenoise *mvdenoise, AVFrame **frame, const AVFrame *samples, int flags);

/** Ends the sequence: no more frames follow. */
void ff_mvdenoise_flush(Mvdenoise *mvdenoise);

/** Returns the frame that can be made next, or NULL: there is none, or others have to follow first. */
const AVFrame *ff_mvdenoise_next(const Mvdenoise *mvdenoise);

/**
 * Makes it.
 * @param out of its size and format, and writable
 * @return 0 or an AVERROR code
 */
int ff_mvdenoise_make(Mvdenoise *mvdenoise, AVFrame *out);

/** Returns how many components the frames of the sequence have. */
int ff_mvdenoise_nb_components(const Mvdenoise *mvdenoise);

/**
 * Gets sigma of a component of the frame that was made last, as it was estimated or given, before the option strength.
 * @return 1, 0: the component is not denoised, or an AVERROR code
 */
int ff_mvdenoise_curve(Mvdenoise *mvdenoise, MvdenoiseCurve *curve, int component);

/** Returns the largest distance of a picture for which a frame had no motion field so far, or 0. */
int ff_mvdenoise_missing(const Mvdenoise *mvdenoise);

#endif /* AVFILTER_GPUME_MVDENOISE_MVDENOISE_H */
