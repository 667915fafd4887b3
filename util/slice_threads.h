/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * An executor that runs work on the slice threads of a filter.
 */

#ifndef AVFILTER_GPUME_UTIL_SLICE_THREADS_H
#define AVFILTER_GPUME_UTIL_SLICE_THREADS_H

#include "libavfilter/avfilter.h"
#include "libavfilter/gpume/util/executor.h"

/** Returns an executor for the slice threads of a filter. The filter must be in a graph. */
GpumeExecutor ff_gpume_slice_threads(AVFilterContext *ctx);

#endif /* AVFILTER_GPUME_UTIL_SLICE_THREADS_H */
