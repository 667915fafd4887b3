/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds the motion of the camera between two pictures in the motion field of blocks. Uses doubles in a fixed order of
 * operations, so that the result is the same on every processor.
 */

#ifndef AVFILTER_GPUME_MVSTAB_FIT_H
#define AVFILTER_GPUME_MVSTAB_FIT_H

#include <stdint.h>

#include "libavutil/motion_vector.h"

#include "libavfilter/gpume/mvstab/path.h"

/** Kinds of transforms that a motion may be. */
enum MvstabModel {
    MVSTAB_AUTO,                ///< a homography where it fits clearly better
    MVSTAB_SIMILARITY,
    MVSTAB_HOMOGRAPHY,
};

/** A block whose motion is known. Positions are relative to the middle of the picture, in samples. */
typedef struct MvstabBlock {
    double x, y;                ///< its middle
    double qx, qy;              ///< where that is in the other picture
    double xx, xy, yy;          ///< its tensor; for a fit without noise, and damped where it is large
    double vote;                ///< weight in the choice of a hypothesis; only in the sample
} MvstabBlock;

/** Number of blocks on which a fit is decided. */
#define MVSTAB_SAMPLE 512

/** Working memory. Zeroed before use. */
typedef struct MvstabFit {
    MvstabBlock *blocks;
    int nb;                     ///< number of blocks whose motion is known
    int nb_all;                 ///< number of blocks of the picture
    int nb_inside;              ///< number of blocks that can be used
    int nb_textured;            ///< number of those whose texture tells a motion
    int w, h;                   ///< size of the picture
    MvstabBlock sample[MVSTAB_SAMPLE];
    int bins[MVSTAB_SAMPLE];    ///< bins of the histogram of vectors; negative: a hypothesis has explained the block
    uint32_t *histogram;
} MvstabFit;

/** Allocates the memory for pictures of this size. @return 0 or AVERROR(ENOMEM) */
int ff_mvstab_fit_init(MvstabFit *f, int w, int h);
void ff_mvstab_fit_uninit(MvstabFit *f);

/**
 * Reads the blocks of a motion field.
 * @param mvs     vectors of the blocks, row after row
 * @param tensors tensors of the blocks
 * @param inside  NULL, or a matrix: only blocks are used whose middle it maps into the picture, half a block from the
 *                edge
 */
void ff_mvstab_fit_read(MvstabFit *f, const AVMotionVector *mvs, const MvstabTensor *tensors,
                        const MvstabMatrix *inside);

/** Returns whether the picture has texture. */
int ff_mvstab_has_texture(const MvstabFit *f);

/** Returns whether both pictures show the same. Those of two shots do not, nor does one without texture. */
int ff_mvstab_agrees(const MvstabFit *f);

/**
 * Finds the motion of most blocks.
 * @return the share of the blocks that move so; 0: the motion is unknown, and *motion is identity
 */
double ff_mvstab_fit(MvstabFit *f, MvstabMatrix *motion, enum MvstabModel model);

#endif /* AVFILTER_GPUME_MVSTAB_FIT_H */
