/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Loads, shapes and launches the kernels that search block by block.
 */

#ifndef AVFILTER_GPUME_CUDA_LAUNCH_H
#define AVFILTER_GPUME_CUDA_LAUNCH_H

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/cuda/search_args.h"
#include "libavfilter/gpume/cuda_common/driver.h"
#include "libavfilter/gpume/cuda/modules.h"

/** State that predictive searches keep from one search to the next. */
typedef struct GpumeCudaHistory {
    GpumeCudaBuffer vectors;    ///< by reference and age, followed by the ticket; zeroed if another kernel owns it
    unsigned epochs[GPUME_MAX_REFERENCES];  ///< epochs of the last search; 0: there was none
    unsigned nb_tickets;        ///< tickets that launched searches take
    CUstream stream;            ///< stream of the last search
    GpumeCudaLaunch gate;       ///< kernel that waits for the results of the previous search
} GpumeCudaHistory;

/** Kernels of a search, ready to be launched for pictures of one size. */
typedef struct GpumeCudaKernel {
    const GpumeCuda *cuda;
    /** init and launch set all members but cur, mvs, vectors, costs and, of fields, plane and reference. */
    GpumeCudaArgs args;
    /** Kernels in launch order. All but the first search the remaining blocks. */
    GpumeCudaLaunch launches[GPUME_MAX_STAGES];
    int nb_launches;
    int new_remaining;          ///< the counts of args.remaining are not yet 0
    GpumeCudaBuffer remaining;  ///< args.remaining
    GpumeCudaHistory own;       ///< zeroed if there is none, or if another kernel's is used
    GpumeCudaHistory *history;  ///< history of predictive searches; NULL: there is none
} GpumeCudaKernel;

/**
 * Loads the kernels of a plan's search stages, if there are any, into the current context, which is
 * that of cuda; cuda must outlive the kernels.
 * @param before kernel with the same parameters on another stream, with which this kernel takes
 *               turns: this kernel continues its searches and must not outlive it; NULL: there is
 *               none
 * @return 0 or an AVERROR code with a message; uninit may follow either
 */
int ff_gpume_cuda_kernel_init(GpumeCudaKernel *kernel, const GpumeCuda *cuda,
                              const GpumeParams *params, const GpumePlan *plan, GpumeCudaKernel *before);

/**
 * Launches the kernels for as many fields as args has. All launches of a kernel go to one stream
 * and none is replayed: each reads what earlier launches have written. If two kernels share their
 * history, a launch may overlap the last launch of the other kernel.
 */
CUresult ff_gpume_cuda_kernel_launch(GpumeCudaKernel *kernel, int nb_fields, CUstream stream);

/** Unloads the kernels from the current context. */
void ff_gpume_cuda_kernel_uninit(GpumeCudaKernel *kernel);

#endif /* AVFILTER_GPUME_CUDA_LAUNCH_H */
