/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds the disparity of each sample of the left view from census, luma and gradient, with costs
 * added along paths; the least sum wins. refine.h continues from there.
 *
 * To store the costs of a few rows only, a first pass computes the paths from below and keeps their
 * state at the end of each band of rows; then each band is matched, in strips of columns and in
 * rows. So costs are calculated twice, and memory grows with the square root of the height.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_MATCH_H
#define AVFILTER_GPUME_MVSTEREO_MATCH_H

#include <stdatomic.h>

#include "libavfilter/gpume/mvstereo/dsp.h"
#include "libavfilter/gpume/mvstereo/plane.h"
#include "libavfilter/gpume/util/tasks.h"

/** Value of samples of the right view that correspond to no sample of the left view. */
#define MVSTEREO_NOWHERE (-2)

/** State of a search. Rows of a map without a stride are contiguous. */
typedef struct MvstereoMatcher {
    GpumeExecutor executor;
    MvstereoDSP dsp;
    int w, h;
    int min, span;              ///< disparities: min to min + span - 1
    int range;                  ///< number of disparities tried for each sample: span, or less if there is a base
    ptrdiff_t path_step;        ///< from a sample's costs of paths to the next
    int16_t *base;              ///< NULL: samples have all disparities; else the first one of each, from min
    int rows;                   ///< matches are up to this many rows above or below

    const MvstereoPlane *left, *right;  ///< luma, with edges
    const uint8_t *table;       ///< luma of the left view that corresponds to luma of the right one
    int tolerance;              ///< bits of a census are set where neighbours are less by more than this
    MvstereoPlane disparity;    ///< disparity of the left view, in 1/16, relative to min
    int16_t *right_index;       ///< whole disparity of the right view, relative to min; or MVSTEREO_NOWHERE
    uint8_t *confidence;
    MvstereoPlane even;         ///< 255 where samples of a row of the left view that a census compares are equal

    /* features of a row of either view, in planes of left_plane and right_plane bytes */
    uint8_t *features[2];
    ptrdiff_t left_plane, right_plane;
    ptrdiff_t right_first;      ///< offset of the last sample in a plane of the right view
    /*
     * The picture is divided into bands of rows and strips of columns. Paths from below enter a band from the row under
     * it, whose costs are stored for each band. Least costs are stored for the last row of each strip.
     */
    int band, nb_bands, strip, nb_strips;
    int nb_buffers;             ///< bands for which there is memory
    uint8_t *costs, *other_costs, *above, *below, *ends, *edge;
    uint8_t *above_kept, *below_kept;   ///< with a base: paths of the buffers; above and below are two rows then
    uint8_t *least_above, *least_below, *least_ends, *least_edge;
    uint8_t *scratch;           ///< scratch memory of each thread
    size_t scratch_size;

    atomic_int next_tile, next_row;     ///< the first ones that nobody has taken
    atomic_int *progress;       ///< for each strip, how many units are done
    atomic_int *strips_done, *rows_done;        ///< for each band, how many are done
} MvstereoMatcher;

/**
 * Gets what is needed for pictures of this size and these disparities.
 * @param m zeroed, or opened
 * @param span  a multiple of MVSTEREO_LANES
 * @param range the same, or MVSTEREO_WINDOW: then base has to be set before pictures are matched
 * @return 0 or AVERROR(ENOMEM), and then m is zeroed
 */
int ff_mvstereo_matcher_open(MvstereoMatcher *m, const GpumeExecutor *executor, int w, int h, int min, int span,
                             int range, int rows);
void ff_mvstereo_matcher_close(MvstereoMatcher *m);

/** Adds tasks that set disparity, with edges, right_index and confidence. */
void ff_mvstereo_match(MvstereoMatcher *m, const MvstereoPlane *left, const MvstereoPlane *right,
                       const uint8_t table[256], int tolerance, GpumeTaskChain *chain);

/** Sets the features of row y of both views. @param features scratch memory for those of a row of the right view */
void ff_mvstereo_set_features(const MvstereoMatcher *m, uint8_t *features, int y);

/** Returns the cost of sample (x, y) of the left view and (z, right_y) of the right one, with the last features. */
int ff_mvstereo_cost(const MvstereoMatcher *m, int x, int y, int z, int right_y);

#endif /* AVFILTER_GPUME_MVSTEREO_MATCH_H */
