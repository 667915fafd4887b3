/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The kernels of searches block by block: loaded, shaped for a picture and launched.
 */

#ifndef AVFILTER_GPUME_CUDA_LAUNCH_H
#define AVFILTER_GPUME_CUDA_LAUNCH_H

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/cuda/search_args.h"
#include "libavfilter/gpume/device/driver.h"
#include "libavfilter/gpume/cuda/modules.h"

/** What predictive searches keep from one to the next. */
typedef struct GpumeCudaHistory {
    GpumeCudaBuffer vectors;    ///< by reference and age, and behind them the ticket; blank: of another search
    unsigned epochs[GPUME_MAX_REFERENCES];  ///< of the last search; 0: there was none
    unsigned nb_tickets;        ///< that were taken or will be
    CUstream stream;            ///< of the last search
    GpumeCudaLaunch gate;       ///< where one reads what the one before has found
} GpumeCudaHistory;

/** A search's kernels, ready to be launched for pictures of one size. */
typedef struct GpumeCudaKernel {
    const GpumeCuda *cuda;
    /** All but cur, mvs, vectors, costs and, of fields, plane and reference are set by init and launch. */
    GpumeCudaArgs args;
    /** In this order; those after the first search what remains. */
    GpumeCudaLaunch launches[GPUME_MAX_STAGES];
    int nb_launches;
    int new_remaining;          ///< args.remaining's counts are not yet 0
    GpumeCudaBuffer remaining;  ///< args.remaining
    GpumeCudaHistory own;       ///< blank where there is none, or another kernel's
    GpumeCudaHistory *history;  ///< of predictive searches; NULL: there is none
} GpumeCudaKernel;

/**
 * Load the kernels of a plan's stages of searches, if it has any, into the current context,
 * which is cuda's; cuda must stay.
 * @param before kernel of the same parameters, on another stream, with which it takes turns: it continues
 *               that kernel's searches and must not outlive it; NULL: there is none
 * @return 0 or an AVERROR code with a message; uninit may follow either
 */
int ff_gpume_cuda_kernel_init(GpumeCudaKernel *kernel, const GpumeCuda *cuda,
                              const GpumeParams *params, const GpumePlan *plan, GpumeCudaKernel *before);

/**
 * Launch them, for as many fields as args has. All launches of a kernel go to one
 * stream, and none is replayed: each finds what the ones before it have written. Of two kernels that
 * share their history, a launch may overlap the other one's last.
 */
CUresult ff_gpume_cuda_kernel_launch(GpumeCudaKernel *kernel, int nb_fields, CUstream stream);

/** Unload them from the current context. */
void ff_gpume_cuda_kernel_uninit(GpumeCudaKernel *kernel);

#endif /* AVFILTER_GPUME_CUDA_LAUNCH_H */
