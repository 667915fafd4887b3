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
 * Parameters of the searches of other filters. P is GPUME_AS_FIELD or GPUME_AS_OPTION. DIR is the option dir, at its
 * place among the options, and nothing among fields.
 */
#define GPUME_PARAMS_MVFPS(P, DIR)     P(block, 8) DIR P(pel, 1) P(sweeps, 4)
#define GPUME_PARAMS_MVDENOISE(P, DIR) P(block, 16) DIR P(smooth, 8) P(sweeps, 2)
#define GPUME_AS_FIELD(name, value)  .name = value,
#define GPUME_AS_OPTION(name, value) ":" #name "=" #value

/** These searches as options of this filter: mvdenoise with its radius; mvview with the direction and the distance. */
#define GPUME_SEARCH_MVFPS     "algo=hme" GPUME_PARAMS_MVFPS(GPUME_AS_OPTION, ":dir=both")
#define GPUME_SEARCH_MVDENOISE "algo=hme" GPUME_PARAMS_MVDENOISE(GPUME_AS_OPTION, ":dir=both") ":refs=%d"
#define GPUME_SEARCH_MVVIEW    "algo=hme:dir=%s:refs=%d"

/**
 * Passes the results of the filter to a program instead of files. Must be called before the graph is
 * configured. @param sink must remain valid as long as the filter
 */
void ff_gpume_filter_set_sink(AVFilterContext *ctx, const GpumeSink *sink);

/** Returns the parameters of the search; once the graph is configured, also those of the picture. */
const GpumeParams *ff_gpume_filter_params(const AVFilterContext *ctx);

#endif /* AVFILTER_VF_GPUME_H */
