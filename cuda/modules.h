/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The list of kernels. One kernel a module, as the driver compiles all of a module, which
 * takes its time. gpume.mak compiles each from the source of its family, the host loads
 * the one that it looks up here.
 */

#ifndef AVFILTER_GPUME_CUDA_MODULES_H
#define AVFILTER_GPUME_CUDA_MODULES_H

#ifndef GPUME_DEVICE_CODE
#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/cuda/driver.h"
#endif

/**
 * M(name, family, depth, side, cost, variant): kernel gpume_<name> of <family>.cu, for
 * samples of 8 or of up to 16 bits or, 0, of any, for blocks of that side or, 0, of any.
 * What variants are is a family's own: of full, how many displacements on top of each other
 * a thread has; of pattern and wavefront the search, or GPUME_CUDA_ANY; of propagate
 * whether vectors are subpel; of check which half of it.
 * One row a line: makefiles read it with sed.
 */
#define GPUME_CUDA_MODULES(M) \
    M(full_8,       full,       8,  0, SAD, 0)  \
    M(full_16,      full,      16,  0, SAD, 0)  \
    M(full8_8_9,    full,       8,  8, SAD, 9)  \
    M(full8_8_11,   full,       8,  8, SAD, 11) \
    M(full8_8_13,   full,       8,  8, SAD, 13) \
    M(full16_8_9,   full,       8, 16, SAD, 9)  \
    M(full16_8_11,  full,       8, 16, SAD, 11) \
    M(full16_8_13,  full,       8, 16, SAD, 13) \
    M(full4_8,      full4,      8,  4, SAD, 0)  \
    M(sea8_8,       sea,        8,  8, SAD, 0)  \
    M(sea8_16,      sea,       16,  8, SAD, 0)  \
    M(sea16_8,      sea,        8, 16, SAD, 0)  \
    M(sea16_16,     sea,       16, 16, SAD, 0)  \
    M(ds_8,         pattern,    8,  0, SAD, GPUME_ALGO_DS)  \
    M(ds_16,        pattern,   16,  0, SAD, GPUME_ALGO_DS)  \
    M(ds4_8,        pattern,    8,  4, SAD, GPUME_ALGO_DS)  \
    M(ds4_16,       pattern,   16,  4, SAD, GPUME_ALGO_DS)  \
    M(ds8_8,        pattern,    8,  8, SAD, GPUME_ALGO_DS)  \
    M(ds8_16,       pattern,   16,  8, SAD, GPUME_ALGO_DS)  \
    M(ds16_8,       pattern,    8, 16, SAD, GPUME_ALGO_DS)  \
    M(ds16_16,      pattern,   16, 16, SAD, GPUME_ALGO_DS)  \
    M(pattern_8,    pattern,    8,  0, SAD, GPUME_CUDA_ANY) \
    M(pattern_16,   pattern,   16,  0, SAD, GPUME_CUDA_ANY) \
    M(pattern4_8,   pattern,    8,  4, SAD, GPUME_CUDA_ANY) \
    M(pattern4_16,  pattern,   16,  4, SAD, GPUME_CUDA_ANY) \
    M(pattern8_8,   pattern,    8,  8, SAD, GPUME_CUDA_ANY) \
    M(pattern8_16,  pattern,   16,  8, SAD, GPUME_CUDA_ANY) \
    M(pattern16_8,  pattern,    8, 16, SAD, GPUME_CUDA_ANY) \
    M(pattern16_16, pattern,   16, 16, SAD, GPUME_CUDA_ANY) \
    M(epzs_8,       wavefront,  8,  0, SAD, GPUME_ALGO_EPZS) \
    M(epzs_16,      wavefront, 16,  0, SAD, GPUME_ALGO_EPZS) \
    M(epzs4_8,      wavefront,  8,  4, SAD, GPUME_ALGO_EPZS) \
    M(epzs4_16,     wavefront, 16,  4, SAD, GPUME_ALGO_EPZS) \
    M(epzs8_8,      wavefront,  8,  8, SAD, GPUME_ALGO_EPZS) \
    M(epzs8_16,     wavefront, 16,  8, SAD, GPUME_ALGO_EPZS) \
    M(epzs16_8,     wavefront,  8, 16, SAD, GPUME_ALGO_EPZS) \
    M(epzs16_16,    wavefront, 16, 16, SAD, GPUME_ALGO_EPZS) \
    M(umh_8,        wavefront,  8,  0, SAD, GPUME_ALGO_UMH)  \
    M(umh_16,       wavefront, 16,  0, SAD, GPUME_ALGO_UMH)  \
    M(umh4_8,       wavefront,  8,  4, SAD, GPUME_ALGO_UMH)  \
    M(umh4_16,      wavefront, 16,  4, SAD, GPUME_ALGO_UMH)  \
    M(umh8_8,       wavefront,  8,  8, SAD, GPUME_ALGO_UMH)  \
    M(umh8_16,      wavefront, 16,  8, SAD, GPUME_ALGO_UMH)  \
    M(umh16_8,      wavefront,  8, 16, SAD, GPUME_ALGO_UMH)  \
    M(umh16_16,     wavefront, 16, 16, SAD, GPUME_ALGO_UMH) \
    M(pyramid_8,    pyramid,    8,  0, SAD, 0)  \
    M(pyramid_16,   pyramid,   16,  0, SAD, 0)  \
    M(halves_8,     halves,     8,  0, SAD, 0)  \
    M(halves_16,    halves,    16,  0, SAD, 0)  \
    M(step_8,       propagate,  8,  0, SAD, 0)  \
    M(step_16,      propagate, 16,  0, SAD, 0)  \
    M(step4_8,      propagate,  8,  4, SAD, 0)  \
    M(step4_16,     propagate, 16,  4, SAD, 0)  \
    M(step8_8,      propagate,  8,  8, SAD, 0)  \
    M(step8_16,     propagate, 16,  8, SAD, 0)  \
    M(step16_8,     propagate,  8, 16, SAD, 0)  \
    M(step16_16,    propagate, 16, 16, SAD, 0)  \
    M(part_8,       propagate,  8,  0, SAD, 1)  \
    M(part_16,      propagate, 16,  0, SAD, 1)  \
    M(part4_8,      propagate,  8,  4, SAD, 1)  \
    M(part4_16,     propagate, 16,  4, SAD, 1)  \
    M(part8_8,      propagate,  8,  8, SAD, 1)  \
    M(part8_16,     propagate, 16,  8, SAD, 1)  \
    M(part16_8,     propagate,  8, 16, SAD, 1)  \
    M(part16_16,    propagate, 16, 16, SAD, 1)  \
    M(judge,        check,      0,  0, SAD, 0)  \
    M(replace,      check,      0,  0, SAD, 1)  \
    M(export_8,     export,     8,  0, SAD, 0)  \
    M(export_16,    export,    16,  0, SAD, 0)  \
    M(intra_8,      intra,      8,  0, SAD, 0)  \
    M(intra_16,     intra,     16,  0, SAD, 0)  \
    M(same,         same,       0,  0, SAD, 0)

/** The variant of pattern that has all searches of its kind. */
#define GPUME_CUDA_ANY (-1)

enum GpumeCudaFamily {
    GPUME_CUDA_full,
    GPUME_CUDA_full4,
    GPUME_CUDA_sea,
    GPUME_CUDA_pattern,
    GPUME_CUDA_wavefront,
    GPUME_CUDA_pyramid,
    GPUME_CUDA_halves,
    GPUME_CUDA_propagate,
    GPUME_CUDA_check,
    GPUME_CUDA_export,
    GPUME_CUDA_intra,
    GPUME_CUDA_same,
};

#ifndef GPUME_DEVICE_CODE
/** A compiled kernel: a row of GPUME_CUDA_MODULES. */
typedef struct GpumeCudaModule {
    GpumeCudaCode code;
    int family, depth, side, cost, variant;
} GpumeCudaModule;

/**
 * The kernel for these parameters' cost and depth.
 * @return NULL if there is none
 */
const GpumeCudaModule *ff_gpume_cuda_find_module(const GpumeParams *params, int family,
                                                 int side, int variant);
#endif

#endif /* AVFILTER_GPUME_CUDA_MODULES_H */
