/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Mean of two pictures, weighted by distance.
 */

#ifndef AVFILTER_GPUME_MVFPS_BLEND_H
#define AVFILTER_GPUME_MVFPS_BLEND_H

#include "libavfilter/gpume/picture/layout.h"

/**
 * Computes rows y0 to y1 - 1 of a component: for samples a and b the result is (a * (MVFPS_PARTS -
 * part) + b * part + MVFPS_PARTS / 2) / MVFPS_PARTS.
 */
void ff_mvfps_blend(const GpumeLayout *l, const GpumeComponent *c, AVFrame *out, const AVFrame *before,
                    const AVFrame *after, int part, int y0, int y1);

#endif /* AVFILTER_GPUME_MVFPS_BLEND_H */
