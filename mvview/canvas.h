/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * How a picture of some pixel format is painted: its planes, what a colour is in it, and how
 * rows of samples are blended.
 */

#ifndef AVFILTER_GPUME_MVVIEW_CANVAS_H
#define AVFILTER_GPUME_MVVIEW_CANVAS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "libavutil/frame.h"
#include "libavutil/pixfmt.h"

/** Planes and components of a picture. */
#define MVVIEW_PLANES 4
/** A chroma sample covers at most this many samples each way. */
#define MVVIEW_MAX_GROUP 4
/** Rows of weights are padded to a multiple of this, with weights that change nothing. */
#define MVVIEW_PAD 8

/** A colour as red, green and blue, and as a shade for pictures that have no colours. */
typedef struct MvviewColour {
    uint8_t rgb[3], shade;
} MvviewColour;

typedef struct MvviewPlane {
    int hsub, vsub;
    int w, h;               ///< samples
    int step;               ///< words from a sample to the next: components and gaps
    int8_t comp[4];         ///< of each word; -1: left alone
    int painted;            ///< at least one word is not left alone
} MvviewPlane;

typedef struct MvviewCanvas {
    int w, h;
    enum AVPixelFormat format;
    enum AVColorSpace space;
    enum AVColorRange range;
    int nb_planes;
    MvviewPlane planes[MVVIEW_PLANES];
    int nb_comps;           ///< without alpha: 1 or 3
    int rgb;
    int depth, shift;
    int swapped;            ///< bytes of a word
    int bytes;              ///< of a word
    int hsub, vsub;         ///< the greatest of all planes

    /** Component c of a colour: (matrix[c] * rgb + offset[c]) >> 16. */
    long long matrix[3][3], offset[3];
    int luma[3];            ///< parts of red, green and blue in luma; their sum is 1 << 16

    /**
     * dst = (src * mul + add) >> 8, n words each; bits below the samples stay. dst may be src.
     * For words of one byte mul and add are uint16_t; for words of two bytes, uint16_t and uint32_t.
     */
    void (*blend)(const struct MvviewCanvas *c, uint8_t *dst, const uint8_t *src,
                  const void *mul, const void *add, ptrdiff_t n);
    /** The same for words of one byte, n a multiple of MVVIEW_PAD. */
    void (*blend_8)(uint8_t *dst, const uint8_t *src, const uint16_t *mul,
                    const uint16_t *add, ptrdiff_t n);
    /** The same for words of two bytes in native order, n a multiple of MVVIEW_PAD. */
    void (*blend_16)(uint8_t *dst, const uint8_t *src, const uint16_t *mul,
                     const uint32_t *add, ptrdiff_t n, int shift);
    /**
     * The same for h rows whose weights are behind each other, mul and add of each row.
     * NULL: blend() is as fast.
     */
    void (*blend_rect_8)(uint8_t *dst, ptrdiff_t linesize, const uint8_t *weights,
                         ptrdiff_t n, int h);
} MvviewCanvas;

int ff_mvview_format_supported(enum AVPixelFormat format);

/**
 * For pictures like this one.
 * @param format of its samples: of a hardware frame the sw_format
 * @return 1 if it is another canvas than before, else 0
 */
int ff_mvview_canvas_init(MvviewCanvas *c, const AVFrame *frame, enum AVPixelFormat format);

/** A colour as components. */
void ff_mvview_colour(const MvviewCanvas *c, const MvviewColour *colour, unsigned comp[3]);

void ff_mvview_canvas_init_x86(MvviewCanvas *c);
void ff_mvview_canvas_init_aarch64(MvviewCanvas *c);

/** Words of a plane's row. */
static inline int mvview_words(const MvviewPlane *p)
{
    return p->w * p->step;
}

/** Bytes of the weights of n words: mul, then add behind them. */
static inline size_t mvview_weights_size(const MvviewCanvas *c, size_t n)
{
    return n * (c->bytes == 1 ? 4 : 6);
}

/** Set the weights of word i of n: v becomes (v * mul + add) >> 8. */
static inline void mvview_set_weights(const MvviewCanvas *c, void *weights, size_t n, size_t i,
                                      unsigned mul, unsigned add)
{
    uint16_t *m = weights;

    m[i] = mul;
    if (c->bytes == 1)
        m[n + i] = add;
    else
        ((uint32_t *)(m + n))[i] = add;
}

/** Copy the weights of count words from the first of n_src to word i of n. */
static inline void mvview_copy_weights(const MvviewCanvas *c, void *dst, size_t n, size_t i,
                                       const void *src, size_t n_src, size_t count)
{
    const size_t size = c->bytes == 1 ? 2 : 4;

    memcpy((uint8_t *)dst + 2 * i, src, 2 * count);
    memcpy((uint8_t *)dst + 2 * n + size * i, (const uint8_t *)src + 2 * n_src, size * count);
}

#endif /* AVFILTER_GPUME_MVVIEW_CANVAS_H */
