/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The one place that knows FFmpeg 7.1 from later ones.
 */

#ifndef AVFILTER_GPUME_UTIL_COMPAT_H
#define AVFILTER_GPUME_UTIL_COMPAT_H

#include "libavfilter/version.h"

/* FFFilter, with the public AVFilter as its member p, came with FFmpeg 8.0. */
#if LIBAVFILTER_VERSION_MAJOR >= 11
#define GPUME_FILTER       FFFilter
#define GPUME_PUBLIC(name) .p.name
#else
#define GPUME_FILTER       AVFilter
#define GPUME_PUBLIC(name) .name
#endif

#endif /* AVFILTER_GPUME_UTIL_COMPAT_H */
