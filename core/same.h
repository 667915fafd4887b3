/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Compares the cells of pictures in system memory.
 */

#ifndef AVFILTER_GPUME_CORE_SAME_H
#define AVFILTER_GPUME_CORE_SAME_H

#include <stddef.h>

#include "libavutil/pixfmt.h"

#include "libavfilter/gpume/core/backend.h"

/** Returns the number of bytes of GpumeField.same. */
size_t ff_gpume_nb_cells(const GpumeParams *params);

/**
 * Describes the planes other than the first.
 * @return the number of planes
 */
int ff_gpume_other_planes(GpumeOtherPlane planes[GPUME_MAX_OTHER_PLANES],
                          enum AVPixelFormat format);

/**
 * Sets GpumeField.same for rows start to end - 1 of cells. The field has been searched, and its
 * pictures' frames are in system memory.
 */
void ff_gpume_compare_cells(const GpumeField *field, const GpumeParams *params, int start, int end);

#endif /* AVFILTER_GPUME_CORE_SAME_H */
