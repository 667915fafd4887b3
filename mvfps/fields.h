/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The vectors of a frame, cell by cell.
 */

#ifndef AVFILTER_GPUME_MVFPS_FIELDS_H
#define AVFILTER_GPUME_MVFPS_FIELDS_H

#include "libavutil/frame.h"

#include "libavfilter/gpume/mvfps/arithmetic.h"

/** The fields of a frame: 0 into what is before it, 1 into what follows it. Blank before the first use. */
typedef struct MvfpsFrameFields {
    MvfpsVector *cells[2];
    unsigned allocated[2];
    int nb[2];              ///< vectors with a block in the picture; 0: there is no such field
} MvfpsFrameFields;

/**
 * Read the fields of a frame of w x h samples. A cell has the vector of the block that its centre
 * is in, or its last sample if that is nearer: of several the last one's.
 * @return 0 or AVERROR(ENOMEM)
 */
int ff_mvfps_fields_read(MvfpsFrameFields *f, const AVFrame *frame, int w, int h);
void ff_mvfps_fields_free(MvfpsFrameFields *f);

/** A field's cells, or NULL if there is no such field. */
static inline const MvfpsVector *mvfps_cells_of(const MvfpsFrameFields *f, int future)
{
    return f->nb[future] ? f->cells[future] : NULL;
}

#endif /* AVFILTER_GPUME_MVFPS_FIELDS_H */
