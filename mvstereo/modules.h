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
 * M(name, family, depth, variant): kernel gpume_<name> of <family>.cu. depth: 8, 16 (up to 16 bits) or 0 (any).
 * The variant of views, pieces and map is a step. The variant of paths and winners is the binary logarithm of the
 * greatest number of disparities, in MVSTEREO_WINDOW, plus 16 for compute capability 8.0 and later. Write one row on
 * each line: makefiles read the list with sed.
 */
#define MVSTEREO_CUDA_MODULES(M) \
    M(mvstereo_luma_8,    luma,     8, 0) \
    M(mvstereo_luma_16,   luma,    16, 0) \
    M(mvstereo_smooth,    views,    0, 0) \
    M(mvstereo_halve,     views,    0, 1) \
    M(mvstereo_features,  features, 0, 0) \
    M(mvstereo_costs,     costs,    0, 0) \
    M(mvstereo_costs_80,  costs,    0, 16) \
    M(mvstereo_paths32,      paths,    0, 0) \
    M(mvstereo_paths32_80,   paths,    0, 16) \
    M(mvstereo_paths64,      paths,    0, 1) \
    M(mvstereo_paths64_80,   paths,    0, 17) \
    M(mvstereo_paths128,     paths,    0, 2) \
    M(mvstereo_paths128_80,  paths,    0, 18) \
    M(mvstereo_paths256,     paths,    0, 3) \
    M(mvstereo_paths256_80,  paths,    0, 19) \
    M(mvstereo_paths1024,    paths,    0, 5) \
    M(mvstereo_paths1024_80, paths,    0, 21) \
    M(mvstereo_winners32,      winners,  0, 0) \
    M(mvstereo_winners32_80,   winners,  0, 16) \
    M(mvstereo_winners64,      winners,  0, 1) \
    M(mvstereo_winners64_80,   winners,  0, 17) \
    M(mvstereo_winners128,     winners,  0, 2) \
    M(mvstereo_winners128_80,  winners,  0, 18) \
    M(mvstereo_winners256,     winners,  0, 3) \
    M(mvstereo_winners256_80,  winners,  0, 19) \
    M(mvstereo_winners1024,    winners,  0, 5) \
    M(mvstereo_winners1024_80, winners,  0, 21) \
    M(mvstereo_check,     pieces,   0, 0) \
    M(mvstereo_join,      pieces,   0, 1) \
    M(mvstereo_drop,      pieces,   0, 2) \
    M(mvstereo_wmedian,   map,      0, 0) \
    M(mvstereo_wmedian_80, map,     0, 16) \
    M(mvstereo_stabilise, temporal, 0, 0) \
    M(mvstereo_paint,     map,      0, 1)

#endif /* AVFILTER_GPUME_MVSTEREO_MODULES_H */
