/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Contains all code that differs between FFmpeg 7.1 and later versions.
 */

#ifndef AVFILTER_GPUME_UTIL_COMPAT_H
#define AVFILTER_GPUME_UTIL_COMPAT_H

#include "libavfilter/version.h"

/* FFmpeg 8.0 introduced FFFilter, whose member p is the public AVFilter */
#if LIBAVFILTER_VERSION_MAJOR >= 11
#define GPUME_FILTER       FFFilter
#define GPUME_PUBLIC(name) .p.name
/* links also have the side data of their streams since FFmpeg 8.0 */
#define GPUME_LINK_SIDE_DATA(link, type) av_frame_side_data_get((link)->side_data, (link)->nb_side_data, type)
#define GPUME_LINK_SIDE_DATA_LIST(link)  &(link)->side_data, &(link)->nb_side_data
#else
#define GPUME_FILTER       AVFilter
#define GPUME_PUBLIC(name) .name
#define GPUME_LINK_SIDE_DATA(link, type) NULL
#define GPUME_LINK_SIDE_DATA_LIST(link)  &(AVFrameSideData **) { NULL }, &(int) { 0 }
#endif

/** The only output pad of a filter, which is configured by a function. */
#define GPUME_OUTPUT(config) \
    FILTER_OUTPUTS(((const AVFilterPad[]) { { "default", AVMEDIA_TYPE_VIDEO, .config_props = config } }))

#endif /* AVFILTER_GPUME_UTIL_COMPAT_H */
