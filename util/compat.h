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
/* links have had the side data of their streams since then, too */
#define GPUME_LINK_SIDE_DATA(link, type) av_frame_side_data_get((link)->side_data, (link)->nb_side_data, type)
#else
#define GPUME_FILTER       AVFilter
#define GPUME_PUBLIC(name) .name
#define GPUME_LINK_SIDE_DATA(link, type) NULL
#endif

#endif /* AVFILTER_GPUME_UTIL_COMPAT_H */
