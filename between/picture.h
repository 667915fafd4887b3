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

#include "libavutil/common.h"

#include "libavfilter/gpume/between/layout.h"

/** Samples around a component: a cell, and the taps of the filters. */
#define MVFPS_PAD 32

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
    /* farther out all samples of a row, or column, are the same */
    x = av_clip(x, 4 - MVFPS_PAD, s->w + MVFPS_PAD - 14);
    y = av_clip(y, 4 - MVFPS_PAD, s->h + MVFPS_PAD - 14);
    return s->first + y * s->stride + x * bytes;
}

#endif /* AVFILTER_GPUME_BETWEEN_PICTURE_H */
