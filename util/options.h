/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Tables of options, and options that others leave without effect.
 */

#ifndef AVFILTER_GPUME_UTIL_OPTIONS_H
#define AVFILTER_GPUME_UTIL_OPTIONS_H

#include "libavfilter/avfilter.h"

/** Flags of all options, and a named value of an option, for the tables of filters. */
#define FLAGS AV_OPT_FLAG_VIDEO_PARAM | AV_OPT_FLAG_FILTERING_PARAM
#define CONST(name, help, val, u) \
    { name, help, 0, AV_OPT_TYPE_CONST, { .i64 = val }, 0, 0, FLAGS, .unit = u }

/** What an option of a filter depends on. */
typedef struct GpumeDependency {
    const char *option;
    int has_effect;             ///< whether the other options allow it to have an effect
    const char *needed;         ///< the options that it needs, for the message
} GpumeDependency;

/**
 * Rejects options that have no effect, unless they have their default values.
 * @return 0 or AVERROR(EINVAL)
 */
int ff_gpume_check_options(AVFilterContext *ctx, const GpumeDependency *dependencies, int nb);

#endif /* AVFILTER_GPUME_UTIL_OPTIONS_H */
