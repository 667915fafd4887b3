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
#include "libavfilter/gpume/device/driver.h"
#endif

/**
 * M(name, family, depth, variant, side, cost): kernel gpume_<name> of <family>.cu, for
 * samples of 8, of 9 and 10, of 9 to 12 or of up to 16 bits or, 0, of any, for blocks of that side or, 0, of any,
 * for a cost or ANY. Of those that fit, the one for the fewest bits is taken.
 * What variants are is a family's own: of full, full10 and deep, how many displacements on top
 * of each other a thread has; of pattern and wavefront the search, or GPUME_CUDA_ANY; of propagate
 * whether vectors are subpel; of check and tree which half of it.
 * One row a line: makefiles read it with sed.
 */
#define GPUME_CUDA_MODULES(M) \
    M(full_8,          full,       8, 0,                0, SAD) \
    M(full_16,         full,      16, 0,                0, SAD) \
    M(full_satd_8,     full,       8, 0,                0, SATD) \
    M(full_satd_16,    full,      16, 0,                0, SATD) \
    M(full8_8_9,       full,       8, 9,                8, SAD) \
    M(full8_8_11,      full,       8, 11,               8, SAD) \
    M(full8_8_13,      full,       8, 13,               8, SAD) \
    M(full16_8_9,      full,       8, 9,               16, SAD) \
    M(full16_8_11,     full,       8, 11,              16, SAD) \
    M(full16_8_13,     full,       8, 13,              16, SAD) \
    M(full4_8,         full4,      8, 0,                4, SAD) \
    M(full4_10,        full10,    10, 3,                4, SAD) \
    M(full8_10,        full10,    10, 2,                8, SAD) \
    M(full16_10,       full10,    10, 3,               16, SAD) \
    M(deep4_16_11,     deep,      16, 11,               4, SAD) \
    M(deep4_16_13,     deep,      16, 13,               4, SAD) \
    M(deep8_16_11,     deep,      16, 11,               8, SAD) \
    M(deep8_16_13,     deep,      16, 13,               8, SAD) \
    M(deep16_16_11,    deep,      16, 11,              16, SAD) \
    M(deep16_16_13,    deep,      16, 13,              16, SAD) \
    M(squares4_8,      squares,    8, 0,                4, SAD) \
    M(squares8_8,      squares,    8, 0,                8, SAD) \
    M(squares4_10,     squares,   10, 0,                4, SAD) \
    M(squares8_10,     squares,   10, 0,                8, SAD) \
    M(joinsquares,     joinsquares, 0, 0,               0, SAD) \
    M(sea8_8,          sea,        8, 0,                8, SAD) \
    M(sea8_16,         sea,       16, 0,                8, SAD) \
    M(sea16_8,         sea,        8, 0,               16, SAD) \
    M(sea16_10,        sea,       10, 0,               16, SAD) \
    M(sea16_16,        sea,       16, 0,               16, SAD) \
    M(ds_8,            pattern,    8, GPUME_ALGO_DS,    0, SAD) \
    M(ds_16,           pattern,   16, GPUME_ALGO_DS,    0, SAD) \
    M(ds4_8,           pattern,    8, GPUME_ALGO_DS,    4, SAD) \
    M(ds4_16,          pattern,   16, GPUME_ALGO_DS,    4, SAD) \
    M(ds4_10,          pattern,   10, GPUME_ALGO_DS,    4, SAD) \
    M(ds8_8,           pattern,    8, GPUME_ALGO_DS,    8, SAD) \
    M(ds8_16,          pattern,   16, GPUME_ALGO_DS,    8, SAD) \
    M(ds8_10,          pattern,   10, GPUME_ALGO_DS,    8, SAD) \
    M(ds16_8,          pattern,    8, GPUME_ALGO_DS,   16, SAD) \
    M(ds16_16,         pattern,   16, GPUME_ALGO_DS,   16, SAD) \
    M(ds16_10,         pattern,   10, GPUME_ALGO_DS,   16, SAD) \
    M(pattern_8,       pattern,    8, GPUME_CUDA_ANY,   0, SAD) \
    M(pattern_16,      pattern,   16, GPUME_CUDA_ANY,   0, SAD) \
    M(pattern4_8,      pattern,    8, GPUME_CUDA_ANY,   4, SAD) \
    M(pattern4_16,     pattern,   16, GPUME_CUDA_ANY,   4, SAD) \
    M(pattern4_10,     pattern,   10, GPUME_CUDA_ANY,   4, SAD) \
    M(pattern8_8,      pattern,    8, GPUME_CUDA_ANY,   8, SAD) \
    M(pattern8_16,     pattern,   16, GPUME_CUDA_ANY,   8, SAD) \
    M(pattern8_10,     pattern,   10, GPUME_CUDA_ANY,   8, SAD) \
    M(pattern16_8,     pattern,    8, GPUME_CUDA_ANY,  16, SAD) \
    M(pattern16_16,    pattern,   16, GPUME_CUDA_ANY,  16, SAD) \
    M(pattern16_10,    pattern,   10, GPUME_CUDA_ANY,  16, SAD) \
    M(pattern_satd_8,  pattern,    8, GPUME_CUDA_ANY,   0, SATD) \
    M(pattern_satd_16, pattern,   16, GPUME_CUDA_ANY,   0, SATD) \
    M(epzs_8,          wavefront,  8, GPUME_ALGO_EPZS,  0, SAD) \
    M(epzs_16,         wavefront, 16, GPUME_ALGO_EPZS,  0, SAD) \
    M(epzs4_8,         wavefront,  8, GPUME_ALGO_EPZS,  4, SAD) \
    M(epzs4_16,        wavefront, 16, GPUME_ALGO_EPZS,  4, SAD) \
    M(epzs4_10,        wavefront, 10, GPUME_ALGO_EPZS,  4, SAD) \
    M(epzs8_8,         wavefront,  8, GPUME_ALGO_EPZS,  8, SAD) \
    M(epzs8_16,        wavefront, 16, GPUME_ALGO_EPZS,  8, SAD) \
    M(epzs8_10,        wavefront, 10, GPUME_ALGO_EPZS,  8, SAD) \
    M(epzs16_8,        wavefront,  8, GPUME_ALGO_EPZS, 16, SAD) \
    M(epzs16_16,       wavefront, 16, GPUME_ALGO_EPZS, 16, SAD) \
    M(epzs16_10,       wavefront, 10, GPUME_ALGO_EPZS, 16, SAD) \
    M(epzs_satd_8,     wavefront,  8, GPUME_ALGO_EPZS,  0, SATD) \
    M(epzs_satd_16,    wavefront, 16, GPUME_ALGO_EPZS,  0, SATD) \
    M(umh_8,           wavefront,  8, GPUME_ALGO_UMH,   0, SAD) \
    M(umh_16,          wavefront, 16, GPUME_ALGO_UMH,   0, SAD) \
    M(umh4_8,          wavefront,  8, GPUME_ALGO_UMH,   4, SAD) \
    M(umh4_16,         wavefront, 16, GPUME_ALGO_UMH,   4, SAD) \
    M(umh4_10,         wavefront, 10, GPUME_ALGO_UMH,   4, SAD) \
    M(umh8_8,          wavefront,  8, GPUME_ALGO_UMH,   8, SAD) \
    M(umh8_16,         wavefront, 16, GPUME_ALGO_UMH,   8, SAD) \
    M(umh8_10,         wavefront, 10, GPUME_ALGO_UMH,   8, SAD) \
    M(umh16_8,         wavefront,  8, GPUME_ALGO_UMH,  16, SAD) \
    M(umh16_16,        wavefront, 16, GPUME_ALGO_UMH,  16, SAD) \
    M(umh16_10,        wavefront, 10, GPUME_ALGO_UMH,  16, SAD) \
    M(umh_satd_8,      wavefront,  8, GPUME_ALGO_UMH,   0, SATD) \
    M(umh_satd_16,     wavefront, 16, GPUME_ALGO_UMH,   0, SATD) \
    M(gate,            gate,       0, 0,                0, ANY) \
    M(pyramid_8,       pyramid,    8, 0,                0, ANY) \
    M(pyramid_16,      pyramid,   16, 0,                0, ANY) \
    M(halves_8,        halves,     8, 0,                0, ANY) \
    M(halves_16,       halves,    16, 0,                0, ANY) \
    M(step_8,          propagate,  8, 0,                0, SAD) \
    M(step_16,         propagate, 16, 0,                0, SAD) \
    M(step4_8,         propagate,  8, 0,                4, SAD) \
    M(step4_16,        propagate, 16, 0,                4, SAD) \
    M(step4_10,        propagate, 10, 0,                4, SAD) \
    M(step8_8,         propagate,  8, 0,                8, SAD) \
    M(step8_16,        propagate, 16, 0,                8, SAD) \
    M(step8_10,        propagate, 10, 0,                8, SAD) \
    M(step16_8,        propagate,  8, 0,               16, SAD) \
    M(step16_16,       propagate, 16, 0,               16, SAD) \
    M(step16_10,       propagate, 10, 0,               16, SAD) \
    M(step_satd_8,     propagate,  8, 0,                0, SATD) \
    M(step_satd_16,    propagate, 16, 0,                0, SATD) \
    M(part_8,          propagate,  8, 1,                0, SAD) \
    M(part_16,         propagate, 16, 1,                0, SAD) \
    M(part4_8,         propagate,  8, 1,                4, SAD) \
    M(part4_16,        propagate, 16, 1,                4, SAD) \
    M(part4_10,        propagate, 10, 1,                4, SAD) \
    M(part8_8,         propagate,  8, 1,                8, SAD) \
    M(part8_16,        propagate, 16, 1,                8, SAD) \
    M(part8_10,        propagate, 10, 1,                8, SAD) \
    M(part16_8,        propagate,  8, 1,               16, SAD) \
    M(part16_16,       propagate, 16, 1,               16, SAD) \
    M(part16_10,       propagate, 10, 1,               16, SAD) \
    M(part_satd_8,     propagate,  8, 1,                0, SATD) \
    M(part_satd_16,    propagate, 16, 1,                0, SATD) \
    M(global_8,        global,     8, 0,                0, ANY) \
    M(global_16,       global,    16, 0,                0, ANY) \
    M(choose_8,        choose,     8, 0,                0, SAD) \
    M(choose_16,       choose,    16, 0,                0, SAD) \
    M(choose_satd_8,   choose,     8, 0,                0, SATD) \
    M(choose_satd_16,  choose,    16, 0,                0, SATD) \
    M(judge,           check,      0, 0,                0, ANY) \
    M(replace,         check,      0, 1,                0, ANY) \
    M(export_8,        export,     8, 0,                0, SAD) \
    M(export_16,       export,    16, 0,                0, SAD) \
    M(export_satd_8,   export,     8, 0,                0, SATD) \
    M(export_satd_16,  export,    16, 0,                0, SATD) \
    M(intra_8,         intra,      8, 0,                0, SAD) \
    M(intra_16,        intra,     16, 0,                0, SAD) \
    M(intra_satd_8,    intra,      8, 0,                0, SATD) \
    M(intra_satd_16,   intra,     16, 0,                0, SATD) \
    M(same,            same,       0, 0,                0, ANY) \
    M(tree_decide,     tree,       0, 0,                0, ANY) \
    M(tree_write,      tree,       0, 1,                0, ANY)

/** The cost of a kernel that computes none. */
#define GPUME_COST_ANY (-1)

/** The variant of pattern that has all searches of its kind. */
#define GPUME_CUDA_ANY (-1)

enum GpumeCudaFamily {
    GPUME_CUDA_full,
    GPUME_CUDA_full4,
    GPUME_CUDA_full10,
    GPUME_CUDA_deep,
    GPUME_CUDA_squares,
    GPUME_CUDA_joinsquares,
    GPUME_CUDA_sea,
    GPUME_CUDA_pattern,
    GPUME_CUDA_wavefront,
    GPUME_CUDA_gate,
    GPUME_CUDA_pyramid,
    GPUME_CUDA_halves,
    GPUME_CUDA_propagate,
    GPUME_CUDA_global,
    GPUME_CUDA_choose,
    GPUME_CUDA_check,
    GPUME_CUDA_export,
    GPUME_CUDA_intra,
    GPUME_CUDA_same,
    GPUME_CUDA_tree,
};

#ifndef GPUME_DEVICE_CODE
/** A compiled kernel: a row of GPUME_CUDA_MODULES. */
typedef struct GpumeCudaModule {
    GpumeCudaCode code;
    int family, depth, variant, side, cost;
} GpumeCudaModule;

/** The side of blocks that kernels are for: those of SAD of each up to 16, others of any. */
static inline int gpume_cuda_side(const GpumeParams *params)
{
    return params->cost == GPUME_COST_SAD && params->block <= 16 ? params->block : 0;
}

/**
 * Finds the kernel for these parameters' cost and depth, and for cuda's device.
 * @return NULL if there is none
 */
const GpumeCudaModule *ff_gpume_cuda_find_module(const GpumeCuda *cuda, const GpumeParams *params, int family,
                                                 int side, int variant);
#endif

#endif /* AVFILTER_GPUME_CUDA_MODULES_H */
