/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Code that all filters with motion vectors as input share: the option search, and what the searcher
 * (gpume/core/searcher.h) calls.
 */

#ifndef AVFILTER_VF_MV_H
#define AVFILTER_VF_MV_H

#include "filters.h"

#include "gpume/core/searcher.h"
#include "gpume/util/upstream.h"

/** The option search, for a table of options in a file that defines OFFSET, FLAGS and CONST. */
#define GPUME_SEARCH_OPTION(field)                                                             \
    { "search", "when the filter searches motion vectors", OFFSET(field), AV_OPT_TYPE_INT,     \
      { .i64 = GPUME_SEARCH_AUTO }, GPUME_SEARCH_NEVER, GPUME_SEARCH_AUTO, FLAGS, .unit = "search" }, \
        CONST("never", "never", GPUME_SEARCH_NEVER, "search"),                                 \
        CONST("auto", "if the input frames have none", GPUME_SEARCH_AUTO, "search"),

/** The callback GpumeSearcherConfig.decided. log_ctx is the filter. */
static void gpume_vectors_decided(void *log_ctx, int searched)
{
    ff_gpume_check_upstream(log_ctx, searched);
}

#endif /* AVFILTER_VF_MV_H */
