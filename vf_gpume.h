/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * For programs that link libavfilter statically and have the filter gpume in their graph, and for filters that do what
 * it does.
 */

#ifndef AVFILTER_VF_GPUME_H
#define AVFILTER_VF_GPUME_H

#include "libavfilter/avfilter.h"

#include "libavfilter/gpume/core/params_args.h"
#include "libavfilter/gpume/output/output.h"

/**
 * The searches of other filters as options of this filter: mvfps; mvdenoise, with its radius; mvview, with the
 * direction and the distance.
 */
#define GPUME_SEARCH_MVFPS     "algo=hme:block=8:dir=both:pel=1:sweeps=4"
#define GPUME_SEARCH_MVDENOISE "algo=hme:block=16:dir=both:smooth=8:sweeps=2:refs=%d"
#define GPUME_SEARCH_MVVIEW    "algo=hme:dir=%s:refs=%d"

/**
 * Passes the results of the filter to a program instead of files. Must be called before the graph is
 * configured. @param sink must remain valid as long as the filter
 */
void ff_gpume_filter_set_sink(AVFilterContext *ctx, const GpumeSink *sink);

/** Returns the parameters of the search; once the graph is configured, also those of the picture. */
const GpumeParams *ff_gpume_filter_params(const AVFilterContext *ctx);

#endif /* AVFILTER_VF_GPUME_H */
