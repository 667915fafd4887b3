/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * How two views lie in frames: layouts, where the views are, pairs of alternating frames, and the side data that
 * maps do not have.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_LAYOUT_H
#define AVFILTER_GPUME_MVSTEREO_LAYOUT_H

#include "libavutil/frame.h"
#include "libavutil/rational.h"
#include "libavutil/stereo3d.h"

#include "libavfilter/gpume/mvstereo/mvstereo.h"

/** Layout of two views in a frame. */
enum MvstereoLayout {
    MVSTEREO_AUTO = -1,         ///< from the frame's AVStereo3D
    MVSTEREO_SBS,               ///< side by side
    MVSTEREO_TB,                ///< one above the other
    MVSTEREO_SBS2, MVSTEREO_TB2,    ///< the same with half of the samples in that direction
    MVSTEREO_ROWS, MVSTEREO_COLUMNS,
    MVSTEREO_FRAMES,            ///< in alternating frames
    MVSTEREO_INPUTS,            ///< in two inputs
};

/** Bit of layouts whose first view is the right one. */
#define MVSTEREO_RIGHT_FIRST 16

/** Names of layouts, without the suffix for the first view. */
extern const char *const ff_mvstereo_layout_names[];

/** Returns the layout that side data says, or MVSTEREO_AUTO. */
int ff_mvstereo_parse_layout(const AVStereo3D *stereo);

/** Sets the positions and the size of views in frames of this size. */
void ff_mvstereo_set_views(MvstereoPair *pair, int layout, int w, int h);

/** Returns the sample aspect ratio of the views in frames of this one. */
AVRational ff_mvstereo_view_aspect(int layout, AVRational sar);

/** Warns if the shape of views is that of squeezed ones. Files often state half of a layout as the whole. */
void ff_mvstereo_check_shape(int layout, int w, int h, AVRational sar, void *log_ctx);

/**
 * Removes the side data that belong to the input's size and samples.
 * @param is_map whether to remove the side data that belong to the input's colours, too
 */
void ff_mvstereo_remove_side_data(AVFrameSideData ***sd, int *nb, int is_map);

/** Pairs of alternating frames. Zeroed before use. */
typedef struct MvstereoPairing {
    AVFrame *first;             ///< first of the two frames of a pair; freed by the user
    int had_pair;               ///< whether two frames were a pair
    enum AVStereo3DView first_view;     ///< the view that the first one said it is
} MvstereoPairing;

/**
 * Adds a frame, which is kept unless it is the second one of a pair. Drops a frame, with a warning, if that of the
 * other view is missing. @param frame set to NULL if it is kept or dropped
 * @return whether p->first and the frame are a pair; or an AVERROR code with a message if there is only one view
 */
int ff_mvstereo_add_to_pair(MvstereoPairing *p, AVFrame **frame, void *log_ctx);

/** What to do about a file whose decoder outputs only one view. */
#define MVSTEREO_DECODE_BOTH \
    "If the file has MV-HEVC, as spatial video of phones and headsets does, decode both views: " \
    "-filter_complex '[0:v:vpos:left][0:v:vpos:right]mvstereo=inputs=2'.\n"

#endif /* AVFILTER_GPUME_MVSTEREO_LAYOUT_H */
