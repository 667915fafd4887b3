/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Decides how frames are moved: finds the motion of the camera between two pictures (fit.c); transforms, the path of
 * the camera, its smoothing, limits and zoom (path.c). Functions use doubles in a fixed order of operations, so that
 * their results are the same on every processor. Those of path.c are pure.
 */

#ifndef AVFILTER_GPUME_MVSTAB_PATH_H
#define AVFILTER_GPUME_MVSTAB_PATH_H

#include <stdint.h>

#include "libavutil/motion_vector.h"

#include "libavfilter/gpume/mvstab/arithmetic.h"

/** A homography of positions (x, y) in luma samples relative to the middle of the picture; the last entry is 1. */
typedef struct MvstabMatrix {
    double m[8];                ///< row after row
} MvstabMatrix;

extern const MvstabMatrix ff_mvstab_identity;

/** A frame on the path of the camera. */
typedef struct MvstabStep {
    MvstabMatrix motion;        ///< maps positions of the frame to those of the frame before it in the shot
    double inliers;             ///< share of the blocks that move so; 0: the motion is unknown, and the path is held
    int begins;                 ///< whether the frame begins a shot
    double time;                ///< in frames
} MvstabStep;

/** Part of the path: all frames around a frame that are known. */
typedef struct MvstabWindow {
    const MvstabStep *(*step)(const void *opaque, int64_t number);
    const void *opaque;
    int64_t first, last;        ///< frames of the shot that are known, no further away than the radius
    int radius;                 ///< frames on each side
} MvstabWindow;

/** Returns the matrix that maps as b, and then as a. */
MvstabMatrix ff_mvstab_product(const MvstabMatrix *a, const MvstabMatrix *b);
MvstabMatrix ff_mvstab_inverse(const MvstabMatrix *a);

/** Maps a position. */
void ff_mvstab_map(double *x, double *y, const MvstabMatrix *a);

/**
 * Returns where a smooth path of the camera is at a frame: maps positions of the output to those of the frame. It is
 * the line that fits the window best, so that it follows a pan at the ends of a shot as in the middle.
 */
MvstabMatrix ff_mvstab_smooth(const MvstabWindow *w, int64_t number);

/** Largest number of frames on each side of a frame in a window. */
#define MVSTAB_MAX_RADIUS 250

/**
 * Returns where a path of least acceleration is at a frame, as ff_mvstab_smooth() does. It goes on from the path before
 * the frame, and stays near that of the camera in the frames after it.
 * @param before    where the path was at the last two frames, the last one first, in positions of this frame
 * @param nb_before number of these frames in the shot, 0 to 2
 */
MvstabMatrix ff_mvstab_follow(const MvstabWindow *w, int64_t number, const MvstabMatrix before[2], int nb_before);

/** Limits of how far a frame is moved, and of the angle by which it is rotated. */
typedef struct MvstabLimits {
    double shift;               ///< samples; INFINITY: no limit
    double sine, cosine;        ///< of the angle; a cosine below -1: no limit
} MvstabLimits;

/** Limits the shift of the middle and the rotation of a matrix. */
void ff_mvstab_limit(MvstabMatrix *a, const MvstabLimits *limits);

/**
 * Returns the least zoom, 1 to max, at which a w x h output frame has only samples of the input frame. If even max is
 * too little, moves the matrix towards identity until max is enough.
 */
double ff_mvstab_zoom(MvstabMatrix *a, int w, int h, double max);

/** Returns the weight of a frame at distance u of the radius, -1 to 1. */
static inline double mvstab_weight(double u)
{
    const double v = 1 - u * u;

    return v > 0 ? v * v * v : 0;
}

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

#endif /* AVFILTER_GPUME_MVSTAB_PATH_H */
