/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Lists the kernels of mvfps, one to a module.
 */

#ifndef AVFILTER_GPUME_MVFPS_MODULES_H
#define AVFILTER_GPUME_MVFPS_MODULES_H

/**
 * M(name, family, depth, variant): kernel gpume_<name> of <family>.cu for samples of 8 bits, of up
 * to 16 bits or, if depth is 0, of any depth. The variant is a step for scene, detail and vectors;
 * for tiles its two digits say how often the width and the height of chroma are halved. Each row is
 * one line, because makefiles read it with sed.
 */
#define MVFPS_CUDA_MODULES(M) \
    M(mvfps_means_8,    scene,    8, 0) \
    M(mvfps_means_16,   scene,   16, 0) \
    M(mvfps_fade_8,     scene,    8, 1) \
    M(mvfps_fade_16,    scene,   16, 1) \
    M(mvfps_detail,     detail,   0, 0) \
    M(mvfps_match,      detail,   0, 1) \
    M(mvfps_repeat_8,   repeat,   8, 0) \
    M(mvfps_repeat_16,  repeat,  16, 0) \
    M(mvfps_sums_8,     sums,     8, 0) \
    M(mvfps_sums_16,    sums,    16, 0) \
    M(mvfps_first_8,    vectors,  8, 0) \
    M(mvfps_first_16,   vectors, 16, 0) \
    M(mvfps_pass_8,     vectors,  8, 1) \
    M(mvfps_pass_16,    vectors, 16, 1) \
    M(mvfps_offsets,    offsets,  0, 0) \
    M(mvfps_tiles_8,    tiles,    8, 0) \
    M(mvfps_tiles_16,   tiles,   16, 0) \
    M(mvfps_tiles1_8,   tiles,    8, 1) \
    M(mvfps_tiles1_16,  tiles,   16, 1) \
    M(mvfps_tiles11_8,  tiles,    8, 11) \
    M(mvfps_tiles11_16, tiles,   16, 11) \
    M(mvfps_mean_8,     mean,     8, 0) \
    M(mvfps_mean_16,    mean,    16, 0)

#endif /* AVFILTER_GPUME_MVFPS_MODULES_H */
