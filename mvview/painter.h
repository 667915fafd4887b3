/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Interface of painters on the CPU and on devices: each is a table of functions. All painters give
 * the same picture.
 */

#ifndef AVFILTER_GPUME_MVVIEW_PAINTER_H
#define AVFILTER_GPUME_MVVIEW_PAINTER_H

#include "libavfilter/gpume/mvview/mask.h"
#include "libavfilter/gpume/mvview/mvview.h"
#include "libavfilter/gpume/picture/sequence.h"

/** A shape at a place. */
typedef struct MvviewOp {
    int x, y;                   ///< the sample at which the shape begins; may lie outside the picture
    MvviewShape shape;
    int entry;                  ///< private to the painter
} MvviewOp;

/** A frame to be drawn into. */
typedef struct MvviewPicture {
    const MvviewCanvas *canvas;
    int new_canvas;             ///< whether the canvas has changed
    MvviewField *field;
    int side;                   ///< side of the squares that have one arrow each; 0: every vector has an arrow
    int unit, arrow_unit;       ///< MvviewShape.unit of the legend and of arrows
    int legend;                 ///< whether to draw the legend
    uint32_t full;              ///< length of full saturation, 1/MVVIEW_UNITS sample; 0: the longest vector's
    /**
     * Shapes, drawn in this order over the background and the flow. If the vectors of the field are
     * on the device, the painter derives the shapes itself: blocks, then arrows, then the legend.
     */
    MvviewOp *ops;
    int nb_ops;
    int is_copy;                ///< there are no vectors, so out becomes a copy of in
    const AVFrame *in;          ///< only its samples are used
    AVFrame *out;
} MvviewPicture;

/** A painter. */
typedef struct MvviewPainter {
    GpumeFrameBackend common;
    /** Whether the painter also reads motion fields on the frames' device. */
    int reads_fields;
    int  (*paint)(void *priv, const MvviewPicture *pic);
} MvviewPainter;

extern const MvviewPainter ff_mvview_painter_cpu;
extern const MvviewPainter ff_mvview_painter_cuda;

#endif /* AVFILTER_GPUME_MVVIEW_PAINTER_H */
