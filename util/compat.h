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

/**
 * What filters that take and make frames have alike: names, options, and the functions uninit(), activate(),
 * query_formats(), and config_output() of the only output.
 */
#define GPUME_FRAME_FILTER(filter, context, text, more_flags)           \
    GPUME_PUBLIC(name)        = #filter,                                \
    GPUME_PUBLIC(description) = NULL_IF_CONFIG_SMALL(text),             \
    GPUME_PUBLIC(priv_class)  = &filter##_class,                        \
    GPUME_PUBLIC(flags)       = AVFILTER_FLAG_HWDEVICE | AVFILTER_FLAG_SLICE_THREADS | (more_flags), \
    .priv_size      = sizeof(context),                                  \
    .uninit         = uninit,                                           \
    .activate       = activate,                                         \
    GPUME_OUTPUT(config_output),                                        \
    FILTER_QUERY_FUNC2(query_formats),                                  \
    .flags_internal = FF_FILTER_FLAG_HWFRAME_AWARE

#endif /* AVFILTER_GPUME_UTIL_COMPAT_H */
