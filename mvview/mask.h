/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Draws shapes by blending with weights. For shapes that are drawn often, such as equal arrows and
 * outlines of blocks, the weights of all planes are computed once and kept as a mask.
 */

#ifndef AVFILTER_GPUME_MVVIEW_MASK_H
#define AVFILTER_GPUME_MVVIEW_MASK_H

#include <stdint.h>

#include "libavfilter/gpume/mvview/canvas.h"
#include "libavfilter/gpume/mvview/field.h"
#include "libavfilter/gpume/mvview/shape.h"

/** MvviewShape.unit is a multiple of this, so that there are few different shapes. */
#define MVVIEW_UNIT_STEP 32

/** A shape that begins at the sample (0, 0). */
typedef struct MvviewShape {
    enum MvviewKind kind;
    int a, b;
    int variant;        ///< 1: an arrow into the future, or an inconsistent block
    int px, py;         ///< position of its beginning within the samples that share a chroma sample
    int unit;           ///< width of a line of arrows and wheels, in units of MVVIEW_SAMPLE
} MvviewShape;

/** The weights of rows of a plane, all of the same length: mul and add of the first row, then those of the next. */
typedef struct MvviewRect {
    int plane;
    int x, y;           ///< samples of the plane, relative to the sample in which the shape begins
    int n, h;           ///< number of words, a multiple of MVVIEW_PAD, and number of rows
    size_t at;          ///< position of its weights in MvviewMask.weights
} MvviewRect;

typedef struct MvviewMask {
    MvviewRect *rects;
    int nb_rects, rects_allocated;
    uint8_t *weights;
    size_t size, allocated;
    int top, bottom;    ///< rows of samples that it can touch, relative to its beginning
} MvviewMask;

/** The rows y0 to y1 - 1 of a frame, to which drawing is confined; y0 is a multiple of the rows of a group. */
typedef struct MvviewBand {
    AVFrame *frame;
    int y0, y1;
} MvviewBand;

/** Buffers for the weights of a few rows of luma samples, from which the weights of all planes are computed. */
typedef struct MvviewGroup MvviewGroup;

MvviewGroup *ff_mvview_group_alloc(const MvviewCanvas *c);
void ff_mvview_group_free(MvviewGroup **g);

/** Returns whether a shape is small enough to become a mask. */
int ff_mvview_shape_is_small(const MvviewShape *s);

int ff_mvview_mask_init(MvviewMask *mask, const MvviewCanvas *c, MvviewGroup *g, const MvviewShape *s);
void ff_mvview_mask_free(MvviewMask *mask);

/** Draws a mask that begins at the sample (x, y). */
void ff_mvview_mask_draw(const MvviewMask *mask, const MvviewCanvas *c, const MvviewBand *band, int x, int y);

/** Draws a shape that is not a mask. */
void ff_mvview_shape_draw(const MvviewShape *s, const MvviewCanvas *c, MvviewGroup *g,
                          const MvviewBand *band, int x, int y);

/** Indexed by enum MvviewColourName. */
extern const MvviewColour ff_mvview_colours[MVVIEW_NB_COLOURS];

/** Indexed by enum MvviewGlyph. */
extern const unsigned long long ff_mvview_font[MVVIEW_NB_GLYPHS];

#endif /* AVFILTER_GPUME_MVVIEW_MASK_H */
