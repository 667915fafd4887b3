/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * RGB as opponent colours, in which it is denoised: the mean of the three, and two differences that do not depend on
 * it. In RGB all three have most of the picture, each with noise of its own; here the first component has the picture,
 * with less noise, and the others have little but noise (Dabov et al., Color Image Denoising via Sparse 3D
 * Collaborative Filtering, ICIP 2007).
 */

#ifndef AVFILTER_GPUME_MVDENOISE_OPPONENT_H
#define AVFILTER_GPUME_MVDENOISE_OPPONENT_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/mvdenoise/arithmetic.h"
#include "libavfilter/gpume/util/executor.h"

/** White noise of RGB is so many times that of each component of opponent colours: the square root of 3. */
#define MVDENOISE_OPPONENT_SCALE 1.7320508075688772

/**
 * Returns the format of opponent colours for a format: YUV of at least two bits more, with which RGB comes back
 * exactly; AV_PIX_FMT_NONE: the format is not planar RGB, or it has more than 14 bits.
 */
enum AVPixelFormat ff_mvdenoise_opponent_format(enum AVPixelFormat format);

/**
 * Replaces RGB by opponent colours, alpha as it is. Properties and side data stay.
 * @return 0 or an AVERROR code
 */
int ff_mvdenoise_to_opponent(AVFrame *frame, const GpumeExecutor *executor);

/**
 * Converts denoised opponent colours to RGB, and corrects colours whose noise was clipped.
 * @param rgb   writable frame whose opponent format is that of 'from'
 * @param noisy opponent colours with their noise
 * @param noise of the first component, by tones; NULL: nothing is corrected
 * @return 0 or an AVERROR code
 */
int ff_mvdenoise_from_opponent(AVFrame *rgb, const AVFrame *from, const AVFrame *noisy, const MvdenoiseNoise *noise,
                               const GpumeExecutor *executor);

#endif /* AVFILTER_GPUME_MVDENOISE_OPPONENT_H */
