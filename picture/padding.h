/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Defines how far the edges of copies are repeated. The host and device code include this file.
 */

#ifndef AVFILTER_GPUME_PICTURE_PADDING_H
#define AVFILTER_GPUME_PICTURE_PADDING_H

#include "libavfilter/gpume/util/integer.h"

/** Samples around a component in copies with repeated edges: room for a block of 8 and the taps of filters. */
#define GPUME_PAD 32

/**
 * Returns a position in a row, or column, of a copy with repeated edges. Samples from 4 before it to 13 after it can
 * be read, and are the same as those around position x.
 */
GPUME_INLINE int gpume_inside(int x, int length)
{
    /* farther outside, all samples are the same */
    return av_clip(x, 4 - GPUME_PAD, length + GPUME_PAD - 14);
}

#endif /* AVFILTER_GPUME_PICTURE_PADDING_H */
