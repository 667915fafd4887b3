/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What follows the search block by block: pyramids, steps, the check, figures of scene cuts.
 */

#ifndef AVFILTER_GPUME_CUDA_MOTION_H
#define AVFILTER_GPUME_CUDA_MOTION_H

#include "libavfilter/gpume/core/plan.h"
#include "libavfilter/gpume/cuda/modules.h"
#include "libavfilter/gpume/cuda/motion_args.h"

/** Where a picture's planes lie behind the first byte of its buffer. */
typedef struct GpumeCudaPlanes {
    int nb_levels;              ///< 0: there are none
    size_t offset[GPUME_MAX_LEVELS];
    size_t linesize[GPUME_MAX_LEVELS];
    size_t parts;               ///< offset of rows of four planes; pel is 1: none
    size_t parts_linesize;
    size_t size;                ///< of all
} GpumeCudaPlanes;

/** A step, ready to be launched. */
typedef struct GpumeCudaStep {
    GpumeCudaLaunch launch;
    GpumeCudaStepArgs args;     ///< all but nb_fields, pairs and where a search has stored
    int level;                  ///< of the pictures
} GpumeCudaStep;

typedef struct GpumeCudaMotion {
    const GpumeCuda *cuda;
    GpumeParams params;         ///< shift is that of the luma
    GpumeCudaPlanes planes;     ///< of every picture
    GpumeCudaLaunch pyramid, halves, global, judge, replace, export, intra; ///< no function: not needed
    GpumeCudaStep steps[GPUME_MAX_STEPS];
    int nb_steps;               ///< 0: searches are finished without
    int nb_sizes;               ///< GpumePlan.nb_sizes, last_step
    int last_step[GPUME_MAX_SIZES];
    GpumeCudaGlobalArgs candidates;
    GpumeCudaCheckArgs check;
    GpumeCudaExportArgs results;
    /** Where the stages of searches store GpumeVector and uint32_t; 0: there are no steps. */
    CUdeviceptr search_vectors, search_costs;
    GpumeCudaBuffer work;       ///< working fields, with a part that is 0 at first
    size_t zeroed, nb_zeroed;   ///< offset and bytes of that
    unsigned number;            ///< GpumeCudaStepArgs.first of the next step; 0: nothing is zeroed yet
    unsigned ticket;            ///< first_ticket
} GpumeCudaMotion;

/** A field: its pictures, the luma and the first byte of the planes, and where it goes. */
typedef struct GpumeCudaMotionField {
    GpumeCudaPlane cur_luma;
    CUdeviceptr cur, ref;
    int reference;              ///< which of GpumeParams.distance
    /** AVMotionVector, uint32_t, of each of the plan's sizes; 0: nowhere. */
    CUdeviceptr mvs[GPUME_MAX_SIZES], costs[GPUME_MAX_SIZES];
} GpumeCudaMotionField;

/**
 * Load the kernels that a plan needs into the current context, which is cuda's; cuda must stay.
 * @param shift bits below the samples of the luma on the device
 * @return 0 or an AVERROR code with a message; uninit may follow either
 */
int ff_gpume_cuda_motion_init(GpumeCudaMotion *m, const GpumeCuda *cuda,
                              const GpumeParams *params, const GpumePlan *plan, int shift);

/** Make the planes of a picture, of m->planes.size bytes that were 0 once. */
CUresult ff_gpume_cuda_motion_planes(GpumeCudaMotion *m, const GpumeCudaPlane *luma,
                                     CUdeviceptr planes, CUstream stream);

/**
 * Finish the search of up to GPUME_CUDA_FIELDS fields: from what its stages have stored, or from
 * the pictures alone. With check these are two, each other's opposite; those that go nowhere are last.
 * @param intra uint64_t of each field that goes somewhere; 0 without GpumeParams.intra
 */
CUresult ff_gpume_cuda_motion_launch(GpumeCudaMotion *m, const GpumeCudaMotionField *fields,
                                     int nb_fields, CUdeviceptr intra, CUstream stream);

void ff_gpume_cuda_motion_uninit(GpumeCudaMotion *m);

#endif /* AVFILTER_GPUME_CUDA_MOTION_H */
