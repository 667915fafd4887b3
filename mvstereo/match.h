/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds the disparity of each sample of the left view: census, luma and gradient, paths, and the
 * least sum. What follows is in refine.h.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_MATCH_H
#define AVFILTER_GPUME_MVSTEREO_MATCH_H

#include "libavfilter/gpume/mvstereo/dsp.h"
#include "libavfilter/gpume/mvstereo/plane.h"
#include "libavfilter/gpume/util/executor.h"

/** What the right view has where no sample of the left one leads. */
#define MVSTEREO_NOWHERE (-2)

/** What is being searched. Rows of a map without a stride of its own follow each other. */
typedef struct MvstereoMatcher {
    GpumeExecutor executor;
    MvstereoDSP dsp;
    int w, h;
    int min, span;              ///< disparities: min to min + span - 1
    int range;                  ///< of each sample: span, or the range from its base on
    ptrdiff_t path_step;        ///< from a sample's costs of paths to the next
    int16_t *base;              ///< NULL: samples have all disparities; else the first one of each, from min
    int rows;                   ///< so far above and below matches are, too

    const MvstereoPlane *left, *right;  ///< luma, with edges
    const uint8_t *table;       ///< luma of the left view that corresponds to luma of the right one
    MvstereoPlane disparity;    ///< of the left view, in 1/16 from min
    int16_t *right_index;       ///< of the right view, whole, from min; MVSTEREO_NOWHERE
    uint8_t *confidence;

    /* features of a row of either view: planes of left_plane and right_plane bytes */
    uint8_t *features[2];
    ptrdiff_t left_plane, right_plane;
    ptrdiff_t right_first;      ///< of the last sample in a plane of the right view
    /* A band of rows. Paths from below begin at the row below it, which is known for each band. */
    int band, nb_bands;
    uint8_t *costs, *other_costs, *above, *below, *ends, *edge;
    uint8_t *least_above, *least_below, *least_ends, *least_edge;
    uint8_t *scratch;           ///< of each thread
    size_t scratch_size;
    int band_start, band_end;   ///< rows of the one in work
} MvstereoMatcher;

/**
 * Gets what is needed for pictures of this size and these disparities.
 * @param m blank, or opened
 * @param span  a multiple of MVSTEREO_LANES
 * @param range the same, or MVSTEREO_WINDOW: then base has to be set before pictures are matched
 * @return 0 or AVERROR(ENOMEM), and then m is blank
 */
int ff_mvstereo_matcher_open(MvstereoMatcher *m, const GpumeExecutor *executor, int w, int h, int min, int span,
                             int range, int rows);
void ff_mvstereo_matcher_close(MvstereoMatcher *m);

/** Sets disparity, right_index and confidence. */
void ff_mvstereo_match(MvstereoMatcher *m, const MvstereoPlane *left, const MvstereoPlane *right,
                       const uint8_t table[256]);

#endif /* AVFILTER_GPUME_MVSTEREO_MATCH_H */
