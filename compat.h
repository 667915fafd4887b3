/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

/**
 * @file
 * The one place that knows FFmpeg 7.1 from 9.0.
 */

#ifndef AVFILTER_GPUME_COMPAT_H
#define AVFILTER_GPUME_COMPAT_H

#include "libavfilter/version.h"

/* FFFilter, with the public AVFilter as its member p, came with FFmpeg 8.0. */
#if LIBAVFILTER_VERSION_MAJOR >= 11
#define GPUME_FILTER       FFFilter
#define GPUME_PUBLIC(name) .p.name
#else
#define GPUME_FILTER       AVFilter
#define GPUME_PUBLIC(name) .name
#endif

#endif /* AVFILTER_GPUME_COMPAT_H */
