/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The vectors between two pictures and around them, cell by cell.
 */

#ifndef AVFILTER_GPUME_BETWEEN_FIELDS_H
#define AVFILTER_GPUME_BETWEEN_FIELDS_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/between/arithmetic.h"

/** Room for the fields of a pair. Blank before the first use. */
typedef struct MvfpsFieldsMemory {
    MvfpsVector *field[4];
    unsigned allocated[4];
} MvfpsFieldsMemory;

/**
 * Read the fields of a pair of pictures of w x h samples. A cell has the vector of the block
 * that its centre is in, or its last sample if that is nearer: of several the last one's.
 * @return how many vectors there are between the two, or AVERROR(ENOMEM)
 */
int ff_mvfps_fields_read(MvfpsFields *f, MvfpsFieldsMemory *m, const AVFrame *before,
                         const AVFrame *after, int w, int h);
void ff_mvfps_fields_free(MvfpsFieldsMemory *m);

#endif /* AVFILTER_GPUME_BETWEEN_FIELDS_H */
