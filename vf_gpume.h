/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What a program that is linked with libavfilter may ask of a filter gpume in its graph.
 */

#ifndef AVFILTER_VF_GPUME_H
#define AVFILTER_VF_GPUME_H

#include "libavfilter/avfilter.h"

#include "libavfilter/gpume/core/params_args.h"
#include "libavfilter/gpume/output/output.h"

/**
 * Give the filter's results to a program; then the filter writes no files of its own.
 * Call it before the graph is configured. @param sink must remain valid as long as the filter
 */
void ff_gpume_filter_set_sink(AVFilterContext *ctx, const GpumeSink *sink);

/** The chosen parameters; once the graph is configured, also those of the picture. */
const GpumeParams *ff_gpume_filter_params(const AVFilterContext *ctx);

#endif /* AVFILTER_VF_GPUME_H */
