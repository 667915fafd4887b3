/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * How far the edges of copies are repeated. Read by the host and by device code.
 */

#ifndef AVFILTER_GPUME_PICTURE_PADDING_H
#define AVFILTER_GPUME_PICTURE_PADDING_H

#include "libavfilter/gpume/util/integer.h"

/** Samples around a component, in copies whose edges are repeated: a block of 8, and the taps of filters. */
#define GPUME_PAD 32

/**
 * Where the samples of a row, or column, of so many are found in a copy whose edges are repeated:
 * from 4 before it to 13 behind it can be read.
 */
GPUME_INLINE int gpume_inside(int x, int length)
{
    /* farther out all of them are the same */
    return av_clip(x, 4 - GPUME_PAD, length + GPUME_PAD - 14);
}

#endif /* AVFILTER_GPUME_PICTURE_PADDING_H */
