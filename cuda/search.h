/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Searches pictures on a device and writes fields: with the kernels of a plan and, with a tree, the
 * kernels of each block size. Compares the cells of frames.
 */

#ifndef AVFILTER_GPUME_CUDA_SEARCH_H
#define AVFILTER_GPUME_CUDA_SEARCH_H

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/cuda/full_search.h"
#include "libavfilter/gpume/cuda/launch.h"
#include "libavfilter/gpume/cuda/motion.h"
#include "libavfilter/gpume/cuda/tree.h"

/** Blocks of one size, and the kernels that find their vectors. */
typedef struct GpumeCudaSize {
    GpumeParams params;
    GpumeCudaKernel kernel;
    GpumeCudaMotion motion;
} GpumeCudaSize;

/** Comparison of the cells of frames on the device. */
typedef struct GpumeCudaSame {
    const GpumeCuda *cuda;
    GpumeCudaLaunch launch;
    GpumeCudaSameArgs args;     ///< all members but the planes of pictures and the results of a search
} GpumeCudaSame;

/** Zeroed, or ready to be launched. */
typedef struct GpumeCudaSearch {
    GpumeParams params;
    GpumeCudaSize sizes[GPUME_MAX_SIZES];
    int nb_sizes;               ///< sizes that are searched; also 1 where hme makes fields of all sizes
    int is_scanned;             ///< nonzero: scan finds the vectors of all sizes at once
    GpumeCudaScan scan;
    GpumeCudaTree tree;
} GpumeCudaSearch;

/** A field to be searched. */
typedef struct GpumeCudaSearchField {
    GpumeCudaPlane cur, ref;    ///< luma
    CUdeviceptr cur_planes, ref_planes;     ///< planes that ff_gpume_cuda_search_planes() has made
    int reference;              ///< index in GpumeParams.distance
    int is_stored;              ///< nonzero: the field is stored to leaves; without a tree, leaves has only mvs and
                                ///< costs
    GpumeCudaLeaves leaves;
} GpumeCudaSearchField;

/**
 * Loads the kernels of a search into the current context, which is that of cuda; cuda must outlive
 * the search.
 * @param shift   bits below the samples of the luma on the device
 * @param at_once number of searches that run side by side
 * @param before search with the same parameters on another stream, with which this search takes
 *               turns and whose results it reads as those of the previous search; this search must
 *               not outlive it. NULL: there is none
 * @return 0 or an AVERROR code with a message; uninit may follow either
 */
int ff_gpume_cuda_search_init(GpumeCudaSearch *s, const GpumeCuda *cuda, const GpumeParams *params,
                              const GpumePlan *plan, int shift, int at_once, GpumeCudaSearch *before);

/** Returns the bytes of a picture's planes, which must be 0 at first; 0: there are no planes. */
size_t ff_gpume_cuda_search_planes_size(const GpumeCudaSearch *s);

/** Makes the planes of a picture. */
CUresult ff_gpume_cuda_search_planes(GpumeCudaSearch *s, const GpumeCudaPlane *luma, CUdeviceptr planes,
                                     CUstream stream);

/**
 * Searches up to GPUME_CUDA_FIELDS fields. With check, there are two fields of opposite direction;
 * otherwise all fields have the same current picture. Fields that are not stored are last.
 * @param intra uint64_t for each field that is stored; 0 without GpumeParams.intra
 */
CUresult ff_gpume_cuda_search_launch(GpumeCudaSearch *s, const GpumeCudaSearchField *fields, int nb_fields,
                                     CUdeviceptr intra, CUstream stream);

void ff_gpume_cuda_search_uninit(GpumeCudaSearch *s);

/**
 * Loads the kernel into the current context, which is that of cuda; cuda must outlive it.
 * @param format pixel format of the frames on the device
 * @return 0 or an AVERROR code with a message; uninit may follow either
 */
int ff_gpume_cuda_same_init(GpumeCudaSame *s, const GpumeCuda *cuda, const GpumeParams *params,
                            enum AVPixelFormat format);

/** Writes a field's GpumeField.same to device memory. The frames of the field are in device memory. */
CUresult ff_gpume_cuda_same_launch(GpumeCudaSame *s, const GpumeField *field, CUdeviceptr same, CUstream stream);

void ff_gpume_cuda_same_uninit(GpumeCudaSame *s);

#endif /* AVFILTER_GPUME_CUDA_SEARCH_H */
