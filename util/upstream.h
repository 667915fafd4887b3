/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The filters in front of one that uses motion vectors.
 */

#ifndef AVFILTER_GPUME_UTIL_UPSTREAM_H
#define AVFILTER_GPUME_UTIL_UPSTREAM_H

#include "libavfilter/avfilter.h"

/**
 * Warns where filters in front of this one make vectors useless: they move the picture but not its
 * vectors, or remove vectors that a filter in front of them has searched.
 * @param searched whether this filter searches, as no vectors came
 */
void ff_gpume_check_upstream(AVFilterContext *ctx, int searched);

#endif /* AVFILTER_GPUME_UTIL_UPSTREAM_H */
