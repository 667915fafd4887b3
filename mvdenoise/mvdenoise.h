/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Denoises a sequence of pictures along motion vectors. Does not depend on libavfilter; the result
 * does not depend on the number of threads or on the backend. doc/mvdenoise-definition.md defines
 * the results.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_MVDENOISE_H
#define AVFILTER_GPUME_MVDENOISE_MVDENOISE_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/mvdenoise/arithmetic.h"
#include "libavfilter/gpume/picture/sequence.h"
#include "libavfilter/gpume/util/executor.h"

typedef struct MvdenoiseConfig {
    GpumeExecutor executor;
    int radius;                 ///< number of pictures on each side, 0 to MVDENOISE_MAX_RADIUS
    int sigma;                  ///< sigma of the noise in 1/MVDENOISE_SIGMA_ONE of 8-bit samples; 0: estimated
    int single;                 ///< whether an estimated sigma is the same at all tones
    int strength;               ///< factor of sigma, in 1/256; ff_mvdenoise_set_strength() changes it
    int passes;                 ///< 1 or 2
    int dense;                  ///< whether rows of patches are half as far apart
    unsigned planes;            ///< bit mask of the planes that are denoised
    int opponent;               ///< whether frames have opponent colours, whose noise was clipped in RGB
    const AVBufferRef *hw_frames;   ///< AVHWFramesContext of frames on a device; NULL: frames in system memory
    void *log_ctx;
} MvdenoiseConfig;

typedef struct Mvdenoise Mvdenoise;

extern const GpumeSequenceKind ff_mvdenoise_kind;

/** @return 0 or an AVERROR code; on error *mvdenoise is NULL */
int ff_mvdenoise_open(Mvdenoise **mvdenoise, const MvdenoiseConfig *cfg);
void ff_mvdenoise_close(Mvdenoise **mvdenoise);

/** Returns the sequence, which tells whether a frame can be added. Set its field flushed when no more frames follow. */
GpumeSequence *ff_mvdenoise_sequence(Mvdenoise *mvdenoise);

/** Sets MvdenoiseConfig.strength for the frames that are added from now on. */
void ff_mvdenoise_set_strength(Mvdenoise *mvdenoise, int strength);

/** The samples of the frame equal those of the previous frame. */
#define MVDENOISE_IS_REPEAT 1
/** The frame is not denoised, but is used to denoise others. */
#define MVDENOISE_IS_KEPT   2

/**
 * Adds a frame to the sequence, or begins another sequence after the end of the last. All frames
 * that can be made must have been made before. The samples are read in this call only.
 * @param samples frame of the same size and format that has the samples; NULL: *frame
 * @param flags   MVDENOISE_IS_*
 * @return 0, in which case the frame was taken over and *frame is NULL, or an AVERROR code
 */
int ff_mvdenoise_push(Mvdenoise *mvdenoise, AVFrame **frame, const AVFrame *samples, int flags);

/** Returns the frame that can be made next; NULL: there is none, or more input is needed. */
const AVFrame *ff_mvdenoise_next(const Mvdenoise *mvdenoise);

/**
 * Makes the frame that ff_mvdenoise_next() returns.
 * @param out writable frame of the same size and format
 * @return 0 or an AVERROR code
 */
int ff_mvdenoise_make(Mvdenoise *mvdenoise, AVFrame *out);

/** Returns the number of components of the sequence's frames. */
int ff_mvdenoise_nb_components(const Mvdenoise *mvdenoise);

/**
 * Gets sigma of a component of the last frame that was made, as estimated or given, without the
 * factor of the option strength.
 * @return 1; 0 if the component is not denoised; or an AVERROR code
 */
int ff_mvdenoise_curve(Mvdenoise *mvdenoise, MvdenoiseCurve *curve, int component);

/**
 * Returns the noise, by tones, with which a component of the last frame that was made was denoised; NULL: the frame
 * was kept. Not for frames on a device.
 */
const MvdenoiseNoise *ff_mvdenoise_noise(Mvdenoise *mvdenoise, int component);

/** Returns the largest distance of a picture for which a frame had no motion field so far, or 0. */
int ff_mvdenoise_missing(const Mvdenoise *mvdenoise);

#endif /* AVFILTER_GPUME_MVDENOISE_MVDENOISE_H */
