/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Defines the colours and weights with which each kind of shape is drawn over a sample, and how the
 * sample changes; doc/mvview-definition.md is the specification. Uses integers only. The host and device code
 * include this file.
 */

#ifndef AVFILTER_GPUME_MVVIEW_SHAPE_H
#define AVFILTER_GPUME_MVVIEW_SHAPE_H

#include "libavfilter/gpume/field/blockvector.h"
#include "libavfilter/gpume/mvview/arrow.h"
#include "libavfilter/gpume/mvview/wheel.h"

enum MvviewMode {
    MVVIEW_ARROWS = 1,
    MVVIEW_FLOW   = 2,
    MVVIEW_BLOCKS = 4,
};

/** What the vectors are drawn on. */
enum MvviewBackground {
    MVVIEW_PICTURE,
    MVVIEW_GRAY,                ///< the picture without its colours
    MVVIEW_BLACK,
    MVVIEW_NB_BACKGROUNDS
};

enum MvviewKind {
    MVVIEW_ARROW,       ///< a, b: the tip, in units of 1/MVVIEW_TIP sample
    MVVIEW_BLOCK,       ///< a, b: width and height
    MVVIEW_WHEEL,       ///< a: radius
    MVVIEW_NUMBER,      ///< a: the number in tenths; b: side of a dot of the font
};

/** The colours of shapes. */
enum MvviewColourName {
    MVVIEW_COLOUR_BLACK,
    MVVIEW_COLOUR_WHITE,
    MVVIEW_COLOUR_AMBER,
    MVVIEW_COLOUR_RED,
    MVVIEW_COLOUR_SIZES,   ///< first of the colours of blocks of up to 4, 8, 16 ... samples
    MVVIEW_NB_COLOURS = MVVIEW_COLOUR_SIZES + 6,
};

/** Weights of the dark edge of arrows, wheels and letters, and of the parts of blocks. */
#define MVVIEW_EDGE_WEIGHT    184
#define MVVIEW_OUTLINE_WEIGHT 176
#define MVVIEW_HATCH_WEIGHT   208
#define MVVIEW_TINT_WEIGHT     72

/** A shape draws two layers over a sample, each of one colour: these are their weights. */
typedef struct MvviewLayers {
    int below, above;   ///< 0 to MVVIEW_FULL
} MvviewLayers;

/** The samples that a shape can touch, relative to its beginning; all four limits are inclusive. */
typedef struct MvviewBounds {
    int left, right, top, bottom;
} MvviewBounds;

/* Bounds of each kind of shape, and its layers at the sample (x, y) relative to its beginning. */

GPUME_INLINE MvviewBounds mvview_bounds_around(int x, int y, int margin)
{
    MvviewBounds b;

    b.left   = FFMIN(x, 0) - margin;
    b.right  = FFMAX(x, 0) + margin;
    b.top    = FFMIN(y, 0) - margin;
    b.bottom = FFMAX(y, 0) + margin;
    return b;
}

/**
 * Returns a component of the tip of a vector's arrow.
 * @param scale factor times 256
 */
GPUME_INLINE int mvview_tip(int d, int scale)
{
    /* d / GPUME_UNITS * scale / 256 * MVVIEW_TIP */
    const long long tip = mvview_divide(d * (long long)scale, GPUME_UNITS * 256 / MVVIEW_TIP);

    return (int)FFMAX(-MVVIEW_FARTHEST, FFMIN(tip, MVVIEW_FARTHEST));
}

GPUME_INLINE MvviewBounds mvview_arrow_bounds(const MvviewArrow *a, int qx, int qy)
{
    return mvview_bounds_around(qx / MVVIEW_TIP, qy / MVVIEW_TIP,
                                (a->reach + a->head) / MVVIEW_SAMPLE + 2);
}

/** Returns how far from the line between its beginning and its tip an arrow can touch samples. */
GPUME_INLINE int mvview_arrow_margin(int unit)
{
    return (mvview_arrow_max_reach(unit) + mvview_arrow_max_head(unit)) / MVVIEW_SAMPLE + 2;
}

/** @param at mvview_arrow_along() of the sample */
GPUME_INLINE MvviewLayers mvview_arrow_layers(const MvviewArrow *a, MvviewAlong at, int x, int y)
{
    const int depth = mvview_arrow_depth(a, at, x, y);
    MvviewLayers l;

    l.below = mvview_coverage(depth + a->edge) * MVVIEW_EDGE_WEIGHT >> 8;
    l.above = mvview_coverage(depth);
    return l;
}

GPUME_INLINE MvviewBounds mvview_block_bounds(int w, int h)
{
    MvviewBounds b;

    b.left   = b.top = 0;
    b.right  = w - 1;
    b.bottom = h - 1;
    return b;
}

GPUME_INLINE MvviewLayers mvview_block_layers(int w, int h, int inconsistent, int x, int y)
{
    MvviewLayers l;

    l.below = l.above = 0;
    if (x < 0 || y < 0 || x >= w || y >= h)
        return l;
    if (inconsistent)
        l.below = (x + y) & 3 ? MVVIEW_TINT_WEIGHT : MVVIEW_HATCH_WEIGHT;
    if (!x || !y)
        l.above = MVVIEW_OUTLINE_WEIGHT;
    return l;
}

GPUME_INLINE MvviewBounds mvview_wheel_bounds(int radius, int unit)
{
    return mvview_bounds_around(0, 0, radius + 3 * unit / MVVIEW_SAMPLE + 2);
}

/** Returns the distance of a sample from the wheel's centre, in units of MVVIEW_SAMPLE. */
GPUME_INLINE int mvview_wheel_distance(int x, int y)
{
    const long long dx = x * MVVIEW_SAMPLE, dy = y * MVVIEW_SAMPLE;

    return (int)mvview_sqrt(dx * dx + dy * dy);
}

/** @param away mvview_wheel_distance() of the sample */
GPUME_INLINE MvviewLayers mvview_wheel_layers(int radius, int unit, int away)
{
    const int rim = radius * MVVIEW_SAMPLE;
    MvviewLayers l;

    l.below = mvview_coverage(rim + unit - away) * MVVIEW_EDGE_WEIGHT >> 8;
    l.above = mvview_coverage(rim - away);
    return l;
}

/** Computes the colour of the upper layer at a sample; shade is its value in pictures without colours. */
GPUME_INLINE void mvview_wheel_colour(unsigned char rgb[3], unsigned char *shade, int radius,
                                      int x, int y, int away)
{
    const int rim = radius * MVVIEW_SAMPLE;

    mvview_wheel(rgb, x * MVVIEW_SAMPLE, y * MVVIEW_SAMPLE, FFMIN(away, rim), rim);
    *shade = FFMIN(away, rim) * 255 / rim;
}

/** A glyph has rows of five dots. The first row is in the lowest bits; its leftmost dot is its highest bit. */
#define MVVIEW_GLYPH_W 5
#define MVVIEW_GLYPH_H 9

/** Glyphs; 0 to 9 are digits. */
enum MvviewGlyph {
    MVVIEW_GLYPH_POINT = 10,
    MVVIEW_GLYPH_SPACE,
    MVVIEW_GLYPH_P,
    MVVIEW_GLYPH_X,
    MVVIEW_NB_GLYPHS
};

/** A text: four bits for each glyph, the first glyph in the lowest bits. */
typedef struct MvviewText {
    unsigned long long glyphs;
    int length;                 ///< up to 16
} MvviewText;

GPUME_INLINE void mvview_text_add(MvviewText *t, int glyph)
{
    t->glyphs |= (unsigned long long)glyph << 4 * t->length++;
}

/**
 * Returns the text of a length in samples.
 * @param tenths 0 or more
 */
GPUME_INLINE MvviewText mvview_number_text(int tenths)
{
    const int whole = tenths < 1000 ? tenths / 10 : (tenths + 5) / 10;
    int unit = 1;
    MvviewText t;

    t.glyphs = t.length = 0;
    while (unit <= whole / 10)
        unit *= 10;
    for (; unit; unit /= 10)
        mvview_text_add(&t, whole / unit % 10);
    if (tenths < 1000) {
        mvview_text_add(&t, MVVIEW_GLYPH_POINT);
        mvview_text_add(&t, tenths % 10);
    }
    mvview_text_add(&t, MVVIEW_GLYPH_SPACE);
    mvview_text_add(&t, MVVIEW_GLYPH_P);
    mvview_text_add(&t, MVVIEW_GLYPH_X);
    return t;
}

GPUME_INLINE int mvview_text_half_width(const MvviewText *t, int dot)
{
    return (t->length * (MVVIEW_GLYPH_W + 1) + 1) * dot / 2;
}

GPUME_INLINE MvviewBounds mvview_text_bounds(const MvviewText *t, int dot)
{
    MvviewBounds b;

    b.right  = mvview_text_half_width(t, dot) + dot;
    b.left   = -b.right;
    b.top    = -dot;
    b.bottom = (MVVIEW_GLYPH_H + 1) * dot;
    return b;
}

/**
 * Returns whether there is a dot in a column and row of a text.
 * @param font indexed by enum MvviewGlyph
 */
GPUME_INLINE int mvview_has_dot(const unsigned long long *font, const MvviewText *t, int x, int y)
{
    const int at = x / (MVVIEW_GLYPH_W + 1), column = x % (MVVIEW_GLYPH_W + 1);

    if (x < 0 || y < 0 || y >= MVVIEW_GLYPH_H || column >= MVVIEW_GLYPH_W || at >= t->length)
        return 0;
    return font[t->glyphs >> 4 * at & 15] >> (MVVIEW_GLYPH_W * (y + 1) - 1 - column) & 1;
}

GPUME_INLINE MvviewLayers mvview_text_layers(const unsigned long long *font, const MvviewText *t,
                                             int dot, int x, int y)
{
    const int left = mvview_text_half_width(t, dot) + dot;
    MvviewLayers l;
    int column, row;

    l.below = l.above = 0;
    if (x < -left || y < -dot)
        return l;
    /* counted in dots; column 0 and row 0 are the first dots of the text, inside its border of one dot */
    column = (x + left) / dot - 1;
    row    = (y + 2 * dot) / dot - 2;
    if (mvview_has_dot(font, t, column, row)) {
        l.above = MVVIEW_FULL;
        return l;
    }
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            if (mvview_has_dot(font, t, column + i, row + j))
                l.below = MVVIEW_EDGE_WEIGHT;
    return l;
}

/**
 * Returns the samples that a shape of this kind can touch, or slightly more.
 * @param a,b,unit values of MvviewShape
 */
GPUME_INLINE MvviewBounds mvview_shape_bounds(int kind, int a, int b, int unit)
{
    MvviewText text;

    if (kind == MVVIEW_ARROW)
        return mvview_bounds_around(a / MVVIEW_TIP, b / MVVIEW_TIP, mvview_arrow_margin(unit));
    if (kind == MVVIEW_BLOCK)
        return mvview_block_bounds(a, b);
    if (kind == MVVIEW_WHEEL)
        return mvview_wheel_bounds(a, unit);
    text = mvview_number_text(a);
    return mvview_text_bounds(&text, b);
}

/** Returns the colours of a shape's layers, enum MvviewColourName. A wheel's upper layer has colours of its own. */
GPUME_INLINE void mvview_shape_colours(int kind, int a, int b, int variant, int *below, int *above)
{
    *below = kind == MVVIEW_BLOCK ? MVVIEW_COLOUR_RED : MVVIEW_COLOUR_BLACK;
    *above = kind == MVVIEW_BLOCK ? MVVIEW_COLOUR_SIZES :
             kind == MVVIEW_ARROW && variant ? MVVIEW_COLOUR_AMBER : MVVIEW_COLOUR_WHITE;
    for (int size = 4; kind == MVVIEW_BLOCK && size < FFMAX(a, b) && *above < MVVIEW_NB_COLOURS - 1; size *= 2)
        ++*above;
}

/** The position and the contents of the legend. */
typedef struct MvviewLegend {
    int x, wheel_y, number_y;
    int radius;                 ///< radius of the wheel
    int tenths, dot;            ///< the number, and the side of a dot of its font
} MvviewLegend;

/** @param full length of full saturation, in units of 1/GPUME_UNITS sample */
GPUME_INLINE MvviewLegend mvview_legend(int w, int h, unsigned full)
{
    MvviewLegend l;
    MvviewText text;

    l.radius   = av_clip(FFMIN(w, h) / 10, 12, 160);
    l.dot      = FFMAX((l.radius + 6) / 20, 1);
    l.tenths   = (int)((full * 10ull + GPUME_UNITS / 2) / GPUME_UNITS);
    text       = mvview_number_text(l.tenths);
    l.x        = w - l.radius / 4 - FFMAX(l.radius, mvview_text_half_width(&text, l.dot));
    l.number_y = h - l.radius / 4 - MVVIEW_GLYPH_H * l.dot;
    l.wheel_y  = l.number_y - l.radius - 3 * l.dot;
    return l;
}

/*
 * Drawing changes a sample v to (v * keep + add) >> 8. Where keep is MVVIEW_FULL, add is 0 and the
 * picture stays unchanged.
 */

/** Returns the factor keep after a layer has been drawn with this weight. */
GPUME_INLINE unsigned mvview_keep(unsigned keep, int weight)
{
    return keep * (MVVIEW_FULL - weight) >> 8;
}

/**
 * Returns the term add after a layer has been drawn with this weight; comp is a component of the
 * layer's colour. The result fits into 32 bits.
 */
GPUME_INLINE unsigned mvview_add(unsigned add, unsigned comp, int weight)
{
    return (add * (MVVIEW_FULL - weight) >> 8) + comp * weight;
}

/** Returns the mean keep of 1 << shift samples that one chroma sample covers, from their sum. */
GPUME_INLINE unsigned mvview_mean_keep(unsigned keep, int shift)
{
    return (keep + (1u << shift >> 1)) >> shift;
}

/**
 * Returns the mean add of these samples, from their sum.
 * @param keep the mean keep
 */
GPUME_INLINE unsigned mvview_mean_add(unsigned long long add, unsigned keep, int shift)
{
    return keep == MVVIEW_FULL ? 0 : (unsigned)(add >> shift) + MVVIEW_FULL / 2;
}

/** Returns add for the flow. */
GPUME_INLINE unsigned mvview_flow_add(unsigned comp, int opacity)
{
    return comp * opacity + MVVIEW_FULL / 2;
}

/** Returns a component of a colour, from a row of a canvas' matrix and its offset. */
GPUME_INLINE int mvview_component(const long long matrix[3], long long offset,
                                  int r, int g, int b, int depth)
{
    const long long v = (matrix[0] * r + matrix[1] * g + matrix[2] * b + offset) >> 16;

    return (int)FFMAX(0, FFMIN(v, (1LL << depth) - 1));
}

#endif /* AVFILTER_GPUME_MVVIEW_SHAPE_H */
