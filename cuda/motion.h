/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The steps after the block-by-block search: pyramids, steps of true motion, the check, and intra
 * costs.
 */

#ifndef AVFILTER_GPUME_CUDA_MOTION_H
#define AVFILTER_GPUME_CUDA_MOTION_H

#include "libavfilter/gpume/core/plan.h"
#include "libavfilter/gpume/cuda/modules.h"
#include "libavfilter/gpume/cuda/motion_args.h"

/** Offsets of a picture's planes from the first byte of its buffer. */
typedef struct GpumeCudaPlanes {
    int nb_levels;              ///< 0: there are no levels
    size_t offset[GPUME_MAX_LEVELS];
    size_t linesize[GPUME_MAX_LEVELS];
    size_t parts;               ///< offset of the rows of four planes; not used if pel is 1
    size_t parts_linesize;
    size_t size;                ///< total bytes
} GpumeCudaPlanes;

/** A step, ready to be launched. */
typedef struct GpumeCudaStep {
    GpumeCudaLaunch launch;
    GpumeCudaStepArgs args;     ///< all members but nb_fields, pairs and the results of a search
    int level;                  ///< level of the pyramid
} GpumeCudaStep;

typedef struct GpumeCudaMotion {
    const GpumeCuda *cuda;
    GpumeParams params;         ///< shift is that of the luma
    GpumeCudaPlanes planes;     ///< planes of every picture
    GpumeCudaLaunch pyramid, halves, global, judge, replace, export, intra; ///< no function: not needed
    GpumeCudaStep steps[GPUME_MAX_STEPS];
    int nb_steps;               ///< 0: searches need no steps
    int at_once;                ///< number of searches that run side by side
    int nb_sizes;               ///< GpumePlan.nb_sizes, last_step
    int last_step[GPUME_MAX_SIZES];
    GpumeCudaGlobalArgs candidates;
    GpumeCudaCheckArgs check;
    GpumeCudaExportArgs results;
    /** Where the search stages store GpumeVector and uint32_t; 0: there are no steps. */
    CUdeviceptr search_vectors, search_costs;
    GpumeCudaBuffer work;       ///< working fields; a part of them is 0 at first
    size_t zeroed, nb_zeroed;   ///< offset and bytes of the part that is 0 at first
    unsigned number;            ///< GpumeCudaStepArgs.first of the next step; 0: nothing is zeroed yet
    CUdeviceptr counters;       ///< unsigned[GPUME_CUDA_COUNTERS], which launches count from 0 on
    int nb_counters;            ///< number of counters that were used
    CUdeviceptr cells[2], blocks;   ///< lists of launch_global()
} GpumeCudaMotion;

/** A field: luma and planes of its pictures, and where the results are stored. */
typedef struct GpumeCudaMotionField {
    GpumeCudaPlane cur_luma;
    CUdeviceptr cur, ref;
    int reference;              ///< index in GpumeParams.distance
    /** AVMotionVector and uint32_t for each of the plan's sizes; 0: not stored. */
    CUdeviceptr mvs[GPUME_MAX_SIZES], costs[GPUME_MAX_SIZES];
} GpumeCudaMotionField;

/**
 * Loads the kernels of a plan into the current context, which is that of cuda; cuda must outlive
 * them.
 * @param shift bits below the samples of the luma on the device
 * @return 0 or an AVERROR code with a message; uninit may follow either
 */
int ff_gpume_cuda_motion_init(GpumeCudaMotion *m, const GpumeCuda *cuda,
                              const GpumeParams *params, const GpumePlan *plan, int shift);

/** Makes the planes of a picture, m->planes.size bytes that were zeroed once. */
CUresult ff_gpume_cuda_motion_planes(GpumeCudaMotion *m, const GpumeCudaPlane *luma,
                                     CUdeviceptr planes, CUstream stream);

/**
 * Completes the search of up to GPUME_CUDA_FIELDS fields, from the results of the search stages or
 * from the pictures alone. With check, there are two fields, each other's opposite. Fields that are
 * not stored are last.
 * @param intra uint64_t for each field that is stored; 0 without GpumeParams.intra
 */
CUresult ff_gpume_cuda_motion_launch(GpumeCudaMotion *m, const GpumeCudaMotionField *fields,
                                     int nb_fields, CUdeviceptr intra, CUstream stream);

void ff_gpume_cuda_motion_uninit(GpumeCudaMotion *m);

#endif /* AVFILTER_GPUME_CUDA_MOTION_H */
