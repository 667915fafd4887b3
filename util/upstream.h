/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Warnings about filters that come before a filter that uses motion vectors.
 */

#ifndef AVFILTER_GPUME_UTIL_UPSTREAM_H
#define AVFILTER_GPUME_UTIL_UPSTREAM_H

#include "libavfilter/avfilter.h"

/**
 * Warns if filters before this filter make vectors useless: because they move the picture but not its
 * vectors, or because they remove the vectors that an earlier filter has searched.
 * @param searched whether this filter searches because no vectors arrived
 */
void ff_gpume_check_upstream(AVFilterContext *ctx, int searched);

#endif /* AVFILTER_GPUME_UTIL_UPSTREAM_H */
