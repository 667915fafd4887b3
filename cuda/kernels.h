/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The kernels: loaded (modules.c), shaped for a picture and launched (launch.c).
 */

#ifndef AVFILTER_GPUME_CUDA_KERNELS_H
#define AVFILTER_GPUME_CUDA_KERNELS_H

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/cuda/args.h"
#include "libavfilter/gpume/cuda/driver.h"
#include "libavfilter/gpume/cuda/modules.h"
#include "libavfilter/gpume/cuda/motion.h"
#include "libavfilter/gpume/cuda/same.h"

/** A search's kernels, ready to be launched for pictures of one size. */
typedef struct GpumeCudaKernel {
    const GpumeCuda *cuda;
    /** All but cur, mvs, costs and, of fields, plane and reference are set by init and launch. */
    GpumeCudaArgs args;
    /** In this order; those after the first search what remains. */
    GpumeCudaLaunch launches[GPUME_MAX_STAGES];
    int nb_launches;
    int new_remaining;          ///< args.remaining's counts are not yet 0
    int multiprocessor_shared;  ///< bytes of shared memory of a multiprocessor
    GpumeCudaBuffer remaining;  ///< args.remaining
    /** Of predictive searches: vectors by reference and age, and a ticket; or blank. */
    GpumeCudaBuffer history;
    int new_history;            ///< it is not yet 0
    unsigned nb_searches[GPUME_MAX_REFERENCES];
} GpumeCudaKernel;

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

/**
 * Load the kernels of a plan's stages of searches, if it has any, into the current context,
 * which is cuda's; cuda must stay.
 * @return 0 or an AVERROR code with a message; uninit may follow either
 */
int ff_gpume_cuda_kernel_init(GpumeCudaKernel *kernel, const GpumeCuda *cuda,
                              const GpumeParams *params, const GpumePlan *plan);

/**
 * Launch them, for as many fields as args has. All launches of a kernel go to one
 * stream, and none is replayed: each finds what the ones before it have written.
 */
CUresult ff_gpume_cuda_kernel_launch(GpumeCudaKernel *kernel, int nb_fields, CUstream stream);

/** Unload them from the current context. */
void ff_gpume_cuda_kernel_uninit(GpumeCudaKernel *kernel);

/*
 * What follows the search of block by block: steps, the check, figures of scene cuts.
 */

/** Most modules that they take: pictures 2, steps 3, check 2, results 1, intra 1. */
#define GPUME_CUDA_MOTION_MODULES 9

/** Where a picture's planes lie behind the first byte of its buffer. */
typedef struct GpumeCudaPlanes {
    int nb_levels;              ///< 0: there are none
    size_t offset[GPUME_MAX_LEVELS];
    size_t linesize[GPUME_MAX_LEVELS];
    size_t parts;               ///< offset of GPUME_CUDA_PARTS_AT(); pel is 1: none
    size_t parts_linesize;
    size_t size;                ///< of all
} GpumeCudaPlanes;

/** A step, ready to be launched. */
typedef struct GpumeCudaStep {
    GpumeCudaLaunch launch;
    GpumeCudaStepArgs args;     ///< all but nb_fields, pairs and where a search has stored
    int level;
} GpumeCudaStep;

typedef struct GpumeCudaMotion {
    const GpumeCuda *cuda;
    GpumeParams params;         ///< shift is that of the luma
    GpumeCudaPlanes planes;     ///< of every picture
    GpumeCudaLaunch modules[GPUME_CUDA_MOTION_MODULES];
    const GpumeCudaModule *rows[GPUME_CUDA_MOTION_MODULES];
    int nb_modules;

    GpumeCudaLaunch pyramid, halves, judge, replace, export, intra; ///< no function: not needed
    GpumeCudaStep steps[GPUME_MAX_STEPS];
    int nb_steps;               ///< 0: searches are finished without
    int searched;               ///< nonzero: the first begins with what a search has stored
    GpumeCudaCheckArgs check;
    GpumeCudaExportArgs results;
    GpumeCudaBuffer work;       ///< working fields, and at its end what is 0 before a search
    size_t zeroed, nb_zeroed;   ///< offset and bytes of that
} GpumeCudaMotion;

/** A field's pictures: the luma, and the first byte of the planes. */
typedef struct GpumeCudaMotionField {
    GpumeCudaPlane cur_luma;
    CUdeviceptr cur, ref;
    int reference;              ///< which of GpumeParams.distance
} GpumeCudaMotionField;

/** Where a search stores what it finds: of all fields in the same order. */
typedef struct GpumeCudaResults {
    CUdeviceptr mvs;            ///< AVMotionVector
    CUdeviceptr costs;          ///< uint32_t
    CUdeviceptr intra;          ///< uint64_t
} GpumeCudaResults;

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
 * Finish a search: from what it has stored, or from the pictures alone. With check and
 * one reference only the first field is stored.
 */
CUresult ff_gpume_cuda_motion_launch(GpumeCudaMotion *m, const GpumeCudaMotionField *fields,
                                     int nb_fields, const GpumeCudaResults *results,
                                     CUstream stream);

void ff_gpume_cuda_motion_uninit(GpumeCudaMotion *m);

/*
 * Which cells are those of the reference.
 */

typedef struct GpumeCudaSame {
    const GpumeCuda *cuda;
    GpumeCudaLaunch launch;
    GpumeCudaSameArgs args;     ///< all but the planes of pictures and what a search has stored
} GpumeCudaSame;

/**
 * Load the kernel into the current context, which is cuda's; cuda must stay.
 * @param format of the samples on the device
 * @return 0 or an AVERROR code with a message; uninit may follow either
 */
int ff_gpume_cuda_same_init(GpumeCudaSame *s, const GpumeCuda *cuda, const GpumeParams *params,
                            enum AVPixelFormat format);

/**
 * Write a field's GpumeField.same to device memory. Its frames are in device memory.
 * @param mvs, costs what the search has stored of this field
 */
CUresult ff_gpume_cuda_same_launch(GpumeCudaSame *s, const GpumeField *field, CUdeviceptr mvs,
                                   CUdeviceptr costs, CUdeviceptr same, CUstream stream);

void ff_gpume_cuda_same_uninit(GpumeCudaSame *s);

#endif /* AVFILTER_GPUME_CUDA_KERNELS_H */
