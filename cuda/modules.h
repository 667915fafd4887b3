/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The list of kernels. A module has one kernel, because the driver compiles whole modules, which is
 * slow. gpume.mak compiles each module from the source of its family; the host looks up a module
 * here and loads it.
 */

#ifndef AVFILTER_GPUME_CUDA_MODULES_H
#define AVFILTER_GPUME_CUDA_MODULES_H

#ifndef GPUME_DEVICE_CODE
#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/cuda_common/driver.h"
#endif

/**
 * M(name, family, depth, variant, side, cost): kernel gpume_<name> of <family>.cu. depth: the most
 * bits of a sample: 8, 10 (half-precision arithmetic of 9 and 10 bits), 12 or 16; or 0 (any). side:
 * the side of its blocks, or 0 (any). cost: a cost, or ANY. The row for the fewest bits that fits is
 * chosen.
 * The meaning of variant depends on the family: scan: the side of the largest blocks; wavefront:
 * the search; propagate: whether vectors are subpel; check and tree: which of its two parts.
 * Write one row on each line: makefiles read the list with sed.
 */
#define GPUME_CUDA_MODULES(M) \
    M(any_8,           any,        8, 0,                0, SAD) \
    M(any_16,          any,       16, 0,                0, SAD) \
    M(any_satd_8,      any,        8, 0,                0, SATD) \
    M(any_satd_16,     any,       16, 0,                0, SATD) \
    M(scan4_8,         scan,       8, 4,                4, SAD) \
    M(scan8_8,         scan,       8, 8,                8, SAD) \
    M(scan16_8,        scan,       8, 16,              16, SAD) \
    M(scan4_10,        scan,      10, 4,                4, SAD) \
    M(scan8_10,        scan,      10, 8,                8, SAD) \
    M(scan16_10,       scan,      10, 16,              16, SAD) \
    M(scan4_16,        scan,      16, 4,                4, SAD) \
    M(scan8_16,        scan,      16, 8,                8, SAD) \
    M(scan16_16,       scan,      16, 16,              16, SAD) \
    M(scan4to32_8,     scan,       8, 32,               4, SAD) \
    M(scan8to32_8,     scan,       8, 32,               8, SAD) \
    M(scan4to32_10,    scan,      10, 32,               4, SAD) \
    M(scan8to32_10,    scan,      10, 32,               8, SAD) \
    M(scan4to32_16,    scan,      16, 32,               4, SAD) \
    M(scan8to32_16,    scan,      16, 32,               8, SAD) \
    M(eliminate8_8,    eliminate,  8, 0,                8, SAD) \
    M(eliminate8_16,   eliminate, 16, 0,                8, SAD) \
    M(eliminate16_8,   eliminate,  8, 0,               16, SAD) \
    M(eliminate16_16,  eliminate, 16, 0,               16, SAD) \
    M(pattern_8,       pattern,    8, 0,                0, SAD) \
    M(pattern_16,      pattern,   16, 0,                0, SAD) \
    M(pattern4_8,      pattern,    8, 0,                4, SAD) \
    M(pattern4_16,     pattern,   16, 0,                4, SAD) \
    M(pattern8_8,      pattern,    8, 0,                8, SAD) \
    M(pattern8_16,     pattern,   16, 0,                8, SAD) \
    M(pattern16_8,     pattern,    8, 0,               16, SAD) \
    M(pattern16_16,    pattern,   16, 0,               16, SAD) \
    M(pattern_satd_8,  pattern,    8, 0,                0, SATD) \
    M(pattern_satd_16, pattern,   16, 0,                0, SATD) \
    M(epzs_8,          wavefront,  8, GPUME_ALGO_EPZS,  0, SAD) \
    M(epzs_16,         wavefront, 16, GPUME_ALGO_EPZS,  0, SAD) \
    M(epzs4_8,         wavefront,  8, GPUME_ALGO_EPZS,  4, SAD) \
    M(epzs4_16,        wavefront, 16, GPUME_ALGO_EPZS,  4, SAD) \
    M(epzs8_8,         wavefront,  8, GPUME_ALGO_EPZS,  8, SAD) \
    M(epzs8_16,        wavefront, 16, GPUME_ALGO_EPZS,  8, SAD) \
    M(epzs16_8,        wavefront,  8, GPUME_ALGO_EPZS, 16, SAD) \
    M(epzs16_16,       wavefront, 16, GPUME_ALGO_EPZS, 16, SAD) \
    M(epzs_satd_8,     wavefront,  8, GPUME_ALGO_EPZS,  0, SATD) \
    M(epzs_satd_16,    wavefront, 16, GPUME_ALGO_EPZS,  0, SATD) \
    M(umh_8,           wavefront,  8, GPUME_ALGO_UMH,   0, SAD) \
    M(umh_16,          wavefront, 16, GPUME_ALGO_UMH,   0, SAD) \
    M(umh4_8,          wavefront,  8, GPUME_ALGO_UMH,   4, SAD) \
    M(umh4_12,         wavefront, 12, GPUME_ALGO_UMH,   4, SAD) \
    M(umh8_8,          wavefront,  8, GPUME_ALGO_UMH,   8, SAD) \
    M(umh8_12,         wavefront, 12, GPUME_ALGO_UMH,   8, SAD) \
    M(umh16_8,         wavefront,  8, GPUME_ALGO_UMH,  16, SAD) \
    M(umh16_12,        wavefront, 12, GPUME_ALGO_UMH,  16, SAD) \
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
    M(step8_8,         propagate,  8, 0,                8, SAD) \
    M(step8_16,        propagate, 16, 0,                8, SAD) \
    M(step16_8,        propagate,  8, 0,               16, SAD) \
    M(step16_16,       propagate, 16, 0,               16, SAD) \
    M(step_satd_8,     propagate,  8, 0,                0, SATD) \
    M(step_satd_16,    propagate, 16, 0,                0, SATD) \
    M(part_8,          propagate,  8, 1,                0, SAD) \
    M(part_16,         propagate, 16, 1,                0, SAD) \
    M(part4_8,         propagate,  8, 1,                4, SAD) \
    M(part4_16,        propagate, 16, 1,                4, SAD) \
    M(part8_8,         propagate,  8, 1,                8, SAD) \
    M(part8_16,        propagate, 16, 1,                8, SAD) \
    M(part16_8,        propagate,  8, 1,               16, SAD) \
    M(part16_16,       propagate, 16, 1,               16, SAD) \
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
    M(intra,           intra,      0, 0,                0, SAD) \
    M(intra_satd,      intra,      0, 0,                0, SATD) \
    M(same,            same,       0, 0,                0, ANY) \
    M(tree_decide,     tree,       0, 0,                0, ANY) \
    M(tree_write,      tree,       0, 1,                0, ANY)

/** Cost of a kernel that computes none. */
#define GPUME_COST_ANY (-1)

enum GpumeCudaFamily {
    GPUME_CUDA_any,
    GPUME_CUDA_scan,
    GPUME_CUDA_eliminate,
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

/** Returns the side for which to choose kernels: SAD has kernels for each side up to 16, other costs for any side. */
static inline int gpume_cuda_side(const GpumeParams *params)
{
    return params->cost == GPUME_COST_SAD && params->block <= 16 ? params->block : 0;
}

/**
 * Finds the kernel for the cost and depth of these parameters and the device of cuda.
 * @return NULL if there is none
 */
const GpumeCudaModule *ff_gpume_cuda_find_module(const GpumeCuda *cuda, const GpumeParams *params, int family,
                                                 int side, int variant);
#endif

#endif /* AVFILTER_GPUME_CUDA_MODULES_H */
