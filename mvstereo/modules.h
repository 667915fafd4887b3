/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Lists the kernels of mvstereo, one to a module.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_MODULES_H
#define AVFILTER_GPUME_MVSTEREO_MODULES_H

/**
 * M(name, family, depth, variant): kernel gpume_<name> of <family>.cu, for samples of 8 or of up to 16 bits or,
 * 0, of any. The variant of views, window, pieces and map is a step, plus 4 for 64 disparities in window.cu; of paths
 * and winners, how many words of four disparities a lane has; plus 16 where it is for compute capability 8.0 and
 * later. One row a line: makefiles read it with sed.
 */
#define MVSTEREO_CUDA_MODULES(M) \
    M(mvstereo_luma_8,    luma,     8, 0) \
    M(mvstereo_luma_16,   luma,    16, 0) \
    M(mvstereo_noise,     views,    0, 0) \
    M(mvstereo_decide,    views,    0, 1) \
    M(mvstereo_smooth,    views,    0, 2) \
    M(mvstereo_halve,     views,    0, 3) \
    M(mvstereo_features,  features, 0, 0) \
    M(mvstereo_costs,     costs,    0, 0) \
    M(mvstereo_paths1,    paths,    0, 1) \
    M(mvstereo_paths2,    paths,    0, 2) \
    M(mvstereo_paths8,    paths,    0, 8) \
    M(mvstereo_paths1_80, paths,    0, 17) \
    M(mvstereo_paths2_80, paths,    0, 18) \
    M(mvstereo_paths8_80, paths,    0, 24) \
    M(mvstereo_winners1,  winners,  0, 1) \
    M(mvstereo_winners2,  winners,  0, 2) \
    M(mvstereo_winners8,  winners,  0, 8) \
    M(mvstereo_winners1_80, winners, 0, 17) \
    M(mvstereo_winners2_80, winners, 0, 18) \
    M(mvstereo_winners8_80, winners, 0, 24) \
    M(mvstereo_costs_window,   window, 0, 0) \
    M(mvstereo_paths_window,   window, 0, 1) \
    M(mvstereo_paths_window_80, window, 0, 17) \
    M(mvstereo_winners_window, window, 0, 2) \
    M(mvstereo_winners_64,     window, 0, 6) \
    M(mvstereo_check,     pieces,   0, 0) \
    M(mvstereo_join,      pieces,   0, 1) \
    M(mvstereo_count,     pieces,   0, 2) \
    M(mvstereo_drop,      pieces,   0, 3) \
    M(mvstereo_fill,      map,      0, 0) \
    M(mvstereo_wmedian,   map,      0, 1) \
    M(mvstereo_wmedian_80, map,     0, 17) \
    M(mvstereo_stabilise, temporal, 0, 0) \
    M(mvstereo_paint,     map,      0, 2)

enum MvstereoCudaFamily {
    MVSTEREO_CUDA_luma,
    MVSTEREO_CUDA_views,
    MVSTEREO_CUDA_features,
    MVSTEREO_CUDA_costs,
    MVSTEREO_CUDA_paths,
    MVSTEREO_CUDA_winners,
    MVSTEREO_CUDA_window,
    MVSTEREO_CUDA_pieces,
    MVSTEREO_CUDA_map,
    MVSTEREO_CUDA_temporal,
};

#endif /* AVFILTER_GPUME_MVSTEREO_MODULES_H */
