/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Shapes as weights: what is drawn often (equal arrows, outlines of blocks) becomes a stamp,
 * rows of weights for every plane, which is then blended wherever it is wanted.
 */

#ifndef AVFILTER_GPUME_MVVIEW_STAMP_H
#define AVFILTER_GPUME_MVVIEW_STAMP_H

#include <stdint.h>

#include "libavfilter/gpume/mvview/canvas.h"
#include "libavfilter/gpume/mvview/field.h"
#include "libavfilter/gpume/mvview/shape.h"

/** Units of shapes are multiples of this, and few. */
#define MVVIEW_UNIT_STEP 32

/** What is drawn, at the sample (0, 0). */
typedef struct MvviewShape {
    enum MvviewKind kind;
    int a, b;
    int variant;        ///< 1: an arrow into the future, an inconsistent block
    int px, py;         ///< it begins at this sample of those that share a chroma sample
    int unit;           ///< of arrows and wheels: width of a line, in units of MVVIEW_SAMPLE
} MvviewShape;

/** Weights of a plane's rows, all of the same length: mul and add of the first, and so on. */
typedef struct MvviewRect {
    int plane;
    int x, y;           ///< samples of the plane, from that in which the shape begins
    int n, h;           ///< words, a multiple of MVVIEW_PAD, and rows
    size_t at;          ///< its weights
} MvviewRect;

typedef struct MvviewStamp {
    MvviewRect *rects;
    int nb_rects, rects_allocated;
    uint8_t *weights;
    size_t size, allocated;
    int top, bottom;    ///< samples that it can touch, relative to its beginning
} MvviewStamp;

/** Part of a picture to which drawing is confined: rows of samples, multiples of a group. */
typedef struct MvviewBand {
    AVFrame *frame;
    int y0, y1;
} MvviewBand;

/** Room for the weights of a few rows of samples before they are weights of planes. */
typedef struct MvviewGroup MvviewGroup;

MvviewGroup *ff_mvview_group_alloc(const MvviewCanvas *c);
void ff_mvview_group_free(MvviewGroup **g);

/** Room for the sides of a shape that may become a stamp. */
int ff_mvview_shape_is_small(const MvviewShape *s);

int ff_mvview_stamp_init(MvviewStamp *stamp, const MvviewCanvas *c, MvviewGroup *g,
                         const MvviewShape *s);
void ff_mvview_stamp_free(MvviewStamp *stamp);

/** Draw a stamp so that it begins at the sample (x, y). */
void ff_mvview_stamp_draw(const MvviewStamp *stamp, const MvviewCanvas *c,
                          const MvviewBand *band, int x, int y);

/** The same of a shape that is no stamp. */
void ff_mvview_shape_draw(const MvviewShape *s, const MvviewCanvas *c, MvviewGroup *g,
                          const MvviewBand *band, int x, int y);

/** By enum MvviewInk. */
extern const MvviewColour ff_mvview_inks[MVVIEW_NB_INKS];

/** By enum MvviewGlyph. */
extern const unsigned long long ff_mvview_font[MVVIEW_NB_GLYPHS];

#endif /* AVFILTER_GPUME_MVVIEW_STAMP_H */
