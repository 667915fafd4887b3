/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Copies of pictures whose edges are repeated, so that what is read at a vector's end need not
 * look where it is.
 */

#ifndef AVFILTER_GPUME_BETWEEN_PICTURE_H
#define AVFILTER_GPUME_BETWEEN_PICTURE_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/between/arithmetic.h"
#include "libavfilter/gpume/between/layout.h"

/** A component, right-justified: uint8_t or uint16_t, as the layout's words. */
typedef struct MvfpsSamples {
    uint8_t *first;         ///< the sample (0, 0)
    ptrdiff_t stride;       ///< bytes
    int w, h;
} MvfpsSamples;

typedef struct MvfpsPicture {
    MvfpsSamples components[MVFPS_COMPONENTS];
    uint8_t *memory;
} MvfpsPicture;

/** @return 0 or AVERROR(ENOMEM) */
int ff_mvfps_picture_alloc(MvfpsPicture *p, const MvfpsLayout *l);
void ff_mvfps_picture_free(MvfpsPicture *p);

/** Copy part number job of nb_jobs of a frame. */
void ff_mvfps_picture_load(MvfpsPicture *p, const MvfpsLayout *l, const AVFrame *frame, int job, int nb_jobs);

/**
 * The sample (x, y), wherever that is: from 4 before it to 13 behind it can be read each way.
 * @param bytes of a sample
 */
static inline const uint8_t *mvfps_sample(const MvfpsSamples *s, int x, int y, int bytes)
{
    return s->first + mvfps_inside(y, s->h) * s->stride + mvfps_inside(x, s->w) * bytes;
}

#endif /* AVFILTER_GPUME_BETWEEN_PICTURE_H */
