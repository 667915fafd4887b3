/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What paints: on the CPU, or on a device. A table of functions each; all of them give the
 * same picture.
 */

#ifndef AVFILTER_GPUME_MVVIEW_PAINTER_H
#define AVFILTER_GPUME_MVVIEW_PAINTER_H

#include "libavfilter/gpume/mvview/stamp.h"
#include "libavfilter/gpume/mvview/mvview.h"
#include "libavfilter/gpume/util/frame_backend.h"

/** A shape at a place. */
typedef struct MvviewOp {
    int x, y;                   ///< the sample at which it begins; it may lie outside the picture
    MvviewShape shape;
    int entry;                  ///< the painter's own
} MvviewOp;

/** A frame to be drawn into. */
typedef struct MvviewPicture {
    const MvviewCanvas *canvas;
    int new_canvas;             ///< it is another one than before
    MvviewField *field;
    int side;                   ///< of the squares that have one arrow each; 0: every vector has one
    int unit, arrow_unit;       ///< MvviewShape.unit of the legend, and of arrows
    int legend;                 ///< whether it is drawn
    uint32_t full;              ///< length of full saturation, 1/MVVIEW_UNITS sample; 0: the longest there is
    /**
     * Over the background and the flow, each over those before it. Where the field has no vectors
     * here, these follow from what is above: blocks, then arrows, then the legend.
     */
    MvviewOp *ops;
    int nb_ops;
    int plain;                  ///< there are no vectors: out becomes a copy of in
    const AVFrame *in;          ///< only its samples are looked at
    AVFrame *out;
} MvviewPicture;

/** A painter. priv points to common.priv_size bytes, which are zero before init(). */
typedef struct MvviewPainter {
    GpumeFrameBackend common;
    /** Whether it reads motion fields on the frames' device, too. */
    int reads_fields;
    /** @param cfg stays valid until uninit() */
    int  (*init)(void *priv, const MvviewConfig *cfg);
    int  (*paint)(void *priv, const MvviewPicture *pic);
    /** Also after a failed init(). */
    void (*uninit)(void *priv);
} MvviewPainter;

extern const MvviewPainter ff_mvview_painter_cpu;
/** In a build without CUDA one that paints no frames. */
extern const MvviewPainter ff_mvview_painter_cuda;

#endif /* AVFILTER_GPUME_MVVIEW_PAINTER_H */
